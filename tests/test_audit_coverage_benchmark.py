"""The rows and the table of the benchmark that holds the audit's errors to the truth."""

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scripts import script

from heldout.evaluators.evaluation import Evaluation
from heldout.files import write_rows

D = 4000


@pytest.fixture(scope="module")
def coverage() -> Any:
    yield from script("audit_coverage")


def row(coverage: ModuleType, corpus: str = "cranfield", *, shift: float = 0.0, stated: float = 1.0) -> Any:
    """Estimates with errors of 0.3 and a bias, beside a truth with errors of 0.4."""
    rng = np.random.default_rng(0)
    tokens = np.full(D, 10)
    tokens[0] = 0
    truth = Evaluation(rng.normal(0.0, 0.4, D), tokens, np.full(D, 0.4))
    found = Evaluation(rng.normal(shift, 0.3, D), tokens, np.full(D, 0.3 * stated), bias=np.full(D, shift))
    return coverage.row_of((corpus, "gensim", 20), "reference", "default", found, truth)


def test_errors_of_both_are_covered_and_a_bias_that_is_stated(coverage: ModuleType) -> None:
    fair, narrow, biased = row(coverage), row(coverage, stated=0.1), row(coverage, shift=0.1)
    assert (fair.documents, fair.tokens) == (D - 1, 10 * (D - 1))
    deviation = math.sqrt(0.95 * 0.05 / D)
    assert abs(fair.covered - 0.95) < 4.42 * deviation
    assert narrow.covered < 0.95 - 4.42 * deviation
    assert fair.z_of_documents == pytest.approx(1.0, abs=0.07)
    assert fair.error == pytest.approx(0.5, abs=0.04)
    assert fair.z == pytest.approx(fair.difference / math.hypot(fair.stated, fair.of_truth))
    assert biased.stated > 0.1 * (D - 1)
    assert abs(biased.z) < 1.2


def test_a_file_goes_on_and_the_corpus_held_out_stands_apart(coverage: ModuleType, tmp_path: Path) -> None:
    rows = [row(coverage), row(coverage, "reuters", stated=0.01)]
    path = tmp_path / "coverage.csv"
    assert coverage.read_rows(path) == []
    write_rows(path, coverage.Row._fields, rows)
    assert coverage.read_rows(path) == rows
    lines = coverage.markdown(rows, "reuters", "then").splitlines()
    chosen, held_out = (line for line in lines if "| reference | default | 1 |" in line)
    assert chosen.startswith("| chosen on |")
    assert held_out.startswith("| held out: reuters |")
    assert f"| {rows[0].covered:.1%} |" in chosen
    assert f"| {rows[1].covered:.1%} |" in held_out
