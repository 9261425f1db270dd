r"""Importance sampling with iterated pseudo-counts, IS-IP (Wallach, Murray, Salakhutdinov and Mimno 2009).

The proposal is a product of distributions that starts from q_l(k) ∝ alpha_k phi[k, w_l] and is updated by

    q_l(k) <- phi[k, w_l] (alpha_k + sum_{j != l} q_j(k)) / sum of the same over k.

It differs from the first-order mean field (equation 4 of Buntine 2009) only in the order of updates: here all tokens
are updated in parallel, there one after the other, from the newest values. Both have the same start and fixed points,
and no damping, but may reach different ones, and parallel updates may oscillate between two states. Derivation and
weights: `importance_sampling`.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.importance_sampling import importance_sampling
from heldout.topics import Topics


def iterated_pseudo_counts(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by importance sampling from the iterated pseudo-counts.

    Arguments, result and errors are as in `heldout.evaluators`. Samples and errors are those of
    `mean_field_importance`; all tokens are updated `importance_sampling.CYCLES` times before sampling.

    Examples:
        >>> iterated_pseudo_counts(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    estimator = "iterated pseudo-counts"
    return importance_sampling(estimator, topics, documents, samples, rng, in_sequence=False, second_order=False)
