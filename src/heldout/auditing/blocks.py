"""The evaluators over a block of documents.

Documents are evaluated in blocks of `BLOCK` from the first. The random numbers of a document depend on its block, its
place there and the seed, so results do not depend on processes, their order or interruptions.

A block is evaluated over its own words and one more that stands for all others, phi[k, other] = 1 - sum_w phi[k, w]: no
evaluator uses words that do not occur, and the cost of a block does not depend on V.

The prior decides how the likelihood is computed (`heldout.evaluators.priors`), and whether there is a bound; folding-in
asks for no prior.

Estimates are corrected for the bias of their logarithms (`corrected`); `heldout.evaluators.reference` has corrected its
values and states its own.
"""

import importlib.metadata
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.document_priors import costs
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.own_priors import exact_or_reference
from heldout.evaluators.priors import prior_of
from heldout.evaluators.reference import CHAINS, VARIANCE, reference
from heldout.models.plsa import fold_in_counts
from heldout.seeds import generator
from heldout.topics import AnyTopics, Topics
from heldout.typing import Floats, Ints

# tolerance to the maximum, nats per token
FOLD_IN: dict[str, Any] = {"iterations": 1_000, "tolerance": 1e-4, "extrapolated": True}
MEAN_FIELD: dict[str, Any] = {"iterations": 10_000, "tolerance": 1e-9}  # the least gain of an iteration, nats per token
BLOCK, BATCH = 16, 500  # documents that are evaluated together, and that a library is given at a time
LIKELIHOOD, REPORTED = "likelihood", "reported"  # the likelihood itself, by any estimator; the library's own number
UNIGRAM, UNIFORM = "unigram", "uniform"  # baselines: one distribution over words for all documents
ERROR, BIAS, HALF_TOKENS = "error", "bias", "half-tokens"  # two of the likelihood; scored by half folding-in
EVERY = (MEAN_FIELD_BOUND, FULL, HALF, LIKELIHOOD)
COLUMNS = (*EVERY, ERROR, BIAS, HALF_TOKENS)  # a document's values, in the store's order


class Work(NamedTuple):
    """The estimator of the likelihood and its settings, the same for every document.

    Attributes:
        estimator: its name in `heldout.evaluators.ESTIMATORS`.
        samples: per document, for "reference" at most; 0 for a deterministic estimator.
        seed: determines the halves and the estimator's draws.
        reason: why this estimator and this many samples, one sentence.
        variance: of a log weight, nats^2, at which "reference" stops spending sweeps.
        chains: of "reference".
        parts: what is evaluated, of `EVERY`; the values of the others are NaN.
        exact_below: updates that a document's exact likelihood may take, under priors of the documents' own, where the
            estimator is another; of those that take more it is estimated.
    """

    estimator: str
    samples: int
    seed: int
    reason: str
    variance: float = VARIANCE
    chains: int = CHAINS
    parts: tuple[str, ...] = EVERY
    exact_below: float = 0.0

    def settings(self) -> dict[str, Any]:
        """Return the settings that the values depend on, beside model and documents, JSON-compatible."""
        fitting = {"fold_in": FOLD_IN, "mean_field": MEAN_FIELD, "halves": "a document's tokens divided at random"}
        return {
            "seed": self.seed,
            "estimator": self.estimator,
            "samples": self.samples,
            "variance": self.variance,
            "chains": self.chains,
            "order": "of texts their own, of bags of words random",
            "block": BLOCK,
            "heldout": importlib.metadata.version("heldout"),
            **({"exact_below": self.exact_below} if self.exact_below else {}),
            **(fitting if FULL in self.parts else {}),
        }


def sum_error(errors: Floats, bias: Floats) -> float:
    """Return the error of a sum over documents, nats.

    Errors of documents are independent, but their biases add up. The biases are estimates, and noisy where sweeps are
    few: their sum may be near 0 by chance. So each counts as a part of its document's error, too.

    Args:
        errors: (D,) standard errors, bias included.
        bias: (D,) the biases.
    """
    return math.hypot(float(np.linalg.norm(errors)), float(bias.sum()))


def ratio_error(values: Floats, sizes: Floats | Ints) -> float:
    """Return the standard error, over documents, of sum_d x_d / sum_d L_d = r; inf for fewer than two documents.

    s^2 = D / (D - 1) sum_d (x_d - r L_d)^2 / (sum_d L_d)^2, of a ratio of two sums by the delta method (Cochran 1977,
    section 6.8). What the x_d were estimated with is in it.

    Args:
        values: (D,) x_d.
        sizes: (D,) L_d, positive.
    """
    D, N = len(values), float(sizes.sum())
    if D < 2 or not N:
        return math.inf
    residuals = values - float(values.sum()) / N * sizes
    return math.sqrt(D / (D - 1) * float((residuals**2).sum())) / N


def batches(documents: Corpus, size: int = BATCH) -> Iterator[tuple[int, Corpus]]:
    """Yield documents in batches, each with the place of its first document."""
    for first in range(0, documents.n_documents, size):
        yield first, documents.subset(range(first, min(first + size, documents.n_documents)))


def parts_of(topics: AnyTopics) -> tuple[str, ...]:
    """Return the parts of `EVERY` that can be evaluated under the topics' prior."""
    return tuple(name for name in EVERY if name != MEAN_FIELD_BOUND or name in prior_of(topics).estimators)


def local(topics: AnyTopics, documents: Corpus, first: int) -> tuple[AnyTopics, Corpus]:
    """Return consecutive documents, and the topics, over the documents' own words (see the module).

    Args:
        topics: phi and the prior; one of the documents' own has those of all documents.
        documents: the documents over the topics' words.
        first: the first document's place among all.
    """
    words, tokens = np.unique(documents.tokens, return_inverse=True)
    phi = np.array(topics.phi_by_word[words].T, dtype=np.float64, order="C")
    if len(words) < len(topics.phi_by_word):
        phi = np.column_stack([phi, np.maximum(1.0 - phi.sum(axis=1), 0.0)])
    vocabulary, places = tuple(map(str, range(phi.shape[1]))), np.arange(first, first + documents.n_documents)
    here = Corpus("audit", vocabulary, tokens.astype(np.int32), documents.offsets, tuple(map(str, places)))
    prior = topics.of_documents(places)
    return replace(prior, phi=np.ascontiguousarray(phi), vocabulary=vocabulary, provenance={}), here


def fold_in(topics: AnyTopics, documents: Corpus) -> Floats:
    """Return the weights, (D, K), of each document's topics that make it most likely, to within `FOLD_IN`."""

    def fold(here: AnyTopics, places: Ints) -> Floats:
        return fold_in_counts(here, documents.subset(places).counts(), **FOLD_IN)

    return topics.by_support(documents.n_documents, fold)


def _bound(topics: AnyTopics, documents: Corpus, _: Work, __: int) -> Evaluation:
    def bound(here: Topics, places: Ints) -> Floats:
        return mean_field_bound(here, documents.subset(places), **MEAN_FIELD).log_likelihood

    return Evaluation.deterministic(topics.by_prior(documents.n_documents, bound), documents.lengths, 0)


def _full(topics: AnyTopics, documents: Corpus, _: Work, __: int) -> Evaluation:
    return full_folding_in([topics], documents, fold_in)


def _half(topics: AnyTopics, documents: Corpus, work: Work, _: int) -> Evaluation:
    return predictive([topics], *half_split(documents, work.seed), fold_in)


def _likelihood(topics: Any, documents: Corpus, work: Work, first: int) -> Evaluation:
    rng = generator("audit", block=first // BLOCK, seed=work.seed)
    if work.estimator == EXACT:  # `choose_estimator` has checked the cost
        return prior_of(topics).exact(topics, documents)
    if work.exact_below:
        cheap = costs(documents.lengths, topics.alphas) <= work.exact_below
        return exact_or_reference(
            topics, documents, cheap, work.samples, rng, chains=work.chains, variance=work.variance
        )
    if work.estimator == REFERENCE:
        return reference(topics, documents, work.samples, rng, chains=work.chains, variance=work.variance)
    found = estimate(work.estimator, topics, documents, work.samples, rng)
    return corrected(found, consistent=ESTIMATORS[work.estimator].behaviour == "consistent")


PARTS: dict[str, Callable[[Any, Corpus, Work, int], Evaluation]] = {
    MEAN_FIELD_BOUND: _bound,
    FULL: _full,
    HALF: _half,
    LIKELIHOOD: _likelihood,
}


def evaluate(topics: AnyTopics, documents: Corpus, first: int, work: Work) -> Floats:
    """Return the values of a block's documents, (D, len(COLUMNS)), nats.

    Args:
        topics: phi over the documents' words, and the prior (`local`).
        documents: the documents.
        first: the first document's place among all.
        work: the likelihood's estimator.
    """
    values = dict.fromkeys(COLUMNS, np.full(documents.n_documents, np.nan))
    for name in work.parts:
        evaluation = PARTS[name](topics, documents, work, first)
        values[name] = evaluation.log_likelihood
        if name == LIKELIHOOD:
            unknown = np.zeros(documents.n_documents)
            values |= {ERROR: evaluation.standard_error, BIAS: unknown if evaluation.bias is None else evaluation.bias}
        if name == HALF:
            values[HALF_TOKENS] = evaluation.tokens.astype(np.float64)
    return np.column_stack([values[name] for name in COLUMNS])
