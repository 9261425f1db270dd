r"""Mean-field importance sampling, first order (Buntine 2009, section 3.3, equations 2 and 4).

The proposal is the product of distributions that

    q_l(k) ∝ phi[k, w_l] (alpha_k + sum_{j != l} q_j(k))

converges to when tokens are updated one after the other; `importance_sampling` derives it. Section 4.1 runs ten cycles.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.importance_sampling import importance_sampling
from heldout.topics import Topics


def mean_field_importance(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by importance sampling from the first-order mean field.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a draw of all the assignments of a
    document, after `importance_sampling.CYCLES` full cycles of the rule from q_l(k) ∝ alpha_k phi[k, w_l]. The
    logarithm is low by about half the squared standard error, which does not cover assignments that were never drawn: q
    is narrower than p(z | w) and covers one mode of it, so with sparse weights, or topics that hardly differ, the error
    is too small and the estimate too low by more than the error.

    Examples:
        >>> mean_field_importance(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    return importance_sampling(
        "mean-field importance", topics, documents, samples, rng, in_sequence=True, second_order=False
    )
