"""Scores and measurements of LDA's extensions, read back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy.experiments import disclda, dynamics, lda_hmm, lda_hmm_words, rtm, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.points import Point, mean_points, select

if TYPE_CHECKING:
    import pandas as pd

SLDA, RTM, SEQUENCES, ROLES, DYNAMICS = "slda", "rtm", "lda-hmm", "lda-hmm-words", "dynamics"
DISCLDA = "disclda"


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


class LinkRow(NamedTuple):
    """The relational topic model or LDA with a regression at one K, means over seeds, nats per pair."""

    corpus: str
    model: str
    topics: int
    likelihood: float
    state: float
    mean: float
    area: float


LINK_MODELS = {
    rtm.REGRESSION: "LDA with a regression",
    rtm.MODEL: "relational topic model",
    rtm.OF_WEIGHTS: r"the same, of $\theta$",
}


def link_rows(inputs: Inputs) -> list[LinkRow]:
    """Return the rows of the table of the relational topic model."""
    rows = []
    for corpus in corpora_of(inputs, RTM):
        for model in LINK_MODELS:
            likelihood, state = (mean_score(inputs, RTM, corpus, model, score) for score in (LIKELIHOOD, USUAL))
            mean, area = (mean_measured(inputs, RTM, corpus, model, quantity) for quantity in (rtm.MEAN, rtm.AREA))
            rows += [LinkRow(corpus, model, K, likelihood[K], state[K], mean[K], area[K]) for K in sorted(likelihood)]
    return rows


class ClassRow(NamedTuple):
    """A model of classes, a mean over seeds: nats per document, shares of documents, and nats per token."""

    model: str
    topics: int
    likelihood: float
    usual: float
    error: float
    usual_error: float
    words: float


CLASS_MODELS = {
    disclda.BAYES: "one topic a class",
    disclda.APART: "an LDA for each class",
    disclda.BLOCKS: "DiscLDA, block form",
    disclda.LEARNT: "DiscLDA, EM",
}


def class_rows(inputs: Inputs) -> list[ClassRow]:
    """Return the rows of the table of DiscLDA."""
    rows = []
    for corpus in corpora_of(inputs, DISCLDA):
        for model in CLASS_MODELS:
            scores = [mean_score(inputs, DISCLDA, corpus, model, score) for score in (LIKELIHOOD, USUAL)]
            quantities = (disclda.ERROR, disclda.USUAL_ERROR, disclda.WORDS)
            measured = [mean_measured(inputs, DISCLDA, corpus, model, quantity) for quantity in quantities]
            rows += [ClassRow(model, K, *(values[K] for values in (*scores, *measured))) for K in sorted(scores[0])]
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


# whose words the exhibits show in the text, as in their sources; the supplement has those of the others
TABLE_27_1, FIGURE_27_14 = "brown", "nips-running"


def corpora_of_words(inputs: Inputs, in_text: str) -> tuple[list[str], list[str]]:
    """Return the corpus whose words the text shows, the first where a study lacks it, and those of the supplement."""
    if inputs.notes is None:
        return [], []
    corpora = sorted(set(select(inputs.notes, variant=ROLES)["corpus"]), key=lambda corpus: (corpus != in_text, corpus))
    return corpora[:1], corpora[1:]


def word_lists(inputs: Inputs, corpus: str, model: str, what: str) -> list[list[str]]:
    """Return the words of a model's topics or states of Table 27.1, the largest first."""
    if inputs.notes is None:
        return []
    rows = select(inputs.notes, variant=ROLES, corpus=corpus, model=model)
    rows = rows[rows["quantity"].str.startswith(f"{what}-")].assign(
        number=lambda one: one["quantity"].str.rpartition("-")[2].astype(int)
    )
    return [of["text"].tolist() for _, of in rows.sort_values(["number", "at"]).groupby("number")]


class Context(NamedTuple):
    """A word in a role: the words around it, the probability of each that it is content, and its place."""

    words: list[str]
    content: list[float]
    place: int


def contexts(inputs: Inputs, corpus: str, role: str) -> list[Context]:
    """Return the contexts of Figure 27.14 in one role, word by word."""
    if inputs.notes is None:
        return []
    of = {"variant": ROLES, "corpus": corpus}
    places, found = select(inputs.measurements, **of, quantity=f"{role}-{lda_hmm_words.PLACE}"), []
    for n, place in zip(places["at"], places["value"], strict=True):
        name = f"{role}-{n}"
        texts, values = (
            select(table, **of, quantity=name).sort_values("at")[column].tolist()
            for table, column in ((inputs.notes, "text"), (inputs.measurements, "value"))
        )
        found.append(Context(texts, values, int(place)))
    return found


class DynamicRow(NamedTuple):
    """A model of the next time's documents, a mean over seeds, nats per token; None where there is no such number."""

    model: str
    usual: float | None
    likelihood: Point
    size: float | None


DYNAMIC_MODELS = {
    dynamics.MODEL: "DTM",
    dynamics.PLUGGED[dynamics.MODEL]: "DTM, topics plugged in",
    dynamics.STATIC: r"$\sigma = 0$",
    dynamics.PLUGGED[dynamics.STATIC]: r"$\sigma = 0$, topics plugged in",
    LDA: "LDA",
    dynamics.TOMOTOPY: "DTM of tomotopy, topics plugged in",
}


def dynamic_rows(inputs: Inputs, corpus: str) -> list[DynamicRow]:
    """Return the rows of the table of the dynamic topic model; of effective sizes the least of all seeds."""
    rows = []
    for model in DYNAMIC_MODELS:
        of_model = select(inputs.scores, variant=DYNAMICS, corpus=corpus, model=model)
        sizes = select(inputs.measurements, variant=DYNAMICS, corpus=corpus, model=model, quantity=dynamics.SIZE)
        usual = mean_score(inputs, DYNAMICS, corpus, model, USUAL)
        for K, point in mean_points(of_model, [LIKELIHOOD]).items():
            rows.append(DynamicRow(model, usual.get(K), point, sizes["value"].min() if len(sizes) else None))
    return rows


class Motion(NamedTuple):
    """Figure 27.12: a topic's most probable words at every time, and the probability of some words there."""

    words: list[list[str]]
    probabilities: dict[str, list[float]]


def motion(inputs: Inputs) -> Motion:
    """Return the topic that moves most, of the first seed; empty where the experiment was not run."""
    if inputs.notes is None:
        return Motion([], {})
    values, texts = select(inputs.measurements, variant=DYNAMICS), select(inputs.notes, variant=DYNAMICS)
    values, texts = (table[table["seed"] == table["seed"].min()].sort_values("at") for table in (values, texts))
    names = select(texts, quantity=dynamics.WORD)["text"]
    of_words = (select(values, quantity=f"{dynamics.PROBABILITY}-{n}")["value"].tolist() for n in range(len(names)))
    words = [str(text).split() for text in select(texts, quantity=dynamics.TOP)["text"]]
    return Motion(words, dict(zip(map(str, names), of_words, strict=True)))
