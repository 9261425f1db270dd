"""The settings of the experiments on Welling et al. (2008)."""

from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Settings of `bounds`."""

    smoothing: float = setting("added to p(w | z) of PLSA", above=0, most=1)


@dataclass(frozen=True, kw_only=True)
class DiscreteLatents:
    """Settings of `discrete-latents`."""

    topics: tuple[int, ...] = setting("K, of components or states", least=1)
    smoothing: float = setting("added to every p(w | z) once, after training", least=0, most=1)
    iterations: int = setting("of training, at most", least=1)
    document_topics: int = setting("the largest K with every document's values", least=1, default=4)


@dataclass(frozen=True, kw_only=True)
class Normalisers:
    """Settings of `normalisers`."""

    lengths: tuple[int, ...] = setting("of the documents drawn; the corpus's mean length is added", "tokens", least=1)
    samples: int = setting("documents drawn at each length", least=2)
    smoothing: float = setting("added to p(w | z)", above=0, most=1)


@dataclass(frozen=True, kw_only=True)
class NormaliserLimits:
    """Settings of `normaliser-limits`."""

    topics: tuple[int, ...] = setting("K of the limits", least=1)


@dataclass(frozen=True, kw_only=True)
class PointPosteriors:
    """Settings of `point-posteriors`."""

    components: int = setting("K of all models but PCA", least=1)
    coordinates: int = setting("principal components that PCA keeps and the points have", least=1)
    floor: float = setting(
        "least eigenvalue of a covariance of the mixture of Gaussians", "variances of the points", above=0
    )
    noise: float = setting("noise variance of ICA", "variances of the points", above=0)
    iterations: int = setting("of all models but ICA, at most", least=1)
    ica_iterations: int = setting("of ICA, at most", least=1)
