"""Effects of contrasts: from hand-made tables, and over simulated studies whose effect is known."""

import math
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from artifact.contrasts.contrast import ESTIMATORS, MODELS, Contrast, Side
from artifact.contrasts.effect import (
    IS_ABOVE,
    IS_BELOW,
    IS_OPEN,
    IS_WITHIN,
    NATS,
    Effect,
    chosen,
    read_effects,
    write_effects,
)
from artifact.contrasts.estimates import LEFT_OUT, difference, effects, estimate, estimated, paired, ratio
from artifact.contrasts.plan import planned
from artifact.results.scores import GROUPS
from heldout.errors import InputError

Floats = NDArray[np.float64]
STUDIES = 2000
SPLITS, HELD_OUT, POOL = 3, 0.3, 1000  # splits of a study, share of documents held out, documents of the corpus
SHARED = 0.9  # correlation of a document's values in two splits that both hold it out


class Results:
    """Inputs that no side looks at."""

    held_out: ClassVar[dict[str, float]] = {}


def effect(value: float, error: float = 0.1, freedom: float = 50.0, **changes: Any) -> Effect:
    options = {"margin": 1.0, "replicates": 3, **changes}
    return Effect("gap", "cranfield", "K = 2", 2, value, error, freedom, NATS, **options)


def side(table: pd.DataFrame, name: str = "a score") -> Side:
    return Side(name, lambda _: table)


def contrast(one: pd.DataFrame, other: pd.DataFrame | None = None, **changes: Any) -> Contrast:
    second = None if other is None else side(other)
    return Contrast(name="gap", question="gap", says="One is above.", one=side(one), other=second, **changes)


@pytest.mark.parametrize(
    ("found", "finding"),
    [
        (effect(2.0), IS_ABOVE),
        (effect(-2.0), IS_BELOW),
        (effect(0.0), IS_WITHIN),
        (effect(1.1), IS_OPEN),
        (effect(2.0, error=2.0), IS_OPEN),
        (effect(2.0, replicates=1), IS_OPEN),
        (effect(2.0, error=math.nan), IS_OPEN),
        (effect(math.nan), IS_OPEN),
        (effect(0.7, null=0.5, margin=0.0, error=0.01), IS_ABOVE),  # "more than half"
        (effect(0.5, null=0.5, margin=0.0, error=0.01), IS_OPEN),
        (effect(0.5, null=0.5, margin=0.1, error=0.01), IS_WITHIN),
    ],
)
def test_a_finding_is_where_the_whole_interval_lies(found: Effect, finding: str) -> None:
    assert found.finding == finding


def test_an_effect_is_settled_by_its_place_or_by_its_width() -> None:
    assert effect(5.0, error=1.0).settled
    assert effect(1.1).settled  # across the margin, and as narrow as was planned
    assert not effect(1.1, error=1.0).settled
    assert effect(1.1, error=1.0, wanted=3.0).settled


def scores(groups: bool = True) -> pd.DataFrame:
    """Two models on two seeds and two K; model "one" gains K / 10 nats per token in every group of documents."""
    rows = []
    for model in ("one", "other"):
        for topics in (2, 4):
            for seed in (0, 1):
                gain = topics / 10.0 if model == "one" else 0.0
                tokens = np.arange(1, GROUPS + 1)
                nats = tokens * (gain - 5.0 + 0.01 * seed)
                row = {"corpus": "cranfield", "model": model, "topics": topics, "seed": seed, "tokens": tokens.sum()}
                row |= {"log_likelihood": nats.sum(), "standard_error": 0.03 * tokens.sum()}
                if groups:
                    row |= {f"tokens_{g}": tokens[g] for g in range(GROUPS)}
                    row |= {f"log_likelihood_{g}": nats[g] for g in range(GROUPS)}
                rows.append(row)
    return pd.DataFrame(rows)


@pytest.mark.parametrize("groups", [True, False])
def test_pairs_are_differences_per_token_with_both_errors(groups: bool) -> None:
    pairs = paired(scores(groups), {"model": "one"}, {"model": "other"})
    assert pairs[["topics", "seed"]].to_numpy().tolist() == [[2, 0], [2, 1], [4, 0], [4, 1]]
    np.testing.assert_allclose(pairs["value"], [0.2, 0.2, 0.4, 0.4], atol=1e-12)
    np.testing.assert_allclose(pairs["error"], math.hypot(0.03, 0.03))
    assert (set(LEFT_OUT) <= set(pairs.columns)) == groups
    if groups:
        np.testing.assert_allclose(pairs[list(LEFT_OUT)], np.repeat(pairs["value"].to_numpy()[:, None], GROUPS, 1))


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(InputError, match="several rows"):
        paired(scores(), {"model": "one"}, {"model": "other"}, keys=("corpus", "seed"))


def table(*values: float, error: float = 0.0, **columns: Any) -> pd.DataFrame:
    """A side of one corpus: a value for each seed."""
    return pd.DataFrame({"corpus": "c", "seed": range(len(values)), "value": values, "error": error, **columns})


def test_a_share_is_a_ratio_with_the_errors_of_both() -> None:
    quotient = ratio(table(1.0, error=0.1), table(2.0, error=0.4), ["corpus", "seed"])
    assert quotient["value"].tolist() == [0.5]
    assert quotient["error"].tolist() == pytest.approx([math.hypot(0.1 / 2.0, 0.5 * 0.4 / 2.0)])


def test_one_number_on_both_sides_has_no_error_of_its_own() -> None:
    one, other = table(1.0, 1.0, error=0.1, chosen=[4, 8]), table(1.0, 0.5, error=0.1, chosen=[4, 2])
    assert difference(one, other, ["corpus", "seed"])["error"].tolist() == pytest.approx([0.0, math.hypot(0.1, 0.1)])


def test_effects_are_told_apart_by_columns_and_averaged_over_others() -> None:
    one = pd.concat(
        [table(0.3, 0.5, topics=2, half=0), table(0.5, 0.7, topics=2, half=1), table(1.0, 1.0, topics=4, half=0)]
    )
    found = effects(contrast(one, over=("half",)), Results())  # type: ignore[arg-type]
    assert [(e.part, e.topics, e.replicates) for e in found] == [("K = 2", 2, 2), ("K = 4", 4, 2)]
    assert [e.estimate for e in found] == pytest.approx([0.5, 1.0])
    assert found[0].spread == pytest.approx(math.sqrt(0.02))


def test_a_side_may_state_its_own_error() -> None:
    stated = table(0.7, error=0.02, topics=800).drop(columns="seed").assign(freedom=29.0, replicates=30)
    (found,) = estimated(contrast(stated, margin=ESTIMATORS), stated)
    assert (found.error, found.freedom, found.replicates, found.part) == (0.02, 29.0, 30, "K = 800")
    assert found.wanted == ESTIMATORS.value  # planned for the margin where no width is named
    assert (found.spread, found.shared, found.noise) == (0.0, 0.0, 0.02)
    with pytest.raises(InputError, match="2 values"):
        estimated(contrast(stated), pd.concat([stated, stated]))


@pytest.fixture(scope="module")
def drawn() -> tuple[Floats, Floats]:
    """Studies of a pool of documents, without an effect: y (studies, S) and y without each group (studies, S, G).

    Documents' standard error is .15 of the margin, splits' deviation .2.
    """
    document_error, split_deviation, rng = 0.15, 0.2, np.random.default_rng(1)
    values, without = [], []
    deviation = document_error * math.sqrt(HELD_OUT * POOL)
    members = POOL // GROUPS
    for _ in range(STUDIES // 1000):
        own = rng.standard_normal((1000, 1, GROUPS, members), dtype=np.float32) * deviation * math.sqrt(SHARED)
        gains = own + rng.standard_normal((1000, SPLITS, GROUPS, members), dtype=np.float32) * deviation * math.sqrt(
            1.0 - SHARED
        )
        held_out = rng.random((1000, SPLITS, GROUPS, members), dtype=np.float32) < HELD_OUT
        sums, counts = (gains * held_out).sum(axis=-1), held_out.sum(axis=-1)
        shift = split_deviation * rng.standard_normal((1000, SPLITS))
        values.append(sums.sum(axis=-1) / counts.sum(axis=-1) + shift)
        rest = (sums.sum(axis=-1, keepdims=True) - sums) / (counts.sum(axis=-1, keepdims=True) - counts)
        without.append(rest + shift[..., None])
    return np.concatenate(values), np.concatenate(without)


@pytest.mark.parametrize("size", [0.0, 2.0])
@pytest.mark.parametrize("documents", [True, False])
def test_findings_of_simulated_studies(drawn: tuple[Floats, Floats], size: float, documents: bool) -> None:
    """Cover is to be within .03 of .95: six standard errors of a share of 2,000 studies, a false alarm in 10^8."""
    values, without = (part + size for part in drawn)
    pairs = zip(values, without, strict=True)
    found = [estimate(one, 0.0, groups if documents else None, HELD_OUT) for one, groups in pairs]
    reach = np.array([stats.t.ppf(0.975, one.freedom) * one.error for one in found])
    low, high = values.mean(axis=1) - reach, values.mean(axis=1) + reach
    covered = ((low <= size) & (size <= high)).mean()
    assert 0.92 <= covered <= (0.98 if documents else 0.995)
    if size == 0.0:
        assert ((low > 1.0) | (high < -1.0)).mean() <= 0.01
    elif documents:
        assert (low > 1.0).mean() >= 0.88


def test_one_replicate_has_no_interval() -> None:
    found = estimate(np.array([1.0]))
    assert (math.isnan(found.error), found.freedom) == (True, 0.0)
    assert (found.spread, found.shared, found.noise) == (0.0, 0.0, 0.0)
    assert effect(1.0, error=math.nan).half_width == math.inf


def test_more_splits_narrow_the_spread_and_not_the_rest() -> None:
    wide = effect(0.02, error=0.1, margin=0.01, spread=0.1, shared=0.001, noise=0.0)
    ten = planned(wide, 10)
    assert ten == pytest.approx(stats.t.ppf(0.975, 9.0) * math.hypot(0.1 / math.sqrt(10.0), 0.001), rel=0.05)
    assert planned(wide, 1000) > stats.norm.ppf(0.975) * 0.001


def test_effects_are_kept_and_chosen_by_corpus_and_part(tmp_path: Any) -> None:
    known = (effect(2.0), effect(0.5, margin=0.0), effect(math.nan, error=math.nan))
    write_effects(tmp_path / "effects.csv", known)
    read = read_effects(tmp_path / "effects.csv")
    assert read["gap"][:2] == known[:2]
    assert len(chosen(read, "gap", "cranfield: K = 2")) == 3
    assert chosen(read, "gap", "nips") == chosen(read, "none") == ()


def test_the_margin_of_estimators_is_a_tenth_of_that_of_models() -> None:
    assert pytest.approx(10.0 * ESTIMATORS.value) == MODELS.value
