"""Self-contained HTML files: no network, no script.

The markup is in `templates`. Every text passes through `tables.text` and is escaped by jinja2, and a content security
policy forbids what is not this file's own style. The same result gives the same bytes.
"""

from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, Self

from jinja2 import Environment, PackageLoader, StrictUndefined

from heldout.auditing import formats, tables
from heldout.auditing.svg import lighter_colours, scheme


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
        finalize=tables.text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"breakable": tables.breakable, "power": tables.power, "table": tables.html}
    environment.globals |= {"lighter_colours": lighter_colours(), "scheme": scheme}
    return environment


def render(template: str, settings: dict[str, Any], first: list[tuple[str, str]], **context: Any) -> str:
    """Return a template with its context, and with the table of settings and this package's version."""
    table = [*first, *formats.flat_settings(settings), ("heldout", version("heldout"))]
    return _environment().get_template(template).render(settings=table, **context)
