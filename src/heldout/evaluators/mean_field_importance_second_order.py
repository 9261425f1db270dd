r"""Mean-field importance sampling, second order: the variance-corrected form (Buntine 2009, section 3.3).

The proposal is the product of distributions that

    q_l(k) ∝ phi[k, w_l] m exp(-v / (2 m^2)),
    m = alpha_k + sum_{j != l} q_j(k),    v = sum_{j != l} q_j(k) (1 - q_j(k)),

converges to when tokens are updated one after the other: E log(alpha_k + C'_k) of equation 3, expanded to second order.
`importance_sampling` derives it and its limits.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.importance_sampling import importance_sampling
from heldout.topics import Topics


def mean_field_importance_second_order(
    topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator, *, cycles: int = 10
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by importance sampling from the second-order mean field.

    Args:
        topics: phi and alpha.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        samples: S, draws of all the assignments of a document; 1 or more.
        rng: seeds one stream per document.
        cycles: full cycles of the rule before sampling; 0 keeps the start, q_l(k) ∝ alpha_k phi[k, w_l].

    Returns:
        log-likelihoods in nats. The estimate of p(w) is unbiased; its logarithm is low by about half the squared
        standard error. The standard error is by the delta method over the S draws, NaN at S = 1. It does not cover
        assignments that were never drawn: q is narrower than p(z | w) and covers one mode of it, so with sparse
        weights, or topics that hardly differ, the error is too small and the estimate too low by more than the error.
        The variance of the weights exceeds the first order's and grows by orders of magnitude as alpha falls below 1.

    Raises:
        InputError: for fewer than one sample or a negative number of cycles.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> mean_field_importance_second_order(topics, documents, 1000, rng).log_likelihood.round(2)
        array([-3.71, -0.8 ])
    """
    return importance_sampling(
        "mean-field importance, second order",
        topics,
        documents,
        samples,
        rng,
        cycles=cycles,
        in_sequence=True,
        second_order=True,
    )
