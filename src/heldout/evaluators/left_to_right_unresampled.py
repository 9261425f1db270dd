r"""The left-to-right estimate without resampling, MALLET's default.

This is `left_to_right` without its first step: a particle draws z_l from p(z_l | z_1 .. z_{l-1}, w_1 .. w_l) and never
resamples it, which is importance sampling of z with the proposal prod_l p(z_l | z_1 .. z_{l-1}, w_1 .. w_l) and the
weight prod_l p(w_l | z_1 .. z_{l-1}). The mean of these products over particles would be unbiased. The estimate is
instead the product over tokens of the means, which converges to the probability under another distribution over
documents: as in `left_to_right`, low on average over documents drawn from the model and of either sign on others, but
further off, as no topic is ever corrected. Its work is linear in a document's length.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples
from heldout.evaluators.left_to_right import particle_error
from heldout.evaluators.left_to_right_kernel import sample
from heldout.topics import Topics


def left_to_right_unresampled(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return the left-to-right estimate of every document's log p(w | alpha, phi) without resampling.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a particle, R of them; a
    document costs R L draws of a topic. The standard error does not cover the bias, of either sign, which more
    particles do not remove.

    Examples:
        >>> left_to_right_unresampled(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    check_samples("left-to-right without resampling", samples)
    return sample(topics, documents, rng, particles=samples, sweeps=0, error=particle_error)[0]
