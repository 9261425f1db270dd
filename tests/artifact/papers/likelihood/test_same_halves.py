"""Half folding-in beside the average: the same halves, nothing that has seen them, exact values, effects, the table."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job
from small_study import inputs, with_effects
from tables_of import plain_rows, scored

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.experiments.same_halves import SAMPLED_HALF, completion, experiment, smoothed
from artifact.papers.likelihood.same_halves import table
from artifact.papers.likelihood.settings import SameHalves
from artifact.results.reading import LARGEST
from artifact.typesetting import latex
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import COMPLETION, HALF
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

approx: Any = pytest.approx  # which compares with whatever it stands in

SETTINGS: dict[str, Any] = {
    **{"seed": 0, "variant": "same-halves", "test_documents": 12, "topics": 2, "iterations": 5, "validation": 6},
    **{"constants": [1e-6, 1e-2], "alpha_sum": 2.0, "beta": 0.1, "sweeps": 5, "fold_in_sweeps": 5, "documents": 10},
    **{"samples": 240, "annealing_chains": 4},
}


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))) for n in rng.integers(4, 12, 40)]
    return Corpus.from_documents("small", [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def test_every_score_is_of_the_same_halves() -> None:
    scores, rows = run_job(experiment, SameHalves, corpus(), **SETTINGS)
    assert rows == []
    under = [(f"same-halves-{prior}-prior", name) for prior in ("flat", "fitted") for name in (PLUG_IN, COMPLETION)]
    both = {(model, *named) for model in ("plsa-hof", "lda") for named in (("same-halves", HALF), *under)}
    assert {(s.model, s.variant, s.evaluator) for s in scores} == {*both, ("lda", "same-halves", SAMPLED_HALF)}
    assert len({(s.tokens, s.documents) for s in scores}) == 1
    assert {s.smoothing for s in scores if s.model == "plsa-hof"} < {1e-6, 1e-2}  # one of them
    assert all(score.groups is not None for score in scores)


def test_the_average_is_the_quotient_of_exact_likelihoods() -> None:
    phi = np.random.default_rng(3).dirichlet(np.full(6, 0.3), size=2)
    topics = Topics(phi, np.array([0.5, 1.5]), tuple(f"w{w}" for w in range(6)))
    documents = corpus().subset(range(8))
    halves = half_split(documents, 0)
    found = completion(topics, documents, halves[0], 2000, np.random.default_rng(0), 8)
    exact = exact_marginal(topics, documents).log_likelihood - exact_marginal(topics, halves[0]).log_likelihood
    assert found.tokens.tolist() == halves[1].lengths.tolist()
    assert abs(float((found.log_likelihood - exact).sum())) < 5.0 * found.total_error()
    assert np.abs(found.log_likelihood - exact).max() < 0.1


@pytest.mark.parametrize(("word", "constant"), [("a", 1e-6), ("b", 1e-2)])
def test_the_constant_is_the_one_that_the_validation_documents_like(word: str, constant: float) -> None:
    topics = Topics(np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2), ("a", "b"))
    assert smoothed(topics, Corpus.from_documents("c", [("1", [word] * 4)]), (1e-6, 1e-2), 0)[0] == constant


def made() -> Inputs:
    """Return scores of PLSA: the average is best with 3 topics, half folding-in with 2."""
    values = {("same-halves", HALF): (-5.5, -6.0)}
    for prior, more in (("flat", -0.1), ("fitted", 0.0)):
        values[f"same-halves-{prior}-prior", COMPLETION] = (-5.4 + more, -5.0 + more)
        values[f"same-halves-{prior}-prior", PLUG_IN] = (-5.402 + more, -5.002 + more)
    scores = scored("plsa-hof", {(evaluator, variant): v for (variant, evaluator), v in values.items()}, (2, 3))
    return with_effects(replace(inputs(), scores=scores))


def test_points_and_choices_are_held_to_the_average_under_the_fitted_prior() -> None:
    known = made().effects
    found = {name: {e.part: e.estimate for e in known[f"completion-beside-{name}"]} for name in ("half", "mean")}
    assert found["half"] == approx({"PLSA, K = 2": 0.1, "PLSA, K = 3": 1.0})
    assert found["mean"] == approx({"PLSA, K = 2": 0.002, "PLSA, K = 3": 0.002})
    (cost,) = known["choice-completion"]
    assert (cost.part, cost.estimate) == ("PLSA", approx(0.4))  # of 2 topics, which half folding-in wants


def test_the_table_marks_what_each_column_prefers_and_leaves_out_large_stated_errors() -> None:
    halves = made()
    rows = {"2 & bold 245 & 245 & 245 & 222 & 221", "3 & 403 & bold 164 & bold 164 & bold 149 & bold 148"}
    assert {f"PLSA-HOF & {row}" for row in rows} < set(plain_rows(table(halves)))
    scores = halves.scores
    off = scores[(scores["evaluator"] == COMPLETION) & (scores["variant"] == "same-halves-fitted-prior")].index[0]
    for factor, left_out in ((0.99, 0), (1.01, 1)):
        scores.loc[off, "standard_error"] = factor * LARGEST * scores.loc[off, "tokens"]
        assert table(halves).count(latex.NOT_SHOWN) == left_out
