"""What every evaluator returns, and the predictive probability that the folding-in evaluators share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.models.components import Components
from dlvm.models.topics import Topics

FoldIn = Callable[[Any, Corpus], NDArray[np.float64]]  # of topics, or of components, whichever is scored


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Per-document log-likelihoods.

    Attributes:
        log_likelihood: (D,) nats, over each document's scored tokens; -inf where a token has probability 0.
        tokens: (D,) the tokens scored.
        standard_error: (D,) the evaluator's own Monte Carlo error in nats; 0 for a deterministic evaluator,
            NaN where it states none.
        tokens_left_out: tokens whose word is not in the topics' vocabulary.
    """

    log_likelihood: NDArray[np.float64]
    tokens: NDArray[np.int64]
    standard_error: NDArray[np.float64]
    tokens_left_out: int = 0


def in_vocabulary(documents: Corpus, topics: Topics | Components) -> tuple[Corpus, int]:
    """Return the documents over the topics' vocabulary and the number of tokens left out because it lacks them."""
    if documents.vocabulary == topics.vocabulary:
        return documents, 0
    index = {word: i for i, word in enumerate(topics.vocabulary)}
    new = np.array([index.get(word, -1) for word in documents.vocabulary], dtype=np.int32)
    streams = []
    for d in range(documents.n_documents):
        stream = new[documents.document(d)]
        streams.append(stream[stream >= 0])
    kept = Corpus(
        name=documents.name,
        vocabulary=topics.vocabulary,
        tokens=np.concatenate([np.zeros(0, np.int32), *streams]).astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum([len(stream) for stream in streams])]).astype(np.int64),
        documents=documents.documents,
        provenance=dict(documents.provenance),
    )
    return kept, documents.n_tokens - kept.n_tokens


def predictive(chains: Sequence[Topics | Components], observed: Corpus, scored: Corpus, fold_in: FoldIn) -> Evaluation:
    """Score tokens by the predictive distribution of documents folded in on other (or the same) tokens.

    log p = sum over scored tokens w of log (1/S) sum_s p_s(w | theta_s)      (equation 5.37)

    where theta_s is the document folded in on its observed tokens under chain s of S, and p_s(w | theta_s) is what the
    chain's `probabilities` gives: sum_k phi_s[k, w] theta_s[k] for topics.

    Raises:
        InputError: when there is no chain, or the chains' vocabularies differ.
    """
    if not chains:
        raise InputError("predictive: there are no topics to score with")
    if any(topics.vocabulary != chains[0].vocabulary for topics in chains):
        raise InputError("predictive: the chains do not share one vocabulary; train them on the same corpus")
    observed, _ = in_vocabulary(observed, chains[0])
    scored, left_out = in_vocabulary(scored, chains[0])
    counts = scored.counts()
    rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    words = counts.indices.astype(np.int32)
    probabilities = np.zeros(counts.nnz)
    for topics in chains:
        probabilities += topics.probabilities(fold_in(topics, observed), rows, words)
    with np.errstate(divide="ignore"):  # a word of probability 0 gives -inf, which the score reports
        terms = counts.data * np.log(probabilities / len(chains))
    log_likelihood = np.zeros(counts.shape[0])
    np.add.at(log_likelihood, rows, terms)
    return Evaluation(log_likelihood, scored.lengths, np.zeros(counts.shape[0]), left_out)
