import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
from model_files import WORDS, phi_and_alpha, write_csv, write_npz

from heldout.errors import InputError
from heldout.libraries.arrays import from_object, read_csv, read_npz
from heldout.libraries.checks import BINARY_TOLERANCE, TEXT_TOLERANCE, distributions
from heldout.libraries.read import read_model
from heldout.limits import MAXIMUM_ENTRIES, check_expansion, check_npy
from heldout.topics import Topics
from heldout.typing import Floats

PHI, ALPHA = phi_and_alpha()
positive = st.floats(1e-3, 1e3)
matrices = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: drawn_arrays(np.float64, shape, elements=positive)
)


@given(matrices, st.data())
def test_npz_and_csv_hold_what_was_written(weights: Floats, data: st.DataObject) -> None:
    phi = weights / weights.sum(axis=1, keepdims=True)
    words = [f"v{place}" for place in range(phi.shape[1])]
    alpha = data.draw(drawn_arrays(np.float64, len(phi), elements=positive))
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, "own.npz"), phi=phi, alpha=alpha, vocabulary=np.array(words))
        binary = read_npz(Path(folder, "own.npz"))
        text = read_csv(write_csv(Path(folder, "own.csv"), phi, list(alpha), words))
    for fitted in (binary, text):
        np.testing.assert_allclose(fitted.topics.phi, phi, rtol=1e-15)
        np.testing.assert_array_equal(fitted.dirichlet.alpha, alpha)
        assert fitted.topics.vocabulary == tuple(words)
        assert fitted.words_known
        assert (fitted.library, fitted.native) == ("arrays", None)


def test_topics_that_heldout_saved_are_read(tmp_path: Path) -> None:
    Topics(PHI, ALPHA, WORDS).save(tmp_path / "topics.npz")
    fitted = read_model(tmp_path / "topics.npz")
    np.testing.assert_allclose(fitted.topics.phi, PHI, rtol=1e-15)
    assert fitted.topics.vocabulary == WORDS


def test_one_alpha_stands_for_all_and_words_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    np.savez(path, phi=PHI.astype(np.float32), alpha=0.5)
    fitted = read_npz(path)
    np.testing.assert_array_equal(fitted.dirichlet.alpha, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(fitted.topics.phi.sum(axis=1), 1.0, rtol=1e-15)
    assert not fitted.words_known
    assert fitted.topics.vocabulary[:2] == ("0", "1")
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    named = read_model(path, vocabulary=tmp_path / "words.txt")
    assert named.words_known
    assert named.topics.vocabulary == WORDS
    (tmp_path / "words.txt").write_text("a\nb\na\n")
    with pytest.raises(InputError, match="line 3: the word a is there a second time"):
        read_model(path, vocabulary=tmp_path / "words.txt")


@pytest.mark.parametrize("tolerance", [BINARY_TOLERANCE, TEXT_TOLERANCE])
def test_a_row_may_miss_one_by_the_tolerance_and_no_more(tmp_path: Path, tolerance: float) -> None:
    def read(factor: float) -> Floats:
        scaled = PHI * np.array([1.0, factor, 1.0])[:, None]
        if tolerance == TEXT_TOLERANCE:
            return read_csv(write_csv(tmp_path / "phi.csv", scaled, list(ALPHA))).topics.phi
        return from_object((scaled, ALPHA)).topics.phi

    for factor in (1.0 - 0.9 * tolerance, 1.0 + 0.9 * tolerance):
        np.testing.assert_allclose(read(factor), PHI, rtol=1e-14)
    for factor in (1.0 - 1.1 * tolerance, 1.0 + 1.1 * tolerance):
        with pytest.raises(InputError, match=r"row 1 of phi sums to .*, not to 1; .* divide"):
            read(factor)


def changed(value: float) -> Floats:
    phi = PHI.copy()
    phi[2, 4] = value
    return phi


@pytest.mark.parametrize(
    ("phi", "alpha", "vocabulary", "message"),
    [
        (changed(np.nan), ALPHA, None, "row 2 of phi has a negative, infinite or undefined"),
        (changed(-1e-9), ALPHA, None, "row 2 of phi has a negative"),
        (changed(np.inf), ALPHA, None, "row 2 of phi has a negative, infinite"),
        (PHI * [[1.0], [0.0], [1.0]], ALPHA, None, "row 1 of phi is all zeros, a topic without words"),
        (PHI * 7.0, ALPHA, None, "row 0 of phi sums to 7, not to 1"),
        (PHI.T, ALPHA, None, "of shape .9, 3., sum to 1 and the rows do not; transpose it"),
        (PHI[0], ALPHA, None, r"phi must be a matrix of topics by words, but its shape is \(9,\)"),
        (PHI[:0], ALPHA, None, "0 topics over 9 words"),
        ([["a"]], ALPHA, None, "phi is not an array of numbers"),
        ([[1.0], [0.5, 0.5]], ALPHA, None, "phi is not an array of numbers"),
        (None, ALPHA, None, "phi is not an array of numbers"),
        (PHI * 1j, ALPHA, None, "phi is not an array of numbers"),
        (PHI, [0.1, 0.0, 1.0], None, "alpha of topic 1 is 0; a Dirichlet parameter is positive"),
        (PHI, [0.1, 1.0, -2.0], None, "alpha of topic 2 is -2;"),
        (PHI, np.nan, None, "alpha of topic 0 is nan;"),
        (PHI, np.inf, None, "alpha of topic 0 is inf;"),
        (PHI, ALPHA[:2], None, r"alpha has shape \(2,\), but there are 3 topics; give one number, or one per topic"),
        (PHI, np.ones((3, 1)), None, r"alpha has shape \(3, 1\)"),
        (PHI, "0.1", None, "alpha is not an array of numbers"),
        (PHI, ALPHA, WORDS[:8], "the vocabulary has 8 words, but the topics have 9"),
        (PHI, ALPHA, (*WORDS[:8], "word0"), r"the vocabulary: 'word0' is there a second time \(place 8\)"),
        (PHI, ALPHA, (*WORDS[:8], 3), "the vocabulary: word 8 is 3, not text"),
    ],
)
def test_refused(phi: object, alpha: object, vocabulary: tuple[str, ...] | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        from_object((phi, alpha), vocabulary)
    assert "\n" not in str(caught.value)


def test_an_overflowing_row_is_refused() -> None:
    with pytest.raises(InputError, match="row 0 of phi has an infinite sum"):
        from_object((np.full((2, 3), 1e308), 1.0))


def test_another_vocabulary_than_the_models_own_is_refused(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "some.npz")
    assert read_npz(path, WORDS).topics.vocabulary == WORDS
    with pytest.raises(
        InputError, match="says that word 0 is 'word0', the vocabulary given says 'word8'; leave the voc"
    ):
        read_npz(path, WORDS[::-1])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vocabulary": np.array(WORDS, dtype=object)}, "vocabulary: an array of objects, which only unpickling reads"),
        ({"vocabulary": np.arange(9)}, r"vocabulary is int64 of shape \(9,\); save a list of V words"),
        ({"vocabulary": np.array([WORDS])}, r"vocabulary is <U5 of shape \(1, 9\)"),
        ({"phi": np.array([[None]])}, "phi: an array of objects"),
    ],
)
def test_npz_of_something_else(tmp_path: Path, arrays: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_npz(write_npz(tmp_path / "some.npz", **arrays))


def test_npz_without_alpha(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", phi=PHI)
    with pytest.raises(InputError, match=r"some.npz: no alpha in it; numpy.savez"):
        read_npz(tmp_path / "some.npz")


def test_every_truncated_npz_is_refused(tmp_path: Path) -> None:
    whole = write_npz(tmp_path / "some.npz").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "some.npz").write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated|empty"):
            read_model(tmp_path / "some.npz")


@given(st.integers(0, 2**31), st.integers(1, 40))
@settings(max_examples=60)
def test_a_truncated_csv_is_refused_or_the_same_topics(seed: int, cut: int) -> None:
    phi = np.random.default_rng(seed).dirichlet(np.ones(9), 3)
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(Path(folder, "phi.csv"), phi, [0.1, 0.2, 0.3])
        path.write_bytes(path.read_bytes()[:-cut])
        try:
            fitted = read_csv(path)
        except InputError:
            return
        np.testing.assert_allclose(fitted.topics.phi, phi, atol=2 * TEXT_TOLERANCE)


def npy(header: str, body: bytes) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, -3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 9, }",
        "{'descr': '<f8', 'shape': (9,), }",
        "((((",
    ],
)
def test_a_header_that_does_not_fit_its_bytes_is_refused_before_anything_is_allocated(header: str) -> None:
    data = npy(header, b"\0" * 72)
    with pytest.raises(InputError, match=r"the header announces .* truncated or damaged|not an array"):
        check_npy(io.BytesIO(data), len(data), "some")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.limits.ALLOWANCE", 64 << 20)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("phi.npy", "w") as member:
        for _ in range(100):
            member.write(bytes(1 << 20))
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"bomb.npz: [0-9]+ bytes expand to 104857600 or more"):
        read_npz(path)
    check_expansion(1 << 20, 200 << 20, "some")


def test_sparse_topics_that_pack_well_are_read(tmp_path: Path) -> None:
    phi = np.zeros((100, 20_000))
    phi[:, 0] = 1.0
    np.savez_compressed(tmp_path / "some.npz", phi=phi, alpha=0.1)
    assert phi.nbytes > 200 * (tmp_path / "some.npz").stat().st_size
    assert read_npz(tmp_path / "some.npz").topics.phi.sum() == 100.0


def test_a_message_stays_short_whatever_the_file_says(tmp_path: Path) -> None:
    """The fuzz's case 1 6289: zipfile's message holds as much of the file as a damaged length announces."""
    path = write_npz(tmp_path / "some.npz")
    damaged = bytearray(path.read_bytes())
    place = damaged.index(b"PK\x03\x04", 1) + 26  # the length of the second member's name
    damaged[place : place + 2] = (700).to_bytes(2, "little")
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="truncated or damaged") as caught:
        read_npz(path)
    assert len(str(caught.value)) < 400


def test_more_probabilities_than_a_machine_holds_are_refused() -> None:
    many = np.broadcast_to(np.zeros(1), (2, MAXIMUM_ENTRIES))
    with pytest.raises(InputError, match="2 topics over 268435456 words"):
        distributions(many, "some", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "phi.csv: empty"),
        ("a,b\n", "no topic in it"),
        ("a,b\n0.5,0.5\n0.5\n", "line 3: 1 columns, but line 1 has 2"),
        ("a,b\n0.5,0.5\n\n0.5,0.5\n", "line 3: empty; every line is one topic"),
        ("a,b\n0.5,x\n", "line 2: column 2 is 'x', not a number"),
        ("0.5,x\n", "line 1: column 2 is 'x', not a number"),
        ("0.5,0_5\n", "line 1: column 2 is '0_5', not a number"),
        ("0.5,nan\n", "row 0 of phi has a negative, infinite or undefined"),
        ("a,a\n0.5,0.5\n", "the model's own vocabulary: 'a' is there a second time"),
        ('a,"b\n0.5,0.5\n', "line 1: not comma-separated values"),
        (b"0.5,\xff\n", "line 1: not UTF-8"),
        ("0,1,2\n0.2,0.3,0.5\n", "row 0 of phi sums to 3, not to 1"),
        (",a,b\n0,0.5,0.5\n", "line 1: column 1 is '', no word"),
        (",0,1\n0,0.5,0.5\n", "line 1: column 1 is '', no word"),
        ('"","a","b"\n"1",0.5,0.5\n', "line 1: column 1 is '', no word"),
        ("Unnamed: 0,a,b\n0,0.5,0.5\n", "line 1: column 1 is 'Unnamed: 0', no word"),
        ('"a";"b"\n0,5;0,5\n', "line 1: no commas between the columns"),
        ("a;b\n0,5;0,5\n", "line 1: no commas between the columns"),
        ("0,5;0,3;0,2\n", "line 1: no commas between the columns"),
        ("a\tb\n0.5\t0.5\n", "line 1: no commas between the columns"),
    ],
)
def test_malformed_csv(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "phi.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "alpha.csv").write_text("0.5\n")
    with pytest.raises(InputError, match=message):
        read_model(path)


def test_words_that_read_like_numbers_are_words_of_the_header(tmp_path: Path) -> None:
    words = ["nan", "1990", *WORDS[2:]]
    model = read_csv(write_csv(tmp_path / "phi.csv", PHI, [0.5], header=words))
    assert model.words_known
    assert list(model.topics.vocabulary) == words
    assert model.topics.phi.shape == PHI.shape


def test_alpha_is_beside_the_csv(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "phi.csv", PHI, [0.5], header=())
    assert read_csv(path).dirichlet.alpha.tolist() == [0.5, 0.5, 0.5]
    assert not read_csv(path).words_known
    own = tmp_path / "phi.alpha.csv"
    own.write_text("0.1\n0.2\n0.3\n")
    (tmp_path / "alpha.csv").write_text("7\n")
    assert read_csv(path).dirichlet.alpha.tolist() == [0.1, 0.2, 0.3]
    for text in ("0.1 0.2\n0.3\n", "\ufeff0.1 0.2 0.3", "0.1,0.2,0.3\n", "x\n0.1\n0.2\n0.3\n", '"x"\n0.1\n0.2\n0.3\n'):
        own.write_text(text, encoding="utf-8")
        assert read_csv(path).dirichlet.alpha.tolist() == [0.1, 0.2, 0.3]
    own.write_text('"","x"\n"1",0.1\n"2",0.2\n"3",0.3\n')  # R's write.csv of a vector
    with pytest.raises(InputError, match=r"phi.alpha.csv: line 1: column 1 is '', no word but row names"):
        read_csv(path)
    own.write_text("0.1\n0.2\n-0.3\n")
    with pytest.raises(InputError, match=r"phi.alpha.csv: alpha of topic 2 is -0.3;"):
        read_csv(path)
    own.unlink()
    assert read_csv(path).dirichlet.alpha.tolist() == [7.0, 7.0, 7.0]
    (tmp_path / "alpha.csv").unlink()
    with pytest.raises(InputError, match=r"phi.csv: no phi.alpha.csv or alpha.csv beside it; write"):
        read_csv(path)
