"""Evaluators: one estimate of a document's log-likelihood per file.

Those in `ESTIMATORS` have one signature: a function of the module's own name,

    estimator(topics, documents, samples, rng) -> Evaluation

with log-likelihoods and standard errors in nats per document. What one sample is, its docstring says; a deterministic
estimator takes no notice of `samples` and `rng`. To add one, add its file and its line here: the conformance tests
then hold it to the exact value.
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
class Estimator:
    """What is known of an estimator before it is run.

    Attributes:
        label: its name in figures and tables.
        behaviour: "consistent" (meets log p(w | alpha, phi) with enough samples), "low" (at most it, or biased
            towards less), "high" (at least it, or biased towards more), "biased" (either), or "other" (its target is
            another quantity).
        deterministic: True where samples and rng do not matter.
        source: where it comes from.
    """

    label: str
    behaviour: Literal["consistent", "low", "high", "biased", "other"]
    deterministic: bool
    source: str


ESTIMATORS: dict[str, Estimator] = {
    EXACT: Estimator("exact", "consistent", True, "this project"),
    SEQUENTIAL: Estimator("left-to-right sequential", "consistent", False, "Buntine (2009), 3.6"),
    PARTICLES: Estimator("left-to-right", "low", False, "Wallach (2008); Buntine (2009), 3.5"),
    UNRESAMPLED: Estimator("left-to-right, no resampling", "low", False, "Wallach et al. (2009); MALLET's default"),
    MEAN_FIELD_FIRST: Estimator("mean-field IS, 1st order", "consistent", False, "Buntine (2009), eq. 4"),
    MEAN_FIELD_SECOND: Estimator("mean-field IS, 2nd order", "consistent", False, "Buntine (2009), 3.3"),
    PSEUDO_COUNTS: Estimator("iterated pseudo-counts", "consistent", False, "Wallach et al. (2009)"),
    ANNEALED: Estimator("annealed importance sampling", "consistent", False, "Neal (2001)"),
    CHIB: Estimator("Chib-style", "consistent", False, "Murray and Salakhutdinov (2009)"),
    EMPIRICAL: Estimator("empirical likelihood", "consistent", False, "Li and McCallum (2006)"),
    HARMONIC: Estimator("harmonic mean", "high", False, "Buntine (2009), 3.2"),
    LINEAR: Estimator("linear time", "biased", True, "Scott and Baldridge (2013)"),
    MEAN_FIELD_BOUND: Estimator("mean-field bound", "low", True, "Blei, Ng and Jordan (2003)"),
    LAPLACE: Estimator("Laplace, softmax basis", "biased", True, "MacKay (1998)"),
    COMPLETION: Estimator("document completion", "other", False, "Wallach et al. (2009)"),
}
