"""EPCA against numerical gradients, dense twins, scipy's optimisers and its invariants."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from, fold_with
from scipy.special import logsumexp

from heldout import topics as blocks
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import epca
from heldout.models.epca import EPCA, Objective, ascend, balanced, fold_in_counts
from heldout.topics import Components
from heldout.typing import Floats


def random_counts(n_documents: int, n_words: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.poisson(random.gamma(0.5, 2.0, (n_documents, n_words))).astype(float)


def dense(counts: Floats, W: Floats, H: Floats, penalty: float) -> float:
    """Return equation 3.26 with the documents x words array written out."""
    logits = H @ W.T
    log_p = logits - logsumexp(logits, axis=1, keepdims=True)
    return float(np.sum(counts * log_p)) - penalty / 2 * float(np.sum(W**2) + np.sum(H**2))


@pytest.mark.parametrize("penalty", [0.0, 0.7])
def test_value_and_gradients_in_blocks_agree_with_differences_of_the_dense_objective(
    penalty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "ENTRIES", 1)  # 16 documents at a time
    counts = random_counts(37, 9)
    random = np.random.default_rng(1)
    x = random.standard_normal((9 + 37, 3))
    value, gradient, expected = Objective(sp.csr_array(counts), penalty)(x[:9], x[9:])
    assert value == pytest.approx(dense(counts, x[:9], x[9:], penalty), rel=1e-13)
    for index in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-5
        high, low = x + step, x - step
        slope = (dense(counts, high[:9], high[9:], penalty) - dense(counts, low[:9], low[9:], penalty)) / 2e-5
        assert gradient[index] == pytest.approx(slope, rel=1e-5, abs=1e-5)
    p = np.exp(x[9:] @ x[:9].T)
    p *= counts.sum(axis=1, keepdims=True) / p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(expected, p.sum(axis=0), rtol=1e-12)


@settings(max_examples=30)
@given(
    counts=arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 9)), elements=st.integers(0, 6)),
    n_components=st.integers(1, 12),
    penalty=st.sampled_from([0.0, 0.01, 1.0, 30.0]),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_objective_never_falls_and_all_stays_finite(
    counts: Floats, n_components: int, penalty: float, scale: float, seed: int
) -> None:
    if counts.sum() == 0:
        with pytest.raises(InputError, match="no tokens"):
            EPCA(n_components).fit(counts)
        return
    random = np.random.default_rng(seed)
    objective = Objective(sp.csr_array(counts), penalty)
    W, H = (scale * random.standard_normal((size, n_components)) for size in counts.shape[::-1])
    W, H, history = ascend(objective, W, H, iterations=60, tolerance=0.0)
    assert np.all(np.diff(history) >= 0.0)
    assert np.all(np.isfinite(W))
    assert np.all(np.isfinite(H))
    # without a penalty logits may have gone far, and the objective is a difference of sums of them
    rounding = 1e-14 * (1.0 + np.abs(H @ W.T).max()) * counts.sum()
    assert rounding < 1e-4
    assert history[-1] == pytest.approx(dense(counts, W, H, penalty), rel=1e-10, abs=rounding)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    best = np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)))
    assert history[-1] <= best + rounding


def test_reaches_the_maximum_that_a_dense_optimiser_finds() -> None:
    penalty = 0.5
    # with as many components as documents the maximum over W H' is that of a concave problem: there is only one
    counts = random_counts(6, 8)
    model = EPCA(6, penalty=penalty, iterations=3000, tolerance=0.0, random_state=0).fit(counts)

    def minus(x: Floats) -> float:
        matrix = x.reshape(14, 6)
        return -dense(counts, matrix[:8], matrix[8:], penalty)

    start = np.random.default_rng(3).standard_normal(14 * 6)
    twin = scipy.optimize.minimize(minus, start, method="L-BFGS-B", options={"maxfun": 10**6, "maxiter": 3000})
    assert model.objective_[-1] == pytest.approx(-twin.fun, abs=1e-5 * counts.sum())
    assert model.objective_[-1] >= -twin.fun - 1e-7 * counts.sum()


def test_without_penalty_as_many_components_as_documents_approach_the_empirical_distributions() -> None:
    counts = random_counts(5, 12)
    counts = counts[counts.sum(axis=1) > 0]
    shares = counts / counts.sum(axis=1, keepdims=True)
    best = np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)))
    model = EPCA(5, penalty=0.0, iterations=500, tolerance=0.0, random_state=0).fit(counts)
    assert best - 1e-3 * counts.sum() <= model.objective_[-1] <= best


@pytest.mark.parametrize("n_components", [2, 4, 9])
def test_the_balanced_gauge_keeps_the_product_and_the_nuclear_norm(n_components: int) -> None:
    random = np.random.default_rng(0)
    W, H = 5.0 * random.standard_normal((7, n_components)), random.standard_normal((4, n_components))
    new_W, new_H = balanced(W, H)
    np.testing.assert_allclose(new_H @ new_W.T, H @ W.T, atol=1e-12)
    singular = np.linalg.svd(H @ W.T, compute_uv=False)
    diagonal = np.zeros(n_components)
    diagonal[: min(4, n_components)] = singular[:n_components]
    np.testing.assert_allclose(new_W.T @ new_W, np.diag(diagonal), atol=1e-11)
    np.testing.assert_allclose(new_H.T @ new_H, np.diag(diagonal), atol=1e-11)


def test_components_beyond_the_rank_are_zero_and_change_nothing() -> None:
    counts = random_counts(5, 9)
    few, many = (EPCA(k, iterations=50, random_state=0).fit(counts) for k in (5, 8))
    np.testing.assert_array_equal(many.weights_[:, 5:], 0.0)
    np.testing.assert_array_equal(many.weights_[:, :5], few.weights_)
    np.testing.assert_array_equal(many.objective_, few.objective_)
    assert many.document_weights_.shape == (5, 8)


def test_the_order_of_the_documents_does_not_matter() -> None:
    counts = random_counts(12, 10)
    order = np.random.default_rng(0).permutation(12)
    random = np.random.default_rng(1)
    W, H = 0.5 * random.standard_normal((10, 3)), 0.5 * random.standard_normal((12, 3))
    # rounding grows with the iterations: few of them
    model = fit_from(EPCA(3, iterations=8), counts, (W, H))
    shuffled = fit_from(EPCA(3, iterations=8), counts[order], (W, H[order]))
    np.testing.assert_allclose(shuffled.objective_, model.objective_, rtol=1e-5)
    fitted = model.document_weights_ @ model.weights_.T
    np.testing.assert_allclose(shuffled.document_weights_ @ shuffled.weights_.T, fitted[order], rtol=1e-3, atol=1e-3)


def test_float32_leads_where_float64_does() -> None:
    counts = random_counts(30, 20)
    random = np.random.default_rng(1)
    W, H = 0.5 * random.standard_normal((20, 4)), 0.5 * random.standard_normal((30, 4))
    model = fit_from(EPCA(4, tolerance=1e-4), counts, (W, H))
    objective = Objective(sp.csr_array(counts), 1.0)
    *_, history = ascend(objective, W, H, iterations=100, tolerance=1e-4)
    assert model.objective_[-1] == pytest.approx(history[-1], abs=1e-3 * counts.sum())
    # the balanced gauge cannot lower it, and what is said of it is float64's value to float32's rounding
    reached = objective(model.weights_, model.document_weights_)[0]
    assert model.objective_[-1] - 1e-6 * counts.sum() <= reached


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_word_without_training_tokens_and_an_empty_document(penalty: float) -> None:
    counts = random_counts(8, 10)
    counts[3] = 0.0
    counts[:, 4] = 0.0
    model = EPCA(3, penalty=penalty, iterations=60, tolerance=0.0, random_state=0).fit(sp.csr_array(counts))
    np.testing.assert_array_equal(model.document_weights_[3], 0.0)
    assert np.all(np.isfinite(model.weights_))
    logits = model.document_weights_ @ model.weights_.T
    p = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    used = counts.sum(axis=1) > 0
    share = counts[used].sum(axis=1) @ p[used, 4] / counts.sum()
    assert 0.0 < share < (1e-2 if penalty == 0.0 else 0.1)


def test_stops_when_the_gain_is_too_small() -> None:
    counts = random_counts(20, 15)
    model = EPCA(3, iterations=500, tolerance=1e-3, random_state=0).fit(counts)
    gains = (model.objective_[epca.WINDOW :] - model.objective_[: -epca.WINDOW]) / counts.sum() / epca.WINDOW
    assert model.n_iter_ < 500
    assert gains[-1] < 1e-3
    assert np.all(gains[:-1] >= 1e-3)


def small_corpus(counts: Floats) -> Corpus:
    documents = [
        (f"d{d}", [f"w{v}" for v in range(counts.shape[1]) for _ in range(int(counts[d, v]))])
        for d in range(len(counts))
    ]
    everything = [("all", [f"w{v}" for v in range(counts.shape[1])])]
    return Corpus.from_documents("small", [*documents, *everything]).subset(range(len(counts)))


def random_components(n_components: int, n_words: int, scale: float, seed: int = 0) -> Components:
    random = np.random.default_rng(seed)
    weights, centre = scale * random.standard_normal((n_words, n_components)), random.standard_normal(n_components)
    return Components(weights, centre, tuple(f"w{v}" for v in range(n_words)), {"penalty": 0.0})


def document_objective(h: Floats, x: Floats, W: Floats, penalty: float) -> float:
    return float(x @ W @ h - x.sum() * logsumexp(W @ h) - penalty / 2 * h @ h)


@settings(max_examples=15)
@given(
    n_components=st.integers(1, 15),
    scale=st.sampled_from([0.1, 1.0, 5.0]),
    penalty=st.sampled_from([0.01, 1.0]),
    newton=st.sampled_from([0, 5, 60]),
    seed=st.integers(0, 10**6),
)
def test_fold_in_reaches_the_maximum_to_its_tolerance(
    n_components: int, scale: float, penalty: float, newton: int, seed: int
) -> None:
    components = random_components(n_components, 12, scale, seed)
    counts = np.random.default_rng(seed).poisson(1.0, (5, 12)).astype(float)
    counts[0] = 0.0
    counts[1] = np.eye(12)[seed % 12]  # a document of one word: without a penalty its maximum may lie at infinity
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epca, "NEWTON", newton)
        h, gap = fold_in_counts(components, sp.csr_array(counts), penalty=penalty, iterations=400, tolerance=1e-5)
    lengths = counts.sum(axis=1)
    assert np.all(gap <= 1e-5 * lengths)
    np.testing.assert_array_equal(h[lengths == 0], 0.0)
    for d in np.flatnonzero(lengths):
        x, W = counts[d], components.weights

        def gradient(t: Floats, x: Floats = x, W: Floats = W) -> Floats:
            p = np.exp(W @ t - logsumexp(W @ t))
            return np.asarray(-(W.T @ (x - x.sum() * p)) + penalty * t)

        twin = scipy.optimize.minimize(
            lambda t, x=x, W=W: -document_objective(t, x, W, penalty),
            np.zeros(n_components),
            jac=gradient,
            method="L-BFGS-B",
            options={"maxiter": 5000, "maxfun": 10**5, "ftol": 1e-15, "gtol": 1e-9},
        )
        reached = document_objective(h[d], x, W, penalty)
        assert reached >= -twin.fun - 1e-5 * lengths[d] - 1e-9
        assert -twin.fun <= reached + gap[d] + 1e-7 * (1.0 + abs(reached))  # the certificate holds


@pytest.mark.parametrize("newton", [0, 1000])
def test_fold_in_does_not_depend_on_the_other_documents(newton: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epca, "NEWTON", newton)
    components = random_components(4, 30, 1.0)
    counts = random_counts(9, 30, seed=2)
    options = {"penalty": 1.0, "iterations": 500, "tolerance": 1e-10}
    together, _ = fold_in_counts(components, sp.csr_array(counts), **options)  # type: ignore[arg-type]
    order = np.random.default_rng(0).permutation(9)
    shuffled, _ = fold_in_counts(components, sp.csr_array(counts[order]), **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(shuffled, together[order], atol=1e-5)
    alone, _ = fold_in_counts(components, sp.csr_array(counts[3:4]), **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(alone[0], together[3], atol=1e-5)


def test_documents_that_run_out_of_iterations_are_told_by_their_bounds() -> None:
    components = random_components(10, 40, 3.0)
    counts = sp.csr_array(random_counts(20, 40, seed=4))
    _, gap = fold_in_counts(components, counts, penalty=0.01, iterations=1, tolerance=1e-6)
    assert np.sum(gap > 1e-6 * counts.sum(axis=1)) > 10


def test_fold_in_takes_the_larger_of_the_trainings_penalty_and_the_ridge() -> None:
    corpus = small_corpus(random_counts(6, 12, seed=3))
    components = random_components(3, 12, 1.0)
    for trained, ridge, used in ((0.0, 0.5, 0.5), (2.0, 0.5, 2.0)):
        components.provenance["penalty"] = trained
        theta = fold_with(epca, components, corpus, seed=0, iterations=300, tolerance=1e-8, ridge=ridge)
        expected, _ = fold_in_counts(components, corpus.counts(), penalty=used, iterations=300, tolerance=1e-8)
        np.testing.assert_array_equal(theta, expected)


def test_transform_finds_the_training_documents_weights_again() -> None:
    counts = random_counts(10, 8)
    model = EPCA(3, iterations=2000, tolerance=0.0, random_state=0).fit(counts)
    np.testing.assert_allclose(model.transform(counts), model.document_weights_, atol=0.05)


@pytest.mark.parametrize(
    ("counts", "message"),
    [([[1.0, -1.0]], "negative"), ([[np.nan, 1.0]], "undefined"), ([[0.0, 0.0]], "no tokens")],
)
def test_refuses_bad_counts(counts: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EPCA(2).fit(np.array(counts))


@pytest.mark.parametrize(
    "setting", [{"n_components": 0}, {"iterations": 0}, {"tolerance": -1.0}, {"penalty": -1e-9}, {"penalty": np.inf}]
)
def test_refuses_bad_settings(setting: dict[str, float]) -> None:
    with pytest.raises(InputError):
        EPCA().set_params(**setting).fit(np.ones((2, 2)))


@pytest.mark.parametrize("setting", [{"penalty": 0.0}, {"tolerance": 0.0}, {"iterations": 0}, {"penalty": np.nan}])
def test_refuses_bad_settings_of_the_fold_in(setting: dict[str, float]) -> None:
    options = {"penalty": 1.0, "iterations": 10, "tolerance": 1e-4, **setting}
    with pytest.raises(InputError, match="penalty and"):
        fold_in_counts(random_components(2, 4, 1.0), sp.csr_array(np.ones((1, 4))), **options)  # type: ignore[arg-type]
