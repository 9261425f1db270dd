r"""LDA trained on growing parts of one corpus, each from the last state of the chains of the part before.

A chain of its own for every part would spend its first sweeps, and its luck with local modes, anew each time. Here many
chains run on the smallest part, where a sweep is cheap. On every larger part the half with the highest log p(w, z |
alpha, beta) goes on, one at least: tokens of known documents keep their topics, those of new ones are drawn given them
(`heldout.models.lda`, the first pass), and all are then resampled. The topics of a part are those of its best chain.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import provenance
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.topics import Topics


def grow(
    corpus: Corpus,
    *,
    topics: int,
    seed: int,
    training_documents: Sequence[int],
    alpha_sum: float,
    beta: float,
    chains: int,
    first_sweeps: int,
    sweeps: int,
    optimise_every: int,
) -> list[Topics]:
    """Train LDA on growing parts of a corpus; (corpus, topics, seed, chain, part) determines a run's random numbers.

    Args:
        corpus: its first documents are trained on.
        topics: K.
        seed: determines the random numbers, with corpus, K, chain and part.
        training_documents: the sizes of the parts, ascending.
        alpha_sum: the sum of the symmetric prior's K parameters at the start.
        beta: the Dirichlet parameter of phi at the start.
        chains: how many to run on the first part.
        first_sweeps: Gibbs sweeps on the first part.
        sweeps: Gibbs sweeps on every later part.
        optimise_every: sweeps between two re-estimations of alpha and beta; 0 keeps them fixed.

    Returns:
        One Topics per part.

    Raises:
        InputError: for fewer than one chain, parts that do not grow or that the corpus does not have, or as `LDA.fit`
            does.
    """
    sizes = list(training_documents)
    if chains < 1 or not sizes or sizes != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] > corpus.n_documents:
        raise InputError(
            f"LDA: {chains} chains on {sizes} documents of the {corpus.n_documents} of {corpus.name}; run one or"
            " more on ascending numbers of them"
        )
    running: list[tuple[int, LDA | None]] = [(chain, None) for chain in range(chains)]
    grown = []
    for size in sizes:
        part, steps = corpus.subset(range(size)), sweeps if size > sizes[0] else first_sweeps
        results = []
        for chain, before in running:
            model = LDA(
                topics,
                alpha=np.full(topics, alpha_sum / topics) if before is None else before.alpha_,
                beta=beta if before is None else before.beta_,
                sweeps=steps,
                evaluate_every=max(1, steps),
                optimise_every=optimise_every,
                random_state=generator(
                    "lda-growth", corpus=corpus.name, topics=topics, seed=seed, chain=chain, documents=size
                ),
            ).fit(part, assignments=None if before is None else before.assignments_)
            results.append((chain, model))
        results.sort(key=lambda one: (-one[1].log_likelihood_[-1], one[0]))
        chain, best = results[0]
        details: dict[str, Any] = {"chain": chain, "sweeps": steps, "beta": best.beta_, "chains": len(results)}
        details["log_likelihood"] = [float(model.log_likelihood_[-1]) for _, model in results]
        grown.append(best.topics(corpus.vocabulary, provenance(models.LDA, part, seed, **details)))
        running = list(results[: max(1, len(results) // 2)])
    return grown
