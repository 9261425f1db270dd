"""The models of Hofmann's experiment on split tokens: which rows, and that they agree with the evaluators they name."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with
from made_jobs import run as run_job

from artifact.papers.hofmann.experiments.tempering import experiment, validated_prior
from artifact.papers.hofmann.settings import Tempering
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import TokenSplit, half_split, token_split
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.folding_in import predictive
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.models import plsa, plsa_tem
from heldout.models.inverse_annealing import annealing, inverse_annealing
from heldout.seeds import generator
from heldout.topics import Topics

K = 3
SETTINGS: dict[str, Any] = {
    "shares": [0.6, 0.2, 0.2],
    "early_patience": 3,
    "eta": 0.8,
    "tolerance": 1e-3,
    "patience": 2,
    "iterations": 200,
    "annealing_topics": 3,
    "annealing_start": 0.4,
    "annealing_eta": 0.9,
    "convergence": 1e-4,
    "annealing_noise": 0.01,
    "path_topics": [3],
    "folded_in_topics": [3],
    "fold_in_iterations": 200,
    "fold_in_tolerance": 1e-5,
    "samples": 300,
    "predictive_samples": 400,
    "prior_sums": [0.3, 3.0, 30.0],
    "prior_samples": 100,
    "limit": 1e7,
}
AT: dict[str, Any] = {n: SETTINGS[n] for n in ("early_patience", "eta", "tolerance", "patience", "iterations")}
HOFMANN = "document-specific-unigram"


def corpus() -> Corpus:
    random = np.random.default_rng(0)
    phi = random.dirichlet(np.full(25, 0.1), 3)
    weights = random.dirichlet(np.full(3, 0.3), 30) @ phi
    words = [random.choice(25, 20, p=p / p.sum()) for p in weights]
    return Corpus.from_documents("small", [(f"d{d}", [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def tokens() -> TokenSplit:
    return token_split(corpus(), (0.6, 0.2, 0.2), 0)


def measured(**changes: Any) -> tuple[list[Score], list[Measurement]]:
    return run_job(experiment, Tempering, corpus(), topics=K, **{**SETTINGS, **changes})


def test_rows() -> None:
    scores, rows = measured()
    found = {(s.model, s.variant, s.evaluator): s for s in scores}
    assert len(found) == len(scores)
    integrated = {"reference", "exact-marginal", "posterior-predictive"}
    own = integrated | {HOFMANN, f"{HOFMANN}-folded-in", "half-folding-in"}
    fitted = {
        ("plsa-hof", "early-stopping"): own,
        ("plsa-hof", "early-stopping-validated-prior"): integrated,
        ("plsa-tem", "inverse-annealing"): own,
        ("plsa-tem", "inverse-annealing-validated-prior"): integrated,
        ("plsa-tem", "annealing"): {HOFMANN},
        ("plsa-tem", "annealing-coarse"): {HOFMANN},
        ("plsa-tem", "inverse-annealing-fine"): {HOFMANN},
        ("plsa-tem", "inverse-annealing-patience-1"): {HOFMANN},
    }
    assert set(found) == {(*names, evaluator) for names, evaluators in fitted.items() for evaluator in evaluators}
    split = tokens()
    _, scored = half_split(split.test, 0)
    for s in scores:
        assert (s.topics, s.chain, s.smoothing, s.seed) == (K, "none", 0.0, 0)
        assert s.tokens == (scored if s.evaluator == "half-folding-in" else split.test).n_tokens
        assert s.tokens_left_out == split.test_left_out
        assert s.samples == {"reference": 300, "posterior-predictive": 400}.get(s.evaluator, 0)
        assert (s.standard_error > 0.0) == (s.samples > 0)
    named = {(m.model, m.variant, m.quantity, m.axis, m.at): m.value for m in rows}
    assert len(named) == len(rows)
    for model, variant in list(fitted)[0:5:2]:
        path = {
            at: v
            for (*names, axis, at), v in named.items()
            if names == [model, variant, "beta"] and axis == "iteration"
        }
        values = {
            at: v
            for (*names, axis, at), v in named.items()
            if names == [model, variant, "validation-perplexity"] and axis == "iteration"
        }
        assert list(path) == list(values) == list(range(1, int(named[model, variant, "iterations", "topics", K]) + 1))
        best = named[model, variant, "iterations-to-best", "topics", K]
        assert values[int(best)] == min(values.values()) == named[model, variant, "validation-perplexity", "topics", K]
        assert path[int(best)] == named[model, variant, "beta", "topics", K]
    assert {m.variant for m in rows if m.axis == "iteration"} == {"early-stopping", "inverse-annealing", "annealing"}
    for model, variant in list(fitted)[1:4:2]:
        for quantity in ("prior-sum", "prior-sum-of-truth"):
            assert named[model, variant, quantity, "topics", K] in SETTINGS["prior_sums"]


def test_scores_are_those_of_the_fits() -> None:
    scores, rows = measured()
    found = {(s.variant, s.evaluator): s for s in scores}
    sums = {(m.variant, m.quantity): m.value for m in rows if m.quantity.startswith("prior-sum")}
    split = tokens()
    fits = inverse_annealing(split.training, split.validation, topics=K, seed=0, **AT)
    counts = split.test.counts().toarray()
    cooled: dict[str, Any] = {n: v for n, v in AT.items() if n not in ("early_patience", "eta")}
    cooled |= {"topics": K, "seed": 0, "start": 0.4, "noise": 0.01}
    others = {
        "annealing": annealing(split.training, split.validation, eta=0.9, convergence=1e-4, **cooled),
        "annealing-coarse": annealing(split.training, split.validation, eta=0.8, convergence=1e-3, **cooled),
    }
    # 0.8^2 = 0.64 lies between 0.9^4 and 0.9^5: the fine schedule waits five times for the coarse one's two
    for name, changes in (("fine", {"eta": 0.9, "tolerance": 1e-4, "patience": 5}), ("patience-1", {"patience": 1})):
        given = {**AT, **changes}
        heated = inverse_annealing(split.training, split.validation, topics=K, seed=0, **given)[1]
        others[f"inverse-annealing-{name}"] = heated
    for variant, fit in {"early-stopping": fits[0], "inverse-annealing": fits[1], **others}.items():
        with np.errstate(divide="ignore"):
            p = np.log(fit.document_topics @ fit.topics.phi)
        expected = np.sum(counts[counts > 0] * p[counts > 0])
        assert found[variant, HOFMANN].log_likelihood == pytest.approx(expected, rel=1e-12)
    for variant, fit in zip(("early-stopping", "inverse-annealing"), fits, strict=True):

        def fold_in(trained: Topics, documents: Corpus) -> Any:
            return fold_with(plsa_tem, trained, documents, seed=0, iterations=200, tolerance=1e-5)

        halves = predictive([fit.topics], *half_split(split.test, 0), fold_in)
        assert found[variant, "half-folding-in"].log_likelihood == halves.log_likelihood.sum()
        exact = exact_marginal(fit.topics, split.test).log_likelihood.sum()
        assert found[variant, "exact-marginal"].log_likelihood == pytest.approx(exact, rel=1e-12)
        # folded in on all tokens of a document, test tokens included
        whole = sum((part.counts() for part in split[1:3]), split.training.counts())
        weights = plsa.fold_in_counts(fit.topics, whole, beta=fit.beta, iterations=200, tolerance=1e-5)
        p = np.log(weights @ fit.topics.phi)
        full = found[variant, f"{HOFMANN}-folded-in"].log_likelihood
        assert full == pytest.approx(np.sum(counts[counts > 0] * p[counts > 0]), rel=1e-9)
        assert full > found[variant, HOFMANN].log_likelihood
        model = "plsa-hof" if variant == "early-stopping" else "plsa-tem"
        for name in (variant, f"{variant}-validated-prior"):
            alone, trained = (
                replace(fit.topics, alpha=np.full(K, sums.get((name, quantity), float(K)) / K))
                for quantity in ("prior-sum-of-truth", "prior-sum")
            )
            exact = exact_marginal(alone, split.test).log_likelihood.sum()
            assert found[name, "exact-marginal"].log_likelihood == pytest.approx(exact, rel=1e-12)
            reference = found[name, "reference"]
            assert abs(reference.log_likelihood - exact) < 4.5 * reference.standard_error
            axes: dict[str, Any] = {"corpus": "small", "model": model, "variant": name, "topics": K, "seed": 0}
            rng = generator("tempering", **axes, evaluator="posterior-predictive")
            expected = posterior_predictive(trained, split.training, split.test, 400, rng)
            row = found[name, "posterior-predictive"]
            assert row.log_likelihood == pytest.approx(expected.log_likelihood.sum(), rel=1e-12)
            assert row.standard_error == pytest.approx(np.sqrt(np.sum(expected.standard_error**2)), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 5.0])
def test_the_posterior_predictive_is_the_quotient_of_two_marginals(alpha: float) -> None:
    split = tokens()
    topics = inverse_annealing(split.training, split.validation, topics=K, seed=0, **AT)[1].topics
    topics = replace(topics, alpha=np.full(K, alpha))
    both = split.training.with_streams(
        [np.concatenate([split.training.document(d), split.test.document(d)]) for d in range(30)],
        split.training.documents,
    )
    expected = exact_marginal(topics, both).log_likelihood - exact_marginal(topics, split.training).log_likelihood
    found = posterior_predictive(topics, split.training, split.test, 4000, np.random.default_rng(0))
    error = np.sqrt(np.sum(found.standard_error**2))
    assert 0.0 < error < 0.5
    # 4.5 standard errors of the sum, and half its variance; single documents by 5.5, for there are 30
    assert abs(found.log_likelihood.sum() - expected.sum()) < 4.5 * error + 0.5 * error**2
    assert np.all(np.abs(found.log_likelihood - expected) < 5.5 * found.standard_error + 0.01)
    np.testing.assert_array_equal(found.tokens, split.test.lengths)


def test_the_prior_is_the_best_for_the_validation_tokens_and_no_choice_sees_a_test_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split = tokens()
    topics = inverse_annealing(split.training, split.validation, topics=K, seed=0, **AT)[1].topics
    both = split.training.with_streams(
        [np.concatenate([split.training.document(d), split.validation.document(d)]) for d in range(30)],
        split.training.documents,
    )
    exact: dict[float, float] = {}
    alone: dict[float, float] = {}
    for alpha_sum in (0.03, 1.0, 300.0):
        prior = replace(topics, alpha=np.full(K, alpha_sum / K))
        exact[alpha_sum] = float(
            (exact_marginal(prior, both).log_likelihood - exact_marginal(prior, split.training).log_likelihood).sum()
        )
        alone[alpha_sum] = float(exact_marginal(prior, split.validation).log_likelihood.sum())

    def completing(trained: Topics, rng: np.random.Generator) -> Evaluation:
        return posterior_predictive(trained, split.training, split.validation, 400, rng)

    def truth(trained: Topics, _: np.random.Generator) -> Evaluation:
        return exact_marginal(trained, split.validation)

    for evaluate, values in ((completing, exact), (truth, alone)):
        chosen = validated_prior(topics, evaluate, list(exact), lambda: generator("tempering-prior", corpus="small"))
        assert chosen.alpha.sum() == pytest.approx(max(values, key=lambda s: values[s]))
        np.testing.assert_array_equal(chosen.phi, topics.phi)

    _, rows = measured()
    random = np.random.default_rng(0)
    other = split.test.with_streams(
        [random.integers(split.test.n_words, size=n).astype(np.int32) for n in split.test.lengths], split.test.documents
    )
    monkeypatch.setattr(
        "artifact.papers.hofmann.experiments.tempering.token_split", lambda *_: split._replace(test=other)
    )
    assert measured()[1] == rows


def test_settings_limit_what_is_measured() -> None:
    scores, rows = measured(annealing_topics=2, path_topics=[4], folded_in_topics=[4], limit=10.0)
    assert f"{HOFMANN}-folded-in" not in {s.evaluator for s in scores}
    assert "annealing" not in {s.variant for s in scores} | {m.variant for m in rows}
    assert "exact-marginal" not in {s.evaluator for s in scores}
    assert {m.axis for m in rows} == {"topics"}
    with pytest.raises(InputError, match="at shares: "):
        measured(shares=[0.8, 0.2])
    for sums in ([], [1.0, 0.0]):
        with pytest.raises(InputError, match="at prior_sums"):
            measured(prior_sums=sums)
