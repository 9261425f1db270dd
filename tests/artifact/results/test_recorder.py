"""What an experiment records: scores, measurements and notes under its names; notes as a table."""

import math
from pathlib import Path

import numpy as np
import pytest

from artifact.results.measurements import NOTES, Note
from artifact.results.recorder import Recorder
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation

EVALUATION = Evaluation(np.array([-4.0, 0.0, -6.0]), np.array([2, 0, 3]), np.array([0.3, 0.0, 0.4]), 7)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(corpus="c", model="m", variant="v", topics=2, seed=1)


def test_the_score_of_an_evaluation_is_its_sum_over_documents(recorder: Recorder) -> None:
    score = recorder.score("e", EVALUATION, samples=5)
    assert (score.documents, score.documents_left_out, score.tokens, score.tokens_left_out) == (2, 1, 5, 7)
    assert (score.log_likelihood, score.perplexity) == pytest.approx((-10.0, math.exp(2.0)))
    assert (score.samples, score.standard_error) == pytest.approx((5, 0.5))
    stated = recorder.at(topics=3, tokens_left_out=0).score("e", EVALUATION, standard_error=math.nan)
    assert (stated.topics, stated.samples, stated.tokens_left_out) == (3, 0, 0)
    assert math.isnan(stated.standard_error)
    assert recorder.results.scores == [score, stated]


def test_documents_without_tokens_have_no_measurement(recorder: Recorder) -> None:
    recorder.by_document("q", EVALUATION)
    recorder.by_document("q", EVALUATION, positions=np.array([4, 5, 9]), error=0.0)
    assert [(row.axis, row.at, row.value, row.standard_error) for row in recorder.results.measurements] == [
        ("document", 0, -4.0, 0.3),
        ("document", 2, -6.0, 0.4),
        ("document", 4, -4.0, 0.0),
        ("document", 9, -6.0, 0.0),
    ]


def test_a_mean_has_the_error_of_its_spread(recorder: Recorder) -> None:
    recorder.mean("q", np.array([1.0, 3.0]), axis="a", position=2)
    (row,) = recorder.results.measurements
    assert (row.value, row.standard_error) == pytest.approx((2.0, 1.0))


def test_notes_are_texts_in_the_order_of_their_places(recorder: Recorder, tmp_path: Path) -> None:
    for at, text in ((10, "nan"), (9, 'two, "words"')):
        recorder.note("word", text, axis="rank", position=at)
    other = Note("b", "m", "v", 2, 1, "word", "rank", 1, "")
    NOTES.write(tmp_path / "a.csv", recorder.results.notes)
    NOTES.write(tmp_path / "b.csv", [other])
    NOTES.collect([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "c.csv")
    table = NOTES.read(tmp_path / "c.csv")
    assert table["text"].tolist() == ["", 'two, "words"', "nan"]
    assert table["at"].tolist() == [1, 9, 10]
    with pytest.raises(InputError, match="a second time"):
        NOTES.collect([tmp_path / "a.csv", tmp_path / "a.csv"], tmp_path / "d.csv")
