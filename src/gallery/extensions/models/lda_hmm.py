r"""LDA-HMM by collapsed Gibbs sampling (Murphy 2012, equations 27.61 to 27.64; Griffiths et al. 2004).

    pi_i ~ Dir(alpha 1_K)                                                                          (27.61)
    p(q_il = k | pi_i) = pi_ik                                                                     (27.62)
    p(z_il = c' | z_i,l-1 = c) = A(c, c'),    z in {0, .., C}                                      (27.63)
    p(y_il = v | q_il = k, z_il = c) = B_LDA(k, v) if c = 0, else B_HMM(c, v)                      (27.64)

with Dirichlet priors of every row: gamma of B_LDA, epsilon of B_HMM, delta of A and of the first state's distribution,
which the chapter leaves open. A topic matters to a token in state 0 alone, so q is sampled there and integrated out
elsewhere. With n_cc' the transitions, n_cv the words of a state, n_ik the content tokens of a document and n_kv those
of the words, all without the token l, whose neighbours are in states a and b,

    p(z_il = c, q_il = k | .) ∝ (n_ac + delta) (n_cb + [a = c = b] + delta) / (n_c. + [a = c] + (C + 1) delta)
        x (n_ik + alpha) / (n_i. + K alpha) (n_kv + gamma) / (n_k. + V gamma)                      if c = 0
        x (n_cv + epsilon) / (n_c + V epsilon)                                                     if c > 0.

Without function states (C = 0) this is LDA; with one topic it is a hidden Markov model.
"""

from typing import ClassVar, NamedTuple, Self

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, estimator
from heldout.models.hmm import Chain
from heldout.typing import Floats, Ints

START_STATE = -1  # state before a document's first token


class Parameters(NamedTuple):
    """start (C + 1,), A (C + 1, C + 1), B_LDA (K, V), B_HMM (C, V), of states 1 .. C, and alpha (K,)."""

    start: Floats
    transitions: Floats
    topics: Floats
    states: Floats
    alpha: Floats

    def chain(self, weights: Floats) -> Chain:
        """Return the hidden Markov model of a document with (K,) weights pi."""
        return Chain(self.start, self.transitions, np.vstack([weights @ self.topics, self.states]))


class Counts(NamedTuple):
    """n_cc' with the starts in the last row (C + 2, C + 1), n_cv (V, C), n_ik (D, K) and n_kv (V, K)."""

    transitions: Floats
    state_counts: Floats
    in_document: Floats
    topic_counts: Floats

    @classmethod
    def of(cls, corpus: Corpus, z: Ints, q: Ints, K: int, C: int) -> "Counts":
        """Return the counts of states and topics of all tokens; q of a token that is not in state 0 is not read."""
        V, D = corpus.n_words, corpus.n_documents
        counts = cls(np.zeros((C + 2, C + 1)), np.zeros((V, C)), np.zeros((D, K)), np.zeros((V, K)))
        rows, content = np.repeat(np.arange(corpus.n_documents), corpus.lengths), z == 0
        previous = np.concatenate([[START_STATE], z[:-1]])
        previous[corpus.offsets[:-1][corpus.lengths > 0]] = START_STATE
        np.add.at(counts.transitions, (previous, z), 1.0)
        np.add.at(counts.state_counts, (corpus.tokens[~content], z[~content] - 1), 1.0)
        np.add.at(counts.in_document, (rows[content], q[content]), 1.0)
        np.add.at(counts.topic_counts, (corpus.tokens[content], q[content]), 1.0)
        return counts


@nb.njit(cache=True)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, z, q, transitions, state_counts, in_document, topic_counts, alpha, gamma, delta, epsilon, uniforms
):
    """Draw state and topic of every token once, in order, in place."""
    V, K, C = topic_counts.shape[0], topic_counts.shape[1], state_counts.shape[1]
    topic_totals, state_totals, leaving = np.zeros(K), np.zeros(C), np.zeros(C + 2)
    for v in range(V):
        for k in range(K):
            topic_totals[k] += topic_counts[v, k]
        for c in range(C):
            state_totals[c] += state_counts[v, c]
    for c in range(C + 2):
        for b in range(C + 1):
            leaving[c] += transitions[c, b]
    # reciprocals, kept up: divisions would take most of the time
    per_topic, per_state = 1.0 / (topic_totals + V * gamma), 1.0 / (state_totals + V * epsilon)
    per_move = 1.0 / (leaving + (C + 1) * delta)
    sums = np.empty(K + C)
    for d in range(offsets.shape[0] - 1):
        content = in_document[d].sum()
        for i in range(offsets[d], offsets[d + 1]):
            v, old = tokens[i], z[i]
            previous = z[i - 1] if i > offsets[d] else C + 1
            last = i + 1 == offsets[d + 1]
            following = 0 if last else z[i + 1]
            if old == 0:
                in_document[d, q[i]] -= 1.0
                topic_counts[v, q[i]] -= 1.0
                topic_totals[q[i]] -= 1.0
                per_topic[q[i]] = 1.0 / (topic_totals[q[i]] + V * gamma)
                content -= 1.0
            else:
                state_counts[v, old - 1] -= 1.0
                state_totals[old - 1] -= 1.0
                per_state[old - 1] = 1.0 / (state_totals[old - 1] + V * epsilon)
            transitions[previous, old] -= 1.0
            leaving[previous] -= 1.0
            per_move[previous] = 1.0 / (leaving[previous] + (C + 1) * delta)
            if not last:
                transitions[old, following] -= 1.0
                leaving[old] -= 1.0
                per_move[old] = 1.0 / (leaving[old] + (C + 1) * delta)
            total = 0.0
            for c in range(C + 1):
                moved = transitions[previous, c] + delta
                if not last:
                    if previous == c:
                        more = 1.0 if c == following else 0.0
                        moved *= (transitions[c, following] + more + delta) / (leaving[c] + 1.0 + (C + 1) * delta)
                    else:
                        moved *= (transitions[c, following] + delta) * per_move[c]
                if c == 0:
                    moved /= content + K * alpha
                    for k in range(K):
                        total += moved * (in_document[d, k] + alpha) * (topic_counts[v, k] + gamma) * per_topic[k]
                        sums[k] = total
                else:
                    total += moved * (state_counts[v, c - 1] + epsilon) * per_state[c - 1]
                    sums[K + c - 1] = total
            threshold, choice = uniforms[i] * total, 0
            while choice < K + C - 1 and sums[choice] <= threshold:
                choice += 1
            if choice < K:
                new, q[i] = 0, choice
                in_document[d, choice] += 1.0
                topic_counts[v, choice] += 1.0
                topic_totals[choice] += 1.0
                per_topic[choice] = 1.0 / (topic_totals[choice] + V * gamma)
                content += 1.0
            else:
                new = choice - K + 1
                state_counts[v, new - 1] += 1.0
                state_totals[new - 1] += 1.0
                per_state[new - 1] = 1.0 / (state_totals[new - 1] + V * epsilon)
            z[i] = new
            transitions[previous, new] += 1.0
            leaving[previous] += 1.0
            per_move[previous] = 1.0 / (leaving[previous] + (C + 1) * delta)
            if not last:
                transitions[new, following] += 1.0
                leaving[new] += 1.0
                per_move[new] = 1.0 / (leaving[new] + (C + 1) * delta)


@estimator
class LDAHMM(TopicEstimator):
    """LDA-HMM on the token streams of a corpus.

    Args:
        n_components: K, the topics.
        n_states: C, the states that are not the topics'; 0 for LDA.
        alpha, gamma, delta, epsilon: Dirichlet parameters of weights, topics, transitions and states' words.
        sweeps: Gibbs sweeps; parameters are from the mean of the counts over the last half of them.
        random_state: the chain's generator, or its seed.

    Attributes (after `fit`):
        parameters_: posterior means given these counts.
        components_: (K, V) B_LDA.
        states_, topics_: (N,) z and q of the last sample; q means nothing where z is not 0.
        content_: (N,) the share of these sweeps in which z was 0.

    Examples:
        >>> corpus = Corpus.from_documents("tiny", [("d0", ["the", "cat", "the", "dog"]), ("d1", ["the", "cat"])])
        >>> model = LDAHMM(1, n_states=1, sweeps=20, random_state=0).fit(corpus)
        >>> model.parameters_.transitions.shape, model.content_.shape
        ((2, 2), (6,))
    """

    name: ClassVar[str] = "LDA-HMM"

    n_states: int = 10
    alpha: float = 0.1
    gamma: float = 0.1
    delta: float = 0.1
    epsilon: float = 0.1
    sweeps: int = 200

    def fit(self, X: Corpus, y: None = None) -> Self:  # noqa: ARG002
        """Run the chain; raises InputError for a corpus without tokens or a setting out of range."""
        priors = (self.alpha, self.gamma, self.delta, self.epsilon)
        if not all(prior > 0.0 for prior in priors) or self.sweeps < 1 or self.n_states < 0 or self.n_components < 1:
            raise InputError(
                f"{self.name}: priors {priors}, {self.n_states} states, {self.sweeps} sweeps; priors must be positive,"
                " states at least 0, sweeps at least 1"
            )
        if X.n_tokens == 0:
            raise InputError(f"{self.name}: corpus {X.name} holds no tokens")
        K, C, random = self.n_components, self.n_states, np.random.default_rng(self.random_state)
        z, q = random.integers(C + 1, size=X.n_tokens), random.integers(K, size=X.n_tokens)
        counts = Counts.of(X, z, q, K, C)
        means, content, averaged = [np.zeros_like(each) for each in counts], np.zeros(X.n_tokens), 0
        for number in range(self.sweeps):
            self.sweep(X, z, q, counts, random)
            if 2 * number >= self.sweeps - 1:
                for mean, each in zip(means, counts, strict=True):
                    mean += each
                content, averaged = content + (z == 0), averaged + 1
        self.states_, self.topics_, self.content_ = z, q, content / averaged
        self.parameters_ = self.estimate(Counts(*(mean / averaged for mean in means)))
        self.components_ = self.parameters_.topics
        return self

    def sweep(
        self, X: Corpus, z: NDArray[np.int64], q: NDArray[np.int64], counts: Counts, random: np.random.Generator
    ) -> None:
        """Draw every token's state and topic once, in place."""
        arrays = (np.ascontiguousarray(X.tokens, dtype=np.int64), X.offsets, z, q, *counts)
        priors = (self.alpha, self.gamma, self.delta, self.epsilon)
        _sweep(*arrays, *priors, random.random(X.n_tokens))

    def estimate(self, counts: Counts) -> Parameters:
        """Return the posterior means of the parameters given counts."""
        moves = _shares(counts.transitions + self.delta)
        topics, states = _shares(counts.topic_counts.T + self.gamma), _shares(counts.state_counts.T + self.epsilon)
        return Parameters(moves[-1], moves[:-1].copy(), topics, states, np.full(self.n_components, self.alpha))


def _shares(numbers: Floats) -> Floats:
    return np.ascontiguousarray(numbers / numbers.sum(axis=1, keepdims=True))
