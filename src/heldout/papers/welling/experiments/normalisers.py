"""Section 4.2 on learned models: log Z of the energy-based model that folding-in stands for, by document length."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.normaliser import log_normaliser
from heldout.measurements import Measurement
from heldout.scores import Score
from heldout.seeds import generator
from heldout.topics import Topics

QUANTITY = "log-normaliser"
EFFECTIVE = "log-normaliser-effective-samples"
# Z does not depend on the prior that the documents are drawn under. Jeffreys' prior of the multinomial makes the ratio
# of maximum to marginal nearly constant, where a flat prior lets the few documents near the simplex's faces dominate.
PRIOR = 0.5


def experiment(
    corpus: Corpus,
    *,
    chains: Sequence[Topics],
    model: str,
    variant: str,
    seed: int,
    lengths: Sequence[int],
    samples: int,
    smoothing: float = 0.0,
) -> tuple[list[Score], list[Measurement]]:
    """Estimate log Z of one model at several lengths and at the corpus's mean length (rounded).

    Args:
        corpus: all documents; they give the mean length and the name.
        chains: the topics of the model; of a sampled model the first chain alone is measured.
        model: its name.
        variant: the name that the rows get.
        seed: the named seed of the topics; names the draws too, with corpus, model, variant, topics, chain and length.
        lengths: L, tokens per document.
        samples: documents to draw at each length.
        smoothing: the constant to add to p(w | z); 0 leaves the topics as they are.

    Returns:
        No score; and per length, on the axis "length": `log-normaliser` in nats per document with its standard
        error, and `log-normaliser-effective-samples`, a number of samples.

    Raises:
        InputError: when the corpus holds no tokens, or as `log_normaliser` does.
    """
    if corpus.n_tokens == 0:
        raise InputError(f"corpus {corpus.name}: it holds no tokens, so there is no mean length to take log Z at")
    topics = chains[0]
    if smoothing > 0.0:
        topics = topics.smoothed(smoothing)
    K, chain = topics.n_topics, str(topics.provenance.get("chain", "none"))
    drawn_from = replace(topics, alpha=np.full(K, PRIOR))
    rows = []
    for length in sorted({*lengths, max(1, round(corpus.n_tokens / corpus.n_documents))}):
        axes: dict[str, str | int] = {"corpus": corpus.name, "model": model, "variant": variant, "chain": chain}
        random = generator(QUANTITY, **axes, topics=K, seed=seed, length=length)
        z = log_normaliser(drawn_from, length, samples, random)
        for quantity, value, error in (
            (QUANTITY, z.log_z, z.standard_error),
            (EFFECTIVE, z.effective_samples, 0.0),
        ):
            place = (corpus.name, model, variant, K, smoothing, chain, seed)
            rows.append(Measurement(*place, quantity, "length", length, value, error))
    return [], rows
