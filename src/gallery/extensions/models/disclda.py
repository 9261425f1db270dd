r"""DiscLDA by variational EM, and by its conditional likelihood (Murphy 2012, 27.67; Lacoste-Julien et al. 2009).

A document of class c mixes its weights by a stochastic matrix before topics are drawn,

    pi_i ~ Dir(alpha 1_K),   p(q_il = t | pi_i, c_i = c) = (A_c pi_i)_t,   y_il | q_il = t ~ Cat(b_t),           (27.67)

A_c (T, K), columns that sum to 1 (the chapter's is K x K). Given its class it is LDA of topics x_ck = sum_t A_ctk b_t.
In block form the first K_0 weights have topics of their own class and the K_1 others common ones, T = C K_0 + K_1:

    A_c = [0 .. I_(K_0) .. 0 | 0; 0 | I_(K_1)].

EM: with n_ckv the expected counts of word v under weight k in documents of class c, by LDA's mean field with x_c,

    A_ctk ∝ A_ctk sum_v n_ckv b_tv / x_ckv,          b_tv ∝ gamma + b_tv sum_ck A_ctk n_ckv / x_ckv.

What A_c has of zeros stays: a matrix in block form remains in it. Learnt ones start from the block form, mixed with
the even matrix by `softening`.

Discriminative training then raises the conditional likelihood of the classes in A, b held. With the mean-field bound
L_dc in the place of log p(w_d | c) and classes equally probable,

    F(A) = sum_d L_d,c_d - log sum_c exp L_dc,          r_dc = exp L_dc / sum_c' exp L_dc',
    dF / dA_ctk = sum_v (b_tv / x_ckv) sum_d ([c = c_d] - r_dc) n_dckv,

for at the best q the bound changes with x alone. A_ck = softmax(eta_ck) and L-BFGS climbs.
"""

from dataclasses import field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.token_shares import Documents, rows_of
from heldout.topics import Topics
from heldout.typing import Floats, Ints

DOCUMENT_ITERATIONS = 10  # updates of gamma in a documents' step
CONDITIONAL_ITERATIONS = 30  # the same where every step starts anew
EVEN = 1e-3  # share of the even matrix in A_c where the climb starts: a softmax has no zeros


def block_form(classes: int, own: int, common: int) -> Floats:
    """Return A, (C, C own + common, own + common), in block form.

    Examples:
        >>> block_form(2, 1, 1)[1]
        array([[0., 0.],
               [1., 0.],
               [0., 1.]])
    """
    A = np.zeros((classes, classes * own + common, own + common))
    for c in range(classes):
        A[c, c * own : (c + 1) * own, :own] = np.eye(own)
        A[c, classes * own :, own:] = np.eye(common)
    return A


def conditional(
    counts: sp.csr_array, y: Ints, A: Floats, b: Floats, alpha: float, iterations: int = CONDITIONAL_ITERATIONS
) -> tuple[float, Floats]:
    """Return F, nats, and its gradient in A, (C, T, K), from (D, V) counts of the (D,) classes and (T, V) b."""
    (C, _, K), D = A.shape, counts.shape[0]
    x, every = np.einsum("ctk,tv->ckv", A, b), sp.vstack([counts] * C, format="csr")
    rows = rows_of(x)
    lengths = np.asarray(every.sum(axis=1)).ravel()
    start = np.tile(alpha + lengths[:, None] / K, (1, K))
    documents = Documents(every, np.repeat(np.arange(C), D), alpha, start)
    bounds = documents.step(rows.reshape(-1, rows.shape[-1]), iterations).reshape(C, D)
    known = np.arange(C)[:, None] == y[None]
    weights = known - softmax(bounds, axis=0)
    documents.ratios *= np.repeat(weights.ravel(), np.diff(every.indptr))  # counts of a document times its weight
    n = documents.expected_counts(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)[:, :, :K]
    value = float(bounds[known].sum() - logsumexp(bounds, axis=0).sum())
    return value, np.einsum("ckv,tv->ctk", n.swapaxes(1, 2) / x, b)


@estimator
class DiscLDA(Estimator):
    """Discriminative LDA: topics that depend on a document's class.

    Args:
        n_components: K_0, topics of each class.
        common: K_1, topics of all classes.
        alpha: Dirichlet parameter of a document's weights.
        gamma: pseudo-count of a topic's words.
        softening: share of the even matrix in A_c at the start; 0 keeps the block form.
        iterations: of EM, at most.
        tolerance: stop after an iteration that raises the bound by less than this many nats per token.
        conditional: quasi-Newton steps of the conditional likelihood after EM, at most.
        random_state: generator of the random start.

    Attributes (after `fit`):
        matrices_: (C, T, K) A.
        components_: (T, V) b.
        bound_: the documents' bound plus gamma sum log b, nats, after every iteration's documents' step.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 1, 0], [0, 0, 4, 1], [0, 1, 1, 4]])
        >>> model = DiscLDA(1, common=1, random_state=0).fit(counts, np.array([0, 0, 1, 1]))
        >>> model.topics(0, tuple("abcd")).n_topics
        2
    """

    n_components: int = field(default=1, kw_only=False)
    common: int = 0
    alpha: float = 0.5
    gamma: float = 0.1
    softening: float = 0.0
    iterations: int = 100
    tolerance: float = 1e-5
    conditional: int = 0

    def fit(self, X: sp.sparray | NDArray[Any], y: Ints) -> Self:
        """Fit (D, V) counts X of documents of the (D,) classes 0 .. C - 1.

        Raises:
            InputError: for bad counts, classes that do not fit, or a setting out of range.
        """
        K = self.n_components + self.common
        if min(self.n_components, self.common) < 0 or K < 1 or self.iterations < 1:
            raise InputError(
                f"DiscLDA: {self.n_components} topics of a class, {self.common} common ones, {self.iterations}"
                " iterations; there must be a topic and an iteration"
            )
        if not (0.0 <= self.softening < 1.0 and self.alpha > 0.0 and self.gamma > 0.0):
            raise InputError(
                f"DiscLDA: softening {self.softening}, alpha {self.alpha}, gamma {self.gamma}; the first must be in"
                " [0, 1), the others positive"
            )
        if y.shape != (X.shape[0],) or len(y) == 0 or y.min() < 0:
            raise InputError(
                f"DiscLDA: classes of shape {y.shape} for {X.shape[0]} documents; give each one, from 0 on"
            )
        counts = checked_counts(X, "DiscLDA")
        classes, tokens = int(y.max()) + 1, counts.data.sum()
        A = block_form(classes, self.n_components, self.common)
        T, V = A.shape[1], X.shape[1]
        A = (1.0 - self.softening) * A + self.softening / T
        b = np.random.default_rng(self.random_state).gamma(1.0, 1.0, (T, V)) + 1.0
        b /= b.sum(axis=1, keepdims=True)
        gamma = np.full((X.shape[0], K), self.alpha + tokens / X.shape[0] / K)
        documents = Documents(counts, y, self.alpha, gamma)
        history: list[float] = []
        for _ in range(self.iterations):
            x = np.einsum("ctk,tv->ckv", A, b)
            rows = rows_of(x)
            value = documents.step(rows.reshape(-1, rows.shape[-1]), DOCUMENT_ITERATIONS)
            history.append(float(value.sum() + self.gamma * np.log(b).sum()))
            if len(history) > 1 and history[-1] - history[-2] < self.tolerance * tokens:
                break
            counts_of = documents.expected_counts(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)
            ratio = counts_of[:, :, :K].swapaxes(1, 2) / x
            raised = b * np.einsum("ctk,ckv->tv", A, ratio) + self.gamma
            A = A * np.einsum("ckv,tv->ctk", ratio, b)
            sums = A.sum(axis=1, keepdims=True)
            A = np.where(sums > 0.0, A / np.where(sums > 0.0, sums, 1.0), 1.0 / T)
            b = raised / raised.sum(axis=1, keepdims=True)
        if self.conditional:
            A = self._climb(counts, y, A, b)
        self.matrices_, self.components_, self.bound_ = A, b, np.array(history)
        return self

    def _climb(self, counts: sp.csr_array, y: Ints, A: Floats, b: Floats) -> Floats:
        """Return the A, (C, T, K), of a larger conditional likelihood of the (D,) classes."""
        A = (1.0 - EVEN) * A + EVEN / A.shape[1]

        def negative(eta: Floats) -> tuple[float, Floats]:
            raised = softmax(eta.reshape(A.shape), axis=1)
            value, gradient = conditional(counts, y, raised, b, self.alpha)
            gradient = raised * (gradient - (raised * gradient).sum(axis=1, keepdims=True))
            return -value, -gradient.ravel()

        found = minimize(
            negative, np.log(A).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": self.conditional}
        )
        climbed: Floats = softmax(found.x.reshape(A.shape), axis=1)
        return climbed

    def topics(self, label: int, vocabulary: tuple[str, ...]) -> Topics:
        """Return the topics, as LDA's, of the class `label`."""
        x = self.matrices_[label].T @ self.components_
        return Topics(x / x.sum(axis=1, keepdims=True), np.full(len(x), self.alpha), vocabulary)
