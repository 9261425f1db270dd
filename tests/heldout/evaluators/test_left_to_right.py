"""The left-to-right family: its kernels against slow twins, its estimates, errors and laws against the exact value."""

import functools
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from test_exact_marginal import corpus, words

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import left_to_right_kernel as kernel
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.left_to_right import particle_error
from heldout.evaluators.left_to_right_sequential import sweep_error
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats

FAMILY = ["left-to-right", "left-to-right-unresampled", "left-to-right-sequential"]
DEVIATIONS = 4.5  # two-sided false-alarm rate 7e-6
ROUNDING = 1e-11  # nats, where there is no sampling error


PATHS = {"plain": (10**9, 0), "listed": (0, 10**9), "unlisted": (0, 0), "either": (0, 5)}  # PLAIN, MOST


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let every branch of the kernels do the work, whatever the number of topics."""
    take(monkeypatch, request.param)
    return str(request.param)


def take(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(kernel, "PLAIN", PATHS[name][0])
    monkeypatch.setattr(kernel, "WORDS", 10**9)
    monkeypatch.setattr(kernel, "MOST", PATHS[name][1])


def random_topics(rng: np.random.Generator, K: int, V: int, concentration: float = 0.3, alpha: float = 0.3) -> Topics:
    phi = rng.dirichlet(np.full(V, concentration), size=K)
    return Topics(phi / phi.sum(axis=1, keepdims=True), alpha * (0.5 + rng.random(K)), words(V))


def floored_topics(rng: np.random.Generator, K: int, V: int, constant: float, alpha: float = 0.3) -> Topics:
    """Return topics with few words each: exact zeros, or a floor once smoothed."""
    phi = rng.dirichlet(np.ones(V), size=K) * (rng.random((K, V)) < 0.4)
    phi[:, 0] += 0.05
    sparse = Topics(phi / phi.sum(axis=1, keepdims=True), alpha * (0.5 + rng.random(K)), words(V))
    return sparse.smoothed(constant) if constant else sparse


def drawn(rng: np.random.Generator, topics: Topics, lengths: list[int]) -> Corpus:
    documents = []
    for length in lengths:
        theta = rng.dirichlet(topics.alpha)
        documents.append(rng.choice(len(topics.vocabulary), size=length, p=theta @ topics.phi).tolist())
    return corpus(len(topics.vocabulary), *documents)


def twin(topics: Topics, document: list[int], particles: int, sweeps: int, draw: Callable[[Floats], int]) -> Floats:
    """Return all records of a document: every topic summed, counts taken anew for every draw.

    draw: returns a topic, given the running sums of the topics' weights.
    """
    K, total_alpha, records = topics.n_topics, topics.alpha.sum(), []
    for _ in range(particles):
        z: list[int] = []

        def cumulative(position: int, z: list[int] = z) -> Floats:
            others = z[:position] + z[position + 1 :]
            counts = np.array([others.count(k) for k in range(K)], dtype=float)
            return np.cumsum((topics.alpha + counts) * topics.phi[:, document[position]])

        rows: list[list[float]] = [[] for _ in range(max(sweeps, 1))]
        for last in range(len(document)):
            for row in rows:
                for position in range(last if sweeps else 0):
                    z[position] = draw(cumulative(position))
                row.append(cumulative(last)[-1] / (total_alpha + last))
            z.append(draw(cumulative(last)))
        records.extend(rows)
    return np.array(records)


def drawing(state: NDArray[np.uint64]) -> Callable[[Floats], int]:
    return lambda sums: int(np.searchsorted(sums, uniform(state) * sums[-1], side="right"))


@pytest.mark.parametrize(("particles", "sweeps"), [(3, 1), (3, 0), (1, 4)])
def test_the_plain_kernel_is_the_slow_twin(particles: int, sweeps: int) -> None:
    rng = np.random.default_rng(3)
    topics = random_topics(rng, 5, 8)
    documents = corpus(8, *(rng.integers(0, 8, n).tolist() for n in (9, 1, 6)))
    found: list[Floats] = []

    def keep(ratios: Floats) -> float:
        found.append(ratios)
        return 0.0

    evaluation, _ = kernel.sample(
        topics, documents, np.random.default_rng(1), particles=particles, sweeps=sweeps, error=keep
    )
    states = starts(np.random.default_rng(1), 3)
    for d in range(3):
        records = twin(topics, documents.document(d).tolist(), particles, sweeps, drawing(states[d]))
        means = records.mean(axis=0)
        np.testing.assert_array_equal(found[d], records / means)
        assert evaluation.log_likelihood[d] == np.log(means).sum()


@pytest.mark.parametrize("constant", [0.0, 0.002])
@pytest.mark.parametrize("name", FAMILY)
def test_the_sparse_kernel_has_the_plain_kernels_distribution(
    name: str, constant: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # documents shorter and longer than K, words that exceed the floor in fewer and in more than 5 topics
    rng = np.random.default_rng(21)
    topics = floored_topics(rng, 12, 9, constant, alpha=0.4)
    documents = drawn(rng, topics, [16, 5, 3])
    found = {}
    for number, branch in enumerate(PATHS):
        take(monkeypatch, branch)
        found[branch] = estimate(name, topics, documents, 6000, np.random.default_rng(number))
    plain = found.pop("plain")
    for evaluation in found.values():
        error = np.hypot(evaluation.standard_error, plain.standard_error)
        assert np.all(error < 0.1)
        difference = np.abs(evaluation.log_likelihood - plain.log_likelihood)
        assert np.all(difference < DEVIATIONS * error + ROUNDING)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("constant", [None, 0.0, 1e-3])
def test_sequential_meets_the_exact_value_within_its_error(K: int, constant: float | None) -> None:
    rng = np.random.default_rng(K)
    topics = random_topics(rng, K, 12) if constant is None else floored_topics(rng, K, 12, constant)
    documents = drawn(rng, topics, [2, 5, 12, 30])
    exact = exact_marginal(topics, documents).log_likelihood
    found = estimate("left-to-right-sequential", topics, documents, 5000, np.random.default_rng(7))
    assert np.all(found.standard_error < 0.1)
    if K == 1:
        np.testing.assert_allclose(found.log_likelihood, exact, rtol=1e-12)
        np.testing.assert_allclose(found.standard_error, 0.0, atol=1e-10)
    else:
        assert np.all(np.abs(found.log_likelihood - exact) < DEVIATIONS * found.standard_error + ROUNDING)


def test_the_records_have_not_seen_the_word(path: str) -> None:
    """With samples that had, the estimate would come out well above the exact value: by how much, is known here."""
    del path
    topics = Topics(np.array([[0.9, 0.1], [0.1, 0.9]]), np.full(2, 0.1), words(2))
    documents = corpus(2, [0, 1, 0, 1])
    exact = exact_marginal(topics, documents).log_likelihood[0]
    found = estimate("left-to-right-sequential", topics, documents, 40_000, np.random.default_rng(2))
    seen = 0.0  # the wrong reading at its limit, from all assignments of the tokens so far
    document = [0, 1, 0, 1]
    for last in range(4):
        weights, records = [], []
        for code in range(2 ** (last + 1)):
            z = [code >> i & 1 for i in range(last + 1)]
            p = math.prod(topics.phi[k, w] for k, w in zip(z, document, strict=False))
            p *= math.prod(math.gamma(0.1 + z.count(k)) for k in (0, 1))
            weights.append(p)
            records.append(
                sum((0.1 + z[:last].count(k)) * topics.phi[k, document[last]] for k in (0, 1)) / (0.2 + last)
            )
        seen += math.log(np.average(records, weights=weights))
    assert abs(found.log_likelihood[0] - exact) < DEVIATIONS * found.standard_error[0]
    assert seen - exact > 20 * found.standard_error[0]


SKEWED = Topics(np.array([[0.9, 0.1], [0.2, 0.8]]), np.full(2, 0.1), words(2))
EVERY = [list(document) for document in itertools.product(range(2), repeat=3)]


def courses(topics: Topics, document: list[int], sweeps: int) -> tuple[Floats, Floats]:
    """Return the probability of every course that a particle can take, and each token's mean record on it."""
    probabilities, records = [], []
    draws = sum(sweeps * last + 1 for last in range(len(document)))
    for drawn_topics in itertools.product(range(topics.n_topics), repeat=draws - 1):
        follow = iter((*drawn_topics, 0))  # no record depends on the very last
        factors: list[float] = []

        def draw(sums: Floats, follow: Iterator[int] = follow, factors: list[float] = factors) -> int:
            k = next(follow)
            factors.append(np.diff(sums, prepend=0.0)[k] / sums[-1])
            return k

        records.append(twin(topics, document, 1, sweeps, draw).mean(axis=0))
        probabilities.append(math.prod(factors[:-1]))
    return np.array(probabilities), np.array(records)


@functools.cache
def laws(sweeps: int) -> list[tuple[Floats, Floats]]:
    return [courses(SKEWED, document, sweeps) for document in EVERY]


@functools.cache
def probabilities_of_every() -> Floats:
    return np.exp(exact_marginal(SKEWED, corpus(2, *EVERY)).log_likelihood)


def limits(sweeps: int) -> Floats:
    """Return what the estimate of every document converges to as particles grow."""
    return np.array([(p @ records).prod() for p, records in laws(sweeps)])


@pytest.mark.parametrize("sweeps", [0, 1])
def test_the_expected_estimate_of_particles_is_a_distribution_but_of_one_particle_not_the_models(sweeps: int) -> None:
    """By enumeration of all documents and all courses: no sampling."""
    p = probabilities_of_every()
    one = np.array([chance @ records.prod(axis=1) for chance, records in laws(sweeps)])
    two = np.array(
        [chance @ ((records[:, None] + records[None]) / 2.0).prod(axis=2) @ chance for chance, records in laws(sweeps)]
    )
    limit = limits(sweeps)
    np.testing.assert_allclose(one, p, rtol=1e-12)
    for q in (two, limit):
        assert q.sum() == pytest.approx(1.0, abs=1e-12)
        assert p @ np.log(q / p) < -5e-4  # low on average over documents drawn from the model
        assert np.log(q / p).max() > 0.05  # and not on each
        assert np.log(q / p).min() < -0.05
    assert p @ np.log(limit / two) < 0.0  # more particles are further off
    one_second = [document.count(1) == 1 for document in EVERY]
    np.testing.assert_allclose(p[one_second], p[one_second][0], rtol=1e-12)
    assert np.all(np.abs(np.diff(np.log(limit[one_second]))) > 0.01)  # and the words' order matters


def test_the_expected_estimate_of_the_sequential_sampler_is_a_distribution_too() -> None:
    q = np.array([chance @ records.prod(axis=1) for chance, records in laws(2)])
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    assert -1e-3 < probabilities_of_every() @ np.log(q / probabilities_of_every()) < -1e-6


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("name", "sweeps"), [("left-to-right", 1), ("left-to-right-unresampled", 0)])
def test_particles_converge_to_another_distribution_above_or_below(name: str, sweeps: int) -> None:
    found = estimate(name, SKEWED, corpus(2, *EVERY), 20_000, np.random.default_rng(5))
    assert np.all(np.abs(found.log_likelihood - np.log(limits(sweeps))) < DEVIATIONS * found.standard_error)
    above = (found.log_likelihood - np.log(probabilities_of_every())) / found.standard_error
    assert above.max() > 10.0
    assert above.min() < -10.0


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", FAMILY)
def test_one_token_is_exact_and_two_are_met_without_bias(name: str) -> None:
    rng = np.random.default_rng(9)
    topics = floored_topics(rng, 7, 6, 1e-3)
    documents = corpus(6, [3], [0, 4], [0, 0])
    exact = exact_marginal(topics, documents).log_likelihood
    found = estimate(name, topics, documents, 20_000, np.random.default_rng(4))
    assert found.log_likelihood[0] == pytest.approx(exact[0], rel=1e-13)
    assert found.standard_error[0] == pytest.approx(0.0, abs=1e-13)
    assert np.all(found.standard_error[1:] < 0.02)
    assert np.all(np.abs(found.log_likelihood - exact)[1:] < DEVIATIONS * found.standard_error[1:] + ROUNDING)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", FAMILY)
def test_a_documents_estimate_is_its_own(name: str) -> None:
    """What other documents hold does not matter, nor what the vocabulary's indices are."""
    rng = np.random.default_rng(11)
    topics = floored_topics(rng, 9, 7, 1e-4)
    first, second = [6, 2, 2, 5, 6, 6], [0, 1, 2, 3]
    alone = estimate(name, topics, corpus(7, first), 20, np.random.default_rng(1)).log_likelihood
    both = estimate(name, topics, corpus(7, first, second), 20, np.random.default_rng(1)).log_likelihood
    assert both[0] == alone[0]
    order = rng.permutation(7)
    renamed = Topics(np.ascontiguousarray(topics.phi[:, order]), topics.alpha, topics.vocabulary)
    index = np.argsort(order)
    moved = estimate(name, renamed, corpus(7, [int(index[w]) for w in first]), 20, np.random.default_rng(1))
    assert moved.log_likelihood[0] == alone[0]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", FAMILY)
def test_how_many_documents_go_side_by_side_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # of different lengths, so that some end early; more distinct words than a block of columns has
    rng = np.random.default_rng(12)
    topics = floored_topics(rng, 9, 40, 1e-4)
    documents = drawn(rng, topics, [5, 30, 1, 60, 30, 17, 2, 45, 8, 31, 16])
    found = []
    for documents_at_once, values in ((1, 10**9), (3, 10**9), (8, 10**9), (64, 10**9), (8, 9 * 48 * 2), (8, 0)):
        monkeypatch.setattr(kernel, "SIDE_BY_SIDE", documents_at_once)
        monkeypatch.setattr(kernel, "TOGETHER", values)
        found.append(estimate(name, topics, documents, 20, np.random.default_rng(1)))
    for evaluation in found[1:]:
        np.testing.assert_array_equal(evaluation.log_likelihood, found[0].log_likelihood)
        np.testing.assert_array_equal(evaluation.standard_error, found[0].standard_error)


@pytest.mark.parametrize("name", FAMILY)
def test_one_sample_has_no_error_and_none_is_refused(name: str) -> None:
    topics = random_topics(np.random.default_rng(1), 3, 4)
    found = estimate(name, topics, corpus(4, [0, 1, 2]), 1, np.random.default_rng(1))
    assert np.isfinite(found.log_likelihood[0])
    assert np.isnan(found.standard_error[0])
    with pytest.raises(InputError, match=r"left-to-right.*0 samples"):
        estimate(name, topics, corpus(4, [0]), 0, np.random.default_rng(1))


@pytest.mark.parametrize(("name", "samples"), [(n, s) for n in FAMILY for s in (20, 200)])
def test_the_error_is_the_spread_of_repeated_runs(name: str, samples: int) -> None:
    rng = np.random.default_rng(13)
    topics = random_topics(rng, 4, 30, alpha=0.5)
    document = drawn(rng, topics, [25]).document(0).tolist()
    runs = estimate(name, topics, corpus(30, *[document] * 400), samples, np.random.default_rng(6))
    spread = runs.log_likelihood.std(ddof=1)
    stated = math.sqrt((runs.standard_error**2).mean())
    assert 0.75 < stated / spread < 1.25  # 400 runs: the ratio's own deviation is 0.035


def test_particle_error_takes_the_dependence_between_tokens() -> None:
    ratios = np.array([[1.2, 1.2], [0.8, 0.8]])
    assert particle_error(ratios) == pytest.approx(0.4, rel=1e-12)  # influences 0.4 and -0.4
    assert particle_error(np.array([[1.2, 0.8], [0.8, 1.2]])) == pytest.approx(0.0, abs=1e-12)


def test_sweep_error_is_that_of_batch_means() -> None:
    series = 1.0 + np.repeat([0.1, -0.1], 8)[:, None] * np.ones((1, 3))  # 16 sweeps: 2 batches
    assert sweep_error(series) == pytest.approx(math.sqrt(3 * 0.02 / 2), rel=1e-12)


@pytest.mark.parametrize("R", [2, 5, 17, 43])
def test_the_stated_errors_have_one_degree_of_freedom_less_than_samples(R: int) -> None:
    ratios = np.random.default_rng(R).gamma(9.0, 1.0 / 9.0, (R, 4))
    influence = (ratios - 1.0).sum(axis=1)
    expected = math.sqrt(float(np.sum((influence - influence.mean()) ** 2)) / (R - 1) / R)
    assert particle_error(ratios) == pytest.approx(expected, rel=1e-12)
    batches = max(2, int(math.sqrt(R)) // 2)
    size = R // batches
    means = np.array([ratios[R - size * (b + 1) : R - size * b].mean(axis=0) for b in range(batches)])
    variance = float(np.sum((means - means.mean(axis=0)) ** 2)) / (batches - 1) / batches
    assert sweep_error(ratios) == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("few", ["topics in a document", "topics of a word"])
def test_work_does_not_grow_with_topics(few: str) -> None:
    """Steps per draw: a small alpha leaves few topics in use; at a large one, a word exceeds the floor in 4 topics."""
    V, work = 60, []
    for K in (100, 400, 1600):
        rng = np.random.default_rng(8)
        phi = rng.dirichlet(np.ones(V), size=K)
        if few == "topics of a word":
            phi *= np.arange(V) % (K // 4) == np.arange(K)[:, None] % (K // 4)
            phi[:, 0] += 1e-3
        alpha = np.full(K, 2.0 / K if few == "topics in a document" else 1.0)
        topics = Topics(phi / phi.sum(axis=1, keepdims=True), alpha, words(V)).smoothed(1e-5)
        documents = corpus(V, *(rng.integers(1, V // 4, 60).tolist() for _ in range(3)))
        random = np.random.default_rng(1)
        _, steps = kernel.sample(topics, documents, random, particles=1, sweeps=20, error=lambda _: 0.0)
        work.append(steps / (20 * 3 * 60 * 59 / 2))
    assert work[0] < 30.0
    assert work[2] < 1.6 * work[0]  # 16 times the topics
