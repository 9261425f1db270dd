"""Scores and measurements of LDA's extensions, read back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from heldout.effects import WITHOUT, per_token
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import lda_hmm, lda_hmm_words, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.points import mean_points, select

if TYPE_CHECKING:
    import pandas as pd

SLDA, SEQUENCES, ROLES = "slda", "lda-hmm", "lda-hmm-words"


def scored(inputs: Inputs, experiment: str, model: str, evaluator: str) -> "pd.DataFrame":
    """Return one score's "corpus", "topics", "seed", "value", "error", nats per token or case, and `WITHOUT`."""
    rows = per_token(select(inputs.scores, variant=experiment, model=model, evaluator=evaluator))
    return rows[["corpus", "topics", "seed", "value", "error", *(name for name in WITHOUT if name in rows)]]


def corpora_of(inputs: Inputs, experiment: str) -> list[str]:
    """Return the corpora of an experiment's scores, in their order there."""
    return list(dict.fromkeys(select(inputs.scores, variant=experiment)["corpus"]))


def mean_score(inputs: Inputs, experiment: str, corpus: str, model: str, evaluator: str) -> dict[int, float]:
    """Return a score by K, nats per token or case, means over seeds."""
    rows = select(inputs.scores, variant=experiment, corpus=corpus, model=model)
    return {K: point.value for K, point in mean_points(rows, [evaluator]).items()}


def mean_measured(inputs: Inputs, experiment: str, corpus: str, model: str, quantity: str) -> dict[int, float]:
    """Return a measurement by its place, means over seeds."""
    rows = select(inputs.measurements, variant=experiment, corpus=corpus, model=model, quantity=quantity)
    return {int(str(at)): float(values.mean()) for at, values in rows.groupby("at")["value"]}


class LabelRow(NamedTuple):
    """Supervised LDA and LDA with a regression at one K, means over seeds; nats per label, words nats per token."""

    corpus: str
    topics: int
    within: float
    frequency: float
    label: Sequence[float]
    state: Sequence[float]
    words: Sequence[float]


def label_rows(inputs: Inputs) -> list[LabelRow]:
    """Return the rows of the table of supervised LDA; of each pair supervised LDA's number comes first."""
    rows, models = [], (slda.MODEL, slda.REGRESSION)
    for corpus in corpora_of(inputs, SLDA):
        (frequency,) = mean_score(inputs, SLDA, corpus, slda.FREQUENCY, LIKELIHOOD).values()
        label, state = (
            [mean_score(inputs, SLDA, corpus, model, evaluator) for model in models]
            for evaluator in (LIKELIHOOD, USUAL)
        )
        words = [mean_measured(inputs, SLDA, corpus, model, slda.WORDS) for model in models]
        within = mean_measured(inputs, SLDA, corpus, slda.MODEL, slda.WITHIN)
        for K in sorted(label[0]):
            pairs = ([by_topics[K] for by_topics in both] for both in (label, state, words))
            rows.append(LabelRow(corpus, K, within[K], frequency, *pairs))
    return rows


class SequenceRow(NamedTuple):
    """A model of sequences at one K, a mean over seeds; nats per token."""

    model: str
    topics: int
    usual: float
    likelihood: float
    error: float
    content: float
    function: float


SEQUENCE_MODELS = {lda_hmm.HMM: "HMM", lda_hmm.LDA: "LDA", lda_hmm.MODEL: "LDA-HMM"}


def sequence_rows(inputs: Inputs, corpus: str) -> list[SequenceRow]:
    """Return the rows of the table of LDA-HMM, model by model."""
    rows = []
    for model in SEQUENCE_MODELS:
        of_model = select(inputs.scores, variant=SEQUENCES, corpus=corpus, model=model)
        usual, likelihoods = mean_points(of_model, [USUAL]), mean_points(of_model, [LIKELIHOOD])
        content, function = (
            mean_measured(inputs, SEQUENCES, corpus, model, quantity)
            for quantity in (lda_hmm.CONTENT, lda_hmm.FUNCTION)
        )
        for K, point in likelihoods.items():
            rows.append(SequenceRow(model, K, usual[K].value, point.value, point.error, content[K], function[K]))
    return rows


def function_shares(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the shares of function words among topics' words, "corpus", "topics", "seed", "value" and "error"."""
    rows = select(inputs.measurements, variant=SEQUENCES, model=model, quantity=lda_hmm.FUNCTION)
    return rows[["corpus", "topics", "seed", "value"]].assign(error=0.0)


def word_lists(inputs: Inputs, model: str, what: str) -> list[list[str]]:
    """Return the words of a model's topics or states of Table 27.1, the largest first."""
    if inputs.notes is None:
        return []
    rows = select(inputs.notes, variant=ROLES, model=model)
    rows = rows[rows["quantity"].str.startswith(f"{what}-")].assign(
        number=lambda one: one["quantity"].str.rpartition("-")[2].astype(int)
    )
    return [of["text"].tolist() for _, of in rows.sort_values(["number", "at"]).groupby("number")]


class Context(NamedTuple):
    """A word in a role: the words around it, the probability of each that it is content, and its place."""

    words: list[str]
    content: list[float]
    place: int


def contexts(inputs: Inputs, role: str) -> list[Context]:
    """Return the contexts of Figure 27.14 in one role, word by word."""
    if inputs.notes is None:
        return []
    places, found = select(inputs.measurements, variant=ROLES, quantity=f"{role}-{lda_hmm_words.PLACE}"), []
    for n, place in zip(places["at"], places["value"], strict=True):
        name = f"{role}-{n}"
        texts, values = (
            select(table, variant=ROLES, quantity=name).sort_values("at")[column].tolist()
            for table, column in ((inputs.notes, "text"), (inputs.measurements, "value"))
        )
        found.append(Context(texts, values, int(place)))
    return found
