"""Which estimator computes the likelihood, and what its error says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from made_models import drawn, topics_of

from heldout.auditing.audit.audit import audit
from heldout.auditing.audit.wording import document_error, reasons
from heldout.auditing.estimator import AIM, MOST, choose_estimator
from heldout.auditing.options import AuditOptions
from heldout.auditing.survey import survey
from heldout.corpora.documents import read_documents
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE, SEQUENTIAL
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.evaluators.priors import DIRICHLET, SWEEPS
from heldout.evaluators.reference import CHAINS, LARGE, VARIANCE, least_samples, variance_for
from heldout.seeds import generator

DEVIATIONS = 4.42  # two-sided, 1e-5


def test_where_exact_costs_too_much_the_reference_takes_its_place_and_covers() -> None:
    model, X = topics_of(), drawn(60, length=20)
    exact, result = audit(model, X), audit(model, X, limit=10.0)
    line = result.line("likelihood")
    assert (exact.exact, result.exact, line.estimator) == (True, False, REFERENCE)
    difference = line.log_likelihood - exact.line("likelihood").log_likelihood
    assert 0.0 < abs(difference) < DEVIATIONS * line.standard_error
    assert line.error_per_token < 1e-2
    scored = result.lengths > 0
    assert np.all(result.errors["likelihood"] >= np.abs(result.bias))
    squares = (result.errors["likelihood"][scored] ** 2).sum() + result.bias[scored].sum() ** 2
    assert line.standard_error == pytest.approx(math.sqrt(squares))


def test_seconds_are_spent_and_no_more() -> None:
    documents, topics = read_documents(drawn(60)), topics_of()
    read = survey(documents, np.zeros(60, np.int64), topics, 0.0)

    def spent(tokens: int, **options: float) -> tuple[int, int]:
        work = choose_estimator(topics, read._replace(lengths=np.array([tokens])), AuditOptions(**options))  # type: ignore[arg-type]
        return work.samples, work.chains

    assert spent(10) == (MOST, CHAINS)
    assert spent(50_000) == (SWEEPS / 50_000, CHAINS)
    assert spent(500_000) == (SWEEPS / 500_000, DIRICHLET.fewest_chains)
    assert spent(10**9) == (least_samples(DIRICHLET.fewest_chains), DIRICHLET.fewest_chains)
    assert spent(10**9, standard_error=0.1) == (MOST, CHAINS)
    work = choose_estimator(topics, read, AuditOptions(standard_error=0.1))
    assert (work.estimator, work.variance) == (REFERENCE, variance_for(AIM * 0.1))
    assert "an error of 0.1 nats a document is asked for" in work.reason
    named = choose_estimator(topics, read, AuditOptions(estimator=REFERENCE, samples=300))
    assert (named.samples, named.variance) == (300, VARIANCE)
    assert choose_estimator(topics, read._replace(updates=1.0), AuditOptions()).estimator == EXACT
    with pytest.raises(InputError, match="239 samples; draw 240 or more"):
        AuditOptions(estimator=REFERENCE, samples=239)


@pytest.mark.parametrize("wanted", [0.01, 0.1, 0.3])
def test_the_variance_gives_the_wanted_error(wanted: float) -> None:
    c2, S = variance_for(wanted), 8
    assert c2 / S + c2**2 / (2 * (S - 1)) + S * c2**3 / (6 * (S - 1) * (S - 2)) == pytest.approx(wanted**2)
    assert variance_for(10.0) == variance_for(1e300) == LARGE
    assert variance_for(1e-300) > 0.0


def test_an_error_that_was_asked_for_and_missed_is_owned_up_to() -> None:
    result = audit(topics_of(), drawn(20, length=20), limit=10.0, standard_error=0.05)
    found = document_error(result)
    assert 0.0 < found < 0.2
    said = [
        "asked for" in " ".join(reasons(replace(result, settings={**result.settings, "standard_error": wanted})))
        for wanted in (found / 2, 2 * found)
    ]
    assert said == [True, False]


def test_the_known_bias_is_corrected_and_as_much_again_is_stated() -> None:
    """Means of S log-normal weights of mean 1, so that every log-likelihood is 0; 50 corpora of 400 documents."""
    rng = generator("test-audit-error")
    D, S, spread = 400, 10, 1.0
    before, after, stated = [], [], []
    for _ in range(50):
        weights = rng.lognormal(-(spread**2) / 2.0, spread, (D, S))
        means = weights.mean(axis=1)
        errors = weights.std(axis=1, ddof=1) / math.sqrt(S) / means
        found = corrected(Evaluation(np.log(means), np.ones(D, np.int64), errors), consistent=True)
        before.append(np.log(means).sum())
        after.append(found.log_likelihood.sum())
        stated.append(found.total_error())
    assert abs(np.mean(after)) < 0.7 * abs(np.mean(before))
    assert abs(np.mean(after)) < np.mean(stated)


def test_without_an_error_nothing_is_corrected() -> None:
    found = Evaluation(np.array([-3.0, -math.inf]), np.array([1, 1]), np.array([math.nan, 0.0]))
    assert corrected(found, consistent=True).log_likelihood.tolist() == [-3.0, -math.inf]
    assert math.isnan(corrected(found, consistent=True).total_error())
    low = replace(found, standard_error=np.array([0.4, 0.0]))
    assert corrected(low, consistent=False).log_likelihood.tolist() == [-3.0, -math.inf]
    assert corrected(low, consistent=False).bias == pytest.approx([0.08, 0.0])


def test_an_audit_by_name_is_corrected() -> None:
    model, X = topics_of(), drawn(30, length=20)
    line = audit(model, X, estimator=SEQUENTIAL, samples=300).line("likelihood")
    exact = audit(model, X).line("likelihood")
    assert abs(line.log_likelihood - exact.log_likelihood) < 1.5 * DEVIATIONS * line.standard_error


def test_more_topics_than_were_ever_measured_are_no_refusal() -> None:
    result = audit(topics_of(401), drawn(4), limit=10.0, standard_error=2.0)
    line = result.line("likelihood")
    assert line.estimator == REFERENCE
    assert 0.0 < line.error_per_token < 1.0
