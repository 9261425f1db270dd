"""Experiments and exhibits on ratings (sections 27.6.2 and 27.7.3.2), for the manifest."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_ratings

EXPERIMENTS = {
    "ratings": Experiment(settings_ratings.Ratings),
    "rating-curves": Experiment(settings_ratings.RatingCurves),
}
EXHIBITS: dict[str, Exhibit] = {}
