"""LDA five ways against all 2^16 assignments of a tiny corpus, and against scikit-learn and tomotopy."""

import functools
import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma, gammaln, logsumexp

from gallery.tokens.models.lda_gibbs import LDAGibbs, split_counts
from gallery.tokens.models.lda_online_vb import OnlineLDAVB
from gallery.tokens.models.lda_vb import LDAVB, document_bounds, e_step, expected_log
from gallery.tokens.models.lda_vem import LDAVEM
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models.lda import LDA
from heldout.topics import Topics
from heldout.typing import Floats, Ints

ALPHA, GAMMA = 0.6, 0.3
COUNTS = np.array([[2.0, 1.0, 1.0], [0.0, 2.0, 2.0], [1.0, 0.0, 3.0], [3.0, 1.0, 0.0]])  # 4 tokens a document


def log_joint(counts: Floats, K: int) -> tuple[Floats, Ints, Floats]:
    """Return log p(w, q | alpha, gamma) (27.34 and 27.36), (Q,), of all assignments q, (Q, N), and the tokens."""
    pairs = np.array([(d, v) for d, v in np.ndindex(*counts.shape) for _ in range(int(counts[d, v]))])
    D, V = counts.shape
    every = np.array(list(itertools.product(range(K), repeat=len(pairs))))
    d, v = pairs.T
    in_document = np.stack([(every[:, d == i] == k).sum(axis=1) for i in range(D) for k in range(K)], axis=1)
    in_word = np.stack([(every[:, v == w] == k).sum(axis=1) for k in range(K) for w in range(V)], axis=1)
    lengths, totals = counts.sum(axis=1), in_word.reshape(-1, K, V).sum(axis=2)
    prior = (gammaln(K * ALPHA) - gammaln(lengths + K * ALPHA)).sum() + (
        gammaln(in_document + ALPHA) - gammaln(ALPHA)
    ).sum(axis=1)
    words = (gammaln(V * GAMMA) - gammaln(totals + V * GAMMA)).sum(axis=1) + (
        gammaln(in_word + GAMMA) - gammaln(GAMMA)
    ).sum(axis=1)
    return prior + words, every, pairs


@functools.cache
def exact() -> tuple[float, Floats]:
    """Return log p(w) at two topics, and E sum_k C(c_dk, 2), the pairs of tokens of one topic, (D,), given w."""
    joint, every, pairs = log_joint(COUNTS, 2)
    evidence = float(logsumexp(joint))
    firsts = np.stack([(every[:, pairs[:, 0] == d] == 0).sum(axis=1) for d in range(len(COUNTS))], axis=1)
    return evidence, np.exp(joint - evidence) @ pairs_of_a_topic(
        np.stack([firsts, COUNTS.sum(axis=1) - firsts], axis=2)
    )


def pairs_of_a_topic(in_document: Floats) -> Floats:
    """Return sum_k C(c_dk, 2) over the last axis."""
    return np.asarray((in_document * (in_document - 1.0)).sum(axis=-1) / 2.0)


def holds_the_exact_mean(ends: list[Floats]) -> None:
    """Compare independent chains' ends; 4 documents at 4.8 standard errors fail about once in 1e5 runs."""
    found = np.array(ends)
    error = found.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - exact()[1]) < 4.8 * error)


def test_uncollapsed_and_collapsed_gibbs_draw_from_the_posterior() -> None:
    random, model = np.random.default_rng(0), LDAGibbs(2, alpha=ALPHA, gamma=GAMMA)
    counts, chains = sp.csr_array(COUNTS), 120
    ends = []
    for _ in range(chains):  # independent chains of 25 sweeps
        state = model.start(counts, random)
        for _ in range(25):
            state = model.sweep(counts, state, random)
        ends.append(pairs_of_a_topic(state.in_document))
    holds_the_exact_mean(ends)
    collapsed = []
    for chain in range(chains):
        fitted = LDA(2, alpha=ALPHA, beta=GAMMA, sweeps=25, evaluate_every=25, random_state=chain).fit(COUNTS)
        c = np.array([np.bincount(z, minlength=2) for z in fitted.assignments_.reshape(4, 4)])
        collapsed.append(pairs_of_a_topic(c))
    holds_the_exact_mean(collapsed)


def test_tomotopys_collapsed_gibbs_draws_from_the_same_posterior() -> None:
    tomotopy = pytest.importorskip("tomotopy")
    ends = []
    for chain in range(120):
        model = tomotopy.LDAModel(k=2, alpha=ALPHA, eta=GAMMA, seed=chain)
        model.optim_interval = 0  # the priors stay
        for n in COUNTS:
            model.add_doc([f"w{v}" for v in np.repeat(np.arange(3), n.astype(int))])
        model.train(25, workers=1)
        ends.append(pairs_of_a_topic(np.array([np.bincount(document.topics, minlength=2) for document in model.docs])))
    holds_the_exact_mean(ends)


def test_the_bound_of_variational_bayes_rises_and_stays_below_the_evidence() -> None:
    evidence = exact()[0]
    for seed in range(2):
        online = OnlineLDAVB(2, alpha=ALPHA, gamma=GAMMA, batch=2, passes=20, random_state=seed).fit(COUNTS)
        assert evidence - 8.0 < online.bound_[-1] < evidence
        model = LDAVB(2, alpha=ALPHA, gamma=GAMMA, tolerance=0.0, document_tolerance=1e-12, random_state=seed)
        bounds = model.fit(COUNTS).bound_
        assert len(bounds) > 3
        assert np.all(np.diff(bounds[:-1]) >= -1e-9)
        assert evidence - 8.0 < bounds[-1] < evidence
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
    documents = Corpus.from_documents("d", [("a", list("abc"))]).with_streams(streams, tuple("abcd"))
    exact = exact_marginal(topics, documents).log_likelihood
    bounds = document_bounds(counts, np.log(b), alpha, pseudo)
    assert np.all(bounds < exact)
    assert np.all(bounds > exact - 1.0)


class InOrder(np.random.Generator):
    """A generator that leaves documents in their order, as scikit-learn does."""

    def permutation(self, x: Any, axis: int = 0) -> Any:  # noqa: ARG002
        return np.arange(x)


@pytest.mark.parametrize("sklearn_method", ["batch", "online"])
def test_rounds_and_batches_are_those_of_scikit_learn_from_the_same_start(sklearn_method: str) -> None:
    """Three rounds; online three passes by batches of 5, 5 and 2 documents."""
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
        batch_size=5,
        max_iter=3,
        max_doc_update_iter=2000,
        mean_change_tol=1e-12,
        random_state=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(counts)
    if sklearn_method == "batch":
        ours = LDAVB(2, alpha=ALPHA, gamma=GAMMA, iterations=3, tolerance=0.0, **tight)
    else:  # scikit-learn's t starts from 1
        order = InOrder(np.random.PCG64(0))
        ours = OnlineLDAVB(
            2, alpha=ALPHA, gamma=GAMMA, batch=5, tau=3.0, kappa=0.6, passes=3, random_state=order, **tight
        )
    np.testing.assert_allclose(ours.fit(counts, pseudo_counts=start).pseudo_counts_, theirs.components_, rtol=1e-5)


def test_one_batch_without_decay_is_a_round_of_batch() -> None:
    start = np.random.default_rng(6).gamma(1.0, 1.0, (2, 3))
    settings: dict[str, Any] = {"alpha": ALPHA, "gamma": GAMMA, "document_tolerance": 1e-9}
    batch = LDAVB(2, iterations=4, tolerance=0.0, **settings).fit(COUNTS, pseudo_counts=start)
    online = OnlineLDAVB(2, batch=4, kappa=0.0, passes=4, **settings).fit(COUNTS, pseudo_counts=start)
    np.testing.assert_allclose(online.pseudo_counts_, batch.pseudo_counts_, rtol=1e-9)
    np.testing.assert_allclose(online.bound_, batch.bound_, rtol=1e-9)
    small = OnlineLDAVB(2, batch=1, passes=20, random_state=0, **settings).fit(COUNTS)
    assert small.bound_[-1] > small.bound_[0]


def test_tiny_parameters_do_not_underflow() -> None:
    model = LDAVB(2, alpha=1e-4, gamma=1e-5, iterations=20, random_state=0).fit(COUNTS)
    assert np.all(np.isfinite(model.bound_))
    assert np.all(np.isfinite(model.document_topics_))
    np.testing.assert_allclose(model.pseudo_counts_.sum(), COUNTS.sum() + 6e-5)
    assert expected_log(np.array([[1e-5, 1.0]]))[0, 0] < -9e4


def test_splits_keep_every_count() -> None:
    random = np.random.default_rng(7)
    in_document, in_word = split_counts(sp.csr_array(COUNTS), random.random((4, 4)), random.random((4, 3)), random)
    np.testing.assert_array_equal(in_document.sum(axis=1), COUNTS.sum(axis=1))
    np.testing.assert_array_equal(in_word.sum(axis=0), COUNTS.sum(axis=0))


@pytest.mark.parametrize("model", [LDAVB, OnlineLDAVB, LDAGibbs])
def test_bad_input_is_refused(model: type[LDAVB]) -> None:
    for entry in (-1.0, math.nan):
        with pytest.raises(InputError, match="the counts hold"):
            model(2).fit(np.array([[1.0, entry]]))
    for change in ({"n_components": 0}, {"alpha": 0.0}, {"gamma": math.inf}, {"alpha": math.nan}):
        with pytest.raises(InputError, match=r"at least 1( and 0)?, positive"):
            model(2).set_params(**change).fit(COUNTS)


def test_bad_settings_of_the_online_version_are_refused() -> None:
    for change in ({"batch": 0}, {"tau": 0.5}, {"kappa": -1.0}):
        with pytest.raises(InputError, match="at least 1, 0, 1 and 0"):
            OnlineLDAVB(2).set_params(**change).fit(COUNTS)
    with pytest.raises(InputError, match="not whole"):
        LDAGibbs(2).fit(np.array([[0.5]]))


def test_variational_em_never_falls_ends_where_its_steps_rest_and_bounds_the_likelihood() -> None:
    settings: dict[str, Any] = {"alpha": ALPHA, "gamma": GAMMA, "document_iterations": 2000, "document_tolerance": 1e-9}
    model = LDAVEM(2, iterations=2000, tolerance=1e-13, random_state=1, **settings).fit(COUNTS)
    assert len(model.objective_) > 5
    assert (np.diff(model.objective_) >= -1e-9).all()
    b, pi = model.components_, model.document_topics_
    expected = np.full_like(b, GAMMA)
    for i, document in enumerate(COUNTS):  # 27.44 to 27.46, document by document and word by word
        pseudo = np.full(2, ALPHA)
        for v, n in enumerate(document):
            shares = b[:, v] * np.exp(digamma(pi[i]) - digamma(pi[i].sum()))
            pseudo += n * shares / shares.sum()
            expected[:, v] += n * shares / shares.sum()
        np.testing.assert_allclose(pseudo, pi[i], atol=1e-5)
    np.testing.assert_allclose(expected / expected.sum(axis=1, keepdims=True), b, atol=1e-5)
    documents = [(str(d), [f"w{v}" for v in range(3) for _ in range(int(row[v]))]) for d, row in enumerate(COUNTS)]
    topics = model.topics(("w0", "w1", "w2"))
    likelihood = exact_marginal(topics, Corpus.from_documents("tiny", documents)).log_likelihood
    bounds = document_bounds(sp.csr_array(COUNTS), np.log(b), topics.alpha, pi)
    assert (bounds <= likelihood + 1e-9).all()
    assert model.objective_[-1] == pytest.approx(bounds.sum() + GAMMA * np.log(b).sum(), abs=1e-9)
    with pytest.raises(InputError, match="variational EM"):
        LDAVEM(2, gamma=0.0).fit(COUNTS)
