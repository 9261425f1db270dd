"""An audit or a ranking as one self-contained HTML file: no network, no script.

The markup is in `templates`. Every text passes through `_text` and is escaped by jinja2, and a content security policy
forbids what is not this file's own style. The same result gives the same bytes.
"""

import math
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from heldout.auditing import figures, ranking_wording, wording
from heldout.auditing.ranking import Ranking
from heldout.auditing.result import TRUTH, Audit, Different
from heldout.auditing.wording import TIMES
from heldout.evaluators import FULL, HALF


class Drawing(NamedTuple):
    """A figure: its SVG, a label for those who do not see it, and a caption."""

    svg: str
    label: str
    caption: str


def page(audit: Audit) -> str:
    """Return an audit as a complete HTML document, to be encoded as UTF-8.

    Args:
        audit: the audit; if it is incomplete, the first line says so.
    """
    facts = [
        ("model", audit.model),
        ("library", f"{audit.library} {audit.version}".strip()),
        ("topics, words", f"{audit.topics:,}, {audit.words:,}"),
        ("prior", wording.prior(audit)),
        ("documents", audit.corpus),
    ]
    truth_first = sorted(audit.lines, key=lambda line: line.evaluator != TRUTH)
    known = {name for document in audit.most_different for name in document.nats_per_token}
    return _render(
        "audit.html",
        audit.settings,
        facts,
        title=f"Audit: {wording.model_line(audit)}",
        incomplete=wording.incomplete(audit),
        verdict=wording.headline(audit),
        reasons=wording.reasons(audit),
        facts=f"{'; '.join(wording.counted(audit))}. {wording.prior(audit)}.",
        command=wording.command(audit),
        audit=audit,
        drawing=_numbers(audit),
        by_length=_by_length(audit),
        # six digits, as a perplexity may be of any size
        reported="" if math.isnan(audit.reported.value) else f"{audit.reported.value:,.6g}".replace("e+", "e"),
        terms=_terms(audit),
        truth_first=truth_first,
        others=[line for line in audit.lines if line.evaluator in known - {TRUTH, FULL}],
    )


def ranking_page(ranking: Ranking) -> str:
    """Return a ranking as a complete HTML document, to be encoded as UTF-8."""
    return _render(
        "ranking.html",
        ranking.settings,
        [],
        title=f"Ranking: {len(ranking.models)} models on {ranking.corpus}",
        incomplete="",
        verdict=ranking_wording.headline(ranking),
        reasons=ranking_wording.reasons(ranking),
        facts=ranking_wording.facts(ranking),
        command=ranking.settings.get("command", ""),
        drawing=_by_topics(ranking),
        rows=ranking_wording.rows(ranking),
    )


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
    environment.filters |= {"power": _power, "shorten": wording.shorten}
    environment.globals |= {"TRUTH": TRUTH, "FULL": FULL, "HALF": HALF, "TIMES": TIMES, "wording": wording}
    environment.globals["lighter_colours"] = figures.lighter_colours()
    environment.globals |= {"colour": _colour, "nats_of": _nats_of}
    return environment


def _render(template: str, settings: dict[str, Any], first: list[tuple[str, str]], **context: Any) -> str:
    """Return a template with its context, and with the table of settings and this package's version."""
    table = [*first, *wording.flat_settings(settings), ("heldout", version("heldout"))]
    return _environment().get_template(template).render(settings=table, **context)


def _text(value: Any) -> Any:
    """Return a text without characters that a browser acts on, unbroken between a number and its error or unit."""
    if isinstance(value, Markup):
        return value
    return wording.clean(value).replace(" ± ", "\xa0±\xa0").replace(" %", "\xa0%")


def _power(number: str) -> str:
    """Return a formatted number with its power of ten as a superscript."""
    mantissa, _, exponent = number.partition("e")
    if not exponent.lstrip("-").isdigit():
        return number
    return Markup("{} {} 10<sup>{}</sup>").format(mantissa, TIMES, int(exponent))


def _colour(evaluator: str) -> str:
    return figures.in_page(figures.colour_of(evaluator))


def _nats_of(document: Different, evaluator: str) -> float:
    return document.nats_per_token.get(evaluator, math.nan)


def _drawing(svg: str, label: str, caption: str) -> Drawing | None:
    return Drawing(svg, label, caption) if svg else None


def _numbers(audit: Audit) -> Drawing | None:
    values = "; ".join(f"{row.label} {row.perplexity}" for row in wording.rows(audit))
    return _drawing(
        figures.numbers(audit),
        f"Perplexity per token on a logarithmic axis: {values}",
        "Perplexity per token, each number joined to the truth (dashed), on a logarithmic axis. Error bars are two "
        "standard errors; where there is none to be seen it is shorter than its mark.",
    )


def _by_length(audit: Audit) -> Drawing | None:
    labelled = ((label, figures.differences(audit, name)[1]) for name, label in figures.SERIES)
    medians = "; ".join(
        f"{label} {wording.signed(float(np.median(gaps)))} nats per token" for label, gaps in labelled if len(gaps)
    )
    return _drawing(
        figures.by_length(audit),
        f"Differences from the truth by document length; medians over documents: {medians}",
        "One point a document (of many, every n-th by length), a curve through the medians of groups of similar "
        "length. Above the dashed line a number is more than the likelihood: it flatters.",
    )


def _by_topics(ranking: Ranking) -> Drawing | None:
    values = "; ".join(
        f"{ranking_wording.label(model)} {wording.nats(-gap.nats_per_token)}"
        for model, gap in zip(ranking.models, ranking.behind, strict=True)
        if math.isfinite(gap.nats_per_token)
    )
    own = " Below it, in red, the same by the library's own number." if ranking.library_choice else ""
    return _drawing(
        figures.by_topics(ranking),
        f"Nats per token behind the best model, by number of topics: {values}",
        "Nats per token behind the best model, by number of topics: lower is better, and a model whose bar reaches the "
        f"dashed line is not told apart from the best.{own}",
    )


def _terms(audit: Audit) -> list[tuple[Any, str, str]]:
    """Return the terms of the library's own number, each with its cost and the width of its bar, percent."""
    pairs = list(zip(audit.reported.terms, wording.per_term(audit), strict=audit.tokens > 0))
    largest = max((abs(cost) for _, cost in pairs), default=0.0) or 1.0
    return [(term, wording.nats(cost), f"{100.0 * abs(cost) / largest:.1f}") for term, cost in pairs]
