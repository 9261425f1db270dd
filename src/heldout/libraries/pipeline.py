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
SEED = "random_state"  # name of the seed, of estimators and functions


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


def fitter(model: Any, *, several: bool = False) -> Callable[[int, Any, int], Any]:
    """Return the function that fits a model of a number of topics to documents with a seed.

    The seed is the `random_state` of an estimator or function; one that sets its own keeps it, unless fits are several.

    Raises:
        InputError: for anything that is neither a function nor an estimator with a number of components, and for fits
            with several seeds by one that takes none.
    """
    if inspect.isclass(model) or not hasattr(model, "get_params"):
        if inspect.isclass(model) or not callable(model):
            raise InputError(
                f"a {type(model).__name__}; give an unfitted estimator of scikit-learn, or a function of a number of"
                " topics and of documents"
            )
        try:
            part = inspect.signature(model).parameters.get(SEED)
        except ValueError:  # of a compiled function
            part = None
        keyword = _seeded(model, part is not None, part.default if part else None, SEED, several=several)
        return lambda K, documents, seed: model(K, documents, **dict.fromkeys(keyword, seed))
    from sklearn.base import clone

    step, settings = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else "", model.get_params()
    if f"{step}{COMPONENTS}" not in settings:
        raise InputError(f"{type(model).__name__}: without {COMPONENTS}; give a function of a number of topics")
    name = f"{step}{SEED}"
    keyword = _seeded(model, name in settings, settings.get(name), name, several=several)
    return lambda K, documents, seed: (
        clone(model).set_params(**{f"{step}{COMPONENTS}": K} | dict.fromkeys(keyword, seed)).fit(documents)
    )


def _seeded(model: Any, takes: bool, default: Any, name: str, *, several: bool) -> tuple[str, ...]:
    """Return the name of the seed where a model is to be given one."""
    if several and not takes:
        who = getattr(model, "__name__", type(model).__name__)
        raise InputError(f"restarts: {who} takes no {SEED}, by which its fits would differ; add it, or leave them out")
    unset = default is None or default is inspect.Parameter.empty
    return (name,) if takes and (several or unset) else ()
