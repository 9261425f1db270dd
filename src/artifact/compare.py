"""A run against the reference results, exhibit by exhibit.

On the machine that made the reference a rerun gives the same bytes. Elsewhere the last digits of a logarithm may
differ. EM forgets such a difference; a Markov chain does not: after one different assignment the rest of the chain is
another draw from the same distribution. So a number is judged by one of three rules:

* "relative", to 1e-4: a deterministic one, which rounding moves;
* "standard errors": a sampled one that states its Monte Carlo error s (nats, of the log-likelihood of a score, of the
  value of a measurement) agrees where |ours - theirs| <= z sqrt(s_ours^2 + s_theirs^2), to which comes what "relative"
  allows;
* "relative (sampled)", to 3 %: a sampled one that states no error, or states that of an evaluator alone while the
  model itself is sampled by a Markov chain.

Relative differences are of perplexities and of measured values. What a group of documents adds to a score follows the
rule of the score: its log-likelihood may differ by as much per token (of a sampled score by sqrt(N / n) times as much,
with n of its N tokens), or by as many of the score's standard errors, and by what its rounding moves.

If a rerun drew anew what states an error, and its errors were normal, any of the n numbers judged by their errors would
disagree with probability `FALSE_ALARM` at most (Bonferroni): z is the normal quantile of 1 - FALSE_ALARM / 2n, 4.4 for
one number and 6.2 for 20,000. As it draws the same random numbers, most of its numbers are far closer.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any, TextIO

import numpy as np
import pandas as pd

from artifact.papers import ALL, papers_of
from artifact.results.scores import DECIMALS, NATS_COLUMNS, TOKENS_COLUMNS
from artifact.results.scores import KEY as AXES
from artifact.results.tables import read_table, require_rows
from artifact.study.study import PEERS
from artifact.typesetting.exhibits import exhibits, stands_on
from heldout.errors import InputError
from heldout.files import replacing
from heldout.models import LDA
from heldout.typing import Floats

DETERMINISTIC, SAMPLED = 1e-4, 0.03  # relative differences allowed to a perplexity or a measured value
FALSE_ALARM = 1e-5  # probability for any of the numbers that are judged by their standard errors
RELATIVE, ERRORS, RELATIVE_SAMPLED, EXACTLY = "relative", "standard errors", "relative (sampled)", "the same"
COUNTS = ("documents", "tokens")  # columns that must be the same in both
MEASURED_AXES = ("corpus", "model", "variant", "topics", "smoothing", "chain", "seed", "quantity", "axis", "at")
NOTED_AXES = ("corpus", "model", "variant", "topics", "seed", "quantity", "axis", "at")
CHAIN_MODELS = (LDA, "tomotopy")  # models that Markov chains sample, whatever the column `chain` says
IN_NO_EXHIBIT = "(in no exhibit)"
PRINTED = 20  # differences, at most


def compare(study: Path, tables: Mapping[str, Path], reference: Path, destination: Path, out: TextIO) -> bool:
    """Compare a run with the tables in `reference`; print a table and write it as CSV.

    Optional experiments that the run's study lacks, or some of their models, are left out of the reference.
    The tables of the run are "scores", "corpora", "measurements", "notes" and, where the reference has them, "groups".
    Return whether every exhibit agrees within tolerance; the comparison is written where all do.

    Raises:
        InputError: when a table is missing or is not one.
    """
    settings: dict[str, Any] = json.loads(study.read_text(encoding="utf-8"))
    of_scores = ("perplexity", "log_likelihood", "standard_error", *COUNTS)
    scored = _pairs(tables["scores"], reference / "scores.csv", AXES, of_scores, settings)
    of_measurements, known = ("value", "standard_error"), reference / "measurements.csv.gz"
    measured = _pairs(tables["measurements"], known, MEASURED_AXES, of_measurements, settings)
    described = _pairs(tables["corpora"], reference / "corpora.csv", ("corpus",), (), settings)
    for pairs in (scored, measured):
        _choose_rules(pairs)
    limit = standard_errors(sum(int((pairs["rule"] == ERRORS).sum()) for pairs in (scored, measured)))
    _judge(scored, "log_likelihood", "perplexity", limit)
    _judge(measured, "value", "value", limit)
    noted = _pairs(tables["notes"], reference / "notes.csv", NOTED_AXES, (), settings)
    described, noted = (
        pairs.assign(rule=EXACTLY, allowed=0.0, agrees=same, gap=np.where(same, 0.0, np.inf))
        for pairs in (described, noted)
        for same in (pairs["identical"],)
    )

    groups = [("table-1", described), *_by_exhibit(scored, settings)]
    if (by_group := reference / "groups.csv.gz").exists():
        pairs = _pairs(tables["groups"], by_group, AXES, TOKENS_COLUMNS + NATS_COLUMNS, settings)
        groups.append(("groups of documents", _judged_by_group(pairs, scored, limit)))
    groups += [(f"measured: {quantity}", rows) for quantity, rows in measured.groupby("quantity")]
    groups += [(f"noted: {quantity}", rows) for quantity, rows in noted.groupby("quantity")]
    results = [result for name, rows in groups for result in _results(name, rows)]
    _print(results, [line for name, rows in groups for line in _differences(name, rows)], out)
    agrees = all(result["verdict"] == "agrees" for result in results)
    if agrees:
        with replacing(destination) as temporary:
            pd.DataFrame(results).to_csv(temporary, index=False, lineterminator="\n")
    return agrees


def standard_errors(comparisons: int) -> float:
    """Return how many standard errors two numbers may differ by in a number of comparisons; see the module.

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
    return _apart(ours, theirs, np.abs(theirs))


def _apart(ours: Floats, theirs: Floats, unit: Any) -> Floats:
    """Return |ours - theirs| in a unit, with `difference`'s conventions."""
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(ours - theirs) / unit
    return np.where(same, 0.0, np.where(np.isfinite(apart), apart, np.inf))


def _pairs(
    ours: Path, theirs: Path, key: tuple[str, ...], numbers: tuple[str, ...], study: dict[str, Any]
) -> pd.DataFrame:
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
    if "variant" in key:
        tables[1] = tables[1][~_left_out(tables[1], study)]
    pairs = tables[0].merge(tables[1], how="outer", on=list(key), suffixes=("", "_reference"), indicator="side")
    others = [column for column in tables[1].columns if column not in key]
    identical = pairs["side"] == "both"
    for column in others:
        identical &= pairs[column] == pairs[f"{column}_reference"] if column in tables[0].columns else False
    return pairs.assign(identical=identical)


def _left_out(table: pd.DataFrame, study: dict[str, Any]) -> "pd.Series[bool]":
    """Return which rows belong to an optional experiment, or to a model in it, that the study omits."""
    left_out = table["variant"].isna()
    for name in (name for paper in ALL for name in paper.optional):
        asked = study.get("measures", {}).get(name)
        rows = table["variant"].str.startswith(name)
        if asked is None:
            left_out |= rows
        elif "models" in asked:
            left_out |= rows & ~table["model"].isin(asked["models"])
        elif "libraries" in asked["settings"]:  # beside scores of this project's own
            left_out |= rows & table["model"].isin(PEERS) & ~table["model"].isin(asked["settings"]["libraries"])
    return left_out


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

    # what a deterministic number may differ by, which is of a perplexity where there are tokens
    rounding = DETERMINISTIC * (both("tokens")[1] if "tokens" in pairs.columns else np.abs(both(nats)[1]))
    beyond = np.maximum(0.0, _apart(*both(nats), 1.0) - rounding)
    with np.errstate(invalid="ignore", divide="ignore"):
        in_errors = np.where(beyond == 0.0, 0.0, beyond / pairs["error"].to_numpy())
    in_errors = np.where(np.isnan(in_errors), np.inf, in_errors)
    pairs["gap"] = np.where(pairs["rule"] == ERRORS, in_errors, difference(*both(relative)))
    allowed = {RELATIVE: DETERMINISTIC, RELATIVE_SAMPLED: SAMPLED, ERRORS: limit}
    pairs["allowed"] = pairs["rule"].map(allowed)
    pairs["agrees"] = (pairs["side"] == "both") & (pairs["gap"] <= pairs["allowed"])
    for column in COUNTS:
        if column in pairs.columns:
            pairs["agrees"] &= pairs[column] == pairs[f"{column}_reference"]


def _judged_by_group(pairs: pd.DataFrame, scored: pd.DataFrame, limit: float) -> pd.DataFrame:
    """Return groups of documents with the columns of `_judge`; `gap` is the largest part of what is allowed."""
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
    pairs["gap"] = _apart(*both(NATS_COLUMNS), unit).max(axis=1, initial=0.0)
    same = (tokens == known).all(axis=1)
    return pairs.assign(allowed=1.0, agrees=(pairs["side"] == "both") & same & (pairs["gap"] <= 1.0))


def _by_exhibit(scored: pd.DataFrame, settings: dict[str, Any]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (exhibit, scores of the runs that it depends on), then the scores that are in no exhibit.

    A score may be of a run of its own variant, or as a part of a run of "v" be of the variant "v-part".
    """
    by_run: dict[tuple[str, ...], list[int]] = {}
    columns = (scored[column] for column in ("corpus", "model", "variant", "topics", "seed"))
    for row, (corpus, model, variant, topics, seed) in enumerate(zip(*columns, strict=True)):
        parts = variant.split("-")
        for n in range(len(parts), 0, -1):
            by_run.setdefault((corpus, model, "-".join(parts[:n]), topics, seed), []).append(row)
    shown: set[int] = set()
    for name, exhibit in exhibits(papers_of(settings), settings).items():
        runs = [tuple(str(part) for part in run) for run in stands_on(exhibit, settings)]
        rows = {row for run in runs for row in by_run.get(run, ())}
        shown |= rows
        if runs:
            yield name, scored.iloc[sorted(rows)]
    rest = sorted(set(range(len(scored))) - shown)
    if rest:
        yield IN_NO_EXHIBIT, scored.iloc[rest]


def _results(name: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a line of the comparison for each rule that judges rows of an exhibit."""
    for rule, judged in rows.groupby("rule"):
        both = judged["side"] == "both"
        yield {
            "exhibit": name,
            "judged_by": rule,
            "compared": int(both.sum()),
            "identical": int(judged["identical"].sum()),
            "missing": int((judged["side"] == "right_only").sum()),
            "unexpected": int((judged["side"] == "left_only").sum()),
            "largest_difference": f"{judged.loc[both, 'gap'].max() if both.any() else 0.0:.2g}",
            "allowed": f"{judged['allowed'].iloc[0]:.2g}",
            "verdict": "agrees" if judged["agrees"].all() else "differs",
        }


def _differences(name: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line on every row that differs, among rows on both sides."""
    differing = rows[(rows["side"] == "both") & ~rows["agrees"]]
    if differing.empty:  # as most are, and a frame's walk is slow
        return
    others = [column.removesuffix("_reference") for column in rows.columns if column.endswith("_reference")]
    key = [column for column in (*AXES, *MEASURED_AXES[-3:]) if column in rows.columns and column not in others]
    for row in differing.to_dict("records"):
        changed = [c for c in others if row[c] != row[f"{c}_reference"]]
        what = ", ".join(f"{c} is {row[c]}, reference {row[f'{c}_reference']}" for c in changed)
        yield f"{name}: {', '.join(str(row[column]) for column in key)}: {what}"


def _print(results: list[dict[str, Any]], differences: list[str], out: TextIO) -> None:
    lines = [list(results[0]), *([str(cell) for cell in result.values()] for result in results)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for cells in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), file=out)
    for line in differences[:PRINTED]:
        print(line, file=out)
    if len(differences) > PRINTED:
        print(f"... and {len(differences) - PRINTED} more", file=out)
