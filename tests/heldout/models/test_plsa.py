"""PLSA against its slow twins, its invariants and another library."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from, fold_with, train_with

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models import plsa
from heldout.models.plsa import PLSA, fold_in_counts, starting_values
from heldout.topics import Topics
from heldout.typing import Floats


def random_counts(n_documents: int, n_words: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.poisson(random.gamma(0.5, 2.0, (n_documents, n_words))).astype(float)


def start(n_documents: int, n_words: int, n_topics: int, seed: int = 1) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(n_words), n_topics), random.dirichlet(np.ones(n_topics), n_documents)


def symmetric_em(counts: Floats, phi: Floats, theta: Floats, iterations: int) -> tuple[Floats, Floats]:
    """Run Hofmann's EM on p(z), p(d | z), p(w | z), with the documents x words x topics array written out."""
    p_zd = theta * counts.sum(axis=1, keepdims=True) / counts.sum()
    p_z = p_zd.sum(axis=0)
    p_d_z = p_zd / p_z
    p_w_z = phi.T
    for _ in range(iterations):
        joint = p_z * p_d_z[:, None, :] * p_w_z[None, :, :]
        posterior = joint / joint.sum(axis=2, keepdims=True)
        weighted = counts[:, :, None] * posterior
        p_w_z = weighted.sum(axis=0) / weighted.sum(axis=(0, 1))
        p_d_z = weighted.sum(axis=1) / weighted.sum(axis=(0, 1))
        p_z = weighted.sum(axis=(0, 1)) / weighted.sum()
    joint_zd = p_d_z * p_z
    return p_w_z.T, joint_zd / joint_zd.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n_topics", "iterations"), [(1, 3), (3, 1), (3, 7), (17, 5), (33, 2)])
def test_follows_hofmanns_symmetric_parameters(n_topics: int, iterations: int) -> None:
    counts = random_counts(12, 20)
    phi, theta = start(12, 20, n_topics)
    model = fit_from(PLSA(n_topics, iterations=iterations), counts, starting_values(phi, theta))
    twin_phi, twin_theta = symmetric_em(counts, phi, theta, iterations)
    np.testing.assert_allclose(model.components_, twin_phi, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(model.document_topics_, twin_theta, rtol=1e-11, atol=1e-14)
    expected = np.sum(counts * np.log(np.where(counts > 0, twin_theta @ twin_phi, 1.0)))
    np.testing.assert_allclose(model.log_likelihood_[-1], expected, rtol=1e-13)


@settings(max_examples=60)
@given(
    counts=arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(2, 9)), elements=st.integers(0, 6)),
    n_topics=st.integers(1, 12),
    seed=st.integers(0, 2**32 - 1),
)
def test_em_never_lowers_the_log_likelihood(counts: Floats, n_topics: int, seed: int) -> None:
    if counts.sum() == 0:
        with pytest.raises(InputError, match="no tokens"):
            PLSA(n_topics).fit(counts)
        return
    model = PLSA(n_topics, iterations=40, random_state=seed).fit(counts)
    history = model.log_likelihood_
    rounding = 1e-12 * (np.abs(history[:-1]) + counts.sum())
    assert np.all(np.diff(history) >= -rounding)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.document_topics_.sum(axis=1), 1.0, rtol=1e-12)
    # the empirical distribution of every document is the best that any model can do
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    best = np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)))
    assert history[-1] <= best + rounding[-1]


def test_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = random_counts(30, 40)
    counts[3], counts[:, 5] = 0.0, 0.0
    whole = PLSA(19, iterations=4, random_state=0).fit(counts)
    for name in ("L1_CACHE", "L2_CACHE", "CELLS"):
        monkeypatch.setattr(plsa, name, 1)
    assert len(plsa.Cells.of(sp.csr_array(counts)).begins) > 10
    split = PLSA(19, iterations=4, random_state=0).fit(counts)
    for attribute in ("components_", "document_topics_", "log_likelihood_"):
        np.testing.assert_array_equal(getattr(split, attribute), getattr(whole, attribute))


def test_one_topic_is_the_unigram_model() -> None:
    counts = random_counts(9, 14)
    model = PLSA(1, iterations=2, random_state=0).fit(counts)
    np.testing.assert_allclose(model.components_[0], counts.sum(axis=0) / counts.sum(), rtol=1e-12)


def test_as_many_topics_as_documents_reach_the_empirical_distributions() -> None:
    counts = random_counts(6, 15)
    shares = counts / counts.sum(axis=1, keepdims=True)
    best = np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)))
    model = fit_from(PLSA(6, iterations=50), counts, starting_values(shares + 1e-3, np.eye(6) + 1e-3))
    assert model.log_likelihood_[-1] == pytest.approx(best, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Maximum number of iterations:sklearn.exceptions.ConvergenceWarning")
def test_half_steps_are_scikit_learns_nmf_kl() -> None:
    from sklearn.decomposition import non_negative_factorization

    counts = random_counts(15, 11)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    phi, theta = start(counts.shape[0], counts.shape[1], 4)
    kl = {"solver": "mu", "beta_loss": "kullback-leibler", "max_iter": 1, "tol": 0.0, "n_components": 4}
    # scikit-learn starts the factor that it updates from a constant
    model = fit_from(PLSA(4, iterations=1), counts, starting_values(phi, np.ones_like(theta)))
    by_document, _, _ = non_negative_factorization(counts, None, phi.copy(), update_H=False, **kl)
    np.testing.assert_allclose(model.document_topics_, by_document / by_document.sum(axis=1, keepdims=True), rtol=1e-6)
    # by symmetry: with the document weights scaled to the documents' lengths, words take the documents' part
    lengths = counts.sum(axis=1, keepdims=True)
    model = fit_from(PLSA(4, iterations=1), counts, starting_values(np.ones_like(phi), theta))
    by_word, _, _ = non_negative_factorization(counts.T.copy(), None, (theta * lengths).T.copy(), update_H=False, **kl)
    np.testing.assert_allclose(model.components_.T, by_word / by_word.sum(axis=0), rtol=1e-6)


def test_unseen_words_get_nothing_and_empty_documents_keep_their_start() -> None:
    counts = random_counts(8, 10)
    counts[3] = 0.0
    counts[:, 4] = 0.0
    phi, theta = start(8, 10, 3)
    model = fit_from(PLSA(3, iterations=20), sp.csr_array(counts), starting_values(phi, theta))
    assert np.all(model.components_[:, 4] == 0.0)
    np.testing.assert_allclose(model.document_topics_[3], theta[3], rtol=1e-12)
    assert np.isfinite(model.log_likelihood_).all()


def test_the_constant_at_every_m_step() -> None:
    counts = random_counts(8, 10)
    phi, theta = start(8, 10, 3)
    model = fit_from(PLSA(3, iterations=2, smoothing=0.01), counts, starting_values(phi, theta))
    fits = [np.sum(counts * np.log(theta @ phi))]
    for _ in range(2):
        phi, theta = symmetric_em(counts, phi, theta, 1)
        phi = (phi + 0.01) / (1 + 10 * 0.01)
        fits.append(np.sum(counts * np.log(theta @ phi)))
    np.testing.assert_allclose(model.components_, phi, rtol=1e-12)
    np.testing.assert_allclose(model.log_likelihood_, fits, rtol=1e-13)  # a probability at every iteration


@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_a_topic_that_explains_no_token_becomes_uniform_and_changes_nothing(smoothing: float) -> None:
    counts = random_counts(8, 10)
    counts[:, 4] = 0.0
    phi, theta = start(8, 10, 3)
    phi[2] = np.arange(10) == 4
    model = fit_from(PLSA(3, iterations=3, smoothing=smoothing), counts, starting_values(phi, theta))
    others = fit_from(PLSA(2, iterations=3, smoothing=smoothing), counts, starting_values(phi[:2], theta[:, :2]))
    np.testing.assert_allclose(model.components_[2], 0.1, rtol=1e-14)
    np.testing.assert_array_equal(model.document_topics_[:, 2], 0.0)
    np.testing.assert_allclose(model.components_[:2], others.components_, rtol=1e-12)
    np.testing.assert_allclose(model.log_likelihood_[1:], others.log_likelihood_[1:], rtol=1e-13)


def test_the_topics_carry_the_flat_prior_that_every_truth_of_plsa_rests_on() -> None:
    """Topics of one word each: all numbers n of one word are equally likely, 1 / ((L + 1) C(L, n)) a sequence."""
    model = fit_from(PLSA(2, iterations=1), np.eye(2), starting_values(np.eye(2), np.full((2, 2), 0.5)))
    documents = Corpus.from_documents("urn", [(f"d{n}", ["a"] * (6 - n) + ["b"] * n) for n in range(6)])
    found = exact_marginal(model.topics(("a", "b")).smoothed(0.0), documents).log_likelihood
    np.testing.assert_allclose(found, [-math.log(7 * math.comb(6, n)) for n in range(6)], rtol=1e-13)


def test_stops_when_an_iteration_gains_too_little() -> None:
    counts = random_counts(20, 15)
    model = PLSA(3, iterations=500, tolerance=1e-3, random_state=0).fit(counts)
    gains = np.diff(model.log_likelihood_) / counts.sum()
    assert 2 < model.n_iter_ < 500
    assert gains[model.n_iter_ - 2] < 1e-3 <= gains[model.n_iter_ - 3]
    assert len(model.log_likelihood_) == model.n_iter_ + 1


@pytest.mark.parametrize(
    ("counts", "message"),
    [([[1.0, -1.0]], "negative"), ([[np.nan, 1.0]], "undefined"), ([[0.0, 0.0]], "no tokens")],
)
def test_refuses_bad_counts(counts: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PLSA(2).fit(np.array(counts))


@pytest.mark.parametrize(
    "setting",
    [
        *({"n_components": 0}, {"iterations": 0}, {"tolerance": -1.0}, {"tolerance": np.nan}),
        *({"smoothing": -1e-9}, {"smoothing": np.inf}),
    ],
)
def test_refuses_bad_settings(setting: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PLSA().set_params(**setting).fit(np.ones((2, 2)))


def make_topics(n_topics: int, n_words: int, seed: int = 0) -> Topics:
    phi = np.random.default_rng(seed).dirichlet(np.full(n_words, 0.3), n_topics)
    return Topics(phi, np.ones(n_topics), tuple(f"w{v}" for v in range(n_words)))


@settings(max_examples=25)
@given(n_topics=st.integers(1, 20), seed=st.integers(0, 10**6), extrapolated=st.booleans())
def test_fold_in_reaches_the_maximum_to_its_tolerance(n_topics: int, seed: int, extrapolated: bool) -> None:
    topics = make_topics(n_topics, 12, seed)
    counts = np.random.default_rng(seed).poisson(1.5, (1, 12)).astype(float)
    if counts.sum() == 0:
        counts[0, 0] = 1.0

    def objective(theta: Floats) -> float:
        return float(np.sum(counts[0] * np.log(theta @ topics.phi + 1e-300)))

    settings = {"iterations": 100_000, "tolerance": 1e-6, "extrapolated": extrapolated}
    theta = fold_in_counts(topics, sp.csr_array(counts), **settings)[0]  # type: ignore[arg-type]
    assert theta.sum() == pytest.approx(1.0, abs=1e-12)
    twin = scipy.optimize.minimize(
        lambda t: -objective(np.abs(t) / np.abs(t).sum()),
        np.full(n_topics, 1.0 / n_topics),
        method="L-BFGS-B",
        bounds=[(1e-12, 1.0)] * n_topics,
    )
    assert objective(theta) >= -twin.fun - 1.1e-6 * counts.sum()


@settings(max_examples=40)
@given(n_topics=st.integers(2, 9), seed=st.integers(0, 2**32 - 1))
def test_extrapolation_never_ends_below_a_start_or_its_update(n_topics: int, seed: int) -> None:
    topics = make_topics(n_topics, 12, seed)
    counts = 1.0 + np.random.default_rng(seed).poisson(1.5, (1, 12)).astype(float)

    def reached(iterations: int) -> float:
        options = {"iterations": iterations, "tolerance": 0.0, "extrapolated": True}
        theta = fold_in_counts(topics, sp.csr_array(counts), **options)[0]  # type: ignore[arg-type]
        return float(np.sum(counts[0] * np.log(theta @ topics.phi)))

    assert np.all(np.diff([reached(iterations) for iterations in (1, 3, 4, 6, 7, 9, 10, 12)]) >= -1e-9)


def test_extrapolation_takes_fewer_iterations() -> None:
    rng = np.random.default_rng(5)
    topics = Topics(rng.dirichlet(np.full(400, 0.3), 30), np.ones(30), tuple(map(str, range(400))))
    counts = rng.multinomial(150, rng.dirichlet(np.full(30, 0.3), 20) @ topics.phi).astype(float)

    def reached(**options: object) -> Floats:
        theta = fold_in_counts(topics, sp.csr_array(counts), tolerance=0.0, **options)  # type: ignore[arg-type]
        found: Floats = np.sum(counts * np.log(theta @ topics.phi), axis=1)
        return found

    maximum = reached(iterations=30_000)
    short = np.mean(maximum - reached(iterations=90))
    assert np.mean(maximum - reached(iterations=90, extrapolated=True)) < 0.1 * short


def test_fold_in_is_the_e_step_with_topics_fixed() -> None:
    topics = make_topics(5, 12)
    counts = random_counts(4, 12, seed=8)
    theta = np.full((4, 5), 0.2)
    for _ in range(3):
        joint = theta[:, None, :] * topics.phi.T[None, :, :]
        posterior = joint / joint.sum(axis=2, keepdims=True)
        theta = (counts[:, :, None] * posterior).sum(axis=1) / counts.sum(axis=1, keepdims=True)
    folded = fold_in_counts(topics, sp.csr_array(counts), iterations=3, tolerance=0.0)
    np.testing.assert_allclose(folded, theta, rtol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-5])
def test_fold_in_stops_at_the_first_bound_within_the_tolerance_per_token(tolerance: float) -> None:
    topics = make_topics(4, 12)
    counts = random_counts(5, 12, seed=8) * np.array([[1.0], [10.0], [1.0], [100.0], [1e-3]])
    folded = fold_in_counts(topics, sp.csr_array(counts), iterations=100_000, tolerance=tolerance)
    iterations = []
    for row, found in zip(counts, folded, strict=True):
        theta, shares, bound = np.full(4, 0.25), row / row.sum(), np.inf
        iterations.append(0)
        while bound > tolerance:
            gradient = topics.phi @ (shares / (theta @ topics.phi))
            theta, bound = theta * gradient, gradient.max() - 1.0
            iterations[-1] += 1
        np.testing.assert_allclose(found, theta, rtol=1e-9, atol=1e-15)
    assert max(iterations) > 2


@pytest.mark.parametrize(("scale", "informs"), [(1e-20, True), (1e-31, False), (1e-310, False)])
def test_fold_in_learns_from_rare_words_down_to_the_smallest_probability(scale: float, informs: bool) -> None:
    """The likelihood's maximum does not depend on a word's scale; below 1e-30 the word is left out: 1 / p overflows."""
    phi = np.random.default_rng(2).dirichlet(np.ones(5), 3) / 2.0
    phi = np.column_stack([phi, 1.0 - phi.sum(axis=1)])
    counts = np.array([[2.0, 0.0, 1.0, 3.0, 4.0, 0.0]])

    def folded(phi: Floats, counts: Floats) -> Floats:
        topics = Topics(phi, np.ones(3), tuple("abcdef"))
        theta: Floats = fold_in_counts(topics, sp.csr_array(counts), iterations=30, tolerance=0.0)[0]
        return theta

    rare = phi * [1.0, 1.0, 1.0, 1.0, scale, 1.0]
    rare[:, 5] = 1.0 - rare[:, :5].sum(axis=1)
    expected, other = folded(phi, counts), folded(phi, counts * (np.arange(6) != 4))
    np.testing.assert_allclose(folded(rare, counts), expected if informs else other, rtol=1e-12)
    assert np.abs(expected - other).max() > 0.01


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_fold_in_of_nothing_is_uniform_and_impossible_words_do_not_inform(beta: float) -> None:
    topics = make_topics(4, 6)
    topics.phi[:, 5] = 0.0
    topics.phi[:] /= topics.phi.sum(axis=1, keepdims=True)
    counts = np.array([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3], [2, 1, 0, 0, 0, 3], [2, 1, 0, 0, 0, 0]], dtype=float)
    theta = fold_in_counts(topics, sp.csr_array(counts), beta=beta, iterations=50, tolerance=0.0)
    np.testing.assert_array_equal(theta[:2], 0.25)
    np.testing.assert_array_equal(theta[2], theta[3])


def test_a_document_is_folded_in_alone_bit_for_bit() -> None:
    random = np.random.default_rng(0)
    documents = [(f"d{d}", [f"w{w}" for w in random.integers(0, 20, 30)]) for d in range(10)]
    corpus = Corpus.from_documents("tiny", documents)
    first = train_with(plsa, corpus, topics=4, seed=3, iterations=20, tolerance=0.0)[0]
    alone = fold_with(plsa, first, corpus.subset([7]), seed=0, iterations=20, tolerance=1e-4)
    batch = fold_with(plsa, first, corpus, seed=0, iterations=20, tolerance=1e-4)
    np.testing.assert_array_equal(alone[0], batch[7])


def test_transform_folds_in() -> None:
    counts = random_counts(10, 12)
    model = PLSA(3, iterations=30, random_state=0).fit(counts)
    theta = model.transform(counts)
    assert theta.shape == (10, 3)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0)
