"""LSA and the unigrams on split tokens: which rows, and that each is what its name says, chosen on validation alone."""

from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.hofmann.experiments.latent_semantic_analysis import EVALUATOR, FOLDED_IN, experiment
from artifact.papers.hofmann.settings import LatentSemanticAnalysis
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import token_split
from heldout.errors import InputError
from heldout.models import lsa
from heldout.models.unigram import smoothed_documents, unigram
from heldout.typing import Floats

SHARES = [0.6, 0.2, 0.2]
SETTINGS: dict[str, Any] = {
    "shares": SHARES,
    "ranks": [1, 3, 900],
    "exponents": [1.0, 4.0],
    "constants": [0.01, 1.0],
    "masses": [5.0, 50.0],
}


def corpus() -> Corpus:
    random = np.random.default_rng(0)
    phi = random.dirichlet(np.full(200, 0.1), 4)
    weights = random.dirichlet(np.full(4, 0.3), 12) @ phi
    words = [random.choice(200, 50, p=p / p.sum()) for p in weights]
    return Corpus.from_documents("small", [(f"d{d}", [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def measured(**changes: Any) -> tuple[list[Score], list[Measurement]]:
    return run_job(experiment, LatentSemanticAnalysis, corpus(), **{**SETTINGS, **changes})


def test_rows() -> None:
    scores, rows = measured()
    tokens = token_split(corpus(), (0.6, 0.2, 0.2), 0)
    rank = int(np.linalg.matrix_rank(tokens.training.counts().toarray()))
    names = {(s.model, s.variant, s.topics) for s in scores}
    assert len({(s.model, s.variant, s.topics, s.evaluator) for s in scores}) == len(scores)
    folded_in = {(s.model, s.variant, s.topics) for s in scores if s.evaluator == FOLDED_IN}
    assert folded_in == {("lsa", "clipped", k) for k in (1, 3, rank)} | {("unigram", "document-smoothed", 0)}
    readings = ("clipped", "shifted", "cosine", "cosine-geometric")
    unigrams = {("unigram", v, 0) for v in ("maximum-likelihood", "smoothed", "document-smoothed")}
    assert names == {("lsa", v, k) for v in readings for k in (1, 3, rank)} | unigrams
    assert {(s.chain, s.samples, s.smoothing, s.standard_error) for s in scores} == {("none", 0, 0.0, 0.0)}
    assert {s.evaluator for s in scores} == {EVALUATOR, FOLDED_IN}
    assert {s.tokens for s in scores} == {tokens.test.n_tokens}
    assert {s.tokens_left_out for s in scores} == {tokens.test_left_out}
    assert tokens.test_left_out > 0
    found = {(m.model, m.variant, m.quantity, m.at): m.value for m in rows}
    assert len(found) == len(rows)
    assert found["lsa", "full", "rank", 12] == rank
    for variant, part, out in zip(
        ("training", "validation", "test"),
        tokens[:3],
        (0, tokens.validation_left_out, tokens.test_left_out),
        strict=True,
    ):
        assert found["token-split", variant, "tokens", 12] == part.n_tokens
        assert found["token-split", variant, "tokens-left-out", 12] == out
    for model, variant, k in names:
        assert found[model, variant, "validation-perplexity", k] > 1.0
        assert ((model, variant, "mixing-weight", k) in found) == (model == "lsa")
        assert ((model, variant, "exponent", k) in found) == variant.startswith("cosine")
        assert ((model, variant, "constant", k) in found) == variant.endswith("smoothed")


def test_values_are_those_of_the_models_and_the_choices_the_best_on_validation() -> None:
    scores, rows = measured()
    tokens = token_split(corpus(), (0.6, 0.2, 0.2), 0)
    training = tokens.training.counts()
    flat = unigram(training)
    (cut,) = lsa.reconstructions(lsa.decompose(training), [3])
    value = {(s.variant, s.topics): s.perplexity for s in scores if s.evaluator == EVALUATOR}
    chosen = {(m.variant, m.topics, m.quantity): m.value for m in rows}

    def dense(p: Floats, part: Corpus) -> float:
        counts = part.counts().toarray()
        some = counts > 0
        return float(np.exp(-np.sum(counts[some] * np.log(np.broadcast_to(p, counts.shape)[some])) / counts.sum()))

    assert value["maximum-likelihood", 0] == pytest.approx(dense(flat, tokens.test), rel=1e-12)
    by_constant = {c: dense(unigram(training, c), tokens.validation) for c in SETTINGS["constants"]}
    best = min(by_constant, key=lambda c: by_constant[c])
    assert chosen["smoothed", 0, "constant"] == best
    assert chosen["smoothed", 0, "validation-perplexity"] == pytest.approx(by_constant[best], rel=1e-12)
    assert value["smoothed", 0] == pytest.approx(dense(unigram(training, best), tokens.test), rel=1e-12)
    for variant, times in (("cosine", None), ("cosine-geometric", flat)):
        on_validation = {}
        for gamma in SETTINGS["exponents"]:
            reading = lsa.raised(cut.log_cosines(), gamma, times)
            grid = np.linspace(0.0, 1.0, 401)[1:]
            on_validation[gamma] = min(dense((1 - w) * reading + w * flat, tokens.validation) for w in grid)
        gamma = min(on_validation, key=lambda g: on_validation[g])
        assert chosen[variant, 3, "exponent"] == gamma
        assert chosen[variant, 3, "validation-perplexity"] == pytest.approx(on_validation[gamma], rel=1e-4)
        weight = chosen[variant, 3, "mixing-weight"]
        mixture = (1 - weight) * lsa.raised(cut.log_cosines(), gamma, times) + weight * flat
        assert value[variant, 3] == pytest.approx(dense(mixture, tokens.test), rel=1e-12)
    for variant, reading in (("clipped", cut.clipped()), ("shifted", cut.shifted())):
        weight = chosen[variant, 3, "mixing-weight"]
        mixture = (1 - weight) * reading + weight * flat
        assert value[variant, 3] == pytest.approx(dense(mixture, tokens.test), rel=1e-12)
    assert 0.0 < chosen["clipped", 3, "mixing-weight"] < 1.0
    # folded in: all of a document's tokens, projected on the first three singular vectors of the training counts
    whole = sum((part.counts().toarray() for part in tokens[1:3]), training.toarray())
    words = np.linalg.svd(training.toarray())[2][:3]
    reading = np.maximum(whole @ words.T @ words, 0.0)
    reading /= reading.sum(axis=1, keepdims=True)
    by_weight = {w: dense((1 - w) * reading + w * flat, tokens.validation) for w in np.linspace(0.0, 1.0, 2001)[1:]}
    weight = min(by_weight, key=lambda w: by_weight[w])
    (folded_in,) = (s.perplexity for s in scores if (s.variant, s.topics, s.evaluator) == ("clipped", 3, FOLDED_IN))
    assert folded_in == pytest.approx(dense((1 - weight) * reading + weight * flat, tokens.test), rel=1e-3)
    assert value["shifted", 3] != value["clipped", 3]


def test_a_documents_own_counts_take_the_mass_that_is_best_on_validation() -> None:
    masses = [5.0, 50.0, 5000.0]
    scores, rows = measured(masses=masses)
    tokens = token_split(corpus(), (0.6, 0.2, 0.2), 0)
    training = tokens.training.counts()

    def found(mass: float, part: Corpus, own: Any = training) -> float:
        counts = part.counts().tocoo()
        p = smoothed_documents(own, mass, counts.coords[0].astype(np.int64), counts.coords[1].astype(np.int32))
        return float(np.exp(-np.sum(counts.data * np.log(p)) / counts.data.sum()))

    best = min(masses, key=lambda mass: found(mass, tokens.validation))
    assert best != masses[-1]
    (constant,) = (m.value for m in rows if (m.variant, m.quantity) == ("document-smoothed", "constant"))
    value = {s.evaluator: s.perplexity for s in scores if s.variant == "document-smoothed"}
    assert constant == best
    assert value[EVALUATOR] == pytest.approx(found(best, tokens.test), rel=1e-12)
    whole = training + tokens.validation.counts() + tokens.test.counts()
    assert value[FOLDED_IN] == pytest.approx(found(min(masses), tokens.test, whole), rel=1e-12)


def test_no_choice_sees_a_test_token(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, rows = measured()
    tokens = token_split(corpus(), (0.6, 0.2, 0.2), 0)
    random = np.random.default_rng(0)
    other = tokens.test.with_streams(
        [random.permutation(tokens.test.n_words)[: len(tokens.test.document(d))].astype(np.int32) for d in range(12)],
        tokens.test.documents,
    )
    monkeypatch.setattr(
        "artifact.papers.hofmann.experiments.latent_semantic_analysis.token_split",
        lambda *_: tokens._replace(test=other),
    )
    changed, same_rows = measured()
    assert same_rows == rows
    assert all(new.perplexity != old.perplexity for new, old in zip(changed, scores, strict=True))


def test_settings_are_checked() -> None:
    for name in ("ranks", "exponents", "constants", "masses"):
        with pytest.raises(InputError, match=f"at {name}: "):
            measured(**{name: []})
    with pytest.raises(InputError, match="at shares: "):
        measured(shares=[0.5, 0.5])
    with pytest.raises(InputError, match="at exponents/1: "):
        measured(exponents=[1.0, 0.0])
