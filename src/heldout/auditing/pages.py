"""Self-contained HTML files: no network, no script.

The markup is in `templates`. Every text passes through `_text` and is escaped by jinja2, and a content security policy
forbids what is not this file's own style. The same result gives the same bytes.
"""

from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, Self

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from heldout.auditing import formats
from heldout.auditing.blocks import REPORTED
from heldout.auditing.svg import colour_of, in_page, lighter_colours, scheme


class Drawing(NamedTuple):
    """A figure: its SVG, a label for those who do not see it, and a caption."""

    svg: str
    label: str
    caption: str

    @classmethod
    def of(cls, svg: str, label: str, caption: str) -> Self | None:
        """Return the figure; None where nothing was drawn."""
        return cls(svg, label, caption) if svg else None


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("heldout.auditing"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"power": _power, "shorten": formats.shorten}
    environment.globals |= {"TIMES": formats.TIMES, "lighter_colours": lighter_colours()}
    environment.globals |= {"scheme": scheme, "reported": in_page(colour_of(REPORTED))}
    return environment


def render(template: str, settings: dict[str, Any], first: list[tuple[str, str]], **context: Any) -> str:
    """Return a template with its context, and with the table of settings and this package's version."""
    table = [*first, *formats.flat_settings(settings), ("heldout", version("heldout"))]
    return _environment().get_template(template).render(settings=table, **context)


def _text(value: Any) -> Any:
    """Return a text without characters that a browser acts on, unbroken between a number and its error or unit."""
    if isinstance(value, Markup):
        return value
    return formats.clean(value).replace(" ± ", "\xa0±\xa0").replace(" %", "\xa0%")


def _power(number: str) -> str:
    """Return a formatted number with its power of ten as a superscript."""
    mantissa, _, exponent = number.partition("e")
    if not exponent.lstrip("-").isdigit():
        return number
    return Markup("{} {} 10<sup>{}</sup>").format(mantissa, formats.TIMES, int(exponent))
