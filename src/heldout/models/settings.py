"""The settings of a model's training and folding in; `Training` and `FoldingIn` of its module are among them.

A class of settings is a frozen dataclass, and a function takes it. Its fields say type, range, unit and meaning by
`annotated_types`:

    @dataclass(frozen=True, kw_only=True)
    class LDAFoldingIn:
        sweeps: Annotated[Count, Unit("sweeps"), doc("sweeps after the first pass, which assigns every token")]
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, MinLen, Unit, doc

from heldout.models import EPCA, LDA, PLSA, TEM, VEM

Count = Annotated[int, Ge(1)]
Positive = Annotated[float, Gt(0)]
Tolerance = Annotated[float, Ge(0), Unit("nats per token")]

GAIN = doc("gain at which training stops")
DISTANCE = doc("distance from the maximum at which folding in stops")
FOLDING_IN_ITERATIONS = doc("largest number of iterations")

PLSA_SMALLEST = 1e-30  # probability (between iterations: expected count) below which all are set to 0


@dataclass(frozen=True, kw_only=True)
class EMTraining:
    """Settings of training by EM."""

    iterations: Annotated[Count, doc("largest number of EM iterations")]
    tolerance: Annotated[Tolerance, GAIN]


@dataclass(frozen=True, kw_only=True)
class PLSATraining(EMTraining):
    """Settings of PLSA's training by EM; the random start is the same for every constant."""

    smoothing: Annotated[float, Ge(0), doc("constant added to p(w | z) in every M step")] = 0.0


@dataclass(frozen=True, kw_only=True)
class VEMTraining:
    """Settings of PLSA's training by variational EM."""

    iterations: Annotated[Count, doc("largest number of VE and VM steps")]
    tolerance: Annotated[Tolerance, GAIN]
    ve_iterations: Annotated[Count, doc("updates of H in one VE step")]


@dataclass(frozen=True, kw_only=True)
class TEMTraining(EMTraining):
    """Settings of PLSA's training by tempered EM."""

    beta: Annotated[float, Gt(0), Le(1), doc("inverse temperature")]


@dataclass(frozen=True, kw_only=True)
class PLSAFoldingIn:
    """Settings of PLSA's folding in."""

    iterations: Annotated[Count, FOLDING_IN_ITERATIONS]
    tolerance: Annotated[Tolerance, DISTANCE]


@dataclass(frozen=True, kw_only=True)
class EPCATraining:
    """Settings of EPCA's training; the random start is the same for every penalty."""

    penalty: Annotated[
        float, Ge(0), doc("precision of the Gaussian priors of W and H; 0 gives the objective of the paper")
    ]
    iterations: Annotated[Count, doc("largest number of L-BFGS iterations")]
    tolerance: Annotated[Tolerance, GAIN]


@dataclass(frozen=True, kw_only=True)
class EPCAFoldingIn:
    """Settings of EPCA's folding in."""

    iterations: Annotated[Count, FOLDING_IN_ITERATIONS]
    tolerance: Annotated[Tolerance, DISTANCE]
    ridge: Annotated[Positive, doc("smallest penalty of a document's vector")]


@dataclass(frozen=True, kw_only=True)
class LDATraining:
    """Settings of LDA's training by collapsed Gibbs sampling."""

    alpha_sum: Annotated[Positive, doc("K times the Dirichlet parameter of the weights")]
    beta: Annotated[Positive, doc("Dirichlet parameter of the topics")]
    sweeps: Annotated[Count, Unit("sweeps"), doc("length of each chain")]
    chains: Annotated[Count, doc("number of independent Markov chains")]
    optimise_every: Annotated[
        int, Ge(0), Unit("sweeps"), doc("interval between two estimates of both parameters; 0 for none")
    ] = 0


@dataclass(frozen=True, kw_only=True)
class LDAFoldingIn:
    """Settings of LDA's folding in."""

    sweeps: Annotated[Count, Unit("sweeps"), doc("length of a chain after its first pass, which assigns every token")]


@dataclass(frozen=True, kw_only=True)
class LDAGrowthSchedule:
    """Settings of LDA's training on growing numbers of documents, without these numbers."""

    alpha_sum: Annotated[Positive, doc("K times the Dirichlet parameter of the weights, at the start")]
    beta: Annotated[Positive, doc("Dirichlet parameter of the topics, at the start")]
    chains: Annotated[Count, doc("number of chains on the fewest documents; the better half goes on each time")]
    first_sweeps: Annotated[Count, Unit("sweeps"), doc("length of a chain on the fewest documents")]
    sweeps: Annotated[Count, Unit("sweeps"), doc("length of a chain on every larger number of documents")]
    optimise_every: Annotated[
        int, Ge(0), Unit("sweeps"), doc("interval between two estimates of both parameters; 0 for none")
    ]


@dataclass(frozen=True, kw_only=True)
class LDAGrowth(LDAGrowthSchedule):
    """Settings of LDA's training on growing numbers of documents."""

    training_documents: Annotated[tuple[Count, ...], MinLen(1), doc("numbers of documents, ascending")]


TRAINING = {PLSA: PLSATraining, VEM: VEMTraining, TEM: TEMTraining, EPCA: EPCATraining, LDA: LDATraining}
FOLDING_IN = {PLSA: PLSAFoldingIn, VEM: PLSAFoldingIn, TEM: PLSAFoldingIn, EPCA: EPCAFoldingIn, LDA: LDAFoldingIn}
