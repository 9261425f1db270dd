"""The distance of folding-in from the truth, and its repairs at its own price.

All of it on the same test documents, for one model's topics and several priors of theta:

* the truth, log p(w | alpha, phi): `exact-marginal` where it costs no more than `limit`, and by `reference` with its
  error everywhere, so that each checks the other;
* `full-folding-in`, `half-folding-in` (its own scored tokens): as in the study's scores;
* `plug-in-posterior-mean`: the posterior mean in the place of the folded-in point, by mean field, and as
  `plug-in-exact-mean` exactly where that costs no more than `limit`;
* `mean-field-bound`, a lower bound;
* `laplace-softmax`: the evaluator; `laplace-density`: without the prior's own integral divided out (MacKay's own form);
  `laplace-one-step`: one step of EM from the folded-in point (`heldout.evaluators.laplace_softmax`);
* `nml-penalised`: the folded-in maximum less log C(min(K, V), L), the most that folding-in can ignore
  (`heldout.evaluators.nml_penalised`); a lower bound of the normalised model.

The priors give the rows' variants: the topics' own (variant VARIANT; for PLSA Dirichlet(1), as section 3.4 of Welling
et al. derives), Dirichlet(1) where the topics' own is another (VARIANT-flat-prior), and the one that makes the training
documents most likely (VARIANT-fitted-prior; `heldout.models.dirichlet_prior`). What does not depend on the prior,
folding in by EM and the penalty, stands in the first alone. Under a mixture of `components` Dirichlets fitted to the
training documents (VARIANT-mixture-prior) there is the truth alone.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from artifact.papers.likelihood.settings import Optimism
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, FULL, HALF, LAPLACE, MEAN_FIELD_BOUND, NML, REFERENCE
from heldout.evaluators.evaluation import Evaluation, first_chain, in_vocabulary
from heldout.evaluators.exact_marginal import cost, exact_marginal, exact_posterior_mean
from heldout.evaluators.folding_in import full_folding_in, maximum, predictive
from heldout.evaluators.laplace_softmax import laplace_softmax
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.evaluators.nml_penalised import nml_penalised
from heldout.evaluators.posterior_mean import posterior_mean
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import least_samples, mixture_reference, reference
from heldout.models.dirichlet_prior import fit_mixture, fit_prior
from heldout.topics import Topics
from heldout.typing import Floats, Ints

PLUG_IN = "plug-in-posterior-mean"
PLUG_IN_EXACT = "plug-in-exact-mean"
DENSITY = "laplace-density"
ONE_STEP = "laplace-one-step"
TOKENS = "tokens"
UNDEFINED = "laplace-folded-in-undefined"
PRIOR_SUM = "prior-sum"
PRIOR_LARGEST = "prior-largest"
FLAT, FITTED, MIXTURE = "flat-prior", "fitted-prior", "mixture-prior"


def experiment(job: Job, settings: Optimism) -> Results:
    """Score one model's topics on the test documents of a split with every evaluator above, under every prior.

    Of a sampled model the first chain alone is measured, and nothing is added to its p(w | z). The reference has
    `samples` of all components of the mixture together, or as many as it needs; on corpora of `longer` its factor times
    as many, at a variance smaller by it: an error in nats is one of fewer tokens where documents are short.

    Returns:
        Scores, one per evaluator, prior and constant. Measurements, under `smoothing` alone, named as the evaluators:
        on the axis "length" nats per token of the documents of one group, at their mean length (rounded);
        on the axis "document" nats of one document, beside the number of `tokens` scored;
        on the axis "documents", at their number, the share of them in which Laplace's method at the folded-in point
        itself is undefined; on the axis "topics", at K, the sum and the largest of the prior's parameters.
    """
    longer = settings.longer.get(job.corpus.name, 1)
    settings = replace(settings, samples=longer * settings.samples, variance=settings.variance / longer)
    training, test = job.split()
    halves = half_split(test, job.seed)
    topics, variant = job.chains[0], job.variant
    K, samples = topics.n_topics, settings.samples
    smoothed, constant, chain, sampled = first_chain(job.chains, settings.smoothing)
    random = partial(job.generator, model=job.model, topics=K, chain=chain)
    recorder = job.recorder(topics=K, smoothing=constant, chain=chain, documents=test.documents)

    def measured(topics: Topics, constant: float, name: str, theta: Floats) -> dict[str, Evaluation]:
        rng = random("optimism", variant=name, smoothing=constant)
        evaluations = under_prior(topics, test, theta, settings, rng)
        if sampled or name == variant:
            evaluations[FULL] = full_folding_in([topics], test, job.fold_in)
            evaluations[HALF] = predictive([topics], *halves, job.fold_in)
        if name == variant:
            evaluations[NML] = nml_penalised(topics, test, theta=theta)
            if EXACT in evaluations:
                evaluations[PLUG_IN_EXACT] = full_folding_in([topics], test, exact_posterior_mean)
        row = recorder.at(variant=name, smoothing=constant)
        for evaluator, evaluation in evaluations.items():
            if sampled and evaluator in (FULL, HALF):  # folded in by sampling: the error is not stated
                row.score(evaluator, evaluation, samples=1, standard_error=math.nan)
            else:
                row.score(evaluator, evaluation, samples=samples if evaluator == REFERENCE else 0)
        return evaluations

    theta = maximum(smoothed, test)
    groups = list(by_length(test.lengths, settings.bins))
    rng = random("optimism-prior", smoothing=constant)
    for name, prior in ((variant, smoothed), *priors(smoothed, training, variant, rng)):
        evaluations, row = measured(prior, constant, name, theta), recorder.at(variant=name)
        for evaluator, evaluation in evaluations.items():
            for group in groups:
                tokens = evaluation.tokens[group].sum()
                value = evaluation.log_likelihood[group].sum() / tokens
                error = evaluation.total_error(group) / tokens
                error = math.nan if sampled and evaluator in (FULL, HALF) else error
                mean_length = round(float(test.lengths[group].mean()))
                row.measure(evaluator, value, axis="length", position=mean_length, error=error)
        row.measure(PRIOR_SUM, prior.alpha.sum())
        row.measure(PRIOR_LARGEST, prior.alpha.max())
        row.measure(UNDEFINED, undefined(prior, test, theta), axis="documents", position=(test.lengths > 0).sum())
        if name == variant and K in settings.document_topics:
            for evaluator in (EXACT, REFERENCE, FULL, LAPLACE, NML):
                if evaluator in evaluations:
                    unstated = math.nan if sampled and evaluator == FULL else None
                    row.by_document(evaluator, evaluations[evaluator], error=unstated)
            tokens = evaluations[LAPLACE].tokens
            for d in np.flatnonzero(tokens):
                row.measure(TOKENS, tokens[d], axis="document", position=d)
    mixture = fit_mixture(smoothed, training, rng, components=settings.components)
    rng = random("optimism", variant=f"{variant}-{MIXTURE}", smoothing=constant)
    chains = settings.annealing_chains
    enough = max(samples, settings.components * least_samples(chains))
    estimated = mixture_reference(smoothed, mixture, test, enough, rng, chains=chains, variance=settings.variance)
    truths = {REFERENCE: estimated}
    if settings.components * cost(in_vocabulary(test, smoothed)[0].lengths, K) <= settings.limit:
        truths[EXACT] = mixture_of_priors(smoothed, mixture, lambda topics: exact_marginal(topics, test))
    for evaluator, evaluation in truths.items():
        drawn = samples if evaluator == REFERENCE else 0
        recorder.at(variant=f"{variant}-{MIXTURE}").score(evaluator, evaluation, samples=drawn)
    if not sampled and K in settings.constants_topics:
        for other in settings.constants:
            if other != constant:
                smoothed = topics.smoothed(other) if other > 0.0 else topics
                measured(smoothed, other, variant, maximum(smoothed, test))
    return recorder.results


def priors(topics: Topics, training: Corpus, variant: str, rng: np.random.Generator) -> Iterator[tuple[str, Topics]]:
    """Yield variants' names and the topics under the other priors: flat, unless theirs is, and fitted."""
    if np.any(topics.alpha != 1.0):
        yield f"{variant}-{FLAT}", replace(topics, alpha=np.ones(topics.n_topics))
    yield f"{variant}-{FITTED}", fit_prior(topics, training, rng)


def under_prior(
    topics: Topics, test: Corpus, theta: Floats, settings: Optimism, rng: np.random.Generator
) -> dict[str, Evaluation]:
    """Return the evaluations that depend on the prior, the truth included.

    `exact-marginal` is there only where it costs no more than its limit; theta, (D, K), is the folded-in maximum.
    """
    chains, variance = settings.annealing_chains, settings.variance
    evaluations = {
        REFERENCE: reference(topics, test, settings.samples, rng, chains=chains, variance=variance),
        PLUG_IN: full_folding_in([topics], test, posterior_mean),
        MEAN_FIELD_BOUND: mean_field_bound(topics, test),
        LAPLACE: laplace_softmax(topics, test),
        DENSITY: laplace_softmax(topics, test, form="density"),
        ONE_STEP: laplace_softmax(topics, test, point="one-step", theta=theta),
    }
    exact = exact_within(topics, test, settings.limit)
    return evaluations if exact is None else evaluations | {EXACT: exact}


def undefined(topics: Topics, test: Corpus, theta: Floats) -> float:
    """Return the share of documents with tokens where Laplace's method at the folded-in theta is not finite."""
    evaluation = laplace_softmax(topics, test, point="folded-in", theta=theta)
    return float(np.mean(~np.isfinite(evaluation.log_likelihood[evaluation.tokens > 0])))


def by_length(lengths: Ints, bins: int) -> Iterator[Ints]:
    """Yield the indices of documents with tokens in groups of rising length; equal lengths stay together."""
    documents = np.flatnonzero(lengths)
    edges = np.unique(np.quantile(lengths[documents], np.linspace(0.0, 1.0, bins + 1)[1:-1], method="lower"))
    group_of_document = np.searchsorted(edges, lengths[documents], side="left")
    for group in np.unique(group_of_document):
        yield documents[group_of_document == group]
