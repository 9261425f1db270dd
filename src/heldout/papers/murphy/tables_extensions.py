"""The tables of LDA's extensions."""

from itertools import groupby, zip_longest

from heldout.inputs import Inputs
from heldout.papers.murphy import results_extensions as results
from heldout.papers.murphy.experiments import lda_hmm, lda_hmm_words
from heldout.typesetting import latex


def supervised(inputs: Inputs) -> str:
    """Return the table of supervised LDA: a row for each corpus and K."""
    rows: list[latex.TableRow] = []
    for corpus, of_corpus in groupby(results.label_rows(inputs), lambda row: row.corpus):
        if rows:
            rows.append(latex.ADDLINESPACE)
        name = latex.corpus_name(corpus)
        for row in of_corpus:
            numbers = (*row.label, *row.state, *row.words)
            cells = [name, latex.integer(row.topics), latex.percent(row.within, 0), latex.signed(row.frequency, 3)]
            rows.append([*cells, *(latex.signed(value, 3) for value in numbers)])
            name = ""
    head = (
        r"& & documents & by their & \multicolumn{2}{c}{label, exact} & \multicolumn{2}{c}{at one state}"
        r" & \multicolumn{2}{c}{words, exact}\\" + "\n"
        r"\cmidrule(lr){5-6}\cmidrule(lr){7-8}\cmidrule(l){9-10}" + "\n"
        r"data & $K$ & within limit & frequency & sLDA & LDA & sLDA & LDA & sLDA & LDA\\"
    )
    return latex.tabular(inputs, "@{}lrrrrrrrrr@{}", head, rows)


def relational(inputs: Inputs) -> str:
    """Return the table of the relational topic model: a row for each model and K."""
    rows: list[latex.TableRow] = []
    for row in results.link_rows(inputs):
        name = [results.LINK_MODELS[row.model], latex.integer(row.topics)]
        scores = [latex.signed(value, 3) for value in (row.state, row.mean, row.likelihood, row.state - row.likelihood)]
        rows.append([*name, *scores, latex.decimal(row.area, 3)])
    head = r"model & $K$ & at one state & at mean weights & likelihood & gap & area under the curve\\"
    return latex.tabular(inputs, "@{}lrrrrrr@{}", head, rows)


def discriminative(inputs: Inputs) -> str:
    """Return the table of DiscLDA: a row for each model."""
    rows: list[latex.TableRow] = []
    for row in results.class_rows(inputs):
        numbers = [latex.signed(value, 3) for value in (row.usual, row.likelihood, row.usual - row.likelihood)]
        shares = [latex.percent(value, 1) for value in (row.usual_error, row.error)]
        name = [results.CLASS_MODELS[row.model], latex.integer(row.topics)]
        rows.append([*name, *numbers, *shares, latex.signed(row.words, 3)])
    head = (
        r"& & \multicolumn{3}{c}{class, nats per document} & \multicolumn{2}{c}{wrong class} & words given\\" + "\n"
        r"\cmidrule(lr){3-5}\cmidrule(lr){6-7}" + "\n"
        r"model & $K$ & folded in & exact & gap & folded in & exact & the class\\"
    )
    return latex.tabular(inputs, "@{}lrrrrrrr@{}", head, rows)


LEAST_ERROR = 1e-4  # nats per token: a smaller one is rounded up to it


def sequences(inputs: Inputs) -> str:
    """Return the table of LDA-HMM, LDA and a hidden Markov model by the likelihood of documents in their order."""
    rows: list[latex.TableRow] = []
    for corpus in results.corpora_of(inputs, results.SEQUENCES):
        for row in results.sequence_rows(inputs, corpus):
            error = rf" \ensuremath{{\pm}} {max(row.error, LEAST_ERROR):.4f}" if row.error else ""
            numbers = [latex.signed(row.usual, 4), f"{latex.signed(row.likelihood, 4)}{error}"]
            shares = [latex.percent(row.content, 0), latex.percent(row.function, 0)]
            gap = latex.signed(row.usual - row.likelihood, 4)
            cells = [results.SEQUENCE_MODELS[row.model], latex.integer(row.topics)]
            rows.append([latex.corpus_name(corpus), *cells, *numbers, gap, *shares])
    head = r"data & model & $K$ & folded in & likelihood & gap & tokens of topics & function words of topics\\"
    return latex.tabular(inputs, "@{}llrrlrrr@{}", head, rows)


SIZE = 100  # effective chains, below which an error is not shown


def dynamic(inputs: Inputs) -> str:
    """Return the table of the dynamic topic model beside static ones by the likelihood of the next time's documents."""
    rows: list[latex.TableRow] = []
    for corpus in results.corpora_of(inputs, results.DYNAMICS):
        for row in results.dynamic_rows(inputs, corpus):
            usual, gap, size = latex.DASH, latex.DASH, latex.DASH
            if row.usual is not None:
                usual, gap = latex.signed(row.usual, 3), latex.signed(row.usual - row.likelihood.value, 3)
            likelihood = latex.signed(row.likelihood.value, 3)
            if row.size is not None:
                size = latex.integer(int(row.size))
            if row.size is None or row.size >= SIZE:
                likelihood += rf" \ensuremath{{\pm}} {max(row.likelihood.error, LEAST_ERROR):.4f}"
            rows.append([results.DYNAMIC_MODELS[row.model], usual, likelihood, gap, size])
    head = r"model & bound & likelihood & gap & least effective size\\"
    return latex.tabular(inputs, "@{}lrlrr@{}", head, rows)


def table_27_1(inputs: Inputs) -> str:
    """Return Table 27.1: topics of LDA, topics of LDA-HMM and its states, a column each, from above to below."""
    return _words(inputs, results.corpora_of_words(inputs, results.TABLE_27_1)[0])


def table_27_1_of_others(inputs: Inputs) -> str:
    """Return the same table of other corpora."""
    return _words(inputs, results.corpora_of_words(inputs, results.TABLE_27_1)[1])


def _words(inputs: Inputs, corpora: list[str]) -> str:
    blocks = (
        (lda_hmm.LDA, lda_hmm_words.TOPIC),
        (lda_hmm.MODEL, lda_hmm_words.TOPIC),
        (lda_hmm.MODEL, lda_hmm_words.STATE),
    )
    lists = [results.word_lists(inputs, corpus, *block) for corpus in corpora for block in blocks]
    columns = max((len(columns) for columns in lists), default=0)
    rows: list[latex.TableRow] = []
    for name, words in zip(("LDA", "LDA-HMM, topics", "LDA-HMM, states") * len(corpora), lists, strict=True):
        if rows:
            rows.append(r"\midrule")
        for rank in zip_longest(*words, fillvalue=""):
            cells = [latex.escape(word) for word in rank]
            rows.append([name, *cells, *[""] * (columns - len(cells))])
            name = ""
    columns = max(columns, 1)
    head = rf"& \multicolumn{{{columns}}}{{l}}{{words in the order of their probability, a column each}}\\"
    return latex.tabular(inputs, f"@{{}}l{'l' * columns}@{{}}", head, rows)
