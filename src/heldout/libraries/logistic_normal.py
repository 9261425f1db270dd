"""Topics with a logistic-normal prior: tomotopy's `CTModel`, arrays, and what R's `stm` and `topicmodels::CTM` write.

tomotopy's theta is the softmax of K normal variables, that of R's packages of K - 1 and a 0
(`heldout.evaluators.logistic_normal.LogisticNormalTopics.of` takes both). Files: `NAME.csv` holds phi, a line per topic
under a line of the words, `NAME.mean.csv` mu and `NAME.covariance.csv` Sigma, both without names.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.evaluators.logistic_normal import LogisticNormalTopics
from heldout.libraries.arrays import read_rows
from heldout.libraries.checks import TEXT_TOLERANCE, distributions, numbers, vocabulary_of


def from_any(model: Any, vocabulary: Sequence[str] | None = None) -> LogisticNormalTopics | None:
    """Return a model's topics where its prior is logistic normal, and None for any other model.

    Args:
        model: `LogisticNormalTopics`, a trained tomotopy `CTModel`, a triple (phi, mu, Sigma), or the path of a CSV
            file of phi beside those of mu and Sigma.
        vocabulary: the V words, where the model names none.

    Raises:
        InputError: for such a model that is damaged or not trained.

    Examples:
        >>> from_any(([[0.9, 0.1], [0.2, 0.8]], [0.0], [[1.0]]), ["ape", "bear"]).n_topics
        2
        >>> from_any(([[0.9, 0.1], [0.2, 0.8]], 0.1)) is None
        True
    """
    if isinstance(model, LogisticNormalTopics):
        vocabulary_of(model.vocabulary, vocabulary, model.phi.shape[1], "LogisticNormalTopics")
        return model
    tomotopy = sys.modules.get("tomotopy")
    if tomotopy is not None and isinstance(model, tomotopy.CTModel):
        words = list(model.used_vocabs)  # before training get_topic_word_dist reads memory that is not there
        if not words:
            raise InputError("CTModel: it has no words; train it first")
        phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], dtype=np.float64)
        return _made(phi, model.prior_mean, model.prior_cov, words, vocabulary, "CTModel", "tomotopy")
    if isinstance(model, tuple) and len(model) == 3:
        return _made(*model, None, vocabulary, "(phi, mu, Sigma)", "arrays")
    if isinstance(model, str | Path) and Path(model).with_suffix(".mean.csv").exists():
        return read_csv(Path(model), vocabulary)
    return None


def read_csv(path: Path, vocabulary: Sequence[str] | None = None) -> LogisticNormalTopics:
    """Read topics, mu and Sigma from three CSV files (see the module).

    Raises:
        InputError: names file and line.
    """
    header, rows = read_rows(path, ",")
    _, mean = read_rows(path.with_suffix(".mean.csv"), ",")
    _, covariance = read_rows(path.with_suffix(".covariance.csv"), ",")
    mu = np.array(mean)
    if 1 not in mu.shape:
        raise InputError(
            f"{path.with_suffix('.mean.csv')}: {mu.shape[0]} lines of {mu.shape[1]}; an stm with prevalence covariates"
            " has a mean for every document: score the documents of each mean by themselves"
        )
    return _made(np.array(rows), mu.ravel(), np.array(covariance), header, vocabulary, str(path), "csv")


def _made(
    phi: Any,
    mean: Any,
    covariance: Any,
    own: Sequence[str] | None,
    vocabulary: Sequence[str] | None,
    where: str,
    library: str,
) -> LogisticNormalTopics:
    topics: NDArray[np.float64] = distributions(numbers(phi, "phi", where), where, TEXT_TOLERANCE, "phi")
    words, _ = vocabulary_of(own, vocabulary, topics.shape[1], where)
    mu, sigma = numbers(mean, "mu", where), numbers(covariance, "Sigma", where)
    return LogisticNormalTopics.of(topics, mu, sigma, words, {"library": library})
