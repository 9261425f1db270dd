"""Figures and tables of LDA's extensions."""

from itertools import groupby, zip_longest

import numpy as np
from matplotlib.figure import Figure

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point
from artifact.typesetting import latex, style
from artifact.typesetting.macros import Macros
from artifact.typesetting.over_seeds import scored, signed
from gallery.extensions import science as results
from gallery.extensions.experiments import disclda, folding_in, lda_hmm, lda_hmm_words, rtm, slda
from gallery.gaps import largest_distance
from gallery.priors.spec import CORRELATION, COVARIATES
from gallery.table_rows import Row, rows
from gallery.tokens.science import GALLERY, PERPLEXITY
from heldout.evaluators import EXACT

TIMES = 4  # number of times at which Figure 27.12 shows a topic's words
LEAST_EFFECTIVE = 100.0  # effective number of chains below which neither an error nor a gap is shown
SIZE, ADVANCE = 6.5, 0.603  # points, and the width of a letter in these, of the monospaced font
LITTLE = 0.1  # share below which a percentage has a decimal
LIGHTEST = 0.55  # grey of a word that is never in the topics' state


def figure_27_14(inputs: Inputs) -> Figure:
    """Draw words as content and as function words, the blacker, the more often they are in the topics' state."""
    return _roles(inputs, results.corpus_of_words(inputs, results.FIGURE_27_14))


def _roles(inputs: Inputs, corpora: list[str]) -> Figure:
    roles, lines = (lda_hmm_words.CONTENT, lda_hmm_words.FUNCTION), list[results.Context]()
    for corpus in corpora:
        both = [results.contexts(inputs, corpus, role) for role in roles]
        lines += [context for pair in zip(*both, strict=True) for context in pair]
    figure, ((axis,),) = style.grid(1, 1, 0.3 + 0.2 * max(len(lines), 1))
    axis.axis("off")
    letters = 72.0 * style.WIDTH / (SIZE * ADVANCE) - 2.0
    axis.set_xlim(0.0, letters)
    axis.set_ylim(-len(lines) - 0.5, 0.5)
    for number, (words, content, place) in enumerate(lines):
        # the word itself stands in the middle, and words without room are left out
        x = letters / 2.0 - len(" ".join(words[:place])) - len(words[place]) / 2.0
        for i, (word, share) in enumerate(zip(words, content, strict=True)):
            if x >= 0.0 and x + len(word) <= letters:
                box = {"boxstyle": "square,pad=0.15", "fill": False, "linewidth": 0.5} if i == place else None
                props = {"fontfamily": "monospace", "fontsize": SIZE, "color": str(LIGHTEST * (1.0 - share))}
                axis.text(x, -number, word, bbox=box, parse_math=False, **props)
            x += len(word) + 1.0
    return figure


def figure_27_12(inputs: Inputs) -> Figure:
    """Draw a topic's words at evenly spaced times, and the probability of three words at every time."""
    words, probabilities = results.motion(inputs)
    figure, ((left, right),) = style.grid(1, 2, 2.3, gridspec_kw={"width_ratios": [1.9, 1.0]})
    left.axis("off")
    columns = sorted({round(time) for time in np.linspace(0.0, len(words) - 1.0, TIMES)}) if words else []
    for column, time in enumerate(columns):
        x = (column + 0.02) / len(columns)
        left.text(x, 1.0, f"time {time}", transform=left.transAxes, va="top", fontsize=7.5, weight="bold")
        left.text(x, 0.9, "\n".join(words[time]), transform=left.transAxes, va="top", fontsize=7.0, parse_math=False)
    for (word, values), line in zip(probabilities.items(), ("-", "--", ":"), strict=False):
        right.plot(range(len(values)), values, line, color=style.INK, label=word)
    right.set(xlabel="time", ylabel="probability in the topic", ylim=(0.0, None))
    style.ticks(right.xaxis, columns)
    if probabilities:
        right.legend(frameon=False, fontsize=7.0)
    return figure


def supervised(inputs: Inputs) -> str:
    """Return the table of supervised LDA: a row for each corpus and K."""
    body: list[latex.TableRow] = []
    for corpus, label_rows in groupby(results.label_rows(inputs), lambda row: row.own.corpus):
        if body:
            body.append(latex.ADDLINESPACE)
        name = latex.corpus_name(corpus)
        for own, other, frequency in label_rows:
            pairs = [[_value(row.usual), scored(row.likelihood), _gap(row)] for row in (own, other)]
            body.append([name, latex.integer(own.topics), latex.signed(frequency, 3), *pairs[0], *pairs[1]])
            name = ""
    head = (
        r"& & by their & \multicolumn{3}{c}{sLDA} & \multicolumn{3}{c}{LDA with a regression}\\" + "\n"
        r"\cmidrule(lr){4-6}\cmidrule(l){7-9}" + "\n"
        r"data & $K$ & frequency & at one state & likelihood & gap & at one state & likelihood & gap\\"
    )
    return latex.tabular(inputs, "@{}lrrrlrrlr@{}", head, body)


def relational(inputs: Inputs) -> str:
    """Return the table of the relational topic model: a row for each model and K."""
    body: list[latex.TableRow] = []
    for row in rows(inputs, results.RTM, results.LINK_MODELS):
        mean, area = latex.signed(row.measured[rtm.MEAN], 3), latex.decimal(row.measured[rtm.AREA], 3)
        name, usual = [results.LINK_MODELS[row.model], latex.integer(row.topics)], _value(row.usual)
        body.append([*name, usual, mean, scored(row.likelihood), _gap(row), area])
    head = r"model & $K$ & at one state & at mean weights & likelihood & gap & area under the curve\\"
    return latex.tabular(inputs, "@{}lrrrlrr@{}", head, body)


def _value(point: Point | None, digits: int = 3) -> str:
    return latex.DASH if point is None else latex.signed(point.value, digits)


def _gap(row: Row, digits: int = 3) -> str:
    return latex.DASH if row.gap is None else latex.signed(row.gap, digits)


def discriminative(inputs: Inputs) -> str:
    """Return the table of DiscLDA: a row for each model."""
    body: list[latex.TableRow] = []
    for row in rows(inputs, results.DISCLDA, results.CLASS_MODELS):
        shares = [latex.percent(row.measured[quantity], 1) for quantity in (disclda.USUAL_ERROR, disclda.ERROR)]
        name = [results.CLASS_MODELS[row.model], latex.integer(row.topics)]
        words = latex.signed(row.measured[disclda.WORDS], 3)
        body.append([*name, _value(row.usual), scored(row.likelihood), _gap(row), *shares, words])
    head = (
        r"& & \multicolumn{3}{c}{class, nats per document} & \multicolumn{2}{c}{wrong class} & words, nats\\" + "\n"
        r"\cmidrule(lr){3-5}\cmidrule(lr){6-7}" + "\n"
        r"model & $K$ & folded in & likelihood & gap & folded in & likelihood & per token\\"
    )
    return latex.tabular(inputs, "@{}lrrlrrrr@{}", head, body)


def sequences(inputs: Inputs) -> str:
    """Return the table of LDA-HMM, LDA and a hidden Markov model by the likelihood of documents in their order."""
    body: list[latex.TableRow] = []
    for row in rows(inputs, results.SEQUENCES, results.SEQUENCE_MODELS):
        shares = [latex.percent(row.measured[quantity], 0) for quantity in (lda_hmm.CONTENT, lda_hmm.FUNCTION)]
        cells = [latex.corpus_name(row.corpus), results.SEQUENCE_MODELS[row.model], latex.integer(row.topics)]
        body.append([*cells, _value(row.usual, 4), scored(row.likelihood, 4), _gap(row, 4), *shares])
    head = r"data & model & $K$ & folded in & likelihood & gap & tokens of topics & function words of topics\\"
    return latex.tabular(inputs, "@{}llrrlrrr@{}", head, body)


def dynamic(inputs: Inputs) -> str:
    """Return the table of the dynamic topic model beside static ones by the likelihood of the next time's documents."""
    body: list[latex.TableRow] = []
    for row in rows(inputs, results.DYNAMICS, results.DYNAMIC_MODELS):
        size = results.effective_size(inputs, row)
        enough = size is None or size >= LEAST_EFFECTIVE
        likelihood, gap = (scored(row.likelihood), _gap(row)) if enough else (_value(row.likelihood), latex.DASH)
        shown = latex.DASH if size is None else latex.integer(int(size))
        body.append([results.DYNAMIC_MODELS[row.model], _value(row.usual), likelihood, gap, shown])
    head = r"model & bound & likelihood & gap & least effective size\\"
    return latex.tabular(inputs, "@{}lrlrr@{}", head, body)


def folded_in(inputs: Inputs) -> str:
    """Return the table of the excess of folding in beside its bound; Gaussian vectors have a dash for it."""
    body: list[latex.TableRow] = []
    for row in results.folded_rows(inputs):
        cells = [results.FOLDED_MODELS[row.model], latex.corpus_name(row.corpus), latex.integer(row.topics)]
        bounds = [latex.decimal(row.bounds.get(name), 1) for name in (folding_in.BOUND, folding_in.LARGEST)]
        share = f"{latex.integer(row.violations)} of {latex.integer(row.documents)}" if row.bounds else latex.DASH
        body.append([*cells, signed(row.excess, 2), *bounds, share])
    return latex.tabular(inputs, "@{}llrrrrr@{}", r"model & data & $K$ & excess & bound & largest & above it\\", body)


def table_27_1(inputs: Inputs) -> str:
    """Return Table 27.1: from top to bottom topics of LDA, topics of LDA-HMM and its states, a column each."""
    return _words(inputs, results.corpus_of_words(inputs, results.TABLE_27_1))


# experiments and corpora whose test tokens without a known word the text counts
LEFT_OUT = {
    results.SEQUENCES: ("brown", "nips-running"),
    results.DISCLDA: ("newsgroups",),
    CORRELATION: ("nips-volumes",),
    COVARIATES: ("nips-volumes", "reuters-topics"),
    GALLERY: ("cranfield",),
    PERPLEXITY: ("ap",),
}


def extension_macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found = {}
    for experiment, corpora in LEFT_OUT.items():
        for corpus in corpora:
            share = results.left_out(inputs, experiment, corpus)
            shown = NOT_RUN if share is None else latex.percent(share, 1 if share < LITTLE else 0)
            found[latex.camel("left-out", experiment, corpus)] = shown
    for name, experiment in (("Labels", results.SLDA), ("Links", results.RTM)):
        apart = largest_distance(inputs, experiment, EXACT, slda.ESTIMATED)
        found[f"{name}Apart"] = NOT_RUN if apart is None else latex.decimal(apart, 4)
    return found


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
