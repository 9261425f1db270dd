"""The law of folding in read back: the excess of every cell beside its bounds and forms, and the registered outcomes.

The statements R1 to R8, their cells, their tolerances and the shares of cells that count as a success are those of
`docs/law.md`, which was committed before the cells were scored. After the fact are the numbers that describe cells by
their prior beside the law (`Flat..`, `Dense..` of `macros`).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.law import (
    ASSOCIATION,
    BOUND,
    BY_ASSOCIATION,
    BY_INFORMATION,
    COMPLEXITY,
    CORPORA,
    DOCUMENTS,
    DRAWN,
    DROPPED,
    EXCESS,
    KIND,
    LAW,
    PER_ALPHA,
    TOKENS,
    TOMOTOPY,
    VIOLATIONS,
)
from artifact.results.reading import select
from artifact.typesetting import latex, style
from artifact.typesetting.macros import Macros
from artifact.typesetting.style import Props
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, REFERENCE
from heldout.evaluators.expected_excess import expected_excess
from heldout.models import LDA, PLSA

if TYPE_CHECKING:
    import pandas as pd

CELL = ["corpus", "model", "variant", "topics", "seed", "at"]
ERROR, ALPHA, GROUP = "error", "alpha", "group"
TRAINED, LOOKED_AT = "trained", "looked-at"
NOISY = 0.1  # share of a cell's excess above which its standard error leaves it out
LOW, EXCEEDED, ENVELOPE = 0.5, 1.05, 1.6  # least alpha of R3, and its and R4's factors
CLOSE, ASSOCIATED, ENDS, OTHERS, MEDIAN = 0.2, 0.15, 0.15, 0.3, 0.1  # tolerances of R5 to R8, and R6's largest median
CONSTANT = 0.8  # share of the law, fitted to Cranfield, which R5 has to beat
FOLDING = ("bigartm", "bitermplus")  # packages that fold in
SOURCES = {  # of topics: colour, marker and label
    PLSA: (style.COLOURS[PLSA], "o", "PLSA"),
    LDA: (style.COLOURS[LDA], "s", "LDA"),
    TOMOTOPY: (style.LIBRARY_COLOURS[TOMOTOPY], "^", TOMOTOPY),
}
EXAMPLE_TOPICS = 100


def cells(inputs: Inputs) -> "pd.DataFrame":
    """Return a row per cell: its names, "alpha", "group", the quantities of `experiments.law`, "error", and "dropped".

    The group is "trained" or "drawn", as registered, or "looked-at".
    """
    rows = select(inputs.measurements, axis=KIND)
    table = rows.pivot_table(index=CELL, columns="quantity", values="value", aggfunc="first")
    table = table.reindex(columns=sorted({*table.columns, DROPPED}))
    errors = select(rows, quantity=EXCESS).set_index(CELL)["standard_error"]
    table[ERROR] = errors
    table = table.reset_index()
    group = np.where(table["corpus"].isin(CORPORA), TRAINED, LOOKED_AT)
    table[GROUP] = np.where(table["model"] == DRAWN, DRAWN, group)
    table[ALPHA] = table["at"] / PER_ALPHA
    return table


class Outcome(NamedTuple):
    """The outcome of a registered statement.

    Attributes:
        statement: in LaTeX.
        share: the share of cells that was to agree; None where none was claimed.
        agrees: whether every cell agrees, (cells,).
        distance: |log(form / excess)| of every cell, where a form is compared, (cells,).
        more: whether everything else that was asked for holds.
    """

    statement: str
    share: float | None
    agrees: "pd.Series[bool]"
    distance: "pd.Series[float] | None" = None
    more: bool = True

    @property
    def held(self) -> bool:
        """Whether it is a success by the registered rule."""
        enough = self.share is not None and self.agrees.sum() >= self.share * len(self.agrees)
        return bool(enough and len(self.agrees) and self.more)

    @property
    def word(self) -> str:
        """The outcome in a word."""
        if not len(self.agrees):
            return NOT_RUN
        return "none claimed" if self.share is None else "held" if self.held else "failed"


def registered(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the registered cells of `cells` that were scored."""
    return table[(table[GROUP] != LOOKED_AT) & table[DROPPED].isna()]


def precise(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the cells whose standard error is at most a tenth of their excess."""
    return table[table[ERROR] <= NOISY * table[EXCESS]]


def outcomes(table: "pd.DataFrame") -> dict[str, Outcome]:
    """Return the outcomes of R1 to R8 over the registered cells of `cells`."""
    scored = registered(table)
    drawn, trained = (precise(scored[scored[GROUP] == group]) for group in (DRAWN, TRAINED))
    flat, dense, other = trained[trained[ALPHA] == 1.0], trained[trained[ALPHA] >= LOW], trained[trained[ALPHA] != 1.0]
    short = flat[flat["topics"] <= flat[TOKENS]]
    telling = drawn[ASSOCIATION] * drawn[TOKENS] >= drawn["topics"] / 2
    told, untold = drawn[telling], drawn[~telling]
    informed, associated = _distance(flat, BY_INFORMATION), _distance(told, BY_ASSOCIATION)
    beaten = min(_distance(flat, LAW).median(), _distance(flat, LAW, CONSTANT).median())
    few = untold[BY_ASSOCIATION] <= (1.0 + ENDS) * untold[EXCESS] + _noise(untold)
    many = untold[BY_INFORMATION] >= untold[EXCESS] / (1.0 + ENDS) - _noise(untold)
    close, told_share, few_share, others = (latex.percent(share, 0) for share in (CLOSE, ASSOCIATED, ENDS, OTHERS))
    return {
        "R1": Outcome(r"excess $\le e(n \hat\theta)$ in every document", 1.0, scored[VIOLATIONS] == 0),
        "R2": Outcome(
            r"drawn: excess $\le \log C(\min(K, V), n)$", 0.975, drawn[EXCESS] <= drawn[COMPLEXITY] + _noise(drawn)
        ),
        "R3": Outcome(
            rf"trained, $\alpha \ge 1/2$: excess $\le {EXCEEDED:g}\, L$",
            0.95,
            dense[EXCESS] <= EXCEEDED * dense[LAW] + _noise(dense),
        ),
        "R4": Outcome(
            rf"trained, $\alpha = 1$, $K \le n$: excess $\ge L / {ENVELOPE:g}$",
            0.9,
            short[LAW] / ENVELOPE <= short[EXCESS] + _noise(short),
        ),
        "R5": Outcome(
            rf"trained, $\alpha = 1$: $L$ at $I n$ tokens within {close}, and closer than $L$ and ${CONSTANT:g}\, L$",
            0.8,
            _agrees(flat, BY_INFORMATION, CLOSE),
            informed,
            bool(informed.median() < beaten),
        ),
        "R6": Outcome(
            rf"drawn, $V^2 n \ge K / 2$: $L$ at $V^2 n$ tokens within {told_share}",
            0.9,
            _agrees(told, BY_ASSOCIATION, ASSOCIATED),
            associated,
            bool(associated.median() <= MEDIAN),
        ),
        "R7": Outcome(
            rf"drawn, $V^2 n < K / 2$: at $V^2 n$ at most {few_share} above, at $I n$ at most {few_share} below",
            0.8,
            few & many,
        ),
        "R8": Outcome(
            rf"trained, $\alpha \ne 1$: $L$ at $I n$ tokens within {others}",
            None,
            _agrees(other, BY_INFORMATION, OTHERS),
            _distance(other, BY_INFORMATION),
        ),
    }


def _noise(rows: "pd.DataFrame") -> "pd.Series[float]":
    """Return two standard errors of every cell's excess, nats."""
    return 2.0 * rows[ERROR]


def _distance(rows: "pd.DataFrame", form: str, factor: float = 1.0) -> "pd.Series[float]":
    """Return |log(form / excess)| of every cell, the form times a factor."""
    return (factor * rows[form] / rows[EXCESS]).map(math.log).abs()


def _agrees(rows: "pd.DataFrame", form: str, share: float) -> "pd.Series[bool]":
    """Return whether a form agrees with every cell's excess within a share and twice its relative error."""
    return _distance(rows, form) <= math.log1p(share) + _noise(rows) / rows[EXCESS]


def table(inputs: Inputs) -> str:
    """Return the registered statements with the share of cells that was asked for, the cells, and the outcome.

    Raises:
        InputError: if no cell was scored.
    """
    head = r"""
 & statement & asked & agree & of & median off by & outcome\\"""
    return latex.tabular(inputs, r"@{}lp{0.47\linewidth}rrrrl@{}", head, _rows(_scored(inputs)))


def _scored(inputs: Inputs) -> "pd.DataFrame":
    rows = select(inputs.measurements, axis=KIND)
    if rows.empty:
        raise InputError("table-law: no cell was scored; run the experiment law")
    return cells(inputs)


def _rows(table: "pd.DataFrame") -> Iterator[list[str]]:
    for name, one in outcomes(table).items():
        asked = "" if one.share is None else latex.percent(one.share, 0)
        counts = (latex.integer(int(one.agrees.sum())), latex.integer(len(one.agrees)))
        yield [name, one.statement, asked, *counts, _off(one), one.word]


def _off(outcome: Outcome) -> str:
    """Return the median by which a form is off, in percent; a dash where none is compared."""
    distance = outcome.distance
    return latex.NOT_SHOWN if distance is None or distance.empty else latex.percent(math.expm1(distance.median()), 0)


def macros(inputs: Inputs) -> Macros:
    """Return the registered test's outcome by name; the same names for every study."""
    rows = cells(inputs) if len(select(inputs.measurements, axis=KIND)) else None
    return {f"Law{name}": NOT_RUN if rows is None else str(text(rows)) for name, text in NUMBERS.items()}


def _trained(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the registered cells of trained topics that are precise."""
    scored = registered(rows)
    return precise(scored[scored[GROUP] == TRAINED])


def _flat(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the cells of `_trained` under the flat prior."""
    trained = _trained(rows)
    return trained[trained[ALPHA] == 1.0]


def _dense(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the cells of `_trained` under a denser prior."""
    trained = _trained(rows)
    return trained[trained[ALPHA] > 1.0]


def _exceeding(rows: "pd.DataFrame") -> int:
    """Return the number of cells above the law by R3's tolerance."""
    return int((rows[EXCESS] > EXCEEDED * rows[LAW] + _noise(rows)).sum())


def _claims(rows: "pd.DataFrame") -> list[Outcome]:
    """Return the outcomes for which a share of cells was asked."""
    return [one for one in outcomes(rows).values() if one.share is not None]


def _middle(values: "pd.Series[float]") -> str:
    """Return the range that leaves out a twentieth of the values at either end."""
    low, high = values.quantile([0.05, 0.95])
    return f"{low:.2f} to {high:.2f}"


NUMBERS: Mapping[str, Callable[["pd.DataFrame"], str | int]] = {
    "Cells": lambda rows: len(registered(rows)),
    "Dropped": lambda rows: int(rows.loc[rows[GROUP] != LOOKED_AT, DROPPED].notna().sum()),
    "Noisy": lambda rows: len(registered(rows)) - len(precise(registered(rows))),
    "Held": lambda rows: sum(one.held for one in _claims(rows)),
    "Claims": lambda rows: len(_claims(rows)),
    "Flat": lambda rows: len(_flat(rows)),
    "FlatAbove": lambda rows: _exceeding(_flat(rows)),
    "FlatMedian": lambda rows: f"{(_flat(rows)[EXCESS] / _flat(rows)[LAW]).median():.2f}",
    "FlatMiddle": lambda rows: _middle(_flat(rows)[EXCESS] / _flat(rows)[LAW]),
    "Dense": lambda rows: len(_dense(rows)),
    "DenseAbove": lambda rows: _exceeding(_dense(rows)),
    "Informed": lambda rows: int(outcomes(rows)["R5"].agrees.sum()),
    "InformedOff": lambda rows: _off(outcomes(rows)["R5"]),
    "FewestTopics": lambda rows: latex.integer(_trained(rows)["topics"].min()),
    "MostTopics": lambda rows: latex.integer(_trained(rows)["topics"].max()),
    "OutcomeThree": lambda rows: outcomes(rows)["R3"].word,
}


def sentence(inputs: Inputs) -> str:
    """Return in Markdown the bound, the law and the excess of PLSA with 100 topics on the study's first corpus."""
    rows = select(inputs.measurements, axis=KIND)
    corpus = inputs.settings.corpora[0]
    cell = select(cells(inputs), corpus=corpus, topics=EXAMPLE_TOPICS, model=PLSA, alpha=1.0) if len(rows) else rows
    if cell.empty:
        return "The study has no example of it.\n"
    (one,) = cell.to_dict("records")
    n = one[TOKENS]
    bound, law, excess = (f"{math.exp(one[name] / n):.1f}" for name in (BOUND, LAW, EXCESS))
    documents = f"{one[DOCUMENTS]:.0f} documents of {corpus}, each of its own length, {n:.0f} tokens on average,"
    return (
        f"On {documents} and {EXAMPLE_TOPICS} topics that is at most x {bound}, and x {law} for topics that share none;"
        f" x {excess} was measured.\n"
    )


def figure(inputs: Inputs) -> Figure:
    """Draw the excess against K, and against the law with the theorem's bound above it.

    Raises:
        InputError: if no cell was scored.
    """
    table = _scored(inputs)
    titles = ["by the number of topics", "against the law"]
    figure, (axes,) = style.grid(1, 2, 3.0, titles=titles, synthetic=inputs.synthetic(), width_ratios=(1.0, 1.25))
    flat = flat_cells(table)
    for x, axis in (("topics", axes[0]), (LAW, axes[1])):
        points(axis, flat, x)
    against_law(axes[1], flat)
    folding = False
    for axis, x in ((axes[0], "topics"), (axes[1], LAW)):
        folding = folding_packages(axis, inputs, x)
        axis.set_ylabel("full folding-in less likelihood,\nnats per document")
    axes[0].set_xlabel("number of topics K")
    style.log_log(*axes)
    for axis in axes:
        style.plain_numbers(axis.xaxis)
        style.plain_numbers(axis.yaxis)
    style.legend(figure, [], extra=_handles(flat, folding), ncols=4)
    return figure


def flat_cells(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the scored cells of trained topics under the flat prior, looked at before or not, if precise."""
    flat = table[(table[GROUP] != DRAWN) & (table[ALPHA] == 1.0) & table[DROPPED].isna()]
    return precise(flat)


def points(axis: Axes, rows: "pd.DataFrame", x: str, size: float = 3.2) -> None:
    """Draw the excess of cells, by source of topics; hollow where the corpus was looked at before."""
    for source, (colour, marker, _) in SOURCES.items():
        for looked_at in (False, True):
            chosen = select(rows[(rows[GROUP] == LOOKED_AT) == looked_at], model=source)
            face: Props = {"markerfacecolor": style.WHITE} if looked_at else {}
            axis.plot(chosen[x], chosen[EXCESS], marker, color=colour, markersize=size, **face)


def against_law(axis: Axes, rows: "pd.DataFrame") -> None:
    """Draw the law as a line with its registered envelope, and every cell's bound above."""
    ends = [0.8 * rows[LAW].min(), 1.2 * rows[LAW].max()]
    axis.plot(ends, ends, color=style.DARK, linewidth=1.0, zorder=1)
    axis.fill_between(ends, [end / ENVELOPE for end in ends], ends, color=style.GROUND, linewidth=0, zorder=0.4)
    axis.plot(rows[LAW], rows[BOUND], "_", color=style.GUIDE, markersize=3.5, zorder=1)
    axis.set_xlabel("the law L, nats per document")


def packages(inputs: Inputs) -> "pd.DataFrame":
    """Return "topics", "excess" and "law", nats per document of mean length, of packages that fold in."""
    names = ["corpus", "model", "topics", "seed"]
    rows = select(inputs.scores, model=FOLDING, variant="packages")
    full = select(rows, evaluator=FULL)[[*names, "documents", "tokens", "log_likelihood"]]
    truth = rows[rows["evaluator"].isin([EXACT, REFERENCE])][[*names, "log_likelihood"]]
    both = full.merge(truth, on=names, suffixes=("", "_true"))
    both[EXCESS] = (both["log_likelihood"] - both["log_likelihood_true"]) / both["documents"]
    lengths = (both["tokens"] / both["documents"]).round().astype(np.int64)
    both[LAW] = [
        float(expected_excess(np.array([n]), np.ones(k))[0])
        for n, k in zip(lengths, both["topics"].astype(int), strict=True)
    ]
    keys = ["corpus", "model", "topics"]
    means: pd.DataFrame = both.groupby(keys, as_index=False)[[EXCESS, LAW]].mean()
    return means


def folding_packages(axis: Axes, inputs: Inputs, x: str, size: float = 4.5) -> bool:
    """Draw the packages that fold in, a mark per corpus, package and K; return whether there are any."""
    rows = packages(inputs)
    props: Props = {"markersize": size, "markerfacecolor": style.WHITE, "markeredgewidth": 0.7, "zorder": 3}
    axis.plot(rows[x], rows[EXCESS], "*", color=style.REPORTED_COLOUR, **props)
    return not rows.empty


def _handles(rows: "pd.DataFrame", folding: bool) -> list[Line2D]:
    """Return the legend's handles."""
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)
        for source, (colour, marker, label) in SOURCES.items()
        if source in set(rows["model"])
    ]
    if (rows[GROUP] == LOOKED_AT).any():
        hollow: Props = {"markerfacecolor": style.WHITE, "linestyle": "none", "marker": "o"}
        handles.append(Line2D([], [], color=style.DARK, label="looked at before", **hollow))
    if folding:
        star: Props = {"marker": "*", "linestyle": "none", "label": "packages that fold in"}
        star["markerfacecolor"] = style.WHITE
        handles.append(Line2D([], [], color=style.REPORTED_COLOUR, **star))
    handles.append(Line2D([], [], color=style.DARK, linewidth=1.0, label="law"))
    handles.append(Line2D([], [], color=style.GUIDE, marker="_", linestyle="none", label="bound of theorem 1"))
    return handles
