"""The evaluators' result, `Evaluation`, and code that they share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import AnyTopics, Components, Topics
from heldout.typing import Floats, Ints


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

    The (N,) tokens of one document after the other, without words outside the topics' vocabulary, of which `left_out`
    says how many there were; document d is tokens[offsets[d]:offsets[d + 1]]; phi_by_word is (V, K), alpha (K,),
    lengths (D,).
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

    `log_weights` returns (D, S) log weights, nats, of S runs of each document in (D,) steps, by new random numbers at
    every call; their exponentials have the mean p(w). The rest is as in `KernelArrays`.
    """

    log_weights: Callable[[Ints, int], Floats]
    lengths: Ints
    left_out: int


def check_samples(estimator: str, samples: int, least: int = 1) -> None:
    """Raise InputError with the estimator's name if it has fewer samples than it needs."""
    if samples < least:
        raise InputError(f"{estimator}: {samples} samples; draw {least} or more")


def corrected(estimates: Evaluation, *, consistent: bool = True) -> Evaluation:
    """Return estimates with the bias of their logarithms, e^2 / 2: corrected if consistent, and stated.

    The logarithm of an unbiased estimate is low by about e^2 / 2 if it has the standard error e (delta method): little
    for one document, but these biases add up over documents. Since e is an estimate itself, and too small where weights
    have long tails, as much again is stated as the bias that may be left.
    """
    bias = estimates.standard_error**2 / 2.0
    value = estimates.log_likelihood + (np.nan_to_num(bias) if consistent else 0.0)  # NaN: no error is stated
    return replace(estimates, log_likelihood=value, bias=bias)


def log_mean(log_weights: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of a mean of independent weights and its standard error by the delta method.

    With S weights w_s of mean m and standard deviation s, log m has the standard error s / (m sqrt(S)).

    Of (D, S) log weights, nats, -inf for a weight of 0, it returns the (D,) log mean, -inf where every weight is 0, and
    its (D,) standard error, 0 where that is -inf and NaN for one weight.

    Examples:
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


def first_chain(chains: Sequence[Topics], smoothing: float) -> tuple[Topics, float, str, bool]:
    """Return the first chain's topics, smoothed unless a Markov chain sampled them: then phi has a prior of its own.

    Also returns the constant that was added to p(w | z), 0 if none was; the Markov chain's number, "none" for a model
    without chains; and whether one sampled the topics.
    """
    topics = chains[0]
    sampled = "chain" in topics.provenance
    smoothing = 0.0 if sampled else smoothing
    smoothed = topics.smoothed(smoothing) if smoothing > 0.0 else topics
    return smoothed, smoothing, str(topics.provenance.get("chain", "none")), sampled


def in_vocabulary(documents: Corpus, topics: AnyTopics | Components) -> tuple[Corpus, int]:
    """Return the documents over the topics' vocabulary, and the number of tokens outside it."""
    return documents.over(topics.vocabulary)
