"""Named random numbers, and files that are whole or absent."""

import os
from pathlib import Path

import pytest

from heldout.files import replacing
from heldout.seeds import entropy, generator


def test_axes_name_a_draw_whatever_their_order() -> None:
    first = generator("start", corpus="cranfield", topics=5, seed=0).random(4)
    second = generator("start", seed=0, topics=5, corpus="cranfield").random(4)
    assert first.tolist() == second.tolist()


def test_every_axis_and_purpose_matters() -> None:
    names = [
        entropy("start", corpus="cranfield", topics=5, seed=0),
        entropy("split", corpus="cranfield", topics=5, seed=0),
        entropy("start", corpus="medline", topics=5, seed=0),
        entropy("start", corpus="cranfield", topics=50, seed=0),
        entropy("start", corpus="cranfield", topics=5, seed=1),
        entropy("start", corpus="cranfield", seed=0),
        entropy("start", corpus="cranfield", topics="5", seed=0),
    ]
    assert len(set(names)) == len(names)


def test_the_draws_do_not_change_between_versions() -> None:
    assert generator("fingerprint", seed=0).integers(0, 2**32, 3).tolist() == [1485215168, 698794697, 4280317265]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file.txt"
    with replacing(path) as temporary:
        temporary.write_text("old")
    with pytest.raises(RuntimeError):
        _fail_half_way(path)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _fail_half_way(path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
