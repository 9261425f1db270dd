"""Model selection on corpora drawn from known topics: what is trained, what is scored, and against what."""

import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.measurements import Measurement
from heldout.models import lda
from heldout.papers.buntine.experiments.model_selection import REFERENCE, experiment, trained_on, with_more
from heldout.runs import run_experiment
from heldout.scores import Score
from heldout.topics import Topics

WORDS, LENGTH = 12, 12
SETTINGS: dict[str, Any] = {
    "training_documents": [20, 60],
    "samples": {REFERENCE: 20, "mean-field-bound": 0, "document-completion": 10},
    "alpha_sum": 1.0,
    "beta": 0.1,
    "sweeps": 20,
    "chains": 2,
    "optimise_every": 5,
    "fold_in_sweeps": 5,
    "check_samples": 40,
    "check_documents": 3,
}


@cache
def truth() -> Topics:
    """Return two topics that share few words."""
    phi = np.full((2, WORDS), 0.02)
    phi[0, :6] = phi[1, 6:] = (1.0 - 0.02 * 6) / 6
    return Topics(phi, np.array([0.3, 0.2]), tuple(f"w{w}" for w in range(WORDS)))


@cache
def corpus() -> Corpus:
    """Return documents drawn from the truth."""
    random = np.random.default_rng(5)
    theta = random.dirichlet(truth().alpha, 80)
    tokens = np.array([random.choice(WORDS, size=LENGTH, p=row @ truth().phi) for row in theta], dtype=np.int32)
    documents = tuple(f"d{d}" for d in range(80))
    return Corpus("s2", truth().vocabulary, tokens.ravel(), np.arange(81, dtype=np.int64) * LENGTH, documents)


def held_out() -> Corpus:
    return corpus().subset(range(70, 80))


@cache
def found(topics: int) -> tuple[list[Score], list[Measurement]]:
    return experiment(corpus(), topics=topics, truth=truth(), seed=3, test_documents=10, **SETTINGS)


def one(scores: list[Score], variant: str, evaluator: str) -> Score:
    [row] = [score for score in scores if (score.variant, score.evaluator) == (variant, evaluator)]
    return row


def test_rows_of_every_model_and_evaluator() -> None:
    evaluators = {FULL, HALF, *SETTINGS["samples"]}
    for topics, variants in ((3, {"trained-on-20", "trained-on-60"}), (2, {"trained-on-20", "trained-on-60", "truth"})):
        scores, measurements = found(topics)
        assert Counter((s.variant, s.evaluator) for s in scores) == {(v, e): 1 for v in variants for e in evaluators}
        assert {s.model for s in scores} == {"truth" if v == "truth" else "lda" for v in variants}
        for s in scores:
            assert (s.corpus, s.topics, s.seed, s.documents, s.smoothing) == ("s2", topics, 3, 10, 0.0)
            assert s.chain == ("none" if s.variant == "truth" else "best")
            assert s.samples == {FULL: 1, HALF: 1, **SETTINGS["samples"]}[s.evaluator]
            assert s.tokens == (60 if s.evaluator in (HALF, "document-completion") else 120)
            assert math.isnan(s.standard_error) == (s.evaluator in (FULL, HALF))
        rows = Counter((m.variant, m.quantity) for m in measurements)
        expected = {(v, REFERENCE): 10 for v in variants}
        if topics == 2:
            expected["truth", with_more(40)] = 3
        assert rows == expected
        assert {m.axis for m in measurements} == {"document"}


def test_documents_add_up_to_the_score() -> None:
    scores, measurements = found(2)
    for variant in ("trained-on-20", "truth"):
        rows = sorted(m for m in measurements if m.variant == variant and m.quantity == REFERENCE)
        assert [m.at for m in rows] == list(range(10))
        score = one(scores, variant, REFERENCE)
        assert score.log_likelihood == pytest.approx(sum(m.value for m in rows), rel=1e-12)
        assert score.standard_error == pytest.approx(math.sqrt(sum(m.standard_error**2 for m in rows)), rel=1e-12)


def test_the_truth_is_scored_on_the_last_documents() -> None:
    # the estimates of 10 documents and their exact values; normal bound with a false-alarm rate of 1e-5 (4.4 errors)
    scores, measurements = found(2)
    exact = exact_marginal(truth(), held_out()).log_likelihood
    score = one(scores, "truth", REFERENCE)
    assert abs(score.log_likelihood - exact.sum()) < 4.4 * score.standard_error
    assert 0.0 < score.standard_error < 3.0
    assert one(scores, "truth", "mean-field-bound").log_likelihood <= exact.sum()
    more = [m for m in measurements if m.quantity == with_more(40)]
    assert sum(m.value for m in more) == pytest.approx(exact[:3].sum(), abs=2.0)


def test_the_check_draws_from_a_stream_of_its_own() -> None:
    settings = {**SETTINGS, "training_documents": [60], "samples": {REFERENCE: 20}, "check_samples": 20}
    _, rows = experiment(corpus(), topics=2, truth=truth(), seed=3, test_documents=10, **settings)
    few, more = (
        [m.value for m in rows if (m.variant, m.quantity) == ("truth", name)][:3] for name in (REFERENCE, with_more(20))
    )
    assert all(one != other for one, other in zip(few, more, strict=True))
    # and the other rows do not know how the check is made
    assert few == [m.value for m in found(2)[1] if (m.variant, m.quantity) == ("truth", REFERENCE)][:3]


def test_models_are_the_best_chains_of_the_first_documents() -> None:
    scores, _ = found(3)
    for size in (20, 60):
        chains = lda.train(
            corpus().subset(range(size)),
            topics=3,
            seed=3,
            alpha_sum=1.0,
            beta=0.1,
            sweeps=20,
            chains=2,
            optimise_every=5,
        )
        best = max(chains, key=lambda chain: chain.provenance["log_likelihood"][-1])
        expected = full_folding_in([best], held_out(), lambda t, d: lda.fold_in(t, d, seed=3, sweeps=5))
        assert one(scores, trained_on(size), FULL).log_likelihood == pytest.approx(expected.log_likelihood.sum())


def test_jobs_do_not_depend_on_one_another() -> None:
    alone = experiment(
        corpus(),
        topics=2,
        truth=truth(),
        seed=3,
        test_documents=10,
        **{**SETTINGS, "training_documents": [60], "samples": {REFERENCE: 20}},
    )[0]
    for variant in ("trained-on-60", "truth"):
        assert one(alone, variant, REFERENCE) == one(found(2)[0], variant, REFERENCE)


def test_it_is_found_by_name() -> None:
    settings = {**SETTINGS, "training_documents": [20], "samples": {REFERENCE: 2}}
    scores, _ = run_experiment(
        "heldout.papers.buntine.experiments.model_selection",
        corpus(),
        [truth()],
        "none",
        topics=3,
        seed=0,
        test_documents=5,
        settings=settings,
        fold_in_settings={},
    )
    assert {score.topics for score in scores} == {3}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training_documents": [71]}, "71 training and 10 held-out documents do not fit into the 80 of s2"),
        ({"training_documents": [0, 5]}, "do not fit"),
        ({"training_documents": []}, "do not fit"),
        ({"test_documents": 0}, "do not fit"),
        ({"samples": {"mean-field-bound": 0}}, "left-to-right-sequential is not among the estimators"),
        ({"samples": {REFERENCE: 1, "left": 1}}, "there is no estimator left; there are"),
        ({"chains": 0}, "no chain to run|run at least one"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"topics": 2, "truth": truth(), "seed": 0, "test_documents": 10, **SETTINGS, **changes}
    with pytest.raises(InputError, match=message):
        experiment(corpus(), **given)
