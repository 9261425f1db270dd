"""A run against the reference results, exhibit by exhibit.

On the machine that made the reference a rerun gives the same bytes. Elsewhere the last digits of a logarithm
may differ. EM forgets such a difference; a Markov chain does not: one assignment that falls the other way and
the rest of the chain is another draw from the same distribution. So the tolerance of a sampled score is what
chains differ by, and that of a deterministic score is what rounding leaves.
"""

import csv
import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from heldout.errors import InputError
from heldout.files import replacing

DETERMINISTIC = 1e-4  # of a perplexity, relative
SAMPLED = 0.03
COLUMNS = ("exhibit", "compared", "identical", "missing", "unexpected", "largest_difference", "tolerance", "verdict")
AXES = ("corpus", "model", "variant", "topics", "smoothing", "chain", "evaluator", "samples", "seed")
MEASURED_AXES = ("corpus", "model", "variant", "topics", "smoothing", "chain", "seed", "quantity", "axis", "at")
SAMPLED_MODELS = ("lda",)

Row = dict[str, str]


def compare(
    study: Path, scores: Path, corpora: Path, measurements: Path, reference: Path, destination: Path, out: TextIO
) -> bool:
    """Compare a run with the tables in `reference`; print a table and write it as CSV.

    Args:
        study: the run's settings (JSON).
        scores: the run's scores.
        corpora: the run's table of corpora.
        measurements: the run's measurements.
        reference: the folder of reference results.
        destination: where the comparison goes, when everything agrees.
        out: where the table is printed.

    Returns:
        Whether every exhibit agrees within tolerance.

    Raises:
        InputError: when a table is missing or is not one.
    """
    from heldout.papers import PAPERS
    from heldout.typesetting.exhibits import exhibits, stands_on

    settings: dict[str, Any] = json.loads(study.read_text(encoding="utf-8"))
    ours, theirs = _scores(scores), _scores(reference / "scores.csv")
    results = [_corpora(_table(corpora), _table(reference / "corpora.csv"))]
    notes = list(results[0].pop("notes"))
    claimed: set[tuple[str, ...]] = set()
    for name, exhibit in exhibits(PAPERS, settings).items():
        runs = {tuple(str(part) for part in run) for run in stands_on(exhibit, settings)}
        if runs:
            claimed |= runs
            results.append(_compare(name, _of(runs, ours), _of(runs, theirs), notes))
    results += _measurements(_table(measurements), _table(reference / "measurements.csv.gz"), notes)
    rest = {_runs(key)[0] for key in ours.keys() | theirs.keys() if claimed.isdisjoint(_runs(key))}
    if rest:
        results.append(_compare("(in no exhibit)", _of(rest, ours), _of(rest, theirs), notes))
    _print(results, notes, out)
    agrees = all(result["verdict"] != "differs" for result in results)
    if agrees:
        with replacing(destination) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(results)
    return agrees


def _table(path: Path) -> list[Row]:
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such table; there is nothing to compare with") from error


def _scores(path: Path) -> dict[tuple[str, ...], Row]:
    rows = _table(path)
    try:
        if missing := {"documents", "tokens", "perplexity"} - set(rows[0] if rows else ()):
            raise InputError(f"{path}: not a scores table; it lacks {', '.join(sorted(missing))}")
        return {tuple(row[axis] for axis in AXES): row for row in rows}
    except KeyError as error:
        raise InputError(f"{path}: not a scores table; it lacks the column {error}") from error


def _runs(key: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the runs that a score may be of: its own variant's, and as a part of a run of "v", "v-part"."""
    named = dict(zip(AXES, key, strict=True))
    parts = named["variant"].split("-")
    variants = ["-".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return [(named["corpus"], named["model"], v, named["topics"], named["seed"]) for v in variants]


def _of(runs: set[tuple[str, ...]], scores: Mapping[tuple[str, ...], Row]) -> dict[tuple[str, ...], Row]:
    return {key: row for key, row in scores.items() if not runs.isdisjoint(_runs(key))}


def difference(ours: float, theirs: float) -> float:
    """Return the relative difference of two numbers; 0 where both are infinite or both undefined, inf where one is."""
    if ours == theirs or (math.isnan(ours) and math.isnan(theirs)):
        return 0.0
    if not (math.isfinite(ours) and math.isfinite(theirs)):
        return math.inf
    return abs(ours - theirs) / abs(theirs)


def _compare(
    exhibit: str, ours: dict[tuple[str, ...], Row], theirs: dict[tuple[str, ...], Row], notes: list[str]
) -> dict[str, Any]:
    shared = sorted(ours.keys() & theirs.keys())
    identical = sum(ours[key] == theirs[key] for key in shared)
    largest = {DETERMINISTIC: 0.0, SAMPLED: 0.0}
    wrong = False
    for key in shared:
        mine, reference = ours[key], theirs[key]
        tolerance = SAMPLED if int(mine["samples"]) or mine["chain"] != "none" else DETERMINISTIC
        gap = difference(float(mine["perplexity"]), float(reference["perplexity"]))
        largest[tolerance] = max(largest[tolerance], gap)
        counts_differ = any(mine[column] != reference[column] for column in ("documents", "tokens"))
        if gap > tolerance or counts_differ:
            wrong = True
            notes.append(
                f"{exhibit}: {', '.join(key)}: perplexity {mine['perplexity']} on {mine['tokens']} tokens,"
                f" reference {reference['perplexity']} on {reference['tokens']}"
            )
    missing, unexpected = len(theirs.keys() - ours.keys()), len(ours.keys() - theirs.keys())
    worst = max(largest, key=lambda tolerance: largest[tolerance] / tolerance)
    return {
        "exhibit": exhibit,
        "compared": len(shared),
        "identical": identical,
        "missing": missing,
        "unexpected": unexpected,
        "largest_difference": f"{largest[worst]:.2g}",
        "tolerance": f"{worst:g}",
        "verdict": "differs" if wrong or missing or unexpected else "agrees",
    }


def _measurements(ours: list[Row], theirs: list[Row], notes: list[str]) -> list[dict[str, Any]]:
    """Compare measurements, one result per quantity; a sampled one is of a Markov chain or states an error."""
    results = []
    for quantity in sorted({row["quantity"] for row in (*ours, *theirs)}):
        mine, reference = (
            {tuple(row[axis] for axis in MEASURED_AXES): row for row in rows if row["quantity"] == quantity}
            for rows in (ours, theirs)
        )
        shared = sorted(mine.keys() & reference.keys())
        largest = {DETERMINISTIC: 0.0, SAMPLED: 0.0}
        for key in shared:
            row = reference[key]
            sampled = row["chain"] != "none" or row["model"] in SAMPLED_MODELS or row["standard_error"] != "0.0"
            tolerance = SAMPLED if sampled else DETERMINISTIC
            gap = difference(float(mine[key]["value"]), float(row["value"]))
            largest[tolerance] = max(largest[tolerance], gap)
            if gap > tolerance:
                notes.append(f"{quantity}: {', '.join(key)}: {mine[key]['value']}, reference {row['value']}")
        missing, unexpected = len(reference.keys() - mine.keys()), len(mine.keys() - reference.keys())
        worst = max(largest, key=lambda tolerance: largest[tolerance] / tolerance)
        results.append(
            {
                "exhibit": f"measured: {quantity}",
                "compared": len(shared),
                "identical": sum(mine[key] == reference[key] for key in shared),
                "missing": missing,
                "unexpected": unexpected,
                "largest_difference": f"{largest[worst]:.2g}",
                "tolerance": f"{worst:g}",
                "verdict": "differs" if missing or unexpected or largest[worst] > worst else "agrees",
            }
        )
    return results


def _corpora(ours: list[Row], theirs: list[Row]) -> dict[str, Any]:
    mine, reference = ({row["corpus"]: row for row in rows} for rows in (ours, theirs))
    shared = sorted(mine.keys() & reference.keys())
    notes = [
        f"table-1: {corpus}: {column} is {mine[corpus].get(column)}, reference {value}"
        for corpus in shared
        for column, value in reference[corpus].items()
        if mine[corpus].get(column) != value
    ]
    missing, unexpected = len(reference.keys() - mine.keys()), len(mine.keys() - reference.keys())
    return {
        "exhibit": "table-1",
        "compared": len(shared),
        "identical": sum(mine[corpus] == reference[corpus] for corpus in shared),
        "missing": missing,
        "unexpected": unexpected,
        "largest_difference": "0" if not notes else "-",
        "tolerance": "0",
        "verdict": "differs" if notes or missing or unexpected else "agrees",
        "notes": notes,
    }


def _print(results: list[dict[str, Any]], notes: list[str], out: TextIO) -> None:
    widths = [max(len(column), *(len(str(result[column])) for result in results)) for column in COLUMNS]
    for cells in (COLUMNS, *([str(result[column]) for column in COLUMNS] for result in results)):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), file=out)
    shown = 20
    for note in notes[:shown]:
        print(note, file=out)
    if len(notes) > shown:
        print(f"... and {len(notes) - shown} more", file=out)
