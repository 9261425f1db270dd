"""Words by name and by place, and documents of another corpus."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import V, drawn, likelihood, topics_of

import heldout
from heldout.auditing.audit.audit import audit
from heldout.auditing.co_occurrence import (
    CUT,
    MOST_DOCUMENTS,
    MOST_TOKENS,
    PERMUTATIONS,
    RANKS,
    STEPS,
    co_occurrence,
    flat_topics,
    least_co_occurrence,
    sample_of,
)
from heldout.auditing.matching import LEAST_LIKENESS, TELLING, check_like, likeness
from heldout.corpora.corpus import Corpus
from heldout.corpora.documents import read_documents
from heldout.errors import InputError, InputWarning
from heldout.evaluators.bidirectional import simulate
from heldout.libraries import Fitted
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Ints


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


def test_unused_topics_spoil_the_likeness_of_neither_right_nor_wrong_documents(made: tuple[Topics, Any]) -> None:
    topics, own = made
    assert flat_topics(topics.phi).tolist() == [3, 4, 5, 6, 7]
    rng = generator("test-audit-likeness")
    half = np.arange(2000)
    half[::2] = rng.permutation(half[::2])
    orders = [rng.permutation(2000), np.arange(2000)[::-1], np.roll(np.arange(2000), 1), half]
    for d in range(0, 280, 20):
        words = own[d : d + 20].sum(axis=0)
        assert likeness(topics.phi, words) > LEAST_LIKENESS + 0.1
        assert max(likeness(topics.phi, words[order]) for order in orders) < LEAST_LIKENESS - 0.1


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
        with pytest.raises(InputError, match=r"not documents like the model's own: .* 5 of whose 8 .*--other-corpus"):
            refuses()
    meant = audit(model, other[:40], **options, other_corpus=True)
    assert meant.documents == 40
    flat = "5 of 8 topics are nearly uniform, as topics that no document uses: 3, 4, 5, 6, 7 (from 0)."
    assert meant.to_json()["flat_topics"] == [3, 4, 5, 6, 7]
    assert f"Of tuple, 8 topics (1) {flat}" in " ".join(str(heldout.rank([model, model], own, **options)).split())
    wrong = heldout.log_likelihood(model, other[:40], **options, other_corpus=True)
    assert heldout.log_likelihood(model, own[:40], **options) > wrong + 0.5
    with pytest.warns(InputWarning, match=r"their likeness is -\d\.\d\d, .* but 10 documents of 600 tokens are"):
        assert audit(model, other[:10], **options).documents == 10


def test_few_tokens_are_a_warning_and_few_words_tell_nothing(made: tuple[Topics, Any]) -> None:
    topics, own = made
    audit((topics.phi, topics.alpha), own[:1], estimator="linear-time")
    with pytest.warns(InputWarning, match="but 1 documents of 60 tokens are too few to tell"):
        audit((topics.phi, topics.alpha), own[:1, ::-1], estimator="linear-time")
    few = topics.phi[:, :TELLING] / topics.phi[:, :TELLING].sum(axis=1, keepdims=True)
    assert audit((few, topics.alpha), own[:40, TELLING - 1 :: -1], estimator="linear-time").documents == 40


def by_frequency(seed: int, topics: int = 20, words: int = 1500) -> tuple[Topics, Any]:
    """Topics of words that stand in order of frequency, and 60 documents of 60 tokens drawn from them."""
    rng = generator("test-audit-by-frequency", seed=seed, topics=topics)
    phi = rng.gamma(0.1, size=(topics, words)) / (np.arange(words) + 3.0)
    phi /= phi.sum(axis=1, keepdims=True)
    phi = phi[:, np.argsort(-phi.sum(axis=0))]
    theta = rng.dirichlet(np.full(topics, 0.1), size=60)
    own = np.array([rng.multinomial(60, weights @ phi) for weights in theta])
    return Topics(phi, np.full(topics, 0.1), tuple(f"w{w}" for w in range(words))), own


@pytest.mark.parametrize("seed", range(5))
def test_words_that_do_not_occur_together_as_the_topics_have_them_are_refused(seed: int) -> None:
    topics, own = by_frequency(seed)
    _, others = by_frequency(seed + 100)
    model, options = (topics.phi, topics.alpha), dict[str, Any](estimator="linear-time", probability=False)
    for documents in (own, own[:20]):
        assert audit(model, documents, **options).documents == len(documents)
        for wrong in (np.roll(documents, 1, axis=1), others[: len(documents)]):
            assert likeness(topics.phi, wrong.sum(axis=0)) > LEAST_LIKENESS
            with pytest.raises(InputError, match=r"own: .*whether they stand together.*--other-corpus"):
                audit(model, wrong, **options)
            assert audit(model, wrong, other_corpus=True, **options).documents == len(documents)
    with pytest.raises(InputError, match="whether they stand together"):
        heldout.log_likelihood(model, others, estimator="linear-time")
    with pytest.raises(InputError, match="whether they stand together"):
        heldout.rank([model, model], others, estimator="linear-time")


@pytest.mark.parametrize("seed", range(5))
def test_topics_that_cannot_tell_refuse_nobody(seed: int) -> None:
    topics, own = by_frequency(seed)
    pooled = topics.phi.mean(axis=0, keepdims=True)
    nearly = 0.9 * pooled + 0.1 * topics.phi
    shuffled = np.roll(own, 1, axis=1)
    for phi in (pooled, np.repeat(pooled, 5, axis=0), nearly):
        assert audit((phi, 1.0), own, estimator="linear-time", probability=False).documents == 60
        sample = sampled(shuffled)
        assert least_co_occurrence(Topics(phi, np.ones(len(phi)), topics.vocabulary), *sample) == -math.inf


@pytest.mark.parametrize("concentration", [0.01, 0.1, 1.0, 10.0])
def test_a_models_own_draws_are_taken(concentration: float) -> None:
    topics, _ = by_frequency(0, topics=40)
    topics = replace(topics, alpha=np.full(40, concentration))
    for seed in range(5):
        drawn = simulate(topics, np.full(40, 50), generator("test-audit-draws", seed=seed))[0].counts()
        check_like(topics, np.asarray(drawn.sum(axis=0)).ravel().astype(int), 40, *sampled(drawn.toarray()), "m: d")


def test_a_sample_is_of_the_first_documents_with_tokens() -> None:
    def first_of(lengths: list[int]) -> tuple[Corpus, list[int]]:
        empty = Corpus("own", ("w",), np.zeros(0, np.int32), np.zeros(1, np.int64), ())
        streams = [np.zeros(length, np.int32) for length in lengths]
        sample, places = sample_of(empty.with_streams(streams, tuple(map(str, range(len(lengths))))))
        return sample, places.tolist()

    sample, places = first_of([0, *[CUT + 5] * 199])
    assert places == list(range(1, MOST_TOKENS // CUT + 1))
    assert sample.n_tokens == MOST_TOKENS
    assert first_of([1] * 200)[1] == list(range(MOST_DOCUMENTS))
    assert len(first_of([CUT - 1] * 50)[1]) == MOST_TOKENS // CUT + 1  # the last one goes beyond


@pytest.mark.parametrize("seed", range(3))
def test_co_occurrence_is_the_share_of_the_gain_that_exchanged_words_have_not(seed: int) -> None:
    """A slow twin: theta by EM over all words, document by document."""
    topics, own = by_frequency(seed, topics=4, words=150)
    counts = own[:6]
    sample, _ = sampled(counts)
    phi = np.vstack([topics.phi, np.full(150, 1.0 / 150)])

    def most(n: Any) -> float:
        theta = np.full(5, 0.2)
        for _ in range(STEPS):
            theta *= phi @ (n / (theta @ phi)) / n.sum()
        return float(n @ np.log(theta @ phi))

    def gain(counts: Any) -> float:
        return sum(most(n) for n in counts) - most(counts.sum(axis=0))

    found = co_occurrence(topics.phi, sample)
    rng, total = generator("audit-co-occurrence"), counts.sum(axis=0)
    used = np.flatnonzero(total)
    by_chance = []
    for _ in range(PERMUTATIONS):
        order = np.lexsort((rng.random(len(used)), -total[used]))
        near = np.argsort(np.arange(len(used)) + rng.uniform(0.0, RANKS, len(used)), kind="stable")
        exchanged = np.zeros_like(counts)
        exchanged[:, used[order[near]]] = counts[:, used[order]]
        by_chance.append(gain(exchanged))
    more = gain(counts) - float(np.mean(by_chance))
    assert found.gain == pytest.approx(more / counts.sum(), rel=1e-9)
    assert found.share == pytest.approx(more / gain(counts), rel=1e-9)


def sampled(counts: Any) -> tuple[Corpus, Ints]:
    """Return the sample of documents, rows of counts, and their places."""
    return sample_of(read_documents(counts.astype(int)))


@pytest.mark.parametrize("seed", range(5))
def test_few_tokens_of_many_words_of_a_made_model_are_its_own_and_permuted_are_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    phi, alpha = rng.dirichlet(np.full(5000, 0.05), size=50), np.full(50, 0.1)
    own = np.array([rng.multinomial(100, theta @ phi) for theta in rng.dirichlet(alpha, size=40)])
    options: dict[str, Any] = {"estimator": "linear-time"}
    assert audit((phi, alpha), own, **options).documents == 40
    with pytest.raises(InputError, match="not documents like the model's own"):
        audit((phi, alpha), own[:, rng.permutation(5000)], **options)
