"""The comparison with the reference: within tolerance agrees, beyond it differs; a row too few or too many is named."""

import gzip
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from artifact.compare import DETERMINISTIC, SAMPLED, compare, difference, standard_errors
from artifact.results.arrays import Place, write_arrays
from artifact.results.measurements import MEASUREMENTS, NOTES, Measurement, Note
from artifact.results.scores import Groups, Score, collect_groups, write_scores
from heldout.errors import InputError
from heldout.topics import perplexity
from heldout.typing import Floats

PLSA = Score(
    corpus="cranfield-like",
    model="plsa-hof",
    variant="smoothed-after-training",
    topics=2,
    smoothing=1e-5,
    chain="none",
    evaluator="half-folding-in",
    samples=0,
    seed=0,
    documents=60,
    tokens=5000,
    documents_left_out=0,
    tokens_left_out=0,
    log_likelihood=-30000.0,
    perplexity=400.0,
    standard_error=0.0,
)
LDA = replace(PLSA, model="lda", variant="collapsed-gibbs", smoothing=0.0, chain="all", samples=3)
TABLES = ("scores", "groups", "corpora", "measurements", "notes")
CORPORA = "corpus,vocabulary\ncranfield-like,564\n"


EXACT = Measurement("cranfield-like", "hmm", "bounds", 2, 1e-5, "none", 0, "exact-marginal", "document", 3, -500.0)
NOTE = Note("cranfield-like", "lda", "bounds", 2, 0, "word", "rank", 3, "wing")
TRACE = replace(EXACT, model="lda", chain="1", quantity="log-joint", axis="sweep")


def run(
    folder: Path,
    ours: list[Score],
    theirs: list[Score],
    corpora: str = CORPORA,
    measured: Sequence[Measurement] = (EXACT,),
    expected: Sequence[Measurement] = (EXACT,),
    noted: Sequence[Note] = (NOTE,),
    arrays: Mapping[Place, Floats] = MappingProxyType({}),
    expected_arrays: Mapping[Place, Floats] = MappingProxyType({}),
) -> tuple[bool, str]:
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    (folder / "corpora.csv").write_text(corpora)
    (reference / "corpora.csv").write_text(CORPORA)
    write_scores(folder / "scores.csv", ours)
    collect_groups([folder / "scores.csv"], folder / "groups.csv")
    write_scores(reference / "scores.csv", theirs)
    collect_groups([reference / "scores.csv"], reference / "groups.csv")
    (reference / "groups.csv.gz").write_bytes(gzip.compress((reference / "groups.csv").read_bytes()))
    MEASUREMENTS.write(folder / "measurements.csv", measured)
    MEASUREMENTS.write(reference / "measurements.csv", expected)
    NOTES.write(folder / "notes.csv", noted)
    NOTES.write(reference / "notes.csv", [NOTE])
    for name in ("measurements.csv", "notes.csv"):
        (reference / f"{name}.gz").write_bytes(gzip.compress((reference / name).read_bytes()))
    write_arrays(folder / "arrays.npz", arrays)
    write_arrays(reference / "arrays.npz", expected_arrays)
    (folder / "compare.csv").unlink(missing_ok=True)
    out = io.StringIO()
    tables = {name: folder / f"{name}.csv" for name in TABLES} | {"arrays": folder / "arrays.npz"}
    agrees = compare(tables, reference, folder / "compare.csv", out)
    assert (folder / "compare.csv").exists() == agrees
    return agrees, out.getvalue()


PLACE = Place("cranfield-like", "hmm", "bounds", 2, 1e-5, "none", 0, "cells")


@pytest.mark.parametrize(
    ("place", "ours", "agrees"),
    [
        (PLACE, [[1.0 + 0.9 * DETERMINISTIC, np.nan]], True),
        (PLACE, [[1.0 + 1.1 * DETERMINISTIC, np.nan]], False),
        (PLACE, [[1.0, 0.0]], False),
        (PLACE, [1.0, np.nan], False),  # another shape
        (replace(PLACE, chain="0"), [[1.0 + 0.9 * SAMPLED, np.nan]], True),
        (replace(PLACE, chain="0"), [[1.0 + 1.1 * SAMPLED, np.nan]], False),
    ],
)
def test_arrays_are_judged_by_their_entries(place: Place, ours: Any, agrees: bool, tmp_path: Path) -> None:
    known = {place: np.array([[1.0, np.nan]])}
    agreed, printed = run(tmp_path, [PLSA], [PLSA], arrays={place: np.array(ours)}, expected_arrays=known)
    assert "arrays  " in printed
    assert agreed is agrees


def test_missing_and_unexpected_arrays_differ(tmp_path: Path) -> None:
    known = {PLACE: np.array([[1.0, np.nan]])}
    assert not run(tmp_path, [PLSA], [PLSA], expected_arrays=known)[0]
    assert not run(tmp_path, [PLSA], [PLSA], arrays=known)[0]


@pytest.mark.parametrize(
    ("row", "shift", "agrees"),
    [
        (PLSA, 0.9 * DETERMINISTIC, True),
        (PLSA, 1.1 * DETERMINISTIC, False),
        (LDA, 0.9 * SAMPLED, True),  # of the square root of the group's share: a group has all tokens but one
        (LDA, 1.1 * SAMPLED, False),
    ],
)
def test_groups_are_judged_as_their_scores_are(row: Score, shift: float, agrees: bool, tmp_path: Path) -> None:
    def grouped(nats: float) -> Score:
        return replace(row, groups=Groups.of(["a", "b"], np.array([4999, 1]), np.array([nats, -6.0])))

    known = -29994.0
    agreed, printed = run(tmp_path, [grouped(known - 4999 * shift)], [grouped(known)])
    assert "groups  " in printed
    assert agreed is agrees


def test_missing_groups_differ(tmp_path: Path) -> None:
    grouped = replace(PLSA, groups=Groups.of(["a"], np.array([5000]), np.array([-30000.0])))
    assert not run(tmp_path, [PLSA], [grouped])[0]


def test_notes_are_the_same_or_differ(tmp_path: Path) -> None:
    agrees, printed = run(tmp_path, [PLSA], [PLSA], noted=[replace(NOTE, text="flow")])
    assert not agrees
    assert "notes: cranfield-like, lda, bounds, 2, 0, word, rank, 3: text is flow, reference wing" in printed


@pytest.mark.parametrize(
    ("row", "factor", "expected"),
    [
        (PLSA, 1 + 0.9 * DETERMINISTIC, True),
        (PLSA, 1 + 1.1 * DETERMINISTIC, False),
        (LDA, 1 - 0.9 * SAMPLED, True),
        (LDA, 1 - 1.1 * SAMPLED, False),
        (PLSA, math.inf, False),
    ],
)
def test_tolerances(tmp_path: Path, row: Score, factor: float, expected: bool) -> None:
    agrees, printed = run(tmp_path, [replace(row, perplexity=row.perplexity * factor)], [row])
    assert agrees == expected
    assert ("differs" in printed) != expected
    if not expected:
        assert "scores: cranfield-like" in printed


def test_missing_unexpected_and_miscounted_rows_differ(tmp_path: Path) -> None:
    assert not run(tmp_path, [PLSA], [PLSA, replace(PLSA, topics=4)])[0]
    assert not run(tmp_path, [PLSA, LDA], [PLSA])[0]
    assert not run(tmp_path, [replace(PLSA, tokens=4999)], [PLSA])[0]
    stray = replace(PLSA, variant="elsewhere")
    agrees, printed = run(tmp_path, [PLSA, stray], [PLSA])
    assert not agrees
    assert re.search("scores +elsewhere +relative +0 +0 +0 +1 ", printed)


@pytest.mark.parametrize(
    ("row", "factor", "expected"),
    [
        (EXACT, 1 + 0.9 * DETERMINISTIC, True),
        (EXACT, 1 + 1.1 * DETERMINISTIC, False),
        (TRACE, 1 + 0.9 * SAMPLED, True),
        (TRACE, 1 + 1.1 * SAMPLED, False),
        (replace(EXACT, standard_error=math.nan), 1 + 0.9 * SAMPLED, True),
    ],
)
def test_measurements_are_compared_by_variant(tmp_path: Path, row: Measurement, factor: float, expected: bool) -> None:
    moved = replace(row, value=row.value * factor)
    agrees, printed = run(tmp_path, [PLSA], [PLSA], measured=[moved], expected=[row])
    assert agrees == expected
    assert re.search(f"measurements +{row.variant}", printed)


def test_a_missing_measurement_differs(tmp_path: Path) -> None:
    assert not run(tmp_path, [PLSA], [PLSA], measured=[EXACT], expected=[EXACT, replace(EXACT, at=4)])[0]


def test_the_corpora_are_compared_exactly(tmp_path: Path) -> None:
    agrees, printed = run(tmp_path, [PLSA], [PLSA], corpora=CORPORA.replace("564", "565"))
    assert not agrees
    assert "corpora: cranfield-like, all: vocabulary is 565, reference 564" in printed


def test_without_a_reference_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", [PLSA])
    tables = {name: tmp_path / f"{name}.csv" for name in TABLES}
    none, result = tmp_path / "none", tmp_path / "compare.csv"
    with pytest.raises(InputError, match="compare"):
        compare(tables, none, result, io.StringIO())


def test_differences_of_infinite_perplexities() -> None:
    ours, reference = (np.array(values) for values in ([math.inf, 3.0, math.inf, 0.0], [math.inf, math.inf, 3.0, 0.0]))
    assert difference(ours, reference).tolist() == [0.0, math.inf, math.inf, 0.0]


SAMPLED_PLSA = replace(PLSA, evaluator="left-to-right-sequential", samples=20, standard_error=3.0)
ESTIMATE = replace(EXACT, quantity="left-to-right-sequential", standard_error=0.1)


def shifted(row: Score, shift: float) -> Score:
    """Return a score of so many nats more."""
    nats = row.log_likelihood + shift
    return replace(row, log_likelihood=nats, perplexity=perplexity(nats, row.tokens))


@pytest.mark.parametrize(("by", "expected"), [(2.0, True), (-6.0, False)])
def test_sampled_scores_are_held_to_their_standard_errors(tmp_path: Path, by: float, expected: bool) -> None:
    shift = by * math.sqrt(2.0) * SAMPLED_PLSA.standard_error
    shift += math.copysign(DETERMINISTIC * PLSA.tokens, shift)
    agrees, printed = run(tmp_path, [shifted(SAMPLED_PLSA, shift)], [shifted(SAMPLED_PLSA, 0.0)])
    assert agrees == expected
    lines = [line for line in printed.splitlines() if "standard errors" in line]
    assert lines
    assert all(line.split()[-2:] == ["4.4", "agrees" if expected else "differs"] for line in lines)
    assert abs(shift) < 0.2 * SAMPLED * PLSA.tokens  # far below a flat 3 % of perplexity


@pytest.mark.parametrize(("by", "expected"), [(2.0, True), (-6.0, False)])
def test_sampled_measurements_are_held_to_their_standard_errors(tmp_path: Path, by: float, expected: bool) -> None:
    shift = by * math.sqrt(2.0) * ESTIMATE.standard_error
    shift += math.copysign(DETERMINISTIC * abs(ESTIMATE.value), shift)
    ours = [replace(ESTIMATE, value=ESTIMATE.value + shift)]
    agrees, printed = run(tmp_path, [PLSA], [PLSA], measured=ours, expected=[ESTIMATE])
    assert agrees == expected
    assert re.search(f"measurements +{ESTIMATE.variant} +standard errors", printed)


def test_the_errors_of_both_runs_count(tmp_path: Path) -> None:
    # 4.4 sqrt(0.1^2 + 0.3^2) = 1.4
    for shift, expected in ((1.3, True), (1.6, False)):
        ours = [replace(ESTIMATE, value=ESTIMATE.value + shift, standard_error=0.3)]
        assert run(tmp_path, [PLSA], [PLSA], measured=ours, expected=[ESTIMATE])[0] == expected


def test_a_rerun_that_states_no_error_any_more_differs(tmp_path: Path) -> None:
    ours = [replace(ESTIMATE, value=ESTIMATE.value + 0.1, standard_error=math.nan)]
    assert not run(tmp_path, [PLSA], [PLSA], measured=ours, expected=[ESTIMATE])[0]


def test_the_limit_grows_with_the_number_of_comparisons(tmp_path: Path) -> None:
    # a false alarm of any of n independent pairs of normal numbers has the probability 1e-5
    for n in (1, 100, 20_000):
        assert 2 * n * NormalDist().cdf(-standard_errors(n)) == pytest.approx(1e-5)
    many = [replace(ESTIMATE, at=at) for at in range(100)]
    ours = [replace(row, value=row.value + 5.0 * math.sqrt(2.0) * row.standard_error) for row in many]
    assert not run(tmp_path, [PLSA], [PLSA], measured=ours[:1], expected=many[:1])[0]
    agrees, printed = run(tmp_path, [PLSA], [PLSA], measured=ours, expected=many)
    assert agrees
    assert re.search(rf"measurements +{ESTIMATE.variant} +standard errors +100 +0 +0 +0 +4\.6 +5\.3 +agrees", printed)


@pytest.mark.parametrize(
    "row",
    [
        replace(SAMPLED_PLSA, standard_error=math.nan),
        replace(SAMPLED_PLSA, model="lda", variant="collapsed-gibbs", chain="0"),  # an error of the evaluator alone
    ],
)
def test_what_states_no_error_keeps_a_relative_tolerance(tmp_path: Path, row: Score) -> None:
    for nats, expected in ((0.9, True), (1.1, False)):
        agrees, printed = run(tmp_path, [shifted(row, -nats * math.log1p(SAMPLED) * row.tokens)], [shifted(row, 0.0)])
        assert agrees == expected
        assert "relative (sampled)" in printed


def test_every_rule_has_its_line(tmp_path: Path) -> None:
    rows = [PLSA, SAMPLED_PLSA, replace(SAMPLED_PLSA, evaluator="chib", standard_error=math.nan)]
    _, printed = run(tmp_path, rows, rows)
    rules = re.findall(f"(?m)^scores +{PLSA.variant} +(.*?)  +1 ", printed)
    assert rules == ["relative", "relative (sampled)", "standard errors"]


def test_a_models_variant_without_any_row_was_not_run_and_one_with_some_is_judged(tmp_path: Path) -> None:
    grouped = Groups.of(["a"], np.array([5000]), np.array([-30000.0]))
    gensim = replace(PLSA, model="gensim", variant="peers", groups=grouped)
    version = replace(EXACT, model="gensim", variant="peers", quantity="version")
    agrees, printed = run(tmp_path, [PLSA], [PLSA, gensim], expected=[EXACT, version])
    assert agrees
    for table in ("scores", "groups", "measurements"):
        assert re.search(f"(?m)^{table} +peers +not run +0 +0 +1 +0 .* not run$", printed)
    assert not run(tmp_path, [PLSA, gensim], [PLSA, gensim], expected=[EXACT, version])[0]
    assert not run(tmp_path, [PLSA], [PLSA, gensim], measured=[EXACT, version], expected=[EXACT, version])[0]
