"""log Z by length: which rows, and that they are what enumeration says. A bound of 4.5 errors has a rate of 7e-6."""

from typing import Any

import numpy as np
import pytest
from made_jobs import run
from made_normalisers import log_normaliser_enumerated

from artifact.papers.welling.experiments.normalisers import experiment
from artifact.papers.welling.settings import Normalisers
from artifact.results.measurements import Measurement
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import Topics

WORDS = ("a", "b", "c", "d")


def topics() -> Topics:
    phi = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.5, 0.3, 0.2]])
    return Topics(phi, np.ones(2), WORDS)


def corpus() -> Corpus:
    return Corpus.from_documents("small", [("0", list("abcd")), ("1", list("aabbccd")), ("2", list("dd"))])


def measured(documents: Corpus, model: Topics, **settings: Any) -> list[Measurement]:
    named: dict[str, Any] = {"model": "plsa-hof", "variant": "main"}
    scores, found = run(experiment, Normalisers, documents, chains=[model], **named, **settings)
    assert scores == []
    return found


def rows(lengths: tuple[int, ...] = (1, 6), seed: int = 0, smoothing: float = 0.01) -> list[Measurement]:
    return measured(corpus(), topics(), seed=seed, lengths=lengths, samples=4000, smoothing=smoothing)


def test_log_z_at_each_length_and_at_the_mean_length() -> None:
    found = {row.at: row for row in rows() if row.quantity == "log-normaliser"}
    assert set(found) == {1, 4, 6}  # 13 tokens in 3 documents
    for length, row in found.items():
        exact = log_normaliser_enumerated(topics().smoothed(0.01), length)
        assert abs(row.value - exact) < 4.5 * row.standard_error
        assert 0.0 < row.standard_error < 0.03
        assert (row.corpus, row.model, row.variant, row.topics) == ("small", "plsa-hof", "main", 2)
        assert (row.smoothing, row.chain, row.axis) == (0.01, "none", "length")
    effective = {row.at: row.value for row in rows() if row.quantity == "log-normaliser-effective-samples"}
    assert set(effective) == set(found)
    assert all(1000.0 < value <= 4000.0 for value in effective.values())


def test_the_draws_depend_on_the_seed_and_on_no_other_length() -> None:
    assert rows((1, 6)) == [row for row in rows((1, 2, 6)) if row.at != 2]
    assert rows(seed=1)[0].value != rows(seed=0)[0].value


def test_the_prior_of_the_topics_does_not_matter() -> None:
    other = Topics(topics().phi, np.array([9.0, 0.1]), WORDS)
    options = {"seed": 0, "lengths": (3,), "samples": 50, "smoothing": 0.01}
    assert measured(corpus(), topics(), **options) == measured(corpus(), other, **options)


def test_refuses_a_corpus_without_tokens_and_a_length_of_nothing() -> None:
    empty = Corpus("empty", WORDS, np.zeros(0, np.int32), np.zeros(2, np.int64), ("0",))
    with pytest.raises(InputError, match="no tokens"):
        measured(empty, topics(), seed=0, lengths=(1,), samples=10, smoothing=0.01)
    with pytest.raises(InputError, match="at lengths/0: "):
        rows((0,))
