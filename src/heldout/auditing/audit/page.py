"""An audit as one self-contained HTML file."""

import math
from dataclasses import replace

import numpy as np

from heldout.auditing.audit import figures, wording
from heldout.auditing.audit.result import AuditResult
from heldout.auditing.formats import perplexity, sentence, signed
from heldout.auditing.pages import Drawing, render
from heldout.auditing.svg import colour_of, in_page


def page(audit: AuditResult) -> str:
    """Return an audit as a complete HTML document, to be encoded as UTF-8.

    Args:
        audit: the audit.
    """
    facts = [
        ("model", audit.model),
        ("library", f"{audit.library} {audit.version}".strip()),
        ("topics, words", f"{audit.topics:,}, {audit.words:,}"),
        ("prior", wording.prior(audit)),
        ("documents", audit.corpus),
    ]
    first, *others = wording.tables(audit)
    first = replace(first, marks=tuple(in_page(colour_of(row.evaluator)) for row in audit.rows))
    return render(
        "audit.html",
        audit.settings,
        facts,
        title=f"Audit: {wording.model_line(audit)}",
        verdict=wording.headline(audit),
        reasons=wording.reasons(audit),
        facts=f"{'; '.join(wording.counted(audit))}. {wording.prior(audit)}.",
        command=wording.command(audit),
        drawing=_numbers(audit),
        by_length=_by_length(audit),
        tables=[first, *others],
        note=wording.note(audit),
        # six digits, as a perplexity may be of any size
        reported="" if math.isnan(audit.reported.value) else f"{audit.reported.value:,.6g}".replace("e+", "e"),
        own=audit.reported,
        computes=sentence(audit.reported.computes),
        explained=[(line.label, wording.explanation(audit, line)) for line in audit.lines],
    )


def _numbers(audit: AuditResult) -> Drawing | None:
    values = "; ".join(f"{row.label} {perplexity(row.perplexity)}" for row in audit.rows)
    return Drawing.of(
        figures.numbers(audit),
        f"Perplexity per token on a logarithmic axis: {values}",
        "Perplexity per token, each number joined to the likelihood's (dashed), on a logarithmic axis. Bars are 95 % "
        "intervals over documents; where there is none to be seen it is shorter than its mark.",
    )


def _by_length(audit: AuditResult) -> Drawing | None:
    labelled = ((label, figures.differences(audit, name)[1]) for name, label in figures.SERIES)
    medians = "; ".join(
        f"{label} {signed(float(np.median(gaps)))} nats per token" for label, gaps in labelled if len(gaps)
    )
    return Drawing.of(
        figures.by_length(audit),
        f"Differences from the likelihood by document length; medians over documents: {medians}",
        "One point a document (of many, every n-th by length), a curve through the medians of groups of similar "
        "length. Above the dashed line a number is more than the likelihood: it flatters.",
    )
