"""LDA's other algorithms against all assignments of a tiny corpus, and against scikit-learn's."""

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models.lda import LDA
from heldout.models.lda_gibbs import LDAGibbs, split_counts
from heldout.models.lda_online_vb import OnlineLDAVB
from heldout.models.lda_vb import LDAVB, document_bounds, e_step, expected_log
from heldout.topics import Topics

Float = NDArray[np.float64]
ALPHA, GAMMA = 0.6, 0.3
COUNTS = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 2.0], [1.0, 0.0, 2.0]])  # 10 tokens, 2 topics: 2^10 assignments


def log_joint(counts: Float, K: int) -> tuple[Float, NDArray[np.int64], Float]:
    """Return log p(w, q | alpha, gamma) (27.34 and 27.36), (Q,), of all assignments q, (Q, N), and the tokens."""
    pairs = np.array([(d, v) for d, v in np.ndindex(*counts.shape) for _ in range(int(counts[d, v]))])
    D, V = counts.shape
    every = np.array(list(itertools.product(range(K), repeat=len(pairs))))
    in_document = np.stack([[(q[pairs[:, 0] == d] == k).sum() for q in every] for d in range(D) for k in range(K)], 1)
    in_word = np.stack([[(q[pairs[:, 1] == v] == k).sum() for q in every] for k in range(K) for v in range(V)], 1)
    lengths, totals = counts.sum(axis=1), in_word.reshape(-1, K, V).sum(axis=2)
    prior = (gammaln(K * ALPHA) - gammaln(lengths + K * ALPHA)).sum() + (
        gammaln(in_document + ALPHA) - gammaln(ALPHA)
    ).sum(axis=1)
    words = (gammaln(V * GAMMA) - gammaln(totals + V * GAMMA)).sum(axis=1) + (
        gammaln(in_word + GAMMA) - gammaln(GAMMA)
    ).sum(axis=1)
    return prior + words, every, pairs


def test_uncollapsed_and_collapsed_gibbs_draw_from_the_posterior() -> None:
    """The mean of sum_k C(c_dk, 2), pairs of tokens of one topic, over chains: 6 tests at 4.8 s.e., about 1e-5."""
    joint, every, pairs = log_joint(COUNTS, 2)
    p = np.exp(joint - logsumexp(joint))
    expected = np.zeros(3)
    for d in range(3):
        c = (every[:, pairs[:, 0] == d] == 0).sum(axis=1)
        L = int(COUNTS[d].sum())
        expected[d] = p @ (c * (c - 1) / 2 + (L - c) * (L - c - 1) / 2)
    random, model = np.random.default_rng(0), LDAGibbs(2, alpha=ALPHA, gamma=GAMMA)
    counts, chains = sp.csr_array(COUNTS), 120
    ends = []
    for _ in range(chains):  # independent chains of 25 sweeps
        state = model.start(counts, random)
        for _ in range(25):
            state = model.sweep(counts, state, random)
        ends.append((state.in_document * (state.in_document - 1.0)).sum(axis=1) / 2.0)
    found = np.array(ends)
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4.8 * found.std(axis=0) / math.sqrt(chains))
    collapsed = []
    for chain in range(chains):
        fitted = LDA(2, alpha=ALPHA, beta=GAMMA, sweeps=25, evaluate_every=25, random_state=chain).fit(COUNTS)
        c = np.array([np.bincount(z, minlength=2) for z in np.split(fitted.assignments_, [3, 7])])
        collapsed.append((c * (c - 1.0)).sum(axis=1) / 2.0)
    found = np.array(collapsed)
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4.8 * found.std(axis=0) / math.sqrt(chains))


def test_the_bound_of_variational_bayes_rises_and_stays_below_the_evidence() -> None:
    evidence = logsumexp(log_joint(COUNTS, 2)[0])
    for seed in range(3):
        model = LDAVB(2, alpha=ALPHA, gamma=GAMMA, tolerance=0.0, document_tolerance=1e-12, random_state=seed)
        bounds = model.fit(COUNTS).bound_
        assert len(bounds) > 3
        assert np.all(np.diff(bounds[:-1]) >= -1e-9)
        assert evidence - 6.0 < bounds[-1] < evidence
    one = LDAVB(1, alpha=ALPHA, gamma=GAMMA, iterations=3).fit(COUNTS)  # nothing is hidden: the bound is the evidence
    assert one.bound_[-1] == pytest.approx(log_joint(COUNTS, 1)[0][0], abs=1e-10)


def test_the_e_step_is_algorithm_27_1_and_its_bound_lies_below_the_likelihood() -> None:
    """The sequence version, token by token (27.39 to 27.41), is the slow twin of the version for counts."""
    rng = np.random.default_rng(4)
    b, alpha = rng.dirichlet(np.full(3, 0.4), 2), np.array([0.3, 1.2])
    counts = sp.csr_array(COUNTS)
    pseudo, expected = e_step(counts, np.log(b), alpha, iterations=7, tolerance=0.0)
    total = np.zeros((2, 3))
    for d, n in enumerate(COUNTS):
        tokens = np.repeat(np.arange(3), n.astype(int))
        row = alpha + len(tokens) / 2
        for _ in range(7):
            q = b[:, tokens] * np.exp(digamma(row) - digamma(row.sum()))[:, None]
            row = alpha + (q / q.sum(axis=0)).sum(axis=1)
        np.testing.assert_allclose(pseudo[d], row, rtol=1e-10)
        q = b[:, tokens] * np.exp(digamma(row) - digamma(row.sum()))[:, None]
        np.add.at(total.T, tokens, (q / q.sum(axis=0)).T)
    np.testing.assert_allclose(expected, total, rtol=1e-10)
    topics = Topics(b, alpha, tuple("abc"))
    streams = [np.repeat(np.arange(3), n.astype(int)).astype(np.int32) for n in COUNTS]
    documents = Corpus.from_documents("d", [("a", list("abc"))]).with_streams(streams, tuple("abc"))
    exact = exact_marginal(topics, documents).log_likelihood
    bounds = document_bounds(counts, np.log(b), alpha, pseudo)
    assert np.all(bounds < exact)
    assert np.all(bounds > exact - 1.0)


@pytest.mark.parametrize("sklearn_method", ["batch", "online"])
def test_a_step_is_that_of_scikit_learn(sklearn_method: str) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    rng = np.random.default_rng(5)
    counts = rng.poisson(1.0, (12, 8)).astype(float) + np.eye(12, 8)
    start = np.random.RandomState(3).gamma(100.0, 0.01, (2, 8))
    tight: dict[str, Any] = {"document_iterations": 2000, "document_tolerance": 1e-12}
    theirs = decomposition.LatentDirichletAllocation(
        2,
        doc_topic_prior=ALPHA,
        topic_word_prior=GAMMA,
        learning_method=sklearn_method,
        learning_offset=2.0,
        learning_decay=0.6,
        batch_size=12,
        max_iter=1,
        total_samples=12,
        max_doc_update_iter=2000,
        mean_change_tol=1e-12,
        random_state=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(counts)
    if sklearn_method == "batch":
        ours = LDAVB(2, alpha=ALPHA, gamma=GAMMA, iterations=1, **tight)
    else:  # scikit-learn's t starts from 1
        ours = OnlineLDAVB(2, alpha=ALPHA, gamma=GAMMA, batch=12, tau=3.0, kappa=0.6, **tight)
    np.testing.assert_allclose(ours.fit(counts, pseudo_counts=start).pseudo_counts_, theirs.components_, rtol=1e-6)


def test_one_batch_without_decay_is_a_round_of_batch() -> None:
    start = np.random.default_rng(6).gamma(1.0, 1.0, (2, 3))
    settings: dict[str, Any] = {"alpha": ALPHA, "gamma": GAMMA, "document_tolerance": 1e-9}
    batch = LDAVB(2, iterations=4, tolerance=0.0, **settings).fit(COUNTS, pseudo_counts=start)
    online = OnlineLDAVB(2, batch=3, kappa=0.0, passes=4, **settings).fit(COUNTS, pseudo_counts=start)
    np.testing.assert_allclose(online.pseudo_counts_, batch.pseudo_counts_, rtol=1e-9)
    np.testing.assert_allclose(online.bound_, batch.bound_, rtol=1e-9)
    small = OnlineLDAVB(2, batch=1, passes=60, random_state=0, **settings).fit(COUNTS)
    assert small.bound_[-1] > small.bound_[0]


def test_tiny_parameters_do_not_underflow() -> None:
    model = LDAVB(2, alpha=1e-4, gamma=1e-5, iterations=20, random_state=0).fit(COUNTS)
    assert np.all(np.isfinite(model.bound_))
    assert np.all(np.isfinite(model.document_topics_))
    np.testing.assert_allclose(model.pseudo_counts_.sum(), COUNTS.sum() + 6e-5)
    assert expected_log(np.array([[1e-5, 1.0]]))[0, 0] < -9e4


def test_splits_keep_every_count() -> None:
    random = np.random.default_rng(7)
    in_document, in_word = split_counts(sp.csr_array(COUNTS), random.random((3, 4)), random.random((4, 3)), random)
    np.testing.assert_array_equal(in_document.sum(axis=1), COUNTS.sum(axis=1))
    np.testing.assert_array_equal(in_word.sum(axis=0), COUNTS.sum(axis=0))


@pytest.mark.parametrize("model", [LDAVB, OnlineLDAVB, LDAGibbs])
def test_bad_input_is_refused(model: type[LDAVB]) -> None:
    for entry in (-1.0, math.nan):
        with pytest.raises(InputError, match="the counts hold"):
            model(2).fit(np.array([[1.0, entry]]))
    for change in ({"n_components": 0}, {"alpha": 0.0}, {"gamma": math.inf}, {"alpha": math.nan}):
        with pytest.raises(InputError, match=r"these must be at least 1( and 0)?, positive"):
            model(2).set_params(**change).fit(COUNTS)


def test_bad_settings_of_the_online_version_are_refused() -> None:
    for change in ({"batch": 0}, {"tau": 0.5}, {"kappa": -1.0}):
        with pytest.raises(InputError, match="these must be at least 1, 0, 1 and 0"):
            OnlineLDAVB(2).set_params(**change).fit(COUNTS)
    with pytest.raises(InputError, match="not whole"):
        LDAGibbs(2).fit(np.array([[0.5]]))
