"""Packages' numbers for held-out documents: many perplexities of one model, their choices, and their parts."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import results
from artifact.papers.likelihood.experiments.packages import (
    ALL,
    BOUNDED,
    KNOWN,
    LIKELIHOOD,
    MENDED,
    PART,
    REPORTED,
    TOPICS_COST,
    UNSEEN,
)
from artifact.papers.likelihood.tables import effect_cell, large
from artifact.results.reading import TRUTH, select
from artifact.typesetting import forest, latex, style
from artifact.typesetting.style import Props
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100  # K of the figure and of the table of parts
MENDED_PACKAGE = "scikit-learn"
LINEAR = 0.1  # range in which the axis is linear, nats per token
NAMES = {"spark": "Spark", "bigartm": "BigARTM", "etm": "ETM"} | {
    "topicmodels-gibbs": "topicmodels, Gibbs",
    "topicmodels-vem": "topicmodels, VEM",
}
# the table's columns, by the name of a part
COLUMNS = {"bound": "bound", "folding": "folding-in", "random": "random-topics", "sample": "sample"} | {
    "optimum": "optimum",
    "topics": TOPICS_COST,
    "unseen": UNSEEN,
}


def all_documents(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows on all test documents of a split."""
    return table[table["documents"] == table.groupby(["corpus", "seed"])["documents"].transform("max")]


def several_topics(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of packages with more than one number of topics on a corpus, where there is a choice."""
    return table[table.groupby(["corpus", "model"])["topics"].transform("nunique") > 1]


def _by_corpus(table: "pd.DataFrame") -> "pd.DataFrame":
    return table.sort_values("corpus", kind="stable")


def one_model(inputs: Inputs) -> Figure:
    """Draw packages' numbers less the likelihood of the same models, and the numbers of topics that they choose.

    A row per package, a mark per corpus, red where the package flatters its model; a tail reaches to the number for the
    fewest documents. Right, pale: the numbers of topics that the likelihood does not tell from its best. Only words
    seen in training are scored; means over seeds.
    """
    table = several_topics(select(results.package_numbers(inputs), words=KNOWN))
    corpora = sorted(set(table["corpus"]))
    topics = results.available((SHOWN,), set(table["topics"]))[-1:]
    cells = select(table, topics=topics).pivot_table("value", ["corpus", "model", "documents"], "quantity")
    gaps = (cells[REPORTED] - cells[LIKELIHOOD]).groupby(["model", "corpus"]).agg(["last", "first"])
    order = gaps["last"].groupby("model").mean().sort_values(ascending=False)
    options: Props = {"synthetic": inputs.synthetic(), "sharey": True, "width_ratios": (1.4, 1.0)}
    titles = [f"how wrong the number is, $K$ = {topics[0]}", "the $K$ that it chooses"]
    figure, ((left, right),) = style.grid(1, 2, 3.0, titles=titles, **options)
    rows = {package: row for row, package in enumerate(map(str, order.index))}
    for row in gaps.reset_index().to_dict("records"):
        package, corpus, gap, few = (row[name] for name in ("model", "corpus", "last", "first"))
        place = corpora.index(corpus)
        height = rows[package] + forest.DISTANCE * 1.4 * (place - (len(corpora) - 1) / 2.0)
        look: Props = {"color": style.FLATTERING if gap > 0.0 else style.CHARGING, "marker": forest.CORPORA[place % 4]}
        left.plot([gap, few], [height, height], color=look["color"], linewidth=0.8)
        left.plot(gap, height, linestyle="none", markersize=4.0, label=package, **look)
        number, truth = (
            results.best_topics(inputs, corpus, package, name, results.PACKAGES) for name in (REPORTED, TRUTH)
        )
        if truth:
            pale: Props = {"color": style.PALE, "linewidth": 3.0, "marker": "s", "markersize": 3.6}
            right.plot(truth.topics, [height] * len(truth.topics), **pale)
        if number:
            right.plot(number.highest, height, linestyle="none", markersize=4.0, label=package, **look)
    _regions(left)
    left.set_xlabel(f"reported {style.MINUS} likelihood, nats per token {style.SYMMETRIC}")
    right.set_xscale("log")
    right.margins(x=0.08)
    style.ticks(right.xaxis, sorted(set(table["topics"])))
    right.set_xlabel("number of topics")
    style.ticks(left.yaxis, range(len(rows)), [printed_name(package) for package in rows])
    left.set_ylim(len(rows) - 0.4, -0.6)
    dark: Props = {"color": style.DARK, "linestyle": "none", "markersize": 4.0}
    handles = [
        Line2D([], [], marker=forest.CORPORA[place % 4], label=latex.corpus_title(corpus), **dark)
        for place, corpus in enumerate(corpora)
    ]
    handles.append(
        Line2D([], [], color=style.DARK, linewidth=0.8, label=f"{min(table['documents'])} documents at once")
    )
    handles.append(Line2D([], [], color=style.PALE, linewidth=3.0, label="best by the likelihood"))
    style.legend(figure, [], extra=handles)
    return figure


def _regions(axis: Axes) -> None:
    """Put gaps on a symmetric logarithmic axis, and shade the side on which a package flatters, and the other."""
    low, high = (1.6 * end for end in (axis.dataLim.x0, max(axis.dataLim.x1, 10.0 * LINEAR)))
    axis.set_xscale("symlog", linthresh=LINEAR, linscale=0.5)
    axis.set_xlim(low, high)
    axis.axvspan(low, 0.0, color=style.TOO_LOW, linewidth=0, zorder=0.3)
    axis.axvspan(0.0, high, color=style.TOO_HIGH, linewidth=0, zorder=0.3)
    axis.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1.0)
    powers = [10.0**power for power in range(round(math.log10(LINEAR)), 6)]
    marks = [tick for tick in sorted({0.0, *powers, *(-power for power in powers)}) if low <= tick <= high]
    style.ticks(axis.xaxis, marks, [style.signed_label(mark) for mark in marks])
    for x, text, colour in ((0.0, "too low", style.CHARGING), (1.0, "too high", style.FLATTERING)):
        props: Props = {"xycoords": "axes fraction", "color": colour, "fontweight": "bold", "va": "center"}
        style.label(axis, text, (x, 0.94 - 0.89 * x), (4.0 - 8.0 * x, 0.0), ha="right" if x else "left", **props)


def printed_name(package: str) -> str:
    """Return a package's name as its authors write it, with the method where it has several."""
    return NAMES.get(package, package)


def choices(inputs: Inputs) -> dict[str, set[int]]:
    """Return the numbers of topics that a package's own number chooses, over all corpora, by package."""
    table = several_topics(select(results.package_numbers(inputs), words=KNOWN))
    chosen: dict[str, set[int]] = {}
    for (corpus, package), _ in all_documents(table).groupby(["corpus", "model"], sort=False):
        number = results.best_topics(inputs, str(corpus), str(package), REPORTED, results.PACKAGES)
        if number:
            chosen.setdefault(str(package), set()).add(number.highest)
    return chosen


def choice(inputs: Inputs) -> str:
    """Return the K that reported numbers choose and the K that the likelihood does not tell from its best.

    A star marks a set at the end of the grid; the cost of the number's choice is an effect; ratios are of reported
    perplexity to the likelihood's, of tokens of words seen in training.
    """
    table = several_topics(select(results.package_numbers(inputs), words=KNOWN))
    grid = sorted(set(table["topics"]))
    shown = results.available((5, 20, SHOWN), grid)
    head = rf"""
 & & \multicolumn{{2}}{{c}}{{$K$ chosen by}} & & \multicolumn{{{len(shown)}}}{{c@{{}}}}{{reported over true, $K$}}\\
\cmidrule(lr){{3-4}}\cmidrule(l){{6-{5 + len(shown)}}}
corpus & package & its number & the likelihood & cost & {" & ".join(map(latex.integer, shown))}\\"""
    return latex.tabular(inputs, f"@{{}}llrrr{'r' * len(shown)}@{{}}", head, _choice_rows(inputs, table, shown))


def _choice_rows(inputs: Inputs, table: "pd.DataFrame", shown: list[int]) -> Iterator[list[str]]:
    costs = {(effect.corpus, effect.part): effect for effect in inputs.effects.get("choice-package", ())}
    for (corpus, package), rows in all_documents(_by_corpus(table)).groupby(["corpus", "model"], sort=False):
        means = rows.pivot_table("value", "topics", "quantity")
        number, truth = (
            results.best_topics(inputs, str(corpus), str(package), name, results.PACKAGES) for name in (REPORTED, TRUTH)
        )
        chosen = latex.integer(number.highest) if number else latex.DASH
        best = ", ".join(map(latex.integer, truth.topics)) + "*" * truth.censored if truth else latex.DASH
        ratios = [
            large(math.exp(min(700.0, means[LIKELIHOOD][k] - means[REPORTED][k]))) if k in means.index else latex.DASH
            for k in shown
        ]
        cost = effect_cell(costs.get((str(corpus), str(package))))
        yield [latex.corpus_name(str(corpus)), str(package), chosen, best, cost, *ratios]


def parts(inputs: Inputs) -> str:
    """Return the parts of the reported number at one K, nats per token, means over seeds; the parts add up to it."""
    table = results.as_given(results.package_numbers(inputs))
    head = rf"corpus & package & $K$ & likelihood & {' & '.join(COLUMNS)} & reported\\"
    return latex.tabular(inputs, f"@{{}}llrr{'r' * len(COLUMNS)}r@{{}}", head, _parts_rows(table))


def _parts_rows(table: "pd.DataFrame") -> Iterator[list[str]]:
    for (corpus, package), rows in _by_corpus(table).groupby(["corpus", "model"], sort=False):
        k = results.available((SHOWN,), set(rows["topics"]))[-1]
        rows = select(rows, topics=k)
        means = all_documents(rows).groupby("quantity")["value"].mean()
        by_part = {name: means.get(PART + part) for name, part in COLUMNS.items()}
        likelihood = means[REPORTED] - sum(part for part in by_part.values() if part is not None)
        cells = [latex.DASH if part is None else latex.signed(part, 2) for part in by_part.values()]
        ends = [latex.signed(nats, 2) for nats in (likelihood, means[REPORTED])]
        yield [latex.corpus_name(str(corpus)), str(package), latex.integer(k), ends[0], *cells, ends[1]]


def mend(inputs: Inputs) -> str:
    """Return scikit-learn's perplexity with all words as it is, as proposed, and mended further, at three K.

    Without the topics' cost; without the words unseen in training, too; with topics fixed at their means, all words
    in; and the likelihood of these.
    """
    head = r"corpus & $K$ & as it is & proposed & no topics' cost & nor unseen words & fixed topics & likelihood\\"
    table = all_documents(select(results.package_numbers(inputs), model=MENDED_PACKAGE))
    return latex.tabular(inputs, "@{}lrrrrrrr@{}", head, _mend_rows(table))


def _mend_rows(table: "pd.DataFrame") -> Iterator[list[str]]:
    grid = sorted(set(table["topics"]))
    shown = {grid[0], *results.available((20,), grid), grid[-1]} if grid else ()
    for (corpus, k), rows in table[table["topics"].isin(shown)].groupby(["corpus", "topics"], sort=True):
        means: Any = rows.groupby(["words", "quantity"])["value"].mean()
        entire = means[ALL]
        free, known = (means[words][REPORTED] - means[words][PART + TOPICS_COST] for words in (ALL, KNOWN))
        values = (entire[REPORTED], entire[MENDED], free, known, entire[BOUNDED], entire[LIKELIHOOD])
        yield [latex.corpus_name(str(corpus)), latex.integer(k), *(large(perplexity(nats, 1)) for nats in values)]
