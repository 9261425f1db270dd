"""Section 27.3.8: the number of topics of drawn documents by the evidence, the bound, held-out documents, and the HDP.

Measured on the axis "topics", of the model "lda", nats per token:

    evidence            log p(y | K) by annealing on the collapsed joint
    evidence-above      the same backwards from the true topics of the tokens, at the true K: an upper bound on average
    bound               of batch variational Bayes
    held-out            left-to-right on documents that collapsed Gibbs sampling has not seen
    hdp-topics          the number of topics of tomotopy's hierarchical Dirichlet process, where it is installed (at 0)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.evaluation import log_mean
from heldout.evaluators.evidence import annealed_evidence
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.measurements import Measurement
from heldout.models.lda import LDA
from heldout.models.lda_vb import LDAVB
from heldout.scores import Score
from heldout.seeds import generator
from heldout.study import installed

FORWARDS, BACKWARDS, BOUND, HELD_OUT, HDP = "evidence", "evidence-above", "bound", "held-out", "hdp-topics"
HELD_OUT_SHARE = 0.2
TOMOTOPY = "tomotopy"

Index = NDArray[np.int64]


def drawn(
    topics: int, documents: int, tokens: int, words: int, alpha: float, gamma: float, seed: int
) -> tuple[Corpus, Index]:
    """Return documents of `tokens` tokens each, drawn from LDA with symmetric priors, and the tokens' topics."""
    random = generator("evidence-documents", topics=topics, documents=documents, tokens=tokens, words=words, seed=seed)
    b = random.dirichlet(np.full(words, gamma), size=topics)
    vocabulary = tuple(f"w{v:04d}" for v in range(words))
    q, y = [], []
    for _ in range(documents):
        of_document = random.choice(topics, size=tokens, p=random.dirichlet(np.full(topics, alpha)))
        q.append(of_document)
        y += [random.choice(words, p=b[k]) for k in of_document]
    offsets = np.arange(documents + 1, dtype=np.int64) * tokens
    names = tuple(map(str, range(documents)))
    corpus = Corpus("drawn", vocabulary, np.array(y, dtype=np.int32), offsets, names, {"synthetic": True})
    return corpus, np.concatenate(q)


def experiment(
    *,
    seed: int,
    topics: Sequence[int],
    true_topics: int,
    documents: int,
    tokens: int,
    words: int,
    alpha: float,
    gamma: float,
    temperatures: int,
    chains: int,
    iterations: int,
    sweeps: int,
    samples: int,
) -> tuple[list[Score], list[Measurement]]:
    """Draw documents and score every number of topics.

    Args:
        seed: determines the documents and all samples.
        topics: K.
        true_topics: of the documents.
        documents: how many are drawn.
        tokens: of each.
        words: of the vocabulary.
        alpha: the Dirichlet parameter of the weights.
        gamma: the Dirichlet parameter of the topics.
        temperatures: of annealing.
        chains: of annealing.
        iterations: of variational Bayes, at most.
        sweeps: of collapsed Gibbs sampling and of the HDP.
        samples: sweeps of left-to-right sequential.

    Raises:
        InputError: as the models and evaluators do.
    """
    corpus, true = drawn(true_topics, documents, tokens, words, alpha, gamma, seed)
    y, rows, N = corpus.tokens.astype(np.int64), np.repeat(np.arange(documents), tokens), documents * tokens
    training, test = train_test_split(corpus, max(1, round(HELD_OUT_SHARE * documents)), seed)
    measurements = []

    def add(quantity: str, K: int, value: float, error: float = 0.0) -> None:
        measurements.append(
            Measurement("none", models.LDA, "evidence", K, 0.0, "none", seed, quantity, "topics", K, value, error)
        )

    def annealed(K: int, posterior: Index | None = None) -> NDArray[np.float64]:
        settings: dict[str, Any] = {"topics": K, "alpha": alpha, "gamma": gamma, "temperatures": temperatures}
        way = "forwards" if posterior is None else "backwards"
        randoms = (generator("evidence", way=way, topics=K, chain=chain, seed=seed) for chain in range(chains))
        weights = [annealed_evidence(y, rows, words, random=r, posterior=posterior, **settings) for r in randoms]
        return np.array([weights])

    for K in topics:
        (value,), (error,) = log_mean(annealed(K))
        add(FORWARDS, K, value / N, error / N)
        random = generator("evidence-models", topics=K, seed=seed)
        add(
            BOUND,
            K,
            LDAVB(K, alpha=alpha, gamma=gamma, iterations=iterations, random_state=random)
            .fit(corpus.counts())
            .bound_[-1]
            / N,
        )
        model = LDA(K, alpha=alpha, beta=gamma, sweeps=sweeps, random_state=random).fit(training)
        held_out = left_to_right_sequential(model.topics(corpus.vocabulary), test, samples, random)
        add(HELD_OUT, K, float(held_out.log_likelihood.sum() / test.n_tokens), held_out.total_error() / test.n_tokens)
    (inverse,), (error,) = log_mean(-annealed(true_topics, true))
    add(BACKWARDS, true_topics, -inverse / N, error / N)
    if TOMOTOPY in installed():
        add(HDP, 0, hdp_topics(corpus, alpha, gamma, sweeps, seed))
    return [], measurements


def hdp_topics(corpus: Corpus, alpha: float, gamma: float, sweeps: int, seed: int) -> float:
    """Return how many topics tomotopy's HDP has after Gibbs sampling; its own concentration is 1."""
    import tomotopy

    model = tomotopy.HDPModel(alpha=alpha, eta=gamma, gamma=1.0, seed=seed)
    for d in range(corpus.n_documents):
        model.add_doc([corpus.vocabulary[w] for w in corpus.document(d)])
    model.train(sweeps, workers=1)
    return float(model.live_k)
