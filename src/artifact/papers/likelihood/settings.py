"""The settings of what is new here."""

from collections.abc import Mapping
from dataclasses import dataclass

from artifact.study.study import DRIVEN, PEERS
from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Optimism:
    """Settings of `optimism`."""

    smoothing: float = setting("added to p(w | z) of PLSA", least=0, most=1)
    constants: tuple[float, ...] = setting(
        "further constants, of which totals under the topics' own prior are reported", least=0, most=1, fewest=0
    )
    constants_topics: tuple[int, ...] = setting("K at which the further constants are added", least=1)
    document_topics: tuple[int, ...] = setting("K at which single documents are reported", least=1)
    bins: int = setting("groups of about as many documents, by length", least=1)
    components: int = setting("Dirichlets of the mixture that is fitted as a prior", least=1)
    samples: int = setting(
        "of the reference over a document, on average, at most; 30 for each chain or more", "sweeps", least=90
    )
    annealing_chains: int = setting("of the reference", least=3)
    variance: float = setting("of a log weight, at which the reference takes no more sweeps", "nats^2", above=0)
    longer: Mapping[str, int] = setting(
        "times as many sweeps, and as many times smaller a variance, by corpus; once where it says nothing",
        least=1,
        fewest=0,
    )
    limit: float = setting("cost of exact values, at most", "updates", above=0)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Settings of `reference`."""

    topics: tuple[int, ...] = setting("K", least=1)
    iterations: int = setting("of PLSA's EM", least=1)
    alpha_sum: float = setting("K times the Dirichlet parameter of LDA's weights", above=0)
    beta: float = setting("Dirichlet parameter of LDA's topics", above=0)
    sweeps: int = setting("of LDA's sampler", least=1)
    smoothing: float = setting("added to p(w | z) of PLSA", above=0, most=1)
    constants: tuple[float, ...] = setting("further constants", least=0, most=1, fewest=0)
    prior_sums: tuple[float, ...] = setting("K times the parameter of symmetric priors of theta", above=0, fewest=0)
    samples: tuple[int, ...] = setting("of the reference over a document, on average, at most", "sweeps", least=1)
    limit: float = setting("cost of the exact values of a cell, at most", "updates", above=0)


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Settings of `validation`."""

    iterations: int = setting("of PLSA's EM", least=1)
    smoothing: float = setting("added to p(w | z) of PLSA", above=0, most=1)
    alpha_sum: float = setting("K times the Dirichlet parameter of LDA's weights", above=0)
    beta: float = setting("Dirichlet parameter of LDA's topics", above=0)
    sweeps: int = setting("of LDA's sampler", least=1)
    components: int = setting("Dirichlets of the mixture that is fitted as a prior", least=2)
    prior_tokens: int = setting("of the training documents that the priors are fitted to, about", "tokens", least=1)
    prior_rounds: int = setting("of the priors' fit", least=2)
    documents: int = setting("of the test documents, by quantiles of length", least=2)
    longest: int = setting("of a document, its first; the others are left out", "tokens", least=1)
    tokens: int = setting("of the documents of a cell, at most; fewer documents where they are more", least=1)
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=90)
    annealing_chains: int = setting("of the reference", least=3)
    longer: int = setting("times the sweeps of the longer reference, and as many times smaller a variance", least=2)
    particles: int = setting("of a run of the particle filter", least=2)
    runs: int = setting("independent ones of the particle filter", least=2)
    limit: float = setting("of the particle filter on a document, at most, or it is not run", "terms", above=0)
    bound_chains: int = setting("of the bounds, in each direction", least=1)
    bound_steps: int = setting("of each of them", least=1)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """How an experiment trains PLSA and LDA itself."""

    iterations: int = setting("of PLSA's EM", least=1)
    smoothing: float = setting("added to p(w | z) of PLSA", above=0, most=1)
    alpha_sum: float = setting("K times the Dirichlet parameter of LDA's weights", above=0)
    beta: float = setting("Dirichlet parameter of LDA's topics", above=0)
    sweeps: int = setting("of LDA's sampler", least=1)


@dataclass(frozen=True, kw_only=True)
class PriorShare(Trained):
    """Settings of `prior-share`."""

    documents: int = setting("test documents that are halved, drawn at random", least=4)
    components: tuple[int, ...] = setting("Dirichlets of the mixtures that one half fits", least=1)
    rounds: int = setting("of their fit", least=2)
    sums: tuple[float, ...] = setting("of the parameters of symmetric priors", above=0)
    samples: int = setting(
        "of the reference over a document, on average, at most; as many as a mixture needs or more", "sweeps", least=90
    )
    annealing_chains: int = setting("of the reference", least=3)


@dataclass(frozen=True, kw_only=True)
class Choice(Trained):
    """Settings of `choice`."""

    documents: int = setting("test documents that are scored, drawn at random", least=2)
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=90)
    annealing_chains: int = setting("of the reference", least=3)


@dataclass(frozen=True, kw_only=True)
class SameHalves:
    """Settings of `same-halves`."""

    iterations: int = setting("of PLSA's EM", least=1)
    validation: int = setting("training documents that choose the constant, drawn at random", least=1)
    constants: tuple[float, ...] = setting("that may be added to p(w | z) of PLSA", above=0, most=1)
    alpha_sum: float = setting("K times the Dirichlet parameter of LDA's weights", above=0)
    beta: float = setting("Dirichlet parameter of LDA's topics", above=0)
    sweeps: int = setting("of LDA's sampler", least=1)
    documents: int = setting("test documents that are scored, drawn at random", least=2)
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=90)
    annealing_chains: int = setting("of the reference", least=3)


@dataclass(frozen=True, kw_only=True)
class LongChains:
    """Settings of `long-chains`."""

    alpha_sum: float = setting("K times the Dirichlet parameter of LDA's weights", above=0)
    beta: float = setting("Dirichlet parameter of LDA's topics", above=0)
    sweeps: int = setting("of LDA's sampler, as elsewhere", least=8)
    more_sweeps: int = setting("of the longer chains", least=8)
    chains: int = setting("that R-hat compares", least=2)
    documents: int = setting("test documents that are scored, drawn at random", least=2)
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=90)
    annealing_chains: int = setting("of the reference", least=3)


@dataclass(frozen=True, kw_only=True)
class Bidirectional:
    """Settings of `bidirectional`."""

    smoothing: float = setting("added to p(w | z) of PLSA", above=0, most=1)
    documents: int = setting("simulated; fewer where the test documents are fewer", least=2)
    temperatures: tuple[int, ...] = setting("steps between prior and posterior", least=1)
    samples: int = setting("annealing chains of each document and direction", least=2)
    reference_samples: int = setting("of left-to-right sequential", "sweeps", least=2)


@dataclass(frozen=True, kw_only=True)
class EPCAMarginal:
    """Settings of `epca-marginal`."""

    documents: int = setting("test documents that are measured, drawn at random; all where they are fewer", least=1)
    samples: int = setting("annealing chains of each document", least=2)
    temperatures: int = setting("steps between Laplace approximation and posterior", least=2)


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Settings of `precision`."""

    lengths: tuple[int, ...] = setting("L, of documents", "tokens", least=1)
    documents: tuple[int, ...] = setting("of each length", least=2, distinct=False)
    alphas: tuple[float, ...] = setting("parameters of symmetric priors", above=0, fewest=0)
    alpha_sums: tuple[float, ...] = setting("K times the parameter of symmetric priors", above=0, fewest=0)
    words: int = setting("V", least=1)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    samples: tuple[int, ...] = setting("of every estimator that samples", least=1)
    work: float = setting("of an estimator on the documents of a length, at most, or it is not run", "terms", above=0)
    reference_draws: float = setting("of a topic, for the left-to-right reference of a prior and length", above=0)
    reference_work: float = setting("of the Chib-style reference", "terms", above=0)
    most_reference_samples: int = setting("of either reference, at most", least=2)


@dataclass(frozen=True, kw_only=True)
class IsAProbability:
    """Settings of `is-a-probability`."""

    documents: int = setting("drawn from every model", least=1)
    words: int = setting("V of a model without a corpus", least=2)
    mean_length: float = setting("of the documents of such a model", "tokens", least=2)
    samples: int = setting("of every estimator that samples; of annealing a twentieth", least=1)
    fold_in_sweeps: int = setting("of LDA's folding in", least=1)
    truth_samples: int = setting("of the truth where it is not exact, and of the sum", least=1)
    limit: float = setting("cost of the exact values of all documents, at most", "updates", least=0)
    sum_tokens: int = setting("length of the documents over which folding-in is summed", "tokens", least=1)
    sum_samples: int = setting("documents drawn for the sum", least=2)
    libraries: Mapping[str, int] = setting(
        "trained on each corpus", "passes or sweeps", least=1, fewest=0, names=tuple(PEERS)
    )
    library_documents: int = setting("that they are trained on", least=1)


@dataclass(frozen=True, kw_only=True)
class Packages:
    """Settings of `packages` and `peers`."""

    rounds: Mapping[str, int] = setting(
        "of each package's training: passes, sweeps or iterations", least=1, names=(*PEERS, *DRIVEN)
    )
    own_rounds: Mapping[str, int] = setting(
        "of packages' training by default, where others are given above", least=1, fewest=0, names=(*PEERS, *DRIVEN)
    )
    own_rounds_topics: int = setting("K at which the models of seed 0 are trained by those, too; 0 for none", least=0)
    training_documents: int = setting("drawn at random; all where they are fewer", least=1)
    scored: tuple[int, ...] = setting(
        "test documents, drawn at random, that are scored by themselves; none leaves out words unseen in training, too",
        least=1,
        fewest=0,
    )
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=240)
    limit: float = setting("cost of exact values, at most", "updates", above=0)
