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
    SPREAD,
    TOPICS_COST,
    UNSEEN,
)
from artifact.papers.likelihood.tables import effect_cell, large
from artifact.results.reading import TRUTH, select
from artifact.typesetting import latex, style
from artifact.typesetting.style import Props
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100  # K of the figure and of the table of parts
MENDED_PACKAGE = "scikit-learn"
LINEAR = 0.3  # range in which the axis of factors is linear, nats per token
FACTORS = {  # factors of a perplexity, by the logarithm to the base 10
    math.log10(0.5): "0.5",
    0.0: "1",
    1.0: "10",
    10.0: "$10^{10}$",
    100.0: "$10^{100}$",
}
MARKS = (2.5, 4.0, 6.0)  # sizes of marks, for ever more documents
INTERVAL = 1.96  # standard errors over documents in each direction
# the table's columns, by the name of a part
COLUMNS = {"bound": "bound", "folding": "folding-in", "random": "random-topics", "sample": "sample"} | {
    "optimum": "optimum",
    "topics": TOPICS_COST,
    "unseen": UNSEEN,
}


def all_documents(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows on all test documents of a split."""
    return table[table["documents"] == table.groupby(["corpus", "seed"])["documents"].transform("max")]


def _by_corpus(table: "pd.DataFrame") -> "pd.DataFrame":
    return table.sort_values("corpus", kind="stable")


def one_model(inputs: Inputs) -> Figure:
    """Draw the factor of one model's reported perplexity over the likelihood's, a row per package.

    A mark for each number of documents that are scored at once, larger for more; grey, the likelihood's interval over
    as many documents. Only words seen in training are scored.
    """
    table = select(results.package_numbers(inputs), words=KNOWN)
    table = select(table, seed=table["seed"].min())
    corpora = sorted(set(table["corpus"]))
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    options: Props = {"titles": titles, "synthetic": inputs.synthetic(), "sharey": True}
    figure, (axes,) = style.grid(1, max(1, len(corpora)), 2.7, **options)
    shown = [
        select(rows, topics=results.available((SHOWN,), set(rows["topics"]))[-1])
        for rows in (select(table, corpus=corpus) for corpus in corpora)
    ]
    packages = _by_gap(shown)
    for axis, rows in zip(axes, shown, strict=False):
        for row, package in enumerate(packages):
            _draw(axis, row, package, select(rows, model=package))
        axis.axvline(0.0, color=style.INK, linewidth=0.7, zorder=1.0)
        axis.set_xscale("symlog", linthresh=LINEAR, linscale=0.7)
        style.ticks(axis.xaxis, [math.log(10.0) * power for power in FACTORS], list(FACTORS.values()), fontsize=7.0)
        axis.margins(x=0.06)
        if len(corpora) < 3 or axis is axes[1]:  # of three panels the labels would overlap
            axis.set_xlabel("reported perplexity over the likelihood's")
    style.ticks(axes[0].yaxis, range(len(packages)), packages)
    axes[0].set_ylim(len(packages) - 0.5, -0.5)
    handles = [
        Line2D([], [], color=style.DARK, marker="o", linestyle="none", markersize=size, label=label)
        for size, label in zip(
            MARKS, [*(f"{n} documents" for n in sorted(set(table["documents"]))[:2]), "all"], strict=False
        )
    ]
    handles.append(Line2D([], [], color=style.PALE, linewidth=4.0, label="likelihood, interval over documents"))
    style.legend(figure, [], extra=handles, ncols=4)
    return figure


def _by_gap(shown: "list[pd.DataFrame]") -> list[str]:
    """Return the packages from the one whose perplexity is the lowest beside the likelihood's, all documents scored."""
    gaps: dict[str, list[float]] = {}
    for rows in shown:
        for package, numbers in rows.groupby("model", sort=False):
            wide = numbers.pivot_table("value", "documents", "quantity")
            gaps.setdefault(str(package), []).append(float((wide[LIKELIHOOD] - wide[REPORTED]).iloc[-1]))
    return sorted(gaps, key=lambda package: sum(gaps[package]) / len(gaps[package]))


def _draw(axis: Axes, row: int, package: str, rows: "pd.DataFrame") -> None:
    """Draw a package's number beside its model's likelihood, by the number of documents that are scored."""
    if rows.empty:
        return
    wide = rows.pivot_table("value", "documents", "quantity")
    for place, (size, (_, numbers)) in enumerate(zip(MARKS, wide.iterrows(), strict=False)):
        height, reach = row + 0.22 * (place - 1), INTERVAL * numbers[SPREAD]
        axis.plot([-reach, reach], [height, height], color=style.PALE, linewidth=4.0, zorder=0.8, solid_capstyle="butt")
        props: Props = {"color": style.PACKAGE_COLOURS[package], "markersize": size, "label": package}
        axis.plot(numbers[LIKELIHOOD] - numbers[REPORTED], height, "o", **props)


def choices(inputs: Inputs) -> dict[str, set[int]]:
    """Return the numbers of topics that a package's own number chooses, over all corpora, by package."""
    table = select(results.package_numbers(inputs), words=KNOWN)
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
    table = select(results.package_numbers(inputs), words=KNOWN)
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
