r"""States of Gibbs chains of documents' topics given their words, with the topics fixed.

With theta integrated out a token's topic given all others, counts C without that token, has

    p(z_l = k | z_-l, w) ∝ (C_k + alpha_k) phi[k, w_l],

and a mean over states estimates any posterior mean of counts, for instance a label's probability. Chains are
independent and start by assigning the tokens in turn, each given those before it, so that the spread of their means
holds the autocorrelation. (`heldout.evaluators.gibbs_chain` has the same chain for its likelihoods.)
"""

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import kernel_arrays
from heldout.evaluators.gibbs_chain import BURN_IN
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats, Ints


class States(NamedTuple):
    """Counts C of topics at J chains' S states each, (D, J, S, K), and the documents' lengths L, (D,)."""

    counts: NDArray[np.int32]
    lengths: Ints

    @property
    def shares(self) -> Floats:
        """C / L, (D, J, S, K); 0 for a document without words."""
        shares: Floats = self.counts / np.maximum(self.lengths, 1)[:, None, None, None]
        return shares


@nb.njit(
    "void(int32[::1], int64[::1], float64[:, ::1], float64[::1], int64, uint64[:, ::1], int32[:, :, :, ::1])",
    cache=True,
    nogil=True,
)
def _run(tokens, offsets, phi_by_word, alpha, burn_in, streams, out):  # type: ignore[no-untyped-def]
    """Write the counts after every sweep but the first `burn_in`, chain by chain of every document."""
    K = alpha.shape[0]
    counts, sums = np.empty(K), np.empty(K)
    for d in range(out.shape[0]):
        first, last = offsets[d], offsets[d + 1]
        z = np.empty(last - first, np.int64)
        for chain in range(out.shape[1]):
            z[:], counts[:] = -1, 0.0
            for sweep in range(burn_in + out.shape[2]):
                for i in range(first, last):
                    phi, k, total = phi_by_word[tokens[i]], z[i - first], 0.0
                    if k >= 0:
                        counts[k] -= 1.0
                    for j in range(K):
                        total += (counts[j] + alpha[j]) * phi[j]
                        sums[j] = total
                    x, k = uniform(streams[d]) * total, 0
                    while k < K - 1 and sums[k] <= x:
                        k += 1
                    counts[k] += 1.0
                    z[i - first] = k
                if sweep >= burn_in:
                    for k in range(K):
                        out[d, chain, sweep - burn_in, k] = np.int32(counts[k])


def topic_states(topics: Topics, documents: Corpus, chains: int, states: int, random: np.random.Generator) -> States:
    """Return the states of several chains of each document given its words; unknown words are left out.

    Raises:
        InputError: for fewer than 2 chains or no state, or a word that no topic has.
    """
    arrays = kernel_arrays(topics, documents)
    if chains < 2 or states < 1:
        raise InputError(f"states of topics: {states} of {chains} chains; give at least 1 of 2")
    if not (arrays.phi_by_word[arrays.tokens] @ arrays.alpha > 0.0).all():
        raise InputError("states of topics: a word that has probability 0 under every topic; smooth the topics")
    out = np.empty((len(arrays.lengths), chains, states, topics.n_topics), dtype=np.int32)
    streams = starts(random, len(out))
    _run(arrays.tokens, arrays.offsets, arrays.phi_by_word, arrays.alpha, BURN_IN, streams, out)
    return States(out, arrays.lengths)
