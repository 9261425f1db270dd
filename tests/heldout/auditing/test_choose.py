"""The number of topics by cross-validation: against folds by hand, its error, its store, and scikit-learn's search."""

import json
import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline

import heldout
from heldout.auditing.blocks import Work, ratio_error
from heldout.auditing.choice.fits import digest
from heldout.auditing.choice.result import Candidate, ChoiceResult, share_again
from heldout.auditing.rank.result import LEVEL
from heldout.errors import InputError, InputWarning
from heldout.evaluators.excess import largest_excess
from heldout.libraries import Reported
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
    assert choice.to_frame().loc[2, "nats_per_token"] == pytest.approx(-(math.log(9) / 8 + math.log(2)))
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


V = 24
LDA = LatentDirichletAllocation(doc_topic_prior=0.1, topic_word_prior=0.1, max_iter=20)


def drawn(documents: int, K: int = 3, tokens: int = 40) -> Any:
    """Return documents of K topics that share no word, as a sparse matrix."""
    rng = generator("test-choose", documents=documents)
    phi = np.kron(np.eye(K), np.full(V // K, K / V))
    rows = [rng.multinomial(tokens, theta @ phi) for theta in rng.dirichlet(np.full(K, 0.3), documents)]
    return sp.csr_matrix(np.array(rows))


def seeded(K: int, documents: Any, random_state: int) -> Any:
    """Return K topics near the documents' mean, moved by the seed."""
    mean = np.asarray(documents.mean(axis=0)).ravel() + 0.1
    phi = np.random.default_rng(random_state).dirichlet(20.0 * V * mean / mean.sum(), K)
    return phi, 1.0


CALLS: list[int] = []  # numbers of topics that `interrupted` fitted


def interrupted(K: int, documents: Any, random_state: int) -> Any:
    """Fit, but for the fourth time."""
    CALLS.append(K)
    if len(CALLS) == 4:
        raise KeyboardInterrupt
    return seeded(K, documents, random_state)


def failing(K: int, documents: Any, random_state: int) -> Any:
    """Fail at nine topics always, and at five where the first document is left out."""
    if K in (9, 18) or (K == 5 and documents[0, 0] != FIRST):
        raise RuntimeError(f"no {K}\ntopics")
    return seeded(K, documents, random_state)


FIRST = 40


def in_json(choice: Any) -> str:
    return json.dumps(choice.to_json(), sort_keys=True)


def test_the_true_number_of_topics_of_a_drawn_corpus_is_chosen() -> None:
    choice = heldout.choose(LDA, drawn(60), [1, 2, 3, 5], folds=2, restarts=2, samples=240)
    assert (choice.n_topics, choice.one_standard_error) == (3, 3)
    assert min(choice.not_told_apart) == 3
    assert choice.best.again == 1.0
    table = choice.to_frame()
    assert table.index.tolist() == [1, 2, 3, 5]
    shown = ["nats_per_token", "coherence", "exclusivity", "reported", "folding_in", "most_excess", "seed_spread"]
    assert np.isfinite(table[shown]).all(axis=None)
    assert table.loc[1, "exclusivity"] == pytest.approx(1.0)
    assert (table["folding_in"] >= table["nats_per_token"] - 1e-9).all()


def test_the_bound_of_folding_in_is_that_of_theorem_1() -> None:
    choice = heldout.choose(seeded, drawn(12), [1, 2], folds=2, estimator="exact-marginal")
    for model in choice.models:
        most = largest_excess(np.full(12, 40), np.ones(model.topics))
        assert model.most_excess == pytest.approx(most.sum() / 480)
        gap = model.folding_in - choice.nats_per_token(model)
        assert -1e-9 <= gap <= model.most_excess + 1e-9
    assert choice.settings["restarts"] == 1
    assert math.isnan(choice.best.seed_spread)


def test_processes_order_and_store_change_no_byte(tmp_path: Path) -> None:
    restarts = 2
    given: dict[str, Any] = {"folds": 2, "restarts": restarts, "samples": 240, "coherence": False}
    documents = drawn(24)
    one = heldout.choose(LDA, documents, [2, 4], **given)
    two = heldout.choose(LDA, documents, [4, 2], n_jobs=2, store=tmp_path, **given)
    assert in_json(one) == in_json(two)
    assert len(list(tmp_path.iterdir())) == 4 * restarts
    again = heldout.choose(LDA, documents, [2, 4, 3], store=tmp_path, **given)
    assert len(list(tmp_path.iterdir())) == 6 * restarts
    assert again.models[0].nats.shape == (24,)


def test_a_choice_goes_on_after_an_interruption(tmp_path: Path) -> None:
    CALLS.clear()
    given: dict[str, Any] = {"folds": 3, "samples": 240, "coherence": False}
    with pytest.raises(KeyboardInterrupt):
        heldout.choose(interrupted, drawn(12), [1, 2], store=tmp_path, **given)
    assert len(list(tmp_path.glob("*.fit.npz"))) == 3
    CALLS.append(0)
    choice = heldout.choose(interrupted, drawn(12), [1, 2], store=tmp_path, **given)
    assert len(CALLS) == 5 + 3
    assert in_json(choice) == in_json(heldout.choose(seeded, drawn(12), [1, 2], **given))
    broken = next(tmp_path.glob("*.fit.npz"))
    broken.write_bytes(broken.read_bytes()[:100])
    assert in_json(heldout.choose(interrupted, drawn(12), [1, 2], store=tmp_path, **given)) == in_json(choice)
    assert len(CALLS) == 5 + 4


def test_a_function_is_known_by_its_code_and_its_values() -> None:
    def fit(scale: float, shape: int = 2) -> Any:
        return lambda K, documents: (K, documents, scale, shape)

    one, same, other = (digest("model", fit(scale)) for scale in (1.0, 1.0, 2.0))
    assert one == same != other
    assert digest("model", partial(seeded, random_state=1)) != digest("model", partial(seeded, random_state=2))
    assert digest("documents", drawn(5)) == digest("documents", drawn(5).tocoo())
    assert digest("documents", drawn(5)) != digest("documents", drawn(6))


def test_failed_fits_are_named_and_the_others_compared() -> None:
    documents = drawn(12).toarray()
    documents[0] = [FIRST] + [0] * (V - 1)
    given: dict[str, Any] = {"folds": KFold(3), "samples": 240, "coherence": False}
    with pytest.warns(InputWarning, match=r"4 fits failed: 5 topics, fold 1: RuntimeError: no 5 topics") as said:
        choice = heldout.choose(failing, documents, [2, 5, 9], **given)
    assert len(said) == 1
    named = ["5 topics, fold 1", "9 topics, fold 1", "9 topics, fold 2", "9 topics, fold 3"]
    assert [line.partition(": ")[0] for line in choice.failures] == named
    assert sorted(model.topics for model in choice.models) == [2, 5]
    assert choice.documents == 8  # the last two folds, which both have
    assert set(choice.fold_of.tolist()) == {1, 2}
    with pytest.raises(InputError, match=r"all 6 fits failed: 9 topics, fold 1: RuntimeError"):
        heldout.choose(failing, documents, [9, 18], **given)


def gaussian(rng: np.random.Generator, seed: float, fold: float, R: int, D: int = 60, F: int = 5) -> ChoiceResult:
    """Return two numbers of topics of the same mean: documents, seeds and folds are independent Gaussian effects."""
    fold_of = rng.permutation(np.arange(D) % F)
    shared, models = rng.normal(0.0, 5.0, D), []
    for K in (1, 2):
        x = (
            shared
            + rng.normal(0.0, 1.0, D)
            + rng.normal(0.0, fold, F)[fold_of]
            + rng.normal(0.0, seed, (R, F))[:, fold_of]
        )
        nothing = np.zeros(D)
        models.append(
            Candidate(f"{K}", "", K, x.mean(axis=0), nothing, nothing, Reported(""), by_seed=x[: R * (R > 1)])
        )
    work = Work("exact-marginal", 0, 0, "")
    return ChoiceResult(tuple(models), "", np.full(D, 50), 0, work, settings={"restarts": R}, fold_of=fold_of)


@pytest.mark.parametrize(
    ("seed", "fold", "R", "least"), [(1.0, 0.0, 3, 0.93), (0.5, 0.0, 2, 0.93), (0.3, 0.3, 3, 0.87)]
)
def test_the_interval_covers_documents_seeds_and_folds(seed: float, fold: float, R: int, least: float) -> None:
    rng = generator("test-choice-coverage", seed=seed, fold=fold)
    gaps = []
    for _ in range(400):
        result = gaussian(rng, seed, fold, R)
        gaps.append((result.difference(*result.models), result))
    covered = np.mean([abs(gap.nats_per_token) <= gap.width for gap, _ in gaps])
    spread = np.std([gap.nats_per_token for gap, _ in gaps])
    error = math.sqrt(np.mean([gap.error**2 for gap, _ in gaps]))
    assert least - 4.5 * math.sqrt(0.95 * 0.05 / 400) <= covered <= 1.0
    assert 0.85 * spread <= error <= 1.35 * spread
    if seed == 1.0:  # documents alone miss it
        alone = [ratio_error(r.models[0].nats - r.models[1].nats, r.lengths) for _, r in gaps]
        assert np.mean(np.abs([gap.nats_per_token for gap, _ in gaps]) <= 2.0 * np.array(alone)) < 0.75


def test_the_seeds_part_by_hand() -> None:
    """Two documents a fold, two folds, two seeds: sums of folds move by seeds, single documents do not."""
    x = np.array([[-10.0, -12.0, -9.0, -13.0], [-14.0, -8.0, -11.0, -11.0]])  # sums of folds: -22, -22 twice
    y = np.array([[-11.0, -11.0, -11.0, -11.0], [-12.0, -12.0, -10.0, -10.0]])  # -22 and -24, -22 and -20
    zeros, lengths, fold_of = np.zeros(4), np.full(4, 10), np.array([0, 0, 1, 1])
    models = [
        Candidate(name, "", K, v.mean(axis=0), zeros, zeros, Reported(""), by_seed=v)
        for name, K, v in (("x", 1, x), ("y", 2, y))
    ]
    work = Work("exact-marginal", 0, 0, "")
    result = ChoiceResult(tuple(models), "", lengths, 0, work, settings={"restarts": 2}, fold_of=fold_of)
    mean = x.mean(axis=0) - y.mean(axis=0)
    documents = 4 / 3 * ((mean - mean.mean()) ** 2).sum() / 40**2
    single = sum(v.var(axis=0, ddof=1).sum() / 2 for v in (x, y)) / 40**2
    joint = (2.0 + 2.0) / 2 / 40**2  # (-22, -24) and (-22, -20) have the variance 2
    within = max(documents - single, 0.0) + joint
    sums = np.array([mean[:2].sum(), mean[2:].sum()])
    between = 2.0 * ((sums - sums.mean()) ** 2).sum() / 40**2
    assert result.difference(*models).error == pytest.approx(math.sqrt(max(within, between)))
    assert result.difference(models[0], models[0]).error == 0.0
    assert LEVEL == 0.05


def test_topics_that_come_again_are_matched_one_to_one() -> None:
    phi = generator("test-again").dirichlet(np.full(30, 0.1), 4)
    assert share_again([phi, phi[[2, 0, 3, 1]]]) == 1.0
    assert share_again([phi, np.vstack([phi[:3], phi[:1]])]) == 0.5  # the first and its double are told by nothing
    assert math.isnan(share_again([phi]))


def test_a_warning_of_each_fold_is_given_once() -> None:
    def fit(K: int, documents: Any) -> Any:
        warnings.warn("few tokens", InputWarning, stacklevel=1)
        return model(K, documents)

    with pytest.warns(InputWarning, match=r"1 topic, fold 1: few tokens \(and 3 more") as said:
        heldout.choose(fit, X, [1, 2], folds=2, samples=240, coherence=False)
    assert len(said) == 1


def test_the_page_and_the_figure() -> None:
    pytest.importorskip("matplotlib")
    choice = heldout.choose(LDA, drawn(20), [1, 3], folds=2, restarts=2, samples=240)
    figure = choice.plot()
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert len(titles) == 6
    assert figure.axes[0].get_ylabel().startswith("log-likelihood")
    page = choice.to_html()
    assert page.count("<figure>") == 2
    assert page.count(f"heldout: {heldout.__version__}") == 1
    assert "1 topics" not in page + str(choice)
    assert "1 topic" in choice.models[-1].name
    lone = heldout.choose(model, X, [1, 2], folds=2, samples=240, coherence=False)
    assert len(lone.plot().axes) == 3  # exclusivity and folding in beside the likelihood


def test_documents_in_tables_and_coherence_in_other_documents() -> None:
    table = pd.DataFrame(drawn(20).toarray(), columns=[f"w{v}" for v in range(V)])
    words = list(table.columns)
    texts = [[f"w{v}" for v in np.repeat(np.arange(V), row)] for row in drawn(50).toarray()]
    choice = heldout.choose(
        LDA, table, [2, 3], folds=2, samples=240, vocabulary=words, coherence_documents=texts, other_corpus=True
    )
    assert choice.note == ""
    assert all(model.coherence > 0.0 for model in choice.models)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topics": [2]}, "give two or more different ones"),
        ({"topics": [2.5, 3]}, "topics: 2.5 is a float; give a whole number"),
        ({"topics": [0, 3]}, "each 1 or more"),
        ({"topics": 5}, "topics: 5; give a list of two or more"),
        ({"topics": "5"}, "topics: '5'; give a list of two or more"),
        ({"folds": "5"}, "folds: '5' is a str"),
        ({"folds": 2.5}, "folds: 2.5 is a float"),
        ({"folds": KFold(30)}, "folds: KFold does not split 20 documents"),
        ({"folds": ShuffleSplit(3, random_state=0)}, "are no partition of the documents"),
        ({"restarts": 0}, "0 restarts"),
        ({"restarts": 2}, "restarts: model takes no random_state"),
        ({"n_jobs": 0}, "0 processes"),
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
