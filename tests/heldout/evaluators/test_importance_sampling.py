"""Product proposals: what is drawn and how it is weighed, against enumeration."""

import itertools
import math

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.evaluators import importance_sampling as module
from heldout.evaluators.evaluation import kernel_arrays
from heldout.evaluators.iterated_pseudo_counts import iterated_pseudo_counts
from heldout.evaluators.mean_field_importance import mean_field_importance
from heldout.evaluators.mean_field_importance_second_order import mean_field_importance_second_order
from heldout.evaluators.random_stream import starts
from heldout.topics import Topics
from heldout.typing import Floats

PHI = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 0.0, 0.5]])
TOPICS = Topics(PHI, np.array([0.3, 1.0, 2.5]), ("a", "b", "c", "d"))
DOCUMENT = [0, 1, 3, 1, 2]


def corpus(document: list[int]) -> Corpus:
    return Corpus(
        "one", TOPICS.vocabulary, np.array(document, dtype=np.int32), np.array([0, len(document)], np.int64), ("d",)
    )


def proposal(topics: Topics, document: list[int], cycles: int, in_sequence: bool, second_order: bool) -> Floats:
    """Return q, (L, K), by the rule as it is written."""
    q = topics.alpha * topics.phi.T[document]
    q /= q.sum(axis=1, keepdims=True)
    for _ in range(cycles):
        source = q if in_sequence else q.copy()
        for i, w in enumerate(document):
            others = np.delete(source, i, axis=0)
            mean, variance = topics.alpha + others.sum(axis=0), (others * (1.0 - others)).sum(axis=0)
            rule = topics.phi[:, w] * mean * (np.exp(-0.5 * variance / mean**2) if second_order else 1.0)
            q[i] = rule / rule.sum()
    return q


def log_joint(topics: Topics, document: list[int], z: tuple[int, ...]) -> float:
    counts = np.bincount(z, minlength=topics.n_topics)
    total = math.lgamma(topics.alpha.sum()) - math.lgamma(topics.alpha.sum() + len(document))
    total += sum(math.lgamma(a + c) - math.lgamma(a) for a, c in zip(topics.alpha, counts, strict=True))
    return total + sum(math.log(topics.phi[k, w]) for k, w in zip(z, document, strict=True))


@pytest.mark.parametrize("in_sequence", [True, False])
@pytest.mark.parametrize("second_order", [True, False])
@pytest.mark.parametrize("cycles", [0, 1, 3])
def test_assignments_come_from_the_rule_and_weigh_what_they_should(
    cycles: int, second_order: bool, in_sequence: bool
) -> None:
    """Each weight is that of one assignment, and assignments are as frequent as q has them.

    About 120 frequencies at 5.4 standard deviations, six times: a false-alarm rate of 1e-4 for the six at once.
    """
    q = proposal(TOPICS, DOCUMENT, cycles, in_sequence, second_order)
    weights, probabilities = [], []
    for z in itertools.product(range(3), repeat=len(DOCUMENT)):
        p = math.prod(q[i, k] for i, k in enumerate(z))
        if p > 0.0:
            weights.append(log_joint(TOPICS, DOCUMENT, z) - math.log(p))
            probabilities.append(p)
    order = np.argsort(weights)
    ordered = np.array(weights)[order]
    group = np.cumsum(np.concatenate([[0], np.diff(ordered) > 1e-9]))  # assignments of the same weight
    expected = np.bincount(group, np.array(probabilities)[order])
    values = ordered[np.unique(group, return_index=True)[1]]

    S = 40_000
    found = np.empty((1, S))
    arrays = kernel_arrays(TOPICS, corpus(DOCUMENT))
    streams = starts(np.random.default_rng(3), 1)
    module._log_weights(*arrays[:4], cycles, in_sequence, second_order, streams, found)
    nearest = np.abs(found[0][:, None] - values).argmin(axis=1)
    np.testing.assert_allclose(found[0], values[nearest], atol=1e-8)
    frequency = np.bincount(nearest, minlength=len(values))
    deviation = (frequency - S * expected) / np.sqrt(S * expected * (1.0 - expected) + 1e-12)
    assert np.abs(deviation[S * expected > 20.0]).max() < 5.4


def test_the_second_order_is_nearer_to_the_expected_logarithm() -> None:
    """E log(alpha + C') over all outcomes of the other tokens, against both expansions."""
    for alpha in (1.0, 2.5, 6.0):
        q = np.array([0.1, 0.7, 0.4, 0.9, 0.5, 0.2])
        outcomes = np.array(list(itertools.product([0, 1], repeat=len(q))))
        expected = float(np.prod(np.where(outcomes, q, 1 - q), axis=1) @ np.log(alpha + outcomes.sum(axis=1)))
        mean, variance = alpha + q.sum(), float((q * (1 - q)).sum())
        first, second = math.log(mean), math.log(mean) - variance / (2 * mean**2)
        assert abs(second - expected) < 0.5 * abs(first - expected)


def test_the_three_differ_and_more_cycles_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    """One start; sequence, parallel and variance make three proposals of it, each worth more than the start."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(30, 0.3), size=3)
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.ones(3), tuple(f"w{i}" for i in range(30)))
    words = rng.choice(30, size=60, p=topics.phi[0]).astype(np.int32)
    documents = Corpus("one", topics.vocabulary, words, np.array([0, 60]), ("d",))
    errors = {}
    for n in (0, 1, 10):
        monkeypatch.setattr(module, "CYCLES", n)
        for f in (mean_field_importance, mean_field_importance_second_order, iterated_pseudo_counts):
            found = f(topics, documents, 500, np.random.default_rng(1))
            errors[f.__name__, n] = float(found.standard_error[0])
    assert len({errors[name, 1] for name, _ in errors}) == 3
    assert len({errors[name, 0] for name, _ in errors}) == 1
    assert all(errors[name, 10] < 0.5 * errors[name, 0] for name, _ in errors)


def test_weights_as_sparse_as_they_get() -> None:
    """The correction by the variance neither loses a topic nor overflows where alpha is next to nothing."""
    topics = Topics(PHI, np.full(3, 1e-9), TOPICS.vocabulary)
    for estimator in (mean_field_importance, mean_field_importance_second_order, iterated_pseudo_counts):
        found = estimator(topics, corpus(DOCUMENT * 20), 50, np.random.default_rng(0))
        assert np.isfinite(found.log_likelihood[0])


@pytest.mark.parametrize(
    "estimator", [mean_field_importance, mean_field_importance_second_order, iterated_pseudo_counts]
)
def test_one_sample_has_no_error_but_where_nothing_is_sampled(estimator) -> None:  # type: ignore[no-untyped-def]
    """One token is a sample like any other; of an empty document there is none."""
    words = TOPICS.vocabulary
    documents = Corpus("three", words, np.array([0, 1, 3], np.int32), np.array([0, 0, 1, 3]), ("d", "e", "f"))
    found = estimator(TOPICS, documents, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(found.standard_error, [0.0, math.nan, math.nan])
