"""Self-contained HTML files of a report, by rich's export: no network, no script. The same result gives the same bytes.

Figures stand between the verdict and its tables (`heldout.auditing.figures.element`).
"""

import io
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from heldout.auditing.formats import clean, flat_settings

WIDTH = 130  # columns of a table
STYLE = """\
body { margin: 1.5rem auto; max-width: 64rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1rem; overflow-wrap: anywhere; }
p { margin: .6rem 0; max-width: 48rem; overflow-wrap: anywhere; white-space: pre-wrap; }
p:first-of-type { font-size: 1.3rem; line-height: 1.35; }
pre ~ p { font-size: .875rem; }
pre { font-size: .8125rem; line-height: 1.4; margin: 1.5rem 0 0; overflow-x: auto; }
.figures { display: flex; flex-wrap: wrap; gap: 2rem 3rem; margin: 1.5rem 0; }
figure { flex: 1 1 18rem; margin: 0; max-width: 28rem; }
img { width: 100%; }
figcaption { font-size: .875rem; opacity: .65; }
@media print { pre, figure { break-inside: avoid; } pre { font-size: 7pt; } }"""


def page(
    title: str, verdict: Iterable[RenderableType], figures: Iterable[str], details: Iterable[RenderableType]
) -> str:
    """Return a complete HTML document, to be encoded as UTF-8.

    Args:
        title: heads the page.
        verdict: the report's texts above the figures.
        figures: HTML elements.
        details: the report's texts and tables below them.
    """
    name = escape(clean(title))
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
{STYLE}
</style>
</head>
<body>
<h1>{name}</h1>
{fragment(verdict)}
<div class="figures">
{"".join(figures)}</div>
{fragment(details)}
</body>
</html>
"""


def fragment(parts: Iterable[RenderableType]) -> str:
    """Return a report's texts as HTML paragraphs and its tables as preformatted text."""
    console = Console(file=io.StringIO(), width=WIDTH, record=True, force_jupyter=False)
    elements = []
    for part in filter(None, parts):
        tag = "p" if isinstance(part, Text) else "pre"
        console.print(part, soft_wrap=tag == "p", end="")
        elements.append(console.export_html(inline_styles=True, code_format=f"<{tag}>{{code}}</{tag}>"))
    return "\n".join(elements)


def settings_text(settings: dict[str, Any]) -> str:
    """Return the settings of an audit or a ranking and this package's version, one a line."""
    lines = flat_settings({name: value for name, value in settings.items() if name != "parts"})
    return "\n".join(f"{name}: {value}" for name, value in (dict(lines) | {"heldout": version("heldout")}).items())
