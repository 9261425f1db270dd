"""LSA against its definitions: vectors and cosines one by one, scikit-learn's truncated SVD, and the full rank."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar
from sklearn.decomposition import TruncatedSVD

from heldout.errors import InputError
from heldout.models import lsa
from heldout.typing import Floats


def random_counts(D: int = 20, V: int = 30, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    counts = random.poisson(random.gamma(0.4, 2.0, (D, V))).astype(float)
    counts[:, 0] += 1.0
    return counts


small_counts = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 9)), elements=st.integers(0, 6))


@settings(max_examples=60)
@given(small_counts)
def test_at_full_rank_clipped_and_shifted_are_the_empirical_distributions(counts: Floats) -> None:
    counts[:, 0] += 1.0
    decomposition = lsa.decompose(sp.csr_array(counts))
    assert decomposition.rank == np.linalg.matrix_rank(counts)
    (last,) = lsa.reconstructions(decomposition, [decomposition.rank])
    empirical = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(last.clipped(), empirical, atol=1e-9)
    np.testing.assert_allclose(last.shifted(), empirical, atol=1e-9)


@settings(max_examples=40)
@given(small_counts, st.data())
def test_readings_are_distributions_at_every_rank(counts: Floats, data: st.DataObject) -> None:
    counts[:, 0] += 1.0
    decomposition = lsa.decompose(sp.csr_array(counts))
    rank = data.draw(st.integers(1, decomposition.rank))
    (cut,) = lsa.reconstructions(decomposition, [rank])
    unigram = counts.sum(axis=0) / counts.sum()
    clipped = cut.clipped()
    assert np.all(clipped >= 0.0)
    some = clipped.any(axis=1)
    np.testing.assert_allclose(clipped[some].sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(cut.counts[~some] <= 0.0)
    for reading in (cut.shifted(), *(lsa.raised(cut.log_cosines(), 2.5, times) for times in (None, unigram))):
        assert np.all(reading >= 0.0)
        sums = reading.sum(axis=1)
        assert np.all((np.abs(sums - 1.0) < 1e-9) | (sums == 0.0))


def test_a_cut_is_scikit_learns_and_the_best_of_its_rank() -> None:
    counts = random_counts()
    decomposition = lsa.decompose(sp.csr_array(counts))
    ranks = [7, 1, 3, 3]
    cuts = {cut.rank: cut.counts.copy() for cut in lsa.reconstructions(decomposition, ranks)}
    assert list(cuts) == [1, 3, 7]
    for rank, cut in cuts.items():
        theirs = TruncatedSVD(rank, algorithm="arpack", random_state=0)
        np.testing.assert_allclose(cut, theirs.fit_transform(counts) @ theirs.components_, atol=1e-9)
        assert np.sum((counts - cut) ** 2) == pytest.approx(np.sum(decomposition.values[rank:] ** 2), rel=1e-10)


def test_below_full_rank_negative_entries_are_cut_off_or_all_are_shifted() -> None:
    counts = random_counts()
    U, s, words = np.linalg.svd(counts, full_matrices=False)
    dense = (U[:, :4] * s[:4]) @ words[:4]
    assert 0.0 < np.mean(dense.min(axis=1) < 0.0) <= 1.0
    (cut,) = lsa.reconstructions(lsa.decompose(sp.csr_array(counts)), [4])
    for row, clipped, shifted in zip(dense, cut.clipped(), cut.shifted(), strict=True):
        positive = np.where(row > 0.0, row, 0.0)
        np.testing.assert_allclose(clipped, positive / positive.sum(), atol=1e-12)
        raised = row - min(0.0, row.min())
        np.testing.assert_allclose(shifted, raised / raised.sum(), atol=1e-12)


def test_equal_and_empty_documents_do_not_raise_the_rank() -> None:
    counts = random_counts(6, 30)
    twice = np.concatenate([counts, counts[:4], np.zeros((1, 30))])
    assert lsa.decompose(sp.csr_array(twice)).rank == 6


def test_cosines_are_those_of_the_scaled_vectors() -> None:
    counts = random_counts(9, 12, seed=3)
    counts[0] += 1.0
    counts[4] = 0.0  # an empty document has no direction: every cosine is 0
    decomposition = lsa.decompose(sp.csr_array(counts))
    (cut,) = lsa.reconstructions(decomposition, [4])
    documents = decomposition.documents[:, :4] * np.sqrt(decomposition.values[:4])
    of_words = decomposition.words[:4].T * np.sqrt(decomposition.values[:4])
    unigram = counts.sum(axis=0) / counts.sum()
    for d in (0, 3, 8):
        cosines = np.array([documents[d] @ w / np.linalg.norm(documents[d]) / np.linalg.norm(w) for w in of_words])
        weights = (cosines - cosines.min()) ** 3.0
        np.testing.assert_allclose(lsa.raised(cut.log_cosines(), 3.0)[d], weights / weights.sum(), atol=1e-12)
        weights *= unigram
        np.testing.assert_allclose(lsa.raised(cut.log_cosines(), 3.0, unigram)[d], weights / weights.sum(), atol=1e-12)
    reading = lsa.raised(cut.log_cosines(), 3.0)
    np.testing.assert_array_equal(reading[4], 0.0)
    rows, words = np.repeat([3, 4], 12), np.array([*range(12), *range(12)], dtype=np.int32)
    p = lsa.mixed(reading, unigram, rows, words, 0.25)
    np.testing.assert_allclose(p[:12], 0.75 * reading[3] + 0.25 * unigram, rtol=1e-12)
    np.testing.assert_array_equal(p[12:], unigram)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_the_mixing_weight_is_the_maximum(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    model = random.random(n) * (random.random(n) < 0.7)
    unigram, counts = random.random(n) + 1e-3, random.integers(1, 5, n).astype(float)

    def negative(weight: float) -> float:
        with np.errstate(divide="ignore"):
            return -float(np.sum(counts * np.log((1.0 - weight) * model + weight * unigram)))

    weight = lsa.mixing_weight(model, unigram, counts)
    best = minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
    assert negative(weight) <= min(best.fun, negative(1.0), negative(0.0)) + 1e-9


def test_the_mixing_weight_at_its_ends() -> None:
    good, bad, counts = np.array([0.5, 0.5]), np.array([0.1, 0.1]), np.ones(2)
    assert lsa.mixing_weight(good, bad, counts) == 0.0
    assert lsa.mixing_weight(bad, good, counts) == 1.0
    # one token of each of two words: the root of 1 / (2 lambda) = 1 / (2 (1 - lambda)), even where a zero is denormal
    half = lsa.mixing_weight(np.array([1.0, 1e-320]), np.array([1e-9, 1.0]), counts)
    assert half == pytest.approx(0.5, abs=1e-6)


def test_bad_ranks_are_refused() -> None:
    decomposition = lsa.decompose(sp.csr_array(random_counts(5, 8)))
    for rank in (0, 6):
        with pytest.raises(InputError, match=f"ranks \\[{rank}\\]"):
            next(lsa.reconstructions(decomposition, [rank]))
    with pytest.raises(InputError, match="hold no tokens"):
        lsa.decompose(sp.csr_array((2, 3)))
