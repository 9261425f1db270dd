"""PLSA-VEM and PLSA-TEM against dense twins, their invariants, and PLSA-HOF where they coincide with it."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from, fold_with, train_with

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import plsa, plsa_tem, plsa_vem
from heldout.models.plsa import PLSA, starting_values
from heldout.models.plsa_tem import PLSATEM
from heldout.models.plsa_vem import PLSAVEM
from heldout.topics import Topics
from heldout.typing import Floats

small_counts = arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(2, 9)), elements=st.integers(0, 6))


def random_counts(n_documents: int, n_words: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.poisson(random.gamma(0.5, 2.0, (n_documents, n_words))).astype(float)


def start(n_documents: int, n_words: int, n_topics: int, seed: int = 1) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(n_words), n_topics), random.dirichlet(np.ones(n_topics), n_documents)


def posterior(phi: Floats, theta: Floats, beta: float = 1.0) -> Floats:
    """Return q(z | d, w), (D, V, K), by equation 9 of Hofmann; with beta = 1 equation 3.23."""
    joint = (theta[:, None, :] * phi.T[None, :, :]) ** beta
    q: Floats = joint / joint.sum(axis=2, keepdims=True)
    return q


def new_theta(counts: Floats, q: Floats) -> Floats:
    weighted: Floats = (counts[:, :, None] * q).sum(axis=1)
    normalised: Floats = weighted / weighted.sum(axis=1, keepdims=True)
    return normalised


def new_phi(counts: Floats, q: Floats) -> Floats:
    weighted: Floats = (counts[:, :, None] * q).sum(axis=0).T
    normalised: Floats = weighted / weighted.sum(axis=1, keepdims=True)
    return normalised


def tiny_corpus() -> Corpus:
    random = np.random.default_rng(0)
    return Corpus.from_documents("tiny", [(f"d{d}", [f"w{w}" for w in random.integers(0, 20, 30)]) for d in range(10)])


@pytest.mark.parametrize("n_topics", [1, 3, 17])
@pytest.mark.parametrize("ve_iterations", [1, 4])
def test_vem_alternates_the_two_halves(n_topics: int, ve_iterations: int) -> None:
    counts = random_counts(12, 20)
    phi, theta = start(12, 20, n_topics)
    model = PLSAVEM(n_topics, iterations=5, ve_iterations=ve_iterations)
    fit_from(model, counts, starting_values(phi, theta))
    for _ in range(5):
        for _ in range(ve_iterations):
            theta = new_theta(counts, posterior(phi, theta))
        phi = new_phi(counts, posterior(phi, theta))
    np.testing.assert_allclose(model.components_, phi, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(model.document_topics_, theta, rtol=1e-11, atol=1e-14)
    expected = np.sum(counts * np.log(theta @ phi))
    np.testing.assert_allclose(model.log_likelihood_[-1], expected, rtol=1e-13)


@settings(max_examples=40)
@given(
    counts=small_counts, n_topics=st.integers(1, 12), seed=st.integers(0, 2**32 - 1), ve_iterations=st.integers(1, 5)
)
def test_vem_never_lowers_its_objective(counts: Floats, n_topics: int, seed: int, ve_iterations: int) -> None:
    counts[0, 0] += 1.0
    model = PLSAVEM(n_topics, iterations=30, ve_iterations=ve_iterations, random_state=seed).fit(counts)
    history = model.log_likelihood_
    assert np.all(np.diff(history) >= -1e-12 * (np.abs(history[:-1]) + counts.sum()))
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.document_topics_.sum(axis=1), 1.0, rtol=1e-12)


def test_an_optimum_of_hof_is_a_fixed_point_of_vem() -> None:
    random = np.random.default_rng(5)
    truth = random.dirichlet(np.full(30, 0.2), 3)
    counts = np.array([random.multinomial(200, random.dirichlet(np.ones(3)) @ truth) for _ in range(40)]).astype(float)
    hof = PLSA(3, iterations=20_000, random_state=1).fit(counts)
    at = starting_values(hof.components_, hof.document_topics_)
    moved = fit_from(PLSAVEM(3, iterations=5, ve_iterations=3), counts, at)
    np.testing.assert_allclose(moved.components_, hof.components_, atol=1e-6)
    np.testing.assert_allclose(moved.document_topics_, hof.document_topics_, atol=1e-6)
    # from elsewhere it does move, and by another path
    phi, theta = start(40, 30, 3)
    models = (PLSA(3, iterations=1), PLSAVEM(3, iterations=1))
    one = [fit_from(model, counts, starting_values(phi, theta)) for model in models]
    assert np.abs(one[0].components_ - phi).max() > 1e-3
    assert np.abs(one[0].components_ - one[1].components_).max() > 1e-4


def test_the_first_ve_step_is_hofs_and_so_is_a_vm_step_from_a_settled_h() -> None:
    counts = random_counts(10, 14)
    phi, theta = start(10, 14, 4)
    hof = fit_from(PLSA(4, iterations=1), counts, starting_values(phi, theta))
    vem = fit_from(PLSAVEM(4, iterations=1), counts, starting_values(phi, theta))
    np.testing.assert_array_equal(vem.document_topics_, hof.document_topics_)
    assert vem.log_likelihood_[0] == hof.log_likelihood_[0]
    # HOF's words pass from H is the VM step after a VE step that left H where it is
    settled = fit_from(PLSA(4, iterations=1), counts, starting_values(phi, vem.document_topics_))
    np.testing.assert_allclose(vem.components_, settled.components_, rtol=1e-13)


@pytest.mark.parametrize("beta", [0.5, 0.83, 1.0])
@pytest.mark.parametrize("n_topics", [1, 3, 17])
def test_tem_tempers_the_whole_product(beta: float, n_topics: int) -> None:
    counts = random_counts(12, 20)
    phi, theta = start(12, 20, n_topics)
    model = fit_from(PLSATEM(n_topics, beta=beta, iterations=6), counts, starting_values(phi, theta))
    free_energies = []
    for _ in range(6):
        free_energies.append(-np.sum(counts * np.log(((theta[:, None, :] * phi.T) ** beta).sum(axis=2))))
        q = posterior(phi, theta, beta)
        phi, theta = new_phi(counts, q), new_theta(counts, q)
    np.testing.assert_allclose(model.components_, phi, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(model.document_topics_, theta, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(model.log_likelihood_[:-1], -np.array(free_energies), rtol=1e-12, atol=1e-12)


@settings(max_examples=60)
@given(counts=small_counts, n_topics=st.integers(1, 12), seed=st.integers(0, 2**32 - 1), beta=st.floats(0.05, 1.0))
def test_tem_never_raises_the_free_energy(counts: Floats, n_topics: int, seed: int, beta: float) -> None:
    counts[0, 0] += 1.0
    history = PLSATEM(n_topics, beta=beta, iterations=30, random_state=seed).fit(counts).log_likelihood_
    assert np.all(np.diff(history) >= -1e-11 * (np.abs(history[:-1]) + counts.sum()))


def test_tem_at_beta_1_is_hof_bit_for_bit() -> None:
    corpus = tiny_corpus()
    options: dict[str, Any] = {"topics": 4, "seed": 3, "iterations": 20, "tolerance": 1e-4}
    hof, tem = (
        train_with(plsa, corpus, **options)[0],
        train_with(plsa_tem, corpus, beta=1.0, **options)[0],
    )
    assert tem.phi.tobytes() == hof.phi.tobytes()
    assert tem.provenance["objective"] == hof.provenance["log_likelihood"]
    folds = [fold_with(m, t, corpus, seed=0, iterations=30, tolerance=1e-5) for m, t in ((plsa, hof), (plsa_tem, tem))]
    assert folds[0].tobytes() == folds[1].tobytes()
    other = train_with(plsa_tem, corpus, beta=0.9, **options)[0]
    assert np.abs(other.phi - hof.phi).max() > 1e-3


def test_all_three_share_their_start() -> None:
    corpus = tiny_corpus()
    options: dict[str, Any] = {"topics": 4, "seed": 3, "iterations": 1, "tolerance": 0.0}
    hof, vem = train_with(plsa, corpus, **options)[0], train_with(plsa_vem, corpus, ve_iterations=1, **options)[0]
    assert vem.provenance["log_likelihood"][0] == hof.provenance["log_likelihood"][0]
    assert vem.provenance["model"] == "plsa-vem"
    again = train_with(plsa_vem, corpus, ve_iterations=1, **options)[0]
    assert again.phi.tobytes() == vem.phi.tobytes()


def test_hot_tempering_forgets_the_topics() -> None:
    """Far below the transition every topic is the unigram distribution: q(z | d, w) = 1 / K is the only fixed point."""
    counts = random_counts(30, 12)
    model = PLSATEM(3, beta=0.3, iterations=200, random_state=0).fit(counts)
    unigram = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(model.components_, np.tile(unigram, (3, 1)), atol=1e-9)


def make_topics(n_topics: int, n_words: int, seed: int = 0, **provenance: Any) -> Topics:
    phi = np.random.default_rng(seed).dirichlet(np.full(n_words, 0.3), n_topics)
    return Topics(phi, np.ones(n_topics), tuple(f"w{v}" for v in range(n_words)), provenance)


def tempered_objective(counts: Floats, phi: Floats, theta: Floats, beta: float) -> float:
    return float(np.sum(counts * np.log((theta[:, None] ** beta * phi**beta).sum(axis=0))))


@settings(max_examples=10)
@given(n_topics=st.integers(1, 20), seed=st.integers(0, 10**6), beta=st.floats(0.3, 0.98))
def test_tem_fold_in_reaches_the_tempered_maximum(n_topics: int, seed: int, beta: float) -> None:
    topics = make_topics(n_topics, 12, seed)
    counts = np.random.default_rng(seed).poisson(1.5, (1, 12)).astype(float)
    counts[0, 0] += 1.0
    theta = plsa.fold_in_counts(topics, sp.csr_array(counts), beta=beta, iterations=100_000, tolerance=1e-7)[0]
    assert theta.sum() == pytest.approx(1.0, abs=1e-12)
    twin = np.full(n_topics, 1.0 / n_topics)
    for _ in range(3_000):
        twin = new_theta(counts, posterior(topics.phi, twin[None, :], beta))[0]
    reached = tempered_objective(counts[0], topics.phi, theta, beta)
    assert reached >= tempered_objective(counts[0], topics.phi, twin, beta) - 1.1e-7 * counts.sum()
    # concave: no point of the simplex does better, whichever one is tried
    for other in np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.5), 50):
        assert tempered_objective(counts[0], topics.phi, other, beta) <= reached + 1.1e-7 * counts.sum()


@pytest.mark.parametrize("beta", [0.6, 0.94])
def test_tem_fold_in_is_the_tempered_e_step_with_topics_fixed(beta: float) -> None:
    topics = make_topics(5, 12)
    counts = random_counts(4, 12, seed=8)
    theta = np.full((4, 5), 0.2)
    for _ in range(3):
        theta = new_theta(counts, posterior(topics.phi, theta, beta))
    folded = plsa.fold_in_counts(topics, sp.csr_array(counts), beta=beta, iterations=3, tolerance=0.0)
    np.testing.assert_allclose(folded, theta, rtol=1e-12)


def test_tem_folds_in_at_the_beta_that_it_was_trained_with() -> None:
    corpus = tiny_corpus()
    topics = train_with(plsa_tem, corpus, topics=4, seed=3, iterations=20, tolerance=0.0, beta=0.86)[0]
    folded = fold_with(plsa_tem, topics.smoothed(1e-4), corpus, seed=0, iterations=40, tolerance=1e-6)
    for beta, same in ((0.86, True), (0.88, False)):
        options: dict[str, Any] = {"beta": beta, "iterations": 40, "tolerance": 1e-6}
        by_hand = plsa.fold_in_counts(topics.smoothed(1e-4), corpus.counts(), **options)
        assert np.array_equal(folded, by_hand) == same
    alone = fold_with(plsa_tem, topics.smoothed(1e-4), corpus.subset([7]), seed=0, iterations=40, tolerance=1e-6)
    np.testing.assert_array_equal(alone[0], folded[7])


@pytest.mark.parametrize(
    ("version", "setting"), [(plsa, {}), (plsa_vem, {"ve_iterations": 1}), (plsa_tem, {"beta": 0.8})]
)
def test_every_version_trains_topics_with_the_flat_prior(version: Any, setting: dict[str, float]) -> None:
    topics = train_with(version, tiny_corpus(), topics=3, seed=0, iterations=2, tolerance=0.0, **setting)[0]
    np.testing.assert_array_equal(topics.smoothed(1e-3).alpha, np.ones(3))


def test_tem_refuses_topics_that_name_no_beta() -> None:
    corpus = tiny_corpus()
    for topics in (make_topics(3, 20), make_topics(3, 20, model="lda", beta=0.01)):
        with pytest.raises(InputError, match="no beta"):
            fold_with(plsa_tem, topics, corpus, seed=0, iterations=5, tolerance=0.0)


def test_transform_folds_in_with_the_models_own_settings() -> None:
    counts = random_counts(10, 12)
    model = PLSATEM(3, beta=0.8, iterations=30, random_state=0).fit(counts)
    by_hand = plsa.fold_in_counts(
        model.topics(tuple(f"w{v}" for v in range(12))), sp.csr_array(counts), beta=0.8, iterations=30, tolerance=0.0
    )
    np.testing.assert_array_equal(model.transform(counts), by_hand)


@pytest.mark.parametrize(
    "model",
    [PLSAVEM(ve_iterations=0), PLSAVEM(iterations=0), PLSATEM(beta=0.0), PLSATEM(beta=1.1), PLSATEM(beta=np.nan)],
)
def test_bad_settings_are_refused(model: PLSA) -> None:
    with pytest.raises(InputError, match=r"^PLSA"):
        model.fit(np.ones((2, 2)))


def test_dirichlet_priors_are_constants_in_both_halves_of_the_update() -> None:
    random = np.random.default_rng(0)
    X, W, H = (
        random.poisson(2.0, (6, 5)).astype(float),
        random.dirichlet(np.ones(5), 2).T,
        random.dirichlet([1.0, 1.0], 6),
    )
    last = -np.inf
    for _ in range(500):
        H = H * ((X / (H @ W.T)) @ W) + 0.7  # b = 1.7
        H /= H.sum(axis=1, keepdims=True)
        W = W * ((X / (H @ W.T)).T @ H) + 0.3  # a = 1.3
        W /= W.sum(axis=0)
        now = (X * np.log(H @ W.T)).sum() + 0.7 * np.log(H).sum() + 0.3 * np.log(W).sum()
        assert now >= last - 1e-12 * abs(now)
        last = now
    gradient = W * ((X / (H @ W.T)).T @ H + 0.3 / W)  # at the maximum it is proportional to W in each column
    np.testing.assert_allclose(gradient / gradient.sum(axis=0), W, atol=1e-6)
