r"""The parts of the libraries' own numbers, by formulas that are compared with each library's total.

Variational libraries (scikit-learn, gensim; Hoffman, Blei and Bach, 2010). The topics are random, q(beta_k) =
Dir(lambda_k) under the prior Dir(eta), and so are theta_d, q(theta_d) = Dir(gamma_d), and every token's topic. With
the best q of the latter, E_q[log p] - E_q[log q] of the documents w is

    bound(w) = sum_d { sum_v n(d, v) log sum_k exp(E[log theta_dk] + E[log beta_kv]) - KL(Dir(gamma_d) || Dir(alpha)) }
               - sum_k KL(Dir(lambda_k) || Dir(eta)).

The first sum, the documents' part, has a term per document. It is a lower bound of log p(w | alpha, E[beta]), and
below the mean-field bound at E[beta], as exp(E[log beta_kv]) < E[beta_kv]: far smaller for words that topic k hardly
has. The second, the topics' part, has a term per topic and word, and is what the topics cost in a bound of the training
documents. Both libraries take it whole and divide by the tokens of the documents given. On held-out documents it grows
with K at fixed V (scikit-learn's issues 6777 and 20032, gensim's 701), and falls as more documents are scored at once.
gensim's `total_docs` multiplies the documents' part and the tokens, so that it shrinks the topics' part alone.

Samplers (tomotopy, MALLET). A state z of the Gibbs sampler gives a joint probability,

    log p(w, z) = log p(z | alpha) + log p(w | z, beta)
    log p(z | alpha)   = sum_d { log G(A) - log G(A + L_d) + sum_k [log G(alpha_k + n_dk) - log G(alpha_k)] },
    log p(w | z, beta) = sum_k { log G(V beta) - log G(V beta + n_k) + sum_v [log G(beta + n_kv) - log G(beta)] },

with A = sum_k alpha_k and G the gamma function. No chain of any length makes it a likelihood: as
log p(w, z) = log p(w) + log p(z | w), its mean over the posterior is log p(w) less the entropy of z given w, so that it
is too low by that entropy. More topics leave more of it.

A part is named only if these formulas give the library's own total: on the first `CHECKED` documents both are
compared, and where they differ the number is not taken apart. Another release of a library may compute something else
under the same name, and gensim sums a prior of the topics that is a matrix over all of them for each.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.libraries import THESE, Fitted, Reported, Term
from heldout.topics import perplexity
from heldout.typing import Floats

CHECKED = 32  # documents on which a library's total is compared with the sum of its parts
DOUBLE, SINGLE = 1e-6, 1e-3  # largest relative difference of the two, by the library's precision

BOUND = (
    "a variational lower bound in which the topics are random too: what they cost in training is charged in full to"
    " these documents, whose tokens it is divided by"
)


def terms_of_bound(documents_part: float, topics_part: float) -> tuple[Term, Term]:
    """Return the two parts of a variational library's bound, nats."""
    return (
        Term("the documents, given the topics' posterior", documents_part),
        Term("the topics' divergence from their prior", topics_part, grows=True, of_documents=False),
    )


def terms_of_joint(assignments: float, words: float, *, grows: bool = True) -> tuple[Term, Term]:
    """Return the two parts of a sampler's log p(w, z), nats; `grows` says whether the first one grows with topics."""
    return (
        Term("the tokens' topics, under the prior", assignments, grows=grows),
        Term("the words, given the tokens' topics", words),
    )


def dirichlet_divergence(posterior: Floats, prior: Floats) -> float:
    """Return sum_k KL(Dir(posterior_k) || Dir(prior_k)) in nats.

    KL = log G(sum_v l_v) - log G(sum_v p_v) + sum_v [log G(p_v) - log G(l_v) + (l_v - p_v)(psi(l_v) - psi(sum_u l_u))]
    of (K, V) parameters l and parameters p of a shape that broadcasts to it.
    """
    total = 0.0
    for k in range(len(posterior)):  # a topic at a time: K V numbers several times over would not be small
        row = posterior[k].astype(np.float64)
        p = np.broadcast_to(np.asarray(prior, dtype=np.float64), posterior.shape)[k]
        mean_log = digamma(row) - digamma(row.sum())
        total += float(gammaln(row.sum()) - gammaln(p.sum()) + np.sum(gammaln(p) - gammaln(row) + (row - p) * mean_log))
    return total


def bound_of_documents(counts: sp.csr_array, alpha: Floats, gammas: Floats, parameters: Floats) -> float:
    """Return the documents' part of the bound (see the module), nats.

    Of (D, V) counts n(d, v): alpha (K,), the prior's, gammas (D, K), of q(theta_d), and lambda (K, V), of q(beta_k).
    """
    mean_logs = digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
    total = -dirichlet_divergence(gammas, alpha)
    for d, gamma in enumerate(gammas):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        logs = (digamma(gamma) - digamma(gamma.sum()))[:, None] + mean_logs[:, counts.indices[row]]
        total += float(logsumexp(logs, axis=0) @ counts.data[row])
    return total


def unlike_parts(function: str, total: float, parts: Sequence[float], tolerance: float) -> str:
    """Return a sentence on a library's total, nats, that is not the sum of its parts; empty where it is."""
    if abs(total - math.fsum(parts)) <= tolerance * max(abs(total), *map(abs, parts)):
        return ""
    return (
        f"{function} cannot be taken apart: it gives {total:,.6g} nats for the first documents, where its known parts"
        f" add up to {math.fsum(parts):,.6g}; of this release, or of a model with these settings, it is another sum"
    )


def check_parts(function: str, total: float, parts: Sequence[float], tolerance: float) -> None:
    """Raise InputError where a library's total, nats, is not the sum of its parts."""
    if said := unlike_parts(function, total, parts, tolerance):
        raise InputError(said)


def log_assignments(counts: Floats, alpha: Floats) -> float:
    """Return sum_d log p(z_d | alpha), nats, of documents' topic counts (D, K) under Dir(alpha), (K,)."""
    A = alpha.sum()
    documents = gammaln(A) - gammaln(A + counts.sum(axis=1))
    return float(documents.sum() + np.sum(gammaln(alpha + counts) - gammaln(alpha)))


def over_words(fitted: Fitted, documents: Iterable[Corpus]) -> Iterator[Corpus]:
    """Yield the batches over the model's words."""
    for batch in documents:
        yield batch.over(fitted.topics.vocabulary)[0]


def reported_value(
    function: str,
    value: float,
    unit: str,
    nats_per_token: float,
    computes: str,
    terms: tuple[Term, ...] = (),
    note: str = "",
) -> Reported:
    """Return a number about the given documents, without terms where a note says why; the rest is as in `Reported`."""
    terms = () if note else terms
    return Reported(function, value, unit, perplexity(nats_per_token, 1), nats_per_token, THESE, computes, terms, note)


def nothing(function: str, note: str) -> Reported:
    """Return that a library has no number, and the reason."""
    return Reported(function, about=THESE, computes="nothing", note=note)


def no_tokens(function: str) -> Reported:
    """Return that a library has no number for documents without tokens."""
    return nothing(function, "there is no token in the model's vocabulary to divide by")
