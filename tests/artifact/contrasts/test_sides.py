"""Sides at the best and at the largest number of topics, and choices on one half of the documents."""

import numpy as np
import pandas as pd
import pytest

from artifact.contrasts.contrast import MODELS, Contrast, Side
from artifact.contrasts.estimates import CHOSEN, LEFT_OUT, effects
from artifact.contrasts.halves import HALVES, at_choice, at_own_choice
from artifact.contrasts.inputs import Inputs
from artifact.contrasts.sides import at_best, at_most
from artifact.results.scores import GROUPS, NATS_COLUMNS, TOKENS_COLUMNS

INPUTS = Inputs(pd.DataFrame(), pd.DataFrame(columns=["corpus", "train_documents", "test_documents"]), {})
# value by K and seed: the best mean is at 20, though seed 1 is best at 10
VALUES = {5: (1.0, 1.0), 10: (1.0, 4.0), 20: (3.0, 3.0), 50: (2.0, 2.5)}


def side(**columns: str) -> Side:
    rows = [("nips", k, seed, value) for k, values in VALUES.items() for seed, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["corpus", "topics", "seed", "value"]).assign(error=0.5, **columns)
    return Side("PLSA", lambda _: table)


def test_the_best_k_is_that_of_the_mean_and_every_seed_is_taken_there() -> None:
    table = at_best(side()).rows(INPUTS)
    assert table["value"].tolist() == [3.0, 3.0]
    assert set(table[CHOSEN]) == {"PLSA: 20"}
    assert "topics" not in table
    assert at_most(side()).rows(INPUTS)["value"].tolist() == [2.0, 2.5]


def test_further_columns_are_told_apart_or_chosen() -> None:
    both = Side("PLSA", lambda given: pd.concat([side(kind="a").rows(given), side(kind="b").rows(given)[:4]]))
    by_kind = at_best(both, ["kind"]).rows(INPUTS)
    assert by_kind.groupby("kind")["value"].mean().to_dict() == {"a": 3.0, "b": 2.5}  # b has no 20
    assert set(at_best(both, (), ["kind", "topics"]).rows(INPUTS)[CHOSEN]) == {"PLSA: a, 20"}
    assert at_best(both, ["topics"], ["kind"], "best").name == "PLSA, at its best"


def test_one_number_on_both_sides_has_no_error_of_its_evaluator_and_equal_ks_of_two_models_have() -> None:
    def effect(one: Side, other: Side) -> float:
        (found,) = effects(Contrast(name="", question="", says="", one=one, other=other, by=(), margin=MODELS), INPUTS)
        return found.noise

    lda = Side("LDA", side().rows)
    assert effect(at_best(side()), at_best(side())) == 0.0
    assert effect(at_best(side()), at_best(lda)) == pytest.approx(0.5 * 2**0.5)
    assert effect(at_best(side()), at_most(side())) == pytest.approx(0.5 * 2**0.5)


def scores(nats: list[list[float]]) -> pd.DataFrame:
    """Return scores of candidates with ten tokens to a group: nats in even groups, in odd ones."""
    rows = [np.where(np.arange(GROUPS) % 2 == 0, *pair) for pair in nats]
    table = pd.DataFrame(np.concatenate([np.full((len(nats), GROUPS), 10.0), rows], axis=1))
    table.columns = pd.Index([*TOKENS_COLUMNS, *NATS_COLUMNS])
    return table.assign(corpus="nips", seed=0)


def test_either_half_chooses_and_the_other_judges() -> None:
    found = at_own_choice(scores([[-10.0, -40.0], [-20.0, -20.0]]), ["corpus", "seed"])
    assert found["half"].tolist() == [0, 1]
    # even groups choose the first, -40 in odd ones; odd groups choose the second, -20 in even ones
    assert found["value"].tolist() == [-4.0, -2.0]
    assert found[list(LEFT_OUT)].to_numpy().tolist() == [[-4.0] * GROUPS, [-2.0] * GROUPS]
    assert at_own_choice(scores([[-1.0, -1.0]]).drop(columns=list(NATS_COLUMNS)), ["corpus", "seed"]).empty


def test_the_last_candidate_is_chosen_where_that_is_asked() -> None:
    table = scores([[-10.0, -10.0], [-20.0, -30.0]])
    groups = np.array([table[list(names)].to_numpy(float) for names in (NATS_COLUMNS, TOKENS_COLUMNS)])
    chosen, values = at_choice(groups, groups, HALVES[0], last=True)
    assert (set(chosen), set(values)) == ({1}, {-3.0})


def test_a_choice_is_made_and_judged_again_without_each_group() -> None:
    random = np.random.default_rng(3)
    groups = np.array([-random.gamma(2.0, 10.0, (3, GROUPS)), random.integers(1, 9, (3, GROUPS))])
    chosen, values = at_choice(groups, groups, HALVES[0])
    assert len(set(chosen)) > 1
    for group in range(GROUPS):
        kept = groups * (np.arange(GROUPS) != group)
        (again, *_), (value, *_) = at_choice(kept, kept, HALVES[0])
        assert (again, value) == (chosen[1 + group], pytest.approx(values[1 + group]))
