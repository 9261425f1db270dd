"""LDA that grows: chains that go on from part to part, the better half of them."""

from typing import Any

import numpy as np
import pytest

from artifact.study.settings import parse
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.lda import LDA
from heldout.models.lda_growth import grow
from heldout.models.settings import LDAGrowth
from heldout.seeds import generator

SETTINGS: dict[str, Any] = {
    "training_documents": [6, 12, 20],
    "alpha_sum": 1.0,
    "beta": 0.1,
    "chains": 4,
    "first_sweeps": 8,
    "sweeps": 4,
    "optimise_every": 2,
}


def corpus() -> Corpus:
    random = np.random.default_rng(1)
    tokens = np.where(random.random((20, 10)) < 0.5, random.integers(0, 4, (20, 1)), random.integers(0, 8, (20, 10)))
    words, names = tuple(f"w{w}" for w in range(8)), tuple(f"d{d}" for d in range(20))
    return Corpus("made", words, tokens.astype(np.int32).ravel(), np.arange(21, dtype=np.int64) * 10, names)


def test_every_part_goes_on_from_the_better_half() -> None:
    grown = grow(corpus(), LDAGrowth(**SETTINGS), topics=2, seed=3)
    assert [topics.provenance["documents"] for topics in grown] == [6, 12, 20]
    assert [topics.provenance["chains"] for topics in grown] == [4, 2, 1]
    for topics in grown:
        values = topics.provenance["log_likelihood"]
        assert values == sorted(values, reverse=True)

    def chain(number: int, size: int, sweeps: int, before: LDA | None) -> LDA:
        random = generator("lda-growth", corpus="made", topics=2, seed=3, chain=number, documents=size)
        alpha, beta = (0.5, 0.1) if before is None else (before.alpha_, before.beta_)
        model = LDA(2, alpha=alpha, beta=beta, sweeps=sweeps, optimise_every=2, random_state=random)
        return model.fit(corpus().subset(range(size)), assignments=None if before is None else before.assignments_)

    first = sorted((chain(c, 6, 8, None) for c in range(4)), key=lambda m: -m.log_likelihood_[-1])
    np.testing.assert_array_equal(grown[0].phi, first[0].components_)
    number = int(grown[2].provenance["chain"])
    last = chain(number, 20, 4, chain(number, 12, 4, chain(number, 6, 8, None)))
    np.testing.assert_array_equal(grown[2].phi, last.components_)
    np.testing.assert_array_equal(grown[2].alpha, last.alpha_)


def test_a_start_is_kept_where_nothing_is_resampled() -> None:
    # the first pass resamples known tokens as it draws new ones; a topic that no token had is not lost
    start = np.array([0, 1] * 30, dtype=np.int32)
    model = LDA(2, alpha=0.5, sweeps=0, random_state=0).fit(corpus(), assignments=start)
    assert model.assignments_.shape == (200,)
    assert set(model.assignments_.tolist()) <= {0, 1}
    counts = np.bincount(model.assignments_, minlength=2)
    expected = np.zeros((2, 8))
    np.add.at(expected, (model.assignments_, corpus().tokens), 1.0)
    np.testing.assert_allclose(model.components_, (expected + 0.1) / (counts[:, None] + 0.8))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chains": 0}, "at chains: "),
        ({"training_documents": []}, "at training_documents: "),
        ({"training_documents": [6, 5]}, "ascending numbers"),
        ({"training_documents": [21]}, "ascending numbers"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        grow(corpus(), parse(LDAGrowth, {**SETTINGS, **changes}, "growing"), topics=2, seed=0)
