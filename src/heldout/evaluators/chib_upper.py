r"""A Chib-style upper bound on simulated documents: an unbiased estimate of 1 / p(w).

As in `heldout.evaluators.chib`, with S(z, z') the probability that a Gibbs sweep takes z to z',

    1 / p(w) = p(z* | w) / p(z*, w),        p(z* | w) = sum_z p(z | w) S(z, z*)

for any z*. A document that was drawn with its topics z_1 comes with an exact draw from p(z | w), and so are z_2 .. z_n
that n - 1 sweeps lead to. So with z* chosen from other random numbers

    E (1/n) sum_i S(z_i, z*) / p(z*, w) = 1 / p(w),

over the drawing of the document's topics and the sweeps; by Jensen's inequality its negative logarithm is above
log p(w) on average. On 70 documents of 60 tokens from ten topics it was within a nat of the estimate from below, all
together, at a cost at which annealing in both directions (`heldout.evaluators.bidirectional`) was 80 apart on 20.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.annealed_importance import distinct, sweep, urn
from heldout.evaluators.bidirectional import check_assignments
from heldout.evaluators.chib import mode
from heldout.evaluators.evaluation import Evaluation, check_samples, kernel_arrays, log_mean
from heldout.evaluators.random_stream import starts
from heldout.topics import Topics
from heldout.typing import Ints


@nb.njit("void(int32[::1], int64[::1], float64[:, ::1], float64[::1], int64[::1], int64, int64, uint64[:, ::1], "
         "float64[:, ::1])", cache=True, nogil=True)  # fmt: skip
def _inverse(tokens, offsets, phi_by_word, alpha, assignments, samples, before, states, out):  # type: ignore[no-untyped-def]
    """Write the log of the estimated 1 / p(w) of every document and run to out, (D, R)."""
    K = alpha.shape[0]
    known = np.full(phi_by_word.shape[0], -1, np.int64)
    cumulative, nowhere, terms = np.empty(K), np.empty(0, np.int64), np.empty(samples)
    for d in range(out.shape[0]):
        document = tokens[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        rows, log_phi = np.empty(length, np.int64), np.empty((length, K))
        words = distinct(document, phi_by_word, rows, log_phi, known)
        out[d] = 0.0
        if length == 0:
            continue
        table = np.exp(log_phi[:words])
        z, counts = np.empty(length, np.int64), np.empty(K)
        here_counts = np.empty(K)
        for run in range(out.shape[1]):
            log_joint = mode(rows, z, counts, log_phi, table, alpha, before, cumulative, states[d])
            star = z.copy()
            here = assignments[offsets[d] : offsets[d + 1]].copy()
            urn(rows, here, here_counts, log_phi, alpha, False, cumulative, states[d])
            for i in range(samples):
                if i > 0:
                    sweep(rows, here, here_counts, table, alpha, nowhere, False, cumulative, states[d])
                z[:] = here
                counts[:] = here_counts
                terms[i] = sweep(rows, z, counts, table, alpha, star, False, cumulative, states[d])
            highest = terms.max()
            out[d, run] = highest + math.log(np.exp(terms - highest).mean()) - log_joint


def chib_upper(
    topics: Topics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    assignments: Ints,
    runs: int = 10,
    sweeps_before: int = 20,
) -> Evaluation:
    """Return a stochastic upper bound on log p(w | alpha, phi) of simulated documents.

    What it takes, see `chib` and, for documents that `simulate` drew from these topics with their (N,) `assignments`,
    `heldout.evaluators.bidirectional`. Each of the `runs` has a chain from these assignments and a z* of its own; their
    estimates of 1 / p(w), unbiased, are averaged. The standard error is NaN: all runs start from the same draw, so
    their spread is no measure of the error.

    Raises:
        InputError: for fewer than one sample, when the assignments do not fit the documents, or a token cannot come
            from its topic.
    """
    check_samples("Chib-style upper bound", min(samples, runs))
    check_assignments(topics, documents, assignments)
    arrays = kernel_arrays(topics, documents)
    out = np.empty((len(arrays.lengths), runs))
    z = np.ascontiguousarray(assignments, dtype=np.int64)
    _inverse(*arrays[:4], z, samples, sweeps_before, starts(rng, len(out)), out)
    inverse, _ = log_mean(out)
    return Evaluation(0.0 - inverse, arrays.lengths, np.where(arrays.lengths > 0, np.nan, 0.0))
