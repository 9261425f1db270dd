"""The excess of full folding-in that an audit states, beside the law and the bound, and against enumeration."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from made_audit import made_audit
from made_models import drawn, likelihood, topics_of

from heldout.auditing import formats
from heldout.auditing.audit import wording
from heldout.auditing.audit.audit import audit
from heldout.auditing.audit.excess import folding_in_excess
from heldout.evaluators.excess import largest_excess
from heldout.evaluators.expected_excess import expected_excess
from heldout.topics import LogisticNormalTopics, OwnPriors, Topics
from heldout.typing import Floats

TOLERANCE = 1e-4  # nats per token: folding in is that close to its maximum


def gaps(K: int, alpha: Floats, tokens: int) -> tuple[Floats, Floats]:
    """p(z) and e(N) of all topics z of so many tokens, from the definitions."""
    eye, pairs = np.eye(K), []
    for z in itertools.product(range(K), repeat=tokens):
        shares = np.bincount(z, minlength=K) / tokens
        log_p = likelihood(eye, alpha, list(z))  # of words that tell their topics
        pairs.append((math.exp(log_p), float(np.log(shares[list(z)]).sum()) - log_p))
    values = np.array(pairs)
    return values[:, 0], values[:, 1]


@pytest.mark.parametrize("alpha", [(0.2, 0.2, 0.2), (0.4, 0.1, 2.0), (1.0, 1.0, 1.0)])
def test_of_all_documents_of_topics_that_share_no_word_the_law_is_the_mean_and_the_bound_the_largest(
    alpha: tuple[float, ...],
) -> None:
    prior, n = np.array(alpha), 4
    bags = np.array([bag for bag in itertools.product(range(n + 1), repeat=3) if sum(bag) == n])
    result = audit((np.eye(3), prior), bags, vocabulary=["a", "b", "c"], other_corpus=True)
    excess = result.excess
    assert excess is not None
    probability, gap = gaps(3, prior, n)
    assert excess.expected == pytest.approx(len(bags) * (probability @ gap), rel=1e-9)
    assert excess.largest == pytest.approx(len(bags) * gap.max(), rel=1e-9)
    per_document = result.nats["full-folding-in"] - result.nats["likelihood"]
    assert excess.measured == pytest.approx(per_document.sum())
    assert per_document.max() == pytest.approx(gap.max(), abs=TOLERANCE * n)
    orders = [math.factorial(n) // math.prod(map(math.factorial, bag)) for bag in bags.tolist()]
    mean = np.array(orders) * np.exp(result.nats["likelihood"]) @ per_document
    assert mean == pytest.approx(probability @ gap, abs=TOLERANCE * n)


@pytest.mark.parametrize(("K", "alpha"), [(1, 0.5), (2, 0.05), (3, 0.4), (5, 1.0), (5, 8.0)])
@pytest.mark.parametrize("length", [1, 5, 12])
def test_the_measured_excess_is_at_most_the_bound_in_every_document_and_the_sums_are_of_scored_ones(
    K: int, alpha: float, length: int
) -> None:
    result = audit(topics_of(K, alpha=alpha), drawn(15, length=length), other_corpus=True, probability=False)
    lengths, prior = result.lengths[result.lengths > 0], np.full(K, alpha)
    bounds = largest_excess(result.lengths, prior)
    assert result.exact
    assert np.all(result.nats["full-folding-in"] - result.nats["likelihood"] <= bounds + 1e-9)
    assert result.excess is not None
    assert result.excess.largest == pytest.approx(largest_excess(lengths, prior).sum())
    assert result.excess.expected == pytest.approx(expected_excess(lengths, prior).sum())
    assert -1e-9 - TOLERANCE * result.tokens <= result.excess.measured <= result.excess.largest + 1e-9
    assert result.excess.expected <= result.excess.largest + 1e-9


def test_an_estimated_likelihood_stays_within_the_bound_and_its_error() -> None:
    """A false alarm needs more than the distance to the bound and five standard errors."""
    result = audit(topics_of(alpha=0.1), drawn(30, length=20), estimator="reference", samples=240, probability=False)
    assert result.excess is not None
    assert not result.exact
    assert result.excess.measured <= result.excess.largest + 5.0 * result["likelihood"].standard_error


def test_documents_with_priors_of_their_own_have_their_own_laws_and_bounds() -> None:
    alphas = np.array([[0.5, 0.5, 0.0], [0.2, 0.1, 2.0], [0.0, 0.3, 0.0], [0.5, 0.5, 0.0]])
    topics = topics_of()
    model = OwnPriors(topics.phi, alphas, topics.vocabulary)
    result = audit(model, drawn(4, length=6), other_corpus=True, probability=False)
    pairs = [(np.array([n]), a[a > 0.0]) for n, a in zip(result.lengths, alphas, strict=True)]
    assert result.excess is not None
    assert result.excess.expected == pytest.approx(sum(expected_excess(*pair)[0] for pair in pairs))
    assert result.excess.largest == pytest.approx(sum(largest_excess(*pair)[0] for pair in pairs))
    assert result.excess.measured <= result.excess.largest


def test_under_a_logistic_normal_prior_nothing_is_said() -> None:
    topics = topics_of(2)
    result = audit(LogisticNormalTopics(topics.phi, np.zeros(1), np.eye(1), topics.vocabulary), drawn(6))
    assert result.excess is None
    assert result.to_json()["excess"] is None
    assert wording._excess(result) == ""


def test_long_documents_have_a_law_and_a_bound_where_it_is_cheap() -> None:
    lengths = np.array([100_000, 3])
    nats = {"full-folding-in": np.array([-1.0, -2.0]), "likelihood": np.array([-5.0, -2.5])}
    for alpha, cheap in ((0.1, False), (0.5, True), (2.0, True)):
        prior = np.full(50, alpha)
        excess = folding_in_excess({"alpha": prior}, lengths, nats)
        assert excess is not None
        assert excess.measured == 4.5
        assert excess.expected == pytest.approx(expected_excess(lengths, prior).sum())
        assert (excess.largest == pytest.approx(largest_excess(lengths, prior).sum())) if cheap else True
        assert math.isnan(excess.largest) is not cheap


def test_a_law_that_takes_too_long_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.auditing.audit.excess.LAW_STEPS", 100.0)
    told = audit(topics_of(), drawn(6)).to_json()["excess"]
    assert told["expected"] is None
    assert told["largest"] > told["measured"] > 0.0


def test_impossible_documents_are_left_out() -> None:
    phi, words = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]]), ["a", "b", "c"]
    documents = np.array([[1, 1, 0], [1, 0, 1], [3, 0, 0]])
    all_three = audit((phi, 1.0), documents, vocabulary=words)
    possible = audit((phi, 1.0), documents[[0, 2]], vocabulary=words)
    assert possible.excess is not None
    assert all_three.excess == pytest.approx(possible.excess)
    assert wording._excess(possible) in str(wording.reasons(possible))
    json.dumps(all_three.to_json(), allow_nan=False)


def test_factors_are_told_as_far_as_they_are_known() -> None:
    made: Any = made_audit(60)
    shown = [formats.ratio(math.exp(value / made.tokens)) for value in made.excess]
    told = wording._folding_in(made)
    assert all(number in told for number in shown)
    full = next(row for row in made.rows if row.evaluator == "full-folding-in")
    assert shown[0] == formats.ratio(1.0 / full.ratio)
    for missing, name in ((1, "expected"), (2, "largest")):
        said = wording._folding_in(with_excess(made, **{name: math.nan}))
        assert [number in said for number in shown] == [place != missing for place in range(3)]
    assert "nan" not in wording._folding_in(with_excess(made, expected=math.nan, largest=math.nan))
    assert wording._excess(with_excess(made, measured=0.0)) == ""


def with_excess(made: Any, **changes: float) -> Any:
    return type(made)(**{**vars(made), "excess": made.excess._replace(**changes)})


def test_one_topic_has_no_excess() -> None:
    result = audit(Topics(np.full((1, 3), 1 / 3), np.ones(1), ("a", "b", "c")), np.array([[1, 2, 0]]))
    assert result.excess == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert wording._excess(result) == ""
