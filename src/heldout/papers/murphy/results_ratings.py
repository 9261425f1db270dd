"""Scores and measurements of the experiments on ratings read back."""

import math
from typing import TYPE_CHECKING, NamedTuple

from heldout.effects import per_token
from heldout.evaluators import COMPLETION, FULL, HALF
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import rating_curves as curves
from heldout.papers.murphy.experiments import ratings as of
from heldout.papers.murphy.families import FAMILY_OF
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.members.mixtures import MixtureOfCategoricals
from heldout.papers.murphy.members.user_rating_profile import UserRatingProfile
from heldout.points import mean_points, select

if TYPE_CHECKING:
    import pandas as pd

RATINGS, CURVES, RECORDS = "ratings", "rating-curves", "records"
MIXTURE, PROFILE = MixtureOfCategoricals.name, UserRatingProfile.name
LABELS = {  # in the order of the table
    MIXTURE: MixtureOfCategoricals.label,
    PROFILE: UserRatingProfile.label,
    of.COCLUSTERING: "Gaussian co-clustering",
    of.OFFSETS: "offsets alone",
    of.PMF_POINT: "PMF, points",
    of.PMF_EM: "PMF, exact EM",
    of.PLAIN: "PMF, exact EM, no offsets",
    of.LEARNED: "PMF, exact EM, learned prior",
    of.ROOT: r"PMF, exact EM, of $\sqrt{6 - R}$",
    of.CD: "RBM, CD",
    of.PCD: "RBM, PCD",
    of.COMBINED: "RBM and PMF, mean",
}
USUAL_SCORES = {member.name: member.usual.score for member in (MixtureOfCategoricals, UserRatingProfile)}
USUAL_SCORES |= {
    model: family.usual.score
    for model, family in FAMILY_OF.items()
    if family.usual and model in LABELS and model != of.COMBINED
}

# Murphy's own drawing of Figure 4 of Koren et al. (2009): pmtk3, demos/netflixResultsPlot.m at commit
# 68788ecb7e04adab287ff69a6122da7f9ffc6334; K, and root mean squared errors on the quiz set of Netflix
NETFLIX = (480_189, 17_770)  # users and films, which K is multiplied by
PUBLISHED = {
    "plain": ((40, 60, 90, 128, 180), (0.9094, 0.9072, 0.9050, 0.9039, 0.9029)),
    "with biases": ((50, 100, 200), (0.9046, 0.9025, 0.9009)),
}


class Row(NamedTuple):
    """A row of the table of ratings, means over seeds; None where there is no such number.

    Attributes:
        model, topics: its name and K.
        usual, density: the usual score and the log density, nats per rating.
        likelihood, error: log p of the ratings, nats per rating, and its Monte Carlo error.
        rmse: of held-out ratings of the same users.
    """

    model: str
    topics: int
    usual: float | None
    density: float | None
    likelihood: float | None
    error: float | None
    rmse: float | None


def table(inputs: Inputs) -> list[Row]:
    """Return the rows, by model and K."""
    rows: list[Row] = []
    compared = {int(str(K)) for K in select(inputs.scores, variant=RATINGS, model=of.COCLUSTERING)["topics"].unique()}
    for model in LABELS:
        records = model in (MIXTURE, PROFILE)
        scores = _of_ratings(inputs) if records else select(inputs.scores, variant=RATINGS)
        scores = select(scores, model=model)
        likelihoods = mean_points(scores, [LIKELIHOOD if records else of.RATING_LIKELIHOOD])
        densities = {} if records else mean_points(scores, [LIKELIHOOD])
        usual = mean_points(scores, [USUAL, FULL])
        rows_of_errors = measured(inputs, RATINGS, of.RMSE, model)
        errors = {int(str(K)): float(values.mean()) for K, values in rows_of_errors.groupby("topics")["value"]}
        for K in sorted({*likelihoods} & {*compared, 0}):
            of_usual, density, point = usual.get(K), densities.get(K), likelihoods[K]
            rows.append(
                Row(
                    model,
                    K,
                    of_usual.value if of_usual else None,
                    density.value if density else None,
                    point.value,
                    point.error,
                    errors.get(K),
                )
            )
    return rows


class Folding(NamedTuple):
    """What folding in says of a factorisation, nats per rating, means over seeds."""

    model: str
    topics: int
    full: float
    half: float
    completion: float
    likelihood: float

    @property
    def optimism(self) -> float:
        """Full folding-in less the likelihood."""
        return self.full - self.likelihood


def foldings(inputs: Inputs) -> list[Folding]:
    """Return the rows of the table of folding in, by K and model."""
    rows = []
    for model in (of.PMF_POINT, of.PMF_EM):
        scores = select(inputs.scores, variant=RATINGS, model=model)
        columns = [mean_points(scores, [name]) for name in (FULL, HALF, COMPLETION, LIKELIHOOD)]
        for K in columns[0]:
            full, half, completion, likelihood = (column[K].value for column in columns)
            rows.append(Folding(model, K, full, half, completion, likelihood))
    return sorted(rows, key=lambda row: (row.topics, row.model))


def _of_ratings(inputs: Inputs) -> "pd.DataFrame":
    """Return the scores of records on the corpora of ratings."""
    rows = select(inputs.scores, variant=RECORDS)
    return rows[rows["corpus"].isin(list(inputs.settings.experiment(RATINGS).get("corpora", ())))]


def likelihoods(inputs: Inputs, model: str, evaluator: str = of.RATING_LIKELIHOOD) -> "pd.DataFrame":
    """Return the scores of a model by corpus, K and seed, nats per rating, as `heldout.effects.less` takes them."""
    if model in (MIXTURE, PROFILE):
        scores = select(_of_ratings(inputs), model=model, evaluator=LIKELIHOOD)
    else:
        scores = select(inputs.scores, variant=RATINGS, model=model, evaluator=evaluator)
    return per_token(scores)


def measured(inputs: Inputs, experiment: str, quantity: str, model: str, axis: str = "topics") -> "pd.DataFrame":
    """Return a quantity of a model by corpus, K, seed and place on an axis: "value", and "error", 0."""
    rows = select(inputs.measurements, variant=experiment, quantity=quantity, model=model, axis=axis)
    return rows[["corpus", "topics", "seed", "at", "value"]].assign(error=0.0)


def curve(inputs: Inputs, model: str, axis: str) -> dict[int, float]:
    """Return the errors of predicted ratings by pass or number of parameters, means over seeds."""
    rows = measured(inputs, CURVES, of.RMSE, model, axis)
    return {int(str(at)): float(value) for at, value in rows.groupby("at")["value"].mean().items()} if len(rows) else {}


class Film(NamedTuple):
    """A film at its loadings on the first two axes."""

    title: str
    first: float
    second: float


def films(inputs: Inputs) -> list[Film]:
    """Return the films at the ends of the first two factors, of the first seed."""
    places = [_first(inputs, f"{curves.FACTOR}-{axis}", curves.FILM) for axis in (1, 2)]
    titles = _texts(inputs, curves.TITLE, curves.FILM)
    return [Film(titles.get(at, str(at)), value, places[1].get(at, math.nan)) for at, value in places[0].items()]


class Blocks(NamedTuple):
    """Co-clusters: mean ratings by users' cluster and films' cluster, how many of either, and genres of films."""

    means: list[list[float]]
    users: list[int]
    films: list[int]
    genres: list[str]


def blocks(inputs: Inputs) -> Blocks:
    """Return the co-clusters of the first seed; empty where the experiment was not run."""
    users, of_films = (_first(inputs, quantity, curves.CLUSTER) for quantity in (curves.USERS, curves.FILMS))
    values, genres = (
        list(_first(inputs, curves.MEAN, curves.CO_CLUSTER).values()),
        _texts(inputs, curves.GENRE, curves.CLUSTER),
    )
    size = len(users)
    means = [values[size * a : size * (a + 1)] for a in range(size)]
    of_users, sizes = ([int(count) for count in column.values()] for column in (users, of_films))
    return Blocks(means, of_users, sizes, [genres.get(place, "") for place in range(size)])


def _first(inputs: Inputs, quantity: str, axis: str) -> dict[int, float]:
    rows = select(inputs.measurements, variant=CURVES, quantity=quantity, axis=axis)
    rows = rows[rows["seed"] == rows["seed"].min()].sort_values("at")
    return {int(row["at"]): float(row["value"]) for row in rows.to_dict("records")}


def _texts(inputs: Inputs, quantity: str, axis: str) -> dict[int, str]:
    if inputs.notes is None:
        return {}
    rows = select(inputs.notes, variant=CURVES, quantity=quantity, axis=axis)
    rows = rows[rows["seed"] == rows["seed"].min()]
    return {int(row["at"]): str(row["text"]) for row in rows.to_dict("records")}
