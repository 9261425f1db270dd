"""Totals, labels, the documents that differ most, and the result as JSON."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import drawn, topics_of

from heldout.auditing.audit.audit import audit
from heldout.auditing.audit.report import Audit


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
    assert audit(topics_of(), drawn(3), estimator=estimator).line("truth").label == label


def test_the_most_different_documents() -> None:
    result = audit(topics_of(), drawn(60, length=12))
    gap = np.abs(result.nats["full-folding-in"] - result.nats["truth"])
    scored = np.flatnonzero(result.lengths)
    expected = sorted(scored.tolist(), key=lambda d: (-gap[d] / result.lengths[d], d))[:10]
    assert [document.name for document in result.most_different] == [f"row {d}" for d in expected]
    for document, d in zip(result.most_different, expected, strict=True):
        for name in ("truth", "full-folding-in", "mean-field-bound"):
            assert document.nats_per_token[name] == pytest.approx(result.nats[name][d] / result.lengths[d])
        half = result.lengths[d] - result.lengths[d] // 2
        assert document.nats_per_token["half-folding-in"] == pytest.approx(result.nats["half-folding-in"][d] / half)


def test_words_of_probability_0_are_said_and_spoil_no_json() -> None:
    phi = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    result = audit((phi, [1.0, 1.0]), sp.csr_array(np.array([[1, 1, 0], [1, 0, 1]])))
    assert result.line("truth").perplexity == math.inf
    assert result.settings["impossible"] == 1
    assert len(result.most_different) == 1
    kept = result.to_json()
    assert kept["per_document"]["nats"]["truth"][1] is None
    assert kept["lines"][0]["perplexity"] is None
    json.dumps(kept, allow_nan=False)


def test_json_holds_what_it_documents() -> None:
    kept = audit(topics_of(), drawn(4)).to_json()
    documented = Audit.to_json.__doc__ or ""
    for name in kept:
        assert f'"{name}"' in documented
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
