"""The evidence of a number of topics, p(corpus | K), by annealing."""

import math
from typing import Any, NamedTuple

import numpy as np

from heldout.auditing.options import drawn, valid
from heldout.corpora.documents import in_random_order, read_documents
from heldout.errors import InputError
from heldout.evaluators.evaluation import check_samples, log_mean
from heldout.evaluators.evidence import annealed_evidence
from heldout.seeds import generator

CHAINS, TEMPERATURES = 10, 1_000


class Evidence(NamedTuple):
    """The evidence of LDA with a number of topics.

    Attributes:
        log_evidence: log p(corpus | K, alpha, beta), nats, of all tokens in their order.
        error: its standard error, nats.
        tokens: their number.
    """

    log_evidence: float
    error: float
    tokens: int


def log_evidence(
    documents: Any,
    topics: int,
    *,
    alpha: float,
    beta: float,
    chains: int = CHAINS,
    temperatures: int = TEMPERATURES,
    random_state: Any = 0,
) -> Evidence:
    """Return the log evidence of LDA with K topics, log p(corpus | K, alpha, beta), nats, and its error.

    Topics and weights are integrated out, and every token's topic is annealed from its prior to its posterior
    (`heldout.evaluators.evidence`): the mean of the chains' weights w is the evidence. The harmonic mean of p(w | z)
    over a Gibbs sampler (ldatuning's `Griffiths2004`) is far too high instead, whatever its length.

    A few chains understate the error of their mean once log w varies by some nats. The stated error has two more parts:
    the gain over another run with a quarter of the temperatures, and the distance from the evidence of a Gaussian log w
    with the median and the spread above it. Below some 100 temperatures even that may be too little, and the value low.
    The cost is chains x temperatures x tokens x topics; where the error is large, take more temperatures, not chains.

    Args:
        documents: all documents that are to be explained; see `heldout.audit`. The V words are their vocabulary, which
            has to be the same for numbers that are compared.
        topics: K.
        alpha: the parameter of every document's symmetric Dirichlet prior of topics (`doc_topic_prior`).
        beta: the parameter of every topic's symmetric Dirichlet prior of words (`topic_word_prior`, eta).
        chains: independent runs, 2 or more.
        temperatures: steps of each from prior to posterior, 4 or more.
        random_state: determines every draw.

    Raises:
        InputError: for bad input.

    Examples:
        >>> import heldout
        >>> documents = [["ape", "bear", "ape", "bear"], ["fig", "kiwi", "fig", "kiwi"]] * 3
        >>> one, two = (heldout.log_evidence(documents, K, alpha=0.1, beta=0.1) for K in (1, 2))
        >>> round(one.log_evidence, 2), two.log_evidence - one.log_evidence > 10 * two.error
        (-41.25, True)
    """
    seed = valid("random_state", drawn(random_state), int)
    check_samples("evidence", chains, 2)
    if temperatures < 4:
        raise InputError(f"evidence: {temperatures} temperatures; take 4 or more")
    corpus = in_random_order(read_documents(documents), seed)
    rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    words, settings = corpus.tokens.astype(np.int64), {"topics": topics, "alpha": alpha, "gamma": beta}

    def annealed(steps: int) -> tuple[float, float, float]:
        axes: dict[str, int] = {"topics": topics, "temperatures": steps, "seed": seed}
        randoms = (generator("log-evidence", chain=chain, **axes) for chain in range(chains))
        parts: dict[str, Any] = settings | {"temperatures": steps}
        log_w = np.array([annealed_evidence(words, rows, corpus.n_words, random=random, **parts) for random in randoms])
        (mean,), (error,) = log_mean(log_w[None])
        value, median = mean + error**2 / 2.0, np.median(log_w)
        half_variance = (np.maximum(log_w - median, 0.0) ** 2).mean()
        return float(value), float(error), float(median + half_variance - value)

    (value, error, distance), (shorter, _, _) = annealed(temperatures), annealed(temperatures // 4)
    return Evidence(value, math.hypot(error, value - shorter, distance), corpus.n_tokens)
