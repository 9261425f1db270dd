"""The figure of graphical models: their nodes, plates and edges, drawn in one style from `graphical_models`."""

from collections.abc import Sequence
from math import hypot
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from artifact.contrasts.inputs import Inputs
from artifact.typesetting import style
from gallery.graphical_models import FAMILIES, Kind, Model, Node, Plate

STEP = 0.32  # inches between neighbouring places
RADIUS, DOT = 0.36, 0.08  # radii of a circle and of a parameter's point, steps
SHADE = style.lighter(style.PALE)  # face of observed variables
_PAD, _STRIP = 0.1, 0.3  # room of a plate around its nodes, and of its label, steps
_CHARACTER = 0.18  # width of a letter of a point's label, steps
_TITLE, _LINE, _ROW = 0.5, 0.33, 0.3  # a family's title, a line of a model's, and the room below a row, steps


class Box(NamedTuple):
    """A rectangle, steps to the right and downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: "Box") -> bool:
        """Return whether another box lies within."""
        columns = self.left <= other.left and other.right <= self.right
        return columns and self.top <= other.top and other.bottom <= self.bottom

    def meets(self, other: "Box") -> bool:
        """Return whether another box has an area in common."""
        columns = self.left < other.right and other.left < self.right
        return columns and self.top < other.bottom and other.top < self.bottom


def union(boxes: Sequence[Box]) -> Box:
    """Return the least box that holds boxes."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def extent(node: Node) -> Box:
    """Return the box of a node, a point's with its label."""
    if node.kind is not Kind.POINT:
        return Box(node.x - RADIUS, node.y - RADIUS, node.x + RADIUS, node.y + RADIUS)
    wide = _CHARACTER * len(_plain(node.label))
    if node.side == "above":
        return Box(node.x - max(DOT, wide / 2.0), node.y - 0.5, node.x + max(DOT, wide / 2.0), node.y + DOT)
    return Box(node.x - DOT, node.y - 0.2, node.x + 2.2 * DOT + wide, node.y + 0.2)


def _plain(label: str) -> str:
    """Return a label with a letter for each command of LaTeX, and without braces and marks of its place."""
    words = label.replace("{", " { ").replace("}", " } ").replace("_", " ").replace("^", " ").split()
    return "".join("x" if word.startswith("\\") else word for word in words if word not in "{}")


def boxes(model: Model) -> list[Box]:
    """Return the boxes of a model's plates: around their nodes and the plates within, with a strip for the label.

    Where plates cross the later one is wider, so that their sides do not coincide.
    """
    made: list[Box] = []
    members = [set(plate.nodes.split()) for plate in model.plates]
    for n, plate in enumerate(model.plates):
        inner_boxes = [made[m] for m in range(n) if members[m] < members[n]]
        crossed = sum(bool(members[m] & members[n]) and not members[m] <= members[n] for m in range(n))
        inner = union([*(extent(model.nodes[name]) for name in members[n]), *inner_boxes])
        pad = _PAD * (1 + crossed)
        strips = {"upper": (_STRIP, 0.0), "lower": (0.0, _STRIP)}[plate.corner.split()[0]]
        made.append(
            Box(inner.left - pad, inner.top - pad - strips[0], inner.right + pad, inner.bottom + pad + strips[1])
        )
    return made


def size(model: Model) -> Box:
    """Return the box of a model without its title."""
    return union([*(extent(node) for node in model.nodes.values()), *boxes(model)])


def graphical_models(_: Inputs | None = None) -> Figure:
    """Draw the graphical models of the chapter and of the gallery, by section; no result is read."""
    rows = [[model for models in row.values() for model in models] for row in FAMILIES]
    heights = [_TITLE + max(_tall(model) + _LINE * len(_title(model)) for model in row) for row in rows]
    width, height = style.WIDTH / STEP, sum(heights) + _ROW * (len(rows) - 1) + 2.0 * _PAD
    figure = Figure(figsize=(style.WIDTH, STEP * height))
    figure.set_layout_engine("none")
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0.0, width), ylim=(height, 0.0))
    axis.set_axis_off()
    top = _PAD
    for row, families, tall in zip(rows, FAMILIES, heights, strict=True):
        widths = [size(model).right - size(model).left for model in row]
        gap = (width - sum(widths)) / len(row)
        left = gap / 2.0
        starts = {models[0].title: family for family, models in families.items()}
        for model, wide in zip(row, widths, strict=True):
            if model.title in starts:
                props: dict[str, Any] = {"fontsize": 8.0, "fontweight": "bold", "va": "top"}
                axis.text(max(left - gap / 2.0, _PAD), top, starts[model.title], **props)
            box = size(model)
            draw(axis, model, left - box.left, top + tall - box.bottom)
            for n, (line, colour) in enumerate(reversed(_title(model))):
                props = {"ha": "center", "va": "baseline", "fontsize": 7.0, "color": colour}
                axis.text(left + wide / 2.0, top + tall - _tall(model) - 0.12 - _LINE * n, line, **props)
            left += wide + gap
        top += tall + _ROW
    return figure


def _tall(model: Model) -> float:
    return size(model).bottom - size(model).top


def _title(model: Model) -> list[tuple[str, str]]:
    """Return the lines of a model's title with their colours: its name, and the number of the chapter's figure."""
    lines = [(line, style.INK) for line in model.title.split("\n")]
    return [*lines, (model.figure, style.DARK)] if model.figure else lines


def draw(axis: Axes, model: Model, x: float, y: float) -> None:
    """Draw a model with its corner at (x, y), in steps to the right and downwards."""
    for plate, box in zip(model.plates, boxes(model), strict=True):
        _draw_plate(axis, plate, box, x, y)
    for start, end, arrow in model.edges:
        _draw_edge(axis, model.nodes[start], model.nodes[end], arrow, x, y)
    for node in model.nodes.values():
        _draw_node(axis, node, x, y)


def _draw_plate(axis: Axes, plate: Plate, box: Box, x: float, y: float) -> None:
    corner, wide, tall = (x + box.left, y + box.top), box.right - box.left, box.bottom - box.top
    axis.add_patch(Rectangle(corner, wide, tall, fill=False, edgecolor=style.DARK, linewidth=0.5))
    vertical, side = plate.corner.split()
    place = x + (box.left + 0.06 if side == "left" else box.right - 0.06)
    level = y + (box.top + 0.03 if vertical == "upper" else box.bottom - 0.05)
    props: dict[str, Any] = {"ha": side, "va": "top" if vertical == "upper" else "bottom", "fontsize": 7.0}
    axis.text(place, level, f"${plate.label}$", **props)


def _draw_edge(axis: Axes, start: Node, end: Node, arrow: bool, x: float, y: float) -> None:
    width, height = end.x - start.x, end.y - start.y
    length = hypot(width, height)
    first, last = (DOT if node.kind is Kind.POINT else RADIUS for node in (start, end))
    ends = [
        (x + start.x + width * part / length, y + start.y + height * part / length) for part in (first, length - last)
    ]
    look: dict[str, Any] = {"arrowstyle": "-|>,head_length=2.2,head_width=1.1" if arrow else "-", "mutation_scale": 1.0}
    axis.add_patch(FancyArrowPatch(*ends, shrinkA=0.0, shrinkB=0.0, linewidth=0.6, color=style.INK, **look))


def _draw_node(axis: Axes, node: Node, x: float, y: float) -> None:
    place = (x + node.x, y + node.y)
    if node.kind is Kind.POINT:
        axis.add_patch(Circle(place, DOT, color=style.INK, linewidth=0.0))
        props: dict[str, Any] = {"ha": "left", "va": "center"}
        away = (1.8 * DOT, 0.0)
        if node.side == "above":
            props, away = {"ha": "center", "va": "baseline"}, (0.0, -1.8 * DOT)
        axis.text(place[0] + away[0], place[1] + away[1], f"${node.label}$", fontsize=7.0, **props)
        return
    face = SHADE if node.kind is Kind.OBSERVED else style.WHITE
    axis.add_patch(Circle(place, RADIUS, facecolor=face, edgecolor=style.INK, linewidth=0.6))
    if node.kind is Kind.COMPUTED:
        axis.add_patch(Circle(place, 0.84 * RADIUS, fill=False, edgecolor=style.INK, linewidth=0.4))
    axis.text(*place, f"${node.label}$", ha="center", va="center_baseline", fontsize=7.0)
