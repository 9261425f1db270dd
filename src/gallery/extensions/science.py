"""Results and claims about LDA's extensions (Murphy, 2012, sections 27.4 and 27.5.3)."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from artifact.verdicts.claims import Claim
from artifact.verdicts.effects import ON, effects, less, per_token
from artifact.verdicts.verdicts import MODELS, Effect, Margin

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.comparison import compared
from gallery.extensions.experiments import disclda, dynamics, lda_hmm, lda_hmm_words, rtm, slda
from gallery.member import LIKELIHOOD, USUAL
from gallery.table_rows import Row, rows
from heldout.models import LDA

if TYPE_CHECKING:
    import pandas as pd


SLDA, RTM, SEQUENCES, ROLES, DYNAMICS = "slda", "rtm", "lda-hmm", "lda-hmm-words", "dynamics"
DISCLDA = "disclda"


LINK_MODELS = {
    rtm.REGRESSION: "LDA with a regression",
    rtm.MODEL: "relational topic model",
    rtm.WEIGHTED: r"the same, of $\theta$",
}
CLASS_MODELS = {
    disclda.BAYES: "one topic a class",
    disclda.BY_CLASS: "an LDA for each class",
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
    names = {"variant": DYNAMICS, "corpus": row.corpus, "model": row.model}
    sizes = select(inputs.measurements, **names, quantity=dynamics.SIZE)["value"]
    return sizes.min() if len(sizes) else None


def function_shares(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the shares of function words among topics' words, "corpus", "topics", "seed", "value" and "error"."""
    rows = select(inputs.measurements, variant=SEQUENCES, model=model, quantity=lda_hmm.FUNCTION)
    return rows[["corpus", "topics", "seed", "value"]].assign(error=0.0)


# corpora whose words the exhibits show in the text, as in their sources; the supplement shows the other corpora
TABLE_27_1, FIGURE_27_14 = "brown", "nips-running"


def corpora_of_words(inputs: Inputs, in_text: str) -> tuple[list[str], list[str]]:
    """Return the corpus whose words the text shows, the first where a study lacks it, and the supplement's corpora."""
    if inputs.notes is None:
        return [], []
    corpora = sorted(set(select(inputs.notes, variant=ROLES)["corpus"]), key=lambda corpus: (corpus != in_text, corpus))
    return corpora[:1], corpora[1:]


def word_lists(inputs: Inputs, corpus: str, model: str, kind: str) -> list[list[str]]:
    """Return the words of a model's topics or states of Table 27.1, the largest first."""
    if inputs.notes is None:
        return []
    rows = select(inputs.notes, variant=ROLES, corpus=corpus, model=model)
    rows = rows[rows["quantity"].str.startswith(f"{kind}-")].assign(
        number=lambda one: one["quantity"].str.rpartition("-")[2].astype(int)
    )
    return [group["text"].tolist() for _, group in rows.sort_values(["number", "at"]).groupby("number")]


class Context(NamedTuple):
    """A word in a role: the words around it, the probability of each that it is content, and its place."""

    words: list[str]
    content: list[float]
    place: int


def contexts(inputs: Inputs, corpus: str, role: str) -> list[Context]:
    """Return the contexts of Figure 27.14 in one role, word by word."""
    if inputs.notes is None:
        return []
    names = {"variant": ROLES, "corpus": corpus}
    shown = []
    for n, place in enumerate(inputs.arrays.first(**names, name=f"{role}-{lda_hmm_words.PLACE}"), start=1):
        name = f"{role}-{n}"
        texts = select(inputs.notes, **names, quantity=name).sort_values("at")["text"].tolist()
        shown.append(Context(texts, inputs.arrays.first(**names, name=name).tolist(), int(place)))
    return shown


class Motion(NamedTuple):
    """Figure 27.12: a topic's most probable words at every time, and the probability of some words there."""

    words: list[list[str]]
    probabilities: dict[str, list[float]]


def motion(inputs: Inputs) -> Motion:
    """Return the topic that moves most, of the first seed; empty where the experiment was not run."""
    if inputs.notes is None:
        return Motion([], {})
    texts = select(inputs.notes, variant=DYNAMICS)
    texts = texts[texts["seed"] == texts["seed"].min()].sort_values("at")
    names = select(texts, quantity=dynamics.WORD)["text"]
    probabilities = inputs.arrays.first(variant=DYNAMICS, name=dynamics.PROBABILITY).T.tolist()
    words = [str(text).split() for text in select(texts, quantity=dynamics.TOP)["text"]]
    return Motion(words, dict(zip(map(str, names), probabilities, strict=True)))


LABELS = Margin(
    0.01,
    "nats per label",
    "one percent of the odds against chance: as between models of words, what a reader would act on",
    "2026-11-25, before the first run of the study",
)
LINKS = Margin(0.01, "nats per pair", "as of a label", "2026-11-25, before the first run of the study")
SHARES = Margin(
    0.1, "share of words", "one word in ten of a topic that is shown", "2026-11-25, before the first run of the study"
)

CLASS_PARTS = {"block form": disclda.BLOCKS, "EM": disclda.LEARNT, "LDA for each class": disclda.BY_CLASS}


def above_hmm(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the likelihood of documents under LDA-HMM less that under the hidden Markov model, at every K."""
    scores = per_token(select(inputs.scores, variant=SEQUENCES, evaluator=LIKELIHOOD))
    own, other = (select(scores, model=model) for model in (lda_hmm.MODEL, lda_hmm.HMM))
    other = own[list(ON)].merge(other.drop(columns="topics"), on=["corpus", "seed"])
    return effects(less(own, other), margin=MODELS, held_out=inputs.held_out)


def polluted(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the share of function words among topics' words, LDA's less LDA-HMM's."""
    own, other = (function_shares(inputs, model) for model in (lda_hmm.LDA, lda_hmm.MODEL))
    return effects(less(own, other), margin=SHARES, held_out=inputs.held_out)


EXTENSIONS = (
    Claim(
        "moving-topics-predict",
        "section 27.4.2",
        "Topics that move with time predict the next volume's papers better than topics that do not",
        "likelihood of the next time's documents, each for itself, at the expected topics: the dynamic topic model's"
        " less the same without motion",
        partial(
            compared,
            experiment=DYNAMICS,
            pairs=(("", dynamics.PLUGGED[dynamics.MODEL], dynamics.PLUGGED[dynamics.STATIC]),),
        ),
    ),
    Claim(
        "plugging-in-costs",
        "section 27.4.2",
        "A paper of the next volume has more likelihood when the topics that it may meet are integrated over",
        "variational lower bound on the likelihood of the next time's documents, each for itself, under the dynamic"
        " topic model, less their likelihood at its expected topics, and less that of LDA",
        partial(
            compared,
            experiment=DYNAMICS,
            pairs=(
                ("at their mean", (dynamics.MODEL, USUAL), dynamics.PLUGGED[dynamics.MODEL]),
                ("LDA", (dynamics.MODEL, USUAL), LDA),
            ),
        ),
    ),
    Claim(
        "slda-beats-regression",
        "section 27.4.4.1",
        "Topics that are fitted with the labels predict labels better than LDA's with a logistic regression",
        "exact likelihood of held-out documents' labels given their words, supervised LDA's less LDA's with a"
        " regression, mean over K",
        partial(compared, experiment=SLDA, pairs=(("", slda.MODEL, slda.REGRESSION),), margin=LABELS),
    ),
    Claim(
        "slda-one-state",
        "section 27.4.4.1",
        "A label's probability given the topics of one state is below its likelihood",
        "supervised LDA: exact likelihood of held-out documents' labels less their probability at q-bar of one sample,"
        " mean over K",
        partial(compared, experiment=SLDA, pairs=(("", slda.MODEL, (slda.MODEL, USUAL)),), margin=LABELS),
    ),
    Claim(
        "rtm-beats-regression",
        "section 27.5.3",
        "The relational topic model does better at predicting missing links than LDA with a logistic regression",
        "exact likelihood of held-out documents' links given words, half of the pairs linked, the relational topic"
        " model's less LDA's with a regression, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, rtm.REGRESSION),), margin=LINKS),
    ),
    Claim(
        "links-read-topics",
        "section 27.5.3",
        "Links have to depend on the topics that were chosen, q-bar, and not on pi, or prediction is worse",
        "likelihood of held-out documents' links given words, half of the pairs linked, the relational topic model's"
        " less that of one whose links read pi, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, rtm.WEIGHTED),), margin=LINKS),
    ),
    Claim(
        "rtm-one-state",
        "section 27.5.3",
        "A link's probability given the topics of one state is below its likelihood",
        "relational topic model: exact likelihood of held-out documents' links less their probability at q-bar of one"
        " sample, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, (rtm.MODEL, USUAL)),), margin=LINKS),
    ),
    Claim(
        "common-topics-tell-classes",
        "section 27.4.4.2",
        "Classes with common topics are told apart better than by an LDA for each class (our question)",
        "exact posterior probability of held-out documents' classes, DiscLDA's less that of an LDA for each class with"
        " as many topics a document",
        partial(
            compared,
            experiment=DISCLDA,
            pairs=[(part, model, disclda.BY_CLASS) for part, model in CLASS_PARTS.items() if model != disclda.BY_CLASS],
            margin=LABELS,
        ),
    ),
    Claim(
        "folding-in-tells-classes",
        "section 27.4.4.2",
        "Documents folded in under each class have less of their class's probability than their likelihoods give",
        "posterior probability of held-out documents' classes, by the likelihood less by folding in",
        partial(
            compared,
            experiment=DISCLDA,
            pairs=[(part, model, (model, USUAL)) for part, model in CLASS_PARTS.items()],
            margin=LABELS,
        ),
    ),
    Claim(
        "lda-hmm-beats-lda",
        "section 27.4.3",
        "LDA, whose words are exchangeable, misses what a hidden Markov model adds",
        "likelihood of held-out documents in their order, LDA-HMM's less LDA's, mean over K",
        partial(compared, experiment=SEQUENCES, pairs=(("", lda_hmm.MODEL, lda_hmm.LDA),)),
    ),
    Claim(
        "lda-hmm-beats-hmm",
        "section 27.4.3",
        "A hidden Markov model, which cannot capture the gist of a document, misses what topics add",
        "likelihood of held-out documents in their order, LDA-HMM's less that of a hidden Markov model with as many"
        " states, mean over K",
        above_hmm,
    ),
    Claim(
        "lda-topics-are-polluted",
        "section 27.4.3, Table 27.1",
        "Without the hidden Markov model function words pollute the topics",
        "share of words that most training documents have among the most probable ones of topics, LDA's less LDA-HMM's,"
        " mean over K",
        polluted,
    ),
)
