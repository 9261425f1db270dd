r"""A deterministic estimate in one pass over the document (Scott and Baldridge, 2013).

Derivation. With N_k the tokens of topic k among w_1 .. w_{l-1} and A = sum_k alpha_k, the predictive probability is
linear in N, so only the expectation of N matters:

    p(w_l | w_1 .. w_{l-1}) = sum_k phi[k, w_l] (alpha_k + E[N_k | w_1 .. w_{l-1}]) / (A + l - 1).

E[N_k | w_1 .. w_l] adds p(z_l = k | w_1 .. w_l) = phi[k, w_l] (alpha_k + E[N_k | w_1 .. w_{l-1}]) / normaliser, which
is exact, and revises the expected topics of all earlier tokens given w_l. The estimate omits this revision: n_k, in
place of E[N_k], only grows by

    r_k = phi[k, w_l] (alpha_k + n_k) / sum_j phi[j, w_l] (alpha_j + n_j).

The first two tokens' terms are exact, because no revision precedes them. From the third token on, the estimate depends
on the order of the tokens; the exact value does not.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, kernel_arrays
from heldout.topics import Topics


def linear_time(topics: Topics, documents: Corpus) -> Evaluation:
    """Return the one-pass estimate of every document's log p(w | alpha, phi), tokens in their order.

    Arguments, result and errors are as in `heldout.evaluators`. Exact up to two tokens, biased in either
    direction beyond.

    Examples:
        >>> linear_time(topics, documents).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    arrays = kernel_arrays(topics, documents)
    lengths, total_alpha = arrays.lengths, float(arrays.alpha.sum())
    log_likelihood = np.zeros(len(lengths))
    weight = np.tile(arrays.alpha, (len(lengths), 1))  # (D, K), alpha_k + n_k
    longest_first = np.argsort(-lengths, kind="stable")
    for position in range(int(lengths.max(initial=0))):  # of all documents at once
        rows = longest_first[: np.count_nonzero(lengths > position)]
        share = weight[rows] * arrays.phi_by_word[arrays.tokens[arrays.offsets[rows] + position]]
        total = share.sum(axis=1)
        with np.errstate(divide="ignore"):
            log_likelihood[rows] += np.log(total / (total_alpha + position))
        weight[rows] += np.divide(share, total[:, None], out=np.zeros_like(share), where=total[:, None] > 0.0)
    return Evaluation.deterministic(log_likelihood, lengths, arrays.left_out)
