r"""Mean-field importance sampling, second order: the variance-corrected form (Buntine 2009, section 3.3).

The proposal is the product of distributions with E log(alpha_k + C'_k) of equation 3 expanded to second order, to which
updates of one token after the other converge; `importance_sampling` derives it and its limits.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.importance_sampling import importance_sampling
from heldout.topics import Topics


def mean_field_importance_second_order(
    topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by importance sampling from the second-order mean field.

    Arguments, result and errors are as in `heldout.evaluators`. Samples, cycles and errors are those of
    `mean_field_importance`. The variance of the weights exceeds the first order's and grows by orders of magnitude
    as alpha falls below 1.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> mean_field_importance_second_order(topics, documents, 1000, rng).log_likelihood.round(2)
        array([-3.71, -0.8 ])
    """
    estimator = "mean-field importance, second order"
    return importance_sampling(estimator, topics, documents, samples, rng, in_sequence=True, second_order=True)
