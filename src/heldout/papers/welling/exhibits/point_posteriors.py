"""Point posteriors on documents: a bound where h is discrete, no bound and a collapse where it is continuous."""

from typing import TYPE_CHECKING, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.welling.experiments.point_posteriors import (
    FREE_COLUMNS,
    LATENT_NORM,
    LOG_LIKELIHOOD,
    OBJECTIVE,
    POINT,
    UNIT_COLUMNS,
)
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

_LIKELIHOOD = "#000000"
_BOUND = "#0072B2"
_COLLAPSE = "#D55E00"
_GAPS = {  # model: name, colour, line style
    "hmm": ("HMM", "#0072B2", "-"),
    "k-means": ("K-means", "#009E73", "--"),
    "gaussian-mixture": ("mixture of Gaussians", "#CC79A7", "-."),
}


class Course(NamedTuple):
    """A quantity along the iterations of one training."""

    iterations: list[int]
    numbers: list[float]


def course(
    measurements: "pd.DataFrame | None", corpus: str, model: str, variant: str, quantity: str, seed: int
) -> Course:
    """Return a quantity at every iteration, in order.

    Raises:
        InputError: when it has not been measured.
    """
    if measurements is None:
        raise InputError("point posteriors: there are no measurements; run the study's measurement jobs first")
    table = measurements
    chosen = table[
        (table["corpus"] == corpus)
        & (table["model"] == model)
        & (table["variant"] == variant)
        & (table["quantity"] == quantity)
        & (table["axis"] == "iteration")
        & (table["seed"] == seed)
    ].sort_values("at")
    if len(chosen) == 0:
        raise InputError(f"measurements: no {quantity} of {model}, {variant}, on {corpus}; run that measurement first")
    return Course([int(i) for i in chosen["at"]], [float(value) for value in chosen["value"]])


def gap(measurements: "pd.DataFrame | None", corpus: str, model: str, seed: int) -> Course:
    """Return the log-likelihood minus the point posterior's objective at every iteration, in nats."""
    objective = course(measurements, corpus, model, POINT, OBJECTIVE, seed)
    exact = course(measurements, corpus, model, POINT, LOG_LIKELIHOOD, seed)
    if objective.iterations != exact.iterations:
        raise InputError(f"measurements: {model} on {corpus}: objective and log-likelihood have other iterations")
    return Course(exact.iterations, [e - o for e, o in zip(exact.numbers, objective.numbers, strict=True)])


def draw(inputs: Inputs) -> Figure:
    """Draw the study's first corpus and seed.

    Left, an HMM under Viterbi training: the objective stays below the log-likelihood of the same parameters. Middle,
    that gap for the three models with discrete latent variables. Right, ICA: the size of H with and without unit
    columns.
    """
    corpus, seed = inputs.settings.corpora[0], inputs.settings.seeds[0]
    titles = ("discrete: a lower bound", "discrete: gaps stay positive", "continuous: collapse")
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT))
    axes: list[Axes] = list(figure.subplots(1, len(titles)))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontweight="bold", fontsize=8.0)
        axis.set_xlabel("iteration")
        if inputs.synthetic(corpus):
            style.mark_synthetic(axis)
    _draw_bound(axes[0], inputs, corpus, seed)
    _draw_gaps(axes[1], inputs, corpus, seed)
    _draw_collapse(axes[2], inputs, corpus, seed)
    return figure


def _draw_bound(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    exact = course(inputs.measurements, corpus, "hmm", POINT, LOG_LIKELIHOOD, seed)
    objective = course(inputs.measurements, corpus, "hmm", POINT, OBJECTIVE, seed)
    likelihood, bound = ([value / 1e3 for value in found.numbers] for found in (exact, objective))
    axis.fill_between(exact.iterations, bound, likelihood, color="#D9D9D9", linewidth=0)
    axis.plot(exact.iterations, likelihood, color=_LIKELIHOOD)
    axis.plot(exact.iterations, bound, color=_BOUND, linestyle="--")
    _label(axis, exact.iterations[-1], likelihood[-1], "exact log-likelihood", _LIKELIHOOD, above=True)
    _label(axis, exact.iterations[-1], bound[-1], "point objective", _BOUND, above=False)
    axis.margins(y=0.12)
    axis.set_ylabel("HMM, thousand nats")


def _draw_gaps(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    gaps = {model: gap(inputs.measurements, corpus, model, seed) for model in _GAPS}
    longest = max(found.iterations[-1] for found in gaps.values())
    for model, found in gaps.items():
        name, colour, line = _GAPS[model]
        axis.plot(found.iterations, found.numbers, color=colour, linestyle=line)
        _label(axis, longest, found.numbers[-1], name, colour, above=model != "gaussian-mixture")
    axis.set_yscale("log")
    _plain(axis)
    axis.margins(y=0.12)
    axis.set_ylabel("log-likelihood minus objective, nats")


def _draw_collapse(axis: Axes, inputs: Inputs, corpus: str, seed: int) -> None:
    for variant, name, colour, line in (
        (UNIT_COLUMNS, "unit columns", _BOUND, "-"),
        (FREE_COLUMNS, "free columns", _COLLAPSE, "--"),
    ):
        found = course(inputs.measurements, corpus, "ica", variant, LATENT_NORM, seed)
        # the logarithmic axis starts at 1
        axis.plot([i + 1 for i in found.iterations], found.numbers, color=colour, linestyle=line)
        free = variant == FREE_COLUMNS
        at = len(found.numbers) // 6 if free else len(found.numbers) - 1
        _label(axis, at + 1, found.numbers[at], name, colour, above=not free)
    axis.set_xscale("log")
    axis.set_yscale("log")
    _plain(axis)
    axis.set_xlabel("iteration (the start is 1)")
    axis.set_ylabel(r"size of $H$ (Frobenius norm), ICA")
    axis.margins(y=0.12)


def _label(axis: Axes, x: float, y: float, text: str, colour: str, *, above: bool) -> None:
    """Name a line to the left of one of its points."""
    axis.annotate(
        text,
        (x, y),
        xytext=(-2.0, 3.0 if above else -4.0),
        textcoords="offset points",
        ha="right",
        va="bottom" if above else "top",
        color=colour,
        fontsize=7.5,
    )


def _plain(axis: Axes) -> None:
    """Label a logarithmic axis with plain numbers."""
    for side in (axis.xaxis, axis.yaxis):
        if side.get_scale() == "log":
            side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
            side.set_minor_formatter(NullFormatter())
