r"""Recommends an estimator and a number of samples for a wanted error, given K and document length.

The estimators' errors are measured on a grid (`heldout.auditing.precision_table`) and inter- and extrapolated
(`heldout.auditing.error_model`). For a prior that was not measured, the larger error of the two around it counts, or
else the largest of all.

The wanted error is that of a document, or of the mean over D documents: independent errors average, a bias does not, so

    e of the mean = ((e^2 - b^2) / D + b^2)^(1/2)

for the root mean square error e and the bias b of a document. An error wanted of every document has to be reached at
every length; for the mean over documents of different lengths, e is the root of the mean of squares and b the mean of
biases.

All measurements are of topics drawn from a Dirichlet distribution and documents drawn from those topics. Real held-out
documents differ: words come in bursts, and posteriors are sharper. On test documents of Cranfield under scikit-learn's
topics (K = 4, exact values), the errors of annealed importance sampling and of the left-to-right samplers with
resampling were up to about twice the expected ones, those of mean-field importance sampling and iterated pseudo-counts
up to ten times, those of Chib's estimator up to a hundred times; no standard error shows this. Deterministic
approximations and draws from the prior, which work because a drawn document's weights are near the prior's mean, were
off by more than ten times at K = 20 and 100. Left-to-right particles converge to another distribution over documents
(`heldout.evaluators.left_to_right`): how far it is from the model's on real documents, no drawn document tells. So the
`ROBUST` estimators come first, whatever the others cost and, where none reaches the error, whatever the others promise.
`benchmarks/audit_coverage.py` measures how the estimators do on real documents of several corpora. An audit needs none
of this: its truth, the reference, measures its own error.

Under a logistic-normal prior there are quadrature, at few topics, and annealing, measured on documents drawn under
Sigma = s^2 I for a small and a large s (`benchmarks/logistic_normal.py`), of which the larger error counts.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heldout.auditing.cost import duration, exact_seconds
from heldout.auditing.error_model import ErrorModel
from heldout.auditing.options import Per, Prior
from heldout.auditing.precision_table import Table, logistic_normal_table, read_table
from heldout.errors import InputError
from heldout.evaluators import ANNEALED, ESTIMATORS, EXACT, REFERENCE, SEQUENTIAL
from heldout.evaluators.prior_names import parameter

FAR = 4.0  # times the grid's largest K or longest document: beyond it nothing is recommended
SAME_PRIOR = 1.1  # largest factor between the parameters of two priors that count as the same
NEAR = 1.05  # factor by which K or a length may exceed the grid without counting as extrapolated
BINS = 24  # of lengths
ROBUST = (REFERENCE, ANNEALED, SEQUENTIAL)  # on real documents; see the module
HONEST = 2.0  # largest true error, over the stated one, of an estimator whose stated error is worth reporting
PERPLEXITY_ERROR = 1.0  # percent of a document's perplexity per token: the default

Groups = Sequence[tuple[int, int]]  # a length, and how many documents have it


@dataclass(frozen=True)
class Option:
    """An estimator with the number of samples that reaches the wanted error, or comes nearest to it.

    Attributes:
        estimator: its name in `ESTIMATORS`.
        samples: per document; 0 for a deterministic one.
        standard_error: the expected root mean square error, nats per document, bias included; of documents of the
            length with the largest, unless their mean's is wanted.
        bias: the bias expected of documents drawn from a model, nats per document; 0 for the exact value.
        seconds: for all documents, on the given cores.
        reached: whether it reaches the wanted error.
        stated_ratio: the true error over the standard error that the estimator states; NaN if it states none.
        extrapolated: whether K, a length or the samples are beyond the measurements.
        reason: one sentence.
    """

    estimator: str
    samples: int
    standard_error: float
    bias: float
    seconds: float
    reached: bool
    stated_ratio: float
    extrapolated: bool
    reason: str


@dataclass(frozen=True)
class Recommendation(Option):
    """The cheapest robust option that reaches the wanted error; without one, the nearest robust one.

    Attributes:
        wanted: nats per document.
        alternatives: the other options, those that reach the wanted error first, then by cost.
    """

    wanted: float = math.nan
    alternatives: tuple[Option, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """This one and its alternatives."""
        return (self, *self.alternatives)


def recommend(
    topics: int,
    length: int | Sequence[int],
    standard_error: float,
    *,
    documents: int = 1,
    per: Per = "document",
    cores: int = 1,
    prior: Prior = "dirichlet",
    alpha: float | None = None,
    consistent: bool = False,
    table: Table | None = None,
) -> Recommendation:
    """Return the cheapest estimator, with as many samples as it needs, that reaches a wanted error.

    `robust` estimators that reach it come first, then those that reach it on documents like the drawn ones, then the
    others. Where no robust one reaches it, the robust ones come first all the same.

    Args:
        topics: K.
        length: tokens of a document, or of every document; those of 0 tokens are left out.
        standard_error: the wanted root mean square error, nats per document, bias included.
        documents: the number of documents, if `length` is one number.
        per: "document" for the error of each document, "corpus" for that of the documents' mean.
        cores: among which the documents are divided.
        prior: of a document's weights.
        alpha: the mean of a Dirichlet prior's K parameters; None if unknown.
        consistent: True for only those estimators whose bias vanishes with many samples and that state a standard
            error; those whose true error is at most `HONEST` times the stated one then come first.
        table: the measurements; None for those that travel with the package.

    Raises:
        InputError: for a number that is not positive, K or a length far beyond the measurements, or as
            `read_table` does.

    Examples:
        >>> best = recommend(topics=100, length=150, standard_error=1.5)
        >>> best.estimator, best.reached
        ('left-to-right-sequential', True)
        >>> recommend(topics=2, length=50, standard_error=1.5).estimator
        'exact-marginal'
    """
    if not isinstance(topics, int):
        raise InputError(
            "recommend: give the number of topics, and the prior by name; or audit the model (heldout audit), which"
            " decides its own samples"
        )
    lengths = [length] * documents if isinstance(length, int) else [int(n) for n in length if n > 0]
    if not lengths or min(lengths) < 1 or min(topics, cores) < 1:
        raise InputError("recommend: topics, length, documents and cores must be 1 or more")
    if not (0.0 < standard_error < math.inf) or (alpha is not None and not 0.0 < alpha < math.inf):
        raise InputError("recommend: the wanted error, and alpha where it is given, must be positive numbers")
    dirichlet = prior == "dirichlet"
    if not dirichlet and alpha is not None:
        raise InputError("recommend: alpha is of a Dirichlet prior; leave it out")
    if table is None:
        table = read_table() if dirichlet else logistic_normal_table()
    priors, outside = measured_priors(table, topics, alpha) if dirichlet else (list(table.errors), False)
    grid = {corner for prior in priors for corner in table.errors[prior]}
    most_topics, longest = max(k for k, _ in grid), max(n for _, n in grid)
    for what, at, most in (("topics", topics, most_topics), ("tokens in a document", max(lengths), longest)):
        if at > FAR * most:
            raise InputError(
                f"recommend: {at:,} {what} are far beyond the {most:,} that were measured; measure precision there, or"
                " audit: the audit's truth measures its own error"
            )
    groups = grouped(lengths)
    beyond = outside or topics > NEAR * most_topics or max(n for n, _ in groups) > NEAR * longest
    options = []
    if dirichlet:
        least = min(parameter(prior, topics) for prior in priors) if alpha is None else alpha
        seconds = exact_seconds(topics, lengths, least) / cores
    else:
        seconds = _quadrature_seconds(table, topics, groups) / cores
    if seconds < math.inf:
        reason = f"there is no error in it, and it takes at most {duration(seconds)}"
        options.append(Option(EXACT, 0, 0.0, 0.0, seconds, True, math.nan, False, reason))
    for name, known in ESTIMATORS.items():
        if name != EXACT and (not consistent or known.behaviour == "consistent"):
            models = [ErrorModel(name, table, prior, topics) for prior in priors]
            option = _option(models, groups, standard_error, per, cores, 2 if consistent else 1, beyond)
            options += [] if option is None else [option]
    if not options:
        raise InputError("recommend: no estimator was measured and timed here; give --calibration and --timings")
    known_to_reach = any(option.reached and robust(option.estimator) for option in options)
    options.sort(
        key=lambda option: (
            not known_to_reach and not robust(option.estimator),
            not option.reached,
            option.reached and not robust(option.estimator),
            consistent and option.stated_ratio > HONEST,  # False for the exact value's NaN
            option.seconds if option.reached else option.standard_error,
        )
    )
    best, *others = options
    return Recommendation(**vars(best), wanted=standard_error, alternatives=tuple(others))


def _quadrature_seconds(table: Table, topics: int, groups: Groups) -> float:
    """Return the seconds of exact values under a logistic-normal prior, infinite beyond the topics measured."""
    if topics > max(k for of_prior in table.errors.values() for (k, _), runs in of_prior.items() if EXACT in runs):
        return math.inf
    models = [ErrorModel(EXACT, table, prior, topics) for prior in table.errors]
    return max(sum(number * model.seconds(length, 0) for length, number in groups) for model in models)


def robust(estimator: str) -> bool:
    """Return whether an estimator is about as precise on real documents as on drawn ones: exact, or in `ROBUST`."""
    return estimator == EXACT or estimator in ROBUST


def nats(percent: float, length: float) -> float:
    """Return a document's error in nats that corresponds to an error of its perplexity per token in percent.

    Examples:
        >>> round(nats(1.0, 150), 2)
        1.49
    """
    return math.log1p(percent / 100.0) * length


def measured_priors(table: Table, topics: int, alpha: float | None) -> tuple[list[str], bool]:
    """Return the measured priors to use for alpha, and whether alpha is outside the measured range."""
    parameters = {prior: parameter(prior, topics) for prior in table.errors}
    if alpha is None:
        return list(parameters), False
    same = [prior for prior, value in parameters.items() if abs(math.log(alpha / value)) <= math.log(SAME_PRIOR)]
    if same:
        return same, False
    below = max((value for value in parameters.values() if value < alpha), default=0.0)
    above = min((value for value in parameters.values() if value > alpha), default=0.0)
    if not below or not above:
        return list(parameters), True
    return [prior for prior, value in parameters.items() if value in (below, above)], False


def grouped(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return at most `BINS` different lengths, rounded up, and how many documents have each.

    Examples:
        >>> grouped([30, 20, 30])
        [(20, 1), (30, 2)]
    """
    counted = Counter(lengths)
    if len(counted) > BINS:
        low, high = min(counted), max(counted)
        rounded: Counter[int] = Counter()
        for length, number in counted.items():
            step = math.ceil(round(BINS * math.log(length / low) / math.log(high / low), 9))
            rounded[math.ceil(low * (high / low) ** (step / BINS))] += number
        counted = rounded
    return sorted(counted.items())


def _largest_error(models: Sequence[ErrorModel], groups: Groups, per: Per, samples: int) -> tuple[float, float]:
    """Return the r.m.s. error of a document, or of the documents' mean, and its bias, both in nats.

    Of several priors and, for a document, of several lengths, those with the largest error count.
    """
    if per == "document":
        return max(model.error(length, samples) for model in models for length, _ in groups)
    documents = sum(number for _, number in groups)
    largest = (-1.0, 0.0)
    for model in models:
        mean_square = mean_bias = 0.0
        for length, number in groups:
            error, bias = model.error(length, samples)
            mean_square += number * error * error / documents
            mean_bias += number * bias / documents
        mean_square = max(0.0, mean_square - mean_bias * mean_bias) / documents + mean_bias * mean_bias
        largest = max(largest, (math.sqrt(mean_square), mean_bias))
    return largest


def _option(
    models: Sequence[ErrorModel], groups: Groups, wanted: float, per: Per, cores: int, fewest: int, beyond: bool
) -> Option | None:
    """Return an estimator with the samples for the wanted error; None if it was not measured near K and L.

    Args:
        models: the estimator's error models, one per prior to use.
        groups: the documents, by length.
        wanted: the error, nats.
        per: whose error is meant, as in `recommend`.
        cores: among which the documents are divided.
        fewest: the least number of samples, if the estimator itself needs no more.
        beyond: whether K, a length or the prior is beyond the measurements.
    """
    fewest = max(fewest, ESTIMATORS[models[0].name].fewest)
    measured, followed = map(min, zip(*(model.most_samples(n) for model in models for n, _ in groups), strict=True))
    if measured < 0:
        return None

    def enough(samples: int) -> bool:
        return _largest_error(models, groups, per, samples)[0] <= wanted

    samples = followed if followed == 0 else max(fewest, followed)
    reached = enough(samples)
    if reached and followed > 0:
        too_few = fewest - 1
        while samples - too_few > 1:
            middle = (too_few + samples) // 2
            too_few, samples = (too_few, middle) if enough(middle) else (middle, samples)
    error, bias = _largest_error(models, groups, per, samples)
    seconds = max(sum(number * model.seconds(n, samples) for n, number in groups) for model in models) / cores
    typical = max(groups, key=lambda group: (group[1], group[0]))[0]
    ratios = [model.ratio(typical, samples) for model in models]
    if reached:
        reason = f"an error of {error:.2g} nats in {duration(seconds)}"
    elif abs(bias) > wanted:
        reason = f"a bias of {bias:+.2g} nats, more than is wanted"
    else:
        most = f" with {samples:,} samples, the most that the measurements tell of" if samples else ""
        reason = f"an error of {error:.2g} nats{most}, more than is wanted"
    return Option(
        estimator=models[0].name,
        samples=samples,
        standard_error=error,
        bias=bias,
        seconds=seconds,
        reached=reached,
        stated_ratio=max((ratio for ratio in ratios if not math.isnan(ratio)), default=math.nan),
        extrapolated=beyond or samples > max(fewest, measured),
        reason=reason,
    )


def as_dict(option: Option) -> dict[str, Any]:
    """Return an option, or a recommendation with its alternatives, as JSON-compatible values; NaN becomes None."""
    values: dict[str, Any] = {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in vars(option).items()
    }
    if isinstance(option, Recommendation):
        values["alternatives"] = [as_dict(other) for other in option.alternatives]
    return values
