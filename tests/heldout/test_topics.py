"""Topics and components refuse what they cannot stand for, and keep the rest exactly."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.folding_in import full_folding_in
from heldout.topics import Components, Topics, load_topics
from heldout.typing import Floats

WORDS = ("a", "b", "c")
PHI = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])
WEIGHTS = np.array([[1.0, -2.0], [0.0, 0.5], [3.0, 0.0]])


@pytest.mark.parametrize(
    ("phi", "alpha", "vocabulary", "message"),
    [
        (PHI * 1.001, [1.0, 1.0], WORDS, "row 0 of phi does not sum to 1"),
        (PHI - np.array([[0.6, -0.6, 0.0], [0, 0, 0]]), [1.0, 1.0], WORDS, "negative or undefined"),
        (np.where(PHI == 1.0, np.nan, PHI), [1.0, 1.0], WORDS, "negative or undefined"),
        (PHI, [1.0, 0.0], WORDS, "at least 1e-300"),
        (PHI, [1.0, np.inf], WORDS, "at least 1e-300"),
        (PHI, [1.0], WORDS, "phi is"),
        (PHI, [1.0, 1.0], WORDS[:2], "phi is"),
        (np.zeros((0, 3)), [], WORDS, "row 0"),
    ],
)
def test_refuses_what_is_not_topics(
    phi: np.ndarray, alpha: list[float], vocabulary: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Topics(phi, np.array(alpha), vocabulary)


def test_smoothing_adds_the_constant_and_renormalises() -> None:
    smoothed = Topics(PHI, np.ones(2), WORDS).smoothed(0.1)
    np.testing.assert_allclose(smoothed.phi, (PHI + 0.1) / 1.3, rtol=1e-15)
    assert smoothed.provenance["smoothing"] == 0.1


@pytest.mark.parametrize(
    ("weights", "centre", "vocabulary", "message"),
    [
        (np.where(WEIGHTS == 3.0, np.inf, WEIGHTS), [0.0, 0.0], WORDS, "infinite or undefined"),
        (WEIGHTS, [0.0, np.nan], WORDS, "infinite or undefined"),
        (WEIGHTS, [0.0], WORDS, "centre of 1"),
        (WEIGHTS, [0.0, 0.0], WORDS[:2], "2 words"),
        (np.zeros((3, 0)), [], WORDS, "one component"),
    ],
)
def test_refuses_what_is_not_components(
    weights: np.ndarray, centre: list[float], vocabulary: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Components(weights, np.array(centre), vocabulary)


def made(kind: str, shape: tuple[int, int], random: np.random.Generator) -> Topics | Components:
    words, provenance = tuple(f"w{v}" for v in range(shape[0])), {"seed": 1}
    if kind == "components":
        return Components(random.standard_normal(shape), random.standard_normal(shape[1]), words, provenance)
    phi = random.dirichlet(np.full(shape[0], 0.05), shape[1])
    return Topics(phi, random.gamma(1.0, 1.0, shape[1]), words, provenance)


@settings(max_examples=20)
@given(
    kind=st.sampled_from(["topics", "components"]),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 12)),
    seed=st.integers(0, 999),
)
def test_saves_and_loads_bit_for_bit(
    kind: str, shape: tuple[int, int], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    saved, folder = made(kind, shape, np.random.default_rng(seed)), tmp_path_factory.mktemp("saved")
    for name in ("a.npz", "b.npz"):
        saved.save(folder / name)
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    loaded = load_topics(folder / "a.npz")
    assert type(loaded) is type(saved)
    assert loaded.n_topics == shape[1]
    for name, value in vars(saved).items():
        own = getattr(loaded, name)
        assert own.tobytes() == value.tobytes() if isinstance(value, np.ndarray) else own == value


def test_what_a_file_holds_is_told_by_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    Topics(np.full((1, 3), 1.0 / 3.0), np.ones(1), WORDS).save(path)
    assert isinstance(load_topics(path), Topics)
    with pytest.raises(InputError, match="not a components file"):
        Components.load(path)
    with pytest.raises(InputError, match="no such topics"):
        load_topics(tmp_path / "none.npz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="not a topics file"):
        load_topics(path)
    Components(WEIGHTS, np.zeros(2), WORDS).save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="train again"):
        load_topics(path)
    with pytest.raises(InputError, match="no such components"):
        Components.load(tmp_path / "none.npz")


def twin(weights: Floats, h: Floats, constant: float) -> Floats:
    """Return p(w | d), (D, V), written out; with logits of moderate size only."""
    table = np.exp(h @ weights.T)
    table /= table.sum(axis=1, keepdims=True)
    return (table + constant) / (1.0 + constant * len(weights))


@pytest.mark.parametrize("constant", [0.0, 1e-10, 0.1])
@pytest.mark.parametrize("block", [1, 40, 2**19])
def test_probabilities_are_the_softmax_of_each_pair(
    constant: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heldout.topics.ENTRIES", block)
    random = np.random.default_rng(0)
    weights, h = random.standard_normal((7, 3)), random.standard_normal((50, 3))
    made = Components(weights, np.zeros(3), tuple("abcdefg"))
    if constant:
        made = made.smoothed(constant)
    rows, words = np.nonzero(random.random((50, 7)) < 0.6)
    probabilities = made.probabilities(h, rows, words.astype(np.int32))
    np.testing.assert_allclose(probabilities, twin(weights, h, constant)[rows, words], rtol=1e-13)
    all_rows, all_words = (array.ravel() for array in np.indices((50, 7)))
    total = made.probabilities(h, all_rows, all_words.astype(np.int32)).reshape(50, 7).sum(axis=1)
    np.testing.assert_allclose(total, 1.0, rtol=1e-13)


def test_probabilities_of_logits_that_overflow_an_exponential() -> None:
    made = Components(WEIGHTS * 1e4, np.zeros(2), WORDS)
    probabilities = made.probabilities(
        np.array([[1.0, 0.0]]), np.zeros(3, dtype=np.int64), np.arange(3, dtype=np.int32)
    )
    np.testing.assert_array_equal(probabilities, [0.0, 0.0, 1.0])


def test_smoothing_keeps_the_weights_themselves() -> None:
    made = Components(WEIGHTS, np.zeros(2), WORDS, {"seed": 1})
    smoothed = made.smoothed(0.1)
    assert smoothed.weights is made.weights
    assert smoothed.provenance == {"seed": 1, "smoothing": 0.1}
    assert made.provenance == {"seed": 1}


def test_evaluators_score_components() -> None:
    made = Components(np.log(np.array([[0.5], [0.25], [0.25]])), np.zeros(1), WORDS)
    documents = Corpus.from_documents("hand", [("d0", ["a", "b", "c"]), ("d1", ["a", "a"])])
    evaluation = full_folding_in([made], documents, lambda _, corpus: np.ones((corpus.n_documents, 1)))
    np.testing.assert_allclose(evaluation.log_likelihood, [math.log(1 / 32), math.log(1 / 4)], rtol=1e-13)


def test_evaluators_average_components_as_they_average_topics() -> None:
    phi = np.array([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2]])
    documents = Corpus.from_documents("hand", [("d0", ["a", "b", "c"])])
    one = np.ones((1, 1))
    topics = [Topics(row[None, :], np.ones(1), WORDS) for row in phi]
    components = [Components(np.log(row)[:, None], np.zeros(1), WORDS) for row in phi]
    expected = full_folding_in(topics, documents, lambda *_: one).log_likelihood
    np.testing.assert_allclose(full_folding_in(components, documents, lambda *_: one).log_likelihood, expected)
    assert expected[0] == pytest.approx(2 * math.log(0.4) + math.log(0.2), rel=1e-13)
