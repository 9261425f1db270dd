"""The run of audits: their blocks, evaluated by joblib in any order, in one or several processes or on a cluster.

`joblib.parallel_config` chooses another backend ("dask"). A worker is given a block and the topics over its words.
"""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from heldout.auditing.blocks import BLOCK, Work, batches, evaluate, local
from heldout.auditing.progress import Moved
from heldout.auditing.store import Values
from heldout.auditing.survey import Subject
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import AnyTopics
from heldout.typing import Floats


class Task(NamedTuple):
    """A model and D documents, the evaluators, and the documents' values, one column per `blocks.COLUMNS`."""

    subject: Subject
    work: Work
    kept: Values


def run(tasks: Sequence[Task], cores: int = 1, progress: Moved | None = None) -> None:
    """Evaluate the documents that are not done; finished blocks are kept however the run ends.

    Args:
        tasks: of one audit, or of every model of a ranking.
        cores: the number of processes; 1 leaves it to `joblib.parallel_config`.
        progress: is called after every block with the number of documents done and the share of the estimated work.

    Raises:
        InputError: when a process dies.
    """
    costs = [task.subject.read.lengths * float(task.subject.topics.n_topics) for task in tasks]
    total = sum(float(cost.sum()) for cost in costs)
    documents = sum(int(task.kept.done.sum()) for task in tasks)
    share = sum(float(cost[task.kept.done].sum()) for cost, task in zip(costs, tasks, strict=True))

    def calls() -> Iterator[Any]:
        for number, task in enumerate(tasks):
            for first, block in batches(task.subject.documents, BLOCK):
                if not task.kept.done[first : first + BLOCK].all():
                    yield delayed(_evaluated)(number, first, *local(task.subject.topics, block, first), task.work)

    def take(result: tuple[int, int, Floats]) -> None:
        nonlocal documents, share
        number, first, values = result
        tasks[number].kept.add(first, values)
        documents, share = documents + len(values), share + float(costs[number][first : first + len(values)].sum())
        if progress is not None:
            progress(documents, min(1.0, share / total))

    spread(calls(), cores, take)


def spread(calls: Iterable[Any], cores: int, take: Callable[[Any], None]) -> None:
    """Run delayed calls by joblib, and take each result as it comes, in any order.

    Args:
        calls: of `joblib.delayed`.
        cores: as of `run`.
        take: is called in this process with every result.

    Raises:
        InputError: when a process dies.
    """
    parallel = Parallel(None if cores == 1 else cores, return_as="generator_unordered", max_nbytes=None)
    results: Any = None
    try:
        with _interrupts_held_back():
            list(parallel([delayed(int)()] * cores))  # processes are up before one may be interrupted
            results = parallel(calls)
        for result in results:
            take(result)
    except BrokenProcessPool as error:
        said = "a process of the audit ended too early, perhaps for want of memory; run it again with fewer cores"
        raise InputError(said) from error
    except BaseException as error:
        threading.excepthook = lambda _: None  # joblib's thread may miss the work that is taken from it
        if results is not None:
            results.throw(error)  # which ends the processes
        raise
    finally:
        threading.excepthook = threading.__excepthook__


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the end, and for ever from processes that start meanwhile: the parent handles it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets signals through again when it starts
    held: list[int] = []  # signals that other threads, which are not masked, let through
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        for number in held:
            signal.raise_signal(number)


def _evaluated(number: int, first: int, topics: AnyTopics, block: Corpus, work: Work) -> tuple[int, int, Floats]:
    """Return the values of a block, after its task and the place of its first document."""
    return number, first, evaluate(topics, block, first, work)
