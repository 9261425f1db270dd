"""Restricted Boltzmann machines: likelihoods by enumeration, gradients by differences, and what training does."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from heldout.errors import InputError
from heldout.evaluators.log_partition import (
    factor_analysis,
    gaussian_mixture,
    log_likelihood,
    log_partition,
    log_partitions,
)
from heldout.models.harmonium_units import Units, units
from heldout.models.rbm import RBM, pseudo_likelihood
from heldout.typing import Floats


def fitted(R: int, K: int, scale: float = 1.0, seed: int = 0, **kinds: Any) -> RBM:
    """Return a model with drawn parameters."""
    random = np.random.default_rng(seed)
    model = RBM(K, **kinds)
    model.weights_ = scale * random.standard_normal((R, K))
    model.visible_bias_, model.hidden_bias_ = random.standard_normal(R), random.standard_normal(K)
    return model


def bits(n: int) -> Floats:
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def columns(blocks: tuple[int, ...]) -> Floats:
    """Return all states of categorical units."""
    return np.array([np.concatenate(rows) for rows in itertools.product(*(np.eye(M) for M in blocks))])


def negative_energy(model: RBM, v: Floats, h: Floats, L: float = 1.0) -> float:
    """Return v'Wh + b'v + L c'h, the obvious way (27.98)."""
    total = 0.0
    for r in range(len(v)):
        total += v[r] * model.visible_bias_[r]
        for k in range(len(h)):
            total += v[r] * h[k] * model.weights_[r, k]
    return total + L * sum(float(h[k] * model.hidden_bias_[k]) for k in range(len(h)))


@pytest.mark.parametrize(("R", "K", "blocks"), [(4, 3, ()), (3, 5, ()), (7, 3, (2, 4, 1))])
def test_probabilities_sum_to_one_and_are_the_joint_summed_over_hidden_units(
    R: int, K: int, blocks: tuple[int, ...]
) -> None:
    model = fitted(R, K, visible="categorical" if blocks else "binary", blocks=blocks)
    states, log_z = columns(blocks) if blocks else bits(R), log_partition(model)
    evaluation = log_likelihood(model, states, log_z)
    joint = np.array([[negative_energy(model, v, h) for h in bits(K)] for v in states])
    np.testing.assert_allclose(evaluation.log_likelihood, logsumexp(joint, axis=1) - logsumexp(joint), atol=1e-12)
    assert np.exp(evaluation.log_likelihood).sum() == pytest.approx(1.0, abs=1e-12)
    assert set(evaluation.tokens) == {len(blocks) or R}


@pytest.mark.parametrize(("R", "K"), [(12, 12), (12, 5), (3, 12), (1, 1)])
@pytest.mark.parametrize("scale", [0.3, 3.0, 60.0])  # with the largest products of exponentials would overflow
def test_the_sum_over_hidden_units_is_the_sum_over_visible_units(R: int, K: int, scale: float) -> None:
    model, mirrored = fitted(R, K, scale), fitted(K, R)
    mirrored.weights_ = model.weights_.T
    mirrored.visible_bias_, mirrored.hidden_bias_ = model.hidden_bias_, model.visible_bias_
    over_visible = logsumexp(-model.free_energy(bits(R)))
    over_hidden = logsumexp(-mirrored.free_energy(bits(K)))
    assert over_hidden == pytest.approx(over_visible, rel=1e-12, abs=1e-10)
    assert log_partition(model) == pytest.approx(over_visible, rel=1e-12, abs=1e-10)
    assert log_partition(mirrored) == pytest.approx(over_visible, rel=1e-12, abs=1e-10)


def log_z(model: RBM) -> float:
    return log_partition(model) if model.visible != "multinomial" else float(log_partitions(model, np.array([3]))[0])


@pytest.mark.parametrize(
    ("visible", "hidden", "blocks"),
    [
        ("binary", "binary", ()),
        ("categorical", "binary", (2, 3)),
        ("gaussian", "binary", ()),
        ("multinomial", "binary", ()),
        ("binary", "gaussian", ()),
        ("gaussian", "gaussian", ()),
    ],
)
def test_the_gradient_is_that_of_the_likelihood(visible: str, hidden: str, blocks: tuple[int, ...]) -> None:
    """27.112: the clamped phase is the derivative of -F, the free one of log Z, both by central differences."""
    model = fitted(5, 2, 0.2, visible=visible, hidden=hidden, blocks=blocks)
    data = {"categorical": columns((2, 3)), "multinomial": np.array([[1.0, 0, 0, 2, 0], [0, 1, 1, 0, 1]])}.get(
        visible, bits(5)[5:20]
    )
    before = [model.weights_.copy(), model.visible_bias_.copy(), model.hidden_bias_.copy()]
    v = model.visible_units.check(data)
    sizes = model.visible_units.size(v)
    h = model.hidden_units.mean(model._hidden_eta(v, sizes))
    nothing = (np.zeros((1, 5)), np.zeros((1, 2)), np.zeros(1))
    model._step((v, h, sizes), nothing, 1.0)
    clamped = [model.weights_ - before[0], model.visible_bias_ - before[1], model.hidden_bias_ - before[2]]
    for i, name in enumerate(("weights_", "visible_bias_", "hidden_bias_")):
        for at in np.ndindex(before[i].shape):
            ends, partitions = [], []
            for step in (1e-5, -1e-5):
                moved = [array.copy() for array in before]
                moved[i][at] += step
                model.weights_, model.visible_bias_, model.hidden_bias_ = moved
                ends.append(-model.free_energy(data).mean())
                partitions.append(log_z(model))
            assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(clamped[i][at], abs=1e-7), (name, at)
            if (visible, hidden, name) == ("binary", "binary", "weights_"):
                model.weights_, model.visible_bias_, model.hidden_bias_ = before
                p = np.exp(log_likelihood(model, bits(5), log_z(model)).log_likelihood)
                expected = p @ (bits(5)[:, at[0]] * model.hidden_means(bits(5))[:, at[1]])
                assert (partitions[0] - partitions[1]) / 2e-5 == pytest.approx(expected, abs=1e-7)


def test_replicated_softmax_has_the_sum_over_all_sequences() -> None:
    """Z_L by all V^L sequences and all states of h, V = 3, L = 4; probabilities of sequences sum to one."""
    V, L, K = 3, 4, 3
    model = fitted(V, K, visible="multinomial")
    words = np.array(list(itertools.product(range(V), repeat=L)))
    counts = np.array([np.bincount(row, minlength=V) for row in words], dtype=float)
    joint = np.array([[negative_energy(model, v, h, L) for h in bits(K)] for v in counts])
    one_token = logsumexp([[negative_energy(model, v, h) for h in bits(K)] for v in np.eye(V)])
    assert log_partitions(model, np.array([L, 1, L])) == pytest.approx(
        [logsumexp(joint), one_token, logsumexp(joint)],
        abs=1e-12,
    )
    values = log_likelihood(model, counts, log_partitions(model, np.full(len(counts), L)))
    assert np.exp(values.log_likelihood).sum() == pytest.approx(1.0, abs=1e-12)
    assert set(values.tokens) == {L}


@pytest.mark.parametrize("kinds", [("binary", ()), ("categorical", (3, 1, 2))])
@pytest.mark.parametrize("K", [1, 2])
def test_undirected_pca_has_the_sum_over_all_data(kinds: tuple[str, tuple[int, ...]], K: int) -> None:
    """Gaussian hidden units: the quadrature over h is the sum over v of exp(b'v + |c + W'v|^2 / 2) (2 pi)^(K / 2)."""
    visible, blocks = kinds
    model = fitted(6, K, 1.0, visible=visible, hidden="gaussian", blocks=blocks)
    states = columns(blocks) if blocks else bits(6)
    logits = states @ model.weights_ + model.hidden_bias_
    total = logsumexp(states @ model.visible_bias_ + 0.5 * (logits**2).sum(axis=1) + 0.5 * K * np.log(2.0 * np.pi))
    assert log_partition(model) == pytest.approx(total, abs=1e-10)


def test_gaussian_units_on_both_sides_are_factor_analysis() -> None:
    model = fitted(6, 2, 0.2, visible="gaussian", hidden="gaussian")
    mean, loadings = factor_analysis(model)
    v = np.random.default_rng(1).standard_normal((20, 6))
    density = multivariate_normal(mean, np.eye(6) + loadings @ loadings.T).logpdf(v)
    np.testing.assert_allclose(log_likelihood(model, v, log_partition(model)).log_likelihood, density, atol=1e-12)
    model.weights_ *= 10.0
    for use in (log_partition, factor_analysis):
        with pytest.raises(InputError, match="norm 1 or more"):
            use(model)


def test_a_gaussian_rbm_is_a_mixture_of_gaussians() -> None:
    model = fitted(4, 3, visible="gaussian")
    log_weights, means = gaussian_mixture(model)
    v = np.random.default_rng(1).standard_normal((10, 4))
    of_mixture = [
        logsumexp([w + multivariate_normal(m, np.eye(4)).logpdf(x) for w, m in zip(log_weights, means, strict=True)])
        for x in v
    ]
    np.testing.assert_allclose(log_likelihood(model, v, log_partition(model)).log_likelihood, of_mixture, atol=1e-12)
    line = np.linspace(-30.0, 30.0, 6001)[:, None]
    one = fitted(1, 3, visible="gaussian")
    density = np.exp(log_likelihood(one, line, log_partition(one)).log_likelihood)
    assert density.sum() * 0.01 == pytest.approx(1.0, abs=1e-12)


def test_pseudo_likelihood_is_the_product_of_conditionals() -> None:
    model, states = fitted(4, 3), bits(4)
    p = np.exp(log_likelihood(model, states, log_partition(model)).log_likelihood)
    expected = np.zeros(len(states))
    for i, v in enumerate(states):
        for r in range(4):
            same = (np.delete(states, r, axis=1) == np.delete(v, r)).all(axis=1)
            expected[i] += np.log(p[i] / p[same].sum())
    np.testing.assert_allclose(pseudo_likelihood(model, states), expected, atol=1e-12)


def test_pseudo_likelihood_is_scikit_learns() -> None:
    """The free energy of scikit-learn's machine, and its score with the same flipped units."""
    neural = pytest.importorskip("sklearn.neural_network")
    model, data = fitted(5, 3), bits(5)
    theirs = neural.BernoulliRBM(3, random_state=0)
    theirs.components_, theirs.intercept_hidden_ = model.weights_.T, model.hidden_bias_
    theirs.intercept_visible_ = model.visible_bias_
    np.testing.assert_allclose(theirs._free_energy(data), model.free_energy(data), atol=1e-12)
    scores = np.mean([theirs.set_params(random_state=seed).score_samples(data) for seed in range(200)], axis=0)
    ours = pseudo_likelihood(model, data)
    spread = np.std([theirs.set_params(random_state=seed).score_samples(data) for seed in range(50)], axis=0, ddof=1)
    assert (np.abs(scores - ours) < 6.0 * spread / np.sqrt(200) + 1e-12).all()


@pytest.mark.parametrize("kinds", [("binary", ()), ("categorical", (2, 3)), ("gaussian", ()), ("multinomial", ())])
def test_draws_have_their_means(kinds: tuple[str, tuple[int, ...]]) -> None:
    """40,000 draws within 5 errors of each mean: a false alarm once in 10^5 runs."""
    layer: Units = units(*kinds)
    random, n = np.random.default_rng(0), 40_000
    eta = np.random.default_rng(1).standard_normal(5)
    size = np.full(n, 3.0 if kinds[0] == "multinomial" else 1.0)
    x = layer.draw(np.broadcast_to(eta, (n, 5)), size, random)
    error = np.maximum(x.std(axis=0), 1e-9) / np.sqrt(n)
    assert (np.abs(x.mean(axis=0) - size[0] * layer.mean(eta[None])[0]) < 5.0 * error).all()
    numeric = [
        (layer.log_normaliser((eta + 1e-6 * e)[None]) - layer.log_normaliser((eta - 1e-6 * e)[None]))[0] / 2e-6
        for e in np.eye(5)
    ]
    np.testing.assert_allclose(layer.mean(eta[None])[0], numeric, atol=1e-8)
    np.testing.assert_array_equal(layer.check(x), x)


def stripes(n: int) -> Floats:
    """Return cases of 8 pixels in two groups that are mostly all on or all off."""
    random = np.random.default_rng(0)
    on = np.repeat(random.integers(2, size=(n, 2)), 4, axis=1)
    return np.where(random.random((n, 8)) < 0.9, on, 1 - on).astype(float)


def mean_log_likelihood(model: RBM, data: Floats) -> float:
    return float(log_likelihood(model, data, log_partition(model)).log_likelihood.mean())


def test_sampled_negative_phases_learn_and_mean_field_does_not() -> None:
    data = stripes(600)
    ends = {}
    for negative in ("cd", "pcd", "mean-field"):
        model = RBM(3, negative=negative, epochs=300, batch=50, learning_rate=0.2, random_state=0).fit(data)
        ends[negative] = mean_log_likelihood(model, data)
    shares = (data.mean(axis=0) * np.log(data.mean(axis=0))).sum()
    shares += ((1.0 - data.mean(axis=0)) * np.log(1.0 - data.mean(axis=0))).sum()
    assert min(ends["cd"], ends["pcd"]) > shares + 1.0
    assert ends["mean-field"] < shares


def test_a_fit_repeats_itself_and_records_its_updates() -> None:
    data, seen = stripes(50), []
    one = RBM(2, epochs=2, batch=20, random_state=3).fit(data, record=lambda updates, _: seen.append(updates))
    other = RBM(2, epochs=2, batch=20, random_state=3).fit(data)
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert seen == list(range(7))
    assert one.reconstruction_error(data).shape == (50,)


@pytest.mark.parametrize(
    ("changes", "data", "message"),
    [
        ({"visible": "poisson"}, bits(3), "no poisson units"),
        ({"hidden": "categorical"}, bits(3), "hidden units categorical"),
        ({"negative": "exact"}, bits(3), "negative phase exact"),
        ({"epochs": 0}, bits(3), "at least 1"),
        ({"learning_rate": np.inf}, bits(3), "positive"),
        ({}, 2.0 * bits(3), "zeros and ones"),
        ({"visible": "categorical", "blocks": (2, 1)}, bits(3), "one 1 in each block"),
        ({"visible": "categorical", "blocks": (2, 2)}, bits(3), "4 columns"),
        ({"visible": "categorical"}, bits(3), "blocks"),
        ({"visible": "gaussian"}, np.full((2, 2), np.nan), "finite"),
        ({"visible": "multinomial"}, np.array([[0.5, 1.0]]), "whole"),
        ({"visible": "gaussian", "hidden": "gaussian", "learning_rate": 9.0, "epochs": 600}, bits(3), "without limit"),
    ],
)
def test_bad_input_is_one_line(changes: dict[str, Any], data: Floats, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RBM(2, random_state=0, **changes).fit(data)


def test_what_has_no_partition_function_says_so() -> None:
    softmax = fitted(4, 3, visible="multinomial")
    for use, model, message in (
        (log_partition, softmax, "depends on the length"),
        (lambda model: log_partitions(model, np.ones(1, np.int64)), fitted(4, 3), "not multinomial"),
        (log_partition, fitted(30, 30), "more than 24"),
        (log_partition, fitted(4, 3, hidden="gaussian"), "1 or 2"),
        (log_partition, fitted(40, 2, 100.0, hidden="gaussian"), "nodes"),
        (gaussian_mixture, softmax, "mixture of Gaussians"),
        (factor_analysis, softmax, "factor analysis"),
    ):
        with pytest.raises(InputError, match=message):
            use(model)
