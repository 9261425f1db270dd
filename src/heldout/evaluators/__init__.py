"""Evaluators: one estimate of a document's log-likelihood per file.

Each estimator in `ESTIMATORS` is a function with the name of its module and one of two signatures,

    estimator(topics, documents, samples, rng) -> Evaluation,        estimator(topics, documents) -> Evaluation

the second for a deterministic estimator. `heldout.evaluators.estimate` runs an estimator by name. To add one, add its
file and its line here: the conformance tests then compare it with the exact value.

Args of every estimator:
    topics: phi and alpha.
    documents: D documents; words outside the topics' vocabulary are left out and counted.
    samples: of each document, 1 or more; the estimator's docstring says what counts as one.
    rng: seeds one stream per document.

Returns:
    log-likelihoods of the token sequences, nats; -inf where a word has probability 0 under every topic, 0 for an empty
    document. Standard errors, nats, by the delta method where no other is named; NaN for one sample, 0 where nothing is
    sampled.

Raises:
    InputError: for too few samples, or another setting that is out of its range.

Examples:
    The topics and documents of all examples here:

    >>> import numpy as np
    >>> from heldout.corpora.corpus import Corpus
    >>> from heldout.topics import Topics
    >>> topics = Topics(np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]), np.ones(2), ("cat", "mat", "sat"))
    >>> documents = Corpus.from_documents("two", [("a", ["cat", "mat", "cat"]), ("b", ["sat"])])
"""

from dataclasses import dataclass
from typing import Literal

# the evaluators' names in all tables of scores and measurements
FULL = "full-folding-in"
HALF = "half-folding-in"
FOLDING_IN = (FULL, HALF)
EXACT = "exact-marginal"
REFERENCE = "reference"  # estimator of documents without an exact value
SEQUENTIAL = "left-to-right-sequential"
PARTICLES = "left-to-right"
UNRESAMPLED = "left-to-right-unresampled"
MEAN_FIELD_FIRST = "mean-field-importance"
MEAN_FIELD_SECOND = "mean-field-importance-second-order"
PSEUDO_COUNTS = "iterated-pseudo-counts"
ANNEALED = "annealed-importance"
CHIB = "chib"
EMPIRICAL = "empirical-likelihood"
HARMONIC = "harmonic-mean"
LINEAR = "linear-time"
MEAN_FIELD_BOUND = "mean-field-bound"
FOLDING_IN_BOUND = "folding-in-bound"
NML = "nml-penalised"
LAPLACE = "laplace-softmax"
COMPLETION = "document-completion"


@dataclass(frozen=True)
class EstimatorProperties:
    """An estimator's label and behaviour.

    Attributes:
        label: its name in figures and tables.
        behaviour: "consistent" (converges to log p(w | alpha, phi) as samples grow), "low" (a lower bound, or biased
            low), "high" (an upper bound, or biased high), "biased" (in either direction), "another distribution"
            (converges to a document's log-probability under another distribution over documents: biased low on average
            over documents drawn from the model, in either direction on others), or "other" (it estimates another
            quantity).
        deterministic: True if it draws nothing; it then takes neither samples nor rng.
        fewest: the least number of samples that it takes.
    """

    label: str
    behaviour: Literal["consistent", "low", "high", "biased", "another distribution", "other"]
    deterministic: bool
    fewest: int = 1


ESTIMATORS: dict[str, EstimatorProperties] = {
    EXACT: EstimatorProperties("exact", "consistent", True),
    REFERENCE: EstimatorProperties("annealing to the prior", "consistent", False, 240),
    SEQUENTIAL: EstimatorProperties("left-to-right sequential", "consistent", False),
    PARTICLES: EstimatorProperties("left-to-right", "another distribution", False),
    UNRESAMPLED: EstimatorProperties("left-to-right, no resampling", "another distribution", False),
    MEAN_FIELD_FIRST: EstimatorProperties("mean-field IS, 1st order", "consistent", False),
    MEAN_FIELD_SECOND: EstimatorProperties("mean-field IS, 2nd order", "consistent", False),
    PSEUDO_COUNTS: EstimatorProperties("iterated pseudo-counts", "consistent", False),
    ANNEALED: EstimatorProperties("annealed importance sampling", "consistent", False),
    CHIB: EstimatorProperties("Chib-style", "consistent", False),
    EMPIRICAL: EstimatorProperties("empirical likelihood", "consistent", False),
    HARMONIC: EstimatorProperties("harmonic mean", "high", False),
    LINEAR: EstimatorProperties("linear time", "biased", True),
    MEAN_FIELD_BOUND: EstimatorProperties("mean-field bound", "low", True),
    FOLDING_IN_BOUND: EstimatorProperties("folding-in bound", "low", True),
    LAPLACE: EstimatorProperties("Laplace, softmax basis", "biased", True),
    NML: EstimatorProperties("NML-penalised folding in", "other", True),
    COMPLETION: EstimatorProperties("document completion", "other", False),
}


def likelihood_estimators() -> list[str]:
    """Return the names of the estimators of log p(w | alpha, phi), without the comparisons `EXACT` and `REFERENCE`."""
    return [name for name, known in ESTIMATORS.items() if name not in (EXACT, REFERENCE) and known.behaviour != "other"]
