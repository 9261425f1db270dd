r"""What section 3.5 of Buntine (2009) may mean, and the particle estimate that its equation 5 asks for.

R particles go through a document. For its l-th token every particle

    resamples z_1 .. z_{l-1} once, in turn, given w_1 .. w_{l-1};
    draws z_l given z_1 .. z_{l-1} and w_l;

and p(w_l | z) = sum_k (alpha_k + N_k) phi[k, w_l] / (A + n), equation 7 with the counts N of n tokens, is recorded at
three moments:

    AHEAD   of the resampling, with n = l - 1: z_1 .. z_{l-2} have not seen w_{l-1}. The source lists resampling, draw
            and record in this order, and after them equation 7 for the next token is this one;
    BEFORE  the draw, with n = l - 1: left-to-right as Wallach (2008) writes it (`heldout.evaluators.left_to_right`);
    AFTER   the draw, with n = l: "the current values (k_0, .., k_l)", which have seen w_l.

A document's estimate is the product over tokens of the mean over particles, or the mean over particles of each one's
product, or of each one's log product. Without the resampling, AHEAD and BEFORE are one. And the tokens may come as
they are written, or, from a vector of counts, sorted by word: "bagged" documents (section 2.1) have lost their order,
which p does not depend on, but particles do.

Weighted. Before the draw the particles stand for p(z_1 .. z_{l-1} | w_1 .. w_{l-1}); those that make w_l more probable
have to become more frequent before they stand for p(z_1 .. z_{l-1} | w_1 .. w_l). So R particles are drawn anew with
probabilities proportional to their records (BEFORE), by systematic resampling. All else is as above, and leaves these
distributions unchanged: this is a particle filter with moves (Gilks and Berzuini, 2001), whose product of means has
the expectation p(w_1 .. w_L) for every R (Del Moral, 2004). The log of the mean over independent runs is low by about
half its squared standard error.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, kernel_arrays, log_mean
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics

AHEAD, BEFORE, AFTER = 0, 1, 2
# the readings by name: the moment, and how particles are averaged
RESAMPLED, NEXT, SEEN = "resampled", "recorded-for-the-next-token", "recorded-after-the-draw"
PRODUCTS, LOGS, UNRESAMPLED = "mean-of-products", "mean-of-logs", "not-resampled"
SORTED = "sorted-"  # the tokens, by word
READINGS = (
    *(RESAMPLED, NEXT, SEEN, PRODUCTS, LOGS, UNRESAMPLED),
    *(SORTED + RESAMPLED, SORTED + NEXT, SORTED + UNRESAMPLED),
)


@nb.njit("float64(float64[::1], float64[::1], float64[::1])", cache=True)
def _weight(alpha, count, row):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(alpha.shape[0]):
        total += (alpha[k] + count[k]) * row[k]
    return total


@nb.njit("int64(float64[::1], float64[::1], float64[::1], float64[::1], uint64[::1])", cache=True)
def _draw(alpha, count, row, cumulative, state):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(alpha.shape[0]):
        total += (alpha[k] + count[k]) * row[k]
        cumulative[k] = total
    x = uniform(state) * total
    k = 0
    while k < alpha.shape[0] - 1 and cumulative[k] <= x:
        k += 1
    return k


@nb.njit(
    "void(int64[::1], float64[:, ::1], float64[::1], boolean, boolean, uint64[::1], float64[:, :, ::1])",
    cache=True,
    nogil=True,
)
def _records(words, phi, alpha, resampled, weighted, state, out):  # type: ignore[no-untyped-def]
    """Write what every particle records to out, (3, R, L). words: (L,) rows of phi, (U, K)."""
    R, L, K = out.shape[1], words.shape[0], alpha.shape[0]
    A = alpha.sum()
    z, count = np.zeros((R, L), np.int32), np.zeros((R, K))
    drawn_z, drawn_count = np.zeros((R, L), np.int32), np.zeros((R, K))
    cumulative = np.empty(K)
    for last in range(L):
        row = phi[words[last]]
        for r in range(R):
            out[AHEAD, r, last] = _weight(alpha, count[r], row) / (A + last)
            if resampled:
                for position in range(last):
                    count[r, z[r, position]] -= 1.0
                    k = _draw(alpha, count[r], phi[words[position]], cumulative, state)
                    count[r, k] += 1.0
                    z[r, position] = k
            out[BEFORE, r, last] = _weight(alpha, count[r], row) / (A + last)
        if weighted:
            step = out[BEFORE, :, last].sum() / R
            place, reached, r = uniform(state) * step, out[BEFORE, 0, last], 0
            for i in range(R):
                while r < R - 1 and reached <= place + i * step:
                    r += 1
                    reached += out[BEFORE, r, last]
                drawn_z[i, :last] = z[r, :last]
                drawn_count[i] = count[r]
            z, drawn_z = drawn_z, z
            count, drawn_count = drawn_count, count
        for r in range(R):
            k = _draw(alpha, count[r], row, cumulative, state)
            count[r, k] += 1.0
            z[r, last] = k
            out[AFTER, r, last] = _weight(alpha, count[r], row) / (A + last + 1)


def records(
    words: NDArray[np.int64],
    phi: NDArray[np.float64],
    alpha: NDArray[np.float64],
    particles: int,
    state: NDArray[np.uint64],
    *,
    resampled: bool = True,
    weighted: bool = False,
) -> NDArray[np.float64]:
    """Return what every particle records at the three moments, (3, particles, L).

    Args:
        words: (L,) rows of phi.
        phi: (U, K) by word; every word has a positive probability under some topic.
        alpha: (K,) all positive.
        particles: R.
        state: (1,) the document's random stream.
        resampled: whether particles resample the topics of earlier tokens.
        weighted: whether particles are drawn anew by their records.
    """
    out = np.empty((3, particles, len(words)))
    _records(words, phi, alpha, resampled, weighted, state, out)
    return out


def weighted_left_to_right(
    topics: Topics, documents: Corpus, particles: int, runs: int, rng: np.random.Generator
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by weighted particles: the log mean of independent runs.

    Args:
        topics: phi and alpha.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        particles: R; a document costs runs R L (L - 1) / 2 draws of a topic.
        runs: independent runs, whose estimates of p(w) are averaged.
        rng: seeds one stream per document.

    Returns:
        log-likelihoods in nats, unbiased as probabilities; the standard error is that of the runs' mean (delta method),
        NaN for one run. -inf where a word has probability 0 under every topic.
    """
    arrays = kernel_arrays(topics, documents)
    log_weights = np.zeros((len(arrays.lengths), runs))
    for d, state in enumerate(starts(rng, len(arrays.lengths))):
        words, phi = _document(arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], arrays.phi_by_word)
        for run in range(runs) if len(words) else ():
            if (phi.max(axis=1) > 0.0).all():
                means = records(words, phi, arrays.alpha, particles, state, weighted=True)[BEFORE].mean(axis=0)
                log_weights[d, run] = np.log(means).sum()
            else:
                log_weights[d, run] = -np.inf
    value, error = log_mean(log_weights)
    return Evaluation(value, arrays.lengths, np.where(arrays.lengths > 0, error, 0.0), arrays.left_out)


def readings(
    topics: Topics, documents: Corpus, particles: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return every document's estimate by each reading, (D,), nats; those that resample share their draws.

    Args:
        topics: phi and alpha.
        documents: D documents; words outside the topics' vocabulary are left out.
        particles: R.
        rng: seeds one stream per document.
    """
    arrays = kernel_arrays(topics, documents)
    estimates = {name: np.zeros(len(arrays.lengths)) for name in READINGS}
    for d, state in enumerate(starts(rng, len(arrays.lengths))):
        words, phi = _document(arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], arrays.phi_by_word)
        for order, tokens in (("", words), (SORTED, np.sort(words))):
            swept = records(tokens, phi, arrays.alpha, particles, state)
            once = records(tokens, phi, arrays.alpha, particles, state, resampled=False)
            estimates[order + RESAMPLED][d] = np.log(swept[BEFORE].mean(axis=0)).sum()
            estimates[order + NEXT][d] = np.log(swept[AHEAD].mean(axis=0)).sum()
            estimates[order + UNRESAMPLED][d] = np.log(once[BEFORE].mean(axis=0)).sum()
            if not order:
                products = np.log(swept[BEFORE]).sum(axis=1)
                estimates[SEEN][d] = np.log(swept[AFTER].mean(axis=0)).sum()
                estimates[PRODUCTS][d] = log_mean(products[None, :])[0][0]
                estimates[LOGS][d] = products.mean()
    return estimates


def _document(
    tokens: NDArray[np.int32], phi_by_word: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a document's tokens as indices into its distinct words, (L,), and their probabilities, (U, K)."""
    distinct, words = np.unique(tokens, return_inverse=True)
    return words.astype(np.int64), np.ascontiguousarray(phi_by_word[distinct])
