"""Figures of section 27.7: Boltzmann machines against updates, and retrieval."""

from matplotlib.figure import Figure

from heldout import models
from heldout.inputs import Inputs
from heldout.papers.murphy import results_undirected as results
from heldout.papers.murphy.experiments import boltzmann as experiment
from heldout.papers.murphy.experiments import replicated_softmax
from heldout.typesetting import style
from heldout.typesetting.style import Props

_LINES: dict[str, Props] = {
    experiment.PERSISTENT: {"color": style.INK, "linestyle": "-"},
    experiment.ONE: {"color": style.COLOURS["nmf"], "linestyle": "-"},
    experiment.MORE: {"color": style.COLOURS["lsa"], "linestyle": style.DASHED},
    experiment.FIELD: {"color": style.REPORTED_COLOUR, "linestyle": "-"},
}
_SOFTMAX = style.COLOURS["annealed"]


def boltzmann(inputs: Inputs) -> Figure:
    """Draw the likelihood of held-out records against updates, and beside it what is usually watched."""
    titles = list(results.WATCHED.values())
    figure, axes = style.grid(1, len(titles), style.HEIGHT, titles=titles)
    for axis, quantity in zip(axes[0], results.WATCHED, strict=True):
        for model, name in results.MACHINES.items():
            points = {at: value for at, value in results.trace(inputs, quantity, model).items() if at > 0}
            axis.plot(list(points), list(points.values()), label=name, **_LINES[model])
        axis.set_xscale("log")
        axis.set_xlabel("updates")
        axis.set_ylabel("squares per response" if quantity == experiment.RECONSTRUCTION else "nats per response")
        style.plain_numbers(axis.xaxis)
    style.legend(figure, [axes[0][0]], ncols=len(results.MACHINES))
    return figure


def figure_27_33(inputs: Inputs) -> Figure:
    """Draw precision against recall of the first 1, 2, 4, .. documents, means over queries and seeds."""
    figure, ((axis,),) = style.grid(1, 1, 1.7)
    figure.set_figwidth(0.5 * style.WIDTH)  # as it is printed, so that letters keep their size
    colours = {replicated_softmax.SOFTMAX: _SOFTMAX, models.LDA: style.COLOURS[models.LDA]}
    for model, name in results.RETRIEVERS.items():
        axis.plot(*results.retrieval(inputs, model), marker="o", color=colours[model], label=name)
    axis.set_xscale("log")
    axis.set_xlabel("recall")
    axis.set_ylabel("precision")
    style.plain_numbers(axis.xaxis)
    axis.legend()
    return figure
