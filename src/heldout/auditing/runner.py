"""The run of audits: their blocks, evaluated by joblib in any order, in one or several processes or on a cluster.

`joblib.parallel_config` chooses another backend, such as "dask" or "ray", and the number of processes where none is
given. A worker is given a block's documents and the topics over their own words, and nothing else.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from heldout.auditing.blocks import BLOCK, Work, batches, evaluate, local
from heldout.auditing.progress import Moved
from heldout.auditing.store import Values
from heldout.auditing.survey import Subject
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import PARTICLES, SEQUENTIAL
from heldout.topics import AnyTopics
from heldout.typing import Floats

QUADRATIC = (PARTICLES, SEQUENTIAL)  # these resample L (L - 1) / 2 tokens of a document; the others visit L


class Task(NamedTuple):
    """A model and D documents, the evaluators, and the documents' values, one column per `blocks.COLUMNS`."""

    subject: Subject
    work: Work
    kept: Values

    @property
    def costs(self) -> Floats:
        """(D,) the documents' shares of the work, in a unit of its own."""
        tokens = self.subject.read.lengths.astype(np.float64)
        # beside a resampling estimator, the other evaluators cost about a hundred draws per token
        each = 200.0 + self.work.samples * tokens / 2.0 if self.work.estimator in QUADRATIC else 1.0
        return tokens * each * self.subject.topics.n_topics


def run(tasks: Sequence[Task], cores: int = 1, progress: Moved | None = None) -> None:
    """Evaluate the documents that are not done; finished blocks are kept however the run ends.

    Args:
        tasks: of one audit, or of every model of a ranking.
        cores: the number of processes; 1 leaves it to `joblib.parallel_config`.
        progress: is called after every block with the number of documents done and the share of the estimated work.

    Raises:
        InputError: when a process dies.
    """
    costs = [task.costs for task in tasks]
    total = sum(float(cost.sum()) for cost in costs)
    documents = sum(int(task.kept.done.sum()) for task in tasks)
    share = sum(float(cost[task.kept.done].sum()) for cost, task in zip(costs, tasks, strict=True))

    def calls() -> Iterator[Any]:
        for at, task in enumerate(tasks):
            for first, block in batches(task.subject.documents, BLOCK):
                if not task.kept.done[first : first + BLOCK].all():
                    yield delayed(_evaluated)(at, first, *local(task.subject.topics, block, first), task.work)

    try:
        results = Parallel(None if cores == 1 else cores, return_as="generator_unordered", max_nbytes=None)(calls())
        try:
            for at, first, values in results:
                tasks[at].kept.add(first, values)
                documents, share = documents + len(values), share + float(costs[at][first : first + len(values)].sum())
                if progress is not None:
                    progress(documents, min(1.0, share / total))
        except BaseException as error:
            results.throw(error)  # which ends the processes
            raise
    except BrokenProcessPool as error:
        raise InputError(
            "a process of the audit ended too early, perhaps for want of memory; run it again with fewer cores"
        ) from error


def _evaluated(at: int, first: int, topics: AnyTopics, block: Corpus, work: Work) -> tuple[int, int, Floats]:
    """Return the values of a block, after its task and the place of its first document."""
    return at, first, evaluate(topics, block, first, work)
