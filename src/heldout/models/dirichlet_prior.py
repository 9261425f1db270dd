r"""The maximum-likelihood Dirichlet prior of theta, with the topics fixed; the alpha_k may differ.

Stochastic EM. The derivative of sum_d log p(w_d | alpha, phi) is the posterior mean, over the topics z of all tokens,
of the derivative of sum_d log p(z_d | alpha), the Dirichlet-multinomial log-likelihood of the counts C_dk. A round is

* a Gibbs sweep over z, p(z_l = k) ∝ (C_dk + alpha_k) phi[k, w_l], the counts without token l;
* a few of Minka's fixed-point steps for alpha on the counts of that sweep (`heldout.models.lda` derives them).

Where a round leaves alpha unchanged on average, the likelihood itself is at its maximum, up to the noise of single
sweeps. (Mean field would maximise a bound instead, and give priors that are too sparse.) The result is the mean alpha
of the last half of the rounds. Fit the prior to training documents only, never to those that are scored.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.lda import counts_above, minka_step, rows_of
from heldout.models.lda_kernel import gibbs_sweeps
from heldout.topics import Topics

SMALLEST = 1e-4  # alpha of a topic that no document uses
STEPS = 5  # of Minka's fixed point in each round


def fit_prior(topics: Topics, documents: Corpus, rng: np.random.Generator, *, rounds: int = 200) -> Topics:
    """Return the topics with alpha fitted to documents.

    Args:
        topics: phi, and the alpha to start from.
        documents: training documents; empty ones, words outside the topics' vocabulary and words that no topic gives
            are ignored.
        rng: the sweeps' random numbers.
        rounds: the number of rounds, one sweep each; the last half is averaged.

    Raises:
        InputError: when no document has a word that a topic gives, or for fewer than 2 rounds.
    """
    if rounds < 2:
        raise InputError(f"prior: {rounds} rounds; give 2 or more")
    documents, _ = documents.over(topics.vocabulary)
    rows, given = rows_of(topics)
    streams = [stream[given[stream]] for stream in map(documents.document, range(documents.n_documents))]
    lengths = np.array([len(stream) for stream in streams if len(stream)], dtype=np.int64)
    if len(lengths) == 0:
        raise InputError("prior: the documents hold no word that a topic gives; give the training documents")
    tokens = np.concatenate(streams).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    document_of = np.repeat(np.arange(len(lengths)), lengths)
    lengths_above = counts_above(lengths, np.zeros(len(lengths), dtype=np.int64), 1)[:, 0]

    K, width = topics.n_topics, rows.shape[1]
    padded, totals = np.zeros(width, dtype=np.float32), np.zeros(K, dtype=np.int64)
    assignments = np.full(len(tokens), -1, dtype=np.int32)
    alpha: NDArray[np.float64] = topics.alpha
    averaged = np.zeros(K)
    for sweep in range(rounds):
        padded[:K] = alpha
        uniforms = rng.random((1, len(tokens)), dtype=np.float32)
        gibbs_sweeps(tokens, offsets, assignments, rows, totals, padded, 0.0, uniforms, learn=False)
        counts = np.bincount(document_of * K + assignments, minlength=len(lengths) * K)
        cells = np.flatnonzero(counts)
        above = counts_above(counts[cells], cells % K, K)
        for _ in range(STEPS):
            alpha = np.maximum(minka_step(alpha, above, lengths_above), SMALLEST)
        if sweep >= rounds // 2:
            averaged += alpha
    return replace(topics, alpha=averaged / (rounds - rounds // 2))
