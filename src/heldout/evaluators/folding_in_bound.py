r"""Folding in repaired: the maximised likelihood less the most by which it can exceed log p(w | alpha, phi).

At any theta, with m_k = theta_k sum_w n(w) phi[k, w] / sum_j theta_j phi[j, w], the expected tokens of topic k, and

    log p(m) = log Gamma(A) - log Gamma(A + n) + sum_k log Gamma(alpha_k + m_k) - log Gamma(alpha_k),

two bounds hold (`heldout.evaluators.excess`, 2. and 1.),

    log p(w)  >=  log p(w | theta) - (sum_k m_k log theta_k - log p(m)),
    log p(w)  >=  log p(w | theta) - max_N e(N),

and the larger is returned. At the maximum m = n theta, and the first takes off e(n theta), the excess of a document of
the same weights whose topics can be read off; of such a document it is exact. For alpha of 1/2 or more e, of real
counts too, is largest at a corner, so that the first is the larger bound. It is one evaluation of the mean-field
bound, at gamma = alpha + m. `heldout.evaluators.mean_field_bound` raises that one, from its own start, for the price
of its iterations.
"""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln, xlogy

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.evaluators.excess import largest_excess
from heldout.evaluators.folding_in import full_folding_in, maximum
from heldout.models.sparse_products import ratios
from heldout.topics import Topics
from heldout.typing import Floats


def folding_in_bound(topics: Topics, documents: Corpus, *, theta: Floats | None = None) -> Evaluation:
    """Return the lower bound on every document's log p(w | alpha, phi) that its folded-in weights give.

    Arguments, result and errors are as in `heldout.evaluators`. The weights are those of the maximum, by EM, or
    `theta`, (D, K); the bound holds at any.

    Examples:
        >>> folding_in_bound(topics, documents).log_likelihood.round(2)
        array([-4.13, -0.92])
    """
    theta = maximum(topics, documents) if theta is None else theta
    full = full_folding_in([topics], documents, lambda *_: theta)
    counts, alpha = in_vocabulary(documents, topics)[0].counts(), topics.alpha
    m = theta * (ratios(counts, theta, topics.phi_by_word) @ topics.phi_by_word)
    A, total = alpha.sum(), m.sum(axis=1)  # the total is n unless a word has probability 0
    log_p = gammaln(A) - gammaln(A + total) + (gammaln(alpha + m) - gammaln(alpha)).sum(axis=1)
    excess = np.minimum(xlogy(m, theta).sum(axis=1) - log_p, largest_excess(full.tokens, alpha))
    return replace(full, log_likelihood=full.log_likelihood - excess)
