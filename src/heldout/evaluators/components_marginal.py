r"""The likelihood of documents under a log-linear model, h integrated out: by annealing, and by quadrature at K = 1, 2.

EPCA's objective (equation 3.26 of Welling et al., 2008, with a penalty) holds -(penalty / 2) ||h_d||^2 for every
document: up to its constant the log density of the prior h ~ N(0, I / penalty), unit variance at penalty 1. With counts
x of n tokens and F(W h) = log sum_w exp(W h)_w (3.28) the likelihood of the token sequence is then

    p(w | W) = ∫ exp(l(h)) N(h | 0, I / penalty) dh,        l(h) = x' W h - n F(W h).

W and the prior belong together: in another gauge, W T and T^-1 h, the prior is another. Training ends in the gauge in
which its penalty is least. Without a penalty there is no prior and no p(w | W).

With its mode m and the negative Hessian n cov_p(W) + penalty I = C^-T C^-1 there, the strictly concave
g(h) = l(h) + log N(h | 0, I / penalty) has the Laplace approximation q = N(m, C C').

Annealing (Neal, 2001). Along p_b(h) proportional to q(h) exp(b r(h)), r = g - log q, b = t / T, from h_0 drawn from q,
the weight prod_t exp(r(h_{t-1}) / T) has the mean p(w | W) if every move to h_t leaves p_{t / T} invariant. The move is
elliptical slice sampling (Murray, Adams and MacKay, 2010) with q as its Gaussian; r hardly varies where the posterior
is concentrated, so most proposals are accepted. A path from the prior, which for trained weights is far from every
document's posterior, needs many times more steps. The price of q is that r has no upper bound: far from the mode the
prior falls more slowly than q. If moves drew h_t independently, the weights' variance would be finite where 1 / T is
below penalty over the largest eigenvalue of C^-T C^-1. The moves here do not, so the stated error rests on the check
against quadrature.

Quadrature. With h = m + sqrt(2) C u

    p(w | W) = pi^(-K/2) ∫ exp(r(m + sqrt(2) C u)) exp(-u'u) du

by the product Gauss-Hermite rule (Naylor and Smith, 1982). Its order is doubled until the value settles.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, check_samples, in_vocabulary, log_mean
from heldout.models.epca import fold_in_counts, softmax
from heldout.topics import Components, block_of_documents
from heldout.typing import Floats, Ints

ORDERS = (16, 32, 64, 128)  # nodes per axis of the Gauss-Hermite rule
SETTLED = 1e-6  # nats; orders whose values differ by less agree
MODE_TOLERANCE = 1e-8  # nats per token; loose, because the mode only centres the rule
MODE_ITERATIONS = 1000
LARGEST_DIMENSION = 2
NARROWEST = 1e-12  # radians; the slice's bracket is not shrunk further


class Integrand:
    """The exponential of a log joint, and its Laplace approximation q = N(mode, C C'); C is upper triangular."""

    mode: Floats
    C: Floats

    def log_joint(self, x: Floats) -> Floats:
        """Return the logarithm of the integrand at every row of x, nats."""
        raise NotImplementedError

    def log_ratio(self, u: Floats) -> Floats:
        """Return the log joint less log q at mode + C u for every row of u, nats."""
        volume = 0.5 * len(self.mode) * math.log(2.0 * math.pi) + float(np.log(np.diag(self.C)).sum())
        log_ratio: Floats = self.log_joint(self.mode + u @ self.C.T) + 0.5 * np.einsum("ik,ik->i", u, u) + volume
        return log_ratio


@dataclass(frozen=True)
class _Document(Integrand):
    """One document's g, of n tokens with x' W `observed`, (K,), and its Laplace approximation."""

    W: Floats
    n: int
    observed: Floats
    penalty: float
    mode: Floats
    C: Floats

    def log_joint(self, h: Floats) -> Floats:
        """Return g(h) of every row of h, nats."""
        value = h @ self.observed - 0.5 * self.penalty * np.einsum("ik,ik->i", h, h)
        for rows in block_of_documents(len(h), len(self.W)):
            logits = h[rows] @ self.W.T
            highest = logits.max(axis=1)
            logits -= highest[:, None]
            np.exp(logits, out=logits)
            value[rows] -= self.n * (highest + np.log(logits.sum(axis=1)))
        log_joint: Floats = value + 0.5 * len(self.mode) * math.log(self.penalty / (2.0 * math.pi))
        return log_joint


def annealed_marginal(
    components: Components,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    penalty: float,
    temperatures: int = 30,
) -> Evaluation:
    """Return log p(w | W) of every document by annealed importance sampling.

    Arguments, result and errors are as in `heldout.evaluators`: W in the place of topics, and the precision `penalty`
    of the prior h ~ N(0, I / penalty). Samples are independent chains, whose weights, unbiased as probabilities, are
    averaged; the error does not cover weights that no chain has met: with many components and few temperatures the
    value is then too low. `temperatures` is T, the steps between Laplace approximation and posterior, with one
    elliptical slice move between two; 1 is importance sampling from the Laplace approximation.
    """
    check_samples("annealed marginal of components", samples)
    if temperatures < 1:
        raise InputError(f"annealed marginal of components: {temperatures} temperatures; take 1 or more")
    documents, left_out = _over_vocabulary(components, documents, penalty)
    steps = np.full(documents.n_documents, temperatures)
    value, error = log_mean(log_weights(_laplace(components, documents, penalty), steps, samples, rng))
    return Evaluation(value, documents.lengths, np.where(documents.lengths > 0, error, 0.0), left_out)


def log_weights(
    documents: Iterable[tuple[int, Integrand | None]], steps: Ints, chains: int, rng: np.random.Generator
) -> Floats:
    """Return the (D, chains) log weights, nats, of annealing in (D,) steps; every document has its own stream.

    `documents` are the index and the integrand of each document with tokens; None for one of probability 0.
    """
    weights = np.zeros((len(steps), chains))
    streams = rng.spawn(len(steps))
    for d, document in documents:
        if document is None:
            weights[d] = -np.inf
        else:
            weights[d] = anneal_from_laplace(document, int(steps[d]), chains, streams[d])
    return weights


def anneal_from_laplace(document: Integrand, temperatures: int, chains: int, rng: np.random.Generator) -> Floats:
    """Return the (chains,) log weights, nats, of one integrand: unbiased estimates of its integral."""
    u = rng.standard_normal((chains, len(document.mode)))
    ratio = document.log_ratio(u)
    weights = ratio / temperatures
    for step in range(1, temperatures):
        u, ratio = slice_move(document, u, ratio, step / temperatures, rng)
        weights += ratio / temperatures
    return weights


def slice_move(
    document: Integrand, u: Floats, ratio: Floats, power: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Move every chain by elliptical slice sampling under N(u | 0, I) exp(power r); return u and r."""
    start, other = u, rng.standard_normal(u.shape)
    u, ratio = u.copy(), ratio.copy()
    level = power * ratio + np.log1p(-rng.random(len(u)))
    angle = 2.0 * math.pi * rng.random(len(u))
    low, high = angle - 2.0 * math.pi, angle.copy()
    going = np.arange(len(u))
    while len(going):
        turned = angle[going, None]
        proposed = start[going] * np.cos(turned) + other[going] * np.sin(turned)
        reached = document.log_ratio(proposed)
        taken = power * reached > level[going]
        u[going[taken]], ratio[going[taken]] = proposed[taken], reached[taken]
        going = going[~taken]
        # the bracket shrinks to angle 0, where the chain stands, which is on the slice; at `NARROWEST` h stays there
        negative = angle[going] < 0.0
        low[going[negative]], high[going[~negative]] = angle[going[negative]], angle[going[~negative]]
        going = going[high[going] - low[going] > NARROWEST]
        angle[going] = low[going] + (high[going] - low[going]) * rng.random(len(going))
    return u, ratio


def quadrature(components: Components, documents: Corpus, *, penalty: float) -> Evaluation:
    """Return log p(w | W) of every document by Gauss-Hermite quadrature, for one or two components.

    Arguments and result are as in `annealed_marginal`; two orders of the rule agree to `SETTLED` nats.

    Raises:
        InputError: for more components, a penalty that is not positive, or a document whose value does not settle.
    """
    K = components.n_topics
    if K > LARGEST_DIMENSION:
        raise InputError(
            f"quadrature: {K} components; the rule's nodes grow as a power of them, take {LARGEST_DIMENSION} or fewer,"
            " or anneal"
        )
    documents, left_out = _over_vocabulary(components, documents, penalty)
    value = np.zeros(documents.n_documents)
    for d, document in _laplace(components, documents, penalty):
        previous = math.inf
        for order in ORDERS:
            value[d] = _gauss_hermite(document, order)
            if abs(value[d] - previous) < SETTLED:
                break
            previous = value[d]
        else:
            raise InputError(
                f"quadrature: {documents.documents[d]} of {document.n} tokens has not settled at {ORDERS[-1]}"
                " nodes per axis; anneal it"
            )
    return Evaluation.deterministic(value, documents.lengths, left_out)


def _gauss_hermite(document: _Document, order: int) -> float:
    """Return log p(w | W) of one document by the rule with `order` nodes per axis, nats."""
    K = len(document.mode)
    nodes, weights = np.polynomial.hermite.hermgauss(order)
    u = math.sqrt(2.0) * np.stack(np.meshgrid(*[nodes] * K), axis=-1).reshape(-1, K)
    log_weights = np.log(np.stack(np.meshgrid(*[weights] * K), axis=-1)).sum(axis=-1).ravel()
    terms = log_weights - 0.5 * K * math.log(math.pi) + document.log_ratio(u)
    highest = float(terms.max())
    return highest + math.log(float(np.exp(terms - highest).sum()))


def _laplace(components: Components, documents: Corpus, penalty: float) -> Iterator[tuple[int, _Document]]:
    """Yield the index and the Laplace approximation of every document with tokens."""
    W, K, lengths = components.weights, components.n_topics, documents.lengths
    modes, _ = fold_in_counts(
        components, documents.counts(), penalty=penalty, iterations=MODE_ITERATIONS, tolerance=MODE_TOLERANCE
    )
    for d in np.flatnonzero(lengths > 0):
        p = softmax(modes[d : d + 1], W)[0][0]
        deviations = W - p @ W
        hessian = lengths[d] * (deviations * p[:, None]).T @ deviations + penalty * np.eye(K)
        C = np.linalg.inv(np.linalg.cholesky(hessian)).T  # positive on the diagonal
        observed = W[documents.document(int(d))].sum(axis=0)
        yield int(d), _Document(W, int(lengths[d]), observed, penalty, modes[d], C)


def _over_vocabulary(components: Components, documents: Corpus, penalty: float) -> tuple[Corpus, int]:
    """Return the documents over the components' vocabulary, and the number of tokens outside it.

    Raises:
        InputError: when the penalty is not positive, so that the prior is improper.
    """
    if not 0.0 < penalty < math.inf:
        raise InputError(
            f"marginal of components: penalty {penalty} is no prior's precision; take components that were trained with"
            " a positive penalty"
        )
    return in_vocabulary(documents, components)
