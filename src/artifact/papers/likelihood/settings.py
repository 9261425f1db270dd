"""The settings of the experiments on the likelihood."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen, Unit, doc

from artifact.study.settings import AnyNamed, AnyOf, Named, Several
from artifact.study.study import Driven, Peer
from heldout.models.settings import Count, Positive

Smoothing = Annotated[float, Gt(0), Le(1)]
Constants = AnyOf[Annotated[float, Ge(0), Le(1)]]
Pair = Annotated[int, Ge(2)]  # number of two or more
Sweeps = Annotated[int, Ge(90), Unit("sweeps")]  # sweeps of the reference, 30 for each chain or more
Package = Literal[Peer, Driven]
Chains = Annotated[int, Ge(3), doc("number of annealing chains of the reference")]

SMOOTHING = doc("constant added to p(w | z) of PLSA")
ITERATIONS = doc("number of EM iterations of PLSA")
ALPHA_SUM = doc("K times the Dirichlet parameter of LDA's weights")
BETA = doc("Dirichlet parameter of LDA's topics")
SWEEPS = doc("number of sweeps of LDA's sampler")
SCORED = doc("number of test documents that are scored, drawn at random")
SAMPLES = doc("largest number of samples of the reference over a document, on average")
LIMIT = doc("largest cost of exact values")


@dataclass(frozen=True, kw_only=True)
class Optimism:
    """Settings of `optimism`."""

    smoothing: Annotated[float, Ge(0), Le(1), SMOOTHING]
    constants: Annotated[Constants, doc("further constants, with reported totals under the topics' own prior")]
    constants_topics: Annotated[Several[Count], doc("numbers K of topics at which the further constants are added")]
    document_topics: Annotated[Several[Count], doc("numbers K of topics at which single documents are reported")]
    bins: Annotated[Count, doc("number of groups of about as many documents, by length")]
    components: Annotated[Count, doc("number of Dirichlets of the mixture that is fitted as a prior")]
    samples: Annotated[
        Sweeps,
        doc("largest number of samples of the reference over a document, on average; 30 for each chain or more"),
    ]
    annealing_chains: Chains
    variance: Annotated[
        Positive, Unit("nats^2"), doc("variance of a log weight at which the reference takes no more sweeps")
    ]
    longer: Annotated[
        AnyNamed[str, Count],
        doc("factor on the sweeps, and divisor of the variance, by corpus; 1 for corpora without one"),
    ]
    limit: Annotated[Positive, Unit("updates"), LIMIT]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Settings of `reference`."""

    topics: Annotated[Several[Count], doc("numbers K of topics")]
    iterations: Annotated[Count, ITERATIONS]
    alpha_sum: Annotated[Positive, ALPHA_SUM]
    beta: Annotated[Positive, BETA]
    sweeps: Annotated[Count, SWEEPS]
    smoothing: Annotated[Smoothing, SMOOTHING]
    constants: Annotated[Constants, doc("further constants")]
    prior_sums: Annotated[AnyOf[Positive], doc("values of K times the parameter of symmetric priors of theta")]
    samples: Annotated[
        Several[Count],
        Unit("sweeps"),
        doc("largest numbers of samples of the reference over a document, on average"),
    ]
    limit: Annotated[Positive, Unit("updates"), doc("largest cost of the exact values of a cell")]


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Settings of `validation`."""

    iterations: Annotated[Count, ITERATIONS]
    smoothing: Annotated[Smoothing, SMOOTHING]
    alpha_sum: Annotated[Positive, ALPHA_SUM]
    beta: Annotated[Positive, BETA]
    sweeps: Annotated[Count, SWEEPS]
    components: Annotated[Pair, doc("number of Dirichlets of the mixture that is fitted as a prior")]
    prior_tokens: Annotated[
        Count, Unit("tokens"), doc("approximate size of the training documents that the priors are fitted to")
    ]
    prior_rounds: Annotated[Pair, doc("number of rounds of the priors' fit")]
    documents: Annotated[Pair, doc("number of test documents, by quantiles of length")]
    longest: Annotated[Count, Unit("tokens"), doc("largest length of a document; its further tokens are left out")]
    tokens: Annotated[Count, doc("largest number of tokens of a cell; longer documents are fewer")]
    samples: Annotated[Sweeps, SAMPLES]
    annealing_chains: Chains
    variance: Annotated[
        Positive, Unit("nats^2"), doc("variance of a log weight at which the reference takes no more sweeps")
    ] = 0.1
    more: Annotated[
        AnyNamed[str, Count],
        doc("factor on the sweeps, and divisor of the variance, by corpus; 1 for corpora without one"),
    ] = field(default_factory=dict)
    longer: Annotated[Pair, doc("factor on the sweeps, and divisor of the variance, of the longer reference")]
    particles: Annotated[Pair, doc("number of particles of a run of the filter")]
    runs: Annotated[Pair, doc("number of independent runs of the particle filter")]
    limit: Annotated[
        Positive,
        Unit("terms"),
        doc("largest work of the particle filter on a document; beyond it the filter is not run"),
    ]
    bound_chains: Annotated[Count, doc("number of chains of the bounds, in each direction")]
    bound_steps: Annotated[Count, doc("number of steps of each of these chains")]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Settings of the training of PLSA and LDA by an experiment itself."""

    iterations: Annotated[Count, ITERATIONS]
    smoothing: Annotated[Smoothing, SMOOTHING]
    alpha_sum: Annotated[Positive, ALPHA_SUM]
    beta: Annotated[Positive, BETA]
    sweeps: Annotated[Count, SWEEPS]


@dataclass(frozen=True, kw_only=True)
class PriorShare(Trained):
    """Settings of `prior-share`."""

    documents: Annotated[int, Ge(4), doc("number of test documents that are halved, drawn at random")]
    components: Annotated[Several[Count], doc("numbers of Dirichlets of the mixtures that one half fits")]
    rounds: Annotated[Pair, doc("number of rounds of their fit")]
    sums: Annotated[Several[Positive], doc("sums of the parameters of symmetric priors")]
    samples: Annotated[
        Sweeps,
        doc(
            "largest number of samples of the reference over a document, on average; as many as a mixture needs or more"
        ),
    ]
    annealing_chains: Chains


@dataclass(frozen=True, kw_only=True)
class Law(Trained):
    """Settings of `law`."""

    tolerance: Annotated[Positive, Unit("nats per token"), doc("gain of the fold-in's EM at which it ends")]
    most_iterations: Annotated[Count, doc("largest number of its iterations")]
    limit: Annotated[Positive, Unit("updates"), doc("largest cost of the exact values of a cell")]
    samples: Annotated[Sweeps, SAMPLES]
    annealing_chains: Chains
    variance: Annotated[
        Positive, Unit("nats^2"), doc("variance of a log weight at which the reference takes no more sweeps")
    ]
    work: Annotated[
        Positive,
        Unit("tokens x topics x sweeps"),
        doc("largest work of the reference on a cell; beyond it none is run"),
    ]


@dataclass(frozen=True, kw_only=True)
class Choice(Trained):
    """Settings of `choice`."""

    documents: Annotated[Pair, SCORED]
    samples: Annotated[Sweeps, SAMPLES]
    annealing_chains: Chains


@dataclass(frozen=True, kw_only=True)
class SameHalves:
    """Settings of `same-halves`."""

    iterations: Annotated[Count, ITERATIONS]
    validation: Annotated[Count, doc("number of training documents that choose the constant, drawn at random")]
    constants: Annotated[Several[Smoothing], doc("candidates for the constant added to p(w | z) of PLSA")]
    alpha_sum: Annotated[Positive, ALPHA_SUM]
    beta: Annotated[Positive, BETA]
    sweeps: Annotated[Count, SWEEPS]
    fold_in_sweeps: Annotated[Count, doc("number of sweeps in which LDA is folded in")] = 100
    documents: Annotated[Pair, SCORED]
    samples: Annotated[Sweeps, SAMPLES]
    annealing_chains: Chains


@dataclass(frozen=True, kw_only=True)
class LongChains:
    """Settings of `long-chains`."""

    alpha_sum: Annotated[Positive, ALPHA_SUM]
    beta: Annotated[Positive, BETA]
    sweeps: Annotated[int, Ge(8), doc("number of sweeps of LDA's sampler, as elsewhere")]
    more_sweeps: Annotated[int, Ge(8), doc("number of sweeps of the longer chains")]
    chains: Annotated[Pair, doc("number of chains that R-hat compares")]
    documents: Annotated[Pair, SCORED]
    samples: Annotated[Sweeps, SAMPLES]
    annealing_chains: Chains


@dataclass(frozen=True, kw_only=True)
class Bidirectional:
    """Settings of `bidirectional`."""

    smoothing: Annotated[Smoothing, SMOOTHING]
    documents: Annotated[Pair, doc("number of simulated documents; fewer where the test documents are fewer")]
    temperatures: Annotated[Several[Count], doc("numbers of steps between prior and posterior")]
    samples: Annotated[Pair, doc("number of annealing chains of each document and direction")]
    reference_samples: Annotated[Pair, Unit("sweeps"), doc("number of samples of left-to-right sequential")]


@dataclass(frozen=True, kw_only=True)
class EPCAMarginal:
    """Settings of `epca-marginal`."""

    documents: Annotated[
        Count, doc("number of test documents that are measured, drawn at random; all where they are fewer")
    ]
    samples: Annotated[Pair, doc("number of annealing chains of each document")]
    temperatures: Annotated[Pair, doc("number of steps between Laplace approximation and posterior")]


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Settings of `precision`."""

    lengths: Annotated[Several[Count], Unit("tokens"), doc("lengths L of documents")]
    documents: Annotated[tuple[Pair, ...], MinLen(1), doc("numbers of documents, by length")]
    alphas: Annotated[AnyOf[Positive], doc("parameters of symmetric priors")]
    alpha_sums: Annotated[AnyOf[Positive], doc("values of K times the parameter of symmetric priors")]
    words: Annotated[Count, doc("size V of the vocabulary")]
    gamma: Annotated[Positive, doc("Dirichlet parameter of the topics")]
    samples: Annotated[Several[Count], doc("numbers of samples of every estimator that samples")]
    work: Annotated[
        Positive,
        Unit("terms"),
        doc("largest work of an estimator on the documents of a length; beyond it the estimator is not run"),
    ]
    reference_draws: Annotated[Positive, doc("draws of a topic, for the left-to-right reference of a prior and length")]
    reference_work: Annotated[Positive, Unit("terms"), doc("work of the Chib-style reference")]
    most_reference_samples: Annotated[Pair, doc("largest number of samples of either reference")]


@dataclass(frozen=True, kw_only=True)
class IsAProbability:
    """Settings of `is-a-probability`."""

    documents: Annotated[Count, doc("number of documents drawn from every model")]
    words: Annotated[Pair, doc("size V of the vocabulary of a model without a corpus")]
    mean_length: Annotated[float, Ge(2), Unit("tokens"), doc("mean length of this model's documents")]
    samples: Annotated[Count, doc("number of samples of every estimator that samples; of annealing a twentieth")]
    fold_in_sweeps: Annotated[Count, doc("number of sweeps of LDA's folding in")]
    truth_samples: Annotated[Count, doc("number of samples of the sum, and of the truth where it is not exact")]
    limit: Annotated[float, Ge(0), Unit("updates"), doc("largest cost of the exact values of all documents")]
    sum_tokens: Annotated[Count, Unit("tokens"), doc("length of the documents over which folding-in is summed")]
    sum_samples: Annotated[Pair, doc("number of documents drawn for the sum")]
    libraries: Annotated[
        AnyNamed[Peer, Count], Unit("passes or sweeps"), doc("training of each library on each corpus")
    ]
    library_documents: Annotated[Count, doc("number of documents that the libraries are trained on")]


@dataclass(frozen=True, kw_only=True)
class Packages:
    """Settings of `packages` and `peers`."""

    rounds: Annotated[
        Named[Package, Count],
        doc("training of each package, in passes, sweeps or iterations"),
    ]
    own_rounds: Annotated[
        AnyNamed[Package, Count],
        doc("training of packages by their own defaults, where `rounds` gives others"),
    ]
    own_rounds_topics: Annotated[
        int, Ge(0), doc("number K of topics at which the models of seed 0 are trained by `own_rounds` too; 0 for none")
    ]
    training_documents: Annotated[Count, doc("number of training documents, drawn at random; all where they are fewer")]
    scored: Annotated[
        AnyOf[Count],
        doc("numbers of test documents, drawn at random, that are scored by themselves; none skips unseen words too"),
    ]
    samples: Annotated[int, Ge(240), Unit("sweeps"), SAMPLES]
    limit: Annotated[Positive, Unit("updates"), LIMIT]
