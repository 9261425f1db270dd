r"""The likelihood of LDA-HMM (Murphy 2012, equations 27.61 to 27.64): exact, by sampling weights, and at the best ones.

Exact. Give every token a topic, as 27.62 does, also where the state hides it, and integrate pi out. The counts C of
topics among the first l tokens and the state z_l are all that the next token needs: with m_l(C, z) the sum over all
states and topics of the first l tokens,

    m_{l+1}(C, z') = sum_k (alpha_k + C_k - 1) / (alpha. + l) e_k(z') sum_z A(z, z') m_l(C - e_k, z),

e_k(0) = B_LDA(k, y_{l+1}), e_k(c) = B_HMM(c, y_{l+1}), and p(y) = sum m_L. A layer has S = C + 1 times C(L + K - 1,
K - 1) values, kept in a cube of (L + 1)^(K - 1): whole documents at K = 2, some hundred tokens at K = 3. Layers are
divided by their sums. What falls below the smallest number, 1e-308 of a layer, is lost; with two topics Gaussian
quadrature over pi, of which p(y | pi) is a polynomial, checks that it is nothing (`heldout`'s tests).

Importance sampling. Given pi what is left is a hidden Markov model, whose p(y | pi) a forward pass sums; so p(y) is
the mean of p(y | pi) p(pi) / q(pi) over draws from q. With m the expected numbers of content tokens by topic at pi =
(alpha + m) / sum(alpha + m), pilot draws come from Dirichlet distributions of alpha + s m: words tell their topics and
states in part, so that the posterior is wider than at s = 1; s = 0, the prior, reaches the other modes that a small
alpha has. A Dirichlet of the pilot's weighted mean and precision, that with half and with twice the precision, and the
pilot's are the q of the draws that count. Given the pilot
their mean is p(y). All is in logs of pi, which may fall below the smallest number where alpha is small.

Best weights. max_pi p(y | pi), by EM over pi of the hidden Markov model that is left given pi: full folding-in.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from gallery.extensions.models.lda_hmm import Parameters
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, check_samples, corrected, log_mean
from heldout.models.hmm import HMM
from heldout.typing import Floats

LARGEST_CUBE = 2**23  # largest number of values in a layer
SHARES = (1.0, 0.5, 0.25, 0.0)  # shares s of the pilot
PRECISIONS = (1.0, 0.5, 2.0)  # precisions of the matched distributions, by the pilot's
PARTS = len(SHARES) + len(PRECISIONS)
FLOOR = 0.5  # least parameter of these, by alpha
POINT_STEPS = 60  # steps to the fixed point


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


def lda_hmm_sampled(parameters: Parameters, documents: Corpus, samples: int, random: np.random.Generator) -> Evaluation:
    """Return log p(y) of every document by importance sampling over its weights, with its standard error.

    Of every document `samples` draws count, rounded up to a number from each of seven distributions, after half as
    many of the pilot.

    Raises:
        InputError: for fewer than two samples from each.
    """
    check_samples("LDA-HMM's importance sampling", samples, 2 * PARTS)
    samples = -(-samples // PARTS) * PARTS
    logs = [_log_weights(parameters, documents, d, samples, random) for d in range(documents.n_documents)]
    value, error = log_mean(np.array(logs))
    return corrected(Evaluation(value, documents.lengths, error))


def _log_weights(model: Parameters, documents: Corpus, d: int, samples: int, random: np.random.Generator) -> Floats:
    """Return log p(y | pi) p(pi) / q(pi) of every draw of pi, of document d."""
    m, alpha, own, tokens = (
        np.zeros(len(model.alpha)),
        model.alpha,
        _own_words(model, documents, d),
        documents.document(d),
    )
    if _forward_given(model, tokens, alpha[None] / alpha.sum())[0] == -math.inf:
        return np.full(samples, -math.inf)
    for _ in range(POINT_STEPS):
        m = _content(*own, (alpha + m) / (alpha + m).sum())
    pilot = [alpha + share * m for share in SHARES]
    log_pi, log_weights = _drawn(model, tokens, pilot, samples // 2, random)
    weights = np.exp(log_weights - logsumexp(log_weights))
    mean = weights @ np.exp(log_pi)
    variance = weights @ (np.exp(log_pi) - mean) ** 2
    seen = variance > 0.0
    precision = max(float(np.median((mean * (1.0 - mean))[seen] / variance[seen])) - 1.0, 1.0) if seen.any() else 1.0
    matched = [np.maximum(share * precision * mean, alpha * FLOOR) for share in PRECISIONS]
    return _drawn(model, tokens, [*matched, *pilot], samples, random)[1]


def _drawn(
    model: Parameters, tokens: NDArray[np.int32], mixed: Sequence[Floats], samples: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return log pi, (R, K), as many from each Dirichlet of `mixed`, and the logs of their weights, (R,)."""
    a = np.repeat(mixed, -(-samples // len(mixed)), axis=0)
    log_pi = np.log(random.standard_gamma(a + 1.0)) + np.log(random.random(a.shape)) / a  # log Gamma(a) of any a
    log_pi -= logsumexp(log_pi, axis=1, keepdims=True)
    q = logsumexp([_log_density(log_pi, each) for each in mixed], axis=0) - math.log(len(mixed))
    return log_pi, _forward_given(model, tokens, np.exp(log_pi)) + _log_density(log_pi, model.alpha) - q


def _log_density(log_pi: Floats, alpha: Floats) -> Floats:
    """Return log Dir(pi | alpha) of every row."""
    return np.asarray(gammaln(alpha.sum()) - gammaln(alpha).sum() + log_pi @ (alpha - 1.0))


def _forward_given(model: Parameters, tokens: NDArray[np.int32], pi: Floats) -> Floats:
    """Return log p(y | pi) of every row of pi, (R,): forward passes side by side."""
    content, others = pi @ model.topics[:, tokens], model.states[:, tokens]  # (R, L), (C, L)
    layer, value = np.tile(model.start, (len(pi), 1)), np.zeros(len(pi))
    for position in range(len(tokens)):
        layer = layer @ model.transitions if position else layer
        layer[:, 0] *= content[:, position]
        layer[:, 1:] *= others[:, position]
        total = layer.sum(axis=1)
        with np.errstate(divide="ignore"):
            value += np.log(total)
        layer /= np.where(total > 0.0, total, 1.0)[:, None]
    return value


def _own_words(model: Parameters, documents: Corpus, d: int) -> tuple[Parameters, Corpus]:
    """Return the parameters of a document's own words, and the document over them."""
    own = documents.subset([d])
    words = np.unique(own.tokens)
    own, _ = own.over(tuple(documents.vocabulary[w] for w in words))
    return model._replace(topics=np.ascontiguousarray(model.topics[:, words]), states=model.states[:, words]), own


def _content(model: Parameters, document: Corpus, weights: Floats) -> Floats:
    """Return the expected numbers of tokens of every topic in the topics' state, (K,), given the weights."""
    if not document.n_tokens:
        return np.zeros(len(weights))
    content = HMM(len(model.start), posterior="exact").ve_step(document, model.chain(weights)).emissions[0]
    mixed = weights @ model.topics
    shares = model.topics @ np.divide(content, mixed, out=np.zeros(len(content)), where=mixed > 0.0)
    return np.asarray(weights * shares)


def lda_hmm_folded_in(parameters: Parameters, documents: Corpus, iterations: int) -> Evaluation:
    """Return max_pi log p(y | pi) of every document, after EM iterations from equal weights."""
    values = np.zeros(documents.n_documents)
    for d in np.flatnonzero(documents.lengths):
        own, document = _own_words(parameters, documents, int(d))
        weights = np.full(len(parameters.alpha), 1.0 / len(parameters.alpha))
        for _ in range(iterations if len(weights) > 1 else 0):
            content = _content(own, document, weights)
            weights = content / content.sum() if content.any() else weights
        values[d] = HMM(len(own.start), posterior="exact").log_likelihood(document, own.chain(weights))[0]
    return Evaluation.deterministic(values, documents.lengths)
