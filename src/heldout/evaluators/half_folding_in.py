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

    Arguments, values and errors are those of `heldout.evaluators.evaluation.predictive`, with the halves of the same
    documents, in the same order (`heldout.corpora.split.half_split`).

    Examples:
        >>> from functools import partial
        >>> from heldout.corpora.split import half_split
        >>> from heldout.models import plsa
        >>> fold_in = partial(plsa.fold_in, settings=plsa.FoldingIn(iterations=1000, tolerance=1e-6), seed=0)
        >>> half_folding_in([topics], *half_split(documents, seed=0), fold_in).log_likelihood.round(2)
        array([-2.53, -0.8 ])
    """
    return predictive(chains, observed, scored, fold_in)
