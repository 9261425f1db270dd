"""The look of an audit's and a ranking's figures, and a figure as an element of a page."""

import base64
import io
from contextlib import AbstractContextManager
from html import escape
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

from heldout.auditing.blocks import LIKELIHOOD, REPORTED
from heldout.auditing.colours import INK, LINES, REPORTED_COLOUR, SCORE_COLOURS, SOFT

WIDTH = 3.9  # inches: on a phone its letters are of about 11 pixels
_LOOK: dict[str, Any] = {
    "font.size": 9.0,
    "axes.axisbelow": True,
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": LINES,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "heldout",
    "xtick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.color": SOFT,
    "ytick.labelcolor": INK,
}


def look() -> AbstractContextManager[None]:
    """Return a context in which figures have a page's look, whatever the user's own configuration says."""
    return style.context(_LOOK, after_reset=True)


def colour_of(evaluator: str) -> str:
    """Return an evaluator's colour, the same in every figure."""
    return {LIKELIHOOD: INK, REPORTED: REPORTED_COLOUR, **SCORE_COLOURS}.get(evaluator, SOFT)


def element(figure: Figure, label: str, caption: str) -> str:
    """Return a figure as an HTML element: an SVG image that loads nothing, its label for screen readers, a caption."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawn.getvalue()).decode()}"
    image = f'<img alt="{escape(label)}" src="{source}">'
    return f"<figure>{image}\n<figcaption>{escape(caption)}</figcaption></figure>\n"
