"""Which numbers a probability could have given: on models whose likelihood is exact, and on one where it is not."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.auditing.audit import wording
from heldout.auditing.audit.probability import DOCUMENTS, TOKENS, lengths_of
from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.result import CHANCE
from heldout.auditing.blocks import LIKELIHOOD, REPORTED
from heldout.auditing.formats import chance
from heldout.evaluators import FULL, HALF, MEAN_FIELD_BOUND
from heldout.libraries import Reported

V, WORDS = 40, [f"w{v:02d}" for v in range(40)]


def rows_of(audit: Audit) -> Sequence[tuple[str, ...]]:
    table = wording.probabilities(audit)
    assert table is not None
    return table.rows


def model(topics: int, alpha: float = 0.3) -> tuple[Any, float]:
    return np.random.default_rng(topics).dirichlet(np.full(V, 0.2), topics), alpha


def documents(number: int, length: int) -> list[list[str]]:
    rng = np.random.default_rng(7)
    return [[WORDS[v] for v in rng.integers(0, V, length)] for _ in range(number)]


@pytest.mark.parametrize(("topics", "exact"), [(3, True), (20, False)])
def test_full_folding_in_is_refuted_and_what_sums_to_one_is_not(topics: int, exact: bool) -> None:
    """A probability is refuted with a chance of at most `CHANCE` each."""
    audit = heldout.audit(
        model(topics), documents(40, 30), vocabulary=WORDS, other_corpus=True, estimator="auto", limit=1e7
    )
    test = audit.probability
    assert test is not None
    assert (test.documents, test.tokens, test.exact) == (DOCUMENTS, 30 * DOCUMENTS, exact)
    assert test.refutes(FULL)
    assert not any(test.refutes(name) for name in (HALF, MEAN_FIELD_BOUND, LIKELIHOOD))
    assert test.excesses[FULL].nats > 10.0
    answers = {row[0]: row[-1] for row in rows_of(audit)}
    assert answers["full folding-in"] == "no"
    assert answers["likelihood"] == ("yes, by definition" if exact else "not refuted")
    assert "log e-value" in str(audit)
    assert "full folding-in" in wording.probability(audit)
    assert chance(test.excesses[FULL].log_chance) in wording.probability(audit)
    assert "log e-value" in audit.to_html()
    told = json.loads(json.dumps(audit.to_json()))["probability"]["excesses"][FULL]
    assert told["refuted"] is True
    assert told["log_chance"] == pytest.approx(-told["nats"])


def test_an_estimator_that_is_no_probability_is_refuted() -> None:
    """The harmonic mean is far above the likelihood; its own estimate is not corrected into it."""
    audit = heldout.audit(
        model(20), documents(40, 60), vocabulary=WORDS, other_corpus=True, estimator="harmonic-mean", samples=50
    )
    assert audit.probability is not None
    assert audit.probability.refutes(LIKELIHOOD)


def test_the_librarys_number_is_held_to_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that flatters by a nat per token is refuted; one that reports of its training documents is not held."""
    flattering = Reported("its.score", 5.0, "perplexity", math.e, -1.0, "these documents", "Flattery")
    monkeypatch.setattr("heldout.libraries.reported.reported", lambda *_: flattering)
    monkeypatch.setattr("heldout.auditing.audit.probability.reported", lambda *_: flattering)
    audit = heldout.audit(model(3), documents(10, 30), vocabulary=WORDS, other_corpus=True)
    assert audit.probability is not None
    assert audit.probability.refutes(REPORTED)
    assert [row[-1] for row in rows_of(audit) if row[0] == audit.library] == ["no"]
    of_training = Reported("its.score", 5.0, "perplexity", math.nan, math.nan, "the training documents", "Another")
    monkeypatch.setattr("heldout.auditing.audit.probability.reported", lambda *_: of_training)
    audit = heldout.audit(model(3), documents(10, 30), vocabulary=WORDS, other_corpus=True)
    assert audit.probability is not None
    assert REPORTED not in audit.probability.excesses


def test_scikit_learns_bound_is_not_above_the_likelihood() -> None:
    lda = pytest.importorskip("sklearn.decomposition").LatentDirichletAllocation
    counts = np.random.default_rng(0).multinomial(30, np.full(V, 1.0 / V), 50)
    audit = heldout.audit(lda(3, random_state=0).fit(counts), counts, vocabulary=WORDS)
    assert audit.probability is not None
    found = audit.probability.excesses[REPORTED]
    assert found.nats < 0.0
    assert found.log_chance == 0.0


def test_it_can_be_left_out() -> None:
    given: dict[str, Any] = {"vocabulary": WORDS, "other_corpus": True}
    audit = heldout.audit(model(3), documents(10, 30), **given, probability=False)
    assert audit.probability is None
    assert audit.to_json()["probability"] is None
    assert "log e-value" not in str(audit) + audit.to_html()
    again = heldout.audit(model(3), documents(10, 30), **given)
    np.testing.assert_array_equal(audit.nats[LIKELIHOOD], again.nats[LIKELIHOOD])


def test_drawn_lengths_are_audited_ones_within_the_budget() -> None:
    rng = np.random.default_rng(0)
    assert set(lengths_of(np.array([0, 3, 5, 0]), rng)[0]) == {3, 5}
    assert lengths_of(np.full(1000, 10), rng)[0].tolist() == [10] * DOCUMENTS
    assert lengths_of(np.array([10 * TOKENS]), rng)[0].tolist() == [TOKENS]
    assert lengths_of(np.full(50, TOKENS // 4), rng)[0].sum() <= TOKENS


def test_chances_are_told_from_their_logarithms() -> None:
    assert chance(0.0) == "1"
    assert chance(math.log(CHANCE)) == "1e-6"
    assert chance(-math.inf) == "0"


def test_the_upper_limit_is_tight_where_the_prior_is_peaked() -> None:
    """Under alpha = 0.01 full folding-in is refuted, and an unbiased estimate is within nats of the limit."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(500, 0.1), 20)
    words = [f"w{v:03d}" for v in range(500)]
    counts = [rng.multinomial(200, rng.dirichlet(np.full(20, 0.05)) @ phi) for _ in range(24)]
    audit = heldout.audit((phi, 0.01), np.array(counts), vocabulary=words, limit=0.0)
    assert audit.probability is not None
    assert not audit.probability.exact
    assert audit.probability.refutes(FULL)
    assert -10.0 < audit.probability.excesses[LIKELIHOOD].nats < 5.0
