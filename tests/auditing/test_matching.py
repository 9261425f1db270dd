"""Words by name and by place, and documents of another corpus."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import V, drawn, likelihood, topics_of

from heldout.auditing.audit.audit import audit
from heldout.auditing.matching import FEWEST_TOKENS, unlike
from heldout.corpora.corpus import Corpus
from heldout.corpora.stream import open_documents
from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.seeds import generator
from heldout.topics import Topics


def test_words_are_matched_by_name_and_others_are_counted() -> None:
    model = topics_of()
    known = [["w1", "w2", "w1"], ["w7"]]
    result = audit(model, [*[[*words, "other"] for words in known], ["other"], []])
    assert (result.documents, result.empty, result.tokens, result.left_out) == (2, 2, 4, 3)
    for d, words in enumerate(known):
        tokens = [model.vocabulary.index(word) for word in words]
        assert result.nats["truth"][d] == pytest.approx(likelihood(model.phi, model.alpha, tokens), abs=1e-9)
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
    named = audit(model, open_documents(path, documents_vocabulary=vocabulary))
    placed = audit(replace(model, library="arrays"), X)
    np.testing.assert_allclose(named.nats["truth"], placed.nats["truth"], rtol=1e-12)


def test_models_without_words(tmp_path: Path) -> None:
    model = topics_of()
    arrays = (model.phi, model.alpha)
    named = Corpus.from_documents("own", [("a", [f"v{w}" for w in range(V)]), ("b", ["v0", "v3"])])
    by_place = audit(arrays, named)
    assert (
        by_place.nats["truth"].tolist()
        == audit(replace(model, vocabulary=named.vocabulary), named).nats["truth"].tolist()
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
    assert saved.nats["truth"].tolist() == by_place.nats["truth"].tolist()
    unnamed = Fitted(replace(model, vocabulary=tuple(map(str, range(V)))), "arrays", words_known=False)
    assert audit(unnamed, [["v0", "v3"]], vocabulary=words).documents == 1
    with pytest.raises(InputError, match="7 words, but the model has 8"):
        audit(unnamed, named, vocabulary=words[:-1])
    with pytest.raises(InputError, match="the model names its words"):
        audit(replace(unnamed, words_known=True), named, vocabulary=words)


def test_documents_of_another_corpus_and_words_in_another_order_are_refused_unless_they_are_meant() -> None:
    """The model's own documents, hundreds of times over, are never refused; those of another are."""
    rng = generator("test-audit-other")
    rank = np.arange(1.0, 2001.0)
    phi = np.stack([rng.permutation(1.0 / rank) for _ in range(3)])
    phi /= phi.sum(axis=1, keepdims=True)
    topics = Topics(phi, np.full(3, 0.5), tuple(f"w{w}" for w in range(2000)))
    theta = rng.dirichlet(topics.alpha, size=300)
    own = [rng.multinomial(40, theta[d] @ phi) for d in range(300)]
    for d in range(100):
        assert unlike(topics, np.sum(own[d : d + 30], axis=0)) == ""
    mixed = rng.permutation(2000)
    counts = np.sum(own, axis=0)
    assert "times rarer under it" in unlike(topics, counts[mixed])
    half = np.where(phi.max(axis=0) < np.quantile(phi.max(axis=0), 0.95), counts, 0)
    assert "of its probability" in unlike(topics, half)
    assert unlike(topics, np.array([FEWEST_TOKENS - 1, *np.zeros(1999, int)])) == ""  # too few to tell
    other = sp.csr_array(np.array(own)[:, mixed])
    with pytest.raises(InputError, match=r"not documents like the model's own: .*--other-corpus"):
        audit((topics.phi, topics.alpha), other, estimator="linear-time")
    result = audit((topics.phi, topics.alpha), other[:40], estimator="linear-time", other_corpus=True)
    assert result.documents == 40
