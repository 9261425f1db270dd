"""Evaluators: one estimate of a document's log-likelihood per file.

Those in `ESTIMATORS` have one signature: a function of the module's own name,

    estimator(topics, documents, samples, rng) -> Evaluation,        estimator(topics, documents) -> Evaluation

the latter for a deterministic one, with log-likelihoods and standard errors in nats per document. What one sample is,
its docstring says. `heldout.evaluators.estimate` runs either by its name. To add one, add its file and its line here:
the conformance tests then hold it to the exact value.
"""

from dataclasses import dataclass
from typing import Literal

# how every table of scores and of measurements spells them
FULL = "full-folding-in"
HALF = "half-folding-in"
FOLDING_IN = (FULL, HALF)
EXACT = "exact-marginal"
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
LAPLACE = "laplace-softmax"
COMPLETION = "document-completion"


@dataclass(frozen=True)
class EstimatorProperties:
    """What is known of an estimator before it runs.

    Attributes:
        label: its name in figures and tables.
        behaviour: "consistent" (meets log p(w | alpha, phi) with enough samples), "low" (at most it, or biased
            towards less), "high" (at least it, or biased towards more), "biased" (either), or "other" (its target is
            another quantity).
        deterministic: whether it draws nothing, and takes no samples and no rng.
        source: where it comes from.
    """

    label: str
    behaviour: Literal["consistent", "low", "high", "biased", "other"]
    deterministic: bool
    source: str


ESTIMATORS: dict[str, EstimatorProperties] = {
    EXACT: EstimatorProperties("exact", "consistent", True, "this project"),
    SEQUENTIAL: EstimatorProperties("left-to-right sequential", "consistent", False, "Buntine (2009), 3.6"),
    PARTICLES: EstimatorProperties("left-to-right", "low", False, "Wallach (2008); Buntine (2009), 3.5"),
    UNRESAMPLED: EstimatorProperties(
        "left-to-right, no resampling", "low", False, "Wallach et al. (2009); MALLET's default"
    ),
    MEAN_FIELD_FIRST: EstimatorProperties("mean-field IS, 1st order", "consistent", False, "Buntine (2009), eq. 4"),
    MEAN_FIELD_SECOND: EstimatorProperties("mean-field IS, 2nd order", "consistent", False, "Buntine (2009), 3.3"),
    PSEUDO_COUNTS: EstimatorProperties("iterated pseudo-counts", "consistent", False, "Wallach et al. (2009)"),
    ANNEALED: EstimatorProperties("annealed importance sampling", "consistent", False, "Neal (2001)"),
    CHIB: EstimatorProperties("Chib-style", "consistent", False, "Murray and Salakhutdinov (2009)"),
    EMPIRICAL: EstimatorProperties("empirical likelihood", "consistent", False, "Li and McCallum (2006)"),
    HARMONIC: EstimatorProperties("harmonic mean", "high", False, "Buntine (2009), 3.2"),
    LINEAR: EstimatorProperties("linear time", "biased", True, "Scott and Baldridge (2013)"),
    MEAN_FIELD_BOUND: EstimatorProperties("mean-field bound", "low", True, "Blei, Ng and Jordan (2003)"),
    LAPLACE: EstimatorProperties("Laplace, softmax basis", "biased", True, "MacKay (1998)"),
    COMPLETION: EstimatorProperties("document completion", "other", False, "Wallach et al. (2009)"),
}


def of_likelihood() -> list[str]:
    """Return the estimators of log p(w | alpha, phi): all but its exact value and those of another quantity.

    Examples:
        >>> EXACT in of_likelihood(), SEQUENTIAL in of_likelihood()
        (False, True)
    """
    return [name for name, known in ESTIMATORS.items() if name != EXACT and known.behaviour != "other"]
