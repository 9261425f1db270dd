r"""Estimates of effects from results: paired differences, and their errors over documents, splits and an evaluator.

A contrast compares two scores of the same models on the same documents. Its unit is the *replicate* s = 1 .. S, a split
(corpus and seed), a drawn pair or a drawn set of documents; y_s is side A less side B, or their ratio. The estimate is
the mean of y_s, and

    Var = max(s^2, v - c) / S + c + e^2,

where s^2 is the variance of y_s over replicates, and v and c are the mean diagonal and off-diagonal elements of the
documents' covariance matrix of (y_1 .. y_S): splits share test documents, so that s^2 / S misses the part c of their
error. Documents enter by `GROUPS` fixed groups. With y_s^(-g) the value without group g, and G groups,

    C_st = (G - 1) / G sum_g (y_s^(-g) - mean_g y_s^(-g)) (y_t^(-g) - mean_g y_t^(-g)),

the jackknife. e is the evaluator's own error, not divided by sqrt(S), for most of it is bias. Degrees of freedom are
Satterthwaite's: S - 1 of the first part, G - 1 of c. Where documents' values are not known,

    Var = s^2 (1 / S + f / (1 - f)) + e^2,

f the share of documents held out (Nadeau and Bengio 2003, section 3).

The interval is conditional on the corpus: splits of one corpus share most of their training documents, and no split
tells what other documents to train on would do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from artifact.contrasts.contrast import Contrast
from artifact.contrasts.effect import Effect
from artifact.results.reading import select
from artifact.results.scores import GROUP_COLUMNS, GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from heldout.errors import InputError
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

    from artifact.contrasts.inputs import Inputs

PAIRED_ON = ("corpus", "topics", "seed")
LEFT_OUT = tuple(f"without_{group}" for group in range(GROUPS))  # columns: a value without one group of documents
SEED, STATED = "seed", "freedom"  # columns of replicates, and of values that state their own error
CHOSEN = "chosen"  # column that names a chosen number: of one number on both sides the evaluator's error cancels


def per_token(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return scores with "value" and "error", nats per token, and `LEFT_OUT` where they have groups of documents."""
    import pandas as pd

    rows = rows.assign(
        value=rows["log_likelihood"] / rows["tokens"], error=rows["standard_error"].fillna(0.0) / rows["tokens"]
    )
    if not set(GROUP_COLUMNS) <= set(rows.columns):
        return rows
    with np.errstate(invalid="ignore"):  # a document may have no likelihood
        nats, tokens = (
            rows[[whole]].to_numpy(float) - rows[list(groups)].to_numpy(float)
            for whole, groups in (("log_likelihood", NATS_COLUMNS), ("tokens", TOKENS_COLUMNS))
        )
    return rows.join(pd.DataFrame(nats / tokens, rows.index, LEFT_OUT))


def paired(
    scores: "pd.DataFrame", one: Mapping[str, object], other: Mapping[str, object], keys: Sequence[str] = PAIRED_ON
) -> "pd.DataFrame":
    """Return the differences of two scores, nats per token, as `difference` does.

    `one` and `other` are values of columns, each one or several, that choose the rows of either side.
    """
    return difference(per_token(select(scores, **one)), per_token(select(scores, **other)), keys)


def difference(one: "pd.DataFrame", other: "pd.DataFrame", keys: Sequence[str] = PAIRED_ON) -> "pd.DataFrame":
    """Return one table's values less another's, row by row of the keys that both have.

    Either has the columns `keys`, which name a row, "value" and "error", and may have `LEFT_OUT` and `CHOSEN`.

    Returns:
        The columns `keys`; "value", the difference; "error", of both; and, where both sides have groups, `LEFT_OUT`,
        the value without each of them; sorted.

    Raises:
        InputError: when `keys` name several rows of one side.
    """
    return _joined(one, other, keys, shares=False)


def ratio(one: "pd.DataFrame", other: "pd.DataFrame", keys: Sequence[str] = PAIRED_ON) -> "pd.DataFrame":
    """Return one table's values over another's, as `difference` does their differences."""
    return _joined(one, other, keys, shares=True)


def _joined(one: "pd.DataFrame", other: "pd.DataFrame", columns: Sequence[str], *, shares: bool) -> "pd.DataFrame":
    keys = list(columns)
    for side in (one, other):
        for row in side[side.duplicated(keys)].head(1).to_dict("records"):
            named = ", ".join(str(row[key]) for key in keys)
            raise InputError(f"{', '.join(keys)} name several rows, such as {named}; pair them on more columns")
    both = one.merge(other, on=keys, suffixes=("", "_other"))
    names = ["value", *(LEFT_OUT if {*LEFT_OUT, *_others(LEFT_OUT)} <= set(both.columns) else ())]
    first, second = both[names].to_numpy(float), both[_others(names)].to_numpy(float)
    pairs, errors = both[keys].copy(), both[["error", "error_other"]].to_numpy(float)
    pairs[names] = first / second if shares else first - second
    if shares:
        errors = errors / second[:, :1] * np.stack([np.ones(len(both)), pairs["value"].to_numpy(float)], axis=1)
    pairs["error"] = np.hypot(errors[:, 0], errors[:, 1])
    if {CHOSEN, f"{CHOSEN}_other"} <= set(both.columns):
        pairs["error"] = pairs["error"].mask(both[CHOSEN] == both[f"{CHOSEN}_other"], 0.0)
    return pairs.sort_values(keys, ignore_index=True)


def _others(names: Sequence[str]) -> list[str]:
    return [f"{name}_other" for name in names]


def effects(contrast: Contrast, inputs: "Inputs") -> list[Effect]:
    """Return a contrast's effects by corpus and the values of its `by`, in the order in which they come.

    Raises:
        InputError: when the contrast's columns name several rows of a side.
    """
    table = contrast.one.rows(inputs)
    if contrast.other is not None and len(table):
        other = contrast.other.rows(inputs)
        if other.empty:
            return []
        keys = ["corpus", *contrast.by, *contrast.over, *((SEED,) if SEED in other.columns else ())]
        table = _joined(table, other, keys, shares=contrast.estimand == "share")
    return estimated(contrast, table, inputs.held_out) if len(table) else []


def estimated(contrast: Contrast, table: "pd.DataFrame", held_out: Mapping[str, float] | None = None) -> list[Effect]:
    """Return the effects of a table of paired values (`difference`), or of values that state their own errors."""
    found = []
    for key, rows in table.groupby(["corpus", *contrast.by], sort=False):
        corpus, *values = key
        share = (held_out or {}).get(str(corpus), contrast.held_out)
        estimate = _stated(rows) if STATED in rows.columns else _replicated(rows, share)
        topics = dict(zip(contrast.by, values, strict=True)).get("topics", 0)
        found.append(
            Effect(
                contrast.name,
                str(corpus),
                ", ".join(map(_label, contrast.by, values)),
                int(str(topics)),
                *(estimate.value, estimate.error, estimate.freedom),
                contrast.unit or contrast.margin.unit,
                null=contrast.null,
                margin=contrast.margin.value,
                wanted=contrast.wanted or contrast.margin.value,
                replicates=estimate.replicates,
                **{"spread": estimate.spread, "shared": estimate.shared, "noise": estimate.noise},
                factor=contrast.estimand == "factor",
            )
        )
    return found


def _label(column: str, value: object) -> str:
    return f"K = {value:,}" if column == "topics" else str(value)


@dataclass(frozen=True)
class Estimate:
    """A mean over replicates: its standard error, degrees of freedom, and the error's parts as `Effect` has them."""

    value: float
    error: float
    freedom: float
    replicates: int
    spread: float = 0.0
    shared: float = 0.0
    noise: float = 0.0


def _stated(rows: "pd.DataFrame") -> Estimate:
    if len(rows) != 1:
        raise InputError(f"{len(rows)} values that state their own errors stand for one effect; tell them apart")
    value, error, freedom = (float(rows[name].iloc[0]) for name in ("value", "error", STATED))
    return Estimate(value, error, freedom, int(rows["replicates"].iloc[0]), noise=error)


def _replicated(rows: "pd.DataFrame", held_out: float) -> Estimate:
    """Return the estimate of replicates, each the mean of its rows."""
    known = set(LEFT_OUT) <= set(rows.columns) and bool(rows[list(LEFT_OUT)].notna().all(axis=None))
    means = rows.groupby(SEED)[["value", "error", *(LEFT_OUT if known else ())]].mean()
    values = means["value"].to_numpy(float)
    error = float(means["error"].mean())
    left_out = means[list(LEFT_OUT)].to_numpy(float) if known else None
    return estimate(values, error, left_out, held_out)


def estimate(values: Floats, noise: float = 0.0, left_out: Floats | None = None, held_out: float = 0.0) -> Estimate:
    """Return the mean of replicates' values with its standard error and degrees of freedom.

    Args:
        values: (S,), y_s.
        noise: e, the evaluator's error.
        left_out: (S, G), the values without each group of documents; None if they are not known.
        held_out: f, used where they are not known.

    Returns:
        The estimate; its error is NaN and its freedom 0 of one replicate.
    """
    replicates, mean = len(values), float(values.mean())
    if replicates < 2:
        return Estimate(mean, math.nan, 0.0, replicates, noise=noise)
    spread = float(values.var(ddof=1))
    if left_out is None:
        shared, own = spread * held_out / (1.0 - held_out), spread
        parts = [(own * (1.0 / replicates + held_out / (1.0 - held_out)), replicates - 1.0)]
    else:
        groups = left_out.shape[-1]
        influence = (left_out - left_out.mean(axis=-1, keepdims=True)) * math.sqrt((groups - 1.0) / groups)
        covariance = influence @ influence.T
        diagonal = float(np.trace(covariance)) / replicates
        shared = (float(covariance.sum()) - replicates * diagonal) / (replicates * (replicates - 1.0))
        shared = min(max(shared, 0.0), diagonal)
        own = max(spread, diagonal - shared)
        parts = [(own / replicates, replicates - 1.0), (shared, groups - 1.0)]
    variance = sum(part for part, _ in parts) + noise**2
    weight = sum(part**2 / freedom for part, freedom in parts)
    freedom = variance**2 / weight if weight > 0.0 else math.inf
    return Estimate(mean, math.sqrt(variance), freedom, replicates, math.sqrt(own), math.sqrt(shared), noise)
