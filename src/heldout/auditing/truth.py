"""The choice of the estimator of an audit's truth, and of its number of samples."""

import math

from heldout.auditing.blocks import Work
from heldout.auditing.options import AUTO, AuditOptions
from heldout.auditing.precision_table import Table, read_table
from heldout.auditing.recommend import FAR, PERPLEXITY_ERROR, ROBUST, choose, nats
from heldout.auditing.survey import Survey
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT
from heldout.topics import Topics

SAMPLES = 20  # default for an estimator given by name
HARDER = 2.0  # errors of `ROBUST` on real over drawn documents: "auto" divides the wanted error by it
FURTHER = 100.0  # times the most samples measured: the most that are drawn
FEWEST = 10  # least samples of "auto": two or three give no usable standard error


def choose_truth(topics: Topics, read: Survey, options: AuditOptions, table: Table | None) -> Work:
    """Return the truth's estimator: exact if requested or affordable under "auto", else as requested or recommended.

    Args:
        topics: phi and alpha.
        read: the first reading of the documents.
        options: the audit's options.
        table: the estimators' measured errors; None for the reference results.

    Raises:
        InputError: when the exact likelihood was requested and costs more than the limit, or nothing can be
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
    bias = "the bias that it has with few samples" if ESTIMATORS[name].behaviour == "consistent" else "its bias"
    reason = f"It was asked for by name; its standard error leaves out {bias}."
    return Work(name, options.samples or SAMPLES, options.seed, reason)


def _recommended(topics: Topics, read: Survey, options: AuditOptions, table: Table | None) -> Work:
    """Return the first robust estimator that `choose` recommends, with samples for real documents."""
    standard_error = options.standard_error
    if standard_error is None:
        standard_error = nats(PERPLEXITY_ERROR, float(read.lengths[read.lengths > 0].mean()))
    table = read_table() if table is None else table
    K, lengths, far = _measured(topics.n_topics, read.lengths[read.lengths > 0].tolist(), table)
    best = choose(K, lengths, standard_error / HARDER, alpha=float(topics.alpha.mean()), table=table)
    option = next((option for option in best.options if option.estimator in ROBUST), None)
    if option is None:
        raise InputError(f"none of {', '.join(ROBUST)} was measured here; name an estimator, and its samples")
    samples, error = max(option.samples, FEWEST), option.standard_error
    if not option.reached:  # beyond the measurements errors fall as the root of the samples
        samples = math.ceil(option.samples * min((error / best.wanted) ** 2, FURTHER))
        error *= math.sqrt(option.samples / samples)
    reason = (
        f"An error of {error:.2g} nats a document is expected of documents drawn from a model;"
        f" {standard_error:.2g} is wanted, and real documents take about {HARDER:g} times as much or more"
    )
    reason += "; extrapolated" if option.extrapolated or not option.reached else ""
    if far:
        reason = (
            f"No error was measured at {topics.n_topics:,} topics and {read.lengths.max():,} tokens: these are the"
            f" samples for {K:,} topics and at most {max(lengths):,} tokens. The standard errors are what the estimates"
            " themselves show, and may be larger than is wanted"
        )
    return Work(option.estimator, samples, options.seed, reason + ".")


def _measured(topics: int, lengths: list[int], table: Table) -> tuple[int, list[int], bool]:
    """Return K and the documents' lengths, or the farthest that `recommend` goes, and whether these are beyond it."""
    corners = [corner for errors in table.errors.values() for corner in errors]
    if not corners:
        return topics, lengths, False
    most_topics, longest = (math.floor(FAR * max(places)) for places in zip(*corners, strict=True))
    if topics <= most_topics and sum(lengths) <= longest * len(lengths):
        return topics, lengths, False
    return min(topics, most_topics), [min(length, longest) for length in lengths], True
