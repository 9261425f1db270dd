r"""LDA trained on growing parts of one corpus, each from the last state of the chains of the part before.

A chain of its own for every part would spend its first sweeps, and its luck with local modes, anew each time. Here many
chains run on the smallest part, where a sweep is cheap. On every larger part the half with the highest log p(w, z |
alpha, beta) goes on, one at least: tokens of known documents keep their topics, those of new ones are drawn given them
(`heldout.models.lda`, the first pass), and all are then resampled. The topics of a part are those of its best chain.
"""

from typing import Any

import numpy as np

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import provenance
from heldout.models.lda import LDA
from heldout.models.settings import LDAGrowth
from heldout.seeds import generator
from heldout.topics import Topics


def grow(corpus: Corpus, settings: LDAGrowth, *, topics: int, seed: int) -> list[Topics]:
    """Train LDA on growing parts of a corpus; (corpus, topics, seed, chain, part) determines a run's random numbers.

    The parts begin with the corpus's first document.

    Raises:
        InputError: for parts that do not grow or that the corpus does not have, or as `LDA.fit` does.
    """
    sizes = list(settings.training_documents)
    if sizes != sorted(set(sizes)) or sizes[-1] > corpus.n_documents:
        raise InputError(
            f"LDA: {sizes} documents of the {corpus.n_documents} of {corpus.name}; train on ascending numbers of them"
        )
    running: list[tuple[int, LDA | None]] = [(chain, None) for chain in range(settings.chains)]
    grown = []
    for size in sizes:
        part, steps = corpus.subset(range(size)), settings.sweeps if size > sizes[0] else settings.first_sweeps
        results = []
        for chain, previous in running:
            model = LDA(
                topics,
                alpha=np.full(topics, settings.alpha_sum / topics) if previous is None else previous.alpha_,
                beta=settings.beta if previous is None else previous.beta_,
                sweeps=steps,
                evaluate_every=max(1, steps),
                optimise_every=settings.optimise_every,
                random_state=generator(
                    "lda-growth", corpus=corpus.name, topics=topics, seed=seed, chain=chain, documents=size
                ),
            ).fit(part, assignments=None if previous is None else previous.assignments_)
            results.append((chain, model))
        results.sort(key=lambda one: (-one[1].log_likelihood_[-1], one[0]))
        chain, best = results[0]
        details: dict[str, Any] = {"chain": chain, "sweeps": steps, "beta": best.beta_, "chains": len(results)}
        details["log_likelihood"] = [float(model.log_likelihood_[-1]) for _, model in results]
        grown.append(best.topics(corpus.vocabulary, provenance(models.LDA, part, seed, **details)))
        running = list(results[: max(1, len(results) // 2)])
    return grown
