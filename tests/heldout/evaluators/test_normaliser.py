"""The normaliser that folding-in ignores, against sums over every sequence.

Statistical tests: a z score's bound of 4.5 has a false-alarm rate of 7e-6; seeds are fixed.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_normalisers import log_normaliser_enumerated
from scipy.special import gammaln

from heldout.errors import InputError
from heldout.evaluators import normaliser as module
from heldout.evaluators.normaliser import log_multinomial_nml, log_normaliser, toy_example
from heldout.topics import Topics
from heldout.typing import Floats

Z_BOUND = 4.5


def random_topics(seed: int, K: int, V: int) -> Topics:
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(V, 0.5), size=K) + 1e-6
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.ones(K), tuple(f"w{i}" for i in range(V)))


def maximum(phi_of_two: Floats, sequence: tuple[int, ...]) -> float:
    """Return max_h p(x | h) of two topics to 1e-8 by golden-section search; the log-likelihood is concave in h."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 1.0

    def p(h: float) -> float:
        return math.prod(h * float(phi_of_two[0, w]) + (1.0 - h) * float(phi_of_two[1, w]) for w in sequence)

    while high - low > 1e-9:
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if p(left) > p(right) else (left, high)
    return max(p(low), p(high), p(0.0), p(1.0))


@pytest.mark.parametrize(("V", "length"), [(1, 4), (2, 1), (2, 9), (3, 6), (4, 5), (5, 4), (7, 2), (9, 1)])
def test_multinomial_nml_is_the_sum_of_all_maximised_likelihoods(V: int, length: int) -> None:
    total = math.fsum(
        math.prod((x.count(w) / length) ** x.count(w) for w in range(V))
        for x in itertools.product(range(V), repeat=length)
    )
    assert log_multinomial_nml(V, length) == pytest.approx(math.log(total), abs=1e-12)


@settings(max_examples=30)
@given(a=st.integers(1, 40), b=st.integers(1, 40), length=st.integers(1, 300))
def test_multinomial_nml_of_two_groups_of_words(a: int, b: int, length: int) -> None:
    j = np.arange(length + 1)
    terms = gammaln(length + 1) - gammaln(j + 1) - gammaln(length - j + 1)
    for n in (j, length - j):
        terms = terms + n * np.log(np.maximum(n, 1) / length)
    terms += [log_multinomial_nml(a, i) + log_multinomial_nml(b, length - i) for i in range(length + 1)]
    assert log_multinomial_nml(a + b, length) == pytest.approx(float(np.logaddexp.reduce(terms)), rel=1e-11)


def test_multinomial_nml_at_its_ends_and_at_real_sizes() -> None:
    assert log_multinomial_nml(10_000, 0) == 0.0
    assert log_multinomial_nml(10_000, 1) == pytest.approx(math.log(10_000), rel=1e-13)
    # two tokens: V pairs of equal words with maximum 1, V (V - 1) of unequal ones with 1/4
    assert log_multinomial_nml(3763, 2) == pytest.approx(math.log(3763 + 3763 * 3762 / 4), rel=1e-13)
    # Stirling's approximation for long sequences: (V - 1) / 2 log(L / 2) + log(sqrt(pi) / Gamma(V / 2))
    length, V = 1_000_000, 3
    asymptotic = (V - 1) / 2 * math.log(length / 2) + 0.5 * math.log(math.pi) - math.lgamma(V / 2)
    assert log_multinomial_nml(V, length) == pytest.approx(asymptotic, abs=5e-3)


@pytest.mark.parametrize("V", [1, 2, 50, 10_780])
def test_the_toy_example_is_what_section_4_3_says(V: int) -> None:
    toy = toy_example(V)
    assert toy.exact_marginal == pytest.approx(-math.log(V), rel=1e-12)
    assert toy.folding_in == pytest.approx(0.0, abs=1e-13)
    assert toy.folding_in_joint == pytest.approx(math.lgamma(V), rel=1e-13)
    assert toy.log_normaliser == pytest.approx(math.log(V), rel=1e-13)
    if V <= 50:  # every word of every topic
        identity = Topics(np.eye(V), np.ones(V), tuple(str(w) for w in range(V)))
        assert toy.log_normaliser == pytest.approx(log_normaliser_enumerated(identity, 1), rel=1e-13)
    # normalised, the folded-in value is the exact one: nothing has been learned
    assert toy.folding_in - toy.log_normaliser == pytest.approx(toy.exact_marginal, rel=1e-12)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_enumeration_over_bags_is_the_sum_over_sequences(length: int) -> None:
    topics = random_topics(1, 2, 3)
    total = math.fsum(maximum(topics.phi, x) for x in itertools.product(range(3), repeat=length))
    assert log_normaliser_enumerated(topics, length) == pytest.approx(math.log(total), abs=1e-6)


@pytest.mark.parametrize("length", [1, 3, 6])
def test_identity_topics_have_the_nml_constant(length: int) -> None:
    topics = Topics(np.eye(4), np.ones(4), tuple("abcd"))
    assert log_normaliser_enumerated(topics, length) == pytest.approx(log_multinomial_nml(4, length), abs=1e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 3), length=st.integers(1, 6))
def test_lies_between_no_and_the_nml_constants_freedom(seed: int, K: int, length: int) -> None:
    log_z = log_normaliser_enumerated(random_topics(seed, K, 4), length)
    assert -1e-6 <= log_z <= log_multinomial_nml(K, length) + 1e-9
    if K == 1:
        assert log_z == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("K", "length", "alpha"), [(2, 1, 1.0), (2, 6, 1.0), (3, 5, 1.0), (3, 5, 0.5), (4, 3, 2.0)])
def test_samples_agree_with_enumeration_within_their_standard_error(K: int, length: int, alpha: float) -> None:
    topics = random_topics(K, K, 4)
    topics = Topics(topics.phi, np.full(K, alpha), topics.vocabulary)
    estimate = log_normaliser(topics, length, 20_000, np.random.default_rng(7))
    exact = log_normaliser_enumerated(topics, length)
    assert abs(estimate.log_z - exact) < Z_BOUND * estimate.standard_error
    assert 0.0 < estimate.standard_error < 0.05
    assert 0.3 * 20_000 < estimate.effective_samples < 20_000


def test_the_standard_error_is_the_spread_of_repeated_estimates() -> None:
    topics = random_topics(3, 2, 4)
    repeated = [log_normaliser(topics, 8, 200, np.random.default_rng(seed)) for seed in range(300)]
    spread = float(np.std([r.log_z for r in repeated], ddof=1))
    stated = math.sqrt(np.mean([r.standard_error**2 for r in repeated]))
    # a sample deviation of 300 normal values has a relative error of 1 / sqrt(598); skewness is allowed as much again
    assert abs(spread / stated - 1.0) < 2 * Z_BOUND / math.sqrt(598)


def test_drawn_documents_follow_the_model() -> None:
    phi = np.array([[0.7, 0.3, 0.0], [0.0, 0.2, 0.8]])
    topics = Topics(phi, np.array([1.0, 3.0]), ("a", "b", "c"))
    n, length = 20_000, 2
    documents = module._draw(topics, length, n, np.random.default_rng(1))
    tokens = documents.tokens.reshape(n, length)
    mean = np.array([0.25, 0.75]) @ phi
    for word, p in enumerate(mean):
        assert abs(np.mean(tokens[:, 0] == word) - p) < Z_BOUND * math.sqrt(p * (1 - p) / n)
    # both tokens share theta: E[theta_1^2] = a (a + 1) / (A (A + 1))
    both = 0.49 * 1.0 * 2.0 / (4.0 * 5.0)
    assert abs(np.mean(np.all(tokens == 0, axis=1)) - both) < Z_BOUND * math.sqrt(both * (1 - both) / n)


def test_refusals_name_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = random_topics(0, 3, 4)
    rng = np.random.default_rng(0)
    state = rng.bit_generator.state
    for length, samples in ((0, 10), (5, 1)):
        with pytest.raises(InputError, match="length"):
            log_normaliser(topics, length, samples, rng)
    monkeypatch.setattr(module, "LARGEST_COST", 10)
    with pytest.raises(InputError, match="updates, the limit is 1"):
        log_normaliser(topics, 10, 100, rng)
    assert rng.bit_generator.state == state
    for V, length in ((0, 1), (2, -1)):
        with pytest.raises(InputError, match="NML"):
            log_multinomial_nml(V, length)
    with pytest.raises(InputError, match="toy"):
        toy_example(0)
