"""The law's experiment: the registered cells, the forms on topics that share no word, and what is left out."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments.law import cells, experiment, registered
from artifact.papers.likelihood.settings import Law
from heldout.corpora.corpus import Corpus
from heldout.models import PLSA

DESIGN = Path(__file__).parents[4] / "docs" / "law-design.csv"
SETTINGS: dict[str, Any] = {
    **{"seed": 0, "test_documents": 40, "iterations": 5, "smoothing": 1e-3, "alpha_sum": 4.0, "beta": 0.1, "sweeps": 5},
    **{"tolerance": 1e-7, "most_iterations": 2000, "limit": 1e7, "samples": 240, "annealing_chains": 4},
    **{"variance": 0.5, "work": 1e9},
}


def corpus(name: str, documents: int) -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(12, size=n, p=rng.dirichlet(np.full(12, 0.4))) for n in rng.integers(4, 40, documents)]
    return Corpus.from_documents(name, [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def test_the_cells_are_those_that_were_registered() -> None:
    rows = list(csv.DictReader(DESIGN.read_text(encoding="utf-8").splitlines()))
    for row, cell in zip(rows, registered(), strict=True):
        source = PLSA if row["source"] == "plsa" else row["source"]
        assert (row["corpus"] or "none", int(row["tokens"] or 0), int(row["topics"]), source, float(row["alpha"])) == (
            (cell.corpus, cell.tokens, cell.topics, cell.source, cell.alpha)
        )
        assert (int(row["documents"]), int(row["seed"])) == (cell.documents, cell.seed)
        assert (float(row["gamma"] or 0), float(row["omega"] or 0)) == (cell.gamma, cell.omega)


def test_a_corpus_that_was_looked_at_has_one_cell() -> None:
    (cell,) = cells("cranfield", 20)
    assert (cell.source, cell.alpha, cell.tokens) == (PLSA, 1.0, 0)


def test_topics_that_share_hardly_a_word_keep_to_the_law_and_all_to_the_bounds() -> None:
    _, rows = run_job(experiment, Law, topics=3, **{**SETTINGS, "test_documents": 0})
    found = {(row.variant, row.at, row.quantity): row for row in rows}
    assert len({key[:2] for key in found}) == sum(cell.corpus == "none" and cell.topics == 3 for cell in registered())
    for (variant, at, quantity), row in found.items():
        if quantity != "excess":
            continue
        here = {name: found[variant, at, name].value for name in ("law", "bound", "weights-bound", "complexity")}
        assert found[variant, at, "beyond-weights-bound"].value == 0
        assert row.value <= here["weights-bound"] + 5.0 * row.standard_error
        assert row.value <= here["bound"] + 5.0 * row.standard_error
        assert row.value <= here["complexity"] + 5.0 * row.standard_error
        assert found[variant, at, "law-by-association"].value <= here["law"] or at > 1000
        if "0.02" in variant and at == 1000:
            assert row.value == pytest.approx(here["law"], rel=0.2, abs=5.0 * row.standard_error)


def test_too_few_documents_and_too_much_work_leave_a_cell_out_before_its_likelihood_is_known() -> None:
    _, rows = run_job(experiment, Law, corpus("cranfield", 120), topics=2, **SETTINGS)
    assert [(row.quantity, row.value) for row in rows] == [("dropped", 1.0)]
    many = {**SETTINGS, "test_documents": 60}
    _, rows = run_job(experiment, Law, corpus("cranfield", 120), topics=2, **{**many, "work": 10.0})
    assert [(row.quantity, row.value) for row in rows] == [("dropped", 2.0)]
    _, rows = run_job(experiment, Law, corpus("cranfield", 120), topics=2, **many)
    assert {row.quantity for row in rows} >= {"excess", "law", "bound"}
