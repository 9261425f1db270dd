"""Which estimator computes an audit's truth, and with how many samples."""

import math

from heldout.auditing.blocks import Work
from heldout.auditing.options import AUTO, AuditOptions
from heldout.auditing.precision_table import Table
from heldout.auditing.recommend import PERPLEXITY_ERROR, ROBUST, choose, nats
from heldout.auditing.survey import Survey
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT
from heldout.topics import Topics

SAMPLES = 20  # of an estimator that was named without a number
HARDER = 2.0  # errors of `ROBUST` on real documents, over those on drawn ones: "auto" asks for so much less
FURTHER = 100.0  # times the most samples that were measured: no more are drawn
FEWEST = 10  # samples that "auto" draws: of two or three a standard error cannot be told


def choose_truth(topics: Topics, read: Survey, options: AuditOptions, table: Table | None) -> Work:
    """Return what is done with every document: the truth is exact where that is affordable, else as asked for.

    Args:
        topics: phi and alpha.
        read: of the documents.
        options: what was asked for.
        table: what is known of the estimators; None for the reference results.

    Raises:
        InputError: where the exact likelihood was asked for and costs more than the limit, or nothing can be
            recommended.
    """
    name, limit = options.estimator, options.limit
    affordable = read.updates <= limit
    if name == EXACT and not affordable:
        raise InputError(
            f"{EXACT}: the exact likelihood of these documents at {topics.n_topics} topics takes more than {limit:.1e}"
            " updates or too much memory; take another estimator, or fewer or shorter documents"
        )
    if affordable and name in (AUTO, EXACT):
        reason = f"The exact likelihood takes {read.updates:.1e} updates, and {limit:.1e} are allowed."
        return Work(EXACT, 0, options.seed, reason)
    if name == AUTO:
        return _recommended(topics, read, options, table)
    if ESTIMATORS[name].deterministic:
        return Work(name, 0, options.seed, "It was asked for by name.")
    few = "It was asked for by name; its standard error leaves out the bias that it has with few samples."
    return Work(name, options.samples or SAMPLES, options.seed, few)


def _recommended(topics: Topics, read: Survey, options: AuditOptions, table: Table | None) -> Work:
    """Return the first of the robust estimators that `choose` recommends, with samples for real documents."""
    standard_error = options.standard_error
    if standard_error is None:
        standard_error = nats(PERPLEXITY_ERROR, float(read.lengths[read.lengths > 0].mean()))
    best = choose(
        topics.n_topics, read.lengths.tolist(), standard_error / HARDER, alpha=float(topics.alpha.mean()), table=table
    )
    option = next((option for option in best.options if option.estimator in ROBUST), None)
    if option is None:
        raise InputError(f"none of {', '.join(ROBUST)} was measured here; name an estimator, and its samples")
    samples, error = max(option.samples, FEWEST), option.standard_error
    if not option.reached:  # beyond what was measured, by the root law
        samples = math.ceil(option.samples * min((error / best.wanted) ** 2, FURTHER))
        error *= math.sqrt(option.samples / samples)
    reason = (
        f"An error of {error:.2g} nats a document is expected of documents drawn from a model;"
        f" {standard_error:.2g} is wanted, and real documents take about {HARDER:g} times as much or more"
    )
    reason += "; extrapolated" if option.extrapolated or not option.reached else ""
    return Work(option.estimator, samples, options.seed, reason + ".")
