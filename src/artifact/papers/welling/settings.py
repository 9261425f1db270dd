"""The settings of the experiments on Welling et al. (2008)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from artifact.study.settings import Several
from heldout.models.settings import Count, Positive


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Settings of `bounds`."""

    smoothing: Annotated[float, Gt(0), Le(1), doc("constant added to p(w | z) of PLSA")]


@dataclass(frozen=True, kw_only=True)
class DiscreteLatents:
    """Settings of `discrete-latents`."""

    topics: Annotated[Several[Count], doc("numbers K of components or states")]
    smoothing: Annotated[float, Ge(0), Le(1), doc("constant added to every p(w | z) once, after training")]
    iterations: Annotated[Count, doc("largest number of training iterations")]
    document_topics: Annotated[Count, doc("largest K with every document's values")] = 4


@dataclass(frozen=True, kw_only=True)
class Normalisers:
    """Settings of `normalisers`."""

    lengths: Annotated[
        Several[Count], Unit("tokens"), doc("lengths of the documents drawn; the corpus's mean length is added")
    ]
    samples: Annotated[int, Ge(2), doc("number of documents drawn at each length")]
    smoothing: Annotated[float, Gt(0), Le(1), doc("constant added to p(w | z)")]


@dataclass(frozen=True, kw_only=True)
class NormaliserLimits:
    """Settings of `normaliser-limits`."""

    topics: Annotated[Several[Count], doc("numbers K of topics of the limits")]


@dataclass(frozen=True, kw_only=True)
class PointPosteriors:
    """Settings of `point-posteriors`."""

    components: Annotated[Count, doc("number K of components of all models but PCA")]
    coordinates: Annotated[Count, doc("number of principal components of PCA and of the points")]
    floor: Annotated[
        Positive,
        Unit("variances of the points"),
        doc("smallest eigenvalue of a covariance of the mixture of Gaussians"),
    ]
    noise: Annotated[Positive, Unit("variances of the points"), doc("noise variance of ICA")]
    iterations: Annotated[Count, doc("largest number of iterations of all models but ICA")]
    ica_iterations: Annotated[Count, doc("largest number of iterations of ICA")]
