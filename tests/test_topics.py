"""The socket between models and evaluators refuses what it cannot stand for, and keeps the rest exactly."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.topics import Topics

WORDS = ("a", "b", "c")
PHI = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("phi", "alpha", "vocabulary", "message"),
    [
        (PHI * 1.001, [1.0, 1.0], WORDS, "row 0 of phi does not sum to 1"),
        (PHI - np.array([[0.6, -0.6, 0.0], [0, 0, 0]]), [1.0, 1.0], WORDS, "negative or undefined"),
        (np.where(PHI == 1.0, np.nan, PHI), [1.0, 1.0], WORDS, "negative or undefined"),
        (PHI, [1.0, 0.0], WORDS, "positive and finite"),
        (PHI, [1.0, np.inf], WORDS, "positive and finite"),
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


@settings(max_examples=20, deadline=None)
@given(shape=st.tuples(st.integers(1, 6), st.integers(1, 9)), zeros=st.booleans(), seed=st.integers(0, 999))
def test_saves_and_loads_bit_for_bit(
    shape: tuple[int, int], zeros: bool, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    random = np.random.default_rng(seed)
    phi = random.dirichlet(np.full(shape[1], 0.05 if zeros else 1.0), shape[0])
    topics = Topics(phi, random.gamma(1.0, 1.0, shape[0]), tuple(f"w{v}" for v in range(shape[1])), {"seed": seed})
    folder = tmp_path_factory.mktemp("topics")
    topics.save(folder / "a.npz")
    topics.save(folder / "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    loaded = Topics.load(folder / "a.npz")
    assert loaded.phi.tobytes() == topics.phi.tobytes()
    assert loaded.alpha.tobytes() == topics.alpha.tobytes()
    assert (loaded.vocabulary, loaded.provenance) == (topics.vocabulary, topics.provenance)


def test_a_missing_or_broken_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such topics"):
        Topics.load(tmp_path / "none.npz")
    path = tmp_path / "topics.npz"
    Topics(PHI, np.ones(2), WORDS).save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="not a topics file"):
        Topics.load(path)


def test_smoothing_adds_the_constant_and_renormalises() -> None:
    smoothed = Topics(PHI, np.ones(2), WORDS).smoothed(0.1)
    np.testing.assert_allclose(smoothed.phi, (PHI + 0.1) / 1.3, rtol=1e-15)
    assert smoothed.provenance["smoothing"] == 0.1
