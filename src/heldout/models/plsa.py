r"""PLSA-HOF: probabilistic latent semantic analysis by EM (Hofmann 1999; Welling et al. 2008, section 3.4).

Model. A token of document d is word w with probability

    p(w | d) = sum_z p(w | z) p(z | d) = sum_k W[w, k] H[d, k].

Hofmann's symmetric parameters are p(z), p(d | z) and p(w | z). With p(z | d) proportional to
p(z) p(d | z) the posterior

    p(z | d, w) = p(z) p(d | z) p(w | z) / sum_z' p(z') p(d | z') p(w | z')
                = W[w, z] H[d, z] / sum_z' W[w, z'] H[d, z']                      (E step)

does not change, because p(d) cancels. The M step is

    p(w | z) ∝ sum_d n(d, w) p(z | d, w),
    p(d | z) ∝ sum_w n(d, w) p(z | d, w),      p(z) ∝ sum_{d,w} n(d, w) p(z | d, w),

hence p(z | d) = sum_w n(d, w) p(z | d, w) / n(d), which are the updates 3.24 of Welling et al. Each
iteration cannot lower the log-likelihood sum_{d,w} n(d, w) log sum_k W[w, k] H[d, k].

Kernel. With R[d, w] = n(d, w) / (W H')[d, w] the new values are H[d, k] sum_w R[d, w] W[w, k] / n(d) and
W[w, k] sum_d R[d, w] H[d, k], normalised over w. One pass over the documents gives R and the new H, one
pass over the words gives the new W: O(nnz K) work, O(nnz + (D + V) K) memory, no array over
documents x words x topics. W stays unnormalised between iterations: H, which is smaller, is divided by W's sums over
words instead. Values below 1e-30 are set to 0 to avoid denormal numbers; a topic that is 0 for a word or a document
stays 0, as in exact EM.

Bound. A cell takes 6 K operations and reads a row of W and a row of H, 16 K bytes. At K = 200 that is some 20 ns with
both rows in the first cache; a row of W alone comes at 75 ns from the third where W is NIPS's (17 MB) and at 25 where
it is Cranfield's (6 MB). So words meet documents in blocks that the second cache keeps, rows are added four at a time,
products do not wait for quotients, and arrays begin at cache lines. Blocks change no bit: every sum is in the order of
words or documents.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, checked_counts, estimator, provenance
from heldout.models.settings import PLSA_SMALLEST as SMALLEST
from heldout.models.settings import PLSAFoldingIn as FoldingIn
from heldout.models.settings import PLSATraining as Training
from heldout.models.simd import CACHE_LINE, WIDTH, copy, dot
from heldout.seeds import generator
from heldout.topics import AnyTopics, Topics
from heldout.typing import Floats

LEAST_LEFT = 0.01  # least share of a topic's weight after extrapolation: EM does not come back from 0

L1_CACHE, L2_CACHE = 25_600, 524_288  # bytes of the caches that rows are kept in
CELLS = 16  # fewest cells, on average, of a document in a block of words

Index = NDArray[np.int32]


def rows_in(cache: int, width: int) -> int:
    """Return the number of rows of `width` numbers that a cache of `cache` bytes keeps, a multiple of 4."""
    return max(1, cache // (32 * width)) * 4


@nb.njit(cache=True)
def most_words(indptr):  # type: ignore[no-untyped-def]
    """Return the largest number of distinct words in any document."""
    longest = 0
    for d in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    return longest


@nb.njit(cache=True)
def explained_words(start, end, indices, counts, W, least, words, explained):  # type: ignore[no-untyped-def]
    """Copy W's rows and the counts of a document's words that a topic gives more than `least`; return their number."""
    n_topics = W.shape[1]
    size = 0
    for i in range(start, end):
        w = W[indices[i]]
        highest = 0.0
        for k in range(n_topics):
            highest = max(highest, w[k])
        if highest > least:
            copy(w, words[size])
            explained[size] = counts[i]
            size += 1
    return size


@nb.njit(cache=True)  # without types these are compiled where they are called: an audit's first result is not
def _extrapolate(start, first, second, out):  # type: ignore[no-untyped-def]
    """Extrapolate three points, each EM's update of the one before, and write the result to `out`."""
    moved, turned, total = 0.0, 0.0, 0.0
    for k in range(start.shape[0]):
        r = first[k] - start[k]
        moved += start[k] * r**2
        turned += start[k] * (second[k] - first[k] - r) ** 2
    step = max(1.0, math.sqrt(moved / turned)) if turned > 0.0 else 1.0
    for k in range(start.shape[0]):
        r = first[k] - start[k]
        new = start[k] + 2.0 * step * r + step**2 * (second[k] - first[k] - r)
        out[k] = max(new, LEAST_LEFT * second[k])
        total += out[k]
    for k in range(start.shape[0]):
        out[k] /= total


@nb.njit(cache=True)
def _fold_in(  # type: ignore[no-untyped-def]
    indptr, indices, counts, W, theta, beta, iterations, tolerance, extrapolated
):
    """Run EM over theta with W, given as W^beta, fixed; return how many documents met the tolerance."""
    n_documents, n_topics = theta.shape
    width = -(-n_topics // WIDTH) * WIDTH
    longest = most_words(indptr)
    words = np.zeros((longest, width))
    explained = np.empty(longest)
    gradient = np.empty(width)
    h, start, first, second = np.zeros(width), np.empty(width), np.empty(width), np.empty(width)
    tempered = h if beta == 1.0 else np.zeros(width)
    met = 0
    for d in range(n_documents):
        copy(theta[d], h)
        size = explained_words(indptr[d], indptr[d + 1], indices, counts, W, SMALLEST, words, explained)
        if size == 0:
            met += 1
            continue
        tokens = 0.0
        for i in range(size):
            tokens += explained[i]
        reached = 0.0  # the log-likelihood at `first`
        for iteration in range(iterations):
            if beta < 1.0:
                for k in range(n_topics):
                    tempered[k] = h[k] ** beta
            gradient[:] = 0.0
            log_likelihood = 0.0
            for i in range(size):
                w = words[i]
                probability = dot(tempered, w)
                r = explained[i] / probability
                if extrapolated:
                    log_likelihood += explained[i] * math.log(probability)
                for k in range(width):
                    gradient[k] += r * w[k]
            steepest = 0.0
            total = 0.0
            for k in range(width):
                steepest = max(steepest, gradient[k])
                h_new = tempered[k] * gradient[k]
                gradient[k] = h_new if h_new > SMALLEST else 0.0
                total += gradient[k]
            if extrapolated and iteration % 3 == 0:
                copy(h, start)
            elif extrapolated and iteration % 3 == 1:
                copy(h, first)
                reached = log_likelihood
            largest = 0.0
            if beta < 1.0:
                for k in range(width):
                    if h[k] > 0.0:
                        largest = max(largest, gradient[k] / total / h[k])
            for k in range(width):
                h[k] = gradient[k] / total
            # the objective is concave in h: a bound on its maximum less its value at the previous point
            bounded = steepest - tokens <= tolerance * tokens if beta == 1.0 else beta * (largest - 1.0) <= tolerance
            if bounded:
                met += 1
                break
            if extrapolated and iteration % 3 == 1 and iteration + 1 < iterations:
                copy(h, second)
                _extrapolate(start, first, second, h)
            elif extrapolated and iteration % 3 == 2 and log_likelihood < reached:
                copy(second, h)  # it led astray
        copy(h[:n_topics], theta[d])
    return met


def aligned(rows: int, width: int) -> Floats:
    """Return an array without values that begins at a cache line: a vector across two takes two loads."""
    memory = np.empty(rows * width + WIDTH)
    skipped = -memory.ctypes.data % CACHE_LINE // memory.itemsize
    return memory[skipped : skipped + rows * width].reshape(rows, width)


def filled_up(matrix: Floats) -> Floats:
    """Return a contiguous copy, padded with zero columns to a multiple of WIDTH."""
    filled = aligned(len(matrix), -(-matrix.shape[1] // WIDTH) * WIDTH)
    filled[:, : matrix.shape[1]], filled[:, matrix.shape[1] :] = matrix, 0.0
    return filled


def starting_values(components: Floats, document_topics: Floats) -> tuple[Floats, Floats, Floats]:
    """Return W, (V, width), H, (D, width), and W's sums over words, (width,), all ones.

    Args:
        components: (K, V) proportional to p(w | z).
        document_topics: (D, K) proportional to p(z | d).
    """
    W = filled_up((components / components.sum(axis=1, keepdims=True)).T)
    H = filled_up(document_topics / document_topics.sum(axis=1, keepdims=True))
    totals = np.zeros(W.shape[1])
    totals[: len(components)] = 1.0
    return W, H, totals


def places(matrix: sp.csr_array | sp.csc_array) -> tuple[Index, Index]:
    """Return where the rows (columns) of a sparse matrix begin, and the column (row) of each entry, as int32."""
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Cells:
    """The positive counts, by document and by word, and R of the last pass over the documents.

    Attributes:
        counts: (nnz,) n(d, w), by document.
        begins: (blocks + 1, D) where each document's cells in a block of words begin; last, where they end.
        block: words in a block.
        indices: (nnz,) the cells' words, by document.
        words: where each word's cells begin, (V + 1,), and the cells' documents, (nnz,).
        position: (nnz,) index into the order by document of each cell in the order by word.
        ratio: (nnz,) R[d, w], by document.
    """

    counts: Floats
    begins: Index
    block: int
    indices: Index
    words: tuple[Index, Index]
    position: Index
    ratio: Floats

    @classmethod
    def of(cls, counts: sp.csr_array) -> Self:
        """Return the cells of (D, V) counts."""
        by_word = sp.csr_array(
            (np.arange(1, counts.nnz + 1), counts.indices, counts.indptr), shape=counts.shape
        ).tocsc()
        position = (by_word.data - 1).astype(np.int32)
        n_documents, n_words = counts.shape
        block = math.ceil(CELLS * n_documents * n_words / max(counts.nnz, 1))
        blocks = -(-n_words // block)
        row = np.repeat(np.arange(n_documents), np.diff(counts.indptr))
        sizes = np.bincount(row * blocks + counts.indices // block, minlength=n_documents * blocks)
        begins = np.tile(counts.indptr[:-1].astype(np.int32), (blocks + 1, 1))
        begins[1:] += sizes.reshape(n_documents, blocks).cumsum(axis=1, dtype=np.int32).T
        indices = counts.indices.astype(np.int32)
        return cls(counts.data, begins, block, indices, places(by_word), position, np.empty(counts.nnz))

    def documents_pass(self, W: Floats, scaled: Floats, H: Floats) -> float:
        """Update H and R from W and `scaled`; return sum n log (W scaled') before the update, nats."""
        from heldout.models.plsa_kernel import documents_pass  # late: what only folds in need not compile it

        width = W.shape[1]
        blocks, updates = max(1, rows_in(L2_CACHE, width) // self.block), aligned(rows_in(L2_CACHE, 2 * width), width)
        shares = np.empty(rows_in(L1_CACHE, width) + 3)
        cells = (self.begins, blocks, self.indices, self.counts)
        return float(documents_pass(*cells, W, scaled, H, self.ratio, updates, shares))

    def words_pass(self, W: Floats, scaled: Floats, totals: Floats) -> None:
        """Replace W by its unnormalised update from `scaled` and R; write its sums over words to `totals`."""
        from heldout.models.plsa_kernel import words_pass  # late, too

        width = W.shape[1]
        updates, shares = aligned(rows_in(L1_CACHE, 2 * width), width), np.empty(rows_in(L1_CACHE, width) + 3)
        words_pass(*self.words, self.position, self.ratio, W, scaled, totals, updates, shares)


def rescaled(H: Floats, totals: Floats) -> Floats:
    """Return H, (D, K), over the sums of W's columns (1 where a sum is 0): p(w | d) is W times the transpose.

    Args:
        H: (D, K) p(z | d).
        totals: (K,) sums over words of the unnormalised W.
    """
    return np.divide(H, np.where(totals > 0.0, totals, 1.0), out=aligned(*H.shape))


def revive(W: Floats, totals: Floats) -> None:
    """Make a topic that explains no token any more uniform over words, in place.

    Args:
        W: (V, width) unnormalised p(w | z); updated.
        totals: (K,) W's sums over words; updated.
    """
    dead = np.flatnonzero(totals == 0.0)
    if len(dead):
        W[:, dead] = 1.0 / len(W)
        totals[dead] = 1.0


def random_start(corpus: Corpus, topics: int, seed: int) -> np.random.Generator:
    """Return the generator of the random start, the same in every version of PLSA for the same corpus, K and seed."""
    return generator("plsa-start", corpus=corpus.name, topics=topics, seed=seed)


@estimator
class PLSA(TopicEstimator):
    """PLSA-HOF by EM on a matrix of counts.

    Args:
        n_components: K, the number of topics.
        iterations: the largest number of EM iterations.
        tolerance: stop when an iteration raises the log-likelihood by less than this many nats per token.
        smoothing: the constant that every M step adds to p(w | z) before renormalising; 0 is plain EM. With a positive
            constant the log-likelihood may fall.
        random_state: generator of the random start, or its seed.

    Attributes (after `fit`):
        components_: (K, V) p(w | z), W'; rows sum to 1. Without smoothing, a word without training tokens has
            probability 0.
        document_topics_: (D, K) p(z | d), H. An empty document keeps its random start.
        log_likelihood_: (iterations + 1,) nats, before each iteration and after the last.
        n_iter_: EM iterations run.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> model = PLSA(2, iterations=50, random_state=0).fit(counts)
        >>> model.components_.round(2)
        array([[0.5, 0.5, 0. , 0. ],
               [0. , 0. , 0.5, 0.5]])
        >>> model.transform(np.array([[1, 1, 2, 0]])).round(2)
        array([[0.5, 0.5]])
        >>> topics = model.topics(("heat", "flow", "wing", "lift"))  # as the evaluators take them
    """

    iterations: int = 100
    tolerance: float = 0.0
    smoothing: float = 0.0

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # noqa: ARG002
        """Fit to X, the (D, V) counts n(d, w), from a random start.

        Args:
            X: (D, V) counts, sparse or dense, none negative.
            y: ignored, for scikit-learn's pipelines.

        Raises:
            InputError: on a negative or undefined count, a corpus without tokens, or a bad setting.
        """
        counts = checked_counts(X, "PLSA")
        self._check()
        n_words = counts.shape[1]
        W, H, totals = self.start(counts.shape)
        cells = Cells.of(counts)
        tokens = float(counts.data.sum())
        history: list[float] = []
        for _ in range(self.iterations):
            history.append(self._iterate(cells, W, H, totals))
            revive(W, totals[: self.n_components])
            if self.smoothing > 0.0:
                W[:, : self.n_components] /= totals[: self.n_components]
                W[:, : self.n_components] += self.smoothing
                W[:, : self.n_components] /= 1.0 + n_words * self.smoothing
                totals[: self.n_components] = 1.0
            if len(history) > 1 and abs(history[-1] - history[-2]) < self.tolerance * tokens:
                break
        self.n_iter_ = len(history)
        history.append(self._objective(cells, W, H, totals))
        self.log_likelihood_ = np.array(history)
        self.components_ = np.ascontiguousarray(W[:, : self.n_components].T)
        self.components_ /= self.components_.sum(axis=1, keepdims=True)
        self.document_topics_ = np.ascontiguousarray(H[:, : self.n_components])
        return self

    def start(self, shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return the `starting_values` of random p(w | z) and p(z | d) for counts of a shape, (D, V)."""
        random = np.random.default_rng(self.random_state)
        components = random.random((self.n_components, shape[1]))
        return starting_values(components, random.random((shape[0], self.n_components)))

    def _check(self) -> None:
        """Raise InputError for a setting out of range."""
        if self.n_components < 1 or self.iterations < 1:
            raise InputError(
                f"PLSA: {self.n_components} topics and {self.iterations} iterations; both must be 1 or more"
            )
        if not (self.tolerance >= 0.0 and 0.0 <= self.smoothing < math.inf):
            raise InputError("PLSA: tolerance and smoothing must be 0 or more and finite")

    def _iterate(self, cells: Cells, W: Floats, H: Floats, totals: Floats) -> float:
        """Run one iteration, in place; return the objective before it, in nats.

        W (V, width) is p(w | z) times `totals`, the sums of its columns; H (D, width) is p(z | d).
        """
        scaled = rescaled(H, totals)
        objective = cells.documents_pass(W, scaled, H)
        cells.words_pass(W, scaled, totals)
        return objective

    def _objective(self, cells: Cells, W: Floats, H: Floats, totals: Floats) -> float:
        """Return the objective, in nats."""
        return cells.documents_pass(W, rescaled(H, totals), H.copy())

    def transform(self, X: sp.sparray | NDArray[Any]) -> Floats:
        """Return p(z | d), (D, K), of the documents X (D, V) by folding in with the settings of `fit`."""
        topics = self.topics(tuple(str(v) for v in range(self.components_.shape[1])))
        return self._fold_in(topics, checked_counts(X, "PLSA", empty=True))

    def _fold_in(self, topics: Topics, counts: sp.csr_array) -> Floats:
        return fold_in_counts(topics, counts, iterations=self.iterations, tolerance=self.tolerance)

    def topics(self, vocabulary: tuple[str, ...], provenance: dict[str, Any] | None = None) -> Topics:
        """Return the topics with the flat Dirichlet(1) prior that section 3.4 derives for PLSA."""
        return Topics(self.components_, np.ones(self.n_components), vocabulary, dict(provenance or {}))


def fold_in_counts(
    topics: AnyTopics,
    counts: sp.csr_array,
    *,
    iterations: int,
    tolerance: float,
    beta: float = 1.0,
    extrapolated: bool = False,
) -> Floats:
    """Fold documents in: iterate the E step with p(w | z) fixed (Hofmann 1999; Welling et al., section 5).

    Maximises sum_w n(w) log sum_k phi[k, w] theta[k] over the simplex, from the uniform point, by

        theta[k] <- theta[k] g[k] / n,    g[k] = sum_w n(w) phi[k, w] / sum_k' phi[k', w] theta[k'].

    The objective is concave, so max_k g[k] - n bounds its distance from the maximum; the iteration stops when this
    bound is at most `tolerance` nats per token, or after `iterations`.

    Extrapolation (SQUAREM; Varadhan and Roland, 2008, scheme S3) needs far fewer iterations. Of three points in a
    row with r = theta_1 - theta_0 and v = theta_2 - theta_1 - r it takes theta_0 + 2 s r + s^2 v, s = |r| / |v| in the
    norm weighted by theta_0, where the log-likelihood is no lower than at theta_1.

    Args:
        topics: p(w | z); the prior is not used.
        counts: (D, V) counts.
        iterations: the largest number of iterations.
        tolerance: nats per token; 0 runs all iterations.
        beta: the inverse temperature, in (0, 1]; below 1 by the E step and to the maximum of `heldout.models.plsa_tem`.
        extrapolated: for the maximum itself at beta = 1, fast; the papers' folding in is EM alone.

    Returns:
        theta, (D, K); rows sum to 1. Words that no topic gives have no effect (the evaluator still scores them); a
        document without other words keeps uniform weights.
    """
    theta = np.full((counts.shape[0], topics.n_topics), 1.0 / topics.n_topics)
    W = topics.phi_by_word if beta == 1.0 else np.power(topics.phi_by_word, beta)
    _fold_in(*places(counts), counts.data, W, theta, beta, iterations, tolerance, extrapolated)
    return theta


def fold_in(topics: Topics, documents: Corpus, settings: FoldingIn, *, seed: int) -> Floats:  # noqa: ARG001
    """Return theta, (D, K), of the documents of a corpus over the topics' vocabulary; see `fold_in_counts`."""
    counts = documents.counts()
    return fold_in_counts(topics, counts, iterations=settings.iterations, tolerance=settings.tolerance)


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Topics]:
    """Train PLSA on a corpus, from the random start that corpus, K and seed determine.

    Raises:
        InputError: as `PLSA.fit` does.
    """
    model = PLSA(topics, **asdict(settings))
    return trained(model, models.PLSA, corpus, seed, smoothing=settings.smoothing)


def trained(
    model: PLSA, name: str, corpus: Corpus, seed: int, *, objective: str = "log_likelihood", **settings: float
) -> list[Topics]:
    """Fit a version of PLSA to a corpus from the random start that all share; return its topics.

    Args:
        model: its random state is set.
        name: the version's name in `heldout.models.MODELS`.
        corpus: the training documents.
        seed: with the corpus and K determines the random start.
        objective: the name of `log_likelihood_` in the topics' provenance.
        settings: of the model, for the provenance.
    """
    model.set_params(random_state=random_start(corpus, model.n_components, seed)).fit(corpus.counts())
    history = {objective: model.log_likelihood_.tolist()}
    details = provenance(name, corpus, seed, iterations=model.n_iter_, **settings, **history)
    return [model.topics(corpus.vocabulary, details)]
