"""Errors of predicted ratings of known users against passes and parameters (27.29), and the films by factor (27.28).

A share of every user's ratings is held out; all users are trained on. Measured, with models as their names:

    rmse        on the axis "pass": of stochastic gradient descent (27.89) with the decays of Figure 27.29 (a), and of
                rounds of least squares and exact EM whose prior is learned; on the axis "parameters" (K of `topics`,
                the numbers of u, v, f and g): of least squares and exact EM, with and without offsets

and as arrays

    film, factors           (F,) numbers of the films at either end of the first two principal axes of u'v, ascending,
                            and (F, 2), their loadings; their titles are notes, where the corpus has them
    block, users, films     (C, C), mean ratings of co-clusters by users' and films' cluster, and (C,), their sizes; the
                            most distinct genre of a films' cluster is a note
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.member import FOLDED, Family
from gallery.ratings.experiments.ratings import RMSE, ratings_of
from gallery.ratings.models.coclustering import CoClustering
from gallery.ratings.models.pmf_sgd import Decays, passes
from gallery.ratings.spec import RatingCurves
from heldout.corpora.relations.ratings import Ratings
from heldout.evaluators.rating_marginal import root_mean_square_error
from heldout.models.pmf import PMF, Factors
from heldout.typing import Floats

SVD, PMF1, PMF2, ADAPTIVE, EM_LEARNED = "svd", "pmf1", "pmf2", "pmf-adaptive", "pmf-em-learned"
DECAYS = {SVD: Decays(0.0, 0.0), PMF1: Decays(0.01, 0.001), PMF2: Decays(0.001, 0.0001)}  # decays of Figure 27.29 (a)
POINT, EM, POINT_PLAIN, EM_PLAIN = "pmf", "pmf-em", "pmf-plain", "pmf-em-plain"
PASS, PARAMETERS, FILM, CLUSTER = "pass", "parameters", "film", "cluster"
FACTORS, MEAN, USERS, FILMS, TITLE, GENRE = "factors", "block", "users", "films", "title", "genre"
FAMILIES = (Family("factors of ratings", (*DECAYS, ADAPTIVE, POINT_PLAIN), FOLDED),)


def experiment(job: Job, settings: RatingCurves) -> Results:
    """Measure errors of held-out ratings by passes and parameters, and record films by factor and co-clusters.

    Raises:
        InputError: for a corpus that does not consist of ratings.
    """
    ratings = ratings_of(job.corpus)
    held_out = job.generator("held-out-ratings").random(len(ratings)) < settings.share
    training, test = ratings.take(np.flatnonzero(~held_out)), ratings.take(np.flatnonzero(held_out))
    K, recorder = settings.topics, job.recorder()

    def error(factors: Factors, users: Floats) -> float:
        return root_mean_square_error(test, factors.ratings_of(factors.predicted(users, test), test.scale))

    for name, decays in DECAYS.items():
        descent = passes(training, K, decays, job.generator("descent"), rate=settings.rate, biases=False)
        for number, point in zip(range(1, settings.passes + 1), descent, strict=False):
            recorder.at(model=name, topics=K).measure(RMSE, error(*point), axis=PASS, position=number)
    for name, posterior in ((ADAPTIVE, "point"), (EM_LEARNED, "exact")):
        model = PMF(K, posterior=posterior, biases=False, learned=True, iterations=settings.passes, tolerance=0.0)  # type: ignore[arg-type]
        model.random_state = job.generator("descent")
        for number, fitted in enumerate(model.rounds(training)):
            row = recorder.at(model=name, topics=K)
            row.measure(RMSE, error(fitted.factors_, fitted.users_), axis=PASS, position=number)
    for k in settings.factors:
        for name in (POINT, EM, POINT_PLAIN, EM_PLAIN):
            posterior, biases = "exact" if name in (EM, EM_PLAIN) else "point", name in (POINT, EM)
            random = job.generator("descent")
            model = PMF(k, posterior=posterior, biases=biases, iterations=settings.passes, random_state=random)  # type: ignore[arg-type]
            model.fit(training)
            numbers = (len(ratings.users) + len(ratings.items)) * (k + biases)
            row = recorder.at(model=name, topics=k)
            row.measure(RMSE, error(model.factors_, model.users_), axis=PARAMETERS, position=numbers)
            if name == EM and k == K:
                _factors(row, model, ratings, job, settings.shown)
    _blocks(recorder, ratings, job, settings.clusters)
    return recorder.results


def _factors(row: Recorder, model: PMF, ratings: Ratings, job: Job, shown: int) -> None:
    """Record the films at the ends of the first two principal axes of the loadings, and their titles."""
    interaction = model.factors_.loadings[:, :-1] * np.sqrt(model.factors_.variances[:-1])
    left, values, _ = np.linalg.svd(interaction, full_matrices=False)
    places = left[:, :2] * values[:2]
    places *= np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    ends = [np.argsort(places[:, axis], kind="stable") for axis in (0, 1)]
    titles = job.corpus.provenance.get("titles")
    films = np.unique(np.concatenate([part for order in ends for part in (order[:shown], order[-shown:])]))
    row.array(FILM, films)
    row.array(FACTORS, places[films])
    for film in films:
        row.note(TITLE, titles[film] if titles else ratings.items[film], axis=FILM, position=film)


def _blocks(recorder: Recorder, ratings: Ratings, job: Job, clusters: int) -> None:
    """Record the blocks of co-clusters, both sides in the order of their mean ratings."""
    random = job.generator("co-clusters")
    blocks = CoClustering(clusters, random_state=random).fit(ratings).blocks_
    user_clusters = blocks.log_joint(ratings).argmax(axis=1)
    film_sizes = np.bincount(blocks.clusters, minlength=clusters)
    users = np.argsort(blocks.means @ film_sizes, kind="stable")
    films = np.argsort(blocks.weights @ blocks.means, kind="stable")
    row = recorder.at(model="coclustering", topics=clusters)
    genres = job.corpus.provenance.get("genres", [[] for _ in ratings.items])
    names = sorted({genre for own in genres for genre in own})
    has = np.array([[genre in own for genre in names] for own in genres]).reshape(len(genres), -1)
    row.array(FILMS, film_sizes[films])
    row.array(USERS, np.bincount(user_clusters, minlength=clusters)[users])
    row.array(MEAN, blocks.means[np.ix_(users, films)])
    if names:
        for place, b in enumerate(films):
            shares = (has[blocks.clusters == b].sum(axis=0) + 1.0) / (film_sizes[b] + 2.0)
            distinctness = np.log(shares / has.mean(axis=0)) * shares
            row.note(GENRE, names[int(distinctness.argmax())], axis=CLUSTER, position=place)
