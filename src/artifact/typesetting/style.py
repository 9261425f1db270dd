"""One look for every figure: the same model has the same colour everywhere."""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# An unwritable or fresh configuration folder is no news to a reader of the log; it must be said before the import.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib as mpl  # noqa: E402
from matplotlib import patheffects  # noqa: E402
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.colors import to_hex, to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from heldout.auditing import colours  # noqa: E402
from heldout.evaluators import (  # noqa: E402
    ANNEALED,
    CHIB,
    EXACT,
    FULL,
    HALF,
    HARMONIC,
    LAPLACE,
    LINEAR,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    MEAN_FIELD_SECOND,
    PARTICLES,
    SEQUENTIAL,
)
from heldout.models import EPCA, LDA, PLSA, TEM, VEM  # noqa: E402

Panels = NDArray[Any]  # axes by row and column
Props = dict[str, Any]  # properties of a curve or a text, as matplotlib names them

WIDTH = 6.3  # inches: the paper's text width, so that fonts keep their size
HEIGHT = 2.75
LABEL_DISTANCE = 0.11  # least distance of neighbouring ticks' labels, panel widths
ROOM = 0.075  # least distance of names beside curves, panel heights
LABEL_FACTOR = 4.0  # least factor between labelled numbers of a narrow panel

# One colour per model, evaluator, library and place of a corpus, the same in every figure; a test holds their distances
# from each other. The models' colours are Okabe and Ito's, for any colour vision.
COLOURS = {
    PLSA: "#0072B2",
    LDA: "#D55E00",
    EPCA: "#E69F00",
    VEM: "#56B4E9",
    TEM: "#CC79A7",
    "annealed": "#8E5BD0",
    "lsa": "#009E73",
    "nmf": "#F0E442",
    "unigram": "#999999",
    "mixture-of-multinomials": "#E06AD0",
    "hmm": "#5A22E6",
    "k-means": "#3C8A7A",
    "gaussian-mixture": "#A05A3C",
    "lda-gibbs": "#7C6CB8",
    "lda-vb": "#3C0024",
    "lda-online-vb": "#F0403C",
    "truth": "#000000",
}
EVALUATOR_COLOURS = {
    EXACT: "#000000",
    "truth": "#000000",
    FULL: colours.SCORE_COLOURS[FULL],
    HALF: colours.SCORE_COLOURS[HALF],
    "plug-in-posterior-mean": "#FF9988",
    "posterior-predictive": "#3F1D9E",
    MEAN_FIELD_BOUND: colours.SCORE_COLOURS[MEAN_FIELD_BOUND],
    SEQUENTIAL: "#1B2A7A",
    PARTICLES: "#00AABB",
    MEAN_FIELD_FIRST: "#B5CC18",
    MEAN_FIELD_SECOND: "#4E5B14",
    HARMONIC: "#C4A98A",
    CHIB: "#9C3D6B",
    ANNEALED: "#0B5D3B",
    LINEAR: "#B000B5",
    LAPLACE: "#442211",
    "laplace-one-step": "#B400FC",
    "laplace-density": "#A3A33A",
    "nml-penalised": "#6E6E7A",
    "training-mixture": "#00733C",
}
LIBRARY_COLOURS = {"scikit-learn": "#3D7DFF", "gensim": "#E0458B", "tomotopy": "#2FBF4A"}
REPORTED_COLOUR = colours.REPORTED_COLOUR
# One likelihood under the model's prior, one fitted to documents and a mixture: shades, for they lie close
PRIOR_COLOURS = ("#000000", "#666666", "#A6A6A6")
# Colours of no model, evaluator, library or corpus: text and frames, their background, curves beside the subject,
# faded curves, lines that mark a place, and regions of a panel
INK, WHITE, DARK, PALE, GUIDE, GROUND = "#000000", "#FFFFFF", "#555555", "#BBBBBB", "#999999", "#EEEEEE"
FLATTERING, CHARGING = colours.SCORE_COLOURS[FULL], "#1F5FA8"  # scores above the likelihood, and below
TOO_HIGH, TOO_LOW = "#FBE3D6", "#E1EBF5"  # regions of the same
CORPUS_COLOURS = ("#1F4E5F", "#C4703F", "#86A8C9", "#88AA77")  # corpora that share a panel, by place in the study
MARKERS = {PLSA: "o", LDA: "s", EPCA: "^", VEM: "v", TEM: "D", "lsa": "P", "nmf": "X"}
MODEL_NAMES = {  # names of the models, without the gallery's, which stand with its members
    PLSA: "PLSA-HOF",
    LDA: "LDA",
    EPCA: "EPCA",
    VEM: "PLSA-VEM",
    TEM: "PLSA-TEM",
    "annealed": "PLSA, annealed",
    "lsa": "LSA",
    "nmf": "NMF",
    "unigram": "unigram",
    "mixture-of-multinomials": "mixture",
    "hmm": "HMM",
    "k-means": "K-means",
    "gaussian-mixture": "mixture of Gaussians",
    "truth": "truth",
}
EVALUATOR_NAMES = {FULL: "full folding-in", HALF: "half folding-in"}
DASHED, DOTTED, DASH_DOTTED = (0, (4, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5))  # line styles
MINUS = "\N{MINUS SIGN}"
SYMMETRIC = "(symmetric log scale)"  # note on an axis that is linear about 0 and logarithmic beyond
SYNTHETIC_MARK = "SYNTHETIC DATA"

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.0,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "svg.hashsalt": "heldout",
    "figure.constrained_layout.use": True,
}


@contextmanager
def applied() -> Iterator[None]:
    """Draw and save with the project's settings, whatever the user's own configuration says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def mark_synthetic(axis: Axes, *, size: float = 11.0) -> None:
    """Write across a panel, behind its curves, that its data are synthetic."""
    props: Props = {"ha": "center", "va": "center", "fontsize": size, "fontweight": "bold", "color": "#CCCCCC"}
    props |= {"transform": axis.transAxes, "rotation": 25, "zorder": 0.5, "in_layout": False}
    axis.text(0.5, 0.5, SYNTHETIC_MARK, **props)


def grid(
    rows: int,
    columns: int,
    height: float,
    *,
    titles: Sequence[str] = (),
    synthetic: bool | Sequence[bool] = False,
    mark_size: float = 11.0,
    **options: Any,
) -> tuple[Figure, Panels]:
    """Return a figure of the text's width and its panels by row and column.

    Args:
        rows: number of rows.
        columns: number of columns.
        height: height of the figure, inches.
        titles: titles of the first row's panels.
        synthetic: whether the data of all panels, or of each column's, are synthetic.
        mark_size: size of the words that say so, points.
        options: options of `Figure.subplots`.
    """
    figure = Figure(figsize=(WIDTH, height))
    axes: Panels = figure.subplots(rows, columns, squeeze=False, **options)
    for axis, title in zip(axes[0], titles, strict=False):
        axis.set_title(title)
    flags = [synthetic] * columns if isinstance(synthetic, bool) else synthetic
    for column, marked in zip(axes.T, flags, strict=True):
        for axis in column if marked else ():
            mark_synthetic(axis, size=mark_size)
    return figure, axes


def panels(
    titles: Sequence[str], *, synthetic: bool, height: float = HEIGHT, mark_size: float = 17.0
) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels side by side that share a perplexity axis; `finish` makes it logarithmic."""
    props: Props = {"titles": titles, "synthetic": synthetic, "mark_size": mark_size}
    figure, (axes,) = grid(1, len(titles), height, **props, sharey=True)
    for axis in axes:
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("perplexity per token")
    return figure, list(axes)


def finish(axes: Sequence[Axes], topics: Sequence[int]) -> None:
    """Make both axes logarithmic, with plain numbers: the grid's topics below, round perplexities on the left.

    Call it after the curves are drawn: seaborn averages on the scale that it finds.
    """
    for axis in axes:
        log_log(axis)
        ticks(axis.xaxis, topics, tick_labels(topics))
        axis.margins(x=0.04)
    low, high = axes[0].get_ylim()
    marks: tuple[float, ...] = (1.0, 2.0, 5.0)
    if high / low < 4.0:
        marks = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
    axes[0].yaxis.set_major_locator(LogLocator(base=10.0, subs=marks))
    axes[0].yaxis.set_minor_locator(LogLocator(base=10.0, subs=tuple(range(1, 10))))
    plain_numbers(axes[0].yaxis)


def tick_labels(topics: Sequence[int]) -> list[str]:
    """Return the ticks' labels; empty where one would touch its right neighbour."""
    width = math.log(max(topics) / min(topics)) or 1.0
    labels: list[str] = []
    last = math.inf
    for k in sorted(topics, reverse=True):
        shown = (math.log(last) - math.log(k)) / width >= LABEL_DISTANCE if last < math.inf else True
        labels.append(str(k) if shown else "")
        last = k if shown else last
    return labels[::-1]


def log_log(*axes: Axes) -> None:
    """Make both axes of panels logarithmic."""
    for axis in axes:
        axis.set_xscale("log")
        axis.set_yscale("log")


def ticks(axis: Axis, places: Iterable[float], labels: Sequence[str] | None = None, **props: Any) -> None:
    """Put ticks at these places and nowhere else, labelled as given or by their numbers."""
    values = list(places)
    axis.set_ticks(values, [f"{value:,g}" for value in values] if labels is None else labels, **props)
    axis.set_minor_locator(NullLocator())


def sparse_ticks(numbers: Iterable[int]) -> list[int]:
    """Return the numbers that a narrow logarithmic panel labels: the largest, and smaller ones by `LABEL_FACTOR`."""
    chosen: list[int] = []
    for number in sorted(numbers, reverse=True):
        if not chosen or chosen[-1] >= LABEL_FACTOR * number:
            chosen.append(number)
    return chosen[::-1]


def plain_ticks(axis: Axis, most: int = 5) -> None:
    """Put round numbers on a linear axis, with as many decimals as distinguish neighbours."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))

    def label(value: float, _: int | None = None) -> str:
        ticks = axis.get_majorticklocs()
        step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return f"{value:,.{digits}f}".replace("-", MINUS)

    axis.set_major_formatter(FuncFormatter(label))


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def power_label(constant: float) -> str:
    """Return a constant as a power of ten, for labels."""
    factor, exponent = f"{constant:.3e}".split("e")
    times = "" if float(factor) == 1.0 else rf"{float(factor):g}\cdot "
    return f"${times}10^{{{int(exponent)}}}$" if constant else "0"


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PDF, or as PNG where the name says so; the same figure always gives the same bytes."""
    if path.suffix == ".png":
        figure.savefig(path, format="png", dpi=160, metadata={"Software": None})
    else:
        figure.savefig(path, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": None})


def signed_label(value: float, _: int | None = None) -> str:
    """Return a number with its sign, none of 0, for labels and as a tick's formatter."""
    return f"{value:+g}".replace("-", MINUS) if value else "0"


def lighter(colour: str, white: float = 0.5) -> str:
    """Return a colour mixed with a share of white, for a second way of scoring one model.

    Examples:
        >>> lighter("#000000")
        '#808080'
    """
    red, green, blue = ((1.0 - white) * part + white for part in to_rgb(colour))
    return to_hex((red, green, blue)).upper()


def outline() -> list[Any]:
    """Return the effect that keeps text legible where curves run below it: a white rim of two points."""
    return [patheffects.withStroke(linewidth=2.0, foreground=WHITE)]


def label(
    axis: Axes, text: str, place: tuple[float, float], away: tuple[float, float] = (0.0, 0.0), **props: Any
) -> None:
    """Write text some points away from a place, in coordinates of the data unless `xycoords` says otherwise."""
    axis.annotate(text, place, xytext=away, textcoords="offset points", **{"fontsize": 7.5, **props})


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return places moved as little as keeps them in order with a `gap` between any two, for labels beside marks.

    Examples:
        >>> spread([0.0, 0.1, 5.0], 1.0)
        [-0.45, 0.55, 5.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[int]] = []  # places that touch; each group lies about the mean of its places

    def start(group: list[int]) -> float:
        return sum(places[i] for i in group) / len(group) - gap * (len(group) - 1) / 2.0

    for i in order:
        groups.append([i])
        while len(groups) > 1 and start(groups[-1]) < start(groups[-2]) + gap * len(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = {i: start(group) + gap * place for group in groups for place, i in enumerate(group)}
    return [moved[i] for i in range(len(places))]


def label_ends(axis: Axes, ends: Sequence[tuple[str, float, float, str]]) -> None:
    """Write names right of the ends of curves, given as name, place, height and colour, with room between any two."""
    low, high = axis.get_ylim()
    heights = spread([height for _, _, height, _ in ends], ROOM * (high - low))
    for (text, place, _, colour), height in zip(ends, heights, strict=True):
        label(axis, text, (place, height), (6.0, 0.0), color=colour, va="center", annotation_clip=False)


def label_factor(axis: Axes, topics: int, perplexity: float, factor: str, colour: str) -> None:
    """Write a factor between two curves, beside a number of topics."""
    props: Props = {"ha": "right", "va": "center", "fontsize": 8.0, "fontweight": "bold", "color": colour}
    label(axis, f"\N{MULTIPLICATION SIGN}{factor}", (topics, perplexity), (-3, 0), path_effects=outline(), **props)


def span_factor(axis: Axes, low: float, high: float, factor: str, colour: str) -> None:
    """Draw a span between two perplexities on a panel's right edge, and their factor beside it."""
    props: Props = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
    ends = "|-|, widthA=0.25, widthB=0.25"
    arrow = {"arrowstyle": ends, "color": colour, "linewidth": 1.0, "shrinkA": 0.0, "shrinkB": 0.0}
    axis.annotate("", (1.03, low), (1.03, high), textcoords=("axes fraction", "data"), arrowprops=arrow, **props)
    props |= {"va": "center", "fontweight": "bold", "color": colour}
    label(axis, f"\N{MULTIPLICATION SIGN}{factor}", (1.03, math.sqrt(low * high)), (4, 0), **props)


def legend(
    figure: Figure,
    axes: Iterable[Axes],
    *,
    order: Sequence[str] = (),
    extra: Sequence[Artist] = (),
    **props: Any,
) -> None:
    """Put one legend of all panels below them, in as few rows as `ncols` allows, and in one without it.

    Args:
        figure: the figure.
        axes: its panels with labelled curves; the panel with the most comes first.
        order: labels that come first.
        extra: labelled artists that come last.
        props: options of `Figure.legend`.
    """
    entries: dict[str, Any] = dict.fromkeys(order)
    for axis in sorted(axes, key=lambda axis: -len(axis.get_legend_handles_labels()[1])):
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries[str(label)] = entries.get(str(label)) or handle
    entries |= {str(handle.get_label()): handle for handle in extra}
    entries = {label: handle for label, handle in entries.items() if handle is not None}
    props = {"loc": "outside lower center", "ncols": len(entries), **props}
    figure.legend(list(entries.values()), list(entries), **props)
