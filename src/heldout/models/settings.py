"""The settings of the models that a study trains; `Training` and `FoldingIn` of a model's module are among them."""

from dataclasses import dataclass

from heldout.models import EPCA, LDA, PLSA, TEM, VEM
from heldout.settings import setting

GAIN = "gain at which training stops"
DISTANCE = "distance from the maximum at which folding in stops"
PER_TOKEN = "nats per token"

PLSA_SMALLEST = 1e-30  # smaller probabilities (between iterations: expected counts) are set to 0


@dataclass(frozen=True, kw_only=True)
class PLSATraining:
    """Settings of PLSA's training by EM; the random start is the same for every constant."""

    iterations: int = setting("of EM, at most", least=1)
    tolerance: float = setting(GAIN, PER_TOKEN, least=0)
    smoothing: float = setting("added to p(w | z) in every M step", least=0, swept=True, default=0.0)


@dataclass(frozen=True, kw_only=True)
class VEMTraining:
    """Settings of PLSA's training by variational EM."""

    iterations: int = setting("VE and VM steps, at most", least=1)
    tolerance: float = setting(GAIN, PER_TOKEN, least=0)
    ve_iterations: int = setting("updates of H in one VE step", least=1)


@dataclass(frozen=True, kw_only=True)
class TEMTraining:
    """Settings of PLSA's training by tempered EM."""

    iterations: int = setting("of tempered EM, at most", least=1)
    tolerance: float = setting(GAIN, PER_TOKEN, least=0)
    beta: float = setting("inverse temperature", above=0, most=1, swept=True)


@dataclass(frozen=True, kw_only=True)
class PLSAFoldingIn:
    """Settings of PLSA's folding in."""

    iterations: int = setting("at most", least=1)
    tolerance: float = setting(DISTANCE, PER_TOKEN, least=0)


@dataclass(frozen=True, kw_only=True)
class EPCATraining:
    """Settings of EPCA's training; the random start is the same for every penalty."""

    penalty: float = setting("precision of the Gaussian priors of W and H; 0 is the paper's objective", least=0)
    iterations: int = setting("of L-BFGS, at most", least=1)
    tolerance: float = setting(GAIN, PER_TOKEN, least=0)


@dataclass(frozen=True, kw_only=True)
class EPCAFoldingIn:
    """Settings of EPCA's folding in."""

    iterations: int = setting("at most", least=1)
    tolerance: float = setting(DISTANCE, PER_TOKEN, least=0)
    ridge: float = setting("least penalty of a document's vector", above=0)


@dataclass(frozen=True, kw_only=True)
class LDATraining:
    """Settings of LDA's training by collapsed Gibbs sampling."""

    alpha_sum: float = setting("K times the Dirichlet parameter of the weights", above=0)
    beta: float = setting("Dirichlet parameter of the topics", above=0)
    sweeps: int = setting("of each chain", "sweeps", least=1)
    chains: int = setting("independent ones", least=1)
    optimise_every: int = setting("between two estimates of both parameters; 0 for none", "sweeps", least=0, default=0)


@dataclass(frozen=True, kw_only=True)
class LDAFoldingIn:
    """Settings of LDA's folding in."""

    sweeps: int = setting("after the first pass, which assigns every token", "sweeps", least=1)


@dataclass(frozen=True, kw_only=True)
class LDAGrowth:
    """Settings of LDA's training on growing numbers of documents."""

    alpha_sum: float = setting("K times the Dirichlet parameter of the weights, at the start", above=0)
    beta: float = setting("Dirichlet parameter of the topics, at the start", above=0)
    chains: int = setting("on the fewest documents; the better half goes on each time", least=1)
    first_sweeps: int = setting("on the fewest documents", "sweeps", least=1)
    sweeps: int = setting("on every larger number of them", "sweeps", least=1)
    optimise_every: int = setting("between two estimates of both parameters; 0 for none", "sweeps", least=0)
    training_documents: tuple[int, ...] = setting("numbers of documents, ascending", least=1, swept=True)


TRAINING = {PLSA: PLSATraining, VEM: VEMTraining, TEM: TEMTraining, EPCA: EPCATraining, LDA: LDATraining}
FOLDING_IN = {PLSA: PLSAFoldingIn, VEM: PLSAFoldingIn, TEM: PLSAFoldingIn, EPCA: EPCAFoldingIn, LDA: LDAFoldingIn}
