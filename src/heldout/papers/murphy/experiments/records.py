"""The rows of the gallery's opening table on records of categorical variables (equations 27.3, 27.7 and 27.14).

    categorical-mixture     the bound of its best component, max_k log p(y, k); exact likelihood
    user-rating-profile     the variational bound; exact likelihood
    categorical-pca         the variational bound, for one and two components; exact likelihood
    categorical-pca-point   folded in at the point that degenerate EM takes, log p(y | z); exact likelihood

in nats of a record's responses, with gaps integrated out. Categorical PCA also gives "training-likelihood"
(`heldout.papers.murphy.experiments.gallery`). A likelihood is left out, and with it the model, where it would cost more
than the limits: columns of categorical PCA's quadrature, components of the user rating profile's exact kernel.
"""

from collections.abc import Sequence
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.corpora.split import train_test_split
from heldout.evaluators.categorical_pca_marginal import SPACINGS
from heldout.evaluators.count_polynomial import rating_profile_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.measurements import Measurement
from heldout.models.categorical_mixture import CategoricalMixture
from heldout.models.categorical_pca import GAUSSIAN, POINT, CategoricalPCA
from heldout.models.user_rating_profile import UserRatingProfile
from heldout.papers.murphy.experiments.gallery import COMPONENTS, DEGENERATE, LIKELIHOOD, USUAL, Scored, of_components
from heldout.scores import Score, score_of
from heldout.seeds import generator

CATEGORICAL, PROFILE = "categorical-mixture", "user-rating-profile"
MODELS = (CATEGORICAL, PROFILE, COMPONENTS, DEGENERATE)


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    columns: int,
    smoothing: float,
    alpha: float,
    gamma: float,
    penalty: float,
    iterations: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train every model with every number of components and score it twice.

    Args:
        corpus: records (`heldout.corpora.records`).
        seed: determines the split and the starts.
        test_documents: how many records are held out.
        topics: K; categorical PCA takes those its quadrature can, and 1.
        exact_topics: the most components of the user rating profile.
        columns: the most pairs of variable and value of categorical PCA.
        smoothing: added to the probabilities of the mixture.
        alpha: the Dirichlet parameter of the user rating profile.
        gamma: its pseudo-counts of every value.
        penalty: of categorical PCA's weights.
        iterations: of EM, at most.

    Raises:
        InputError: as the models and evaluators do.
    """
    training, test = train_test_split(corpus, test_documents, seed)
    counts, held_out = training.counts(), test.counts()
    given, responses = responses_of(training), responses_of(test)
    values = corpus.provenance["values"]
    blocks = (values,) * given.shape[1]

    def exact(log_likelihood: Any) -> Evaluation:
        return Evaluation.deterministic(log_likelihood, test.lengths)

    def scored(model: str, K: int) -> Scored:
        random = generator("gallery", corpus=corpus.name, model=model, topics=K, seed=seed)
        limits: dict[str, Any] = {"iterations": iterations, "random_state": random}
        if model == CATEGORICAL:
            mixture = CategoricalMixture(K, values=values, posterior="exact", **limits).fit(given)
            tables = mixture.parameters_.smoothed(smoothing)
            likelihood = mixture.log_likelihood(responses, tables)
            return Scored(mixture.point_bound(responses, tables), exact(likelihood))
        if model == PROFILE:
            profile = UserRatingProfile(K, values=values, alpha=alpha, gamma=gamma, **limits).fit(given)
            likelihood = rating_profile_marginal(responses, profile.tables_, profile.alpha_)
            return Scored(profile.bound(responses), exact(likelihood))
        posterior = POINT if model == DEGENERATE else GAUSSIAN
        pca = CategoricalPCA(K, blocks=blocks, posterior=posterior, penalty=penalty, **limits).fit(counts)
        return of_components(pca, counts, held_out, iterations, exact)

    scores, measurements = [], []
    for model in MODELS:
        numbers: Sequence[int] = topics
        if model == PROFILE:
            numbers = [K for K in topics if exact_topics >= K]
        if model in (COMPONENTS, DEGENERATE):
            numbers = sorted({1, *(K for K in topics if K in SPACINGS)}) if corpus.n_words <= columns else ()
        for K in numbers:
            result = scored(model, K)
            named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": "records", "topics": K}
            named |= {"smoothing": smoothing if model == CATEGORICAL else 0.0, "chain": "none", "seed": seed}
            for evaluator, evaluation in ((USUAL, exact(result.usual)), (LIKELIHOOD, result.likelihood)):
                assert evaluation is not None
                scores.append(score_of(evaluation, evaluator=evaluator, **named))
            measurements += [
                Measurement(quantity=quantity, axis="topics", at=K, value=value, **named)
                for quantity, value in result.measured.items()
            ]
    return scores, measurements
