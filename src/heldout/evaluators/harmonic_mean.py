r"""The harmonic mean of p(w | z) over samples of the posterior (Buntine 2009, section 3.2).

Where p(w | z) > 0 for every assignment z, as when phi has no zeros,

    E[1 / p(w | z)] = sum_z p(z | w) / p(w | z) = sum_z p(z) / p(w) = 1 / p(w),        z ~ p(z | w),

hence p(w) ~ S / sum_s 1 / p(w | z_s). (Where phi has zeros the sum runs over the possible assignments only, and the
estimate tends to p(w) divided by their prior probability, which is more than p(w).)

The mean depends on assignments that fit the document as badly as draws from the prior do. The posterior gives these a
probability of about p(w | z) / p(w), so at any affordable S none is drawn and the estimate is too high. The spread of
the S terms does not show this error, so no standard error is stated.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples, kernel_arrays, log_mean
from heldout.evaluators.gibbs_chain import run_chain
from heldout.topics import Topics


def harmonic_mean(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return the harmonic mean's estimate of log p(w | alpha, phi) of every document, which is far too high.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a state of a document's chain
    (`gibbs_chain`). If phi has zeros, the limit is not p(w) (see the module). No standard error can be stated: it is
    NaN, but 0 where nothing is sampled.

    Examples:
        >>> harmonic_mean(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.62, -0.78])
    """
    check_samples("harmonic mean", samples)
    arrays = kernel_arrays(topics, documents)
    chain = run_chain(arrays, arrays.lengths, samples, rng)
    impossible = np.isneginf(chain.log_fit[:, 0])
    value = np.where(impossible, -np.inf, -log_mean(np.where(impossible[:, None], 0.0, -chain.log_fit))[0])
    value[arrays.lengths == 0] = 0.0  # not -0.0
    error = np.where(impossible | (arrays.lengths == 0), 0.0, np.nan)
    return Evaluation(value, arrays.lengths, error, arrays.left_out)
