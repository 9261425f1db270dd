"""Named random numbers, and files that are whole or absent."""

import errno
import os
from pathlib import Path

import pytest

from heldout.errors import InputError
from heldout.files import refuse_inputs, replacing
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


def test_a_link_stays_and_the_file_that_it_names_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link, far = tmp_path / "link", tmp_path / "far" / "file"
    link.symlink_to(far)
    for text in ("first", "second"):
        with replacing(link) as temporary:
            temporary.write_text(text)
        assert link.is_symlink()
        assert far.read_text() == text
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "file", "link"]


def test_what_is_no_regular_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR)
    with replacing(pipe) as temporary:
        temporary.write_bytes(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_two_writers_at_a_time_give_one_of_two_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as one:
        one.write_text("one")
        with replacing(path) as other:
            assert other != one
            other.write_text("the other")
        assert path.read_text() == "the other"
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_run_left_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as left:
        left.write_text("whole")
    left.write_text("what a killed run left, longer than what comes")
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_refused_and_a_full_disk_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder"), replacing(tmp_path):
        pass
    with pytest.raises(OSError, match="No space left") as caught, replacing(tmp_path / "file"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "file")


def test_inputs_are_no_outputs_by_any_name(tmp_path: Path) -> None:
    model, texts, new = tmp_path / "model", tmp_path / "texts", tmp_path / "new"
    texts.mkdir()
    for path in (model, texts / "a.txt", texts / "page.html"):
        path.write_text("")
    (tmp_path / "link").symlink_to(model)
    refuse_inputs([new, texts / "page.html", texts / "b.txt"], [model, texts])
    for output in (model, tmp_path / "link", texts / "a.txt", texts / ".." / "model"):
        with pytest.raises(InputError, match="overwritten"):
            refuse_inputs([output], [model, texts])
    with pytest.raises(InputError, match="twice"):
        refuse_inputs([new, new], [model])
