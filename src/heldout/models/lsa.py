r"""LSA as a document-specific unigram model (Deerwester et al. 1990; Hofmann 1999, section 3.6 and Figure 5).

The singular value decomposition of the (D, V) counts, N = U S V', cut to the k largest singular values,

    N_k[d, w] = sum_{r<=k} U[d, r] s_r V[w, r],

is the matrix of rank k with the least squared distance from N: the fit of a Gaussian, not a distribution, and some of
its entries are negative. The source does not say how it is turned into a distribution over words, so there are several
readings, each with rows that sum to 1:

    clipped            p(w | d) ∝ max(N_k[d, w], 0);
    shifted            p(w | d) ∝ N_k[d, w] - min(0, min_v N_k[d, v]);
    cosine             p(w | d) ∝ (cos(d, w) - min_v cos(d, v))^gamma,
    cosine-geometric   p(w | d) ∝ p(w) (cos(d, w) - min_v cos(d, v))^gamma,

the last two after Coccaro and Jurafsky (1998), who combine cosines with another model, more successfully in products
than in sums. A document's vector is row d of U S^(1/2), a word's is row w of V S^(1/2), both cut to k columns:

    cos(d, w) = N_k[d, w] / (a_d b_w),      a_d^2 = sum_{r<=k} U[d, r]^2 s_r,      b_w^2 = sum_{r<=k} V[w, r]^2 s_r.

A document whose counts n are not in N is folded in by projection, u s = n V: its row of N_k is n V_k V_k'.

At full rank N_k = N: clipped and shifted are then the document's empirical distribution n(d, w) / n(d). Every reading
is mixed with the unigram, (1 - lambda) p(w | d) + lambda p(w); for a document without any positive weight it is the
unigram. The lambda in [0, 1] that maximises the likelihood of given tokens is the root of a concave function's
derivative, found by bisection.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.typing import Floats, Ints

BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A singular value decomposition without the singular values that are 0 up to rounding, largest first.

    U, (D, R), s, (R,), and V', (R, V), of rank R.
    """

    documents: Floats
    values: Floats
    words: Floats

    @property
    def rank(self) -> int:
        """R, the numerical rank of the counts."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The reconstruction N_k of the counts, (D, V), at rank k, and the norms for the cosines, a_d (D,) and b_w (V,).

    The counts are overwritten by the next reconstruction.
    """

    rank: int
    counts: Floats
    document_norms: Floats
    word_norms: Floats

    def clipped(self) -> Floats:
        """Return the clipped reading, (D, V); a row without a positive entry stays 0."""
        return _normalised(np.maximum(self.counts, 0.0))

    def shifted(self) -> Floats:
        """Return the shifted reading, (D, V)."""
        return _normalised(self.counts - np.minimum(self.counts.min(axis=1, keepdims=True), 0.0))

    def log_cosines(self) -> Floats:
        """Return log(cos(d, w) - min_v cos(d, v)), (D, V), -inf at the minimum, for `raised`."""
        cosines = self.counts * _inverse(self.document_norms)[:, None]
        cosines *= _inverse(self.word_norms)
        cosines -= cosines.min(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(cosines, out=cosines)


def decompose(counts: sp.csr_array) -> Decomposition:
    """Return the singular value decomposition of (D, V) counts, with the tolerance of `numpy.linalg.matrix_rank`."""
    dense = checked_counts(counts, "LSA").toarray()
    documents, values, words = np.linalg.svd(dense, full_matrices=False)
    rank = int(np.sum(values > values[0] * max(dense.shape) * np.finfo(float).eps))
    return Decomposition(documents[:, :rank].copy(), values[:rank], words[:rank])


def folded_in(decomposition: Decomposition, counts: sp.csr_array) -> Decomposition:
    """Return the decomposition with the documents of other (D, V) counts folded in; words and singular values stay."""
    return replace(decomposition, documents=counts @ decomposition.words.T / decomposition.values)


def reconstructions(decomposition: Decomposition, ranks: Sequence[int]) -> Iterator[Reconstruction]:
    """Yield N_k at rising ranks k from 1 to the rank of the counts; together they cost as much as the largest alone."""
    if not all(1 <= rank <= decomposition.rank for rank in ranks):
        raise InputError(
            f"LSA: ranks {list(ranks)}; they must lie between 1 and the counts' rank, {decomposition.rank}"
        )
    D, V = len(decomposition.documents), decomposition.words.shape[1]
    counts, document_squares, word_squares = np.zeros((D, V)), np.zeros(D), np.zeros(V)
    done = 0
    for rank in sorted(set(ranks)):
        new = slice(done, rank)
        U, s, words = decomposition.documents[:, new], decomposition.values[new], decomposition.words[new]
        counts += (U * s) @ words
        document_squares += U**2 @ s
        word_squares += s @ words**2
        done = rank
        yield Reconstruction(rank, counts, np.sqrt(document_squares), np.sqrt(word_squares))


def raised(log_cosines: Floats, exponent: float, times: Floats | None = None) -> Floats:
    """Return the cosine reading, (D, V): the cosines' differences to the power gamma, times p(w) if given.

    The exponent is gamma, above 0; `times` is the (V,) unigram of "cosine-geometric", None for "cosine". Rows sum to 1;
    one whose cosines are all equal is 0.
    """
    powers = exponent * log_cosines
    np.exp(powers, out=powers)
    if times is not None:
        powers *= times
    return _normalised(powers)


def _inverse(norms: Floats) -> Floats:
    """Return 1 / norms, 0 for norms within rounding of 0: an empty document has no direction."""
    zero = norms <= norms.max() * len(norms) * np.finfo(float).eps
    return np.divide(1.0, norms, where=~zero, out=np.zeros(len(norms)))


def _normalised(weights: Floats) -> Floats:
    """Divide the rows by their sums in place and return them; a row of zeros stays."""
    sums = weights.sum(axis=1, keepdims=True)
    weights /= np.where(sums > 0.0, sums, 1.0)
    return weights


def mixed(reading: Floats, unigram: Floats, rows: Ints, words: NDArray[np.int32], weight: float) -> Floats:
    """Return (1 - weight) p(w | d) + weight p(w), (n,), of n pairs of a document and a word.

    A document whose row of the `reading`, (D, V), is 0 has the unigram, (V,); the weight is lambda, in [0, 1].
    """
    weights = np.where(reading.any(axis=1), weight, 1.0)[rows]
    p: Floats = (1.0 - weights) * reading[rows, words] + weights * unigram[words]
    return p


def mixing_weight(model: Floats, unigram: Floats, counts: Floats) -> float:
    """Return the lambda in [0, 1] that maximises sum_i n_i log((1 - lambda) model_i + lambda unigram_i).

    `model` and `unigram`, the latter all positive, are the probabilities of (n,) cells (document, word), `counts` their
    tokens.
    """

    def slope(weight: float) -> float:
        with np.errstate(divide="ignore", over="ignore"):  # infinite at 0 for zeros and denormals
            return float(np.sum(counts * (unigram - model) / (model + weight * (unigram - model))))

    low, high = 0.0, 1.0
    if slope(0.0) <= 0.0:
        return 0.0
    if slope(1.0) >= 0.0:
        return 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return 0.5 * (low + high)
