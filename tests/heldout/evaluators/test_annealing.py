"""Annealing, Chib-style estimates and bounds from both sides, against the sum over all assignments.

False alarms: a statistical assertion fails by chance once in about 1e5 runs, and the seeds are fixed.
"""

import itertools
import math

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.annealed_importance import annealed_importance, log_weights, schedule, sweep
from heldout.evaluators.bidirectional import bidirectional, simulate
from heldout.evaluators.chib import chib
from heldout.evaluators.evaluation import kernel_arrays
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics
from heldout.typing import Floats

DEVIATIONS = 4.42  # two-sided, 1e-5
NOWHERE = np.empty(0, np.int64)
TOPICS = Topics(
    np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.15, 0.85, 0.0], [0.6, 0.0, 0.4, 0.0]]),
    np.array([0.3, 1.2, 0.7]),
    ("a", "b", "c", "never"),
)


def corpus(*documents: list[int]) -> Corpus:
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    tokens = np.array([w for document in documents for w in document], dtype=np.int32)
    return Corpus("made-up", TOPICS.vocabulary, tokens, offsets, tuple(f"d{i}" for i in range(len(documents))))


def gibbs_matrix(
    document: list[int], power: float, *, backward: bool, topics: Topics = TOPICS
) -> tuple[Floats, Floats, list[tuple[int, ...]]]:
    """Return the sweep's transition matrix, the target, and the states, by enumeration; the kernel is not used."""
    alpha, K = topics.alpha, topics.n_topics
    states = list(itertools.product(range(K), repeat=len(document)))
    joint = np.empty(len(states))
    for i, z in enumerate(states):
        prior = sum(math.lgamma(alpha[k] + z.count(k)) for k in range(K))
        phi = [topics.phi[k, w] for k, w in zip(z, document, strict=True)]
        joint[i] = math.exp(prior) * math.prod(p**power for p in phi) * all(p > 0.0 for p in phi)
    total = np.eye(len(states))
    order = range(len(document))
    for token in reversed(order) if backward else order:
        single = np.zeros_like(total)
        for i, z in enumerate(states):
            for j, new in enumerate(states):
                if all(z[t] == new[t] for t in order if t != token):
                    single[i, j] = joint[j]
        rows = single.sum(axis=1, keepdims=True)
        total = total @ np.divide(single, rows, out=np.zeros_like(single), where=rows > 0.0)
    return total, joint / joint.sum(), states


def kernel_matrix(document: list[int], power: float, *, backward: bool, support: Floats) -> Floats:
    """Return the transition probabilities that `sweep` gives itself when told where to go."""
    states = list(itertools.product(range(3), repeat=len(document)))
    table = np.where(TOPICS.phi.T > 0.0, TOPICS.phi.T**power, 0.0)
    matrix = np.zeros((len(states), len(states)))
    for i in np.flatnonzero(support):
        for j in np.flatnonzero(support):
            z, target = np.array(states[i], np.int64), np.array(states[j], np.int64)
            counts = np.bincount(z, minlength=3).astype(float)
            rows = np.array(document, np.int64)
            move = (rows, z, counts, np.ascontiguousarray(table), TOPICS.alpha, target, backward)
            matrix[i, j] = math.exp(sweep(*move, np.empty(3), np.zeros(1, np.uint64)))
            assert z.tolist() == target.tolist()
            assert counts.tolist() == np.bincount(target, minlength=3).tolist()
    return matrix


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_sweeps_are_the_enumerated_operators_and_each_reverses_the_other(power: float) -> None:
    document = [0, 2, 1]
    forward, target, _ = gibbs_matrix(document, power, backward=False)
    backward, _, _ = gibbs_matrix(document, power, backward=True)
    on = target > 0.0
    for expected, way in ((forward, False), (backward, True)):
        found = kernel_matrix(document, power, backward=way, support=target)
        np.testing.assert_allclose(found[np.ix_(on, on)], expected[np.ix_(on, on)], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(target[:, None] * forward, (target[:, None] * backward).T, rtol=1e-12, atol=1e-16)
    # a sweep is not its own reverse, so that the line above does not hold for any two sweeps
    assert np.abs(target[:, None] * forward - (target[:, None] * forward).T).max() > 1e-3


@pytest.mark.parametrize("backward", [False, True])
def test_a_drawn_sweep_has_the_probabilities_of_the_enumeration(backward: bool) -> None:
    document, draws = [0, 2, 1], 20_000
    matrix, target, states = gibbs_matrix(document, 1.0, backward=backward)
    start = states[int(target.argmax())]
    seen, state, index = np.zeros(len(states)), np.array([12345], np.uint64), {z: i for i, z in enumerate(states)}
    table = np.ascontiguousarray(TOPICS.phi.T)
    for _ in range(draws):
        z = np.array(start, np.int64)
        counts = np.bincount(z, minlength=3).astype(float)
        log_p = sweep(
            np.array(document, np.int64), z, counts, table, TOPICS.alpha, NOWHERE, backward, np.empty(3), state
        )
        i = index[tuple(z.tolist())]
        seen[i] += 1
        assert log_p == pytest.approx(math.log(matrix[index[start], i]), rel=1e-12)
    expected = draws * matrix[index[start]]
    some = expected > 0.0
    assert not seen[~some].any()
    # chi-square's mean plus enough deviations for 1e-5 at these degrees of freedom (Laurent and Massart, 2000)
    statistic = float(np.sum((seen[some] - expected[some]) ** 2 / expected[some]))
    freedom, chance = int(some.sum()) - 1, math.log(1e5)
    assert statistic < freedom + 2.0 * math.sqrt(freedom * chance) + 2.0 * chance


def assert_unbiased(log_estimates: Floats, log_truth: float) -> None:
    ratios = np.exp(log_estimates - log_truth)
    assert abs(ratios.mean() - 1.0) < DEVIATIONS * ratios.std(ddof=1) / math.sqrt(len(ratios))
    assert ratios.std() > 0.0


@pytest.mark.parametrize("temperatures", [1, 2, 7])
def test_annealing_is_unbiased_as_a_probability_at_any_number_of_temperatures(temperatures: int) -> None:
    document = [0, 1, 2, 2, 0]  # words that some topics never give
    exact = float(exact_marginal(TOPICS, corpus(document)).log_likelihood[0])
    arrays = kernel_arrays(TOPICS, corpus(document))
    weights = log_weights(arrays, np.random.default_rng(temperatures), chains=20_000, temperatures=temperatures)
    assert_unbiased(weights[0], exact)


@pytest.mark.parametrize("samples", [1, 2, 5])
def test_chib_is_unbiased_as_a_probability_at_any_number_of_samples(samples: int) -> None:
    documents = corpus([0, 2], [0, 1, 2, 2, 0, 1])
    exact = exact_marginal(TOPICS, documents).log_likelihood
    for d, truth in enumerate(exact):
        alone, rng = documents.subset([d]), np.random.default_rng(samples)
        copies = alone.with_streams([alone.document(0)] * 20_000, tuple(str(i) for i in range(20_000)))
        assert_unbiased(chib(TOPICS, copies, samples, rng, runs=1).log_likelihood, truth)


def test_chib_with_one_sample_takes_the_enumerated_values_at_their_rates() -> None:
    document, copies = [0, 2], 20_000
    forward, target, states = gibbs_matrix(document, 1.0, backward=False)
    backward, _, _ = gibbs_matrix(document, 1.0, backward=True)
    exact = float(exact_marginal(TOPICS, corpus(document)).log_likelihood[0])
    # one state alone cannot be raised by changing one token; it is where every run's z* ends
    tops = [
        i
        for i, z in enumerate(states)
        if all(
            target[i] >= target[j] for j, y in enumerate(states) if sum(a != b for a, b in zip(z, y, strict=True)) == 1
        )
    ]
    assert len(tops) == 1
    star = tops[0]
    support = np.flatnonzero(backward[star] > 0.0)
    values = exact + np.log(target[star]) - np.log(forward[support, star])
    rates = backward[star, support]
    assert np.sum(rates * np.exp(values - exact)) == pytest.approx(1.0, rel=1e-12)

    many = corpus(*([document] * copies))
    found = chib(TOPICS, many, 1, np.random.default_rng(8), runs=1).log_likelihood
    nearest = np.abs(found[:, None] - values).min(axis=1)
    assert nearest.max() < 1e-12
    mean = float(np.sum(rates * values))
    deviation = math.sqrt(float(np.sum(rates * (values - mean) ** 2)))
    assert abs(found.mean() - mean) < DEVIATIONS * deviation / math.sqrt(copies)


def test_chibs_chain_runs_both_ways_from_the_state_next_to_the_top() -> None:
    """Three samples, enumerated, against chains with a wrong backward half: by the score that tells them best apart."""
    phi = np.array([[0.19, 0.01, 0.8, 0.0], [0.39, 0.43, 0.18, 0.0]])  # forward and reversed sweeps differ here
    topics, document, copies = Topics(phi, np.array([0.12, 0.07]), TOPICS.vocabulary), [1, 0, 2], 40_000
    S, target, _ = gibbs_matrix(document, 1.0, backward=False, topics=topics)
    B, _, _ = gibbs_matrix(document, 1.0, backward=True, topics=topics)
    star = int(target.argmax())  # the only state that no change of one token raises
    exact = float(exact_marginal(topics, corpus(document)).log_likelihood[0])
    terms = S[:, star]  # of the states drawn first (a, from z*), second (b) and third (c)
    values = exact + math.log(target[star]) - np.log((terms[:, None, None] + terms[:, None] + terms) / 3.0)
    first, after, both = B[star][:, None, None] / 3.0, S[:, :, None] * S, B[:, :, None] * B
    right = first * (after + S[:, :, None] * B[:, None] + both)  # a comes first, second, last in the chain
    forwards = first * (after + S[:, :, None] * S[:, None] + after)
    from_the_end = first * (after + S[:, :, None] * B + both)

    distinct, group = np.unique(values.round(9), return_inverse=True)
    found = chib(topics, corpus(*([document] * copies)), 3, np.random.default_rng(8), runs=1).log_likelihood
    nearest = np.abs(found[:, None] - distinct).argmin(axis=1)
    np.testing.assert_allclose(found, distinct[nearest], atol=1e-8)
    expected = np.bincount(group.ravel(), right.ravel())
    assert expected.sum() == pytest.approx(1.0, rel=1e-12)
    for wrong in (forwards, from_the_end):
        score = np.bincount(group.ravel(), wrong.ravel()) / expected - 1.0  # mean 0 under `expected`
        deviation = math.sqrt(float(expected @ score**2) / copies)
        assert float(np.bincount(group.ravel(), wrong.ravel()) @ score) > 2.0 * DEVIATIONS * deviation  # would be seen
        assert abs(score[nearest].mean()) < DEVIATIONS * deviation


def test_chib_scores_every_place_of_the_chain() -> None:
    """The mean over the chain converges: with many samples one run is close, and no place is left unset."""
    documents = corpus([0, 1, 2, 2, 0, 1, 1, 2])
    exact = float(exact_marginal(TOPICS, documents).log_likelihood[0])
    found = chib(TOPICS, documents, 20_000, np.random.default_rng(3), runs=5)
    assert found.standard_error[0] < 0.02
    assert abs(found.log_likelihood[0] - exact) < 0.1


def random_topics(K: int, V: int, alpha: float) -> Topics:
    phi = np.random.default_rng(K).dirichlet(np.full(V, 0.5), size=K)
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.full(K, alpha), tuple(f"w{v}" for v in range(V)))


def test_bounds_enclose_the_exact_value_and_close() -> None:
    topics = random_topics(4, 50, 0.5)
    documents, z = simulate(topics, np.full(300, 20), np.random.default_rng(1))
    exact = exact_marginal(topics, documents).log_likelihood
    gaps = []
    for temperatures in (3, 30, 300):
        rng = np.random.default_rng(temperatures)
        lower, upper = bidirectional(topics, documents, 1, rng, assignments=z, temperatures=temperatures)
        if temperatures == 300:  # both weights, forward over p(w) and p(w) over backward, have the mean 1
            assert_unbiased(lower.log_likelihood - exact, 0.0)
            assert_unbiased(exact - upper.log_likelihood, 0.0)
        # a mean over documents is low or high up to its own error
        for below in (exact - lower.log_likelihood, upper.log_likelihood - exact):
            assert below.mean() > -DEVIATIONS * below.std(ddof=1) / math.sqrt(len(below))
        gaps.append(float((upper.log_likelihood - lower.log_likelihood).mean()))
        assert np.isnan(upper.standard_error).all()
    assert gaps[0] > 4.0 * gaps[1] > 0.0
    assert abs(gaps[2]) < 0.5


@pytest.mark.parametrize("temperatures", [1, 4])
def test_the_backward_weights_inverse_is_unbiased_where_topics_lack_words(temperatures: int) -> None:
    documents, z = simulate(TOPICS, np.full(20_000, 4), np.random.default_rng(9))
    exact = exact_marginal(TOPICS, documents).log_likelihood
    rng = np.random.default_rng(temperatures)
    _, upper = bidirectional(TOPICS, documents, 1, rng, assignments=z, temperatures=temperatures)
    assert_unbiased(exact - upper.log_likelihood, 0.0)


@pytest.mark.parametrize("estimator", [annealed_importance, chib])
def test_the_stated_error_is_the_error(estimator: type) -> None:
    topics = random_topics(3, 20, 1.0)
    documents, _ = simulate(topics, np.full(200, 12), np.random.default_rng(2))
    exact = exact_marginal(topics, documents).log_likelihood
    settings = {"temperatures": 300} if estimator is annealed_importance else {}
    found = estimator(topics, documents, 20, np.random.default_rng(3), **settings)
    z = (found.log_likelihood - exact) / found.standard_error
    # rms of 200 normal scores: 1 with a standard deviation of 0.05; ten or twenty runs estimate each error
    assert 0.7 < float(np.sqrt(np.mean(z**2))) < 1.7


def test_simulated_documents_follow_the_model() -> None:
    documents, z = simulate(TOPICS, np.array([30_000, 0, 2]), np.random.default_rng(5))
    assert documents.lengths.tolist() == [30_000, 0, 2]
    assert documents.vocabulary == TOPICS.vocabulary
    assert documents.synthetic
    first, topic = documents.document(0), z[:30_000]
    for k in np.unique(topic):
        here = first[topic == k]
        found = np.bincount(here, minlength=4) / len(here)
        error = np.sqrt(TOPICS.phi[k] * (1.0 - TOPICS.phi[k]) / len(here))
        assert np.all(np.abs(found - TOPICS.phi[k]) <= 4.9 * error)  # 1e-5 over 12 comparisons
    many, z = simulate(TOPICS, np.full(20_000, 1), np.random.default_rng(6))
    mean = TOPICS.alpha / TOPICS.alpha.sum()
    share = np.bincount(z, minlength=3) / len(z)
    assert np.all(np.abs(share - mean) < 4.7 * np.sqrt(mean * (1.0 - mean) / len(z)))
    assert np.all(TOPICS.phi[z, many.tokens] > 0.0)


def test_one_chain_or_run_states_no_error() -> None:
    documents, rng = corpus([0, 1], []), np.random.default_rng(0)
    for found in (annealed_importance(TOPICS, documents, 1, rng), chib(TOPICS, documents, 5, rng, runs=1)):
        assert math.isnan(found.standard_error[0])
        assert found.standard_error[1] == 0.0


def test_temperatures_run_from_prior_to_posterior() -> None:
    powers = schedule(50)
    assert (powers[0], powers[-1], len(powers)) == (0.0, 1.0, 51)
    np.testing.assert_allclose(powers, [(t / 50) * (t / 50) for t in range(51)], rtol=1e-15)


def test_refuses_what_cannot_be_sampled() -> None:
    documents, rng = corpus([0, 1]), np.random.default_rng(0)
    with pytest.raises(InputError, match="0 samples"):
        annealed_importance(TOPICS, documents, 0, rng)
    with pytest.raises(InputError, match="0 temperatures"):
        annealed_importance(TOPICS, documents, 1, rng, temperatures=0)
    with pytest.raises(InputError, match="0 samples"):
        chib(TOPICS, documents, 0, rng)
    with pytest.raises(InputError, match="0 runs"):
        chib(TOPICS, documents, 1, rng, runs=0)
    with pytest.raises(InputError, match="1 assignments"):
        bidirectional(TOPICS, documents, 1, rng, assignments=np.array([0]))
    for wrong in ([1, 0], [0, 3], [0, -1]):
        with pytest.raises(InputError, match="from its topic"):
            bidirectional(TOPICS, documents, 1, rng, assignments=np.array(wrong))
