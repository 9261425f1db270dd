"""Data sets of the R package `lda`: R's own format, documents as columns of (word, count).

A label stands before a document's name, "conservative/12"; links between documents are pairs of their names in the
provenance (`heldout.corpora.responses`).
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus, offsets_of, provenance
from heldout.corpora.counts import RULE
from heldout.corpora.names import STOP_LIST
from heldout.corpora.preprocess import read_stop_list
from heldout.errors import InputError
from heldout.limits import one_line

LETTERS = re.compile("[a-z]{3,}")  # words of the newsgroups


def read_object(file: str, content: bytes) -> Any:
    """Return the single object of an .rda file.

    Raises:
        InputError: names the file that is damaged, or holds more objects or none.
    """
    import rdata  # a second to import, which those who read texts need not wait

    with one_line(file, "not a whole file of R's save()", "get it again"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Missing constructor for R class")  # a list then, which is what is read
        objects = rdata.conversion.convert(rdata.parser.parse_data(content))
    if not isinstance(objects, dict) or len(objects) != 1:
        raise InputError(f"{file}: expected one object of R; get it again")
    return next(iter(objects.values()))


def _parts(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the objects by the second part of their files' names, NAME.PART.rda."""
    return {file.split(".")[-2]: read_object(file, content) for file, content in members.items()}


def _corpus(name: str, parts: Mapping[str, Any], documents: Sequence[str], **more: Any) -> Corpus:
    vocabulary, streams = tuple(map(str, parts["vocab"])), []
    for number, pairs in enumerate(parts["documents"], start=1):
        columns = np.asarray(pairs)
        if columns.ndim != 2 or len(columns) != 2 or columns[0].min(initial=0) < 0 or columns[1].min(initial=1) < 1:
            raise InputError(f"corpus {name}: document {number}: expected a row of words and one of their counts")
        words = np.sort(columns[0].astype(np.int32), kind="stable")
        order = np.argsort(columns[0], kind="stable")
        streams.append(np.repeat(words, columns[1][order].astype(np.int64)))
    if len(documents) != len(streams):
        raise InputError(f"corpus {name}: {len(streams)} documents, but {len(documents)} names; read one data set")
    return Corpus(
        name=name,
        vocabulary=vocabulary,
        tokens=np.concatenate(streams),
        offsets=offsets_of([len(stream) for stream in streams]),
        documents=tuple(documents),
        provenance=provenance(RULE, {}, ordered=False, **more),
    )


def read_poliblog(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the political blogs: posts, rated 100 where conservative and -100 where liberal.

    Raises:
        InputError: for a file that is damaged or another one, or a rating that is neither.
    """
    parts = _parts(members)
    ratings = [int(rating) for rating in parts["ratings"]]
    if not set(ratings) <= {-100, 100}:
        raise InputError(f"corpus {name}: ratings {sorted(set(ratings))[:5]}; expected -100 and 100")
    names = {100: "conservative", -100: "liberal"}
    return _corpus(name, parts, [f"{names[rating]}/{number}" for number, rating in enumerate(ratings, start=1)])


def read_cora(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return abstracts of Cora; its provenance has "links", pairs of citing and cited documents.

    Raises:
        InputError: for a file that is damaged or another one, or a citation of a document that is not there.
    """
    parts = _parts(members)
    D = len(parts["documents"])
    links = []
    for citing, cited in enumerate(parts["cites"], start=1):
        for other in np.atleast_1d(cited).astype(np.int64) if cited is not None else ():
            if not 0 <= other < D:
                raise InputError(f"corpus {name}: document {citing} cites {other}; there are {D}, counted from 0")
            links.append([str(citing), str(other + 1)])
    return _corpus(name, parts, [str(number) for number in range(1, D + 1)], links=links)


def read_newsgroups(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return 20 newsgroups by date, Rennie's counts of words of 3 letters or more without stop words.

    Documents are named "group/train-N" and "group/test-N", the training ones first; documents without words are left
    out.

    Raises:
        InputError: for a file that is damaged or another one.
    """
    stop_words = read_stop_list(members[STOP_LIST], STOP_LIST)
    objects = {file: read_object(file, content) for file, content in members.items() if file != STOP_LIST}
    files = {file.removeprefix("newsgroup.").removesuffix(".rda"): content for file, content in objects.items()}
    with one_line(f"corpus {name}", "not the six files of the newsgroups; fetch them again"):
        groups = dict(
            zip(map(int, files["label.map"].iloc[:, 1]), map(str, files["label.map"].iloc[:, 0]), strict=True)
        )
        sides = [(side, n, label) for side in ("train", "test") for n, label in enumerate(files[f"{side}.labels"], 1)]
        names = [f"{groups[int(label)]}/{side}-{n}" for side, n, label in sides]
        parts = {"vocab": files["vocab"], "documents": [*files["train.documents"], *files["test.documents"]]}
    corpus = _corpus(name, parts, names)
    words = tuple(word for word in corpus.vocabulary if LETTERS.fullmatch(word) and word not in stop_words)
    kept, _ = corpus.over(words)
    blank = [document for document, length in zip(kept.documents, kept.lengths, strict=True) if not length]
    rule = f"{RULE}; words of three letters or more, and of letters alone, that are not in {STOP_LIST}"
    details = provenance(rule, {}, left_out=blank, ordered=False)
    return replace(kept.subset(np.flatnonzero(kept.lengths)), provenance=details)
