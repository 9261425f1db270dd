r"""Categorical PCA by variational EM (Murphy 2012, sections 12.4 and 27.2.2, equations 27.6 to 27.10).

    z_i ~ N(0, I),     eta_i = W z_i + b,     y_il ~ Cat(softmax(eta_i))                            (27.6)

for bags of tokens, or y_ir ~ Cat(softmax(W_r z_i + b_r)) for R responses (27.7). (A prior N(mu, Sigma) changes W and b
only.) Both are counts x_iv over columns in blocks, each with a softmax of its own: one block of V words with n_i
tokens, or R blocks of M values with n_ir = 1, or 0 where the response is missing. With lse(eta) = log sum_v exp eta_v,

    log p(x_i, z) = x_i' eta - sum_r n_ir lse(eta_r) + log N(z | 0, I).

The integral 27.10 has no closed form. A quadratic upper bound on lse makes the posterior Gaussian, q(z_i) =
N(m_i, V_i), and gives a lower bound on log p(x_i), tight in its variational parameters in turns with m and V.

Boehning's bound (1992), of fixed curvature A = (I - 11'/M) / 2 >= the Hessian of lse, tangent at psi:

    lse(eta) <= lse(psi) + (eta - psi)' softmax(psi) + (eta - psi)' A (eta - psi) / 2,          best psi = W m + b,
    V_i^-1 = I + sum_r n_ir W_r' A W_r,     m_i = V_i W' g_i,     g_i = x_i - n_i (softmax(psi_i) - A psi_i + A b).

Bouchard's bound (2007), with lambda(xi) = tanh(xi / 2) / (4 xi), a product of Jaakkola and Jordan's sigmoid bounds:

    lse(eta) <= a + sum_v [ log(1 + e^xi_v) + ((eta_v - a) - xi_v) / 2 + lambda(xi_v) ((eta_v - a)^2 - xi_v^2) ],
    best xi_v^2 = E (eta_v - a)^2,     best a = (M / 2 - 1 + 2 sum_v lambda_v E eta_v) / (2 sum_v lambda_v),
    V_i^-1 = I + W' diag(2 n lambda) W,     m_i = V_i W' g_i,     g_i = x_i - n_i (1/2 + 2 lambda (b - a)).

Where all M logits are equal and certain, Boehning's is tight and Bouchard's is not: with a = log(M - 1) its slack is
(M - 1) log(M / (M - 1)), from log 2 to 1 nat per token. It gains where logits are far apart.

Jaakkola and Jordan's bound (2000; Tipping 1998; section 21.8), for blocks of two values, in their difference t = d' z +
e, d = w_1 - w_2 and e = b_1 - b_2:

    lse(eta) = (eta_1 + eta_2) / 2 + log(2 cosh(t / 2))
        <= (eta_1 + eta_2) / 2 + log(2 cosh(xi / 2)) + lambda(xi) (t^2 - xi^2),     best xi^2 = E t^2,
    V_i^-1 = I + sum_r 2 n_ir lambda_ir d_r d_r',     m_i = V_i sum_r d_r [(x_ir1 - x_ir2) / 2 - 2 n_ir lambda_ir e_r].

It is Boehning's, which has lambda = 1/8, with the curvature that touches at xi and -xi: 2 lambda <= 1/4, so that it is
the tighter one for every q(z).

VM step. With z~ = (z, 1) and W~ = [W b] both bounds are quadratic in W~. Boehning's is maximal at

    A W~ H + penalty W~ = G,   H = sum_i n_i E z~z~',   G = sum_i (x_i - n_i softmax(psi_i) + n_i A psi_i) E z~':

since G's columns sum to 0 in each block, W~ = G (H / 2 + penalty)^-1. Bouchard's separates into rows, each with its own
H_v = sum_i 2 n_i lambda_iv E z~z~', and Jaakkola and Jordan's into blocks, with w_1 = -w_2 = d / 2, the least penalty:

    (sum_i 2 n_ir lambda_ir E z~z~' + penalty / 2) d~_r = sum_i (x_ir1 - x_ir2) / 2 E z~.

The penalty, the precision of a Gaussian prior of W but not of b, is 0 in the
source.

The objective, sum_i bound_i - (penalty / 2) ||W||^2, never falls.

With a point posterior, V = 0, the same steps raise sum_i log p(x_i | m_i) - ||m_i||^2 / 2 - (penalty / 2) ||W||^2 over
m and W (Bouchard's bound stays below, the others are tangent at m): the chapter's degenerate EM, "very prone to
overfitting". EPCA (`heldout.models.epca`) is that for one block, by other steps. Since log p(x | z) is concave in z and
has the gradient m at the point, log p(x) <= log p(x | m) - ||m||^2 / 2.

With inputs u_i, (D,), the prior's mean depends on them (27.73, 27.74), and V, (K, D), has the Gaussian prior of
precision `input_penalty`:

    z_i ~ N(V u_i, I),     m_i = V_i (W' g_i + V u_i),     V <- argmin sum_i ||m_i - V u_i||^2 + input_penalty ||V||^2.

(Another Sigma changes W and V only.) ||m_i - V u_i||^2 takes the place of ||m_i||^2 in the bound, and the objective has
- (input_penalty / 2) ||V||^2 besides. Likelihood: `gallery.priors.evaluators.categorical_pca_inputs`.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.typing import Floats

DENSE = 0.05  # share of counts above 0 from which a dense product is faster
SMALLEST_XI = 1e-12  # lambda is 1/8 - xi^2 / 96 + .. near 0
START = 0.1  # standard deviation of the random start of W
BOEHNING, BOUCHARD, JAAKKOLA_JORDAN = BOUNDS = ("boehning", "bouchard", "jaakkola-jordan")
GAUSSIAN, POINT = POSTERIORS = ("gaussian", "point")


class Posterior(NamedTuple):
    """The variational state of N data cases over C columns in R blocks.

    m, (N, K), and V, (N, K, K), which is 0 for a point; psi, (N, C), or lambda and a, (N, R), of Bouchard's bound,
    or lambda, (N, R), of Jaakkola and Jordan's; and the (N,) lower bound on log p(x_i), nats, of a point
    log p(x_i | m_i) - ||m_i||^2 / 2.
    """

    mean: Floats
    covariance: Floats
    point: Floats
    shift: Floats
    bound: Floats
    prior: Floats  # V u_i, (N, K), of inputs; 0 without


@estimator
class CategoricalPCA(Estimator):
    """Categorical PCA on counts over columns in blocks.

    Args:
        blocks: the numbers of columns of the blocks; None is one block, a bag of tokens.
        bound: "boehning", "bouchard", or "jaakkola-jordan" for blocks of two columns.
        posterior: "gaussian", or "point" for degenerate EM.
        penalty: precision of a Gaussian prior of W; 0 is none.
        input_penalty: precision of a Gaussian prior of V, the inputs' weights.
        iterations: VM and VE steps.
        tolerance: stop after an iteration that raises the objective by less than this many nats per token.
        ve_iterations: updates of the posterior in a VE step.

    Attributes (after `fit`):
        weights_: (C, K), W; bias_: (C,), b.
        input_weights_: (K, D), V, where there were inputs.
        posterior_: a `Posterior`, of the training data.
        objective_: nats, before the first iteration and after each.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = CategoricalPCA(1, penalty=1.0, random_state=0).fit(counts)
        >>> bool(np.all(np.diff(model.objective_) >= 0.0))
        True
    """

    blocks: tuple[int, ...] | None = None
    bound: str = "boehning"
    posterior: str = "gaussian"
    penalty: float = 0.0
    input_penalty: float = 1.0
    iterations: int = 200
    tolerance: float = 1e-6
    ve_iterations: int = 3

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None, *, inputs: Floats | None = None) -> Self:  # noqa: ARG002
        """Run the iterations on (N, C) counts X, with (N, D) inputs where they are given.

        Raises:
            InputError: for bad counts, inputs that do not fit, or a setting out of range.
        """
        x = self._check(X)
        if inputs is not None:
            self._check_inputs(inputs, len(x))
            self.input_weights_ = np.zeros((self.n_components, inputs.shape[1]))
        self.sizes_ = (x.shape[1],) if self.blocks is None else self.blocks
        random = np.random.default_rng(self.random_state)
        if not self._sums(x).any(axis=0).all():
            raise InputError("categorical PCA: a block of columns holds no token; leave it out")
        shares = x.sum(axis=0) + 1.0
        self.bias_ = np.log(shares) - np.log(self._spread(self._sums(shares[None])))[0]
        self.weights_ = START * random.standard_normal((x.shape[1], self.n_components))
        state, tokens = self.infer(X, inputs=inputs), float(x.sum())
        history = [self._objective(state)]
        for _ in range(self.iterations):
            self._vm_step(x, state)
            if inputs is not None:
                self._inputs_step(inputs, state)
            state = self.infer(X, state, inputs=inputs)
            history.append(self._objective(state))
            if history[-1] - history[-2] < self.tolerance * tokens:
                break
        self.posterior_, self.objective_ = state, np.array(history)
        return self

    def infer(
        self, X: sp.sparray | NDArray[Any], state: Posterior | None = None, *, inputs: Floats | None = None
    ) -> Posterior:
        """Return the posterior of the (N, C) counts X after `ve_iterations` updates from `state` or from the prior.

        `inputs` are (N, D), of a model that was fitted with inputs.
        """
        x = self._check(X)
        N, K = len(x), self.n_components
        prior = np.zeros((N, K)) if inputs is None else inputs @ self.input_weights_.T
        if state is None:
            eye = np.broadcast_to(np.eye(K) * (self.posterior != POINT), (N, K, K))
            zeros = np.zeros((N, len(self.sizes_)))
            state = self._tightened(x, Posterior(prior, eye, np.zeros_like(x), zeros, np.zeros(N), prior))
        state = state._replace(prior=prior)
        if self.bound == BOEHNING:
            return self._by_boehning(x, state)
        for _ in range(self.ve_iterations):
            state = self._tightened(x, self._gaussian(x, state))
        return state

    def _by_boehning(self, x: Floats, state: Posterior) -> Posterior:
        """Return the state after `ve_iterations`; the logits and their softmax are the only (N, C) arrays formed.

        psi - b is W m, so that W' g = W' x - W' n softmax(psi) + sum_r n_r W_r' A W_r m.
        """
        W, n, K = self.weights_, self._sums(x), self.n_components
        counts = sp.csr_array(x)
        x_W, x_b = counts @ W, counts @ self.bias_
        curvature = np.einsum("nr,rkl->nkl", n, self._in_blocks(W))
        V = np.linalg.inv(np.eye(K) + curvature)
        m = state.mean
        eta = m @ W.T + self.bias_
        for _ in range(self.ve_iterations):
            p = self._softmax(eta)
            p *= self._spread(n)
            m = np.einsum("nkl,nl->nk", V, x_W - p @ W + np.einsum("nkl,nl->nk", curvature, m) + state.prior)
            eta = m @ W.T + self.bias_
        divergence: Floats = 0.5 * ((m - state.prior) ** 2).sum(axis=1)
        spread = 0.0
        if self.posterior == POINT:
            V = np.zeros_like(V)
        else:
            divergence += 0.5 * (np.einsum("nkk->n", V) - K - np.linalg.slogdet(V)[1])
            spread = np.einsum("nkl,nkl->n", curvature, V)
        bound = (x_W * m).sum(axis=1) + x_b - (n * self._lse(eta)).sum(axis=1) - 0.5 * spread - divergence
        return state._replace(mean=m, covariance=V, point=eta, bound=bound)

    def _gaussian(self, x: Floats, state: Posterior) -> Posterior:
        """Return the state with the best Gaussian for the variational parameters, of a bound with xi."""
        W, n = self.weights_, self._sums(x)
        if self.bound == JAAKKOLA_JORDAN:
            d, e, half = self._differences(x)
            slope = 2.0 * n * state.point
            V = np.linalg.inv(np.eye(self.n_components) + np.einsum("nr,rk,rl->nkl", slope, d, d, optimize=True))
            mean = np.einsum("nkl,nl->nk", V, (half - slope * e) @ d + state.prior)
            return state._replace(mean=mean, covariance=np.zeros_like(V) if self.posterior == POINT else V)
        each = self._spread(n)
        slope = 2.0 * each * state.point
        curvature = np.einsum("nv,vk,vl->nkl", slope, W, W, optimize=True)
        linear = x - 0.5 * each - slope * (self.bias_ - self._spread(state.shift))
        V = np.linalg.inv(np.eye(self.n_components) + curvature)
        mean = np.einsum("nkl,nl->nk", V, linear @ W + state.prior)
        return state._replace(mean=mean, covariance=np.zeros_like(V) if self.posterior == POINT else V)

    def _tightened(self, x: Floats, state: Posterior) -> Posterior:
        """Return the state with the best variational parameters for its Gaussian, and the bound there."""
        W, n = self.weights_, self._sums(x)
        m, V = state.mean, state.covariance
        eta = m @ W.T + self.bias_
        divergence: Floats = 0.5 * ((m - state.prior) ** 2).sum(axis=1)
        if self.posterior != POINT:
            divergence += 0.5 * (np.einsum("nkk->n", V) - self.n_components - np.linalg.slogdet(V)[1])
        if self.bound == BOEHNING:
            spread = np.einsum("nr,rkl,nkl->n", n, self._in_blocks(W), V, optimize=True)
            bound = (x * eta).sum(axis=1) - (n * self._lse(eta)).sum(axis=1) - 0.5 * spread - divergence
            return state._replace(point=eta, bound=bound)
        if self.bound == JAAKKOLA_JORDAN:
            d, e, half = self._differences(x)
            t = m @ d.T + e
            xi = np.sqrt(t**2 + np.einsum("rk,nkl,rl->nr", d, V, d, optimize=True))
            rate, normaliser = _tangent(xi)
            bound = (half * t - n * (normaliser - 0.5 * xi)).sum(axis=1) - divergence
            return state._replace(point=rate, bound=bound)
        variance = np.einsum("vk,nkl,vl->nv", W, V, W, optimize=True)
        rate = state.point
        if not rate.any():  # the first time: a where all eta are below it by about log M
            rate, _ = _tangent(np.sqrt((eta - self._spread(self._lse(eta))) ** 2 + variance))
        sizes = np.array(self.sizes_, dtype=float)
        a = (0.5 * sizes - 1.0 + 2.0 * self._sums(rate * eta)) / (2.0 * self._sums(rate))
        centred = eta - self._spread(a)
        xi = np.sqrt(centred**2 + variance)
        rate, normaliser = _tangent(xi)
        upper = a + self._sums(normaliser + 0.5 * (centred - xi))
        return state._replace(point=rate, shift=a, bound=(x * eta).sum(axis=1) - (n * upper).sum(axis=1) - divergence)

    def _vm_step(self, x: Floats, state: Posterior) -> None:
        """Set W and b to the maximum of the objective, the posterior fixed."""
        m, K = np.column_stack([state.mean, np.ones(len(x))]), self.n_components
        moments = np.einsum("nk,nl->nkl", m, m)
        moments[:, :K, :K] += state.covariance
        ridge = np.diag([self.penalty] * K + [0.0])
        each = self._spread(self._sums(x))
        if self.bound == BOEHNING:
            p = self._softmax(state.point)
            p *= each
            linear, n, solved = x.T @ m - p.T @ m, self._sums(x), []
            old = np.column_stack([self.weights_, self.bias_])  # psi = W~ m~: sum_i n_i A psi_i m~_i' is A W~ M
            for r, columns in enumerate(self._columns()):
                M, H = (m * n[:, [r]]).T @ m, np.einsum("n,nkl->kl", n[:, r], moments)
                halved = 0.5 * (old[columns] - old[columns].mean(axis=0))
                solved.append(np.linalg.solve(0.5 * H + ridge, (linear[columns] + halved @ M).T).T)
            W = np.vstack(solved)
        elif self.bound == JAAKKOLA_JORDAN:
            slope = 2.0 * self._sums(x) * state.point
            H = np.einsum("nr,nkl->rkl", slope, moments, optimize=True) + 0.5 * ridge
            d = np.linalg.solve(H, (self._differences(x)[2].T @ m)[:, :, None])[:, :, 0]
            W = np.repeat(0.5 * d, 2, axis=0) * np.tile([[1.0], [-1.0]], (len(d), 1))
        else:
            slope = 2.0 * each * state.point
            H = np.einsum("nv,nkl->vkl", slope, moments, optimize=True) + ridge
            linear = x - 0.5 * each + slope * self._spread(state.shift)
            W = np.linalg.solve(H, (linear.T @ m)[:, :, None])[:, :, 0]
        self.weights_, self.bias_ = np.ascontiguousarray(W[:, :K]), W[:, K].copy()

    def _inputs_step(self, inputs: Floats, state: Posterior) -> None:
        """Set V to the maximum of the objective, the posterior fixed."""
        ridge = inputs.T @ inputs + self.input_penalty * np.eye(inputs.shape[1])
        self.input_weights_ = np.ascontiguousarray(np.linalg.solve(ridge, inputs.T @ state.mean).T)

    def log_joint(self, x: sp.sparray | Floats, sums: Floats, z: Floats) -> Floats:
        """Return log p(x_i | z_j), (N, J) nats, of `counts_and_sums` and (J, K) points z; for quadrature."""
        eta = z @ self.weights_.T + self.bias_
        joint: Floats = x @ eta.T - sums @ self._lse(eta).T
        return joint

    def counts_and_sums(self, X: sp.sparray | NDArray[Any]) -> tuple[sp.csr_array | Floats, Floats]:
        """Return checked counts, (N, C), sparse where few are above 0, and their sums over blocks, (N, R)."""
        x = self._check(X)
        return (sp.csr_array(x) if np.count_nonzero(x) < DENSE * x.size else x), self._sums(x)

    def _objective(self, state: Posterior) -> float:
        input_term = self.input_penalty * (self.input_weights_**2).sum() if state.prior.any() else 0.0
        return float(state.bound.sum() - 0.5 * self.penalty * (self.weights_**2).sum() - 0.5 * input_term)

    def _check_inputs(self, inputs: Floats, cases: int) -> None:
        if inputs.ndim != 2 or len(inputs) != cases or not np.isfinite(inputs).all() or not self.input_penalty > 0.0:
            raise InputError(
                f"categorical PCA: inputs of shape {inputs.shape}, penalty {self.input_penalty}; give a row of finite"
                f" numbers to each of {cases} data cases, and a positive penalty"
            )

    def _check(self, X: sp.sparray | NDArray[Any]) -> Floats:
        """Return the counts as a dense (N, C) array; raises InputError for unfit blocks or a setting out of range."""
        counts: Floats = checked_counts(X, "categorical PCA", empty=True).toarray()
        if self.bound not in BOUNDS:
            raise InputError(f"categorical PCA: there is no bound {self.bound}; there are {', '.join(BOUNDS)}")
        if self.posterior not in POSTERIORS:
            raise InputError(f"categorical PCA: the posterior {self.posterior} is none of {', '.join(POSTERIORS)}")
        if self.blocks is not None and (min(self.blocks, default=0) < 1 or sum(self.blocks) != counts.shape[1]):
            raise InputError(f"categorical PCA: blocks {self.blocks} do not divide the {counts.shape[1]} columns")
        if self.n_components < 1 or self.iterations < 0 or self.ve_iterations < 1 or not 0.0 <= self.penalty < np.inf:
            raise InputError(
                f"categorical PCA: {self.n_components} components, {self.iterations} and {self.ve_iterations}"
                f" iterations, penalty {self.penalty}; these must be at least 1, 0, 1 and 0"
            )
        if self.bound == JAAKKOLA_JORDAN and set((counts.shape[1],) if self.blocks is None else self.blocks) != {2}:
            raise InputError("categorical PCA: Jaakkola and Jordan's bound takes blocks of two columns; take boehning")
        return counts

    def _differences(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return d, (R, K), and e, (R,), of blocks of two columns, and half of the counts' differences, (N, R)."""
        W, b = self.weights_, self.bias_
        return W[::2] - W[1::2], b[::2] - b[1::2], 0.5 * (x[:, ::2] - x[:, 1::2])

    def _columns(self) -> list[slice]:
        """Return the columns of each block."""
        ends = np.cumsum(self.sizes_)
        return [slice(int(end) - size, int(end)) for end, size in zip(ends, self.sizes_, strict=True)]

    def _sums(self, values: Floats) -> Floats:
        """Return the sums over the columns of each block, (N, R)."""
        if len(self.sizes_) == 1:
            return np.asarray(values.sum(axis=1, keepdims=True))
        return np.add.reduceat(values, [columns.start for columns in self._columns()], axis=1)

    def _spread(self, values: Floats) -> Floats:
        """Return (N, R) values repeated over their blocks' columns, (N, C); for one block (N, 1), which broadcasts."""
        return values if len(self.sizes_) == 1 else np.repeat(values, self.sizes_, axis=1)

    def _half_deviations(self, values: Floats) -> Floats:
        """Return A v of every row v, (N, C): half of its deviations from its blocks' means."""
        return 0.5 * (values - self._spread(self._sums(values) / np.array(self.sizes_)))

    def _in_blocks(self, W: Floats) -> Floats:
        """Return W_r' A W_r of every block, (R, K, K)."""
        halved = self._half_deviations(W.T).T
        return np.stack([W[columns].T @ halved[columns] for columns in self._columns()])

    def _lse(self, eta: Floats) -> Floats:
        """Return log sum exp of each block, (N, R)."""
        highest = self._highest(eta)
        lse: Floats = highest + np.log(self._sums(np.exp(eta - self._spread(highest))))
        return lse

    def _highest(self, eta: Floats) -> Floats:
        """Return the highest of each block, (N, R)."""
        if len(self.sizes_) == 1:
            return np.asarray(eta.max(axis=1, keepdims=True))
        return np.asarray(np.maximum.reduceat(eta, [columns.start for columns in self._columns()], axis=1))

    def _softmax(self, eta: Floats) -> Floats:
        """Return the softmax of each block, (N, C)."""
        p = np.exp(eta - self._spread(self._highest(eta)))
        p /= self._spread(self._sums(p))
        return p


def _tangent(xi: Floats) -> tuple[Floats, Floats]:
    """Return lambda(xi) = tanh(xi / 2) / (4 xi), 1/8 at 0, and log(1 + e^xi), by one exponential; xi is at least 0."""
    safe = np.maximum(xi, SMALLEST_XI)
    falls = np.expm1(-safe)  # tanh(xi / 2) = (1 - e^-xi) / (1 + e^-xi)
    return np.asarray(-falls / ((2.0 + falls) * (4.0 * safe))), np.asarray(safe + np.log1p(1.0 + falls))
