"""20 newsgroups by date, from R's files."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heldout.corpora.download import fetch
from heldout.corpora.names import raw_files
from heldout.corpora.prepare import prepare
from heldout.corpora.rda import read_newsgroups
from heldout.errors import InputError

DATA = Path(__file__).parents[3] / "data"


def members(folder: Path, **changes: object) -> dict[str, bytes]:
    """Return the files of four postings in two groups."""
    rdata = pytest.importorskip("rdata")
    train = [np.array([[0, 2], [2, 1]], dtype=np.int32), np.array([[1], [5]], dtype=np.int32)]
    test = [np.array([[3], [1]], dtype=np.int32), np.array([[2, 0], [1, 3]], dtype=np.int32)]
    parts: dict[str, object] = {
        "train.documents": train,
        "train.labels": np.array([1, 2], dtype=np.int32),
        "test.documents": test,
        "test.labels": np.array([2, 1], dtype=np.int32),
        "label.map": pd.DataFrame({"V1": pd.Categorical(["alt.one", "alt.two"]), "V2": np.array([1, 2], np.int32)}),
        "vocab": np.array(["wing", "the", "flow", "mp3"]),
        **changes,
    }
    files = {"english.stop": b"the\nof\n"}
    for part, value in parts.items():
        rdata.write_rda(str(folder / "one.rda"), {f"newsgroup.{part}": value})
        files[f"newsgroup.{part}.rda"] = (folder / "one.rda").read_bytes()
    return files


def test_postings_have_groups_and_parts_and_words_of_letters(tmp_path: Path) -> None:
    corpus = read_newsgroups("newsgroups", members(tmp_path))
    assert corpus.vocabulary == ("wing", "flow")
    assert corpus.documents == ("alt.one/train-1", "alt.one/test-2")
    assert [corpus.document(d).tolist() for d in (0, 1)] == [[0, 0, 1], [0, 0, 0, 1]]
    assert corpus.provenance["records_left_out"] == ["alt.two/train-2", "alt.two/test-1"]
    assert not corpus.provenance["ordered"]


def test_other_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="six files"):
        read_newsgroups("newsgroups", members(tmp_path, **{"train.labels": np.array([7, 2], dtype=np.int32)}))
    cut = members(tmp_path)
    cut["newsgroup.vocab.rda"] = cut["newsgroup.vocab.rda"][:-10]
    with pytest.raises(InputError, match=r"newsgroup\.vocab\.rda: "):
        read_newsgroups("newsgroups", cut)


@pytest.mark.long
def test_the_counts_are_rennies(tmp_path: Path) -> None:
    folder = os.environ.get("HELDOUT_MIRROR")
    if not folder:
        pytest.skip("the real corpora are needed: set HELDOUT_MIRROR to a folder that holds their archives")
    for file in raw_files("newsgroups"):
        fetch(file, DATA / "corpora.csv", tmp_path / file, Path(folder))
    corpus = prepare("newsgroups", tmp_path, DATA / "corpora.csv")
    parts = [sum(f"/{part}-" in name for name in corpus.documents) for part in ("train", "test")]
    left_out = [sum(f"/{part}-" in n for n in corpus.provenance["records_left_out"]) for part in ("train", "test")]
    assert [sum(pair) for pair in zip(parts, left_out, strict=True)] == [11_269, 7_505]
    assert len({name.partition("/")[0] for name in corpus.documents}) == 20
