"""LDA-HMM: its sampler against the joint probability, and the identities with LDA and the hidden Markov model."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from slow_lda import slow_sweep as slow_sweep_of_lda

from gallery.extensions.models.lda_hmm import LDAHMM, Counts
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Floats, Ints

TINY = Corpus.from_documents("tiny", [("d0", ["a", "b", "a"]), ("d1", ["b", "c"]), ("d2", ["c"])])
PRIORS: dict[str, Any] = {"alpha": 0.5, "gamma": 0.3, "delta": 0.4, "epsilon": 0.2}


def dirichlet(counts: Floats, parameter: float) -> float:
    """Return the logarithm of the Dirichlet-multinomial of every row of counts, up to a constant."""
    total = counts.sum(axis=1) + parameter * counts.shape[1]
    return float(gammaln(counts + parameter).sum() - gammaln(total).sum())


def log_joint(z: Ints, q: Ints, corpus: Corpus, K: int, C: int) -> float:
    """Return log p(y, z, q), q of content tokens alone."""
    counts = Counts.of(corpus, z, q, K, C)
    value = dirichlet(counts.transitions, PRIORS["delta"]) + dirichlet(counts.topic_counts.T, PRIORS["gamma"])
    return value + dirichlet(counts.state_counts.T, PRIORS["epsilon"]) + dirichlet(counts.in_document, PRIORS["alpha"])


def slow_sweep(corpus: Corpus, z: Ints, q: Ints, K: int, C: int, uniforms: Floats) -> tuple[Ints, Ints]:
    """Draw state and topic of every token from the joint probability itself."""
    z, q = z.copy(), q.copy()
    choices = [(0, k) for k in range(K)] + [(c, 0) for c in range(1, C + 1)]
    for i in range(corpus.n_tokens):
        logs, kept = [], q[i]
        for z[i], q[i] in choices:
            logs.append(log_joint(z, q, corpus, K, C))
        p = np.exp(np.array(logs) - max(logs))
        choice = choices[int(np.searchsorted(np.cumsum(p), uniforms[i] * p.sum(), side="right"))]
        z[i], q[i] = choice if choice[0] == 0 else (choice[0], kept)
    return z, q


@pytest.mark.parametrize(("K", "C"), [(2, 2), (3, 0), (1, 3), (2, 1)])
def test_a_sweep_draws_from_the_joint_probability(K: int, C: int) -> None:
    random = np.random.default_rng(K + 10 * C)
    z, q = random.integers(C + 1, size=TINY.n_tokens), random.integers(K, size=TINY.n_tokens)
    counts, model = Counts.of(TINY, z, q, K, C), LDAHMM(K, n_states=C, **PRIORS)
    slow_z, slow_q = z.copy(), q.copy()
    fast, twin = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(20):
        model.sweep(TINY, z, q, counts, fast)
        slow_z, slow_q = slow_sweep(TINY, slow_z, slow_q, K, C, twin.random(TINY.n_tokens))
        np.testing.assert_array_equal(z, slow_z)
        np.testing.assert_array_equal(q[z == 0], slow_q[z == 0])
    for kept, made in zip(counts, Counts.of(TINY, z, q, K, C), strict=True):
        np.testing.assert_allclose(kept, made, atol=1e-12)


def test_without_function_states_a_chain_is_that_of_lda() -> None:
    """C = 0: the topics that LDA's printed conditional draws, and LDA's estimate from their counts."""
    random, rows = np.random.default_rng(4), np.repeat(np.arange(TINY.n_documents), TINY.lengths)
    z, q = np.zeros(TINY.n_tokens, dtype=np.int64), random.integers(3, size=TINY.n_tokens)
    counts, model, slow = Counts.of(TINY, z, q, 3, 0), LDAHMM(3, n_states=0, **PRIORS), q.tolist()
    alphas, fast, twin = np.full((TINY.n_documents, 3), 0.5), np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(20):
        model.sweep(TINY, z, q, counts, fast)
        slow = slow_sweep_of_lda(TINY.tokens, rows, alphas, 0.3, slow, twin.random(TINY.n_tokens), TINY.n_words)
        assert q.tolist() == slow
    assert not z.any()
    in_word = np.zeros((3, TINY.n_words))
    np.add.at(in_word, (q, TINY.tokens), 1.0)
    phi = (in_word + 0.3) / (in_word.sum(axis=1, keepdims=True) + TINY.n_words * 0.3)
    np.testing.assert_allclose(model.estimate(counts).topics, phi, rtol=1e-12)


def test_the_chain_has_the_enumerated_posterior() -> None:
    """8,000 sweeps of 3^6 states and topics; at most 0.04 off, 6 standard errors at a third of the sweeps' worth."""
    pairs = [(0, 0), (0, 1), (1, 0)]
    states = [tuple(zip(*each, strict=True)) for each in itertools.product(pairs, repeat=TINY.n_tokens)]
    logs = np.array([log_joint(np.array(z), np.array(q), TINY, 2, 1) for z, q in states])
    p = np.exp(logs - logs.max())
    exact = (np.array([z for z, _ in states]) * (p / p.sum())[:, None]).sum(axis=0)
    z, q = np.zeros(TINY.n_tokens, dtype=np.int64), np.zeros(TINY.n_tokens, dtype=np.int64)
    counts, model, random = Counts.of(TINY, z, q, 2, 1), LDAHMM(2, n_states=1, **PRIORS), np.random.default_rng(0)
    total = np.zeros(TINY.n_tokens)
    for _ in range(8000):
        model.sweep(TINY, z, q, counts, random)
        total += z
    np.testing.assert_allclose(total / 8000, exact, atol=0.04)


def test_function_words_leave_the_topics() -> None:
    """Two function words alternate with words of two subjects: states have the former, topics the latter."""
    random = np.random.default_rng(0)
    texts = []
    for d in range(30):
        subject = ["cat", "dog"] if d % 2 else ["tax", "vote"]
        words = [word for _ in range(20) for word in (("the", "of")[random.integers(2)], str(random.choice(subject)))]
        texts.append((f"d{d}", words))
    corpus = Corpus.from_documents("alternating", texts)
    model = LDAHMM(2, n_states=1, sweeps=60, random_state=0).fit(corpus)
    function = np.isin(corpus.tokens, [corpus.vocabulary.index(word) for word in ("the", "of")])
    assert model.content_[function].mean() < 0.05
    assert model.content_[~function].mean() > 0.95
    assert {corpus.vocabulary[w] for w in np.argsort(-model.parameters_.states[0])[:2]} == {"the", "of"}
    for rows in model.parameters_[1:4]:
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"LDA-HMM: priors .*positive"):
        LDAHMM(2, delta=0.0).fit(TINY)
    with pytest.raises(InputError, match="LDA-HMM: corpus none"):
        LDAHMM(2).fit(Corpus.from_documents("none", [("d0", [])]))
