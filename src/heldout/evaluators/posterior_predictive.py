r"""Posterior predictive probability of a document's scored tokens given its observed ones, theta integrated out.

    p(scored | observed, alpha, phi) = int p(scored | theta) p(theta | observed, alpha, phi) dtheta,

estimated from S states z of a Gibbs chain over the topics of the observed tokens (`heldout.evaluators.gibbs_chain`):
from each state the scored tokens are assigned in turn, and the mean of the S weights is the estimate. Half folding-in
replaces the integral by the point theta fitted to the observed tokens.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples, kernel_arrays
from heldout.evaluators.gibbs_chain import log_mean_of_chain, run_chain
from heldout.topics import Topics


def posterior_predictive(
    topics: Topics, observed: Corpus, scored: Corpus, samples: int, rng: np.random.Generator
) -> Evaluation:
    """Return log p(scored tokens | observed tokens, alpha, phi) of every document.

    Arguments, result and errors are as in `heldout.evaluators`: the observed and the scored tokens of the same D
    documents, both over the topics' vocabulary. A sample is a state of a document's chain (`gibbs_chain`).
    `tokens` counts the scored ones alone; the value is -inf where either part holds a word of probability 0. Errors are
    by the delta method over the chain's states (`log_mean_of_chain`).

    Examples:
        >>> scored = documents.subset([1, 0])
        >>> posterior_predictive(topics, documents, scored, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-1.21, -4.13])
    """
    check_samples("posterior predictive", samples)
    both = observed.with_streams(
        [np.concatenate([observed.document(d), scored.document(d)]) for d in range(observed.n_documents)],
        observed.documents,
    )
    arrays = kernel_arrays(topics, both)
    chain = run_chain(arrays, observed.lengths, samples, rng)
    value, error = log_mean_of_chain(chain.log_ahead)
    error[(scored.lengths == 0) | np.isneginf(value)] = 0.0  # exact without sampling
    return Evaluation(value, scored.lengths, error)
