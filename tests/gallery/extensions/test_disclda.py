"""DiscLDA: its bound rises to a slow twin's value, block form stays, and with the identity classes do not count."""

from typing import Any

import numpy as np
import pytest
from scipy.special import digamma, gammaln, log_softmax

from gallery.extensions.models.disclda import DiscLDA, block_form, conditional
from gallery.tokens.models.lda_vb import document_bounds, e_step
from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.models.token_shares import Documents, rows_of
from heldout.typing import Floats, Ints

RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.poisson(1.2, (14, 6)).astype(float) + np.eye(14, 6)
CLASSES = np.arange(14) % 3


def slow_bound(counts: Floats, classes: Ints, A: Floats, b: Floats, alpha: float, gamma: Floats) -> float:
    """Return LDA's bound under x_c = A_c^T b at gamma (D, K), the best q of the tokens, document by document."""
    value = 0.0
    for row, c, own in zip(counts, classes, gamma, strict=True):
        x, expected = A[c].T @ b, digamma(own) - digamma(own.sum())
        for v, n in enumerate(row):
            value += n * np.log((np.exp(expected) * x[:, v]).sum())
        value += gammaln(len(own) * alpha) - len(own) * gammaln(alpha) - gammaln(own.sum()) + gammaln(own).sum()
        value += ((alpha - own) * expected).sum()
    return float(value)


@pytest.mark.parametrize("softening", [0.0, 0.3])
def test_the_bound_rises(softening: float) -> None:
    model = DiscLDA(1, common=2, softening=softening, tolerance=0.0, iterations=60, random_state=1)
    model.fit(COUNTS, CLASSES)
    assert np.diff(model.bound_).min() > -1e-9
    assert model.matrices_.sum(axis=1) == pytest.approx(1.0)
    assert model.components_.sum(axis=1) == pytest.approx(1.0)
    if not softening:
        np.testing.assert_array_equal(model.matrices_, block_form(3, 1, 2))


def test_the_bound_is_the_slow_one() -> None:
    A, b = RANDOM.dirichlet(np.ones(5), (3, 2)).swapaxes(1, 2), RANDOM.dirichlet(np.ones(6), 5)
    gamma = RANDOM.gamma(2.0, size=(14, 2)) + 0.5
    x = np.einsum("ctk,tv->ckv", A, b)
    documents = Documents(checked_counts(COUNTS, "test"), CLASSES, 0.4, gamma)
    value = documents.step(rows_of(x).reshape(-1, rows_of(x).shape[-1])).sum()
    assert value == pytest.approx(slow_bound(COUNTS, CLASSES, A, b, 0.4, gamma), abs=1e-9)


def test_an_em_step_is_that_of_the_enumerated_topics() -> None:
    """The M step from the posterior of every token's weight and topic, (k, t), pair by pair."""
    A, b = RANDOM.dirichlet(np.ones(4), (2, 2)).swapaxes(1, 2), RANDOM.dirichlet(np.ones(6), 4)
    n = RANDOM.gamma(1.0, size=(2, 2, 6))
    of_topics, of_matrices = np.zeros((4, 6)), np.zeros((2, 4, 2))
    for c, k, v in np.ndindex(2, 2, 6):
        p = A[c, :, k] * b[:, v]
        p *= n[c, k, v] / p.sum()
        of_topics[:, v] += p
        of_matrices[c, :, k] += p
    ratio = n / np.einsum("ctk,tv->ckv", A, b)
    np.testing.assert_allclose(b * np.einsum("ctk,ckv->tv", A, ratio), of_topics)
    np.testing.assert_allclose(A * np.einsum("ckv,tv->ctk", ratio, b), of_matrices)


def test_without_topics_of_classes_it_is_lda() -> None:
    """A_c = I for every class: 20 rounds of LDA's mean field from the same start, by `gallery.tokens.models.lda_vb`.

    Both take sums of at most a hundred numbers in other orders, 1e-14 of each; 1e-11 lets that grow a thousandfold.
    """
    model = DiscLDA(0, common=3, alpha=0.4, gamma=0.2, iterations=20, tolerance=0.0, random_state=2)
    model.fit(COUNTS, CLASSES)
    counts, alpha = checked_counts(COUNTS, "test"), np.full(3, 0.4)
    b = np.random.default_rng(2).gamma(1.0, 1.0, (3, 6)) + 1.0
    b /= b.sum(axis=1, keepdims=True)
    pi, bounds = np.full((14, 3), 0.4 + COUNTS.sum() / 14 / 3), []
    for _ in range(20):
        pi, n = e_step(counts, np.log(b), alpha, start=pi, iterations=10, tolerance=0.0)
        bounds.append(document_bounds(counts, np.log(b), alpha, pi).sum() + 0.2 * np.log(b).sum())
        b = (n + 0.2) / (n + 0.2).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(model.matrices_, [np.eye(3)] * 3)
    np.testing.assert_allclose(model.bound_, bounds, rtol=1e-11)
    np.testing.assert_allclose(model.components_, b, rtol=1e-11)
    np.testing.assert_allclose(model.topics(1, tuple("abcdef")).phi, b, rtol=1e-11)
    assert bounds[-1] - bounds[0] > 1.0  # it has moved


def test_without_common_topics_classes_are_apart() -> None:
    """The topics of a class are those of its documents alone, from the same start."""
    model = DiscLDA(1, gamma=0.2, random_state=3).fit(COUNTS, CLASSES)
    expected = np.array([COUNTS[c == CLASSES].sum(axis=0) + 0.2 for c in range(3)])
    np.testing.assert_allclose(model.components_, expected / expected.sum(axis=1, keepdims=True))


def test_learnt_matrices_leave_a_block_form_that_does_not_serve() -> None:
    """Two classes of the same words, with no common topic in the block form: EM lets them share what serves both."""
    counts = np.tile(np.array([[6.0, 0.0, 3.0], [0.0, 6.0, 3.0]]), (10, 1))
    classes = np.arange(20) // 2 % 2
    asked: dict[str, Any] = {"alpha": 0.3, "iterations": 300, "tolerance": 0.0, "random_state": 0}
    fixed, learnt = (DiscLDA(1, softening=s, **asked).fit(counts, classes) for s in (0.0, 0.4))
    assert learnt.bound_[-1] >= fixed.bound_[-1] - 1e-6


def test_the_conditional_likelihood_has_its_gradient() -> None:
    """By differences along random directions at the best q of every document, and by a sum over documents."""
    A, b = RANDOM.dirichlet(np.ones(5), (3, 2)).swapaxes(1, 2), RANDOM.dirichlet(np.ones(6), 5)
    counts = checked_counts(COUNTS, "test")
    value, gradient = conditional(counts, CLASSES, A, b, 0.4, 2000)
    bounds = np.empty((14, 3))
    for c in range(3):
        documents = Documents(counts, np.zeros(14, dtype=np.int64), 0.4, np.ones((14, 2)))
        rows = rows_of(A[c].T @ b)
        bounds[:, c] = documents.step(rows, 2000)
    assert value == pytest.approx(log_softmax(bounds, axis=1)[np.arange(14), CLASSES].sum(), abs=1e-6)
    for _ in range(5):
        step = 1e-5 * RANDOM.normal(size=A.shape)
        values = [conditional(counts, CLASSES, A + sign * step, b, 0.4, 2000)[0] for sign in (1.0, -1.0)]
        assert (values[0] - values[1]) / 2.0 == pytest.approx(float((gradient * step).sum()), rel=1e-4, abs=1e-9)


def test_conditional_training_raises_the_conditional_likelihood() -> None:
    asked: dict[str, Any] = {"common": 2, "softening": 0.3, "random_state": 1}
    learnt, climbed = (DiscLDA(1, conditional=steps, **asked).fit(COUNTS, CLASSES) for steps in (0, 20))
    np.testing.assert_array_equal(climbed.components_, learnt.components_)
    assert climbed.matrices_.sum(axis=1) == pytest.approx(1.0)
    counts = checked_counts(COUNTS, "test")
    before, after = (
        conditional(counts, CLASSES, model.matrices_, model.components_, 0.5)[0] for model in (learnt, climbed)
    )
    assert after > before + 0.2


def test_bad_settings_are_refused() -> None:
    for model, classes, match in (
        (DiscLDA(0), CLASSES, "there must be a topic"),
        (DiscLDA(1, softening=1.0), CLASSES, "softening 1"),
        (DiscLDA(1, alpha=0.0), CLASSES, "alpha 0"),
        (DiscLDA(1), CLASSES - 1, "from 0 on"),
        (DiscLDA(1), CLASSES[:3], "classes of shape"),
    ):
        with pytest.raises(InputError, match=match):
            model.fit(COUNTS, classes)
