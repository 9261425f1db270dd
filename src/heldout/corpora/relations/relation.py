"""Relations between entities of some types, with gaps, and their form as a corpus (Murphy 2012, equation 27.81).

R is a subset of T_1 x .. x T_k, kept as a tensor of true and false cells and a mask of those that were observed. Data
may have several relations that share types: of countries, interactions and features, say (27.83).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses, responses_of
from heldout.errors import InputError

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Relation:
    """One relation.

    Attributes:
        name: of the relation.
        types: the types of its k axes; one may stand there twice.
        values: (N_1, .., N_k), whether R holds; False where it was not observed.
        mask: of the same shape, whether a cell was observed.
        loops: whether an entity may be related to itself, where the first two types are the same.

    Raises:
        InputError: where shapes and types do not fit, a cell holds that was not observed, or one that may not be there.
    """

    name: str
    types: tuple[str, ...]
    values: Bools
    mask: Bools
    loops: bool = True

    def __post_init__(self) -> None:
        if self.values.shape != self.mask.shape or self.values.ndim != len(self.types):
            raise InputError(
                f"relation {self.name}: cells {self.values.shape}, mask {self.mask.shape}, types"
                f" {', '.join(self.types)}; give as many of each"
            )
        if not self.loops:
            itself = np.arange(min(self.values.shape[:2]))
            there = self.values[itself, itself].reshape(len(itself), -1).any(axis=1)
            if there.any():
                raise InputError(f"relation {self.name}: entity {itself[there][0] + 1} is related to itself; remove it")
            self.mask[itself, itself] = False
        if (self.values & ~self.mask).any():
            raise InputError(f"relation {self.name}: a cell holds that was not observed; give it a mask that says so")


@dataclass(frozen=True, eq=False)
class Relations:
    """Relations that share types.

    Attributes:
        name: of the data.
        entities: the names of each type's entities.
        relations: all of them; the first type of each is the same.
        groups: labels of the first type's entities that are known apart from the relations, by their meaning.

    Raises:
        InputError: where a relation is of other numbers of entities.

    Examples:
        >>> likes = np.array([[False, True], [False, False]])
        >>> two = Relations("two", {"people": ("Ann", "Bob")}, (graph("likes", "people", likes),))
        >>> back = relations_of(two.corpus()).relations[0]
        >>> back.values.tolist(), back.mask.tolist()
        ([[False, True], [False, False]], [[False, True], [True, False]])
    """

    name: str
    entities: Mapping[str, tuple[str, ...]]
    relations: tuple[Relation, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        first = {relation.types[0] for relation in self.relations}
        if len(first) != 1:
            raise InputError(f"{self.name}: first types {', '.join(sorted(first))}; all relations share their first")
        for relation in self.relations:
            shape = tuple(len(self.entities[one]) for one in relation.types)
            if relation.values.shape != shape:
                raise InputError(
                    f"{self.name}: relation {relation.name} has {relation.values.shape} cells, {shape} entities are"
                    " named"
                )

    @property
    def first(self) -> str:
        """The first type of every relation."""
        return self.relations[0].types[0]

    def only(self, *names: str) -> Self:
        """Return the relations with these names alone."""
        return replace(self, relations=tuple(one for one in self.relations if one.name in names))

    def without_pairs(self, share: float, random: np.random.Generator) -> tuple[Self, tuple[Bools, ...]]:
        """Return the relations without a share of the pairs on each one's first two axes, and masks of hidden cells.

        Of a pair every cell is hidden; pairs without an observed cell do not count.
        """
        kept, hidden = [], []
        for relation in self.relations:
            shape = relation.mask.shape
            pairs = np.flatnonzero(relation.mask.reshape(shape[0] * shape[1], -1).any(axis=1))
            chosen = pairs[random.permutation(len(pairs))[: round(share * len(pairs))]]
            away = np.zeros((shape[0] * shape[1], relation.mask.size // (shape[0] * shape[1])), dtype=bool)
            away[chosen] = True
            out = away.reshape(shape) & relation.mask
            kept.append(replace(relation, values=relation.values & ~out, mask=relation.mask & ~out))
            hidden.append(out)
        return replace(self, relations=tuple(kept)), tuple(hidden)

    def corpus(self) -> Corpus:
        """Return a corpus of records: one record per entity of the first type, a variable for each of its cells."""
        rows = len(self.entities[self.first])
        parts = [np.where(one.mask, one.values, -1).reshape(rows, -1) for one in self.relations]
        variables = tuple(
            f"{one.name}:{cell}"
            for one, part in zip(self.relations, parts, strict=True)
            for cell in range(part.shape[1])
        )
        responses = np.concatenate(parts, axis=1).astype(np.int64)
        corpus = from_responses(self.name, responses, variables, ("0", "1"), self.entities[self.first])
        corpus.provenance.update(
            relations=[{"name": one.name, "types": list(one.types), "loops": one.loops} for one in self.relations],
            entities={name: list(entities) for name, entities in self.entities.items()},
            groups={name: list(labels) for name, labels in self.groups.items()},
        )
        return corpus


def graph(name: str, nodes: str, values: Bools) -> Relation:
    """Return the relation of a directed graph without self-loops, given its (n, n) adjacency matrix."""
    return Relation(name, (nodes, nodes), values, np.ones(values.shape, dtype=bool), loops=False)


def relations_of(corpus: Corpus) -> Relations:
    """Return the `Relations` from which a corpus was made.

    Raises:
        InputError: for a corpus of other data.
    """
    known: Any = corpus.provenance.get("relations")
    if not known:
        raise InputError(f"corpus {corpus.name}: documents or records, not relations")
    entities: dict[str, Sequence[str]] = corpus.provenance["entities"]
    responses, begin, collected = responses_of(corpus), 0, []
    for one in known:
        shape = tuple(len(entities[axis]) for axis in one["types"])
        cells = int(np.prod(shape[1:]))
        part = responses[:, begin : begin + cells].reshape(shape)
        begin += cells
        collected.append(Relation(one["name"], tuple(one["types"]), part == 1, part >= 0, one["loops"]))
    named = {name: tuple(names) for name, names in entities.items()}
    groups = {name: tuple(labels) for name, labels in corpus.provenance["groups"].items()}
    return Relations(corpus.name, named, tuple(collected), groups)
