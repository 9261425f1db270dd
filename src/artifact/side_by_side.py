"""A function of many things, by several processes that share the tables of this one."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

_FORKED: list[Callable[[Any], Any]] = []  # function of the forked processes: a closure, which cannot be sent


def each(function: Callable[[Any], Result], things: Sequence[Any], processes: int = 1) -> list[Result]:
    """Return a function's results in order, the same by any number of processes, forked of this one.

    Things and results are sent between processes, the function is not. Where the system cannot fork, one process does
    it all.
    """
    if processes == 1 or "fork" not in multiprocessing.get_all_start_methods():
        return [function(thing) for thing in things]
    _FORKED.append(function)
    try:
        with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
            return list(pool.map(_forked, things))
    finally:
        _FORKED.clear()


def _forked(thing: Any) -> Any:
    return _FORKED[0](thing)
