"""Settings, experiments and exhibits of LDA's extensions (sections 27.4 and 27.5.3)."""

from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
from gallery.tokens.spec import _Priors
from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Supervised(_Priors):
    """Settings of `slda`."""

    topics: tuple[int, ...] = setting("K", least=2)
    penalty: float = setting("precision of the Gaussian prior of the label's weights", above=0)
    rounds: int = setting("of Monte Carlo EM", least=1)
    sweeps: int = setting("of Gibbs sampling in a round", least=2)
    limit: int = setting("work on one document that is not left out", "updates", least=1)


@dataclass(frozen=True, kw_only=True)
class Relational(_Priors):
    """Settings of `rtm`."""

    topics: tuple[int, ...] = setting("K", least=2)
    penalty: float = setting("precision of the Gaussian prior of the links' weights", above=0)
    rounds: int = setting("of Monte Carlo EM", least=1)
    sweeps: int = setting("of Gibbs sampling in a round", least=2)
    pairs: int = setting("that are linked and scored, at most, and as many others", least=1)
    draws: int = setting("of the weights of a document, where links read them", least=2)


@dataclass(frozen=True, kw_only=True)
class Discriminative(_Priors):
    """Settings of `disclda`."""

    classes: int = setting("of documents, the first of a random order", least=2)
    documents: int = setting("of a class to train on", least=1)
    test_documents: int = setting("of a class", least=1)
    longest: int = setting("tokens of a document", least=1)
    words: int = setting("of the vocabulary, those of most training documents", least=1)
    own: int = setting("topics of a class", least=1)
    common: int = setting("topics of all classes", least=1)
    softening: float = setting("share of the even matrix where A_c is learnt", above=0, below=1)
    iterations: int = setting("of EM, at most", least=1)
    fold_in_iterations: int = setting("of folding in", least=1)


@dataclass(frozen=True, kw_only=True)
class _States(_Priors):
    states: int = setting("C of LDA-HMM, without the topics' state", least=1)
    delta: float = setting("Dirichlet parameter of transitions", above=0)
    epsilon: float = setting("Dirichlet parameter of the words of states", above=0)
    sweeps: int = setting("of Gibbs sampling", least=1)
    documents: int = setting("to train on, the first of a random order", least=1)
    spread: float = setting("share of these documents that a function word is in, at least", above=0, most=1)
    shown: int = setting("most probable words of a topic or state", least=1)


@dataclass(frozen=True, kw_only=True)
class Sequences(_States):
    """Settings of `lda-hmm`."""

    topics: tuple[int, ...] = setting("K", least=1)
    exact_topics: int = setting("the most topics of the exact sum, on documents", least=1)
    checked: int = setting("tokens of documents on which particles are held to the exact sum", least=1)
    checked_topics: int = setting("the most topics of that", least=1)
    particles: int = setting("of the filter", least=1)
    runs: int = setting("of the filter", least=2)
    fold_in_iterations: int = setting("of EM over the weights", least=1)


@dataclass(frozen=True, kw_only=True)
class Roles(_States):
    """Settings of `lda-hmm-words`."""

    topics: int = setting("K", least=1)
    columns: int = setting("topics and states that are shown", least=1)
    words: int = setting("that are shown in two roles", least=1)
    context: int = setting("tokens on either side of them", least=1)


@dataclass(frozen=True, kw_only=True)
class Dynamics(_Priors):
    """Settings of `dynamics`."""

    documents: int = setting("of each time to train on", least=1)
    words: int = setting("of the vocabulary, those of most training documents", least=1)
    topics: int = setting("K", least=1)
    start_variance: float = setting("of the topics' logits at the first time", above=0)
    sigma2: float = setting("variance of a step of the topics' logits, at the start", above=0)
    iterations: int = setting("of the documents' and the topics' steps, at most", least=1)
    sweeps: int = setting("of Gibbs sampling of LDA and of tomotopy", least=1)
    test_documents: int = setting("of the next time", least=1)
    tokens: int = setting("of a test document, its first", least=1)
    chains: int = setting("of annealing of the dynamic topic model", least=2)
    temperatures: int = setting("steps of a chain", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)
    shown: int = setting("most probable words of a topic", least=1)


EXPERIMENTS = {
    "dynamics": Experiment(Dynamics),
    "slda": Experiment(Supervised),
    "rtm": Experiment(Relational),
    "disclda": Experiment(Discriminative),
    "lda-hmm": Experiment(Sequences),
    "lda-hmm-words": Experiment(Roles),
}
EXHIBITS = {
    "table-dynamics": Exhibit(
        "the dynamic topic model beside static ones",
        "exhibits.dynamic",
        ("dynamics",),
        claims=("moving-topics-predict", "plugging-in-costs"),
    ),
    "figure-27-12": Exhibit("a topic that moves", "exhibits.figure_27_12", ("dynamics",), original="Figure 27.12"),
    "table-slda": Exhibit(
        "supervised LDA beside LDA with a regression",
        "exhibits.supervised",
        ("slda",),
        claims=("slda-beats-regression", "slda-one-state"),
    ),
    "table-rtm": Exhibit(
        "the relational topic model beside LDA with a regression",
        "exhibits.relational",
        ("rtm",),
        claims=("rtm-beats-regression", "links-read-topics", "rtm-one-state"),
    ),
    "table-disclda": Exhibit(
        "DiscLDA beside an LDA for each class",
        "exhibits.discriminative",
        ("disclda",),
        claims=("common-topics-tell-classes", "folding-in-tells-classes"),
    ),
    "table-lda-hmm": Exhibit(
        "LDA-HMM beside LDA and a hidden Markov model",
        "exhibits.sequences",
        ("lda-hmm",),
        claims=("lda-hmm-beats-lda", "lda-hmm-beats-hmm", "lda-topics-are-polluted"),
    ),
    "table-27-1": Exhibit(
        "topics and states of LDA and LDA-HMM",
        "exhibits.table_27_1",
        ("lda-hmm-words",),
        original="Table 27.1",
    ),
    "figure-27-14": Exhibit("words in two roles", "exhibits.figure_27_14", ("lda-hmm-words",), original="Figure 27.14"),
    "table-27-1-of-others": Exhibit(
        "topics and states of another corpus", "exhibits.table_27_1_of_others", ("lda-hmm-words",)
    ),
    "figure-27-14-of-others": Exhibit(
        "words in two roles of another corpus", "exhibits.figure_27_14_of_others", ("lda-hmm-words",)
    ),
}
