"""`heldout choose`: texts and counts in files, the three models, outputs, going on, and wrong invocations."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from heldout.auditing.choice import command as module
from heldout.auditing.choice.command import texts_of
from heldout.auditing.progress import bar
from heldout.cli import main
from heldout.errors import InputError
from heldout.seeds import generator

HALVES = ("ape bear cat dog", "fig kiwi lime plum")


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Twenty texts of two topics; the user's cache is in the same folder, and fits are short."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "PASSES", 5)
    monkeypatch.setattr(module, "SWEEPS", 50)
    rng = generator("test-choose-command")
    return [" ".join(rng.choice(HALVES[d % 2].split(), 12)) for d in range(20)]


def chosen(*typed: str, folder: Path) -> dict[str, Any]:
    """Return the JSON of a choice among one and two topics."""
    path = folder / "choice.json"
    short = ("--topics", "1,2", "--folds", "2", "--samples", "240")
    assert main(["choose", *map(str, typed), *short, "--json", str(path)]) == 0
    values: dict[str, Any] = json.loads(path.read_text())
    return values


def test_a_table_of_texts_page_table_and_going_on(
    texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "interviews.csv"
    pd.DataFrame({"id": range(20), "who": "Ann", "text": texts}).to_csv(table, index=False, encoding="utf-8-sig")
    typed = (table, "--restarts", "2", "--html", tmp_path / "c.html", "--csv", tmp_path / "c.csv")
    values = chosen(*map(str, typed), folder=tmp_path)
    assert values["best"] == "2 topics"
    assert values["tokens"] == 240
    assert (tmp_path / "c.html").read_text().count("data:image/svg+xml") == 2
    rows = pd.read_csv(tmp_path / "c.csv", index_col="topics")
    assert rows.index.tolist() == [1, 2]
    assert rows["nats_per_token"].is_monotonic_increasing
    assert "20 documents of interviews.csv; 8 fits" in capsys.readouterr().err
    kept = sorted((tmp_path / "cache" / "heldout").glob("*.fit.npz"))
    assert len(kept) == 8
    times = [path.stat().st_mtime_ns for path in kept]
    assert chosen(*map(str, typed), "--jobs", "2", folder=tmp_path)["models"] == values["models"]
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_another_model_on_a_folder_of_texts(texts: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for d, text in enumerate(texts):
        (folder / f"{d:02}.txt").write_text(text)
    values = chosen(str(folder), "--model", "lda-online", "--store", str(tmp_path / "store"), folder=tmp_path)
    assert values["best"] == "2 topics"
    assert values["models"][0]["library"] == "scikit-learn"
    assert len(list((tmp_path / "store").glob("*.fit.npz"))) == 4


def test_counts_and_tomotopy(texts: list[str], tmp_path: Path) -> None:
    words = " ".join(HALVES).split()
    counts = np.array([[text.split().count(word) for word in words] for text in texts])
    sp.save_npz(tmp_path / "counts.npz", sp.csr_matrix(counts))
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n")
    named = ("--documents-vocabulary", str(tmp_path / "words.txt"))
    values = chosen(str(tmp_path / "counts.npz"), *named, "--model", "tomotopy", folder=tmp_path)
    assert (values["best"], values["tokens"], values["models"][0]["library"]) == ("2 topics", 240, "tomotopy")
    assert values["coherence_choice"] is not None


def test_columns_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("text;note\nan ape sleeps here;no\nthe fig is ripe;\n")
    assert texts_of(table, None) == ["an ape sleeps here", "the fig is ripe"]
    assert texts_of(table, "note") == ["no", ""]
    pytest.importorskip("pyarrow")
    pd.read_csv(table, sep=";").to_parquet(tmp_path / "t.parquet")
    assert texts_of(tmp_path / "t.parquet", None) == ["an ape sleeps here", "the fig is ripe"]
    table.write_text("ape,fig\n1,0\n0,2\n")
    assert texts_of(table, None) is None
    table.write_text("one,two\na b c d,e f g h\n")
    with pytest.raises(InputError, match="one, two hold texts; name one"):
        texts_of(table, None)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--topics", "2;5"), "--topics 2;5: give whole numbers between commas"),
        (("--topics", "2"), "give two or more different ones"),
        (("--topics", "1,2", "--model", "nmf"), "--model nmf: there are lda, lda-online, tomotopy"),
        (("--topics", "1,2", "--column", "body"), "--column body: "),
        (("--topics", "1,2", "--folds", "99"), "99 folds of 2 documents"),
    ],
)
def test_a_wrong_invocation_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: tuple[str], message: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "t.csv").write_text("text\nan ape sleeps here\nthe fig is ripe\n")
    assert main(["choose", str(tmp_path / "t.csv"), *typed]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if message in line]
    assert len(said) == 1
    assert not list(tmp_path.glob("cache/heldout/*"))


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 20.0, 24.0, 40.0])
    monkeypatch.setattr("heldout.auditing.progress.time.monotonic", lambda: next(clock))
    err = io.StringIO()
    with bar(err) as moved:
        for documents, share in ((10, 0.1), (20, 0.3), (30, 0.4), (40, 0.5)):
            moved(documents, share)
    assert err.getvalue().splitlines() == [
        "heldout: 20 documents, 30%, about 1.2 min left",
        "heldout: 40 documents, 50%, about 50 s left",
    ]
