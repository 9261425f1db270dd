"""Words by name and by place, and documents of another corpus."""

import functools
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import V, drawn, likelihood, topics_of
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.model_selection import GridSearchCV

import heldout
from heldout.auditing import matching
from heldout.auditing.audit.audit import audit
from heldout.auditing.co_occurrence import PERMUTATIONS, RANKS, STEPS, co_occurrence, flat_topics, score
from heldout.auditing.matching import LEAST_SCORE, TELLING, TELLING_CO_OCCURRENCE, check_like
from heldout.auditing.word_order import EM_STEPS, REPEATED, UNIFORM_SHARE, _occurrences, word_order
from heldout.corpora.corpus import Corpus
from heldout.corpora.documents import read_documents
from heldout.errors import InputError, InputWarning
from heldout.evaluators.bidirectional import simulate
from heldout.libraries import Fitted
from heldout.libraries.read import fitted
from heldout.seeds import generator
from heldout.topics import Topics


def test_words_are_matched_by_name_and_others_are_counted() -> None:
    model = topics_of()
    known = [["w1", "w2", "w1"], ["w7"]]
    result = audit(model, [*[[*words, "other"] for words in known], ["other"], []])
    assert (result.documents, result.empty, result.tokens, result.left_out) == (2, 2, 4, 3)
    for d, words in enumerate(known):
        tokens = [model.vocabulary.index(word) for word in words]
        assert result.nats["likelihood"][d] == pytest.approx(likelihood(model.phi, model.alpha, tokens), abs=1e-9)
    assert [document.left_out for document in result.most_different] == [1, 1]
    assert {document.words for document in result.most_different} == {("w1", "w2"), ("w7",)}


@pytest.mark.parametrize("library", ["tomotopy", "MALLET"])
def test_a_librarys_own_numbers_of_words_are_not_the_documents(library: str, tmp_path: Path) -> None:
    topics = topics_of()
    model, X = Fitted(topics, library), drawn(5)
    with pytest.raises(InputError, match=f"{library} gives words numbers of its own; name the documents' words"):
        audit(model, X)
    path, vocabulary = tmp_path / "counts.npz", tmp_path / "words.txt"
    sp.save_npz(path, sp.csr_matrix(X[:, ::-1]))
    vocabulary.write_text("\n".join(topics.vocabulary[::-1]) + "\n")
    named = audit(model, read_documents(path, documents_vocabulary=vocabulary))
    placed = audit(replace(model, library="arrays"), X)
    np.testing.assert_allclose(named.nats["likelihood"], placed.nats["likelihood"], rtol=1e-12)


def test_models_without_words(tmp_path: Path) -> None:
    model = topics_of()
    arrays = (model.phi, model.alpha)
    named = Corpus.from_documents("own", [("a", [f"v{w}" for w in range(V)]), ("b", ["v0", "v3"])])
    by_place = audit(arrays, named)
    assert (
        by_place.nats["likelihood"].tolist()
        == audit(replace(model, vocabulary=named.vocabulary), named).nats["likelihood"].tolist()
    )
    assert by_place.most_different[0].words[0].startswith("v")
    words = [f"v{w}" for w in range(V)]
    assert audit(arrays, [["v0", "v3"]], vocabulary=words).documents == 1
    with pytest.raises(InputError, match="texts, but the model names no words"):
        audit(arrays, [["v0"]])
    with pytest.raises(InputError, match="7"):
        audit(arrays, [["v0"]], vocabulary=words[:-1])
    np.savez(tmp_path / "model.npz", phi=model.phi, alpha=model.alpha)
    saved = audit(tmp_path / "model.npz", named)
    assert saved.model == "model.npz"
    assert saved.nats["likelihood"].tolist() == by_place.nats["likelihood"].tolist()
    unnamed = Fitted(replace(model, vocabulary=tuple(map(str, range(V)))), "arrays", words_known=False)
    assert audit(unnamed, [["v0", "v3"]], vocabulary=words).documents == 1
    with pytest.raises(InputError, match="7 words, but the model has 8"):
        audit(unnamed, named, vocabulary=words[:-1])
    with pytest.raises(InputError, match="the model names its words"):
        audit(replace(unnamed, words_known=True), named, vocabulary=words)


@pytest.fixture(scope="module")
def made() -> tuple[Topics, Any]:
    """Three topics of 2,000 words beside five that no document uses, and 300 documents of the three."""
    rng = generator("test-audit-other")
    rank = np.arange(1.0, 2001.0)
    phi = np.stack([*(rng.permutation(1.0 / rank) for _ in range(3)), *rng.uniform(0.9, 1.1, (5, 2000))])
    phi /= phi.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(3, 0.5), size=300)
    own = np.array([rng.multinomial(60, theta[d] @ phi[:3]) for d in range(300)])
    return Topics(phi, np.full(8, 0.5), tuple(f"w{w}" for w in range(2000))), own


def test_unused_topics_spoil_the_order_of_neither_right_nor_wrong_documents(made: tuple[Topics, Any]) -> None:
    topics, own = made
    assert flat_topics(topics.phi).tolist() == [3, 4, 5, 6, 7]
    rng = generator("test-audit-order")
    orders = [rng.permutation(2000), np.arange(2000)[::-1], np.roll(np.arange(2000), 1)]
    for d in range(0, 280, 40):
        right = word_order(topics.phi, read_documents(own[d : d + 20]))
        assert right.score > 15.0
        assert right.score == pytest.approx(right.expected, rel=0.2)
        for order in orders:
            assert word_order(topics.phi, read_documents(own[d : d + 20][:, order])).score < right.score / 4.0
            with pytest.raises(InputError, match="these are not documents like"):
                check_like(topics, read_documents(own[d : d + 20][:, order]), "m: d")


@pytest.mark.parametrize("part", [1, 7, 30])
def test_words_are_counted_by_parts(made: tuple[Topics, Any], part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    topics, own = made
    counts = own[:30].copy()
    counts[3] = 0
    documents = read_documents(counts)
    whole = word_order(topics.phi, documents)
    monkeypatch.setattr("heldout.auditing.word_order.PART", part)
    tokens, frequencies = _occurrences(documents)
    assert np.array_equal(tokens, np.minimum(counts, REPEATED).sum(axis=0))
    assert np.array_equal(frequencies, (counts > 0).sum(axis=0))
    parted = word_order(topics.phi, documents)
    assert (parted.score, parted.expected, parted.rare) == (whole.score, whole.expected, whole.rare)


def test_the_score_of_an_order_is_that_of_all_orders_of_a_half(made: tuple[Topics, Any]) -> None:
    """A slow twin: moments of 4,000 random orders, errors 1/63 and 1/89 of a deviation; 4.5 of these: 1e-5."""
    topics, own = made
    counts = own[:30, :60]
    phi = topics.phi[:, :60] / topics.phi[:, :60].sum(axis=1, keepdims=True)
    order = word_order(phi, read_documents(counts))
    half, words = generator("audit-word-order").permutation(60) % 2, counts.sum(axis=0)
    spread, p = np.minimum(counts, REPEATED).sum(axis=0), np.zeros(60)
    both = np.vstack([phi, np.full(60, 1.0 / 60)])
    for side in (0, 1):
        theta = np.full(9, 1.0 / 9)
        for _ in range(EM_STEPS):
            here = half == side
            theta *= both[:, here] @ (words[here] / (theta @ both[:, here])) / words[here].sum()
        p[half != side] = theta / theta.sum() @ both[:, half != side]
    logs = np.log((1.0 - UNIFORM_SHARE) * p / p.sum() + UNIFORM_SHARE / 60)
    rng, scores = generator("test-audit-order-twin"), np.zeros(4000)
    for i in range(len(scores)):
        scores[i] = sum(rng.permutation(spread[half == side]) @ logs[half == side] for side in (0, 1))
    assert order.score == pytest.approx((spread @ logs - scores.mean()) / scores.std(), abs=0.07 * (1.0 + order.score))


@pytest.mark.parametrize("seed", range(2))
def test_half_of_the_words_in_another_order_are_refused_by_the_frequent_ones(seed: int) -> None:
    """Of about 50 frequent words three in eight are then rare; that so few are as to pass, 7, has probability 1e-4."""
    rng = generator("test-audit-half", seed=seed)
    phi = rng.gamma(0.5, size=(5, 1500)) / (rng.permutation(1500) + 3.0)
    phi /= phi.sum(axis=1, keepdims=True)
    own = np.array([rng.multinomial(80, theta @ phi) for theta in rng.dirichlet(np.full(5, 0.5), size=120)])
    half = np.arange(1500)
    half[::2] = rng.permutation(half[::2])
    topics = Topics(phi, np.full(5, 0.5), tuple(f"w{w}" for w in range(1500)))
    right, wrong = (word_order(phi, read_documents(of)) for of in (own, own[:, half]))
    assert right.rare == 0
    assert len(right.frequent) > 40
    assert wrong.score > LEAST_SCORE
    assert wrong.rare > 0.15 * len(wrong.frequent)
    check_like(topics, read_documents(own), "m: d")
    with pytest.raises(InputError, match="most frequent words"):
        check_like(topics, read_documents(own[:, half]), "m: d")
    with pytest.warns(InputWarning, match="most frequent words"):
        check_like(topics, read_documents(own[:, half]), "m: d", refuse=False)


@pytest.mark.parametrize(("size", "topics"), [(20, 1), (20, 40), (60, 5)])
def test_few_documents_are_taken_by_a_model_of_few_documents(size: int, topics: int) -> None:
    """Fitted to 66 documents of Zipf's words: 24 right samples, none refused or warned of; 24 permuted, all refused.

    The guard's own rates are 1 in 1,000 at most, and 1 in 44 (`LEAST_SCORE`, one-sided) before frequent words are
    looked at; these seeds are fixed.
    """
    rng = generator("test-audit-few", size=size, topics=topics)
    phi = rng.gamma(0.1, size=(8, 1000)) / (np.arange(1000) + 3.0)
    phi /= phi.sum(axis=1, keepdims=True)
    counts = np.array(
        [rng.multinomial(60, theta @ phi) for theta in rng.dirichlet(np.full(8, 0.1), size=66 + 8 * size)]
    )
    model = fitted(LatentDirichletAllocation(topics, random_state=0).fit(counts[:66])).topics
    for own in np.split(counts[66:], 8):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_like(model, read_documents(own), "m: d")
        with pytest.raises(InputError, match="these are not documents like the model's own"):
            check_like(model, read_documents(own[:, rng.permutation(1000)]), "m: d")


def test_documents_of_another_corpus_and_words_in_another_order_are_refused_unless_they_are_meant(
    made: tuple[Topics, Any],
) -> None:
    topics, own = made
    model, other = (topics.phi, topics.alpha), own[:, ::-1]
    options: dict[str, Any] = {"estimator": "linear-time"}
    for refuses in (
        lambda: audit(model, other[:40], **options),
        lambda: heldout.rank([model, model], other[:40], **options),
        lambda: heldout.log_likelihood(model, other[:40], **options),
    ):
        with pytest.raises(
            InputError, match=r"not documents like the model's own: .*; 5 of the model's 8 .*--other-corpus"
        ):
            refuses()
    meant = audit(model, other[:40], **options, other_corpus=True)
    assert meant.documents == 40
    flat = "5 of 8 topics are nearly uniform, as topics that no document uses: 3, 4, 5, 6, 7 (from 0)."
    assert meant.to_json()["flat_topics"] == [3, 4, 5, 6, 7]
    assert f"Of tuple, 8 topics (1) {flat}" in " ".join(str(heldout.rank([model, model], own, **options)).split())
    wrong = heldout.log_likelihood(model, other[:40], **options, other_corpus=True)
    assert heldout.log_likelihood(model, own[:40], **options) > wrong + 0.5


def test_few_tokens_are_a_warning_and_few_words_tell_nothing(made: tuple[Topics, Any]) -> None:
    topics, own = made
    audit((topics.phi, topics.alpha), own[:1], estimator="linear-time")
    short = np.where(np.cumsum(own[:20, ::-1], axis=1) <= 5, own[:20, ::-1], 0)

    def check(documents: Any) -> None:
        for document in documents:
            check_like(topics, read_documents(document[None]), "m: d")

    with pytest.warns(InputWarning, match=r"but 1 document of \d tokens are too few to tell"):
        check(short)
    with pytest.raises(InputError, match="these are not documents like"):
        check_like(topics, read_documents(own[:1, ::-1]), "m: d")
    few = topics.phi[:, :TELLING] / topics.phi[:, :TELLING].sum(axis=1, keepdims=True)
    assert audit((few, topics.alpha), own[:40, TELLING - 1 :: -1], estimator="linear-time").documents == 40


def by_frequency(seed: int, topics: int = 20, words: int = 1500, documents: int = 60) -> tuple[Topics, Any]:
    """Topics of words that stand in order of frequency, and documents of 60 tokens drawn from them."""
    rng = generator("test-audit-by-frequency", seed=seed, topics=topics)
    phi = rng.gamma(0.1, size=(topics, words)) / (np.arange(words) + 3.0)
    phi /= phi.sum(axis=1, keepdims=True)
    phi = phi[:, np.argsort(-phi.sum(axis=0))]
    theta = rng.dirichlet(np.full(topics, 0.1), size=documents)
    own = np.array([rng.multinomial(60, weights @ phi) for weights in theta])
    return Topics(phi, np.full(topics, 0.1), tuple(f"w{w}" for w in range(words))), own


@pytest.mark.parametrize("seed", range(2))
def test_words_that_do_not_occur_together_as_the_topics_have_them_are_not_passed_over(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics, own = by_frequency(seed, documents=200)
    _, others = by_frequency(seed + 100, documents=200)
    model, options = (topics.phi, topics.alpha), dict[str, Any](estimator="linear-time", probability=False)
    assert audit(model, own, **options).documents == len(own)
    for wrong in (np.roll(own, 1, axis=1), others):
        assert word_order(topics.phi, read_documents(wrong)).score > 10.0
        for refuses in (audit, heldout.log_likelihood):
            with pytest.raises((InputError, InputWarning), match="occur together"):  # warnings are errors here
                refuses(model, wrong, estimator="linear-time")
        assert audit(model, wrong, other_corpus=True, **options).documents == len(own)
    monkeypatch.setattr(matching, "TELLING_CO_OCCURRENCE", matching.DOUBTFUL)
    with pytest.raises(InputError, match=r"occur together.*--other-corpus"):
        heldout.rank([model, model], others, estimator="linear-time")


@pytest.mark.parametrize("seed", range(2))
def test_topics_that_cannot_tell_refuse_nobody(seed: int) -> None:
    topics, own = by_frequency(seed)
    pooled = topics.phi.mean(axis=0, keepdims=True)
    nearly = 0.9 * pooled + 0.1 * topics.phi
    shuffled = read_documents(np.roll(own, 1, axis=1))
    for phi in (pooled, np.repeat(pooled, 5, axis=0), nearly):
        assert audit((phi, 1.0), own, estimator="linear-time", probability=False).documents == 60
        told = Topics(phi, np.ones(len(phi)), topics.vocabulary)
        assert co_occurrence(told, shuffled, np.arange(100), drawn=True) < TELLING_CO_OCCURRENCE
        check_like(told, shuffled, "m: d")


@pytest.mark.parametrize("concentration", [0.01, 1.0, 10.0])
def test_a_models_own_draws_are_taken(concentration: float) -> None:
    topics, _ = by_frequency(0, topics=40)
    topics = replace(topics, alpha=np.full(40, concentration))
    for seed in range(5):
        drawn = simulate(topics, np.full(40, 50), generator("test-audit-draws", seed=seed))[0].counts()
        check_like(topics, read_documents(drawn.astype(int)), "m: d")


@pytest.mark.parametrize("seed", range(2))
def test_co_occurrence_is_the_gain_beside_that_of_exchanged_words(seed: int) -> None:
    """A slow twin: theta by EM, document by document."""
    topics, own = by_frequency(seed, topics=4, words=150)
    words = np.arange(2, 42)
    counts = own[:6, words].astype(float)
    phi = topics.phi[:, words] / topics.phi[:, words].sum(axis=1, keepdims=True)
    both = np.vstack([phi, np.full(40, 1.0 / 40)])

    def most(n: Any) -> float:
        theta = np.full(5, 0.2)
        for _ in range(STEPS):
            theta *= both @ (n / (theta @ both)) / n.sum()
        return float(n @ np.log(theta @ both))

    def gain(counts: Any) -> float:
        return sum(most(n) for n in counts) - most(counts.sum(axis=0))

    rng, total = generator("audit-co-occurrence"), counts.sum(axis=0)
    gains = []
    for _ in range(PERMUTATIONS):
        order = np.lexsort((rng.random(40), -total))
        near = np.argsort(np.arange(40) + rng.uniform(0.0, RANKS, 40), kind="stable")
        exchanged = np.zeros_like(counts)
        exchanged[:, order[near]] = counts[:, order]
        gains.append(gain(exchanged))
    deviation = np.std(gains, ddof=1) * math.sqrt(1.0 + 1.0 / PERMUTATIONS)
    assert score(phi, counts) == pytest.approx((gain(counts) - np.mean(gains)) / deviation, rel=1e-6)
    assert co_occurrence(topics, read_documents(own[:6]), words) == pytest.approx(score(phi, counts), rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_few_tokens_of_many_words_of_a_made_model_are_its_own_and_permuted_are_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    phi, alpha = rng.dirichlet(np.full(5000, 0.05), size=50), np.full(50, 0.1)
    own = np.array([rng.multinomial(100, theta @ phi) for theta in rng.dirichlet(alpha, size=40)])
    options: dict[str, Any] = {"estimator": "linear-time"}
    assert audit((phi, alpha), own, **options).documents == 40
    with pytest.raises(InputError, match="not documents like the model's own"):
        audit((phi, alpha), own[:, rng.permutation(5000)], **options)


def test_in_folds_of_one_corpus_other_words_are_a_warning(made: tuple[Topics, Any]) -> None:
    topics, own = made

    def fit(K: int, _: Any) -> Any:
        return topics.phi[:K, ::-1], 0.5

    with pytest.warns(InputWarning, match="may not be documents like"):
        choice = heldout.choose(fit, own[:40], [1, 3], folds=2, estimator="linear-time", progress=False)
    assert len(choice.models) == 2
    with pytest.raises(InputError, match="not documents like"):
        heldout.log_likelihood(fit(3, None), own[:40], estimator="linear-time")


def test_a_search_over_few_documents_has_finite_scores(made: tuple[Topics, Any]) -> None:
    _, own = made
    score = functools.partial(heldout.log_likelihood, estimator="linear-time")
    lda = LatentDirichletAllocation(max_iter=3, random_state=0)
    search = GridSearchCV(lda, {"n_components": [2, 5]}, scoring=score, cv=2).fit(own[:60])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
