r"""Results for Buntine (2009): errors against exact values, convergence with samples, and model selection.

Errors and code lengths are in bits per token, as in the source's Figure 1: ((-log2 estimate) - (-log2 exact)) / L, so
that too high an estimate has a negative error. The source's Table 1 prints no unit; in bits per token its figures agree
with ours. Scores are in nats per token.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.calibration import ERROR, MEAN, TOKENS, variant
from artifact.papers.buntine.experiments.convergence_to_exact import ESTIMATE, METHODS
from artifact.papers.buntine.experiments.mean_ratio import (
    DOCUMENTS,
    KIND,
    LOGARITHM,
    REFERENCE_ERROR,
)
from artifact.papers.buntine.experiments.model_selection import (
    LESS_REFERENCE,
    PARTICLE_FILTER,
    READING,
    TRUE_MODEL,
    trained_on,
    with_many,
)
from artifact.papers.buntine.readings import READINGS
from artifact.results.reading import select
from heldout.corpora.names import SOURCES
from heldout.evaluators import EXACT, MEAN_FIELD_FIRST, PARTICLES, SEQUENTIAL, likelihood_estimators
from heldout.models import LDA
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

GAMMAS = (0.2, 0.5, 1.0, 3.0)
PAIRS = 100  # number of the source's pairs of a model and a document
DRAWN = "drawn"  # name in print of a model that is drawn, with its documents
KURTOSIS = 1.0  # excess kurtosis of errors whose own is not known; most of the study `estimators` have less
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


@dataclass(frozen=True)
class Errors:
    """An estimator's errors at one gamma, bits per token.

    Attributes:
        errors: (n,) errors, one per pair of a model and a document.
        bias, bias_error: mean error over a larger set of pairs, and its standard error.
        bias_pairs: the size of the larger set.
    """

    errors: Floats
    bias: float
    bias_error: float
    bias_pairs: int

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the errors."""
        return float(self.errors.std(ddof=1))

    @property
    def pairs(self) -> int:
        """The number n of pairs of a model and a document."""
        return len(self.errors)

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
        """The standard error of the logarithm of the standard deviation, as in `deviation_ratio`."""
        return 0.5 * math.sqrt(2.0 / (self.pairs - 1) + self.kurtosis / self.pairs)

    @property
    def kurtosis(self) -> float:
        """The excess kurtosis of the errors; 0 if it is negative."""
        centred = self.errors - self.errors.mean()
        return max(0.0, float((centred**4).mean() / (centred**2).mean() ** 2) - 3.0)


Calibration = dict[tuple[float, str], Errors]  # errors by gamma and estimator


def calibration(inputs: Inputs) -> Calibration:
    """Return the first seed's errors at the source's gammas, without gammas and estimators not measured."""
    result = {}
    for gamma in GAMMAS:
        table = select(inputs.measurements, variant=variant(gamma)).sort_values("at")
        first = select(table, quantity=TOKENS, axis="pairs").sort_values("seed").head(1)
        for seed, tokens in zip(first["seed"], first["value"], strict=True):
            rows, unit = select(table, seed=seed), int(tokens) * math.log(2.0)
            for name in likelihood_estimators():
                errors = select(rows, quantity=ERROR + name)["value"].to_numpy(float)
                for mean in select(rows, quantity=MEAN + name).to_dict("records"):
                    bias, bias_error = mean["value"] / unit, mean["standard_error"] / unit
                    result[gamma, name] = Errors(errors / unit, bias, bias_error, mean["at"])
    return result


def published(gamma: float, method: str) -> tuple[float, float]:
    """Return the mean and the standard deviation of the source's Table 1."""
    mean, deviation, _ = map(float, PUBLISHED[gamma][METHODS.index(method)])
    return mean, deviation


def mean_difference(errors: Errors, gamma: float, method: str) -> tuple[float, float]:
    """Return our mean error less the published one, and the standard error sqrt(s^2 / n + s'^2 / n') of the difference.

    The means are of n and n' independent errors with standard deviations s and s'.
    """
    mean, deviation = published(gamma, method)
    return errors.mean - mean, math.sqrt(errors.deviation**2 / errors.pairs + deviation**2 / PAIRS)


def deviation_ratio(errors: Errors, gamma: float, method: str) -> tuple[float, float]:
    """Return the logarithm of the standard deviation of our errors over the published one, and its standard error.

    Var(s^2) = sigma^4 (2 / (n - 1) + kappa / n) with the errors' excess kurtosis kappa, estimated from ours (0 if that
    is negative). So by the delta method the variance of log(s / s') is a quarter of
    2 / (n - 1) + 2 / (n' - 1) + kappa / n + kappa / n'.
    """
    n, (_, deviation) = errors.pairs, published(gamma, method)
    variance = 2.0 / (n - 1) + 2.0 / (PAIRS - 1) + errors.kurtosis * (1.0 / n + 1.0 / PAIRS)
    return math.log(errors.deviation / deviation), math.sqrt(variance) / 2.0


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


def scored(inputs: Inputs) -> "pd.DataFrame":
    """Return the scores of models that were trained on drawn corpora, and of the true models.

    Returns:
        "corpus", in the order of `SOURCES`; "size", the training documents, 0 of the true model; "evaluator"; "topics";
        "seed"; "value" and "error", nats per scored token, an error NaN where none is stated; and "perplexity".
    """
    rows = inputs.scores[inputs.scores["corpus"].isin(list(SOURCES)) & inputs.scores["model"].isin([LDA, TRUE_MODEL])]
    rows = rows.assign(
        size=_sizes(rows),
        value=rows["log_likelihood"] / rows["tokens"],
        error=rows["standard_error"] / rows["tokens"],
        place=rows["corpus"].map(list(SOURCES).index),
    )
    rows = rows[
        (rows["model"] == TRUE_MODEL) | rows["variant"].isin([trained_on(size) for size in set(rows["size"]) - {0}])
    ]
    columns = ["corpus", "size", "evaluator", "topics", "seed", "value", "error", "perplexity"]
    return rows.sort_values("place", kind="stable")[columns].reset_index(drop=True)


def _sizes(rows: "pd.DataFrame") -> list[int]:
    """Return the numbers of training documents at the end of variants' names, 0 where there is none."""
    ends = (str(variant).rpartition("-")[2] for variant in rows["variant"])
    return [int(end) if end.isdigit() else 0 for end in ends]


def halves(rows: "pd.DataFrame") -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return each corpus's rows at the largest training size of at most half the most documents, and at the most."""
    rows = rows[rows["size"] > 0]
    most = rows.groupby("corpus")["size"].transform("max")
    half = rows["size"].where(2 * rows["size"] <= most).groupby(rows["corpus"]).transform("max")
    return rows[rows["size"] == half], rows[rows["size"] == most]


def voted(rows: "pd.DataFrame") -> int | None:
    """Return the number of topics that most seeds select (the smallest in a tie); None without scores.

    A seed selects the highest value of one corpus, evaluator and training size.
    """
    ordered = rows.sort_values(["value", "topics"], ascending=[False, True])
    return None if rows.empty else int(ordered.drop_duplicates("seed")["topics"].mode().min())


def biases(inputs: Inputs, estimator: str) -> "pd.DataFrame":
    """Return an estimator's values less the reference's on models of drawn corpora, over the same documents.

    The estimator is a name of `heldout.evaluators`; `with_many`; or "reading-" and a reading of section 3.5.

    Returns:
        "corpus"; "size", the model's training documents, 0 of the true model; "topics"; "seed"; "value", nats per
        token; and "error", its standard error (documents drawn and both Monte Carlo errors); sorted.
    """
    rows = select(inputs.measurements, quantity=estimator + LESS_REFERENCE)
    rows = rows[rows["corpus"].isin(list(SOURCES))]
    table = rows[["corpus", "topics", "seed", "value"]].assign(error=rows["standard_error"], size=_sizes(rows))
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


def errors_by_samples(inputs: Inputs) -> "pd.DataFrame":
    """Return errors of LR and LRS by number of samples, on documents drawn from realistic models.

    Returns:
        "corpus", that of a model that was drawn itself `DRAWN`; "topics"; "samples"; "method", an estimator's name;
        "documents", their number; "rms", the root mean square of the errors in log p(w), nats per document, that of the
        reference taken off; and "log_error", the standard error of its logarithm, of errors with kurtosis `KURTOSIS`.
    """
    import pandas as pd

    keys = ["corpus", "topics", "at"]
    table = select(inputs.measurements, variant=KIND, axis="samples")

    def column(quantity: str, name: str) -> "pd.DataFrame":
        return select(table, quantity=quantity)[[*keys, "value"]].rename(columns={"value": name})

    known = column(DOCUMENTS, "documents").merge(column(REFERENCE_ERROR, "reference"), on=keys)
    parts = []
    for method in (PARTICLES, SEQUENTIAL):
        rows = select(table, quantity=LOGARITHM + method).merge(known, on=keys).assign(method=method)
        square = rows["value"] ** 2 + (rows["documents"] - 1.0) * rows["standard_error"] ** 2 - rows["reference"] ** 2
        log_error = (0.5 + 0.25 * KURTOSIS) / rows["documents"]
        parts.append(rows.assign(rms=square.clip(lower=0.0) ** 0.5, log_error=log_error**0.5))
    result = pd.concat(parts, ignore_index=True).rename(columns={"at": "samples"}).replace({"corpus": {"none": DRAWN}})
    return result[["corpus", "topics", "samples", "method", "documents", "rms", "log_error"]]


def reading_names(inputs: Inputs) -> list[str]:
    """Return the readings of section 3.5 that were measured, in the order of `READINGS`."""
    known = set(select(inputs.measurements, axis="documents")["quantity"])
    return [reading for reading in READINGS if READING + reading + LESS_REFERENCE in known]


def rises_by_reading(inputs: Inputs) -> dict[str, tuple[int, int]]:
    """Return, by reading of section 3.5, the number of models whose perplexity rises, and the number of all.

    The change is from the largest size of at most half of the most training documents to these, as by the reference,
    plus the change of the reading's bias. It counts as a rise without regard to its error.
    """
    keys = ["corpus", "size", "topics", "seed"]
    values, result = select(scored(inputs), evaluator=PARTICLE_FILTER), {}
    for reading in reading_names(inputs):
        both = values.merge(biases(inputs, READING + reading), on=keys, suffixes=("", "_less"))
        both["value"] += both["value_less"]
        half, most = halves(both)
        steps = most.merge(half, on=["corpus", "topics", "seed"], suffixes=("", "_before"))
        if len(steps):
            result[reading] = int((steps["value"] < steps["value_before"]).sum()), len(steps)
    return result
