"""Libraries' own numbers beside the truth: figure, table, macros and claims from made-up scores."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from heldout.papers.likelihood.claims_peers import PEERS
from made_peers import ERROR, LIBRARIES, TOPICS, growing, peers, reported, truth
from matplotlib.figure import Figure
from small_study import corpora_table, inputs, small_study
from small_study import without as drop

from heldout.inputs import Inputs
from heldout.measurements import COLUMNS as MEASURED
from heldout.papers.likelihood.exhibits import peers as exhibit
from heldout.scores import COLUMNS
from heldout.typesetting import latex, style

CORPORA = ("cranfield", "medline")
Change = Callable[[pd.DataFrame], pd.DataFrame]


def made(
    libraries: tuple[str, ...] = LIBRARIES, *, synthetic: bool = False, change: Change = lambda scores: scores
) -> Inputs:
    """Return the small study with the scores and measurements of libraries alone."""
    study = small_study()
    settings = {"max_iter": 10, "passes": 11, "sweeps": 1200, "samples": 50, "least_samples": 7}
    study["measures"]["peers"] = {
        "corpora": list(CORPORA),
        "models": list(libraries),
        "topics": list(TOPICS),
        "seeds": [0],
        "settings": settings,
    }
    scores, rows = peers(CORPORA, libraries)
    return Inputs(
        corpora=corpora_table(study, synthetic=synthetic),
        study=study,
        scores=change(pd.DataFrame([astuple(s) for s in scores], columns=list(COLUMNS))),
        measurements=pd.DataFrame([astuple(m) for m in rows], columns=list(MEASURED)),
    )


@cache
def without() -> Inputs:
    """Return a study without libraries."""
    return inputs(drop("peers"))


def with_reported(value: Callable[[str, int], float]) -> Change:
    """Return a change of the reported nats per token."""

    def change(scores: pd.DataFrame) -> pd.DataFrame:
        own = scores["evaluator"] == "reported"
        new = [value(m, k) * n for m, k, n in zip(scores["model"], scores["topics"], scores["tokens"], strict=True)]
        return scores.assign(log_likelihood=np.where(own, new, scores["log_likelihood"]))

    return change


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def line(figure: Figure, panel: int, label: str) -> tuple[list[float], list[float]]:
    found = [line for line in figure.axes[panel].get_lines() if line.get_label() == label]
    assert len(found) == 1
    return list(np.asarray(found[0].get_xdata())), list(np.asarray(found[0].get_ydata()))


def test_the_figure_shows_reported_and_true_perplexity_of_every_library() -> None:
    figure = exhibit.draw(made())
    assert [axis.get_title() for axis in figure.axes] == ["Cranfield", "Medline"]
    for panel in range(2):
        for library in LIBRARIES:
            for name, value in (("reported", reported), ("truth", truth)):
                x, y = line(figure, panel, f"{library}, {name}")
                assert x == list(TOPICS)
                assert y == pytest.approx([math.exp(-value(library, k)) for k in TOPICS], rel=1e-12)
        (label,) = figure.axes[panel].texts
        assert label.get_text() == rf"$\times$ {math.exp(0.3 + 0.02 * 160):,.0f}"
    colours = {entry.get_color() for entry in figure.axes[0].get_lines()}
    assert len(colours) == len(LIBRARIES)


def test_an_infinite_report_is_left_out_of_the_figure_and_stands_in_the_table() -> None:
    given = made(change=with_reported(lambda m, k: -800.0 if k == 160 else reported(m, k)))
    figure = exhibit.draw(given)
    assert line(figure, 0, "gensim, reported")[0] == [5, 20]
    assert line(figure, 0, "gensim, truth")[0] == list(TOPICS)
    assert exhibit.render(given).count(r"\infty") == 2 * 2 * len(LIBRARIES)  # reported, and its ratio


def test_synthetic_data_are_marked() -> None:
    figure = exhibit.draw(made(synthetic=True))
    assert all(style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes)
    assert "SYNTHETIC" in exhibit.render(made(synthetic=True))
    assert "SYNTHETIC" not in exhibit.render(made())


def test_the_table_has_a_row_per_corpus_number_of_topics_and_library() -> None:
    rows = [row.rstrip("\\").split(" & ") for row in exhibit.render(made()).splitlines() if row.endswith(r"\\")]
    rows = [row for row in rows if row[0] in ("Cranfield", "Medline")]
    assert len(rows) == len(CORPORA) * len(TOPICS) * len(LIBRARIES)
    assert [(row[1], row[2]) for row in rows[:9]] == [(str(k), name) for k in TOPICS for name in LIBRARIES]
    first = rows[0]
    assert first[3:5] == [r"\texttt{perplexity}", latex.perplexity(math.exp(-reported("scikit-learn", 5)))]
    assert first[6] == latex.perplexity(math.exp(-truth("scikit-learn", 5)))  # exact, so without an error
    assert first[7] == f"{math.exp(0.3 + 0.1):.2f}"
    gensim = rows[4]
    value = reported("gensim", 20)
    assert gensim[4] == rf"\ensuremath{{-{-value:.2f}}} ({2.0**-value:.0f})"
    perplexity = math.exp(-truth("gensim", 20))
    assert gensim[6] == rf"{perplexity:.0f}\,$\pm$\,{perplexity * ERROR:.1f}"
    assert gensim[8] == rf"\ensuremath{{-{-growing('gensim', 20):.2f}}}"


def test_other_numbers_of_topics_give_the_fewest_and_the_most() -> None:
    given = made(change=lambda scores: scores.assign(topics=scores["topics"] + 1))
    assert exhibit.table_topics(given, "cranfield") == [6, 161]


def test_seeds_are_averaged() -> None:
    def change(scores: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([scores, scores.assign(seed=1, log_likelihood=scores["log_likelihood"] - 20.0)])

    points = exhibit.curve(made(change=change), "cranfield", "gensim", "truth")
    assert [p.value for p in points.values()] == pytest.approx([truth("gensim", k) - 0.01 for k in TOPICS], rel=1e-12)
    assert points[20].error == pytest.approx(ERROR / math.sqrt(2.0), rel=1e-12)
    assert [p.samples for p in points.values()] == [0, 50, 50]


def test_macros_give_versions_settings_and_extremes() -> None:
    found = exhibit.macros(made())
    assert found["IfPeers"] == "#1"
    assert found["PeersVersions"] == "scikit-learn~1.9.1, gensim~4.4.0 and tomotopy~0.14.0"
    assert (found["PeersMaxIter"], found["PeersPasses"], found["PeersSweeps"]) == ("10", "11", "1{,}200")
    assert found["PeersScikitLearnRatioLeast"] == f"{math.exp(0.4):.2f}"
    assert (found["PeersScikitLearnRatioMost"], found["PeersScikitLearnRatioMostTopics"]) == ("33.1", "160")
    assert (found["PeersGensimTermLeast"], found["PeersGensimTermMost"]) == ("0.10", "3.20")
    assert (found["PeersGensimLooseLeast"], found["PeersGensimLooseMost"]) == ("0.25", "0.25")
    assert (found["PeersTomotopyBest"], found["PeersGensimBest"]) == ("6 of 6", "0 of 6")
    assert found["PeersTruthApartMost"] == f"{math.exp(0.2):.2f}"
    widest = max(reported(a, k) - reported(b, k) for a in LIBRARIES for b in LIBRARIES for k in TOPICS)
    assert found["PeersReportedApartMost"] == f"{math.exp(widest):.1f}"


@pytest.mark.parametrize("which", ["none", "one", "no measurements"])
def test_macros_have_the_same_names_for_every_study(which: str) -> None:
    given = {
        "none": without(),
        "one": made(("gensim",)),
        "no measurements": replace(made(), measurements=None),
    }[which]
    found = exhibit.macros(given)
    assert found.keys() == exhibit.macros(made()).keys()
    assert found["IfPeers"] == ("" if which == "none" else "#1")
    assert (found["PeersVersions"] == "not run") == (which != "one")
    for name, value in found.items():
        assert re.fullmatch(r"\\newcommand\{\\[A-Za-z]+\}(\[1\])?\{.*\}", latex.macro(name, value))


def test_versions_that_differ_between_runs_are_not_stated() -> None:
    given = made()
    assert given.measurements is not None
    rows = given.measurements
    one = (rows["quantity"] == "version") & (rows["model"] == "gensim") & (rows["at"] == 1) & (rows["topics"] == 5)
    mixed = replace(given, measurements=rows.assign(value=np.where(one, 3.0, rows["value"])))
    assert exhibit.versions(mixed) == {"scikit-learn": "1.9.1", "gensim": "", "tomotopy": "0.14.0"}


def test_a_study_without_libraries_has_an_empty_figure_and_table() -> None:
    figure = exhibit.draw(without())
    assert all(not axis.get_lines() for axis in figure.axes)
    assert "Cranfield" not in exhibit.render(without())


def check(name: str, given: Inputs) -> Any:
    return next(claim for claim in PEERS if claim.name == name).check(given, CORPORA)


def test_every_claim_holds_of_the_made_up_scores() -> None:
    expected = {
        "peers-reported-grows": 2 * 2 * 2,
        "peers-prefer-fewer": 2 * 3,
        "peers-disagree": 2 * 3,
        "peers-pessimistic": 2 * 3 * 3,
    }
    assert [claim.name for claim in PEERS] == list(expected)
    for name, comparisons in expected.items():
        found = check(name, made())
        assert found.comparisons == comparisons
        if name == "peers-prefer-fewer":  # tomotopy's own number is best at the most topics, as the truth is
            assert found.agreeing == 4
        else:
            assert found.verdict == "holds"
        assert found.seeds == 1


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_fail_where_libraries_report_the_truth(claim: Any) -> None:
    found = claim.check(made(change=with_reported(truth)), CORPORA)
    assert found.comparisons > 0
    assert found.verdict == "fails"


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_of_a_study_without_libraries_are_not_run(claim: Any) -> None:
    found = claim.check(without(), CORPORA)
    assert (found.verdict, found.effect) == ("not run", "")


def test_steps_that_the_truth_does_not_tell_apart_are_not_counted() -> None:
    def change(scores: pd.DataFrame) -> pd.DataFrame:
        return scores.assign(
            standard_error=np.where(scores["samples"] > 0, scores["tokens"] * 1.0, scores["standard_error"])
        )

    assert check("peers-reported-grows", made(change=change)).comparisons == 0


def test_effects_name_the_extremes() -> None:
    effect = check("peers-pessimistic", made()).effect
    assert "K=160" in effect
    assert "33.12 (" in effect
    grows = check("peers-reported-grows", made()).effect
    ends = [math.exp(-of("gensim", k)) for of in (reported, truth) for k in (5, 160)]
    shown = f"gensim {ends[0]:,.0f} (K=5) to {ends[1]:,.0f} (K=160) on medline, true {ends[2]:,.0f} to {ends[3]:,.0f}"
    assert grows.endswith(shown)
    assert grows.count("K=160") == 2  # one for each of the two
