"""Supervised LDA: its sampler against the conditional as printed and the enumerated posterior; its identities."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, gammaln
from slow_lda import slow_lda

from gallery.extensions.models.logistic_regression import logistic_regression, objective
from gallery.extensions.models.response_kernel import Responses, State, sweep
from gallery.extensions.models.slda import SLDA
from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.typing import Floats, Ints

TINY = Corpus.from_documents("tiny", [("d0", ["a", "b", "a"]), ("d1", ["b", "c"])])
LABELS = np.array([1, 0])
ALPHA, GAMMA, WEIGHTS = np.array([0.5, 0.8]), 0.3, np.array([2.0, -1.0])


def of_labels(labels: Ints) -> Responses:
    D = len(labels)
    return Responses.of(np.column_stack([np.arange(D), np.full(D, D)]), labels, D)


def log_label(weights: Floats, shares: Floats, labels: Ints) -> Floats:
    """Return log p(c_i | q-bar_i), (D,) nats, equation 27.65."""
    return np.asarray(-np.logaddexp(0.0, -(2.0 * labels - 1.0) * (shares @ weights)))


def log_joint(q: Ints, corpus: Corpus, labels: Ints, weights: Floats, alpha: Floats, gamma: float) -> float:
    """Return log p(w, q, c), nats, up to a constant."""
    state = State.of(corpus, q, len(alpha))
    value = gammaln(state.in_word + gamma).sum() - gammaln(state.totals + corpus.n_words * gamma).sum()
    for d, length in enumerate(corpus.lengths):
        value += gammaln(state.shares[d] * length + alpha).sum()
    return float(value + log_label(weights, state.shares[:-1], labels).sum())


def slow_sweep(corpus: Corpus, q: Ints, uniforms: Floats) -> Ints:
    """Draw every topic from the joint probability itself."""
    q = q.copy()
    for i in range(corpus.n_tokens):
        values = []
        for k in range(len(ALPHA)):
            q[i] = k
            values.append(log_joint(q, corpus, LABELS, WEIGHTS, ALPHA, GAMMA))
        p = np.exp(np.array(values) - max(values))
        q[i] = int(np.searchsorted(np.cumsum(p), uniforms[i] * p.sum(), side="right"))
    return q


def test_a_sweep_draws_from_the_joint_probability() -> None:
    start = np.array([0, 1, 1, 0, 1])
    state, slow = State.of(TINY, start, 2), start
    fast, twin = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(20):
        sweep(TINY, state, of_labels(LABELS), WEIGHTS, 0.0, ALPHA, GAMMA, fast)
        slow = slow_sweep(TINY, slow, twin.random(TINY.n_tokens))
        np.testing.assert_array_equal(state.q, slow)
    again = State.of(TINY, state.q, 2)
    for kept, made in zip(state, again, strict=True):
        np.testing.assert_allclose(kept, made, atol=1e-12)


def test_the_chain_has_the_enumerated_posterior() -> None:
    """8,000 sweeps of 32 states: at most 0.035 off, 6 standard errors of a share whose sweeps are worth a third."""
    states = list(itertools.product(range(2), repeat=TINY.n_tokens))
    logs = np.array([log_joint(np.array(q), TINY, LABELS, WEIGHTS, ALPHA, GAMMA) for q in states])
    p = np.exp(logs - logs.max())
    exact = (np.array(states) * (p / p.sum())[:, None]).sum(axis=0)
    state, random = State.of(TINY, np.zeros(5, dtype=np.int64), 2), np.random.default_rng(1)
    total = np.zeros(5)
    for _ in range(8000):
        sweep(TINY, state, of_labels(LABELS), WEIGHTS, 0.0, ALPHA, GAMMA, random)
        total += state.q
    np.testing.assert_allclose(total / 8000, exact, atol=0.035)


def test_many_responses_do_not_overflow() -> None:
    """One document with 400 responses that are each off by 30 nats."""
    corpus = Corpus.from_documents("one", [("d", ["a", "b", "a", "b"])])
    pairs = np.column_stack([np.zeros(400, dtype=np.int64), np.ones(400, dtype=np.int64)])
    responses = Responses.of(pairs, np.zeros(400, dtype=np.int64), 1)
    state, random = State.of(corpus, np.zeros(4, dtype=np.int64), 2), np.random.default_rng(0)
    sweep(corpus, state, responses, np.array([30.0, -30.0]), 0.0, ALPHA, GAMMA, random)
    assert state.q.sum() >= 3  # halves would have 2^-400


def test_labels_that_are_not_read_leave_lda() -> None:
    """LDA by its printed conditional: without feedback in any round, with it in the first, where w is 0."""
    corpus, _ = draw("slda", Shape(8, 2, 12, 12.0), law=Law(topics=3))
    labels = np.arange(corpus.n_documents) % 2
    asked: dict[str, Any] = {"alpha": 0.3, "gamma": 0.2, "sweeps": 6, "random_state": 0}
    topics, shares = slow_lda(corpus, 3, 0.3, 0.2, sweeps=6, averaged=3, seed=0)
    for feedback, y in ((True, labels), (False, labels), (True, 1 - labels)):
        model = SLDA(3, rounds=1, feedback=feedback, **asked).fit(corpus, y)
        np.testing.assert_allclose(model.components_, topics, rtol=1e-12)
        np.testing.assert_allclose(model.document_topics_, shares, atol=1e-12)
        weights, _ = logistic_regression(shares, y, model.penalty)  # LDA, and a regression on what it finds
        np.testing.assert_allclose(model.weights_, weights, atol=1e-6)
    model = SLDA(3, rounds=2, feedback=False, **asked).fit(corpus, labels)
    assert np.abs(model.weights_).max() > 0.1
    topics, _ = slow_lda(corpus, 3, 0.3, 0.2, sweeps=12, averaged=3, seed=0)
    np.testing.assert_allclose(model.components_, topics, rtol=1e-12)


def test_labels_that_are_read_move_topics_apart() -> None:
    """Words of either label are many, but documents are of many topics besides: with feedback labels are better."""
    random = np.random.default_rng(5)
    labels = np.arange(60) % 2
    words = [[*random.choice(["x", "y", "z"], 12), *(["good"] * 2 if label else ["bad"] * 2)] for label in labels]
    corpus = Corpus.from_documents("apart", [(f"d{d}", list(map(str, own))) for d, own in enumerate(words)])
    fitted = [SLDA(2, rounds=8, sweeps=8, feedback=f, random_state=0).fit(corpus, labels) for f in (True, False)]
    own, other = (log_label(m.weights_, m.document_topics_, labels).mean() for m in fitted)
    assert own > other + 0.05


def test_the_regression_is_at_the_minimum() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((60, 3))
    labels = (random.random(60) < expit(x @ np.array([1.0, -2.0, 0.5]) + 0.7)).astype(np.int64)
    weights, none = logistic_regression(x, labels, 0.3)
    assert none == 0.0
    found = minimize(objective, np.zeros(3), args=(x, labels, np.full(3, 0.3)), tol=1e-12).x
    np.testing.assert_allclose(weights, found, atol=1e-5)
    weights, intercept = logistic_regression(x, labels, 0.3, intercept=True)
    p = expit(x @ weights + intercept)
    np.testing.assert_allclose(x.T @ (labels - p), 0.3 * weights, atol=1e-5)
    assert (labels - p).sum() == pytest.approx(0.0, abs=1e-5)
    alike, high = logistic_regression(x, np.ones(60, dtype=np.int64), 0.3, intercept=True)
    assert np.isfinite(alike).all()
    assert high > 5.0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="supervised LDA: 3 labels"):
        SLDA(2).fit(TINY, np.array([0, 1, 1]))
    with pytest.raises(InputError, match=r"supervised LDA: alpha 0\.0"):
        SLDA(2, alpha=0.0).fit(TINY, LABELS)
    with pytest.raises(InputError, match="label"):
        SLDA(2).fit(TINY, np.array([0, 2]))
