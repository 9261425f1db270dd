"""LDA's extensions in tiny form: what each experiment records."""

import numpy as np
import pytest
from test_gallery import cell, made
from tiny_extensions import SETTINGS

from heldout.papers.murphy.experiments import disclda, dynamics, lda_hmm, lda_hmm_words, rtm, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.results_extensions import (
    TABLE_27_1,
    class_rows,
    contexts,
    corpora_of_words,
    dynamic_rows,
    label_rows,
    link_rows,
    mean_measured,
    motion,
    sequence_rows,
    word_lists,
)


def test_labels_are_scored_exactly_and_at_one_state() -> None:
    rows = label_rows(made())
    assert [row.topics for row in rows] == SETTINGS["slda"]["topics"]
    for row in rows:
        assert row.within == 1.0
        assert row.frequency == pytest.approx(np.log(0.5), abs=0.2)
        for of_label, of_words in zip((*row.label, *row.state), (*row.words, *row.words), strict=True):
            assert -3.0 < of_label < 0.0
            assert -4.0 < of_words < 0.0
    scores = cell(made(), variant="slda")
    pairs = set(zip(scores["model"], scores["evaluator"], strict=True))
    models = (slda.MODEL, slda.REGRESSION)
    assert pairs == {(slda.FREQUENCY, LIKELIHOOD), *((m, e) for m in models for e in (LIKELIHOOD, USUAL))}
    assert set(scores["tokens"]) == {8}  # a label of each document


def test_classes_have_a_posterior_by_the_likelihood_and_by_folding_in() -> None:
    rows = class_rows(made())
    assert [(row.model, row.topics) for row in rows] == [
        (disclda.BAYES, 1),
        (disclda.APART, 2),
        (disclda.BLOCKS, 2),
        (disclda.LEARNT, 2),
    ]
    for row in rows:
        assert max(row.likelihood, row.usual) < 0.0
        assert -4.0 < row.words < 0.0
        assert 0.0 <= min(row.error, row.usual_error) <= max(row.error, row.usual_error) <= 1.0
    assert rows[0].likelihood == pytest.approx(rows[0].usual, abs=1e-9)  # one topic has nothing to fold in


def test_links_are_scored_exactly_at_one_state_and_at_mean_weights() -> None:
    rows = link_rows(made())
    assert [(row.model, row.topics) for row in rows] == [
        (m, K) for m in (rtm.REGRESSION, rtm.MODEL, rtm.OF_WEIGHTS) for K in (2, 3)
    ]
    for row in rows:
        assert max(row.likelihood, row.state, row.mean) < 0.0
        assert row.likelihood > -3.0
        assert 0.0 <= row.area <= 1.0
    scores = cell(made(), variant="rtm")
    assert len(set(scores["tokens"])) == 1  # a response of each pair
    assert set(scores["evaluator"]) == {LIKELIHOOD, USUAL}


def test_the_next_time_has_a_likelihood_under_moving_and_static_topics() -> None:
    (corpus,) = set(cell(made(), variant="dynamics")["corpus"])
    rows = {row.model: row for row in dynamic_rows(made(), corpus)}
    annealed = {dynamics.MODEL, dynamics.STATIC}
    assert annealed | {*dynamics.PLUGGED.values(), "lda"} <= rows.keys()
    for model, row in rows.items():
        assert -4.0 < row.likelihood.value < 0.0
        assert (row.size is not None) == (model in annealed)
        assert (row.usual is None) == (model == dynamics.TOMOTOPY)
        if row.usual is not None:
            assert row.usual < row.likelihood.value + 5.0 * row.likelihood.error
    shown = motion(made())
    assert len(shown.words) > 1
    assert [len(words) for words in shown.words] == [4] * len(shown.words)
    for values in shown.probabilities.values():
        assert len(values) == len(shown.words)
        assert 0.0 < min(values) < max(values) < 1.0


def test_sequences_have_a_likelihood_in_their_order_and_particles_the_exact_one() -> None:
    """Particles of 4 runs on 8 documents, 24 degrees of freedom: within 7 errors, and a nat."""
    rows = sequence_rows(made(), "ap")
    assert [(row.model, row.topics) for row in rows] == [
        ("hmm", 1),
        *((model, K) for model in ("lda", "lda-hmm") for K in (2, 3)),
    ]
    for row in rows:
        assert -4.0 < row.likelihood < row.usual + 7.0 * row.error + 1e-9 < 0.0
        assert (row.error > 0.0) == (row.topics > 2)
        assert (row.content == 1.0) == (row.model == "lda")
        assert 0.0 <= row.function <= 1.0
    exact, estimated = (
        mean_measured(made(), "lda-hmm", "ap", "lda-hmm", quantity) for quantity in (lda_hmm.EXACT, lda_hmm.ESTIMATED)
    )
    assert list(exact) == list(estimated) == [2, 3]
    for K, value in exact.items():
        assert estimated[K] == pytest.approx(value, abs=1.0 / 15)


def test_words_of_topics_and_states_are_noted_and_two_roles_of_some() -> None:
    (corpus,), others = corpora_of_words(made(), TABLE_27_1)  # which the tiny study lacks
    assert not others
    for model, what in (("lda", "topic"), ("lda-hmm", "topic"), ("lda-hmm", "state")):
        lists = word_lists(made(), corpus, model, what)
        assert len(lists) == 2
        for words in lists:
            assert 0 < len(words) == len(set(words)) <= 5
    content, function = (contexts(made(), corpus, role) for role in (lda_hmm_words.CONTENT, lda_hmm_words.FUNCTION))
    assert len(content) == len(function) == 2
    for one, other in zip(content, function, strict=True):
        assert one.words[one.place] == other.words[other.place]
        assert one.content[one.place] >= other.content[other.place]
        assert len(one.words) == len(one.content) <= 7
