"""The settings of the experiments on Buntine (2009)."""

from collections.abc import Mapping
from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Settings of `calibration`."""

    gammas: tuple[float, ...] = setting("Dirichlet parameters of the topics, a set of pairs each", above=0)
    pairs: int = setting("of a model and a document, each reported", least=2)
    more_pairs: int = setting("of which the mean error is reported, those among them", least=2)
    samples: int = setting("of every estimator", least=2)
    topics: int = setting("K", least=1)
    words: int = setting("J, the size of the vocabulary", least=1)
    tokens: int = setting("L, length of a document", "tokens", least=1)
    alpha: float = setting("Dirichlet parameter of theta", above=0)


@dataclass(frozen=True, kw_only=True)
class ConvergenceToExact:
    """Settings of `convergence-to-exact`."""

    numbers_of_topics: tuple[int, ...] = setting("K of each pair", least=1)
    tokens: tuple[int, ...] = setting("L of each pair, length of its document", "tokens", least=1)
    words: int = setting("J, the size of the vocabulary", least=1)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    alpha: float = setting("Dirichlet parameter of theta", above=0)
    samples: tuple[int, ...] = setting("of every estimator, ascending", least=1)
    runs: int = setting("of every estimator at every number of samples", least=1)


@dataclass(frozen=True, kw_only=True)
class ModelSelection:
    """Settings of `model-selection`; estimators are names of `heldout.evaluators.ESTIMATORS`."""

    training_documents: tuple[int, ...] = setting("of all models", least=1)
    control: Mapping[str, int] = setting(
        "the estimator of all held-out documents that those of some are referred to", "samples", least=0, greatest=1
    )
    samples: Mapping[str, int] = setting("of every other estimator of all documents", "samples", least=0, fewest=0)
    some_documents: int = setting("that the estimators of some, and the reference, score", least=2)
    some_samples: Mapping[str, int] = setting(
        "of every estimator of some documents, both left-to-right samplers among them", "samples", least=0
    )
    fold_in_sweeps: int = setting("of folding in", least=1)
    reference_particles: int = setting("of the reference", least=1)
    reference_runs: int = setting("independent runs of the reference", least=2)
    reading_particles: int = setting("of every reading of section 3.5", least=1)
    reading_documents: int = setting("of the some, estimated by every reading", least=2)
    check_samples: int = setting("of the sequential sampler that is held against the reference", least=2)
    check_documents: int = setting("of the some, on which it is", least=2)


@dataclass(frozen=True, kw_only=True)
class MeanRatio:
    """Settings of `mean-ratio`."""

    documents: int = setting("that are drawn, and estimated with the first number of samples", least=2)
    fewer_documents: int = setting("of them, estimated with every other number of samples", least=2)
    samples: tuple[int, ...] = setting("of both left-to-right samplers", least=2)
    words: int = setting("vocabulary of the model that is drawn without a corpus", least=1)
    mean_length: float = setting("of its documents", "tokens", above=0)
    limit: float = setting("work up to which the likelihood is exact", "updates", least=0)
    reference_error: float = setting("of the reference, that is aimed at", "nats per document", above=0)
    reference_samples: int = setting("of the reference, at most", "sweeps per document", least=240)
