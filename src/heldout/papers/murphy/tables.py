"""The gallery's opening table, Figure 27.6 in numbers, and the misprints."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from heldout.corpora.names import RELATIONS
from heldout.corpora.table import base_name
from heldout.inputs import Inputs
from heldout.papers.murphy import results
from heldout.papers.murphy.manifest_graphs import LINKS, NODE_FEATURES
from heldout.papers.murphy.misprints import MISPRINTS
from heldout.typesetting import latex
from heldout.typesetting.data_sets import DATA_SETS, DataSet

LEAST_ERROR = 1e-4  # nats per token: a smaller one is rounded up to it


def opening(inputs: Inputs) -> str:
    """Return the table that the gallery opens with: a row per corpus, model and fewest or most components."""
    return latex.tabular(
        inputs,
        "@{}llrlrrrl@{}",
        r"model & data & $K$ & usual score & its value & likelihood & gap & sum, a probability?\\",
        _opening_rows(inputs),
    )


def datasets(inputs: Inputs) -> str:
    """Return the data sets: what an observation is, how many to train and to test on, their sizes and sources."""
    hidden: dict[str, float] = {}
    for experiment in map(inputs.settings.experiment, (LINKS, NODE_FEATURES)):
        hidden |= dict.fromkeys(experiment.get("corpora", ()), experiment.get("settings", {}).get("hidden", 0.0))
    order = list(DATA_SETS)
    of_study = [(base_name(str(row["corpus"])), row) for row in inputs.corpora.to_dict("records")]
    of_study.sort(key=lambda pair: order.index(pair[0]) if pair[0] in order else -1)
    rows, before = list[latex.TableRow](), False
    for base, row in of_study:
        of, relations = DATA_SETS.get(base, DataSet(base)), base in RELATIONS
        if relations and not before and rows:
            rows.append(latex.ADDLINESPACE)
        before = relations
        test = latex.integer(row["test_documents"])
        if relations:
            share = hidden.get(str(row["corpus"]), 0.0)
            test = latex.percent(share, 0) if share else latex.DASH
        sizes = (latex.integer(row[name]) for name in ("vocabulary", "tokens"))
        source = rf"\citet{{{of.source}}}" if of.source else latex.DASH
        source += rf"\textsuperscript{{{of.copy}}}" if of.copy else ""
        name, training = latex.corpus_name(str(row["corpus"])), latex.integer(row["train_documents"])
        rows.append([name, of.observation, training, test, *sizes, source])
    head = r"data & an observation & training & test & words, values & tokens, cells & source\\"
    return latex.tabular(inputs, "@{}llrrrrl@{}", head, rows)


def _opening_rows(inputs: Inputs) -> Iterator[latex.TableRow]:
    before = ""
    for (corpus, member), of_member in groupby(results.opening_rows(inputs), lambda row: (row.corpus, row.member)):
        if before and corpus != before:
            yield latex.ADDLINESPACE
        before = corpus
        shown = [member.label, latex.corpus_name(corpus)]
        for row in _ends(list(of_member)):
            yield shown + _cells(row)
            shown = ["", ""]


def _ends(rows: Sequence[results.Row]) -> Sequence[results.Row]:
    return rows if len(rows) < 2 else (rows[0], rows[-1])


def _cells(row: results.Row) -> list[str]:
    likelihood = gap = latex.DASH
    if row.likelihood is not None and row.gap is not None:
        error = rf" \ensuremath{{\pm}} {max(row.error, LEAST_ERROR):.4f}" if row.error else ""
        likelihood, gap = f"{latex.signed(row.likelihood, 3)}{error}", latex.signed(row.gap, 3)
    cells = [latex.integer(row.topics), row.member.usual.score, latex.signed(row.value, 3)]
    # one sum that is not 1 refutes, and one that is 1 proves nothing of longer documents
    total = latex.decimal(row.one_token, 3) + ", no" * row.refuted if row.one_token >= 0.0 else latex.DASH
    return [*cells, likelihood, gap, total]


FIGURE_ROWS: dict[str, results.Curve] = {
    "unigram": results.UNIGRAM,
    "mixture of multinomials": results.MIXTURE,
    **{
        f"pLSI{training}: {score}": results.Curve(model, (evaluator,))
        for training, model in zip(("", ", tempered"), results.PLSI_MODELS.values(), strict=True)
        for score, evaluator in results.PLSI_SCORES.items()
    },
    "LDA: bound": results.LDA_BOUND,
    "LDA: likelihood": results.LDA,
    "LDA: half folding-in": results.LDA_HALF,
    "LDA: other half, weights integrated out": results.LDA_COMPLETION,
}


def figure_27_6(inputs: Inputs) -> str:
    """Return the perplexities of Figure 27.6 by K, published and ours; with the most topics also by equation 27.29."""
    of_corpus = results.corpora(inputs, results.PERPLEXITY)
    corpus = of_corpus[0] if of_corpus else ""
    topics = sorted({K for of in FIGURE_ROWS.values() for K in results.curve(inputs, corpus, of)})
    rows: list[latex.TableRow] = []
    for name, published in results.PUBLISHED.items():
        printed = dict(zip(published.topics, published.perplexities, strict=True))
        cells = [latex.perplexity(printed[K]) if K in printed else latex.DASH for K in topics]
        rows.append([f"published: {name}", *cells, latex.DASH])
    rows.append(latex.ADDLINESPACE)
    for name, of in FIGURE_ROWS.items():
        points, weighted = results.curve(inputs, corpus, of), results.per_document(inputs, corpus, of)
        cells = [latex.perplexity(points[K].perplexity) if K in points else latex.DASH for K in topics]
        last = max(points, default=0)
        rows.append([name, *cells, latex.perplexity(weighted[last]) if last in weighted else latex.DASH])
    head = " & ".join(["model and score", *(f"$K={K}$" for K in topics), "per document"]) + r"\\"
    return latex.tabular(inputs, f"@{{}}l{'r' * (len(topics) + 1)}@{{}}", head, rows)


def misprints(inputs: Inputs) -> str:
    """Return the misprints: what is printed, what is meant, and how far each is from what it should satisfy."""
    rows = []
    for misprint in MISPRINTS:
        errors = [latex.DASH] * 2
        if misprint.errors is not None:
            printed, corrected = misprint.errors()
            errors = [latex.decimal(printed, 3), latex.power(0.0 if corrected < 1e-12 else corrected)]
        rows.append([misprint.place, misprint.printed, misprint.corrected, misprint.identity, *errors])
    return latex.tabular(
        inputs,
        r"@{}P{0.12\linewidth}P{0.17\linewidth}P{0.21\linewidth}P{0.2\linewidth}rr@{}",
        r"where & printed & corrected & holds of the corrected & printed off & corrected off\\",
        rows,
        end=r"\\[0.6ex]",
    )


def polysemy(inputs: Inputs) -> str:
    """Return Figure 27.4: the most probable words of three topics of one word, which is set in bold."""
    word, meanings = results.senses(inputs)
    rows: list[latex.TableRow] = []
    for cells in zip(*(meaning.words for meaning in meanings), strict=False):
        row: list[str] = []
        for name, probability in cells:
            row += [_bold(latex.escape(name), name == word), latex.decimal(probability, 3)]
        rows.append(row)
    heads = (rf"\multicolumn{{2}}{{c}}{{topic {latex.integer(meaning.topic)}}}" for meaning in meanings)
    return latex.tabular(inputs, f"@{{}}{'lr' * max(1, len(meanings))}@{{}}", " & ".join(heads) + r"\\", rows)


def documents(inputs: Inputs) -> str:
    """Return Figure 27.5: three documents, every token with its topic above it."""
    word, meanings = results.senses(inputs)
    rows: list[latex.TableRow] = []
    for meaning in meanings:
        tokens = (rf"{_bold(latex.escape(name), name == word)}$^{{{topic}}}$" for name, topic in meaning.tokens)
        rows.append([f"topic {latex.integer(meaning.topic)}", " ".join(tokens)])
    return latex.tabular(inputs, r"@{}lP{0.85\linewidth}@{}", r"& words of a document\\", rows, end=r"\\[0.6ex]")


def _bold(text: str, bold: bool) -> str:
    return rf"\textbf{{{text}}}" if bold else text


def figure_27_8(inputs: Inputs) -> str:
    """Return the topics of Figure 27.8: in the model, their exact posterior means, and those of Gibbs sampling."""
    rows: list[latex.TableRow] = []
    for v, word in enumerate(results.BANK_WORDS):
        cells = [word]
        for k in (1, 2):
            for quantity in ("true", "exact", "sampled"):
                values = results.bank(inputs, f"{quantity}-{k}")
                cells.append(latex.decimal(values[v], 3) if values else latex.DASH)
        rows.append(cells)
    head = (
        r"& \multicolumn{3}{c}{topic 1} & \multicolumn{3}{c}{topic 2}\\" + "\n"
        r"\cmidrule(lr){2-4}\cmidrule(l){5-7}" + "\n"
        r"word & model & exact & sampled & model & exact & sampled\\"
    )
    return latex.tabular(inputs, "@{}lrrrrrr@{}", head, rows)
