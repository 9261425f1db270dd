"""Annealed log Z held to exact values."""

from typing import Any

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.evaluators.log_partition import log_partition, log_partitions
from heldout.evaluators.log_partition_annealed import log_partition_annealed, log_partitions_annealed
from heldout.models.rbm import RBM


def drawn(seed: int, R: int, K: int, scale: float, **kinds: Any) -> RBM:
    random = np.random.default_rng(seed)
    model = RBM(K, **kinds)
    model.weights_ = scale * random.standard_normal((R, K))
    model.visible_bias_, model.hidden_bias_ = random.standard_normal(R), random.standard_normal(K)
    return model


KINDS: list[tuple[dict[str, Any], int, float]] = [
    ({}, 12, 0.5),
    ({"visible": "categorical", "blocks": (3, 3, 3)}, 9, 0.5),
    ({"visible": "gaussian"}, 6, 0.4),
    ({"hidden": "gaussian"}, 8, 0.3),
]


@pytest.mark.parametrize(("kinds", "R", "scale"), KINDS)
def test_annealing_has_the_exact_value(kinds: dict[str, Any], R: int, scale: float) -> None:
    model = drawn(0, R, 2, scale, **kinds)
    value, error = log_partition_annealed(model, 200, 50, np.random.default_rng(0), base=np.zeros(R))
    assert 0.0 < error < 0.1
    assert abs(value - log_partition(model)) < 4.4 * error


def test_one_run_has_all_lengths_of_a_replicated_softmax() -> None:
    model, lengths = drawn(0, 30, 6, 0.3, visible="multinomial"), np.array([50, 1, 7, 50])
    values, errors = log_partitions_annealed(model, lengths, 200, 60, np.random.default_rng(0))
    exact = log_partitions(model, lengths)
    assert (np.abs(values - exact) < 4.8 * errors).all()
    assert (errors < 0.2).all()
    assert values[0] == values[3]


def test_without_weights_there_is_no_error() -> None:
    model = drawn(0, 5, 3, 0.0)
    value, error = log_partition_annealed(model, 2, 1, np.random.default_rng(0))
    assert [value, error] == pytest.approx([log_partition(model), 0.0], abs=1e-12)


def test_bad_input_is_one_line() -> None:
    random, softmax = np.random.default_rng(0), drawn(0, 5, 3, 0.1, visible="multinomial")
    with pytest.raises(InputError, match="log_partitions_annealed"):
        log_partition_annealed(softmax, 2, 1, random)
    with pytest.raises(InputError, match="closed form"):
        log_partition_annealed(drawn(0, 5, 3, 0.1, visible="gaussian", hidden="gaussian"), 2, 1, random)
    with pytest.raises(InputError, match="2 or more"):
        log_partition_annealed(drawn(0, 5, 3, 0.1), 1, 1, random)
    with pytest.raises(InputError, match="temperatures"):
        log_partitions_annealed(softmax, np.ones(1, np.int64), 2, 0, random)
    with pytest.raises(InputError, match="multinomial"):
        log_partitions_annealed(drawn(0, 5, 3, 0.1), np.ones(1, np.int64), 2, 1, random)
    softmax.weights_ *= 1e4
    with pytest.raises(InputError, match="overflow"):
        log_partitions_annealed(softmax, np.ones(1, np.int64), 2, 1, random)


@pytest.mark.long
def test_stated_errors_cover_in_two_hundred_cases() -> None:
    """Within 3 of its errors in 95 % of 200 small cases, and never beyond 5: half of them replicated softmaxes."""
    distances = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        R, K, scale = int(random.integers(2, 13)), int(random.integers(1, 9)), float(random.uniform(0.1, 1.0))
        if seed % 2:
            model, length = drawn(seed, R, K, scale, visible="multinomial"), np.array([int(random.integers(1, 60))])
            values, errors = log_partitions_annealed(model, length, 100, 100, random)
            distances.append((values[0] - log_partitions(model, length)[0]) / errors[0])
        else:
            model = drawn(seed, R, K, scale)
            value, error = log_partition_annealed(model, 100, 100, random)
            distances.append((value - log_partition(model)) / error)
    apart = np.abs(distances)
    assert (apart <= 3.0).mean() >= 0.95
    assert apart.max() <= 5.0
