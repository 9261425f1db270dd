"""Half folding-in beside the average: the same halves, nothing that has seen them, exact values, what is concluded."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from artifact.papers.likelihood.claims import beside_completion, half_chooses
from artifact.verdicts.verdicts import CONTRADICTED, SUPPORTED, UNDECIDED
from made_jobs import run as run_job
from small_study import inputs

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.experiments.same_halves import completion, experiment, smoothed
from artifact.papers.likelihood.same_halves import table
from artifact.papers.likelihood.settings import SameHalves
from artifact.results.reading import LARGEST
from artifact.results.scores import GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from artifact.typesetting import latex
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import COMPLETION, HALF
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

SETTINGS: dict[str, Any] = {
    **{
        "seed": 0,
        "variant": "same-halves",
        "test_documents": 12,
        "topics": 2,
        "iterations": 5,
        "validation": 6,
        "constants": [1e-6, 1e-2],
    },
    **{"alpha_sum": 2.0, "beta": 0.1, "sweeps": 5, "documents": 10, "samples": 240, "annealing_chains": 4},
}
PHI = np.random.default_rng(3).dirichlet(np.full(6, 0.3), size=2)


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))) for n in rng.integers(4, 12, 40)]
    return Corpus.from_documents("small", [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def test_every_score_is_of_the_same_halves() -> None:
    scores, rows = run_job(experiment, SameHalves, corpus(), **SETTINGS)
    assert rows == []
    under = [(f"same-halves-{prior}-prior", name) for prior in ("flat", "fitted") for name in (PLUG_IN, COMPLETION)]
    assert {(s.model, s.variant, s.evaluator) for s in scores} == {
        (model, *named) for model in ("plsa-hof", "lda") for named in (("same-halves", HALF), *under)
    }
    assert len({(s.tokens, s.documents) for s in scores}) == 1
    assert {s.smoothing for s in scores if s.model == "plsa-hof"} <= {1e-6, 1e-2}
    for score in scores:
        assert score.groups is not None


def test_the_average_is_the_quotient_of_exact_likelihoods() -> None:
    topics = Topics(PHI, np.array([0.5, 1.5]), tuple(f"w{w}" for w in range(6)))
    documents = corpus().subset(range(8))
    halves = half_split(documents, 0)
    found = completion(topics, documents, halves[0], 2000, np.random.default_rng(0), 8)
    exact = exact_marginal(topics, documents).log_likelihood - exact_marginal(topics, halves[0]).log_likelihood
    assert found.tokens.tolist() == halves[1].lengths.tolist()
    assert abs(float((found.log_likelihood - exact).sum())) < 5.0 * found.total_error()
    assert np.abs(found.log_likelihood - exact).max() < 0.1


def test_the_constant_is_the_one_that_the_validation_documents_like() -> None:
    topics = Topics(np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2), ("a", "b"))
    unseen = Corpus.from_documents("unseen", [("1", ["b", "b", "b", "b"])])
    assert smoothed(topics, unseen, (1e-6, 1e-2), 0)[0] == 1e-2
    seen = Corpus.from_documents("seen", [("1", ["a", "a", "a", "a"])])
    assert smoothed(topics, seen, (1e-6, 1e-2), 0)[0] == 1e-6


def made(average: float = -5.0) -> Inputs:
    """Return scores of PLSA: the average is best with 3 topics, half folding-in with 2."""
    rows = []
    values = {("same-halves", HALF): (-5.5, -6.0)}
    for prior in ("flat", "fitted"):
        values[f"same-halves-{prior}-prior", COMPLETION] = (average - 0.5, average)
        values[f"same-halves-{prior}-prior", PLUG_IN] = (average - 0.502, average - 0.002)
    for (variant, evaluator), by_topics in values.items():
        for K, nats in zip((2, 3), by_topics, strict=True):
            for seed in (0, 1):
                row = {"corpus": "cranfield", "model": "plsa-hof", "variant": variant, "topics": K, "chain": "none"}
                row |= {"smoothing": 1e-3, "evaluator": evaluator, "samples": 0, "seed": seed}
                row |= {"tokens": 10 * GROUPS, "log_likelihood": nats * 10 * GROUPS, "standard_error": 0.0}
                row |= dict.fromkeys(TOKENS_COLUMNS, 10) | dict.fromkeys(NATS_COLUMNS, nats * 10)
                rows.append(row)
    return replace(inputs(), scores=pd.DataFrame(rows))


def test_a_point_is_held_to_the_average() -> None:
    found = beside_completion(made(), ["cranfield"], evaluator=HALF)
    assert [effect.part for effect in found] == ["PLSA, flat prior", "PLSA, fitted prior"]
    assert found[0].estimate == pytest.approx(0.5)
    assert {effect.verdict for effect in found} == {SUPPORTED}
    assert {e.verdict for e in beside_completion(made(-6.0), ["cranfield"], evaluator=HALF)} == {CONTRADICTED}
    assert {e.verdict for e in beside_completion(made(), ["cranfield"], evaluator=PLUG_IN)} == {SUPPORTED}


def test_half_folding_in_that_wants_fewer_topics_costs() -> None:
    (effect,) = half_chooses(made(), ["cranfield"])
    assert effect.estimate == pytest.approx(0.5)
    assert effect.verdict == UNDECIDED  # two splits, and a grid of two numbers that lie as far apart


def test_the_table_marks_what_each_column_prefers() -> None:
    rows = [line.rstrip("\\").split(" & ") for line in table(made()).splitlines() if line.startswith("Cran")]
    assert [["textbf" in cell for cell in row[3:]] for row in rows] == [[True, *[False] * 4], [False, *[True] * 4]]
    with pytest.raises(InputError, match="no halves were scored"):
        table(replace(made(), scores=made().scores.assign(variant="other")))


def test_no_average_with_a_large_stated_error_is_shown() -> None:
    halves = made()
    scores = halves.scores[halves.scores["variant"].str.startswith("same-halves")]
    assert table(halves).count(latex.NOT_SHOWN) == 0
    off = scores[(scores["evaluator"] == COMPLETION) & (scores["variant"] == "same-halves-fitted-prior")].index[0]
    loose = halves.scores.copy()
    loose.loc[off, "standard_error"] = 1.01 * LARGEST * loose.loc[off, "tokens"]
    assert table(replace(halves, scores=loose)).count(latex.NOT_SHOWN) == 1
    loose.loc[off, "standard_error"] = 0.99 * LARGEST * loose.loc[off, "tokens"]
    assert table(replace(halves, scores=loose)) == table(halves)
