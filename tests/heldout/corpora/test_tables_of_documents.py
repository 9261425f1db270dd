"""Files with a table of counts: the same documents from every way to write it, or one line."""

import gzip
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from heldout.corpora.documents import guess_form, read_documents
from heldout.errors import InputError

COUNTS = [[1, 0, 2], [0, 3, 0]]
TABLE = pd.DataFrame(COUNTS, columns=["ape", "bear", "nan"])
NAMED = TABLE.set_axis(["a", "b"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TABLE.to_csv(index=False), ("row 0", "row 1")),
        (TABLE.to_csv(index=False, sep=";"), ("row 0", "row 1")),
        (TABLE.to_csv(index=False, sep="\t"), ("row 0", "row 1")),
        (TABLE.to_csv(index=False, lineterminator="\r\n"), ("row 0", "row 1")),
        (TABLE.to_csv(), ("0", "1")),
        (TABLE.to_csv().replace(",", "Unnamed: 0,", 1), ("0", "1")),
        (NAMED.to_csv(), ("a", "b")),
        (NAMED.to_csv(index_label="doc_id"), ("a", "b")),
        ('"ape","bear","nan"\n"a",1,0,2\n"b",0,3,0\n', ("a", "b")),  # R's write.table
        ("ape,bear,nan\n1.0,0.0,2.0\n0,3,0\n", ("row 0", "row 1")),
    ],
)
def test_a_table_is_read_however_it_is_written(text: str, names: tuple[str, ...], tmp_path: Path) -> None:
    for name, content in {
        "docs.csv": text.encode(),
        "marked.csv": text.encode("utf-8-sig"),
        "docs.TSV": text.encode(),
        "docs.csv.gz": gzip.compress(text.encode()),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert guess_form(tmp_path / name) == "csv"
        documents = read_documents(tmp_path / name)
        assert documents.vocabulary == ("ape", "bear", "nan")
        assert documents.counts().toarray().tolist() == COUNTS
        assert (documents.documents, documents.provenance["ordered"]) == (names, False)


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"", "docs.csv"),
        (b"ape,bear\n", "docs.csv"),
        (b"1,2\n0,1\n", "line 1 names no words"),
        (b"ape,ape\n0,1\n", "two columns are named 'ape'"),
        (b"ape,bear\n0,1\n0,1,1,1\n", "line 3"),
        (b"ape,bear\n0,1\n0\n", "column 'bear' lacks 1"),
        (b"ape,bear\n0,1\nO,1\n", "column 'ape' holds no counts"),
        (b"ape,bear\n0,NA\n", "column 'bear' lacks 1"),
        (b"ape,bear\n0,0.5\n", "row 0: a count of 0.5"),
        (b"ape,bear\n0,-1\n", "row 0: a count of -1"),
        (b"ape,bear,text\n0,1,the ape\n", "column 'text' holds no counts"),
        (b"ape,b\xe4r\n0,1\n", "line 1: not UTF-8"),
        (b'"ape" "bear"\n0 1\n', "docs.csv"),
        (b"\x1f\x8b" + b"0" * 20, "docs.csv"),
    ],
)
def test_a_table_that_is_none_is_one_line(content: bytes, where: str, tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_bytes(content)
    with pytest.raises(InputError, match=where) as caught:
        read_documents(tmp_path / "docs.csv")
    assert "docs.csv" in str(caught.value)


def test_parquet_is_read_or_its_package_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docs.parquet"
    path.write_bytes(b"PAR1")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(InputError, match="pip install pandas pyarrow"):
            read_documents(path)
    pytest.importorskip("pyarrow")
    tables: list[tuple[Any, tuple[str, ...]]] = [(TABLE, ("row 0", "row 1")), (NAMED, ("a", "b"))]
    for table, names in [*tables, (NAMED.reset_index(names="doc_id"), ("a", "b"))]:
        table.to_parquet(path)
        documents = read_documents(path)
        assert (documents.counts().toarray().tolist(), documents.documents) == (COUNTS, names)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"docs\.parquet"):
        read_documents(path)


def test_a_table_takes_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs.csv").write_text("ape\n1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        read_documents(tmp_path / "docs.csv")
