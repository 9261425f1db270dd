"""`heldout`: bad input is one line and exit code 2, and nothing is written."""

import errno
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import heldout
from heldout.cli import main, parser
from heldout.corpora.corpus import Corpus


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, text in enumerate(
        ["wing flow flow heat", "heat wing layer layer", "layer flow wing", "heat heat flow wing"]
    ):
        (folder / f"{i}.txt").write_text(text)
    return folder


@pytest.fixture
def corpus(texts: Path, tmp_path: Path) -> Path:
    path = tmp_path / "mine.npz"
    assert main(["import", "text", str(texts), "--name", "mine", "--output", str(path)]) == 0
    return path


def test_the_package_says_its_version_and_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"heldout {version('heldout')}\n"
    assert heldout.__version__ == version("heldout")
    names = "audit choose exact_cases log_evidence log_likelihood one_standard_error rank rating_log_likelihood"
    assert dir(heldout) == ["ExactCase", "__version__", *names.split()]
    assert all(getattr(heldout, name) for name in dir(heldout))


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("heldout: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("verb", ["audit", "rank", "import"])
def test_the_usage_of_a_verb_is_its_own(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: heldout {verb} [-h]")
    assert ("--seed N" in said) == ("--cores N" in said) == (verb != "import")


def test_nothing_typed_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr() == ("", parser().format_help())


def test_a_text_without_a_word_is_left_out_by_name_and_a_corpus_of_one_refused(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop_list, output = tmp_path / "stop", tmp_path / "mine.npz"
    stop_list.write_text("the\nand\n")
    (texts / "empty.txt").write_text("the and the")
    arguments = ["import", "text", str(texts), "--name", "mine", "--stop-list", str(stop_list), "--output", str(output)]
    assert main(arguments) == 0
    assert "empty.txt" in capsys.readouterr().out
    corpus = Corpus.load(output)
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (4, 4, 15)
    output.unlink()
    for path in texts.iterdir():
        if path.name != "0.txt":
            path.unlink()
    refused(arguments, capsys)
    assert not output.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["text", "one", "two", "--name", "mine"],
        ["uci", "one", "--name", "mine"],
        ["uci", "one", "two", "--name", "mine", "--stem"],
        ["svm", "one", "--name", "mine"],
        ["text", "one", "--name", "Mine"],
    ],
)
def test_a_bad_import_is_refused(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(["import", *arguments, "--output", str(tmp_path / "mine.npz")], capsys)
    assert not (tmp_path / "mine.npz").exists()


def test_an_input_is_no_output(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, model = corpus.read_bytes(), tmp_path / "model.npz"
    model.write_bytes(b"a model")
    for option in ("--html", "--json", "--csv"):
        assert str(model) in refused(["audit", str(model), str(corpus), option, str(model)], capsys)
    twice = ["--html", str(tmp_path / "a"), "--json", str(tmp_path / "a")]
    assert str(tmp_path / "a") in refused(["audit", str(model), str(corpus), *twice], capsys)
    assert (corpus.read_bytes(), model.read_bytes()) == (before, b"a model")


def test_pipes_folders_and_full_disks_are_one_line(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "pipe" in refused(["audit", str(tmp_path / "pipe"), str(texts)], capsys)
    imported = ["import", "text", str(texts), "--name", "mine", "--output"]
    assert str(tmp_path) in refused([*imported, str(tmp_path)], capsys)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numpy.savez", full)
    error = refused([*imported, str(tmp_path / "mine.npz")], capsys)
    assert os.strerror(errno.ENOSPC) in error
    monkeypatch.setattr("numpy.savez", lambda *_, **__: np.empty(2**50))
    assert "memory" in refused([*imported, str(tmp_path / "mine.npz")], capsys)
    assert not (tmp_path / "mine.npz").exists()


def test_what_a_terminal_acts_on_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    red = str(tmp_path / "\x1b[31mred\udce9")
    error = refused(["import", "text", red, "--name", "mine", "--output", str(tmp_path / "x.npz")], capsys)
    assert "\x1b" not in error
    assert "[31mred" in error
    with pytest.raises(SystemExit):
        main(["audit", "x.npz", "y.npz", "--\x1b[31mred"])
    assert "\x1b" not in capsys.readouterr().err
