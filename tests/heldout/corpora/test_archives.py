import hashlib
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_archives import pack

from heldout.corpora.archives import content_digest, read_members
from heldout.errors import InputError

MEMBERS = {"b/2.txt": b"two", "b/1.txt": b"one", "notes": b"not read"}


def test_members_come_in_name_order_and_by_whole_name(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.tgz", {"./a": b"1", "deep/a": b"2", "a.b": b"3"})
    assert read_members(path, "a") == {"a": b"1"}
    members = read_members(pack(tmp_path / "y.tgz", MEMBERS), "b/[0-9].txt")
    assert list(members.items()) == [("b/1.txt", b"one"), ("b/2.txt", b"two")]


def test_a_plain_file_is_its_own_member(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"the")
    assert read_members(tmp_path / "list", "") == {"list": b"the"}


def test_packing_again_keeps_the_digest_and_editing_changes_it(tmp_path: Path) -> None:
    first = pack(tmp_path / "x.tgz", MEMBERS)
    again = pack(tmp_path / "y.tgz", dict(reversed(MEMBERS.items())) | {"more notes": b"."})
    assert first.read_bytes() != again.read_bytes()
    digest = content_digest(read_members(first, "b/*"))
    assert content_digest(read_members(again, "b/*")) == digest
    edited = pack(tmp_path / "z.tgz", MEMBERS | {"b/2.txt": b"twp"})
    assert content_digest(read_members(edited, "b/*")) != digest


def test_digest_is_the_documented_one() -> None:
    assert content_digest({"b": b"xyz", "a": b""}) == hashlib.sha256(b"a\x000\x00b\x003\x00xyz").hexdigest()


@given(st.dictionaries(st.text("ab01"), st.binary(max_size=4)), st.dictionaries(st.text("ab01"), st.binary(max_size=4)))
def test_digests_differ_when_members_do(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    assert (content_digest(first) == content_digest(second)) == (first == second)


def test_missing_member_and_missing_file(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.tgz", MEMBERS)
    with pytest.raises(InputError, match=r"x\.tgz: .*cran\.all\.1400"):
        read_members(path, "cran.all.1400")
    with pytest.raises(InputError, match="nothing: "):
        read_members(tmp_path / "nothing", "*")
    with pytest.raises(InputError, match="truncated"):
        read_members(tmp_path, "")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    content = pack(tmp_path / "x.tgz", {"big": os.urandom(3000)}).read_bytes()
    for length in [0, 1, 5, 20, *range(100, len(content) - 20, 211)]:
        (tmp_path / "y.tgz").write_bytes(content[:length])
        with pytest.raises(InputError, match=r"y\.tgz: expected"):
            read_members(tmp_path / "y.tgz", "big")


@given(st.binary(max_size=2000))
def test_garbage_raises_input_errors(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.tgz")
        path.write_bytes(content)
        with pytest.raises(InputError):
            read_members(path, "cran")


def test_members_that_are_no_files_and_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "odd.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("b/1.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "nowhere"
        archive.addfile(link)
        odd = tarfile.TarInfo("c/\udce9")
        archive.addfile(odd)
    with pytest.raises(InputError, match=r"b/1\.txt .*link"):
        read_members(path, "b/*")
    members = read_members(path, "c/*")
    assert members == {"c/\udce9": b""}
    assert content_digest(members) == hashlib.sha256(b"c/\xe9\x000\x00").hexdigest()
