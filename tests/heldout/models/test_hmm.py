"""The hidden Markov model against enumeration of all paths and its invariants."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_fits import fit_from

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.hmm import HMM, Chain
from heldout.models.vem import Posterior

POSTERIORS: tuple[Posterior, ...] = ("point", "exact")
STREAMS = st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=5)


def corpus_of(streams: list[list[int]], n_words: int = 5) -> Corpus:
    offsets = np.cumsum([0, *(len(stream) for stream in streams)]).astype(np.int64)
    tokens = np.array([word for stream in streams for word in stream], dtype=np.int32)
    words, names = (tuple(str(i) for i in range(n)) for n in (n_words, len(streams)))
    return Corpus("tiny", words, tokens, offsets, names)


def random_chain(K: int, n_words: int, seed: int, *, zeros: bool = False) -> Chain:
    random = np.random.default_rng(seed)
    rows = [random.dirichlet(np.ones(n), size) for n, size in ((K, 1), (K, K), (n_words, K))]
    if zeros:  # forbid some moves and words, never all of a row
        for row in itertools.chain(*rows):
            row[random.random(len(row)) < 0.3] = 0.0
            row[random.integers(len(row))] += 0.1
            row /= row.sum()
    return Chain(rows[0][0], rows[1], rows[2])


def path_probability(chain: Chain, words: list[int], path: tuple[int, ...]) -> float:
    probability = 1.0
    for t, (word, state) in enumerate(zip(words, path, strict=True)):
        probability *= chain.start[state] if t == 0 else chain.transitions[path[t - 1], state]
        probability *= chain.emissions[state, word]
    return float(probability)


def log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


@settings(max_examples=40)
@given(streams=STREAMS, K=st.integers(1, 3), seed=st.integers(0, 2**32 - 1), zeros=st.booleans())
def test_forward_and_viterbi_are_the_sum_and_the_best_of_all_paths(
    streams: list[list[int]], K: int, seed: int, zeros: bool
) -> None:
    corpus, chain = corpus_of(streams), random_chain(K, 5, seed, zeros=zeros)
    if corpus.n_tokens == 0:
        return
    model = HMM(K)
    exact, bound = model.log_likelihood(corpus, chain), model.point_bound(corpus, chain)
    decoded = model.decode(corpus, chain)
    for d, words in enumerate(streams):
        every = [path_probability(chain, words, path) for path in itertools.product(range(K), repeat=len(words))]
        assert exact[d] == pytest.approx(log(math.fsum(every)), rel=1e-10, abs=1e-12)
        assert bound[d] == pytest.approx(log(max(every)), rel=1e-10, abs=1e-12)
        if bound[d] > -math.inf:
            path = tuple(decoded[corpus.offsets[d] : corpus.offsets[d + 1]].tolist())
            assert path_probability(chain, words, path) == pytest.approx(max(every), rel=1e-10)
    assert np.all(bound <= exact + 1e-12)


@settings(max_examples=60)
@given(streams=STREAMS, K=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_the_objective_never_falls_and_bounds_the_likelihood(streams: list[list[int]], K: int, seed: int) -> None:
    corpus = corpus_of(streams)
    if corpus.n_tokens == 0:
        return
    for posterior in POSTERIORS:
        model = HMM(K, posterior=posterior, iterations=15, random_state=seed)
        likelihoods = [float(model.log_likelihood(corpus, step.parameters).sum()) for step in model.steps(corpus)]
        history = HMM(K, posterior=posterior, iterations=15, random_state=seed).fit(corpus).objective_
        assert np.all(np.diff(history) >= -1e-9 * (1.0 + np.abs(history[:-1])))
        if posterior == "exact":  # Baum-Welch: the objective is the likelihood, which therefore does not fall either
            np.testing.assert_allclose(history, likelihoods, rtol=1e-9, atol=1e-9)
        else:
            assert np.all(history <= np.array(likelihoods) + 1e-9)


def test_expected_counts_are_those_of_all_paths() -> None:
    streams, K = [[0, 3, 1, 1], [2], [], [4, 0]], 3
    corpus, chain = corpus_of(streams), random_chain(3, 5, 7)
    start, transitions, emissions = np.zeros(K), np.zeros((K, K)), np.zeros((K, 5))
    entropy = 0.0
    for words in filter(None, streams):
        paths = list(itertools.product(range(K), repeat=len(words)))
        q = np.array([path_probability(chain, words, path) for path in paths])
        q /= q.sum()
        entropy -= float(np.sum(q * np.log(q)))
        for weight, path in zip(q, paths, strict=True):
            start[path[0]] += weight
            for before, after in itertools.pairwise(path):
                transitions[before, after] += weight
            for state, word in zip(path, words, strict=True):
                emissions[state, word] += weight
    statistics = HMM(K, posterior="exact").ve_step(corpus, chain)
    np.testing.assert_allclose(statistics.start, start, rtol=1e-10)
    np.testing.assert_allclose(statistics.transitions, transitions, rtol=1e-10)
    np.testing.assert_allclose(statistics.emissions, emissions, rtol=1e-10, atol=1e-14)
    assert statistics.entropy == pytest.approx(entropy, rel=1e-10)


def test_viterbi_counts_are_those_of_the_decoded_paths() -> None:
    streams, K = [[0, 3, 1, 1], [2], [], [4, 0, 0]], 2
    corpus, chain = corpus_of(streams), random_chain(2, 5, 11)
    model = HMM(K)
    path = model.decode(corpus, chain)
    start, transitions, emissions = np.zeros(K), np.zeros((K, K)), np.zeros((K, 5))
    for d, words in enumerate(streams):
        states = path[corpus.offsets[d] : corpus.offsets[d + 1]]
        for t, (state, word) in enumerate(zip(states, words, strict=True)):
            emissions[state, word] += 1
            if t == 0:
                start[state] += 1
            else:
                transitions[states[t - 1], state] += 1
    statistics = model.ve_step(corpus, chain)
    for counts, expected in zip(statistics[:3], (start, transitions, emissions), strict=True):
        np.testing.assert_array_equal(counts, expected)
    assert statistics.entropy == 0.0
    bound = model.point_bound(corpus, chain).sum()
    assert model.objective(corpus, statistics, chain) == pytest.approx(bound, rel=1e-12)


def test_one_state_is_the_unigram_model() -> None:
    corpus = corpus_of([[0, 0, 1], [2, 1]])
    model = HMM(1, random_state=0).fit(corpus)
    np.testing.assert_allclose(model.parameters_.emissions[0], [0.4, 0.4, 0.2, 0.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(model.log_likelihood(corpus), model.point_bound(corpus), rtol=1e-13)


def test_a_long_document_does_not_underflow() -> None:
    corpus = corpus_of([[0, 1] * 5000])
    chain = Chain(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.01, 0.99], [0.99, 0.01]]))
    chain = chain._replace(emissions=np.pad(chain.emissions, ((0, 0), (0, 3))))
    # the chain alternates surely, so there is one path: each token has probability 0.01
    model = HMM(2)
    assert model.log_likelihood(corpus, chain)[0] == pytest.approx(1e4 * math.log(0.01), rel=1e-12)
    assert model.point_bound(corpus, chain)[0] == pytest.approx(1e4 * math.log(0.01), rel=1e-12)


def test_smoothing_adds_to_emissions_only() -> None:
    chain = random_chain(2, 5, 0)
    smoothed = chain.smoothed(0.1)
    np.testing.assert_allclose(smoothed.emissions, (chain.emissions + 0.1) / 1.5, rtol=1e-14)
    assert smoothed.start is chain.start
    assert smoothed.transitions is chain.transitions


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="no tokens"):
        HMM(2).fit(corpus_of([[]]))
    blind = random_chain(2, 5, 0)
    blind.emissions[:, 3] = 0.0
    for posterior in POSTERIORS:
        with pytest.raises(InputError, match="document 1"):
            fit_from(HMM(2, posterior=posterior), corpus_of([[0], [3]]), blind)
