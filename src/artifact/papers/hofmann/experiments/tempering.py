"""PLSA by EM with early stopping, by inverse annealing and by annealing, scored as Hofmann did and as documents are.

Hofmann (1999), section 3.6 and Figure 5, with tokens held out (`heldout.corpora.split.token_split`): p(w | z) and
p(z | d) come from the training tokens of all documents, every choice from their validation tokens
(`heldout.models.inverse_annealing`). The test tokens are then scored

* as Hofmann did, by p(w | d) = sum_z p(w | z) p(z | d): "document-specific-unigram", with a point in the place of the
  weights that has not seen the scored tokens;
* by the same with weights folded in on all of the document's tokens, the scored ones included:
  "document-specific-unigram-folded-in", the reading of Welling et al. (2008), that Hofmann folds in fully;
* by the first with the weights integrated out, p(test tokens | training tokens, alpha, phi): "posterior-predictive";
* as documents of their own, without p(z | d): "half-folding-in" (a random half of the test tokens is folded in on, the
  other scored), and the truth, log p(test tokens | alpha, phi), as "reference" and, where it costs no more than
  `limit`, as "exact-marginal".

Two schedules. The coarse one has the factor `eta` of beta and leaves a beta for a gain of less than `tolerance`; the
fine one has `annealing_eta` and `convergence`. The gain is in nats per token, of validation tokens for inverse
annealing (a share t of perplexity is t nats per token) and of the free energy for annealing. Inverse annealing is
coarse and annealing is fine, as the source has it ("carefully annealed"); up to `annealing_topics` each also takes the
other's schedule, so that like can be compared with like. The fine inverse annealing waits as many values of beta as
span what `patience` of them do on the coarse schedule.

The prior alpha is Dirichlet(1). In variants with the suffix "-validated-prior" it is the symmetric prior whose sum of
parameters, among those given, scores the validation tokens highest: by the posterior predictive for that evaluator, and
by left-to-right sequential, as documents of their own, for the truth. (The two sums differ: given training tokens that
the topics were fitted to, a larger sum scores higher. The prior that makes the training tokens most likely would be too
sparse.) Early stopping folds in by EM, tempered EM at its own beta. Nothing is smoothed: every word has a training
token, so at least one topic gives it a probability; a folded-in point may still give it 0.

The posterior predictive is estimated as `heldout.evaluators.document_completion` does, the training tokens observed and
the test tokens scored: S states of a Markov chain over the topics of the training tokens, the test tokens assigned one
after the other from each, and the mean of the S weights. A left-to-right pass through the training tokens would cost
the square of their number. The estimate lies below what it estimates by a few standard errors where the prior is
sparse; more samples bring it up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from artifact.papers.hofmann.experiments.latent_semantic_analysis import EVALUATOR, FOLDED_IN, VALIDATION, together
from artifact.papers.hofmann.settings import Tempering
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, token_split
from heldout.evaluators import EXACT, HALF, REFERENCE
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import predictive
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference
from heldout.models import PLSA, TEM, plsa_tem
from heldout.models.inverse_annealing import Fit, annealing, inverse_annealing
from heldout.models.settings import PLSAFoldingIn
from heldout.topics import Topics

EARLY, INVERSE, ANNEALING, VALIDATED = "early-stopping", "inverse-annealing", "annealing", "validated-prior"
FINE_INVERSE, COARSE_ANNEALING = f"{INVERSE}-fine", f"{ANNEALING}-coarse"
PREDICTIVE = "posterior-predictive"
TO_BEST, ITERATIONS, BETA = "iterations-to-best", "iterations", "beta"
PRIOR_SUM, TRUTH_PRIOR_SUM = "prior-sum", "prior-sum-of-truth"


def experiment(job: Job, settings: Tempering) -> Results:
    """Fit one K by early stopping, inverse annealing and annealing, and score the test tokens in every way.

    All documents are used.

    Returns:
        Scores of ("plsa-hof", "early-stopping") and ("plsa-tem", "inverse-annealing") by every evaluator, scores that
        depend on the prior once more under the variant with "-validated-prior"; of ("plsa-tem", "annealing"), fine, and
        of "annealing-coarse", "inverse-annealing-fine" and "inverse-annealing-patience-1" by
        "document-specific-unigram" alone. Measurements of all fits on the axis "topics": "iterations-to-best",
        "iterations" (the later stages and values of beta that did not help included), "beta", "validation-perplexity",
        and of the chosen priors "prior-sum" (for the posterior predictive) and "prior-sum-of-truth"; at K in
        `path_topics` on the axis "iteration" (1 is the first) the "validation-perplexity" after it and its "beta".
    """
    topics, seed = job.topics, job.seed
    split = token_split(job.corpus, settings.shares, seed)
    halves, whole = half_split(split.test, seed), together(split)
    iterations, tolerance = settings.fold_in_iterations, settings.fold_in_tolerance
    folding_in = PLSAFoldingIn(iterations=iterations, tolerance=tolerance)
    parts, most = (split.training, split.validation), settings.iterations
    heated = partial(
        inverse_annealing,
        *parts,
        topics=topics,
        seed=seed,
        early_patience=settings.early_patience,
        iterations=most,
    )
    recorder = job.recorder(documents=split.test.documents, tokens_left_out=split.test_left_out)

    def fitted(model: str, variant: str, fit: Fit) -> Recorder:
        """Record a fit, and the score of its own weights; return the recorder of its rows."""
        row, weights = recorder.at(model=model, variant=variant), fit.document_topics
        row.measure(TO_BEST, fit.iterations_to_best)
        row.measure(ITERATIONS, len(fit.path))
        row.measure(BETA, fit.beta)
        row.measure(VALIDATION, fit.perplexity)
        if topics in settings.path_topics and variant in (EARLY, INVERSE, ANNEALING):
            for iteration, step in enumerate(fit.path, start=1):
                row.measure(VALIDATION, step.perplexity, axis="iteration", position=iteration)
                row.measure(BETA, step.beta, axis="iteration", position=iteration)
        row.score(EVALUATOR, predictive([fit.topics], split.training, split.test, lambda *_: weights))
        return row

    def fold_in(trained: Topics, documents: Corpus) -> Any:
        return plsa_tem.fold_in(trained, documents, folding_in, seed=seed)

    def integrate(row: Recorder, separate: Topics, completing: Topics) -> None:
        """Record the scores that integrate the weights out, of topics under the two priors."""
        random = partial(job.generator, "tempering", model=row.model, variant=row.variant, topics=topics)
        samples, states = settings.samples, settings.predictive_samples
        estimated = reference(separate, split.test, samples, random(evaluator=REFERENCE))
        row.score(REFERENCE, estimated, samples=samples)
        exact = exact_within(separate, split.test, settings.limit)
        if exact is not None:
            row.score(EXACT, exact)
        rng = random(evaluator=PREDICTIVE)
        completed = posterior_predictive(completing, split.training, split.test, states, rng)
        row.score(PREDICTIVE, completed, samples=states)

    def completing(trained: Topics, rng: np.random.Generator) -> Evaluation:
        return posterior_predictive(trained, split.training, split.validation, settings.prior_samples, rng)

    def as_documents(trained: Topics, rng: np.random.Generator) -> Evaluation:
        return left_to_right_sequential(trained, split.validation, settings.prior_samples, rng)

    fits = heated(eta=settings.eta, tolerance=settings.tolerance, patience=settings.patience)
    for model, variant, fit in zip((PLSA, TEM), (EARLY, INVERSE), fits, strict=True):
        row = fitted(model, variant, fit)
        if topics in settings.folded_in_topics:
            row.score(FOLDED_IN, predictive([fit.topics], whole, split.test, fold_in))
        row.score(HALF, predictive([fit.topics], *halves, fold_in))
        integrate(row, fit.topics, fit.topics)
        random = partial(job.generator, "tempering-prior", model=model, topics=topics)
        for_predictive, for_truth = (
            validated_prior(fit.topics, evaluate, settings.prior_sums, random)
            for evaluate in (completing, as_documents)
        )
        row = recorder.at(model=model, variant=f"{variant}-{VALIDATED}")
        row.measure(PRIOR_SUM, for_predictive.alpha.sum())
        row.measure(TRUTH_PRIOR_SUM, for_truth.alpha.sum())
        integrate(row, for_truth, for_predictive)

    if topics <= settings.annealing_topics:
        fine, coarse = (settings.annealing_eta, settings.convergence), (settings.eta, settings.tolerance)
        for variant, (eta, gain) in ((ANNEALING, fine), (COARSE_ANNEALING, coarse)):
            fit = annealing(
                *parts,
                topics=topics,
                seed=seed,
                start=settings.annealing_start,
                eta=eta,
                convergence=gain,
                noise=settings.annealing_noise,
                tolerance=settings.tolerance,
                patience=settings.patience,
                iterations=most,
            )
            fitted(TEM, variant, fit)
        # (equal factors: the same)
        span = math.ceil(settings.patience * math.log(settings.eta) / math.log(settings.annealing_eta) - 1e-9)
        for variant, (eta, gain), patience in ((FINE_INVERSE, fine, span), (f"{INVERSE}-patience-1", coarse, 1)):
            fitted(TEM, variant, heated(eta=eta, tolerance=gain, patience=patience)[1])
    return recorder.results


def validated_prior(
    topics: Topics,
    evaluate: Callable[[Topics, np.random.Generator], Evaluation],
    sums: Sequence[float],
    random: Callable[[], np.random.Generator],
) -> Topics:
    """Return the topics with the symmetric prior under which the validation tokens score highest.

    The K parameters of a prior are equal, and their sum is one of `sums`; the random numbers are the same under every
    prior.
    """
    best, highest = topics, -np.inf
    for alpha_sum in sums:
        candidate = replace(topics, alpha=np.full(topics.n_topics, alpha_sum / topics.n_topics))
        log_likelihood = evaluate(candidate, random()).log_likelihood.sum()
        if log_likelihood > highest:
            best, highest = candidate, log_likelihood
    return best
