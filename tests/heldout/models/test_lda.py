"""The Gibbs sampler against slow twins, enumeration, and Geweke's joint-distribution test.

Statistical tests have fixed seeds and a false-alarm rate of about 1e-5 each.
"""

import functools
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fold_with, train_with
from numpy.typing import NDArray
from scipy import stats
from scipy.special import digamma, gammaln

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import lda, lda_chains_kernel, lda_kernel, lda_sparse_kernel
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

Index = NDArray[np.int32]
F = np.float32
Sampler = Callable[[Index, NDArray[np.int64], int, int], lda_chains_kernel.Chains | lda_sparse_kernel.SparseChain]
FALSE_ALARM = 1e-5


def dense(tokens: Index, offsets: NDArray[np.int64], n_words: int, n_topics: int) -> lda_chains_kernel.Chains:
    """The sampler of one chain that goes over all topics, whatever K is."""
    return lda_chains_kernel.Chains(tokens, offsets, n_words, n_topics, 1)


def make_corpus(documents: list[list[int]], n_words: int) -> Corpus:
    lengths = [len(document) for document in documents]
    return Corpus(
        name="tiny",
        vocabulary=tuple(f"w{v}" for v in range(n_words)),
        tokens=np.array([w for document in documents for w in document], dtype=np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        documents=tuple(f"d{d}" for d in range(len(documents))),
    )


def random_corpus(lengths: list[int], n_words: int, seed: int) -> Corpus:
    random = np.random.default_rng(seed)
    return make_corpus([random.integers(0, n_words, length).tolist() for length in lengths], n_words)


class State:
    """The arrays that the kernels work on."""

    rows: NDArray[np.float32]

    def __init__(self, n_topics: int, n_words: int, n_tokens: int, alpha: Floats) -> None:
        self.rows = np.zeros((n_words, lda_kernel.padded_width(n_topics)), dtype=F)
        self.totals = np.zeros(n_topics, dtype=np.int64)
        self.assignments = np.full(n_tokens, -1, dtype=np.int32)
        self.alpha = np.zeros(self.rows.shape[1], dtype=F)
        self.alpha[:n_topics] = alpha

    def count(self, tokens: Index) -> None:
        """Make the counts those of the assignments."""
        self.rows[:] = 0.0
        np.add.at(self.rows, (tokens, self.assignments), F(1.0))
        self.totals[:] = np.bincount(self.assignments, minlength=len(self.totals))


def twin_draw(weights: NDArray[np.float32], old: int, uniform: np.float32, n_topics: int) -> int:
    """Choose a topic by inversion, summed in the kernels' order in float32; unless K is small the old one first."""
    possible = weights > 0.0
    kept = F(0.0)
    if old >= 0 and (n_topics > lda_kernel.SERIAL or n_topics > lda_kernel.NARROW):
        kept, weights[old] = weights[old], F(0.0)

    def inverse(parts: list[np.float32], x: np.float32) -> tuple[int, np.float32]:
        before, chosen = F(0.0), 0
        running = F(0.0)
        for i, part in enumerate(parts[:-1]):
            running = F(running + part)
            if x >= running:
                before, chosen = running, i + 1
        return chosen, F(x - before)

    if n_topics <= lda_kernel.NARROW:
        parts = weights.reshape(1 if n_topics <= lda_kernel.SERIAL else 2, -1)
        sums = np.zeros_like(parts)
        running = np.zeros(len(parts), dtype=F)
        for i in range(parts.shape[1]):
            running = running + parts[:, i]
            sums[:, i] = running
        x = F(uniform * F(kept + (running[0] if len(parts) == 1 else F(running[0] + running[1]))))
        if x < kept:
            return old
        part, x = inverse(list(running), F(x - kept))
        k = part * parts.shape[1]
        last = min(k + parts.shape[1], n_topics) - 1
        while k < last and sums.ravel()[k] <= x:
            k += 1
    else:
        blocks = weights.reshape(-1, 64)
        lane_sums = np.zeros_like(blocks)
        running = np.zeros(64, dtype=F)
        for i, block in enumerate(blocks):
            running = running + block if i else block
            lane_sums[i] = running
        lanes = lane_sums[-1]
        sixteen = (lanes[:16] + lanes[16:32]) + (lanes[32:48] + lanes[48:])
        four = (sixteen[:4] + sixteen[4:8]) + (sixteen[8:12] + sixteen[12:])
        x = F(uniform * F(kept + F(F(four[0] + four[1]) + F(four[2] + four[3]))))
        if x < kept:
            return old
        j, x = inverse(list(four), F(x - kept))
        i, x = inverse([sixteen[j + 4 * i] for i in range(4)], x)
        j += 4 * i
        i, x = inverse([lanes[j + 16 * i] for i in range(4)], x)
        j += 16 * i
        place = sum(int(lane_sums[i, j] <= x) for i in range((n_topics - 1 - j) // 64))
        k = min(j + 64 * place, n_topics - 1)
    while not possible[k]:
        k = (k - 1) % n_topics
    return k


def twin_fold_in(
    corpus: Corpus, rows: NDArray[np.float32], alpha: NDArray[np.float32], uniforms: NDArray[np.float32], n_topics: int
) -> Index:
    """Sweep in the obvious way: take the token out, recount everything, draw, put it back."""
    z = np.full(corpus.n_tokens, -1, dtype=np.int32)
    document_of = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    for uniform in uniforms:
        for i, word in enumerate(corpus.tokens):
            old, z[i] = int(z[i]), -1
            here = np.bincount(z[(document_of == document_of[i]) & (z >= 0)], minlength=rows.shape[1]).astype(F)
            weights = (here + alpha) * rows[word]
            weights[n_topics:] = 0.0
            z[i] = twin_draw(weights.astype(F), old, uniform[i], n_topics)
    return z


def twin_dense(corpus: Corpus, alpha: Floats, beta: float, uniforms: NDArray[np.float32]) -> Index:
    """Sweep as above in training, in float64: topics stand in the order 0, 8, 16, .., 1, 9, 17, .., 7, 15, 23, .."""
    z = np.full(corpus.n_tokens, -1, dtype=np.int32)
    document_of, K = np.repeat(np.arange(corpus.n_documents), corpus.lengths), len(alpha)
    order = np.concatenate([np.arange(lane, K, 8) for lane in range(8)])
    for uniform in uniforms.astype(float):
        for i, word in enumerate(corpus.tokens):
            z[i] = -1
            here = np.bincount(z[(document_of == document_of[i]) & (z >= 0)], minlength=K)
            of_word = np.bincount(z[(corpus.tokens == word) & (z >= 0)], minlength=K)
            totals = np.bincount(z[z >= 0], minlength=K)
            sums = np.cumsum(((here + alpha) * (of_word + beta) / (totals + corpus.n_words * beta))[order])
            z[i] = order[int((sums <= uniform[i] * sums[-1]).sum())]
    return z


def twin_sparse(corpus: Corpus, alpha: Floats, beta: float, uniforms: NDArray[np.float32]) -> Index:
    """Sweep as above where a word's topics come first, in the order in which it got them; the last fills a gap."""
    z = np.full(corpus.n_tokens, -1, dtype=np.int32)
    document_of, K = np.repeat(np.arange(corpus.n_documents), corpus.lengths), len(alpha)
    topics_of: dict[int, list[int]] = {}
    for uniform in uniforms.astype(float):
        for i, word in enumerate(corpus.tokens.tolist()):
            old, z[i] = int(z[i]), -1
            here = np.bincount(z[(document_of == document_of[i]) & (z >= 0)], minlength=K)
            a = (here + alpha) / (np.bincount(z[z >= 0], minlength=K) + corpus.n_words * beta)
            of_word = np.bincount(z[(corpus.tokens == word) & (z >= 0)], minlength=K)
            others = np.array([0.0 if k == old else a[k] for k in range(K)])
            topics = topics_of.setdefault(word, [])
            first = np.cumsum([of_word[k] * others[k] for k in topics])
            kept = a[old] * (of_word[old] + beta) if old >= 0 else 0.0
            known = first[-1] if len(topics) else 0.0
            x = uniform[i] * (kept + (known + beta * others.sum()))
            if x < kept:
                z[i] = old
                continue
            x -= kept
            if x < known:
                z[i] = topics[int((first <= x).sum())]
            else:
                z[i] = min(int((np.cumsum(others) <= (x - known) / beta).sum()), K - 1)
                if z[i] not in topics:
                    topics.append(int(z[i]))
            if old >= 0 and of_word[old] == 0:
                place, last = topics.index(old), topics.pop()
                if place < len(topics):
                    topics[place] = last
    return z


TOPICS = [1, 2, 3, 5, 32, 33, 47, 100, 101, 192, 200, 321]


@pytest.mark.parametrize("n_topics", [1, 2, 3, 33, 101, 321])
@pytest.mark.parametrize("beta", [0.1, 1e-4])
def test_many_topics_follow_their_twin_token_by_token(n_topics: int, beta: float) -> None:
    corpus = random_corpus([7, 0, 40, 1, 25], 9, seed=n_topics)
    random = np.random.default_rng(n_topics)
    alpha = random.uniform(0.01, 0.5, n_topics)
    uniforms = random.random((4, corpus.n_tokens), dtype=F)
    chain = lda_sparse_kernel.SparseChain(corpus.tokens, corpus.offsets, corpus.n_words, n_topics)
    for row in uniforms:
        chain.sweep([alpha], [beta], row[None])
    np.testing.assert_array_equal(chain.chain(0)[0], twin_sparse(corpus, alpha, beta, uniforms))


@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 9, 50, 64, 65, 100, 200])
@pytest.mark.parametrize("beta", [0.1, 1e-4])
def test_training_follows_the_twin_token_by_token(n_topics: int, beta: float) -> None:
    """Up to rounding: of 2,336 tokens in all, none draws within it of two topics' limit."""
    corpus = random_corpus([7, 0, 40, 1, 25], 9, seed=n_topics)
    random = np.random.default_rng(n_topics)
    alpha = random.uniform(0.01, 0.5, n_topics)
    uniforms = random.random((4, corpus.n_tokens), dtype=F)
    chain = dense(corpus.tokens, corpus.offsets, corpus.n_words, n_topics)
    for row in uniforms:
        chain.sweep([alpha], [beta], row[None])
    np.testing.assert_array_equal(chain.chain(0)[0], twin_dense(corpus, alpha, beta, uniforms))


@pytest.mark.parametrize("n_topics", TOPICS)
def test_fold_in_follows_the_twin_token_by_token(n_topics: int) -> None:
    corpus = random_corpus([7, 0, 40, 1, 25], 9, seed=n_topics)
    random = np.random.default_rng(n_topics)
    state = State(n_topics, corpus.n_words, corpus.n_tokens, random.uniform(0.01, 0.5, n_topics))
    phi = random.random((corpus.n_words, n_topics)) * (random.random((corpus.n_words, n_topics)) < 0.3)
    phi[:, -1] += 1e-3
    state.rows[:, :n_topics] = phi
    uniforms = random.random((4, corpus.n_tokens), dtype=F)
    before = state.rows.copy()
    lda_kernel.gibbs_sweeps(
        corpus.tokens, corpus.offsets, state.assignments, state.rows, state.alpha, uniforms, n_topics
    )
    expected = twin_fold_in(corpus, state.rows, state.alpha, uniforms, n_topics)
    np.testing.assert_array_equal(state.assignments, expected)
    np.testing.assert_array_equal(state.rows, before)


@pytest.mark.parametrize("n_topics", [101, 300])
def test_a_draw_among_lanes_stays_within_its_arrays(n_topics: int) -> None:
    """Compiled code does not check bounds; interpreted, it does."""
    draw: Any = lda_kernel._draw_lanes
    random, size = np.random.default_rng(n_topics), lda_kernel.padded_width(n_topics)
    for uniform in np.linspace(0.0, 0.999, 20, dtype=np.float32):
        a, row = random.random((2, size), np.float32)
        a[n_topics:] = row[n_topics:] = 0.0
        compiled, interpreted = np.zeros((2, size + 20), np.float32)
        drawn = draw.py_func(a, row, np.float32(1.0), interpreted, uniform, n_topics)
        assert drawn == draw(a, row, np.float32(1.0), compiled, uniform, n_topics)
        np.testing.assert_allclose(interpreted, compiled, rtol=1e-5)


@pytest.mark.parametrize("n_topics", [1, 2, 5, 7, 32, 33, 35, 100, 101, 130, 200, 257])
@pytest.mark.parametrize("uniform", [0.0, 0.3, 1.0 - 2.0**-24])
def test_a_topic_of_probability_zero_is_never_drawn(n_topics: int, uniform: float) -> None:
    """At both ends of the uniform numbers, wherever the only topics that can give the word stand."""
    for possible in {0, n_topics // 3, n_topics - 1}:
        state = State(n_topics, 1, 50, np.full(n_topics, 0.1))
        state.rows[0, possible] = 0.7
        state.rows[0, (possible * 7 + 3) % n_topics] = 1e-3
        tokens, offsets = np.zeros(50, np.int32), np.array([0, 50])
        uniforms = np.full((2, 50), uniform, dtype=F)
        lda_kernel.gibbs_sweeps(tokens, offsets, state.assignments, state.rows, state.alpha, uniforms, n_topics)
        assert np.all(state.rows[0, state.assignments] > 0.0)
        assert state.assignments.max() < n_topics


@pytest.mark.parametrize(("n_topics", "chains"), [(1, 2), (7, 3), (64, 5), (65, 2), (100, 3)])
def test_chains_in_turn_are_the_chains_alone(n_topics: int, chains: int) -> None:
    """Counts and assignments after every sweep, each chain with parameters of its own."""
    corpus = random_corpus([40, 0, 100, 60, 1, 99], 30, seed=n_topics)
    random = np.random.default_rng(n_topics)
    alphas = list(random.uniform(0.01, 0.5, (chains, n_topics)))
    arguments = corpus.tokens, corpus.offsets, corpus.n_words, n_topics
    together = lda_chains_kernel.Chains(*arguments, chains)
    alone = [dense(*arguments) for _ in range(chains)]
    for _ in range(4):
        uniforms = random.random((chains, corpus.n_tokens), dtype=F)
        betas = random.uniform(0.001, 0.5, chains).tolist()
        together.sweep(alphas, betas, uniforms)
        for c, chain in enumerate(alone):
            chain.sweep([alphas[c]], [betas[c]], uniforms[c : c + 1])
            for ours, theirs in zip(together.chain(c), chain.chain(0), strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("started", [0, 50])
def test_training_does_not_depend_on_how_many_chains_take_turns(started: int, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = random_corpus([30, 40, 25], 10, seed=5)
    start = np.random.default_rng(6).integers(0, 3, started).astype(np.int32)

    def fitted(together: int) -> list[LDA]:
        monkeypatch.setattr(lda, "TOGETHER", together)
        chains = [LDA(3, alpha=0.5, sweeps=12, optimise_every=2, random_state=c) for c in range(5)]
        lda.fit_chains(chains, corpus, start if started else None)
        return chains

    expected = fitted(100)
    for together in (1, 7):
        for ours, theirs in zip(fitted(together), expected, strict=True):
            np.testing.assert_array_equal(ours.components_, theirs.components_)
            np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
            np.testing.assert_array_equal(ours.log_likelihood_, theirs.log_likelihood_)


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(lambda lengths: sum(lengths) > 0),
    n_words=st.integers(1, 7),
    n_topics=st.sampled_from([1, 2, 4, 9, 130, 300]),
    seed=st.integers(0, 10**6),
)
def test_counts_match_the_assignments(lengths: list[int], n_words: int, n_topics: int, seed: int) -> None:
    corpus = random_corpus(lengths, n_words, seed)
    random = np.random.default_rng(seed)
    chain = lda.sampler_of(corpus.tokens, corpus.offsets, n_words, n_topics)
    for _ in range(3):
        for _ in range(2):
            uniforms = random.random((1, corpus.n_tokens), dtype=F)
            chain.sweep([np.full(n_topics, 0.3)], [0.1], uniforms)
        assignments, rows, totals = chain.chain(0)
        assert 0 <= assignments.min() <= assignments.max() < n_topics
        recounted = State(n_topics, n_words, corpus.n_tokens, np.full(n_topics, 0.3))
        recounted.assignments[:] = assignments
        recounted.count(corpus.tokens)
        np.testing.assert_array_equal(rows[:, :n_topics], recounted.rows[:, :n_topics])
        np.testing.assert_array_equal(totals, recounted.totals)
    model = LDA(n_topics, sweeps=2, random_state=seed).fit(corpus)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.document_topics_.sum(axis=1), 1.0, rtol=1e-12)


def log_joint(documents: list[list[int]], z: tuple[int, ...], alpha: Floats, beta: float, n_words: int) -> float:
    """Return log p(w, z) as a product of predictive probabilities, one token after the other."""
    total, i = 0.0, 0
    in_topic = np.zeros((len(alpha), n_words))
    for document in documents:
        here = np.zeros(len(alpha))
        for word in document:
            k = z[i]
            total += math.log((here[k] + alpha[k]) / (here.sum() + alpha.sum()))
            total += math.log((in_topic[k, word] + beta) / (in_topic[k].sum() + n_words * beta))
            here[k] += 1.0
            in_topic[k, word] += 1.0
            i += 1
    return total


@pytest.mark.parametrize("n_topics", [1, 3, 150])
def test_log_joint_is_the_product_of_the_predictive_probabilities(n_topics: int) -> None:
    corpus = random_corpus([5, 0, 9, 2], 4, seed=1)
    alpha = np.random.default_rng(2).uniform(0.1, 1.0, n_topics)
    model = LDA(n_topics, alpha=alpha, beta=0.3, sweeps=25, random_state=5).fit(corpus)
    documents = [corpus.document(d).tolist() for d in range(4)]
    expected = log_joint(documents, tuple(model.assignments_), alpha, 0.3, 4)
    assert model.log_likelihood_[-1] == pytest.approx(expected, rel=1e-12)
    assert model.sweeps_.tolist() == [0, 10, 20, 25]
    assert len(model.log_likelihood_) == 4


@pytest.fixture(params=["narrow", "wide"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Fold in with either kernel, whatever K is (the narrow one with its one running sum, K being small)."""
    monkeypatch.setattr(lda_kernel, "NARROW", 10**6 if request.param == "narrow" else 0)
    return str(request.param)


def p_value_of_counts(observed: NDArray[Any], probabilities: Floats) -> float:
    """Return the chi-square p-value, cells expected to hold fewer than 10 merged into one."""
    expected = probabilities * observed.sum()
    rare = expected < 10.0
    observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (observed, expected))
    keep = expected > 0.0
    return float(stats.chisquare(observed[keep], expected[keep] * (observed.sum() / expected.sum())).pvalue)


@pytest.mark.parametrize("sampler", [dense, lda_sparse_kernel.SparseChain])
@pytest.mark.parametrize("alpha", [np.array([0.5, 1.0, 1.5]), np.array([2.0, 0.7])])
def test_samples_have_the_exact_posterior(alpha: Floats, sampler: Sampler) -> None:
    """The assignments of five tokens, enumerated; samples 8 sweeps apart."""
    documents = [[0, 1, 0], [1, 2]]
    corpus, n_topics, beta = make_corpus(documents, 3), len(alpha), 0.8
    states = list(itertools.product(range(n_topics), repeat=5))
    weights = np.exp([log_joint(documents, z, alpha, beta, 3) for z in states])
    random = np.random.default_rng(11)
    chain = sampler(corpus.tokens, corpus.offsets, 3, n_topics)
    observed = np.zeros(len(states), dtype=int)
    place = n_topics ** np.arange(4, -1, -1)
    for _ in range(5000):
        for _ in range(8):
            chain.sweep([alpha], [beta], random.random((1, 5), dtype=F))
        observed[int(chain.chain(0)[0] @ place)] += 1
    assert p_value_of_counts(observed, weights / weights.sum()) > FALSE_ALARM


# Geweke (2004): simulate (w, z) from the model outright, and by turns z | w (the sampler) and w | z (the model). Both
# have the joint distribution p(w, z) if, and but for accidents only if, the sampler is right.

LENGTHS, N_WORDS, ALPHA, BETA = np.array([2, 4, 6]), 4, np.array([0.3, 0.7, 1.2]), 0.4
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
DOCUMENT_OF = np.repeat(np.arange(3), LENGTHS)
Sweep = Callable[[Index, Index, np.random.Generator], Index]


def words_given_assignments(z: Index, random: np.random.Generator) -> Index:
    phi = random.dirichlet(np.full(N_WORDS, BETA), len(ALPHA))
    chosen = (random.random(len(z))[:, None] >= np.cumsum(phi[z], axis=1)[:, :-1]).sum(axis=1)
    words: Index = chosen.astype(np.int32)
    return words


def statistics_of(w: Index, z: Index) -> list[float]:
    in_topic = np.bincount(z * N_WORDS + w, minlength=len(ALPHA) * N_WORDS).astype(float)
    in_document = np.bincount(DOCUMENT_OF * len(ALPHA) + z, minlength=3 * len(ALPHA)).astype(float)
    totals = np.bincount(z, minlength=len(ALPHA)).astype(float)
    return [
        totals[0],
        float(totals @ totals),
        float(in_topic @ in_topic),
        float(in_document @ in_document),
        float(in_topic.max()),
        float(np.sum(in_topic.reshape(len(ALPHA), N_WORDS)[:, 0] * totals)),
        float((in_document == 0.0).sum()),
        float((in_topic == 0.0).sum()),
    ]


@functools.cache
def simulated_outright(iterations: int, seed: int) -> tuple[Floats, Index, Mapping[str, Any]]:
    """Return the statistics of draws from the model, the last assignments, and the state of the random numbers then."""
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(iterations):
        z = np.concatenate(
            [random.choice(3, length, p=random.dirichlet(ALPHA)).astype(np.int32) for length in LENGTHS]
        ).astype(np.int32)
        drawn.append(statistics_of(words_given_assignments(z, random), z))
    return np.array(drawn), z, random.bit_generator.state


def geweke(sweep: Sweep, iterations: int, seed: int) -> float:
    """Return the smallest p-value over the statistics, times their number (Bonferroni).

    The successive simulator's errors are those of 60 batch means, which allows for autocorrelation; the t
    distribution with 59 degrees of freedom allows for the errors' own.
    """
    random = np.random.default_rng(seed)
    a, z, random.bit_generator.state = simulated_outright(iterations, seed)
    by_turns = []
    for _ in range(iterations):
        w = words_given_assignments(z, random)
        z = sweep(w, z, random)
        by_turns.append(statistics_of(w, z))
    b = np.array(by_turns[: iterations - iterations % 60]).reshape(60, -1, a.shape[1]).mean(axis=1)
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0, ddof=1) / len(b))
    t = np.abs(a.mean(axis=0) - b.mean(axis=0)) / error
    return float(2.0 * stats.t.sf(t, 59).min() * a.shape[1])


def sweep_of(sampler: Sampler) -> Sweep:
    def sweep(w: Index, z: Index, random: np.random.Generator) -> Index:
        chain = sampler(w, OFFSETS, N_WORDS, len(ALPHA))
        chain.start(z)
        chain.sweep([ALPHA], [BETA], random.random((1, len(w)), dtype=F))
        return chain.chain(0)[0]

    return sweep


@pytest.mark.parametrize("sampler", [dense, lda_sparse_kernel.SparseChain])
def test_the_sampler_has_the_joint_distribution(sampler: Sampler) -> None:
    assert geweke(sweep_of(sampler), iterations=6000, seed=1) > FALSE_ALARM


def test_the_joint_distribution_test_catches_a_wrong_normaliser() -> None:
    """beta instead of V beta in the denominator."""

    def sweep(w: Index, z: Index, random: np.random.Generator) -> Index:
        state = State(8, N_WORDS, len(w), np.zeros(8))
        state.assignments[:] = z
        state.count(w)
        totals = np.bincount(z, minlength=8)[None].astype(np.int32)
        alpha = np.pad(ALPHA, (0, 5))[None].astype(F)
        chains = state.assignments[None], state.rows[:, None], totals, alpha
        beta = np.array([BETA], dtype=F)
        lda_chains_kernel._sweep(w, OFFSETS, *chains, beta, beta, random.random((1, len(w)), dtype=F), len(ALPHA))
        return state.assignments

    assert geweke(sweep, iterations=6000, seed=1) < FALSE_ALARM


@pytest.mark.parametrize("taken_out_of_the_word", [True, False])
@pytest.mark.long
def test_the_joint_distribution_test_catches_a_token_left_in_its_words_count(taken_out_of_the_word: bool) -> None:
    """The sampler in plain Python, right and with the token's word count not decremented.

    A token left in every count at once is a far weaker error: it mostly makes the chain stay where it is, and twice
    the iterations do not show it. `test_training_follows_the_twin_token_by_token` sees it at once.
    """

    def sweep(w: Index, z: Index, random: np.random.Generator) -> Index:
        z = z.copy()
        in_topic, in_document = np.zeros((3, N_WORDS)), np.zeros((3, 3))
        np.add.at(in_topic, (z, w), 1.0)
        np.add.at(in_document, (DOCUMENT_OF, z), 1.0)
        for i in range(len(w)):
            d, word, one = DOCUMENT_OF[i], w[i], (np.arange(3) == z[i]).astype(float)
            out = one if taken_out_of_the_word else 0.0
            totals = in_topic.sum(axis=1)
            weights = (
                (in_document[d] - one + ALPHA) * (in_topic[:, word] - out + BETA) / (totals - out + N_WORDS * BETA)
            )
            cumulative = np.cumsum(weights)
            z[i] = int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))
            change = (np.arange(3) == z[i]) - one
            in_document[d] += change
            in_topic[:, word] += change
        return z

    assert (geweke(sweep, iterations=6_000, seed=2) > FALSE_ALARM) == taken_out_of_the_word


def fingerprint(n_topics: int) -> str:
    random = generator("lda-fingerprint", topics=n_topics)
    lengths = random.integers(0, 60, 20)
    corpus = random_corpus(lengths.tolist(), 50, seed=3)
    model = LDA(n_topics, alpha=0.1, beta=0.05, sweeps=20, random_state=random).fit(corpus)
    return hashlib.sha256(model.assignments_.astype("<i4").tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("n_topics", "expected"),
    [
        (7, "01948ad04117e6ba74dc97f1999e45fc935976e658e567b78d47d96699d515cd"),
        (70, "2d5963aec4ddac384aecd933b16865e0c4e82e0311dd49c03ed0c9666d421e7a"),
        (200, "492be8e098c51d9e30f5b860814f280279c7c96f81dba3ef77a5429d0be05aa3"),
        (300, "d31f2dd7ee378432b4d1720c259aa0094dad5b5226321003164cae1fe38c1224"),
    ],
)
def test_fingerprint(n_topics: int, expected: str) -> None:
    """Samples are the same bits on every machine; a change of the kernels or of the draws shows here."""
    assert fingerprint(n_topics) == expected


def make_topics(phi: Floats, alpha: Floats, **provenance: Any) -> Topics:
    return Topics(phi, alpha, tuple(f"w{v}" for v in range(phi.shape[1])), provenance)


def named(tokens: list[int], names: list[str], n_words: int) -> Corpus:
    corpus = make_corpus([tokens] * len(names), n_words)
    return corpus.with_streams([corpus.document(d) for d in range(len(names))], tuple(names))


@pytest.mark.usefixtures("kernel")
def test_fold_in_has_the_exact_posterior() -> None:
    """Four tokens under three topics, every assignment enumerated; as many independent documents as names."""
    phi = np.array([[0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.6, 0.0, 0.4]])
    alpha = np.array([0.4, 1.1, 0.8])
    tokens = [0, 1, 3, 1]
    probabilities: dict[tuple[int, ...], float] = {}
    for z in itertools.product(range(3), repeat=4):
        counts, weight = np.zeros(3), 1.0
        for k, word in zip(z, tokens, strict=True):
            weight *= (counts[k] + alpha[k]) * phi[k, word]
            counts[k] += 1.0
        key = tuple(counts.astype(int).tolist())
        probabilities[key] = probabilities.get(key, 0.0) + weight
    keys = sorted(probabilities)
    p = np.array([probabilities[key] for key in keys])
    p /= p.sum()

    documents = named(tokens, [f"d{i}" for i in range(10_000)], 4)
    theta = fold_with(lda, make_topics(phi, alpha), documents, seed=0, sweeps=12)
    counts = np.rint(theta * (4.0 + alpha.sum()) - alpha).astype(int)
    np.testing.assert_allclose(theta, (counts + alpha) / (4.0 + alpha.sum()), rtol=1e-12)
    observed = np.array([np.all(counts == key, axis=1).sum() for key in keys])
    assert observed.sum() == len(theta)
    assert p_value_of_counts(observed, p) > FALSE_ALARM

    exact = p @ (np.array(keys) + alpha) / (4.0 + alpha.sum())
    z_scores = np.abs(theta.mean(axis=0) - exact) / (theta.std(axis=0) / math.sqrt(len(theta)))
    assert z_scores.max() < stats.norm.isf(FALSE_ALARM / 6)


@pytest.mark.parametrize("n_topics", [4, 150])
def test_a_document_does_not_depend_on_its_company(n_topics: int) -> None:
    random = np.random.default_rng(4)
    corpus = random_corpus([20, 0, 33, 5, 60], 12, seed=8)
    topics = make_topics(random.dirichlet(np.full(12, 0.4), n_topics), random.uniform(0.1, 1.0, n_topics), chain=0)
    together = fold_with(lda, topics, corpus, seed=3, sweeps=9)
    np.testing.assert_array_equal(together, fold_with(lda, topics, corpus, seed=3, sweeps=9))
    for order in ([4], [2, 0], [3, 1, 4, 0, 2]):
        np.testing.assert_array_equal(fold_with(lda, topics, corpus.subset(order), seed=3, sweeps=9), together[order])
    assert np.any(fold_with(lda, topics, corpus, seed=4, sweeps=9) != together)
    other_chain = make_topics(topics.phi, topics.alpha, chain=1)
    assert np.any(fold_with(lda, other_chain, corpus, seed=3, sweeps=9) != together)
    np.testing.assert_allclose(together[1], topics.alpha / topics.alpha.sum(), rtol=1e-12)


def test_impossible_words_are_left_out_of_the_fold_in() -> None:
    phi = np.array([[0.6, 0.4, 0.0], [0.3, 0.7, 0.0]])
    topics = make_topics(phi, np.array([0.5, 1.5]))
    with_impossible = fold_with(lda, topics, make_corpus([[0, 2, 1, 2, 2, 1], [2, 2]], 3), seed=0, sweeps=5)
    without = fold_with(lda, topics, make_corpus([[0, 1, 1], []], 3), seed=0, sweeps=5)
    np.testing.assert_array_equal(with_impossible, without)
    np.testing.assert_allclose(without[1], [0.25, 0.75], rtol=1e-12)


def test_extreme_probabilities_do_not_stop_the_fold_in() -> None:
    phi = np.array([[1e-300, 1.0 - 1e-300, 0.0], [0.0, 1e-290, 1.0]])
    theta = fold_with(lda, make_topics(phi, np.array([1.0, 1.0])), make_corpus([[0, 0, 0, 0]], 3), seed=0, sweeps=5)
    np.testing.assert_allclose(theta, [[5.0 / 6.0, 1.0 / 6.0]], rtol=1e-12)


def test_recovers_separated_topics() -> None:
    """Two topics over disjoint words: the last sample tells them apart."""
    documents = [[0, 1, 2] * 10, [3, 4, 5] * 10] * 10
    model = LDA(2, alpha=0.1, beta=0.01, sweeps=100, random_state=0).fit(make_corpus(documents, 6))
    first = model.components_[:, :3].sum(axis=1)
    assert sorted(first.round(2).tolist()) == [0.0, 1.0]
    assert model.log_likelihood_[-1] > model.log_likelihood_[0]


def test_equations_5_38_and_5_39() -> None:
    corpus = random_corpus([8, 0, 5], 4, seed=3)
    alpha = np.array([0.2, 0.5, 0.9])
    model = LDA(3, alpha=alpha, beta=0.3, sweeps=7, random_state=1).fit(corpus)
    z, document_of = model.assignments_, np.repeat(np.arange(3), corpus.lengths)
    for k in range(3):
        for w in range(4):
            n_wk = np.sum((z == k) & (corpus.tokens == w))
            assert model.components_[k, w] == pytest.approx((n_wk + 0.3) / (np.sum(z == k) + 4 * 0.3), rel=1e-12)
        for d in range(3):
            n_kd = np.sum((z == k) & (document_of == d))
            expected = (n_kd + alpha[k]) / (corpus.lengths[d] + alpha.sum())
            assert model.document_topics_[d, k] == pytest.approx(expected, rel=1e-12)
    topics = model.topics(corpus.vocabulary, {"model": "lda"})
    np.testing.assert_array_equal(topics.phi, model.components_)
    np.testing.assert_array_equal(topics.alpha, alpha)
    assert topics.provenance == {"model": "lda"}


def test_counts_and_their_corpus_give_the_same_chain() -> None:
    ordered = make_corpus([[0, 0, 1, 3], [], [1, 2, 2]], 4)
    counts = ordered.counts()
    fits = [LDA(3, sweeps=5, random_state=np.random.default_rng(2)).fit(X) for X in (ordered, counts, counts.toarray())]
    for model in fits[1:]:
        np.testing.assert_array_equal(model.assignments_, fits[0].assignments_)
    theta = fits[0].transform(sp.csr_array(counts))
    assert theta.shape == (3, 3)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(theta[1], np.full(3, 1.0 / 3.0), rtol=1e-12)


def test_default_prior_is_griffiths_and_steyvers() -> None:
    topics = LDA(4, sweeps=0, random_state=0).fit(make_corpus([[0, 1]], 2)).topics(("a", "b"))
    np.testing.assert_allclose(topics.alpha, 12.5)


def test_train_names_its_chains() -> None:
    corpus = random_corpus([30, 40], 10, seed=5)
    options: dict[str, Any] = {"topics": 3, "seed": 1, "alpha_sum": 1.5, "beta": 0.1, "sweeps": 12}
    three = train_with(lda, corpus, chains=3, **options)
    one = train_with(lda, corpus, chains=1, **options)
    np.testing.assert_array_equal(three[0].phi, one[0].phi)
    assert [topics.provenance["chain"] for topics in three] == [0, 1, 2]
    assert np.any(three[0].phi != three[1].phi)
    assert np.any(train_with(lda, corpus, chains=1, **{**options, "seed": 2})[0].phi != one[0].phi)
    np.testing.assert_allclose(one[0].alpha, 0.5)
    assert one[0].provenance["log_likelihood_sweeps"] == list(range(13))  # a short run is recorded more often
    longer = train_with(lda, corpus, chains=1, **{**options, "sweeps": 85})
    assert longer[0].provenance["log_likelihood_sweeps"] == [*range(0, 90, 10), 85]


@pytest.mark.parametrize(
    "setting",
    [
        {"n_components": 0},
        {"n_components": -3},
        {"sweeps": -1},
        {"evaluate_every": 0},
        {"optimise_every": -1},
        {"alpha": 0.0},
        {"alpha": -1.0},
        {"alpha": math.nan},
        {"alpha": np.ones(3)},
        {"beta": 0.0},
        {"beta": math.inf},
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^LDA: "):
        LDA(2, sweeps=1).set_params(**setting).fit(np.ones((2, 2)))


@pytest.mark.parametrize("counts", [[[0.5]], [[-1.0]], [[math.nan]], [[math.inf]], [[0.0]], [[2.0**24]]])
def test_bad_counts_are_refused(counts: list[list[float]]) -> None:
    with pytest.raises(InputError, match=r"^LDA: "):
        LDA(2, sweeps=1).fit(np.array(counts))


def test_bad_fold_ins_are_refused() -> None:
    topics, corpus = make_topics(np.array([[0.5, 0.5]]), np.array([1.0])), make_corpus([[0]], 2)
    with pytest.raises(InputError, match="vocabulary"):
        fold_with(lda, topics, make_corpus([[0]], 3), seed=0, sweeps=1)
    with pytest.raises(InputError, match="-1 sweeps"):
        fold_with(lda, topics, corpus, seed=0, sweeps=-1)
    with pytest.raises(InputError, match="alpha"):
        fold_with(lda, make_topics(topics.phi, np.array([1e-200])), corpus, seed=0, sweeps=1)


def dirichlet_multinomial(counts: NDArray[Any], parameters: Floats) -> float:
    """Return log p of the draws (rows of counts) in a fixed order, in nats."""
    totals = counts.sum(axis=1)
    by_category = gammaln(counts + parameters) - gammaln(parameters)
    return float(np.sum(gammaln(parameters.sum()) - gammaln(totals + parameters.sum())) + by_category.sum())


def above_in(counts: NDArray[Any]) -> Floats:
    rows, columns = np.nonzero(counts)
    return lda.counts_above(counts[rows, columns], columns, counts.shape[1])


@settings(max_examples=30)
@given(
    counts=arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 6)), elements=st.integers(0, 40)),
    exponents=st.tuples(st.floats(-4, 3), st.floats(-4, 3)),
)
def test_minkas_fixed_point_never_lowers_the_likelihood(counts: NDArray[Any], exponents: tuple[float, float]) -> None:
    counts[0, 0] += 1
    n_categories = counts.shape[1]
    above, totals_above = above_in(counts), above_in(counts.sum(axis=1, keepdims=True))[:, 0]
    np.testing.assert_array_equal(above, [(counts > j).sum(axis=0) for j in range(counts.max())])
    asymmetric, symmetric = 10.0 ** np.linspace(*exponents, n_categories), np.array([10.0 ** exponents[0]])
    for step in range(30):
        update = lda.minka_step(asymmetric, above, totals_above)
        if step == 0:  # the equation as Minka writes it
            a = asymmetric
            rise = (digamma(counts + a) - digamma(a)).sum(axis=0)
            expected = a * rise / (digamma(counts.sum(axis=1) + a.sum()) - digamma(a.sum())).sum()
            np.testing.assert_allclose(update, np.maximum(expected, lda.SMALLEST_PARAMETER), rtol=1e-6, atol=1e-11)
        shared = lda.minka_step(symmetric, above.sum(axis=1, keepdims=True), totals_above, size=n_categories)
        for before, after in ((asymmetric, update), *[(np.full(n_categories, s[0]) for s in (symmetric, shared))]):
            low, high = dirichlet_multinomial(counts, before), dirichlet_multinomial(counts, after)
            if max(before.sum(), after.sum()) < 1e6:  # beyond, the gamma functions differ by their rounding
                assert high >= low - 1e-9 * (1.0 + abs(low))
        asymmetric, symmetric = update, shared


@pytest.mark.parametrize("dense", [0, 10**9])
def test_hyperparameters_do_not_depend_on_how_cells_are_counted(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = random_corpus([7, 0, 40, 1, 25, 0], 9, seed=2)
    z = np.random.default_rng(3).integers(0, 4, corpus.n_tokens).astype(np.int32)
    state = State(4, corpus.n_words, corpus.n_tokens, np.full(4, 0.3))
    state.assignments[:] = z
    state.count(corpus.tokens)
    monkeypatch.setattr(lda, "DENSE", dense)
    alpha, beta = lda.optimised(corpus.offsets, z, state.rows, state.totals, np.full(4, 0.3), 0.1)
    in_document = np.array([np.bincount(z[a:b], minlength=4) for a, b in itertools.pairwise(corpus.offsets)])
    above = (in_document[None] > np.arange(in_document.max())[:, None, None]).sum(axis=1).astype(float)
    lengths_above = (corpus.lengths > np.arange(corpus.lengths.max())[:, None]).sum(axis=1).astype(float)
    expected = np.full(4, 0.3)
    for _ in range(lda.FIXED_POINT_ITERATIONS):
        expected = lda.minka_step(expected, above, lengths_above)
    np.testing.assert_allclose(alpha, expected, rtol=1e-12)
    assert beta > 0.0


def test_minkas_fixed_point_recovers_the_parameters_of_a_draw() -> None:
    """About 4 standard errors of the maximum-likelihood estimate at 20,000 draws of 60: a few percent each."""
    random = np.random.default_rng(11)
    alpha, beta = np.array([0.1, 0.4, 1.5, 3.0]), 0.3
    counts = np.array([random.multinomial(60, random.dirichlet(alpha)) for _ in range(20_000)])
    estimate, above, totals_above = np.ones(4), above_in(counts), above_in(counts.sum(axis=1, keepdims=True))[:, 0]
    for _ in range(400):
        estimate = lda.minka_step(estimate, above, totals_above)
    np.testing.assert_allclose(estimate, alpha, rtol=0.04)
    counts = np.array([random.multinomial(100, random.dirichlet(np.full(50, beta))) for _ in range(4_000)])
    shared, above = np.ones(1), above_in(counts).sum(axis=1, keepdims=True)
    totals_above = above_in(counts.sum(axis=1, keepdims=True))[:, 0]
    for _ in range(200):
        shared = lda.minka_step(shared, above, totals_above, size=50)
    np.testing.assert_allclose(shared, beta, rtol=0.02)


def drawn_from_an_lda(alpha: Floats, beta: float, n_documents: int, n_words: int, length: int) -> Corpus:
    random = np.random.default_rng(4)
    phi = random.dirichlet(np.full(n_words, beta), len(alpha))
    documents = [random.choice(n_words, length, p=random.dirichlet(alpha) @ phi).tolist() for _ in range(n_documents)]
    return make_corpus(documents, n_words)


def test_a_chain_finds_its_hyperparameters() -> None:
    """Of a drawn corpus, from a start far away: alpha and beta within 15 %.

    Of beta there are 3 draws of 300 words (about 5 % standard error), of alpha 800 draws of 3 topics that are not seen.
    """
    alpha, beta = np.array([0.1, 0.3, 0.9]), 0.1
    corpus = drawn_from_an_lda(alpha, beta, n_documents=800, n_words=300, length=80)
    model = LDA(3, alpha=5.0, beta=1.0, sweeps=200, optimise_every=5, random_state=2).fit(corpus)
    np.testing.assert_allclose(np.sort(model.alpha_), alpha, rtol=0.15)
    assert model.beta_ == pytest.approx(beta, rel=0.15)
    topics = model.topics(corpus.vocabulary)
    np.testing.assert_array_equal(topics.alpha, model.alpha_)
    n_wk = np.zeros((3, 300))
    np.add.at(n_wk, (model.assignments_, corpus.tokens), 1.0)
    smoothed = n_wk + model.beta_
    np.testing.assert_allclose(topics.phi, smoothed / smoothed.sum(axis=1, keepdims=True), rtol=1e-10)
    fixed = LDA(3, alpha=5.0, beta=1.0, sweeps=200, random_state=2).fit(corpus)
    assert model.log_likelihood_[-1] > fixed.log_likelihood_[-1]


def test_hyperparameters_move_after_the_first_quarter_only() -> None:
    corpus = random_corpus([30, 40], 10, seed=5)
    options: dict[str, Any] = {"alpha": 0.7, "beta": 0.2, "sweeps": 8, "evaluate_every": 1}
    fixed = LDA(3, random_state=1, **options).fit(corpus)
    moved = LDA(3, random_state=1, optimise_every=3, **options).fit(corpus)
    np.testing.assert_array_equal(fixed.alpha_, 0.7)
    assert fixed.beta_ == 0.2
    # a quarter of 8 sweeps, and 3 more: the parameters of sweep 5 are the first new ones
    np.testing.assert_array_equal(moved.log_likelihood_[:5], fixed.log_likelihood_[:5])
    assert np.all(moved.log_likelihood_[5:] != fixed.log_likelihood_[5:])
    two = train_with(lda, corpus, topics=3, seed=1, alpha_sum=1.5, beta=0.1, sweeps=12, chains=1, optimise_every=2)[0]
    assert two.provenance["optimise_every"] == 2
    assert two.provenance["beta"] != 0.1
    assert len(set(two.alpha)) == 3


def test_an_empty_topic_keeps_a_positive_parameter() -> None:
    corpus = make_corpus([[0, 1, 0], [1, 1]], 2)
    model = LDA(30, alpha=0.01, beta=0.1, sweeps=40, optimise_every=1, random_state=0).fit(corpus)
    assert np.all(np.bincount(model.assignments_, minlength=30)[np.argsort(model.alpha_)[:25]] == 0)
    assert model.alpha_.min() == lda.SMALLEST_PARAMETER
    assert np.isfinite(model.topics(corpus.vocabulary).phi).all()


@pytest.mark.parametrize("documents", [[["ape", "bear"] * 3, ["ape"]], [["ape", "bear"], ["ape", "cat"], ["ape"]]])
def test_counts_beyond_the_numbers_weights_are_in_are_refused(
    documents: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long document beside a short one, and a word of many documents."""
    monkeypatch.setattr(lda, "LARGEST_COUNT", 6 if len(documents) == 2 else 3)
    corpus = Corpus.from_documents("large", [(str(d), words) for d, words in enumerate(documents)])
    with pytest.raises(InputError, match="divide the corpus"):
        LDA(2, sweeps=1, random_state=0).fit(corpus)
    monkeypatch.setattr(lda, "LARGEST_COUNT", 7 if len(documents) == 2 else 4)
    LDA(2, sweeps=1, random_state=0).fit(corpus)


def test_entries_of_one_cell_are_its_sum() -> None:
    counts = np.random.default_rng(0).poisson(1.5, (6, 10))
    words = np.tile(np.concatenate([np.arange(10), np.arange(10)[::-1]]), 6)  # each twice, the second time a count of 1
    twice = sp.csr_array((np.hstack([counts, np.ones((6, 10))]).ravel(), words, np.arange(0, 121, 20)), shape=(6, 10))
    split = LDA(3, sweeps=5, random_state=0).fit(twice)
    whole = LDA(3, sweeps=5, random_state=0).fit(counts + 1)
    np.testing.assert_array_equal(split.assignments_, whole.assignments_)
    np.testing.assert_array_equal(split.components_, whole.components_)
