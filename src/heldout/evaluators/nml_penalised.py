r"""Folding in repaired without a prior: the maximised likelihood less the most that its normaliser can be.

Over all documents of n tokens, max_theta p(w | theta) has a sum Z_n <= C(min(K, V), n), the parametric complexity of a
multinomial (`heldout.evaluators.normaliser`). So

    log q(w) = max_theta log p(w | theta) - log C(min(K, V), n)

is the logarithm of a sub-probability, sum_w q(w) <= 1. Some probability is no smaller for any document: where K <= V
the mixture sum_z r(z) p(w | z), r(z) = max_theta p(z | theta) / C(K, n) being the normalised maximum likelihood (NML)
of the tokens' topics, and elsewhere that of the words, of which the topics' mixtures are a part. Both are q itself
where topics share no word. The prior of the model has no part in q, and so q is no bound on log p(w | alpha, phi). But
whatever the prior, some document is overstated by log Z_n or more (Shtarkov 1987), and the mean over documents that
the model draws is at most log Z_n, by Jensen's inequality.
"""

from dataclasses import replace

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import full_folding_in, maximum
from heldout.evaluators.normaliser import log_multinomial_nml_by_document
from heldout.topics import Topics
from heldout.typing import Floats


def nml_penalised(topics: Topics, documents: Corpus, *, theta: Floats | None = None) -> Evaluation:
    """Return the log sub-probability of every document: its maximised log-likelihood less log C(min(K, V), n).

    Arguments, result and errors are as in `heldout.evaluators`, but alpha has no effect. The weights are those of the
    maximum, by EM, or `theta`, (D, K); with any it is a sub-probability.

    Examples:
        >>> nml_penalised(topics, documents).log_likelihood.round(2)
        array([-3.81, -0.92])
    """
    full = full_folding_in([topics], documents, maximum if theta is None else lambda *_: theta)
    most = min(topics.n_topics, len(topics.vocabulary))
    return replace(full, log_likelihood=full.log_likelihood - log_multinomial_nml_by_document(most, full.tokens))
