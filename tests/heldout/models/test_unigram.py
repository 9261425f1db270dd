import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.naive_bayes import MultinomialNB

from heldout.errors import InputError
from heldout.models.unigram import smoothed_documents, unigram
from heldout.typing import Floats

COUNTS = sp.csr_array(np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 3.0]]))


def test_closed_forms() -> None:
    np.testing.assert_allclose(unigram(COUNTS), [2 / 6, 0.0, 4 / 6], rtol=1e-15)
    np.testing.assert_allclose(unigram(COUNTS, 0.5), [2.5 / 7.5, 0.5 / 7.5, 4.5 / 7.5], rtol=1e-15)
    rows, words = np.array([0, 0, 1, 1]), np.array([0, 2, 0, 2], dtype=np.int32)
    expected = [(2 + 1.5 * 2 / 6) / 4.5, (1 + 1.5 * 4 / 6) / 4.5, (1.5 * 2 / 6) / 4.5, (3 + 1.5 * 4 / 6) / 4.5]
    np.testing.assert_allclose(smoothed_documents(COUNTS, 1.5, rows, words), expected, rtol=1e-15)


counts = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.integers(0, 9))


@given(counts, st.floats(1e-3, 10.0))
def test_additive_smoothing_is_naive_bayes_with_one_class(dense: Floats, constant: float) -> None:
    dense[0, 0] += 1.0
    expected = np.exp(MultinomialNB(alpha=constant).fit(dense, np.zeros(len(dense))).feature_log_prob_[0])
    np.testing.assert_allclose(unigram(sp.csr_array(dense), constant), expected, rtol=1e-12)


@given(counts, st.floats(1e-3, 1e3))
def test_smoothed_documents_are_distributions_between_their_own_and_the_unigram(dense: Floats, mass: float) -> None:
    dense[0, 0] += 1.0
    D, V = dense.shape
    rows, words = np.repeat(np.arange(D), V), np.tile(np.arange(V, dtype=np.int32), D)
    p = smoothed_documents(sp.csr_array(dense), mass, rows, words).reshape(D, V)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    flat = unigram(sp.csr_array(dense))
    for own, smoothed in zip(dense, p, strict=True):
        share = own.sum() / (own.sum() + mass)
        empirical = own / max(own.sum(), 1.0)
        np.testing.assert_allclose(smoothed, share * empirical + (1.0 - share) * flat, rtol=1e-10, atol=1e-15)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="constant -1"):
        unigram(COUNTS, -1.0)
    with pytest.raises(InputError, match="hold no tokens"):
        unigram(sp.csr_array((2, 3)))
    for mass in (0.0, float("nan")):
        with pytest.raises(InputError, match=f"mass {mass}"):
            smoothed_documents(COUNTS, mass, np.array([0]), np.array([0], dtype=np.int32))
