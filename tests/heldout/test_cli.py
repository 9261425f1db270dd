"""`heldout`: verbs end to end on a small corpus, and bad input as one line and exit code 2 with nothing written."""

import errno
import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import heldout
from artifact.results.scores import COLUMNS, read_scores
from heldout.cli import main
from heldout.evaluators import FULL, HALF
from heldout.topics import Topics

PLSA = ["--model", "plsa-hof", "--topics", "2", "--seed", "0", "--test-documents", "2"]
TRAIN = ["--train-settings", json.dumps({"iterations": 5, "tolerance": 0.0})]
FOLD_IN = ["--fold-in-settings", json.dumps({"iterations": 20, "tolerance": 0.0})]


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
    assert dir(heldout) == ["__version__", "audit", "choose", "log_likelihood", "one_standard_error", "rank"]
    assert all(getattr(heldout, name) for name in dir(heldout))


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("heldout: ")
    assert error.count("\n") == 1
    return error


def test_import_and_fit(corpus: Path, tmp_path: Path) -> None:
    topics, scores = tmp_path / "topics.npz", tmp_path / "scores.csv"
    added = ["--variant", "v", "--smoothing", "0.001", "0.1"]
    outputs = ["--output", str(topics), "--scores", str(scores)]
    assert main(["fit", str(corpus), *PLSA, *TRAIN, *FOLD_IN, *added, *outputs]) == 0
    assert Topics.load(topics).phi.shape == (2, 4)
    table = read_scores(scores)
    assert sorted(zip(table.evaluator, table.smoothing, strict=True)) == [
        (FULL, 0.001),
        (FULL, 0.1),
        (HALF, 0.001),
        (HALF, 0.1),
    ]
    assert (table.corpus == "mine").all()
    assert (table.variant == "v").all()
    merged, groups = tmp_path / "all.csv", tmp_path / "groups.csv"
    assert main(["collect", "scores", str(scores), "--output", str(merged)]) == 0
    assert main(["collect", "groups", str(scores), "--output", str(groups)]) == 0
    assert read_scores(merged, groups).equals(table)
    assert read_scores(merged).equals(table[list(COLUMNS)])


def test_a_fit_without_scores_writes_the_topics_alone(corpus: Path, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    assert main(["fit", str(corpus), *PLSA, *TRAIN, "--output", str(tmp_path / "topics.npz")]) == 0
    assert set(tmp_path.iterdir()) - before == {tmp_path / "topics.npz"}


def test_every_chain_has_a_file_and_another_number_of_files_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = [word.replace("plsa-hof", "lda") for word in PLSA]
    settings = {"alpha_sum": 1.0, "beta": 0.1, "sweeps": 3, "chains": 2, "optimise_every": 0}
    train = ["--train-settings", json.dumps(settings)]
    chains = [tmp_path / f"chain-{chain}.npz" for chain in range(2)]
    one = ["fit", str(corpus), *model, *train, "--output", str(chains[0])]
    assert "lda gives 2 files here, but --output names 1" in refused(one, capsys)
    assert not chains[0].exists()
    assert main([*one, str(chains[1])]) == 0
    assert [Topics.load(path).provenance["chain"] for path in chains] == [0, 1]


def test_a_sweep_over_the_constant_at_every_m_step_scores_each_value(corpus: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    sweep = ["--variant", "v", "--setting", "smoothing", "--values", "0.001", "0.1"]
    assert main(["sweep", str(corpus), *PLSA, *sweep, *TRAIN, *FOLD_IN, "--output", str(scores)]) == 0
    table = read_scores(scores)
    assert sorted(table.smoothing) == [0.001, 0.001, 0.1, 0.1]
    assert set(table.variant) == {"v"}


def test_a_sweep_over_beta_names_its_variants_and_adds_constants_after_training(corpus: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    sweep = ["--variant", "v", "--setting", "beta", "--values", "0.5", "1.0", "--smoothing", "0.01"]
    model = [word.replace("plsa-hof", "plsa-tem") for word in PLSA]
    assert main(["sweep", str(corpus), *model, *sweep, *TRAIN, *FOLD_IN, "--output", str(scores)]) == 0
    table = read_scores(scores)
    assert set(table.variant) == {"beta-0.50", "beta-1.00"}
    assert set(table.smoothing) == {0.01}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"--model": "plsa"}, "there is no model plsa; there are plsa-hof, plsa-vem"),
        ({"--topics": "-3"}, "-3 topics"),
        ({"--topics": "0"}, "0 topics"),
        ({"--test-documents": "4"}, "4 test documents cannot be held out of 4"),
        ({"--test-documents": "-1"}, "-1 test documents"),
    ],
)
def test_bad_training_is_refused(
    corpus: Path, tmp_path: Path, changes: dict[str, str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = dict(zip(PLSA[::2], PLSA[1::2], strict=True)) | changes
    flat = [word for pair in arguments.items() for word in pair]
    output = tmp_path / "topics.npz"
    assert named in refused(["fit", str(corpus), *flat, *TRAIN, "--output", str(output)], capsys)
    assert not output.exists()


def test_a_text_without_a_word_is_left_out_by_name_and_a_corpus_of_one_refused(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop_list, output = tmp_path / "stop", tmp_path / "mine.npz"
    stop_list.write_text("the\nand\n")
    (texts / "empty.txt").write_text("the and the")
    arguments = ["import", "text", str(texts), "--name", "mine", "--stop-list", str(stop_list), "--output", str(output)]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert said.startswith("mine: 4 documents, 4 words, 15 tokens (runs of letters")
    assert said.endswith("; 1 without a word left out: empty.txt\n")
    output.unlink()
    for path in texts.iterdir():
        if path.name != "0.txt":
            path.unlink()
    assert "at least two are needed" in refused(arguments, capsys)
    assert not output.exists()


def test_settings_that_are_not_json_are_a_usage_error(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fit", str(corpus), *PLSA, "--train-settings", "{", "--output", "x.npz"])
    assert caught.value.code == 2
    assert "not JSON" in capsys.readouterr().err


def test_a_broken_corpus_file_is_refused(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus.write_bytes(corpus.read_bytes()[:100])
    output = tmp_path / "t.npz"
    assert str(corpus) in refused(["fit", str(corpus), *PLSA, *TRAIN, "--output", str(output)], capsys)


def test_an_input_is_no_output(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = corpus.read_bytes()
    assert "would be overwritten" in refused(["fit", str(corpus), *PLSA, *TRAIN, "--output", str(corpus)], capsys)
    model = tmp_path / "model.npz"
    model.write_bytes(b"a model")
    for option in ("--html", "--json"):
        assert "would be overwritten" in refused(["audit", str(model), str(corpus), option, str(model)], capsys)
    twice = ["--html", str(tmp_path / "a"), "--json", str(tmp_path / "a")]
    assert "written twice" in refused(["audit", str(model), str(corpus), *twice], capsys)
    assert (corpus.read_bytes(), model.read_bytes()) == (before, b"a model")


def test_pipes_folders_and_full_disks_are_one_line(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "a device or a pipe" in refused(["collect", "scores", str(tmp_path / "pipe"), "--output", "x.csv"], capsys)
    imported = ["import", "text", str(texts), "--name", "mine", "--output"]
    assert "a folder; name a file" in refused([*imported, str(tmp_path)], capsys)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numpy.savez", full)
    error = refused([*imported, str(tmp_path / "mine.npz")], capsys)
    assert "mine.npz: No space left on device; free some space" in error
    monkeypatch.setattr("numpy.savez", lambda *_, **__: np.empty(2**50))
    assert "import: not enough memory" in refused([*imported, str(tmp_path / "mine.npz")], capsys)
    assert not (tmp_path / "mine.npz").exists()


def test_what_a_terminal_acts_on_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(["collect", "scores", str(tmp_path / "\x1b[31mred\udce9"), "--output", "x.csv"], capsys)
    assert "\x1b" not in error
    assert "[31mred" in error
    with pytest.raises(SystemExit):
        main(["collect", "scores", "x.csv", "--output", "y.csv", "\x1b[31mred"])
    assert "\x1b" not in capsys.readouterr().err


def test_settings_hold_numbers(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fit", str(corpus), *PLSA, "--train-settings", '{"tolerance": NaN}', "--output", "x.npz"])
    assert "NaN is no number" in capsys.readouterr().err
