"""The figure of graphical models: its description is well formed, and nothing in the drawing overlaps."""

import re
from itertools import combinations
from math import hypot
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from matplotlib.text import Text

from artifact.typesetting import style
from gallery.graphical_models import FAMILIES, Kind, Model, Node
from gallery.plates import RADIUS, SHADE, STEP, boxes, extent, graphical_models

MODELS = [model for row in FAMILIES for models in row.values() for model in models]
CHAPTER = {1, 2, 7, 11, 13, 15, 16, 17, 21, 23, 28, 30, 31}


def test_edges_are_read_from_their_chains() -> None:
    nodes = {name: Node(name, n, 0) for n, name in enumerate("abcd")}
    assert Model("", "", nodes, "a > b < c; c - d").edges == [("a", "b", True), ("c", "b", True), ("c", "d", False)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.title} {model.figure}")
def test_a_model_is_well_formed(model: Model) -> None:
    ends = {name for *pair, _ in model.edges for name in pair}
    assert ends == set(model.nodes)  # no edge to nowhere, and no node without one
    assert len(model.edges) == len({frozenset((start, end)) for start, end, _ in model.edges})
    members = [set(plate.nodes.split()) for plate in model.plates]
    for one, other in combinations(range(len(members)), 2):
        assert not members[one] > members[other]  # inner ones first
    for names, box in zip(members, boxes(model), strict=True):
        assert names <= set(model.nodes)
        for name, node in model.nodes.items():
            assert box.holds(extent(node)) if name in names else not box.meets(extent(node)), (name, names)
    for start, end, _ in model.edges:  # no edge runs through a node
        assert _distances(model, start, end) > RADIUS
    for node in model.nodes.values():  # a parameter has no parents
        if node.kind is Kind.POINT:
            assert all(model.nodes[end] is not node for _, end, arrow in model.edges if arrow)


def _distances(model: Model, start: str, end: str) -> float:
    """Return the least distance of the other nodes from an edge."""
    first, last = model.nodes[start], model.nodes[end]
    across, down = last.x - first.x, last.y - first.y
    length = hypot(across, down)
    distances = [10.0]
    for name, node in model.nodes.items():
        x, y = node.x - first.x, node.y - first.y
        if name not in (start, end) and node.kind is not Kind.POINT and 0.0 < x * across + y * down < length**2:
            distances.append(abs(x * down - y * across) / length)
    return min(distances)


def test_every_graphical_model_of_the_chapter_is_there() -> None:
    shown = {int(re.sub(r"\(.\)", "", model.figure).removeprefix("27.")) for model in MODELS if model.figure}
    assert shown == CHAPTER
    assert len({model.title + model.figure for model in MODELS}) == len(MODELS)


def test_the_drawing_fits_a_page_and_its_labels_do_not_overlap() -> None:
    with style.applied():
        figure = graphical_models()
        FigureCanvasAgg(figure)
        figure.draw_without_rendering()
    assert tuple(figure.get_size_inches()) == (style.WIDTH, pytest.approx(8.6, abs=0.15))
    (axis,) = figure.axes
    texts: list[Any] = [text for text in axis.texts if isinstance(text, Text)]
    assert all(text.get_fontsize() >= 7.0 for text in texts)
    labels = [text.get_window_extent().padded(-0.5) for text in texts]
    for text, box in zip(texts, labels, strict=True):
        assert all(figure.bbox.contains(*corner) for corner in box.corners()), text
    overlapping = [
        (one.get_text(), other.get_text())
        for (one, first), (other, second) in combinations(zip(texts, labels, strict=True), 2)
        if first.overlaps(second)
    ]
    assert overlapping == []
    circles = [one for one in axis.patches if isinstance(one, Circle) and one.radius == RADIUS]
    shaded = [circle for circle in circles if circle.get_facecolor()[:3] == to_rgb(SHADE)]
    kinds = [node.kind for model in MODELS for node in model.nodes.values()]
    assert len(shaded) == kinds.count(Kind.OBSERVED)
    assert len(circles) == len(kinds) - kinds.count(Kind.POINT)
    per_inch = figure.dpi * STEP
    for circle in circles:  # a circle holds its own label, and no other reaches into it
        x, y = axis.transData.transform(circle.center)
        for box in labels:
            inside = box.x0 < x < box.x1 and box.y0 < y < box.y1
            far = hypot(max(box.x0 - x, 0.0, x - box.x1), max(box.y0 - y, 0.0, y - box.y1))
            assert max(x - box.x0, box.x1 - x) < RADIUS * per_inch if inside else far > 0.95 * RADIUS * per_inch
