"""Topics with a logistic-normal prior: tomotopy's `CTModel`, arrays, and what R's `stm` and `topicmodels::CTM` write.

tomotopy's theta is the softmax of K normal variables, that of R's packages of K - 1 and a 0
(`heldout.evaluators.logistic_normal.LogisticNormalTopics.of` takes both). Files: `NAME.csv` holds phi, a line per topic
under a line of the words, `NAME.mean.csv` mu and `NAME.covariance.csv` Sigma, both without names. An .npz file holds
phi, mu and sigma (`heldout.libraries.arrays.read_npz`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.evaluators.logistic_normal import LogisticNormalTopics
from heldout.libraries import Fitted
from heldout.libraries.arrays import from_normal, read_rows
from heldout.libraries.checks import vocabulary_of
from heldout.limits import check_size


def from_any(model: Any, vocabulary: Sequence[str] | None = None) -> Fitted | None:
    """Make a `Fitted` of a model whose prior is logistic normal; return None for any other model.

    Args:
        model: `LogisticNormalTopics`, a trained tomotopy `CTModel`, a triple (phi, mu, Sigma), or the path of a CSV
            file of phi beside those of mu and Sigma.
        vocabulary: the V words, where the model names none.

    Raises:
        InputError: for such a model that is damaged or not trained.

    Examples:
        >>> from_any(([[0.9, 0.1], [0.2, 0.8]], [0.0], [[1.0]]), ["ape", "bear"]).topics.mean
        array([0.])
        >>> from_any(([[0.9, 0.1], [0.2, 0.8]], 0.1)) is None
        True
    """
    if isinstance(model, LogisticNormalTopics):
        vocabulary_of(model.vocabulary, vocabulary, model.phi.shape[1], "LogisticNormalTopics")
        return Fitted(model, "arrays")
    tomotopy = sys.modules.get("tomotopy")
    if tomotopy is not None and isinstance(model, tomotopy.CTModel):
        return from_tomotopy(model, vocabulary)
    if isinstance(model, tuple) and len(model) == 3:
        return from_normal(*model, None, vocabulary, "(phi, mu, Sigma)")
    if isinstance(model, str | Path) and Path(model).with_suffix(".mean.csv").exists():
        return read_csv(Path(model), vocabulary)
    return None


def from_tomotopy(
    model: Any, vocabulary: Sequence[str] | None = None, *, where: str = "CTModel", form: str = "object"
) -> Fitted:
    """Make a `Fitted` of a trained `CTModel`.

    Args:
        model: the model; its `used_vocabs` name the words.
        vocabulary: the same words, or None.
        where: the file, for messages.
        form: for the provenance.

    Raises:
        InputError: when it has no words.
    """
    import tomotopy

    words = list(model.used_vocabs)  # before training get_topic_word_dist reads memory that is not there
    if not words:
        raise InputError(f"{where}: it has no words; train it first")
    check_size(int(model.k), len(words), where)
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], dtype=np.float64)
    fitted = from_normal(phi, model.prior_mean, model.prior_cov, words, vocabulary, where, form, "tomotopy", model)
    fitted.topics.provenance["version"] = tomotopy.__version__
    return fitted


def read_csv(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
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
    return from_normal(np.array(rows), mu.ravel(), np.array(covariance), header, vocabulary, str(path), "csv")
