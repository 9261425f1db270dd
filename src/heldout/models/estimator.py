"""scikit-learn's parameter conventions, without importing scikit-learn, which would cost every job a second."""

import inspect
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Self, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError

Class = TypeVar("Class")


def checked_counts(
    X: sp.sparray | NDArray[Any], model: str, *, empty: bool = False, whole: bool = False
) -> sp.csr_array:
    """Return (D, V) counts, sparse or dense, as a sparse array of positive float64 numbers; `model` is for the message.

    Raises:
        InputError: for a negative or undefined count, one that is not whole, where they must be `whole`, or counts
            without tokens, where they may not be `empty`.
    """
    matrix: Any = X  # scipy's stubs do not know that csr_array takes any of these
    counts: sp.csr_array = sp.csr_array(matrix, dtype=float, copy=True)  # what follows works in place
    counts.sum_duplicates()
    counts.eliminate_zeros()
    if not (np.all(counts.data > 0.0) and np.all(np.isfinite(counts.data))):
        raise InputError(f"{model}: the counts hold a negative or undefined number")
    if counts.nnz == 0 and not empty:
        raise InputError(f"{model}: the documents hold no tokens")
    if whole and not np.all(counts.data == np.floor(counts.data)):
        raise InputError(f"{model}: the counts hold a number that is not whole")
    return counts


def provenance(model: str, corpus: Corpus, seed: int, **details: Any) -> dict[str, Any]:
    """Return the provenance of trained topics: model, corpus, number of training documents, seed and `details`."""
    return {"model": model, "corpus": corpus.name, "documents": corpus.n_documents, "seed": seed, **details}


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(model: type[Class]) -> type[Class]:
    """Make a class's annotated fields its parameters: arguments of its constructor, stored under their own names."""
    return dataclass(kw_only=True, eq=False, repr=False)(model)


@estimator
class Estimator:
    """Base class of estimators with scikit-learn's conventions for parameters.

    Args:
        n_components: K; the one parameter that may be given by position.
        random_state: the generator of all that is random, or its seed.
    """

    n_components: int = field(default=2, kw_only=False)
    random_state: np.random.Generator | int | None = None

    @classmethod
    def of(cls, settings: Any, n_components: int, **params: Any) -> Self:
        """Return an estimator with the parameters that it shares with a dataclass of settings, by name, and others."""
        names = {field.name for field in fields(cls) if field.init} & {field.name for field in fields(settings)}
        return cls(n_components, **{**{name: getattr(settings, name) for name in names}, **params})

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's arguments by name."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self; raises ValueError for a name that the constructor does not have."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which its searches and pipelines ask for."""
        utils = import_module("sklearn.utils")
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags() if hasattr(self, "transform") else None,
            input_tags=utils.InputTags(sparse=True),
        )


@estimator
class TopicEstimator(Estimator):
    """An estimator of a model of documents with a prior of their weights; `heldout.log_likelihood` scores it."""

    n_components: int = field(default=10, kw_only=False)
