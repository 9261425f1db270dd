"""Documents in any of several forms, opened to be read in batches (`heldout.corpora.batches`)."""

import re
from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heldout.corpora import in_memory, ldac, matrix_market, npz, text_folder, uci
from heldout.corpora.batches import Batch, Document, DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_bytes, read_vocabulary, stream_lines
from heldout.errors import InputError
from heldout.limits import open_zip, require_file

__all__ = ["FORMS", "Batch", "Document", "DocumentStream", "guess_form", "open_documents"]

LONGEST_NAME = 255  # bytes of a file's name, on most systems
FORMS = ("scipy", "mm", "uci", "ldac", "text", "heldout")

_READERS = {  # readers of the forms that are one file
    "scipy": npz.of_matrix,
    "mm": matrix_market.stream,
    "uci": uci.stream,
    "ldac": ldac.stream,
    "heldout": npz.of_corpus,
}


def open_documents(
    source: Any,
    *,
    form: str | None = None,
    vocabulary: tuple[str, ...] | None = None,
    documents_vocabulary: Path | None = None,
    stem: bool = False,
    batch: int = 500,
    seed: int = 0,
) -> DocumentStream:
    """Open documents to be read in batches.

    Args:
        source: a path: a matrix of scipy.sparse.save_npz in rows ("scipy"), Matrix Market as gensim writes it, numbered
            from 1 ("mm"), UCI's docword.txt ("uci"), LDA-C ("ldac"), a folder of .txt ("text"), a corpus that `heldout
            prepare` or `heldout import` wrote ("heldout"); "mm", "uci" and "ldac" may be gzipped. Or an object: counts
            (D, V), a scipy sparse matrix of any format, an array, or a table whose columns are words; a Corpus; or
            documents, each a list of words, or gensim's bag of words: pairs of a word's number and its count.
        form: one of `FORMS`; guessed from the first bytes where it is None.
        vocabulary: the words that batches are over, a model's; None for the documents' own.
        documents_vocabulary: the documents' own words, one per line, for forms that name none.
        stem: whether words of texts are stemmed (lancaster), as by `heldout import --stem`.
        batch: the largest number of documents in a batch.
        seed: determines the order of a bag's tokens.

    Raises:
        InputError: where the form is unknown or does not show, the file cannot be read, or the vocabularies do not fit.
            Errors further down in a file are raised when the iteration reaches them.

    Examples:
        >>> stream = open_documents([["wing", "flow", "wing"], ["heat"]], vocabulary=("flow", "wing"), batch=1)
        >>> for batch in stream:
        ...     print(batch.documents, batch.tokens, batch.left_out)
        ('row 0',) [1 0 1] [0]
        ('row 1',) [] [1]
    """
    if form is not None and form not in FORMS:
        raise InputError(f"there is no form {form} of documents; there are {', '.join(FORMS)}")
    if batch < 1:
        raise InputError(f"batches of {batch} documents; take 1 or more")
    words = None
    if documents_vocabulary is not None:
        words = read_vocabulary(documents_vocabulary, read_bytes(documents_vocabulary))
    if isinstance(source, str):
        _refuse_text(source)
    if isinstance(source, str | Path):
        if not Path(source).exists():
            raise InputError(f"{source}: no such file of documents")
        stream = _open_path(Path(source), form or guess_form(Path(source)), stem)
    elif isinstance(source, Corpus):
        stream = in_memory.of_corpus(source)
    elif sp.issparse(source):
        stream = in_memory.of_matrix(source)
    elif hasattr(source, "columns") and hasattr(source, "to_numpy"):
        stream = in_memory.of_table(source)
    elif isinstance(source, np.ndarray) and source.ndim != 1:
        stream = in_memory.of_array(source)
    elif hasattr(source, "__len__") and hasattr(source, "__iter__") and not isinstance(source, bytes | Mapping | Set):
        stream = in_memory.of_lists(source)
    else:
        raise InputError(
            f"documents of the kind {type(source).__name__} cannot be read; give counts (a scipy sparse matrix, an"
            " array or a table), a list of lists of words or of gensim's pairs, a Corpus or a path"
        )
    if words is not None:
        if stream.words is not None or stream.texts:
            raise InputError(f"{stream.name}: these documents name their words; leave the documents' vocabulary out")
        if stream.n_words not in (None, len(words)):
            raise InputError(
                f"{documents_vocabulary}: {len(words)} words, but {stream.name} has {stream.n_words}; give its own"
            )
        stream = replace(stream, words=words, n_words=len(words))
    stream = replace(stream, batch=batch, seed=seed)
    return stream if vocabulary is None else stream.over(vocabulary)


def _refuse_text(source: str) -> None:
    """Refuse a text where a path is meant: no path has line ends, spaces and no file, or such a length."""
    try:
        there = Path(source).exists()
    except (OSError, ValueError):  # too long a name, or a NUL in it
        there = False
    if not there and (len(source) > LONGEST_NAME or any(c.isspace() or c == "\0" for c in source)):
        raise InputError(
            f"documents that are one text, {source!r:.40}, and no path; give a list of documents, each a list of words"
        )


def guess_form(path: Path) -> str:
    """Return the form of a file or folder of documents, by its first bytes.

    Raises:
        InputError: when it shows none of them.
    """
    if path.is_dir():
        return "text"
    if path.suffix == ".npz":
        with open_zip(path, ".npz", npz.COPY) as archive:
            names = set(archive.namelist())
        for form, members in (("scipy", {"indptr.npy", "indices.npy"}), ("heldout", {"tokens.npy", "offsets.npy"})):
            if members <= names:
                return form
        raise InputError(
            f"{path}: neither a sparse matrix in rows nor a corpus; write scipy.sparse.save_npz(file, matrix.tocsr())"
        )
    lines = []
    for _, line in stream_lines(path):
        lines.append(line.strip())
        if len(lines) == 3:
            break
    if lines and lines[0].lower().startswith("%%matrixmarket"):
        return "mm"
    if len(lines) == 3 and all(re.fullmatch(r"[1-9][0-9]*", line, re.ASCII) for line in lines):
        return "uci"
    if lines and all(re.fullmatch(r"[0-9]*(\s+[0-9]+:[0-9]+)*", line, re.ASCII) for line in lines):
        return "ldac"
    raise InputError(
        f"{path}: its first lines show no form of documents; name it (--format {'|'.join(FORMS)}; form= in Python)"
    )


def _open_path(path: Path, form: str, stem: bool) -> DocumentStream:
    if form == "text":
        return text_folder.stream(path, stem=stem)
    if stem:
        raise InputError(f"{path}: only texts are stemmed; leave stem (--stem) out")
    require_file(path)
    if not path.is_file():
        raise InputError(f"{path}: a folder; the form {form} is a file")
    return _READERS[form](path)
