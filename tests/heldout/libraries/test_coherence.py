"""Coherence by tomotopy, against counts of documents."""

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.corpora.corpus import Corpus
from heldout.libraries.coherence import coherence
from heldout.topics import Topics

DOCUMENTS = [["ape", "bear", "ape"], ["ape", "bear", "cat"], ["cat", "dog"], ["dog", "bear"], []]
VOCABULARY = ("ape", "bear", "cat", "dog")


def test_it_is_the_mean_over_pairs_of_words_in_documents() -> None:
    def share(*words: str) -> float:
        held = [set(document) for document in DOCUMENTS if document]
        return sum(set(words) <= document for document in held) / len(held)

    def pair(v: str, w: str) -> float:
        both = share(v, w)
        return math.log(both / (share(v) * share(w))) / -math.log(both) if both else -1.0

    corpus = Corpus.from_documents("tiny", [(f"d{d}", words) for d, words in enumerate(DOCUMENTS)])
    topics = Topics(np.full((1, 4), 0.25), np.ones(1), corpus.vocabulary)
    expected = np.mean([pair(v, w) for v, w in itertools.combinations(VOCABULARY, 2)])
    # tomotopy adds 1e-12 to a share of documents: -0.95 and not -1 where two words never meet
    never = sum(share(v, w) == 0 for v, w in itertools.combinations(VOCABULARY, 2)) / 6
    found = coherence([topics, topics], [corpus])
    assert found.values == [pytest.approx(expected, abs=0.1 * never + 1e-6)] * 2
    assert (found.found, found.words) == (4, 4)
    more = Topics(np.full((1, 5), 0.2), np.ones(1), (*corpus.vocabulary, "emu"))
    in_windows = coherence([more], [corpus], "c_v")
    assert (in_windows.found, in_windows.words) == (4, 5)
    assert 0.0 <= in_windows.values[0] <= 1.0


def test_gensims_c_v_of_the_same_is_another_number_and_the_page_has_both() -> None:
    dictionary, models = pytest.importorskip("gensim.corpora").Dictionary, pytest.importorskip("gensim.models")
    rng, words = np.random.default_rng(0), [f"v{v:02d}" for v in range(40)]
    documents = [[words[v] for v in np.r_[rng.integers(0, 20, 200), rng.integers(20, 40, 200)]] for _ in range(60)]
    pure, mixed = np.full((2, 40), 1e-4), np.full((2, 40), 1e-4)
    pure[0, :10] = pure[1, 20:30] = 1.0
    mixed[0, :10] = mixed[1, 5:10] = mixed[1, 25:30] = 1.0
    values = []
    for weights in (pure, mixed):
        tops = [[words[v] for v in np.argsort(-row, kind="stable")[:10]] for row in weights]
        model = (weights / weights.sum(axis=1, keepdims=True), 1.0)
        given: dict[str, Any] = {"vocabulary": words, "coherence_documents": documents, "coherence_measure": "c_v"}
        values.append(heldout.rank([model, model], documents[:2], **given).models[0].coherence)
        of_gensim = models.CoherenceModel(
            topics=tops, texts=documents, dictionary=dictionary(documents), coherence="c_v", processes=1
        )
        values.append(of_gensim.get_coherence())
    page = (Path(__file__).parents[3] / "docs" / "documents.md").read_text(encoding="utf-8")
    said = re.search(r"([0-9.]+) by tomotopy and ([0-9.]+) by gensim, .* ([0-9.]+) and ([0-9.]+)\.", page)
    assert said is not None
    assert [float(number) for number in said.groups()] == pytest.approx(values, abs=5e-4)
