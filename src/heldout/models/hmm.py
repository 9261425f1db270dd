r"""Hidden Markov model of documents: Viterbi training and Baum-Welch (Welling et al. 2008, section 3.1).

The tokens x_1 .. x_L of a document are emitted by a chain of states h_1 .. h_L:

    log p(x, h) = log pi[h_1] + sum_{t>1} log A[h_{t-1}, h_t] + sum_t log B[h_t, x_t].

Viterbi training is variational EM with a point posterior. VE step: the best path of each document, by

    v_1(j) = log pi[j] + log B[j, x_1],   v_t(j) = max_i (v_{t-1}(i) + log A[i, j]) + log B[j, x_t],

whose end, max_j v_L(j) = max_h log p(x, h), is the point bound of equation 4.30. The latent variables are discrete, so
the entropy that the point posterior drops is 0 and the objective is a lower bound on the log-likelihood

    log p(x) = sum_t log c_t,   a_t(j) = B[j, x_t] sum_i a_{t-1}(i) A[i, j] / c_t,   sum_j a_t(j) = 1

(the forward recursion, scaled; a_0 A stands for pi). Baum-Welch takes q(h) = p(h | x), by the backward recursion
b_t(i) = sum_j A[i, j] B[j, x_{t+1}] b_{t+1}(j) / c_{t+1}: q(h_t = i) = a_t(i) b_t(i) and
q(h_t = i, h_{t+1} = j) = a_t(i) A[i, j] B[j, x_{t+1}] b_{t+1}(j) / c_{t+1}. In both, the VM step divides the (expected)
numbers of first states, transitions and emissions by their sums. A state that is never left, or never visited, keeps
its row, which no longer affects the objective.

Ties between paths go to the lower state, from the last token backwards. O(N K^2) work for N tokens.
"""

import math
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.plsa import most_words
from heldout.models.vem import DiscreteVEM, Family, shares
from heldout.typing import Floats, Ints


class Chain(NamedTuple):
    """Parameters of a hidden Markov model: pi (K,), A (K, K) and B (K, V); pi and every row sum to 1."""

    start: Floats
    transitions: Floats
    emissions: Floats

    def smoothed(self, constant: float) -> "Chain":
        """Return the chain with `constant` added to every B[k, w] and renormalised (section 5)."""
        return self._replace(emissions=(self.emissions + constant) / (1.0 + constant * self.emissions.shape[1]))


class Statistics(NamedTuple):
    """Expected numbers under q(h) of first states (K,), transitions (K, K) and emissions (K, V); S(q), nats."""

    start: Floats
    transitions: Floats
    emissions: Floats
    entropy: float

    def log_joint(self, chain: Chain) -> float:
        """Return E_q[log p(x, h)], summed over documents, in nats."""
        return float(sum(np.sum(xlogy(n, p)) for n, p in zip(self[:3], chain, strict=True)))


@nb.njit(
    "void(int32[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], int32[::1], float64[::1])", cache=True
)
def _viterbi(tokens, offsets, log_start, log_transitions, log_emissions, path, bound):  # type: ignore[no-untyped-def]
    """Write every document's best path and max_h log p(x, h); log_emissions is (V, K)."""
    n_states = log_start.shape[0]
    longest = most_words(offsets)
    back = np.empty((longest, n_states), np.int32)
    value = np.empty(n_states)
    following = np.empty(n_states)
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1] - 1
        if last < first:
            bound[d] = 0.0
            continue
        for j in range(n_states):
            value[j] = log_start[j] + log_emissions[tokens[first], j]
        for t in range(first + 1, last + 1):
            for j in range(n_states):
                best, origin = value[0] + log_transitions[0, j], 0
                for i in range(1, n_states):
                    candidate = value[i] + log_transitions[i, j]
                    if candidate > best:
                        best, origin = candidate, i
                following[j] = best + log_emissions[tokens[t], j]
                back[t - first, j] = origin
            value[:] = following
        state = 0
        for j in range(1, n_states):
            if value[j] > value[state]:
                state = j
        bound[d] = value[state]
        for t in range(last, first - 1, -1):
            path[t] = state
            state = back[t - first, state] if t > first else 0


@nb.njit(
    "void(int32[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], boolean,"
    " float64[::1], float64[:, ::1], float64[:, ::1])",
    cache=True,
)
def _forward_backward(  # type: ignore[no-untyped-def]
    tokens, offsets, start, transitions, emissions, log_likelihood, learn, n_start, n_transitions, n_emissions
):
    """Write log p(x) of every document and, if `learn`, add expected counts. emissions and n_emissions are (V, K)."""
    n_states = start.shape[0]
    longest = most_words(offsets)
    forward = np.empty((longest, n_states))
    scale = np.empty(longest)
    backward = np.empty(n_states)
    message = np.empty(n_states)
    for d in range(offsets.shape[0] - 1):
        first, length = offsets[d], offsets[d + 1] - offsets[d]
        total = 0.0
        for t in range(length):
            row = emissions[tokens[first + t]]
            sum_t = 0.0
            for j in range(n_states):
                if t == 0:
                    reached = start[j]
                else:
                    reached = 0.0
                    for i in range(n_states):
                        reached += forward[t - 1, i] * transitions[i, j]
                forward[t, j] = reached * row[j]
                sum_t += forward[t, j]
            if sum_t == 0.0:
                total = -np.inf
                break
            scale[t] = sum_t
            total += math.log(sum_t)
            for j in range(n_states):
                forward[t, j] /= sum_t
        log_likelihood[d] = total
        if not learn or length == 0 or total == -np.inf:
            continue
        backward[:] = 1.0
        for t in range(length - 1, -1, -1):
            word = tokens[first + t]
            for j in range(n_states):
                n_emissions[word, j] += forward[t, j] * backward[j]
            if t == 0:
                for j in range(n_states):
                    n_start[j] += forward[0, j] * backward[j]
                break
            for j in range(n_states):
                message[j] = emissions[word, j] * backward[j] / scale[t]
            for i in range(n_states):
                sum_i = 0.0
                for j in range(n_states):
                    term = transitions[i, j] * message[j]
                    n_transitions[i, j] += forward[t - 1, i] * term
                    sum_i += term
                backward[i] = sum_i


class HMM(DiscreteVEM[Corpus, Chain, Statistics]):
    """Hidden Markov model with categorical emissions, on the token streams of a corpus.

    Arguments as of `DiscreteVEM`: K states; the "point" posterior is Viterbi training, "exact" is Baum-Welch.
    Attributes as of `PointVEM`: `parameters_` is a `Chain`, `latent_` its `Statistics`.

    Examples:
        >>> corpus = Corpus.from_documents("tiny", [("d0", ["a", "b", "a", "b"]), ("d1", ["a", "b"])])
        >>> HMM(2, posterior="exact", random_state=4).fit(corpus).decode(corpus)
        array([0, 1, 0, 1, 0, 1], dtype=int32)
    """

    family = Family(
        "hidden Markov model", "discrete", r"h \in \{1, \dots, K\}^L", r"\prod_t B_{h_t x_t}", "section 3.1"
    )

    def check(self, X: Corpus) -> Corpus:
        """Return the corpus."""
        self.check_posterior()
        if X.n_tokens == 0:
            raise InputError(f"{self.family.name}: corpus {X.name} holds no tokens")
        return X

    def start(self, data: Corpus, random: np.random.Generator) -> Chain:
        """Return a random chain; emissions are the corpus's word counts times random numbers, normalised."""
        K = self.n_components
        words = np.bincount(data.tokens, minlength=data.n_words)
        emissions = words * (0.1 + random.standard_exponential((K, data.n_words)))
        emissions /= emissions.sum(axis=1, keepdims=True)
        return Chain(random.dirichlet(np.ones(K)), random.dirichlet(np.ones(K), K), emissions)

    def decode(self, X: Corpus, parameters: Chain | None = None) -> NDArray[np.int32]:
        """Return the most probable state of every token's position, (N,): each document's best path."""
        return self._viterbi(X, self.parameters_ if parameters is None else parameters)[0]

    def point_bound(self, X: Corpus, parameters: Chain | None = None) -> Floats:
        """Return max_h log p(x, h), (D,) nats: the bound 4.30, under the parameters given or fitted."""
        return self._viterbi(X, self.parameters_ if parameters is None else parameters)[1]

    def log_likelihood(self, X: Corpus, parameters: Chain | None = None) -> Floats:
        """Return log p(x), (D,) nats, exact; -inf for a document of probability 0."""
        return self._forward_backward(X, self.parameters_ if parameters is None else parameters, learn=False)[0]

    def ve_step(self, data: Corpus, parameters: Chain, latent: Statistics | None = None) -> Statistics:  # noqa: ARG002
        """Return the statistics of the best paths, or of the exact posterior; raises InputError at probability 0."""
        if self.posterior == "exact":
            log_likelihood, statistics = self._forward_backward(data, parameters, learn=True)
            self._refuse_impossible(data, log_likelihood)
            # log p(x) = E_q[log p(x, h)] + S(q) for the exact posterior
            return statistics._replace(entropy=float(log_likelihood.sum()) - statistics.log_joint(parameters))
        path, bound = self._viterbi(data, parameters)
        self._refuse_impossible(data, bound)
        K = len(parameters.start)
        firsts = data.offsets[:-1][data.lengths > 0]
        follows = np.ones(data.n_tokens, dtype=bool)
        follows[firsts] = False
        pairs = np.flatnonzero(follows)
        moves = np.bincount(path[pairs - 1] * K + path[pairs], minlength=K * K)
        emitted = np.bincount(path.astype(np.int64) * data.n_words + data.tokens, minlength=K * data.n_words)
        return Statistics(
            np.bincount(path[firsts], minlength=K).astype(float),
            moves.reshape(K, K).astype(float),
            emitted.reshape(K, data.n_words).astype(float),
            0.0,
        )

    def vm_step(self, data: Corpus, latent: Statistics, parameters: Chain) -> Chain:  # noqa: ARG002
        """Return the chain that maximises the objective: the statistics divided by their sums."""
        return Chain(*(np.ascontiguousarray(shares(n, p)) for n, p in zip(latent[:3], parameters, strict=True)))

    def objective(self, data: Corpus, latent: Statistics, parameters: Chain) -> float:  # noqa: ARG002
        """Return E_q[log p(x, h)] + S(q), equation 2.2; for a point posterior S(q) = 0 and this is 2.6."""
        return latent.log_joint(parameters) + latent.entropy

    def _viterbi(self, X: Corpus, chain: Chain) -> tuple[NDArray[np.int32], Floats]:
        path, bound = np.empty(X.n_tokens, dtype=np.int32), np.empty(X.n_documents)
        with np.errstate(divide="ignore"):
            logs = (np.log(chain.start), np.log(chain.transitions), np.log(np.ascontiguousarray(chain.emissions.T)))
        _viterbi(*_streams(X), *logs, path, bound)
        return path, bound

    def _forward_backward(self, X: Corpus, chain: Chain, *, learn: bool) -> tuple[Floats, Statistics]:
        K, log_likelihood = len(chain.start), np.empty(X.n_documents)
        counts = np.zeros(K), np.zeros((K, K)), np.zeros((X.n_words, K))
        emissions = np.ascontiguousarray(chain.emissions.T)
        _forward_backward(*_streams(X), chain.start, chain.transitions, emissions, log_likelihood, learn, *counts)
        return log_likelihood, Statistics(counts[0], counts[1], counts[2].T, 0.0)

    def _refuse_impossible(self, data: Corpus, values: Floats) -> None:
        impossible = np.flatnonzero(values == -np.inf)
        if len(impossible):
            raise InputError(
                f"{self.family.name}: document {data.documents[impossible[0]]} has probability 0; take another"
                " random_state"
            )


def _streams(X: Corpus) -> tuple[NDArray[np.int32], Ints]:
    return np.ascontiguousarray(X.tokens, dtype=np.int32), np.ascontiguousarray(X.offsets, dtype=np.int64)
