"""The gallery's rows on a small drawn corpus: which score lies on which side of the likelihood."""

from typing import Any

import pandas as pd
import pytest

from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.papers.murphy.experiments.gallery import FACTORS, LIKELIHOOD, MODELS, USUAL, experiment
from heldout.papers.murphy.results import USUAL_SCORES, opening_rows
from heldout.scores import Score

SETTINGS: dict[str, Any] = {
    "smoothing": 1e-3,
    "alpha": 0.5,
    "gamma": 0.1,
    "rho": 0.3,
    "penalty": 1.0,
    "iterations": 15,
    "sweeps": 20,
    "fold_in_iterations": 300,
}


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    shape = Shape(train_documents=30, test_documents=8, vocabulary=25, mean_length=20.0)
    corpus, _ = draw("gallery-like", shape, law=Law(topics=5))
    return experiment(corpus, seed=0, test_documents=8, topics=[2], **SETTINGS)[0]


def test_every_model_is_scored_twice_but_nmf_which_has_no_likelihood(scores: list[Score]) -> None:
    pairs = {(score.model, score.evaluator) for score in scores}
    assert pairs == {(m, e) for m in MODELS for e in (USUAL, LIKELIHOOD)} - {(FACTORS, LIKELIHOOD)}
    assert len({(score.documents, score.tokens, score.tokens_left_out) for score in scores}) == 1


def test_folding_in_lies_above_the_likelihood_and_bounds_below(scores: list[Score]) -> None:
    rows = opening_rows(pd.DataFrame(scores))
    assert [row.model for row in rows] == list(USUAL_SCORES) == list(MODELS)
    for row in rows:
        if row.model == FACTORS:
            assert row.likelihood is row.error is row.gap is None
        else:
            assert row.gap is not None
            assert (row.gap > 0.0) == (row.usual.total == "above")
            assert row.error == 0.0
            assert -4.0 < row.value < -1.0  # the unigram of 25 words has at most log 25 = 3.2 nats


def test_an_unknown_model_is_refused() -> None:
    corpus, _ = draw("gallery-like", Shape(3, 2, 5, 5.0), law=Law(topics=2))
    with pytest.raises(InputError, match="gallery: there is no model ctm; there are multinomial-mixture, "):
        experiment(corpus, seed=0, test_documents=2, topics=[2], models=["ctm"], **SETTINGS)
