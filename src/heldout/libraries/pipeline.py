"""scikit-learn's `Pipeline` and its searches: the model inside, and the steps that make its documents.

A pipeline that begins with a vectorizer of texts names its model's words, and its texts become counts by its own rules.
Steps before a model without such a vectorizer are applied to matrices.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from heldout.errors import InputError

COMPONENTS = "n_components"  # name of the number of topics in scikit-learn's estimators


@dataclass(frozen=True)
class Unwrapped:
    """A model and the pipeline of the steps that make its documents; None without steps."""

    model: Any
    before: Any = None

    @property
    def reads_texts(self) -> bool:
        """Whether one of the steps before the model divides texts into words."""
        return self.before is not None and any(hasattr(step, "build_analyzer") for _, step in self.before.steps)

    @property
    def words(self) -> tuple[str, ...] | None:
        """The model's words in its order, if a vectorizer names them."""
        if not self.reads_texts:
            return None
        try:
            return tuple(map(str, self.before.get_feature_names_out()))
        except (AttributeError, ValueError):  # a hashing vectorizer has no words; one that is not fitted has none yet
            return None

    def counts(self, documents: Any) -> Any:
        """Return documents as the model takes them; documents that it takes already are returned unchanged.

        Raises:
            InputError: for texts without a vectorizer, or where the steps fail.
        """
        texts = as_texts(documents)
        if texts is not None and not self.reads_texts:
            raise InputError(
                "these documents are texts, and the model has no vectorizer; give"
                " sklearn.pipeline.make_pipeline(vectorizer, model) with the one it was fitted with, or lists of words"
            )
        if self.before is None or (texts is None) == self.reads_texts:
            return documents
        if texts is None and len(getattr(documents, "shape", ())) != 2:  # a path, lists of words or a stream
            return documents
        try:
            return self.before.transform(documents if texts is None else texts)
        except Exception as error:  # steps of any library
            reason = f"{type(error).__name__}: {error!s:.200}"
            raise InputError(f"the pipeline's steps before the model fail on these documents ({reason})") from error


def as_texts(documents: Any) -> list[str] | None:
    """Return documents that are one text each (a list, an array, a column of a table) as a list; None for others."""
    one_column = len(getattr(documents, "shape", (0,))) == 1
    if isinstance(documents, str | bytes | Mapping | Set) or not (
        isinstance(documents, Sequence) or (one_column and hasattr(documents, "tolist"))
    ):
        return None
    texts = list(documents)
    return texts if texts and all(isinstance(text, str) for text in texts) else None


def unwrap(model: Any) -> Unwrapped:
    """Return the model inside a fitted search or a pipeline; any other model unchanged."""
    model = getattr(model, "best_estimator_", model)
    module = sys.modules.get("sklearn.pipeline")
    if module is None or not isinstance(model, module.Pipeline):
        return Unwrapped(model)
    return Unwrapped(model.steps[-1][1], model[:-1] if len(model.steps) > 1 else None)


def fitter(model: Any) -> Callable[[int, Any], Any]:
    """Return the function that fits a model of a number of topics to documents.

    Raises:
        InputError: for anything that is neither a function nor an estimator with a number of components.
    """
    if inspect.isclass(model) or not hasattr(model, "get_params"):
        if inspect.isclass(model) or not callable(model):
            raise InputError(
                f"a {type(model).__name__}; give an unfitted estimator of scikit-learn, or a function of a number of"
                " topics and of documents"
            )
        return lambda K, documents: model(K, documents)
    from sklearn.base import clone

    names = [name for name in model.get_params() if name.rpartition("__")[2] == COMPONENTS]
    last = f"{model.steps[-1][0]}__{COMPONENTS}" if hasattr(model, "steps") else COMPONENTS
    if last not in names:
        raise InputError(f"{type(model).__name__}: without {COMPONENTS}; give a function of a number of topics")
    return lambda K, documents: clone(model).set_params(**{last: K}).fit(documents)
