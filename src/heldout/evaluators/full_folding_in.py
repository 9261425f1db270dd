"""Full folding-in: a document is scored on the very tokens that its topic weights were fitted to.

Welling et al. (2008), section 5: "full". Neither a likelihood nor a lower bound on one (their section 4.1): the
point posterior's entropy, which is minus infinity, has been dropped.
"""

from collections.abc import Sequence

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, FoldIn, predictive
from heldout.topics import AnyTopics, Components


def full_folding_in(chains: Sequence[AnyTopics | Components], documents: Corpus, fold_in: FoldIn) -> Evaluation:
    """Return sum_w n(w) log sum_k phi[k, w] theta[k] per document, theta folded in on all its tokens (5.37).

    Chains, their average, `fold_in` and errors are those of `heldout.evaluators.evaluation.predictive`. The standard
    error is set to 0; if topics were sampled, or folded in by sampling, the caller must replace it by NaN.

    Examples:
        >>> from functools import partial
        >>> from heldout.models import plsa
        >>> fold_in = partial(plsa.fold_in, settings=plsa.FoldingIn(iterations=1000, tolerance=1e-6), seed=0)
        >>> full_folding_in([topics], documents, fold_in).log_likelihood.round(2)
        array([-2.75, -0.22])
    """
    return predictive(chains, documents, documents, fold_in)
