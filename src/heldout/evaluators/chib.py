r"""Chib-style estimates of a document's likelihood (Chib, 1995; Murray and Salakhutdinov, 2009).

For any assignment z* of topics to tokens p(w) = p(z*, w) / p(z* | w). The numerator is known,

    p(z, w) = Gamma(A) / Gamma(A + L)  prod_k Gamma(alpha_k + C_k) / Gamma(alpha_k)  prod_l phi[z_l, w_l],

with theta integrated out, C_k tokens of topic k and A = sum_k alpha_k. For the denominator let S(z, z') be the
probability that a Gibbs sweep takes z to z'. The posterior is invariant, p(z* | w) = sum_z p(z | w) S(z, z*), so the
mean of S(z_i, z*) over draws z_1 .. z_n from the posterior estimates p(z* | w). But draws that only approach the
posterior bias this mean, and the inverse of the mean is biased in any case.

Unbiased. Place z_1 .. z_n on one stationary chain, and let z* follow z_i by one more sweep, i uniform on 1 .. n. Given
z*, with S~ the reversed sweep, p(z | w) S(z, z') = p(z' | w) S~(z', z), this is

    z_i from S~(z*, .);   z_{i+1} .. z_n from S(predecessor, .) in turn;   z_{i-1} .. z_1 from S~(successor, .).

Averaged over i, the sequence has the probability p(z_1 .. z_n) (1/n) sum_i S(z_i, z*) / p(z* | w), where p is that of
the stationary chain. Hence the mean over it of 1 / ((1/n) sum_i S(z_i, z*)) is 1 / p(z* | w), and

    p(z*, w) / ((1/n) sum_i S(z_i, z*))

has the mean p(w) for every z* and every n. Both halves must start from the same z_i, drawn from z*; starting the
backward half where the forward half ended would bias the estimate.

Of a document that was drawn with its topics z_1 the draw from p(z | w) is exact, and so are z_2 .. z_n that n - 1
sweeps lead to. So E (1/n) sum_i S(z_i, z*) / p(z*, w) = 1 / p(w), over the drawing of the document's topics and the
sweeps: by Jensen's inequality the negative logarithm is above log p(w) on average. On 70 documents of 60 tokens from
ten topics it was within a nat of the estimate from below, all together, at a cost at which annealing in both directions
(`heldout.evaluators.bidirectional`) was 80 apart on 20.

z* is a local maximum of p(z, w): iterated conditional modes after a few sweeps. The larger p(z*, w), the less the terms
spread. z* is chosen before z_1 .. z_n are drawn and from other random numbers, so the argument holds for it.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.annealed_importance import distinct, sweep, urn
from heldout.evaluators.bidirectional import check_assignments
from heldout.evaluators.evaluation import Evaluation, check_samples, kernel_arrays, log_mean
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics
from heldout.typing import Ints

SWEEPS_BEFORE = 20  # Gibbs sweeps after which a run climbs to its z*


@nb.njit("void(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[::1])", cache=True)
def _climb(rows, z, counts, table, alpha):  # type: ignore[no-untyped-def]
    """Move z to a local maximum of p(z, w) by iterated conditional modes; every change raises p, so this ends."""
    changed = True
    while changed:
        changed = False
        for token in range(rows.shape[0]):
            word = table[rows[token]]
            counts[z[token]] -= 1.0
            best = z[token]
            highest = word[best] * (alpha[best] + counts[best]) * (1.0 + 1e-12)  # a gain within rounding does not count
            for k in range(alpha.shape[0]):
                value = word[k] * (alpha[k] + counts[k])
                if value > highest:
                    best, highest = k, value
                    changed = True
            z[token] = best
            counts[best] += 1.0


@nb.njit("float64(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], int64, "
         "float64[::1], uint64[::1])", cache=True)  # fmt: skip
def mode(rows, z, counts, log_phi, table, alpha, burn_in, cumulative, state):  # type: ignore[no-untyped-def]
    """Draw z, make `burn_in` sweeps, climb to z* and return log p(z*, w), nats; counts follow."""
    nowhere = np.empty(0, np.int64)
    urn(rows, z, counts, log_phi, alpha, True, cumulative, state)
    for _ in range(burn_in):
        sweep(rows, z, counts, table, alpha, nowhere, False, cumulative, state)
    _climb(rows, z, counts, table, alpha)
    log_joint = math.lgamma(alpha.sum()) - math.lgamma(alpha.sum() + rows.shape[0])
    for k in range(alpha.shape[0]):
        log_joint += math.lgamma(alpha[k] + counts[k]) - math.lgamma(alpha[k])
    for token in range(rows.shape[0]):
        log_joint += log_phi[rows[token], z[token]]
    return log_joint


@nb.njit("void(int32[::1], int64[::1], float64[:, ::1], float64[::1], int64[::1], int64, int64, uint64[:, ::1], "
         "float64[:, ::1])", cache=True, nogil=True)  # fmt: skip
def _chib(tokens, offsets, phi_by_word, alpha, assignments, samples, burn_in, states, out):  # type: ignore[no-untyped-def]
    """Write the log estimates of p(w) to out, (D, R) documents and runs, or of 1 / p(w) from (N,) assignments."""
    K = alpha.shape[0]
    known = np.full(phi_by_word.shape[0], -1, np.int64)
    cumulative, nowhere, terms = np.empty(K), np.empty(0, np.int64), np.empty(samples)
    for d in range(out.shape[0]):
        document = tokens[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        rows, log_phi = np.empty(length, np.int64), np.empty((length, K))
        words = distinct(document, phi_by_word, rows, log_phi, known)
        if words == 0:
            out[d] = 0.0 if length == 0 else -np.inf
            continue
        table = np.exp(log_phi[:words])
        z, counts = np.empty(length, np.int64), np.empty(K)
        for run in range(out.shape[1]):
            log_joint = mode(rows, z, counts, log_phi, table, alpha, burn_in, cumulative, states[d])
            star = z.copy()
            if assignments.shape[0] > 0:
                here, here_counts = assignments[offsets[d] : offsets[d + 1]].copy(), np.empty(K)
                urn(rows, here, here_counts, log_phi, alpha, False, cumulative, states[d])
                for i in range(samples):
                    if i > 0:
                        sweep(rows, here, here_counts, table, alpha, nowhere, False, cumulative, states[d])
                    z[:] = here
                    counts[:] = here_counts
                    terms[i] = sweep(rows, z, counts, table, alpha, star, False, cumulative, states[d])
                highest = terms.max()
                out[d, run] = highest + math.log(np.exp(terms - highest).mean()) - log_joint
                continue
            place = int(uniform(states[d]) * samples)
            sweep(rows, z, counts, table, alpha, nowhere, True, cumulative, states[d])
            first, first_counts = z.copy(), counts.copy()
            terms[place] = sweep(rows, z, counts, table, alpha, star, False, cumulative, states[d])
            for backward in (False, True):
                here, here_counts = first.copy(), first_counts.copy()
                for i in range(place if backward else samples - 1 - place):
                    sweep(rows, here, here_counts, table, alpha, nowhere, backward, cumulative, states[d])
                    z[:] = here
                    counts[:] = here_counts
                    terms[place - 1 - i if backward else place + 1 + i] = sweep(
                        rows, z, counts, table, alpha, star, False, cumulative, states[d]
                    )
            highest = terms.max()
            out[d, run] = log_joint - highest - math.log(np.exp(terms - highest).mean())


def chib(
    topics: Topics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    runs: int = 10,
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by Chib-style estimates.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a state of a run's chain, n of
    them, each of one sweep and one evaluation of a sweep. Each of the `runs` has its own z*, found after
    `SWEEPS_BEFORE` Gibbs sweeps; their estimates of p(w), unbiased, are averaged. The standard error is that of the
    mean over runs, by the delta method; NaN for one run. It covers states that some chain does not reach from its
    z*, but not states that no run has reached.

    Examples:
        >>> chib(topics, documents, 100, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.71, -0.8 ])
    """
    check_samples("Chib-style estimate", samples)
    if runs < 1:
        raise InputError(f"Chib-style estimate: {runs} runs; take 1 or more")
    arrays = kernel_arrays(topics, documents)
    out = np.empty((len(arrays.lengths), runs))
    _chib(*arrays[:4], np.empty(0, np.int64), samples, SWEEPS_BEFORE, starts(rng, len(out)), out)
    value, error = log_mean(out)
    return Evaluation(value, arrays.lengths, np.where(arrays.lengths > 0, error, 0.0), arrays.left_out)


def chib_upper(
    topics: Topics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    assignments: Ints,
    runs: int = 10,
) -> Evaluation:
    """Return a stochastic upper bound on log p(w | alpha, phi) of documents that `simulate` drew with (N,) assignments.

    Arguments are as in `chib` and `heldout.evaluators.bidirectional`. Each of the `runs` has a chain from the
    assignments and a z* of its own; their estimates of 1 / p(w), unbiased, are averaged. The standard error is NaN: all
    runs start from the same draw, so their spread is no measure of the error.

    Raises:
        InputError: for fewer than one sample, when the assignments do not fit the documents, or a token cannot come
            from its topic.
    """
    check_samples("Chib-style upper bound", min(samples, runs))
    check_assignments(topics, documents, assignments)
    arrays = kernel_arrays(topics, documents)
    out = np.empty((len(arrays.lengths), runs))
    z = np.ascontiguousarray(assignments, dtype=np.int64)
    _chib(*arrays[:4], z, samples, SWEEPS_BEFORE, starts(rng, len(out)), out)
    inverse, _ = log_mean(out)
    return Evaluation(0.0 - inverse, arrays.lengths, np.where(arrays.lengths > 0, np.nan, 0.0))
