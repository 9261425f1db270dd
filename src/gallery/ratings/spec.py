"""Settings, experiments and exhibits of models of ratings (sections 27.6.2 and 27.7.3.2)."""

from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
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


EXPERIMENTS = {
    "ratings": Experiment(Ratings),
    "rating-curves": Experiment(RatingCurves),
}
EXHIBITS = {
    "table-ratings": Exhibit(
        "models of ratings on the same new users",
        "exhibits.models",
        ("ratings", "records"),
        claims=(
            "continuous-beats-discrete",
            "continuous-predicts-better",
            "offsets-give-likelihood",
            "learned-prior-of-users",
            "square-root-is-more-gaussian",
            "square-root-of-ratings",
            "rbm-outperforms-pmf",
            "rbm-predicts-better",
            "combined-has-more-likelihood",
            "combined-predicts-better",
            "persistent-chains-of-ratings",
        ),
    ),
    "table-factorisation": Exhibit(
        "folding in against the likelihood of matrix factorisation",
        "exhibits.folding_in",
        ("ratings",),
        claims=("degenerate-pmf-overfits",),
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
        claims=("unregularised-overfits", "priors-reduce-overfitting", "offsets-reduce-error"),
    ),
}
