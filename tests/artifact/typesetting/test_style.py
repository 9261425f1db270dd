"""Ticks that tell neighbours apart, and a colour for every evaluator that is drawn beside others."""

import ast
import math
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import rcParams
from matplotlib.colors import get_named_colors_mapping, to_rgb
from matplotlib.figure import Figure

from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.results import SHORT
from artifact.papers.likelihood.figures import ESTIMATOR_PROPS, OPTIMISM_CURVES, REPAIRS
from artifact.typesetting import style
from gallery.tokens.members import MEMBERS
from heldout.auditing import colours


@settings(max_examples=30)
@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
def test_labels_of_neighbouring_ticks_differ_and_are_where_they_say(low: float, width: float) -> None:
    with style.applied():
        axis = Figure().subplots()
        axis.set_ylim(low, low + width)
        style.plain_ticks(axis.yaxis)
        ticks = axis.yaxis.get_majorticklocs()
        labels = [text.get_text() for text in axis.get_yticklabels()]
    assert len(set(labels)) == len(labels) == len(ticks) >= 2
    for label, tick in zip(labels, ticks, strict=True):
        shown = float(label.replace(",", "").replace("\N{MINUS SIGN}", "-"))
        assert shown == pytest.approx(tick, abs=1e-6 * width)


@pytest.mark.parametrize(("numbers", "shown"), [({2, 3, 8, 40}, [2, 8, 40]), ({5}, [5]), ({1, 4, 16}, [1, 4, 16])])
def test_the_largest_number_is_labelled_and_others_lie_apart(numbers: set[int], shown: list[int]) -> None:
    assert style.sparse_ticks(numbers) == shown


def test_nothing_is_set_smaller_than_seven_points() -> None:
    keys = ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    with style.applied():
        settings: Any = rcParams  # its keys are literals to mypy
        sizes = [float(settings[key]) for key in keys]
    for source in Path(style.__file__).parents[1].rglob("papers/**/*.py"):
        sizes += [float(size) for size in re.findall(r"fontsize(?:=|\(|\": )([\d.]+)", source.read_text())]
    assert len(sizes) > 20
    assert min(sizes) >= 7.0


def test_labels_of_crowded_ticks_are_left_out_but_never_the_last() -> None:
    assert style.tick_labels([5, 10, 20, 50]) == ["5", "10", "20", "50"]
    crowded = style.tick_labels([5, 10, 20, 50, 100, 200, 400, 800, 4000])
    assert crowded[-1] == "4000"
    assert "" in crowded
    assert style.tick_labels([7]) == ["7"]


# Colour vision without long-wave or medium-wave cones: linear RGB as a protanope and a deuteranope see it, severity 1;
# Machado, Oliveira and Fernandes (2009), doi:10.1109/TVCG.2009.113, the matrices of their supplement
VISIONS: dict[str, tuple[tuple[float, float, float], ...]] = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}
# Floor of distances in one figure: six just noticeable differences, for thin lines and small marks are compared across
# a panel, and not edge to edge
FLOOR = 15.0


def lab(colour: str, vision: str = "normal") -> tuple[float, float, float]:
    """Return a colour in CIELAB, where distances are about what the eye sees (2.3 is just noticeable)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    seen = (sum(part * c for part, c in zip(row, linear, strict=True)) for row in VISIONS[vision])
    red, green, blue = (min(1.0, max(0.0, c)) for c in seen)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0888
    x, y, z = (v ** (1.0 / 3.0) if v > 0.008856 else 7.787 * v + 16.0 / 116.0 for v in (x, y, z))
    return 116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_of_one_figure_differ_to_every_eye(vision: str) -> None:
    assert lab("#FFFFFF", vision) == pytest.approx((100.0, 0.0, 0.0), abs=0.1)
    evaluators = style.EVALUATOR_COLOURS
    for colours_of_one in (
        [props.get("color", evaluators[name]) for name, *_, props in OPTIMISM_CURVES],
        [evaluators[name] for name in {name for name, *_ in REPAIRS}],
        [evaluators[name] for name in {*METHODS, "exact-marginal"}],
        [evaluators[name] for name in SHORT],
        [*(props["color"] for props in ESTIMATOR_PROPS.values()), style.PALE],
        list(style.PRIOR_COLOURS),
        list(style.CORPUS_COLOURS),
        list(style.LIBRARY_COLOURS.values()),
        [style.FLATTERING, style.CHARGING, style.PALE],
        [style.COLOURS[name] for name in style.MARKERS],
    ):
        assert len(colours_of_one) >= 3
        for pair in combinations(colours_of_one, 2):
            assert math.dist(*(lab(colour, vision) for colour in pair)) >= FLOOR, pair


def test_no_two_of_models_evaluators_libraries_and_corpora_look_alike() -> None:
    assert style.COLOURS.keys() - style.MODEL_NAMES.keys() <= {member.name for member in MEMBERS}
    named = {**style.COLOURS, **style.EVALUATOR_COLOURS, **style.LIBRARY_COLOURS}
    assert style.EVALUATOR_COLOURS["exact-marginal"] == style.COLOURS["truth"]  # the one truth, estimated or exact
    del named["exact-marginal"]
    named |= {f"corpus {place}": colour for place, colour in enumerate(style.CORPUS_COLOURS)}
    assert len(named) > 30
    for (one, first), (other, second) in combinations(named.items(), 2):
        assert math.dist(lab(first), lab(second)) >= FLOOR, (one, other)


def colours_named(source: str) -> list[str]:
    """Return the colours that a module writes out: hexadecimal ones and, in strings, the ones with a name."""
    named = set(get_named_colors_mapping()) - {"tan"}  # a function, too
    strings = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    words = [word for word in strings if isinstance(word, str) and len(word) > 1 and word.lower() in named]
    # an issue's number in a link is none
    return [*re.findall(r"(?<!\[)(?:#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{3}\b)", source), *words]


def test_colours_stand_in_the_style_alone() -> None:
    sources = Path(style.__file__).parents[2]
    found = {path: colours_named(path.read_text()) for path in sources.rglob("*.py")}
    assert len(found.pop(Path(style.__file__))) >= 50
    assert len(found.pop(Path(colours.__file__))) == 8
    corpus = {"brown", "Brown"}  # a corpus's name
    assert not {path: named for path, named in found.items() if set(named) - corpus}
    assert colours_named('look = {"color": "black", "face": "#FFF", "label": "#1 of 3"}') == ["#FFF", "black"]
