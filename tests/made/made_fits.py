"""Models trained and folded in with settings by name."""

from types import ModuleType
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.typing import Floats


def train_with(module: ModuleType, corpus: Corpus, *, topics: int, seed: int, **settings: Any) -> list[Any]:
    """Train a model of a module with its settings."""
    trained: list[Any] = module.train(corpus, module.Training(**settings), topics=topics, seed=seed)
    return trained


def fold_with(module: ModuleType, topics: Any, documents: Corpus, *, seed: int, **settings: Any) -> Floats:
    """Fold documents in with a module's settings."""
    folded: Floats = module.fold_in(topics, documents, module.FoldingIn(**settings), seed=seed)
    return folded


def fit_from(model: Any, X: Any, start: Any) -> Any:
    """Fit an estimator from these values, in place of its random start."""
    model.start = lambda *_: start
    return model.fit(X)
