"""A run against the reference results, table by table and variant by variant.

On the machine that made the reference a rerun gives the same bytes. Elsewhere the last digits of a logarithm may
differ. EM forgets such a difference; a Markov chain does not: after one different assignment the rest of the chain is
another draw from the same distribution. So a number is judged by one of three rules:

* "relative", to 1e-4: a deterministic one, which rounding moves;
* "standard errors": a sampled one that states its Monte Carlo error s (nats, of the log-likelihood of a score, of the
  value of a measurement) agrees where |ours - theirs| <= z sqrt(s_ours^2 + s_theirs^2), to which comes what "relative"
  allows;
* "relative (sampled)", to 3 %: a sampled one that states no error, or states that of an evaluator alone while the
  model itself is sampled by a Markov chain.

Relative differences are of perplexities, of measured values and of every entry of an array. What a group of documents
adds to a score follows the rule of the score: its log-likelihood may differ by as much per token (of a sampled score by
sqrt(N / n) times as much, with n of its N tokens), or by as many of the score's standard errors, and by what its
rounding moves.

If a rerun drew anew what states an error, and its errors were normal, any of the n numbers judged by their errors would
disagree with probability `FALSE_ALARM` at most (Bonferroni): z is the normal quantile of 1 - FALSE_ALARM / 2n, 4.4 for
one number and 6.2 for 20,000. As it draws the same random numbers, most of its numbers are far closer.

A variant of a model of which the run has no row in any table was not run, for a study may omit an experiment and a
machine may lack a package: its rows of the reference are counted, and judged by nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any, TextIO

import numpy as np
import pandas as pd

from artifact.results.arrays import Arrays, Place
from artifact.results.provenance import reference_tables
from artifact.results.scores import DECIMALS, NATS_COLUMNS, TOKENS_COLUMNS
from artifact.results.scores import KEY as AXES
from artifact.results.tables import read_table, require_rows
from heldout.errors import InputError
from heldout.files import replacing
from heldout.models import LDA
from heldout.typing import Floats

DETERMINISTIC, SAMPLED = 1e-4, 0.03  # relative differences allowed to a perplexity or a measured value
FALSE_ALARM = 1e-5  # probability for any of the numbers that are judged by their standard errors
RELATIVE, ERRORS, RELATIVE_SAMPLED, EXACTLY = "relative", "standard errors", "relative (sampled)", "the same"
NOT_RUN = "not run"
COUNTS = ("documents", "tokens")  # columns that must be the same in both
MEASURED_AXES = ("corpus", "model", "variant", "topics", "smoothing", "chain", "seed", "quantity", "axis", "at")
NOTED_AXES = ("corpus", "model", "variant", "topics", "seed", "quantity", "axis", "at")
CHAIN_MODELS = (LDA, "tomotopy")  # models that Markov chains sample, whatever the column `chain` says
PRINTED = 20  # largest number of differences that are printed


def compare(tables: Mapping[str, Path], reference: Path, destination: Path, out: TextIO) -> bool:
    """Compare a run with the tables in `reference`; print a table and write it as CSV.

    The tables of the run are "scores", "corpora", "measurements", "notes" and, where the reference has them, "groups"
    and "arrays".
    Return whether every variant agrees within tolerance; the comparison is written where all do.

    Raises:
        InputError: when a table is missing or is not one.
    """
    score_numbers = ("perplexity", "log_likelihood", "standard_error", *COUNTS)
    committed = reference_tables(reference)
    scored = _pairs(tables["scores"], committed["scores"], AXES, score_numbers)
    measured_numbers = ("value", "standard_error")
    measured = _pairs(tables["measurements"], committed["measurements"], MEASURED_AXES, measured_numbers)
    described = _pairs(tables["corpora"], committed["corpora"], ("corpus",), ())
    noted = _pairs(tables["notes"], committed["notes"], NOTED_AXES, ())
    for pairs in (scored, measured):
        _choose_rules(pairs)
    noted["rule"] = EXACTLY
    arrays = _array_pairs(tables.get("arrays"), committed["arrays"])
    recorded = (scored, measured, noted, arrays)
    run = {row for pairs in recorded for row in _variants(pairs[pairs["side"] != "right_only"])}
    for pairs in recorded:
        pairs.loc[~_variants(pairs).isin(list(run)), "rule"] = NOT_RUN
    limit = standard_errors(sum(int((pairs["rule"] == ERRORS).sum()) for pairs in (scored, measured)))
    _judge(scored, "log_likelihood", "perplexity", limit)
    _judge(measured, "value", "value", limit)
    described = described.assign(rule=EXACTLY, variant="all")
    for pairs in (described, noted):
        pairs["allowed"] = 0.0
        pairs["gap"] = np.where(pairs["identical"], 0.0, np.inf)
        pairs["agrees"] = pairs["identical"] | (pairs["rule"] == NOT_RUN)

    judged = {"corpora": described, "scores": scored, "measurements": measured, "notes": noted}
    if (by_group := committed["groups"]).exists():
        pairs = _pairs(tables["groups"], by_group, AXES, TOKENS_COLUMNS + NATS_COLUMNS)
        judged["groups"] = _judged_by_group(pairs, scored, limit)
    if len(arrays):
        arrays["agrees"] = (arrays["gap"] <= arrays["allowed"]) | (arrays["rule"] == NOT_RUN)
        judged["arrays"] = arrays
    results = [
        {"table": table, "variant": variant, **line}
        for table, pairs in judged.items()
        for variant, rows in pairs.groupby("variant")
        for line in _results(rows)
    ]
    _print(results, [line for table, pairs in judged.items() for line in _differences(table, pairs)], out)
    agrees = all(result["verdict"] != "differs" for result in results)
    if agrees:
        with replacing(destination) as temporary:
            pd.DataFrame(results).to_csv(temporary, index=False, lineterminator="\n")
    return agrees


def standard_errors(comparisons: int) -> float:
    """Return the standard errors by which two numbers may differ, given the number of comparisons; see the module.

    Examples:
        >>> [round(standard_errors(n), 1) for n in (1, 20_000)]
        [4.4, 6.2]
    """
    return NormalDist().inv_cdf(1.0 - FALSE_ALARM / (2 * max(1, comparisons)))


def difference(ours: Floats, theirs: Floats) -> Floats:
    """Return relative differences; 0 where both are equal or undefined, inf where only one is finite.

    Examples:
        >>> difference(np.array([3.0, np.inf, 3.0]), np.array([2.0, np.inf, np.nan]))
        array([0.5, 0. , inf])
    """
    return _distance(ours, theirs, np.abs(theirs))


def _distance(ours: Floats, theirs: Floats, unit: Any) -> Floats:
    """Return |ours - theirs| in a unit, with `difference`'s conventions."""
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.abs(ours - theirs) / unit
    return np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf))


def _pairs(ours: Path, theirs: Path, key: tuple[str, ...], numbers: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of two tables side by side, as text, the reference's columns ending in "_reference".

    Column `side` says whether a row is in "both" or in the "left_only" (ours) or "right_only" (the reference), and
    `identical` whether all its text is the same.
    """
    tables = []
    for path in (ours, theirs):
        if not path.exists():
            raise InputError(f"{path}: no such table; there is nothing to compare with")
        if path.suffix != ".gz":  # which has a checksum
            require_rows(path, "results")
        table = read_table(path, {}, "results", dtype=str, na_values=None)
        if missing := [column for column in (*key, *numbers) if column not in table.columns]:
            raise InputError(f"{path}: not a table of its kind; it lacks {', '.join(missing)}")
        for column in numbers:
            no_number = pd.to_numeric(table[column], errors="coerce").isna()
            if (no_number & ~table[column].isin(["", "nan"])).any():
                raise InputError(f"{path}: {column} is not a number everywhere; make the table again")
        tables.append(table)
    pairs = tables[0].merge(tables[1], how="outer", on=list(key), suffixes=("", "_reference"), indicator="side")
    others = [column for column in tables[1].columns if column not in key]
    identical = pairs["side"] == "both"
    for column in others:
        identical &= pairs[column] == pairs[f"{column}_reference"] if column in tables[0].columns else False
    return pairs.assign(identical=identical)


def _array_pairs(ours: Path | None, theirs: Path) -> pd.DataFrame:
    """Return a row for each array of either file, the largest relative difference of two entries its `gap`."""
    read = [Arrays() if ours is None else Arrays.read(ours), Arrays.read(theirs) if theirs.exists() else Arrays()]
    rows = []
    for place in sorted({*read[0].places, *read[1].places}):
        known = [place in arrays.places for arrays in read]
        one, other = (arrays[place] if there else np.zeros(0) for arrays, there in zip(read, known, strict=True))
        same = all(known) and one.shape == other.shape
        gap = float(difference(one, other).max(initial=0.0)) if same else np.inf
        sampled = place.chain != "none" or place.model in CHAIN_MODELS
        rule, allowed = (RELATIVE_SAMPLED, SAMPLED) if sampled else (RELATIVE, DETERMINISTIC)
        texts = [f"{values.shape} of mean {values.mean() if values.size else 0.0:.6g}" for values in (one, other)]
        side = "both" if all(known) else "left_only" if known[0] else "right_only"
        identical = same and one.tobytes() == other.tobytes()
        rows.append((*astuple(place), side, identical, rule, allowed, gap, *texts))
    further = ("side", "identical", "rule", "allowed", "gap", "values", "values_reference")
    return pd.DataFrame(rows, columns=[*(field.name for field in fields(Place)), *further])


def _variants(pairs: pd.DataFrame) -> pd.MultiIndex:
    """Return every row's variant and model."""
    return pd.MultiIndex.from_frame(pairs[["variant", "model"]])


def _choose_rules(pairs: pd.DataFrame) -> None:
    """Add the columns `rule` and `error`, the standard error of the difference."""
    known = pairs["standard_error_reference"].fillna(pairs["standard_error"]).astype(float)
    sampled = pairs["samples"] != "0" if "samples" in pairs.columns else known != 0.0
    chain = (pairs["chain"] != "none") | pairs["model"].isin(CHAIN_MODELS)
    stated = sampled & np.isfinite(known) & (known > 0.0)
    pairs["rule"] = np.select([chain, stated, sampled], [RELATIVE_SAMPLED, ERRORS, RELATIVE_SAMPLED], RELATIVE)
    pairs["error"] = np.hypot(pairs["standard_error"].astype(float), known)


def _judge(pairs: pd.DataFrame, nats: str, relative: str, limit: float) -> None:
    """Add the columns `gap` (by the row's rule, in standard errors of `nats` or relative), `allowed` and `agrees`."""

    def both(column: str) -> tuple[Floats, Floats]:
        return pairs[column].to_numpy(np.float64), pairs[f"{column}_reference"].to_numpy(np.float64)

    # nats by which a deterministic number may differ; where there are tokens, its perplexity is meant
    rounding = DETERMINISTIC * (both("tokens")[1] if "tokens" in pairs.columns else np.abs(both(nats)[1]))
    excess = np.maximum(0.0, _distance(*both(nats), 1.0) - rounding)
    with np.errstate(invalid="ignore", divide="ignore"):
        in_errors = np.where(excess == 0.0, 0.0, excess / pairs["error"].to_numpy())
    in_errors = np.where(np.isnan(in_errors), np.inf, in_errors)
    pairs["gap"] = np.where(pairs["rule"] == ERRORS, in_errors, difference(*both(relative)))
    allowed = {RELATIVE: DETERMINISTIC, RELATIVE_SAMPLED: SAMPLED, ERRORS: limit, NOT_RUN: 0.0}
    pairs["allowed"] = pairs["rule"].map(allowed)
    pairs["agrees"] = (pairs["side"] == "both") & (pairs["gap"] <= pairs["allowed"])
    for column in COUNTS:
        if column in pairs.columns:
            pairs["agrees"] &= pairs[column] == pairs[f"{column}_reference"]
    pairs["agrees"] |= pairs["rule"] == NOT_RUN


def _judged_by_group(pairs: pd.DataFrame, scored: pd.DataFrame, limit: float) -> pd.DataFrame:
    """Return groups of documents with the columns of `_judge`; `gap` is the largest share of an allowed difference."""
    pairs = pairs.merge(scored[[*AXES, "rule", "error"]], how="left", on=list(AXES))

    def both(columns: tuple[str, ...]) -> tuple[Floats, Floats]:
        theirs = pairs[[f"{column}_reference" for column in columns]]
        return pairs[list(columns)].to_numpy(np.float64), theirs.to_numpy(np.float64)

    tokens, known = both(TOKENS_COLUMNS)
    rounding = DETERMINISTIC * known + 10.0**-DECIMALS
    allowed = {
        RELATIVE: rounding,
        RELATIVE_SAMPLED: SAMPLED * np.sqrt(known * known.sum(axis=1, keepdims=True)) + rounding,
        ERRORS: limit * np.nan_to_num(pairs["error"].to_numpy(np.float64))[:, None] + rounding,
    }
    unit = np.select([pairs["rule"].to_numpy()[:, None] == rule for rule in allowed], list(allowed.values()), rounding)
    pairs["gap"] = _distance(*both(NATS_COLUMNS), unit).max(axis=1, initial=0.0)
    same = (pairs["side"] == "both") & (tokens == known).all(axis=1) & (pairs["gap"] <= 1.0)
    return pairs.assign(allowed=1.0, agrees=same | (pairs["rule"] == NOT_RUN))


def _results(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a line of the comparison for each rule that judges rows of a variant."""
    for rule, judged in rows.groupby("rule"):
        both, verdict = judged["side"] == "both", "agrees" if judged["agrees"].all() else "differs"
        yield {
            "judged_by": rule,
            "compared": int(both.sum()),
            "identical": int(judged["identical"].sum()),
            "missing": int((judged["side"] == "right_only").sum()),
            "unexpected": int((judged["side"] == "left_only").sum()),
            "largest_difference": f"{judged.loc[both, 'gap'].max() if both.any() else 0.0:.2g}",
            "allowed": f"{judged['allowed'].iloc[0]:.2g}",
            "verdict": NOT_RUN if rule == NOT_RUN else verdict,
        }


def _differences(table: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line on every differing row of a table, among rows on both sides."""
    differing = rows[(rows["side"] == "both") & ~rows["agrees"]]
    if differing.empty:  # as most are, and a frame's walk is slow
        return
    others = [column.removesuffix("_reference") for column in rows.columns if column.endswith("_reference")]
    key = [column for column in (*AXES, *MEASURED_AXES[-3:], "name") if column in rows.columns and column not in others]
    for row in differing.to_dict("records"):
        changed = [c for c in others if row[c] != row[f"{c}_reference"]]
        changes = ", ".join(f"{c} is {row[c]}, reference {row[f'{c}_reference']}" for c in changed)
        yield f"{table}: {', '.join(str(row[column]) for column in key)}: {changes}"


def _print(results: list[dict[str, Any]], differences: list[str], out: TextIO) -> None:
    lines = [list(results[0]), *([str(cell) for cell in result.values()] for result in results)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for cells in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), file=out)
    for line in differences[:PRINTED]:
        print(line, file=out)
    if len(differences) > PRINTED:
        print(f"... and {len(differences) - PRINTED} more", file=out)
