"""An audit as one self-contained HTML file."""

import math
from typing import Any

import numpy as np

from heldout.auditing import formats
from heldout.auditing.audit import figures, wording
from heldout.auditing.audit.result import AuditResult, Different
from heldout.auditing.blocks import TRUTH
from heldout.auditing.formats import nats, signed
from heldout.auditing.pages import Drawing, render
from heldout.auditing.svg import colour_of, in_page
from heldout.evaluators import FULL, HALF


def _colour(evaluator: str) -> str:
    return in_page(colour_of(evaluator))


def _nats_of(document: Different, evaluator: str) -> float:
    return document.nats_per_token.get(evaluator, math.nan)


_NAMES: dict[str, Any] = {"TRUTH": TRUTH, "FULL": FULL, "HALF": HALF, "wording": wording, "formats": formats}
_NAMES |= {"colour": _colour, "nats_of": _nats_of}


def page(audit: AuditResult) -> str:
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
    return render(
        "audit.html",
        audit.settings,
        facts,
        **_NAMES,
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


def _numbers(audit: AuditResult) -> Drawing | None:
    values = "; ".join(f"{row.label} {row.perplexity}" for row in wording.rows(audit))
    return Drawing.of(
        figures.numbers(audit),
        f"Perplexity per token on a logarithmic axis: {values}",
        "Perplexity per token, each number joined to the truth (dashed), on a logarithmic axis. Error bars are two "
        "standard errors; where there is none to be seen it is shorter than its mark.",
    )


def _by_length(audit: AuditResult) -> Drawing | None:
    labelled = ((label, figures.differences(audit, name)[1]) for name, label in figures.SERIES)
    medians = "; ".join(
        f"{label} {signed(float(np.median(gaps)))} nats per token" for label, gaps in labelled if len(gaps)
    )
    return Drawing.of(
        figures.by_length(audit),
        f"Differences from the truth by document length; medians over documents: {medians}",
        "One point a document (of many, every n-th by length), a curve through the medians of groups of similar "
        "length. Above the dashed line a number is more than the likelihood: it flatters.",
    )


def _terms(audit: AuditResult) -> list[tuple[Any, str, str]]:
    """Return the terms of the library's own number, each with its cost and the width of its bar, percent."""
    pairs = list(zip(audit.reported.terms, wording.per_term(audit), strict=audit.tokens > 0))
    largest = max((abs(cost) for _, cost in pairs), default=0.0) or 1.0
    return [(term, nats(cost), f"{100.0 * abs(cost) / largest:.1f}") for term, cost in pairs]
