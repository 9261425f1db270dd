"""Figure 27.10 on NIPS: the graph of topics of the correlated topic model."""

import numpy as np
from matplotlib.figure import Figure

from heldout.inputs import Inputs
from heldout.papers.murphy import results_priors as results
from heldout.typesetting import style
from heldout.typing import Floats

HEIGHT = 4.6
STEPS = 400  # of the layout
WORDS = 3  # of a topic that are shown
SHOWN = 22  # edges, the strongest
LABEL = np.array([0.16, 0.13])  # a label's width and height, of the panel's


def layout(topics: int, edges: dict[tuple[int, int], float]) -> Floats:
    """Return places, (topics, 2), by forces: all repel, edges attract (Fruchterman and Reingold 1991).

    They lie in the unit square, and labels of the size `LABEL` do not overlap if there is room.
    """
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(topics)  # a sunflower to start with
    places = np.sqrt((np.arange(topics) + 0.5) / topics)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    ends, distance = np.array(sorted(edges), dtype=int).reshape(-1, 2), 1.6 / np.sqrt(topics)
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        squared = (apart**2).sum(axis=-1) + 1e-9
        force = (apart * (distance**2 / squared)[:, :, None]).sum(axis=1) - 0.3 * places
        along = places[ends[:, 0]] - places[ends[:, 1]]
        pull = along * np.linalg.norm(along, axis=1, keepdims=True) / distance
        np.subtract.at(force, ends[:, 0], pull)
        np.add.at(force, ends[:, 1], pull)
        size = np.linalg.norm(force, axis=1, keepdims=True) + 1e-12
        places = places + force / size * np.minimum(size, 0.1 * (1.0 - step / STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - low) / np.maximum(high - low, 1e-9)
    for _ in range(STEPS):  # labels that overlap move apart, the shorter way
        apart = places[:, None] - places[None]
        over = np.maximum(LABEL - np.abs(apart), 0.0) * ~np.eye(topics, dtype=bool)[:, :, None]
        over *= (over > 0.0).all(axis=-1, keepdims=True)
        shorter = over / LABEL == (over / LABEL).min(axis=-1, keepdims=True)
        signs = np.where(
            apart == 0.0, np.sign(np.subtract.outer(np.arange(topics), np.arange(topics)))[:, :, None], np.sign(apart)
        )
        places = np.clip(places + 0.25 * (over * shorter * signs).sum(axis=1), 0.0, 1.0)
    result: Floats = places
    return result


def figure_27_10(inputs: Inputs) -> Figure:
    """Draw topics with an edge by their first words, larger the more prevalent, and edges of positive correlation."""
    graph = results.graph(inputs)
    positive = {pair: value for pair, value in graph.edges.items() if value > 0.0}
    positive = dict(sorted(positive.items(), key=lambda item: -item[1])[:SHOWN])
    figure, ((axis,),) = style.grid(1, 1, HEIGHT)
    axis.set_axis_off()
    axis.set(xlim=(-0.08, 1.08), ylim=(-0.05, 1.05))
    if not positive:
        return figure
    joined = sorted({k for pair in positive for k in pair})
    number = {k: i for i, k in enumerate(joined)}
    places = layout(len(joined), {(number[j], number[k]): value for (j, k), value in positive.items()})
    strongest = max(positive.values())
    for (j, k), value in positive.items():
        (x0, y0), (x1, y1) = places[number[j]], places[number[k]]
        axis.plot([x0, x1], [y0, y1], color=style.GUIDE, linewidth=0.4 + 2.2 * value / strongest, zorder=1)
    largest = max(graph.prevalence.values())
    for k in joined:
        x, y = places[number[k]]
        words = "\n".join(graph.words[k][:WORDS])
        size = 4.5 + 3.5 * np.sqrt(graph.prevalence[k] / largest)
        box = {"boxstyle": "round,pad=0.15", "facecolor": style.WHITE, "edgecolor": "none", "alpha": 0.85}
        axis.text(x, y, words, fontsize=size, ha="center", va="center", color=style.INK, bbox=box, zorder=2)
    return figure
