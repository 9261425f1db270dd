"""Kinds of data of the gallery's models, how each is divided, and how counts become sequences of tokens.

A likelihood of documents is the likelihood of the sequence of tokens: a model of counts, p(n), is divided by the number
of orders, L! / prod_v n_v!.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import gammaln

from artifact.study.job import Job
from gallery.member import DOCUMENTS, RECORDS, Split
from gallery.tokens.models.gap import fold_in
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.typing import Floats

ERROR = 0.2  # nats: with less in every case, errors of 100 cases of 15 responses or more stay below 0.005 per response
ROUNDS, SLOWER = 2, 4  # rounds of annealing; each has as many times the steps of the one before


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


def in_rounds(anneal: Callable[[Corpus, int], tuple[Floats, Floats]], test: Corpus, steps: int) -> Evaluation:
    """Return the likelihood by annealing, corrected; a case whose error is above `ERROR` is annealed anew, more slowly.

    `anneal` takes cases and steps, and gives log-likelihoods and standard errors, nats, by new random numbers.
    """
    value, error = anneal(test, steps)
    for more in range(1, ROUNDS):
        open_cases = np.flatnonzero(error > ERROR)
        if not len(open_cases):
            break
        value[open_cases], error[open_cases] = anneal(test.subset(open_cases), steps * SLOWER**more)
    return corrected(Evaluation(value, test.lengths, error))


def one_token_documents(test: Corpus) -> Corpus:
    """Return every document of one token, or every record of one response, in the order of the vocabulary."""
    names = tuple(map(str, range(test.n_words)))
    return test.with_streams(list(np.arange(test.n_words, dtype=np.int32)[:, None]), names)


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
    length_terms = np.where(lengths > 0.0, lengths * np.log(np.maximum(lengths, 1.0)), 0.0) - lengths
    result: Floats = folded_in(test, b, iterations) - (length_terms - gammaln(lengths + 1.0))
    return result
