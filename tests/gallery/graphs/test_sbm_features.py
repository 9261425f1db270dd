"""Blocks with features of nodes: against sums, finite differences and quadrature."""

import functools
import itertools

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

from gallery.graphs.models import sbm_features as of
from gallery.graphs.models.blocks import ClusterPrior
from heldout.corpora.relations.relation import Relation, graph
from heldout.errors import InputError

N = 5
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((N, 2))
MASK = RANDOM.random((N, N, 2)) < 0.8
MASK[np.arange(N), np.arange(N)] = False
BETWEEN = Relation("acts", ("nodes", "nodes", "acts"), (RANDOM.random((N, N, 2)) < 0.4) & MASK, MASK)


def blocks(combination: of.Combination = "product", precision: float = 1.0) -> of.FeatureBlocks:
    return of.FeatureBlocks(BETWEEN, of.pair_features(X, combination), precision)


def log_joint(model: of.FeatureBlocks, cells: np.ndarray, f: np.ndarray, w: np.ndarray) -> float:
    seen = cells >= 0
    chances = expit(f[seen] @ w)
    prior = norm.logpdf(w, scale=1.0 / np.sqrt(model.precisions)).sum()
    return float(np.log(np.where(cells[seen] == 1, chances, 1.0 - chances)).sum() + prior)


@pytest.mark.parametrize("combination", of.COMBINATIONS)
def test_weights_are_stationary_and_covariances_are_the_inverse_of_the_curvature(combination: of.Combination) -> None:
    model = blocks(combination)
    nodes = np.arange(N)
    evidences, weights, covariances = model.regressions(nodes, nodes)
    P, h = weights.shape[1], 1e-4
    assert {"none": 1, "concatenation": 5, "product": 3}[combination] == P
    f = model.features.reshape(-1, P)
    for r in range(2):
        cells = model.cells[:, :, r].ravel()
        steps = h * np.eye(P)

        def at(w: np.ndarray, cells: np.ndarray = cells) -> float:
            return log_joint(model, cells, f, w)

        gradient = [(at(weights[r] + step) - at(weights[r] - step)) / (2.0 * h) for step in steps]
        assert np.abs(gradient).max() < 1e-4
        curvature = np.array(
            [
                [
                    (at(weights[r] + a + b) - at(weights[r] + a - b) - at(weights[r] - a + b) + at(weights[r] - a - b))
                    / (4.0 * h**2)
                    for b in steps
                ]
                for a in steps
            ]
        )
        assert covariances[r] @ -curvature == pytest.approx(np.eye(P), abs=1e-5)
        laplace = at(weights[r]) + P / 2.0 * np.log(2.0 * np.pi) - np.linalg.slogdet(-curvature)[1] / 2.0
        assert evidences[r] == pytest.approx(laplace, abs=1e-5)


@functools.cache
def block_by_quadrature(model: of.FeatureBlocks, rows: tuple[int, ...], columns: tuple[int, ...]) -> float:
    """Return log p(R_ab | q) of a block, its weights, of one or two dimensions, summed over a grid."""
    f = model.features[np.ix_(rows, columns)].reshape(-1, model.features.shape[2])
    axes = [np.linspace(-8.0, 8.0, 81) / np.sqrt(precision) for precision in model.precisions]
    w = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    volume = np.log(np.prod([axis[1] - axis[0] for axis in axes]))
    log_prior = norm.logpdf(w, scale=1.0 / np.sqrt(model.precisions)).sum(axis=1)
    total = 0.0
    for cells in model.cells[np.ix_(rows, columns)].reshape(len(f), -1).T:
        signs = 2.0 * cells[cells >= 0] - 1.0
        logs = np.log(expit(signs[:, None] * (f[cells >= 0] @ w.T))).sum(axis=0)
        total += float(logsumexp(logs + log_prior)) + float(volume)
    return total


def log_likelihood_by_quadrature(model: of.FeatureBlocks, q: np.ndarray) -> float:
    members = [tuple(map(int, np.flatnonzero(q == cluster))) for cluster in np.unique(q)]
    return sum(block_by_quadrature(model, *pair) for pair in itertools.product(members, repeat=2))


def test_laplace_is_near_the_integral_over_the_constant() -> None:
    """Of 16 cells each the approximation is within a twentieth of a nat of the trapezoid rule."""
    model = blocks("none")
    nodes = np.arange(N)
    evidences, _, _ = model.regressions(nodes, nodes)
    grid = np.linspace(-15.0, 15.0, 3001)
    for r in range(2):
        cells, f = model.cells[:, :, r].ravel(), np.ones((N * N, 1))
        exact = logsumexp([log_joint(model, cells, f, np.array([c])) for c in grid]) + np.log(grid[1] - grid[0])
        assert evidences[r] == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("K", [1, 3])
def test_the_sum_over_partitions_is_that_over_all_assignments(K: int) -> None:
    """Of one feature, so that integrals over weights are sums over a grid; Laplace's are off by more than errors."""
    model = of.FeatureBlocks(BETWEEN, of.pair_features(X[:, :1], "product"), 1.0)
    prior, hidden = ClusterPrior(0.7, K), ~MASK
    found = model.predict(prior, hidden, 20_000, np.random.default_rng(0))
    joints, exact, predictions = [], [], []
    for q in itertools.product(range(K), repeat=N):
        clusters = np.array(q)
        log_prior = prior.log_prior(np.bincount(clusters, minlength=K))
        joints.append(model.log_likelihood(clusters) + log_prior)
        exact.append(log_likelihood_by_quadrature(model, clusters) + log_prior)
        predictions.append(model.probabilities(clusters)[1][hidden])
    assert abs(found.log_evidence - logsumexp(exact)) < 4.5 * found.error  # false alarm 7e-6
    assert abs(found.log_laplace - logsumexp(exact)) > 4.5 * found.error
    assert 0.0 < found.error < 0.02
    assert 10_000 < found.effective <= 20_000
    assert found.log_laplace == pytest.approx(logsumexp(joints), abs=1e-9)
    assert len(found.log_joints) == of.number_of_partitions(N, K)
    shares = np.exp(np.array(exact) - logsumexp(exact))
    assert found.average == pytest.approx(shares @ np.array(predictions), abs=0.01)
    assert found.log_profile > found.log_evidence


def test_sampled_blocks_have_the_integral_and_an_effective_size() -> None:
    """Of five weights: the mean of 200 estimates is that of a long run, and their spread what they state."""
    model, nodes = blocks("concatenation"), np.arange(N)
    random = np.random.default_rng(2)
    found = [model.sampled(nodes, nodes, 100, random) for _ in range(200)]
    values = np.array([one.log_evidence for one in found])
    reference = model.sampled(nodes, nodes, 100_000, random)
    scaled = (values - reference.log_evidence) / np.sqrt([one.variance for one in found])
    assert abs(scaled.mean()) < 4.5 / np.sqrt(200) * 1.2
    assert 0.75 < scaled.std() < 1.3
    assert 40 < min(one.effective for one in found) <= 100


def test_a_precise_prior_leaves_the_constant_alone() -> None:
    q = np.array([0, 0, 1, 1, 1])
    tight, without = (blocks(*given).probabilities(q) for given in (("product", 1e12), ("none", 1.0)))
    for one, other in zip(tight, without, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_cells_that_were_not_observed_change_nothing() -> None:
    values = BETWEEN.values.copy()
    model, other = blocks(), of.FeatureBlocks(Relation("acts", BETWEEN.types, values, MASK), blocks().features, 1.0)
    other.cells[~MASK] = -1
    assert model.log_likelihood(np.zeros(N, int)) == other.log_likelihood(np.zeros(N, int))


def test_components_of_features_have_variance_one_and_ignore_what_was_not_observed() -> None:
    mask = np.ones((N, 6), dtype=bool)
    mask[0, 0] = False
    values = (RANDOM.random((N, 6)) < 0.5) & mask
    x = of.node_features(Relation("has", ("nodes", "features"), values, mask), 2)
    assert x.mean(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert x.T @ x / N == pytest.approx(np.eye(2), abs=1e-12)
    with pytest.raises(InputError, match="9 components"):
        of.node_features(Relation("has", ("nodes", "features"), values, mask), 9)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"precision 0\.0"):
        blocks(precision=0.0)
    with pytest.raises(InputError, match="nodes, features"):
        of.FeatureBlocks(Relation("has", ("nodes", "features"), MASK[..., 0], MASK[..., 0]), blocks().features, 1.0)
    with pytest.raises(InputError, match="draw 2 or more"):
        blocks().predict(ClusterPrior(1.0, 1), ~MASK, 1, RANDOM)
    with pytest.raises(InputError, match="partitions"):
        blocks().predict(ClusterPrior(1.0), ~MASK, 2, RANDOM)
    many = graph("likes", "nodes", np.zeros((15, 15), dtype=bool))
    with pytest.raises(InputError, match="15 nodes in 3 clusters"):
        of.FeatureBlocks(many, np.ones((15, 15, 1)), 1.0).predict(ClusterPrior(1.0, 3), many.mask, 2, RANDOM)
