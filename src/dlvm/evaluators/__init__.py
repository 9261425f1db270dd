"""Evaluators: one estimate of a document's log-likelihood per file.

Those in `ESTIMATORS` have one signature: a function of the module's own name,

    estimator(topics, documents, samples, rng) -> Evaluation

with log-likelihoods and standard errors in nats per document. What one sample is, its docstring says; a deterministic
estimator takes no notice of `samples` and `rng`. To add one, add its file and its line here: the conformance tests
then hold it to the exact value.
"""

import importlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.evaluators.evaluation import Evaluation
from dlvm.models.topics import Topics


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
    "exact-marginal": Estimator("exact", "consistent", True, "this project"),
    "left-to-right-sequential": Estimator("left-to-right sequential", "consistent", False, "Buntine (2009), 3.6"),
    "left-to-right": Estimator("left-to-right", "low", False, "Wallach (2008); Buntine (2009), 3.5"),
    "left-to-right-unresampled": Estimator(
        "left-to-right, no resampling", "low", False, "Wallach et al. (2009); MALLET's default"
    ),
    "mean-field-importance": Estimator("mean-field IS, 1st order", "consistent", False, "Buntine (2009), eq. 4"),
    "mean-field-importance-second-order": Estimator(
        "mean-field IS, 2nd order", "consistent", False, "Buntine (2009), 3.3"
    ),
    "iterated-pseudo-counts": Estimator("iterated pseudo-counts", "consistent", False, "Wallach et al. (2009)"),
    "annealed-importance": Estimator("annealed importance sampling", "consistent", False, "Neal (2001)"),
    "chib": Estimator("Chib-style", "consistent", False, "Murray and Salakhutdinov (2009)"),
    "empirical-likelihood": Estimator("empirical likelihood", "consistent", False, "Li and McCallum (2006)"),
    "harmonic-mean": Estimator("harmonic mean", "high", False, "Buntine (2009), 3.2"),
    "linear-time": Estimator("linear time", "biased", True, "Scott and Baldridge (2013)"),
    "mean-field-bound": Estimator("mean-field bound", "low", True, "Blei, Ng and Jordan (2003)"),
    "laplace-softmax": Estimator("Laplace, softmax basis", "biased", True, "MacKay (1998)"),
    "document-completion": Estimator("document completion", "other", False, "Wallach et al. (2009)"),
}


def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Run one estimator of `ESTIMATORS` by name.

    Raises:
        InputError: for an unknown estimator, or as the estimator does.
    """
    if name not in ESTIMATORS:
        raise InputError(f"there is no estimator {name}; there are {', '.join(ESTIMATORS)}")
    module = name.replace("-", "_")
    evaluation: Evaluation = getattr(importlib.import_module(f"dlvm.evaluators.{module}"), module)(
        topics, documents, samples, rng
    )
    return evaluation
