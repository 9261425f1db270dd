"""Effects and verdicts: from hand-made tables, and over simulated studies whose effect is known."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from artifact.results.scores import GROUPS
from artifact.verdicts.effects import WITHOUT, Best, best, effects, paired, sizes, standard_error, steps, values_of
from artifact.verdicts.verdicts import (
    CONTRADICTED,
    DIFFERS,
    ESTIMATORS,
    IDENTITY,
    MODELS,
    NATS,
    NO_DIFFERENCE,
    SUPPORTED,
    UNDECIDED,
    Effect,
    together,
    verdicts,
)
from heldout.errors import InputError

Floats = NDArray[np.float64]
STUDIES = 20_000
SPLITS, HELD_OUT, POOL = 3, 0.3, 1000  # splits of a study, share of documents held out, documents of the corpus
SHARED = 0.9  # correlation of a document's gains in two splits that both hold it out


def effect(estimate: float, error: float = 0.1, freedom: float = 50.0, **changes: Any) -> Effect:
    return Effect("cranfield", "", estimate, error, freedom, NATS, **{"margin": 1.0, "replicates": 3, **changes})


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (effect(2.0), SUPPORTED),
        (effect(-2.0), CONTRADICTED),
        (effect(0.0), NO_DIFFERENCE),
        (effect(1.1), UNDECIDED),
        (effect(2.0, error=2.0), UNDECIDED),
        (effect(2.0, replicates=1), UNDECIDED),
        (effect(2.0, error=math.nan), UNDECIDED),
        (effect(math.nan), UNDECIDED),
        (effect(-0.5, threshold=-1.0, margin=0.0), SUPPORTED),  # "no worse" by a margin of 1
        (effect(-2.0, threshold=-1.0, margin=0.0), CONTRADICTED),
        (effect(0.7, threshold=0.5, margin=0.0, error=0.01), SUPPORTED),  # "more than half"
        (effect(0.5, threshold=0.5, margin=0.0, error=0.01), UNDECIDED),
        (effect(0.0, test="similar"), SUPPORTED),
        (effect(2.0, test="similar"), CONTRADICTED),
        (effect(1.0, test="similar"), UNDECIDED),
    ],
)
def test_a_verdict_is_where_the_whole_interval_lies(found: Effect, verdict: str) -> None:
    assert found.verdict == verdict


def test_several_intervals_are_corrected_together_where_degrees_of_freedom_are_many() -> None:
    near = effect(1.0 + 2.1 * 0.1)
    assert verdicts([near]) == [SUPPORTED]
    assert verdicts([near] * 10) == [UNDECIDED] * 10
    few = effect(1.0 + 4.5 * 0.1, freedom=2.0)
    assert verdicts([few]) == verdicts([few] * 10)[:1] == [SUPPORTED]


def test_a_claim_is_as_strong_as_its_weakest_part() -> None:
    assert together([SUPPORTED] * 3) == SUPPORTED
    assert together([SUPPORTED, UNDECIDED]) == UNDECIDED
    assert together([SUPPORTED, IDENTITY]) == SUPPORTED
    assert together([SUPPORTED, NO_DIFFERENCE]) == DIFFERS
    assert together([IDENTITY]) == IDENTITY


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
    np.testing.assert_allclose(pairs["gain"], [0.2, 0.2, 0.4, 0.4], atol=1e-12)
    np.testing.assert_allclose(pairs["error"], math.hypot(0.03, 0.03))
    assert (set(WITHOUT) <= set(pairs.columns)) == groups
    if groups:
        np.testing.assert_allclose(pairs[list(WITHOUT)], np.repeat(pairs["gain"].to_numpy()[:, None], GROUPS, 1))


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(InputError, match="several rows"):
        paired(scores(), {"model": "one"}, {"model": "other"}, on=("corpus", "seed"))


def test_a_summary_of_rows_is_that_of_every_column_of_values() -> None:
    pairs = paired(scores(), {"model": "other"}, {"model": "one"})
    assert values_of(pairs, "gain") == ["gain", *WITHOUT]
    assert values_of(pairs[["gain", "error"]], "gain") == ["gain"]
    of_size = sizes(pairs)
    np.testing.assert_allclose(of_size[["gain", *WITHOUT]], -pairs[["gain", *WITHOUT]])
    assert (of_size["error"] == pairs["error"]).all()


def test_cells_are_summarised_and_never_counted() -> None:
    pairs = paired(scores(), {"model": "one"}, {"model": "other"})
    mean, least = (effects(pairs, margin=MODELS, summary=summary)[0] for summary in ("mean", "least"))
    assert [mean.estimate, least.estimate] == pytest.approx([0.3, 0.2])
    assert (mean.replicates, mean.cells) == (2, 2)
    growth = effects(steps(pairs), margin=MODELS)[0]
    assert growth.estimate == pytest.approx(0.2)
    assert growth.cells == 1


def test_cells_that_lie_the_other_way_in_every_replicate_are_counted() -> None:
    pairs = pd.DataFrame(
        {"corpus": "c", "topics": [2, 2, 4, 4], "seed": [0, 1, 0, 1], "gain": [-1.0, -1.0, -1.0, 2.0], "error": 0.0}
    )
    assert effects(pairs, margin=MODELS)[0].reversed_cells == 1


def test_the_interval_is_never_of_width_zero_where_a_summary_takes_few_values() -> None:
    pairs = pd.DataFrame({"corpus": "c", "topics": 2, "seed": [0, 1, 2], "gain": 0.5, "error": 0.0})
    found = effects(pairs, margin=MODELS, resolution=0.1)[0]
    low, high = found.interval()
    assert low < 0.5 < high


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
def test_verdicts_of_simulated_studies(drawn: tuple[Floats, Floats], size: float, documents: bool) -> None:
    """With 20,000 studies the shares' own standard error is at most .0018; cover is to be within .02 of .95."""
    values, without = (part + size for part in drawn)
    error, freedom = standard_error(values, without=without if documents else None, held_out=HELD_OUT)
    reach = stats.t.ppf(0.975, freedom) * error
    low, high = values.mean(axis=1) - reach, values.mean(axis=1) + reach
    covered = ((low <= size) & (size <= high)).mean()
    assert 0.93 <= covered <= (0.97 if documents else 0.99)
    if size == 0.0:
        assert ((low > 1.0) | (high < -1.0)).mean() <= 0.01
    elif documents:
        assert (low > 1.0).mean() >= 0.90


def test_one_replicate_has_no_interval() -> None:
    error, _ = standard_error(np.array([1.0]))
    assert math.isnan(error)
    assert effect(1.0, error=float(error)).interval() == (-math.inf, math.inf)


def points(means: dict[int, float], noise: float, error: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"topics": k, "seed": s, "value": mean + noise * rng.standard_normal(), "error": error}
        for k, mean in means.items()
        for s in range(3)
    ]
    return pd.DataFrame(rows)


def test_the_best_numbers_of_topics_are_a_set() -> None:
    clear = best(points({2: 0.0, 4: 1.0, 8: 0.5}, noise=0.01))
    assert clear == Best((4,), 4, censored=False)
    tied = best(points({2: 0.0, 4: 1.0, 8: 0.999}, noise=0.01))
    assert tied is not None
    assert (tied.topics, tied.censored) == ((4, 8), True)
    unsure = best(points({2: 0.0, 4: 1.0, 8: 0.5}, noise=0.0, error=1.0))
    assert unsure is not None
    assert unsure.topics == (2, 4, 8)
    assert best(points({}, 0.0)) is None


def test_the_margin_of_estimators_is_a_tenth_of_that_of_models() -> None:
    assert pytest.approx(10.0 * ESTIMATORS.value) == MODELS.value
