"""Point posteriors on documents: a bound where h is discrete, no bound and a collapse where it is continuous."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.experiments.point_posteriors import (
    FREE_COLUMNS,
    LATENT_NORM,
    LOG_LIKELIHOOD,
    OBJECTIVE,
    POINT,
    UNIT_COLUMNS,
)
from artifact.papers.welling.results import course, gap
from artifact.typesetting import style

LINES = {"hmm": "-", "k-means": "--", "gaussian-mixture": "-."}  # line styles


def bounds_and_collapse(inputs: Inputs) -> Figure:
    """Draw the study's first corpus and seed.

    Left, an HMM under Viterbi training: the objective stays below the log-likelihood of the same parameters. Middle,
    that gap for the three models with discrete latent variables. Right, ICA: the size of H with and without unit
    columns.
    """
    corpus, seed = inputs.settings.corpora[0], inputs.settings.seeds[0]
    titles = ("discrete: a lower bound", "discrete: gaps stay positive", "continuous: collapse")
    figure, (axes,) = style.grid(1, len(titles), style.HEIGHT, titles=titles, synthetic=inputs.synthetic(corpus))
    for axis in axes:
        axis.title.set_fontsize(8.0)
        axis.set_xlabel("iteration")
    _draw_bound(axes[0], inputs, corpus, seed)
    _draw_gaps(axes[1], inputs, corpus, seed)
    _draw_collapse(axes[2], inputs, corpus, seed)
    return figure


def _draw_bound(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    likelihood, bound = (
        course(inputs, corpus, "hmm", POINT, quantity, seed) / 1e3 for quantity in (LOG_LIKELIHOOD, OBJECTIVE)
    )
    axis.fill_between(likelihood.index, bound, likelihood, color=style.GROUND, linewidth=0)
    axis.plot(likelihood, color=style.COLOURS["truth"])
    axis.plot(bound, color=style.COLOURS["hmm"], linestyle="--")
    last = likelihood.index[-1]
    _label(axis, last, likelihood.iloc[-1], "exact log-likelihood", style.COLOURS["truth"], upper=True)
    _label(axis, last, bound.iloc[-1], "point objective", style.COLOURS["hmm"], upper=False)
    axis.margins(y=0.12)
    axis.set_ylabel("HMM, thousand nats")


def _draw_gaps(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    gaps = {model: gap(inputs, corpus, model, seed) for model in LINES}
    longest = max(nats.index[-1] for nats in gaps.values())
    for model, nats in gaps.items():
        colour = style.COLOURS[model]
        axis.plot(nats, color=colour, linestyle=LINES[model])
        _label(axis, longest, nats.iloc[-1], style.MODEL_NAMES[model], colour, upper=model != "gaussian-mixture")
    axis.set_yscale("log")
    style.plain_numbers(axis.yaxis)
    axis.margins(y=0.12)
    axis.set_ylabel("log-likelihood less objective, nats")


def _draw_collapse(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    for variant, name, colour, line in (
        (UNIT_COLUMNS, "unit columns", style.COLOURS["truth"], "-"),
        (FREE_COLUMNS, "free columns", style.DARK, "--"),
    ):
        norms = course(inputs, corpus, "ica", variant, LATENT_NORM, seed)
        axis.plot(norms.index + 1, norms, color=colour, linestyle=line)  # the logarithmic axis starts at 1
        free = variant == FREE_COLUMNS
        place = len(norms) // 3 if free else len(norms) - 1  # left of its fall
        _label(axis, place + 1, norms.iloc[place], name, colour, upper=not free)
    style.log_log(axis)
    style.plain_numbers(axis.xaxis)
    style.plain_numbers(axis.yaxis)
    axis.set_xlabel("iteration (the start is 1)")
    axis.set_ylabel(r"size of $H$ (Frobenius norm), ICA")
    axis.margins(y=0.12)


def _label(axis: Axes, x: float, y: float, text: str, colour: str, *, upper: bool) -> None:
    """Name a line to the left of one of its points."""
    away, side = (3.0, "bottom") if upper else (-4.0, "top")
    style.label(axis, text, (x, y), (-2.0, away), ha="right", va=side, color=colour)
