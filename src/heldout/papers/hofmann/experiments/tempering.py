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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, token_split
from heldout.errors import InputError
from heldout.evaluators import EXACT, HALF, REFERENCE
from heldout.evaluators.evaluation import Evaluation, predictive
from heldout.evaluators.exact_marginal import exact_within
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.evaluators.reference import reference
from heldout.measurements import Measurement
from heldout.models import PLSA, TEM, plsa_tem
from heldout.models.inverse_annealing import Fit, annealing, inverse_annealing
from heldout.papers.hofmann.experiments.latent_semantic_analysis import EVALUATOR, FOLDED_IN, VALIDATION, together
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Topics

EARLY, INVERSE, ANNEALING, VALIDATED = "early-stopping", "inverse-annealing", "annealing", "validated-prior"
FINE_INVERSE, COARSE_ANNEALING = f"{INVERSE}-fine", f"{ANNEALING}-coarse"
PREDICTIVE = "posterior-predictive"
TO_BEST, ITERATIONS, BETA = "iterations-to-best", "iterations", "beta"
PRIOR_SUM, TRUTH_PRIOR_SUM = "prior-sum", "prior-sum-of-truth"


def experiment(
    corpus: Corpus,
    *,
    topics: int,
    seed: int,
    shares: Sequence[float],
    early_patience: int,
    eta: float,
    tolerance: float,
    patience: int,
    iterations: int,
    annealing_topics: int,
    annealing_start: float,
    annealing_eta: float,
    convergence: float,
    annealing_noise: float,
    path_topics: Sequence[int],
    folded_in_topics: Sequence[int],
    fold_in_iterations: int,
    fold_in_tolerance: float,
    samples: int,
    predictive_samples: int,
    prior_sums: Sequence[float],
    prior_samples: int,
    limit: float,
) -> tuple[list[Score], list[Measurement]]:
    """Fit one K by early stopping, inverse annealing and annealing, and score the test tokens in every way.

    Args:
        corpus: all documents; all are used.
        topics: K.
        seed: determines the split of the tokens, the start and the draws.
        shares: of training, validation and test tokens in every document.
        early_patience: iterations in a row without improvement after which early stopping ends.
        eta: of the coarse schedule, what inverse annealing multiplies beta with and annealing divides it by.
        tolerance: of the coarse schedule, nats per token below which a gain is negligible; on either, the share by
            which a worse validation perplexity ends annealing.
        patience: the values of beta without success after which to stop.
        iterations: the most that a fit may take.
        annealing_topics: the largest K that is annealed too.
        annealing_start: the first beta of annealing.
        annealing_eta: eta of the fine schedule.
        convergence: its tolerance.
        annealing_noise: by how much annealing perturbs p(w | z) at every beta.
        path_topics: the numbers of topics at which every iteration is reported.
        folded_in_topics: those at which weights are folded in on all tokens too.
        fold_in_iterations: the most iterations of folding in.
        fold_in_tolerance: nats per token within which it stops.
        samples: the most sweeps of the reference over a document, on average.
        predictive_samples: states of the chain behind the posterior predictive.
        prior_sums: sums of the symmetric prior's parameters, to choose from.
        prior_samples: states of the chain, or sweeps, by which that is chosen.
        limit: updates that the exact marginal of all documents may cost.

    Returns:
        Scores of ("plsa-hof", "early-stopping") and ("plsa-tem", "inverse-annealing") by every evaluator, what depends
        on the prior once more under the variant with "-validated-prior"; of ("plsa-tem", "annealing"), fine, and of
        "annealing-coarse", "inverse-annealing-fine" and "inverse-annealing-patience-1" by "document-specific-unigram"
        alone. Measurements of all fits on the axis "topics": "iterations-to-best",
        "iterations" (the later stages and values of beta that did not help included), "beta", "validation-perplexity",
        and of the chosen priors "prior-sum" (for the posterior predictive) and "prior-sum-of-truth"; at K in
        `path_topics` on the axis "iteration" (1 is the first) the "validation-perplexity" after it and its "beta".

    Raises:
        InputError: as the split, the fits and the evaluators do.
    """
    if not (len(shares) == 3 and prior_sums and min(prior_sums) > 0.0):
        raise InputError("tempering: give three shares of tokens, and one or more sums of the prior, all positive")
    split = token_split(corpus, (shares[0], shares[1], shares[2]), seed)
    halves, whole = half_split(split.test, seed), together(split)
    schedule: dict[str, Any] = {"tolerance": tolerance, "patience": patience, "iterations": iterations}
    schedule |= {"topics": topics, "seed": seed}
    heated: dict[str, Any] = {**schedule, "early_patience": early_patience, "eta": eta}
    scores: list[Score] = []
    measurements: list[Measurement] = []

    def report(model: str, variant: str, evaluations: Iterator[tuple[str, int, Evaluation]]) -> None:
        named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": variant, "topics": topics}
        named |= {"smoothing": 0.0, "chain": "none", "seed": seed, "tokens_left_out": split.test_left_out}
        for evaluator, drawn, evaluation in evaluations:
            scores.append(score_of(evaluation, evaluator=evaluator, samples=drawn, **named))

    def row(model: str, variant: str, quantity: str, at: int, value: float, axis: str = "topics") -> None:
        names = (corpus.name, model, variant, topics, 0.0, "none", seed)
        measurements.append(Measurement(*names, quantity, axis, at, float(value)))

    def report_fit(model: str, variant: str, fit: Fit) -> None:
        row(model, variant, TO_BEST, topics, fit.iterations_to_best)
        row(model, variant, ITERATIONS, topics, len(fit.path))
        row(model, variant, BETA, topics, fit.beta)
        row(model, variant, VALIDATION, topics, fit.perplexity)
        if topics in path_topics and variant in (EARLY, INVERSE, ANNEALING):
            for at, step in enumerate(fit.path, start=1):
                row(model, variant, VALIDATION, at, step.perplexity, "iteration")
                row(model, variant, BETA, at, step.beta, "iteration")

    def given_training(fit: Fit) -> Iterator[tuple[str, int, Evaluation]]:
        weights = fit.document_topics
        yield EVALUATOR, 0, predictive([fit.topics], split.training, split.test, lambda *_: weights)

    def folded_in(fit: Fit) -> Iterator[tuple[str, int, Evaluation]]:
        def fold_in(trained: Topics, documents: Corpus) -> Any:
            return plsa_tem.fold_in(
                trained, documents, seed=seed, iterations=fold_in_iterations, tolerance=fold_in_tolerance
            )

        if topics in folded_in_topics:
            yield FOLDED_IN, 0, predictive([fit.topics], whole, split.test, fold_in)
        yield HALF, 0, half_folding_in([fit.topics], *halves, fold_in)

    def integrated(
        alone: Topics, completing: Topics, model: str, variant: str
    ) -> Iterator[tuple[str, int, Evaluation]]:
        axes: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": variant, "topics": topics}
        rng = generator("tempering", **axes, evaluator=REFERENCE, seed=seed)
        yield REFERENCE, samples, reference(alone, split.test, samples, rng)
        exact = exact_within(alone, split.test, limit)
        if exact is not None:
            yield EXACT, 0, exact
        rng = generator("tempering", **axes, evaluator=PREDICTIVE, seed=seed)
        yield (
            PREDICTIVE,
            predictive_samples,
            posterior_predictive(completing, split.training, split.test, predictive_samples, rng),
        )

    fits = inverse_annealing(split.training, split.validation, **heated)
    for model, variant, fit in zip((PLSA, TEM), (EARLY, INVERSE), fits, strict=True):
        report_fit(model, variant, fit)
        report(model, variant, given_training(fit))
        report(model, variant, folded_in(fit))
        report(model, variant, integrated(fit.topics, fit.topics, model, variant))
        axes: dict[str, Any] = {"corpus": corpus.name, "model": model, "topics": topics, "seed": seed}

        def completing(trained: Topics, rng: np.random.Generator) -> Evaluation:
            return posterior_predictive(trained, split.training, split.validation, prior_samples, rng)

        def alone(trained: Topics, rng: np.random.Generator) -> Evaluation:
            return left_to_right_sequential(trained, split.validation, prior_samples, rng)

        for_predictive, for_truth = (
            validated_prior(fit.topics, evaluate, prior_sums, axes) for evaluate in (completing, alone)
        )
        name = f"{variant}-{VALIDATED}"
        row(model, name, PRIOR_SUM, topics, for_predictive.alpha.sum())
        row(model, name, TRUTH_PRIOR_SUM, topics, for_truth.alpha.sum())
        report(model, name, integrated(for_truth, for_predictive, model, name))

    def report_other(variant: str, fit: Fit) -> None:
        report_fit(TEM, variant, fit)
        report(TEM, variant, given_training(fit))

    if topics <= annealing_topics:
        cooled: dict[str, Any] = {**schedule, "start": annealing_start, "noise": annealing_noise}
        for variant, factor, gain in ((ANNEALING, annealing_eta, convergence), (COARSE_ANNEALING, eta, tolerance)):
            fit = annealing(split.training, split.validation, **cooled, eta=factor, convergence=gain)
            report_other(variant, fit)
        span = math.ceil(patience * math.log(eta) / math.log(annealing_eta) - 1e-9)  # (equal factors: the same)
        fine = {"eta": annealing_eta, "tolerance": convergence, "patience": span}
        for variant, changes in ((FINE_INVERSE, fine), (f"{INVERSE}-patience-1", {"patience": 1})):
            _, fit = inverse_annealing(split.training, split.validation, **{**heated, **changes})
            report_other(variant, fit)
    return scores, measurements


def validated_prior(
    topics: Topics,
    evaluate: Callable[[Topics, np.random.Generator], Evaluation],
    sums: Sequence[float],
    axes: dict[str, Any],
) -> Topics:
    """Return the topics with the symmetric prior under which the validation tokens score highest.

    Args:
        topics: phi.
        evaluate: scores the validation tokens under a prior.
        sums: of the prior's K equal parameters, to choose from.
        axes: name the random numbers, the same under every prior.
    """
    best, highest = topics, -np.inf
    for alpha_sum in sums:
        candidate = replace(topics, alpha=np.full(topics.n_topics, alpha_sum / topics.n_topics))
        rng = generator("tempering-prior", **axes)
        log_likelihood = evaluate(candidate, rng).log_likelihood.sum()
        if log_likelihood > highest:
            best, highest = candidate, log_likelihood
    return best
