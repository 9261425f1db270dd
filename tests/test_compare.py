"""The comparison with the reference: within tolerance agrees, beyond it differs; a row too few or too many is named."""

import gzip
import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from heldout.compare import DETERMINISTIC, SAMPLED, compare, difference
from heldout.errors import InputError
from heldout.measurements import Measurement, write_measurements
from heldout.scores import Score, write_scores

STUDY = Path(__file__).parents[1] / "workflow/studies/demo.yaml"
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
CORPORA = "corpus,vocabulary\ncranfield-like,564\n"


EXACT = Measurement("cranfield-like", "hmm", "bounds", 2, 1e-5, "none", 0, "exact-marginal", "document", 3, -500.0)
TRACE = replace(EXACT, model="lda", chain="1", quantity="log-joint", axis="sweep")


def run(
    folder: Path,
    ours: list[Score],
    theirs: list[Score],
    corpora: str = CORPORA,
    measured: Sequence[Measurement] = (EXACT,),
    expected: Sequence[Measurement] = (EXACT,),
) -> tuple[bool, str]:
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    (folder / "study.json").write_text(json.dumps(yaml.safe_load(STUDY.read_text())))
    (folder / "corpora.csv").write_text(corpora)
    (reference / "corpora.csv").write_text(CORPORA)
    write_scores(folder / "scores.csv", ours)
    write_scores(reference / "scores.csv", theirs)
    write_measurements(folder / "measurements.csv", measured)
    write_measurements(reference / "measurements.csv", expected)
    with gzip.open(reference / "measurements.csv.gz", "wb") as file:
        file.write((reference / "measurements.csv").read_bytes())
    out = io.StringIO()
    scores, table, measurements = (folder / f"{name}.csv" for name in ("scores", "corpora", "measurements"))
    agrees = compare(folder / "study.json", scores, table, measurements, reference, folder / "audit.csv", out)
    assert (folder / "audit.csv").exists() == agrees
    return agrees, out.getvalue()


@pytest.mark.parametrize(
    ("row", "factor", "expected"),
    [
        (PLSA, 1.0, True),
        (PLSA, 1 + 0.9 * DETERMINISTIC, True),
        (PLSA, 1 + 1.1 * DETERMINISTIC, False),
        (LDA, 1 + 1.1 * DETERMINISTIC, True),
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
        assert "figure-7: cranfield-like" in printed


def test_missing_unexpected_and_miscounted_rows_differ(tmp_path: Path) -> None:
    assert not run(tmp_path, [PLSA], [PLSA, LDA])[0]
    (tmp_path / "audit.csv").unlink(missing_ok=True)
    assert not run(tmp_path, [PLSA, LDA], [PLSA])[0]
    assert not run(tmp_path, [replace(PLSA, tokens=4999)], [PLSA])[0]
    stray = replace(PLSA, variant="elsewhere")
    agrees, printed = run(tmp_path, [PLSA, stray], [PLSA])
    assert not agrees
    assert "(in no exhibit)" in printed


@pytest.mark.parametrize(
    ("row", "factor", "expected"),
    [
        (EXACT, 1 + 0.9 * DETERMINISTIC, True),
        (EXACT, 1 + 1.1 * DETERMINISTIC, False),
        (TRACE, 1 + 0.9 * SAMPLED, True),
        (TRACE, 1 + 1.1 * SAMPLED, False),
        (replace(EXACT, standard_error=0.1), 1 + 0.9 * SAMPLED, True),
    ],
)
def test_measurements_are_compared_by_quantity(tmp_path: Path, row: Measurement, factor: float, expected: bool) -> None:
    moved = replace(row, value=row.value * factor)
    agrees, printed = run(tmp_path, [PLSA], [PLSA], measured=[moved], expected=[row])
    assert agrees == expected
    assert f"measured: {row.quantity}" in printed


def test_a_missing_measurement_differs(tmp_path: Path) -> None:
    assert not run(tmp_path, [PLSA], [PLSA], measured=[EXACT], expected=[EXACT, TRACE])[0]


def test_the_corpora_are_compared_exactly(tmp_path: Path) -> None:
    agrees, printed = run(tmp_path, [PLSA], [PLSA], corpora=CORPORA.replace("564", "565"))
    assert not agrees
    assert "table-1: cranfield-like: vocabulary is 565, reference 564" in printed


def test_without_a_reference_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", [PLSA])
    (tmp_path / "study.json").write_text(json.dumps(yaml.safe_load(STUDY.read_text())))
    scores, table, measurements = (tmp_path / f"{name}.csv" for name in ("scores", "corpora", "measurements"))
    none, result = tmp_path / "none", tmp_path / "audit.csv"
    with pytest.raises(InputError, match="nothing to compare with"):
        compare(tmp_path / "study.json", scores, table, measurements, none, result, io.StringIO())


def test_differences_of_infinite_perplexities() -> None:
    assert difference(math.inf, math.inf) == 0.0
    assert difference(3.0, math.inf) == math.inf
    assert difference(math.inf, 3.0) == math.inf
