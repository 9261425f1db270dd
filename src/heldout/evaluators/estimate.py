"""Estimators of the likelihood, called by name."""

import importlib

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.evaluation import Evaluation
from heldout.topics import AnyTopics


def estimate(name: str, topics: AnyTopics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Run one estimator of `ESTIMATORS` by name.

    Other arguments and the result are as in `heldout.evaluators`; a deterministic estimator ignores samples and
    rng. Raises InputError for an unknown estimator, or as the estimator raises it.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> estimate("left-to-right-sequential", topics, documents, 1000, rng).log_likelihood.round(2)
        array([-3.71, -0.8 ])
    """
    if name not in ESTIMATORS:
        raise InputError(f"there is no estimator {name}; there are {', '.join(ESTIMATORS)}")
    module = name.replace("-", "_")
    estimator = getattr(importlib.import_module(f"heldout.evaluators.{module}"), module)
    evaluation: Evaluation = estimator(topics, documents, *(() if ESTIMATORS[name].deterministic else (samples, rng)))
    return evaluation
