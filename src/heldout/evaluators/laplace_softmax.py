r"""Laplace's method in the softmax basis: an approximation of the term that folding-in drops (MacKay 1998).

Derivation. Write theta = softmax(a) with a_K = 0, so that K - 1 coordinates are free. Their Jacobian is
|d theta / d a| = prod_k theta_k, which turns the prior Dir(theta | alpha) into the density

    p(a | alpha) = Gamma(A) / prod_k Gamma(alpha_k)  prod_k theta_k^alpha_k,        A = sum_k alpha_k,

with exponents alpha_k instead of the alpha_k - 1 of theta's own basis, so its mode is interior for every alpha. Up to
the prior's constant, p(w) is the integral of exp F over R^(K-1), with

    F(a) = sum_w n(w) log sum_k phi[k, w] theta_k + sum_k alpha_k log theta_k.

F is strictly concave in theta, so its mode is unique. With r[w, k] = phi[k, w] theta_k / sum_j phi[j, w] theta_j and
m_k = sum_w n(w) r[w, k], over all K coordinates,

    dF / da_k          = m_k + alpha_k - (L + A) theta_k,
    - d2F / da_k da_j  = (L + A) (theta_k delta_kj - theta_k theta_j) - m_k delta_kj + sum_w n(w) r[w, k] r[w, j].

At the mode (L + A) theta = alpha + m, the fixed point that EM reaches, and there the matrix is

    H = B - (L + A) theta theta',        B = diag(alpha) + sum_w n(w) r_w r_w'.

H 1 = 0 (adding a constant to all a_k changes nothing), so its minors of size K - 1 all equal one number c, adj(H) = c 1
1', and c = d/de det(B - (L + A - e) theta theta') at 0. From B 1 = (L + A) theta follows B^-1 theta = 1 / (L + A),
hence

    c = det B / (L + A),        det B = prod_k alpha_k  det(I + X X'),   X[w, k] = sqrt(n(w) / alpha_k) r[w, k],

where det(I + X X') = det(I + X' X): the side with fewer rows is taken, words or topics (O(n K min(n, K)) a document of
n distinct words). Laplace's method gives

    log p(w) ~ F + log Gamma(A) - sum_k log Gamma(alpha_k) + (K - 1) / 2 log 2 pi - 1/2 log c.             ("density")

Each topic that the document does not use adds the error of Laplace's method for its Gamma integral, which is that of
Stirling's formula at alpha_k: -0.08 nats at alpha_k = 1, and larger for smaller alpha_k. An empty document uses no
topic, so its value, which should be 0, is the sum of these errors. The prior's integral, 1, can be approximated in the
same way, at the prior's mode alpha / A, and divided out. Constants cancel:

    log p(w) ~ sum_w n(w) log sum_k phi[k, w] theta_k + sum_k alpha_k log(A theta_k / alpha_k)
               + 1/2 log((L + A) / A) - 1/2 log det(I + X X'),                                               ("ratio")

which is exact for an empty document and for K = 1, at any alpha, and is the evaluator's default. It needs a prior that
is not sparse: where alpha_k is far below 1, p(a) is skewed, and the value can be far too low or too high, at 0.05 to
0.3 mostly too high.

Other points. At the folded-in point (the maximum of the likelihood alone) L theta = m; the matrix is the same with A
theta_k in place of alpha_k in B, and again c = det B / (L + A). But where theta_k = 0, as for most topics of a short
document, log theta_k and the value are minus infinity. One step of EM from there, theta_k <- (alpha_k + L theta_k) / (L
+ A), makes every weight positive; the formula for the mode, evaluated at that point, costs no more than folding-in
("one-step").
"""

from typing import Literal

import numpy as np
from scipy.special import gammaln, xlogy

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.evaluators.posterior_mean import ITERATIONS, TOLERANCE, variational_gamma
from heldout.models.plsa import fold_in_counts
from heldout.topics import Topics
from heldout.typing import Floats

Point = Literal["mode", "folded-in", "one-step"]
Form = Literal["ratio", "density"]


def laplace_softmax(
    topics: Topics,
    documents: Corpus,
    *,
    point: Point = "mode",
    form: Form = "ratio",
    theta: Floats | None = None,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> Evaluation:
    """Return Laplace's approximation of every document's log p(w | alpha, phi) in the softmax basis.

    Other arguments, result and errors are as in `heldout.evaluators`. The values are neither bounds nor estimates
    with a known error; at the folded-in point -inf, too, where a weight is 0.

    `point` is where to expand: at the "mode" in this basis, at the "folded-in" point, or "one-step" of EM from the
    latter; the last two take the folded-in weights from `theta`, (D, K), where it is given. The form "ratio" divides by
    the same approximation of the prior's integral, "density" (MacKay's) does not. The search for the point ends after
    `iterations`; a document is done when an iteration moves at most the share `tolerance` of its tokens (at the
    folded-in point: when its log-likelihood is within this many nats per token of the maximum).

    Examples:
        >>> laplace_softmax(topics, documents).log_likelihood.round(2)
        array([-3.7, -0.8])
    """
    if point not in ("mode", "folded-in", "one-step") or form not in ("ratio", "density"):
        raise InputError(f"Laplace: point {point}, form {form}; give mode, folded-in or one-step, and ratio or density")
    documents, left_out = in_vocabulary(documents, topics)
    alpha, counts, lengths = topics.alpha, documents.counts(), documents.lengths
    A = alpha.sum()
    if point == "mode":
        theta = variational_gamma(topics, documents, mean_field=False, iterations=iterations, tolerance=tolerance)
    elif theta is None:
        theta = fold_in_counts(topics, counts, iterations=iterations, tolerance=tolerance)
    if point == "one-step":
        theta = alpha + lengths[:, None] * theta
    theta = theta / theta.sum(axis=1, keepdims=True)

    values = np.zeros(documents.n_documents)
    with np.errstate(divide="ignore"):  # a weight or probability of 0 gives -inf
        for d in np.flatnonzero(lengths):
            cells = slice(counts.indptr[d], counts.indptr[d + 1])
            n, phi, h = counts.data[cells], topics.phi_by_word[counts.indices[cells]], theta[d]
            probability = phi @ h
            values[d] = n @ np.log(probability) + xlogy(alpha, A * h / alpha).sum()
            if np.isfinite(values[d]):
                spread = A * h if point == "folded-in" else alpha
                X = phi * (h / np.sqrt(spread)) * (np.sqrt(n) / probability)[:, None]
                values[d] += 0.5 * (np.log((lengths[d] + A) / A) - log_det(X) - np.log(spread / alpha).sum())
        if form == "density":
            constant = gammaln(A) - gammaln(alpha).sum() + 0.5 * (len(alpha) - 1) * np.log(2.0 * np.pi)
            integral = constant + xlogy(alpha, alpha / A).sum() - 0.5 * np.log(alpha).sum() + 0.5 * np.log(A)
            values[lengths > 0] += float(integral)  # the log of the prior's volume, which is 0, by the same method
    return Evaluation.deterministic(values, lengths, left_out)


def log_det(X: Floats) -> float:
    """Return log det(I + X X'), by the smaller of X X' and X' X; 0 for an X without rows."""
    gram = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    gram.flat[:: len(gram) + 1] += 1.0
    return float(2.0 * np.log(np.linalg.cholesky(gram).diagonal()).sum())
