"""Settings, experiments and exhibits of models of ratings (sections 27.6.2 and 27.7.3.2)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Several
from heldout.models.settings import Count, Positive


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Settings of `ratings`."""

    topics: Annotated[Several[Annotated[Count, Le(14)]], doc("numbers K of factors of all models that are compared")]
    factors: Annotated[Several[Count], doc("numbers K of factors of matrix factorisation, as points and by exact EM")]
    iterations: Annotated[Count, doc("largest number of iterations of least squares, EM and co-clustering")]
    restarts: Annotated[Count, doc("number of restarts of co-clustering")]
    epochs: Annotated[Count, doc("number of passes of the RBM over the users")]
    batch: Annotated[Count, doc("number of users of a gradient of the RBM")]
    rate: Annotated[Positive, doc("rate of gradient ascent of the RBM, at first")]
    decay: Annotated[float, Ge(0), doc("decay of the RBM's weights")]
    samples: Annotated[int, Ge(2), doc("number of samples of a user's vector, where densities are binned")]


@dataclass(frozen=True, kw_only=True)
class RatingCurves:
    """Settings of `rating-curves`."""

    topics: Annotated[int, Ge(2), doc("number K of factors against passes, and of the first two factors")]
    factors: Annotated[Several[Count], doc("numbers K of factors against numbers of parameters")]
    clusters: Annotated[Count, doc("number of clusters of users and of items in the picture of co-clusters")]
    share: Annotated[float, Gt(0), Lt(1), doc("share of every user's ratings held out")]
    passes: Annotated[Count, doc("number of passes over the ratings, and of rounds of least squares and EM")]
    rate: Annotated[Positive, doc("rate of stochastic gradient descent")]
    shown: Annotated[Count, doc("number of items at each end of a factor that are named")]


EXPERIMENTS = {
    "ratings": Experiment(Ratings),
    "rating-curves": Experiment(RatingCurves),
}
EXHIBITS = {
    "table-ratings": Exhibit(
        "models of ratings on the same new users",
        "exhibits.models",
        ("ratings", "records"),
    ),
    "table-factorisation": Exhibit(
        "folding in against the likelihood of matrix factorisation",
        "exhibits.folding_in",
        ("ratings",),
    ),
    "figure-27-27": Exhibit(
        "co-clusters of users and films", "exhibits.figure_27_27", ("rating-curves",), original="Figure 27.27"
    ),
    "figure-27-28": Exhibit(
        "the first two factors of films", "exhibits.figure_27_28", ("rating-curves",), original="Figure 27.28"
    ),
    "figure-27-29": Exhibit(
        "errors of predicted ratings against passes and parameters",
        "exhibits.figure_27_29",
        ("rating-curves",),
        original="Figure 27.29",
    ),
}
