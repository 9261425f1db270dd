"""A ranking as one self-contained HTML file."""

import math

from heldout.auditing.formats import nats
from heldout.auditing.pages import Drawing, render
from heldout.auditing.rank import figures, wording
from heldout.auditing.rank.result import RankingResult


def page(ranking: RankingResult) -> str:
    """Return a ranking as a complete HTML document, to be encoded as UTF-8."""
    return render(
        "ranking.html",
        ranking.settings,
        [],
        title=f"Ranking: {len(ranking.models)} models on {ranking.corpus}",
        verdict=wording.headline(ranking),
        reasons=wording.reasons(ranking),
        facts=wording.facts(ranking),
        command=ranking.settings.get("command", ""),
        drawing=_by_topics(ranking),
        table=wording.models(ranking),
    )


def _by_topics(ranking: RankingResult) -> Drawing | None:
    values = "; ".join(
        f"{wording.label(model)} {nats(-gap.nats_per_token)}"
        for model, gap in zip(ranking.models, ranking.behind, strict=True)
        if math.isfinite(gap.nats_per_token)
    )
    own = " Below it, in red, the same by the library's own number." if ranking.library_choice else ""
    return Drawing.of(
        figures.by_topics(ranking),
        f"Nats per token behind the best model, by number of topics: {values}",
        "Nats per token behind the best model, by number of topics: lower is better, and a model whose bar reaches the "
        f"dashed line is not told apart from the best.{own}",
    )
