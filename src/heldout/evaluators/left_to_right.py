r"""The left-to-right particle estimate (Wallach, 2008; Buntine, 2009, section 3.5).

R particles go through a document independently. At token l a particle resamples z_1 .. z_{l-1} once, in turn, given
w_1 .. w_{l-1}; records p(w_l | z_1 .. z_{l-1}) (equation 7); and draws z_l from its conditional given w_l. The estimate
is the product over tokens of the mean record over particles. `left_to_right_kernel` derives the formulas, and that the
expected estimate is a distribution over documents.

With one particle it is p. But a token's mean counts particles alike that explained the words so far well and badly, and
one sweep does not make up for that: their topics lag behind the posterior. So with many particles the estimate
converges to the probability under another distribution, which gives too little to words that the newest ones speak for
and too much to words that they speak against, and depends on the words' order, as p does not. It is low on average over
documents drawn from the model. On others it is low or high: low where topics come in blocks, high where they alternate
more than the model expects. The mean over particles of each one's product over tokens would be unbiased, and vary more.

Reading of section 3.5: it lists (a) resampling, (b) the draw of k_l, (c) the record. Equation 7 for j_l depends on k_1
.. k_{l-1} only, which (b) does not change, so recording before the draw is equivalent.
"""

import math

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples
from heldout.evaluators.left_to_right_kernel import Records, sample
from heldout.topics import Topics


def particle_error(ratios: Records) -> float:
    """Return the standard error of the sum over tokens of log mean record, nats, from independent particles.

    Of the ratios (R, L), x[r, l] / m_l of particle r's record to the mean over r, particle r has the influence
    sum_l (x[r, l] / m_l - 1) by the delta method; the error therefore covers the dependence between tokens. NaN for a
    single particle.
    """
    if len(ratios) == 1:
        return math.nan
    return float((ratios - 1.0).sum(axis=1).std(ddof=1)) / math.sqrt(len(ratios))


def left_to_right(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return the left-to-right particle estimate of every document's log p(w | alpha, phi).

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a particle, R of them; a
    document costs R L (L - 1) / 2 draws of a topic. The standard error does not cover the bias, of either sign,
    which more particles do not remove.

    Examples:
        >>> left_to_right(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    check_samples("left-to-right", samples)
    return sample(topics, documents, rng, particles=samples, sweeps=1, error=particle_error)[0]
