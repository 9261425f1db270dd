"""The measurement of bounds from both sides, on a small corpus."""

import math
from typing import Any

import numpy as np
import pytest

from artifact.papers.likelihood.experiments import bidirectional as module
from artifact.papers.likelihood.experiments.bidirectional import experiment
from artifact.papers.likelihood.settings import Bidirectional
from artifact.results.measurements import Measurement
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

V = 15
WORDS = tuple(f"w{v:02}" for v in range(V))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(7)
    lengths = [0, *rng.integers(5, 20, 59)]
    documents = [(f"d{d}", [WORDS[w] for w in rng.integers(0, V, n)]) for d, n in enumerate(lengths)]
    made = Corpus.from_documents("made-up", [*documents, ("all", list(WORDS))])
    return made.subset(range(60))


def topics(K: int = 3, **provenance: int) -> Topics:
    phi = np.random.default_rng(K).dirichlet(np.full(V, 0.4), size=K)
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.ones(K), WORDS, dict(provenance))


def measured(corpus: Corpus, of: Topics, **settings: Any) -> dict[tuple[str, int], Measurement]:
    given: dict[str, Any] = {
        "smoothing": 0.0,
        "documents": 50,
        "temperatures": [2, 40],
        "samples": 2,
        "reference_samples": 20,
    }
    job = Job(corpus, "lda", "bidirectional", test_documents=40, chains=[of])
    scores, measurements, _, _ = experiment(job, Bidirectional(**given | settings))
    assert scores == []
    return {(m.quantity, m.at): m for m in measurements}


def test_bounds_enclose_and_close_around_exact_and_sequential(corpus: Corpus) -> None:
    found = measured(corpus, topics())
    assert set(found) == {
        ("left-to-right-sequential", 20),
        ("exact-difference", 20),
        *((quantity, at) for at in (2, 40) for quantity in ("lower-difference", "upper-difference", "gap")),
    }
    for at in (2, 40):
        lower, upper, gap = (found[q, at] for q in ("lower-difference", "upper-difference", "gap"))
        assert {m.axis for m in (lower, upper, gap)} == {"temperatures"}
        assert gap.value == pytest.approx(upper.value - lower.value, rel=1e-9)
        exact = found["exact-difference", 20].value
        assert lower.value < exact + 4.42 * lower.standard_error  # 1e-5
        assert upper.value > exact - 4.42 * upper.standard_error
    assert found["gap", 2].value > 4.0 * abs(found["gap", 40].value)
    assert abs(found["exact-difference", 20].value) < 4.42 * found["exact-difference", 20].standard_error


def test_values_are_means_over_documents_with_their_error(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Corpus] = []

    def reference(name: str, of: Topics, documents: Corpus, samples: int, _rng: np.random.Generator) -> Evaluation:
        assert (name, samples) == ("left-to-right-sequential", 20)
        seen.append(documents)
        return exact_marginal(of, documents)

    monkeypatch.setattr(module, "estimate", reference)
    found = measured(corpus, topics(chain=0), temperatures=[5], documents=10, smoothing=0.5)
    assert seen[0].n_documents == 10
    assert np.all(seen[0].lengths > 0)
    exact = exact_marginal(topics(), seen[0]).log_likelihood  # sampled topics take no constant
    mean = found["left-to-right-sequential", 20]
    assert mean.value == pytest.approx(exact.mean(), rel=1e-12)
    assert mean.standard_error == pytest.approx(exact.std(ddof=1) / math.sqrt(10), rel=1e-12)
    assert (mean.chain, mean.smoothing, mean.topics, mean.axis) == ("0", 0.0, 3, "samples")
    assert found["exact-difference", 20].value == 0.0


def test_a_constant_smooths_topics_that_were_not_sampled(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "estimate", lambda _, of, documents, *_rest: exact_marginal(of, documents))
    found = measured(corpus, topics(), temperatures=[5], smoothing=1e6)
    mean = found["left-to-right-sequential", 20]
    assert mean.smoothing == 1e6
    # so large a constant makes every word as probable as any other: log V a token, 40 documents
    tokens = -mean.value * 40 / math.log(V)
    assert tokens == pytest.approx(round(tokens), abs=1e-2)
    assert tokens > 200
    monkeypatch.setattr(module, "AFFORDABLE", 10)
    assert ("exact-difference", 20) not in measured(corpus, topics(), temperatures=[5])


def test_refuses_too_few_documents(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="1 documents of corpus made-up"):
        measured(corpus, topics(), documents=1)
