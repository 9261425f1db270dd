"""The contrasts of Buntine (2009): his Table 1 again, and left-to-right particles (LR) beside his sequential sampler.

Section 4.1. Pairs of a model and a document are drawn, as many as the source's; an effect is our number less the
published one, and where its interval holds 0 the two agree. Errors have the table's sign: positive is too low.

Bias. Over documents that are drawn from the model, E[estimate / p(w)] is one of LR as of LRS, however few the samples:
every term is a distribution over the next word, so the expected estimate is one over documents. No number of pairs
tells them apart by that mean. One document does: by its mean error as samples grow.

Section 4.2. Documents are drawn anew for each number of topics, and all models of one number share them: the replicate
is the set of documents.
"""

import math
from functools import partial
from typing import TYPE_CHECKING

from artifact.contrasts.contrast import ANY, ESTIMATORS, MODELS, MORE_SAMPLES, Contrast, Margin, Side
from artifact.contrasts.estimates import SEED
from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine import results
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.experiments.model_selection import with_many
from artifact.papers.buntine.results import LABELS, PAIRS, SHORT
from artifact.results.reading import select
from heldout.corpora.names import SOURCES
from heldout.evaluators import MEAN_FIELD_FIRST, PARTICLES, SEQUENTIAL

if TYPE_CHECKING:
    import pandas as pd

SAME_ORDER = Margin(
    math.log(10.0) / 2.0,
    "times LR's",
    "half a power of ten in error is ten times the samples, for it falls with their root",
    "2026-11-26, with the data and the source's table in view",
)
BITS = "bits per token"
FEW_WORDS = "s10s"  # the corpus of the source's Figure 5
Row = tuple[str, str, float, float, float, int]  # method, gamma, value, error, freedom, pairs


def _by_gamma(rows: list[Row]) -> "pd.DataFrame":
    """Return effects of methods by gamma, each with its own error."""
    import pandas as pd

    columns = ["method", "gamma", "value", "error", "freedom", "replicates"]
    return pd.DataFrame(rows, columns=columns).assign(corpus="none")


def table_1(inputs: Inputs, *, spread: bool) -> "pd.DataFrame":
    """Return our mean errors less the published ones, or logarithms of our standard deviations over the published."""
    compare = results.deviation_ratio if spread else results.mean_difference
    return _by_gamma(
        [
            (LABELS[name], f"gamma {gamma:g}", *compare(errors, gamma, name), errors.pairs + PAIRS - 2, errors.pairs)
            for (gamma, name), errors in results.calibration(inputs).items()
            if name in METHODS
        ]
    )


def sequential_bias(inputs: Inputs) -> "pd.DataFrame":
    """Return mean errors of LRS over as many pairs as the source's, and over more."""
    rows: list[Row] = []
    for (gamma, name), one in results.calibration(inputs).items():
        numbers = ((one.mean, one.mean_error, one.pairs), (one.bias, one.bias_error, one.bias_pairs))
        for mean, error, pairs in numbers if name == SEQUENTIAL else ():
            rows.append((f"{pairs:,} pairs", f"gamma {gamma:g}", mean, error, pairs - 1, pairs))
    table = _by_gamma(rows).drop_duplicates(["method", "gamma"])  # more pairs may be no more than the source's
    return table.sort_values("replicates", kind="stable")


def mean_field(inputs: Inputs) -> "pd.DataFrame":
    """Return logarithms of first-order mean-field importance sampling's r.m.s. error over LR's."""
    measured, rows = results.calibration(inputs), list[Row]()
    for (gamma, name), errors in measured.items():
        if name == MEAN_FIELD_FIRST:
            particles = measured[gamma, PARTICLES]
            error = math.hypot(errors.log_deviation_error, particles.log_deviation_error)
            ratio = math.log(errors.rms / particles.rms)
            rows.append((LABELS[name], f"gamma {gamma:g}", ratio, error, errors.pairs - 1, errors.pairs))
    return _by_gamma(rows)


def particles_over_sequential(inputs: Inputs) -> "pd.DataFrame":
    """Return logarithms of LR's r.m.s. error over the one of LRS, by model and number of samples."""
    table = results.errors_by_samples(inputs).sort_values("samples", kind="stable")
    one, other = (select(table, method=name) for name in (PARTICLES, SEQUENTIAL))
    both = one.merge(other, on=["corpus", "topics", "samples", "documents"], suffixes=("", "_other"))
    return both.assign(
        samples=both["samples"].map("{:,} samples".format),
        value=(both["rms"] / both["rms_other"]).map(math.log),
        error=(both["log_error"] ** 2 + both["log_error_other"] ** 2) ** 0.5,
        freedom=both["documents"] - 1.0,
        replicates=both["documents"],
    )


def limits(inputs: Inputs) -> "pd.DataFrame":
    """Return LR and LRS less log p of one document, with the most samples, run by run."""
    import pandas as pd

    tables = [pd.DataFrame(columns=["corpus", "method", "topics", SEED, "value", "error"])]
    for pair in results.convergence(inputs):
        for name in (PARTICLES, SEQUENTIAL):
            runs = (pair.exact - pair.estimates[name].iloc[-1]) * math.log(2.0)
            place = {"corpus": "none", "method": SHORT[name], "topics": pair.topics, SEED: runs.index}
            tables.append(pd.DataFrame({**place, "value": runs.to_numpy(float), "error": 0.0}))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def shortfalls(inputs: Inputs) -> "pd.DataFrame":
    """Return the reference less the logarithm of LR or LRS under trained models, whose spread holds all errors."""
    import pandas as pd

    many = with_many(results.many_samples(inputs))
    names = {SHORT[PARTICLES]: PARTICLES, SHORT[SEQUENTIAL]: SEQUENTIAL, f"{SHORT[SEQUENTIAL]}, many samples": many}
    tables = [results.biases(inputs, estimator).assign(method=name) for name, estimator in names.items()]
    rows = pd.concat(tables, ignore_index=True)
    rows = rows[rows["size"] > 0]
    return rows.assign(seed=rows["topics"], value=-rows["value"], error=0.0)


def reported(inputs: Inputs, end: int) -> "pd.DataFrame":
    """Return log perplexities that LR reports with half of the training documents, 0, or with all, 1."""
    rows = results.halves(select(results.scored(inputs), evaluator=PARTICLES))[end]
    return rows.assign(run=rows["seed"], seed=rows["topics"], value=-rows["value"], error=0.0)


def leads(inputs: Inputs) -> "pd.DataFrame":
    """Return the lead of the true number of topics over every other one, at the most documents of s10s."""
    rows = select(results.scored(inputs), corpus=FEW_WORDS, evaluator=tuple(SHORT)).fillna({"error": 0.0})
    rows = rows[rows["size"] == rows["size"].max()]
    rows, true = rows.assign(method=rows["evaluator"].map(SHORT)), rows["topics"] == SOURCES[FEW_WORDS].topics
    both: pd.DataFrame = rows[~true].merge(
        rows[true].drop(columns="topics"), on=["corpus", "method", "seed"], suffixes=("_other", "")
    )
    error = (both["error"] ** 2 + both["error_other"] ** 2) ** 0.5
    return both.assign(value=both["value"] - both["value_other"], error=error)


_contrast = partial(Contrast, question="estimators")

CONTRASTS = (
    _contrast(
        name="table-1-mean",
        says="Our mean errors of five estimators are the published ones.",
        one=Side("our mean error less that of Buntine's Table 1", partial(table_1, spread=False)),
        by=("method", "gamma"),
        margin=ANY,
        wanted=0.1,  # as many pairs as the source's leave less
        unit=BITS,
    ),
    _contrast(
        name="table-1-spread",
        says="So are the standard deviations.",
        one=Side("standard deviation of our errors over that of Buntine's Table 1", partial(table_1, spread=True)),
        estimand="factor",
        by=("method", "gamma"),
        margin=ANY,
        wanted=1.0,
        unit="times the published",
    ),
    _contrast(
        name="lrs-bias",
        source="Buntine, section 4.1",
        says="No significant bias of LRS is seen.",
        one=Side("mean error of LRS, of its logarithm", sequential_bias),
        by=("method", "gamma"),
        margin=ANY,
        wanted=0.01,
        unit=BITS,
    ),
    _contrast(
        name="mfi-lr",
        source="Buntine, section 4.1",
        says="Mean-field importance sampling errs about as much as LR.",
        one=Side("r.m.s. error of first-order MFI over that of LR, documents of known probability", mean_field),
        estimand="factor",
        by=("gamma",),
        margin=SAME_ORDER,  # 360 pairs tell whether gamma 0.2 is within
    ),
    _contrast(
        name="lr-lrs",
        says="With a hundred samples LR and LRS err alike; with more, LRS alone comes nearer to the likelihood.",
        one=Side("r.m.s. error of LR over that of LRS, documents of realistic models", particles_over_sequential),
        estimand="factor",
        by=("samples",),
        margin=MORE_SAMPLES,  # 120 documents have an interval as narrow
    ),
    _contrast(
        name="limit",
        source="Buntine, lemma 1",
        says="With enough samples LRS gives the likelihood itself; LR, however many it has, does not.",
        one=Side("estimate less log p of one document, with the most samples", limits),
        by=("method", "topics"),
        margin=ESTIMATORS,  # 20 runs have a fifth of it
    ),
    _contrast(
        name="low",
        source="Buntine, section 4.2",
        says="On realistic models LR is biased, and LRS is not.",
        one=Side("the reference less the logarithm of the estimate", shortfalls),
        by=("method",),
        margin=ESTIMATORS,
        wanted=ESTIMATORS.value / 2.0,
    ),
    _contrast(
        name="lr-rise",
        source="Buntine, Figure 4",
        says="The perplexity that LR reports rises with more training documents.",
        one=Side("log perplexity by LR with all training documents", partial(reported, end=1)),
        other=Side("that with half of them", partial(reported, end=0)),
        by=(),
        over=("run",),
        margin=ESTIMATORS,
    ),
    _contrast(
        name="true-topics",
        source="Buntine, Figure 5",
        says="With enough training documents ten topics, the true number, score highest on s10s.",
        one=Side("log-likelihood with ten topics less that with another number", leads),
        by=("method", "topics"),
        margin=MODELS,
    ),
)
