"""The contrasts on the likelihood, on made-up scores and measurements from which each effect follows by hand."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_measurements import is_a_probability, measured
from made_peers import peers_inputs
from small_study import inputs, with_effects
from splits import on_two_splits
from tables_of import plain_rows, scored

from artifact.contrasts.effect import IS_ABOVE, IS_BELOW, Effect
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import regret, results, tables
from artifact.papers.likelihood.contrasts import CONTRASTS
from artifact.papers.likelihood.experiments import packages, reference
from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.results import FITTED, MIXTURE, OPTIMISM
from artifact.results.measurements import Measurement
from artifact.results.scores import GROUP_COLUMNS, GROUPS, NATS_COLUMNS
from heldout.evaluators import FULL, HALF, LAPLACE, NML, REFERENCE
from heldout.models import LDA, PLSA

approx: Any = pytest.approx  # which compares with whatever it stands in

GRID, ERROR = (2, 4, 8), 0.02  # of the likelihood, nats per token
TWO = ERROR * math.sqrt(2.0)  # of the difference of two likelihoods
NATS: dict[str, dict[tuple[str, str], tuple[Any, ...]]] = {
    PLSA: {
        (REFERENCE, OPTIMISM): (-7.0, -6.0, -6.5),  # best with 4
        (REFERENCE, FITTED): (-6.8, -5.9, -5.8),  # best with 8
        (REFERENCE, MIXTURE): (-6.7, -5.8, -5.6),
        (FULL, OPTIMISM): (-6.0, -5.0, -4.0),  # wants 8
        (HALF, OPTIMISM): (-6.9, -6.0, -7.0),  # wants 4
        (LAPLACE, OPTIMISM): (-7.0, -6.1, -6.7),
    },
    LDA: {
        (REFERENCE, OPTIMISM): (-6.9, -5.8, -5.9),
        (REFERENCE, FITTED): (-6.9, -5.7, -5.5),
        (FULL, OPTIMISM): (-6.4, -5.1, -4.9),
        (PLUG_IN, OPTIMISM): (-6.4, -5.0, -4.4),
        (NML, OPTIMISM): (-6.8, -5.9, -6.3),
    },
}
IN_TURN = np.array([1.0, -1.0] * (GROUPS // 2))  # groups of documents


def given(**tilted: float) -> Inputs:
    """Return the scores; `tilted` moves PLSA's nats with 8 topics, or full folding-in's, up and down by group."""
    plsa = dict(NATS[PLSA])
    plsa[FULL, OPTIMISM] = tuple(nats + tilted.get("full", 0.0) * IN_TURN for nats in plsa[FULL, OPTIMISM])
    *fewer, most = plsa[REFERENCE, OPTIMISM]
    plsa[REFERENCE, OPTIMISM] = (*fewer, most + tilted.get("likelihood", 0.0) * IN_TURN)
    scores = [scored(model, nats, GRID, error=ERROR) for model, nats in ((PLSA, plsa), (LDA, NATS[LDA]))]
    return replace(inputs(), scores=pd.concat(scores, ignore_index=True), measurements=None)


def estimated(name: str, of: Inputs) -> tuple[Effect, ...]:
    return with_effects(of).effects[name]


@pytest.mark.parametrize(
    ("name", "values", "error"),
    [
        ("gap-plsa", (1.0, 1.0, 2.5), ERROR),
        ("plug-in-lda", (0.5, 0.8, 1.5), ERROR),
        ("plug-in-beside-full-lda", (0.0, 0.1, 0.5), 0.0),
        ("gap-plsa-fitted", (0.8, 0.9, 1.8), ERROR),
        ("laplace-plsa", (0.0, -0.1, -0.2), ERROR),
        ("nml-lda", (0.1, -0.1, -0.4), ERROR),
        ("share-fitted", (0.8, 0.9, 0.72), ERROR * math.hypot(1.0, 0.8)),
        ("share-mixture", (0.7, 0.8, 0.64), ERROR * math.hypot(1.0, 0.7)),
        ("lda-plsa", (-0.1, 0.2, 0.3), TWO),
        ("lda-plsa-best", (0.3,), TWO),  # at 8 topics of either, which are two numbers
        ("plsa-overfits-flat", (0.5,), TWO),  # at 4 topics less at 8
        ("plsa-overfits-fitted", (0.0,), 0.0),  # 8 are the best, one number
        # of LDA and PLSA, each by a fitted prior and by the model's
        ("choice-full", (0.0, 0.1, 0.0, 0.5), 0.0),
        ("choice-number", (0.0, 0.1, 0.0, 0.5), 0.0),
        ("choice-half", (0.1, 0.0), TWO),
        ("choice-flat", (0.2, 0.0, 0.1, 0.0), TWO),
        ("choice-full-beside-flat", (0.2, -0.1, 0.1, -0.5), TWO),
        ("choice-bound", (), 0.0),
    ],
)
def test_effects_on_a_corpus_and_on_one_of_todays_size(name: str, values: tuple[float, ...], error: float) -> None:
    ours = given()
    variants = ours.scores["variant"].str.replace(OPTIMISM, "choice")
    todays = replace(ours, scores=ours.scores.assign(corpus="newsgroups", variant=variants, smoothing=0.5))
    for corpus, of in (("cranfield", ours), ("newsgroups", todays)):
        found = estimated(name, of)
        assert [effect.estimate for effect in found] == approx(values)
        assert [effect.topics for effect in found] == [*(GRID if len(values) == 3 else [0] * len(values))]
        assert {(effect.corpus, effect.replicates) for effect in found} <= {(corpus, 2)}
        assert [effect.error for effect in found[:1]] == approx([error] * len(found[:1]))


def test_documents_that_splits_share_are_in_the_error() -> None:
    """Of 20 groups, d above and d below in turn, the jackknife's error is d / sqrt(19)."""
    for effect in estimated("gap-plsa", given(full=0.05 * math.sqrt(19.0))):
        assert effect.error == approx(math.hypot(0.05, ERROR))


def test_one_half_of_the_documents_chooses_and_the_other_judges() -> None:
    """The even groups have -5.5 of 8 topics and choose these, the odd ones -7.5, and choose 4."""
    of = (given(likelihood=1.0), ("cranfield",), PLSA)
    itself, number = (regret.at_choice(*of, name, "model's prior") for name in (regret.ITSELF, regret.NUMBER))
    assert itself[["seed", "half", "chosen"]].to_numpy().tolist() == [[s, *c] for s in (0, 1) for c in ((0, 8), (1, 4))]
    assert itself["value"].tolist() == approx([-7.5, -6.0] * 2)
    assert number["value"].tolist() == approx([-7.5, -5.5] * 2)


def test_a_package_chooses_by_its_number_of_all_documents_on_the_corpora_of_its_own_study() -> None:
    nats = {(REFERENCE, results.PACKAGES): (-7.0, -6.0, -6.5), (packages.REPORTED, results.PACKAGES): (-2, -3, -4)}
    scores = scored("gensim", nats, GRID).assign(corpus="ap")
    scores.loc[scores["evaluator"] == packages.REPORTED, list(NATS_COLUMNS)] = np.nan
    (effect,) = estimated("choice-package", replace(given(), scores=scores))
    assert (effect.corpus, effect.part, effect.estimate) == ("ap", "gensim", approx(1.0))


def test_the_table_of_choices_has_a_row_for_every_score() -> None:
    made = with_effects(given())
    rows = [row.split(" & ") for row in plain_rows(tables.regrets(made)) if row.count(" & ") == 1][1:]
    names = ["full folding-in", "half folding-in", "mean-field bound", "number of topics", "likelihood"]
    assert [row[0] for row in rows] == 2 * [*names[:4], *names]  # the model's prior does not judge itself
    assert [row[1] for row in rows[:3]] == ["0.500 [0.445, 0.555]", "0", "--"]
    bare = with_effects(replace(made, scores=made.scores.drop(columns=list(GROUP_COLUMNS))))
    assert not bare.effects["choice-full"]


def test_nothing_is_estimated_where_nothing_was_run() -> None:
    bare = with_effects(replace(inputs(), scores=given().scores.iloc[:0], measurements=None))
    assert not [contrast.name for contrast in CONTRASTS if bare.effects[contrast.name]]


@pytest.mark.parametrize(
    ("name", "score", "nats", "less", "finding"),
    [
        ("drawn-laplace-softmax", LAPLACE, 13.8, 0.0, IS_BELOW),  # 1e-6 is 13.82 nats
        ("drawn-laplace-softmax", LAPLACE, 13.9, 0.0, IS_ABOVE),
        ("drawn-given-weights-full-folding-in", FULL, 213.8, 200.0, IS_BELOW),  # of which 200 are over log p(w)
        ("drawn-given-weights-full-folding-in", FULL, 213.9, 200.0, IS_ABOVE),
    ],
)
def test_scores_have_more_than_a_probability_can(name: str, score: str, nats: float, less: float, finding: str) -> None:
    for effect, k in zip(estimated(name, measured(is_a_probability({("truth", score): nats}))), (10, 4), strict=True):
        assert (effect.topics, effect.half_width, effect.finding) == (k, 0.0, finding)
        assert effect.estimate == approx(nats - less)


def test_one_document_of_epca_below_the_likelihood_is_enough() -> None:
    """Folding in has -40 nats of every document, annealing -50 + K / 5."""
    made = inputs()
    found = estimated("epca-gap", made)
    assert {e.topics: e.estimate for e in found} == approx({k: 10.0 - k / 5.0 for k in (1, 2, 5)})
    assert {(effect.finding, effect.replicates) for effect in found} == {(IS_ABOVE, 6)}
    table = made.measurements
    assert table is not None
    folded = (table["variant"] == "epca-marginal") & (table["quantity"] == FULL) & (table["at"] == 0)
    lower = replace(made, measurements=table.assign(value=table["value"].mask(folded, -51.0)))
    assert {effect.finding for effect in estimated("epca-gap", lower)} == {IS_BELOW}


def test_the_reference_is_calibrated_by_all_cells_at_the_most_samples() -> None:
    """Squares of z are 0, 0, 4 and 4: their mean is 2, their standard deviation 4 / sqrt(3)."""
    rows = []
    for seed, z in enumerate((0.0, 0.0, 2.0, -2.0)):
        place = ("cranfield", LDA, "reference-flat", 3, 0.0, "none", seed)
        for at, nats in ((100, 99.0), (2000, 0.5 * z)):
            for name, value in ((reference.DIFFERENCE, nats), (reference.TOKENS, 1e3)):
                rows.append(Measurement(*place, name, "samples", at, value, 0.5))
    (effect,) = estimated("reference-exact", measured(rows))
    error = 4.0 / math.sqrt(3.0) / math.sqrt(4.0) / (2.0 * math.sqrt(2.0))
    assert [effect.estimate, effect.error, effect.freedom] == approx([math.sqrt(2.0), error, 3.0])


def test_a_librarys_number_is_held_to_its_models_likelihood() -> None:
    found = {effect.part: effect for effect in estimated("library-number", on_two_splits(peers_inputs()))}
    assert found["gensim, K = 20"].estimate == approx(-0.3 - 0.4)
    assert found["tomotopy, K = 160"].estimate == approx(-0.3 - 0.032)
    assert {effect.finding for effect in found.values()} == {IS_BELOW}
