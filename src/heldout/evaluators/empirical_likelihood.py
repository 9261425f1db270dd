r"""Empirical likelihood: documents under topic weights drawn from the prior (Li and McCallum 2006).

    p(w | alpha, phi) = E[prod_l sum_k theta_k phi[k, w_l]]  ~  (1/S) sum_s prod_l sum_k theta_sk phi[k, w_l],
    theta_s ~ Dirichlet(alpha),

which is importance sampling of theta from its prior, unbiased at every S. The square of a weight is the weight of the
document repeated, ww, so the relative variance of one draw is

    p(w w | alpha, phi) / p(w | alpha, phi)^2 - 1,

which can be computed exactly too. By Laplace's method it grows like L^((K - 1) / 2) where the document tells all K
topics apart: draws from the prior must hit a posterior of width L^(-1/2) in each of K - 1 directions. So the estimate
is usable with few topics at any length. With many topics one or two draws dominate the mean, which is then mostly far
too low; its stated error is near 1, the value that a single dominant draw gives.

Each document draws its own theta, whereas Li and McCallum share one set among documents. So the documents' errors are
independent, and the error of their total is the root of the sum of squares.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples, in_vocabulary, log_mean
from heldout.evaluators.random_stream import starts
from heldout.topics import Topics


def empirical_likelihood(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(w | alpha, phi) of every document, theta drawn from its prior.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a draw of theta. The standard
    error is NaN, too, where every weight is 0 though the document is possible. It does not cover draws too rare to
    be met, which decide the mean for all but short documents.

    Examples:
        >>> empirical_likelihood(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-3.72, -0.79])
    """
    check_samples("empirical likelihood", samples)
    documents, left_out = in_vocabulary(documents, topics)
    D = documents.n_documents
    streams = starts(rng, D)[:, 0]
    log_weights = np.zeros((D, samples))
    for d in range(D):
        words, counts = np.unique(documents.document(d), return_counts=True)
        theta = np.random.default_rng(int(streams[d])).dirichlet(topics.alpha, size=samples)
        rows = np.repeat(np.arange(samples, dtype=np.int64), len(words))
        p = topics.probabilities(theta, rows, np.tile(words.astype(np.int32), samples)).reshape(samples, len(words))
        with np.errstate(divide="ignore"):  # a word of probability 0 gives -inf
            log_weights[d] = (np.log(p) * counts).sum(axis=1)
    value, error = log_mean(log_weights)
    missing = [np.any(topics.phi_by_word[documents.document(d)].max(axis=1) == 0.0) for d in range(D)]
    known = (documents.lengths == 0) | np.array(missing, dtype=bool)
    error[np.isneginf(value)] = np.nan  # no draw came near the document
    error[known] = 0.0
    return Evaluation(value, documents.lengths, error, left_out)
