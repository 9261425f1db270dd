"""Figures on ratings: co-clusters (27.27), the first two factors (27.28), errors of predictions (27.29)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heldout.inputs import Inputs
from heldout.papers.murphy import results_ratings as results
from heldout.papers.murphy.experiments import rating_curves as curves
from heldout.typesetting import style

PASSES = {
    curves.SVD: ("SVD", "-", style.INK),
    curves.PMF1: ("PMF1", "--", style.INK),
    curves.PMF2: ("PMF2", ":", style.INK),
    curves.ADAPTIVE: ("learned prior, points", "-", style.GUIDE),
    curves.EM_LEARNED: ("learned prior, exact EM", "--", style.GUIDE),
}
PARAMETERS = {
    curves.POINT_PLAIN: ("plain, points", "-", style.INK),
    curves.POINT: ("with offsets, points", "--", style.INK),
    curves.EM_PLAIN: ("plain, exact EM", "-", style.GUIDE),
    curves.EM: ("with offsets, exact EM", "--", style.GUIDE),
}
LONGEST = 32  # letters of a title
TITLE_HEIGHT = 0.1  # of the factors' loadings


def figure_27_27(inputs: Inputs) -> Figure:
    """Draw the mean ratings of co-clusters, darker where higher, the sides in proportion to users and films."""
    blocks = results.blocks(inputs)
    figure, ((axis,),) = style.grid(1, 1, 2.5)
    figure.set_figwidth(0.8 * style.WIDTH)  # as it is printed, so that letters keep their size
    if blocks.means:
        edges = [np.concatenate([[0.0], np.cumsum(sizes)]) for sizes in (blocks.films, blocks.users)]
        mesh = axis.pcolormesh(*edges, np.array(blocks.means), cmap="Greys", vmin=1.0, vmax=5.0)
        figure.colorbar(mesh, ax=axis, label="mean rating", ticks=range(1, 6))
        middles = (edges[0][1:] + edges[0][:-1]) / 2.0
        style.ticks(axis.xaxis, middles, blocks.genres, rotation=60, fontsize=7.0)
        axis.grid(visible=False)
    axis.set_xlabel("films, by cluster; the genre that is most its own")
    axis.set_ylabel("users, by cluster")
    return figure


def figure_27_28(inputs: Inputs) -> Figure:
    """Draw the films at the ends of the first two factors at their loadings."""
    figure, ((axis,),) = style.grid(1, 1, 3.4)
    films = results.films(inputs)
    for left in (True, False):
        side = [film for film in films if (film.first < 0.0) == left]
        heights = style.spread([film.second for film in side], TITLE_HEIGHT)
        edge = min((film.first for film in side), default=0.0) if left else max((f.first for f in side), default=0.0)
        props: style.Props = {"ha": "right" if left else "left", "va": "center", "fontsize": 7.0}
        props["bbox"] = {"facecolor": style.WHITE, "edgecolor": "none", "pad": 0.3}
        props["arrowprops"] = {
            "arrowstyle": "-",
            "color": style.GUIDE,
            "linewidth": 0.5,
            "shrinkA": 1.0,
            "shrinkB": 2.0,
        }
        for film, height in zip(side, heights, strict=True):
            axis.plot(film.first, film.second, "o", color=style.INK, markersize=2.5)
            title = film.title if len(film.title) <= LONGEST else f"{film.title[: LONGEST - 2].rstrip()}.."
            axis.annotate(title, (film.first, film.second), (edge + (-0.15 if left else 0.15), height), **props)
    axis.margins(x=0.95)  # for the titles, away from the middle
    axis.axhline(0.0, color=style.GUIDE, linewidth=0.5)
    axis.axvline(0.0, color=style.GUIDE, linewidth=0.5)
    axis.set_xlabel("first factor")
    axis.set_ylabel("second factor")
    return figure


def figure_27_29(inputs: Inputs) -> Figure:
    """Draw errors of held-out ratings against passes left, against parameters in the middle, as published right."""
    titles = ("", "", "Netflix, as published")
    figure, (axes,) = style.grid(1, 3, 2.9, titles=titles)
    shown = ((axes[0], PASSES, curves.PASS), (axes[1], PARAMETERS, curves.PARAMETERS))
    for axis, lines, of_axis in shown:
        for model, (label, line, colour) in lines.items():
            points = results.curve(inputs, model, of_axis)
            marker = "o" if of_axis == curves.PARAMETERS else ""
            axis.plot(
                list(points), list(points.values()), line, color=colour, marker=marker, markersize=3.0, label=label
            )
        _legend(axis)
    for (label, (topics, errors)), line in zip(results.PUBLISHED.items(), ("-", "--"), strict=True):
        numbers = [K * sum(results.NETFLIX) / 1e6 for K in topics]
        axes[2].plot(numbers, errors, line, color=style.INK, marker="o", markersize=3.0, label=label)
    _legend(axes[2])
    for axis, name in zip(axes, ("passes", "parameters", "parameters, millions"), strict=True):
        axis.set_xlabel(name)
        style.plain_ticks(axis.yaxis)
    for axis in axes[1:]:
        axis.set_xscale("log")
        style.plain_numbers(axis.xaxis)
    axes[0].set_ylabel("r.m.s. error, stars")
    return figure


def _legend(axis: Axes) -> None:
    """Put a panel's legend below it, where no curve runs."""
    axis.legend(fontsize=7.0, loc="upper center", bbox_to_anchor=(0.5, -0.2))
