"""Results and contrasts of LDA's extensions (Murphy, 2012, sections 27.4 and 27.5.3)."""

from typing import TYPE_CHECKING, NamedTuple

from artifact.contrasts.contrast import ANY, Margin, Side
from artifact.contrasts.estimates import difference
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.comparison import at_most, contrast, measured, scored
from gallery.extensions.experiments import disclda, dynamics, folding_in, lda_hmm, lda_hmm_words, rtm, slda
from gallery.member import LIKELIHOOD, USUAL
from gallery.ratings.experiments import ratings
from gallery.table_rows import Row, rows
from gallery.tokens.members.categorical_pca import DegenerateEM
from gallery.tokens.members.mixtures import MixtureOfMultinomials
from gallery.tokens.members.user_rating_profile import UserRatingProfile
from heldout.evaluators import FULL
from heldout.models import LDA

if TYPE_CHECKING:
    import pandas as pd


SLDA, RTM, SEQUENCES, ROLES, DYNAMICS = "slda", "rtm", "lda-hmm", "lda-hmm-words", "dynamics"
DISCLDA, FOLDING_IN = "disclda", "folding-in"


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
    disclda.CONDITIONAL: "DiscLDA, conditional",
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
FOLDED_MODELS = {
    MixtureOfMultinomials.name: MixtureOfMultinomials.label,
    UserRatingProfile.name: UserRatingProfile.label,
    lda_hmm.MODEL: "LDA-HMM",
    DegenerateEM.name: DegenerateEM.label,
    ratings.PMF_POINT: "PMF, points",
}
BOUNDED, GAUSSIAN = (*FOLDED_MODELS,)[:3], (*FOLDED_MODELS,)[3:]  # models with a bound by theorem 1, and without


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


def left_out(inputs: Inputs, experiment: str, corpus: str) -> float | None:
    """Return the share of test tokens that are left out of an experiment's scores, of all seeds; None without any."""
    place = {"variant": experiment, "corpus": corpus}
    measured_shares = select(inputs.measurements, **place, quantity=disclda.LEFT_OUT)["value"]
    scores = select(inputs.scores, **place).drop_duplicates("seed")
    if len(measured_shares):  # where the scored tokens are answers
        return float(measured_shares.mean())
    left, scored_tokens = scores["tokens_left_out"].sum(), scores["tokens"].sum()
    return float(left / (left + scored_tokens)) if left else None


def effective_size(inputs: Inputs, row: Row) -> float | None:
    """Return the least effective size of annealing of all seeds; None for a model that is not annealed."""
    names = {"variant": DYNAMICS, "corpus": row.corpus, "model": row.model}
    sizes = select(inputs.measurements, **names, quantity=dynamics.SIZE)["value"]
    return sizes.min() if len(sizes) else None


# corpora whose words the exhibits show, as in their sources
TABLE_27_1, FIGURE_27_14 = "brown", "nips-running"


def corpus_of_words(inputs: Inputs, source: str) -> list[str]:
    """Return the corpus whose words an exhibit shows, another where a study lacks the source's; none without words."""
    corpora = set(select(inputs.notes, variant=ROLES)["corpus"]) if inputs.notes is not None else ()
    return sorted(corpora, key=lambda corpus: (corpus != source, corpus))[:1]


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


def excesses(inputs: Inputs) -> "pd.DataFrame":
    """Return full folding-in less the likelihood, nats per document or user, by model, corpus, K and seed."""
    import pandas as pd

    places = ((FOLDING_IN, BOUNDED), (("gallery", "records", "ratings"), GAUSSIAN))
    scores = pd.concat([select(inputs.scores, variant=variant, model=models) for variant, models in places])
    number = scores["documents"]
    scores = scores.assign(value=scores["log_likelihood"] / number, error=scores["standard_error"] / number)
    full, likelihood = (select(scores, evaluator=names) for names in ((FULL, USUAL), LIKELIHOOD))
    return difference(full, likelihood, ("model", "corpus", "topics", "seed"))


class FoldedRow(NamedTuple):
    """Excesses by seed and mean bounds by quantity, nats per document; violations and documents of all seeds."""

    model: str
    corpus: str
    topics: int
    excess: list[float]
    bounds: dict[str, float]
    violations: int
    documents: int


def folded_rows(inputs: Inputs) -> list[FoldedRow]:
    """Return the rows of the table of folding in with the fewest and the most components of a model on a corpus."""
    table = []
    for (model, corpus), cells in excesses(inputs).groupby(["model", "corpus"]):
        for K in dict.fromkeys((cells["topics"].min(), cells["topics"].max())):
            place = {"variant": FOLDING_IN, "model": model, "corpus": corpus, "topics": K}
            values = select(inputs.measurements, **place).groupby("quantity")["value"]
            bounds = {str(quantity): float(value) for quantity, value in values.mean().items()}
            violations = int(values.sum().get(folding_in.VIOLATIONS, 0))
            documents = int(select(inputs.scores, **place, evaluator=FULL)["documents"].sum())
            excess = select(cells, topics=K)["value"].tolist()
            table.append(FoldedRow(str(model), str(corpus), int(K), excess, bounds, violations, documents))
    return sorted(table, key=lambda row: ([*FOLDED_MODELS].index(row.model), row.corpus, row.topics))


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


def _answers(name: str, evaluator: str = LIKELIHOOD) -> Side:
    """Return a score of labels, or links, given words, under topics fitted with them, by experiment and K."""
    return scored(name, (SLDA, RTM), (slda.MODEL, rtm.MODEL), evaluator)


def _classes(name: str, model: str) -> Side:
    """Return the likelihood of documents' classes given words by K."""
    return scored(name, DISCLDA, model)


def _plugged(name: str, model: str) -> Side:
    """Return the likelihood of the next time's documents at the expected topics."""
    return scored(name, DYNAMICS, dynamics.PLUGGED[model])


def _sequences(name: str, model: str) -> Side:
    """Return the likelihood of documents in their order by K."""
    return scored(name, SEQUENCES, model)


def _functions(name: str, model: str) -> Side:
    """Return the share of function words among topics' words by K."""
    return measured(name, SEQUENCES, lda_hmm.FUNCTION, model)


_ANSWERS = _answers("the likelihood of labels, or links, given words, of topics fitted with them")
_HMM = _sequences("the likelihood of LDA-HMM", lda_hmm.MODEL)
EXTENSIONS = (
    contrast(
        "moving-topics",
        "section 27.4.2",
        "Topics that move with time predict the next volume's papers better than topics that do not.",
        _plugged("the likelihood at the dynamic topic model's expected topics", dynamics.MODEL),
        _plugged("the same without motion", dynamics.STATIC),
    ),
    contrast(
        "label-regression",
        "sections 27.4.4.1 and 27.5.3",
        "Topics that are fitted with labels, or links, predict them better than LDA's with a regression.",
        _ANSWERS,
        scored("that of LDA with a regression", (SLDA, RTM), slda.REGRESSION),
        by=("variant", "topics"),
        margin=LABELS,
    ),
    contrast(
        "label-state",
        "sections 27.4.4.1 and 27.5.3",
        "A label's, or link's, probability given the topics of one state is below its likelihood.",
        _ANSWERS,
        _answers("their probability at one state", USUAL),
        by=("variant", "topics"),
        margin=LABELS,
    ),
    contrast(
        "links-topics",
        "section 27.5.3",
        "Links have to depend on the topics that were chosen, and not on their weights, or prediction is worse.",
        scored("the likelihood of links under the relational topic model", RTM, rtm.MODEL),
        scored("that of one whose links read the weights", RTM, rtm.WEIGHTED),
        margin=LABELS,
    ),
    contrast(
        "class-common",
        "section 27.4.4.1",
        "Common topics of all classes beside the class's own tell classes better than an LDA for each class.",
        _classes("the class's likelihood under DiscLDA's block form", disclda.BLOCKS),
        _classes("that under an LDA for each class", disclda.BY_CLASS),
        margin=LABELS,
    ),
    contrast(
        "class-conditional",
        "section 27.4.4.1",
        "Class transformations that maximise the conditional likelihood tell classes better than those of EM.",
        _classes("the class's likelihood under transformations fitted to the classes", disclda.CONDITIONAL),
        _classes("that under EM's", disclda.LEARNT),
        margin=LABELS,
    ),
    contrast(
        "lda-hmm-lda",
        "section 27.4.3",
        "LDA, whose words are exchangeable, misses what a hidden Markov model adds.",
        _HMM,
        _sequences("that of LDA", lda_hmm.LDA),
    ),
    contrast(
        "lda-hmm-hmm",
        "section 27.4.3",
        "A hidden Markov model, which cannot capture the gist of a document, misses what topics add.",
        at_most(_HMM),
        at_most(_sequences("that of a hidden Markov model with as many states", lda_hmm.HMM)),
        by=(),
    ),
    contrast(
        "function-words",
        "section 27.4.3, Table 27.1",
        "Without the hidden Markov model function words pollute the topics.",
        _functions("the share of function words in LDA's topics", lda_hmm.LDA),
        _functions("that in LDA-HMM's", lda_hmm.MODEL),
        margin=SHARES,
    ),
    contrast(
        "folded-bound",
        "",
        "Beyond topic models, too, the bound of theorem 1 is of the size of the excess.",
        Side("the excess of folding in", lambda inputs: select(excesses(inputs), model=BOUNDED)),
        measured("its bound", FOLDING_IN, folding_in.BOUND, BOUNDED),
        by=("model", "topics"),
        estimand="share",
        margin=ANY,
        unit="of the bound, per document",
    ),
)
