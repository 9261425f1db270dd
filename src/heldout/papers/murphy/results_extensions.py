"""Scores and measurements of LDA's extensions, read back."""

from typing import TYPE_CHECKING, NamedTuple

from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy.experiments import disclda, dynamics, lda_hmm, lda_hmm_words, rtm, slda
from heldout.papers.murphy.table_rows import Row, rows
from heldout.points import select

if TYPE_CHECKING:
    import pandas as pd

SLDA, RTM, SEQUENCES, ROLES, DYNAMICS = "slda", "rtm", "lda-hmm", "lda-hmm-words", "dynamics"
DISCLDA = "disclda"


LINK_MODELS = {
    rtm.REGRESSION: "LDA with a regression",
    rtm.MODEL: "relational topic model",
    rtm.OF_WEIGHTS: r"the same, of $\theta$",
}
CLASS_MODELS = {
    disclda.BAYES: "one topic a class",
    disclda.APART: "an LDA for each class",
    disclda.BLOCKS: "DiscLDA, block form",
    disclda.LEARNT: "DiscLDA, EM",
}
SEQUENCE_MODELS = {lda_hmm.HMM: "HMM", lda_hmm.LDA: "LDA", lda_hmm.MODEL: "LDA-HMM"}
DYNAMIC_MODELS = {
    dynamics.MODEL: "DTM",
    dynamics.PLUGGED[dynamics.MODEL]: "DTM, topics plugged in",
    dynamics.STATIC: r"$\sigma = 0$",
    dynamics.PLUGGED[dynamics.STATIC]: r"$\sigma = 0$, topics plugged in",
    LDA: "LDA",
    dynamics.TOMOTOPY: "DTM of tomotopy, topics plugged in",
}


class LabelRow(NamedTuple):
    """Supervised LDA and LDA with a regression at one K, and the labels' frequency; nats per label."""

    own: Row
    regression: Row
    frequency: float


def label_rows(inputs: Inputs) -> list[LabelRow]:
    """Return the rows of the table of supervised LDA."""
    by_model = {
        name: {(row.corpus, row.topics): row for row in rows(inputs, SLDA, [name])}
        for name in (slda.MODEL, slda.REGRESSION)
    }
    frequencies = {row.corpus: row.likelihood.value for row in rows(inputs, SLDA, [slda.FREQUENCY])}
    return [
        LabelRow(row, by_model[slda.REGRESSION][cell], frequencies[row.corpus])
        for cell, row in by_model[slda.MODEL].items()
    ]


def effective_size(inputs: Inputs, row: Row) -> float | None:
    """Return the least effective size of annealing of all seeds; None for a model that is not annealed."""
    of_model = {"variant": DYNAMICS, "corpus": row.corpus, "model": row.model}
    sizes = select(inputs.measurements, **of_model, quantity=dynamics.SIZE)["value"]
    return sizes.min() if len(sizes) else None


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
