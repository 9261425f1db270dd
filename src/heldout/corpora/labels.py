"""Labels of documents, from the archives that have them: the topics of Reuters-21578, the volumes of NIPS.

A corpus of labelled documents carries them in its provenance under "labels", by the document's name, so that they
survive every split and every change of the vocabulary. Drawn documents have two made-up labels that follow from their
numbers and say nothing of their words.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.reuters import NUMBER, STORY
from heldout.errors import InputError
from heldout.typing import Floats

LABELS = "labels"  # key of the labels in the provenance
TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
MADE_UP = (3, 4)  # numbers of labels of two kinds; a drawn document has one label of each kind
LABEL = re.compile(r"<D>(.*?)</D>")

Labels = Mapping[str, Sequence[str]]  # labels of documents by name


def topics_of_stories(members: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the labels under TOPICS of every story of Reuters-21578 by NEWID, sorted, each once.

    Raises:
        InputError: names the file and the story that has no element TOPICS, or several.
    """
    labels = {}
    for name in sorted(members):
        for attributes, story in STORY.findall(members[name].decode("latin-1")):
            number, topics = NUMBER.search(attributes), TOPICS.findall(story)
            if number is None or len(topics) != 1:
                raise InputError(f"{name}: story {number and number[1]}: expected a NEWID and one TOPICS, whole")
            labels[number[1]] = sorted(set(LABEL.findall(topics[0])))
    return labels


def volumes_of_papers(members: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the volume of every NIPS paper by its name, nipsVV/NNNN."""
    paths = map(PurePosixPath, members)
    return {f"{path.parent.name}/{path.stem}": [path.parent.name] for path in paths}


def labels_of(corpus: Corpus) -> list[tuple[str, ...]]:
    """Return the labels of every document, in the corpus's order.

    Raises:
        InputError: where the corpus has none and is not drawn.
    """
    labels = corpus.provenance.get(LABELS, {})
    if not labels and corpus.synthetic:
        numbers = (int("".join(filter(str.isdigit, name)) or 0) for name in corpus.documents)
        return [tuple(f"label-{part}-{number % size}" for part, size in enumerate(MADE_UP)) for number in numbers]
    missing = next((name for name in corpus.documents if name not in labels), None)
    if missing is not None:
        raise InputError(f"corpus {corpus.name}: document {missing} has no labels; take a corpus of labelled documents")
    return [tuple(labels[name]) for name in corpus.documents]


def frequent_labels(corpus: Corpus, least: int) -> tuple[str, ...]:
    """Return the labels of at least `least` documents, sorted."""
    names, documents = np.unique([label for own in labels_of(corpus) for label in own], return_counts=True)
    return tuple(str(name) for name, n in zip(names, documents, strict=True) if n >= least)


def indicators(corpus: Corpus, labels: Sequence[str]) -> Floats:
    """Return 1 where a document has a label and 0 elsewhere, (D, labels); other labels are left out.

    Examples:
        >>> stories = Corpus.from_documents("two", [("1", ["ape"]), ("2", [])], {"labels": {"1": ["zoo"], "2": []}})
        >>> indicators(stories, ["zoo"])
        array([[1.],
               [0.]])
    """
    place = {label: j for j, label in enumerate(labels)}
    present = np.zeros((corpus.n_documents, len(labels)))
    for d, own in enumerate(labels_of(corpus)):
        present[d, [place[label] for label in own if label in place]] = 1.0
    return present
