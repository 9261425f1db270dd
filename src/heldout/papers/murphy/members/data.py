"""Kinds of data of the gallery's models, how each is divided, and how counts become sequences of tokens.

A likelihood of documents is that of the sequence of tokens: a model of counts, p(n), is divided by the number of
orders, L! / prod_v n_v!.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.job import Job
from heldout.models.gap import fold_in
from heldout.typing import Floats

DOCUMENTS, RECORDS = "documents", "records"

Data = TypeVar("Data")


class Split(NamedTuple, Generic[Data]):
    """Training and test data, and how many test tokens were left out."""

    training: Data
    test: Data
    left_out: int


def documents(job: Job) -> Split[Corpus]:
    """Return documents over the words that the training documents have, as models are trained on them."""
    training, test = job.split()
    words = tuple(training.vocabulary[w] for w in np.unique(training.tokens))
    return Split(training.over(words)[0], *test.over(words))


def records(job: Job) -> Split[Corpus]:
    """Return records of categorical variables (`heldout.corpora.records`) with all their values."""
    return Split(*job.split(), 0)


SPLITS: Mapping[str, Callable[[Job], Split[Any]]] = {DOCUMENTS: documents, RECORDS: records}


def kind_of(corpus: Corpus) -> str:
    """Return the kind of a corpus."""
    return RECORDS if "values" in corpus.provenance else DOCUMENTS


def deterministic(values: Floats, test: Corpus) -> Evaluation:
    """Return the evaluation of values without error, (D,) nats."""
    return Evaluation.deterministic(values, test.lengths)


def per_token(evaluation: Evaluation) -> dict[str, float]:
    """Return the `value` and its `error` of a measurement, nats per token."""
    tokens = evaluation.tokens.sum()
    return {"value": evaluation.log_likelihood.sum() / tokens, "error": evaluation.total_error() / tokens}


def orders(test: Corpus) -> Floats:
    """Return log L! / prod_v n_v!, (D,) nats."""
    result: Floats = gammaln(test.lengths + 1.0) - gammaln(test.counts().toarray() + 1.0).sum(axis=1)
    return result


def folded_in(test: Corpus, b: Floats, iterations: int) -> Floats:
    """Return sum_v log Poi(n_v | (z b)_v), (D,) nats of sequences, at the z of greatest likelihood."""
    counts, none = test.counts(), np.zeros(len(b))
    rates, dense = fold_in(counts, b, none, none, iterations=iterations) @ b, counts.toarray()
    terms = np.where(dense > 0.0, dense * np.log(np.where(dense > 0.0, rates, 1.0)), 0.0)
    result: Floats = (terms - rates).sum(axis=1) - gammaln(test.lengths + 1.0)
    return result


def folded_in_given_length(test: Corpus, b: Floats, iterations: int) -> Floats:
    """Return prod_l sum_k pi_k b_k[w_l], (D,) nats: at that z, which sums to L, without the Poisson's share of L."""
    lengths = test.lengths.astype(float)
    of_length = np.where(lengths > 0.0, lengths * np.log(np.maximum(lengths, 1.0)), 0.0) - lengths
    result: Floats = folded_in(test, b, iterations) - (of_length - gammaln(lengths + 1.0))
    return result
