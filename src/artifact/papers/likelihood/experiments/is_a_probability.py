r"""Every score of this project held to documents that were drawn from the model: is it a probability?

Documents are drawn with their mixtures, theta_d ~ Dirichlet(alpha), and topics, and scored under the very topics that
drew them. By how much does a score exceed the truth (`heldout.evaluators.is_probability`)? The truth is

* log p(w | alpha, phi), exact where that costs no more than `limit`. Elsewhere 1 / p(w) is estimated without bias from
  the topics that drew the document (`heldout.evaluators.chib.chib_upper`): with 1 / P in the place of 1 / p, E q / P <=
  1 still, so that Markov's inequality holds as it stands, without an error of the truth; with few samples its test is
  weaker, not wrong. What `heldout.evaluators.chib`, unbiased in p and a lower bound, lies below is the GAP. Scores of
  second halves given the first, half folding-in and document completion, are held to log p(second | first) = log
  p(document) - log p(first), with an unbiased p(first);
* log p(w | theta_d) of the theta that drew the document, which no evaluator has touched (variant GIVEN_THETA).

The models are those that the study's corpora were drawn from (`heldout.corpora.realistic`), with the lengths of the
corpus's last documents; and, without a corpus, one that is drawn here (`heldout.corpora.synthetic`), smoothed so that
no word has probability 0.

Libraries are held to their own generative law: each is trained on the corpus's first documents, documents are drawn
from the topics and the prior that it then has, and the number that it reports of them is compared with their truth.

A probability of sequences of L tokens sums to 1 over all V^L of them. Folding-in sums to Z
(`heldout.evaluators.normaliser`), here for any number of topics: with h the document's weights,

    Z = sum_w max_h p(w | h) = E_p[max_h p(w | h) / p(w)],

the expectation over documents drawn under Dirichlet(1), with an unbiased 1 / p(w) again.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from artifact.papers.likelihood.experiments.optimism import DENSITY, ONE_STEP, PLUG_IN, PLUG_IN_EXACT
from artifact.papers.likelihood.experiments.packages import REPORTED, check_installed, fit_peer, with_own_words
from artifact.papers.likelihood.settings import IsAProbability
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora import synthetic
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.corpora.synthetic import Law, Shape
from heldout.errors import InputError
from heldout.evaluators import ANNEALED, COMPLETION, ESTIMATORS, EXACT, FULL, HALF, REFERENCE
from heldout.evaluators.bidirectional import simulate, simulate_given
from heldout.evaluators.chib import chib, chib_upper
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation, log_mean
from heldout.evaluators.exact_marginal import exact_posterior_mean
from heldout.evaluators.folding_in import full_folding_in, maximum, predictive
from heldout.evaluators.is_probability import excess
from heldout.evaluators.laplace_softmax import laplace_softmax
from heldout.evaluators.posterior_mean import posterior_mean
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.evaluators.priors import exact_within
from heldout.libraries.reported import reported
from heldout.models import lda
from heldout.models.settings import LDAFoldingIn
from heldout.seeds import Axes, generator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

KIND = "is-a-probability"
GIVEN_THETA = f"{KIND}-given-theta"  # variant of the rows that are held to log p(w | theta)
TRUE_MODEL, NONE = "truth", "none"
SAMPLED = "-sampled"  # ending of scores folded in by a Gibbs sample, as LDA is, and not at the maximum
SAMPLED_FULL, SAMPLED_HALF = FULL + SAMPLED, HALF + SAMPLED
HALF_SCORES = (HALF, SAMPLED_HALF, COMPLETION)
GAP, LOG_SUM, LOG_MEAN = "truth-gap", "log-sum-over-documents", "mean-log-ratio"
SMOOTHING = 1e-5
FEWER = {ANNEALED: 20}  # divisors of an estimator's samples: a sample of annealing is a thousand sweeps


class Drawn(NamedTuple):
    """Documents from a model, divided into halves, and their true log-likelihoods, in nats.

    Attributes:
        topics: the model.
        documents, observed, scored: D documents, their first and their second halves.
        truth, scored_truth: (D,) log p(document), and log p(second half | first half), exact or unbiased in 1 / p.
        given, scored_given: (D,) log p(document | theta) and log p(second half | theta) of the theta that drew it.
        gap: the truth of all documents less a lower bound of it; 0 where the truth is exact.
    """

    topics: Topics
    documents: Corpus
    observed: Corpus
    scored: Corpus
    truth: Floats
    scored_truth: Floats
    given: Floats
    scored_given: Floats
    gap: float


def experiment(job: Job, settings: IsAProbability) -> Results:
    """Return every score's excess over the truth on documents drawn from one model, and from libraries' models.

    The job's topics are the model that its corpus was drawn from, its last documents give the lengths, its first train
    the libraries; without topics a model is drawn here.

    Returns:
        No score; and measurements of model "truth", or of a library. On the axis "documents" at D the quantities are
        the scores' names, the values their excess over the truth, nats, under the variant KIND, and their excess over
        log p(w | theta) under GIVEN_THETA; and the truth's gap, under KIND. On the axis "tokens" at L
        log Z of folding-in with its standard error, and E log(max_h p(w | h) / p(w)), a lower bound of it that needs
        no large ratio to be met.

    Raises:
        InputError: for a corpus drawn from another number of topics, too few documents, a library that is unknown or
            not installed, or as the evaluators do.
    """
    topics, corpus, D, n_trained = job.topics, job.corpus, settings.documents, settings.library_documents
    if job.chains:
        truth, lengths = job.chains[0], corpus.lengths[-D:]
        if truth.n_topics != topics or corpus.n_documents < D + n_trained:
            raise InputError(
                f"{KIND}: {topics} topics and {D + n_trained} documents of {corpus.name}, which has"
                f" {truth.n_topics} and {corpus.n_documents}; give its own number of topics, and fewer documents"
            )
    else:
        shape, law = Shape(1, D, settings.words, settings.mean_length), Law(topics=topics)
        made, truth = synthetic.draw(f"{KIND}-{topics}", shape, seed=job.seed, law=law)
        truth, lengths = truth.smoothed(SMOOTHING), made.lengths[1:]
    axes: Axes = {"corpus": corpus.name, "topics": topics, "seed": job.seed}
    truth_rows = job.recorder(model=TRUE_MODEL, variant=KIND)

    def held(recorder: Recorder, quantity: str, score: Floats | float, truth: Floats, given: Floats) -> None:
        recorder.measure(quantity, excess(score, truth).nats, axis="documents", position=D)
        recorder.at(variant=GIVEN_THETA).measure(quantity, excess(score, given).nats, axis="documents", position=D)

    drawn = draw(truth, lengths, settings, {**axes, "model": TRUE_MODEL})
    truth_rows.measure(GAP, drawn.gap, axis="documents", position=D)
    for quantity, evaluation in scores(drawn, settings, axes):
        halves = quantity in HALF_SCORES
        truths = (drawn.scored_truth, drawn.scored_given) if halves else (drawn.truth, drawn.given)
        held(truth_rows, quantity, evaluation.log_likelihood, *truths)
    L, rng = settings.sum_tokens, generator("is-a-probability-sum", **axes)
    ratios = log_ratios(truth, L, settings.sum_samples, settings.truth_samples, rng)
    total, error = log_mean(ratios[None])
    truth_rows.measure(LOG_SUM, total[0], axis="tokens", position=L, error=error[0])
    truth_rows.measure(
        LOG_MEAN, ratios.mean(), axis="tokens", position=L, error=ratios.std(ddof=1) / np.sqrt(len(ratios))
    )
    for library, rounds in settings.libraries.items() if job.chains else ():
        check_installed(library)
        training = with_own_words(corpus.subset(range(n_trained)))
        start = int(generator("is-a-probability-fit", **axes, model=library).integers(2**31))
        peer = fit_peer(library, training, topics, start, rounds)
        peer_drawn = draw(peer.dirichlet, lengths, settings, {**axes, "model": library})
        recorder = truth_rows.at(model=library)
        recorder.measure(GAP, peer_drawn.gap, axis="documents", position=D)
        nats = reported(peer, [peer_drawn.documents]).nats_per_token * peer_drawn.documents.n_tokens
        held(recorder, REPORTED, nats, peer_drawn.truth, peer_drawn.given)
    return truth_rows.results


def draw(topics: Topics, lengths: Ints, settings: IsAProbability, axes: Axes) -> Drawn:
    """Draw documents of given lengths from a model, and evaluate their true log-likelihoods."""
    rng = generator("is-a-probability", **axes)
    theta, limit, samples = rng.dirichlet(topics.alpha, size=len(lengths)), settings.limit, settings.truth_samples
    documents, assignments = simulate_given(topics, theta, lengths, rng)
    documents = replace(documents, name=f"{axes['corpus']}-{axes['model']}")
    observed, scored = half_split(documents, int(axes["seed"]))
    rng = generator("is-a-probability-truth", **axes)
    exact = exact_within(topics, documents, limit)
    upper = exact or chib_upper(topics, documents, samples, rng, assignments=assignments)
    lower = exact or chib(topics, documents, samples, rng)
    observed_truth = exact_within(topics, observed, limit) or chib(topics, observed, samples, rng)
    return Drawn(
        *(topics, documents, observed, scored),
        truth=upper.log_likelihood,
        scored_truth=upper.log_likelihood - observed_truth.log_likelihood,
        given=full_folding_in([topics], documents, lambda *_: theta).log_likelihood,
        scored_given=predictive([topics], observed, scored, lambda *_: theta).log_likelihood,
        gap=float(np.sum(upper.log_likelihood - lower.log_likelihood)),
    )


def scores(drawn: Drawn, settings: IsAProbability, axes: Axes) -> Iterator[tuple[str, Evaluation]]:
    """Yield every score's name and its values of the documents, or of the second halves where in `HALF_SCORES`."""
    topics, documents, halves = drawn.topics, drawn.documents, (drawn.observed, drawn.scored)
    theta, samples = maximum(topics, documents), settings.samples

    def sampled(model: Topics, corpus: Corpus) -> Floats:
        return lda.fold_in(model, corpus, LDAFoldingIn(sweeps=settings.fold_in_sweeps), seed=int(axes["seed"]))

    yield FULL, full_folding_in([topics], documents, lambda *_: theta)
    yield SAMPLED_FULL, full_folding_in([topics], documents, sampled)
    yield HALF, predictive([topics], *halves, maximum)
    yield SAMPLED_HALF, predictive([topics], *halves, sampled)
    yield PLUG_IN, full_folding_in([topics], documents, posterior_mean)
    yield DENSITY, laplace_softmax(topics, documents, form="density")
    yield ONE_STEP, laplace_softmax(topics, documents, point="one-step", theta=theta)
    if drawn.gap == 0.0:  # the truth is exact, and so can the posterior mean be
        yield PLUG_IN_EXACT, full_folding_in([topics], documents, exact_posterior_mean)
    for name in ESTIMATORS:
        rng = generator("is-a-probability-score", evaluator=name, samples=samples, **axes)
        if name == COMPLETION:
            yield name, posterior_predictive(topics, *halves, samples, rng)
        elif name not in (EXACT, REFERENCE):  # the truth itself
            yield name, estimate(name, topics, documents, max(1, samples // FEWER.get(name, 1)), rng)


def log_ratios(topics: Topics, tokens: int, documents: int, samples: int, rng: np.random.Generator) -> Floats:
    """Return log of max_h p(w | h) / p(w) of documents drawn under Dirichlet(1); its exponential has the mean Z.

    The topics' own prior plays no part, as Z does not depend on it; 1 / p(w) is unbiased with any number of samples.
    """
    flat = replace(topics, alpha=np.ones(topics.n_topics))
    drawn, assignments = simulate(flat, np.full(documents, tokens, dtype=np.int64), rng)
    theta = maximum(flat, drawn)
    largest = full_folding_in([flat], drawn, lambda *_: theta).log_likelihood
    ratios: Floats = largest - chib_upper(flat, drawn, samples, rng, assignments=assignments).log_likelihood
    return ratios
