r"""A particle filter from left to right: weighted particles with moves, and an unbiased estimate of the likelihood.

R particles go through a document. For its l-th token every particle

    resamples z_1 .. z_{l-1} once, in turn, given w_1 .. w_{l-1};
    draws z_l given z_1 .. z_{l-1} and w_l;

and p(w_l | z) = sum_k (alpha_k + N_k) phi[k, w_l] / (A + n), equation 7 of Buntine (2009) with the counts N of n
tokens, is recorded at three moments: before the resampling and before the draw, with n = l - 1, and after the draw,
with n = l. The product over tokens of the mean over particles of the records before the draw is the left-to-right
estimate of Wallach (2008), `heldout.evaluators.left_to_right`, whose limit is not p.

Weighted. Before the draw the particles stand for p(z_1 .. z_{l-1} | w_1 .. w_{l-1}); those that make w_l more probable
have to become more frequent before they stand for p(z_1 .. z_{l-1} | w_1 .. w_l). So R particles are drawn anew, by
systematic resampling, with probabilities proportional to their records before the draw. All else is as above, and
leaves these distributions unchanged: this is a particle filter with moves (Gilks and Berzuini, 2001), whose product of
means has the expectation p(w_1 .. w_L) for every R (Del Moral, 2004). The log of the mean over independent runs is low
by about half its squared standard error.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, kernel_arrays, log_mean
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats, Ints

BEFORE_RESAMPLING, BEFORE_DRAW, AFTER_DRAW = 0, 1, 2  # moments of the records


@nb.njit("void(float64[::1], float64[:, ::1], float64[::1], float64, float64[::1])", cache=True)
def _record(alpha, count, row, total, out):  # type: ignore[no-untyped-def]
    """Write equation 7 for one token to out, (R,), of every particle; `total` is A + n."""
    K, R = count.shape
    out[:] = 0.0
    for k in range(K):
        for r in range(R):
            out[r] += (alpha[k] + count[k, r]) * row[k]
    for r in range(R):
        out[r] /= total


@nb.njit("void(float64[::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], int32[::1])", cache=True)
def _draw(alpha, count, row, u, sums, z):  # type: ignore[no-untyped-def]
    """Draw one token's topic in every particle by u, (R,), uniform on [0, 1); write it to z, (R,), and count it.

    sums: (K + 2, R), to work in. Every loop over particles runs by vector instructions, but for the last.
    """
    K, R = count.shape
    total, x = sums[K], sums[K + 1]
    total[:] = 0.0
    for k in range(K):
        own, cumulative = count[k], sums[k]
        for r in range(R):
            total[r] += (alpha[k] + own[r]) * row[k]
            cumulative[r] = total[r]
    for r in range(R):
        x[r] = u[r] * total[r]
        total[r] = 0.0  # from here on the number of topics passed
    for k in range(K - 1):
        cumulative = sums[k]
        for r in range(R):
            total[r] += 1.0 if cumulative[r] <= x[r] else 0.0
    for r in range(R):
        z[r] = np.int32(total[r])
        count[z[r], r] += 1.0


@nb.njit(
    "void(int64[::1], float64[:, ::1], float64[::1], boolean, boolean, uint64[::1], float64[:, :, ::1])",
    cache=True,
    nogil=True,
)
def _records(words, phi, alpha, resampled, weighted, state, out):  # type: ignore[no-untyped-def]
    """Write the records of every particle to out, (3, L, R). words: (L,) rows of phi, (U, K).

    A token is drawn in all particles at once, by vector instructions; every particle has its turn of the stream.
    """
    L, R, K, A = out.shape[1], out.shape[2], alpha.shape[0], alpha.sum()
    z, count = np.zeros((L, R), np.int32), np.zeros((K, R))
    drawn_z, drawn_count, source = np.zeros((L, R), np.int32), np.zeros((K, R)), np.empty(R, np.int64)
    u, sums = np.empty((L, R)), np.empty((K + 2, R))
    for last in range(L):
        row = phi[words[last]]
        _record(alpha, count, row, A + last, out[BEFORE_RESAMPLING, last])
        if resampled:
            for r in range(R):
                for position in range(last):
                    u[position, r] = uniform(state)
            for position in range(last):
                for r in range(R):
                    count[z[position, r], r] -= 1.0
                _draw(alpha, count, phi[words[position]], u[position], sums, z[position])
        _record(alpha, count, row, A + last, out[BEFORE_DRAW, last])
        if weighted:
            step = out[BEFORE_DRAW, last].sum() / R
            place, reached, r = uniform(state) * step, out[BEFORE_DRAW, last, 0], 0
            for i in range(R):
                while r < R - 1 and reached <= place + i * step:
                    r += 1
                    reached += out[BEFORE_DRAW, last, r]
                source[i] = r
            for position in range(last):
                for r in range(R):
                    drawn_z[position, r] = z[position, source[r]]
            for k in range(K):
                for r in range(R):
                    drawn_count[k, r] = count[k, source[r]]
            z, drawn_z = drawn_z, z
            count, drawn_count = drawn_count, count
        for r in range(R):
            u[last, r] = uniform(state)
        _draw(alpha, count, row, u[last], sums, z[last])
        _record(alpha, count, row, A + last + 1, out[AFTER_DRAW, last])


def records(
    words: Ints,
    phi: Floats,
    alpha: Floats,
    particles: int,
    state: NDArray[np.uint64],
    *,
    resampled: bool = True,
    weighted: bool = False,
) -> Floats:
    """Return the records of every particle at the three moments, (3, particles, L).

    `words`, (L,), are rows of phi, (U, K) by word, of which every one has a positive probability under some topic;
    `state` is the document's random stream. `resampled` says whether particles resample the topics of earlier tokens,
    `weighted` whether particles are drawn anew by their records.
    """
    out = np.empty((3, len(words), particles))
    _records(words, phi, alpha, resampled, weighted, state, out)
    return np.ascontiguousarray(out.transpose(0, 2, 1))


def particle_filter(
    topics: Topics, documents: Corpus, particles: int, runs: int, rng: np.random.Generator
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by a particle filter: the log mean of independent runs.

    Arguments and result are as in `heldout.evaluators`. A sample is one of the independent `runs`, whose estimates of
    p(w), unbiased, are averaged; with R `particles` a document costs runs R L (L - 1) / 2 draws of a topic.
    """
    arrays = kernel_arrays(topics, documents)
    log_weights = np.zeros((len(arrays.lengths), runs))
    for d, state in enumerate(starts(rng, len(arrays.lengths))):
        words, phi = document_words(arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], arrays.phi_by_word)
        for run in range(runs) if len(words) else ():
            if (phi.max(axis=1) > 0.0).all():
                means = records(words, phi, arrays.alpha, particles, state, weighted=True)[BEFORE_DRAW].mean(axis=0)
                log_weights[d, run] = np.log(means).sum()
            else:
                log_weights[d, run] = -np.inf
    value, error = log_mean(log_weights)
    return Evaluation(value, arrays.lengths, np.where(arrays.lengths > 0, error, 0.0), arrays.left_out)


def document_words(tokens: NDArray[np.int32], phi_by_word: Floats) -> tuple[Ints, Floats]:
    """Return a document's tokens as indices into its distinct words, (L,), and their probabilities, (U, K)."""
    distinct, words = np.unique(tokens, return_inverse=True)
    return words.astype(np.int64), np.ascontiguousarray(phi_by_word[distinct])
