"""What is read back from made-up scores and measurements of known values."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_measurements import (
    ERROR,
    PERPLEXITIES,
    TOKENS,
    TOPICS,
    bidirectional,
    components_inputs,
    epca_marginal,
    measured,
    optimism_inputs,
    precision,
    truth,
)
from made_peers import ERROR as PEERS_ERROR
from made_peers import TOPICS as PEERS_TOPICS
from made_peers import peers_inputs
from made_peers import truth as peers_truth

from artifact.papers.likelihood import results
from artifact.papers.likelihood.experiments.precision import TERMS
from artifact.papers.likelihood.results import PANEL, WANTED, Best, best, curve, precisions
from artifact.results.measurements import Measurement
from artifact.results.reading import TRUTH, select
from heldout.evaluators import CHIB, LINEAR
from heldout.models import LDA, PLSA


def test_truth_is_exact_where_it_can_be_and_sampled_with_its_error_elsewhere() -> None:
    points = curve(optimism_inputs(), "cranfield", PLSA, TRUTH)
    assert list(points.index) == list(TOPICS)
    assert list(points["value"]) == pytest.approx([truth(k) for k in TOPICS], rel=1e-12)
    assert list(points["error"]) == pytest.approx([0.0, ERROR, ERROR], rel=1e-12)


def test_seeds_are_averaged_and_other_constants_left_aside() -> None:
    one = optimism_inputs()
    second = one.scores.assign(seed=1, log_likelihood=one.scores["log_likelihood"] - 2.0)
    points = curve(replace(one, scores=pd.concat([one.scores, second])), "cranfield", PLSA, TRUTH)
    assert list(points["value"]) == pytest.approx([truth(k) - 1.0 / TOKENS for k in TOPICS], rel=1e-12)
    assert points["error"][20] == pytest.approx(ERROR / math.sqrt(2.0), rel=1e-12)


def test_seeds_of_libraries_are_averaged() -> None:
    def change(scores: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([scores, scores.assign(seed=1, log_likelihood=scores["log_likelihood"] - 20.0)])

    points = select(results.library_numbers(peers_inputs(change=change)), corpus="cranfield", model="gensim")
    assert list(points["truth"]) == pytest.approx([peers_truth("gensim", k) - 0.01 for k in PEERS_TOPICS], rel=1e-12)
    assert list(points["error"]) == pytest.approx([0.0, *[PEERS_ERROR / math.sqrt(2.0)] * 2], rel=1e-12)


def test_a_study_without_the_experiment_has_no_curve() -> None:
    given = optimism_inputs()
    bare = replace(given, study={**given.study, "measures": {}})
    assert curve(bare, "cranfield", PLSA, TRUTH).empty


def test_versions_that_differ_between_runs_are_not_stated() -> None:
    given = peers_inputs()
    assert given.notes is not None
    one = (given.notes["model"] == "gensim") & (given.notes["topics"] == 5)
    mixed = replace(given, notes=given.notes.assign(text=given.notes["text"].mask(one, "4.3.0")))
    assert results.versions(mixed) == {"scikit-learn": "1.9.1", "gensim": "", "tomotopy": "0.14.0"}


def test_the_first_corpus_and_seed_have_the_bounds() -> None:
    rows = bidirectional("nips") + bidirectional("cranfield", seed=1, factor=3.0) + bidirectional("cranfield")
    corpus, cells = results.bounds(measured(rows))
    assert corpus == "cranfield"
    assert list(cells) == [(PLSA, 4), (PLSA, 100), (LDA, 4), (LDA, 100)]
    assert {seed for cell in cells.values() for seed in cell["seed"]} == {0}


def test_perplexities_of_components_are_of_all_seeds_together_on_the_first_corpus() -> None:
    corpus, perplexities = results.component_perplexities(components_inputs(*epca_marginal()))
    assert corpus == "medline"
    assert set(perplexities) == {*PERPLEXITIES, "marginal-quadrature"}
    for evaluator, p in PERPLEXITIES.items():
        assert perplexities[evaluator].to_dict() == pytest.approx({K: p / K for K in (1, 2, 5)})
    (first, rows), (second, more) = epca_marginal("nips"), epca_marginal("cranfield")
    assert results.component_perplexities(components_inputs(first + second, rows + more))[0] == "cranfield"


def test_errors_are_in_annealings_own_standard_errors() -> None:
    given = components_inputs(*epca_marginal())
    errors = results.annealed_less_quadrature(given)
    for K, z in ((1, 2.0), (2, 4.0)):
        np.testing.assert_allclose(select(errors, corpus="medline", topics=K)["z"], [z] * 6, rtol=1e-9)
    assert results.degrees_of_freedom(given, "medline") == 9


def panels(rows: list[Measurement]) -> dict[Any, pd.DataFrame]:
    return dict(list(precisions(measured(rows)).groupby(PANEL, sort=False)))


def test_panels_hold_errors_in_percent_against_work() -> None:
    sizes = ((20, 50), (100, 150))
    found = panels(precision())
    assert list(found) == [(*size, prior) for size in sizes for prior in ("alpha-sum-1", "alpha-0.1")]
    for (K, L, _), panel in found.items():
        chib, linear = (select(panel, estimator=name)[["samples", "terms", "percent"]] for name in (CHIB, LINEAR))
        expected = [(S, TERMS[CHIB](K, L, S), 100.0 * math.expm1(0.02 / math.sqrt(S))) for S in (1, 10, 100)]
        np.testing.assert_allclose(chib, expected)
        np.testing.assert_allclose(linear, [(0, TERMS[LINEAR](K, L, 0), 100 * math.expm1(0.2))])


def test_the_cheapest_takes_the_least_work_that_is_enough() -> None:
    for panel in panels(precision()).values():
        (best,) = results.cheapest(panel).to_dict("records")
        assert best["terms"] == panel.loc[panel["percent"] <= WANTED, "terms"].min()
        assert best["percent"] <= WANTED


def test_no_error_is_below_what_is_known_of_the_reference_and_none_may_be_enough() -> None:
    for (_, L, _), panel in panels(precision(known=2.0)).items():
        known = pytest.approx(100 * math.expm1(2.0 / L))
        assert panel["known"].unique().tolist() == [known]
        assert panel["percent"].min() == known
        assert results.cheapest(panel).empty


def test_panels_are_of_the_first_seed_and_may_be_one() -> None:
    both = measured([replace(m, value=9 * m.value) for m in precision(seed=1)] + precision())
    columns = [*PANEL, "estimator", "percent"]
    assert (
        precisions(both)[columns].to_numpy().tolist() == precisions(measured(precision()))[columns].to_numpy().tolist()
    )
    one = [m for m in precision() if m.topics == 4 and m.variant == "alpha-0.1-tokens-10"]
    assert list(panels(one)) == [(4, 10, "alpha-0.1")]


def scored_points(means: dict[int, float], noise: float, error: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"topics": k, "seed": s, "value": mean + noise * rng.standard_normal(), "error": error}
        for k, mean in means.items()
        for s in range(3)
    ]
    return pd.DataFrame(rows)


def test_the_best_numbers_of_topics_are_a_set() -> None:
    clear = best(scored_points({2: 0.0, 4: 1.0, 8: 0.5}, noise=0.01))
    assert clear == Best((4,), 4, censored=False)
    tied = best(scored_points({2: 0.0, 4: 1.0, 8: 0.999}, noise=0.01))
    assert tied is not None
    assert (tied.topics, tied.censored) == ((4, 8), True)
    unsure = best(scored_points({2: 0.0, 4: 1.0, 8: 0.5}, noise=0.0, error=1.0))
    assert unsure is not None
    assert unsure.topics == (2, 4, 8)
    assert best(scored_points({}, 0.0)) is None
