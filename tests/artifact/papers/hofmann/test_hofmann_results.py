"""What is read back of Hofmann's experiment from made-up rows."""

import math

import pytest
from made_hofmann import ERROR, FEW, TOPICS, as_claimed, hofmann_inputs

from artifact.papers.hofmann.results import HEATED, SPECIFIC, UNIGRAMS, Model, curve, points
from artifact.results.reading import TRUTH
from heldout.evaluators import EXACT, REFERENCE


def test_a_line_stands_on_the_seeds_with_all_dimensions_and_its_band_on_all() -> None:
    given = hofmann_inputs(["medline"], by_seed=0.1)
    means = curve(given, "medline", HEATED)
    assert list(means.index) == list(TOPICS)
    for k, mean in means.iterrows():
        value = as_claimed(HEATED, SPECIFIC, int(str(k)))
        high = value + (0.1 if k in FEW else 0.0)
        assert mean["value"] == pytest.approx(value)
        assert list(mean[["perplexity", "most", "least"]]) == pytest.approx(
            [math.exp(-v) for v in (value, value, high)]
        )
    (unigram,) = curve(given, "medline", UNIGRAMS[0])["perplexity"]
    assert unigram == pytest.approx(3000.0)


def test_the_exact_value_comes_before_the_sampled_one() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return as_claimed(model, evaluator, k) + (0.5 if evaluator == EXACT else 0.0)

    table = points(hofmann_inputs(["medline"], value), ["medline"], [HEATED], TRUTH)
    for topics, own, error in zip(table["topics"], table["value"], table["error"], strict=True):
        exact = topics == min(TOPICS)
        assert own == pytest.approx(as_claimed(HEATED, REFERENCE, int(topics)) + (0.5 if exact else 0.0))
        assert error == (0.0 if exact else ERROR)
