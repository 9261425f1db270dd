"""Curves, what is counted on them, and how optimistic the choice of a best one is."""

from dataclasses import replace

import pandas as pd
import pytest
from small_study import GIBBS, MAIN, inputs, row

from artifact.papers.welling.results import best, means, points
from artifact.results.reading import select
from artifact.results.scores import COLUMNS
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF


def curve(*values: float, smoothing: float = 1e-4, seed: int = 0) -> pd.DataFrame:
    rows = {"topics": [10 * (i + 1) for i in range(len(values))], "perplexity": values}
    return pd.DataFrame(rows).assign(corpus="nips", variant=MAIN, smoothing=smoothing, seed=seed)


def test_a_topic_number_that_a_seed_lacks_is_no_step() -> None:
    other = curve(9.0, 8.5, 10.0, seed=1)
    gap = pd.concat([curve(9.0, 8.0, 7.0), other[other["topics"] != 20]])
    assert means(gap).to_dict() == {10: 9.0, 20: 8.0, 30: 8.5}


def test_best_is_the_curve_with_the_lowest_mean_value_anywhere() -> None:
    low_once, low_throughout = curve(9.0, 1.0, 9.0, smoothing=1e-2), curve(2.0, 2.0, 2.0, smoothing=1e-3)
    # one lucky seed does not make a mean
    lucky = pd.concat([curve(0.5, smoothing=1e-5), curve(9.0, smoothing=1e-5, seed=1)])
    for others in (low_throughout, lucky):
        assert set(best(pd.concat([others, low_once]))["smoothing"]) == {1e-2}
    assert set(best(pd.concat([curve(1.0, smoothing=1e-1), curve(1.0, smoothing=1e-7)]))["smoothing"]) == {1e-7}
    each = best(pd.concat([low_once, low_throughout.assign(corpus="medline")]))
    assert each.groupby("corpus")["smoothing"].max().to_dict() == {"nips": 1e-2, "medline": 1e-3}
    assert best(low_once[:0]).empty


def test_points_are_of_one_variant_and_evaluator_and_of_the_reported_chains() -> None:
    lda = points(inputs(), ["nips"], "lda", FULL, [GIBBS])
    assert set(lda["smoothing"]) == {0.0}
    # single chains score 3 and 5 percent worse than "all"
    (value,) = select(lda, topics=5, seed=0)["perplexity"]
    assert value == pytest.approx(0.5 * 1000.0 * 1.0001 * 5**-0.3)
    plsa = points(inputs(), ["cranfield"], "plsa-hof", HALF, topics=[2, 5], seeds=[1])
    found = set(zip(plsa["smoothing"], plsa["topics"], plsa["seed"], strict=True))
    assert found == {(constant, k, 1) for constant in (1e-10, 1e-4, 1e-1) for k in (2, 5)}


def test_a_point_reported_twice_is_refused() -> None:
    twice = pd.DataFrame([row("nips", "plsa-hof", MAIN, 5, 0.1, "none", FULL, 0, p) for p in (7.0, 8.0)])
    twice.columns = pd.Index(COLUMNS)
    with pytest.raises(InputError, match=r"5 topics, constant 0\.1, seed 0 is reported twice"):
        points(replace(inputs(), scores=twice), ["nips"], "plsa-hof", FULL)
