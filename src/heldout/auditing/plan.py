"""The plan of an audit, or of one model of a ranking, and its cost."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import LIKELIHOOD, PARTS, Work
from heldout.auditing.formats import duration
from heldout.auditing.runner import QUADRATIC
from heldout.auditing.survey import Subject
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.exact_marginal import UPDATES_PER_SECOND
from heldout.evaluators.reference import least_samples, sweeps
from heldout.seeds import generator
from heldout.typing import Ints

PILOT_SAMPLES = 100  # the most samples of a pilot
LONG = 60.0  # seconds per document from which the plan mentions them
PROBABILITY = "probability"  # the test on drawn documents
NAMES = {
    MEAN_FIELD_BOUND: "bound",
    FULL: "full",
    HALF: "half",
    LIKELIHOOD: "likelihood",
    PROBABILITY: "probability test",
}


@dataclass(frozen=True)
class Plan:
    """The plan of an audit, or of one model of a ranking.

    Attributes:
        documents, empty: the number of documents to score, and of those without tokens in the vocabulary.
        tokens, left_out: the number of tokens in the vocabulary and outside it.
        topics: K.
        work: the likelihood's estimator and its settings.
        seconds: seconds of one core by evaluator, extrapolated from a few of the documents; without the library's own
            number.
        cores: the number of processes.
        kept: the number of documents that an earlier run has done.
        longest: tokens of the longest document.
        longest_seconds: seconds of one core for that document alone.
    """

    documents: int
    empty: int
    tokens: int
    left_out: int
    topics: int
    work: Work
    seconds: dict[str, float]
    cores: int
    kept: int
    longest: int
    longest_seconds: float

    def __str__(self) -> str:
        """Return a few lines on the documents, the work and its cost."""
        share = 100.0 * self.left_out / max(self.tokens + self.left_out, 1)
        work, seconds = self.work, sum(self.seconds.values())
        parts = ", ".join(f"{NAMES[name]} {duration(spent)}" for name, spent in self.seconds.items())
        lines = [
            f"{self.topics:,} topics; {self.documents:,} documents of {self.tokens:,} tokens; {self.left_out:,} tokens"
            f" ({share:.1f} %) outside the vocabulary; {self.empty:,} empty documents",
            f"likelihood: {work.estimator}{f', {work.samples:,} samples' if work.samples else ''}. {work.reason}",
            f"cost: about {duration(seconds / self.cores)} on {self.cores} core{'s' if self.cores > 1 else ''}"
            f" ({parts}), beside the library's own number",
        ]
        if self.longest_seconds > LONG:
            lines.append(
                f"the longest document alone, of {self.longest:,} tokens, takes about"
                f" {duration(self.longest_seconds)}: fewer samples, another estimator (chib, linear-time) or shorter"
                " documents cost less"
            )
        if self.kept:
            lines.append(f"{self.kept:,} documents are kept from an earlier run")
        return "\n".join(lines)


def plan_of(
    subject: Subject,
    work: Work,
    done: NDArray[np.bool_],
    cores: int,
    *,
    drawn: Ints | None = None,
    parts: Sequence[str] | None = None,
) -> Plan:
    """Return the plan, with seconds measured on the pilot documents.

    Args:
        subject: the model and D documents.
        work: the likelihood's estimator and its settings.
        done: (D,) which documents an earlier run has done.
        cores: the number of processes.
        drawn: lengths of the documents that are drawn from the model and scored, too; their likelihood is not counted.
        parts: what is timed, of `work.parts`; None for all.
    """
    topics, read = subject.topics, subject.read
    lengths = read.lengths.astype(np.float64)
    left = lengths[~done]
    pilot = np.diff(read.pilot.offsets).astype(np.float64)
    here, documents = subject.pilot
    samples, fewest = float(work.samples), PILOT_SAMPLES
    if work.estimator == REFERENCE:  # it stops where its weights spread little
        fewest = least_samples(work.chains)
        rng = generator("audit-plan", seed=work.seed)
        taken = sweeps(here, documents, work.samples, rng, chains=work.chains, variance=work.variance)
        samples = float(np.average(taken, weights=documents.lengths))
    fewer = work._replace(samples=min(work.samples, fewest))
    seconds, longest_seconds, of_drawn = {}, 0.0, 0.0
    longest = float(lengths.max())
    for name in (parts or work.parts) if len(left) else ():
        part = PARTS[name]
        if name == LIKELIHOOD and work.estimator == EXACT:
            seconds[name] = read.updates / UPDATES_PER_SECOND * float(left.sum() / max(lengths.sum(), 1.0))
            continue
        for _ in range(2):  # the first run also loads compiled code
            begin = time.process_time()
            part(here, documents, fewer, 0)
            spent = time.process_time() - begin
        power = 2.0 if name == LIKELIHOOD and work.estimator in QUADRATIC else 1.0
        scale = samples / fewer.samples if name == LIKELIHOOD and fewer.samples else 1.0
        each = spent * scale / float((pilot**power).sum())  # seconds per token, or per squared document length
        seconds[name] = each * float((left**power).sum())
        longest_seconds += each * longest**power
        of_drawn += 0.0 if drawn is None else each * float((drawn.astype(np.float64) ** power).sum())
    if drawn is not None:
        seconds[PROBABILITY] = of_drawn
    return Plan(
        documents=int((read.lengths > 0).sum()),
        empty=int((read.lengths == 0).sum()),
        tokens=int(read.lengths.sum()),
        left_out=int(read.left_out.sum()),
        topics=topics.n_topics,
        work=work,
        seconds=seconds,
        cores=cores,
        kept=int(done.sum()),
        longest=int(longest),
        longest_seconds=longest_seconds,
    )
