"""Folding-in: a document is scored at the point that its topic weights were fitted to (Welling et al. 2008, section 5).

"Half": the weights are fitted to one half of the tokens, the other half is scored (`heldout.corpora.split.half_split`),
a proper predictive likelihood of that half, of which the fit has seen nothing. "Full": scored are the very tokens that
the weights were fitted to, which is neither a likelihood nor a lower bound on one (their section 4.1): the point
posterior's entropy, which is minus infinity, has been dropped.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.models.plsa import fold_in_counts
from heldout.models.sparse_products import rows_of_entries
from heldout.topics import AnyTopics, Components
from heldout.typing import Floats

FoldIn = Callable[[Any, Corpus], Floats]  # function of topics or components and documents, to theta or h, (D, K)


def predictive(
    chains: Sequence[AnyTopics | Components], observed: Corpus, scored: Corpus, fold_in: FoldIn
) -> Evaluation:
    """Score tokens by the predictive distribution of their documents, folded in on other tokens or on the same tokens.

    log p = sum over scored tokens w of log (1/S) sum_s p_s(w | theta_s)      (equation 5.37)

    where theta_s is the document folded in on its observed tokens under chain s of S, and p_s(w | theta_s) is what the
    chain's `probabilities` gives: sum_k phi_s[k, w] theta_s[k] for topics. Values in nats. The standard error is set to
    0; if topics were sampled, or folded in by sampling, the caller must replace it by NaN.

    The chains' predictive distributions are averaged. `observed` are the tokens of D documents that the fold-in sees,
    which returns theta, (D, K), for topics and documents; `scored` are the same documents' tokens that are scored.

    Raises:
        InputError: when there is no chain, or the chains' vocabularies differ.

    Examples:
        >>> from functools import partial
        >>> from heldout.corpora.split import half_split
        >>> from heldout.models import plsa
        >>> fold_in = partial(plsa.fold_in, settings=plsa.FoldingIn(iterations=1000, tolerance=1e-6), seed=0)
        >>> predictive([topics], *half_split(documents, seed=0), fold_in).log_likelihood.round(2)  # half folding-in
        array([-2.53, -0.8 ])
        >>> full_folding_in([topics], documents, fold_in).log_likelihood.round(2)
        array([-2.75, -0.22])
    """
    if not chains:
        raise InputError("predictive: there are no topics to score with")
    if any(topics.vocabulary != chains[0].vocabulary for topics in chains):
        raise InputError("predictive: the chains do not share one vocabulary; train them on the same corpus")
    observed, _ = in_vocabulary(observed, chains[0])
    scored, left_out = in_vocabulary(scored, chains[0])
    counts = scored.counts()
    rows, words = rows_of_entries(counts), counts.indices.astype(np.int32)
    probabilities = np.zeros(counts.nnz)
    for topics in chains:
        probabilities += topics.probabilities(fold_in(topics, observed), rows, words)
    with np.errstate(divide="ignore"):  # a word of probability 0 gives -inf, which the score reports
        terms = counts.data * np.log(probabilities / len(chains))
    log_likelihood = np.zeros(counts.shape[0])
    np.add.at(log_likelihood, rows, terms)
    return Evaluation.deterministic(log_likelihood, scored.lengths, left_out)


def full_folding_in(chains: Sequence[AnyTopics | Components], documents: Corpus, fold_in: FoldIn) -> Evaluation:
    """Return `predictive` of the tokens that the weights are folded in on: all tokens of every document."""
    return predictive(chains, documents, documents, fold_in)


def maximum(topics: AnyTopics, documents: Corpus) -> Floats:
    """Return the theta, (D, K), that makes each document most likely: the maximum of full folding-in.

    Examples:
        >>> maximum(topics, documents).round(2)
        array([[1., 0.],
               [0., 1.]])
    """
    known, _ = in_vocabulary(documents, topics)
    return fold_in_counts(topics, known.counts(), iterations=1_000, tolerance=1e-4)
