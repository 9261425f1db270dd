"""Run an estimator of the likelihood by its name."""

import importlib

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.evaluation import Evaluation
from heldout.topics import Topics


def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Run one estimator of `ESTIMATORS` by name.

    Raises:
        InputError: for an unknown estimator, or as the estimator does.
    """
    if name not in ESTIMATORS:
        raise InputError(f"there is no estimator {name}; there are {', '.join(ESTIMATORS)}")
    module = name.replace("-", "_")
    evaluation: Evaluation = getattr(importlib.import_module(f"heldout.evaluators.{module}"), module)(
        topics, documents, samples, rng
    )
    return evaluation
