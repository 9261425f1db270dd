"""LDA by longer chains: what is recorded of both lengths, the effect of the longer ones, the table."""

from dataclasses import replace
from typing import Any

import pytest
from made_jobs import run as run_job
from made_measurements import measured
from small_study import with_effects
from tables_of import plain_rows, scored
from test_same_halves import corpus

from artifact.contrasts.effect import IS_ABOVE, IS_WITHIN
from artifact.papers.likelihood.experiments.long_chains import LONG, R_HAT, SHORT, experiment
from artifact.papers.likelihood.settings import LongChains
from artifact.papers.likelihood.tables import longer_chains
from artifact.results.measurements import Measurement
from heldout.evaluators import FULL, HALF, REFERENCE

approx: Any = pytest.approx  # which compares with whatever it stands in

SETTINGS: dict[str, Any] = {
    **{"seed": 0, "variant": "long-chains", "test_documents": 12, "topics": 2, "alpha_sum": 2.0, "beta": 0.1},
    **{"sweeps": 8, "more_sweeps": 40, "chains": 3, "documents": 10, "samples": 240, "annealing_chains": 4},
}


def test_both_lengths_are_scored_on_the_same_documents_and_their_chains_compared() -> None:
    scores, rows = run_job(experiment, LongChains, corpus(), **SETTINGS)
    by_name = {(s.variant, s.evaluator): s.log_likelihood for s in scores}
    assert by_name.keys() == {(v, e) for v in (SHORT, LONG) for e in (FULL, HALF, REFERENCE)}
    assert {s.documents for s in scores} == {10}
    assert [(row.variant, row.quantity, row.at) for row in rows] == [(SHORT, R_HAT, 8), (LONG, R_HAT, 40)]
    assert min(row.value for row in rows) > 0.9
    assert by_name[SHORT, FULL] > by_name[SHORT, REFERENCE]


@pytest.mark.parametrize(("change", "finding"), [(0.009, IS_WITHIN), (0.2, IS_ABOVE)])
def test_a_change_is_an_effect_and_stands_beside_both_r_hats(change: float, finding: str) -> None:
    lengths, r_hats = {SHORT: 0.0, LONG: change}, {SHORT: (1.4, 1.6), LONG: (1.0, 1.1)}
    nats = {(name, variant): (-6.0 + more,) for name in (FULL, HALF, REFERENCE) for variant, more in lengths.items()}
    rows = [
        Measurement("cranfield", "lda", variant, 5, 0.0, "all", seed, R_HAT, "sweep", 9, value)
        for variant, values in r_hats.items()
        for seed, value in enumerate(values)
    ]
    given = replace(measured(rows), scores=scored("lda", nats, (5,)))
    (effect,) = with_effects(given).effects["longer-chains"]
    assert (effect.part, effect.estimate, effect.finding) == ("K = 5", approx(change), finding)
    assert " & ".join(["5 & 1.50 & 1.05", *[f"+{change:.4f}"] * 3]) in plain_rows(longer_chains(given))
