"""The likelihood under a logistic-normal prior, against sums over fine grids and over all documents."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.logistic_normal import logistic_normal, logistic_normal_exact, logistic_normal_upper, simulate
from heldout.evaluators.reference import reference, sweeps
from heldout.topics import LogisticNormalTopics
from heldout.typing import Floats

WORDS = tuple("abcdef")


def topics(K: int, V: int = 6) -> LogisticNormalTopics:
    rng = np.random.default_rng(K)
    root = 0.5 * rng.standard_normal((K, K)) + 0.7 * np.eye(K)
    phi = rng.dirichlet(np.full(V, 0.4), K)
    return LogisticNormalTopics.of(phi / phi.sum(axis=1, keepdims=True), rng.normal(size=K), root @ root.T, WORDS[:V])


def corpus(V: int, documents: list[list[int]]) -> Corpus:
    named = [(str(d), [WORDS[v] for v in words]) for d, words in enumerate(documents)]
    return Corpus.from_documents("made-up", named).over(WORDS[:V])[0]


def made(V: int = 6) -> Corpus:
    rng = np.random.default_rng(1)
    return corpus(V, [rng.integers(0, V, length).tolist() for length in (1, 4, 30, 150)])


def on_a_grid(model: LogisticNormalTopics, document: NDArray[np.int32]) -> float:
    """Return log p(w), the slow twin: the integrand of K numbers less the last, summed over a fine grid."""
    n = model.n_topics - 1
    scales = np.sqrt(np.diag(model.covariance))
    axes = [
        np.linspace(m - 9.0 * s, m + 9.0 * s, 8_001 if n == 1 else 401) for m, s in zip(model.mean, scales, strict=True)
    ]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, n)
    weights = np.exp(np.column_stack([x, np.zeros(len(x))]))
    theta = weights / weights.sum(axis=1, keepdims=True)
    deviation = x - model.mean
    log_prior = -0.5 * np.sum(deviation @ np.linalg.inv(model.covariance) * deviation, axis=1)
    log_prior -= 0.5 * math.log(np.linalg.det(2.0 * math.pi * model.covariance))
    terms = log_prior + np.log(theta @ model.phi[:, document]).sum(axis=1)
    area = math.prod(axis[1] - axis[0] for axis in axes)
    return float(np.log(np.exp(terms - terms.max()).sum() * area) + terms.max())


@pytest.mark.parametrize("K", [2, 3])
def test_quadrature_is_the_sum_over_a_fine_grid(K: int) -> None:
    model, documents = topics(K), made().subset(range(3 if K == 3 else 4))
    twins = [on_a_grid(model, documents.document(d)) for d in range(documents.n_documents)]
    assert logistic_normal_exact(model, documents).log_likelihood == pytest.approx(twins, abs=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("temperatures", [1, 30])
def test_importance_sampling_and_annealing_meet_the_exact_value(K: int, temperatures: int) -> None:
    """False alarms 1e-5: 4.7 stated errors of each of four documents."""
    model, documents = topics(K), made()
    exact = logistic_normal_exact(model, documents).log_likelihood
    rng = np.random.default_rng(0)
    found = logistic_normal(model, documents, 400, rng, temperatures=temperatures)
    assert np.all(found.standard_error < (0.2 if temperatures == 1 else 0.05))
    assert np.all(np.abs(found.log_likelihood - exact) < 4.7 * found.standard_error + 1e-9)


@pytest.mark.parametrize("temperatures", [1, 10])
def test_beyond_quadrature_all_documents_together_have_probability_one(temperatures: int) -> None:
    """At K = 6 over all sequences of three tokens of two words; false alarms 1e-5."""
    model = topics(6, V=2)
    documents = corpus(2, [list(words) for words in product(range(2), repeat=3)])
    found = logistic_normal(model, documents, 300, np.random.default_rng(0), temperatures=temperatures)
    p = np.exp(found.log_likelihood)
    assert abs(p.sum() - 1.0) < 4.7 * math.sqrt(float(((p * found.standard_error) ** 2).sum()))
    assert p.sum() == pytest.approx(1.0, abs=0.05)


def test_k_numbers_and_their_differences_to_the_last_are_the_same_prior() -> None:
    model = topics(3)
    rng = np.random.default_rng(3)
    mean, root = rng.normal(size=3), rng.standard_normal((3, 3))
    of_all = LogisticNormalTopics.of(model.phi, mean, root @ root.T, WORDS)
    x = rng.standard_normal((200_000, 3)) @ root.T + mean
    theta = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    p = (theta @ model.phi[:, [0, 2]]).prod(axis=1)
    value = float(np.exp(logistic_normal_exact(of_all, corpus(6, [[0, 2]])).log_likelihood[0]))
    assert abs(value - p.mean()) < 4.7 * p.std() / math.sqrt(len(p))


def test_empty_and_impossible_documents() -> None:
    model = LogisticNormalTopics.of([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], [0.0], [[1.0]], ("a", "b", "c"))
    documents = Corpus.from_documents("made-up", [("1", []), ("2", ["a", "c"]), ("3", ["z", "b"])])
    for found in (
        logistic_normal_exact(model, documents),
        logistic_normal(model, documents, 2000, np.random.default_rng(0)),
    ):
        assert found.log_likelihood[:2].tolist() == [0.0, -math.inf]
        assert found.log_likelihood[2] == pytest.approx(math.log(0.25), abs=0.05)
        assert found.tokens.tolist() == [0, 2, 1]
        assert found.tokens_left_out == 1


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        ([0.0], [[1.0]], "for 3 topics"),
        ([0.0, math.nan], np.eye(2), "not finite"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "symmetric"),
    ],
)
def test_what_is_no_prior_is_refused(mean: list[float], covariance: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LogisticNormalTopics.of(np.full((3, 6), 1.0 / 6.0), mean, np.asarray(covariance), WORDS)


def test_quadrature_refuses_many_topics() -> None:
    with pytest.raises(InputError, match="6 topics"):
        logistic_normal_exact(topics(6), made())


def sparse(K: int, scale: float) -> LogisticNormalTopics:
    """Return sharp topics of 30 words under a prior of standard deviations about `scale`."""
    rng = np.random.default_rng(K)
    phi = rng.dirichlet(np.full(30, 0.1), K)
    root = scale * (np.eye(K - 1) + 0.3 * rng.standard_normal((K - 1, K - 1)))
    words = tuple(f"w{v}" for v in range(30))
    return LogisticNormalTopics(phi / phi.sum(axis=1, keepdims=True), rng.normal(size=K - 1), root @ root.T, words)


def deviations(found: Evaluation, truth: Floats) -> Floats:
    """Return how many standard errors each document is off; the stated errors, bias included, cover all and their sum.

    False alarms 1e-5.
    """
    off = found.log_likelihood - truth
    assert found.bias is not None
    assert np.all(np.abs(off) < 5.0 * np.hypot(found.standard_error, found.bias))
    assert abs(off.sum()) < 4.42 * found.total_error()
    return off / found.standard_error


def test_the_stated_error_covers_on_drawn_documents() -> None:
    """The r.m.s. of 60 deviations is about 1: of normal ones between 0.6 and 1.4 but for 1e-5."""
    z = []
    for K, scale in [(2, 0.5), (2, 5.0), (3, 1.0)]:
        model, rng = sparse(K, scale), np.random.default_rng(5)
        documents, _ = simulate(model, np.full(20, 20), rng)
        exact = logistic_normal_exact(model, documents).log_likelihood
        z.append(deviations(reference(model, documents, 480, rng), exact))
    assert 0.6 < math.sqrt(float((np.concatenate(z) ** 2).mean())) < 1.4


def test_the_stated_error_covers_at_ten_topics() -> None:
    """Against twenty times the work, whose own error is a quarter; of 16 normal deviations, false alarms 1e-5."""
    model, rng = sparse(10, 1.0), np.random.default_rng(6)
    documents, _ = simulate(model, np.full(16, 20), rng)
    assert np.all(sweeps(model, documents, 240, rng) == 240)
    much = logistic_normal(model, documents, 20 * 240 // 30, rng)
    z = deviations(reference(model, documents, 240, rng), much.log_likelihood)
    assert 0.33 < math.sqrt(float((z**2).mean())) < 1.85


@pytest.mark.parametrize("temperatures", [1, 4])
def test_annealing_backwards_is_unbiased_for_the_inverse_probability(temperatures: int) -> None:
    """Over 80 drawn documents; false alarms 1e-5."""
    model, rng = topics(2), np.random.default_rng(7)
    documents, x = simulate(model, np.full(80, 5), rng)
    exact = logistic_normal_exact(model, documents).log_likelihood
    found = logistic_normal_upper(model, documents, 1, rng, x=x, temperatures=temperatures)
    ratios = np.exp(exact - found.log_likelihood)
    assert ratios.std() > 1e-3
    assert abs(ratios.mean() - 1.0) < 4.42 * ratios.std(ddof=1) / math.sqrt(len(ratios))


def test_drawn_documents_and_the_mean_weights_are_the_priors() -> None:
    """False alarms 1e-5 of each of six words."""
    model, rng = topics(3), np.random.default_rng(8)
    documents, x = simulate(model, np.full(20_000, 1), rng)
    shares = np.bincount(documents.tokens, minlength=6) / 20_000
    expected = model.mean_weights @ model.phi
    assert np.all(np.abs(shares - expected) < 4.7 * np.sqrt(expected * (1.0 - expected) / 20_000) + 0.02)
    assert np.all(np.abs(x.mean(axis=0) - model.mean) < 4.6 * np.sqrt(np.diag(model.covariance) / 20_000))
    assert np.cov(x.T) == pytest.approx(model.covariance, abs=0.1)
    assert model.smoothed(0.1).phi == pytest.approx((model.phi + 0.1) / 1.6)
