"""Figures, tables and numbers of the models of ratings."""

from itertools import groupby

import numpy as np
from matplotlib.figure import Figure

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds, style
from artifact.typesetting.macros import Macros
from gallery.gaps import gaps
from gallery.ratings import science as results
from gallery.ratings.experiments import rating_curves as curves
from gallery.ratings.experiments import ratings as ratings_run
from heldout.evaluators import FULL

# Curves: label, line and colour, of points for users and of EM that integrates users out
_POINTS, _INTEGRATED = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS["truth"]
PASSES = {
    curves.SVD: ("no prior", "-", _POINTS),
    curves.PMF1: ("strong prior", "--", _POINTS),
    curves.EM_LEARNED: ("exact EM", "-", _INTEGRATED),
}
PARAMETERS = {
    curves.POINT_PLAIN: ("", "-", _POINTS),
    curves.POINT: ("points", "--", _POINTS),
    curves.EM_PLAIN: ("", "-", _INTEGRATED),
    curves.EM: ("exact EM", "--", _INTEGRATED),
}
PASS_GAP = 0.004  # stars, least distance of the first panel's curves from its frame
LONGEST = 32  # letters of a title
TITLE_HEIGHT = 0.1  # height of a title, on the scale of the factors' loadings


def figure_27_27(inputs: Inputs) -> Figure:
    """Draw the mean ratings of co-clusters, darker where higher, the sides in proportion to users and films."""
    blocks = results.blocks(inputs)
    figure, ((axis,),) = style.grid(1, 1, 2.5)
    figure.set_figwidth(0.8 * style.WIDTH)  # as it is printed, so that letters keep their size
    if blocks.means.size:
        edges = [np.concatenate([[0.0], np.cumsum(sizes)]) for sizes in (blocks.films, blocks.users)]
        mesh = axis.pcolormesh(*edges, blocks.means, cmap="Greys", vmin=1.0, vmax=5.0)
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
    panels: list[list[tuple[dict[float, float], str, str, str]]] = [
        [(_curve(inputs, model, curves.PASS), *look) for model, look in PASSES.items()],
        [(_curve(inputs, model, curves.PARAMETERS, 1e3), *look) for model, look in PARAMETERS.items()],
        [],
    ]
    for (name, (topics, errors)), line in zip(results.PUBLISHED.items(), ("-", "--"), strict=True):
        numbers = [K * sum(results.NETFLIX) / 1e6 for K in topics]
        panels[2].append((dict(zip(numbers, errors, strict=True)), name, line, _POINTS))
    figure, (axes,) = style.grid(1, 3, 2.2, titles=("by passes", "by parameters", "published, of Netflix"))
    for axis, panel in zip(axes, panels, strict=True):
        for points, _, line, colour in panel:
            marker = "" if axis is axes[0] else "o"
            axis.plot(list(points), list(points.values()), line, color=colour, marker=marker)
        ends = [(name, max(points), points[max(points)], colour) for points, name, _, colour in panel if points]
        if axis is axes[0] and ends:  # where errors start is above the panel
            low = min(min(points.values()) for points, *_ in panel if points)
            axis.set_ylim(low - PASS_GAP, max(error for _, _, error, _ in ends) + PASS_GAP)
        style.label_ends(axis, ends)
    for axis, name in zip(axes, ("passes", "parameters, thousands", "parameters, millions"), strict=True):
        axis.set_xlabel(name)
        style.plain_ticks(axis.yaxis)
    for axis, ticks in zip(axes[1:], ((5.0, 10.0, 20.0), (20.0, 50.0, 100.0)), strict=True):
        axis.set_xscale("log")
        style.ticks(axis.xaxis, ticks, [f"{tick:g}" for tick in ticks])
    axes[0].set_ylabel("r.m.s. error, stars")
    return figure


def _curve(inputs: Inputs, model: str, axis: str, unit: float = 1.0) -> dict[float, float]:
    """Return the errors of a model by places in a unit of their axis."""
    return {place / unit: error for place, error in results.curve(inputs, model, axis).items()}


LEAST_ERROR = 1e-4  # nats per rating: a smaller one is rounded up to it


def models(inputs: Inputs) -> str:
    """Return the models of ratings by K: usual score, log density, likelihood of the ratings, error of predictions."""
    rows: list[latex.TableRow] = []
    for model, model_rows in groupby(results.table(inputs), lambda row: row.model):
        shown = [results.LABELS[model], results.USUAL_SCORES.get(model, latex.DASH)]
        for row in model_rows:
            error = rf" \ensuremath{{\pm}} {max(row.error, LEAST_ERROR):.4f}" if row.error else ""
            numbers = [_signed(row.usual), _signed(row.density), f"{_signed(row.likelihood)}{error}"]
            rows.append([shown[0], latex.integer(row.topics), shown[1], *numbers, latex.decimal(row.rmse, 3)])
            shown = ["", ""]
    head = r"model & $K$ & usual score & its value & log density & likelihood & r.m.s. error\\"
    return latex.tabular(inputs, "@{}lrlrrrr@{}", head, rows)


def folding_in(inputs: Inputs) -> str:
    """Return the table of full and half folding-in of matrix factorisation, and its likelihood, by K and training."""
    rows: list[latex.TableRow] = []
    for row in results.foldings(inputs):
        values = (row.full, row.likelihood, row.optimism, row.half, row.completion)
        trained = "points" if row.model == ratings_run.PMF_POINT else "exact EM"
        rows.append([latex.integer(row.topics), trained, *map(_signed, values)])
    head = r"$K$ & trained by & full & likelihood & gap & half & likelihood\\"
    return latex.tabular(inputs, "@{}rlrrrrr@{}", head, rows)


def _signed(value: float | None) -> str:
    return latex.DASH if value is None else latex.signed(value, 3)


def rating_macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    point, em = (
        [row for row in results.foldings(inputs) if row.model == model]
        for model in (ratings_run.PMF_POINT, ratings_run.PMF_EM)
    )
    result: Macros = {}
    for name, rows in (("Point", point), ("Em", em)):
        for end, index in (("Fewest", 0), ("Most", -1)):
            own = select(inputs.scores, variant=results.RATINGS, model=rows[index].model) if rows else inputs.scores
            scores = select(own, topics=rows[index].topics) if rows else own.iloc[:0]
            result[f"RatingOptimism{name}{end}"] = over_seeds.signed(gaps(scores, FULL), 3)
    result["RatingFewest"] = latex.integer(point[0].topics) if point else NOT_RUN
    result["RatingMost"] = latex.integer(point[-1].topics) if point else NOT_RUN
    dropped = select(inputs.measurements, variant=results.RATINGS, quantity=ratings_run.DROPPED, model=ratings_run.CD)
    most = dropped[dropped["topics"] == dropped["topics"].max()]
    result["RatingDropped"] = over_seeds.signed(most["value"].tolist(), 4)
    svd = results.curve(inputs, curves.SVD, curves.PASS)
    chosen = sorted({int(number) for number in results.chosen_pass(inputs)["at"]})
    shown = [latex.choice(number, svd, latex.integer(number), least=True) for number in chosen]
    result["RatingBestPass"] = latex.listed(shown) if shown else NOT_RUN
    result["RatingPasses"] = latex.integer(max(svd)) if svd else NOT_RUN
    result["RatingFactors"] = _factors(inputs)
    return result


def _factors(inputs: Inputs) -> str:
    rows = select(
        inputs.measurements, variant=results.CURVES, quantity=ratings_run.RMSE, model=curves.SVD, axis=curves.PASS
    )
    return latex.integer(rows["topics"].iloc[0]) if len(rows) else NOT_RUN
