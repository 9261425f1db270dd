"""The evidence against the sum over all 2^16 assignments, and the sandwich of annealing around it."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from heldout.errors import InputError
from heldout.evaluators.evidence import annealed_evidence, exact_evidence, log_likelihood
from heldout.typing import Floats, Ints

ALPHA, GAMMA, K = 0.6, 0.3, 2
WORDS = np.array([0, 0, 1, 2, 2, 2, 1, 0, 1, 1, 1, 0, 2, 0, 2, 2])
DOCUMENTS = np.repeat(np.arange(4), 4)
COUNTS = np.zeros((4, 3), dtype=np.int64)
np.add.at(COUNTS, (DOCUMENTS, WORDS), 1)


def enumerated() -> tuple[Ints, Floats]:
    """Return all assignments and log p(y, q), equations 27.34 and 27.36 term by term."""
    every = np.array(list(itertools.product(range(K), repeat=16)))
    log_p = np.zeros(len(every))
    for i in range(4):
        c = np.stack([(every[:, i == DOCUMENTS] == k).sum(axis=1) for k in range(K)], axis=1)
        log_p += gammaln(K * ALPHA) - K * gammaln(ALPHA) + gammaln(c + ALPHA).sum(axis=1) - gammaln(4 + K * ALPHA)
    for k in range(K):
        c = np.stack([(every[:, v == WORDS] == k).sum(axis=1) for v in range(3)], axis=1)
        log_p += gammaln(3 * GAMMA) - 3 * gammaln(GAMMA) + gammaln(c + GAMMA).sum(axis=1)
        log_p -= gammaln(c.sum(axis=1) + 3 * GAMMA)
    return every, log_p


def test_the_convolution_is_the_sum_over_all_assignments() -> None:
    every, log_p = enumerated()
    log_evidence, topic_means = exact_evidence(COUNTS, ALPHA, GAMMA)
    assert log_evidence == pytest.approx(logsumexp(log_p), abs=1e-10)
    first = (every[:, WORDS == 0] == 0).sum(axis=1)
    weights = np.exp(log_p - logsumexp(log_p)) * (np.sign(2 * first - (WORDS == 0).sum()) + 1.0)
    for k in range(K):
        counts = np.stack([(every[:, v == WORDS] == k).sum(axis=1) for v in range(3)], axis=1)
        means = (counts + GAMMA) / (counts.sum(axis=1, keepdims=True) + 3 * GAMMA)
        np.testing.assert_allclose(topic_means[k], weights @ means, atol=1e-12)
    one = np.array(COUNTS.sum(axis=0))[:, None]
    alone = annealed_evidence(
        WORDS, DOCUMENTS, 3, topics=1, alpha=ALPHA, gamma=GAMMA, temperatures=1, random=np.random.default_rng(0)
    )
    assert alone == pytest.approx(log_likelihood(one, GAMMA), abs=1e-12)


def test_annealing_is_unbiased_forwards_and_in_its_inverse_backwards() -> None:
    """Means of w / p(y) over 2,000 chains, backwards of p(y) / w; 4.4 standard errors fail once in 1e5 runs."""
    every, log_p = enumerated()
    log_evidence, random = float(logsumexp(log_p)), np.random.default_rng(1)
    posterior = np.exp(log_p - log_evidence)
    settings: dict[str, Any] = {"topics": K, "alpha": ALPHA, "gamma": GAMMA, "temperatures": 4}
    drawn = every[random.choice(len(every), 2000, p=posterior / posterior.sum())]
    forwards = [annealed_evidence(WORDS, DOCUMENTS, 3, random=random, **settings) for _ in range(2000)]
    backwards = [annealed_evidence(WORDS, DOCUMENTS, 3, random=random, posterior=q, **settings) for q in drawn]
    for ratios in (np.exp(np.array(forwards) - log_evidence), np.exp(log_evidence - np.array(backwards))):
        assert ratios.std() > 0.05  # too few steps to be exact: a weight that ignores them would show
        assert abs(ratios.mean() - 1.0) < 4.4 * ratios.std() / math.sqrt(len(ratios))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="0 tokens, 2 topics"):
        annealed_evidence(
            WORDS[:0], DOCUMENTS[:0], 3, topics=2, alpha=1.0, gamma=1.0, temperatures=1, random=np.random.default_rng(0)
        )
    with pytest.raises(InputError, match="alpha -1"):
        exact_evidence(COUNTS, -1.0, 1.0)
    with pytest.raises(InputError, match="5 words, the limit"):
        exact_evidence(np.full((4, 5), 30), 1.0, 1.0)
