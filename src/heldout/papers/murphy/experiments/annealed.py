"""Rows of the opening table with more components than the exact kernels take, their likelihoods by annealing.

Of documents the conditional GaP, of records the user rating profile, of both categorical PCA by variational and by
degenerate EM; trained and scored as in `gallery` and `records`, likelihoods by `heldout.evaluators.annealed_counts`
and `categorical_pca_annealed`, corrected for the bias of their logarithms.

With `exact_topics` components, where the exact kernels serve, both are measured on the axis "topics", nats per token:

    annealed    with its standard error
    exact
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.corpora.split import train_test_split
from heldout.evaluators.annealed_counts import Estimate, gap_annealed, rating_profile_annealed
from heldout.evaluators.categorical_pca_annealed import categorical_pca_annealed
from heldout.evaluators.categorical_pca_marginal import categorical_pca_marginal
from heldout.evaluators.count_polynomial import GammaPoissonMoments, gap_marginal, rating_profile_marginal
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.measurements import Measurement
from heldout.models.categorical_pca import GAUSSIAN, POINT, CategoricalPCA
from heldout.models.gap import GaP, fold_in
from heldout.models.user_rating_profile import UserRatingProfile
from heldout.papers.murphy.experiments.gallery import COMPONENTS, CONDITIONAL, DEGENERATE, LIKELIHOOD, USUAL
from heldout.papers.murphy.experiments.records import PROFILE
from heldout.scores import Score, score_of
from heldout.seeds import generator

ANNEALED, EXACT = "annealed", "exact"

Float = NDArray[np.float64]


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    columns: int,
    alpha: float,
    gamma: float,
    rho: float,
    penalty: float,
    iterations: int,
    sweeps: int,
    fold_in_iterations: int,
    samples: int,
    temperatures: int,
    component_temperatures: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train the models and score them by annealing.

    Args:
        corpus: documents, or records (`heldout.corpora.records`).
        seed: determines the split, the starts and the chains.
        test_documents: how many are held out.
        topics: K of the rows.
        exact_topics: K of the comparison with exact values, 1 or 2.
        columns: the most pairs of variable and value of categorical PCA on records.
        alpha: the shape of GaP's weights, and the Dirichlet parameter of the user rating profile.
        gamma: the Dirichlet parameter of GaP's topics, and the pseudo-counts of the user rating profile.
        rho: the spike of the conditional GaP.
        penalty: of categorical PCA's weights.
        iterations: of EM, at most.
        sweeps: of Gibbs sampling.
        fold_in_iterations: of folding GaP in.
        samples: annealing chains.
        temperatures: their steps, of GaP and the user rating profile.
        component_temperatures: of categorical PCA, from a start that is nearer.

    Raises:
        InputError: as the models and evaluators do.
    """
    of_records = "values" in corpus.provenance
    training, test = train_test_split(corpus, test_documents, seed)
    left_out = 0
    if not of_records:
        words = tuple(corpus.vocabulary[w] for w in np.unique(training.tokens))
        training, (test, left_out) = training.over(words)[0], test.over(words)
    counts, held_out = training.counts(), test.counts()

    def of_gap(K: int, random: np.random.Generator, rng: np.random.Generator) -> tuple[Float, Estimate, Float | None]:
        gap = GaP(K, alpha=alpha, gamma=gamma, rho=rho, sweeps=sweeps, random_state=random).fit(counts)
        dense, b = held_out.toarray(), np.ascontiguousarray(gap.components_.T)
        orders = gammaln(test.lengths + 1.0) - gammaln(dense + 1.0).sum(axis=1)
        prior = GammaPoissonMoments(gap.alpha_, gap.beta_, b.sum(axis=0), gap.rho_)
        value, error = gap_annealed(dense, b, prior, samples, rng, temperatures=temperatures)
        exact = gap_marginal(dense, b, gap.alpha_, gap.beta_, gap.rho_) - orders if exact_topics >= K else None
        none = np.zeros(K)
        rates = fold_in(held_out, gap.components_, none, none, iterations=fold_in_iterations) @ gap.components_
        terms = np.where(dense > 0.0, dense * np.log(np.where(dense > 0.0, rates, 1.0)), 0.0)
        usual = (terms - rates).sum(axis=1) - gammaln(test.lengths + 1.0)
        return usual, (value - orders, error), exact

    def of_profile(
        K: int, random: np.random.Generator, rng: np.random.Generator
    ) -> tuple[Float, Estimate, Float | None]:
        given, responses = responses_of(training), responses_of(test)
        values = corpus.provenance["values"]
        limits: dict[str, Any] = {"values": values, "iterations": iterations, "random_state": random}
        profile = UserRatingProfile(K, alpha=alpha, gamma=gamma, **limits).fit(given)
        of_model = responses, profile.tables_, profile.alpha_
        estimate = rating_profile_annealed(*of_model, samples, rng, temperatures=temperatures)
        exact = rating_profile_marginal(*of_model) if exact_topics >= K else None
        return profile.bound(responses), estimate, exact

    def of_components(
        model: str, K: int, random: np.random.Generator, rng: np.random.Generator
    ) -> tuple[Float, Estimate, Float | None]:
        blocks = (corpus.provenance["values"],) * responses_of(test).shape[1] if of_records else None
        posterior = POINT if model == DEGENERATE else GAUSSIAN
        pca = CategoricalPCA(
            K, blocks=blocks, posterior=posterior, penalty=penalty, iterations=iterations, random_state=random
        ).fit(counts)
        state = pca.set_params(ve_iterations=iterations).infer(held_out)
        usual = state.bound + (0.5 * (state.mean**2).sum(axis=1) if posterior == POINT else 0.0)
        matrix: sp.csr_array = held_out
        estimate = categorical_pca_annealed(pca, matrix, samples, rng, temperatures=component_temperatures)
        return usual, estimate, categorical_pca_marginal(pca, matrix) if exact_topics >= K else None

    components = (COMPONENTS, DEGENERATE) if not of_records or corpus.n_words <= columns else ()
    scores, measurements = [], []
    for model in (PROFILE if of_records else CONDITIONAL, *components):
        for K in (exact_topics, *topics):
            axes: dict[str, Any] = {"corpus": corpus.name, "model": model, "topics": K, "seed": seed}
            random, rng = generator("gallery", **axes), generator("annealed", **axes)
            if model in (COMPONENTS, DEGENERATE):
                usual, (value, error), exact = of_components(model, K, random, rng)
            else:
                usual, (value, error), exact = (of_profile if of_records else of_gap)(K, random, rng)
            chain = "0" if model == CONDITIONAL else "none"
            named: dict[str, Any] = {**axes, "variant": "annealed", "smoothing": 0.0, "chain": chain}
            annealed = corrected(Evaluation(value, test.lengths, error))
            if exact is not None:
                N, of_all = test.n_tokens, annealed.total_error()
                place: dict[str, Any] = {**named, "axis": "topics", "at": K}
                nats = float(annealed.log_likelihood.sum() / N)
                measurements.append(Measurement(**place, quantity=ANNEALED, value=nats, standard_error=of_all / N))
                measurements.append(Measurement(**place, quantity=EXACT, value=float(exact.sum() / N)))
                continue
            named["tokens_left_out"] = left_out
            reported = Evaluation.deterministic(usual, test.lengths)
            scores.append(score_of(reported, evaluator=USUAL, **named))
            scores.append(score_of(annealed, evaluator=LIKELIHOOD, samples=samples, **named))
    return scores, measurements
