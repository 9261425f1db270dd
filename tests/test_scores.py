"""The scores table: whole, sorted, the same bytes, and read back as written."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.scores import COLUMNS, Score, collect_scores, perplexity, read_scores, write_scores

SCORE = Score(
    corpus="cranfield",
    model="plsa-hof",
    variant="smoothed-after-training",
    topics=5,
    smoothing=1e-10,
    chain="none",
    evaluator="full-folding-in",
    samples=0,
    seed=0,
    documents=419,
    tokens=35000,
    documents_left_out=0,
    tokens_left_out=0,
    log_likelihood=-220000.1234567891,
    perplexity=536.1234567891234,
    standard_error=0.0,
)


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    rows = [
        replace(SCORE, topics=50),
        SCORE,
        replace(SCORE, chain="0", standard_error=math.nan, log_likelihood=-math.inf),
    ]
    write_scores(tmp_path / "scores.csv", rows)
    table = read_scores(tmp_path / "scores.csv")
    assert tuple(table.columns) == COLUMNS
    assert table.log_likelihood.tolist() == [-math.inf, SCORE.log_likelihood, SCORE.log_likelihood]
    assert table.chain.tolist() == ["0", "none", "none"]
    assert table.standard_error.isna().tolist() == [True, False, False]


@given(order=st.permutations(range(6)))
def test_bytes_do_not_depend_on_order(order: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("scores")
    rows = [replace(SCORE, topics=k, seed=s) for k in (5, 10, 100) for s in (0, 1)]
    write_scores(folder / "a.csv", rows)
    write_scores(folder / "b.csv", [rows[i] for i in order])
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    for i in order:
        write_scores(folder / f"part-{i}.csv", [rows[i]])
    collect_scores([folder / f"part-{i}.csv" for i in order], folder / "c.csv")
    assert (folder / "c.csv").read_bytes() == (folder / "a.csv").read_bytes()


def test_collecting_refuses_a_second_report_and_another_table(tmp_path: Path) -> None:
    write_scores(tmp_path / "a.csv", [SCORE])
    write_scores(tmp_path / "b.csv", [replace(SCORE, perplexity=1.0)])
    with pytest.raises(InputError, match="a second time"):
        collect_scores([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "c.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"other\.csv: not a scores table"):
        collect_scores([tmp_path / "other.csv"], tmp_path / "c.csv")
    with pytest.raises(InputError, match=r"other\.csv: not a scores table"):
        read_scores(tmp_path / "other.csv")
    assert not (tmp_path / "c.csv").exists()


def test_perplexity_of_the_uniform_distribution_is_the_vocabulary_size() -> None:
    assert perplexity(-7 * math.log(1234), 7) == pytest.approx(1234, rel=1e-12)
    assert perplexity(-math.inf, 7) == math.inf
    with pytest.raises(InputError, match="no tokens"):
        perplexity(0.0, 0)


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda text: text[:-5], "last line has no end"),
        (lambda text: text[: text.rindex(",")] + "\n", "scores table"),
        (lambda text: text.replace(",419,", ",", 1), "scores table"),
        (lambda text: text.replace(",419,", ",419,0,", 1), "scores table"),
        (lambda text: text.replace(",419,", ",4x19,", 1), "scores table"),
        (lambda text: text.replace(",419,", ",,", 1), "scores table"),
        (lambda text: text[:0], "scores table"),
    ],
)
def test_a_table_that_was_cut_or_edited_is_refused(tmp_path: Path, cut: Any, message: str) -> None:
    path = tmp_path / "scores.csv"
    write_scores(path, [SCORE, replace(SCORE, seed=1)])
    path.write_text(cut(path.read_text()))
    with pytest.raises(InputError, match=message):
        read_scores(path)
    with pytest.raises(InputError, match=message):
        collect_scores([path], tmp_path / "all.csv")
    assert not (tmp_path / "all.csv").exists()
