"""What the interpretations of Hofmann's experiment say of made-up rows."""

import math
from dataclasses import replace

import pandas as pd
from made_hofmann import TOKENS, hofmann_inputs
from small_study import inputs, without

from heldout.papers.hofmann.interpretations import INTERPRETATIONS
from heldout.papers.hofmann.results import HEATED, SPECIFIC
from heldout.typesetting import latex

CORPORA = ("medline", "cranfield")


def test_interpretations_state_settings_and_effects() -> None:
    given = hofmann_inputs(CORPORA)
    by_question = {row.question: (row.chosen(given), " ".join(row.effect(given))) for row in INTERPRETATIONS}

    def row(part: str) -> tuple[str, str]:
        (only,) = (both for question, both in by_question.items() if part in question)
        return only

    choice, effect = row("what is held out")
    assert r"70\,\% train, 10\,\% stop and choose, 20\,\% are scored" in choice
    assert f"{latex.integer(1033)}, is the number of its documents" in choice
    assert "Medline: rank 40 (40 to 40) of " in effect
    change = latex.signed_percent(math.exp(-1.0) - 1.0)
    assert f"Medline, PLSA, TEM, folded in: {change} ({change} to {change})" in effect
    assert row("only test tokens")[1] == r"Medline: 0.3\,\% (0.3\,\% to 0.3\,\%) of test tokens Cranfield:" + (
        r" 0.3\,\% (0.3\,\% to 0.3\,\%) of test tokens"
    )
    choice, effect = row("inverse annealing, whose")
    assert r"\(\eta\) is 0.9;" in choice
    assert "a share of 0.001;" in choice
    assert "after 5 values" in choice
    assert "Medline, PLSA, TEM: beta 0.81 (0.81 to 0.81)" in effect
    assert r"from 0.5 up to 1, divided by 0.97;" in row("faster than")[0]
    assert "7 iterations in a row" in row("what ends early stopping")[0]
    for line in ("annealed: iterations 1.8e+03", "annealed, coarse: iterations 600", "TEM, fine: iterations 90"):
        assert f"PLSA, {line}" in row("faster than")[1]
    change = latex.signed_percent(math.exp(0.02) - 1.0)
    assert f"Medline, LSA, shifted: {change}" in row("LSA as a distribution")[1]
    assert "0.01 to 0.1 added" in row("the unigram")[0]
    assert rf"unigram: {latex.signed_percent(math.exp(0.01) - 1.0)}" in row("the unigram")[1]
    choice, effect = row("which have none")
    assert "its sum from 1 to 50" in choice
    assert f"Medline, PLSA, TEM, truth: {latex.signed_percent(math.exp(-0.05) - 1.0)}" in effect
    assert "PLSA, TEM: prior-sum 10 (10 to 20)" in effect
    assert "40 states" in row("how the posterior predictive")[0]


def test_interpretations_state_what_other_schedules_change() -> None:
    given = hofmann_inputs(CORPORA)
    own = given.scores[(given.scores["variant"] == HEATED[1]) & (given.scores["evaluator"] == SPECIFIC)]
    worse = own.assign(variant="inverse-annealing-patience-1", log_likelihood=own["log_likelihood"] - 0.2 * TOKENS)
    given = replace(given, scores=pd.concat([given.scores, worse], ignore_index=True))
    (row,) = (row for row in INTERPRETATIONS if "inverse annealing, whose" in row.question)
    change = latex.signed_percent(math.exp(0.2) - 1.0)
    assert f"Medline, patience 1: {change} ({change} to {change})" in row.effect(given)
    assert not any("validated" in line for line in row.effect(given))


def test_interpretations_without_rows_are_not_measured() -> None:
    bare = inputs(without("tempering", "latent-semantic-analysis"))
    given = replace(hofmann_inputs(CORPORA), measurements=None, scores=bare.scores)
    assert all(row.effect(given) == [] for row in INTERPRETATIONS)
    assert all("not set" not in row.chosen(given) for row in INTERPRETATIONS)
