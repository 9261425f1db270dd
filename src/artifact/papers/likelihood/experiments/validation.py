r"""The reference held to independent estimates where no exact value can be had: real documents, many topics, any prior.

PLSA and LDA are trained on the training documents of a split. Under each of three priors of theta, Dirichlet(1)
(`flat`), a Dirichlet (`fitted`) and a mixture of them (`mixture`), both fitted to training documents
(`heldout.models.dirichlet_prior`), and LDA also under the prior of its training (`own`), a few test documents, at
quantiles of length, or their first `longest` tokens, are evaluated by

* `reference` (`heldout.evaluators.reference`), as the exhibits have it, on corpora of `more` with more sweeps;
* `longer`: itself, with `longer` times the sweeps, and as many times smaller a variance of a log weight;
* `filter`: a particle filter with moves (`heldout.evaluators.particle_filter`), from left to right, which shares
  nothing with annealing. It is unbiased in p(w), component by component of a mixture, and its error is that of
  independent runs, which the logarithm's bias joins (`corrected`). It is left out where it costs more than `limit`.

As many documents of the same lengths are drawn from the model, under each prior, and the reference of them is held to
the bounds from both sides of its own annealing (`heldout.evaluators.annealed_bounds`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from artifact.papers.likelihood.settings import Validation
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.evaluators.annealed_bounds import annealed_bounds, simulate_mixture
from heldout.evaluators.evaluation import Evaluation, corrected, in_vocabulary
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.evaluators.particle_filter import particle_filter
from heldout.evaluators.reference import least_samples, mixture_reference, reference
from heldout.models import LDA, PLSA
from heldout.models.dirichlet_prior import DirichletMixture, fit_mixture
from heldout.topics import Topics
from heldout.typing import Ints

KIND = "validation"
FLAT, FITTED, MIXTURE, OWN_PRIOR = PRIORS = ("flat", "fitted", "mixture", "own")
LONGER, FILTER = OTHERS = ("longer", "filter")
LOWER, UPPER = BOUNDS = ("lower-bound", "upper-bound")
# ends of measurements' names; the first word is the estimate or bound that the reference is held to
DIFFERENCE, OWN_ERROR, REFERENCE_ERROR, TOKENS = "-difference", "-own-error", "-reference-error", "-tokens"


def experiment(job: Job, settings: Validation) -> Results:
    """Hold the reference to independent estimates on documents of one corpus and seed, at one number of topics.

    Returns:
        No scores. Measurements in nats, with variants that name the prior, such as "validation-flat". The axis
        "documents" has, at their number, of `OTHERS`: the reference less the other, of the sum over documents, with the
        error of both; either's own stated error; and the number of tokens; and of `BOUNDS` the same without an error
        of their own, but with the difference's from its spread over documents. The axis "document" has, at every one's
        index among the test documents, difference and other's own error of `OTHERS`.
    """
    more = settings.more.get(job.corpus.name, 1)
    settings = replace(settings, samples=more * settings.samples, variance=settings.variance / more)
    training, test = job.split()
    recorder = job.recorder()
    chosen = by_quantiles(np.minimum(test.lengths, settings.longest), settings.documents, settings.tokens)
    beginnings = test.with_streams(
        [test.document(int(d))[: settings.longest] for d in chosen], tuple(test.documents[d] for d in chosen)
    )
    for model, constant, topics in models(training, settings, job.topics, job.seed):
        documents, _ = in_vocabulary(beginnings, topics)
        for name, prior in priors(topics, training, settings, job, model):
            rng = job.generator(KIND, model=model, topics=job.topics, prior=name)
            row = recorder.at(model=model, variant=f"{KIND}-{name}", smoothing=constant)
            real = referenced(topics, prior, documents, settings, rng)
            longer = referenced(topics, prior, documents, settings, rng, settings.longer)
            held_to(row, LONGER, real, longer, chosen)
            affordable = np.flatnonzero(filter_terms(documents.lengths, prior, settings) <= settings.limit)
            if len(affordable):
                filtered = filtered_by(topics, prior, documents.subset(affordable), settings, rng)
                held_to(row, FILTER, _subset(real, affordable), corrected(filtered), chosen[affordable])
            drawn = simulate_mixture(topics, prior, documents.lengths, rng)
            on_drawn = referenced(topics, prior, drawn.documents, settings, rng)
            bounds = annealed_bounds(
                topics, prior, drawn, rng, chains=settings.bound_chains, steps=settings.bound_steps
            )
            for bound, evaluation in zip(BOUNDS, bounds, strict=True):
                held_to_bound(row, bound, on_drawn, evaluation)
    return recorder.results


def models(training: Corpus, settings: Validation, K: int, seed: int) -> Iterator[tuple[str, float, Topics]]:
    """Yield each model's name, the constant added to its topics, and these."""
    em, chain = trained(training, settings, K, seed)
    yield PLSA, settings.smoothing, em.topics(training.vocabulary).smoothed(settings.smoothing)
    yield LDA, 0.0, chain


def priors(
    topics: Topics, training: Corpus, settings: Validation, job: Job, model: str
) -> Iterator[tuple[str, DirichletMixture]]:
    """Yield each prior's name and the prior; they are fitted to the first documents of `prior_tokens` or more."""
    flat = replace(topics, alpha=np.ones(topics.n_topics))
    enough = int(np.searchsorted(np.cumsum(training.lengths), settings.prior_tokens)) + 1
    some = training.subset(np.arange(min(enough, training.n_documents)))
    yield FLAT, DirichletMixture(np.ones(1), flat.alpha[None])
    if model == LDA:
        yield OWN_PRIOR, DirichletMixture(np.ones(1), topics.alpha[None])
    start = replace(topics, alpha=np.full(topics.n_topics, 1.0 / topics.n_topics))
    for name, components in ((FITTED, 1), (MIXTURE, settings.components)):
        rng = job.generator(f"{KIND}-prior", model=model, topics=job.topics, prior=name)
        yield name, fit_mixture(start, some, rng, components=components, rounds=settings.prior_rounds)


def by_quantiles(lengths: Ints, documents: int, tokens: int) -> Ints:
    """Return the indices of documents with tokens at evenly spaced quantiles of length, ascending by length.

    They are `documents`, or the most, 2 at least, whose tokens are `tokens` together or fewer.
    """
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    for n in range(min(documents, len(order)), 2, -1):
        chosen = order[np.floor((np.arange(n) + 0.5) / n * len(order)).astype(np.int64)]
        if lengths[chosen].sum() <= tokens:
            return chosen
    return order[np.floor((np.arange(2) + 0.5) / 2 * len(order)).astype(np.int64)]


def referenced(
    topics: Topics,
    prior: DirichletMixture,
    documents: Corpus,
    settings: Validation,
    rng: np.random.Generator,
    times: int = 1,
) -> Evaluation:
    """Return the reference under the prior, with its sweeps multiplied by `times`."""
    chains = settings.annealing_chains
    # a mixture takes as many as the pilots of its components need
    samples = max(settings.samples, int(np.count_nonzero(prior.weights)) * least_samples(chains)) * times
    if len(prior.weights) == 1:
        single = replace(topics, alpha=prior.alphas[0])
        return reference(single, documents, samples, rng, chains=chains, variance=settings.variance / times)
    return mixture_reference(topics, prior, documents, samples, rng, chains=chains, variance=settings.variance / times)


def filtered_by(
    topics: Topics, prior: DirichletMixture, documents: Corpus, settings: Validation, rng: np.random.Generator
) -> Evaluation:
    """Return the particle filter's estimates under the prior, from independent runs of every component."""
    return mixture_of_priors(
        topics, prior, lambda single: particle_filter(single, documents, settings.particles, settings.runs, rng)
    )


def filter_terms(lengths: Ints, prior: DirichletMixture, settings: Validation) -> Ints:
    """Return the particle filter's cost of documents of these lengths, (D,), in terms: topics of tokens drawn."""
    components, K = np.count_nonzero(prior.weights), prior.alphas.shape[1]
    terms: Ints = settings.runs * settings.particles * components * K * (lengths * (lengths - 1) // 2)
    return terms


def held_to(recorder: Recorder, other: str, mine: Evaluation, theirs: Evaluation, places: Ints) -> None:
    """Record the reference less another estimate, of the sum and of every document, which have `places` as indices."""
    n = len(places)
    gaps = mine.log_likelihood - theirs.log_likelihood
    errors = mine.total_error(), theirs.total_error()
    recorder.measure(other + DIFFERENCE, gaps.sum(), axis="documents", position=n, error=np.hypot(*errors))
    for end, value in ((REFERENCE_ERROR, errors[0]), (OWN_ERROR, errors[1]), (TOKENS, mine.tokens.sum())):
        recorder.measure(other + end, value, axis="documents", position=n)
    for d, place in enumerate(places):
        one = np.array([d])
        error, both = theirs.total_error(one), np.hypot(mine.total_error(one), theirs.total_error(one))
        recorder.measure(other + DIFFERENCE, gaps[d], axis="document", position=place, error=both)
        recorder.measure(other + OWN_ERROR, error, axis="document", position=place)


def held_to_bound(recorder: Recorder, bound: str, mine: Evaluation, theirs: Evaluation) -> None:
    """Record the reference less a bound of the sum over documents, with the error from its spread over them."""
    gaps = mine.log_likelihood - theirs.log_likelihood
    n = len(gaps)
    recorder.measure(bound + DIFFERENCE, gaps.sum(), axis="documents", position=n, error=gaps.std(ddof=1) * np.sqrt(n))
    for end, value in ((REFERENCE_ERROR, mine.total_error()), (TOKENS, mine.tokens.sum())):
        recorder.measure(bound + end, value, axis="documents", position=n)


def _subset(evaluation: Evaluation, documents: Ints) -> Evaluation:
    """Return the evaluation of some of its documents."""
    bias: Any = None if evaluation.bias is None else evaluation.bias[documents]
    return Evaluation(
        evaluation.log_likelihood[documents],
        evaluation.tokens[documents],
        evaluation.standard_error[documents],
        bias=bias,
    )
