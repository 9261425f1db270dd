"""Section 4.1, document by document: which estimates lie above the exact log-likelihood and which below.

For every test document, (estimate - exact marginal) / tokens in nats: full folding-in with continuous latent variables
(PLSA, LDA), their mean-field bound (equation 4.29), and the point bound with discrete latent variables (4.30).
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.evaluators import FULL
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.welling.claims import BY_DOCUMENT
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

EXACT = "exact-marginal"
TOKENS = "tokens"
CHAINS = ("none", "0")  # the one chain whose documents are measured, where there are several
# model, quantity, label, colour; from the top
ESTIMATES = (
    (PLSA, FULL, "PLSA, full folding-in", style.COLOURS[PLSA]),
    (LDA, FULL, "LDA, full folding-in", style.COLOURS[LDA]),
    (PLSA, "mean-field-bound", "PLSA, mean-field bound", style.COLOURS[PLSA]),
    (LDA, "mean-field-bound", "LDA, mean-field bound", style.COLOURS[LDA]),
    ("mixture-of-multinomials", "point-bound", "mixture, point bound", "#009E73"),
    ("hmm", "point-bound", "HMM, point bound", "#CC79A7"),
)
OPTIMISTIC, PESSIMISTIC = "#FBE3D6", "#E1EBF5"
LINEAR = 1e-3  # nats per token; up to here the axis is linear, beyond it logarithmic
MINUS = "\N{MINUS SIGN}"
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def corpus_of(inputs: Inputs) -> str:
    """Return the first of the study's corpora that was measured.

    Raises:
        InputError: when none was.
    """
    table = inputs.measurements
    if table is not None:
        table = table[table["variant"].isin(BY_DOCUMENT)]
        measured = set(table.loc[(table["axis"] == "document") & (table["quantity"] == EXACT), "corpus"])
        for corpus in inputs.settings.corpora:
            if corpus in measured:
                return corpus
    raise InputError("bounds: there are no exact marginals of documents among the measurements; measure the bounds")


def differences(inputs: Inputs, corpus: str) -> dict[tuple[str, str, int], NDArray[np.float64]]:
    """Return (estimate - exact marginal) / tokens of every document and seed, nats per token.

    Args:
        inputs: the measurements of `heldout.papers.welling.experiments.bounds` and `heldout.papers.welling.experiments.discrete_latents`.
        corpus: its name.

    Returns:
        By (model, quantity, topics) of `ESTIMATES`, in the order of seeds and documents.

    Raises:
        InputError: when a document is reported twice, lacks its exact value or its length, or has none that is finite.
    """
    if inputs.measurements is None:
        raise InputError("bounds: there are no measurements")
    table = inputs.measurements
    table = table[table["variant"].isin(BY_DOCUMENT)]
    table = table[(table["axis"] == "document") & (table["corpus"] == corpus) & table["chain"].isin(CHAINS)]
    lengths = table[table["quantity"] == TOKENS].drop_duplicates(["seed", "at"]).set_index(["seed", "at"])["value"]
    found = {}
    for model, quantity, _, _ in ESTIMATES:
        of_model = table[table["model"] == model]
        for topics in sorted({int(k) for k in of_model["topics"]}):
            rows = of_model[of_model["topics"] == topics]
            what = f"bounds: {corpus}, {model}, {topics} topics"
            estimate, exact = (_by_document(rows, name, what) for name in (quantity, EXACT))
            if not len(estimate):
                continue
            missing = estimate.index.difference(exact.index).union(estimate.index.difference(lengths.index))
            if len(missing):
                raise InputError(
                    f"{what}: {len(missing)} documents lack their exact marginal or their number of tokens"
                )
            difference = ((estimate - exact[estimate.index]) / lengths[estimate.index]).to_numpy(dtype=float)
            if not np.all(np.isfinite(difference)):
                raise InputError(f"{what}: a document has probability 0; add a constant to p(w | z)")
            found[model, quantity, topics] = difference
    return found


def draw(inputs: Inputs) -> Figure:
    """Draw every document's difference from the exact value: a row per estimate, a panel per number of topics.

    Panels are the numbers of topics at which PLSA or LDA was measured; documents of all seeds are dots, the dark bar
    goes from the 5th to the 95th percentile, and the number is the median.
    """
    corpus = corpus_of(inputs)
    found = differences(inputs, corpus)
    columns = sorted({k for model, _, k in found if model in (PLSA, LDA)})
    if not columns:
        raise InputError(f"bounds: neither PLSA nor LDA has exact marginals on {corpus}; measure the bounds")
    rows = [e for e in ESTIMATES if any((e[0], e[1], k) in found for k in columns)]
    figure, axes = style.panels([f"{k} topics" for k in columns], synthetic=inputs.synthetic(corpus))
    shown = [values for (_, _, k), values in found.items() if k in columns]
    furthest = max(LINEAR * 10.0, *(float(np.abs(values).max()) for values in shown))
    ends = 1.25 * furthest
    for axis, k in zip(axes, columns, strict=True):
        for mark in axis.texts:  # "synthetic", if anything: panels this narrow need it smaller
            mark.set(fontsize=11, color="#C4C4C4", in_layout=False)
        axis.set_xscale("symlog", linthresh=LINEAR, linscale=0.2)
        axis.set_xlim(-ends, ends)
        axis.axvspan(-ends, 0.0, color=PESSIMISTIC, zorder=0, linewidth=0)
        axis.axvspan(0.0, ends, color=OPTIMISTIC, zorder=0, linewidth=0)
        axis.axvline(0.0, color="black", linewidth=0.9, zorder=1)
        for i, (model, quantity, _, colour) in enumerate(rows):
            if (model, quantity, k) in found:
                _row(axis, i, found[model, quantity, k], colour)
        axis.grid(visible=False, axis="y")
        powers = [10.0**e for e in range(-2, math.floor(math.log10(furthest)) + 1)]
        ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
        axis.set_xticks(ticks, [f"{tick:g}".replace("-", MINUS) for tick in ticks], fontsize=6.3)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xlabel("")
        for x, text in ((0.25, "pessimistic"), (0.75, "optimistic")):
            axis.text(
                x, 0.02, text, transform=axis.transAxes, ha="center", va="bottom", fontsize=7.5, fontstyle="italic"
            )
    axes[0].set_ylim(len(rows) - 0.1, -0.6)
    axes[0].set_yticks(range(len(rows)), [label for _, _, label, _ in rows])
    axes[0].set_ylabel("")
    for axis in axes:
        axis.tick_params(axis="y", length=0)
    figure.supxlabel(
        f"(estimate {MINUS} exact log-likelihood) / tokens, nats per token; the numbers are medians", fontsize=8.0
    )
    return figure


def _row(axis: Axes, i: int, values: NDArray[np.float64], colour: str) -> None:
    """Draw one estimate: its documents, spread evenly over the row's height, their 90 % range and median."""
    spread = 0.56 * ((np.arange(len(values)) * GOLDEN) % 1.0 - 0.5)
    axis.plot(values, i + spread, ".", color=colour, markersize=1.6, alpha=0.35, markeredgewidth=0.0, zorder=2)
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    axis.plot([low, high], [i, i], color="black", linewidth=1.1, solid_capstyle="butt", zorder=3)
    axis.plot([median], [i], "|", color="black", markersize=8.0, markeredgewidth=1.4, zorder=3)
    # on the side that holds no documents
    axis.annotate(
        _median(median),
        xy=(0.25 if median > 0.0 else 0.75, i),
        xycoords=("axes fraction", "data"),
        ha="center",
        va="center",
        fontsize=7.0,
    )


def _median(value: float) -> str:
    """Return a median with its sign, to three decimals; a smaller one as a bound."""
    if abs(value) < 5e-4:
        return f"> {MINUS}0.001" if value <= 0.0 else "< +0.001"
    return f"{value:+.3f}".replace("-", MINUS)


def _by_document(rows: "pd.DataFrame", quantity: str, what: str) -> "pd.Series[float]":
    """Return one quantity by (seed, document).

    Raises:
        InputError: when a document is reported twice.
    """
    chosen = rows[rows["quantity"] == quantity].set_index(["seed", "at"])["value"].sort_index()
    if not chosen.index.is_unique:
        raise InputError(f"{what}: {quantity} of a document is reported twice; measure one variant and one constant")
    return chosen
