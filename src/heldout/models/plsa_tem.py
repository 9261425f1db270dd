r"""PLSA-TEM: PLSA by tempered EM at a fixed inverse temperature beta (Hofmann 1999; Welling et al. 2008, section 5).

Free energy. For posteriors q(z | d, w), each summing to 1 over z, Hofmann's free energy is

    F_beta(q, W, H) = sum_{d,w} n(d, w) sum_z q(z | d, w) [log q(z | d, w) - beta log(W[w, z] H[d, z])].

E step: the minimum over q is q(z | d, w) ∝ (W[w, z] H[d, z])^beta (equation 9; the whole product is tempered; the
factor p(d)^beta of the symmetric parameters cancels). At this q

    F_beta(W, H) = -sum_{d,w} n(d, w) log sum_k (W[w, k] H[d, k])^beta.

M step: F_beta depends on W and H only through -beta sum n q log(W H), so for every beta the minimum is that of EM,
W[w, k] ∝ sum_d n q and H[d, k] = sum_w n q / n(d). Neither step raises F_beta. At beta = 1 this is PLSA-HOF.

Kernel. With W~ = W^beta, H~ = H^beta and R~[d, w] = n(d, w) / (W~ H~')[d, w], n q = R~ W~ H~, hence

    H[d, k] <- H~[d, k] sum_w R~[d, w] W~[w, k] / n(d),      W[w, k] <- W~[w, k] sum_d R~[d, w] H~[d, k] / gamma_k:

the passes of `heldout.models.plsa` on the powers. W may stay unnormalised as there, with H divided by its column sums:
(W / sum)^beta H^beta = W^beta (H / sum)^beta.

Fold-in. The same steps with W fixed minimise F_beta over one document's h, that is, they maximise J(h) = sum_w n(w) log
sum_k (W[w, k] h[k])^beta. For beta <= 1, h^beta is concave, and so is J. At beta < 1 the maximum of J is not that of
the likelihood: the slope of h^beta at 0 is infinite, so no topic that gives one of the document's words gets weight 0,
and weights are flatter. A fixed point h = h^beta g is the maximum where all h > 0. With h' the update of h,
dJ/dh[k] = beta n h'[k] / h[k], so the maximum lies at most beta n (max_k h'[k] / h[k] - 1) above J(h); the iteration
stops on this bound. A weight below 1e-30 becomes 0 and is left out of the bound.

Scoring. The topics and weights of tempered EM enter the untempered mixture p(w | d) = sum_k W[w, k] h[k].
"""

from dataclasses import asdict, field

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import TEM, plsa
from heldout.models.estimator import estimator
from heldout.models.plsa import (
    PLSA,
    SMALLEST,
    Cells,
    Float,
    explained_words,
    most_words,
    over,
    places,
    trained,
)
from heldout.models.settings import PLSAFoldingIn as FoldingIn
from heldout.models.settings import TEMTraining as Training
from heldout.models.simd import WIDTH, dot, power, power_into
from heldout.topics import Topics


@nb.njit(
    "int64(int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64, int64, float64)",
    cache=True,
)
def _fold_in(indptr, indices, counts, W, theta, beta, iterations, tolerance):  # type: ignore[no-untyped-def]
    """Run tempered EM over theta with W, given as W^beta, fixed; return how many documents met the tolerance."""
    n_documents, n_topics = theta.shape
    width = -(-n_topics // WIDTH) * WIDTH
    longest = most_words(indptr)
    words = np.zeros((longest, width))
    explained = np.empty(longest)
    update = np.empty(width)
    h, tempered = np.zeros(width), np.zeros(width)
    met = 0
    for d in range(n_documents):
        h[:n_topics] = theta[d]
        size = explained_words(indptr[d], indptr[d + 1], indices, counts, W, words, explained)
        if size == 0:
            met += 1
            continue
        for _ in range(iterations):
            power_into(h, beta, tempered)
            update[:] = 0.0
            for i in range(size):
                w = words[i]
                r = explained[i] / dot(tempered, w)
                for k in range(width):
                    update[k] += r * w[k]
            total = 0.0
            for k in range(width):
                h_new = tempered[k] * update[k]
                update[k] = h_new if h_new > SMALLEST else 0.0
                total += update[k]
            largest = 0.0
            for k in range(width):
                update[k] /= total
                if h[k] > 0.0:
                    largest = max(largest, update[k] / h[k])
                h[k] = update[k]
            if beta * (largest - 1.0) <= tolerance:
                met += 1
                break
        theta[d] = h[:n_topics]
    return met


@estimator
class PLSATEM(PLSA):
    """PLSA-TEM on a matrix of counts; attributes and `fit` are those of PLSA.

    Args:
        n_components: K, the number of topics.
        beta: the inverse temperature, in (0, 1].
        iterations: the largest number of tempered EM iterations.
        tolerance: stop when an iteration lowers the free energy by less than this many nats per token.
        random_state: see `PLSA`.

    Attributes (after `fit`): as of PLSA, but
        log_likelihood_: (iterations + 1,) -F_beta in nats, before each iteration and after the last.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> PLSATEM(2, beta=0.8, iterations=50, random_state=0).fit(counts).components_.round(2)
        array([[0.5, 0.5, 0. , 0. ],
               [0. , 0. , 0.5, 0.5]])
    """

    beta: float = 0.9
    smoothing: float = field(default=0.0, init=False)

    def _check(self) -> None:
        super()._check()
        if not 0.0 < self.beta <= 1.0:
            raise InputError(f"PLSA-TEM: beta is {self.beta}; it must be above 0 and at most 1")

    def _iterate(self, cells: Cells, W: Float, H: Float, totals: Float) -> float:
        power(W, self.beta, out=W)
        scaled = over(H, totals)
        power(scaled, self.beta, out=scaled)
        objective = cells.documents_pass(W, scaled, H)
        cells.words_pass(W, scaled, totals)
        return objective

    def _objective(self, cells: Cells, W: Float, H: Float, totals: Float) -> float:
        return cells.documents_pass(power(W, self.beta), power(over(H, totals), self.beta), H.copy())

    def _fold_in(self, topics: Topics, counts: sp.csr_array) -> Float:
        return fold_in_counts(topics, counts, beta=self.beta, iterations=self.iterations, tolerance=self.tolerance)


def fold_in_counts(
    topics: Topics, counts: sp.csr_array, *, beta: float, iterations: int, tolerance: float
) -> NDArray[np.float64]:
    """Fold documents in by the tempered E step with p(w | z) fixed, from the uniform point.

    Args:
        topics: p(w | z); the prior is not used.
        counts: (D, V) counts.
        beta: the inverse temperature, in (0, 1]; at 1 this is PLSA-HOF's fold-in, bit for bit.
        iterations: the largest number of iterations.
        tolerance: nats per token by which J may be below its maximum; 0 runs all iterations.

    Returns:
        theta, (D, K); rows sum to 1. Words that no topic gives have no effect (the evaluator still scores them); a
        document without other words keeps uniform weights.
    """
    if beta == 1.0:
        return plsa.fold_in_counts(topics, counts, iterations=iterations, tolerance=tolerance)
    theta = np.full((counts.shape[0], topics.n_topics), 1.0 / topics.n_topics)
    W = power(topics.phi_by_word, beta)
    _fold_in(*places(counts), counts.data, W, theta, beta, iterations, tolerance)
    return theta


def fold_in(
    topics: Topics,
    documents: Corpus,
    settings: FoldingIn,
    *,
    seed: int,  # noqa: ARG001  (folding in draws nothing)
) -> Float:
    """Return theta, (D, K), of a corpus's documents at the beta that the topics were trained with.

    See `fold_in_counts`. `seed` is unused: it is in every model's `fold_in` for those that sample.

    Raises:
        InputError: when the topics' provenance has no beta, because PLSA-TEM did not train them.
    """
    if topics.provenance.get("model") != TEM or "beta" not in topics.provenance:
        raise InputError(f"{TEM}: the topics name no beta to fold in with; train them with {TEM}")
    counts, beta = documents.counts(), float(topics.provenance["beta"])
    return fold_in_counts(topics, counts, beta=beta, iterations=settings.iterations, tolerance=settings.tolerance)


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Topics]:
    """Train PLSA-TEM on a corpus; the start is PLSA-HOF's for (corpus, topics, seed), so beta = 1 repeats PLSA-HOF.

    Raises:
        InputError: as `PLSA.fit` does, or when beta is out of range.
    """
    model = PLSATEM(topics, **asdict(settings))
    return trained(model, TEM, corpus, seed, objective="objective", beta=settings.beta)
