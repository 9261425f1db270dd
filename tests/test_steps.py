"""Steps: run one after the other on a small corpus; bad input is exit code 2, and nothing is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from artifact import __main__ as steps
from artifact.__main__ import main
from artifact.results.scores import COLUMNS, read_scores
from heldout.corpora.corpus import Corpus
from heldout.evaluators import FULL, HALF
from heldout.topics import Topics

PLSA = ["--model", "plsa-hof", "--topics", "2", "--seed", "0", "--test-documents", "2"]
TRAIN = ["--train-settings", json.dumps({"iterations": 5, "tolerance": 0.0})]
FOLD_IN = ["--fold-in-settings", json.dumps({"iterations": 20, "tolerance": 0.0})]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    texts = ["wing flow flow heat", "heat wing layer layer", "layer flow wing", "heat heat flow wing"]
    path = tmp_path / "mine.npz"
    Corpus.from_documents("mine", [(f"{d}.txt", text.split()) for d, text in enumerate(texts)]).save(path)
    return path


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
    assert main(["fit", str(corpus), *PLSA, *TRAIN, *FOLD_IN, "--output", str(tmp_path / "topics.npz")]) == 0
    assert set(tmp_path.iterdir()) - before == {tmp_path / "topics.npz"}


def test_every_chain_has_a_file_and_another_number_of_files_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = [word.replace("plsa-hof", "lda") for word in PLSA]
    settings = {"alpha_sum": 1.0, "beta": 0.1, "sweeps": 3, "chains": 2, "optimise_every": 0}
    train = ["--train-settings", json.dumps(settings)]
    chains = [tmp_path / f"chain-{chain}.npz" for chain in range(2)]
    one = ["fit", str(corpus), *model, *train, *FOLD_IN, "--output", str(chains[0])]
    refused(one, capsys)
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
        ({"--model": "plsa"}, "plsa-hof"),
        ({"--topics": "-3"}, "-3"),
        ({"--topics": "0"}, "0"),
        ({"--test-documents": "4"}, "4"),
        ({"--test-documents": "-1"}, "-1"),
        ({"--train-settings": '{"iterations": 5, "tolerance": NaN}'}, "tolerance"),
        ({"--train-settings": '{"iterations": 5}'}, "tolerance"),
        ({"--train-settings": '{"iterations": 5, "tolerance": 0, "toplerance": 0}'}, "toplerance"),
    ],
)
def test_bad_training_is_refused(
    corpus: Path, tmp_path: Path, changes: dict[str, str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*PLSA, *TRAIN, *FOLD_IN]
    arguments = dict(zip(given[::2], given[1::2], strict=True)) | changes
    flat = [word for pair in arguments.items() for word in pair]
    output = tmp_path / "topics.npz"
    assert named in refused(["fit", str(corpus), *flat, "--output", str(output)], capsys)
    assert not output.exists()


@pytest.mark.parametrize(
    "changes", [["--train-settings", "{"], ["--train-settings", "[]"], ["--seed", "1.5"], ["--sede", "1"], ["--seed"]]
)
def test_an_argument_that_is_none_or_of_another_kind_is_a_usage_error(
    corpus: Path, tmp_path: Path, changes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "topics.npz"
    with pytest.raises(SystemExit) as caught:
        main(["fit", str(corpus), *PLSA, *TRAIN, *FOLD_IN, "--output", str(output), *changes])
    assert caught.value.code == 2
    assert changes[0] in capsys.readouterr().err
    assert not output.exists()


def test_inputs_stay(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = corpus.read_bytes()
    assert str(corpus) in refused(["fit", str(corpus), *PLSA, *TRAIN, *FOLD_IN, "--output", str(corpus)], capsys)
    assert corpus.read_bytes() == before
    corpus.write_bytes(before[:100])
    output = tmp_path / "t.npz"
    assert str(corpus) in refused(["fit", str(corpus), *PLSA, *TRAIN, *FOLD_IN, "--output", str(output)], capsys)


def test_the_files_of_results_stand_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr("artifact.compare.compare", lambda *given: called.append(given))
    tables = {name: tmp_path / f"{name}.csv" for name in ("scores", "groups", "corpora", "measurements", "notes")}
    tables["arrays"] = tmp_path / "arrays.npz"
    files = {**tables, "reference": tmp_path, "output": tmp_path / "compare.csv"}
    assert main(["compare", *(word for name, path in files.items() for word in (f"--{name}", str(path)))]) == 1
    assert called[0][:3] == (tables, tmp_path, files["output"])


def test_an_experiment_may_have_no_corpus_and_no_topics() -> None:
    typed = ["--model", "none", "--number-of-topics", "0", "--seed", "0", "--test-documents", "0"]
    typed += ["--settings", "{}", "--fold-in-settings", "{}", "--scores", "s", "--output", "m", "--notes", "n"]
    typed += ["--arrays", "a"]
    for files, corpus, topics in (([], None, ()), (["c"], Path("c"), ()), (["c", "t"], Path("c"), [Path("t")])):
        given = steps.parser().parse_args(["experiment", "bounds", *files, *typed])
        assert (given.corpus, given.topics, given.output) == (corpus, topics, Path("m"))


def test_every_step_has_a_help(capsys: pytest.CaptureFixture[str]) -> None:
    for step in steps.STEPS:
        with pytest.raises(SystemExit) as caught:
            main([step.__name__, "--help"])
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: {steps.PROG} {step.__name__} ")
