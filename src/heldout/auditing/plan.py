"""The plan of an audit, or of a ranking, as it is told before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from heldout.auditing.blocks import Work
from heldout.auditing.runner import Task


@dataclass(frozen=True)
class Plan:
    """The plan of an audit, or of a ranking.

    Attributes:
        documents, empty: the number of documents to score, and of those without tokens in the vocabulary.
        tokens, left_out: the number of tokens in the vocabulary and outside it.
        topics: K of every model.
        work: the likelihood's estimator and its settings.
        kept: the number of documents, of all models, that an earlier run has done.
    """

    documents: int
    empty: int
    tokens: int
    left_out: int
    topics: tuple[int, ...]
    work: Work
    kept: int

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Self:
        """Return the plan of a ranking's models, or of an audit's model."""
        read = tasks[0].subject.read
        return cls(
            documents=int((read.lengths > 0).sum()),
            empty=int((read.lengths == 0).sum()),
            tokens=int(read.lengths.sum()),
            left_out=int(read.left_out.sum()),
            topics=tuple(task.subject.topics.n_topics for task in tasks),
            work=tasks[0].work,
            kept=sum(int(task.kept.done.sum()) for task in tasks),
        )

    def __str__(self) -> str:
        """Return a few lines on the models, the documents and the work."""
        share = 100.0 * self.left_out / max(self.tokens + self.left_out, 1)
        models = f"{len(self.topics)} models of " if len(self.topics) > 1 else ""
        work = self.work
        lines = [
            f"{models}{', '.join(f'{K:,}' for K in self.topics)} topic{'s' * (self.topics != (1,))};"
            f" {self.documents:,} documents of {self.tokens:,} tokens; {self.left_out:,} tokens ({share:.1f} %) outside"
            f" the vocabulary; {self.empty:,} empty documents",
            f"likelihood: {work.estimator}{f', {work.samples:,} samples' if work.samples else ''}. {work.reason}",
        ]
        if self.kept:
            lines.append(f"{self.kept:,} documents are kept from an earlier run")
        return "\n".join(lines)
