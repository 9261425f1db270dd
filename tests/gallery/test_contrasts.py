"""The gallery's contrasts on made-up scores and measurements from which each effect follows by hand."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from estimated import estimated, means
from small_study import corpora_table
from tables_of import measurements_table, scores_table

from artifact.contrasts.contrast import QUESTIONS
from artifact.contrasts.effect import IS_ABOVE, IS_BELOW, IS_WITHIN
from artifact.contrasts.inputs import Inputs
from artifact.results.arrays import Arrays
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.study.study import NOTHING
from gallery.comparison import at_fewest, at_most, measured, opposed, scored
from gallery.contrasts import CONTRASTS
from gallery.member import LIKELIHOOD
from gallery.tokens.experiments.evidence import BACKWARDS, BOUND, FORWARDS
from heldout.topics import perplexity

TOKENS = 100


def score(variant: str, model: str, topics: int, seed: int, value: float, evaluator: str = LIKELIHOOD) -> Score:
    """Return a score in nats per token."""
    key = ("drawn", model, variant, topics, 0.0, "none", evaluator, 0, seed)
    return Score(*key, 5, TOKENS, 0, 0, value * TOKENS, perplexity(value * TOKENS, TOKENS), 0.0)


def row(variant: str, model: str, seed: int, quantity: str, axis: str, at: int, value: float) -> Measurement:
    """Return a measurement, of ten topics but on their axis."""
    return Measurement(
        "drawn", model, variant, at if axis == "topics" else 10, 0.0, "none", seed, quantity, axis, at, value
    )


def inputs(scores: Iterable[Score] = (), rows: Iterable[Measurement] = ()) -> Inputs:
    """Return the inputs of a study with these results; its drawn documents have four topics."""
    measures = {"evidence": {"corpora": ["none"], "seeds": [0, 1], "settings": {"true_topics": 4}}}
    asked = {**NOTHING, "study": "gallery", "document": "gallery", "corpora": {"drawn": {}}, "measures": measures}
    corpora = corpora_table({**asked, "corpora": {"drawn": {"test_documents": 0}}}, synthetic=True)
    return Inputs(scores_table(scores), corpora, asked, measurements_table(rows), arrays=Arrays())


def test_every_contrast_is_of_one_question_and_has_its_words() -> None:
    assert len({contrast.name for contrast in CONTRASTS}) == len(CONTRASTS)
    for contrast in CONTRASTS:
        assert contrast.question in QUESTIONS
        assert contrast.says.endswith(".")
        assert contrast.one.name
        assert contrast.other is None or contrast.other.name


@pytest.mark.parametrize("name", [contrast.name for contrast in CONTRASTS])
def test_nothing_is_estimated_where_nothing_was_run(name: str) -> None:
    assert estimated(name, inputs()) == {}
    assert estimated(name, replace(inputs(), measurements=None)) == {}


def test_sides_are_by_number_of_topics_or_at_the_end_of_them() -> None:
    given = inputs([score("lda-hmm", "lda", K, seed, -K - seed / 10.0) for K in (2, 3) for seed in (0, 1)])
    side = scored("LDA", "lda-hmm", "lda")
    assert side.rows(given)[["topics", "seed", "value"]].to_numpy().tolist() == [
        [2, 0, -2.0],
        [2, 1, -2.1],
        [3, 0, -3.0],
        [3, 1, -3.1],
    ]
    assert at_most(side).rows(given)["value"].tolist() == [-3.0, -3.1]
    assert at_fewest(side).rows(given)["value"].tolist() == [-2.0, -2.1]
    one, others = opposed("rival", side, "others", {"a": side, "b": at_most(side)})
    assert one.rows(given)["rival"].tolist() == ["a"] * 4 + ["b"] * 4
    assert others.rows(given)["rival"].tolist() == ["a"] * 4 + ["b"] * 2


def test_a_loss_counts_with_its_sign() -> None:
    given = inputs(rows=[row("links", "irm", 0, "loss", "topics", 2, 0.5)])
    assert measured("", "links", "loss", "irm", sign=-1.0).rows(given)["value"].tolist() == [-0.5]


def test_effects_are_by_number_of_topics_and_never_their_mean() -> None:
    given = inputs(
        score("lda-hmm", model, K, seed, lead * K * (model == "lda-hmm") - 5.0)
        for seed, lead in ((0, 0.1), (1, 0.1))
        for model in ("lda", "lda-hmm")
        for K in (2, 3)
    )
    found = estimated("lda-hmm-lda", given)
    assert {part: effect.estimate for (_, part), effect in found.items()} == pytest.approx({"K = 2": 0.2, "K = 3": 0.3})
    assert {effect.finding for effect in found.values()} == {IS_ABOVE}


def test_a_label_has_as_many_topics_as_a_split_has_labels() -> None:
    scores = [
        score("covariates", model, K, seed, -5.0 - (model == "labelled-lda"))
        for model in ("labelled-lda", "dmr-constant")
        for seed, K in ((0, 14), (1, 15))
    ]
    (effect,) = estimated("labelled-lda", inputs(scores)).values()
    assert (effect.estimate, effect.replicates, effect.finding) == (-1.0, 2, IS_BELOW)


def test_plsi_is_held_to_lda_by_its_training() -> None:
    values = {("lda", "reference"): -5.0, ("plsi", "full-folding-in"): -4.9, ("plsi-tempered", "full-folding-in"): -5.2}
    scores = [
        score("perplexity", model, K, seed, value, evaluator)
        for (model, evaluator), value in values.items()
        for K in (2, 3)
        for seed in (0, 1)
    ]
    scores += [score("perplexity", "lda", 2, seed, -5.05, "exact-marginal") for seed in (0, 1)]  # goes first
    assert means("lda-plsi-full", inputs(scores)) == pytest.approx(
        {"EM, K = 2": -0.15, "EM, K = 3": -0.1, "tempered EM, K = 2": 0.15, "tempered EM, K = 3": 0.2}
    )


def test_samplers_are_compared_early_and_late() -> None:
    rows = [
        row("samplers", model, seed, LIKELIHOOD, "sweep", at, lead / at - 5.0)
        for model, lead in (("lda", 0.8), ("lda-gibbs", 0.0))
        for seed in (0, 1)
        for at in (1, 2, 4, 8)
    ]
    expected = {"after an eighth of the sweeps": 0.8, "after all": 0.1}
    assert means("collapsed", inputs(rows=rows)) == pytest.approx(expected)


def test_online_is_compared_after_one_pass_and_at_the_end() -> None:
    def rows(variant: str, model: str, values: dict[int, float]) -> list[Measurement]:
        return [
            row(variant, model, seed, LIKELIHOOD, "documents analysed", at, value)
            for at, value in values.items()
            for seed in (0, 1)
        ]

    given = rows("online", "lda-vb", {16: -6.0, 32: -5.5, 64: -5.0})
    given += rows("online-4", "lda-online-vb", {4: -6.0, 8: -5.9, 16: -5.5, 32: -5.2, 64: -5.1})
    given += rows("online-8", "lda-online-vb", {8: -6.0, 16: -5.7, 32: -5.2, 64: -5.0})
    assert means("online", inputs(rows=given)) == pytest.approx(
        {
            "batches of 4, after one pass": 0.5,
            "batches of 4, at the end": -0.1,
            "batches of 8, after one pass": 0.3,
            "batches of 8, at the end": 0.0,
        }
    )


def test_the_true_number_of_topics_is_held_to_its_neighbours() -> None:
    """Annealing backwards is 0.04 above forwards, half of which counts as an error of either number."""
    values = {FORWARDS: {3: -4.0, 4: -3.5, 5: -3.6, 8: -1.0}, BOUND: {3: -4.0, 4: -4.1, 5: -4.3}, BACKWARDS: {4: -3.46}}
    rows = [
        row("evidence", "lda", seed, quantity, "topics", at, value)
        for quantity, by_topics in values.items()
        for at, value in by_topics.items()
        for seed in (0, 1)
    ]
    assert means("true-topics", inputs(rows=rows)) == pytest.approx(
        {
            "evidence, than one fewer": 0.5,
            "evidence, than one more": 0.1,
            "variational bound, than one fewer": -0.1,
            "variational bound, than one more": 0.2,
        }
    )
    found = estimated("true-topics", inputs(rows=rows))
    assert found["drawn", "evidence, than one more"].error == pytest.approx(0.02 * 2.0**0.5)
    assert found["drawn", "variational bound, than one more"].error == 0.0


def test_descent_is_held_to_the_pass_that_is_best_for_the_other_seed() -> None:
    """Of two seeds each takes the other's: 0.96 - 0.99 and 0.97 - 0.93."""
    errors = {0: {1: 0.99, 2: 0.95, 3: 0.96}, 1: {1: 0.90, 2: 0.93, 3: 0.97}}
    rows = [
        row("rating-curves", "svd", seed, "rmse", "pass", at, value)
        for seed, by_pass in errors.items()
        for at, value in by_pass.items()
    ]
    rows += [row("rating-curves", "pmf1", seed, "rmse", "pass", 3, 0.965) for seed in (0, 1)]
    assert means("descent-overfits", inputs(rows=rows)) == pytest.approx({"": 0.005})
    assert means("priors-error", inputs(rows=rows)) == pytest.approx({"PMF1": 0.0})


def test_an_excess_is_a_share_of_its_bound_document_by_document() -> None:
    """A tenth of a nat per token of 100 is 2 nats for each of 5 documents; another experiment's scores do not count."""
    values = {"full-folding-in": -4.9, LIKELIHOOD: -5.0}
    scores = [
        score(variant, "lda-hmm", 2, seed, value * (1.0 if variant == "folding-in" else 0.5), evaluator)
        for variant in ("folding-in", "lda-hmm")
        for evaluator, value in values.items()
        for seed in (0, 1)
    ]
    rows = [row("folding-in", "lda-hmm", seed, "bound", "topics", 2, 4.0) for seed in (0, 1)]
    assert means("folded-bound", inputs(scores, rows)) == pytest.approx({"lda-hmm, K = 2": 0.5})


def test_a_small_difference_lies_within() -> None:
    scores = [
        score("boltzmann", model, 14, seed, value + seed / 10.0)
        for model, value in (("rbm-pcd", -0.135), ("rbm-cd", -0.136))
        for seed in (0, 1)
    ]
    (effect,) = estimated("pcd-cd", inputs(scores)).values()
    assert (effect.part, effect.finding) == ("K = 14", IS_WITHIN)
    assert effect.estimate == pytest.approx(0.001)
