"""One look for the figures of audits and rankings: colours of evaluators, settings, ticks."""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# An unwritable or fresh configuration folder is no news to a reader of the log; it must be said before the import.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib as mpl  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.colors import to_hex, to_rgb  # noqa: E402
from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: E402

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

EVALUATOR_COLOURS = {
    EXACT: "#000000",
    "truth": "#000000",
    FULL: "#A3123A",
    HALF: "#8A6A00",
    "plug-in-posterior-mean": "#F78CA0",
    "posterior-predictive": "#3F1D9E",
    MEAN_FIELD_BOUND: "#5FA02A",
    SEQUENTIAL: "#1B2A7A",
    PARTICLES: "#00B8B0",
    MEAN_FIELD_FIRST: "#B5CC18",
    MEAN_FIELD_SECOND: "#4E5B14",
    HARMONIC: "#C4A98A",
    CHIB: "#9C3D6B",
    ANNEALED: "#0B5D3B",
    LINEAR: "#B000B5",
    LAPLACE: "#5C3A21",
    "laplace-one-step": "#B400FC",
    "laplace-density": "#A3A33A",
    "nml-penalised": "#6E6E7A",
    "training-mixture": "#00733C",
}
REPORTED_COLOUR = "#CC3311"  # a library's own number in an audit; Tol's red
# An audit's page by scheme, and the colours that stand for them in its figures
PAGE_PARTS = ("page", "ink", "soft", "line", "panel", "alarm")
PAGE_COLOURS = {
    scheme: dict(zip(PAGE_PARTS, colours, strict=True))
    for scheme, colours in {
        "light": ("#ffffff", "#1a1a1a", "#5c5c5c", "#dedede", "#f5f5f3", "#a61b00"),
        "dark": ("#16181b", "#ececec", "#a8a8a8", "#3a3d42", "#202327", "#ff8a66"),
        "print": ("#ffffff", "#000000", "#444444", "#cccccc", "#f5f5f3", "#a61b00"),
    }.items()
}
STAND_INS = {"ink": "#010203", "soft": "#010204", "line": "#010205", "page": "#010206"}
MINUS = "\N{MINUS SIGN}"
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


def plain_ticks(axis: Axis, most: int = 5) -> None:
    """Put round numbers on a linear axis, with as many decimals as tell neighbours apart."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))

    def label(value: float, _: int | None = None) -> str:
        ticks = axis.get_majorticklocs()
        step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return f"{value:,.{digits}f}".replace("-", MINUS)

    axis.set_major_formatter(FuncFormatter(label))


def lighter(colour: str, white: float = 0.5) -> str:
    """Return a colour that is so much white, for a second way of scoring one model or a dark page.

    Examples:
        >>> lighter("#000000")
        '#808080'
    """
    red, green, blue = ((1.0 - white) * part + white for part in to_rgb(colour))
    return to_hex((red, green, blue)).upper()
