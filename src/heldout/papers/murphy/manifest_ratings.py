"""Experiments and exhibits on ratings (sections 27.6.2 and 27.7.3.2), for the manifest."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_ratings

EXPERIMENTS = {
    "ratings": Experiment(settings_ratings.Ratings),
    "rating-curves": Experiment(settings_ratings.RatingCurves),
}
EXHIBITS = {
    "table-ratings": Exhibit(
        "models of ratings on the same new users",
        "tables_ratings.models",
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
        "tables_ratings.folding_in",
        ("ratings",),
        claims=("degenerate-pmf-overfits",),
    ),
    "figure-27-27": Exhibit(
        "co-clusters of users and films", "figures_ratings.figure_27_27", ("rating-curves",), original="Figure 27.27"
    ),
    "figure-27-28": Exhibit(
        "the first two factors of films", "figures_ratings.figure_27_28", ("rating-curves",), original="Figure 27.28"
    ),
    "figure-27-29": Exhibit(
        "errors of predicted ratings against passes and parameters",
        "figures_ratings.figure_27_29",
        ("rating-curves",),
        original="Figure 27.29",
        claims=("unregularised-overfits", "priors-reduce-overfitting", "offsets-reduce-error"),
    ),
}
