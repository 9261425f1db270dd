"""The settings of the experiments on ratings (Murphy 2012, sections 27.6.2 and 27.7.3.2)."""

from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Settings of `ratings`."""

    topics: tuple[int, ...] = setting("K of all models that are compared", least=1, most=14)
    factors: tuple[int, ...] = setting("K of matrix factorisation, as points and by exact EM", least=1)
    iterations: int = setting("of least squares, EM and co-clustering, at most", least=1)
    restarts: int = setting("of co-clustering", least=1)
    epochs: int = setting("of the RBM, passes over the users", least=1)
    batch: int = setting("users of a gradient of the RBM", least=1)
    rate: float = setting("of gradient ascent of the RBM, at first", above=0)
    decay: float = setting("of the RBM's weights", least=0)
    samples: int = setting("of a user's vector, where densities are binned", least=2)


@dataclass(frozen=True, kw_only=True)
class RatingCurves:
    """Settings of `rating-curves`."""

    topics: int = setting("K against passes, and of the first two factors", least=2)
    factors: tuple[int, ...] = setting("K against numbers of parameters", least=1)
    clusters: int = setting("of users and of items in the picture of co-clusters", least=1)
    share: float = setting("of every user's ratings held out", above=0, below=1)
    passes: int = setting("over the ratings, and rounds of least squares and EM", least=1)
    rate: float = setting("of stochastic gradient descent", above=0)
    shown: int = setting("items at each end of a factor that are named", least=1)
