"""A ranking as one self-contained HTML file: no network, no script."""

import math

from heldout.auditing import figures, wording
from heldout.auditing import ranking_wording as texts
from heldout.auditing.page import escaped, figure, header, html_document, section, settings_table
from heldout.auditing.ranking import Ranking


def ranking_page(ranking: Ranking) -> str:
    """Return a ranking as a complete HTML document, to be encoded as UTF-8."""
    title = escaped(f"Ranking: {len(ranking.models)} models on {wording.clean(ranking.corpus)}")
    parts = [
        f"<h1>{title}</h1>",
        f'<p class="verdict">{escaped(texts.headline(ranking))}</p>',
        *(f"<p>{escaped(sentence)}</p>" for sentence in texts.reasons(ranking)),
        f'<p class="facts">{escaped(texts.facts(ranking))}</p>',
        section("The models side by side", _table(ranking)),
        section("By number of topics", _figure(ranking)),
        section("Settings and versions", settings_table([], ranking.settings)),
    ]
    return html_document(title, parts)


def _table(ranking: Ranking) -> str:
    body = ""
    for row in texts.rows(ranking):
        spread = f'<span class="error">± {escaped(row.behind_error)}</span>' if row.behind_error else ""
        body += (
            f'<tr class="{"truth" if row.apart == "best" else "other"}"><th scope="row">{escaped(row.model)}</th>'
            f'<td class="number">{escaped(row.topics)}</td><td class="number">{escaped(row.perplexity)}</td>'
            f'<td class="number wide">{escaped(row.nats)}</td>'
            f'<td class="number">{escaped(row.behind)}{spread}</td><td>{escaped(row.apart)}</td>'
            f'<td class="number">{escaped(row.reported)}</td>'
            f'<td class="number wide">{escaped(row.coherence)}</td></tr>\n'
        )
    first = header(
        *(("model", ""), ("topics", "number"), ("perplexity per token", "number"), ("nats per token", "number wide")),
        *(("behind the best, nats per token", "number"), ("", ""), ("the library says", "number")),
        ("coherence, NPMI", "number wide"),
    )
    caption = (
        "± is the standard error of the paired difference on the same documents. A tie is a model that these documents"
        " do not tell apart from the best, at 5 % over all pairs."
    )
    return f"<table><caption>{caption}</caption>{first}<tbody>\n{body}</tbody></table>"


def _figure(ranking: Ranking) -> str:
    drawn = figures.by_topics(ranking)
    if not drawn:
        return ""
    values = "; ".join(
        f"{texts.label(model)} {wording.nats(-gap.nats_per_token)}"
        for model, gap in zip(ranking.models, ranking.behind, strict=True)
        if math.isfinite(gap.nats_per_token)
    )
    return figure(
        drawn,
        f"Nats per token behind the best model, by number of topics: {values}",
        "Nats per token behind the best model (0; lower is better), with as many errors of the paired difference as"
        " tell two models apart, and below it (red) the same of the libraries' own numbers.",
    )
