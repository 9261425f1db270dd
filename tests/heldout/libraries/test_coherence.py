"""Coherence by tomotopy, against counts of documents."""

import itertools
import math

import numpy as np
import pytest

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
