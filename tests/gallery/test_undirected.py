"""The experiments on undirected models in tiny form, and what is read back of them."""

import functools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from estimated import estimated
from small_study import corpora_table
from splits import on_two_splits
from tables_of import measurements_table, notes_table, scores_table
from tiny_undirected import SETTINGS, TEST_DOCUMENTS, corpora, newsgroups, words

from artifact.contrasts.effect import IS_ABOVE, IS_BELOW
from artifact.contrasts.estimates import effects, per_token
from artifact.contrasts.inputs import Inputs
from artifact.papers import papers_of
from artifact.results.reading import select
from artifact.results.recorder import Results
from artifact.study.job import Job
from artifact.study.settings import parse
from artifact.study.steps import run_experiment
from artifact.study.study import NOTHING
from gallery.documents import MURPHY
from gallery.member import LIKELIHOOD
from gallery.undirected import spec as settings_undirected
from gallery.undirected.exhibits import figure_27_32
from gallery.undirected.experiments import boltzmann, replicated_softmax, undirected_units
from gallery.undirected.models import maximum_likelihood
from gallery.undirected.models.maximum_likelihood import fit, fit_mixture
from gallery.undirected.science import (
    MACHINES,
    RETRIEVERS,
    UNDIRECTED,
    WATCHED,
    checked,
    choices,
    machines,
    perplexities,
    retrieval,
    trace,
    unigram_of_all,
    unit_likelihoods,
)
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.evaluators.log_partition import log_likelihood, log_partition
from heldout.models.harmonium_units import units
from heldout.models.rbm import RBM
from heldout.typing import Floats

SOFTMAX_LDA = next(contrast for contrast in UNDIRECTED if contrast.name == "softmax-lda")


def run(name: str, corpus: Corpus, **changes: Any) -> Results:
    settings, documents = {**SETTINGS[name][1], **changes}, TEST_DOCUMENTS.get(corpus.name, 8)
    module, kind = MURPHY.experiment_module(name), MURPHY.experiments[name].settings
    given: dict[str, Any] = {"seed": 0, "test_documents": documents, "settings": settings, "fold_in_settings": {}}
    return run_experiment(module, kind, corpus, [], "none", **given)


def texts(name: str) -> Corpus:
    shape = Shape(train_documents=30, test_documents=8, vocabulary=25, mean_length=20.0)
    return draw(name, shape, law=Law(topics=5))[0]


@functools.cache
def made() -> Inputs:
    """Return the inputs of the tiny study; other units see records and texts."""
    parts = [run(name, corpora()[SETTINGS[name][0]]) for name in ("boltzmann", "replicated-softmax")]
    parts += [run("undirected-units", corpus) for corpus in (corpora()["news-words"], texts("cranfield"))]
    on = {name: [SETTINGS[name][0]] for name in ("boltzmann", "replicated-softmax")}
    on["undirected-units"] = ["news-words", "cranfield"]
    measures = {name: {"corpora": on[name], "seeds": [0], "settings": SETTINGS[name][1]} for name in SETTINGS}
    documents = {"news-words": 12, "newsgroups": 8, "cranfield": 8}
    asked = {**NOTHING, "study": "gallery", "document": "gallery", "measures": measures}
    asked |= {"corpora": {name: {"test_documents": n} for name, n in documents.items()}}
    return Inputs(
        scores_table(score for part in parts for score in part.scores),
        corpora_table(asked, synthetic=False),
        asked,
        measurements_table(row for part in parts for row in part.measurements),
        notes_table(note for part in parts for note in part.notes),
        papers=papers_of(asked),
    )


def test_every_machine_is_traced_from_one_start() -> None:
    inputs = made()
    for quantity in WATCHED:
        starts = {round(trace(inputs, quantity, model)[0], 12) for model in MACHINES}
        assert len(starts) == 1
        for model in MACHINES:
            assert list(trace(inputs, quantity, model)) == [0, 1, 2, 4, 8, 16, 32, 40]
    rows = {(row.name, row.hidden): row for row in machines(inputs)}
    assert len(rows) == 4 + 1 + 2
    assert rows["persistent CD", 3].likelihood.error > 0.0 == rows["persistent CD", 2].likelihood.error
    assert rows["independent", 1].pseudo is None
    last = trace(inputs, LIKELIHOOD, boltzmann.PERSISTENT)[40]
    assert rows["persistent CD", 2].likelihood.value == pytest.approx(last, abs=1e-12)


def test_annealing_has_the_exact_partition_functions() -> None:
    """20 and 40 chains of tiny machines: within 6 of their errors."""
    for experiment, least in (("boltzmann", 4), ("replicated-softmax", 2)):
        both = checked(made(), experiment)
        assert len(both) >= least
        for one in both:
            assert 0.0 < one.error < 0.5
            assert abs(one.value - one.exact) < 6.0 * one.error


def test_perplexities_by_documents_and_tokens_are_those_of_equal_documents() -> None:
    found = perplexities(made(), "newsgroups")
    assert set(found) == {
        ("unigram", 1),
        ("lda", 4),
        ("lda", 5),
        ("replicated-softmax", 4),
        ("replicated-softmax", 3),
    }
    for one in found.values():
        assert 1.0 < one.documents < 26.0
        assert one.tokens == pytest.approx(one.documents, rel=0.3)
    assert all(1.0 < math.exp(-value) < 26.0 for value in unigram_of_all(made(), "newsgroups"))
    assert unigram_of_all(made(), "newsgroups")
    assert unigram_of_all(made(), "ap") == []
    assert "1{,}335" in figure_27_32(made())


def test_training_ends_where_validation_turns() -> None:
    """The best stage is kept, nothing follows a fall, and a search without one is censored."""
    rows = select(made().measurements, variant="replicated-softmax")
    first, last = {"lda": 10, "replicated-softmax": 2}, {"lda": 80, "replicated-softmax": 16}
    for model, K in (("lda", 4), ("lda", 5), ("replicated-softmax", 4), ("replicated-softmax", 3)):
        own = select(rows, model=model, topics=K)
        tried = select(own, quantity=replicated_softmax.VALIDATION).sort_values("at")
        values, trained = tried["value"].tolist(), tried["at"].tolist()
        assert trained == [first[model] * 2**stage for stage in range(len(trained))]
        assert values[:-1] == sorted(values[:-1])
        assert select(own, quantity=replicated_softmax.CHOSEN)["value"].tolist() == [trained[np.argmax(values)]]
        turned = len(values) > 1 and values[-1] < values[-2]
        assert turned or trained[-1] == last[model]
        assert select(own, quantity=replicated_softmax.CENSORED)["value"].tolist() == [not turned]


def test_every_search_that_did_not_turn_has_a_star_and_no_contrast() -> None:
    inputs = made()
    lines = figure_27_32(inputs).splitlines()
    found = choices(inputs, "newsgroups")
    assert len(found) == 4
    for (model, K), choice in found.items():
        (line,) = [line for line in lines if f"{RETRIEVERS[model]}, $K = {K}$" in line]
        assert line.count("*") == choice.censored
    rows = inputs.measurements
    assert rows is not None
    for value in (0.0, 1.0):
        ends = rows["quantity"] == replicated_softmax.CENSORED
        changed = replace(inputs, measurements=rows.assign(value=rows["value"].where(~ends, value)))
        assert sum(line.count("*") for line in figure_27_32(changed).splitlines()) == 4 * value
        assert bool(effects(SOFTMAX_LDA, changed)) == (value == 0.0)


def test_every_machine_scores_at_least_the_simplest_model_inside_it() -> None:
    """On training data and for every kind of units: independent responses, the mixture of two, fewer units."""
    random = np.random.default_rng(0)
    present = np.asarray(words().counts().toarray() > 0.0, dtype=float)[:, :5]
    columns = np.eye(3)[random.integers(3, size=(60, 4))].reshape(60, -1)
    columns[:30, :3] = (0.0, 0.0, 1.0)  # not independent
    columns[:30, 3:6] = (0.0, 1.0, 0.0)
    normal = np.where(random.random((60, 1)) < 0.5, 2.0, -2.0) + random.standard_normal((60, 3))
    for visible, data, blocks in (
        ("binary", present, ()),
        ("categorical", columns, (3,) * 4),
        ("gaussian", normal, ()),
    ):
        kinds: dict[str, Any] = {"visible": visible, "blocks": blocks}
        layer = units(visible, blocks)
        bias = layer.bias(data)
        independent = (data @ bias + layer.log_base(data) - layer.log_normaliser(bias[None])[0]).mean()
        mixture = fit_mixture(RBM(1, **kinds), data, random)
        values = {"independent": independent, "mixture": mean_likelihood(mixture, data)}
        for hidden in ("binary", "gaussian"):
            inside = mixture if hidden == "binary" else None
            for K in (1, 2):
                inside = fit(RBM(K, hidden=hidden, penalty=1e-6, **kinds), data, random, inside)
                values[f"{hidden} {K}"] = mean_likelihood(inside, data)
        slack = 1e-4  # of the penalty and of what EM's half counts give away
        assert values["mixture"] > values["independent"] - slack
        assert values["binary 1"] > values["mixture"] - slack
        assert values["binary 2"] > values["binary 1"] - slack
        assert values["gaussian 1"] > values["independent"] - slack
        assert values["gaussian 2"] > values["gaussian 1"] - slack
        assert values["binary 1"] > values["independent"] + 0.05


def mean_likelihood(model: RBM, data: Floats) -> float:
    return float(log_likelihood(model, data, log_partition(model)).log_likelihood.mean())


@pytest.mark.parametrize("hidden", ["binary", "gaussian"])
@pytest.mark.parametrize(("visible", "blocks"), [("binary", ()), ("categorical", (3, 2)), ("gaussian", ())])
def test_exact_gradients_are_differences_of_the_likelihood(visible: str, blocks: tuple[int, ...], hidden: str) -> None:
    if visible == hidden == "gaussian":
        pytest.skip("has a closed form")
    random = np.random.default_rng(1)
    data = {"binary": np.eye(5)[:, ::-1], "categorical": np.eye(5)[[0, 1, 2]] + np.eye(5)[[3, 4, 3]]}.get(
        visible, random.standard_normal((6, 5))
    )
    for K in (1, 2):
        model = RBM(K, visible=visible, blocks=blocks, hidden=hidden, penalty=0.3)
        start = 0.5 * random.standard_normal(5 * K + 5 + K)
        objective = maximum_likelihood._objective(model, data)
        value, gradient = objective(start)
        maximum_likelihood.set_parameters(model, start)
        base = model.visible_units.log_base(data).mean()
        penalty = 0.5 * 0.3 * (model.weights_**2).sum()
        assert -value == pytest.approx(mean_likelihood(model, data) - base - penalty, abs=1e-8)
        for i in range(len(start)):
            step = np.zeros(len(start))
            step[i] = 1e-5
            slope = (objective(start + step)[0] - objective(start - step)[0]) / 2e-5
            assert gradient[i] == pytest.approx(slope, abs=1e-6)


def test_factor_analysis_is_at_its_maximum() -> None:
    """No small change of a parameter raises the likelihood."""
    random = np.random.default_rng(0)
    data = random.standard_normal((200, 4)) + 2.0 * random.standard_normal((200, 1))
    model = fit(RBM(1, visible="gaussian", hidden="gaussian"), data, random)
    best, parameters = mean_likelihood(model, data), maximum_likelihood.parameters(model)
    for _ in range(50):
        maximum_likelihood.set_parameters(model, parameters + 0.01 * random.standard_normal(len(parameters)))
        assert mean_likelihood(model, data) < best + 1e-12


REFERENCE = Path(__file__).parents[2] / "data" / "reference" / "gallery" / "scores.csv"
# experiment, model, K, and the model inside it with its K; mean field, which ends below, climbs another function
INSIDE = (
    ("boltzmann", "rbm-cd", None, "independent", 1),
    ("boltzmann", "rbm-cd-k", None, "independent", 1),
    ("boltzmann", "rbm-pcd", None, "independent", 1),
    ("boltzmann", "categorical-mixture", None, "independent", 1),
    ("replicated-softmax", "replicated-softmax", None, "unigram", 1),
    ("replicated-softmax", "lda", None, "unigram", 1),
    ("undirected-units", "product-mixture", 1, "independent", 1),
    ("undirected-units", "rbm", 1, "independent", 1),
    ("undirected-units", "rbm", 1, "product-mixture", 1),
    ("undirected-units", "rbm", 2, "rbm", 1),
    ("undirected-units", "undirected-pca", 1, "independent", 1),
    ("undirected-units", "undirected-pca", 2, "undirected-pca", 1),
)


@pytest.mark.parametrize(("experiment", "model", "K", "inside", "fewer"), INSIDE)
def test_reference_scores_are_at_least_those_of_the_simplest_model_inside(
    experiment: str, model: str, K: int | None, inside: str, fewer: int
) -> None:
    """Means over seeds of held-out data, on each corpus; 0.005 nats per token are left to overfitting."""
    scores = per_token(select(pd.read_csv(REFERENCE), variant=experiment, evaluator=LIKELIHOOD))
    ones, others = select(scores, model=model), select(scores, model=inside, topics=fewer)
    if K is not None:
        ones = select(ones, topics=K)
    assert len(ones)
    assert len(others)
    for (corpus, _), rows in ones.groupby(["corpus", "topics"]):
        assert rows["value"].mean() > select(others, corpus=corpus)["value"].mean() - 0.005


def test_no_test_document_plays_a_part_in_the_choice() -> None:
    """Held-out documents of other words leave what validation says as it is."""
    given = newsgroups()
    tokens = given.tokens.copy()
    ends = np.cumsum(given.lengths)
    at = int(ends[39])  # the documents to train on come first
    tokens[at:] = np.random.default_rng(1).permutation(tokens[at:])
    other = replace(given, tokens=tokens)
    found = [
        [row.value for row in run("replicated-softmax", corpus).measurements if row.quantity == "validation"]
        for corpus in (given, other)
    ]
    assert found[0] == found[1]


def test_newsgroups_are_divided_by_date_and_cut_to_frequent_words() -> None:
    settings = parse(settings_undirected.ReplicatedSoftmax, SETTINGS["replicated-softmax"][1], "test")
    parts = replicated_softmax.divided(Job(newsgroups(), seed=1, test_documents=8), settings)
    assert all("/train-" in name for name in parts.training.documents)
    assert all("/test-" in name for name in parts.test.documents)
    assert parts.scored.n_documents == 8
    assert len(parts.training.vocabulary) == 20
    other = replicated_softmax.divided(Job(texts("ap"), seed=1, test_documents=8), settings)
    assert len(other.training.vocabulary) == len(set(other.training.tokens))
    assert not set(other.training.documents) & set(other.test.documents)


def test_ranking_is_that_of_every_pair() -> None:
    random = np.random.default_rng(0)
    queries, searched = random.random((6, 3)), random.random((15, 3))
    relevant = random.random((6, 15)) < 0.3
    relevant[2] = False
    average, precision, recall = replicated_softmax.ranked(queries, searched, relevant)
    averages, at_five, recalled = [], [], []
    for q in (0, 1, 3, 4, 5):
        cosines = [queries[q] @ d / np.linalg.norm(queries[q]) / np.linalg.norm(d) for d in searched]
        hits = [relevant[q, d] for d in sorted(range(15), key=lambda d: -cosines[d])]
        places = [i for i, hit in enumerate(hits) if hit]
        averages.append(np.mean([(n + 1) / (place + 1) for n, place in enumerate(places)]))
        at_five.append(sum(hits[:5]) / 5)
        recalled.append(sum(hits[:5]) / sum(hits))
    assert average == pytest.approx(np.mean(averages), abs=1e-12)
    assert (precision[4], recall[4]) == (pytest.approx(np.mean(at_five)), pytest.approx(np.mean(recalled)))
    for model in ("lda", "replicated-softmax"):
        recalls, precisions = retrieval(made(), model)
        assert len(recalls) == len(precisions) == 5
        assert recalls == sorted(recalls)


def test_other_units_are_scored_and_identities_hold() -> None:
    inputs = made()
    found = unit_likelihoods(inputs)
    assert list(found) == [("news-words", 0), ("cranfield", 100), ("cranfield", 200)]
    assert set(found["news-words", 0]) == {"independent", "product-mixture", "rbm", "undirected-pca"}
    rows = select(inputs.measurements, quantity=undirected_units.IDENTITY)
    assert len(rows) == 2 * 2 * 2
    assert rows["value"].max() < 1e-9
    alone = found["cranfield", 100]["independent"][1]
    assert -2.5 < alone < -1.0  # of a standardised coordinate -1.42
    assert found["cranfield", 200]["independent"][1] < alone  # a variance of a quarter of the data's


def test_gaps_are_values_of_their_own() -> None:
    random = np.random.default_rng(0)
    votes = from_responses("votes", random.integers(-1, 2, size=(40, 4)), tuple("abcd"), ("n", "y"), tuple("x" * 40))
    votes = replace(votes, documents=tuple(map(str, range(40))))
    scores = run("undirected-units", votes, penalty=10.0).scores
    assert {score.tokens for score in scores} == {8 * 4}
    assert all(-1.5 < score.log_likelihood / score.tokens < -0.8 for score in scores)  # log 3 = 1.1
    with pytest.raises(InputError, match="binary records"):
        run("boltzmann", votes)


def test_drawn_documents_stand_in_for_records() -> None:
    present = boltzmann.binary(texts("cranfield-like"))
    assert present.shape == (38, boltzmann.DRAWN)
    assert 0.0 < present.mean() < 1.0


def test_every_contrast_is_estimated_and_turns_with_the_scores() -> None:
    inputs = made()
    assert all(effects(contrast, inputs) for contrast in UNDIRECTED)
    scores = inputs.scores.copy()
    worse = (scores["model"] == boltzmann.ONE) | (scores["model"] == "lda") | (scores["model"] == boltzmann.FIELD)
    scores["log_likelihood"] *= 1.0 + worse
    turned = on_two_splits(replace(inputs, scores=scores))
    assert {effect.finding for effect in estimated("pcd-cd", turned).values()} == {IS_ABOVE}
    assert {effect.finding for effect in estimated("softmax-lda", turned).values()} == {IS_ABOVE}
    found = estimated("lda-unigram", turned)
    assert {effect.finding for effect in found.values()} == {IS_BELOW}
