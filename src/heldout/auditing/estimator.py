"""The choice of the estimator of an audit's likelihood, and of its number of samples.

Exact where that is affordable, otherwise the reference (`heldout.evaluators.reference`): its cost is linear in a
document's length, and it measures its error, bias included, on the audited documents. So nothing is taken from how
estimators do on documents drawn from a model, which are easier than real ones.
"""

import numpy as np

from heldout.auditing.blocks import Work, parts_of
from heldout.auditing.options import AUTO, AuditOptions
from heldout.auditing.survey import Survey
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, REFERENCE
from heldout.evaluators.priors import AnyModel, prior_of
from heldout.evaluators.reference import CHAINS, VARIANCE, least_samples, variance_for
from heldout.topics import AnyTopics

SAMPLES = 20  # default for an estimator given by name
MOST = 100_000  # sweeps over a document on average, whatever error is asked for
AIM = 0.8  # times the error that is asked for: the rest is for the bias, and for documents that turn out harder


def check_estimator(name: str, topics: AnyModel) -> None:
    """Check that an estimator is one of the likelihood under the topics' prior.

    Raises:
        InputError: for one of Dirichlet priors alone, where the prior is another.
    """
    prior = prior_of(topics)
    if name != AUTO and name not in prior.estimators:
        raise InputError(
            f"{name}: under a Dirichlet prior only, and this model's is {prior.name}; take {REFERENCE}, or leave the"
            " estimator out"
        )


def choose_estimator(topics: AnyTopics, read: Survey, options: AuditOptions) -> Work:
    """Return the likelihood's estimator: as requested or, under "auto", exact if affordable and else the reference.

    Args:
        topics: phi and the prior.
        read: the first reading of the documents.
        options: the audit's options.

    Raises:
        InputError: when the exact likelihood was requested and costs more than the limit, or an estimator that does not
            know the prior.
    """
    check_estimator(options.estimator, topics)
    return _chosen(topics, read, options)._replace(parts=parts_of(topics))


def _chosen(topics: AnyTopics, read: Survey, options: AuditOptions) -> Work:
    name, limit, seed = options.estimator, options.limit, options.random_state
    affordable = read.updates <= limit
    if name == EXACT and not affordable:
        raise InputError(
            f"{EXACT}: the exact likelihood of these documents at {topics.n_topics} topics takes more than {limit:.1e}"
            " updates or too much memory; take another estimator, or fewer or shorter documents"
        )
    if affordable and name in (AUTO, EXACT):
        return Work(EXACT, 0, seed, f"The exact likelihood takes {read.updates:.1e} updates; {limit:.1e} are allowed.")
    if name in (AUTO, REFERENCE):
        return _reference(topics, read, options)
    if ESTIMATORS[name].deterministic:
        return Work(name, 0, seed, "It was asked for by name.")
    bias = "the bias that it has with few samples" if ESTIMATORS[name].behaviour == "consistent" else "its bias"
    reason = f"It was asked for by name; its standard error covers only a part of {bias}."
    return Work(name, options.samples or SAMPLES, seed, reason)


def affordable(topics: AnyTopics, read: Survey) -> int:
    """Return the average number of sweeps over a document in about ten seconds of one core; at most `MOST`."""
    tokens, documents = int(read.lengths.sum()), int(np.count_nonzero(read.lengths))
    return min(MOST, int(prior_of(topics).affordable(tokens, documents)))


def _reference(topics: AnyTopics, read: Survey, options: AuditOptions) -> Work:
    """Return the reference, with sweeps for ten seconds of work, for the wanted error, or as requested."""
    wanted, chains, samples = options.standard_error, CHAINS, options.samples or MOST
    if options.samples is None and wanted is None:
        samples = affordable(topics, read)
        if samples < least_samples(CHAINS):
            chains = prior_of(topics).fewest_chains
        samples = max(least_samples(chains), samples)
    reason = "It was asked for by name"
    if options.estimator == AUTO:
        reason = f"The exact likelihood takes more than {options.limit:.1e} updates or too much memory"
    exact_below = prior_of(topics).exact_below if options.estimator == AUTO else 0.0
    if exact_below:
        reason += f"; that of a document which takes at most {exact_below:.1e} is exact"
    error = "" if wanted is None else f"; an error of {wanted:.2g} nats a document is asked for"
    variance = VARIANCE if wanted is None else variance_for(AIM * wanted)
    reason += f"{error}; the error is measured on these documents and includes the bias."
    return Work(REFERENCE, samples, options.random_state, reason, variance, chains, exact_below=exact_below)
