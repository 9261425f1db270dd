r"""LDA whose documents have Dirichlet priors of their own, by collapsed Gibbs sampling (Murphy 2012, 27.37).

    pi_i ~ Dir(alpha_i),     b_k ~ Dir(gamma),     q_il ~ Cat(pi_i),     y_il ~ Cat(b_q_il),

with alpha_ik = 0 for the topics that a document does not have. With pi and b integrated out

    p(q_il = k | the others, y) ∝ (c_ik + alpha_ik) (c_vk + gamma) / (c_k + V gamma),       v = y_il,

c without the token itself, over the topics that document i has alone: a document of few topics costs few operations.
Labelled LDA (`gallery.priors.models.labelled_lda`) and Dirichlet multinomial regression (`gallery.priors.models.dmr`)
differ in where alpha_i comes from. Counts are integers in float64, and so are the weights of a draw.

In the latter documents have all topics, and LDA's sampler (`heldout.models.lda_chains_kernel`) takes half of the time.
What bounds the other are the sums, each of which waits for the one before: with all else in vectors a token of K = 20
took 47 ns in place of 54, 17 of them for the sums.
"""

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.models.lda import LARGEST_COUNT
from heldout.models.lda_chains_kernel import Chains
from heldout.typing import Floats

UNASSIGNED = -1


@nb.njit(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64, int64[::1], float64[:, ::1],"
    " float64[::1], float64[::1])",
    cache=True,
)
def _sweep(tokens, offsets, firsts, topics, alpha, gamma, q, word_counts, topic_counts, uniforms):  # type: ignore[no-untyped-def]
    """Draw the topic of every token once; see `OwnPriors`."""
    V_gamma = gamma * word_counts.shape[0]
    in_document = np.zeros(topic_counts.shape[0])
    sums, inverse = np.empty(topic_counts.shape[0]), 1.0 / (topic_counts + V_gamma)
    for d in range(offsets.shape[0] - 1):
        own, prior = topics[firsts[d] : firsts[d + 1]], alpha[firsts[d] : firsts[d + 1]]
        for i in range(offsets[d], offsets[d + 1]):
            if q[i] >= 0:
                in_document[q[i]] += 1.0
        for i in range(offsets[d], offsets[d + 1]):
            v = tokens[i]
            if q[i] >= 0:
                in_document[q[i]] -= 1.0
                word_counts[v, q[i]] -= 1.0
                topic_counts[q[i]] -= 1.0
                inverse[q[i]] = 1.0 / (topic_counts[q[i]] + V_gamma)
            total = 0.0
            for j in range(own.shape[0]):
                k = own[j]
                total += (in_document[k] + prior[j]) * (word_counts[v, k] + gamma) * inverse[k]
                sums[j] = total
            x = uniforms[i] * total
            j = 0
            while j < own.shape[0] - 1 and sums[j] <= x:
                j += 1
            q[i] = own[j]
            in_document[q[i]] += 1.0
            word_counts[v, q[i]] += 1.0
            topic_counts[q[i]] += 1.0
            inverse[q[i]] = 1.0 / (topic_counts[q[i]] + V_gamma)
        for j in range(own.shape[0]):
            in_document[own[j]] = 0.0


def checked_priors(alphas: Floats, documents: int, model: str) -> Floats:
    """Return (D, K) Dirichlet parameters, 0 where a document does not have a topic, as float64.

    Raises:
        InputError: for another shape, a negative or undefined parameter, or a document without a topic.
    """
    checked = np.ascontiguousarray(alphas, dtype=np.float64)
    if checked.ndim != 2 or len(checked) != documents:
        raise InputError(f"{model}: priors of shape {checked.shape}; give a row of K to each of {documents} documents")
    if not np.all((checked >= 0.0) & np.isfinite(checked)):
        raise InputError(
            f"{model}: a Dirichlet parameter that is negative or undefined; 0 is for topics that are left out"
        )
    empty = np.flatnonzero(~checked.any(axis=1))
    if len(empty):
        raise InputError(f"{model}: document {empty[0]} has no topic; leave it out, or give all documents a common one")
    return checked


class OwnPriors:
    """The state of a chain: topics of all tokens, and their counts.

    Attributes:
        assignments: (N,) int64, the topics of the tokens, document by document, a document's by word.
        in_document: (D, K) c_ik.
        in_word: (V, K) c_vk.
    """

    def __init__(self, X: sp.sparray | NDArray[np.float64], alphas: Floats, gamma: float, model: str) -> None:
        """Take (D, V) counts X and (D, K) `alphas`; `model` is for messages.

        Raises:
            InputError: for counts that are not whole, bad priors, or a gamma that is not positive.
        """
        counts = checked_counts(X, model, whole=True)
        if not 0.0 < gamma < np.inf:
            raise InputError(f"{model}: gamma is {gamma}; it must be positive and finite")
        n = counts.data.astype(np.int64)
        self.tokens = np.repeat(counts.indices.astype(np.int64), n)
        entries = np.concatenate([np.zeros(1, np.int64), np.cumsum(n)])
        self.offsets = entries[counts.indptr.astype(np.int64)]
        self.rows = np.repeat(np.arange(counts.shape[0]), np.diff(self.offsets))
        self.gamma, self.assignments = float(gamma), np.full(len(self.tokens), UNASSIGNED, dtype=np.int64)
        self.alphas = checked_priors(alphas, counts.shape[0], model)
        self.in_word = np.zeros((counts.shape[1], self.alphas.shape[1]))
        self._topic_counts = np.zeros(self.alphas.shape[1])

    def sweep(self, random: np.random.Generator) -> None:
        """Draw every token's topic once; the first time given the topics of the tokens before it."""
        rows, topics = np.nonzero(self.alphas)
        firsts = np.searchsorted(rows, np.arange(len(self.alphas) + 1)).astype(np.int64)
        _sweep(
            *(self.tokens, self.offsets, firsts, topics.astype(np.int64), self.alphas[rows, topics], self.gamma),
            *(self.assignments, self.in_word, self._topic_counts, random.random(len(self.tokens))),
        )

    @property
    def in_document(self) -> Floats:
        """c_ik, (D, K)."""
        counts = np.zeros_like(self.alphas)
        np.add.at(counts, (self.rows, self.assignments), 1.0)
        return counts

    @property
    def components(self) -> Floats:
        """E[b | q, y], (K, V): (c_vk + gamma) / (c_k + V gamma)."""
        counts = self.in_word.T + self.gamma
        return np.ascontiguousarray(counts / counts.sum(axis=1, keepdims=True))

    def log_joint(self) -> float:
        """Return log p(y, q), nats, pi and b integrated out (27.34, 27.36)."""
        V, K = self.in_word.shape
        words = gammaln(self.in_word + self.gamma).sum() - gammaln(self.in_word.sum(axis=0) + V * self.gamma).sum()
        words += K * (gammaln(V * self.gamma) - V * gammaln(self.gamma))
        return float(words) + float(log_assignments(self.in_document, self.alphas).sum())


class AllTopics(OwnPriors):
    """The state of a chain over documents that have all topics, by LDA's sampler; arguments as in `OwnPriors`."""

    def __init__(self, X: sp.sparray | NDArray[np.float64], alphas: Floats, gamma: float, model: str) -> None:
        """Take the arguments of `OwnPriors`; raises InputError also for a parameter of 0 or a count from 2^24 on."""
        super().__init__(X, alphas, gamma, model)
        if not self.alphas.all():
            raise InputError(f"{model}: a Dirichlet parameter is 0; every document must have every topic")
        V, K = self.in_word.shape
        if max(np.bincount(self.tokens, minlength=1).max(), np.diff(self.offsets).max()) >= LARGEST_COUNT:
            raise InputError(f"{model}: a word or a document has {LARGEST_COUNT} tokens or more; divide the corpus")
        self._chains = Chains(self.tokens.astype(np.int32), self.offsets, V, K, 1)

    def sweep(self, random: np.random.Generator) -> None:
        """Draw every token's topic once; the first time given the topics of the tokens before it."""
        self._chains.sweep([self.alphas], [self.gamma], random.random((1, len(self.tokens)), dtype=np.float32))
        assignments, in_word, _ = self._chains.chain(0)
        self.assignments = assignments.astype(np.int64)
        self.in_word = in_word[:, : self.alphas.shape[1]].astype(np.float64)


def log_assignments(in_document: Floats, alphas: Floats) -> Floats:
    """Return log p(q_i | alpha_i), (D,) nats, of topics with the counts c_ik, (D, K), under (D, K) parameters."""
    safe = np.where(alphas > 0.0, alphas, 1.0)  # topics that a document does not have add gammaln(1) - gammaln(1)
    each = gammaln(safe + in_document) - gammaln(safe)
    total = alphas.sum(axis=1)
    result: Floats = gammaln(total) - gammaln(total + in_document.sum(axis=1)) + each.sum(axis=1)
    return result
