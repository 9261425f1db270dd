"""Table 1: the corpora beside their published characteristics."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.files import read_rows, write_rows

if TYPE_CHECKING:  # numba: too slow a start where the columns alone are wanted
    from heldout.corpora.corpus import Corpus
    from heldout.corpora.synthetic import Shape

COLUMNS = (
    "corpus",
    "synthetic",
    "train_documents",
    "test_documents",
    "vocabulary",
    "tokens",
    "mean_length",
    "published_train_documents",
    "published_test_documents",
    "published_vocabulary",
    "published_mean_length",
    "source_sha256",
    "rule",
)
PUBLISHED_COLUMNS = ("corpus", "train_documents", "test_documents", "vocabulary", "mean_length")


def base_name(corpus: str) -> str:
    """Return the name of a variant's published corpus, without -like or -unstemmed."""
    return corpus.removesuffix("-like").removesuffix("-unstemmed")


def read_published(path: Path) -> "dict[str, Shape]":
    """Read the published characteristics (Welling et al., 2008, Table 1), by corpus.

    Raises:
        InputError: when the file is missing, has other columns, or a value is no number.
    """
    from heldout.corpora.synthetic import Shape

    shapes = {}
    for where, row in read_rows(path, PUBLISHED_COLUMNS):
        try:
            corpus, train, test, vocabulary, mean_length = row
            shapes[corpus] = Shape(int(train), int(test), int(vocabulary), float(mean_length))
        except ValueError as error:
            raise InputError(f"{where}: expected a name and four numbers") from error
    return shapes


def published_shape(corpus: str, published_csv: Path) -> "Shape":
    """Return the published size of a variant's corpus.

    Raises:
        InputError: lists the published corpora.
    """
    shapes = read_published(published_csv)
    if base_name(corpus) not in shapes:
        raise InputError(f"corpus {corpus}: {published_csv} has no row for it, only {', '.join(shapes)}")
    return shapes[base_name(corpus)]


def describe(
    corpora: "Sequence[Corpus]", test_documents: Mapping[str, int], published_csv: Path
) -> list[dict[str, str | int | float]]:
    """Return the rows of Table 1, one per corpus, with the keys `COLUMNS`; blank where nothing was published.

    Raises:
        InputError: when a corpus has no number of test documents or too few documents for it.
    """
    published = read_published(published_csv)
    rows: list[dict[str, str | int | float]] = []
    for corpus in corpora:
        held_out = test_documents.get(corpus.name)
        if held_out is None:
            raise InputError(f"corpus {corpus.name}: the number of its test documents is not given")
        least = 0 if corpus.provenance.get("relations") else 1  # of relations cells are held out
        if not least <= held_out < corpus.n_documents:
            raise InputError(
                f"corpus {corpus.name}: {held_out} test documents cannot be held out of {corpus.n_documents}"
            )
        sources = corpus.provenance.get("sources", [])
        published_size: list[Any] = [""] * 4
        if shape := published.get(base_name(corpus.name)):
            published_size = [shape.train_documents, shape.test_documents, shape.vocabulary, shape.mean_length]
        cells: list[Any] = [
            *(corpus.name, str(corpus.synthetic).lower(), corpus.n_documents - held_out, held_out),
            *(corpus.n_words, corpus.n_tokens, corpus.n_tokens / corpus.n_documents, *published_size),
            *(sources[0]["content_sha256"] if sources else "", corpus.provenance.get("rule", {}).get("words", "")),
        ]
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def write_table(rows: Sequence[Mapping[str, str | int | float]], path: Path) -> None:
    """Write the rows of `describe` as CSV, floats with all their digits."""
    write_rows(path, COLUMNS, ([row[column] for column in COLUMNS] for row in rows))
