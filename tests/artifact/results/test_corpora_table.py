import csv
from pathlib import Path

import pytest

from artifact.results.corpora import COLUMNS, base_name, describe, published_shape, read_published, write_table
from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Shape, draw
from heldout.errors import InputError

PUBLISHED = Path(__file__).parents[3] / "data" / "published" / "welling-2008-table-1.csv"


def own() -> Corpus:
    provenance = {"sources": [{"file": "x", "content_sha256": "ab"}], "rule": {"words": "all words"}}
    return Corpus.from_documents("own", [("1", ["a", "b"]), ("2", ["b"]), ("3", ["a"])], provenance)


def test_published_values() -> None:
    assert read_published(PUBLISHED) == {
        "cranfield": Shape(979, 419, 3763, 84.3),
        "medline": Shape(724, 309, 7014, 79.6),
        "nips": Shape(150, 50, 10780, 1381.1),
    }
    assert published_shape("medline-like", PUBLISHED) == published_shape("medline-unstemmed", PUBLISHED)
    with pytest.raises(InputError, match=r"corpus own: .*cranfield, medline, nips"):
        published_shape("own", PUBLISHED)
    assert base_name("nips-like") == base_name("nips") == "nips"


def test_rows_in_the_order_given(tmp_path: Path) -> None:
    like, _ = draw("nips-like", published_shape("nips-like", PUBLISHED), 0.1)
    rows = describe([own(), like], {"nips-like": 5, "own": 1}, PUBLISHED)
    path = tmp_path / "table.csv"
    write_table(rows, path)
    with path.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert tuple(first) == COLUMNS
    assert list(first.values()) == [
        *("own", "false", "2", "1", "2", "4", repr(4 / 3), "", "", "", "", "ab", "all words")
    ]
    assert (second["corpus"], second["synthetic"]) == ("nips-like", "true")
    assert (second["train_documents"], second["published_train_documents"]) == ("15", "150")
    assert (second["vocabulary"], second["published_vocabulary"]) == ("1078", "10780")
    assert second["published_mean_length"] == "1381.1"
    assert float(second["mean_length"]) == like.n_tokens / 20


def test_missing_or_impossible_numbers_of_test_documents() -> None:
    with pytest.raises(InputError, match=r"corpus own: .*test documents"):
        describe([own()], {}, PUBLISHED)
    for number in (0, 3):
        with pytest.raises(InputError, match=f"corpus own: {number} test documents"):
            describe([own()], {"own": number}, PUBLISHED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "line 1: the columns must be"),
        ("{header}x,1,2,3\n", "line 2: expected"),
        ("{header}x,1,2,3,y\n", "line 2"),
    ],
)
def test_malformed_published_values(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "published.csv"
    path.write_text(text.format(header="corpus,train_documents,test_documents,vocabulary,mean_length\n"))
    with pytest.raises(InputError, match=message):
        read_published(path)
    with pytest.raises(InputError, match=r"missing\.csv: "):
        read_published(tmp_path / "missing.csv")
