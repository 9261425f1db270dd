"""`heldout`: verbs end to end on a small corpus, and bad input as one line and exit code 2 with nothing written."""

import json
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.scores import read_scores
from heldout.topics import Topics

PLSA = ["--model", "plsa-hof", "--topics", "2", "--seed", "0", "--test-documents", "2"]
TRAIN = ["--settings", json.dumps({"iterations": 5, "tolerance": 0.0})]


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


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("heldout: ")
    assert error.count("\n") == 1
    return error


def test_import_train_and_score(corpus: Path, tmp_path: Path) -> None:
    topics, scores = tmp_path / "topics.npz", tmp_path / "scores.csv"
    assert main(["train", str(corpus), *PLSA, *TRAIN, "--output", str(topics)]) == 0
    assert Topics.load(topics).phi.shape == (2, 4)
    settings = ["--settings", json.dumps({"iterations": 20, "tolerance": 0.0}), "--smoothing", "0.001", "0.1"]
    held_out = ["--seed", "0", "--test-documents", "2", "--variant", "v", "--model", "plsa-hof"]
    assert main(["score", str(corpus), str(topics), *held_out, *settings, "--output", str(scores)]) == 0
    table = read_scores(scores)
    assert sorted(zip(table.evaluator, table.smoothing, strict=True)) == [
        ("full-folding-in", 0.001),
        ("full-folding-in", 0.1),
        ("half-folding-in", 0.001),
        ("half-folding-in", 0.1),
    ]
    assert (table.corpus == "mine").all()
    merged = tmp_path / "all.csv"
    assert main(["collect", str(scores), "--output", str(merged)]) == 0
    assert merged.read_bytes() == scores.read_bytes()


def test_a_sweep_over_the_constant_at_every_m_step_scores_each_value(corpus: Path, tmp_path: Path) -> None:
    scores, settings = tmp_path / "scores.csv", json.dumps({"iterations": 20, "tolerance": 0.0})
    sweep = ["--variant", "v", "--setting", "smoothing", "--values", "0.001", "0.1"]
    both = ["--train-settings", settings, "--fold-in-settings", settings]
    assert main(["sweep", str(corpus), *PLSA, *sweep, *both, "--output", str(scores)]) == 0
    table = read_scores(scores)
    assert sorted(table.smoothing) == [0.001, 0.001, 0.1, 0.1]
    assert set(table.variant) == {"v"}


def test_a_sweep_over_beta_names_its_variants_and_adds_constants_after_training(corpus: Path, tmp_path: Path) -> None:
    scores, settings = tmp_path / "scores.csv", json.dumps({"iterations": 20, "tolerance": 0.0})
    sweep = ["--variant", "v", "--setting", "beta", "--values", "0.5", "1.0", "--smoothing", "0.01"]
    both = ["--train-settings", settings, "--fold-in-settings", settings]
    model = [word.replace("plsa-hof", "plsa-tem") for word in PLSA]
    assert main(["sweep", str(corpus), *model, *sweep, *both, "--output", str(scores)]) == 0
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
    assert named in refused(["train", str(corpus), *flat, *TRAIN, "--output", str(output)], capsys)
    assert not output.exists()


def test_an_all_stop_word_document_and_a_corpus_of_one_are_refused_by_name(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop_list, output = tmp_path / "stop", tmp_path / "mine.npz"
    stop_list.write_text("the\nand\n")
    (texts / "empty.txt").write_text("the and the")
    arguments = ["import", "text", str(texts), "--name", "mine", "--stop-list", str(stop_list), "--output", str(output)]
    assert "empty" in refused(arguments, capsys)
    for path in texts.iterdir():
        if path.name != "0.txt":
            path.unlink()
    assert "at least two are needed" in refused(arguments, capsys)
    assert not output.exists()


def test_settings_that_are_not_json_are_a_usage_error(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train", str(corpus), *PLSA, "--settings", "{", "--output", "x.npz"])
    assert caught.value.code == 2
    assert "not JSON" in capsys.readouterr().err


def test_a_broken_corpus_file_is_refused(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus.write_bytes(corpus.read_bytes()[:100])
    output = tmp_path / "t.npz"
    assert str(corpus) in refused(["train", str(corpus), *PLSA, *TRAIN, "--output", str(output)], capsys)
