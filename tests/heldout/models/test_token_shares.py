"""Expected counts of tokens and exponentials of many numbers, against their obvious twins."""

import numpy as np
import pytest

from heldout.models.estimator import checked_counts
from heldout.models.exponentials import exponentials
from heldout.models.token_shares import Tokens, padded, row_counts, rows_of, token_shares


def test_exponentials_are_those_of_numpy_to_the_last_bits() -> None:
    x = np.random.default_rng(0).uniform(-708.0, 709.0, 100_000)
    x[:4] = -2000.0, 0.0, 709.0, 5000.0
    result = x.copy()
    exponentials(result)
    np.testing.assert_allclose(result[4:], np.exp(x[4:]), rtol=5e-16)
    assert result[:4] == pytest.approx([np.exp(-708.0), 1.0, np.exp(709.0), np.exp(709.0)], rel=5e-16)


@pytest.mark.parametrize(("K", "V"), [(2, 5), (8, 40), (11, 1500)])
def test_the_pass_over_the_tokens_is_that_of_dense_arrays(K: int, V: int) -> None:
    """Documents of two groups, some without a word, some of more words than a block has, some words of tiny weight."""
    random, D = np.random.default_rng(1), 12
    counts = random.poisson(0.7, (D, V)).astype(float)
    counts[3], groups = 0.0, np.arange(D) % 2
    theta, topics = random.dirichlet(np.ones(K), D), random.dirichlet(np.full(V, 0.3), (2, K))
    topics[:, :, 0] = 1e-200
    b, tokens = rows_of(topics).reshape(2 * V, padded(K)), Tokens.of(checked_counts(counts, "test"), groups)
    own, value, of_topics = rows_of(theta.T), np.empty(D), np.empty((D, padded(K)))
    ratios, of_rows = np.empty(len(tokens.rows)), np.empty_like(b)
    token_shares(tokens.starts, tokens.rows, tokens.counts, own, b, value, of_topics, ratios)
    row_counts(tokens.row_starts, tokens.documents, tokens.places, ratios, own, b, of_rows)
    x = topics[groups]  # (D, K, V)
    p = np.einsum("dk,dkv->dv", theta, x)
    n = np.where(counts > 0.0, counts / p, 0.0)[:, None] * theta[:, :, None] * x
    np.testing.assert_allclose(value, (counts * np.log(p)).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(of_topics[:, :K], n.sum(axis=2), rtol=1e-12)
    expected = np.array([n[groups == g].sum(axis=0) for g in (0, 1)])
    np.testing.assert_allclose(of_rows[:, :K].reshape(2, V, K), expected.swapaxes(1, 2), rtol=1e-12)
    assert not of_rows[:, K:].any()
