"""The prior's share: which priors, that each half is scored by what the other fitted, and the ends that are known."""

from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments.prior_share import experiment
from artifact.papers.likelihood.settings import PriorShare
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.folding_in import maximum
from heldout.evaluators.mixture_of_points import fit_weights, log_likelihoods, mixture_of_points
from heldout.topics import Topics

SETTINGS: dict[str, Any] = {
    **{"seed": 0, "test_documents": 16, "topics": 3, "iterations": 5, "smoothing": 1e-3, "alpha_sum": 4.0, "beta": 0.1},
    **{"sweeps": 5, "documents": 12, "components": [1, 2], "rounds": 10, "sums": [0.1, 3.0]},
    **{"samples": 240, "annealing_chains": 4},
}
PHI = np.random.default_rng(3).dirichlet(np.full(6, 0.3), size=3)
TOPICS = Topics(phi=PHI, alpha=np.ones(3), vocabulary=tuple(f"w{w}" for w in range(6)), provenance={})


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))) for n in rng.integers(4, 15, 40)]
    return Corpus.from_documents("small", [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def test_every_prior_of_both_axes_is_there_and_below_the_maximum() -> None:
    scores, rows = run_job(experiment, PriorShare, corpus(), **SETTINGS)
    assert scores == []
    named = {(m.model, m.axis, m.quantity, m.at): m for m in rows}
    ends = {("full-folding-in", 0), ("tokens", 0)}
    dial = {("sum", 100), ("sum", 3000)} | ends
    rich = {("mixture", 1), ("mixture", 2), ("points", 6), ("training-mixture", 24)} | ends
    assert set(named) == {
        *((model, "concentration", *place) for model in ("plsa-hof", "lda") for place in dial),
        *(("plsa-hof", "richness", *place) for place in rich),
    }
    for (model, axis, quantity, _), row in named.items():
        if quantity not in ("tokens", "full-folding-in"):
            full = named[model, axis, "full-folding-in", 0]
            assert row.value < full.value + 6.0 * row.standard_error
        elif quantity == "tokens":
            assert row.value == named["lda", "concentration", "tokens", 0].value


def test_points_are_summed_as_their_definition_says() -> None:
    documents = corpus().over(TOPICS.vocabulary)[0].subset([0, 1])
    points, weights = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), np.array([0.4, 0.6])
    found = mixture_of_points(TOPICS, points, weights, documents).log_likelihood
    for d in range(2):
        each = [np.prod((theta @ PHI)[documents.document(d)]) for theta in points]
        assert found[d] == pytest.approx(np.log(weights @ each), abs=1e-12)
    with pytest.raises(InputError, match="mixture of points"):
        mixture_of_points(TOPICS, points, np.ones(3) / 3, documents)


def test_weights_are_at_the_maximum_and_lose_at_most_log_d(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the maximum the gradient, mean_d p(w_d | theta_j) / p(w_d), is 1 where weights are and at most 1 elsewhere."""
    documents = corpus().over(TOPICS.vocabulary)[0].subset(np.arange(20))
    points = maximum(TOPICS, documents)
    logs = log_likelihoods(TOPICS, points, documents)
    monkeypatch.setattr("heldout.evaluators.mixture_of_points.STEPS", 20_000)
    weights = fit_weights(logs)
    assert weights.sum() == pytest.approx(1.0)
    likelihoods = np.exp(logs)
    gradient = (likelihoods / (likelihoods @ weights)[:, None]).mean(axis=0)
    assert gradient.max() < 1.001
    assert gradient[weights > 0.01] == pytest.approx(1.0, abs=1e-3)
    fitted = mixture_of_points(TOPICS, points, weights, documents).log_likelihood.mean()
    full = logs.diagonal().mean()
    assert full - np.log(20) < fitted < full + 1e-9
    with pytest.raises(InputError, match="no point gives"):
        fit_weights(np.full((2, 3), -np.inf))


def test_a_half_is_scored_by_what_the_other_fitted() -> None:
    """Halves that share no word have no point in common: the words of one are impossible under the other's topics."""
    from artifact.papers.likelihood.experiments.prior_share import richer
    from heldout.evaluators.mixture_of_points import mixture_of_points as score

    topics = Topics(phi=np.eye(2), alpha=np.ones(2), vocabulary=("a", "b"), provenance={})
    documents = Corpus.from_documents("two", [(str(d), ["ab"[d % 2]] * 5) for d in range(8)])
    settings = PriorShare(
        **{k: v for k, v in SETTINGS.items() if k not in ("seed", "test_documents", "topics", "components", "sums")},
        components=(1,),
        sums=(1.0,),
    )
    *_, (name, size, found) = richer(topics, documents.over(("a", "b"))[0], settings, Job(documents))
    assert (name, size) == ("points", 4)
    assert all((evaluation.log_likelihood < -50.0).all() for evaluation in found)
    assert score(topics, np.eye(2), np.full(2, 0.5), documents).log_likelihood == pytest.approx(np.log(0.5))
