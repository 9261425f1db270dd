"""Hofmann's table from made-up rows."""

import math
from dataclasses import replace

import pytest
from made_hofmann import as_claimed, hofmann_inputs
from small_study import inputs, without

from artifact.papers.hofmann import tables
from artifact.papers.hofmann.results import (
    COUNTS,
    EARLY,
    FOLDED_IN,
    HEATED,
    NAMES,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    VALIDATED,
    Model,
    selector,
)
from artifact.results.reading import LARGEST, select
from artifact.typesetting import latex, style
from heldout.errors import InputError
from heldout.evaluators import HALF, REFERENCE

CORPORA = ("medline", "cranfield")
CHOSEN = (HEATED[0], HEATED[1] + VALIDATED)


def test_the_table_has_every_model_and_evaluation() -> None:
    rows = [line.split(" & ") for line in tables.evaluations(hofmann_inputs(CORPORA)).splitlines() if "&" in line][2:]
    names = [row[1] for row in rows]
    assert {row[0] for row in rows} == {"Medline", "Cranfield"}
    for model, count in ((UNIGRAMS[0], 1), (COUNTS, 1), (READINGS[0], 2), (READINGS[1], 1), (EARLY, 2), (HEATED, 2)):
        assert names.count(NAMES[model]) == count * len(CORPORA)  # 8 and the most; further readings: the most
    last = next(row for row in rows if row[1] == NAMES[HEATED] and row[2] == "64")
    cells = [
        *((HEATED, SPECIFIC), (HEATED, FOLDED_IN), (HEATED, PREDICTIVE), (CHOSEN, PREDICTIVE), (HEATED, HALF)),
        *((HEATED, REFERENCE), (CHOSEN, REFERENCE)),
    ]
    expected = [latex.perplexity(math.exp(-as_claimed(model, name, 64))) for model, name in cells]
    assert [cell.removesuffix("\\\\") for cell in last[3:]] == expected


def test_a_score_of_a_point_that_gives_a_word_nothing_is_infinite_and_synthetic_data_say_so() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return -math.inf if (model, evaluator, k) == (HEATED, HALF, 8) else as_claimed(model, evaluator, k)

    text = tables.evaluations(hofmann_inputs(["medline"], value, synthetic=True))
    assert r"\ensuremath{\infty}" in text
    assert style.SYNTHETIC_MARK in text


def test_no_likelihood_with_a_large_stated_error_is_shown() -> None:
    whole = hofmann_inputs(["medline"])
    scores = whole.scores.copy()
    loose = select(scores, corpus="medline", topics=64, seed=0, **selector(CHOSEN, REFERENCE)).index
    scores.loc[loose, "standard_error"] = 1.01 * LARGEST * scores.loc[loose, "tokens"]
    before, after = (tables.evaluations(replace(whole, scores=rows)) for rows in (whole.scores, scores))
    assert len(loose) == 1
    assert after.count(latex.NOT_SHOWN) == before.count(latex.NOT_SHOWN) + 1
    assert style.SYNTHETIC_MARK not in before


def test_without_rows_it_says_what_to_measure() -> None:
    with pytest.raises(InputError, match="measure tempering"):
        tables.evaluations(inputs(without("tempering", "latent-semantic-analysis")))
