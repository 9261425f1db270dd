"""What is read back from made-up scores and measurements of known values."""

import math
from dataclasses import replace
from typing import Any

import made_measurements as made
import made_peers as peers
import numpy as np
import pandas as pd
import pytest
from made_measurements import ERROR, TOPICS, measured, precision

from artifact.papers.likelihood import results
from artifact.papers.likelihood.experiments.precision import TERMS
from artifact.papers.likelihood.results import PANEL, WANTED, best, curve, precisions
from artifact.results.measurements import Measurement
from artifact.results.reading import TRUTH, select
from heldout.evaluators import CHIB, LINEAR
from heldout.models import PLSA


def test_truth_is_exact_where_it_can_be_and_seeds_are_averaged() -> None:
    one = made.optimism_inputs()
    second = one.scores.assign(seed=1, log_likelihood=one.scores["log_likelihood"] - 2.0)
    both = replace(one, scores=pd.concat([one.scores, second]))
    for given, less, error in ((one, 0.0, ERROR), (both, 1.0 / made.TOKENS, ERROR / math.sqrt(2.0))):
        points = curve(given, "cranfield", PLSA, TRUTH)  # other constants are left aside
        assert points["value"].to_dict() == pytest.approx({k: made.truth(k) - less for k in TOPICS}, rel=1e-12)
        assert list(points["error"]) == pytest.approx([0.0, error, error], rel=1e-12)
    assert curve(replace(one, study={**one.study, "measures": {}}), "cranfield", PLSA, TRUTH).empty


def test_seeds_of_libraries_are_averaged() -> None:
    def change(scores: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([scores, scores.assign(seed=1, log_likelihood=scores["log_likelihood"] - 20.0)])

    given = peers.peers_inputs(change=change)
    points = select(results.library_numbers(given), corpus="cranfield", model="gensim")
    assert list(points["truth"]) == pytest.approx([peers.truth("gensim", k) - 0.01 for k in peers.TOPICS], rel=1e-12)
    assert list(points["error"]) == pytest.approx([0.0, *[peers.ERROR / math.sqrt(2.0)] * 2], rel=1e-12)


def panels(rows: list[Measurement]) -> dict[Any, pd.DataFrame]:
    return dict(list(precisions(measured(rows)).groupby(PANEL, sort=False)))


def test_panels_hold_errors_of_the_first_seed_in_percent_against_work() -> None:
    found = panels([replace(m, value=9 * m.value) for m in precision(seed=1)] + precision())
    assert list(found) == [(*size, prior) for size in ((20, 50), (100, 150)) for prior in ("alpha-sum-1", "alpha-0.1")]
    for (K, L, _), panel in found.items():
        chib, linear = (select(panel, estimator=name)[["samples", "terms", "percent"]] for name in (CHIB, LINEAR))
        expected = [(S, TERMS[CHIB](K, L, S), 100.0 * math.expm1(0.02 / math.sqrt(S))) for S in (1, 10, 100)]
        np.testing.assert_allclose(chib, expected)
        np.testing.assert_allclose(linear, [(0, TERMS[LINEAR](K, L, 0), 100 * math.expm1(0.2))])
        (cheapest,) = results.cheapest(panel).to_dict("records")
        assert cheapest["terms"] == panel.loc[panel["percent"] <= WANTED, "terms"].min()
        assert cheapest["percent"] <= WANTED
    one = [m for m in precision() if m.topics == 4 and m.variant == "alpha-0.1-tokens-10"]
    assert list(panels(one)) == [(4, 10, "alpha-0.1")]


def test_no_error_is_below_what_is_known_of_the_reference_and_none_may_be_enough() -> None:
    for (_, L, _), panel in panels(precision(known=2.0)).items():
        assert panel["percent"].min() == panel["known"].max() == pytest.approx(100 * math.expm1(2.0 / L))
        assert results.cheapest(panel).empty


@pytest.mark.parametrize(
    ("last", "noise", "error", "alike"),
    [(0.5, 0.01, 0.0, (4,)), (0.999, 0.01, 0.0, (4, 8)), (0.5, 0.0, 1.0, (2, 4, 8))],
)
def test_the_best_numbers_of_topics_are_a_set(last: float, noise: float, error: float, alike: tuple[int, ...]) -> None:
    draw, means = np.random.default_rng(0).standard_normal, {2: 0.0, 4: 1.0, 8: last}
    rows = [(k, s, mean + noise * draw(), error) for k, mean in means.items() for s in range(3)]
    points = pd.DataFrame(rows, columns=["topics", "seed", "value", "error"])
    found = best(points)
    assert found is not None
    assert (found.topics, found.censored) == (alike, 8 in alike)
    assert best(points.iloc[:0]) is None
