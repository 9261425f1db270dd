"""Figure 27.6, from Blei et al. (2003, Figure 9): unigram, mixture, PLSI and LDA on held-out documents of AP.

Every model gives topics from the counts c_vk that it assigns to them, under the same Dirichlet prior,

    b_kv = (gamma + c_vk) / sum_v' (gamma + c_v'k),

of which the unigram is K = 1. The scores, evaluators of the variant "perplexity":

    unigram, multinomial-mixture    likelihood, exact
    plsi                            full and half folding-in by EM; likelihood: the mixture over training documents
    plsi-tempered                   the same of tempered EM with inverse temperature beta, folding in tempered too
    lda                             collapsed Gibbs sampling: the variational bound on documents, left-to-right
                                    sequential, and exact where K allows

A score sums over tokens; equation 27.29 averages over documents first. The latter is measured as "per-document-NAME" of
each evaluator, nats per token, on the axis "topics".
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, SEQUENTIAL
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.training_mixture import training_mixture
from heldout.measurements import Measurement
from heldout.models import lda as collapsed
from heldout.models import plsa, plsa_tem
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.papers.murphy.members.data import documents
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.members.mixtures import MixtureOfMultinomials
from heldout.papers.murphy.members.plsi import PLSI
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Topics

UNIGRAM, TEMPERED, MIXTURE = "unigram", "plsi-tempered", MixtureOfMultinomials.name
PER_DOCUMENT = "per-document"

Float = NDArray[np.float64]


def with_prior(phi: Float, tokens: Float, gamma: float) -> Float:
    """Return (gamma + c_vk) / sum_v', (K, V), where c_vk is phi[k, v] of the (K,) tokens of topic k."""
    counts = gamma + phi * tokens[:, None]
    result: Float = counts / counts.sum(axis=1, keepdims=True)
    return result


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    beta: float,
    alpha: float,
    gamma: float,
    iterations: int,
    sweeps: int,
    fold_in_iterations: int,
    fold_in_tolerance: float,
    samples: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train the four models at every K and score them.

    Args:
        corpus: all documents.
        seed: determines the split, the starts and the samples.
        test_documents: how many documents are held out.
        topics: K.
        exact_topics: the most topics of the exact kernel.
        beta: inverse temperature of tempered EM.
        alpha: the Dirichlet parameter of LDA's weights.
        gamma: the Dirichlet parameter of every model's topics.
        iterations: of EM, at most.
        sweeps: of collapsed Gibbs sampling.
        fold_in_iterations: of folding in, at most.
        fold_in_tolerance: of folding in, nats from the maximum.
        samples: sweeps of left-to-right sequential.

    Raises:
        InputError: as the models and evaluators do.
    """
    training, test, left_out = documents(corpus, test_documents, seed)
    words = training.vocabulary
    observed, scored = half_split(test, seed)
    counts, held_out = training.counts(), test.counts()
    lengths = training.lengths.astype(float)
    limits: dict[str, Any] = {"iterations": fold_in_iterations, "tolerance": fold_in_tolerance, "seed": seed}
    scores: list[Score] = []
    measurements: list[Measurement] = []

    def add(model: str, K: int, evaluations: dict[str, Evaluation]) -> None:
        named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": "perplexity", "topics": K}
        named |= {"smoothing": gamma, "chain": "0" if model == models.LDA else "none", "seed": seed}
        for evaluator, evaluation in evaluations.items():
            drawn = samples if evaluator == SEQUENTIAL else 0
            scores.append(score_of(evaluation, evaluator=evaluator, samples=drawn, tokens_left_out=left_out, **named))
            there = evaluation.tokens > 0
            per_token = evaluation.log_likelihood[there] / evaluation.tokens[there]
            errors = evaluation.standard_error[there] / evaluation.tokens[there]
            error = float(np.sqrt((errors**2).sum()) / there.sum())
            quantity = f"{PER_DOCUMENT}-{evaluator}"
            value = float(per_token.mean())
            measurements.append(
                Measurement(quantity=quantity, axis="topics", at=K, value=value, standard_error=error, **named)
            )

    def random(model: str, K: int) -> np.random.Generator:
        return generator("perplexity", corpus=corpus.name, model=model, topics=K, seed=seed)

    shares = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    unigram = with_prior(shares[None], np.array([counts.sum()]), gamma)[0]
    add(UNIGRAM, 1, {LIKELIHOOD: Evaluation.deterministic(held_out @ np.log(unigram), test.lengths)})
    for K in topics:
        mixture = MultinomialMixture(K, posterior="exact", iterations=iterations, random_state=random(MIXTURE, K))
        parameters = mixture.fit(counts).parameters_
        tokens = mixture.latent_.T @ lengths
        prior = parameters._replace(phi=with_prior(parameters.phi, tokens, gamma))
        add(MIXTURE, K, {LIKELIHOOD: Evaluation.deterministic(mixture.log_likelihood(held_out, prior), test.lengths)})
        for model, fitted, fold_in in (
            (
                PLSI.name,
                plsa.PLSA(K, iterations=iterations, random_state=random(PLSI.name, K)),
                partial(plsa.fold_in, **limits),
            ),
            (
                TEMPERED,
                plsa_tem.PLSATEM(K, beta=beta, iterations=iterations, random_state=random(TEMPERED, K)),
                partial(plsa_tem.fold_in, **limits),
            ),
        ):
            fitted.fit(counts)
            weights = fitted.document_topics_
            phi = with_prior(fitted.components_, weights.T @ lengths, gamma)
            shown = Topics(phi, np.ones(K), words, {"model": models.TEM, "beta": beta})  # PLSA folds in without
            evaluations = {
                FULL: full_folding_in([shown], test, fold_in),
                HALF: half_folding_in([shown], observed, scored, fold_in),
                LIKELIHOOD: training_mixture(shown, weights, test),
            }
            add(model, K, evaluations)
        lda = collapsed.LDA(K, alpha=alpha, beta=gamma, sweeps=sweeps, random_state=random(models.LDA, K)).fit(training)
        trained = lda.topics(words)
        of_lda = {
            MEAN_FIELD_BOUND: mean_field_bound(trained, test),
            SEQUENTIAL: left_to_right_sequential(trained, test, samples, random(SEQUENTIAL, K)),
        }
        if exact_topics >= K:
            of_lda[EXACT] = exact_marginal(trained, test)
        add(models.LDA, K, of_lda)
    return scores, measurements
