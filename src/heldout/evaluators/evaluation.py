"""The evaluators' result, `Evaluation`, and code that they share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import AnyTopics, Components, Topics
from heldout.typing import Floats, Ints

FoldIn = Callable[[Any, Corpus], Floats]  # (topics or components, documents) -> theta or h, (D, K)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Per-document log-likelihoods.

    Attributes:
        log_likelihood: (D,) nats, over each document's scored tokens; -inf where a token has probability 0.
        tokens: (D,) the number of scored tokens.
        standard_error: (D,) Monte Carlo error as the evaluator states it, nats; 0 if deterministic, NaN if it states
            none.
        tokens_left_out: the number of tokens, over all documents, whose word is not in the topics' vocabulary.
        bias: (D,) nats, an estimate of the error that the values share, as far as it is known and not corrected.
    """

    log_likelihood: Floats
    tokens: Ints
    standard_error: Floats
    tokens_left_out: int = 0
    bias: Floats | None = None

    def total_error(self, documents: Ints | slice = slice(None)) -> float:
        """Return the error of the sum over documents, nats: their errors are independent, their biases add up.

        Examples:
            >>> errors, biases = np.array([3.0, 4.0]), np.array([6.0, 6.0])
            >>> Evaluation(np.zeros(2), np.ones(2, np.int64), errors, bias=biases).total_error()
            13.0
        """
        error = math.sqrt(float((self.standard_error[documents] ** 2).sum()))
        return error if self.bias is None else math.hypot(error, float(self.bias[documents].sum()))

    @classmethod
    def deterministic(cls, log_likelihood: Floats, tokens: Ints, tokens_left_out: int = 0) -> "Evaluation":
        """Return an evaluation of log-likelihoods (D,), nats, without Monte Carlo error."""
        return cls(log_likelihood, tokens, np.zeros(len(log_likelihood)), tokens_left_out)


class KernelArrays(NamedTuple):
    """Documents and topics in the form that kernels take.

    Attributes:
        tokens: (N,) int32, one document after the other; words outside the topics' vocabulary are left out.
        offsets: (D + 1,) int64; document d is tokens[offsets[d]:offsets[d + 1]].
        phi_by_word: (V, K) float64.
        alpha: (K,) float64.
        lengths: (D,) tokens per document.
        left_out: how many tokens were left out.
    """

    tokens: NDArray[np.int32]
    offsets: Ints
    phi_by_word: Floats
    alpha: Floats
    lengths: Ints
    left_out: int


def kernel_arrays(topics: Topics, documents: Corpus) -> KernelArrays:
    """Return documents and topics as contiguous arrays; words outside the topics' vocabulary are left out."""
    documents, left_out = in_vocabulary(documents, topics)
    return KernelArrays(
        np.ascontiguousarray(documents.tokens, dtype=np.int32),
        np.ascontiguousarray(documents.offsets, dtype=np.int64),
        topics.phi_by_word,
        np.ascontiguousarray(topics.alpha, dtype=np.float64),
        documents.lengths,
        left_out,
    )


class Annealing(NamedTuple):
    """Annealing runs of D documents towards their likelihoods, for `heldout.evaluators.reference`.

    Attributes:
        log_weights: returns (D, S) log weights, nats, of S runs of each document in (D,) steps; their exponentials have
            the mean p(w). Every call takes new random numbers.
        lengths: (D,) tokens per document.
        left_out: how many tokens were left out.
    """

    log_weights: Callable[[Ints, int], Floats]
    lengths: Ints
    left_out: int


def check_samples(estimator: str, samples: int, least: int = 1) -> None:
    """Check that an estimator has as many samples as it needs.

    Raises:
        InputError: for fewer; names the estimator and both numbers.
    """
    if samples < least:
        raise InputError(f"{estimator}: {samples} samples; draw {least} or more")


def corrected(found: Evaluation, *, consistent: bool = True) -> Evaluation:
    """Return estimates with the bias of their logarithms, e^2 / 2: corrected if consistent, and stated.

    The logarithm of an unbiased estimate is low by about e^2 / 2 if it has the standard error e (delta method): little
    for one document, but these biases add up over documents. Since e is an estimate itself, and too small where weights
    have long tails, as much again is stated as the bias that may be left.
    """
    bias = found.standard_error**2 / 2.0
    value = found.log_likelihood + (np.nan_to_num(bias) if consistent else 0.0)  # NaN: no error is stated
    return replace(found, log_likelihood=value, bias=bias)


def log_mean(log_weights: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of a mean of independent weights and its standard error by the delta method.

    With S weights w_s of mean m and standard deviation s, log m has the standard error s / (m sqrt(S)).

    Args:
        log_weights: (D, S), nats; -inf is a weight of 0.

    Returns:
        (D,) log mean, nats, -inf where every weight is 0; (D,) its standard error, 0 where it is -inf, NaN for one
        weight.

    Examples:
        >>> import numpy as np
        >>> value, error = log_mean(np.log([[1.0, 3.0]]))
        >>> np.exp(value), error
        (array([2.]), array([0.5]))
    """
    highest = log_weights.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    weights = np.exp(log_weights - shift)
    mean = weights.mean(axis=1)
    samples = log_weights.shape[1]
    with np.errstate(divide="ignore"):
        value = np.log(mean) + shift[:, 0]
    if samples == 1:
        return value, np.where(mean > 0.0, np.nan, 0.0)
    spread = weights.std(axis=1, ddof=1)
    error = np.divide(spread, mean * np.sqrt(samples), out=np.zeros(len(value)), where=mean > 0.0)
    return value, error


class FirstChain(NamedTuple):
    """One chain's topics, for an experiment that evaluates a single chain.

    Attributes:
        topics: smoothed, unless a Markov chain sampled them.
        smoothing: the constant added to p(w | z); 0 if none was.
        chain: the Markov chain's number, "none" for a model without chains.
        sampled: whether a Markov chain sampled the topics.
    """

    topics: Topics
    smoothing: float
    chain: str
    sampled: bool


def first_chain(chains: Sequence[Topics], smoothing: float) -> FirstChain:
    """Return the first chain's topics, smoothed unless they were sampled (then phi has a prior of its own)."""
    topics = chains[0]
    sampled = "chain" in topics.provenance
    smoothing = 0.0 if sampled else smoothing
    smoothed = topics.smoothed(smoothing) if smoothing > 0.0 else topics
    return FirstChain(smoothed, smoothing, str(topics.provenance.get("chain", "none")), sampled)


def in_vocabulary(documents: Corpus, topics: AnyTopics | Components) -> tuple[Corpus, int]:
    """Return the documents over the topics' vocabulary, and how many tokens outside it were left out."""
    return documents.over(topics.vocabulary)


def predictive(
    chains: Sequence[AnyTopics | Components], observed: Corpus, scored: Corpus, fold_in: FoldIn
) -> Evaluation:
    """Score tokens by the predictive distribution of their documents, folded in on other tokens or on the same.

    log p = sum over scored tokens w of log (1/S) sum_s p_s(w | theta_s)      (equation 5.37)

    where theta_s is the document folded in on its observed tokens under chain s of S, and p_s(w | theta_s) is what the
    chain's `probabilities` gives: sum_k phi_s[k, w] theta_s[k] for topics. Values in nats.

    Args:
        chains: the topics of each chain; their predictive distributions are averaged.
        observed: the D documents' tokens that the fold-in sees.
        scored: the same documents' tokens that are scored; words outside the vocabulary are left out and counted.
        fold_in: returns theta, (D, K), for topics and documents.

    Raises:
        InputError: when there is no chain, or the chains' vocabularies differ.
    """
    if not chains:
        raise InputError("predictive: there are no topics to score with")
    if any(topics.vocabulary != chains[0].vocabulary for topics in chains):
        raise InputError("predictive: the chains do not share one vocabulary; train them on the same corpus")
    observed, _ = in_vocabulary(observed, chains[0])
    scored, left_out = in_vocabulary(scored, chains[0])
    counts = scored.counts()
    rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    words = counts.indices.astype(np.int32)
    probabilities = np.zeros(counts.nnz)
    for topics in chains:
        probabilities += topics.probabilities(fold_in(topics, observed), rows, words)
    with np.errstate(divide="ignore"):  # a word of probability 0 gives -inf, which the score reports
        terms = counts.data * np.log(probabilities / len(chains))
    log_likelihood = np.zeros(counts.shape[0])
    np.add.at(log_likelihood, rows, terms)
    return Evaluation.deterministic(log_likelihood, scored.lengths, left_out)
