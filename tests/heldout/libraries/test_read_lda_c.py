import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import FIXTURES

from heldout.errors import InputError
from heldout.libraries.lda_c import read
from heldout.libraries.read import read_model

OTHER = "num_topics 2\nnum_terms 3\nalpha 0.5\n"
BETA = f"{np.log(0.2)} {np.log(0.3)} {np.log(0.5)}\n{np.log(0.25)} {np.log(0.75)} -100\n"


def written(folder: Path, beta: str = BETA, other: str = OTHER) -> Path:
    (folder / "final.beta").write_text(beta)
    (folder / "final.other").write_text(other)
    return folder / "final.beta"


@pytest.mark.parametrize("name", ["lda-c", "lda-c/final.beta", "lda-c/final.other"])
def test_either_file_or_their_folder(name: str) -> None:
    fitted = read_model(FIXTURES / name)
    logarithms = np.loadtxt(FIXTURES / "lda-c" / "final.beta")
    np.testing.assert_allclose(fitted.topics.phi, np.exp(logarithms), rtol=1e-8, atol=1e-40)
    assert fitted.dirichlet.alpha.tolist() == [0.2731845120] * 3
    assert fitted.library == "LDA-C"
    assert not fitted.words_known


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any), min_size=1, max_size=4))
def test_ten_decimals_of_the_logarithm_are_enough(counts: list[list[int]]) -> None:
    phi = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    logarithms = np.log(phi, out=np.full(phi.shape, -100.0), where=phi > 0)
    beta = "".join("".join(f" {value:5.10f}" for value in row) + "\n" for row in logarithms)
    with tempfile.TemporaryDirectory() as folder:
        fitted = read(written(Path(folder), beta, f"num_topics {len(phi)}\nnum_terms 3\nalpha 1.0000000000\n"))
    np.testing.assert_allclose(fitted.topics.phi, phi, rtol=2e-10, atol=1e-40)


def test_words_come_from_a_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "words").write_text("a\nb\nc\n")
    assert read_model(path, vocabulary=tmp_path / "words").topics.vocabulary == ("a", "b", "c")
    (tmp_path / "words").write_text("a\nb\n")
    with pytest.raises(InputError, match="the vocabulary has 2 words, but the topics have 3"):
        read_model(path, vocabulary=tmp_path / "words")


@pytest.mark.parametrize(
    ("beta", "other", "message"),
    [
        (BETA, "num_topics 3\nnum_terms 3\nalpha 1\n", "2 lines of 3 numbers, but final.other announces 3 of 3"),
        (BETA, "num_topics 2\nnum_terms 2\nalpha 1\n", "2 lines of 3 numbers, but final.other announces 2 of 2"),
        (BETA, "num_topics 9000\nnum_terms 9000\nalpha 1\n", "bytes cannot hold the 9000 by 9000 logarithms"),
        (BETA, "num_topics 99999999\nnum_terms 99999999\nalpha 1\n", "final.other: 99999999 topics over 99999999"),
        (BETA, "num_topics 0\nnum_terms 3\nalpha 1\n", "line 1: num_topics must be 1 or more, found 0"),
        (BETA, "num_topics 2\n", "line 2: expected 'num_terms number'"),
        (BETA, "num_terms 3\nnum_topics 2\nalpha 1\n", "line 1: expected 'num_topics number'"),
        (BETA, "num_topics 2\nnum_terms 3\nalpha 0\n", "line 3: alpha of topic 0 is 0;"),
        (BETA, "num_topics 2\nnum_terms 3\nalpha nan\n", "line 3: alpha of topic 0 is nan;"),
        (BETA, "num_topics 2\nnum_terms 3\nalpha one\n", "line 3: alpha must be a number, found 'one'"),
        (BETA.replace("-100", "0.5"), OTHER, "line 2: a logarithm of a probability is 0 or less"),
        (BETA.replace("-100", "nan"), OTHER, "line 2: a logarithm of a probability is 0 or less"),
        (BETA.replace("-100", "-1"), OTHER, r"row 1 of exp\(beta\) sums to 1.36788, not to 1"),
        (BETA.replace("-100", "x"), OTHER, "line 2: column 3 is 'x', not a number"),
        (BETA.replace("-100", ""), OTHER, "line 2: 2 columns, but line 1 has 3; truncated"),
        ("", OTHER, "0 bytes cannot hold the 2 by 3"),
    ],
)
def test_malformed(tmp_path: Path, beta: str, other: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_model(written(tmp_path, beta, other), form="lda-c")


def test_the_missing_file_is_named(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "lda-c" / "final.beta", tmp_path)
    with pytest.raises(
        InputError, match=r"no final.other beside it; LDA-C writes final.beta and final.other, give both"
    ):
        read_model(tmp_path / "final.beta")


def test_every_truncated_beta_is_refused_or_loses_a_last_digit(tmp_path: Path) -> None:
    for name in ("final.beta", "final.other"):
        shutil.copy(FIXTURES / "lda-c" / name, tmp_path)
    whole = (FIXTURES / "lda-c" / "final.beta").read_bytes()
    expected = read_model(tmp_path).topics.phi
    refused = 0
    for length in range(1, len(whole), 5):
        (tmp_path / "final.beta").write_bytes(whole[:length])
        try:
            phi = read_model(tmp_path / "final.beta").topics.phi
        except InputError:
            refused += 1
        else:
            np.testing.assert_allclose(phi, expected, atol=2e-3)
    assert refused > len(whole) // 5 - 4
