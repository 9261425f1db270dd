"""Figures of pages, as SVG inside HTML that takes its colours from the page.

matplotlib draws them in the colours of `heldout.auditing.style`; then the page's CSS variables replace the colours
of ink, lines and background, so that one figure serves light screens, dark screens and paper.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from heldout.auditing import style
from heldout.auditing.blocks import LIKELIHOOD, REPORTED

WIDTH = 3.9  # inches: on a phone its letters are of about 11 pixels

INK, SOFT, LINES, PAGE = (style.STAND_INS[name] for name in ("ink", "soft", "line", "page"))
_VARIABLES = {colour: f"var(--{name})" for name, colour in style.STAND_INS.items()}
_WHITE = 0.4  # share of white in a series' colour on a dark page, for a contrast above 3 (tested)
_LOOK: Any = {
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "xtick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.color": SOFT,
    "ytick.labelcolor": INK,
    "grid.color": LINES,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "svg.fonttype": "path",
}


@contextmanager
def look() -> Iterator[None]:
    """Draw with the page's fonts and colours until the end."""
    with style.applied():
        mpl.rcParams.update(_LOOK)
        yield


def colour_of(evaluator: str) -> str:
    """Return an evaluator's colour, the same as in every figure; the likelihood has the page's ink."""
    if evaluator == LIKELIHOOD:
        return INK
    if evaluator == REPORTED:
        return style.REPORTED_COLOUR
    return style.EVALUATOR_COLOURS.get(evaluator, SOFT)


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an SVG element without header and metadata, with unique ids and the page's colours."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:)?href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(
        r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true" focusable="false">', text
    )
    return re.sub(r"\n\s*", "\n", in_page(text))


def in_page(text: str) -> str:
    """Return an SVG's text with its colours as the page's CSS variables; a series' own colour is their default."""

    def variable(found: re.Match[str]) -> str:
        colour = found[0].lower()
        own = f"var({_name(colour)},{colour})" if colour in _LIGHTER else colour
        return _VARIABLES.get(colour, own)

    return re.sub(r"#[0-9a-fA-F]{6}\b", variable, text)


def lighter_colours() -> list[tuple[str, str]]:
    """Return the CSS variables of the series' colours and their values on a dark page."""
    return [(_name(colour), lighter) for colour, lighter in _LIGHTER.items()]


def scheme(name: str) -> str:
    """Return the CSS variables of the page's colours on light and dark screens and in print."""
    return " ".join(f"--{part}: {colour};" for part, colour in style.PAGE_COLOURS[name].items())


def _name(colour: str) -> str:
    return f"--{colour.removeprefix('#')}"


_LIGHTER = {
    colour.lower(): style.lighter(colour, _WHITE)
    for colour in sorted(
        {style.REPORTED_COLOUR, *style.EVALUATOR_COLOURS.values()} - {style.EVALUATOR_COLOURS["truth"]}
    )
}
