"""LDA's extensions in tiny form: what each experiment records."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_gallery import cell, made
from tiny_extensions import SETTINGS

from gallery.exhibits import opening
from gallery.extensions.experiments import disclda, dynamics, folding_in, lda_hmm, lda_hmm_words, rtm, slda
from gallery.extensions.science import (
    BOUNDED,
    CLASS_MODELS,
    DYNAMIC_MODELS,
    FOLDED_MODELS,
    LINK_MODELS,
    SEQUENCE_MODELS,
    TABLE_27_1,
    contexts,
    corpus_of_words,
    effective_size,
    excesses,
    folded_rows,
    label_rows,
    motion,
    word_lists,
)
from gallery.gaps import largest_distance
from gallery.graphs.science import block_rows, monks
from gallery.member import LIKELIHOOD, TOKENS_OF_DOCUMENTS, USUAL
from gallery.opening import all_gaps, families
from gallery.table_rows import rows
from gallery.tokens.members.categorical_pca import VariationalEM


def test_labels_are_scored_exactly_and_at_one_state() -> None:
    found = label_rows(made())
    assert [row.own.topics for row in found] == SETTINGS["slda"]["topics"]
    for own, other, frequency in found:
        assert (own.likelihood.error > 0.0) == (own.topics > SETTINGS["slda"]["exact_topics"])
        assert frequency == pytest.approx(np.log(0.5), abs=0.2)
        for row in (own, other):
            assert row.usual is not None
            assert -3.0 < min(row.likelihood.value, row.usual.value) <= max(row.likelihood.value, row.usual.value) < 0.0
            assert -4.0 < row.measured[slda.WORDS] < 0.0
    scores = cell(made(), variant="slda")
    pairs = set(zip(scores["model"], scores["evaluator"], strict=True))
    models = (slda.MODEL, slda.REGRESSION)
    assert pairs == {(slda.FREQUENCY, LIKELIHOOD), *((m, e) for m in models for e in (LIKELIHOOD, USUAL))}
    assert set(scores["tokens"]) == {8}  # a label of each document


def test_classes_have_a_posterior_by_the_likelihood_and_by_folding_in() -> None:
    found = rows(made(), "disclda", CLASS_MODELS)
    others = (disclda.BY_CLASS, disclda.BLOCKS, disclda.LEARNT, disclda.CONDITIONAL)
    assert [(row.model, row.topics) for row in found] == [(disclda.BAYES, 1), *((m, K) for m in others for K in (2, 4))]
    for row in found:
        assert row.usual is not None
        assert max(row.likelihood.value, row.usual.value) < 0.0
        assert (row.likelihood.error > 0.0) == (row.topics > 2)
        assert -4.0 < row.measured[disclda.WORDS] < 0.0
        assert min(shares := [row.measured[name] for name in (disclda.ERROR, disclda.USUAL_ERROR)]) >= 0.0
        assert max(shares) <= 1.0
    assert found[0].gap == pytest.approx(0.0, abs=1e-9)  # one topic has nothing to fold in


def test_links_are_scored_exactly_at_one_state_and_at_mean_weights() -> None:
    found = rows(made(), "rtm", LINK_MODELS)
    assert [(row.model, row.topics) for row in found] == [
        (m, K) for m in (rtm.REGRESSION, rtm.MODEL, rtm.WEIGHTED) for K in (2, 3)
    ]
    for row in found:
        assert row.usual is not None
        assert max(row.likelihood.value, row.usual.value, row.measured[rtm.MEAN]) < 0.0
        assert row.likelihood.value > -3.0
        assert 0.0 <= row.measured[rtm.AREA] <= 1.0
    scores = cell(made(), variant="rtm")
    assert len(set(scores["tokens"])) == 1  # a response of each pair
    assert set(scores["evaluator"]) == {LIKELIHOOD, USUAL}


def test_the_next_time_has_a_likelihood_under_moving_and_static_topics() -> None:
    found = {row.model: row for row in rows(made(), "dynamics", DYNAMIC_MODELS)}
    annealed = {dynamics.MODEL, dynamics.STATIC}
    assert annealed | {*dynamics.PLUGGED.values(), "lda"} <= found.keys()
    for model, row in found.items():
        assert -4.0 < row.likelihood.value < 0.0
        assert (effective_size(made(), row) is not None) == (model in annealed)
        assert (row.usual is None) == (model == dynamics.TOMOTOPY)
        if row.usual is not None:
            assert row.usual.value < row.likelihood.value + 5.0 * row.likelihood.error
    shown = motion(made())
    assert len(shown.words) > 1
    assert [len(words) for words in shown.words] == [4] * len(shown.words)
    for values in shown.probabilities.values():
        assert len(values) == len(shown.words)
        assert 0.0 < min(values) < max(values) < 1.0


def test_sequences_have_a_likelihood_in_their_order_and_estimates_the_exact_one() -> None:
    """120 draws of each of 8 documents: within 7 errors, and a nat."""
    found = rows(made(), "lda-hmm", SEQUENCE_MODELS)
    assert [(row.model, row.topics) for row in found] == [
        ("hmm", 1),
        *((model, K) for model in ("lda", "lda-hmm") for K in (2, 3)),
    ]
    for row in found:
        assert row.usual is not None
        assert -4.0 < row.likelihood.value < row.usual.value + 7.0 * row.likelihood.error + 1e-9 < 0.0
        assert (row.likelihood.error > 0.0) == (row.topics > 2)
        assert (row.measured[lda_hmm.CONTENT] == 1.0) == (row.model == "lda")
        assert 0.0 <= row.measured[lda_hmm.FUNCTION] <= 1.0
    checked = [row for row in found if row.model == "lda-hmm"]
    assert [row.topics for row in checked] == [2, 3]
    for row in checked:
        assert row.measured[lda_hmm.ESTIMATED] == pytest.approx(row.measured[lda_hmm.EXACT], abs=1.0 / 15)
    distances = [abs(row.measured[lda_hmm.ESTIMATED] - row.measured[lda_hmm.EXACT]) for row in checked]
    largest = largest_distance(made(), "lda-hmm", lda_hmm.EXACT, lda_hmm.ESTIMATED)
    assert largest == pytest.approx(max(distances), abs=1e-12)
    assert largest_distance(made(), "lda-hmm", "none", "none") is None


def test_words_of_topics_and_states_are_noted_and_two_roles_of_some() -> None:
    (corpus,) = corpus_of_words(made(), TABLE_27_1)  # which the tiny study lacks
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


def test_no_document_is_beyond_the_bound_and_gaussian_vectors_have_none() -> None:
    """Of drawn documents, with the presence of words for records; an excess is a mean over documents."""
    found = folded_rows(made())
    assert list(dict.fromkeys(row.model for row in found)) == list(FOLDED_MODELS)
    for row in found:
        assert min(row.excess) > 0.0
        assert row.violations == 0
        assert bool(row.bounds) == (row.model in BOUNDED) == (row.documents > 0)
        if row.bounds:
            assert max(row.excess) < row.bounds[folding_in.BOUND] <= row.bounds[folding_in.LARGEST] + 1e-9
            assert row.documents == 8
    assert [row.topics for row in found if row.model in BOUNDED] == [2, 4, 2, 4, 2]  # LDA-HMM where it is exact
    for variant, model in (("folding-in", "lda-hmm"), ("ratings", "pmf")):
        (row, *_) = (row for row in found if row.model == model)
        scores = cell(made(), variant=variant, model=model, topics=row.topics).set_index("evaluator")
        per_document = scores["log_likelihood"] / scores["documents"]
        assert row.excess == pytest.approx([per_document["full-folding-in"] - per_document[LIKELIHOOD]])
    none = replace(made(), scores=made().scores.iloc[:0], measurements=None)
    assert len(excesses(none)) == len(folded_rows(none)) == 0


def test_the_opening_figure_has_the_gaps_of_the_tables_with_the_signs_of_their_kinds() -> None:
    inputs = made()
    shown = {
        (family.panel, label): (experiment, model, family.usual)
        for experiment, of_experiment in families().items()
        for family in of_experiment
        for model, label in family.shown.items()
    }
    others = [(gap, *shown[gap.panel, gap.model]) for gap in all_gaps(inputs) if (gap.panel, gap.model) in shown]
    assert {model for _, _, model, _ in others} == {model for _, model, _ in shown.values()} - {"nmf"}
    for gap, experiment, _, usual in others:
        assert usual is not None
        assert usual.kind != "bound" or gap.gap < 1e-6, gap
        assert usual.kind != "point" or gap.gap > -1e-6 or experiment == "disclda", gap  # folding in is of words
    table = [row for row in rows(inputs, "lda-hmm", SEQUENCE_MODELS) if row.model == lda_hmm.MODEL]
    of_lda_hmm = [gap for gap, _, model, _ in others if model == lda_hmm.MODEL]
    assert [gap.gap for gap in of_lda_hmm] == [row.gap for row in table]
    assert [(gap.most, gap.estimated) for gap in of_lda_hmm] == [(False, False), (True, True)]


def test_a_model_without_components_and_a_number_of_them_of_one_split_are_marked() -> None:
    scores = made().scores.copy()
    member = (scores["variant"] == "gallery") & (scores["model"] == VariationalEM.name)
    scores.loc[member, "log_likelihood"] = -2.0 * scores["tokens"]
    again = scores[member & (scores["topics"] == scores.loc[member, "topics"].min())].assign(seed=1)
    marks = all_gaps(replace(made(), scores=pd.concat([scores, again], ignore_index=True)))
    found = [mark for mark in marks if (mark.panel, mark.model) == (TOKENS_OF_DOCUMENTS, VariationalEM.label)]
    assert [(mark.collapsed, mark.alone) for mark in found] == [(True, False), (True, True)]
    assert not any(mark.collapsed for mark in all_gaps(made()) if mark.model == VariationalEM.label)


def test_the_gap_of_blocks_is_per_pair_of_nodes() -> None:
    inputs = made()
    blocks = [gap for gap in all_gaps(inputs) if gap.model == "stochastic blocks: arcs"]
    found = [(row.exact, row.joint) for row in block_rows(inputs) if row.K > 1]
    both = [joint - exact for exact, joint in found if exact is not None and joint is not None]
    nodes = len(monks(inputs)[2])
    expected = [both[0], both[-1]] if len(both) > 1 else both
    assert [gap.gap for gap in blocks] == pytest.approx([value / (nodes * (nodes - 1)) for value in expected])
    assert all(gap.gap < 0.0 for gap in blocks)
    assert blocks[-1].most


def test_a_study_without_the_experiments_has_no_marks() -> None:
    inputs = made()
    assert inputs.measurements is not None
    none = replace(inputs, scores=inputs.scores.iloc[:0], measurements=inputs.measurements.iloc[:0])
    assert all_gaps(none) == []
    assert opening(none).axes
