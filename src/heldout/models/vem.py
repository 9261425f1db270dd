r"""Variational EM with point posteriors (Welling et al. 2008, section 2), the common frame of the models of section 3.

Data cases x_n, latent h_n, parameters theta = (nu, gamma). For any distribution q over the latent variables

    log p(X) >= sum_n E_q[log p_nu(x_n | h_n) + log p_gamma(h_n)] + S(q)                          (2.2, 2.4)

because the difference is KL[q || p(h | x)]. A point posterior q(h_n) = delta(h_n - h^_n), equation 2.5, makes the
first term

    O(theta, h^) = sum_n log p_nu(x_n | h^_n) + sum_n log p_gamma(h^_n).                          (2.6)

O omits the entropy S(q). For a discrete h it is 0, so O is a lower bound on the log-likelihood. For a continuous h the
point is the limit of ever narrower densities, whose entropy, dim(h) log(sigma sqrt(2 pi e)) for a Gaussian, goes to
minus infinity: O then bounds nothing. On the simplex of J weights it is the limit of Dir(epsilon alpha), whose
covariance falls as 1 / epsilon in J - 1 dimensions: its entropy is (1 - J) / 2 log epsilon and a constant.

The VE step raises O over h^, the VM step over theta; O never falls.

A model of discrete latent variables can also run exact EM: its VE step takes q = p(h | x), its objective keeps
S(q), and 2.2 holds with equality.

Rows are data cases: X is (N, D) and H, (N, K), is the transpose of the source's.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
from scipy.special import logsumexp, xlogy

from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats

Data = TypeVar("Data")
Parameters = TypeVar("Parameters")
Latent = TypeVar("Latent")
Posterior = Literal["point", "exact"]


@dataclass(frozen=True)
class Family:
    """The description of a model with point posteriors in tables: its printed name, and whether h is discrete.

    `latent_symbol` and `conditional` are the domain of h and p(x | h) in LaTeX's mathematics; `equations` those in
    Welling et al. (2008) that derive the model, or none; `posterior` is "samples" where h is sampled: no entropy is
    dropped.
    """

    name: str
    latent: Literal["discrete", "continuous"]
    latent_symbol: str
    conditional: str
    equations: str
    posterior: Literal["point", "samples"] = "point"

    @property
    def bounds(self) -> bool:
        """Whether objective 2.6 bounds the log-likelihood from below: it drops an entropy of 0, and not -infinity."""
        return self.latent == "discrete"


class Step(NamedTuple, Generic[Parameters, Latent]):
    """The state after an iteration: parameters, latent values, and the objective at both, in nats."""

    parameters: Parameters
    latent: Latent
    objective: float


@estimator
class PointVEM(Estimator, ABC, Generic[Data, Parameters, Latent]):
    """Variational EM with point posteriors.

    Args:
        iterations: the largest number of iterations (a VM step, then a VE step).
        tolerance: stop after an iteration that raises the objective by no more than this many nats.

    Attributes (after `fit`):
        parameters_, latent_: after the last iteration.
        objective_: (iterations + 1,) nats, after the first VE step and after each iteration.
        n_iter_: iterations run.
    """

    family: ClassVar[Family]

    iterations: int = 100
    tolerance: float = 0.0

    @abstractmethod
    def check(self, X: Any) -> Data:
        """Return X in the form that the steps take; raises InputError if the model cannot take it."""

    @abstractmethod
    def start(self, data: Data, random: np.random.Generator) -> Parameters:
        """Return random parameters to start from."""

    @abstractmethod
    def ve_step(self, data: Data, parameters: Parameters, latent: Latent | None = None) -> Latent:
        """Return latent values that raise the objective, from the last ones or None; the parameters are fixed."""

    @abstractmethod
    def vm_step(self, data: Data, latent: Latent, parameters: Parameters) -> Parameters:
        """Return parameters that raise the objective, from the last ones; the latent values are fixed."""

    @abstractmethod
    def objective(self, data: Data, latent: Latent, parameters: Parameters) -> float:
        """Return equation 2.6 in nats, constants included."""

    def steps(self, X: Any) -> Iterator[Step[Parameters, Latent]]:
        """Yield the state after the first VE step and after every iteration, from a random start.

        Raises:
            InputError: for a setting out of range, or data that the model cannot take.
        """
        if self.n_components < 1 or self.iterations < 0 or not self.tolerance >= 0.0:
            raise InputError(
                f"{self.family.name}: {self.n_components} components, {self.iterations} iterations, a tolerance of"
                f" {self.tolerance}; these must be at least 1, 0 and 0"
            )
        data = self.check(X)
        parameters = self.start(data, np.random.default_rng(self.random_state))
        latent = self.ve_step(data, parameters)
        last = self.objective(data, latent, parameters)
        yield Step(parameters, latent, last)
        for _ in range(self.iterations):
            parameters = self.vm_step(data, latent, parameters)
            latent = self.ve_step(data, parameters, latent)
            now = self.objective(data, latent, parameters)
            yield Step(parameters, latent, now)
            if now - last <= self.tolerance:
                return
            last = now

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Run the iterations on X from a random start; see `steps`."""
        history = []
        for step in self.steps(X):
            self.parameters_, self.latent_ = step.parameters, step.latent
            history.append(step.objective)
        self.objective_ = np.array(history)
        self.n_iter_ = len(history) - 1
        return self


@estimator
class DiscreteVEM(PointVEM[Data, Parameters, Latent]):
    """Variational EM for discrete latent variables, or exact EM.

    Other arguments are as of `PointVEM`.

    Args:
        posterior: "point" (4.30; classification EM), or "exact" for exact EM, whose objective is the log-likelihood.
    """

    posterior: Posterior = "point"

    def check_posterior(self) -> None:
        """Raise InputError for a posterior that is neither "point" nor "exact"."""
        if self.posterior not in ("point", "exact"):
            raise InputError(f"{self.family.name}: there is no posterior {self.posterior}; there are point, exact")


class PointMixture(DiscreteVEM[Data, Parameters, Floats]):
    """A mixture: h_n is a component; `latent` is q(h_n = k), (N, K), with entries 0 and 1 for a point posterior."""

    @abstractmethod
    def log_joint(self, data: Data, parameters: Parameters) -> Floats:
        """Return log p(x_n, h_n = k), (N, K), in nats."""

    def log_likelihood(self, X: Any, parameters: Parameters | None = None) -> Floats:
        """Return log p(x_n) = logsumexp_k log p(x_n, k), (N,) nats, under the parameters given or fitted."""
        joint = self.log_joint(self.check(X), self.parameters_ if parameters is None else parameters)
        return np.asarray(logsumexp(joint, axis=1), dtype=float)

    def point_bound(self, X: Any, parameters: Parameters | None = None) -> Floats:
        """Return max_k log p(x_n, k), (N,) nats: the bound 4.30, under the parameters given or fitted."""
        joint = self.log_joint(self.check(X), self.parameters_ if parameters is None else parameters)
        return np.asarray(joint.max(axis=1), dtype=float)

    def ve_step(self, data: Data, parameters: Parameters, latent: Floats | None = None) -> Floats:  # noqa: ARG002
        """Return the best point posterior, or the exact one, (N, K); raises InputError at probability 0."""
        joint = self.log_joint(data, parameters)
        highest = joint.max(axis=1)
        if not np.all(np.isfinite(highest)):
            raise InputError(
                f"{self.family.name}: data case {int(np.flatnonzero(~np.isfinite(highest))[0])} has probability 0 under"
                " every component; take another random_state"
            )
        if self.posterior == "exact":
            weights = np.exp(joint - highest[:, None])
            return np.asarray(weights / weights.sum(axis=1, keepdims=True))
        return np.asarray(np.arange(joint.shape[1]) == joint.argmax(axis=1)[:, None], dtype=float)

    def objective(self, data: Data, latent: Floats, parameters: Parameters) -> float:
        """Return E_q[log p(x, h)] + S(q), equation 2.2; for a point posterior S(q) = 0 and this is 2.6."""
        joint = self.log_joint(data, parameters)
        taken = latent > 0.0  # 0 log 0 = 0
        return float(np.sum(latent[taken] * joint[taken]) - np.sum(xlogy(latent, latent)))


def shares(counts: Floats, fallback: Floats, axis: int = -1) -> Floats:
    """Return counts over their sums along an axis; where a sum is 0, the values of `fallback`."""
    totals = counts.sum(axis=axis, keepdims=True)
    return np.asarray(np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), fallback), dtype=float)


def real_matrix(X: Any, model: str) -> Floats:
    """Return X as a dense (N, D) float64 array; raises InputError for anything but a matrix of finite numbers."""
    dense: Floats = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    if dense.ndim != 2 or 0 in dense.shape or not np.all(np.isfinite(dense)):
        raise InputError(f"{model}: the data must be a matrix of finite numbers; this one is {dense.shape}")
    return dense
