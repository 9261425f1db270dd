"""Optimism of folding-in: which rows, what they hold, and that they agree with the evaluators they name."""

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments.optimism import by_length, experiment
from artifact.papers.likelihood.settings import Optimism
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.folding_in import predictive
from heldout.evaluators.laplace_softmax import laplace_softmax
from heldout.evaluators.normaliser import log_multinomial_nml
from heldout.models import lda, plsa
from heldout.topics import Topics

WORDS = tuple("abcdef")
PLSA = partial(fold_with, plsa, seed=0, iterations=1000, tolerance=1e-6)
GIBBS = partial(fold_with, lda, seed=0, sweeps=5)


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    lengths = [0, *rng.integers(4, 15, 39)]
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))).tolist() for n in lengths]
    return Corpus.from_documents("small", [(str(d), [WORDS[w] for w in ws]) for d, ws in enumerate(words)])


def topics(alpha: float = 1.0, K: int = 3, **provenance: Any) -> Topics:
    phi = np.random.default_rng(1).dirichlet(np.full(6, 0.5), size=K)
    return Topics(phi, np.full(K, alpha), WORDS, provenance)


def measured(trained: Topics, **changes: Any) -> tuple[list[Score], list[Measurement]]:
    settings: dict[str, Any] = {
        "model": "plsa-hof",
        "fold_in": PLSA,
        "smoothing": 1e-3,
        "constants": [1e-3, 1e-2],
        "constants_topics": [3],
        "document_topics": [3],
        "bins": 3,
        "components": 2,
        "samples": 300,
        "annealing_chains": 8,
        "variance": 0.1,
        "longer": {},
        "limit": 1e6,
        **changes,
    }
    split = {"seed": 0, "test_documents": 15}
    return run_job(experiment, Optimism, corpus(), chains=[trained], variant="optimism", **split, **settings)


def test_scores_of_deterministic_topics() -> None:
    scores, _ = measured(topics())
    found = {(s.variant, s.smoothing, s.evaluator): s for s in scores}
    assert len(found) == len(scores)
    everywhere = {
        "exact-marginal",
        "reference",
        "plug-in-posterior-mean",
        "mean-field-bound",
        "laplace-softmax",
        "laplace-density",
        "laplace-one-step",
    }
    own = everywhere | {"full-folding-in", "half-folding-in", "nml-penalised", "plug-in-exact-mean"}
    for place, names in {
        ("optimism", 1e-3): own,
        ("optimism-fitted-prior", 1e-3): everywhere,
        ("optimism-mixture-prior", 1e-3): {"exact-marginal", "reference"},
        ("optimism", 1e-2): own,
    }.items():
        assert {evaluator for (*key, evaluator) in found if tuple(key) == place} == names
    priors = ("optimism", "optimism-fitted-prior", "optimism-mixture-prior")
    assert {(v, c) for v, c, _ in found} == {*((prior, 1e-3) for prior in priors), ("optimism", 1e-2)}

    _, test = train_test_split(corpus(), 15, 0)
    for constant in (1e-3, 1e-2):
        smoothed = topics().smoothed(constant)
        exact = exact_marginal(smoothed, test).log_likelihood.sum()
        assert found["optimism", constant, "exact-marginal"].log_likelihood == pytest.approx(exact, rel=1e-12)
        laplace = laplace_softmax(smoothed, test).log_likelihood.sum()
        assert found["optimism", constant, "laplace-softmax"].log_likelihood == pytest.approx(laplace, rel=1e-12)
        halves = predictive([smoothed], *half_split(test, 0), PLSA)
        half = found["optimism", constant, "half-folding-in"]
        assert (half.log_likelihood, half.tokens) == (halves.log_likelihood.sum(), halves.tokens.sum())
        full = found["optimism", constant, "full-folding-in"]
        assert full.log_likelihood > exact
        penalty = sum(log_multinomial_nml(3, int(n)) for n in test.lengths if n)
        nml = found["optimism", constant, "nml-penalised"]
        # two maxima, each within its own tolerance
        assert nml.log_likelihood == pytest.approx(full.log_likelihood - penalty, abs=2e-4 * full.tokens)
        reference = found["optimism", constant, "reference"]
        assert reference.samples == 300
        assert 0.0 < reference.standard_error < 2.0
        assert abs(reference.log_likelihood - exact) < 4.5 * reference.standard_error
    assert all(s.standard_error == 0.0 and s.samples == 0 for s in scores if s.evaluator != "reference")
    assert {s.chain for s in scores} == {"none"}


def test_the_fitted_prior_knows_only_the_training_documents() -> None:
    training, test = train_test_split(corpus(), 15, 0)
    _, rows = measured(topics())
    emptied = corpus()
    changed = emptied.with_streams(
        [
            np.zeros(5, np.int32) if name in test.documents else emptied.document(d)
            for d, name in enumerate(emptied.documents)
        ],
        emptied.documents,
    )
    assert training.documents == train_test_split(changed, 15, 0)[0].documents
    _, other = run_job(
        experiment,
        Optimism,
        changed,
        chains=[topics()],
        model="plsa-hof",
        variant="optimism",
        fold_in=PLSA,
        seed=0,
        test_documents=15,
        smoothing=1e-3,
        constants=[],
        constants_topics=[9],
        document_topics=[9],
        bins=1,
        components=2,
        samples=300,
        annealing_chains=8,
        variance=0.1,
        longer={},
        limit=1.0,
    )
    sums = [[m.value for m in found if m.quantity.startswith("prior-")] for found in (rows, other)]
    assert sums[0] == sums[1]
    assert len(sums[0]) == 4


def test_a_corpus_may_have_a_longer_reference() -> None:
    errors = []
    for longer in ({}, {"another": 9}, {corpus().name: 9}):
        scores, _ = measured(topics(), longer=longer)
        truth = next(s for s in scores if (s.variant, s.evaluator, s.smoothing) == ("optimism", "reference", 1e-3))
        assert truth.samples == 300 * longer.get(corpus().name, 1)
        errors.append(truth.standard_error)
    assert errors[0] == errors[1]
    assert errors[2] < errors[0]


def test_measurements_by_length_and_document_add_up_to_the_scores() -> None:
    scores, rows = measured(topics())
    _, test = train_test_split(corpus(), 15, 0)
    key = [(m.variant, m.smoothing, m.quantity, m.axis, m.at) for m in rows]
    assert len(set(key)) == len(key)
    assert {m.smoothing for m in rows} == {1e-3}
    groups = list(by_length(test.lengths, 3))
    sizes = {round(float(test.lengths[g].mean())): int(test.lengths[g].sum()) for g in groups}
    for score in scores:
        of_totals_alone = score.evaluator == "half-folding-in" or score.variant == "optimism-mixture-prior"
        if score.smoothing != 1e-3 or of_totals_alone:
            continue
        by_group = [m for m in rows if (m.variant, m.quantity, m.axis) == (score.variant, score.evaluator, "length")]
        assert {m.at for m in by_group} == set(sizes)
        assert sum(m.value * sizes[m.at] for m in by_group) == pytest.approx(score.log_likelihood, rel=1e-9)
        spread = math.sqrt(sum((m.standard_error * sizes[m.at]) ** 2 for m in by_group))
        if score.evaluator != "reference":  # whose biases add up
            assert spread == pytest.approx(score.standard_error, rel=1e-9)
        if score.evaluator == "exact-marginal" and score.variant == "optimism":
            single = [m for m in rows if (m.quantity, m.axis) == ("exact-marginal", "document")]
            assert sum(m.value for m in single) == pytest.approx(score.log_likelihood, rel=1e-9)
    tokens = {m.at: m.value for m in rows if m.quantity == "tokens"}
    assert tokens == {d: n for d, n in enumerate(test.lengths) if n}
    shares = [m for m in rows if m.quantity == "laplace-folded-in-undefined"]
    assert [m.at for m in shares] == [len(tokens)] * 2
    assert all(0.0 <= m.value <= 1.0 for m in shares)


def test_sampled_topics_are_scored_under_four_priors_and_take_no_constant() -> None:
    scores, rows = measured(topics(0.4, K=2, chain=3), model="lda", fold_in=GIBBS)
    found = {(s.variant, s.evaluator): s for s in scores}
    assert len(found) == len(scores)
    priors = {f"optimism-{prior}-prior" for prior in ("flat", "fitted", "mixture")}
    assert {s.variant for s in scores} == {"optimism", *priors}
    assert {(s.chain, s.smoothing) for s in scores} == {("3", 0.0)}
    for s in scores:
        folded = s.evaluator in ("full-folding-in", "half-folding-in")
        assert math.isnan(s.standard_error) == folded
        assert s.samples == (300 if s.evaluator == "reference" else int(folded))
    assert {v for v, e in found if e == "nml-penalised"} == {"optimism"}
    sums = {m.variant: m.value for m in rows if m.quantity == "prior-sum"}
    assert sums["optimism"] == pytest.approx(0.8)
    assert sums["optimism-flat-prior"] == 2.0
    assert "document" not in {m.axis for m in rows}


def test_the_limit_leaves_out_the_exact_values() -> None:
    scores, _ = measured(topics(), limit=10.0)
    assert "exact-marginal" not in {s.evaluator for s in scores}


def test_groups_are_disjoint_in_length_and_hold_every_document_with_tokens() -> None:
    lengths = np.array([3, 0, 3, 3, 3, 9, 4, 4, 12, 0, 7])
    groups = list(by_length(lengths, 4))
    assert sorted(np.concatenate(groups).tolist()) == [d for d, n in enumerate(lengths) if n]
    for shorter, longer in pairwise(groups):
        assert lengths[shorter].max() < lengths[longer].min()
    assert [len(g) for g in by_length(np.array([5, 5, 5]), 3)] == [3]
    with pytest.raises(InputError, match="at bins: "):
        measured(topics(), bins=0)
