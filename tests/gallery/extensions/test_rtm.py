"""The relational topic model: its sampler against the joint probability, LDA where links say nothing, its limits."""

from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta
from slow_lda import slow_lda

from gallery.extensions.models.response_kernel import Responses, State, sweep, sweep_of_weights
from gallery.extensions.models.rtm import RTM
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Floats, Ints

CORPUS = Corpus.from_documents("tiny", [("d0", ["a", "b", "a"]), ("d1", ["b", "c"]), ("d2", ["c", "a"])])
PAIRS, LINKS = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 0, 1])
ALPHA, GAMMA, WEIGHTS, BIAS = np.array([0.5, 0.8]), 0.3, np.array([4.0, -2.0]), -0.5


def log_joint(q: Ints, scale: float = 1.0) -> float:
    """Return log p(w, q, R), nats, up to a constant, from 27.80, with w and w_0 times a number."""
    state = State.of(CORPUS, q, 2)
    value = gammaln(state.in_word + GAMMA).sum() - gammaln(state.totals + CORPUS.n_words * GAMMA).sum()
    for d, length in enumerate(CORPUS.lengths):
        value += gammaln(state.shares[d] * length + ALPHA).sum()
    for (i, j), link in zip(PAIRS, LINKS, strict=True):
        value -= np.logaddexp(0.0, -(2 * link - 1) * scale * (WEIGHTS @ (state.shares[i] * state.shares[j]) + BIAS))
    return float(value)


@pytest.mark.parametrize("scale", [1.0, 200.0, 1e4, 1e6])
def test_a_sweep_draws_from_the_joint_probability(scale: float) -> None:
    """Beyond a scale of 709 / 2 the odds overflow."""
    q = np.array([0, 1, 1, 0, 1, 0, 0])
    state, responses = State.of(CORPUS, q, 2), Responses.of(PAIRS, LINKS, 3)
    fast, twin = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(20):
        sweep(CORPUS, state, responses, scale * WEIGHTS, scale * BIAS, ALPHA, GAMMA, fast)
        uniforms = twin.random(CORPUS.n_tokens)
        for i in range(CORPUS.n_tokens):
            values = np.array([log_joint(np.where(np.arange(len(q)) == i, k, q), scale) for k in range(2)])
            p = np.exp(values - values.max())
            q[i] = int(uniforms[i] * p.sum() >= p[0])
        np.testing.assert_array_equal(state.q, q)


def drawn(random: np.random.Generator) -> tuple[Corpus, Ints, Ints]:
    """Return documents of two kinds, 3 of 4 words of its own, and which of some pairs are of one kind."""
    kinds = random.integers(2, size=60)
    words = [
        [f"w{(kind if random.random() < 0.75 else 1 - kind)}{random.integers(5)}" for _ in range(8)] for kind in kinds
    ]
    corpus = Corpus.from_documents("kinds", [(str(d), own) for d, own in enumerate(words)])
    pairs = np.array([random.choice(60, 2, replace=False) for _ in range(400)])
    return corpus, pairs, (kinds[pairs[:, 0]] == kinds[pairs[:, 1]]).astype(np.int64)


def test_links_pull_topics_to_the_kinds_that_are_linked() -> None:
    corpus, pairs, links = drawn(np.random.default_rng(0))

    def apart(model: RTM) -> float:
        shares: Floats = model.document_topics_
        logits = (shares[pairs[:, 0]] * shares[pairs[:, 1]]) @ model.weights_ + model.bias_
        return float(logits[links == 1].mean() - logits[links == 0].mean())

    with_links, without = (RTM(2, feedback=on, random_state=1).fit(corpus, pairs, links) for on in (True, False))
    assert apart(with_links) > apart(without) + 1.0
    assert with_links.components_.sum(axis=1) == pytest.approx(1.0)


def test_links_that_are_not_read_leave_lda() -> None:
    """LDA by its printed conditional: without feedback in any round, with it in the first, where w is 0."""
    random = np.random.default_rng(2)
    words = [[f"w{w}" for w in random.integers(7, size=10)] for _ in range(9)]
    corpus = Corpus.from_documents("small", [(str(d), own) for d, own in enumerate(words)])
    pairs = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [0, 8], [1, 5]])
    links = np.arange(6) % 2
    asked: dict[str, Any] = {"alpha": 0.3, "gamma": 0.2, "random_state": 0}
    for feedback, rounds in ((True, 1), (False, 1), (False, 2)):
        model = RTM(3, rounds=rounds, sweeps=6, feedback=feedback, **asked).fit(corpus, pairs, links)
        topics, shares = slow_lda(corpus, 3, 0.3, 0.2, sweeps=6 * rounds, averaged=3, seed=0)
        np.testing.assert_allclose(model.components_, topics, rtol=1e-12)
        np.testing.assert_allclose(model.document_topics_, shares, atol=1e-12)
        assert np.abs(model.weights_).max() > 0.1  # so that a link that were read in the second round would be seen


def test_bad_pairs_and_settings_are_refused() -> None:
    for model, pairs, links, match in (
        (RTM(2, alpha=0.0), PAIRS, LINKS, "alpha 0"),
        (RTM(2), PAIRS, LINKS + 1, "give .M, 2."),
        (RTM(2), PAIRS, LINKS[:2], "give .M, 2."),
        (RTM(2), PAIRS + 1, LINKS, "beyond the 3"),
        (RTM(2), np.array([[1, 1]]), LINKS[:1], "a pair of one document"),
    ):
        with pytest.raises(InputError, match=match):
            model.fit(CORPUS, pairs, links)
    with pytest.raises(InputError, match="no document"):
        RTM(2).fit(Corpus.from_documents("empty", [("a", []), ("b", [])]), np.array([[0, 1]]), np.array([1]))


def test_weights_are_drawn_from_their_joint_probability_with_topics() -> None:
    """Two topics, three documents: the mean of pi_0 over 16,000 sweeps beside the prior's quantiles, summed over q.

    Errors are of 40 batches; five of them and the grid's have a false-alarm rate of 1e-5.
    """
    topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])  # fixed by many documents of one word
    grid = beta.ppf((np.arange(100) + 0.5) / 100, *ALPHA)  # of the prior
    p = [sum(np.log(grid * topics[0, w] + (1 - grid) * topics[1, w]) for w in CORPUS.document(d)) for d in range(3)]
    logs = p[0][:, None, None] + p[1][None, :, None] + p[2][None, None, :]
    axes = np.meshgrid(grid, grid, grid, indexing="ij")
    for (i, j), link in zip(PAIRS, LINKS, strict=True):
        logit = WEIGHTS[0] * axes[i] * axes[j] + WEIGHTS[1] * (1 - axes[i]) * (1 - axes[j]) + BIAS
        logs -= np.logaddexp(0.0, -(2 * link - 1) * logit)
    joint = np.exp(logs - logs.max())
    exact = [float((joint * axes[d]).sum() / joint.sum()) for d in range(3)]
    many = 1e9  # counts that fix the topics
    state = State.of(CORPUS, np.zeros(CORPUS.n_tokens, dtype=np.int64), 2)
    state.shares[:-1] = 0.5
    state.in_word[:] += many * topics.T
    state.totals[:] += many
    responses, random = Responses.of(PAIRS, LINKS, 3), np.random.default_rng(0)
    draws = np.empty((16_000, 3))
    for t in range(len(draws)):
        sweep_of_weights(CORPUS, state, responses, WEIGHTS, BIAS, ALPHA, GAMMA, random)
        draws[t] = state.shares[:3, 0]
    batches = draws.reshape(40, -1, 3).mean(axis=1)
    errors = batches.std(axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(draws.mean(axis=0) - exact) < 5.0 * errors + 5e-4).all()
    assert errors.max() < 6e-3


def test_links_that_read_weights_pull_them_too() -> None:
    corpus, pairs, links = drawn(np.random.default_rng(0))
    model = RTM(2, reads="weights", random_state=1).fit(corpus, pairs, links)
    logits = (model.document_topics_[pairs[:, 0]] * model.document_topics_[pairs[:, 1]]) @ model.weights_
    assert logits[links == 1].mean() > logits[links == 0].mean() + 0.5
    with pytest.raises(InputError, match="links"):
        RTM(2, reads="words").fit(corpus, pairs, links)  # type: ignore[arg-type]
