"""Recording of an experiment's results: scores, measurements, notes and arrays, under the names of its job."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsFloat, SupportsInt

import numpy as np

from artifact.results.arrays import Place
from artifact.results.measurements import Measurement, Note
from artifact.results.scores import Groups, Score
from heldout.errors import InputError
from heldout.topics import perplexity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.evaluators.evaluation import Evaluation
    from heldout.typing import Floats


class Results(NamedTuple):
    """Rows of the three tables, in the order in which they were recorded, and arrays by place."""

    scores: list[Score]
    measurements: list[Measurement]
    notes: list[Note]
    arrays: dict[Place, "Floats"]


@dataclass(frozen=True)
class Recorder:
    """Records rows of one corpus, model, variant, number of topics, constant, chain and seed.

    Attributes:
        corpus, model, variant, topics, smoothing, chain, seed: names of every row, as in `Score` and `Measurement`.
        documents: the names of the documents that are scored, which scores' groups are by; none where it is empty.
        tokens_left_out: number of every score; None for its evaluation's.
        results: all rows, also of the recorders that are derived from it.

    Examples:
        >>> recorder = Recorder(corpus="cranfield", model="lda", variant="bounds", topics=2)
        >>> recorder.at(topics=3, chain="0").measure("r-hat", 1.01, axis="chains", position=10)
        >>> recorder.note("version", "1.9.1")
        >>> recorder.results.measurements[0].topics, recorder.results.notes[0].text
        (3, '1.9.1')
    """

    corpus: str = "none"
    model: str = "none"
    variant: str = ""
    topics: int = 0
    smoothing: float = 0.0
    chain: str = "none"
    seed: int = 0
    documents: tuple[str, ...] = ()
    tokens_left_out: int | None = None
    results: Results = field(default_factory=lambda: Results([], [], [], {}))

    def at(self, **names: Any) -> Self:
        """Return a recorder of the same rows with other names, for instance `topics=3`."""
        return replace(self, **names)

    def score(
        self,
        evaluator: str,
        evaluation: "Evaluation",
        *,
        samples: int = 0,
        standard_error: float | None = None,
    ) -> Score:
        """Record an evaluation summed over its documents with tokens, and return the score.

        Where none is given, the standard error (nats) combines the documents' own errors and biases. `samples` are per
        document.

        Raises:
            InputError: where the evaluation is of another number of documents than have names.
        """
        if self.documents and len(self.documents) != len(evaluation.tokens):
            raise InputError(
                f"recorder: {evaluator}: {len(evaluation.tokens)} documents, but names of {len(self.documents)}"
            )
        scored = evaluation.tokens > 0
        nats, tokens = float(evaluation.log_likelihood[scored].sum()), int(evaluation.tokens.sum())
        names = (self.corpus, self.model, self.variant, self.topics, self.smoothing, self.chain)
        score = Score(
            *names,
            evaluator,
            samples,
            self.seed,
            documents=int(scored.sum()),
            tokens=tokens,
            documents_left_out=int((~scored).sum()),
            tokens_left_out=evaluation.tokens_left_out if self.tokens_left_out is None else self.tokens_left_out,
            log_likelihood=nats,
            perplexity=perplexity(nats, tokens),
            standard_error=evaluation.total_error() if standard_error is None else standard_error,
            groups=Groups.of(self.documents, evaluation.tokens, evaluation.log_likelihood) if self.documents else None,
        )
        self.results.scores.append(score)
        return score

    def measure(
        self,
        quantity: str,
        value: SupportsFloat,
        *,
        axis: str = "topics",
        position: SupportsInt | None = None,
        error: SupportsFloat = 0.0,
    ) -> None:
        """Record one number, in nats for a log probability, with its Monte Carlo error.

        Without a position it stands on the axis "topics" at the recorder's K.
        """
        names = (self.corpus, self.model, self.variant, self.topics, self.smoothing, self.chain, self.seed)
        place = self.topics if position is None else int(position)
        self.results.measurements.append(Measurement(*names, quantity, axis, place, float(value), float(error)))

    def per_token(self, quantity: str, evaluation: "Evaluation", **place: Any) -> None:
        """Record an evaluation in nats per token, with its error; the place is as in `measure`."""
        tokens = evaluation.tokens.sum()
        value, error = evaluation.log_likelihood.sum() / tokens, evaluation.total_error() / tokens
        self.measure(quantity, value, error=error, **place)

    def mean(self, quantity: str, values: "Floats", *, axis: str, position: SupportsInt) -> None:
        """Record the mean of two or more independent values, (n,), with its standard error from their spread."""
        error = float(values.std(ddof=1)) / math.sqrt(len(values))
        self.measure(quantity, values.mean(), axis=axis, position=position, error=error)

    def by_document(
        self,
        quantity: str,
        evaluation: "Evaluation",
        *,
        positions: Iterable[int] | None = None,
        error: float | None = None,
    ) -> None:
        """Record an evaluation's values, nats, one per document with tokens, on the axis "document".

        Without `positions` on the axis a document's is its index; without an error it has the evaluation's own.
        """
        for d, position in enumerate(range(len(evaluation.tokens)) if positions is None else positions):
            if evaluation.tokens[d] > 0:
                own = evaluation.standard_error[d] if error is None else error
                self.measure(quantity, evaluation.log_likelihood[d], axis="document", position=position, error=own)

    def array(self, name: str, values: "ArrayLike") -> None:
        """Record an array of numbers, of any shape, as float64.

        Raises:
            InputError: where the recorder's names have an array of this name already.
        """
        names = (self.corpus, self.model, self.variant, self.topics, self.smoothing, self.chain, self.seed)
        place = Place(*names, name)
        if place in self.results.arrays:
            raise InputError(f"recorder: {place}: recorded a second time")
        self.results.arrays[place] = np.array(values, dtype=np.float64)

    def named(self, quantity: str, value: SupportsFloat, text: str, **place: Any) -> None:
        """Record a number and a short text in one place, which is as in `measure`."""
        self.measure(quantity, value, **place)
        self.note(quantity, text, **place)

    def note(self, quantity: str, text: str, *, axis: str = "topics", position: SupportsInt | None = None) -> None:
        """Record a short text, without a line's end; the place is as in `measure`."""
        names = (self.corpus, self.model, self.variant, self.topics, self.seed)
        place = self.topics if position is None else int(position)
        self.results.notes.append(Note(*names, quantity, axis, place, text))
