"""An audit as one self-contained HTML file: no network, no script.

Every text from a file passes through `escaped`, and a content security policy forbids everything else. The same audit
gives the same bytes.
"""

import html
import math
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import numpy as np

from heldout.auditing import figures, wording
from heldout.auditing.result import TRUTH, Audit, Different, Line
from heldout.auditing.wording import TIMES
from heldout.evaluators import FULL, HALF

# WCAG contrast with the page: ink above 7, soft above 4.5, in both schemes (tested)
_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1a1a1a; --soft: #5c5c5c; --line: #dedede; --panel: #f5f5f3;
  --alarm: #a61b00; }
@media (prefers-color-scheme: dark) { :root { --page: #16181b; --ink: #ececec; --soft: #a8a8a8; --line: #3a3d42;
  --panel: #202327; --alarm: #ff8a66; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1rem; font-weight: 600; color: var(--soft); margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.75rem 0 .75rem; }
p, dd, li { max-width: 46rem; }
.verdict { font-size: 1.6rem; line-height: 1.3; font-weight: 650; letter-spacing: -.01em; margin: 0 0 .75rem;
  max-width: 44rem; text-wrap: pretty; }
.incomplete { border-left: .35rem solid var(--alarm); color: var(--alarm); font-weight: 650; padding: .25rem .75rem;
  margin: 0 0 1rem; }
.facts, .note, figcaption { color: var(--soft); font-size: .875rem; }
.facts { margin-top: 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--soft); font-size: .875rem; padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: baseline; padding: .45rem .9rem .45rem 0;
  border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: .8125rem; font-weight: 600; vertical-align: bottom; overflow-wrap: normal; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
thead .number { white-space: normal; }
.error { display: block; color: var(--soft); font-size: .8125rem; }
.truth th, .truth td { font-weight: 700; }
.words { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400; }
.swatch { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .5em; }
.bar { display: block; height: .55rem; border-radius: .15rem; margin-top: .3rem; min-width: 2px;
  background: var(--soft); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.grows .bar { background: #cc3311; }
.terms { max-width: 46rem; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; max-width: 34rem; height: auto; }
figcaption { margin-top: .5rem; max-width: 34rem; }
.figures { display: grid; gap: 2rem 3rem; grid-template-columns: 1fr; }
dl { margin: 0; } dt { font-weight: 600; margin-top: .9rem; } dd { margin: .1rem 0 0; }
pre { background: var(--panel); padding: .8rem 1rem; border-radius: .3rem; white-space: pre-wrap; font-size: .875rem; }
.settings { max-width: 46rem; }
.settings th { width: 40%; }
@media (min-width: 52rem) { .figures { grid-template-columns: 1fr 1fr; } body { padding-top: 3rem; }
  .verdict { font-size: 2rem; } }
@media (max-width: 40rem) { .wide { display: none; } table { font-size: .875rem; } th, td { padding-right: .55rem; }
  .verdict { font-size: 1.3rem; } }
@media print { :root { --page: #ffffff; --ink: #000000; --soft: #444444; --line: #cccccc; --panel: #f5f5f3;
  --alarm: #a61b00; } body { max-width: none; padding: 0; font-size: 10pt; } .verdict { font-size: 15pt; }
  tr, figure, dd { break-inside: avoid; } h2, dt { break-after: avoid; } .figures { grid-template-columns: 1fr 1fr; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(audit: Audit) -> str:
    """Return an audit as a complete HTML document, to be encoded as UTF-8.

    Args:
        audit: the audit; if it is incomplete, the first line says so.
    """
    title = escaped(f"Audit: {wording.model_line(audit)}")
    parts = [
        f'<p class="incomplete" role="alert">{escaped(wording.incomplete(audit))}</p>' if not audit.complete else "",
        f"<h1>{title}</h1>",
        f'<p class="verdict">{escaped(wording.headline(audit))}</p>',
        *(f"<p>{escaped(sentence)}</p>" for sentence in wording.reasons(audit)),
        f'<p class="facts">{escaped("; ".join(wording.counted(audit)))}. {escaped(wording.prior(audit))}.</p>',
        section("The numbers side by side", _numbers(audit)),
        section("Where they differ", _figures(audit, figures.numbers(audit), figures.by_length(audit))),
        section("The library's own number", _reported(audit)),
        section("Is it a probability?", _probabilities(audit)),
        section("What each number is", _explanations(audit)),
        section("The documents that differ most", _documents(audit)),
        section("Settings and versions", _settings(audit)),
        section("To repeat this audit", f"<pre><code>{escaped(wording.command(audit))}</code></pre>"),
    ]
    return html_document(title, parts)


def html_document(title: str, parts: Iterable[str]) -> str:
    """Return a complete HTML document of a title and parts, all of them escaped already; empty parts are left out."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def escaped(text: object) -> str:
    """Return any text escaped for HTML and quoted attributes; no line breaks between a number and its error or unit."""
    return html.escape(wording.clean(text), quote=True).replace(" ± ", "&nbsp;±&nbsp;").replace(" %", "&nbsp;%")


def _power(number: str) -> str:
    """Return a formatted number with its power of ten as a superscript."""
    mantissa, _, exponent = number.partition("e")
    return f"{mantissa} {TIMES} 10<sup>{int(exponent)}</sup>" if exponent.lstrip("-").isdigit() else escaped(number)


def section(title: str, body: str) -> str:
    """Return a section under a heading; empty for an empty body."""
    return f"<section>\n<h2>{escaped(title)}</h2>\n{body}\n</section>" if body else ""


def header(*heads: tuple[str, str]) -> str:
    """Return a table's head: texts and classes of its cells."""
    cells = "".join(f'<th scope="col" class="{kind}">{escaped(head)}</th>' for head, kind in heads)
    return f"<thead><tr>{cells}</tr></thead>"


def _with_error(number: str, error: str) -> str:
    spread = f'<span class="error">± {_power(error)}</span>' if error else ""
    return f"{_power(number)}{spread}"


def _number(number: str, kind: str = "") -> str:
    return f'<td class="number{kind}">{escaped(number)}</td>'


def _numbers(audit: Audit) -> str:
    body = ""
    for row in wording.rows(audit):
        colour = figures.in_page(figures.colour_of(row.evaluator))
        body += (
            f'<tr class="{"truth" if row.evaluator == TRUTH else "other"}"><th scope="row">'
            f'<span class="swatch" style="background:{colour}"></span>{escaped(row.label)}</th>'
            f'<td class="number">{_with_error(row.perplexity, row.error)}</td>'
            f'<td class="number">{_power(row.ratio)}</td>'
            f'<td class="number">{_with_error(row.nats, row.nats_error)}</td>'
            f'<td class="wide">{escaped(row.kind)}</td></tr>\n'
        )
    heads = header(
        *(
            ("evaluator", ""),
            ("perplexity per token", "number"),
            (f"{TIMES} truth", "number"),
            ("nats per token", "number"),
        ),
        ("what it is", "wide"),
    )
    reason = f'<p class="note">{escaped(wording.truth_note(audit))}</p>' if audit.reason else ""
    caption = (
        "± is one standard error, with the bias of logarithms of estimates. A ratio below 1 flatters the model, one "
        "above 1 is too hard on it."
    )
    return f"<table><caption>{caption}</caption>{heads}<tbody>\n{body}</tbody></table>{reason}"


def _figures(audit: Audit, numbers: str, lengths: str) -> str:
    shown = ""
    if numbers:
        values = "; ".join(f"{row.label} {row.perplexity}" for row in wording.rows(audit))
        shown += figure(
            numbers,
            f"Perplexity per token on a logarithmic axis: {values}",
            "Perplexity per token, each number joined to the truth (dashed), on a logarithmic axis. Error bars are two "
            "standard errors; where there is none to be seen it is shorter than its mark.",
        )
    if lengths:
        shown += figure(
            lengths,
            f"Differences from the truth by document length; medians over documents: {_medians(audit)}",
            "One point a document (of many, every n-th by length), a curve through the medians of groups of similar "
            "length. Above the dashed line a number is more than the likelihood: it flatters.",
        )
    return f'<div class="figures">{shown}</div>' if shown else ""


def _medians(audit: Audit) -> str:
    labelled = ((label, figures.differences(audit, name)[1]) for name, label in figures.SERIES)
    return "; ".join(
        f"{label} {wording.signed(float(np.median(gaps)))} nats per token" for label, gaps in labelled if len(gaps)
    )


def figure(svg: str, label: str, caption: str) -> str:
    """Return a figure of an SVG, with a label for those who do not see it and a caption."""
    image = f'<div role="img" aria-label="{escaped(label)}">{svg}</div>'
    return f"<figure>{image}<figcaption>{escaped(caption)}</figcaption></figure>"


def _reported(audit: Audit) -> str:
    reported = audit.reported
    if math.isnan(reported.value):
        return f"<p>{escaped(reported.note or 'It prints no such number.')}</p>"
    value = f"{reported.value:,.6g}".replace("e+", "e")
    text = (
        f"<p><code>{escaped(reported.function)}</code> gives {_power(value)} ({escaped(reported.unit)}), "
        f"of {escaped(reported.about)}. {escaped(wording.sentence(reported.computes))}</p>"
    )
    costs = wording.per_term(audit)
    if not costs:
        return text
    largest = max(map(abs, costs)) or 1.0
    body = "".join(
        f'<tr class="{"grows" if term.grows else "stays"}"><th scope="row">{escaped(term.name)}'
        f"{' (grows with the number of topics)' if term.grows else ''}"
        f'<span class="bar" style="width:{100.0 * abs(cost) / largest:.1f}%"></span></th>'
        f'<td class="number">{escaped(wording.nats(cost))}</td></tr>\n'
        for term, cost in zip(reported.terms, costs, strict=True)
    )
    heads = header(("term", ""), ("nats per token", "number"))
    caption = "What adds up to the number, before the exponential: the larger, the higher the perplexity."
    return f'{text}<table class="terms"><caption>{caption}</caption>{heads}<tbody>\n{body}</tbody></table>'


def _probabilities(audit: Audit) -> str:
    if audit.probability is None:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escaped(label)}</th>{_number(above)}<td class="number">{_power(chance)}</td>'
        f"<td>{escaped(answer)}</td></tr>\n"
        for label, above, chance, answer in wording.probability_rows(audit)
    )
    heads = header(("", ""), ("nats above the truth", "number"), ("chance at most", "number"), ("a probability?", ""))
    note = "What is not refuted need be none: a lower bound is never above the truth."
    caption = f"<caption>{escaped(wording.probability_caption(audit))}. {note}</caption>"
    return f"<table>{caption}{heads}<tbody>\n{body}</tbody></table>"


def _explanations(audit: Audit) -> str:
    def entry(line: Line) -> str:
        name = TRUTH if line.evaluator == TRUTH else line.label
        return f"<dt>{escaped(name)}</dt><dd>{escaped(wording.explanation(audit, line))}</dd>"

    return "<dl>" + "\n".join(map(entry, sorted(audit.lines, key=lambda line: line.evaluator != TRUTH))) + "</dl>"


def _documents(audit: Audit) -> str:
    if not audit.most_different:
        return ""
    further = [line for line in audit.lines if line.evaluator not in (TRUTH, FULL)]
    further = [line for line in further if any(line.evaluator in d.nats_per_token for d in audit.most_different)]

    def row(document: Different) -> str:
        def of(evaluator: str) -> float:
            return document.nats_per_token.get(evaluator, math.nan)

        name = escaped(wording.shorten(wording.clean(document.name), 80))
        words = escaped(", ".join(wording.shorten(wording.clean(word), 40) for word in document.words))
        return (
            f'<tr><th scope="row">{name}<span class="words">{words}</span></th>'
            f"{_number(f'{document.tokens:,}')}{_number(f'{document.left_out:,}', ' wide')}"
            f"{_number(wording.nats(of(TRUTH), 2))}{_number(wording.nats(of(FULL), 2))}"
            f"{_number(wording.signed(of(FULL) - of(TRUTH), 2))}"
            + "".join(_number(wording.nats(of(line.evaluator), 2), " wide") for line in further)
            + "</tr>\n"
        )

    heads = header(
        ("document, its most frequent words", ""),
        *(("tokens", "number"), ("outside the vocabulary", "number wide"), ("truth", "number"), ("full", "number")),
        ("gap", "number"),
        *((("half" if line.evaluator == HALF else line.label), "number wide") for line in further),
    )
    caption = "Nats per token. The gap is full folding-in less the truth: the largest of all documents first."
    body = "".join(map(row, audit.most_different))
    return f"<table><caption>{caption}</caption>{heads}<tbody>\n{body}</tbody></table>"


def _settings(audit: Audit) -> str:
    facts: list[tuple[str, str]] = [
        ("model", wording.clean(audit.model)),
        ("library", wording.clean(f"{audit.library} {audit.version}").strip()),
        ("topics, words", f"{audit.topics:,}, {audit.words:,}"),
        ("prior", wording.prior(audit)),
        ("documents", wording.clean(audit.corpus)),
    ]
    return settings_table(facts, audit.settings)


def settings_table(facts: list[tuple[str, str]], settings: dict[str, Any]) -> str:
    """Return a table of facts, settings and this package's version."""
    facts = [*facts, *wording.flat_settings(settings), ("heldout", version("heldout"))]
    body = "".join(f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>\n' for name, value in facts)
    return f'<table class="settings">{header(("setting", ""), ("value", ""))}<tbody>\n{body}</tbody></table>'
