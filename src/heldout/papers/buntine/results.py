r"""Results for Buntine (2009): errors against exact values, convergence with samples, and model selection.

Errors and code lengths are in bits per token, as in the source's Figure 1: ((-log2 estimate) - (-log2 exact)) / L, so
that too high an estimate has a negative error. The source's Table 1 prints no unit; in bits per token its figures agree
with ours. Scores are in nats per token.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

import numpy as np

from heldout.corpora.names import SOURCES
from heldout.evaluators import EXACT, MEAN_FIELD_FIRST, PARTICLES, SEQUENTIAL, of_likelihood
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.buntine.experiments.calibration import ERROR, MEAN, TOKENS, variant
from heldout.papers.buntine.experiments.convergence_to_exact import ESTIMATE, METHODS
from heldout.papers.buntine.experiments.model_selection import (
    LESS_REFERENCE,
    PARTICLE_FILTER,
    READING,
    TRUTH,
    trained_on,
    with_many,
)
from heldout.papers.buntine.readings import READINGS
from heldout.points import select
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

GAMMAS = (0.2, 0.5, 1.0, 3.0)
PAIRS, PUBLISHED_TOKENS = 100, 14  # pairs of a model and a document in the source, and the documents' length
LEVEL = 0.05  # familywise false-alarm rate over the whole table
# the source's abbreviations; `SHORT`: the estimators of its section 4.2, in the order of its plots
LABELS = dict(zip(METHODS, ("HM", "MFI (1st order)", "MFI (2nd order)", "LR", "LRS"), strict=True))
SHORT = {SEQUENTIAL: "LRS", PARTICLES: "LR", MEAN_FIELD_FIRST: "MFI"}

# Buntine (2009), Table 1: mean, standard deviation and Student's t as printed, methods in the order of `METHODS`
PUBLISHED: dict[float, tuple[tuple[str, str, str], ...]] = {
    0.2: (
        ("-0.3357", "0.2345", "-14.3"),
        ("0.0018", "0.0114", "1.58"),
        ("0.0016", "0.0204", "0.815"),
        ("0.0032", "0.0256", "1.26"),
        ("0.00072", "0.0156", "0.46"),
    ),
    0.5: (
        ("-0.210", "0.120", "-17.5"),
        ("0.00131", "0.0347", "0.377"),
        ("0.00624", "0.0244", "2.55"),
        ("0.0128", "0.0429", "2.98"),
        ("0.00002", "0.0233", "-0.0079"),
    ),
    1.0: (
        ("-0.109", "0.0878", "-12.4"),
        ("0.0181", "0.0668", "2.70"),
        ("0.0261", "0.0380", "6.87"),
        ("0.000796", "0.0502", "1.58"),
        ("0.00457", "0.0317", "1.44"),
    ),
    3.0: (
        ("-0.0440", "0.0819", "-5.37"),
        ("0.0694", "0.0797", "8.71"),
        ("0.0553", "0.0646", "8.55"),
        ("0.00926", "0.0417", "2.22"),
        ("0.00510", "0.0259", "1.97"),
    ),
}
# section 4.1: milliseconds per document of 14 tokens at 4 topics with 200 samples, on a 2.16 GHz Intel Core Duo
PUBLISHED_MILLISECONDS = {**dict(zip(METHODS, (0.7, 0.7, 0.7, 4.3, 4.3), strict=True)), EXACT: 346_000.0}


@dataclass(frozen=True)
class Errors:
    """An estimator's errors at one gamma, bits per token.

    Attributes:
        errors: (n,) one per pair of a model and a document.
        bias, bias_error: mean error over a larger set of pairs, and its standard error.
        bias_pairs: the size of the larger set.
        tokens: L.
    """

    errors: Floats
    bias: float
    bias_error: float
    bias_pairs: int
    tokens: int

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the errors."""
        return float(self.errors.std(ddof=1))

    @property
    def rms(self) -> float:
        """The root mean squared error."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def t(self) -> float:
        """Student's t for a mean of 0."""
        return self.mean / (self.deviation / math.sqrt(len(self.errors)))

    @property
    def kurtosis(self) -> float:
        """The excess kurtosis of the errors; 0 if it is negative."""
        centred = self.errors - self.errors.mean()
        return max(0.0, float((centred**4).mean() / (centred**2).mean() ** 2) - 3.0)


Calibration = dict[tuple[float, str], Errors]  # by gamma and estimator


@dataclass(frozen=True)
class Summary:
    """The mean and the spread of an estimator's errors at one gamma, bits per token.

    Attributes:
        mean, deviation: of the errors.
        t: Student's t for a mean of 0.
        pairs: the number of pairs of a model and a document.
        tokens: L, the length of every document.
        kurtosis: excess kurtosis of the errors; 0 if it is negative or unknown.
    """

    mean: float
    deviation: float
    t: float
    pairs: int
    tokens: int
    kurtosis: float = 0.0

    @property
    def rms(self) -> float:
        """The root mean squared error."""
        return math.hypot(self.mean, self.deviation * math.sqrt(1.0 - 1.0 / self.pairs))

    @property
    def mean_error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.pairs)

    @property
    def log_deviation_error(self) -> float:
        """The standard error of the logarithm of the standard deviation, as in `z_of_deviations`."""
        return 0.5 * math.sqrt(2.0 / (self.pairs - 1) + self.kurtosis / self.pairs)

    @property
    def jensen(self) -> float:
        """The mean error of a log-normal estimate that is itself unbiased: half the variance, in bits per token."""
        return 0.5 * self.tokens * math.log(2.0) * self.deviation**2


Precision = Mapping[tuple[float, str], Summary]  # by gamma and estimator


def published() -> Precision:
    """Return the source's Table 1."""
    return {
        (gamma, method): Summary(float(mean), float(deviation), float(t), PAIRS, PUBLISHED_TOKENS)
        for gamma, rows in PUBLISHED.items()
        for method, (mean, deviation, t) in zip(METHODS, rows, strict=True)
    }


def precision(inputs: Inputs) -> Precision:
    """Return the errors over all measured pairs, at the gammas at which every method of the source was measured."""
    known = calibration(inputs)
    return {
        (gamma, method): _summary(known[gamma, method])
        for gamma in GAMMAS
        if all((gamma, other) in known for other in METHODS)
        for method in METHODS
    }


def of_published_pairs(known: Calibration) -> Precision:
    """Return the errors over the first pairs, as many as the source drew."""
    return {
        key: Summary(one.mean, one.deviation, one.t, len(one.errors), one.tokens, one.kurtosis)
        for key, one in known.items()
    }


def _summary(errors: Errors) -> Summary:
    deviation = errors.bias_error * math.sqrt(errors.bias_pairs)
    t = errors.bias / errors.bias_error
    return Summary(errors.bias, deviation, t, errors.bias_pairs, errors.tokens, errors.kurtosis)


def calibration(inputs: Inputs) -> Calibration:
    """Return the first seed's errors at the source's gammas, without gammas and estimators not measured."""
    at = (_calibration_at(select(inputs.measurements, variant=variant(gamma)), gamma) for gamma in GAMMAS)
    return {key: errors for errors_at in at for key, errors in errors_at.items()}


def _calibration_at(table: "pd.DataFrame", gamma: float) -> Calibration:
    tokens = select(table, quantity=TOKENS, axis="pairs").sort_values("seed")
    if tokens.empty:
        return {}
    table = select(table, seed=tokens["seed"].iloc[0])
    length = int(tokens["value"].iloc[0])
    unit = length * math.log(2.0)
    rows: dict[str, list[tuple[int, float, float]]] = {}
    columns = (table[column] for column in ("quantity", "at", "value", "standard_error"))
    for quantity, at, value, error in zip(*columns, strict=True):
        rows.setdefault(quantity, []).append((int(at), float(value), float(error)))
    result = {}
    for name in of_likelihood():
        errors = np.array([value for _, value, _ in sorted(rows[ERROR + name])])
        ((pairs, value, error),) = rows[MEAN + name]
        result[gamma, name] = Errors(errors / unit, value / unit, error / unit, pairs, length)
    return result


def z_of_means(errors: Errors, mean: float, deviation: float, pairs: int = PAIRS) -> float:
    """Return our mean error less a published one, in standard errors of the difference.

    Means of n and n' independent errors with standard deviations s and s' differ by
    z = (mean - mean') / sqrt(s^2 / n + s'^2 / n').
    """
    return (errors.mean - mean) / math.sqrt(errors.deviation**2 / len(errors.errors) + deviation**2 / pairs)


def z_of_deviations(errors: Errors, deviation: float, pairs: int = PAIRS) -> float:
    """Return the log variance of our errors less a published one, in standard errors of the difference.

    Var(s^2) = sigma^4 (2 / (n - 1) + kappa / n) with the errors' excess kurtosis kappa, estimated from ours (0 if that
    is negative). So by the delta method
    z = log(s^2 / s'^2) / sqrt(2 / (n - 1) + 2 / (n' - 1) + kappa / n + kappa / n').
    """
    n = len(errors.errors)
    variance = 2.0 / (n - 1) + 2.0 / (pairs - 1) + errors.kurtosis * (1.0 / n + 1.0 / pairs)
    return 2.0 * math.log(errors.deviation / deviation) / math.sqrt(variance)


def p_value(z: float) -> float:
    """Return the probability that a standard normal variable exceeds |z| in absolute value.

    Examples:
        >>> round(p_value(-1.96), 3)
        0.05
    """
    return 2.0 * NormalDist().cdf(-abs(z))


def fits(mean: str, deviation: str, t: str, pairs: int = PAIRS) -> bool:
    """Return whether a printed t is the printed mean over its standard error, up to the rounding of all three.

    Examples:
        >>> fits("0.0018", "0.0114", "1.58"), fits("0.00002", "0.0233", "-0.0079")
        (True, False)
    """
    possible = [m / s * math.sqrt(pairs) for m, s in product(_rounded(mean), _rounded(deviation))]
    low, high = _rounded(t)
    return min(possible) <= high and max(possible) >= low


def _rounded(text: str) -> tuple[float, float]:
    """Return the least and the greatest number that rounds to a printed one."""
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return float(text) - half, float(text) + half


def differing(calibration: Calibration) -> dict[tuple[float, str, str], float]:
    """Return p-values of the means and standard deviations ("mean", "s.d.") that differ from the published ones.

    The tests are normal, at `LEVEL` over all of them together (Bonferroni).
    """
    values = {}
    for (gamma, name), errors in calibration.items():
        if name in METHODS:
            mean, deviation, _ = map(float, PUBLISHED[gamma][METHODS.index(name)])
            values[gamma, name, "mean"] = p_value(z_of_means(errors, mean, deviation))
            values[gamma, name, "s.d."] = p_value(z_of_deviations(errors, deviation))
    return {key: p for key, p in values.items() if p < LEVEL / len(values)}


@dataclass(frozen=True)
class Convergence:
    """Estimates of one document's code length by number of samples, bits per token.

    Attributes:
        topics, tokens: K and L.
        exact: the exact code length.
        estimates: by method, one row per number of samples (ascending), one column per run.
    """

    topics: int
    tokens: int
    exact: float
    estimates: Mapping[str, "pd.DataFrame"]

    def rms(self, method: str) -> "pd.Series[float]":
        """Return the root mean squared error over all runs, by number of samples."""
        return ((self.estimates[method] - self.exact) ** 2).mean(axis=1) ** 0.5


def convergence(inputs: Inputs) -> list[Convergence]:
    """Return the first seed's pairs of a model and a document, by number of topics."""
    table = select(inputs.measurements, axis="samples")
    table = table[table["quantity"].isin([ESTIMATE + name for name in METHODS])]
    pairs = []
    for topics in sorted(int(k) for k in table["topics"].unique()):
        named = {"topics": topics, "seed": table["seed"].min()}
        (exact,) = select(inputs.measurements, quantity=EXACT, axis="tokens", **named).to_dict("records")
        tokens = int(exact["at"])
        bits = -1.0 / (tokens * math.log(2.0))
        estimates = {}
        for name in METHODS:
            runs = select(table, quantity=ESTIMATE + name, **named)
            if len(runs):
                estimates[name] = runs.pivot_table(index="at", columns="chain", values="value") * bits
        pairs.append(Convergence(topics, tokens, float(exact["value"]) * bits, estimates))
    return pairs


At = tuple[int, int]  # topics, seed


@dataclass(frozen=True)
class Scored:
    """A model's score by one evaluator.

    Attributes:
        log_likelihood: nats per scored token.
        standard_error: the evaluator's Monte Carlo error, nats per scored token; NaN if it states none.
        perplexity: per scored token.
    """

    log_likelihood: float
    standard_error: float
    perplexity: float


@dataclass(frozen=True)
class Selection:
    """The scores of one drawn corpus.

    Attributes:
        corpus: its name.
        true_topics: K of the model that it was drawn from.
        models: the trained models' scores by (evaluator, training documents), then by (topics, seed).
        truth: the true model's scores by evaluator, then by seed.
    """

    corpus: str
    true_topics: int
    models: Mapping[tuple[str, int], Mapping[At, Scored]]
    truth: Mapping[str, Mapping[int, Scored]]

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The evaluators, sorted by name."""
        return tuple(sorted({evaluator for evaluator, _ in self.models}))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of training documents, ascending."""
        return tuple(sorted({size for _, size in self.models}))

    @property
    def topics(self) -> tuple[int, ...]:
        """The numbers of topics, ascending."""
        return tuple(sorted({topics for models in self.models.values() for topics, _ in models}))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({seed for models in self.models.values() for _, seed in models}))

    def scored(self, evaluator: str, size: int) -> Mapping[At, Scored]:
        """Return an evaluator's scores of the models of one training size; empty if it scored none."""
        return self.models.get((evaluator, size), {})

    def perplexity(self, evaluator: str, size: int, topics: int) -> float:
        """Return the mean perplexity over seeds; NaN without scores."""
        return _mean([scored.perplexity for (k, _), scored in self.scored(evaluator, size).items() if k == topics])

    def true_perplexity(self, evaluator: str) -> float:
        """Return the true model's mean perplexity over seeds; NaN without scores."""
        return _mean([scored.perplexity for scored in self.truth.get(evaluator, {}).values()])

    def selected(self, evaluator: str, size: int, seed: int) -> int | None:
        """Return the number of topics with the highest log-likelihood; None without scores."""
        nats = {k: scored.log_likelihood for (k, s), scored in self.scored(evaluator, size).items() if s == seed}
        return max(nats, key=lambda k: (nats[k], -k)) if nats else None

    def above_best(self, evaluator: str) -> float:
        """Return the true model's log-likelihood less that of the best trained one, nats per token.

        At the largest training size, over all numbers of topics and seeds; NaN without scores.
        """
        trained = (score.log_likelihood for score in self.scored(evaluator, self.sizes[-1]).values())
        truth = _mean([score.log_likelihood for score in self.truth.get(evaluator, {}).values()])
        return truth - max(trained, default=math.nan)

    def voted(self, evaluator: str, size: int) -> int | None:
        """Return the number of topics that most seeds select (the smallest in a tie); None without scores."""
        votes = Counter(self.selected(evaluator, size, seed) for seed in self.seeds)
        return min(((-count, topics) for topics, count in votes.items() if topics is not None), default=(0, None))[1]


def _mean(values: list[float]) -> float:
    return fmean(values) if values else math.nan


def selections(inputs: Inputs) -> dict[str, Selection]:
    """Return the scores of every drawn corpus with scores, in the order of `SOURCES`."""
    result = {}
    for corpus, source in SOURCES.items():
        models: dict[tuple[str, int], dict[At, Scored]] = {}
        truth: dict[str, dict[int, Scored]] = {}
        rows = select(inputs.scores, corpus=corpus)
        for row in rows[rows["model"].isin([LDA, TRUTH])].to_dict("records"):
            nats, error = (float(row[column]) / float(row["tokens"]) for column in ("log_likelihood", "standard_error"))
            scored = Scored(nats, error, float(row["perplexity"]))
            evaluator, topics, seed = str(row["evaluator"]), int(row["topics"]), int(row["seed"])
            size = str(row["variant"]).rpartition("-")[2]
            if row["model"] == TRUTH:
                truth.setdefault(evaluator, {})[seed] = scored
            elif size.isdigit() and row["variant"] == trained_on(int(size)):
                models.setdefault((evaluator, int(size)), {})[topics, seed] = scored
        if models:
            result[corpus] = Selection(corpus, source.topics, models, truth)
    return result


def biases(inputs: Inputs, estimator: str) -> "pd.DataFrame":
    """Return what an estimator says of models of drawn corpora less what the reference says, over the same documents.

    Args:
        inputs: their measurements.
        estimator: a name of `heldout.evaluators`; `with_many`; or "reading-" and one of section 3.5.

    Returns:
        "corpus"; "size", the model's training documents, 0 of the true model; "topics"; "seed"; "value", nats per
        token; and "error", its standard error (documents drawn and both Monte Carlo errors); sorted.
    """
    rows = select(inputs.measurements, quantity=estimator + LESS_REFERENCE)
    rows = rows[rows["corpus"].isin(list(SOURCES))]
    sizes = rows["variant"].astype(str).str.rpartition("-")[2] if len(rows) else rows["variant"]
    table = rows[["corpus", "topics", "seed", "value"]].assign(
        error=rows["standard_error"], size=[int(size) if str(size).isdigit() else 0 for size in sizes]
    )
    return table.sort_values(["corpus", "size", "topics", "seed"], ignore_index=True)


def many_samples(inputs: Inputs) -> int:
    """Return the larger number of samples that the sequential sampler was checked with; 0 where it was not."""
    prefix, suffix = (part + end for part, end in zip(with_many(0).split("0"), ("", LESS_REFERENCE), strict=True))
    table = select(inputs.measurements, axis="documents")["quantity"].drop_duplicates()
    return max(
        (
            int(name[len(prefix) : -len(suffix)])
            for name in map(str, table)
            if name.startswith(prefix) and name.endswith(suffix)
        ),
        default=0,
    )


def reading_names(inputs: Inputs) -> list[str]:
    """Return the readings of section 3.5 that were measured, in the order of `READINGS`."""
    known = set(select(inputs.measurements, axis="documents")["quantity"])
    return [reading for reading in READINGS if READING + reading + LESS_REFERENCE in known]


def rises_by_reading(inputs: Inputs) -> dict[str, tuple[int, int]]:
    """Return, by reading of section 3.5, the models whose perplexity rises to the most training documents, and all.

    The change is from the largest size of at most half of these documents, as by the reference, plus that of the
    reading's bias. It counts as a rise without regard to its error.
    """
    drawn = selections(inputs)
    result = {}
    for reading in reading_names(inputs):
        bias = biases(inputs, READING + reading).set_index(["corpus", "size", "topics", "seed"])["value"].to_dict()
        rises = models = 0
        for corpus, selection in drawn.items():
            half = [size for size in selection.sizes if 2 * size <= selection.sizes[-1]][-1:]
            for (topics, seed), after in selection.scored(PARTICLE_FILTER, selection.sizes[-1]).items() if half else ():
                before = selection.scored(PARTICLE_FILTER, half[0]).get((topics, seed))
                at = [(corpus, size, topics, seed) for size in (half[0], selection.sizes[-1])]
                if before is not None and all(model in bias for model in at):
                    models += 1
                    rises += after.log_likelihood + bias[at[1]] < before.log_likelihood + bias[at[0]]
        if models:
            result[reading] = rises, models
    return result
