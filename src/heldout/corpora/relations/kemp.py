"""The data of Kemp et al. (2006) in MATLAB's format: a biomedical ontology, nations, a kinship system and animals.

A cell that was not observed is NaN; of nations that is every relation of a country to itself.
"""

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.relations.relation import Relation, Relations
from heldout.errors import InputError
from heldout.limits import one_line

FILES = {"umls": "uml.mat", "kinship": "alyawarradata.mat", "nations": "dnations.mat", "animals": "50animalbindat.mat"}


def _matrices(members: Mapping[str, bytes], file: str) -> dict[str, Any]:
    from scipy.io import loadmat  # half a second, which those who read texts need not wait

    if file not in members:
        raise InputError(f"irmdata.tar.gz: no member {file}; get it again")
    with one_line(file, "not a whole file of MATLAB", "get it again"):
        matrices: dict[str, Any] = loadmat(io.BytesIO(members[file]))
    return matrices


def _names(cells: Any) -> tuple[str, ...]:
    return tuple(str(name[0]) for name in np.ravel(cells))


def _relation(name: str, types: tuple[str, ...], cells: Any) -> Relation:
    mask = ~np.isnan(cells) if cells.dtype.kind == "f" else np.ones(cells.shape, dtype=bool)
    if not np.isin(cells[mask], (0, 1)).all():
        raise InputError(f"relation {name}: expected cells of 0, 1 and NaN; get it again")
    return Relation(name, types, (cells == 1) & mask, mask)


def _umls(name: str, matrices: Mapping[str, Any]) -> Relations:
    entities = {"concepts": _names(matrices["names"]), "predicates": _names(matrices["relnames"])}
    groups = {"group": _names(matrices["gnames"])}
    holds = _relation("holds", ("concepts", "concepts", "predicates"), matrices["Rs"])
    return Relations(name, entities, (holds,), groups)


def _kinship(name: str, matrices: Mapping[str, Any]) -> Relations:
    people, _, terms = matrices["Rs"].shape
    entities = {"people": tuple(map(str, range(1, people + 1))), "terms": tuple(map(str, range(1, terms + 1)))}
    groups = {"section": tuple(str(section) for section in np.ravel(matrices["atts"]))}
    return Relations(name, entities, (_relation("term", ("people", "people", "terms"), matrices["Rs"]),), groups)


def _nations(name: str, matrices: Mapping[str, Any]) -> Relations:
    entities = {
        "countries": _names(matrices["countrynames"]),
        "interactions": _names(matrices["relnnames"]),
        "features": _names(matrices["attnames"]),
    }
    interacts = _relation("interacts", ("countries", "countries", "interactions"), matrices["R"])
    return Relations(name, entities, (interacts, _relation("has", ("countries", "features"), matrices["A"])))


def _animals(name: str, matrices: Mapping[str, Any]) -> Relations:
    entities = {"animals": _names(matrices["names"]), "features": _names(matrices["features"])}
    return Relations(name, entities, (_relation("has", ("animals", "features"), matrices["data"]),))


_DATA = {"umls": _umls, "kinship": _kinship, "nations": _nations, "animals": _animals}


def _read(name: str, members: Mapping[str, bytes], data: str) -> Corpus:
    matrices = _matrices(members, FILES[data])
    with one_line(FILES[data], f"not Kemp's {data}", "get it again"):
        return _DATA[data](name, matrices).corpus()


read_umls, read_kinship, read_nations, read_animals = (
    partial(_read, data=data) for data in ("umls", "kinship", "nations", "animals")
)
