"""What an experiment gives: scores, measurements and notes, recorded under the names that its job has."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsFloat, SupportsInt

from heldout.errors import InputError
from heldout.measurements import Measurement, Note
from heldout.scores import Groups, Score, perplexity

if TYPE_CHECKING:
    from heldout.evaluators.evaluation import Evaluation
    from heldout.typing import Floats


class Results(NamedTuple):
    """The rows of the three tables, in the order in which they were recorded."""

    scores: list[Score]
    measurements: list[Measurement]
    notes: list[Note]


@dataclass(frozen=True)
class Recorder:
    """Records rows of one corpus, model, variant, number of topics, constant, chain and seed.

    Attributes:
        corpus, model, variant, topics, smoothing, chain, seed: what every row has, as in `Score` and `Measurement`.
        documents: the names of the documents that are scored, which scores' groups are by; none where it is empty.
        results: all rows; those of recorders that were derived from it, too.

    Examples:
        >>> recorder = Recorder(corpus="cranfield", model="lda", variant="bounds", topics=2)
        >>> recorder.at(topics=3, chain="0").measure("r-hat", 1.01, axis="chains", at=10)
        >>> recorder.note("version", "1.9.1", axis="topics", at=2)
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
    results: Results = field(default_factory=lambda: Results([], [], []))

    def at(self, **names: Any) -> Self:
        """Return a recorder of the same rows with other names, such as `topics=3`."""
        return replace(self, **names)

    def score(
        self,
        evaluator: str,
        evaluation: "Evaluation",
        *,
        samples: int = 0,
        standard_error: float | None = None,
        tokens_left_out: int | None = None,
    ) -> Score:
        """Record an evaluation summed over its documents, and return the score; those without tokens are left out.

        Where none is given, the standard error (nats) combines the documents' own errors and biases, and the number of
        tokens left out is the evaluation's. `samples` are per document.

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
            tokens_left_out=evaluation.tokens_left_out if tokens_left_out is None else tokens_left_out,
            log_likelihood=nats,
            perplexity=perplexity(nats, tokens),
            standard_error=evaluation.total_error() if standard_error is None else standard_error,
            groups=Groups.of(self.documents, evaluation.tokens, evaluation.log_likelihood) if self.documents else None,
        )
        self.results.scores.append(score)
        return score

    def measure(
        self, quantity: str, value: SupportsFloat, *, axis: str, at: SupportsInt, error: SupportsFloat = 0.0
    ) -> None:
        """Record one number, in nats where it is a log probability, with its Monte Carlo error."""
        names = (self.corpus, self.model, self.variant, self.topics, self.smoothing, self.chain, self.seed)
        row = Measurement(*names, quantity, axis, int(at), float(value), float(error))
        self.results.measurements.append(row)

    def mean(self, quantity: str, values: "Floats", *, axis: str, at: SupportsInt) -> None:
        """Record the mean of two or more independent values, (n,), with its standard error from their spread."""
        error = float(values.std(ddof=1)) / math.sqrt(len(values))
        self.measure(quantity, values.mean(), axis=axis, at=at, error=error)

    def by_document(
        self, quantity: str, evaluation: "Evaluation", *, at: Iterable[int] | None = None, error: float | None = None
    ) -> None:
        """Record an evaluation's values, nats, one per document with tokens, on the axis "document".

        Without places `at` on the axis a document's is its index; without an error it has the evaluation's own.
        """
        for d, place in enumerate(range(len(evaluation.tokens)) if at is None else at):
            if evaluation.tokens[d] > 0:
                own = evaluation.standard_error[d] if error is None else error
                self.measure(quantity, evaluation.log_likelihood[d], axis="document", at=place, error=own)

    def note(self, quantity: str, text: str, *, axis: str, at: SupportsInt) -> None:
        """Record a short text, without a line's end."""
        names = (self.corpus, self.model, self.variant, self.topics, self.seed)
        self.results.notes.append(Note(*names, quantity, axis, int(at), text))
