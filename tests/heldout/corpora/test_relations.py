"""Relations: their formats, their form as a corpus, and the real files where a mirror has them."""

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rdata
from scipy.io import savemat

from heldout.corpora.corpus import Corpus
from heldout.corpora.download import source, verified_members
from heldout.corpora.names import RELATIONS, raw_files
from heldout.corpora.prepare import prepare
from heldout.corpora.relations.kemp import read_animals, read_nations, read_umls
from heldout.corpora.relations.r_files import MONKS, _check_names, read_citations, read_monks
from heldout.corpora.relations.relation import Relation, Relations, graph, relations_of
from heldout.errors import InputError

MIRROR = os.environ.get("HELDOUT_MIRROR", "")
TABLE = Path(__file__).parents[3] / "data" / "corpora.csv"
needs_mirror = pytest.mark.skipif(not MIRROR, reason="HELDOUT_MIRROR names no folder of the archives")


def matlab(**arrays: Any) -> bytes:
    file = io.BytesIO()
    savemat(file, arrays)
    return file.getvalue()


def of_r(path: Path, **objects: Any) -> bytes:
    rdata.write_rda(path, objects)
    return path.read_bytes()


def nations() -> Relations:
    random = np.random.default_rng(0)
    mask, shown = random.random((3, 3, 2)) < 0.7, random.random((3, 4)) < 0.7
    return Relations(
        "nations",
        {"countries": tuple("abc"), "interactions": ("aid", "trade"), "features": tuple("pqrs")},
        (
            Relation(
                "interacts", ("countries", "countries", "interactions"), (random.random((3, 3, 2)) < 0.5) & mask, mask
            ),
            Relation("has", ("countries", "features"), (random.random((3, 4)) < 0.5) & shown, shown),
        ),
        {"bloc": ("east", "west", "none")},
    )


def test_relations_survive_their_form_as_a_corpus_and_a_file(tmp_path: Path) -> None:
    one = nations()
    one.corpus().save(tmp_path / "nations.npz")
    back = relations_of(Corpus.load(tmp_path / "nations.npz"))
    assert (back.entities, back.groups, back.first) == (one.entities, one.groups, "countries")
    for ours, theirs in zip(one.relations, back.relations, strict=True):
        assert (ours.name, ours.types, ours.loops) == (theirs.name, theirs.types, theirs.loops)
        assert np.array_equal(ours.values, theirs.values)
        assert np.array_equal(ours.mask, theirs.mask)
    assert [relation.name for relation in back.only("has").relations] == ["has"]


def test_hidden_pairs_are_observed_ones_that_are_then_gaps() -> None:
    one = nations()
    kept, hidden = one.without_pairs(0.5, np.random.default_rng(1))
    for before, after, away in zip(one.relations, kept.relations, hidden, strict=True):
        pairs, there = (cells.reshape(*cells.shape[:2], -1) for cells in (away, before.mask))
        assert pairs.any(axis=2).sum() == round(0.5 * there.any(axis=2).sum())
        assert np.array_equal(pairs[pairs.any(axis=2)], there[pairs.any(axis=2)])
        assert np.array_equal(after.mask | away, before.mask)
        assert not (after.mask & away).any()
        assert not (after.values & away).any()


def test_what_does_not_fit_is_refused() -> None:
    likes = np.array([[False, True], [True, True]])
    with pytest.raises(InputError, match="relation likes: entity 2 "):
        graph("likes", "people", likes)
    with pytest.raises(InputError, match="not observed"):
        Relation("r", ("a", "b"), np.ones((1, 2), bool), np.zeros((1, 2), bool))
    with pytest.raises(InputError, match=r"cells \(1, 2\), mask \(1, 2\), types a"):
        Relation("r", ("a",), np.zeros((1, 2), bool), np.zeros((1, 2), bool))
    two = graph("likes", "people", np.zeros((2, 2), bool))
    with pytest.raises(InputError, match=r"relation likes .*\(1, 1\)"):
        Relations("r", {"people": ("Ann",)}, (two,))
    other = Relation("r", ("films", "people"), np.zeros((1, 2), bool), np.ones((1, 2), bool))
    with pytest.raises(InputError, match="films, people"):
        Relations("r", {"people": ("Ann", "Bob"), "films": ("x",)}, (two, other))
    with pytest.raises(InputError, match=r"corpus tiny: .*not relations"):
        relations_of(Corpus.from_documents("tiny", [("a", ["wing"])]))


def test_citations_are_counted_from_0(tmp_path: Path) -> None:
    lists = [np.array([1, 2], dtype=np.int32), np.array([], dtype=np.int32), np.array([0], dtype=np.int32)]
    (cites,) = relations_of(read_citations("c", {"c.rda": of_r(tmp_path / "c.rda", cites=lists)})).relations
    assert cites.values.astype(int).tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert cites.mask.tolist() == (~np.eye(3, dtype=bool)).tolist()


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1, 1], [0]], "document 1 cites another twice"),
        ([[2], [0]], "document 1 cites one that is not among the 2"),
        ([[0], [0]], "entity 1 is related to itself"),
    ],
)
def test_citations_that_cannot_be_are_refused(tmp_path: Path, lists: list[list[int]], message: str) -> None:
    content = of_r(tmp_path / "c.rda", cites=[np.array(one, dtype=np.int32) for one in lists])
    with pytest.raises(InputError, match=message):
        read_citations("c", {"c.rda": content})


@pytest.mark.parametrize("read", [read_citations, read_monks])
def test_a_cut_file_of_r_is_one_line(tmp_path: Path, read: Callable[[str, Mapping[str, bytes]], Corpus]) -> None:
    whole = of_r(tmp_path / "c.rda", cites=[np.array([1], dtype=np.int32), np.array([0], dtype=np.int32)])
    for content in (whole[: len(whole) // 2], b"", b"RDX3\n"):
        with pytest.raises(InputError, match=r"c\.rda: ") as caught:
            read("c", {"c.rda": content})
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"c\.rda: .*one object"):
        read("c", {"c.rda": of_r(tmp_path / "d.rda", a=np.array([1.0]), b=np.array([2.0]))})


def test_monks_names_are_in_the_order_of_their_numbers() -> None:
    _check_names("file", list(MONKS))
    _check_names("file", [f"MONK_{number}" for number in range(1, 19)])
    with pytest.raises(InputError, match=r"file: row 1 .*ROMUL_10"):
        _check_names("file", ["ROMUL_10", "BONAVEN_5", *(f"M_{number}" for number in range(3, 19))])
    with pytest.raises(InputError, match="row 18 "):
        _check_names("file", list(MONKS[:17]))


def test_matlab_files_are_read_with_their_gaps_and_others_refused() -> None:
    names = np.array(["aid", "trade"], dtype=object)
    R = np.full((2, 2, 2), np.nan)
    R[0, 1], R[1, 0] = 1.0, 0.0
    arrays = {"R": R, "A": np.array([[1.0, np.nan], [0.0, 1.0]]), "relnnames": names, "attnames": names}
    content = matlab(**arrays, countrynames=np.array(["UK", "USA"], dtype=object))
    interacts, has = relations_of(read_nations("nations", {"dnations.mat": content})).relations
    assert interacts.mask[..., 0].tolist() == [[False, True], [True, False]]
    assert interacts.values[..., 1].tolist() == [[False, True], [False, False]]
    assert has.mask.tolist() == [[True, False], [True, True]]
    with pytest.raises(InputError, match=r"uml\.mat"):
        read_umls("umls", {"dnations.mat": content})
    with pytest.raises(InputError, match=r"50animalbindat\.mat: .*Kemp"):
        read_animals("animals", {"50animalbindat.mat": content})
    with pytest.raises(InputError, match=r"50animalbindat\.mat: .*MATLAB"):
        read_animals("animals", {"50animalbindat.mat": content[:200]})
    twos = matlab(names=names, features=names, data=np.array([[0, 2], [1, 1]], dtype=np.uint8))
    with pytest.raises(InputError, match=r"relation has: .*NaN"):
        read_animals("animals", {"50animalbindat.mat": twos})


@needs_mirror
@pytest.mark.parametrize(
    ("name", "shapes", "ones", "gaps"),
    [
        ("monks", [(18, 18)], [88], [18]),
        ("umls", [(135, 135, 49)], [6752], [0]),
        ("kinship", [(104, 104, 26)], [10790], [0]),
        ("nations", [(14, 14, 56), (14, 111)], None, [1219, 120]),
        ("animals", [(50, 85)], [1562], [0]),
        pytest.param("citations", [(2410, 2410)], [4356], [2410], marks=pytest.mark.long),
    ],
)
def test_the_real_files_have_their_sizes(
    name: str, shapes: list[tuple[int, ...]], ones: list[int] | None, gaps: list[int]
) -> None:
    found = relations_of(prepare(name, Path(MIRROR), TABLE))
    assert [one.values.shape for one in found.relations] == shapes
    assert [int((~one.mask).sum()) for one in found.relations] == gaps
    assert ones is None or [int(one.values.sum()) for one in found.relations] == ones
    if name == "monks":
        assert found.entities["monks"] == MONKS
        waverers = [i + 1 for i, label in enumerate(found.groups["group with waverers"]) if label == "Waverers"]
        assert waverers == [8, 10, 13]


@needs_mirror
def test_the_wrong_names_of_the_other_copy_are_caught() -> None:
    """UCINET's and CRAN's: the same arcs, the labels in another order than the rows."""
    content = (Path(MIRROR) / "sampson.rda").read_bytes()
    with pytest.raises(InputError, match=r"sampson\.rda: row 1 .*ROMUL_10"):
        read_monks("monks", {"sampson.rda": content})
    row = source("sampson.RData", TABLE)
    with pytest.raises(InputError, match="digest"):
        verified_members(Path(MIRROR) / "sampson.rda", row)


def test_every_data_set_has_a_row_of_the_table() -> None:
    for name in RELATIONS:
        for file in raw_files(name):
            assert source(file, TABLE).content_sha256
