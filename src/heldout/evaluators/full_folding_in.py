"""Full folding-in: a document is scored on the very tokens that its topic weights were fitted to.

Welling et al. (2008), section 5: "full". Neither a likelihood nor a bound on one (their section 4.1): the
point posterior's entropy, which is minus infinity, has been dropped.
"""

from collections.abc import Sequence

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, FoldIn, predictive
from heldout.topics import Components, Topics


def full_folding_in(chains: Sequence[Topics | Components], documents: Corpus, fold_in: FoldIn) -> Evaluation:
    """Return sum_w n(w) log sum_k phi[k, w] theta[k] per document, theta folded in on all its tokens (5.37).

    Args:
        chains: the topics of each chain; their predictive distributions are averaged.
        documents: the test documents.
        fold_in: gives theta, (D, K), for topics and documents.

    Returns:
        log-likelihoods in nats. For topics that were sampled, or folded in by sampling, the standard error
        is not stated by this evaluator and the caller says so.

    Raises:
        InputError: when there is no chain, or the chains' vocabularies differ.
    """
    return predictive(chains, documents, documents, fold_in)
