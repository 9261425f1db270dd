import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora import text_folder
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError, InputWarning


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def streams(corpus: Corpus) -> list[list[str]]:
    return [[corpus.vocabulary[word] for word in corpus.document(d)] for d in range(corpus.n_documents)]


def test_reads_text_files_in_name_order_and_keeps_token_order(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {"b.txt": b"Heated WINGS\r\nthe wings", "a.txt": b"\xef\xbb\xbfThe wing of 747s", "c.md": b"not read"}
    )
    (folder / "more").mkdir()
    with pytest.warns(InputWarning, match="2 beside its 2 .txt files passed over: c.md, more"):
        corpus = text_folder.read(folder, "own")
    assert corpus.documents == ("a.txt", "b.txt")
    assert streams(corpus) == [["the", "wing", "747s"], ["heated", "wings", "the", "wings"]]
    assert corpus.provenance["ordered"] is True
    (folder / "c.md").unlink()
    (folder / "more").rmdir()
    stop = tmp_path / ".stop"
    stop.write_bytes(b"\xef\xbb\xbfthe\n")
    stemmed = text_folder.read(folder, "own", stop, stemmer="lancaster")
    assert streams(stemmed) == [["wing", "747s"], ["heat", "wing", "wing"]]
    assert [source["file"] for source in stemmed.provenance["sources"]] == [tmp_path.name, ".stop"]


def test_provenance_follows_the_content(tmp_path: Path) -> None:
    def digest() -> str:
        return str(text_folder.read(tmp_path, "own").provenance["sources"][0]["content_sha256"])

    write(tmp_path, {"a.txt": b"wing", "b.txt": b"flow"})
    first = digest()
    assert digest() == first
    write(tmp_path, {"a.txt": b"wings"})
    assert digest() != first


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"0 \.txt file\(s\); at least two"),
        ({"a.txt": b"wing"}, r"1 \.txt file\(s\); at least two"),
        ({"a.txt": b"wing", "b.txt": b"wing\nfl\xe9che"}, r"b\.txt: line 2: not UTF-8"),
        ({"a.txt": b"wing", "b.txt": b""}, r"corpus own: 1 document\(s\); at least two"),
        ({"a.txt": b"wing", "b.txt": b"of it"}, r"corpus own: 1 document\(s\); at least two"),
        ({"a.txt": b"wing", "b\n.txt": b"flow"}, "is not printable"),
    ],
)
def test_malformed(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(InputError, match=message):
        text_folder.read(write(tmp_path, files), "own")


def test_missing_folder_and_stop_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        text_folder.read(tmp_path / "nowhere", "own")
    write(tmp_path, {"a.txt": b"wing", "b.txt": b"flow"})
    with pytest.raises(InputError, match="nothing: cannot be read"):
        text_folder.read(tmp_path, "own", tmp_path / "nothing")
    (tmp_path / "directory.txt").mkdir()
    with pytest.raises(InputError, match=r"directory\.txt: cannot be read"):
        text_folder.read(tmp_path, "own")


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"wing flow", b"heat"]), max_size=3))
def test_garbage_raises_nothing_but_input_errors(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = write(Path(name), {f"{i}.txt": content for i, content in enumerate(contents)})
        try:
            corpus = text_folder.read(folder, "own")
        except InputError:
            return
    assert corpus.n_documents + len(corpus.provenance["records_left_out"]) == len(contents)
    assert corpus.lengths.min() > 0


def test_words_of_any_script_keep_their_letters_and_marks(tmp_path: Path) -> None:
    texts = {
        "a.txt": "Où est l'été? Größe",
        "b.txt": "E\u0301te\u0301 हिन्दी наука می\u200cرسد",
        "c.txt": "北京 한국 \u2600\ufe0f the_wing",
    }
    corpus = text_folder.read(write(tmp_path, {name: text.encode() for name, text in texts.items()}), "own")
    assert streams(corpus) == [
        ["est", "été", "größe"],
        ["été", "हिन्दी", "наука", "می\u200cرسد"],
        ["北京", "한국", "the", "wing"],
    ]


def test_texts_without_a_word_are_left_out_by_name_and_rare_words_too(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": b"wing wing heat", "b.txt": b"", "c.txt": b"wing drag", "d.txt": b"flow"})
    corpus = text_folder.read(tmp_path, "own", minimum_count=2)
    assert streams(corpus) == [["wing", "wing"], ["wing"]]
    assert corpus.documents == ("a.txt", "c.txt")
    assert corpus.provenance["records_left_out"] == ["b.txt", "d.txt"]
    assert "tokens >= 2" in corpus.provenance["rule"]["words"]
