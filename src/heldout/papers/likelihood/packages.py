"""What packages report of held-out documents: many perplexities of one model, what they choose, and their parts."""

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from heldout.inputs import Inputs
from heldout.papers.likelihood import results
from heldout.papers.likelihood.experiments.packages import (
    ALL,
    BOUNDED,
    KNOWN,
    LIKELIHOOD,
    MENDED,
    PART,
    REPORTED,
    SPREAD,
    TOPICS_COST,
    UNSEEN,
)
from heldout.papers.likelihood.tables import large
from heldout.points import TRUTH, select
from heldout.scores import perplexity
from heldout.typesetting import latex, style
from heldout.typesetting.style import Props

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100  # K of the figure and of the table of parts
MENDED_PACKAGE = "scikit-learn"
NEAR = 3.0
LOWEST = 10.0  # of a perplexity, in the figure
INTERVAL = 1.96  # standard errors over documents in each direction
# the table's columns, by the name of a part
COLUMNS = {"bound": "bound", "folding": "folding-in", "random": "random-topics", "sample": "sample"} | {
    "optimum": "optimum",
    "topics": TOPICS_COST,
    "unseen": UNSEEN,
}


def of_all(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows on all test documents of a split."""
    return table[table["documents"] == table.groupby(["corpus", "seed"])["documents"].transform("max")]


def _by_corpus(table: "pd.DataFrame") -> "pd.DataFrame":
    return table.sort_values("corpus", kind="stable")


def one_model(inputs: Inputs) -> Figure:
    """Draw one model's reported perplexity against how many documents are scored, a column per corpus.

    Dashed, as the package gives it; solid, the likelihood of the same model and documents, with an interval over
    documents; both of words seen in training. Below, what lies within a factor of `NEAR` of the likelihoods.
    """
    table = select(results.of_packages(inputs), words=KNOWN)
    table = select(table, seed=table["seed"].min())
    corpora = sorted(set(table["corpus"]))
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    options: Props = {"titles": titles, "synthetic": inputs.synthetic(), "sharex": "col", "sharey": "row"}
    figure, grid = style.grid(2, max(1, len(corpora)), 4.2, **options)
    packages = list(dict.fromkeys(table["model"]))
    truths = table[table["quantity"] == LIKELIHOOD]["value"]
    for corpus, column in zip(corpora, grid.T, strict=False):
        rows = select(table, corpus=corpus)
        rows = select(rows, topics=results.available((SHOWN,), set(rows["topics"]))[-1])
        for axis, package in itertools.product(column, packages):
            _draw(axis, package, select(rows, model=package))
        style.log_log(*column)
        style.ticks(column[1].xaxis, sorted(set(rows["documents"])))
        column[1].xaxis.set_minor_locator(LogLocator(base=10.0, subs=()))
        column[1].set_xlabel("documents scored")
    for axis in grid[:, 0]:
        axis.set_ylabel("perplexity per token")
    grid[0, 0].yaxis.set_major_locator(LogLocator(base=10.0, numticks=6))
    grid[0, 0].set_ylim(bottom=LOWEST)
    if len(truths):
        grid[1, 0].set_ylim(math.exp(-truths.max()) / NEAR, math.exp(-truths.min()) * NEAR)
        grid[1, 0].yaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
        style.plain_numbers(grid[1, 0].yaxis)
    handles = [Line2D([], [], color=style.PACKAGE_COLOURS[package], label=package) for package in packages]
    for line, label in ((style.DASHED, "as reported"), ("-", "likelihood, same model")):
        props: Props = {"color": style.DARK, "linestyle": line, "label": label}
        handles.append(Line2D([], [], **props))
    style.legend(figure, [], extra=handles, handlelength=2.6, ncols=4)
    return figure


def _draw(axis: Axes, package: str, rows: "pd.DataFrame") -> None:
    """Draw a package's number and its model's likelihood, by how many documents are scored."""
    if rows.empty:
        return
    own, colour = rows.pivot_table("value", "documents", "quantity"), style.PACKAGE_COLOURS[package]
    reported = own[REPORTED].map(lambda nats: perplexity(nats, 1))
    shown: Props = {"color": colour, "label": package, "marker": "o", "markersize": 2.5, "linestyle": style.DASHED}
    axis.plot(reported[reported < math.inf], **shown)
    middle, low, high = (
        (own[LIKELIHOOD] + sign * INTERVAL * own[SPREAD]).map(lambda nats: perplexity(nats, 1)) for sign in (0, 1, -1)
    )
    axis.plot(middle, color=colour, label=package, linewidth=1.0, markersize=0.0)
    axis.fill_between(own.index, low, high, color=colour, alpha=0.1, linewidth=0.0)


def choice(inputs: Inputs) -> str:
    """Return the K that reported numbers choose beside those that the likelihood does not tell from its best.

    A star marks a set at the end of the grid; ratios are of reported perplexity to the likelihood's, of tokens of words
    seen in training.
    """
    table = select(results.of_packages(inputs), words=KNOWN)
    grid = sorted(set(table["topics"]))
    shown = results.available((5, 20, SHOWN), grid)
    head = rf"""
 & & \multicolumn{{2}}{{c}}{{$K$ chosen by}} & \multicolumn{{{len(shown)}}}{{c@{{}}}}{{reported over true, $K$}}\\
\cmidrule(lr){{3-4}}\cmidrule(l){{5-{4 + len(shown)}}}
corpus & package & its number & the likelihood & {" & ".join(map(latex.integer, shown))}\\"""
    return latex.tabular(inputs, f"@{{}}llrr{'r' * len(shown)}@{{}}", head, _choice_rows(inputs, table, shown))


def _choice_rows(inputs: Inputs, table: "pd.DataFrame", shown: list[int]) -> Iterator[list[str]]:
    for (corpus, package), rows in of_all(_by_corpus(table)).groupby(["corpus", "model"], sort=False):
        means = rows.pivot_table("value", "topics", "quantity")
        sets = [
            results.best_topics(inputs, str(corpus), str(package), name, results.PACKAGES) for name in (REPORTED, TRUTH)
        ]
        alike = [
            latex.listed([latex.integer(k) for k in one.topics]) + "*" * one.censored if one else "" for one in sets
        ]
        chosen = latex.integer(sets[0].highest) if sets[0] else latex.DASH
        ratios = [
            large(math.exp(min(700.0, means[LIKELIHOOD][k] - means[REPORTED][k]))) if k in means.index else latex.DASH
            for k in shown
        ]
        yield [latex.corpus_name(str(corpus)), str(package), chosen, alike[1] or latex.DASH, *ratios]


def parts(inputs: Inputs) -> str:
    """Return what the reported number is made of at one K, nats per token, means over seeds; the parts add up to it."""
    table = results.as_given(results.of_packages(inputs))
    head = rf"corpus & package & $K$ & likelihood & {' & '.join(COLUMNS)} & reported\\"
    return latex.tabular(inputs, f"@{{}}llrr{'r' * len(COLUMNS)}r@{{}}", head, _parts_rows(table))


def _parts_rows(table: "pd.DataFrame") -> Iterator[list[str]]:
    for (corpus, package), rows in _by_corpus(table).groupby(["corpus", "model"], sort=False):
        k = results.available((SHOWN,), set(rows["topics"]))[-1]
        rows = select(rows, topics=k)
        means = of_all(rows).groupby("quantity")["value"].mean()
        of_parts = {name: means.get(PART + part) for name, part in COLUMNS.items()}
        likelihood = means[REPORTED] - sum(part for part in of_parts.values() if part is not None)
        cells = [latex.DASH if part is None else latex.signed(part, 2) for part in of_parts.values()]
        ends = [latex.signed(nats, 2) for nats in (likelihood, means[REPORTED])]
        yield [latex.corpus_name(str(corpus)), str(package), latex.integer(k), ends[0], *cells, ends[1]]


def mend(inputs: Inputs) -> str:
    """Return scikit-learn's perplexity with all words as it is, as proposed, and mended further, by K.

    Without the topics' cost; without the words unseen in training, too; with topics fixed at their means, all words
    in; and the likelihood of that.
    """
    head = r"corpus & $K$ & as it is & proposed & no topics' cost & nor unseen words & fixed topics & likelihood\\"
    table = of_all(select(results.of_packages(inputs), model=MENDED_PACKAGE))
    return latex.tabular(inputs, "@{}lrrrrrrr@{}", head, _mend_rows(table))


def _mend_rows(table: "pd.DataFrame") -> Iterator[list[str]]:
    for (corpus, k), rows in table.groupby(["corpus", "topics"], sort=True):
        means: Any = rows.groupby(["words", "quantity"])["value"].mean()
        own = means[ALL]
        free, known = (means[words][REPORTED] - means[words][PART + TOPICS_COST] for words in (ALL, KNOWN))
        values = (own[REPORTED], own[MENDED], free, known, own[BOUNDED], own[LIKELIHOOD])
        yield [latex.corpus_name(str(corpus)), latex.integer(k), *(large(perplexity(nats, 1)) for nats in values)]
