"""Audits and rankings under a logistic-normal prior: on arrays, on files, beside models with a Dirichlet prior."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.auditing.audit import wording
from heldout.auditing.blocks import COLUMNS, LIKELIHOOD, UNIFORM, UNIGRAM, Work, evaluate, local, parts_of
from heldout.auditing.scorer import log_likelihood
from heldout.cli import main
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.logistic_normal import (
    cost,
    logistic_normal,
    logistic_normal_exact,
    simulate,
)
from heldout.libraries.read import fitted
from heldout.topics import LogisticNormalTopics

V = 40
WORDS = tuple(f"w{v:02d}" for v in range(V))


def model(K: int, scale: float = 1.5) -> LogisticNormalTopics:
    rng = np.random.default_rng(K)
    phi = rng.dirichlet(np.full(V, 0.2), K)
    root = scale * (np.eye(K - 1) + 0.3 * rng.standard_normal((K - 1, K - 1)))
    return LogisticNormalTopics(phi / phi.sum(axis=1, keepdims=True), rng.normal(size=K - 1), root @ root.T, WORDS)


def drawn(topics: LogisticNormalTopics, number: int, length: int) -> Corpus:
    return simulate(topics, np.full(number, length), np.random.default_rng(3))[0]


def test_at_two_topics_the_likelihood_is_exact_and_what_has_no_evaluator_is_absent() -> None:
    topics = model(2)
    documents = drawn(topics, 40, 30)
    audit = heldout.audit(topics, documents)
    exact = logistic_normal_exact(topics, documents).log_likelihood
    assert audit.exact
    np.testing.assert_allclose(audit.nats[LIKELIHOOD], exact, atol=1e-8)
    assert [line.evaluator for line in audit.lines] == [LIKELIHOOD, FULL, HALF, UNIGRAM, UNIFORM]
    uniform = heldout.audit((topics.phi, 1.0), documents, vocabulary=WORDS, probability=False)
    for name in (FULL, HALF):
        np.testing.assert_allclose(audit.nats[name], uniform.nats[name], atol=1e-9)
    assert audit.probability is not None
    assert audit.probability.exact
    assert set(audit.probability.excesses) == {FULL, HALF, LIKELIHOOD}
    assert audit.probability.refutes(FULL)
    assert not audit.probability.refutes(HALF)
    told = json.loads(json.dumps(audit.to_json(), allow_nan=False))
    assert (audit.alpha, audit.covariance, uniform.mean) == (None, topics.covariance, None)
    assert (told["alpha"], told["mean"], told["covariance"]) == (None, [topics.mean[0]], [[topics.covariance[0, 0]]])
    assert "bound" not in str(audit)
    page = audit.to_html()
    assert "Logistic normal, log weights over the last topic" in page
    assert "logistic-normal prior" in page
    assert "Dirichlet" not in page


def test_at_many_topics_the_likelihood_has_an_error_and_is_no_more_than_a_probability() -> None:
    """Against 200 chains; false alarms 1e-5."""
    topics = model(8, 0.7)
    documents = drawn(topics, 8, 20)
    audit = heldout.audit(topics, documents)
    line = audit.line(LIKELIHOOD)
    assert (line.estimator, line.label) == (REFERENCE, "likelihood, annealing from the Laplace approximation")
    long = logistic_normal(topics, documents, 200, np.random.default_rng(1))
    assert 0.0 < line.standard_error < 3.0
    assert abs(line.log_likelihood - long.log_likelihood.sum()) < 4.42 * math.hypot(
        line.standard_error, long.total_error()
    )
    assert audit.probability is not None
    assert not audit.probability.exact
    assert audit.probability.refutes(FULL)
    assert not any(audit.probability.refutes(name) for name in (HALF, LIKELIHOOD))
    assert "annealing from the Laplace approximation, at most" in wording.note(audit)
    assert log_likelihood(topics, documents) == pytest.approx(line.log_likelihood / line.tokens, abs=0.02)


def test_a_block_has_no_bound_and_every_likelihood() -> None:
    topics = model(4)
    documents = drawn(topics, 3, 10)
    for estimator, samples in ((EXACT, 0), (REFERENCE, 240)):
        of_three = model(3) if estimator == EXACT else topics
        work = Work(estimator, samples, 1, "", parts=parts_of(of_three))
        values = evaluate(*local(of_three, documents, 16), 16, work)
        assert np.isnan(values[:, COLUMNS.index(MEAN_FIELD_BOUND)]).all()
        assert np.isfinite(values[:, COLUMNS.index(LIKELIHOOD)]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "chib"}, "chib: under a Dirichlet prior only"),
        ({"estimator": EXACT}, "exact likelihood of these documents at 8 topics takes more"),
    ],
)
def test_what_does_not_know_the_prior_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        heldout.audit(model(8), drawn(model(8), 2, 5), **options)


def test_a_ranking_takes_both_priors_and_the_true_one_is_the_best() -> None:
    topics = model(3, 3.0)
    documents = drawn(topics, 40, 15)
    models = {
        "uniform": fitted((topics.phi, 1.0), WORDS),
        "true": topics,
        "narrow": fitted((topics.phi, topics.mean, np.eye(2) * 0.01), WORDS),
    }
    ranking = heldout.rank(models, documents, coherence=False, estimator=REFERENCE, samples=240)
    assert ranking.best.name == "true"
    assert "narrow" not in [one.name for one in ranking.ties]
    with pytest.raises(InputError, match="chib: under a Dirichlet prior only"):
        heldout.rank(models, documents, estimator="chib")


def test_the_command_audits_what_r_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = model(3)
    np.savetxt(tmp_path / "phi.csv", topics.phi, delimiter=",", header=",".join(WORDS), comments="", fmt="%.17g")
    np.savetxt(tmp_path / "phi.mean.csv", topics.mean, fmt="%.17g")
    np.savetxt(tmp_path / "phi.covariance.csv", topics.covariance, delimiter=",", fmt="%.17g")
    documents = drawn(topics, 5, 12)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    bags = [np.unique(documents.document(d), return_counts=True) for d in range(5)]
    lines = [f"{len(v)} " + " ".join(f"{w}:{n}" for w, n in zip(v, times, strict=True)) for v, times in bags]
    (tmp_path / "test.ldac").write_text("\n".join(lines) + "\n")
    given = ["audit", str(tmp_path / "phi.csv"), str(tmp_path / "test.ldac")]
    given += ["--documents-vocabulary", str(tmp_path / "words.txt"), "--json", "-", "--html", str(tmp_path / "a.html")]
    assert main(given) == 0
    told = json.loads(capsys.readouterr().out)
    exact = float(logistic_normal_exact(topics, documents).log_likelihood.sum())
    assert next(line for line in told["lines"] if line["evaluator"] == LIKELIHOOD)["log_likelihood"] == pytest.approx(
        exact
    )
    assert "Logistic normal" in (tmp_path / "a.html").read_text()


def test_the_cost_of_quadrature() -> None:
    assert cost([100], 2) < cost([100], 3) < cost([1_000], 3)
    assert cost([1], 4) == math.inf
