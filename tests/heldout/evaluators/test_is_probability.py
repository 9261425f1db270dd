"""A score is held to documents drawn from the model: Markov's inequality, by enumeration."""

import itertools
import math

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.evaluators.is_probability import Excess, excess


@pytest.mark.parametrize("given_theta", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_no_probability_has_an_excess_more_often_than_its_chance(seed: int, given_theta: bool) -> None:
    """Every two documents of a word, weighted by what they are drawn with: nothing is sampled."""
    rng = np.random.default_rng(seed)
    mixture, q = rng.dirichlet(np.ones(3)), rng.dirichlet(np.full(4, 0.3))
    p = rng.dirichlet(np.full(4, 0.3), 3)
    truth = p if given_theta else np.tile(mixture @ p, (3, 1))
    weights, chances = [], []
    for places in itertools.product(range(3), range(4), repeat=2):
        z, w = np.array(places[::2]), np.array(places[1::2])
        weights.append(np.prod(mixture[z] * p[z, w]))
        chances.append(excess(np.log(q[w]), np.log(truth[z, w])).log_chance)
    for chance in chances:
        assert np.sum(weights, where=np.array(chances) <= chance) <= math.exp(chance) * (1.0 + 1e-9)


def test_folding_in_is_refuted_where_it_counts_its_words_twice() -> None:
    truth = np.full(
        20, math.log(0.5)
    )  # of two words, equally likely; folded in, each document has its word for certain
    found = excess(np.zeros(20), truth)
    assert found.nats == pytest.approx(20 * math.log(2.0), rel=1e-12)
    assert found.refutes(1e-6)
    assert not found.refutes(1e-7)


def test_the_error_has_the_logarithms_bias_and_three_of_it_are_granted() -> None:
    found = excess(10.0, np.zeros(8), np.full(8, 0.5))
    assert found.standard_error == pytest.approx(math.hypot(math.sqrt(8 * 0.25), 8 * 0.25 / 2), rel=1e-12)
    assert found.log_chance == pytest.approx(3.0 * found.standard_error - 10.0, rel=1e-12)
    assert Excess(1.0, 1.0).log_chance == Excess(-math.inf).log_chance == 0.0


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="2, 3 and 1"):
        excess(np.zeros(2), np.zeros(3))
    for scores, truths, errors in (([math.nan], [0.0], 0.0), ([0.0], [-math.inf], 0.0), ([0.0], [0.0], math.nan)):
        with pytest.raises(InputError, match="draw"):
            excess(scores, truths, errors)
    assert excess([-math.inf, 0.0], [0.0, 0.0]).nats == -math.inf
