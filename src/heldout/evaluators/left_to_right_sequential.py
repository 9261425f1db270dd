r"""The left-to-right sequential estimate (Buntine, 2009, section 3.6).

One state z goes through the document. At token l: R times, resample z_1 .. z_{l-1} in turn given w_1 .. w_{l-1} and
record p(w_l | z_1 .. z_{l-1}) (equation 7); then draw z_l from its conditional and go on with this state. The estimate
is the product over tokens of the mean of the R records. `left_to_right_kernel` derives the formulas.

For each token the records average over a Markov chain with the stationary distribution p(z_1 .. z_{l-1} | w_1 ..
w_{l-1}), so each mean converges to p(w_l | w_1 .. w_{l-1}) and the estimate to the exact value as R grows. The first
token's term is exact. At finite R the logarithm is biased for two reasons: half its variance makes it low, and the
chain remembers its state before it saw w_{l-1}, so that the expected estimate is the probability under a distribution
that is not yet p (`left_to_right_kernel`): low as well, on average over documents drawn from the model. Both fall as 1
/ R.

Reading of section 3.6: its round l resamples k_0 .. k_l, l + 1 tokens given those l + 1 words, and records "using the
sample (k_0, ..., k_l) and Formula (7)". Equation 6 asks for samples that have not seen the word whose probability is
taken, so that record is equation 7 of the next word, j_{l+1}. In equation 7 for j_l the same sample's k_0 .. k_{l-1}
would already depend on j_l, and the estimate would converge to a larger value. The last round records nothing and is
omitted.
"""

import math

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples
from heldout.evaluators.left_to_right_kernel import Records, sample
from heldout.topics import Topics


def sweep_error(ratios: Records) -> float:
    """Return the standard error of the sum over tokens of log mean record, nats, from the sweeps of one Markov chain.

    Batch means of the ratios (R, L), B = sqrt(R) / 2 batches (2 or more): with y[b, l] the mean of x[r, l] / m_l over
    the sweeps of batch b, the variance is sum_l sum_b (y[b, l] - mean_b y[b, l])^2 / (B (B - 1)). It covers
    autocorrelation shorter than a batch, but not that between the sweeps of successive tokens. NaN for a single sweep.
    """
    R, L = ratios.shape
    if R == 1:
        return math.nan
    B = max(2, math.isqrt(R) // 2)
    means = ratios[R % B :].reshape(B, R // B, L).mean(axis=1)
    return math.sqrt(float(means.var(axis=0, ddof=1).sum()) / B)


def left_to_right_sequential(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return the left-to-right sequential estimate of every document's log p(w | alpha, phi).

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a sweep before each token, R of
    them; a document costs R L (L - 1) / 2 draws of a topic. The standard error (batch means) does not cover the
    bias of a finite R. With few sweeps of a slowly mixing chain (sparse topics, small alpha) it is too small as
    well.

    Examples:
        >>> left_to_right_sequential(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.71, -0.8 ])
    """
    check_samples("left-to-right sequential", samples)
    return sample(topics, documents, rng, particles=1, sweeps=samples, error=sweep_error)[0]
