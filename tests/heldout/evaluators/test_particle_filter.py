"""The particle filter: a slow twin, and an unbiased estimate."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.particle_filter import AFTER_DRAW, BEFORE_DRAW, BEFORE_RESAMPLING, particle_filter, records
from heldout.evaluators.random_stream import uniform
from heldout.topics import Topics
from heldout.typing import Floats

PHI = np.array([[0.7, 0.2, 0.06, 0.04], [0.05, 0.15, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25]])
TOPICS = Topics(PHI, np.array([0.2, 0.1, 0.05]), ("a", "b", "c", "d"))
WORDS = np.array([0, 3, 0, 1, 2, 3])
DOCUMENTS = Corpus.from_documents("some", [("x", list("adabcd")), ("y", list("ddca")), ("z", ["b"])])


def state(seed: int) -> NDArray[np.uint64]:
    return np.array([seed], dtype=np.uint64)


def slow(particles: int, stream: NDArray[np.uint64], *, resampled: bool, weighted: bool) -> Floats:
    """Return the records with every count made anew from the topics, all terms written out."""
    alpha, out = TOPICS.alpha, np.empty((3, particles, len(WORDS)))

    def weights(z: list[int], word: int) -> Floats:
        return np.array([(alpha[k] + z.count(k)) * PHI[k, word] for k in range(3)])

    def draw(z: list[int], word: int) -> int:
        sums = np.cumsum(weights(z, word))
        return int(np.searchsorted(sums[:-1], uniform(stream) * sums[-1], side="right"))

    topics: list[list[int]] = [[] for _ in range(particles)]
    for last, word in enumerate(WORDS):
        for r, z in enumerate(topics):
            out[BEFORE_RESAMPLING, r, last] = weights(z, word).sum() / (alpha.sum() + last)
            for position in range(last if resampled else 0):
                z[position] = draw(z[:position] + z[position + 1 :], WORDS[position])
            out[BEFORE_DRAW, r, last] = weights(z, word).sum() / (alpha.sum() + last)
        if weighted:
            # particle i + 1 is where the cumulated records pass the i-th of evenly spaced points
            reached = np.cumsum(out[BEFORE_DRAW, :, last])
            points = (uniform(stream) + np.arange(particles)) * reached[-1] / particles
            topics = [list(topics[min(int((reached <= point).sum()), particles - 1)]) for point in points]
        for r, z in enumerate(topics):
            z.append(draw(z, word))
            out[AFTER_DRAW, r, last] = weights(z, word).sum() / (alpha.sum() + last + 1)
    return out


@pytest.mark.parametrize(("resampled", "weighted"), [(True, False), (False, False), (True, True)])
def test_records_are_those_of_a_slow_twin(resampled: bool, weighted: bool) -> None:
    phi = np.ascontiguousarray(PHI.T)
    fast = records(WORDS, phi, TOPICS.alpha, 7, state(5), resampled=resampled, weighted=weighted)
    assert fast == pytest.approx(slow(7, state(5), resampled=resampled, weighted=weighted), rel=1e-12)


def test_the_filter_is_unbiased_where_particles_without_weights_are_not() -> None:
    # 4,000 estimates of p by 3 particles: the mean is within 4.4 standard errors, a false-alarm rate of 1e-5; without
    # the weights as many are enough to see that it is low
    exact = math.exp(exact_marginal(TOPICS, DOCUMENTS.subset([0])).log_likelihood[0])
    phi, stream = np.ascontiguousarray(PHI.T), state(1)

    def error(*, weighted: bool) -> float:
        estimates = [
            records(WORDS, phi, TOPICS.alpha, 3, stream, weighted=weighted)[BEFORE_DRAW].mean(axis=0).prod()
            for _ in range(4000)
        ]
        return float((np.mean(estimates) / exact - 1.0) / (np.std(estimates) / exact / math.sqrt(4000)))

    assert abs(error(weighted=True)) < 4.4
    assert error(weighted=False) < -4.4


def test_weighted_estimate_of_documents() -> None:
    # the mean of 400 runs, normal bound with a false-alarm rate of 1e-5 (4.4 errors); one word is exact
    exact = exact_marginal(TOPICS, DOCUMENTS).log_likelihood
    evaluation = particle_filter(TOPICS, DOCUMENTS, 4, 400, np.random.default_rng(0))
    assert (np.abs(evaluation.log_likelihood - exact)[:2] < 4.4 * evaluation.standard_error[:2]).all()
    assert evaluation.log_likelihood[2] == pytest.approx(exact[2], rel=1e-12)
    assert 0.0 < evaluation.standard_error[0] < 0.1
    unknown = Corpus.from_documents("other", [("x", ["a", "e"]), ("y", ["e"])])
    assert particle_filter(TOPICS, unknown, 4, 2, np.random.default_rng(0)).tokens_left_out == 2
