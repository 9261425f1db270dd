"""DMR and labelled LDA: their chain against a slow twin, the special cases that are LDA, and the optimum over W."""

from typing import Any

import numpy as np
import pytest
from slow_lda import slow_sweep

from gallery.priors.models.dmr import DMR
from gallery.priors.models.labelled_lda import LabelledLDA
from gallery.priors.models.lda_own_priors import AllTopics, OwnPriors, log_assignments
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.lda import LDA
from heldout.models.multinomial_mixture import MultinomialMixture, Multinomials
from heldout.typing import Floats

COUNTS = np.random.default_rng(0).poisson(0.8, (9, 7)).astype(float) + np.eye(9, 7)
LABELS = np.eye(3)[np.arange(9) % 3]
LABELS[::4, 0] = 1.0


def test_a_sweep_is_that_of_the_slow_twin() -> None:
    alphas = 0.3 * LABELS + 0.1 * np.array([1.0, 0.0, 0.0])
    chain = OwnPriors(COUNTS, alphas, 0.2, "test")
    q = [-1] * len(chain.tokens)
    for seed in range(4):
        expected = slow_sweep(chain.tokens, chain.rows, alphas, 0.2, q, np.random.default_rng(seed).random(len(q)), 7)
        chain.sweep(np.random.default_rng(seed))
        q = chain.assignments.tolist()
        assert q == expected
    in_word = np.zeros((7, 3))
    np.add.at(in_word, (chain.tokens, chain.assignments), 1.0)
    assert np.array_equal(chain.in_word, in_word)
    assert not chain.in_document[alphas == 0.0].any()
    assert chain.components.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("K", [3, 20, 70])  # one vector, quotients that are divided anew, quotients that are kept
def test_a_sweep_over_all_topics_is_that_of_the_slow_twin(K: int) -> None:
    alphas = np.random.default_rng(1).gamma(0.5, size=(9, K)) + 1e-3
    chain = AllTopics(COUNTS, alphas, 0.2, "test")
    q = [-1] * len(chain.tokens)
    for seed in range(4):
        uniforms = np.random.default_rng(seed).random(len(q), dtype=np.float32).astype(float)
        expected = slow_sweep(chain.tokens, chain.rows, alphas, 0.2, q, uniforms, 7, lanes=8)
        chain.sweep(np.random.default_rng(seed))
        q = chain.assignments.tolist()
        assert q == expected
    in_word = np.zeros((7, K))
    np.add.at(in_word, (chain.tokens, chain.assignments), 1.0)
    assert np.array_equal(chain.in_word, in_word)


def lda(alpha: Floats | float, K: int, sweeps: int, kind: type[OwnPriors] = OwnPriors) -> OwnPriors:
    """Return LDA with one alpha by the same kernel, from the same seed."""
    chain, random = kind(COUNTS, np.full((9, K), alpha), 0.2, "LDA"), np.random.default_rng(5)
    for _ in range(sweeps):
        chain.sweep(random)
    return chain


def test_the_special_cases_are_lda() -> None:
    """DMR with the constant alone, labelled LDA with all labels, PLDA with one label common to all."""
    expected, by_vectors = lda(0.4, 3, 6), lda(0.4, 3, 6, AllTopics)
    q, random = [-1] * len(expected.tokens), np.random.default_rng(5)
    for _ in range(6):
        q = slow_sweep(expected.tokens, expected.rows, np.full((9, 3), 0.4), 0.2, q, random.random(len(q)), 7)
    assert q == expected.assignments.tolist()  # LDA by its conditional as printed
    given: dict[str, Any] = {"alpha": 0.4, "gamma": 0.2, "sweeps": 6}
    constant = DMR(3, optimise_every=0, random_state=5, **given).fit(COUNTS, np.ones((9, 1)))
    assert np.array_equal(constant.components_, by_vectors.components)
    assert constant.log_joint_ == by_vectors.log_joint()
    for model, labels in (
        (LabelledLDA(1, random_state=5, **given), np.ones((9, 3))),
        (LabelledLDA(3, random_state=5, **given), np.ones((9, 1))),
        (LabelledLDA(1, common=3, random_state=5, **given), np.ones((9, 0))),
    ):
        assert np.array_equal(model.fit(COUNTS, labels).assignments_, expected.assignments)
        assert model.log_joint_ == expected.log_joint()
    corpus = Corpus("c", tuple("abcdefg"), expected.tokens.astype(np.int32), expected.offsets, tuple("123456789"))
    # and LDA itself, whose first pass is no sweep of the count
    of_lda = LDA(3, alpha=0.4, beta=0.2, sweeps=5, random_state=5).fit(corpus)
    assert np.array_equal(of_lda.assignments_, by_vectors.assignments)
    start = expected.assignments.astype(np.int32)
    of_lda = LDA(3, alpha=0.4, beta=0.2, sweeps=0, random_state=0).fit(corpus, assignments=start)
    same = OwnPriors(COUNTS, np.full((9, 3), 0.4), 0.2, "LDA")
    same.assignments[:] = of_lda.assignments_
    np.add.at(same.in_word, (same.tokens, same.assignments), 1.0)
    assert same.log_joint() == pytest.approx(of_lda.log_likelihood_[-1], abs=1e-6)


def test_one_subtopic_is_labelled_lda_and_one_label_a_mixture() -> None:
    given: dict[str, Any] = {"alpha": 0.4, "gamma": 0.2, "sweeps": 6, "random_state": 5}
    labelled, of = LabelledLDA(1, **given).fit(COUNTS, LABELS), OwnPriors(COUNTS, LABELS, 0.2, "tokens")
    q, draws = [-1] * len(of.tokens), np.random.default_rng(5)
    for _ in range(6):  # labelled LDA: LDA's conditional over the topics of a document's labels alone
        q = slow_sweep(of.tokens, of.rows, 0.4 * LABELS, 0.2, q, draws.random(len(q)), 7)
    assert labelled.assignments_.tolist() == q
    one = np.eye(3)[np.arange(9) % 3]
    mixture = one.T @ COUNTS + 0.2
    mixture /= mixture.sum(axis=1, keepdims=True)
    fitted = LabelledLDA(1, **given).fit(COUNTS, one)
    assert fitted.components_ == pytest.approx(mixture, abs=1e-12)
    # its likelihood without the label is that of the mixture of multinomials with the same components
    parts = COUNTS @ np.log(fitted.components_).T + np.log(one.mean(axis=0))
    em = MultinomialMixture(3)
    expected = em.log_likelihood(COUNTS, Multinomials(one.mean(axis=0), fitted.components_))
    assert np.logaddexp.reduce(parts, axis=1) == pytest.approx(expected, abs=1e-9)


def test_the_gradient_over_w_and_its_maximum() -> None:
    x = np.column_stack([np.ones(9), np.arange(9.0) / 9.0])
    in_document = np.random.default_rng(2).poisson(2.0, (9, 3)).astype(float)
    model = DMR(3, sigma=0.7, sigma_constant=3.0, iterations=500)
    model.weights_ = np.zeros((3, 2))
    precision = np.array([1.0 / 9.0, 1.0 / 0.49])

    def loss(w: Floats) -> float:
        W = w.reshape(3, 2)
        return -float(log_assignments(in_document, np.exp(x @ W.T)).sum()) + 0.5 * float((precision * W**2).sum())

    best = model.best_weights(in_document, x)
    numeric = np.array([(loss(best.ravel() + e) - loss(best.ravel() - e)) / 2e-5 for e in 1e-5 * np.eye(6)])
    assert np.abs(numeric).max() < 1e-2  # flat there,
    for step in 0.05 * np.vstack([np.eye(6), -np.eye(6)]):  # and higher around it
        assert loss(best.ravel() + step) > loss(best.ravel())


def test_dmr_finds_what_a_covariate_says_of_the_topics() -> None:
    """Documents of two halves of the vocabulary by a covariate: 30 documents of 30 tokens leave no doubt."""
    random = np.random.default_rng(3)
    x = np.column_stack([np.ones(30), np.repeat([0.0, 1.0], 15)])
    half = np.where(x[:, 1:] == np.repeat([0.0, 1.0], 4), 0.24, 0.01)
    counts = np.array([random.multinomial(30, p) for p in half]).astype(float)
    model = DMR(2, alpha=1.0, sweeps=60, optimise_every=10, random_state=1).fit(counts, x)
    of_first, of_second = model.priors(np.array([[1.0, 0.0], [1.0, 1.0]]))
    topic = int(model.components_[:, 0].argmax())  # that of the first half
    assert of_first[topic] / of_first.sum() > 0.8
    assert of_second[topic] / of_second.sum() < 0.2


def test_bad_input_is_refused() -> None:
    ones = np.ones((9, 1))
    with pytest.raises(InputError, match="first covariate"):
        DMR(2).fit(COUNTS, 2.0 * ones)
    with pytest.raises(InputError, match="each of 9"):
        DMR(2).fit(COUNTS, ones[:3])
    with pytest.raises(InputError, match=r"covariate .*undefined"):
        DMR(2).fit(COUNTS, np.column_stack([ones, np.full(9, np.nan)]))
    with pytest.raises(InputError, match="DMR: 0 topics"):
        DMR(0).fit(COUNTS, ones)
    with pytest.raises(InputError, match="document 0"):
        LabelledLDA().fit(COUNTS, 0.0 * ones)
    with pytest.raises(InputError, match="give 0 or 1"):
        LabelledLDA().fit(COUNTS, 0.5 * ones)
    with pytest.raises(InputError, match="labelled LDA: 0 subtopics"):
        LabelledLDA(0).fit(COUNTS, ones)
    with pytest.raises(InputError, match="gamma is 0"):
        LabelledLDA(gamma=0.0).fit(COUNTS, ones)
    with pytest.raises(InputError, match="every topic"):
        AllTopics(COUNTS, LABELS, 0.1, "test")
    with pytest.raises(InputError, match="16777216"):
        DMR(2).fit(np.array([[2.0**24, 1.0]]), np.ones((1, 1)))
    with pytest.raises(InputError, match="negative or undefined"):
        OwnPriors(COUNTS, -np.ones((9, 2)), 0.1, "test")
    with pytest.raises(InputError, match="give a row of K"):
        OwnPriors(COUNTS, np.ones((8, 2)), 0.1, "test")
