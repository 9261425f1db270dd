"""An audit made up for tests of what a person sees: the numbers hang together, the texts are hostile."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.auditing.audit.excess import folding_in_excess
from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.result import Different, Line, Topic
from heldout.auditing.audit.wording import kind
from heldout.auditing.blocks import Work, ratio_error
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import RankedModel, in_order
from heldout.evaluators import EXACT
from heldout.libraries import THESE, Reported, Term
from heldout.seeds import generator

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "\x1b[31mred\x1b[0m\x07",
    "[bold]markup[/bold] [link=file:///]",
    "right\u202eot-left",
    "lone\udc80surrogate \ud800",
    "]]><!-- --> &amp; </style></svg></title>",
    "a-name-with-no-space-" * 12,
    "日本語の文書の名前はとても長いことがある",
    "$\\frac{1}{2}$ {{7*7}} %s",
)


def made_audit(documents: int = 300, *, library: str = "scikit-learn", **changes: Any) -> Audit:
    """Return an audit of so many documents; `changes` replace its fields."""
    rng = generator("made-audit", documents=documents)
    lengths = np.maximum(np.rint(rng.lognormal(4.3, 0.7, documents)), 2).astype(np.int64)
    lengths[:: max(documents // 5, 2)] = 0
    own = -8.05 * lengths + rng.normal(0.0, 0.3, documents) * np.sqrt(lengths)
    full = own + lengths * (1.1 / np.sqrt(np.maximum(lengths, 1) / 10.0)) * rng.uniform(0.7, 1.3, documents)
    bound = own - lengths * 0.12 * rng.uniform(0.5, 1.5, documents)
    half = -7.9 * (lengths // 2)
    nats: dict[str, Any] = {
        "mean-field-bound": bound,
        "full-folding-in": full,
        "half-folding-in": half,
        "likelihood": own,
    }
    errors: dict[str, Any] = {name: np.zeros(documents) for name in nats}
    errors["likelihood"] = np.where(lengths > 0, 0.25, 0.0)
    tokens = int(lengths.sum())

    def line(name: str, label: str, estimator: str, scored: int, samples: int = 0) -> Line:
        error = math.sqrt(float((errors[name] ** 2).sum()))
        over = ratio_error(nats[name][lengths > 0], lengths[lengths > 0])
        of = (int((lengths > 0).sum()), over, kind(name, estimator))
        return Line(name, label, estimator, float(nats[name].sum()), error, scored, samples, *of)

    lines = (
        line("mean-field-bound", "mean-field bound", "mean-field-bound", tokens),
        line("full-folding-in", "full folding-in", "full-folding-in", tokens),
        line("half-folding-in", "half folding-in", "half-folding-in", int((lengths // 2).sum())),
        line("likelihood", "likelihood", "left-to-right-sequential", tokens, 20),
    )
    of_documents, of_topics = float(bound.sum()), -3.35 * tokens
    per_token = (of_documents + of_topics) / tokens if tokens else math.nan
    reported = Reported(
        "LatentDirichletAllocation.perplexity",
        *(math.exp(-per_token), "perplexity per token", math.exp(-per_token), per_token, "these documents"),
        "The exponential of minus the bound of documents and topics together, per token of these documents.",
        (
            Term("the documents' part of the bound", of_documents),
            Term("the topics' part: their divergence from their prior", of_topics, grows=True, of_documents=False),
        ),
    )
    scored = np.flatnonzero(lengths)
    gap = np.abs(full - own)[scored] / lengths[scored]
    first = scored[np.argsort(-gap, kind="stable")][:10]
    most = tuple(
        Different(
            *(HOSTILE[rank], int(lengths[d]), int(rank)),
            {name: float(nats[name][d] / max(lengths[d] // (1 + (name == "half-folding-in")), 1)) for name in nats},
            ("boundary", "layer", HOSTILE[(rank + 3) % 10], "flow", "<b>wing</b>", "heat", "mach"),
        )
        for rank, d in enumerate(first)
    )
    prior = {"alpha": np.full(100, 0.01)}
    return replace(
        Audit(
            *("cranfield-k100.skops", library, "1.7.2", 100, 3767, prior, "cranfield-test"),
            *(len(scored), documents - len(scored), tokens, 812, lines, reported, False),
            "Exact values would cost more than the limit of 60 s.",
            *(lengths, nats, errors, np.zeros(documents), most),
            {
                "seed": 0,
                "samples": 20,
                "estimator": "left-to-right-sequential",
                "fold_in": {"iterations": 100, "tolerance": 1e-6},
                "split": "half of each",
            },
            topics_used=tuple(Topic(k, 0.4 / (k + 1), k > 3, 0.5, ("heat", HOSTILE[k], "flow")) for k in range(5)),
            diversity=0.7,
            names=tuple(f"document {d}" for d in range(documents)),
            excess=folding_in_excess(prior, lengths, nats),
        ),
        **changes,
    )


def made_ranking(names: tuple[str, ...] = HOSTILE[:8], corpus: str = "test", function: str = "perplexity") -> Ranking:
    """Return a ranking of models with such names; the second makes a document impossible, two are ties."""
    lengths = generator("made-ranking").integers(5, 50, 40)
    models = []
    for at, name in enumerate(names):
        noise = generator("made-ranking", model=str(at)).normal(0.0, 0.3, 40)
        nats = -(7.0 + 0.1 * (at if at != 2 else 0)) * lengths + noise
        nats[:1] = -math.inf if at == 1 else nats[:1]
        number = math.exp(7.5 + at)
        reported = Reported(function, number, "perplexity per token", number, -7.5 - at, THESE)
        models.append(RankedModel(name, "scikit-learn", 2 * 3**at, nats, np.zeros(40), np.zeros(40), reported, 0.1))
    return Ranking(in_order(models), corpus, lengths, 0, Work(EXACT, 0, 0, "because"))


def with_reported(audit: Audit, **changes: Any) -> Audit:
    """Return an audit whose library reports something else."""
    return replace(audit, reported=replace(audit.reported, **changes))


def with_likelihood(audit: Audit, **changes: Any) -> Audit:
    """Return an audit whose likelihood is another."""
    lines = tuple(replace(line, **changes) if line.evaluator == "likelihood" else line for line in audit.lines)
    return replace(audit, lines=lines)
