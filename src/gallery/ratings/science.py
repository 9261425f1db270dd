"""Results and claims about models of ratings (Murphy, 2012, sections 27.6.2 and 27.7.3.2)."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from artifact.verdicts.claims import Claim, Measure
from artifact.verdicts.effects import effects, less, per_token
from artifact.verdicts.verdicts import MODELS, Effect, Margin

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import mean_points, select
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
        error_rows = measured(inputs, RATINGS, ratings_run.RMSE, model)
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


def likelihoods(inputs: Inputs, model: str, evaluator: str = ratings_run.RATING_LIKELIHOOD) -> "pd.DataFrame":
    """Return the scores of a model by corpus, K and seed, nats per rating, as `effects.less` takes them."""
    if model in (MIXTURE, PROFILE):
        scores = select(_record_scores(inputs), model=model, evaluator=LIKELIHOOD)
    else:
        scores = select(inputs.scores, variant=RATINGS, model=model, evaluator=evaluator)
    return per_token(scores)


def measured(inputs: Inputs, experiment: str, quantity: str, model: str, axis: str = "topics") -> "pd.DataFrame":
    """Return a quantity of a model by corpus, K, seed and place on an axis: "value", with an "error" of 0."""
    rows = select(inputs.measurements, variant=experiment, quantity=quantity, model=model, axis=axis)
    return rows[["corpus", "topics", "seed", "at", "value"]].assign(error=0.0)


def curve(inputs: Inputs, model: str, axis: str) -> dict[int, float]:
    """Return the errors of predicted ratings by pass or number of parameters, means over seeds."""
    rows = measured(inputs, CURVES, ratings_run.RMSE, model, axis)
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


RATING = "nats per rating"
ERRORS = Margin(
    0.005,
    "stars",
    "half a percent of the error: a twentieth of the ten percent that Netflix asked for",
    "2026-11-25, with one split's first errors in view",
)
Pair = tuple[str, str, str]  # part of a claim, and the two models that it compares


def by_likelihood(
    inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair], evaluator: str = ratings_run.RATING_LIKELIHOOD
) -> list[Effect]:
    """Measure the likelihood of test users' ratings under one model less that under another, mean over K."""
    found = []
    for part, own, other in pairs:
        gains = less(likelihoods(inputs, own, evaluator), likelihoods(inputs, other, evaluator))
        found += effects(gains, margin=MODELS, held_out=inputs.held_out, part=part, unit=RATING)
    return found


def by_error(inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair]) -> list[Effect]:
    """Measure the lead of one model over another by the error of test users' predicted ratings, mean over K."""
    found = []
    for part, own, other in pairs:
        one, two = (measured(inputs, RATINGS, ratings_run.RMSE, model) for model in (own, other))
        found += effects(less(two, one), margin=ERRORS, held_out=inputs.held_out, part=part)
    return found


def on_curves(
    inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair], axis: str, last: bool = False
) -> list[Effect]:
    """Measure the lead of one model over another by the error of held-out ratings, mean over K.

    On the axis of passes only the last pass of both counts.
    """
    found = []
    for part, own, other in pairs:
        one, two = (_points(inputs, model, axis, last=last) for model in (own, other))
        found += effects(less(two, one), margin=ERRORS, held_out=_share(inputs), part=part)
    return found


def _points(inputs: Inputs, model: str, axis: str, *, last: bool) -> "pd.DataFrame":
    rows = measured(inputs, CURVES, ratings_run.RMSE, model, axis)
    if last and len(rows):
        rows = rows.loc[rows.groupby(["corpus", "topics", "seed"])["at"].idxmax()]
    return rows.drop(columns="at")


def overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the error without a prior after the last pass less its least one."""
    rows = measured(inputs, CURVES, ratings_run.RMSE, curves.SVD, curves.PASS)
    if not len(rows):
        return []
    groups = rows.groupby(["corpus", "topics", "seed"])["at"]
    values = rows.groupby(["corpus", "topics", "seed"])["value"].min().reset_index().assign(error=0.0)
    last = rows.loc[groups.idxmax()].drop(columns="at")
    return effects(less(last, values), margin=ERRORS, held_out=_share(inputs))


def _share(inputs: Inputs) -> float:
    """Return the share of ratings that a seed holds out."""
    return float(inputs.settings.experiment(CURVES).get("settings", {}).get("share", 0.0))


def _likelihood(*pairs: Pair, evaluator: str = ratings_run.RATING_LIKELIHOOD) -> Measure:
    return partial(by_likelihood, pairs=pairs, evaluator=evaluator)


RATINGS_CLAIMS = (
    Claim(
        "degenerate-pmf-overfits",
        "section 27.2.2, of 27.6.2",
        "A point estimate of users' vectors overfits; EM, which integrates them out, does not",
        "exact log density of new users' ratings under PMF by exact EM over users, less that by points, mean over K",
        _likelihood(("", ratings_run.PMF_EM, ratings_run.PMF_POINT), evaluator=LIKELIHOOD),
    ),
    Claim(
        "continuous-beats-discrete",
        "section 27.6.2",
        "Unconstrained factors do much better than discrete or simplex latent variables",
        "likelihood of new users' ratings under PMF by exact EM less the other's, mean over K",
        _likelihood(
            ("than co-clustering", ratings_run.PMF_EM, ratings_run.COCLUSTERING),
            ("than the profile", ratings_run.PMF_EM, PROFILE),
        ),
    ),
    Claim(
        "continuous-predicts-better",
        "section 27.6.2",
        "Unconstrained factors do much better than discrete or simplex latent variables, by the error",
        "error of new users' predicted ratings, co-clustering's less that of PMF by exact EM, mean over K",
        partial(by_error, pairs=[("than co-clustering", ratings_run.PMF_EM, ratings_run.COCLUSTERING)]),
    ),
    Claim(
        "offsets-give-likelihood",
        "section 27.6.2, 27.93",
        "Offsets of users and films give much better results, by the likelihood",
        "likelihood of new users' ratings under PMF by exact EM, with offsets less without, mean over K",
        _likelihood(("", ratings_run.PMF_EM, ratings_run.PLAIN)),
    ),
    Claim(
        "offsets-reduce-error",
        "section 27.6.2, Figure 27.29 (b)",
        "Offsets of users and films give much better results",
        "error of held-out ratings of known users, without offsets less with, mean over K",
        partial(
            on_curves,
            pairs=[("points", curves.POINT, curves.POINT_PLAIN), ("exact EM", curves.EM, curves.EM_PLAIN)],
            axis=curves.PARAMETERS,
        ),
    ),
    Claim(
        "unregularised-overfits",
        "section 27.6.2, Figure 27.29 (a)",
        "Just maximising the likelihood results in overfitting",
        "error of held-out ratings of known users without a prior, after the last pass less at its least",
        overfits,
    ),
    Claim(
        "priors-reduce-overfitting",
        "section 27.6.2, Figure 27.29 (a)",
        "Priors reduce the effect of overfitting, and learned ones give even better results",
        "error of held-out ratings of known users after the last pass, without a prior less with",
        partial(
            on_curves,
            pairs=[
                ("PMF1", curves.PMF1, curves.SVD),
                ("PMF2", curves.PMF2, curves.SVD),
                ("learned, points", curves.ADAPTIVE, curves.SVD),
                ("learned, exact EM", curves.EM_LEARNED, curves.SVD),
            ],
            axis=curves.PASS,
            last=True,
        ),
    ),
    Claim(
        "learned-prior-of-users",
        "section 27.6.2",
        "A learned diagonal prior gives even better results, by the likelihood",
        "likelihood of new users' ratings under PMF by exact EM, with a learned prior less with a fixed one, mean over"
        " K",
        _likelihood(("", ratings_run.LEARNED, ratings_run.PMF_EM)),
    ),
    Claim(
        "square-root-is-more-gaussian",
        "section 27.6.2",
        "The square root of 6 - R makes the data a better match to the Gaussian",
        "log density of new users' ratings under PMF by exact EM, of roots with their Jacobian less of ratings, mean"
        " over K",
        _likelihood(("", ratings_run.ROOT, ratings_run.PMF_EM), evaluator=LIKELIHOOD),
    ),
    Claim(
        "square-root-of-ratings",
        "section 27.6.2",
        "The square root of 6 - R makes the data a better match to the Gaussian, of ratings as bins",
        "likelihood of new users' ratings under PMF by exact EM, of roots less of ratings, mean over K",
        _likelihood(("", ratings_run.ROOT, ratings_run.PMF_EM)),
    ),
    Claim(
        "rbm-outperforms-pmf",
        "section 27.7.3.2",
        "An RBM with binary hidden and categorical visible units slightly outperforms SVD, by the likelihood",
        "likelihood of new users' ratings under the RBM less that under PMF, mean over K",
        _likelihood(
            ("points", ratings_run.CD, ratings_run.PMF_POINT), ("exact EM", ratings_run.CD, ratings_run.PMF_EM)
        ),
    ),
    Claim(
        "rbm-predicts-better",
        "section 27.7.3.2",
        "An RBM with binary hidden and categorical visible units slightly outperforms SVD",
        "error of new users' predicted ratings, PMF's less the RBM's, mean over K",
        partial(
            by_error,
            pairs=[("points", ratings_run.CD, ratings_run.PMF_POINT), ("exact EM", ratings_run.CD, ratings_run.PMF_EM)],
        ),
    ),
    Claim(
        "combined-has-more-likelihood",
        "section 27.7.3.2",
        "Combining RBM and SVD improves on either, by the likelihood",
        "likelihood of new users' ratings under the mean of RBM and PMF by points, less either's, mean over K",
        _likelihood(
            ("than the RBM", ratings_run.COMBINED, ratings_run.CD),
            ("than PMF", ratings_run.COMBINED, ratings_run.PMF_POINT),
        ),
    ),
    Claim(
        "combined-predicts-better",
        "section 27.7.3.2",
        "Combining RBM and SVD improves on either",
        "error of new users' predicted ratings, either's less that of the mean of their predictions, mean over K",
        partial(
            by_error,
            pairs=[
                ("than the RBM", ratings_run.COMBINED, ratings_run.CD),
                ("than PMF", ratings_run.COMBINED, ratings_run.PMF_POINT),
            ],
        ),
    ),
    Claim(
        "persistent-chains-of-ratings",
        "section 27.7.2.4",
        "Persistent chains give a better model than contrastive divergence, of ratings",
        "likelihood of new users' ratings under RBMs by PCD less by CD, mean over K",
        _likelihood(("", ratings_run.PCD, ratings_run.CD)),
    ),
)
