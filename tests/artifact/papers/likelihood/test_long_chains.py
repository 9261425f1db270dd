"""LDA by longer chains: what is recorded of both lengths, and what is concluded from a change."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from artifact.papers.likelihood.claims import unchanged
from artifact.verdicts.verdicts import CONTRADICTED, NATS, SUPPORTED, Effect, Judgement
from made_jobs import run as run_job
from small_study import inputs
from test_same_halves import corpus

from artifact.papers.likelihood.experiments.long_chains import LONG, R_HAT, SHORT, experiment
from artifact.papers.likelihood.long_chains import conclusions
from artifact.papers.likelihood.settings import LongChains
from artifact.papers.likelihood.tables import conclusions_on_lda, longer_chains
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF, REFERENCE

SETTINGS: dict[str, Any] = {
    **{"seed": 0, "variant": "long-chains", "test_documents": 12, "topics": 2, "alpha_sum": 2.0, "beta": 0.1},
    **{"sweeps": 8, "more_sweeps": 40, "chains": 3, "documents": 10, "samples": 240, "annealing_chains": 4},
}


def test_both_lengths_are_scored_on_the_same_documents_and_their_chains_compared() -> None:
    scores, rows = run_job(experiment, LongChains, corpus(), **SETTINGS)
    assert {(s.variant, s.evaluator) for s in scores} == {
        (v, e) for v in (SHORT, LONG) for e in (FULL, HALF, REFERENCE)
    }
    assert {s.documents for s in scores} == {10}
    assert [(row.variant, row.quantity, row.at) for row in rows] == [(SHORT, R_HAT, 8), (LONG, R_HAT, 40)]
    for row in rows:
        assert row.value > 0.9
    by_name = {(s.variant, s.evaluator): s.log_likelihood for s in scores}
    assert by_name[SHORT, FULL] > by_name[SHORT, REFERENCE]


def made(change: float) -> Any:
    """Return inputs in which every score of the longer chains is so many nats per token higher, and R-hats."""
    base = inputs()
    score = base.scores[base.scores["evaluator"] == FULL].iloc[:1]
    rows, r_hats = [], []
    for seed in range(3):
        for variant in (SHORT, LONG):
            more = change * (variant == LONG) + 1e-5 * seed * (variant == LONG)
            for evaluator in (FULL, HALF, REFERENCE):
                value = {"log_likelihood": (more - 6.0) * float(score["tokens"].iloc[0]), "standard_error": 0.0}
                own: dict[str, Any] = {
                    "model": "lda",
                    "variant": variant,
                    "evaluator": evaluator,
                    "topics": 5,
                    "seed": seed,
                }
                rows.append(score.assign(**own, smoothing=0.0, chain="0", **value))
            own = {"corpus": score["corpus"].iloc[0], "model": "lda", "variant": variant, "topics": 5, "seed": seed}
            r_hats.append({**own, "quantity": R_HAT, "value": 1.5 if variant == SHORT else 1.05})
    groups = [name for name in score.columns if name.startswith(("tokens_", "nats_"))]
    return replace(base, scores=pd.concat(rows).drop(columns=groups), measurements=pd.DataFrame(r_hats))


@pytest.mark.parametrize(("change", "verdict"), [(0.001, SUPPORTED), (0.2, CONTRADICTED)])
def test_a_change_within_the_margin_is_none(change: float, verdict: str) -> None:
    found = unchanged(made(change), ())
    assert [effect.part for effect in found] == ["full folding-in", "half folding-in", "likelihood"]
    assert {effect.verdict for effect in found} == {verdict}
    for effect in found:
        assert effect.estimate == pytest.approx(change, abs=2e-5)


def test_the_table_has_both_r_hats_and_needs_chains() -> None:
    shown = longer_chains(made(0.2))
    assert "1.50 & 1.05 & +0.2000" in shown.replace("\\ensuremath{", "").replace("}", "")
    with pytest.raises(InputError, match="no chains were run"):
        longer_chains(replace(made(0.2), measurements=made(0.2).measurements.iloc[:0]))


def test_a_comparison_gains_what_the_score_gains_and_a_verdict_that_moves_is_bold() -> None:
    corpus = str(made(0.2).scores["corpus"].iloc[0])
    effect = Effect(corpus, "full, than PLSA", -0.1, 0.001, 50.0, NATS, margin=0.01, replicates=3, cells=1)
    given = replace(made(0.2), judgements={"lda-better": Judgement("lda-better", (effect,))})
    distance, comparison = conclusions(given)
    assert distance.short.estimate == distance.long.estimate == 0.0
    assert comparison.short == effect
    assert comparison.long.estimate == pytest.approx(0.1, abs=2e-5)
    assert (comparison.short.verdict, comparison.long.verdict) == (CONTRADICTED, SUPPORTED)
    assert r"\textbf{supported}" in conclusions_on_lda(given)
    assert r"\textbf" not in conclusions_on_lda(replace(given, scores=made(0.001).scores))
    with pytest.raises(InputError, match="no chains were run"):
        conclusions_on_lda(inputs())
