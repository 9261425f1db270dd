"""The gallery in tiny form: every experiment, its rows, contrasts, exhibits and sentences."""

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from estimated import estimated, means
from printed import printed_nowhere
from small_study import corpora_table
from splits import on_two_splits
from tables_of import measurements_table, notes_table, scores_table
from tiny_extensions import SETTINGS as EXTENSIONS
from tiny_graphs import SETTINGS as GRAPHS
from tiny_graphs import TEST_DOCUMENTS as GRAPHS_TEST_DOCUMENTS
from tiny_graphs import corpora as graphs_corpora
from tiny_priors import SETTINGS as PRIORS
from tiny_priors import TEST_DOCUMENTS as PRIORS_TEST_DOCUMENTS
from tiny_priors import corpora as priors_corpora
from tiny_undirected import SETTINGS as UNDIRECTED
from tiny_undirected import TEST_DOCUMENTS
from tiny_undirected import corpora as undirected_corpora

from artifact.contrasts.effect import IS_ABOVE
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers import papers_of
from artifact.results.arrays import Arrays
from artifact.results.reading import select
from artifact.results.recorder import Results
from artifact.study.steps import run_experiment
from artifact.study.study import NOTHING
from artifact.typesetting import style
from artifact.typesetting.exhibits import exhibits, make
from artifact.typesetting.macros import macros
from gallery.contrasts import CONTRASTS
from gallery.documents import MURPHY
from gallery.member import DOCUMENTS, LIKELIHOOD, USUAL
from gallery.misprints import MISPRINTS, Misprint
from gallery.tokens.experiments import bank_and_river, evidence, online, samplers
from gallery.tokens.members import MEMBERS
from gallery.tokens.members.gap import GAP_LESS_MPCA, NMF
from gallery.tokens.members.mixtures import POISSON_LESS_PARTS
from gallery.tokens.science import (
    LDA_COMPLETION,
    LDA_HALF,
    annealed_and_exact,
    bank,
    curve,
    ends_of_em,
    opening_rows,
    sampled,
    senses,
    traces,
)
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.models.lda import LDA

PAPER = Path(__file__).parents[2] / "paper"
TEXT = re.sub(
    r"\\input\{(sections/\w+|sources)\}",
    lambda part: (PAPER / f"{part[1]}.tex").read_text(),
    (PAPER / "gallery.tex").read_text()
    + "".join(
        (PAPER / f"gallery-{name}.tex").read_text().partition(r"\maketitle")[2] for name in ("supplement", "erratum")
    ),
)
# exhibits of the project's site alone: they repeat the chapter's pictures on other data, and no finding rests on them
ON_SITE = (
    *("figure-restarts", "table-27-6", "table-polysemy", "table-senses", "figure-27-10"),
    *("figure-27-12", "figure-27-14", "table-27-1", "figure-27-19"),
    *("figure-27-20", "figure-27-25", "figure-27-26", "figure-27-27", "figure-27-28", "figure-27-33"),
    "table-contrasts",
)
GALLERY: dict[str, Any] = {
    "topics": [2, 4],
    "component_topics": [1, 2, 4],
    "exact_topics": 3,
    "samples": 1000,
    "chains": 8,
    "temperatures": 12,
    "component_temperatures": 12,
    "smoothing": 1e-3,
    "alpha": 0.5,
    "gamma": 0.1,
    "rho": 0.3,
    "penalty": 1.0,
    "iterations": 12,
    "sweeps": 12,
    "fold_in_iterations": 300,
}
RECORDS: dict[str, Any] = {
    key: GALLERY[key]
    for key in (
        *("topics", "component_topics", "exact_topics", "chains", "temperatures", "component_temperatures"),
        *("smoothing", "alpha", "gamma", "penalty", "iterations"),
    )
}
RECORDS |= {"columns": 100}
PERPLEXITY: dict[str, Any] = {
    key: GALLERY[key] for key in ("exact_topics", "samples", "alpha", "gamma", "iterations", "sweeps")
}
PERPLEXITY |= {"topics": [2, 4], "beta": 0.7, "fold_in_iterations": 100, "fold_in_tolerance": 1e-4}
COMPLETION: dict[str, Any] = {key: PERPLEXITY[key] for key in ("topics", "alpha", "gamma", "sweeps", "samples")}
COMPLETION |= {"fold_in_sweeps": 10}
SAMPLERS: dict[str, Any] = {"topics": 3, "alpha": 0.5, "gamma": 0.1, "sweeps": 9, "samples": 240}
BANK: dict[str, Any] = {
    "documents": 6,
    "tokens": 4,
    "alpha": 1.0,
    "gamma": 0.1,
    "sweeps": 20,
    "chains": 20,
    "temperatures": 20,
}
ONLINE: dict[str, Any] = {
    "topics": 2,
    "documents": 16,
    "alpha": 0.5,
    "gamma": 0.1,
    "batches": [4],
    "passes": 2,
    "iterations": 3,
}
ONLINE |= {"document_iterations": 10, "samples": 240}
POLYSEMY: dict[str, Any] = {
    "topics": 3,
    "alpha": 0.5,
    "gamma": 0.1,
    "sweeps": 10,
    "frequent": 10,
    "shown": 5,
    "tokens": 60,
}
EVIDENCE: dict[str, Any] = {
    "topics": [1, 2],
    "true_topics": 2,
    "documents": 8,
    "tokens": 10,
    "words": 8,
    "alpha": 0.5,
    "gamma": 0.3,
}
RESTARTS: dict[str, Any] = {"components": 2, "points": 30, "spread": 3.0, "starts": 4, "iterations": 30}
EVIDENCE |= {"temperatures": 20, "chains": 3, "iterations": 10, "sweeps": 10, "samples": 240}


def documents(name: str) -> Corpus:
    shape = Shape(train_documents=30, test_documents=8, vocabulary=25, mean_length=20.0)
    return draw(name, shape, law=Law(topics=5))[0]


def votes() -> Corpus:
    """Return 40 records of two parties that mostly vote apart, with gaps."""
    random = np.random.default_rng(0)
    party = np.repeat([0, 1], 20)[:, None]
    responses = np.where(random.random((40, 5)) < 0.85, party, 1 - party)
    responses[random.random((40, 5)) < 0.1] = -1
    return from_responses("votes", responses, tuple("abcde"), ("n", "y"), tuple(map(str, range(40))))


SETTINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "gallery": ("cranfield", GALLERY),
    "records": ("votes", RECORDS),
    "perplexity": ("ap", PERPLEXITY),
    "completion": ("ap", COMPLETION),
    "samplers": ("cranfield", SAMPLERS),
    "bank-and-river": ("none", BANK),
    "online": ("ap", ONLINE),
    "polysemy": ("ap", POLYSEMY),
    "evidence": ("none", EVIDENCE),
    "restarts": ("none", RESTARTS),
    **UNDIRECTED,
    **PRIORS,
    **GRAPHS,
    **{name: ("ap", settings) for name, settings in EXTENSIONS.items()},
}


def run(name: str, corpus: Corpus | None = None, **changes: Any) -> Results:
    module, kind = MURPHY.experiment_module(name), MURPHY.experiments[name].settings
    given: dict[str, Any] = {"seed": 0, "test_documents": 8}
    if corpus is not None:
        others = {**TEST_DOCUMENTS, **PRIORS_TEST_DOCUMENTS, **GRAPHS_TEST_DOCUMENTS}
        given["test_documents"] = {"votes": 10, **others}.get(corpus.name, 8)
    settings = {**SETTINGS[name][1], **changes}
    return run_experiment(module, kind, corpus, [], "none", settings=settings, fold_in_settings={}, **given)


def study() -> dict[str, Any]:
    measures = {name: {"corpora": [c], "seeds": [0], "settings": s} for name, (c, s) in SETTINGS.items()}
    corpora = {"cranfield": {"test_documents": 8}, "ap": {"test_documents": 8}, "votes": {"test_documents": 10}}
    corpora |= {name: {"test_documents": n} for name, n in TEST_DOCUMENTS.items()}
    corpora |= {name: {"test_documents": n} for name, n in PRIORS_TEST_DOCUMENTS.items()}
    corpora |= {name: {"test_documents": n} for name, n in GRAPHS_TEST_DOCUMENTS.items()}
    return {**NOTHING, "study": "gallery", "document": "gallery", "corpora": corpora, "measures": measures}


@functools.cache
def made() -> Inputs:
    """Return the inputs of the tiny study, with its effects."""
    given = {
        "cranfield": documents("cranfield"),
        "ap": documents("ap"),
        "votes": votes(),
        "none": None,
        **undirected_corpora(),
        **priors_corpora(),
        **graphs_corpora(),
    }
    parts = [run(name, given[corpus]) for name, (corpus, _) in SETTINGS.items()]
    asked = study()
    inputs = Inputs(
        scores_table(score for part in parts for score in part.scores),
        corpora_table(asked, synthetic=False),
        asked,
        measurements_table(row for part in parts for row in part.measurements),
        notes_table(note for part in parts for note in part.notes),
        Arrays.recorded({place: values for part in parts for place, values in part.arrays.items()}),
        versions={"heldout": "1.2.3"},
        papers=papers_of(asked),
    )
    return replace(inputs, effects={contrast.name: tuple(effects(contrast, inputs)) for contrast in CONTRASTS})


def cell(inputs: Inputs, **values: Any) -> pd.DataFrame:
    table = inputs.scores
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def test_every_model_is_scored_twice_but_those_without_a_likelihood() -> None:
    scores = cell(made(), variant="gallery", topics=2)
    pairs = set(zip(scores["model"], scores["evaluator"], strict=True))
    models = [member.name for member in MEMBERS if DOCUMENTS in member.data]
    assert pairs == {(m, e) for m in models for e in (USUAL, LIKELIHOOD)} - {(NMF.name, LIKELIHOOD)}
    assert len(scores[["documents", "tokens", "tokens_left_out"]].drop_duplicates()) == 1
    beyond = cell(made(), variant="gallery", topics=4, evaluator=LIKELIHOOD).set_index("model")
    annealed = {"lda", "lda-gibbs", "lda-vem", "lda-vb", "lda-online-vb", "gap", "conditional-gap"}
    annealed |= {"categorical-pca", "categorical-pca-point"}
    assert set(beyond.index[beyond["standard_error"] > 0.0]) == annealed


def test_folding_in_lies_above_the_likelihood_and_bounds_below() -> None:
    rows = opening_rows(made())
    assert {row.member for row in rows} == set(MEMBERS)
    for row in rows:
        if row.gap is None:
            assert row.member is NMF
        else:
            assert (row.gap > 0.0) == (row.member.usual.kind == "point"), row
        assert -4.0 < row.value < 0.0  # the unigram of 25 words has at most log 25 = 3.2 nats


def test_annealing_has_the_exact_values() -> None:
    """The likelihoods of 8 or 10 cases at 6 errors of 8 chains each; an error of some tokens is small."""
    both = annealed_and_exact(made())
    assert len(both) == 5 + 2 + 3 + 1 + 5  # LDA, GaP and categorical PCA; on records the profile and the latter
    for one in both:
        assert 0.0 < one.error < 0.1
        assert abs(one.value - one.exact) < 6.0 * one.error


def test_sums_over_one_token_show_which_scores_are_probabilities() -> None:
    rows = opening_rows(made())
    assert {row.member.usual.kind for row in rows} == {"bound", "point", "exact"}
    for row in rows:
        if row.member.usual.kind == "exact" or (row.topics == 1 and row.member.usual.kind == "point"):
            continue
        assert (row.one_token > 1.0) == (row.member.usual.kind == "point"), row
    (exact, *_) = (row for row in rows if row.member.usual.kind == "exact")
    assert exact.one_token == pytest.approx(1.0, abs=1e-8)
    (mixture, *_) = (row for row in rows if row.member.name == "poisson-mixture")
    assert 0.4 < mixture.one_token < 1.0  # of two components the better one has half of every sum at least


def test_halves_are_those_of_pLSI_and_samplers_are_recorded_as_their_sweeps_double() -> None:  # noqa: N802
    inputs = made()
    for of in (LDA_HALF, LDA_COMPLETION):
        assert list(curve(inputs, "ap", of)) == PERPLEXITY["topics"]
    halves = cell(inputs, corpus="ap", evaluator="half-folding-in")
    assert set(halves["model"]) == {"plsi", "plsi-tempered", "lda"}
    assert len(set(halves["tokens"])) == 1
    for model in ("lda", "lda-gibbs"):
        for quantity in (LIKELIHOOD, samplers.JOINT):
            (points,) = sampled(inputs, model, quantity).values()
            assert list(points) == [1, 2, 4, 8]
            assert all(-6.0 < point.value < 0.0 for point in points.values())
    again = run("samplers", documents("cranfield"), sweeps=2).measurements
    assert inputs.measurements is not None
    first = inputs.measurements[(inputs.measurements["variant"] == "samplers") & (inputs.measurements["at"] <= 2)]
    assert [row.value for row in again] == list(first["value"])  # the length of a chain changes nothing before


def test_the_joint_of_assignments_is_the_samplers_own() -> None:
    counts = documents("cranfield").counts()
    model = LDA(3, alpha=0.5, beta=0.1, sweeps=2, random_state=0).fit(documents("cranfield"))
    in_document, in_word = np.zeros((counts.shape[0], 3)), np.zeros((3, counts.shape[1]))
    rows = np.repeat(np.arange(counts.shape[0]), documents("cranfield").lengths)
    np.add.at(in_document, (rows, model.assignments_), 1.0)
    np.add.at(in_word, (model.assignments_, documents("cranfield").tokens), 1.0)
    assert samplers.log_joint(in_document, in_word, 0.5, 0.1) == pytest.approx(model.log_likelihood_[-1], abs=1e-6)


def test_identities_hold_and_every_contrast_is_estimated() -> None:
    inputs = made()
    assert inputs.measurements is not None
    same = inputs.measurements[inputs.measurements["quantity"].isin([GAP_LESS_MPCA, POISSON_LESS_PARTS])]
    assert len(same) == 3  # GaP where it is exact, the Poisson mixture at both sizes
    assert same["value"].max() < 1e-9
    assert {name for name, found in inputs.effects.items() if not found} == {"descent-overfits"}  # of one seed
    assert means("lda-plsi-full", inputs)["EM, K = 2"] < 0.0


def test_annealing_finds_the_exact_evidence_and_gibbs_the_exact_means() -> None:
    """Six short documents, 20 chains of 20 steps; 6 standard errors of 19 degrees of freedom fail once in 1e5 runs."""
    inputs = made()
    assert inputs.measurements is not None
    exact = select(inputs.measurements, quantity=bank_and_river.EVIDENCE).set_index("topics")["value"]
    assert len(exact) == 2
    rows = inputs.measurements[inputs.measurements["quantity"] == bank_and_river.ANNEALED_EVIDENCE]
    for row in rows.to_dict("records"):
        difference = float(row["value"]) - exact[row["topics"]]
        assert abs(difference) < 6.0 * float(row["standard_error"]) + 1e-9
    for quantity in ("true", "exact", "sampled"):
        assert bank(inputs, f"{quantity}-means").sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    exact_means = bank(inputs, "exact-means")
    assert exact_means[0, 0] > exact_means[1, 0]


def test_the_evidence_lies_between_annealing_forwards_and_backwards() -> None:
    """At the true K on average; 3 chains of 20 steps of 80 tokens are a nat apart at most."""
    below, above, bound = (  # "online" has a bound of the same name
        select(made().measurements, variant="evidence", quantity=quantity).set_index("topics")["value"]
        for quantity in (evidence.FORWARDS, evidence.BACKWARDS, evidence.BOUND)
    )
    (at,) = above.index
    assert above[at] > below[at] - 1.0 / 80
    assert bound[at] < above[at] + 1.0 / 80


def test_traces_go_from_batch_to_batch_and_senses_have_the_word() -> None:
    batch, online_ = traces(made(), LIKELIHOOD)
    assert (batch.batch, list(batch.points)) == (0, [16, 32, 48])
    assert (online_.batch, list(online_.points)) == (4, [4, 8, 16, 32])
    assert [list(trace.points) for trace in traces(made(), online.BOUND)] == [[16, 32, 48], [4, 8, 16, 32]]
    word, meanings = senses(made())
    assert 2 <= len(meanings) <= 3
    for meaning in meanings:
        assert len(meaning.words) == 5
        assert 0 < len(meaning.tokens) <= 60
    assert word in {name for meaning in meanings for name, _ in meaning.words + meaning.tokens}


def test_starts_end_nowhere_above_the_best_and_not_all_of_them_there() -> None:
    ends = ends_of_em(made())
    assert ends
    for training, held_out in ends:
        assert len(training) == len(held_out) == RESTARTS["starts"]
        assert training.max() == 0.0
        assert held_out[training.argmax()] == 0.0
    assert min(training.min() for training, _ in ends) < -1e-3


def test_contrasts_turn_with_the_scores() -> None:
    inputs = made()
    turned = inputs.scores.copy()
    lda = (turned["variant"] == "perplexity") & (turned["model"] == "lda")
    turned.loc[lda, "log_likelihood"] *= 0.5
    given = on_two_splits(replace(inputs, scores=turned))
    found = [effect for name in ("lda-plsi-full", "lda-mixture") for effect in estimated(name, given).values()]
    assert {effect.finding for effect in found} == {IS_ABOVE}
    assert estimated("lda-unigram", given)["ap", "Figure 27.6"].finding == IS_ABOVE


@pytest.mark.parametrize("misprint", [one for one in MISPRINTS if one.errors], ids=lambda one: str(one.place))
def test_the_printed_form_fails_its_identity_and_the_corrected_one_does_not(misprint: Misprint) -> None:
    assert misprint.errors is not None
    printed, corrected = misprint.errors()
    assert printed > 0.01
    assert corrected < 1e-9


def test_every_exhibit_is_made_and_in_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(style._SETTINGS, "pdf.fonttype", 3)  # outlines: to cut fonts takes twice the time of all else
    inputs = made()
    known = exhibits(inputs.papers, inputs.study)
    for name in known:
        make(name, inputs, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
    shown = set(re.findall(r"\\(?:input|includegraphics)(?:\[[^]]*\])?\{((?:table|figure)-[\w-]+)", TEXT))
    assert sorted([*shown, *ON_SITE, "macros"]) == sorted(known)


def test_the_document_uses_macros_that_are_there_and_types_no_number() -> None:
    names = macros(made())
    assert printed_nowhere(names) == set()
    defined = set(names) | set(re.findall(r"\\newcommand\{\\(\w+)\}", TEXT)) | {"MovedSentences"}
    defined |= {"Bigl", "Bigr", "Gamma", "Sigma", "IfFileExists", "Large", "Pages"}
    assert set(re.findall(r"\\([A-Z][A-Za-z]+)", TEXT)) <= defined
    body = TEXT.partition(r"\maketitle")[2]
    for pattern in (
        r"(?s)\\begin\{equation\}.*?\\end\{equation\}",
        r"\$[^$]*\$",
        r"\\(?:holds|effect|size|ends|atmost)(?:\{[^{}]*\})+",
        r"\\Pages\{.*",
        r"\\Murphy\w+\{[\d.]+\}",
    ):
        body = re.sub(pattern, " ", body)
    for pattern in (r"\\(?:cite\w*|ref|label|input|includegraphics)(\[[^]]*\])*\{[^}]*\}", r"\{\w+pt\}", r"%.*"):
        body = re.sub(pattern, " ", body)
    assert re.findall(r".{0,30}\d.{0,10}", body) == []


def test_every_contrast_has_a_sentence() -> None:
    assert set(re.findall(r"\\holds\{([^{}]*)\}", TEXT)) == {contrast.name for contrast in CONTRASTS}


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="at samples: "):
        run("gallery", documents("cranfield"), samples=0)
    with pytest.raises(InputError, match="documents, not records"):
        run("records", documents("cranfield"))
