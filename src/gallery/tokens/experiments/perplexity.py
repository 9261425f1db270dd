"""Figure 27.6, from Blei et al. (2003, Figure 9): unigram, mixture, PLSI and LDA on held-out documents of AP.

Every model gives topics from the counts c_vk that it assigns to them, under the same Dirichlet prior,

    b_kv = (gamma + c_vk) / sum_v' (gamma + c_v'k),

the unigram with K = 1. The scores, evaluators of the variant "perplexity":

    unigram, multinomial-mixture    likelihood, exact
    plsi                            full and half folding-in by EM; likelihood: the mixture over training documents
    plsi-tempered                   the same of tempered EM with inverse temperature beta, folding in tempered too
    lda                             collapsed Gibbs sampling: the variational bound on documents, the reference, exact
                                    exact values where K allows

A score sums over tokens; equation 27.29 averages over documents first. The latter is measured as "per-document-NAME" of
each evaluator, nats per token, on the axis "topics".
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import LIKELIHOOD
from gallery.tokens.members.data import documents
from gallery.tokens.members.mixtures import MixtureOfMultinomials
from gallery.tokens.members.plsi import PLSI
from gallery.tokens.spec import Perplexity
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.reference import reference
from heldout.evaluators.training_mixture import training_mixture
from heldout.models import LDA, TEM, plsa, plsa_tem
from heldout.models import lda as collapsed
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.settings import PLSAFoldingIn
from heldout.topics import Topics
from heldout.typing import Floats

UNIGRAM, TEMPERED, MIXTURE = "unigram", "plsi-tempered", MixtureOfMultinomials.name
PER_DOCUMENT = "per-document"


def with_prior(phi: Floats, tokens: Floats, gamma: float) -> Floats:
    """Return (gamma + c_vk) / sum_v', (K, V), where c_vk is phi[k, v] of the (K,) tokens of topic k."""
    counts = gamma + phi * tokens[:, None]
    result: Floats = counts / counts.sum(axis=1, keepdims=True)
    return result


def experiment(job: Job, settings: Perplexity) -> Results:
    """Train the four models at every K and score them; raises InputError as the models and evaluators do."""
    training, test, left_out = documents(job)
    words, gamma, iterations = training.vocabulary, settings.gamma, settings.iterations
    observed, scored = half_split(test, job.seed)
    counts, held_out = training.counts(), test.counts()
    lengths = training.lengths.astype(float)
    folding_in = PLSAFoldingIn(iterations=settings.fold_in_iterations, tolerance=settings.fold_in_tolerance)
    recorder = job.recorder(smoothing=gamma, documents=test.documents, tokens_left_out=left_out)

    def random(model: str, K: int) -> np.random.Generator:
        return job.generator("perplexity", model=model, topics=K)

    def models() -> Iterator[tuple[str, int, dict[str, Evaluation]]]:
        shares = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
        unigram = with_prior(shares[None], np.array([counts.sum()]), gamma)[0]
        yield UNIGRAM, 1, {LIKELIHOOD: Evaluation.deterministic(held_out @ np.log(unigram), test.lengths)}
        for K in settings.topics:
            mixture = MultinomialMixture(K, posterior="exact", iterations=iterations, random_state=random(MIXTURE, K))
            parameters = mixture.fit(counts).parameters_
            tokens = mixture.latent_.T @ lengths
            prior = parameters._replace(phi=with_prior(parameters.phi, tokens, gamma))
            yield (
                MIXTURE,
                K,
                {LIKELIHOOD: Evaluation.deterministic(mixture.log_likelihood(held_out, prior), test.lengths)},
            )
            em = plsa.PLSA(K, iterations=iterations, random_state=random(PLSI.name, K))
            tempered = plsa_tem.PLSATEM(K, beta=settings.beta, iterations=iterations, random_state=random(TEMPERED, K))
            for model, fitted, module in ((PLSI.name, em, plsa), (TEMPERED, tempered, plsa_tem)):
                fold_in = partial(module.fold_in, settings=folding_in, seed=job.seed)
                fitted.fit(counts)
                weights = fitted.document_topics_
                phi = with_prior(fitted.components_, weights.T @ lengths, gamma)
                provenance = {"model": TEM, "beta": settings.beta}  # PLSA folds in without beta
                shown = Topics(phi, np.ones(K), words, provenance)
                evaluations = {
                    FULL: full_folding_in([shown], test, fold_in),
                    HALF: predictive([shown], observed, scored, fold_in),
                    LIKELIHOOD: training_mixture(shown, weights, test),
                }
                yield model, K, evaluations
            lda = collapsed.LDA.of(settings, K, beta=gamma, random_state=random(LDA, K))
            trained = lda.fit(training).topics(words)
            lda_evaluations = {
                MEAN_FIELD_BOUND: mean_field_bound(trained, test),
                REFERENCE: reference(trained, test, settings.samples, random(REFERENCE, K)),
            }
            if settings.exact_topics >= K:
                lda_evaluations[EXACT] = exact_marginal(trained, test)
            yield LDA, K, lda_evaluations

    for model, K, evaluations in models():
        row = recorder.at(model=model, topics=K, chain="0" if model == LDA else "none")
        for evaluator, evaluation in evaluations.items():
            row.score(evaluator, evaluation, samples=settings.samples if evaluator == REFERENCE else 0)
            nonempty = evaluation.tokens > 0
            per_token = evaluation.log_likelihood[nonempty] / evaluation.tokens[nonempty]
            errors = evaluation.standard_error[nonempty] / evaluation.tokens[nonempty]
            error = float(np.sqrt((errors**2).sum()) / nonempty.sum())
            row.measure(f"{PER_DOCUMENT}-{evaluator}", per_token.mean(), error=error)
    return recorder.results
