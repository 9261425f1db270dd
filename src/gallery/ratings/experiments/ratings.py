"""Models of ratings on the same new users: matrix factorisation, co-clustering, RBMs (27.6.2, 27.7.3.2).

Test users are new to the models. Scores are in nats of a user's ratings given which items they are. A density of
numbers is no probability of ratings, so there are two likelihoods:

    likelihood          the density, exact, of Gaussian models
    rating-likelihood   the probability of the ratings: of a Gaussian model by bins, of the others their likelihood

beside the usual scores: full and half folding-in, the best cluster, the pseudo-likelihood of RBMs. "completion" is the
exact twin of half folding-in, each half given the other. Measured, on the axis "topics":

    rmse                of each half of a test user's ratings, predicted from the other
    dropped             of RBMs: log p of the halves, each by the machine of its own items, less their log p by the
                        machine of all items of the user, nats per rating: dropped units are not summed over

The mixture of categoricals and the user rating profile are in "records", trained and scored on the same users. Of
drawn documents, which the demo has, counts of words stand in for ratings.
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.member import ANSWERS, CLUSTER, FOLDED, LIKELIHOOD, PSEUDO_LIKELIHOOD, USUAL, Family
from gallery.ratings.evaluators.coclustering_marginal import (
    best_cluster,
    coclustering_binned,
    coclustering_marginal,
    coclustering_predictions,
)
from gallery.ratings.evaluators.rbm_ratings_marginal import (
    rbm_part_marginal,
    rbm_predictive,
    rbm_pseudo_likelihood,
    rbm_ratings_marginal,
)
from gallery.ratings.models.coclustering import CoClustering
from gallery.ratings.models.rbm_ratings import RatingsRBM
from gallery.ratings.spec import Ratings as Settings
from heldout.corpora.corpus import Corpus
from heldout.corpora.relations.ratings import Ratings
from heldout.evaluators import COMPLETION, FULL, HALF
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.rating_marginal import (
    binned_marginal,
    divided,
    full_folding_in,
    half_folding_in,
    rating_marginal,
    root_mean_square_error,
)
from heldout.models.pmf import PMF
from heldout.typing import Floats

RATING_LIKELIHOOD, RMSE, DROPPED = "rating-likelihood", "rmse", "dropped"
PMF_POINT, PMF_EM, OFFSETS, COCLUSTERING = "pmf", "pmf-em", "pmf-offsets", "coclustering"
PLAIN, LEARNED, ROOT = "pmf-em-plain", "pmf-em-learned", "pmf-em-square-root"
CD, PCD, COMBINED = "rbm-cd", "rbm-pcd", "rbm-and-pmf"
VARIANTS = (PLAIN, LEARNED, ROOT)
FAMILIES = (
    Family(
        "factors of ratings",
        (OFFSETS, PMF_POINT, PMF_EM, *VARIANTS),
        FOLDED,
        ANSWERS,
        {PMF_POINT: "PMF, points: ratings", PMF_EM: "PMF, exact EM: ratings"},
    ),
    Family("co-clusters", (COCLUSTERING,), CLUSTER, ANSWERS, {COCLUSTERING: "Gaussian co-clustering: ratings"}),
    Family("machines of ratings", (CD, PCD, COMBINED), PSEUDO_LIKELIHOOD),
)


def experiment(job: Job, settings: Settings) -> Results:
    """Train every model on the training users and score it on the test users.

    Raises:
        InputError: for a corpus that does not consist of ratings.
    """
    training, test = map(ratings_of, job.split())
    recorder, scoring = job.recorder(documents=test.users), _Scoring(job, settings, test)
    models = [(OFFSETS, 0)]
    models += [(name, K) for K in settings.factors for name in (PMF_POINT, PMF_EM)]
    models += [(name, K) for K in settings.topics for name in VARIANTS]
    point_scores: dict[int, tuple[Evaluation, Floats]] = {}
    for name, K in models:
        random = job.generator("ratings", topics=K)  # one start for all of one K
        model = PMF(
            K,
            posterior="point" if name == PMF_POINT else "exact",
            biases=name != PLAIN,
            learned=name == LEARNED,
            square_root=name == ROOT,
            iterations=settings.iterations,
            random_state=random,
        )
        scored = scoring.factors(recorder.at(model=name, topics=K), model.fit(training), K in (0, *settings.topics))
        if name == PMF_POINT and K in settings.topics:
            point_scores[K] = scored
    for K in settings.topics:
        scoring.blocks(recorder.at(model=COCLUSTERING, topics=K), training, K)
        for name in (CD, PCD):
            values, predictions = scoring.machine(recorder.at(model=name, topics=K), training, K)
            if name == CD and K in point_scores:
                other, others = point_scores[K]
                scoring.combined(recorder.at(model=COMBINED, topics=K), values, other, (predictions + others) / 2.0)
    return recorder.results


def ratings_of(corpus: Corpus) -> Ratings:
    """Return the ratings of records, or counts of drawn documents; raises InputError for other documents."""
    drawn = corpus.provenance["synthetic"] and "values" not in corpus.provenance
    return Ratings.of_counts(corpus) if drawn else Ratings.of(corpus)


class _Scoring:
    """Scores on the test users, whose ratings every model sees in the same halves."""

    def __init__(self, job: Job, settings: Settings, test: Ratings) -> None:
        self.job, self.settings, self.test = job, settings, test
        self.halves = divided(test, job.generator("rating-halves"))

    def random(self, purpose: str, model: str, K: int) -> np.random.Generator:
        return self.job.generator(purpose, model=model, topics=K)

    def rmse(self, row: Recorder, predictions: Floats) -> None:
        row.measure(RMSE, root_mean_square_error(self.test, predictions))

    def factors(self, row: Recorder, model: PMF, compared: bool) -> tuple[Evaluation, Floats]:
        """Record a factorisation; return its rating-likelihood, for a `compared` one, and predictions."""
        test, factors = self.test, model.factors_
        by_halves, likelihood = half_folding_in(test, factors, self.halves), rating_marginal(test, factors)
        row.score(LIKELIHOOD, likelihood)
        row.score(FULL, full_folding_in(test, factors))
        row.score(HALF, by_halves.folded_in)
        row.score(COMPLETION, by_halves.integrated)
        if compared:
            samples, random = self.settings.samples, self.random("binned", row.model, row.topics)
            likelihood = binned_marginal(test, factors, samples, random)
            row.score(RATING_LIKELIHOOD, likelihood, samples=samples)
        self.rmse(row, by_halves.predictions)
        return likelihood, by_halves.predictions

    def blocks(self, row: Recorder, training: Ratings, K: int) -> None:
        """Record co-clustering."""
        random, settings, test = self.random("ratings", row.model, K), self.settings, self.test
        model = CoClustering(K, iterations=settings.iterations, restarts=settings.restarts, random_state=random)
        blocks = model.fit(training).blocks_
        row.score(LIKELIHOOD, coclustering_marginal(test, blocks))
        row.score(USUAL, best_cluster(test, blocks))
        row.score(RATING_LIKELIHOOD, coclustering_binned(test, blocks))
        predictions = np.zeros(len(test))
        for own, other in (self.halves, self.halves[::-1]):
            predictions[own] = coclustering_predictions(test.take(other), test.take(own), blocks)
        self.rmse(row, predictions)

    def machine(self, row: Recorder, training: Ratings, K: int) -> tuple[Evaluation, Floats]:
        """Record an RBM; return its likelihood and predictions."""
        settings, test = self.settings, self.test
        model = RatingsRBM(
            K,
            chains="cd" if row.model == CD else "pcd",
            epochs=settings.epochs,
            batch=settings.batch,
            rate=settings.rate,
            decay=settings.decay,
            random_state=self.random("ratings", row.model, K),
        )
        machine = model.fit(training).machine_
        likelihood = rbm_ratings_marginal(test, machine)
        row.score(RATING_LIKELIHOOD, likelihood)
        row.score(USUAL, rbm_pseudo_likelihood(test, machine))
        levels, predictions = np.arange(test.scale[0], test.scale[1] + 1.0), np.zeros(len(test))
        dropped = 0.0
        for own, other in (self.halves, self.halves[::-1]):
            part, rest = test.take(own), test.take(other)
            separate, joint = rbm_ratings_marginal(part, machine), rbm_part_marginal(part, rest, machine)
            dropped += float((separate.log_likelihood - joint.log_likelihood).sum()) / len(test)
            predictions[own] = rbm_predictive(rest, part, machine) @ levels
        row.measure(DROPPED, dropped)
        self.rmse(row, predictions)
        return likelihood, predictions

    def combined(self, row: Recorder, one: Evaluation, other: Evaluation, predictions: Floats) -> None:
        """Record two models with equal weights: the mean of their probabilities of a user, and of their predictions."""
        values = np.logaddexp(one.log_likelihood, other.log_likelihood) - np.log(2.0)
        share = np.exp(other.log_likelihood - np.log(2.0) - values)
        bias = None if other.bias is None else share * other.bias
        mixed = Evaluation(np.asarray(values), one.tokens, share * other.standard_error, bias=bias)
        row.score(RATING_LIKELIHOOD, mixed, samples=self.settings.samples)
        self.rmse(row, predictions)
