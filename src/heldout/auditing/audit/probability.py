"""Test of an audit's numbers, the library's included, as probabilities, on documents drawn from the model.

A few documents of the audited lengths are drawn with their topics from phi and alpha and scored as the audited ones
are. The exponential of a number's excess over their log-likelihood is an e-value, which bounds the chance that a
probability had of it (`heldout.evaluators.is_probability`).
The likelihood is exact where that takes at most `LIMIT` updates. Elsewhere an upper limit stands for it: 1 / p(w) is
estimated without bias from the topics or weights that drew the document, by the reference's annealing run backward,
which leaves the bound on the chance as it stands; half folding-in, the score of a second half given the first, is held
to that less an unbiased log p(first half).

What is not above it is not refuted, which does not make it a probability: a lower bound passes.
"""

from dataclasses import replace

import numpy as np

from heldout.auditing.audit.result import ProbabilityTest
from heldout.auditing.blocks import LIKELIHOOD, PARTS, REPORTED, Work, local
from heldout.auditing.survey import Subject
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, HALF, REFERENCE
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import log_mean
from heldout.evaluators.is_probability import Excess, excess
from heldout.evaluators.priors import Prior, exact_within, prior_of
from heldout.libraries import THESE
from heldout.libraries.reported import reported
from heldout.seeds import generator
from heldout.topics import AnyTopics
from heldout.typing import Floats, Ints

DOCUMENTS, TOKENS = 32, 5_000  # largest numbers of drawn documents, and of their tokens
STEPS = 100  # annealing steps
SAMPLES = 5  # samples of an estimated likelihood: with few the test is weaker, not wrong
LIMIT = 1e9  # updates of the exact likelihood; about a second


def lengths_of(lengths: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the lengths of the documents to draw, and the places of the audited documents of these lengths.

    They are at most `DOCUMENTS`, of `TOKENS` tokens together.

    Args:
        lengths: (D,) tokens of the audited documents; at least one has some.
        rng: chooses the documents.
    """
    places = rng.permutation(np.flatnonzero(lengths > 0))[:DOCUMENTS]
    chosen = lengths[places]
    chosen[0] = min(int(chosen[0]), TOKENS)
    few = np.cumsum(chosen) <= TOKENS
    return chosen[few], places[few]


def probability_test(subject: Subject, work: Work, *, ask: bool) -> ProbabilityTest:
    """Draw documents from the model, and compare every number of them with their likelihood.

    Args:
        subject: the model and the audited documents.
        work: the likelihood's estimator and its settings.
        ask: whether to ask the library for its number.
    """
    rng = generator("audit-probability", seed=work.seed)
    prior = prior_of(subject.topics)
    lengths, places = lengths_of(subject.read.lengths, rng)
    # a document is drawn from the prior of the audited one
    model, given = subject.topics.of_documents(places), subject.own.given
    fitted = replace(subject.own, given=tuple(given[d] for d in places)) if given else subject.own
    simulated, latent = prior.simulate(model, lengths, rng)
    topics, documents = local(model, simulated, 0)
    observed, _ = half_split(documents, work.seed)
    exact = exact_within(topics, documents, LIMIT)
    upper = (exact or prior.upper(topics, documents, latent, SAMPLES, rng)).log_likelihood
    first = _unbiased(prior, topics, observed, rng)
    excesses = {}
    for name in work.parts:
        if name == LIKELIHOOD and work.estimator == EXACT:
            excesses[name] = Excess(0.0)  # by its definition
            continue
        # without the correction of its logarithm
        if name == LIKELIHOOD and work.estimator != REFERENCE:
            scores = estimate(work.estimator, topics, documents, work.samples, rng)
        else:
            scores = PARTS[name](topics, documents, work, 0)
        likelihood = upper - first if name == HALF else upper
        excesses[name] = excess(scores.log_likelihood, likelihood, np.nan_to_num(scores.standard_error))
    if ask:
        number = reported(fitted, [simulated])
        if number.about == THESE and np.isfinite(number.nats_per_token):
            excesses[REPORTED] = excess(number.nats_per_token * documents.n_tokens, upper.sum())
    return ProbabilityTest(documents.n_documents, documents.n_tokens, exact is not None, excesses)


def _unbiased(prior: Prior, topics: AnyTopics, documents: Corpus, rng: np.random.Generator) -> Floats:
    """Return log p of documents, (D,), nats: exact, or without bias as a probability by the reference's annealing."""
    exact = exact_within(topics, documents, LIMIT)
    if exact is not None:
        return exact.log_likelihood
    runs = prior.annealing(topics, documents, rng)
    return log_mean(runs.log_weights(np.full(documents.n_documents, STEPS), SAMPLES))[0]
