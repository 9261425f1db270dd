r"""Effects: paired differences, and their standard errors over documents, splits and an evaluator.

A claim compares two scores of the same models on the same documents. Its unit is the *replicate* s = 1 .. S, a split
(corpus and seed), a drawn pair or a drawn set of documents; the cells within it (numbers of topics, constants) are
summarised as the claim's own words say and never counted as evidence: y_s is their mean ("by how much"), median
("generally"), least ("always"), or the mean of their steps ("grows"). On one corpus the estimate is the mean of y_s,
and

    Var = max(s^2, v - c) / S + c + e^2,

where s^2 is the variance of y_s over replicates, and v and c are the mean diagonal and off-diagonal elements of the
documents' covariance matrix of (y_1 .. y_S): splits share test documents, so that s^2 / S misses the part c of their
error. Documents enter by `GROUPS` fixed groups. With y_s^(-g) the summary without group g, and G groups,

    C_st = (G - 1) / G sum_g (y_s^(-g) - mean_g y_s^(-g)) (y_t^(-g) - mean_g y_t^(-g)),

the jackknife. e is the evaluator's own error, averaged over cells and not divided by sqrt(S), for most of it is bias.
Degrees of freedom are Satterthwaite's: S - 1 of the first part, G - 1 of c. Where documents' values are not known,

    Var = s^2 (1 / S + f / (1 - f)) + e^2,

f the share of documents held out (Nadeau and Bengio 2003, section 3).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from artifact.results.reading import select
from artifact.results.scores import GROUP_COLUMNS, GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from artifact.verdicts.verdicts import CONFIDENCE, Effect, Margin, Test
from heldout.errors import InputError
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

ON = ("corpus", "topics", "seed")
WITHOUT = tuple(f"without_{group}" for group in range(GROUPS))  # columns: a gain without one group of documents

Summary = Literal["mean", "median", "least", "largest"]
SUMMARIES: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda cells: np.asarray(cells.mean(axis=0)),
    "median": lambda cells: np.asarray(np.median(cells, axis=0)),
    "least": lambda cells: np.asarray(cells.min(axis=0)),
    "largest": lambda cells: np.asarray(cells.max(axis=0)),
}


def paired(
    scores: "pd.DataFrame", one: Mapping[str, object], other: Mapping[str, object], on: Sequence[str] = ON
) -> "pd.DataFrame":
    """Return the differences of two scores, nats per token, as `less` does.

    `one` and `other` are values of columns, each one or several, that choose the rows of either side.
    """
    return less(per_token(select(scores, **one)), per_token(select(scores, **other)), on)


def less(one: "pd.DataFrame", other: "pd.DataFrame", on: Sequence[str] = ON) -> "pd.DataFrame":
    """Return one table's values less another's, row by row of what they share.

    Either has the columns `on`, which name a row, "value" and "error", and may have `WITHOUT`.

    Returns:
        The columns `on`; "gain", the difference; "error", of both; and, where both sides have groups, `WITHOUT`, the
        gain without each of them; sorted.

    Raises:
        InputError: when `on` names several rows of one side.
    """
    keys = list(on)
    for side in (one, other):
        for row in side[side.duplicated(keys)].head(1).to_dict("records"):
            named = ", ".join(str(row[key]) for key in keys)
            raise InputError(f"{', '.join(keys)} name several rows, such as {named}; pair them on more columns")
    both = one.merge(other, on=keys, suffixes=("", "_other"))
    error = np.hypot(both["error"].astype(float), both["error_other"].astype(float))
    pairs = both[keys].assign(gain=both["value"] - both["value_other"], error=error)
    others = [f"{name}_other" for name in WITHOUT]
    if {*WITHOUT, *others} <= set(both.columns):
        pairs[list(WITHOUT)] = both[list(WITHOUT)].to_numpy(float) - both[others].to_numpy(float)
    return pairs.sort_values(keys, ignore_index=True)


def per_token(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return scores with "value" and "error", nats per token, and `WITHOUT` where they have groups of documents."""
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
    return rows.join(pd.DataFrame(nats / tokens, rows.index, WITHOUT))


def values_of(table: "pd.DataFrame", value: str = "value") -> list[str]:
    """Return the names of a table's columns of values: the named one and, where it has them, `WITHOUT`.

    A summary of rows is to be that of each of these columns, so that the jackknife sees it.
    """
    return [name for name in (value, *WITHOUT) if name in table.columns]


def sizes(pairs: "pd.DataFrame") -> "pd.DataFrame":
    """Return pairs with the size of every gain, whichever way it is; and of every gain without a group."""
    values = values_of(pairs, "gain")
    return pairs.assign(**{name: pairs[name].abs() for name in values})


def steps(pairs: "pd.DataFrame", along: str = "topics") -> "pd.DataFrame":
    """Return the differences from each value of a column to the next, every other key the same; "grows" is of these."""
    values = values_of(pairs, "gain")
    keys = [name for name in pairs.columns if name not in (*values, "error", along)]
    ordered = pairs.sort_values([*keys, along], ignore_index=True)
    of_keys = ordered.groupby(keys)
    ordered[values] = of_keys[values].diff()
    ordered["error"] = np.hypot(ordered["error"], of_keys["error"].shift())
    return ordered[of_keys.cumcount() > 0].reset_index(drop=True)


def effects(
    pairs: "pd.DataFrame",
    *,
    margin: Margin,
    summary: Summary = "mean",
    threshold: float = 0.0,
    test: Test = "above",
    part: str = "",
    held_out: float | Mapping[str, float] = 0.0,
    replicate: Sequence[str] = ("seed",),
    resolution: float | Mapping[str, float] = 0.0,
    unit: str = "",
    factor: bool = False,
) -> list[Effect]:
    """Return one effect per corpus, in the order in which corpora come.

    The pairs are "corpus", the columns of `replicate`, which tell replicates apart, "gain" and "error" of every cell,
    and `WITHOUT` or no groups. `summary` is of the cells of a replicate; `held_out` is f, the share of documents that
    every split holds out, by corpus or of all, 0 where replicates share no documents; `resolution` is the least spread
    over replicates, by corpus or of all, for a summary that takes few values. A unit that is empty is the margin's; the
    gains may be logarithms of factors. All else is as in `Effect`.
    """
    found = []
    cell_keys = [name for name in pairs.columns if name not in ("corpus", "gain", "error", *WITHOUT, *replicate)]
    for corpus, rows in pairs.groupby("corpus", sort=False):
        share, least = (
            of if isinstance(of, float | int) else of.get(str(corpus), 0.0) for of in (held_out, resolution)
        )
        of_replicates = [cells for _, cells in rows.groupby(list(replicate), sort=True)]
        known = set(WITHOUT) <= set(rows.columns) and rows[list(WITHOUT)].notna().all(axis=None)
        summarised = SUMMARIES[summary]
        values = np.array([summarised(cells[["gain"]].to_numpy(float))[0] for cells in of_replicates])
        without = (
            np.array([summarised(cells[list(WITHOUT)].to_numpy(float)) for cells in of_replicates]) if known else None
        )
        errors = float(np.mean([cells["error"].mean() for cells in of_replicates]))
        error, freedom = standard_error(values, errors, without, float(share), float(least))
        other_way = rows["gain"] - threshold < -margin.value
        if test == "similar":
            other_way = (rows["gain"] - threshold).abs() > margin.value
        cells_of = rows.assign(other_way=other_way).groupby(cell_keys)["other_way"].all() if cell_keys else other_way
        found.append(
            Effect(
                str(corpus),
                part,
                float(values.mean()),
                float(error),
                float(freedom),
                unit or margin.unit,
                threshold,
                margin.value,
                len(of_replicates),
                len(of_replicates[0]),
                int(cells_of.sum()),
                test,
                factor,
            )
        )
    return found


def largest_differences(rows: "pd.DataFrame", tolerance: float) -> list[Effect]:
    """Return, by corpus, how far two forms of one number are apart at most, nats per document: an identity.

    `rows` have the columns "corpus" and "value", the distance; one of `tolerance` or more refutes the identity.
    """
    return [
        Effect(
            str(corpus),
            "largest difference",
            float(cells["value"].max()),
            *(0.0, math.inf, "nats per document"),
            cells=len(cells),
            reversed_cells=int((cells["value"] >= tolerance).sum()),
            test="identity",
        )
        for corpus, cells in rows.groupby("corpus", sort=False)
    ]


def standard_error(
    values: Floats,
    error: Floats | float = 0.0,
    without: Floats | None = None,
    held_out: float = 0.0,
    resolution: float = 0.0,
) -> tuple[Floats, Floats]:
    """Return the standard error of the mean of replicates' values, and its degrees of freedom.

    Args:
        values: (..., S), y_s.
        error: (...), e, the evaluator's.
        without: (..., S, G), the values without each group of documents; None if they are not known.
        held_out: f, used where they are not known.
        resolution: the least standard deviation over replicates.

    Returns:
        (...) each; NaN and 0 of one replicate.
    """
    replicates = values.shape[-1]
    if replicates < 2:
        return np.full(values.shape[:-1], math.nan), np.zeros(values.shape[:-1])
    spread = np.maximum(values.var(axis=-1, ddof=1), resolution**2)
    noise = np.asarray(error, float) ** 2
    if without is None:
        variance = spread * (1.0 / replicates + held_out / (1.0 - held_out))
        return _satterthwaite((variance, replicates - 1.0), (noise, math.inf))
    groups = without.shape[-1]
    influence = (without - without.mean(axis=-1, keepdims=True)) * math.sqrt((groups - 1.0) / groups)
    covariance = influence @ np.swapaxes(influence, -1, -2)
    own = np.trace(covariance, axis1=-2, axis2=-1) / replicates
    shared = (covariance.sum(axis=(-2, -1)) - replicates * own) / (replicates * (replicates - 1.0))
    shared = np.clip(shared, 0.0, own)
    return _satterthwaite(
        (np.maximum(spread, own - shared) / replicates, replicates - 1.0), (shared, groups - 1.0), (noise, math.inf)
    )


def _satterthwaite(*parts: tuple[Any, float]) -> tuple[Floats, Floats]:
    """Return the root of a sum of independent variances, and its degrees of freedom."""
    variance = np.asarray(sum(part for part, _ in parts), float)
    of_parts = np.asarray(sum(part**2 / freedom for part, freedom in parts), float)
    freedom = np.divide(variance**2, of_parts, out=np.full_like(variance, math.inf), where=of_parts > 0.0)
    return np.sqrt(variance), freedom


@dataclass(frozen=True)
class Best:
    """The numbers of topics that are not told apart from the one that scores highest.

    Attributes:
        topics: all of them, ascending.
        highest: the one that scores highest.
        censored: whether one of them is the grid's last: more might score higher.
    """

    topics: tuple[int, ...]
    highest: int
    censored: bool


def best(points: "pd.DataFrame") -> Best | None:
    """Return the numbers of topics that are not told apart from the best; None without points.

    The variance is that of the residuals of (topics, replicate) once the means of both are taken off, (K - 1)(S - 1)
    degrees of freedom, and both points' evaluator's errors; Student's t is Bonferroni's over the K - 1 differences. One
    replicate has the evaluator's error alone.

    The points are "topics", "seed", "value" and "error" of one corpus and score.
    """
    if points.empty:
        return None
    table = points.pivot_table(index="topics", columns="seed", values="value").dropna()
    errors = points.groupby("topics")["error"].mean().reindex(table.index).to_numpy(float)
    values = table.to_numpy(float)
    means = values.mean(axis=1)
    topics, replicates = values.shape
    residuals = values - means[:, None] - values.mean(axis=0) + values.mean()
    freedom = (topics - 1) * (replicates - 1)
    variance = float((residuals**2).sum()) / freedom if freedom else 0.0
    highest = int(np.argmax(means))
    tests = max(1, topics - 1)
    quantile = stats.t.ppf(1.0 - (1.0 - CONFIDENCE) / 2.0 / tests, freedom or math.inf)
    limit = quantile * np.sqrt(2.0 * variance / replicates + errors**2 + errors[highest] ** 2)
    grid = [int(k) for k in table.index]
    alike = tuple(k for k, lead, most in zip(grid, means[highest] - means, limit, strict=True) if lead <= most)
    return Best(alike, grid[highest], max(alike) == max(grid) and len(grid) > 1)
