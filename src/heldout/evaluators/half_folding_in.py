"""Half folding-in: topic weights are fitted to one half of a document's tokens, the other half is scored.

Welling et al. (2008), section 5: "half". A proper predictive likelihood of the scored half: the fit has seen none of
it.
"""

from collections.abc import Sequence

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, FoldIn, predictive
from heldout.topics import AnyTopics, Components


def half_folding_in(
    chains: Sequence[AnyTopics | Components], observed: Corpus, scored: Corpus, fold_in: FoldIn
) -> Evaluation:
    """Return the log-likelihood of the scored halves, theta folded in on the observed halves (5.37).

    Args:
        chains: the topics of each chain; their predictive distributions are averaged.
        observed: the halves that the fold-in sees (`heldout.corpora.split.half_split`).
        scored: the halves that are scored, document by document in the same order.
        fold_in: returns theta, (D, K), for topics and documents.

    Returns:
        log-likelihoods in nats of the scored tokens.

    Raises:
        InputError: when there is no chain, or the chains' vocabularies differ.

    Examples:
        >>> from functools import partial
        >>> from heldout.corpora.split import half_split
        >>> from heldout.models import plsa
        >>> fold_in = partial(plsa.fold_in, settings=plsa.FoldingIn(iterations=1000, tolerance=1e-6), seed=0)
        >>> half_folding_in([topics], *half_split(documents, seed=0), fold_in).log_likelihood.round(2)
        array([-2.53, -0.8 ])
    """
    return predictive(chains, observed, scored, fold_in)
