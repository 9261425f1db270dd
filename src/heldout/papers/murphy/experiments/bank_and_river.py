"""Figure 27.8: collapsed Gibbs sampling on documents drawn from two topics over five words, beside the exact posterior.

    p(money | 1) = p(loan | 1) = p(bank | 1) = 1/3,        p(river | 2) = p(stream | 2) = p(bank | 2) = 1/3.

Measured, of the model "lda" at K = 2:

    document, word, true, start, end    of every token, on the axis "token": its document, its word, and its topic in
                                        the model, in the random start and after the last sweep of the first chain
    exact-K, sampled-K, true-K          the means of topic K's words, on the axis "word": exact, a mean over chains
                                        after the last sweep, and in the model; topic 1 has more of "money"
    log-evidence                        log p(y) at one and two topics, exact, on the axis "topics"
    annealed-evidence                   the same by annealing
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import log_mean
from heldout.evaluators.evidence import annealed_evidence, exact_evidence, log_likelihood
from heldout.measurements import Measurement
from heldout.models.lda import LDA
from heldout.scores import Score
from heldout.seeds import generator

WORDS = ("money", "loan", "bank", "river", "stream")
TOPICS = np.array([[1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0]]) / 3.0
EVIDENCE, ANNEALED = "log-evidence", "annealed-evidence"

Index = NDArray[np.int64]


def drawn(documents: int, tokens: int, alpha: float, seed: int) -> tuple[Corpus, Index]:
    """Return documents of LDA with these topics, their lengths Poisson of mean `tokens`, and the tokens' topics."""
    random = generator("bank-and-river", documents=documents, tokens=tokens, alpha=alpha, seed=seed)
    names, topics = [], []
    for d in range(documents):
        pi = random.dirichlet(np.full(2, alpha))
        q = random.choice(2, size=max(1, int(random.poisson(tokens))), p=pi)
        names.append((str(d + 1), [WORDS[random.choice(5, p=TOPICS[k])] for k in q]))
        topics.append(q)
    return Corpus.from_documents("bank-and-river", names).over(WORDS)[0], np.concatenate(topics)


def experiment(
    *, seed: int, documents: int, tokens: int, alpha: float, gamma: float, sweeps: int, chains: int, temperatures: int
) -> tuple[list[Score], list[Measurement]]:
    """Draw documents, sample the topics of their tokens, and compare with the exact posterior.

    Args:
        seed: determines the documents and the chains.
        documents: how many are drawn.
        tokens: their mean length.
        alpha: the Dirichlet parameter of the weights, drawn with and sampled with.
        gamma: the Dirichlet parameter of the topics.
        sweeps: of each chain.
        chains: how many; the first is shown, their means are compared.
        temperatures: of the annealed evidence, of `chains` chains too.

    Raises:
        InputError: as `exact_evidence` and the sampler do.
    """
    corpus, true = drawn(documents, tokens, alpha, seed)
    rows = np.repeat(np.arange(documents), corpus.lengths)
    words = corpus.tokens.astype(np.int64)
    counts = corpus.counts().toarray().astype(np.int64)
    exact = exact_evidence(counts, alpha, gamma)
    named: dict[str, Any] = {
        "corpus": "none",
        "model": models.LDA,
        "variant": "bank-and-river",
        "smoothing": 0.0,
        "seed": seed,
    }

    def of_topics(quantity: str, means: NDArray[np.float64], chain: str = "none") -> list[Measurement]:
        return [
            Measurement(
                **named,
                topics=2,
                chain=chain,
                quantity=f"{quantity}-{k + 1}",
                axis="word",
                at=v,
                value=float(means[k, v]),
            )
            for k in range(2)
            for v in range(len(WORDS))
        ]

    random = generator("bank-and-river-chains", seed=seed)
    starts = random.integers(2, size=(chains, len(words)))
    total = np.zeros((2, len(WORDS)))
    shown: dict[str, Index] = {}
    for start in starts:
        model = LDA(2, alpha=alpha, beta=gamma, sweeps=sweeps, random_state=random)
        model.fit(corpus, assignments=start.astype(np.int32))
        swapped = np.argmax([(model.assignments_[words == 0] == k).sum() for k in range(2)]) == 1
        total += model.components_[::-1] if swapped else model.components_
        if not shown:
            end = 1 - model.assignments_ if swapped else model.assignments_
            shown = {"document": rows, "word": words, "true": true, "start": start, "end": end.astype(np.int64)}
    measurements = [
        Measurement(**named, topics=2, chain="0", quantity=quantity, axis="token", at=i, value=float(value))
        for quantity, values in shown.items()
        for i, value in enumerate(values)
    ]
    measurements += of_topics("exact", exact.topic_means) + of_topics("sampled", total / chains, "all")
    measurements += of_topics("true", TOPICS)
    alone = log_likelihood(counts.sum(axis=0)[:, None], gamma)
    for K, value in ((1, alone), (2, exact.log_evidence)):
        chained = [
            annealed_evidence(
                words,
                rows,
                len(WORDS),
                topics=K,
                alpha=alpha,
                gamma=gamma,
                temperatures=temperatures,
                random=generator("bank-and-river-evidence", topics=K, chain=chain, seed=seed),
            )
            for chain in range(chains)
        ]
        (estimate,), (error,) = log_mean(np.array([chained]))
        of_evidence = {**named, "topics": K, "axis": "topics", "at": K}
        measurements.append(Measurement(**of_evidence, chain="none", quantity=EVIDENCE, value=value))
        measurements.append(
            Measurement(
                **of_evidence, chain="all", quantity=ANNEALED, value=float(estimate), standard_error=float(error)
            )
        )
    return [], measurements
