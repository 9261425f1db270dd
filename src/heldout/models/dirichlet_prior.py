r"""The maximum-likelihood prior of theta, with the topics fixed: a Dirichlet, or a mixture of Dirichlets.

Stochastic EM for a Dirichlet, whose alpha_k may differ. The derivative of sum_d log p(w_d | alpha, phi) is the
posterior mean, over the topics z of all tokens, of the derivative of sum_d log p(z_d | alpha), the
Dirichlet-multinomial log-likelihood of the counts C_dk. A round is

* a Gibbs sweep over z, p(z_l = k) ∝ (C_dk + alpha_k) phi[k, w_l], the counts without token l;
* a few of Minka's fixed-point steps for alpha on the counts of that sweep (`heldout.models.lda` derives them).

Where a round leaves alpha unchanged on average, the likelihood itself is at its maximum, up to the noise of single
sweeps. (Mean field would maximise a bound instead, and give priors that are too sparse.) The result is the mean alpha
of the last half of the rounds. Fit the prior to training documents only, never to those that are scored.

For a mixture, p(theta) = sum_m pi_m Dir(theta | alpha_m), a document has a component m as well. A round sweeps z under
the component's alpha, takes the fixed-point steps on the component's own documents, sets pi_m to their share, and draws

    p(m | z) ∝ pi_m Gamma(A_m) / Gamma(A_m + L_d) prod_k Gamma(C_dk + alpha_mk) / Gamma(alpha_mk),

with A_m = sum_k alpha_mk. A component without documents keeps its alpha. The start is a random component for every
document.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.lda import counts_above, minka_step, rows_of
from heldout.models.lda_kernel import gibbs_sweeps
from heldout.topics import Topics
from heldout.typing import Floats

SMALLEST = 1e-4  # alpha of a topic that no document uses
STEPS = 5  # steps of Minka's fixed point in each round


@dataclass(frozen=True)
class DirichletMixture:
    """A prior of theta, sum_m pi_m Dir(theta | alpha_m): pi (M,) and the alphas (M, K)."""

    weights: Floats
    alphas: Floats


def fit_prior(topics: Topics, documents: Corpus, rng: np.random.Generator) -> Topics:
    """Return the topics with alpha fitted to documents; arguments and errors as in `fit_mixture`."""
    return replace(topics, alpha=fit_mixture(topics, documents, rng, components=1).alphas[0])


def fit_mixture(
    topics: Topics, documents: Corpus, rng: np.random.Generator, *, components: int, rounds: int = 200
) -> DirichletMixture:
    """Return a mixture of Dirichlets fitted to documents.

    All `components` start from the topics' alpha. Of the training documents empty ones, words outside the
    topics' vocabulary and words that no topic gives are ignored. A round is one sweep; the last half is averaged.

    Raises:
        InputError: when no document has a word that a topic gives, for fewer than 2 rounds, or without a component.
    """
    if rounds < 2 or components < 1:
        raise InputError(f"prior: {components} components, {rounds} rounds; give 1 or more, and 2 or more")
    documents, _ = documents.over(topics.vocabulary)
    rows, given = rows_of(topics)
    streams = [stream[given[stream]] for stream in map(documents.document, range(documents.n_documents))]
    streams = [stream.astype(np.int32) for stream in streams if len(stream)]
    if not streams:
        raise InputError("prior: the documents hold no word that a topic gives; give the training documents")
    K, width, D = topics.n_topics, rows.shape[1], len(streams)
    lengths = np.array([len(stream) for stream in streams], dtype=np.int64)
    tokens = np.concatenate(streams)
    document_of = np.repeat(np.arange(D), lengths)
    padded = np.zeros(width, dtype=np.float32)
    assignments = np.full(len(tokens), -1, dtype=np.int32)
    component = rng.integers(components, size=D) if components > 1 else np.zeros(D, dtype=np.int64)
    weights = np.bincount(component, minlength=components) / D
    alphas = np.tile(topics.alpha, (components, 1))
    mean_weights, mean_alphas = np.zeros(components), np.zeros((components, K))
    for sweep in range(rounds):
        uniforms = rng.random((1, len(tokens)), dtype=np.float32)
        for m in range(components):
            own = component == m
            if not own.any():
                continue
            here = own[document_of]
            padded[:K] = alphas[m]
            offsets = np.concatenate([[0], np.cumsum(lengths[own])])
            drawn = assignments[here]
            gibbs_sweeps(tokens[here], offsets, drawn, rows, padded, uniforms[:, here], K)
            assignments[here] = drawn
            counts = np.bincount(document_of[here] * K + drawn)
            cells = np.flatnonzero(counts)
            exceedances = counts_above(counts[cells], cells % K, K)
            lengths_above = counts_above(lengths[own], np.zeros(own.sum(), dtype=np.int64), 1)[:, 0]
            for _ in range(STEPS):
                alphas[m] = np.maximum(minka_step(alphas[m], exceedances, lengths_above), SMALLEST)
        if components > 1:
            weights = np.bincount(component, minlength=components) / D
            cells, counts = np.unique(document_of * K + assignments, return_counts=True)
            with np.errstate(divide="ignore"):
                log_weights = np.log(weights)
            scores = np.empty((D, components))
            for m, alpha in enumerate(alphas):
                own_alpha = alpha[cells % K]
                log_terms = gammaln(counts + own_alpha) - gammaln(own_alpha)
                scores[:, m] = np.bincount(cells // K, log_terms, D)
                scores[:, m] += log_weights[m] + gammaln(alpha.sum()) - gammaln(alpha.sum() + lengths)
            component = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        if sweep >= rounds // 2:
            mean_weights += weights
            mean_alphas += alphas
    averaged = rounds - rounds // 2
    return DirichletMixture(mean_weights / averaged, mean_alphas / averaged)
