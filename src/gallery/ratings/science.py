"""Results and contrasts of models of ratings (Murphy, 2012, sections 27.6.2 and 27.7.3.2)."""

from typing import TYPE_CHECKING, NamedTuple

from artifact.contrasts.contrast import Margin, Side
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import mean_points, select
from gallery.comparison import at_most, contrast, measured, opposed, scored, together
from gallery.member import LIKELIHOOD, USUAL
from gallery.ratings.experiments import rating_curves as curves
from gallery.ratings.experiments import ratings as ratings_run
from gallery.tokens.members.mixtures import MixtureOfCategoricals
from gallery.tokens.members.user_rating_profile import UserRatingProfile
from heldout.evaluators import COMPLETION, FULL, HALF
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


RATINGS, CURVES, RECORDS = "ratings", "rating-curves", "records"
MIXTURE, PROFILE = MixtureOfCategoricals.name, UserRatingProfile.name
LABELS = {  # models' names, in the order of the table
    MIXTURE: MixtureOfCategoricals.label,
    PROFILE: UserRatingProfile.label,
    ratings_run.COCLUSTERING: "Gaussian co-clustering",
    ratings_run.OFFSETS: "offsets alone",
    ratings_run.PMF_POINT: "PMF, points",
    ratings_run.PMF_EM: "PMF, exact EM",
    ratings_run.PLAIN: "PMF, exact EM, no offsets",
    ratings_run.LEARNED: "PMF, exact EM, learned prior",
    ratings_run.ROOT: r"PMF, exact EM, of $\sqrt{6 - R}$",
    ratings_run.CD: "RBM, CD",
    ratings_run.PCD: "RBM, PCD",
    ratings_run.COMBINED: "RBM and PMF, mean",
}
USUAL_SCORES = {member.name: member.usual.score for member in (MixtureOfCategoricals, UserRatingProfile)}
USUAL_SCORES |= {
    model: family.usual.score
    for family in ratings_run.FAMILIES
    for model in family.models
    if family.usual and model in LABELS and model != ratings_run.COMBINED
}

# Murphy's own drawing of Figure 4 of Koren et al. (2009): pmtk3, demos/netflixResultsPlot.m at commit
# 68788ecb7e04adab287ff69a6122da7f9ffc6334; K, and root mean squared errors on the quiz set of Netflix
NETFLIX = (480_189, 17_770)  # numbers of users and of films, which K is multiplied by
PUBLISHED = {
    "plain": ((40, 60, 90, 128, 180), (0.9094, 0.9072, 0.9050, 0.9039, 0.9029)),
    "with biases": ((50, 100, 200), (0.9046, 0.9025, 0.9009)),
}


class Row(NamedTuple):
    """A row of the table of ratings, means over seeds; None where there is no number.

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
    """Return the rows of the table of ratings by model and K."""
    rows: list[Row] = []
    compared = {
        int(str(K)) for K in select(inputs.scores, variant=RATINGS, model=ratings_run.COCLUSTERING)["topics"].unique()
    }
    for model in LABELS:
        records = model in (MIXTURE, PROFILE)
        scores = _record_scores(inputs) if records else select(inputs.scores, variant=RATINGS)
        scores = select(scores, model=model)
        likelihoods = mean_points(scores, [LIKELIHOOD if records else ratings_run.RATING_LIKELIHOOD])
        densities = {} if records else mean_points(scores, [LIKELIHOOD])
        usual_scores = mean_points(scores, [USUAL, FULL])
        error_rows = select(inputs.measurements, variant=RATINGS, quantity=ratings_run.RMSE, model=model)
        errors = {int(str(K)): float(values.mean()) for K, values in error_rows.groupby("topics")["value"]}
        for K in sorted({*likelihoods} & {*compared, 0}):
            usual, density, point = usual_scores.get(K), densities.get(K), likelihoods[K]
            rows.append(
                Row(
                    model,
                    K,
                    usual.value if usual else None,
                    density.value if density else None,
                    point.value,
                    point.error,
                    errors.get(K),
                )
            )
    return rows


class Folding(NamedTuple):
    """Scores of a factorisation by folding in, nats per rating, means over seeds."""

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
    for model in (ratings_run.PMF_POINT, ratings_run.PMF_EM):
        scores = select(inputs.scores, variant=RATINGS, model=model)
        columns = [mean_points(scores, [name]) for name in (FULL, HALF, COMPLETION, LIKELIHOOD)]
        for K in columns[0]:
            full, half, completion, likelihood = (column[K].value for column in columns)
            rows.append(Folding(model, K, full, half, completion, likelihood))
    return sorted(rows, key=lambda row: (row.topics, row.model))


def _record_scores(inputs: Inputs) -> "pd.DataFrame":
    """Return the scores of records on the corpora of ratings."""
    rows = select(inputs.scores, variant=RECORDS)
    return rows[rows["corpus"].isin(list(inputs.settings.experiment(RATINGS).get("corpora", ())))]


def curve(inputs: Inputs, model: str, axis: str) -> dict[int, float]:
    """Return the errors of predicted ratings by pass or number of parameters, means over seeds."""
    rows = select(inputs.measurements, variant=CURVES, quantity=ratings_run.RMSE, model=model, axis=axis)
    if not len(rows):
        return {}
    return {int(str(place)): float(value) for place, value in rows.groupby("at")["value"].mean().items()}


class Film(NamedTuple):
    """A film at its loadings on the first two axes."""

    title: str
    first: float
    second: float


def films(inputs: Inputs) -> list[Film]:
    """Return the films at the ends of the first two factors, of the first seed."""
    numbers, loadings = (inputs.arrays.first(variant=CURVES, name=name) for name in (curves.FILM, curves.FACTORS))
    titles = _texts(inputs, curves.TITLE, curves.FILM)
    pairs = zip(numbers.astype(int).tolist(), loadings.tolist(), strict=True)
    return [Film(titles.get(number, str(number)), *places) for number, places in pairs]


class Blocks(NamedTuple):
    """Co-clusters: (C, C) mean ratings by users' and films' cluster, numbers of either, (C,), and films' genres."""

    means: Floats
    users: Floats
    films: Floats
    genres: list[str]


def blocks(inputs: Inputs) -> Blocks:
    """Return the co-clusters of the first seed; empty where the experiment was not run."""
    means, user_sizes, film_sizes = (
        inputs.arrays.first(variant=CURVES, name=name) for name in (curves.MEAN, curves.USERS, curves.FILMS)
    )
    genres = _texts(inputs, curves.GENRE, curves.CLUSTER)
    return Blocks(means, user_sizes, film_sizes, [genres.get(place, "") for place in range(len(user_sizes))])


def _texts(inputs: Inputs, quantity: str, axis: str) -> dict[int, str]:
    if inputs.notes is None:
        return {}
    rows = select(inputs.notes, variant=CURVES, quantity=quantity, axis=axis)
    rows = rows[rows["seed"] == rows["seed"].min()]
    return {int(row["at"]): str(row["text"]) for row in rows.to_dict("records")}


STARS = ratings_run.RATING_LIKELIHOOD
RATING = "nats per rating"
ERRORS = Margin(
    0.005,
    "stars",
    "half a percent of the error: a twentieth of the ten percent that Netflix asked for",
    "2026-11-25, with one split's first errors in view",
)


def _stars(model: str, evaluator: str = STARS) -> Side:
    """Return a model's likelihood of test users' ratings, of stars or as a density, by K."""
    records = model in (MIXTURE, PROFILE)
    words = "PMF, exact EM, of roots" if model == ratings_run.ROOT else LABELS[model]
    name = f"the {'likelihood' if evaluator == STARS else 'density'} of {words}"
    return scored(name, RECORDS if records else RATINGS, model, LIKELIHOOD if records else evaluator)


def _known(name: str, model: str, axis: str) -> Side:
    """Return the error of held-out ratings of known users, stars, by K and place on an axis."""
    return measured(name, CURVES, ratings_run.RMSE, model, axis=axis)


def chosen_pass(inputs: Inputs) -> "pd.DataFrame":
    """Return the errors of known users' ratings without a prior at the pass with the least mean error of other seeds.

    "at" is the pass; a seed's own held-out ratings have no part in the choice. A single seed has no rows.
    """
    table = _known("", curves.SVD, curves.PASS).rows(inputs)
    errors = table.pivot_table(index=["corpus", "at"], columns="seed", values="value")
    others = errors.rsub(errors.sum(axis=1), axis=0) if errors.shape[1] > 1 else errors.iloc[:0]
    least = {str(corpus): part.droplevel("corpus").idxmin() for corpus, part in others.groupby("corpus")}
    passes = {(corpus, seed): best for corpus, part in least.items() for seed, best in part.items()}
    places = zip(table["corpus"], table["seed"], strict=True)
    return table[table["at"] == [passes.get(place, -1) for place in places]]


def _last(name: str, model: str) -> Side:
    """Return the error of known users' ratings after the last pass."""
    return at_most(_known(name, model, curves.PASS), "at")


_DISCRETE = {"than co-clusters": _stars(ratings_run.COCLUSTERING), "than the profile": _stars(PROFILE)}
_COMBINED = {"than RBM": _stars(ratings_run.CD), "than PMF": _stars(ratings_run.PMF_POINT)}
_PRIORS = {
    **{"PMF1": _last("", curves.PMF1), "PMF2": _last("", curves.PMF2)},
    **{"learned, points": _last("", curves.ADAPTIVE), "learned, exact EM": _last("", curves.EM_LEARNED)},
}
_OFFSETS = {
    "the error of PMF without offsets": {"points": curves.POINT_PLAIN, "exact EM": curves.EM_PLAIN},
    "with offsets": {"points": curves.POINT, "exact EM": curves.EM},
}
FACTORISATION = (
    contrast(
        "pmf-points",
        "section 27.2.2, of 27.6.2",
        "A point estimate of users' vectors overfits; EM, which integrates them out, does not.",
        _stars(ratings_run.PMF_EM, LIKELIHOOD),
        _stars(ratings_run.PMF_POINT, LIKELIHOOD),
        unit=RATING,
    ),
    contrast(
        "pmf-discrete",
        "section 27.6.2",
        "Unconstrained factors do much better than discrete or simplex latent variables.",
        *opposed("rival", _stars(ratings_run.PMF_EM), "that of discrete variables", _DISCRETE),
        by=("rival", "topics"),
        unit=RATING,
    ),
    contrast(
        "offsets",
        "section 27.6.2, Figure 27.29 (b)",
        "Offsets of users and films give much better results.",
        *(
            together(name, "training", {key: _known("", model, curves.PARAMETERS) for key, model in models.items()})
            for name, models in _OFFSETS.items()
        ),
        by=("training", "topics"),
        margin=ERRORS,
    ),
    contrast(
        "descent-overfits",
        "section 27.6.2, Figure 27.29 (a)",
        "Just maximising the likelihood results in overfitting.",
        _last("the error without a prior, after the last pass", curves.SVD),
        Side("that at the pass with the least error of the other splits", chosen_pass),
        by=(),
        margin=ERRORS,
    ),
    contrast(
        "priors-error",
        "section 27.6.2, Figure 27.29 (a)",
        "Priors reduce the effect of overfitting, and learned ones give even better results.",
        *opposed("prior", _last("the error after the last pass, without a prior", curves.SVD), "with one", _PRIORS),
        by=("prior",),
        margin=ERRORS,
    ),
    contrast(
        "learned-prior",
        "section 27.6.2",
        "A learned diagonal prior gives even better results.",
        _stars(ratings_run.LEARNED),
        _stars(ratings_run.PMF_EM),
        unit=RATING,
    ),
    *(
        contrast(
            name,
            "section 27.6.2",
            f"The square root of 6 - R makes the data a better match to the Gaussian, {words}.",
            _stars(ratings_run.ROOT, evaluator),
            _stars(ratings_run.PMF_EM, evaluator),
            unit=RATING,
        )
        for name, words, evaluator in (
            ("square-root", "of ratings as numbers", LIKELIHOOD),
            ("square-root-stars", "of ratings as bins", STARS),
        )
    ),
    contrast(
        "rbm-pmf",
        "section 27.7.3.2",
        "An RBM with binary hidden and categorical visible units slightly outperforms SVD.",
        _stars(ratings_run.CD),
        _stars(ratings_run.PMF_POINT),
        unit=RATING,
    ),
    contrast(
        "combined",
        "section 27.7.3.2",
        "Combining RBM and SVD improves on either.",
        *opposed("rival", _stars(ratings_run.COMBINED), "that of either", _COMBINED),
        by=("rival", "topics"),
        unit=RATING,
    ),
)
