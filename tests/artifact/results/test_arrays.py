"""Named arrays of experiments: recorded, kept in one file, collected and read back."""

from pathlib import Path

import numpy as np
import pytest

from artifact.results.arrays import Arrays, Place, collect_arrays, write_arrays
from artifact.results.recorder import Recorder
from heldout.errors import InputError

CELLS = np.array([[1.0, np.nan], [0.1, -0.0]])


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(corpus="c", model="m", variant="v", topics=2, smoothing=0.1, seed=1)


def test_arrays_are_kept_bit_by_bit_under_the_names_of_the_recorder(recorder: Recorder, tmp_path: Path) -> None:
    recorder.array("cells", CELLS)
    recorder.at(seed=0).array("cells", [True, False])
    recorder.at(seed=0).array("none", np.zeros((0, 3)))
    write_arrays(tmp_path / "a.npz", recorder.results.arrays)
    read = Arrays.read(tmp_path / "a.npz")
    assert read.places == Arrays.recorded(recorder.results.arrays).places
    place = Place("c", "m", "v", 2, 0.1, "none", 1, "cells")
    assert read[place].tobytes() == CELLS.tobytes()
    assert read.first(name="cells").tolist() == [1.0, 0.0]
    assert read.first(variant="v", name="none").shape == (0, 3)
    assert read.first(name="others").shape == (0,)
    assert read.select(seed=1) == [place]


def test_a_name_is_recorded_once(recorder: Recorder) -> None:
    recorder.array("cells", CELLS)
    with pytest.raises(InputError, match=r"c/m/v/2/0\.1/none/1/cells"):
        recorder.array("cells", CELLS)
    with pytest.raises(InputError, match=r"c/m/v/2/0\.1/none/1/cells"):
        Arrays()[Place("c", "m", "v", 2, 0.1, "none", 1, "cells")]


def test_files_are_collected_into_the_same_bytes_in_any_order(recorder: Recorder, tmp_path: Path) -> None:
    for topics, name in ((10, "a"), (9, "b")):
        own = Recorder(corpus="c", topics=topics)
        own.array("cells", CELLS)
        write_arrays(tmp_path / f"{name}.npz", own.results.arrays)
    write_arrays(tmp_path / "empty.npz", recorder.results.arrays)
    files = [tmp_path / f"{name}.npz" for name in ("a", "b", "empty")]
    collect_arrays(files, tmp_path / "one.npz")
    collect_arrays(files[::-1], tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    assert [place.topics for place in Arrays.read(tmp_path / "one.npz").places] == [9, 10]
    with pytest.raises(InputError, match=r"a\.npz"):
        collect_arrays([files[0], files[0]], tmp_path / "one.npz")


def test_other_files_are_refused(tmp_path: Path) -> None:
    np.savez(other := tmp_path / "other.npz", phi=CELLS)
    (cut := tmp_path / "cut.npz").write_bytes(other.read_bytes()[:100])
    for path in (other, cut, tmp_path / "missing.npz"):
        with pytest.raises(InputError, match=path.name):
            Arrays.read(path)
