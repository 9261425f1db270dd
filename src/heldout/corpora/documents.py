"""The reader of documents: counts in any form, lists of words and texts, all into one `Corpus`.

A table of counts has a document in each row and a word in each column, named by its head; pandas reads it from a file,
whose first column may name the documents.

Counts are read whole into memory by scipy and NumPy: some 40 bytes a count while they are read, and 4 bytes a token
from then on. The corpus's `provenance` says in "words" how far its words are known: `TEXTS`, `COLUMNS` or `NUMBERS`; it
has no such entry where the source names its vocabulary.

A bag of words has no order, but some estimators depend on one (linear time; left to right, with few samples), and to
them a sorted document is an unlikely sequence, because all its repeated words stand together. `in_random_order` draws
one for every document by itself, named by (the document's place, seed).
"""

import csv
import gzip
import hashlib
import io
import re
from collections.abc import Mapping, Set
from dataclasses import replace
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heldout.corpora import text_folder
from heldout.corpora.archives import content_digest
from heldout.corpora.corpus import Corpus, offsets_of, provenance
from heldout.corpora.counts import (
    INDEX,
    RULE,
    read_bytes,
    read_lines,
    read_vocabulary,
    stream_lines,
    text_of,
    unmarked,
)
from heldout.corpora.preprocess import require_documents
from heldout.errors import InputError
from heldout.files import reading_arrays
from heldout.limits import ALLOWANCE, EXPANSION, check_expansion, one_line, open_zip, require_file
from heldout.seeds import generator

FORMS = ("scipy", "mm", "uci", "ldac", "csv", "parquet", "text", "heldout")
TEXTS, COLUMNS, NUMBERS = "texts", "columns", "numbers"  # words of the documents; V columns; numbers below V or more
COPY = "copy the file again"
TABLES = {"csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz"), "parquet": (".parquet",)}  # endings of tables' names
LONGEST_NAME = 255  # bytes of a file's name, on most systems
LARGEST_COUNT = 10**7  # tokens
MOST_NAMED = 5  # words left out
# int32 tokens of this number take 2 GB; more, or so many for each count, is a damaged file, not a corpus
MAXIMUM_TOKENS, MOST_PER_COUNT = 500_000_000, 1000
MOST_WORDS = 4 * 10**6
MOST_EMPTY = 10**5  # documents without a word, beside ten for each count
LDA_C = re.compile(r"[0-9]+(\s+[0-9]+:[0-9]+)*", re.ASCII)


def read_documents(
    source: Any, *, form: str | None = None, documents_vocabulary: Path | None = None, stem: bool = False
) -> Corpus:
    """Read documents in any form; tokens of counts come in vocabulary order.

    Args:
        source: a path: a matrix of scipy.sparse.save_npz ("scipy"), Matrix Market as gensim writes it, numbered from 1
            ("mm"), UCI's docword.txt ("uci"), LDA-C ("ldac"), a table of counts below a line of words ("csv",
            "parquet"), a folder of .txt ("text"), a corpus that `heldout prepare` or `heldout import` wrote
            ("heldout"); all but binary files may be gzipped. Or an object: counts (D, V), a scipy sparse matrix of any
            format, an array or a tensor, or a table whose columns are words; a Corpus; or documents, each a list of
            words, a Counter of them, or gensim's bag of words: pairs of a word's number and its count.
        form: one of `FORMS`; guessed from the first bytes where it is None.
        documents_vocabulary: the documents' own words, one per line, for forms that name none.
        stem: whether words of texts are stemmed (lancaster), as by `heldout import --stem`.

    Raises:
        InputError: where the form is unknown or does not show, the file cannot be read, or the vocabulary does not fit.

    Examples:
        >>> documents = read_documents([["wing", "flow", "wing"], ["heat"]])
        >>> documents.vocabulary, documents.tokens
        (('flow', 'heat', 'wing'), array([2, 0, 2, 1], dtype=int32))
    """
    if form is not None and form not in FORMS:
        raise InputError(f"there is no form {form} of documents; there are {', '.join(FORMS)}")
    if isinstance(source, str):
        _refuse_text(source)
    if hasattr(source, "detach") and hasattr(source, "to_dense"):  # a tensor, with a gradient or on a device perhaps
        source = source.detach().cpu().to_dense().numpy()
    if isinstance(source, str | Path):
        documents = _read_path(Path(source), form, stem=stem)
    elif isinstance(source, Corpus):
        documents = source
    elif sp.issparse(source):
        documents = _read_matrix(source)
    elif hasattr(source, "columns") and hasattr(source, "to_numpy"):
        documents = _read_table(source)
    elif isinstance(source, np.ndarray) and source.ndim != 1:
        documents = _read_matrix(source)
    elif hasattr(source, "__len__") and hasattr(source, "__iter__") and not isinstance(source, bytes | Mapping | Set):
        documents = _read_lists(source)
    else:
        raise InputError(
            f"documents of the kind {type(source).__name__} cannot be read; give counts (a scipy sparse matrix, an"
            " array or a table), a list of lists of words, of Counters or of gensim's pairs, a Corpus or a path"
        )
    if documents_vocabulary is None:
        return documents
    return with_words(documents, read_vocabulary(documents_vocabulary, read_bytes(documents_vocabulary)))


def with_words(documents: Corpus, words: tuple[str, ...]) -> Corpus:
    """Return documents of numbered words over a vocabulary, which names word i in place i.

    Raises:
        InputError: where the documents name their words, or have another number of them.
    """
    known = documents.provenance.get("words")
    if known not in (COLUMNS, NUMBERS):
        raise InputError(f"{documents.name}: these documents name their words; leave the documents' vocabulary out")
    V = documents.n_words
    if len(words) < V or (len(words) > V and known == COLUMNS):
        raise InputError(
            f"{documents.name}: {V} words that are not named, but {len(words)} in the vocabulary; name the documents'"
            " own, in Python by lists of words or a table whose columns are words, for the command in a file, one per"
            " line (--documents-vocabulary)"
        )
    details = {name: value for name, value in documents.provenance.items() if name != "words"}
    return replace(documents, vocabulary=words, provenance=details)


def unmatched(documents: Corpus, words: tuple[str, ...]) -> dict[str, Any]:
    """Return the words of documents and of a model that do not meet, for the matched documents' provenance.

    Args:
        documents: as they were read, before they are matched.
        words: the model's.

    Returns:
        "words_left_out", the documents' most frequent words that the model lacks; of a folder of texts, "uncut", the
        model's words that the rule by which texts are cut never makes.
    """
    if documents.provenance.get("words") in (COLUMNS, NUMBERS):
        return {}
    known = set(words)
    lacking = np.array([word not in known for word in documents.vocabulary], dtype=np.bool_)
    counts = np.bincount(documents.tokens, minlength=documents.n_words) * lacking
    most = [v for v in np.argsort(-counts, kind="stable")[:MOST_NAMED].tolist() if counts[v]]
    uncut = list[str]()
    if "stemmed" in documents.provenance:
        words_of = text_folder.cut(stem=documents.provenance["stemmed"])
        uncut = [word for word in words if words_of(word) != [word]]
    return {"words_left_out": [documents.vocabulary[v] for v in most], "uncut": uncut}


def each_once(documents: Corpus) -> Corpus:
    """Return documents with every word once, where it stands first, as a vectorizer with binary=True counts."""
    streams = [documents.document(d) for d in range(documents.n_documents)]
    firsts = [np.sort(np.unique(stream, return_index=True)[1]) for stream in streams]
    once = [stream[first] for stream, first in zip(streams, firsts, strict=True)]
    return documents.with_streams(once, documents.documents)


def digest_of(documents: Corpus) -> str:
    """Return the SHA-256 of documents as they were read, and of the words that they name, hexadecimal."""
    tokens = hashlib.sha256(np.ascontiguousarray(documents.offsets, dtype=np.int64).data)
    tokens.update(np.ascontiguousarray(documents.tokens, dtype=np.int32).data)
    digest = hashlib.sha256(tokens.hexdigest().encode())
    for word in () if documents.provenance.get("words") in (COLUMNS, NUMBERS) else documents.vocabulary:
        digest.update(f"{word}\0".encode(errors="surrogatepass"))
    return digest.hexdigest()


def in_random_order(documents: Corpus, seed: int) -> Corpus:
    """Return documents whose bags of words have the order of (the document's place, seed); texts keep their own."""
    if documents.provenance["ordered"]:
        return documents
    tokens = documents.tokens.copy()
    for d, (start, end) in enumerate(pairwise(documents.offsets.tolist())):
        bag = tokens[start:end]
        bag.sort()  # however the source lists a bag, it is the same bag
        generator("token-order", document=d, seed=seed).shuffle(bag)
    return replace(documents, tokens=tokens)


def import_counts(data: Path, vocab: Path, name: str, form: str) -> Corpus:
    r"""Read a corpus of counts in the form "uci" or "ldac", and its words, one per line; the files are its provenance.

    Words of the vocabulary that do not occur stay in it.

    Raises:
        InputError: as `read_documents` does, for an empty document, or for fewer than two.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     data, vocab = Path(folder, "tiny.ldac"), Path(folder, "vocab.txt")
        ...     _ = data.write_text("2 0:2 2:1\n1 1:1\n")
        ...     _ = vocab.write_text("flow\nheat\nwing\n")
        ...     corpus = import_counts(data, vocab, "tiny", "ldac")
        >>> corpus.counts().toarray()
        array([[2., 0., 1.],
               [0., 1., 0.]])
    """
    documents = read_documents(data, form=form, documents_vocabulary=vocab)
    return _imported(documents, name, {path.name: read_bytes(path) for path in (data, vocab)}, form)


def read_archive(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Read a corpus of an archive's two members, NAME.dat in the form "ldac" and vocab.txt; see `import_counts`."""
    (data, content), (vocab, words) = sorted(members.items(), key=lambda member: not member[0].endswith(".dat"))
    matrix = _ldac(Path(data), content)
    documents = with_words(_read_matrix(matrix, Path(data).name, NUMBERS, 1), read_vocabulary(Path(vocab), words))
    return _imported(documents, name, {Path(data).name: content, Path(vocab).name: words}, "ldac")


def _imported(documents: Corpus, name: str, files: Mapping[str, bytes], form: str) -> Corpus:
    """Return documents of counts as a corpus with a name and the files that it was made of, the counts first."""
    if (empty := np.flatnonzero(documents.lengths == 0)).size:
        raise InputError(f"{documents.name}: document {documents.documents[empty[0]]} has no tokens; leave it out")
    require_documents(name, documents.n_documents)
    sources = [{"file": file, "content_sha256": content_digest({file: files[file]})} for file in files]
    return replace(documents, name=name, provenance=provenance(RULE, {"format": form}, sources=sources, ordered=False))


def guess_form(path: Path) -> str:
    """Return the form of a file or folder of documents, by its first bytes.

    Raises:
        InputError: when it shows none of them.
    """
    if path.is_dir():
        return "text"
    if path.suffix == ".npz":
        with open_zip(path, ".npz", COPY) as archive:
            members = set(archive.namelist())
        if {"format.npy", "shape.npy"} <= members:
            return "scipy"
        if {"tokens.npy", "offsets.npy"} <= members:
            return "heldout"
        raise InputError(f"{path}: neither a sparse matrix nor a corpus; write scipy.sparse.save_npz(file, matrix)")
    for form, endings in TABLES.items():
        if path.name.lower().endswith(endings):
            return form
    lines = [line.strip() for _, line in islice(stream_lines(path), 3)]
    if lines and lines[0].lower().startswith("%%matrixmarket"):
        return "mm"
    if len(lines) == 3 and all(re.fullmatch(r"[1-9][0-9]*", line, re.ASCII) for line in lines):
        return "uci"
    if lines and all(not line or LDA_C.fullmatch(line) for line in lines):
        return "ldac"
    raise InputError(
        f"{path}: its first lines show no form of documents; name it (--format {'|'.join(FORMS)}, in Python"
        " heldout.corpora.documents.read_documents(path, form=...))"
    )


def _refuse_text(source: str) -> None:
    """Refuse a text in place of a path: a path has no line ends, no spaces without a file, and none of that length."""
    try:
        there = Path(source).exists()
    except (OSError, ValueError):  # too long a name, or a NUL in it
        there = False
    if not there and (len(source) > LONGEST_NAME or any(c.isspace() or c == "\0" for c in source)):
        raise InputError(
            f"documents that are one text, {source!r:.40}, and no path; give a list of documents, each a list of words"
        )


def _read_path(path: Path, form: str | None, *, stem: bool) -> Corpus:
    """Return the documents of a file or a folder."""
    if not path.exists():
        raise InputError(f"{path}: no such file of documents")
    form = form or guess_form(path)
    if form == "text":
        texts = text_folder.words_of_files(path, stem=stem)
        return Corpus.from_documents(path.resolve().name, texts, {"words": TEXTS, "stemmed": stem})
    if stem:
        raise InputError(f"{path}: only texts are stemmed; leave stem (--stem) out")
    require_file(path)
    if not path.is_file():
        raise InputError(f"{path}: a folder; the form {form} is a file")
    if form == "heldout":
        return Corpus.load(path)
    if form == "scipy":
        with reading_arrays(path, "matrix of scipy.sparse.save_npz", "save it again"):
            return _read_matrix(sp.load_npz(path), path.name)
    if form in TABLES:
        return _read_table(*_table_of(path, form), name=path.name)
    content = _unpacked(path)
    if content.startswith(b"PK\x03\x04"):
        raise InputError(f"{path}: a zip or .npz file, and no text of the form {form}; leave the form out (--format)")
    matrix = (_ldac if form == "ldac" else _coordinates)(path, content)
    return _read_matrix(matrix, path.name, NUMBERS if form == "ldac" else COLUMNS, 1)


def _unpacked(path: Path) -> bytes:
    """Return a file's bytes without a byte order mark, unpacked where it is gzipped (by its first bytes)."""
    content = read_bytes(path)
    if not content.startswith(b"\x1f\x8b"):
        return unmarked(content)
    with one_line(path, "truncated or damaged", COPY), gzip.open(io.BytesIO(content)) as file:
        expanded = file.read(EXPANSION * len(content) + ALLOWANCE + 1)
    check_expansion(len(content), len(expanded), str(path))
    return unmarked(expanded)


def _table_of(path: Path, form: str) -> tuple[Any, tuple[str, ...] | None]:
    """Return the table in a file, columns between commas, semicolons or tabs, and its documents' names, if it has them.

    The first column names the documents where it holds no number, or its head is empty or "Unnamed: 0".

    Raises:
        InputError: when it is none, or pandas is not installed.
    """
    needed = "pandas" if form == "csv" else "pandas pyarrow"
    try:
        import pandas as pd

        if form == "parquet":
            import_module("pyarrow")
    except ImportError as error:
        raise InputError(f"{path}: a table takes {needed}: pip install {needed} ({error!s:.200})") from error
    if form == "parquet":
        with one_line(path, "no table in Parquet", COPY):
            table = pd.read_parquet(path)
        heads = list(table.columns)
        if not isinstance(table.index, pd.RangeIndex):
            return table, tuple(map(str, table.index))
    else:
        text = text_of(path, _unpacked(path))
        line = text.partition("\n")[0]
        comma = max(",;\t", key=line.count)
        with one_line(path, "no table of comma-separated values", "write it again"):
            heads = next(csv.reader([line.removesuffix("\r")], delimiter=comma, strict=True), [])
            table = pd.read_csv(io.StringIO(text), sep=comma, header=None, skiprows=1, low_memory=False)
        if len(table.columns) == len(heads) + 1:  # as R's write.table names rows
            heads.insert(0, "")
        if len(table.columns) != len(heads):
            raise InputError(f"{path}: {len(table.columns)} columns, but line 1 names {len(heads)}; truncated?")
        if not any(head.strip("+-.0123456789") for head in heads):
            raise InputError(f"{path}: line 1 names no words; the first line of a table of counts has its words")
        table.columns = pd.Index(heads)
    # a column of counts with a misprint in it is no column of names
    first = table.iloc[:, 0] if heads else pd.Series(dtype=float)
    texts = first.dtype.kind not in "biuf" and pd.to_numeric(first, errors="coerce").isna().all()
    if heads and (heads[0] in INDEX or texts):
        return table.iloc[:, 1:], tuple(map(str, first))
    return table, None


def _coordinates(path: Path, content: bytes) -> Any:
    """Return the matrix of a Matrix Market file, or of UCI's docword.txt, which has D, V and the counts' number first.

    NumPy reads the lines: scipy's own reader has been seen to end the process on damaged ones.

    Raises:
        InputError: names the file, and the line where NumPy tells it.
    """
    head, _, body = content.partition(b"\n")
    kind = head.lower().split()
    if kind[:3] == [b"%%matrixmarket", b"matrix", b"coordinate"] and kind[3:] in (
        [b"integer", b"general"],
        [b"real", b"general"],
    ):
        head = b"%"
        while head.startswith(b"%") or (body and not head.strip()):
            head, _, body = body.partition(b"\n")
        sizes = head.split()
    else:
        *sizes, body = (line.strip() for line in content.split(b"\n", 3)) if content.count(b"\n") > 2 else (b"", b"")
    if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise InputError(
            f"{path}: line 1: neither a Matrix Market header (coordinate, integer or real, general) nor three lines D,"
            " W and NNZ"
        )
    D, V, entries = map(int, sizes)
    with one_line(path, "not a matrix of counts", COPY), np.errstate(invalid="ignore"):
        rows = np.loadtxt(io.BytesIO(body), ndmin=2, comments="%") if body.strip() else np.zeros((0, 3))
        if rows.shape != (entries, 3):
            raise ValueError(f"{entries} lines of 3 numbers announced, {len(rows)} of {rows.shape[1]} found")
        places = rows[:, :2].astype(np.int64)
        if (places != rows[:, :2]).any() or (places < 1).any() or (places > (D, V)).any():
            raise ValueError(f"a place that is none of {D} documents and {V} words, counted from 1")
        return sp.coo_array((rows[:, 2], (places[:, 0] - 1, places[:, 1] - 1)), shape=(D, V))


def _ldac(path: Path, content: bytes) -> Any:
    """Return the matrix of LDA-C's lines "M word:count word:count ...", words from 0 to the last that occurs.

    Raises:
        InputError: names file and line.
    """
    rows, words, counts = list[int](), list[int](), list[int]()
    lines = read_lines(path, content)
    for row, line in enumerate(lines):
        line = line.strip()
        if line and not LDA_C.fullmatch(line):
            raise InputError(f"{path}: line {row + 1}: expected M word:count word:count ..., found {line[:40]!r}")
        M, *pairs = map(int, re.findall(r"[0-9]+", line)) if line else (0,)
        if len(pairs) != 2 * M:
            raise InputError(f"{path}: line {row + 1}: {M} words announced, but {len(pairs) // 2} follow")
        rows += [row] * M
        words += pairs[::2]
        counts += pairs[1::2]
    with one_line(path, "not a matrix of counts", COPY):
        return sp.coo_array((counts, (rows, words)), shape=(len(lines), max(words, default=-1) + 1))


def _read_matrix(
    matrix: Any,
    name: str = "matrix",
    known: str = COLUMNS,
    first: int | None = None,
    names: tuple[str, ...] | None = None,
) -> Corpus:
    """Return the rows of a matrix of counts, (D, V), sparse or not, as bags of words.

    Args:
        matrix: the counts.
        name: of the corpus.
        known: `COLUMNS` or `NUMBERS`.
        first: the first document's number, which is its name; None for "row 0".
        names: (D,) the documents', in place of numbers.

    Raises:
        InputError: when it is no matrix of numbers, and names the row that holds no counts.
    """
    if np.ma.is_masked(matrix):
        raise InputError(
            f"{name}: {int(np.ma.getmaskarray(matrix).sum())} of the counts are masked; fill them, with 0 where a word"
            " is absent (.filled(0))"
        )
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        kind = "matrix" if sp.issparse(matrix) else "array"
        raise InputError(
            f"{name}: the {kind} of documents is {matrix.shape} of {matrix.dtype}; give counts, documents by words"
        )
    (D, V), most = matrix.shape, MOST_EMPTY + 10 * matrix.size
    if most < D or V > MOST_WORDS:
        raise InputError(f"{name}: {D} documents over {V} words; at most {most} and {MOST_WORDS} are read: damaged?")
    names = names or tuple(f"row {d}" if first is None else str(first + d) for d in range(D))
    with one_line(name, "not a matrix of counts", COPY):
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        rows = sp.csr_array(matrix, dtype=np.float64, copy=True)
        rows.sum_duplicates()
    with np.errstate(invalid="ignore"):
        counts = (rows.data >= 0) & (rows.data <= LARGEST_COUNT) & (rows.data == np.floor(rows.data))
    if not counts.all():
        place = int(np.argmin(counts))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        where = names[row] if first is None else f"document {names[row]}"
        absent = np.isnan(rows.data[place])
        raise InputError(
            f"{name}: {where}: a count of {rows.data[place]}; counts must be whole numbers from 0 to {LARGEST_COUNT}:"
            f" {'fill absent counts with 0' if absent else 'give counts, not weights such as tf-idf'}"
        )
    tokens = rows.data.sum()
    if tokens > min(MAXIMUM_TOKENS, LARGEST_COUNT + MOST_PER_COUNT * rows.nnz):
        raise InputError(f"{name}: {tokens:.0f} tokens in all; the counts are damaged, or are to be divided")
    return Corpus(
        name=name,
        vocabulary=tuple(map(str, range(V))),
        tokens=np.repeat(rows.indices.astype(np.int32), rows.data.astype(np.int64)),
        offsets=offsets_of(np.asarray(rows.sum(axis=1)).astype(np.int64)),
        documents=names,
        provenance={"ordered": False, "words": known},
    )


def _read_table(table: Any, names: tuple[str, ...] | None = None, *, name: str = "table") -> Corpus:
    """Return a data frame's rows of counts, (D, V); columns that are named by texts name the words.

    Args:
        table: of pandas or polars; its integers may be nullable, or arrow's.
        names: (D,) the documents'; None for their numbers.
        name: of the corpus.

    Raises:
        InputError: names the column that is there twice, holds no numbers or lacks some.
    """
    counts = table.sparse.to_coo() if hasattr(table, "sparse") else np.asarray(table.to_numpy())
    kind = counts.dtype.kind
    if kind not in "biuf" or (kind == "f" and np.isnan(counts.data if sp.issparse(counts) else counts).any()):
        _check_columns(table, name)
        counts = counts.astype(np.float64)
    documents = _read_matrix(counts, name, names=names)
    words = list(table.columns)
    if not all(isinstance(word, str) for word in words):
        return documents
    if len(set(words)) < len(words):
        twice = next(word for word in words if words.count(word) > 1)
        raise InputError(f"{name}: two columns are named {twice!r:.40}; add them up")
    return with_words(documents, tuple(map(str, words)))


def _check_columns(table: Any, name: str) -> None:
    """Check that the columns of a data frame of pandas or polars hold numbers, and none is absent.

    Raises:
        InputError: names the column.
    """
    for place, head in enumerate(table.columns):
        column = table.iloc[:, place] if hasattr(table, "iloc") else table[:, place]
        kind, numeric = getattr(column.dtype, "kind", ""), getattr(column.dtype, "is_numeric", None)
        if kind not in tuple("biuf") and not (numeric is not None and numeric()):
            raise InputError(
                f"{name}: column {head!r:.40} holds no counts but {column.dtype}; leave it out, or make it the table's"
                " index"
            )
        absent = int((column.isna() if hasattr(column, "isna") else column.is_null()).sum())
        if absent:
            raise InputError(f"{name}: column {head!r:.40} lacks {absent} of its counts; fill them with 0")


def _read_lists(documents: Any) -> Corpus:
    """Return documents that are each a list of words, in their order, a Counter of them, or gensim's bag of words.

    Raises:
        InputError: names the document that is neither.
    """
    if isinstance(next(iter(documents), None), Mapping):
        return _read_counters(documents)
    first = next((document[0] for document in documents if isinstance(document, list | tuple) and document), None)
    if isinstance(first, tuple | list) and len(first) == 2 and not any(isinstance(part, str) for part in first):
        return _read_bags(documents)
    for d, document in enumerate(documents):
        # an array, or a document of tomotopy (which has no attributes to ask for), is no sequence, and lists words
        kind = type(document)
        lists = hasattr(kind, "__len__") and (hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"))
        if isinstance(document, str | bytes | Set | Mapping) or not lists:
            raise InputError(
                f"document {d}: a {type(document).__name__}; give every document as a list of words, or texts to a"
                " Pipeline that begins with the model's vectorizer"
            )
        for word in document:
            if not isinstance(word, str):
                raise InputError(f"document {d}: {word!r:.40} is no word; give every document as a list of words")
    named = [(f"row {d}", document) for d, document in enumerate(documents)]
    return Corpus.from_documents("documents", named, {"words": TEXTS})


def _read_counters(documents: Any) -> Corpus:
    """Return bags of words, each a mapping of words to their counts."""
    for d, document in enumerate(documents):
        if not isinstance(document, Mapping) or not all(isinstance(word, str) for word in document):
            raise InputError(f"document {d}: no mapping of words to their counts, as others are")
    words = tuple(sorted({word for document in documents for word in document}))
    place = {word: v for v, word in enumerate(words)}
    bags = [[(place[word], count) for word, count in document.items()] for document in documents]
    return with_words(_read_bags(bags), words)


def _read_bags(documents: Any) -> Corpus:
    """Return gensim's bags of words, each a list of pairs of a word's number and its count."""
    bags = []
    for d, document in enumerate(documents):
        try:
            pairs = np.array([(word, count) for word, count in document], dtype=np.float64).reshape(-1, 2)
        except (TypeError, ValueError) as error:
            raise InputError(f"document {d}: not pairs of a word's number and its count, as its first is") from error
        if not np.all((pairs[:, 0] >= 0) & (pairs[:, 0] == np.floor(pairs[:, 0])) & (pairs[:, 0] < MOST_WORDS)):
            raise InputError(f"document {d}: a word whose number is no whole number from 0 on")
        bags.append(pairs)
    words, counts = np.concatenate([np.zeros((0, 2)), *bags]).T
    rows, V = np.repeat(np.arange(len(bags)), list(map(len, bags))), int(words.max(initial=-1)) + 1
    return _read_matrix(sp.coo_array((counts, (rows, words.astype(np.int64))), (len(bags), V)), "documents", NUMBERS)
