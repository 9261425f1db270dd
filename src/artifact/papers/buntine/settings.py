"""The settings of the experiments on Buntine (2009)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, MaxLen, Unit, doc

from artifact.study.settings import AnyNamed, Named, Several
from heldout.models.settings import Count, Positive

Samples = Annotated[int, Ge(0)]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Settings of `calibration`."""

    gammas: Annotated[Several[Positive], doc("Dirichlet parameters of the topics, each of a set of pairs")]
    pairs: Annotated[int, Ge(2), doc("number of pairs of a model and a document, each reported")]
    more_pairs: Annotated[int, Ge(2), doc("number of pairs behind the reported mean error, the former included")]
    samples: Annotated[int, Ge(2), doc("number of samples of every estimator")]
    topics: Annotated[Count, doc("number K of topics")]
    words: Annotated[Count, doc("size J of the vocabulary")]
    tokens: Annotated[Count, Unit("tokens"), doc("length L of a document")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of theta")]


@dataclass(frozen=True, kw_only=True)
class ConvergenceToExact:
    """Settings of `convergence-to-exact`."""

    numbers_of_topics: Annotated[Several[Count], doc("number K of topics of each pair")]
    tokens: Annotated[Several[Count], Unit("tokens"), doc("length L of the document of each pair")]
    words: Annotated[Count, doc("size J of the vocabulary")]
    gamma: Annotated[Positive, doc("Dirichlet parameter of the topics")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of theta")]
    samples: Annotated[Several[Count], doc("numbers of samples of every estimator, ascending")]
    runs: Annotated[Count, doc("number of runs of every estimator at every number of samples")]


@dataclass(frozen=True, kw_only=True)
class ModelSelection:
    """Settings of `model-selection`; estimators are names of `heldout.evaluators.ESTIMATORS`."""

    training_documents: Annotated[Several[Count], doc("numbers of training documents of all models")]
    control: Annotated[
        Named[str, Samples],
        MaxLen(1),
        Unit("samples"),
        doc("estimator on all held-out documents, to which the estimators on some documents are referred"),
    ]
    samples: Annotated[
        AnyNamed[str, Samples], Unit("samples"), doc("samples of every other estimator on all documents")
    ]
    some_documents: Annotated[
        int, Ge(2), doc("number of documents, called some, that the reference and their own estimators score")
    ]
    some_samples: Annotated[
        Named[str, Samples],
        Unit("samples"),
        doc("samples of every estimator on some documents, both left-to-right samplers among them"),
    ]
    fold_in_sweeps: Annotated[Count, doc("number of sweeps of folding in")]
    reference_particles: Annotated[Count, doc("number of particles of the reference")]
    reference_runs: Annotated[int, Ge(2), doc("number of independent runs of the reference")]
    reading_particles: Annotated[Count, doc("number of particles of every reading of section 3.5")]
    reading_documents: Annotated[int, Ge(2), doc("number of the some documents that every reading estimates")]
    check_samples: Annotated[
        int, Ge(2), doc("number of samples of the sequential sampler that is held against the reference")
    ]
    check_documents: Annotated[int, Ge(2), doc("number of the some documents that this sampler estimates")]


@dataclass(frozen=True, kw_only=True)
class MeanRatio:
    """Settings of `mean-ratio`."""

    documents: Annotated[int, Ge(2), doc("number of documents drawn, estimated with the first number of samples")]
    fewer_documents: Annotated[
        int, Ge(2), doc("number of these documents that every other number of samples estimates")
    ]
    samples: Annotated[Several[Annotated[int, Ge(2)]], doc("numbers of samples of both left-to-right samplers")]
    words: Annotated[Count, doc("size of the vocabulary of the model that is drawn without a corpus")]
    mean_length: Annotated[Positive, Unit("tokens"), doc("mean length of this model's documents")]
    limit: Annotated[float, Ge(0), Unit("updates"), doc("work up to which the likelihood is exact")]
    reference_error: Annotated[Positive, Unit("nats per document"), doc("standard error that the reference aims at")]
    reference_samples: Annotated[
        int, Ge(240), Unit("sweeps per document"), doc("largest number of samples of the reference")
    ]
