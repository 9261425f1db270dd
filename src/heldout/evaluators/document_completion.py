r"""Document completion: the probability of one half of a document given the other (Wallach et al. 2009, section 5).

Target. A document's tokens are divided at random into an observed half o, of floor(L / 2) tokens, and a scored half r:

    log p(r | o, alpha, phi) = log p(o, r | alpha, phi) - log p(o | alpha, phi),

This is not the document's likelihood, but it has an exact value wherever that has one. Theta is integrated out; half
folding-in puts a point in its place.

Estimate. As in `posterior_predictive`, from states z_s of a Markov chain whose limit is p(z | o) (`gibbs_chain`),

    p(r | o) ~ (1/S) sum_s prod_l sum_k phi[k, r_l] (alpha_k + C_k) / (A + |o| + l),

with C counting the observed tokens under z_s and the scored ones before l. The estimate is unbiased once the chain has
forgotten its start, and consistent. (The product over tokens of means over s is neither.)
"""

from dataclasses import replace

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators.evaluation import Evaluation, check_samples, in_vocabulary
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.topics import Topics


def halves(topics: Topics, documents: Corpus, rng: np.random.Generator) -> tuple[Corpus, Corpus, int]:
    """Return the observed and the scored halves, over the topics' vocabulary, and the number of tokens left out.

    `document_completion` makes the same halves from the same rng: it seeds `half_split` with the rng's next number.
    """
    documents, left_out = in_vocabulary(documents, topics)
    return *half_split(documents, int(rng.integers(2**63))), left_out


def document_completion(topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(scored half | observed half, alpha, phi) of every document.

    Arguments, result and errors are as in `heldout.evaluators`. `tokens` counts the scored half alone. A sample is a
    state of one chain per document, as in `posterior_predictive`; the rng seeds the division
    into halves, too. Errors by the delta method over the chain's states (`log_mean_of_chain`) do not cover a start that
    the chain has not forgotten, correlations over many more than sqrt(S) sweeps, or large weights too rare to be drawn.

    Examples:
        >>> document_completion(topics, documents, 1000, np.random.default_rng(0)).log_likelihood.round(2)
        array([-1.42, -0.8 ])
    """
    check_samples("document completion", samples)
    observed, scored, left_out = halves(topics, documents, rng)
    evaluation = posterior_predictive(topics, observed, scored, samples, rng)
    return replace(evaluation, tokens_left_out=left_out)
