"""The second and the third tidy table: measurements, other than the score of a test set, and notes.

A measurement is one number along an axis: the log joint probability of a chain at a sweep, a document's exact
log-likelihood, the logarithm of a normaliser at a length. A note is one text at such a place: a topic's word by its
rank, the version of a library. Like scores, neither holds timings.
"""

from dataclasses import dataclass

from artifact.results.tables import Tidy


@dataclass(frozen=True, order=True)
class Measurement:
    """One number at a position on an axis.

    Attributes:
        corpus, model, variant: names, as in `artifact.results.scores.Score`.
        topics: K (components, states); 0 where the model has none.
        smoothing: the constant that was added to p(w | z); 0 where none was.
        chain: the Markov chain's number as text; "none" for a model without chains.
        seed: determines split, start and sampling.
        quantity: name of the measured quantity, such as "log-likelihood" or "r-hat".
        axis: the unit of `at`, such as "iteration", "sweep", "document" or "length".
        at: the position on that axis.
        value: the number, in nats where it is a log probability.
        standard_error: its Monte Carlo error; 0 for a deterministic number, NaN where none is stated.
    """

    corpus: str
    model: str
    variant: str
    topics: int
    smoothing: float
    chain: str
    seed: int
    quantity: str
    axis: str
    at: int
    value: float
    standard_error: float = 0.0


@dataclass(frozen=True, order=True)
class Note:
    """One text, without a line's end, at a position on an axis; the other attributes are a measurement's."""

    corpus: str
    model: str
    variant: str
    topics: int
    seed: int
    quantity: str
    axis: str
    at: int
    text: str


MEASUREMENTS = Tidy(Measurement, "measurements", key=10, numbers=("topics", "smoothing", "seed", "at"))
COLUMNS = MEASUREMENTS.columns
NOTES = Tidy(
    Note, "notes", key=8, numbers=("topics", "seed", "at"), reading={"na_values": []}
)  # a text is never a missing value
