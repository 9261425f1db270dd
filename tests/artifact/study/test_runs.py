"""The scoring job: chains alone and averaged, whatever vocabulary the topics came with."""

from typing import Any

import numpy as np
import pytest

from artifact.study.steps import Trained, score, train
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import Topics

LDA = {"alpha_sum": 1.0, "beta": 0.1, "sweeps": 5, "chains": 2}
SPLIT: dict[str, Any] = {"seed": 0, "test_documents": 4}


@pytest.fixture
def corpus() -> Corpus:
    random = np.random.default_rng(0)
    return Corpus.from_documents("tiny", [(f"d{d}", [f"w{w}" for w in random.zipf(1.5, 40) % 12]) for d in range(12)])


def permuted(topics: Trained) -> Topics:
    """Return the same topics with their words in another order, as another library may hand them over."""
    assert isinstance(topics, Topics)
    order = np.random.default_rng(1).permutation(len(topics.vocabulary))
    words = tuple(topics.vocabulary[i] for i in order)
    return Topics(np.ascontiguousarray(topics.phi[:, order]), topics.alpha, words, topics.provenance)


def test_chains_are_scored_singly_and_averaged(corpus: Corpus) -> None:
    chains = train(corpus, "lda", topics=3, settings=LDA, **SPLIT)
    rows = score(corpus, chains, "lda", "v", settings={"sweeps": 5}, **SPLIT)
    assert sorted((row.chain, row.evaluator, row.samples) for row in rows) == [
        ("0", "full-folding-in", 1),
        ("0", "half-folding-in", 1),
        ("1", "full-folding-in", 1),
        ("1", "half-folding-in", 1),
        ("all", "full-folding-in", 2),
        ("all", "half-folding-in", 2),
    ]
    for chain in chains:
        alone = score(corpus, [chain], "lda", "v", settings={"sweeps": 5}, **SPLIT)
        name = str(chain.provenance["chain"])
        together = [row.perplexity for row in rows if row.chain == name]
        assert [row.perplexity for row in alone if row.chain == name] == together


def test_the_order_of_the_vocabulary_changes_no_score(corpus: Corpus) -> None:
    chains = train(corpus, "lda", topics=3, settings=LDA, **SPLIT)
    straight = score(corpus, chains, "lda", "v", settings={"sweeps": 5}, **SPLIT)
    crossed = score(corpus, [permuted(chain) for chain in chains], "lda", "v", settings={"sweeps": 5}, **SPLIT)
    assert [row.perplexity for row in crossed] == pytest.approx([row.perplexity for row in straight], rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**LDA, "sweep": 3}, "at sweep: "),
        ({**LDA, "sweeps": "many"}, "at sweeps: "),
        ({**LDA, "chains": 0}, "at chains: "),
        ({"beta": 0.1}, "at alpha_sum: .*sweeps, chains"),
    ],
)
def test_bad_settings_are_refused(corpus: Corpus, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(corpus, "lda", topics=3, settings=settings, **SPLIT)
