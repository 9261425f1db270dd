"""Graphs in R's own format: Sampson's monks as `ergm` has them, and Cora's citations as `lda` has them.

Sampson's monks have numbers, and rows and columns of every published copy are in their order. UCINET's copy, and that
of `lda`, name them in another: that of the groups. With those names Sampson's groups are no blocks, so a file that has
them is refused.
"""

from collections.abc import Mapping

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.rda import read_object
from heldout.corpora.relations.relation import Relations, graph
from heldout.errors import InputError
from heldout.limits import one_line

MONKS = (
    "John Bosco",
    "Gregory",
    "Basil",
    "Peter",
    "Bonaventure",
    "Berthold",
    "Mark",
    "Victor",
    "Ambrose",
    "Romauld",
    "Louis",
    "Winfrid",
    "Amand",
    "Hugh",
    "Boniface",
    "Albert",
    "Elias",
    "Simplicius",
)  # names in the order of their numbers, spelt as in the file
GROUPS = {"group": "group3", "group with waverers": "group4"}
WAVES = ("SAMPLK1", "SAMPLK2", "SAMPLK3")  # names in UCINET of the three waves of liking


def read_monks(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return who likes whom among Sampson's 18 monks, in any of three waves.

    Raises:
        InputError: for a file that is damaged or another one, whose names are in another order than the monks' numbers,
            or that has a monk who likes himself.
    """
    ((file, content),) = members.items()
    loaded = read_object(file, content)
    groups: dict[str, tuple[str, ...]] = {}
    with one_line(file, "not Sampson's monks", "take statnet's sampson.RData"):
        if WAVES[0] in loaded:
            _check_names(file, [str(label) for label in loaded[WAVES[0]].coords["dim_0"].values])
            raise InputError(f"{file}: no groups of the monks; take statnet's sampson.RData")
        _check_names(file, [str(monk["vertex.names"][0]) for monk in loaded["val"]])
        groups = {ours: tuple(str(monk[theirs][0]) for monk in loaded["val"]) for ours, theirs in GROUPS.items()}
        arcs = [(int(arc["outl"][0]) - 1, int(arc["inl"][0]) - 1) for arc in loaded["mel"] if arc is not None]
        likes = np.zeros((len(MONKS), len(MONKS)), dtype=bool)
        likes[tuple(np.array(arcs).T)] = True
        if likes.sum() != len(arcs):
            raise InputError(f"{file}: {len(arcs) - int(likes.sum())} arcs stand there twice; get it again")
        return Relations(name, {"monks": MONKS}, (graph("likes", "monks", likes),), groups).corpus()


def _check_names(file: str, names: list[str]) -> None:
    """Refuse names in another order than the numbers in `MONKS`, spelt out or as UCINET's NAME_NUMBER."""
    if names == list(MONKS):
        return
    numbers = [int(end) if (end := name.rpartition("_")[2]).isdigit() else 0 for name in names]
    if numbers == list(range(1, len(MONKS) + 1)):
        return
    place, wrong = next((i, a) for i, a in enumerate([*names, ""]) if i >= len(MONKS) or _row_of(a) != i)
    raise InputError(
        f"{file}: row {place + 1} is named {wrong}, but rows are in the order of the monks' numbers"
        f" ({', '.join(MONKS[:3])}, ..); take statnet's sampson.RData"
    )


def _row_of(name: str) -> int:
    """Return the row of a monk; -1 for any other name."""
    number = name.rpartition("_")[2]
    return int(number) - 1 if number.isdigit() else MONKS.index(name) if name in MONKS else -1


def read_citations(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return which of Cora's documents cite which, a list of the cited, counted from 0, for each.

    Raises:
        InputError: for a file that is damaged or another one, a citation of a document that is not there, of itself, or
            twice of the same.
    """
    ((file, content),) = members.items()
    cited = read_object(file, content)
    if not isinstance(cited, list) or not all(
        np.ndim(one) == 1 and np.issubdtype(one.dtype, np.integer) for one in cited
    ):
        raise InputError(f"{file}: expected a list of whole numbers for every document; get it again")
    cites = np.zeros((len(cited), len(cited)), dtype=bool)
    for document, others in enumerate(cited):
        if len(others) and not 0 <= others.min() <= others.max() < len(cited):
            raise InputError(
                f"{file}: document {document + 1} cites one that is not among the {len(cited)}; get it again"
            )
        if len(np.unique(others)) < len(others):
            raise InputError(f"{file}: document {document + 1} cites another twice; get it again")
        cites[document, others] = True
    documents = tuple(str(number) for number in range(1, len(cited) + 1))
    return Relations(name, {"documents": documents}, (graph("cites", "documents", cites),)).corpus()
