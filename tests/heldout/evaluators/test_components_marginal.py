"""The marginal likelihood of log-linear components: quadrature against a dense grid, annealing against quadrature.

False alarms: a statistical assertion fails by chance once in about 1e5 runs, and the seeds are fixed.
"""

import itertools
import math

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import components_marginal as module
from heldout.evaluators.components_marginal import annealed_marginal, quadrature
from heldout.topics import Components
from heldout.typing import Floats

DEVIATIONS = 4.42  # two-sided, 1e-5
WORDS = tuple(f"w{v}" for v in range(12))


def components(K: int, scale: float = 1.5, words: tuple[str, ...] = WORDS) -> Components:
    W = scale * np.random.default_rng(K).standard_normal((len(words), K))
    return Components(W, np.zeros(K), words, {"penalty": 1.0, "smoothing": 0.0})


def corpus(*documents: list[int], words: tuple[str, ...] = WORDS) -> Corpus:
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    tokens = np.array([w for document in documents for w in document], dtype=np.int32)
    return Corpus("made-up", words, tokens, offsets, tuple(f"d{i}" for i in range(len(documents))))


def dense_grid(W: Floats, document: list[int], penalty: float) -> float:
    """Return log p(w | W) by the trapezoidal rule on a fine grid over the prior, which nothing is centred on."""
    axis = np.linspace(-9.0, 9.0, 2001 if W.shape[1] == 1 else 401) / math.sqrt(penalty)
    h = np.stack(np.meshgrid(*[axis] * W.shape[1]), axis=-1).reshape(-1, W.shape[1])
    logits = h @ W.T
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    prior = np.exp(-0.5 * penalty * (h * h).sum(axis=1)) * (penalty / (2.0 * math.pi)) ** (W.shape[1] / 2)
    return math.log(float(np.sum(np.prod(p[:, document], axis=1) * prior)) * (axis[1] - axis[0]) ** W.shape[1])


DOCUMENTS = ([3], [0, 0, 5, 7], [1, 2, 3, 4, 5, 6, 1, 1, 1, 9, 10, 11] * 2)


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("penalty", [1.0, 0.3])
def test_quadrature_is_the_integral_on_a_dense_grid(K: int, penalty: float) -> None:
    model = components(K)
    found = quadrature(model, corpus(*DOCUMENTS), penalty=penalty)
    for value, document in zip(found.log_likelihood, DOCUMENTS, strict=True):
        assert value == pytest.approx(dense_grid(model.weights, document, penalty), abs=1e-7)
    assert found.standard_error.tolist() == [0.0] * 3


@pytest.mark.parametrize("K", [1, 2])
def test_sequences_of_one_length_sum_to_one(K: int) -> None:
    words = WORDS[:3]
    documents = corpus(*map(list, itertools.product(range(3), repeat=3)), words=words)
    found = quadrature(components(K, words=words), documents, penalty=1.0)
    assert np.exp(found.log_likelihood).sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("temperatures", [1, 6])
@pytest.mark.parametrize("penalty", [1.0, 0.3])
def test_annealing_is_unbiased_as_a_probability(temperatures: int, penalty: float) -> None:
    """The posterior of a document of four tokens is far from its Laplace approximation."""
    model, documents = components(2), corpus(DOCUMENTS[1])
    truth = quadrature(model, documents, penalty=penalty).log_likelihood[0]
    found = annealed_marginal(
        model, documents, 20_000, np.random.default_rng(temperatures), penalty=penalty, temperatures=temperatures
    )
    error = found.standard_error[0]
    assert 0.0 < error < 0.02
    assert abs(math.expm1(found.log_likelihood[0] - truth)) < DEVIATIONS * error


def test_the_slice_move_leaves_its_target_alone() -> None:
    """Draws of the target, by importance resampling, keep their moments after a few moves at a power below 1."""
    model, documents, power = components(2), corpus(DOCUMENTS[0]), 0.6
    ((_, document),) = module._laplace(model, documents, 0.3)
    rng = np.random.default_rng(11)
    proposals = rng.standard_normal((400_000, 2))
    weights = np.exp(power * document.log_ratio(proposals))
    weights /= weights.sum()
    means = weights @ np.concatenate([proposals, proposals**2, proposals[:, :1] * proposals[:, 1:]], axis=1)
    u = proposals[rng.choice(len(proposals), size=20_000, p=weights)]
    ratio = document.log_ratio(u)
    for _ in range(4):
        u, ratio = module.slice_move(document, u, ratio, power, rng)
    np.testing.assert_allclose(ratio, document.log_ratio(u), rtol=1e-12, atol=1e-12)
    found = np.concatenate([u, u**2, u[:, :1] * u[:, 1:]], axis=1)
    error = found.std(axis=0) * math.sqrt(1.0 / len(u) + 1.0 / (1.0 / np.sum(weights**2)))
    assert np.all(np.abs(found.mean(axis=0) - means) < 4.8 * error)  # 1e-5 over 5 comparisons
    # the target is far from the Gaussian that the moves are made with
    assert np.max(np.abs(means - np.array([0.0, 0.0, 1.0, 1.0, 0.0])) / error) > 10.0


def test_more_components_than_needed_change_nothing() -> None:
    """Axes of weight 0 do not touch the words: the integral over them is 1."""
    two = components(2)
    five = Components(np.pad(two.weights, ((0, 0), (0, 3))), np.zeros(5), WORDS, two.provenance)
    documents = corpus(*DOCUMENTS)
    truth = quadrature(two, documents, penalty=1.0).log_likelihood
    found = annealed_marginal(five, documents, 400, np.random.default_rng(2), penalty=1.0)
    assert np.all(np.abs(found.log_likelihood - truth) < 4.7 * found.standard_error)
    assert found.standard_error.max() < 0.05


def test_empty_documents_and_unknown_words() -> None:
    wider = corpus([], [12, 0, 3], words=(*WORDS, "unseen"))
    for found in (
        quadrature(components(1), wider, penalty=1.0),
        annealed_marginal(components(1), wider, 5, np.random.default_rng(0), penalty=1.0),
    ):
        assert (found.log_likelihood[0], found.standard_error[0]) == (0.0, 0.0)
        assert found.tokens.tolist() == [0, 2]
        assert found.tokens_left_out == 1
        assert found.log_likelihood[1] < 0.0


def test_a_documents_result_does_not_depend_on_those_after_it() -> None:
    alone, among = (
        annealed_marginal(components(3), corpus(*d), 4, np.random.default_rng(4), penalty=1.0).log_likelihood[0]
        for d in (DOCUMENTS[:1], DOCUMENTS)
    )
    assert alone == pytest.approx(among, rel=1e-7)  # the mode is found for all documents side by side


def test_refuses_what_has_no_prior_no_rule_or_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    documents, rng = corpus([0, 1]), np.random.default_rng(0)
    with pytest.raises(InputError, match="3 components"):
        quadrature(components(3), documents, penalty=1.0)
    for penalty in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InputError, match="precision"):
            quadrature(components(1), documents, penalty=penalty)
        with pytest.raises(InputError, match="precision"):
            annealed_marginal(components(1), documents, 5, rng, penalty=penalty)
    with pytest.raises(InputError, match="0 samples"):
        annealed_marginal(components(1), documents, 0, rng, penalty=1.0)
    with pytest.raises(InputError, match="0 temperatures"):
        annealed_marginal(components(1), documents, 5, rng, penalty=1.0, temperatures=0)
    monkeypatch.setattr(module, "ORDERS", (2, 3))
    with pytest.raises(InputError, match=r"d0 .*3 nodes"):
        quadrature(components(1), documents, penalty=1.0)
