"""Gaussian co-clustering: the likelihood never falls, blocks are found, bins sum to one."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from gallery.ratings.evaluators import coclustering_marginal as of
from gallery.ratings.models.coclustering import Blocks, CoClustering
from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError

BLOCKS = Blocks(np.array([0.3, 0.7]), np.array([0, 1, 0]), np.array([[4.0, 2.0], [1.5, 3.5]]), 0.8)


def users(values: list[tuple[int, ...]]) -> Ratings:
    """Return users who have rated all three items."""
    names = tuple(map(str, range(len(values))))
    who, what = np.repeat(np.arange(len(values)), 3), np.tile([0, 1, 2], len(values))
    return Ratings(names, ("x", "y", "z"), who, what, np.concatenate(values).astype(np.int64))


def blocked() -> Ratings:
    """Return ratings of 60 users and 20 items in two blocks each, nine in ten without one."""
    random = np.random.default_rng(2)
    means = np.array([[5.0, 1.0], [2.0, 4.0]])[np.arange(60) % 2][:, np.arange(20) % 2]
    value = np.clip(np.round(means + random.normal(0.0, 0.5, means.shape)), 1, 5).astype(np.int64)
    who, what = np.nonzero(random.random(means.shape) < 0.5)
    return Ratings(tuple(map(str, range(60))), tuple(map(str, range(20))), who, what, value[who, what])


def test_em_never_falls_and_finds_the_blocks() -> None:
    model = CoClustering(2, random_state=0).fit(blocked())
    assert np.diff(model.objective_).min(initial=0.0) > -1e-9
    clusters = model.blocks_.clusters
    assert len(set(clusters[::2])) == len(set(clusters[1::2])) == 1
    assert clusters[0] != clusters[1]
    assert model.objective_[-1] == pytest.approx(
        of.coclustering_marginal(blocked(), model.blocks_).log_likelihood.sum()
    )


def test_many_clusters_never_fall_either() -> None:
    objective = CoClustering(5, item_clusters=3, restarts=1, random_state=3).fit(blocked()).objective_
    assert np.diff(objective).min() > -1e-9


def test_the_density_is_the_sum_written_out_and_the_best_cluster_lies_below() -> None:
    values: list[tuple[int, ...]] = [(5, 1, 4), (2, 3, 1)]
    chances = norm.pdf(np.array(values)[:, None, :], BLOCKS.means[:, BLOCKS.clusters], np.sqrt(0.8)).prod(axis=2)
    found = of.coclustering_marginal(users(values), BLOCKS).log_likelihood
    assert np.exp(found) == pytest.approx(chances @ BLOCKS.weights)
    best = of.best_cluster(users(values), BLOCKS).log_likelihood
    assert np.exp(best) == pytest.approx((chances * BLOCKS.weights).max(axis=1))


def test_bins_sum_to_one() -> None:
    every = users(list(product(range(1, 6), repeat=3)))
    found = np.exp(of.coclustering_binned(every, BLOCKS).log_likelihood)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.min() > 0.0


def test_predictions_are_means_over_clusters() -> None:
    whole = users([(5, 1, 4)])
    given, wanted = whole.take(np.array([0, 1])), whole.take(np.array([2]))
    chances = BLOCKS.weights * [norm.pdf([5, 1], BLOCKS.means[a, [0, 1]], np.sqrt(0.8)).prod() for a in (0, 1)]
    assert of.coclustering_predictions(given, wanted, BLOCKS) == pytest.approx(
        chances @ BLOCKS.means[:, 0] / chances.sum()
    )


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="one cluster"):
        CoClustering(2, restarts=0).fit(blocked())
