"""Section 4.1, document by document: estimates above the exact log-likelihood, and estimates below it.

For every test document, (estimate - exact marginal) / tokens in nats: full folding-in with continuous latent variables
(PLSA, LDA), their mean-field bound (equation 4.29), and the point bound with discrete latent variables (4.30).
"""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.experiments.discrete_latents import BOUND, HIDDEN_MARKOV, MIXTURE
from artifact.papers.welling.results import bounds_corpus, differences
from artifact.results.reading import select
from artifact.typesetting import style
from heldout.errors import InputError
from heldout.evaluators import FULL, MEAN_FIELD_BOUND
from heldout.models import LDA, PLSA
from heldout.typing import Floats

# model, quantity and label, from the top
ESTIMATES = (
    (PLSA, FULL, "PLSA, full folding-in"),
    (LDA, FULL, "LDA, full folding-in"),
    (PLSA, MEAN_FIELD_BOUND, "PLSA, mean-field bound"),
    (LDA, MEAN_FIELD_BOUND, "LDA, mean-field bound"),
    (MIXTURE, BOUND, "mixture, point bound"),
    (HIDDEN_MARKOV, BOUND, "HMM, point bound"),
)
SHOWN = 5e-4  # nats per token that three decimals tell from zero
LINEAR = 1e-2  # range in which the axis is linear, nats per token
HEIGHT = 2.5  # inches, with which a row has room for its documents and their median
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def documents(inputs: Inputs) -> Figure:
    """Draw every document's difference from the exact value: a row per estimate, a panel per number of topics.

    Panels are the numbers of topics at which PLSA or LDA was measured; documents of all seeds are dots, the dark bar
    goes from the 5th to the 95th percentile, and the number is the median.
    """
    corpus = bounds_corpus(inputs)
    gaps = differences(inputs, corpus, [(model, quantity) for model, quantity, _ in ESTIMATES])
    columns = sorted({int(k) for k in gaps.loc[gaps["model"].isin([PLSA, LDA]), "topics"]})
    if not columns:
        raise InputError(f"bounds: neither PLSA nor LDA has exact marginals on {corpus}; measure the bounds")
    gaps = gaps[gaps["topics"].isin(columns)]
    rows = [e for e in ESTIMATES if len(select(gaps, model=e[0], quantity=e[1]))]
    titles = [f"{k} topics" for k in columns]
    figure, (axes,) = style.grid(
        1, len(columns), HEIGHT, titles=titles, synthetic=inputs.synthetic(corpus), sharey=True
    )
    furthest = max(LINEAR * 10.0, float(gaps["gain"].abs().max()))
    ends = 1.25 * furthest
    for axis, k in zip(axes, columns, strict=True):
        axis.set_xscale("symlog", linthresh=LINEAR, linscale=0.6)
        axis.set_xlim(-ends, ends)
        axis.axvspan(-ends, 0.0, color=style.TOO_LOW, zorder=0, linewidth=0)
        axis.axvspan(0.0, ends, color=style.TOO_HIGH, zorder=0, linewidth=0)
        axis.axvline(0.0, color=style.INK, linewidth=0.9, zorder=1)
        for i, (model, quantity, _) in enumerate(rows):
            values = select(gaps, model=model, quantity=quantity, topics=k)["gain"]
            if len(values):
                _row(axis, i, values.to_numpy(float), style.COLOURS[model])
        axis.grid(visible=False, axis="y")
        powers = [10.0**e for e in range(-2, math.floor(math.log10(furthest)) + 1)]
        ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
        style.ticks(axis.xaxis, ticks, [style.signed_label(tick) for tick in ticks], fontsize=7.0)
        for x, text in ((0.25, "pessimistic"), (0.75, "optimistic")):
            style.label(axis, text, (x, 0.02), xycoords="axes fraction", ha="center", va="bottom", fontstyle="italic")
    axes[0].set_ylim(len(rows) - 0.1, -0.5)
    axes[0].set_yticks(range(len(rows)), [label for _, _, label in rows])
    for axis in axes:
        axis.tick_params(axis="y", length=0)
    figure.supxlabel(
        f"(estimate {style.MINUS} exact log-likelihood) / tokens, nats per token {style.SYMMETRIC};"
        " the numbers are medians",
        fontsize=8.0,
    )
    return figure


def _row(axis: Axes, i: int, values: Floats, colour: str) -> None:
    """Draw one estimate: its documents, spread evenly over the row's height, their 90 % range and median."""
    spread = 0.46 * ((np.arange(len(values)) * GOLDEN) % 1.0 - 0.5)
    axis.plot(values, i + spread, ".", color=colour, markersize=1.6, alpha=0.7, markeredgewidth=0.0, zorder=2)
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    axis.plot([low, high], [i, i], color=style.INK, linewidth=1.1, solid_capstyle="butt", zorder=3)
    axis.plot([median], [i], "|", color=style.INK, markersize=8.0, markeredgewidth=1.4, zorder=3)
    ground = (0.25 if median > 0.0 else 0.75, i)  # in its row, on the other side of zero
    props: style.Props = {"xycoords": ("axes fraction", "data"), "ha": "center", "va": "center", "fontsize": 7.0}
    number = f"{median:+.3f}".replace("-", style.MINUS) if abs(median) >= SHOWN else "0.000"
    style.label(axis, number, ground, **props)
