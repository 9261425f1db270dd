"""RBMs of ratings: likelihoods by enumeration, gradients by differences, and that training raises the likelihood."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from gallery.ratings.evaluators import rbm_ratings_marginal as of
from gallery.ratings.models.rbm_ratings import Machine, RatingsRBM, indicators
from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.typing import Floats

EVERY = list(product((1, 2, 3), repeat=3))  # of three items


def users(values: list[tuple[int, ...]], items: tuple[int, ...] = (0, 1, 2)) -> Ratings:
    """Return users who have all rated the same items, of three."""
    who, what = np.repeat(np.arange(len(values)), len(items)), np.tile(items, len(values))
    names = tuple(map(str, range(len(values))))
    return Ratings(names, ("x", "y", "z"), who, what, np.concatenate(values).astype(np.int64), (1, 3))


def machine(K: int) -> Machine:
    random = np.random.default_rng(K)
    return Machine(random.normal(size=K), random.normal(size=(3, 3)), random.normal(size=(3, 3, K)))


def joint(values: tuple[int, ...], m: Machine, items: tuple[int, ...]) -> Floats:
    """Return exp(-E) of every state of the hidden units, written out."""
    found = []
    for h in product((0.0, 1.0), repeat=len(m.hidden)):
        energy = float(m.hidden @ h)
        for item, value in zip(items, values, strict=True):
            energy += float(m.visible[item, value - 1] + m.weights[item, value - 1] @ h)
        found.append(np.exp(energy))
    return np.array(found)


@pytest.mark.parametrize("K", [1, 3])
def test_the_likelihood_is_that_of_enumeration_and_sums_to_one(K: int) -> None:
    m, total = machine(K), sum(joint(values, machine(K), (0, 1, 2)).sum() for values in EVERY)
    found = of.rbm_ratings_marginal(users(EVERY), m).log_likelihood
    assert np.exp(found) == pytest.approx([joint(values, m, (0, 1, 2)).sum() / total for values in EVERY])
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-12)


def test_hidden_states_in_parts_give_the_same_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = of.log_partition(users(EVERY), machine(3))
    monkeypatch.setattr(of, "STATES", 3)
    assert of.log_partition(users(EVERY), machine(3)) == pytest.approx(whole, abs=1e-12)


def test_dropped_units_are_not_summed_over() -> None:
    m, two = machine(2), list(product((1, 2, 3), repeat=2))
    one, rest = users([(v,) for v, _ in two], (0,)), users([(w,) for _, w in two], (2,))
    total = sum(joint((v, w), m, (0, 2)).sum() for v, w in two)
    among = [sum(joint((v, w), m, (0, 2)).sum() for w in (1, 2, 3)) / total for v, _ in two]
    found = of.rbm_part_marginal(one, rest, m).log_likelihood
    assert np.exp(found) == pytest.approx(among)
    assert np.exp(found[::3]).sum() == pytest.approx(1.0)
    assert np.abs(of.rbm_ratings_marginal(one, m).log_likelihood - found).max() > 1e-2


def test_the_pseudo_likelihood_and_predictions_are_conditionals() -> None:
    m, whole = machine(2), users(EVERY)
    weight = {values: joint(values, m, (0, 1, 2)).sum() for values in EVERY}
    expected = []
    for values in EVERY:
        own = 0.0
        for place in range(3):
            others = [weight[(*values[:place], v, *values[place + 1 :])] for v in (1, 2, 3)]
            own += np.log(weight[values] / sum(others))
        expected.append(own)
    assert of.rbm_pseudo_likelihood(whole, m).log_likelihood == pytest.approx(expected)
    given, wanted = users([(2, 1)], (0, 1)), users([(1,)], (2,))
    chances = np.array([weight[2, 1, v] for v in (1, 2, 3)])
    assert of.rbm_predictive(given, wanted, m)[0] == pytest.approx(chances / chances.sum())


def test_the_gradient_is_the_difference_of_the_phases() -> None:
    """d log p / d W = E[x h | data] - E[x h], as training estimates it; by finite differences."""
    m, ratings = machine(2), users([(1, 3, 2)])
    weight = {values: joint(values, m, (0, 1, 2)).sum() for values in EVERY}
    total = sum(weight.values())

    def phase(values: tuple[int, ...]) -> Floats:
        one = users([values])
        return np.asarray(indicators(one).toarray()[0][:, None] * expit(m.inputs(one)[0])).reshape(3, 3, 2)

    slope = phase((1, 3, 2)) - sum(weight[values] / total * phase(values) for values in EVERY)
    for place in ((0, 0, 1), (1, 2, 0), (2, 0, 1)):
        ends = []
        for step in (-1e-5, 1e-5):
            weights = m.weights.copy()
            weights[place] += step
            ends.append(of.rbm_ratings_marginal(ratings, m._replace(weights=weights)).log_likelihood[0])
        assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(slope[place], abs=1e-7)


@pytest.mark.parametrize("chains", ["cd", "pcd"])
def test_training_finds_what_items_have_in_common(chains: Any) -> None:
    """Two kinds of users, who rate all three items high or low: one unit tells them apart."""
    random = np.random.default_rng(0)
    kind = random.random(300) < 0.5
    values = np.where(kind[:, None], 3, 1)
    noisy = random.random((300, 3)) < 0.1
    ratings = users([tuple(row) for row in np.where(noisy, 2, values)])
    model = RatingsRBM(1, chains=chains, steps=5, epochs=60, rate=0.5, random_state=1).fit(ratings)
    own = of.rbm_ratings_marginal(ratings, model.machine_).log_likelihood.mean()
    counts = np.unique(ratings.value.reshape(300, 3), axis=0, return_counts=True)[1]
    independent = (
        sum(
            np.log(np.bincount(ratings.value[ratings.item == j], minlength=4)[1:] / 300.0)
            @ np.bincount(ratings.value[ratings.item == j], minlength=4)[1:]
            for j in range(3)
        )
        / 300.0
    )
    best = float(counts @ np.log(counts / 300.0)) / 300.0  # of any model of these patterns
    assert independent + 0.8 * (best - independent) < own < best + 1e-9


@pytest.mark.parametrize(
    ("setting", "message"), [({"steps": 0}, "one unit, step, epoch"), ({"rate": 0.0}, "a rate above 0")]
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RatingsRBM(**setting).fit(users(EVERY))


def test_too_many_units_for_the_exact_sum_are_refused() -> None:
    wide = Machine(np.zeros(15), np.zeros((3, 3)), np.zeros((3, 3, 15)))
    with pytest.raises(InputError, match="15 hidden units"):
        of.rbm_ratings_marginal(users(EVERY), wide)
