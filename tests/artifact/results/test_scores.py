"""The scores table: whole, sorted, the same bytes, and read back as written."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.results.scores import (
    COLUMNS,
    DECIMALS,
    GROUPS,
    NATS_COLUMNS,
    TOKENS_COLUMNS,
    Groups,
    Score,
    collect_groups,
    collect_scores,
    group_of,
    read_scores,
    write_scores,
)
from heldout.errors import InputError
from heldout.topics import perplexity

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
    assert (folder / "c.csv").read_bytes() == (folder / "a.csv").read_bytes().partition(b"\n")[2]


def test_collecting_refuses_a_second_report_and_another_table(tmp_path: Path) -> None:
    write_scores(tmp_path / "a.csv", [SCORE])
    write_scores(tmp_path / "b.csv", [replace(SCORE, perplexity=1.0)])
    with pytest.raises(InputError, match="a second time"):
        collect_scores([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "c.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"other\.csv: .*scores"):
        collect_scores([tmp_path / "other.csv"], tmp_path / "c.csv")
    with pytest.raises(InputError, match=r"other\.csv: .*scores"):
        read_scores(tmp_path / "other.csv")
    assert not (tmp_path / "c.csv").exists()


@settings(max_examples=20)
@given(data=st.data(), documents=st.integers(0, 60))
def test_groups_are_by_name_and_add_up(
    data: st.DataObject, documents: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = tuple(f"document {d}" for d in range(documents))
    tokens = np.array(data.draw(st.lists(st.integers(0, 900), min_size=documents, max_size=documents)), dtype=np.int64)
    nats = (-7.123456 * tokens).astype(np.float64)
    groups, order = Groups.of(names, tokens, nats), np.array(data.draw(st.permutations(range(documents))), dtype=int)
    again = Groups.of([names[d] for d in order], tokens[order], nats[order])
    assert again.tokens == groups.tokens
    assert again.log_likelihood == pytest.approx(groups.log_likelihood)
    assert [sum(n for n, d in zip(tokens, names, strict=True) if group_of(d) == g) for g in range(GROUPS)] == list(
        groups.tokens
    )
    assert sum(groups.log_likelihood) == pytest.approx(nats.sum())
    folder = tmp_path_factory.mktemp("groups")
    score = replace(SCORE, tokens=int(tokens.sum()), log_likelihood=float(nats.sum()), groups=groups)
    write_scores(folder / "job.csv", [score, replace(SCORE, seed=1)])
    collect_scores([folder / "job.csv"], folder / "scores.csv")
    collect_groups([folder / "job.csv"], folder / "groups.csv")
    collect_groups([folder / "groups.csv"], folder / "again.csv")
    assert (folder / "again.csv").read_bytes() == (folder / "groups.csv").read_bytes()
    whole = read_scores(folder / "scores.csv", folder / "groups.csv")
    assert whole.equals(read_scores(folder / "job.csv"))
    assert whole[list(TOKENS_COLUMNS)].notna().all(axis=1).tolist() == [True, False]
    assert [whole[name][0] for name in NATS_COLUMNS] == pytest.approx(groups.log_likelihood, abs=10.0**-DECIMALS)


def test_groups_of_other_scores_are_refused(tmp_path: Path) -> None:
    nats = (-7.0 * np.arange(1, 41)).astype(np.float64)
    groups = Groups.of([str(d) for d in range(40)], np.arange(1, 41), nats)
    score = replace(SCORE, tokens=820, log_likelihood=float(nats.sum()), groups=groups)
    write_scores(tmp_path / "job.csv", [score])
    collect_groups([tmp_path / "job.csv"], tmp_path / "groups.csv")
    for other in (replace(score, tokens=821), replace(score, log_likelihood=-5741.0), replace(score, seed=1)):
        write_scores(tmp_path / "scores.csv", [replace(other, groups=None)])
        with pytest.raises(InputError, match="scores in"):
            read_scores(tmp_path / "scores.csv", tmp_path / "groups.csv")
    with pytest.raises(InputError, match="groups"):
        read_scores(tmp_path / "scores.csv", tmp_path / "scores.csv")


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


def test_a_job_s_table_that_lost_a_line_is_refused_and_collected_ones_say_no_number(tmp_path: Path) -> None:
    path, whole = tmp_path / "job.csv", tmp_path / "scores.csv"
    write_scores(path, [SCORE, replace(SCORE, seed=2)])
    collect_scores([path], whole)
    assert not whole.read_text().startswith("#")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    for read in (lambda: collect_scores([path], whole), lambda: read_scores(path)):
        with pytest.raises(InputError, match=r"job\.csv: .* 1 rows.* 2"):
            read()
