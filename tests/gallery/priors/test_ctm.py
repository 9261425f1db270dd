"""The correlated topic model: its bound against quadrature, its limits, and the random effects form."""

import numpy as np
import pytest

from gallery.priors.models.ctm import CTM
from heldout.corpora.corpus import Corpus, offsets_of
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.topics import LogisticNormalTopics
from heldout.typing import Floats

WORDS = tuple("abcdef")
COUNTS = np.random.default_rng(0).poisson(1.2, (12, 6)).astype(float) + np.eye(12, 6)


def corpus_of(counts: Floats) -> Corpus:
    tokens = np.concatenate([np.repeat(np.arange(6), row.astype(int)) for row in counts]).astype(np.int32)
    return Corpus("c", WORDS, tokens, offsets_of(counts.sum(axis=1).astype(int)), tuple(map(str, range(len(counts)))))


@pytest.mark.parametrize("K", [2, 3])
def test_the_bound_rises_and_stays_below_the_likelihood(K: int) -> None:
    model = CTM(K, random_state=1, iterations=30, tolerance=0.0).fit(COUNTS)
    assert np.diff(model.objective_).min() > -1e-8
    likelihood = logistic_normal_exact(model.topics(WORDS), corpus_of(COUNTS)).log_likelihood
    bound = model.infer(COUNTS).bound
    assert np.all(bound < likelihood)
    assert np.all(bound > likelihood - 3.0)  # of some ten tokens: a bound, but not any number
    assert model.components_.sum(axis=1) == pytest.approx(np.ones(K))


def test_the_ve_step_ends_where_the_slow_bound_is_highest() -> None:
    """The bound of the module's first lines, written out for one document, at and around the posterior."""
    model = CTM(3, random_state=1, iterations=5).fit(COUNTS)
    posterior = model.infer(COUNTS[:1])
    P, n, b = np.linalg.inv(model.covariance_), COUNTS[0], model.components_

    def bound(mean: Floats, variance: Floats) -> float:
        zeta = np.exp(mean + variance / 2.0).sum()
        r = np.exp(mean)[:, None] * b
        r = r / r.sum(axis=0)
        tokens = (n * (r * (mean[:, None] + np.log(b) - np.log(r))).sum(axis=0)).sum()
        normaliser = n.sum() * (np.exp(mean + variance / 2.0).sum() / zeta + np.log(zeta) - 1.0)
        centred = mean - model.mean_
        prior = 0.5 * (
            np.linalg.slogdet(P)[1] - 3.0 * np.log(2.0 * np.pi) - centred @ P @ centred - P.diagonal() @ variance
        )
        entropy = 0.5 * np.log(2.0 * np.pi * np.e * variance).sum()
        return float(tokens - normaliser + prior + entropy)

    at = posterior.mean[0], posterior.variance[0]
    assert posterior.bound[0] == pytest.approx(bound(*at), abs=1e-9)
    for step in 0.1 * np.vstack([np.eye(3), -np.eye(3)]):
        assert bound(at[0] + step, at[1]) < bound(*at)
        assert bound(at[0], at[1] * np.exp(step)) < bound(*at)


def test_a_vanishing_covariance_is_a_fixed_mixture() -> None:
    model = CTM(3, random_state=1, iterations=3).fit(COUNTS)
    topics = LogisticNormalTopics.of(model.components_, model.mean_, 1e-10 * np.eye(3), WORDS)
    pi = np.exp(model.mean_) / np.exp(model.mean_).sum()
    fixed = COUNTS @ np.log(pi @ model.components_)
    assert logistic_normal_exact(topics, corpus_of(COUNTS)).log_likelihood == pytest.approx(fixed, abs=1e-5)


def test_correlation_is_found_and_fixed_topics_stay() -> None:
    """Documents of 60 tokens, in which topics 1 and 2 go together: 300 of them leave no doubt of the sign."""
    random = np.random.default_rng(3)
    b = np.full((3, 6), 0.02)
    for k in range(3):
        b[k, 2 * k : 2 * k + 2] = 0.46
    covariance = np.array([[1.0, 0.9, -0.8], [0.9, 1.0, -0.8], [-0.8, -0.8, 1.0]])
    z = random.multivariate_normal(np.zeros(3), covariance, size=300)
    theta = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    counts = np.array([random.multinomial(60, p @ b) for p in theta]).astype(float)
    model = CTM(3, fixed=True, iterations=60).fit(counts, components=b)
    assert np.array_equal(model.components_, b)
    assert model.covariance_[0, 1] > model.covariance_[0, 2]
    assert model.partial_correlations()[0, 1] > model.partial_correlations()[0, 2]


def test_bad_settings_are_refused() -> None:
    for model, match in (
        (CTM(1), "1 topics"),
        (CTM(2, gamma=0.0), "gamma 0"),
        (CTM(2, fixed=True), "have to be given"),
    ):
        with pytest.raises(InputError, match=match):
            model.fit(COUNTS)
    with pytest.raises(InputError, match="topics of shape"):
        CTM(2).fit(COUNTS, components=np.ones((2, 5)))
    with pytest.raises(InputError, match="hold no tokens"):
        CTM(2).fit(0.0 * COUNTS)
    with pytest.raises(InputError, match="5 words"):
        CTM(2, random_state=0, iterations=1).fit(COUNTS).infer(COUNTS[:, :5])
