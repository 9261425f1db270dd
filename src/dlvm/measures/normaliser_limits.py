r"""Section 4.4: what the normalised model says of many topics, between limits that are exact at any number of topics.

Full folding-in scores a document x of L tokens by f(x) = max_h p(x | h). The energy-based model that it stands for is
g(x) = f(x) / Z_L, and for K topics over V words (`dlvm.evaluators.normaliser`)

    0 <= log Z_L <= log C(min(K, V), L),

C the multinomial's normalised-maximum-likelihood constant. So log g lies between log f - log C and log f.

At the far end stands the model of the toy example for documents of any length: one topic per word, K = V. For it all is
closed. With n_w the counts of a document,

    log f(x) = sum_w n_w log(n_w / L),       log Z_L = log C(V, L) exactly,
    log p(x) = log Gamma(V) - log Gamma(V + L) + sum_w log Gamma(1 + n_w)      (theta ~ Dir(1) integrated out).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from dlvm.corpora.corpus import Corpus
from dlvm.corpora.split import train_test_split
from dlvm.evaluators.normaliser import log_multinomial_nml
from dlvm.measurements import Measurement
from dlvm.scores import Score, perplexity

KIND = "normaliser-limits"
MODEL = "word-topics"
LIMIT = "log-nml"


def measure(
    corpus: Corpus, *, seed: int, test_documents: int, topics: Sequence[int]
) -> tuple[list[Score], list[Measurement]]:
    """Return the scores of the model with a topic per word, and the normaliser's limit at other numbers of topics.

    Args:
        corpus: all documents.
        seed: names the split.
        test_documents: how many documents are held out.
        topics: the numbers of topics, K.

    Returns:
        Scores of the model "word-topics" (topics V) by the evaluators "full-folding-in", "normalised-folding-in"
        (g above) and "exact-marginal"; and per K the measurement "log-nml": the sum over the test documents of
        log C(min(K, V), L), nats, on the axis "tokens" at the number of tokens.
    """
    _, test = train_test_split(corpus, test_documents, seed)
    lengths, counts = test.lengths, test.counts()
    V, tokens = len(corpus.vocabulary), int(test.lengths.sum())
    folded = float(xlogy(counts.data, counts.data).sum() - xlogy(lengths, lengths).sum())
    marginal = float(np.sum(gammaln(V) - gammaln(V + lengths)) + gammaln(1.0 + counts.data).sum())
    values = {
        "full-folding-in": folded,
        "normalised-folding-in": folded - limit(V, lengths),
        "exact-marginal": marginal,
    }
    scores = [
        Score(
            corpus=corpus.name,
            model=MODEL,
            variant=KIND,
            topics=V,
            smoothing=0.0,
            chain="none",
            evaluator=evaluator,
            samples=0,
            seed=seed,
            documents=int(np.sum(lengths > 0)),
            tokens=tokens,
            documents_left_out=int(np.sum(lengths == 0)),
            tokens_left_out=0,
            log_likelihood=value,
            perplexity=perplexity(value, tokens),
            standard_error=0.0,
        )
        for evaluator, value in values.items()
    ]
    measurements = [
        Measurement(corpus.name, MODEL, KIND, k, 0.0, "none", seed, LIMIT, "tokens", tokens, limit(min(k, V), lengths))
        for k in topics
    ]
    return scores, measurements


def limit(topics: int, lengths: NDArray[np.int64]) -> float:
    """Return the sum over documents of log C(topics, L), nats: at most so much does folding-in ignore."""
    found, times = np.unique(lengths, return_counts=True)
    return float(sum(n * log_multinomial_nml(topics, int(length)) for length, n in zip(found, times, strict=True)))
