r"""The likelihood of LDA-HMM (Murphy 2012, equations 27.61 to 27.64): exact, by particles, and at the best weights.

Exact. Give every token a topic, as 27.62 does, also where the state hides it, and integrate pi out. The counts C of
topics among the first l tokens and the state z_l are all that the next token needs: with m_l(C, z) the sum over all
states and topics of the first l tokens,

    m_{l+1}(C, z') = sum_k (alpha_k + C_k - 1) / (alpha. + l) e_k(z') sum_z A(z, z') m_l(C - e_k, z),

e_k(0) = B_LDA(k, y_{l+1}), e_k(c) = B_HMM(c, y_{l+1}), and p(y) = sum m_L. A layer has S = C + 1 times C(L + K - 1,
K - 1) values, kept in a cube of (L + 1)^(K - 1): whole documents at K = 2, some hundred tokens at K = 3. Layers are
divided by their sums. What falls below the smallest number, 1e-308 of a layer, is lost; with two topics Gaussian
quadrature over pi, of which p(y | pi) is a polynomial, checks that it is nothing (`heldout`'s tests).

Particles. Each has z_l and the counts of its content tokens' topics, and draws the next state and topic given the next
word; its weight is that word's probability. Particles are resampled, systematically, where their effective number falls
below a half. The product of mean weights has the mean p(y).

Best weights. max_pi p(y | pi), by EM over pi of the hidden Markov model that is left given pi: full folding-in.
"""

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from gallery.extensions.models.lda_hmm import Parameters
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, check_samples, corrected, log_mean
from heldout.models.hmm import HMM

LARGEST_CUBE = 2**23  # largest number of values in a layer
RESAMPLE = 0.5  # effective share of particles below which they are resampled


def lda_hmm_marginal(parameters: Parameters, documents: Corpus) -> Evaluation:
    """Return log p(y) of every document, exact.

    Raises:
        InputError: for a document whose last layer has more values than `LARGEST_CUBE`.

    Examples:
        >>> one = np.ones((1, 1))
        >>> free = Parameters(np.ones(1), one, np.array([[0.5, 0.5]]), np.empty((0, 2)), np.ones(1))  # a unigram
        >>> lda_hmm_marginal(free, Corpus.from_documents("tiny", [("d", ["a", "b"])])).log_likelihood.round(3)
        array([-1.386])
    """
    values = [_forward(parameters, documents.document(d)) for d in range(documents.n_documents)]
    return Evaluation.deterministic(np.array(values), documents.lengths)


def cube(length: int, topics: int, states: int) -> int:
    """Return the number of values in the last layer of a document of `length` tokens, with this many states in all."""
    return int((length + 1) ** (topics - 1) * states)


def _forward(parameters: Parameters, tokens: NDArray[np.int32]) -> float:
    start, transitions, topics, states, alpha = parameters
    K, S, L = len(alpha), len(start), len(tokens)
    if cube(L, K, S) > LARGEST_CUBE:
        raise InputError(
            f"LDA-HMM: {cube(L, K, S):.1e} values of a document of {L} tokens, {K} topics and {S} states, the limit is"
            f" {LARGEST_CUBE:.1e}; take shorter documents or fewer topics"
        )
    layer, value = np.ones((*(1,) * (K - 1), S)), 0.0
    for length, v in enumerate(tokens):
        reached = layer @ transitions if length else layer * start
        emitted = np.vstack([topics[:, v], np.repeat(states[:, v, None], K, axis=1)])  # (S, K)
        grown = np.zeros((*(length + 2,) * (K - 1), S))
        inner = tuple(slice(0, length + 1) for _ in range(K - 1))
        rest = np.full((1,) * K, float(length))
        for k in range(K - 1):  # C_k of the cells along the k-th axis
            counts = np.arange(length + 1.0).reshape([-1 if axis == k else 1 for axis in range(K)])
            place = tuple(slice(1, length + 2) if axis == k else inner[axis] for axis in range(K - 1))
            grown[place] += reached * ((alpha[k] + counts) * emitted[:, k])
            rest = rest - counts
        grown[inner] += reached * (np.maximum(alpha[K - 1] + rest, 0.0) * emitted[:, K - 1])
        total = float(grown.sum()) / (float(alpha.sum()) + length)
        if total == 0.0:
            return -math.inf
        value += math.log(total)
        layer = grown / grown.sum()
    return value


@nb.njit(cache=True)
def _particles(tokens, start, transitions, topics, states, alpha, particles, uniforms):  # type: ignore[no-untyped-def]
    """Return one estimate of log p(y) from uniforms (L, particles + 1)."""
    K, S, L = alpha.shape[0], start.shape[0], tokens.shape[0]
    z, counts, content = np.zeros(particles, np.int64), np.zeros((particles, K)), np.zeros(particles)
    weights, value = np.full(particles, 1.0 / particles), 0.0
    sums, parents = np.empty(K + S - 1), np.empty(particles, np.int64)
    for position in range(L):
        v, mean = tokens[position], 0.0
        for n in range(particles):
            total = 0.0
            for c in range(S):
                moved = transitions[z[n], c] if position > 0 else start[c]
                if c == 0:
                    for k in range(K):
                        total += moved * (alpha[k] + counts[n, k]) / (alpha.sum() + content[n]) * topics[k, v]
                        sums[k] = total
                else:
                    total += moved * states[c - 1, v]
                    sums[K + c - 1] = total
            threshold, choice = uniforms[position, n] * total, 0
            while choice < K + S - 2 and sums[choice] <= threshold:
                choice += 1
            z[n] = 0 if choice < K else choice - K + 1
            if choice < K:
                counts[n, choice] += 1.0
                content[n] += 1.0
            weights[n] *= total
            mean += weights[n]
        if mean == 0.0:
            return -np.inf
        value += math.log(mean)
        squares = 0.0
        for n in range(particles):
            weights[n] /= mean
            squares += weights[n] ** 2
        if 1.0 / squares < RESAMPLE * particles:
            parent, reached = 0, weights[0]
            for n in range(particles):
                wanted = (n + uniforms[position, particles]) / particles
                while reached < wanted and parent < particles - 1:
                    parent += 1
                    reached += weights[parent]
                parents[n] = parent
            z, counts, content = z[parents], counts[parents], content[parents]
            weights[:] = 1.0 / particles
    return value


def lda_hmm_particles(
    parameters: Parameters, documents: Corpus, particles: int, runs: int, random: np.random.Generator
) -> Evaluation:
    """Return log p(y) of every document by particle filters, with the standard error of the mean of independent runs.

    Raises:
        InputError: for no particle or fewer than two runs.
    """
    check_samples("LDA-HMM's particle filter", particles)
    check_samples("LDA-HMM's particle filter, runs", runs, 2)
    logs = np.empty((documents.n_documents, runs))
    for d in range(documents.n_documents):
        tokens = documents.document(d).astype(np.int64)
        for run in range(runs):
            logs[d, run] = _particles(tokens, *parameters, particles, random.random((len(tokens), particles + 1)))
    value, error = log_mean(logs)
    return corrected(Evaluation(value, documents.lengths, error))


def lda_hmm_folded_in(parameters: Parameters, documents: Corpus, iterations: int) -> Evaluation:
    """Return max_pi log p(y | pi) of every document, after EM iterations from equal weights."""
    values, hmm = np.empty(documents.n_documents), HMM(len(parameters.start), posterior="exact")
    for d in range(documents.n_documents):
        own = documents.subset([d])
        words = np.unique(own.tokens)
        own, _ = own.over(tuple(documents.vocabulary[w] for w in words))
        topics = np.ascontiguousarray(parameters.topics[:, words])
        seen_words = parameters._replace(topics=topics, states=parameters.states[:, words])
        weights = np.full(len(parameters.alpha), 1.0 / len(parameters.alpha))
        if len(words) and len(weights) > 1:
            for _ in range(iterations):
                content = hmm.ve_step(own, seen_words.chain(weights)).emissions[0]
                mixed = weights @ topics
                weights = weights * (topics @ np.divide(content, mixed, out=np.zeros(len(words)), where=mixed > 0.0))
                weights /= weights.sum()
        values[d] = hmm.log_likelihood(own, seen_words.chain(weights))[0] if len(words) else 0.0
    return Evaluation.deterministic(values, documents.lengths)
