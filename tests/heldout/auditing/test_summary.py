"""Totals, labels, the documents that differ most, and the result as JSON."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import V, drawn, topics_of

from heldout.auditing.audit.audit import audit
from heldout.auditing.audit.report import Audit
from heldout.errors import InputError


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        ("linear-time", "linear time (biased either way)"),
        ("left-to-right", "left-to-right (biased either way)"),
        ("harmonic-mean", "harmonic mean (biased high)"),
        ("chib", "likelihood, Chib-style"),
    ],
)
def test_labels_say_what_is_biased(estimator: str, label: str) -> None:
    assert audit(topics_of(), drawn(3), estimator=estimator).line("likelihood").label == label


def test_the_most_different_documents() -> None:
    result = audit(topics_of(), drawn(60, length=12))
    gap = np.abs(result.nats["full-folding-in"] - result.nats["likelihood"])
    scored = np.flatnonzero(result.lengths)
    expected = sorted(scored.tolist(), key=lambda d: (-gap[d] / result.lengths[d], d))[:10]
    assert [document.name for document in result.most_different] == [f"row {d}" for d in expected]
    for document, d in zip(result.most_different, expected, strict=True):
        for name in ("likelihood", "full-folding-in", "mean-field-bound"):
            assert document.nats_per_token[name] == pytest.approx(result.nats[name][d] / result.lengths[d])
        half = result.lengths[d] - result.lengths[d] // 2
        assert document.nats_per_token["half-folding-in"] == pytest.approx(result.nats["half-folding-in"][d] / half)


def test_baselines_are_one_distribution_for_all_documents() -> None:
    model, X = topics_of(1), drawn(20)
    result = audit(model, X)
    assert result["uniform"].perplexity == pytest.approx(V)
    assert result.nats["unigram"] == pytest.approx(X.toarray() @ np.log(model.phi[0]))
    assert result["unigram"].log_likelihood == pytest.approx(result["likelihood"].log_likelihood)
    apart = (np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]), 1.0)
    counts = np.array([[3, 1, 0, 0], [0, 0, 1, 1], [2, 0, 0, 0]])
    assert audit(apart, counts)["unigram"].nats_per_token == pytest.approx(
        0.75 * math.log(0.375) + 0.25 * math.log(0.125)
    )


def test_topics_have_their_share_of_the_tokens_and_those_without_are_unused() -> None:
    phi = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]])
    result = audit((phi, 0.1), np.array([[3, 1, 0, 0], [0, 0, 1, 1], [2, 0, 0, 0]]), vocabulary=["a", "b", "c", "d"])
    assert [topic.number for topic in result.topics_used] == [0, 1, 2]
    assert [topic.share for topic in result.topics_used] == pytest.approx([0.75, 0.25, 0.0], abs=0.02)
    assert [topic.unused for topic in result.topics_used] == [False, False, True]
    assert result.topics_used[0].words[:2] == ("a", "b")
    assert [record["document"] for record in result.records("documents")] == ["row 0", "row 1", "row 2"]
    assert list(result.to_frame("topics").columns) == ["share", "unused", "exclusivity", "words"]
    assert result.to_frame().loc["likelihood", "perplexity"] == result["likelihood"].perplexity
    with pytest.raises(InputError, match="there is no table 'words'; there are numbers"):
        list(result.records("words"))


def test_an_audit_at_a_prompt_is_a_line_and_in_a_notebook_a_table() -> None:
    result = audit(topics_of(), drawn(6))
    assert len(repr(result)) < 300
    assert "\n" not in repr(result)
    assert "<table>" in result._repr_html_()
    assert result.plot().get_xlabel() == "perplexity per token"
    with pytest.warns(DeprecationWarning, match='the line "truth" is called "likelihood"'):
        assert result.line("truth") is result["likelihood"]


def test_words_of_probability_0_are_said_and_spoil_no_json() -> None:
    phi = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    result = audit((phi, [1.0, 1.0]), sp.csr_array(np.array([[1, 1, 0], [1, 0, 1]])))
    assert result.line("likelihood").perplexity == math.inf
    assert result.settings["impossible"] == 1
    assert len(result.most_different) == 1
    kept = result.to_json()
    assert kept["per_document"]["nats"]["likelihood"][1] is None
    assert kept["lines"][0]["perplexity"] is None
    json.dumps(kept, allow_nan=False)


def test_json_holds_what_it_documents() -> None:
    kept = audit(topics_of(), drawn(4)).to_json()
    documented = Audit.to_json.__doc__ or ""
    for name in kept:
        assert f'"{name}"' in documented
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
