"""Settings, experiments and exhibits of LDA's extensions (sections 27.4 and 27.5.3), and of folding in beyond LDA."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Several
from gallery.tokens.spec import _Priors
from heldout.models.settings import Count, Positive

Pair = Annotated[int, Ge(2)]  # two or more
Topics = Annotated[Several[Pair], doc("numbers K of topics")]

ROUNDS = doc("number of rounds of Monte Carlo EM")
ROUND_SWEEPS = doc("number of sweeps of Gibbs sampling in a round")
EXACT_TOPICS = doc("largest number of topics of the exact sum; beyond it the likelihood is an estimate")
SAMPLES = doc("largest number of sweeps of the reference")


@dataclass(frozen=True, kw_only=True)
class _Answers(_Priors):
    topics: Topics
    penalty: Annotated[Positive, doc("precision of the Gaussian prior of the labels' or links' weights")]
    rounds: Annotated[Count, ROUNDS]
    sweeps: Annotated[Pair, ROUND_SWEEPS]
    exact_topics: Annotated[Count, EXACT_TOPICS]
    chains: Annotated[Pair, doc("number of Gibbs chains of a test document given its words")]
    states: Annotated[Count, doc("number of states of a chain that are read")]


@dataclass(frozen=True, kw_only=True)
class Supervised(_Answers):
    """Settings of `slda`."""

    samples: Annotated[int, Ge(240), SAMPLES]


@dataclass(frozen=True, kw_only=True)
class Relational(_Answers):
    """Settings of `rtm`."""

    pairs: Annotated[
        Count, doc("largest number of linked pairs that are scored, and of pairs without a link beside them")
    ]


@dataclass(frozen=True, kw_only=True)
class Discriminative(_Priors):
    """Settings of `disclda`."""

    classes: Annotated[Pair, doc("number of classes of documents, the first of a random order")]
    documents: Annotated[Count, doc("number of training documents of a class")]
    test_documents: Annotated[Count, doc("number of test documents of a class")]
    longest: Annotated[Count, doc("largest number of tokens of a document")]
    words: Annotated[Count, doc("size of the vocabulary, the words of most training documents")]
    own: Annotated[Several[Count], doc("numbers of topics of a class")]
    common: Annotated[Count, doc("number of topics of all classes to each of a class's own")]
    exact_topics: Annotated[Count, EXACT_TOPICS]
    samples: Annotated[int, Ge(240), SAMPLES]
    softening: Annotated[float, Gt(0), Lt(1), doc("share of the even matrix where A_c is learnt")]
    iterations: Annotated[Count, doc("largest number of EM iterations")]
    conditional: Annotated[Count, doc("largest number of quasi-Newton steps of the conditional likelihood")]
    fold_in_iterations: Annotated[Count, doc("number of iterations of folding in")]


@dataclass(frozen=True, kw_only=True)
class _States(_Priors):
    states: Annotated[Count, doc("number C of states of LDA-HMM, without the topics' state")]
    delta: Annotated[Positive, doc("Dirichlet parameter of transitions")]
    epsilon: Annotated[Positive, doc("Dirichlet parameter of the words of states")]
    sweeps: Annotated[Count, doc("number of sweeps of Gibbs sampling")]
    documents: Annotated[Count, doc("number of training documents of LDA-HMM, the first of a random order")]


@dataclass(frozen=True, kw_only=True)
class _Functions(_States):
    spread: Annotated[float, Gt(0), Le(1), doc("smallest share of these documents that a function word is in")]
    shown: Annotated[Count, doc("number of most probable words of a topic or state")]


@dataclass(frozen=True, kw_only=True)
class Sequences(_Functions):
    """Settings of `lda-hmm`."""

    topics: Annotated[Several[Count], doc("numbers K of topics")]
    exact_topics: Annotated[Count, doc("largest number of topics of the exact sum, on documents")]
    checked: Annotated[Count, doc("number of tokens of documents on which estimates are held to the exact sum")]
    checked_topics: Annotated[Count, doc("largest number of topics of this check")]
    samples: Annotated[int, Ge(14), doc("number of draws of a document's weights, for the estimate")]
    fold_in_iterations: Annotated[Count, doc("number of EM iterations over the weights")]


@dataclass(frozen=True, kw_only=True)
class Roles(_Functions):
    """Settings of `lda-hmm-words`."""

    topics: Annotated[Count, doc("number K of topics")]
    columns: Annotated[Count, doc("number of topics and states that are shown")]
    words: Annotated[Count, doc("number of words that are shown in two roles")]
    context: Annotated[Count, doc("number of tokens on either side of these words")]


@dataclass(frozen=True, kw_only=True)
class Dynamics(_Priors):
    """Settings of `dynamics`."""

    documents: Annotated[Count, doc("number of training documents of each time")]
    words: Annotated[Count, doc("size of the vocabulary, the words of most training documents")]
    topics: Annotated[Count, doc("number K of topics")]
    start_variance: Annotated[Positive, doc("variance of the topics' logits at the first time")]
    sigma2: Annotated[Positive, doc("variance of a step of the topics' logits, at the start")]
    iterations: Annotated[Count, doc("largest number of steps of the documents and of the topics")]
    sweeps: Annotated[Count, doc("number of sweeps of Gibbs sampling of LDA and of tomotopy")]
    test_documents: Annotated[Count, doc("number of test documents of the next time")]
    tokens: Annotated[Count, doc("number of tokens of a test document, its first")]
    chains: Annotated[Pair, doc("number of annealing chains of the dynamic topic model")]
    temperatures: Annotated[Count, doc("number of steps of a chain")]
    samples: Annotated[int, Ge(240), SAMPLES]
    shown: Annotated[Count, doc("number of most probable words of a topic")]


@dataclass(frozen=True, kw_only=True)
class FoldingIn(_States):
    """Settings of `folding-in`."""

    topics: Annotated[Several[Count], doc("numbers K of components of every model")]
    exact_topics: Annotated[Count, doc("largest number of components of the exact kernels, and of LDA-HMM")]
    smoothing: Annotated[Positive, doc("constant added to the probabilities of mixtures")]
    iterations: Annotated[Count, doc("largest number of EM iterations of mixtures and profiles")]
    chains: Annotated[Pair, doc("number of annealing chains of a profile")]
    temperatures: Annotated[Count, doc("number of steps of a chain, at first")]
    fold_in_iterations: Annotated[Count, doc("number of iterations of folding in")]


EXPERIMENTS = {
    "dynamics": Experiment(Dynamics),
    "slda": Experiment(Supervised),
    "rtm": Experiment(Relational),
    "disclda": Experiment(Discriminative),
    "lda-hmm": Experiment(Sequences),
    "lda-hmm-words": Experiment(Roles),
    "folding-in": Experiment(FoldingIn),
}
EXHIBITS = {
    "table-dynamics": Exhibit(
        "the dynamic topic model beside static ones",
        "exhibits.dynamic",
        ("dynamics",),
    ),
    "figure-27-12": Exhibit("a topic that moves", "exhibits.figure_27_12", ("dynamics",), original="Figure 27.12"),
    "table-slda": Exhibit(
        "supervised LDA beside LDA with a regression",
        "exhibits.supervised",
        ("slda",),
    ),
    "table-rtm": Exhibit(
        "the relational topic model beside LDA with a regression",
        "exhibits.relational",
        ("rtm",),
    ),
    "table-disclda": Exhibit(
        "DiscLDA beside an LDA for each class",
        "exhibits.discriminative",
        ("disclda",),
    ),
    "table-lda-hmm": Exhibit(
        "LDA-HMM beside LDA and a hidden Markov model",
        "exhibits.sequences",
        ("lda-hmm",),
    ),
    "table-27-1": Exhibit(
        "topics and states of LDA and LDA-HMM",
        "exhibits.table_27_1",
        ("lda-hmm-words",),
        original="Table 27.1",
    ),
    "figure-27-14": Exhibit("words in two roles", "exhibits.figure_27_14", ("lda-hmm-words",), original="Figure 27.14"),
    "table-folding-in": Exhibit(
        "folding in beyond topic models, and its bounds",
        "exhibits.folded_in",
        ("folding-in", "gallery", "records", "ratings"),
    ),
}
