"""The run of an audit: evaluates its blocks in one or several processes, and resumes an interrupted run."""

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np

from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, LIKELIHOOD, Block, Work, blocks, evaluate, without_phi
from heldout.auditing.store import Kept
from heldout.auditing.survey import Subject
from heldout.errors import InputError
from heldout.evaluators import PARTICLES, SEQUENTIAL
from heldout.topics import AnyTopics
from heldout.typing import Floats

QUADRATIC = (PARTICLES, SEQUENTIAL)  # these resample L (L - 1) / 2 tokens of a document; the others visit L

_model: tuple[Floats, AnyTopics] | None = None  # phi_by_word and the prior, in a worker process


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the end; from processes that are started meanwhile for ever: the parent handles it.

    Until `_start` runs in it, which takes a second, a process would end with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it starts it lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(phi: str, prior: AnyTopics) -> None:
    """Prepare a worker process; it ignores Ctrl-C, which the parent handles."""
    global _model
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _model = np.load(phi, mmap_mode="r"), prior


def _evaluate_in_worker(block: Block, work: Work) -> Floats:
    if _model is None:
        raise RuntimeError("the worker was not started")
    return evaluate(*_model, block, work)


@dataclass
class Runner:
    """Evaluates the documents that are not done, and stores their values.

    Attributes:
        subject: the model and D documents.
        work: the likelihood's estimator and its settings.
        kept: the documents' values, one column per `heldout.auditing.blocks.COLUMNS`, as far as they are done.
        progress: is called after every block with the number of documents done and the share of the estimated work.
    """

    subject: Subject
    work: Work
    kept: Kept
    progress: Callable[[int, float], None] | None = None
    _likelihoods: Floats | None = field(default=None, init=False)  # (D, C) values of `run_likelihood`

    def __post_init__(self) -> None:
        tokens = self.subject.read.lengths.astype(np.float64)
        # beside a resampling estimator, the other evaluators cost about a hundred draws per token
        work = tokens * (200.0 + self.work.samples * tokens / 2.0) if self.work.estimator in QUADRATIC else tokens
        self._shares = work / work.sum()
        self._documents, self._share = int(self.kept.done.sum()), float(self._shares[self.kept.done].sum())

    def run_likelihood(self) -> Floats:
        """Evaluate the likelihood alone, and leave the rest to `run`; return the documents' values, (D, C).

        So it is known before the other evaluators' kernels are compiled. Nothing is stored before `run`: this is for
        audits of few seconds.
        """
        values, topics = self.kept.values.copy(), self.subject.topics
        work = self.work._replace(parts=(LIKELIHOOD,))
        for block in self._left():
            values[block.first : block.end] = evaluate(topics.phi_by_word, topics, block, work)
        self.work = self.work._replace(parts=tuple(name for name in self.work.parts if name != LIKELIHOOD))
        self._likelihoods = values
        return values

    def run(self, cores: int, *, apart: bool) -> None:
        """Evaluate the documents; finished values are in the store however the run ends.

        Args:
            cores: the number of processes.
            apart: whether even one core gets a process of its own.

        Raises:
            InputError: when the documents change while they are read, or a process dies.
        """
        try:
            if cores == 1 and not apart:
                topics = self.subject.topics
                for block in self._left():
                    self._enter(block, evaluate(topics.phi_by_word, topics, block, self.work))
            else:
                self._run_in_processes(cores)
        finally:
            if self.kept.store is not None:
                self.kept.store.write()

    def _left(self) -> Iterator[Block]:
        """Yield the blocks that are not done."""
        end = 0
        for block in blocks(self.subject.stream):
            at, end = slice(block.first, block.end), block.end
            if not np.array_equal(np.diff(block.offsets), self.subject.read.lengths[at]):
                break
            if not self.kept.done[at].all():
                yield block
        else:
            if end == len(self.kept.done):
                return
        raise InputError(f"{self.subject.stream.name}: changed while it was read; run the audit again")

    def _enter(self, block: Block, values: Floats) -> None:
        at = np.arange(block.first, block.first + len(values))
        if self._likelihoods is not None:
            for column in map(COLUMNS.index, (LIKELIHOOD, ERROR, BIAS)):
                values[:, column] = self._likelihoods[at, column]
        self.kept.values[at], self.kept.done[at] = values, True
        if self.kept.store is not None:
            self.kept.store.add(at, values)
        self._documents += len(values)
        self._share += float(self._shares[at].sum())
        if self.progress is not None:
            self.progress(self._documents, min(1.0, self._share))

    def _run_in_processes(self, cores: int) -> None:
        context = multiprocessing.get_context("spawn")
        others = set(multiprocessing.active_children())
        with tempfile.TemporaryDirectory(prefix="heldout-audit-") as folder:
            phi = Path(folder) / "phi.npy"
            np.save(phi, self.subject.topics.phi_by_word)  # memory-mapped by every worker, so held once
            pool = ProcessPoolExecutor(cores, context, _start, (str(phi), without_phi(self.subject.topics)))
            running: dict[Future[Floats], Block] = {}

            def enter(futures: set[Future[Floats]]) -> None:
                for future in futures:
                    block = running.pop(future)
                    self._enter(block, future.result())

            try:
                for block in self._left():
                    with _interrupts_held_back():  # the first ones start processes
                        future = pool.submit(_evaluate_in_worker, block, self.work)
                    running[future] = block
                    if len(running) >= 4 * cores:
                        enter(wait(running, return_when=FIRST_COMPLETED).done)
                while running:
                    enter(wait(running, return_when=FIRST_COMPLETED).done)
            except BrokenProcessPool as error:
                raise InputError(
                    "a process of the audit ended too early, perhaps for want of memory; run it again with fewer"
                    " cores (a script that asks for several needs `if __name__ == '__main__':`)"
                ) from error
            except BaseException:
                for child in set(multiprocessing.active_children()) - others:
                    child.terminate()  # a block may take minutes: do not wait for it
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
