"""The number of topics by cross-validation: against folds by hand, and through scikit-learn's search."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import heldout
from heldout.errors import InputError, InputWarning
from heldout.seeds import generator

X = np.array([[4, 4, 0, 0], [0, 0, 4, 4]] * 10)
WORDS = ["ape", "bear", "fig", "kiwi"]


def model(K: int, documents: Any) -> Any:
    """Return the unigram of the training documents, for one topic, or two topics of two words."""
    return (documents.sum(axis=0, keepdims=True) / documents.sum() if K == 1 else TWO, 1.0)


TWO = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])


def test_every_document_is_scored_once_by_a_model_of_the_others() -> None:
    seen = list[tuple[int, float]]()
    choice = heldout.choose(
        model, X, [1, 2], folds=4, estimator="exact-marginal", progress=lambda *at: seen.append(at), random_state=3
    )
    part_of = generator("choose-folds", seed=3).permutation(np.arange(20) % 4)
    by_hand = np.zeros(20)
    for fold in range(4):
        train = X[part_of != fold].sum(axis=0)
        by_hand[part_of == fold] = X[part_of == fold] @ np.log(train / train.sum())
    assert choice.models[1].nats == pytest.approx(by_hand)
    # B(1 + 8, 1) / B(1, 1) of the topic, and half for each token
    assert choice.best.nats == pytest.approx(np.full(20, -math.log(9) - 8 * math.log(2)))
    assert (choice.n_topics, choice.not_told_apart, choice.one_standard_error) == (2, (2,), 2)
    assert seen[-1] == (40, 1.0)
    assert choice.to_frame().loc["2 topics", "nats_per_token"] == pytest.approx(-(math.log(9) / 8 + math.log(2)))
    assert json.loads(json.dumps(choice.to_json(), allow_nan=False))["best"] == "2 topics"


def test_an_estimator_of_scikit_learn_on_texts_and_words_that_it_lacks() -> None:
    texts = [f"ape bear ape bear rare{d}" for d in range(6)] + ["fig kiwi fig kiwi"] * 6
    pipeline = make_pipeline(CountVectorizer(min_df=3), LatentDirichletAllocation(doc_topic_prior=0.1, random_state=0))
    plain = heldout.choose(pipeline, texts, [1, 2], folds=2)
    counted = heldout.choose(pipeline, texts, [1, 2], folds=2, unknown=1e-3)
    assert plain.tokens == 48
    assert counted.tokens == 54
    assert counted.best.nats.sum() == pytest.approx(plain.best.nats.sum() + 6 * math.log(1e-3))
    fitted = pipeline.fit(texts)
    known = heldout.log_likelihood(fitted, texts)
    assert heldout.log_likelihood(fitted, texts, unknown=1e-3) == pytest.approx((48 * known + 6 * math.log(1e-3)) / 54)


def test_the_fewest_topics_within_one_error_of_the_folds() -> None:
    """For `GridSearchCV(refit=...)`; a grid over the words is warned of."""
    lda = LatentDirichletAllocation(doc_topic_prior=0.1, random_state=0)
    search = GridSearchCV(
        lda,
        {"n_components": [3, 2, 1]},
        scoring=partial(heldout.log_likelihood, samples=240),
        cv=2,
        refit=heldout.one_standard_error,
    ).fit(X)
    scores = np.array([search.cv_results_[f"split{fold}_test_score"] for fold in range(2)])
    gap = scores.max(axis=1) - scores[:, 1]
    assert search.best_params_ == {"n_components": 2}, (scores, gap)
    of_words = {"split0_test_score": [-8.0, -6.0], "split1_test_score": [-8.1, -6.1]}
    with pytest.warns(InputWarning, match=r"the grid changes the words \(min_df\)"):
        assert heldout.one_standard_error(of_words | {"params": [{"a__min_df": 2}, {"a__min_df": 20}]}) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topics": [2]}, "give two or more different ones"),
        ({"topics": [2, 2]}, "give two or more different ones"),
        ({"folds": 1}, "1 folds of 20 documents; take 2 or more"),
        ({"unknown": 1.5}, "unknown: 1.5, the probability of a word that the model lacks"),
        ({"model": LatentDirichletAllocation}, "give an unfitted estimator of scikit-learn, or a function"),
        ({"model": CountVectorizer()}, "without n_components"),
        ({"documents": 3}, "documents of the kind int"),
    ],
)
def test_bad_input_is_one_line(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": model, "documents": X, "topics": [1, 2]} | options
    with pytest.raises(InputError, match=message):
        heldout.choose(**given)
