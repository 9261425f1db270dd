"""Functions of many things by several processes."""

import os

import pytest

from artifact.side_by_side import each
from heldout.errors import InputError


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order_from_a_closure(processes: int) -> None:
    offset = 7
    assert each(lambda place: place + offset, range(20), processes) == list(range(7, 27))


def test_other_processes_work_and_their_errors_are_raised_here() -> None:
    assert os.getpid() not in each(lambda _: os.getpid(), range(4), 2)

    def fails(place: int) -> None:
        raise InputError(f"place {place}")

    with pytest.raises(InputError, match="place 0"):
        each(fails, range(3), 2)
    assert each(str, [1], 2) == ["1"]
