"""The reference beside the exact value: does its stated error cover its error?

PLSA and LDA are trained with few topics, on the training documents of a split, and the test documents are evaluated
exactly and by `heldout.evaluators.reference` under several priors of theta and constants: a cell each. Where exact
values of all test documents would cost more than `limit`, the first ones that do not are taken.

Variants name the prior: "reference-own" (PLSA: Dirichlet(1); LDA: that of its training), "reference-flat" (LDA:
Dirichlet(1)), "reference-fitted" (`heldout.models.dirichlet_prior`) and "reference-sum-0.5", symmetric with that sum.
Further constants are added to PLSA's topics under its own prior.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.evaluation import in_vocabulary
from heldout.evaluators.exact_marginal import cost, exact_marginal
from heldout.evaluators.reference import reference
from heldout.measurements import Measurement
from heldout.models import LDA, PLSA, lda, plsa
from heldout.models.dirichlet_prior import fit_prior
from heldout.scores import Score
from heldout.seeds import generator
from heldout.topics import Topics

KIND = "reference"
DIFFERENCE, DOCUMENTS_Z, TOKENS = "reference-less-exact", "reference-z-of-documents", "reference-tokens"


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    iterations: int,
    alpha_sum: float,
    beta: float,
    sweeps: int,
    smoothing: float,
    constants: Sequence[float],
    prior_sums: Sequence[float],
    samples: Sequence[int],
    limit: float,
) -> tuple[list[Score], list[Measurement]]:
    """Measure the reference's error in the cells of one corpus and seed.

    Args:
        corpus: all documents.
        seed: determines the split, the training and the draws.
        test_documents: how many documents are held out.
        topics: numbers of topics.
        iterations: of PLSA's EM.
        alpha_sum: of LDA's prior.
        beta: of LDA's topics.
        sweeps: of LDA's sampler.
        smoothing: the constant added to p(w | z) of PLSA.
        constants: further ones.
        prior_sums: sums of symmetric priors of theta.
        samples: the reference's most sweeps over a document, on average.
        limit: the most updates that the exact values of a cell may cost.

    Returns:
        No scores. Measurements of every cell on the axis "samples": "reference-less-exact", the difference of the sums
        over documents, nats, with the error that the reference states; the root mean square over documents of their
        differences in their own standard errors; and the number of tokens.

    Raises:
        InputError: as training and evaluators do.
    """
    training, test = train_test_split(corpus, test_documents, seed)
    measurements: list[Measurement] = []
    for model, K, constant, prior, trained in cells(
        training,
        *(topics, seed, iterations, smoothing, constants, prior_sums),
        {"alpha_sum": alpha_sum, "beta": beta, "sweeps": sweeps},
    ):
        documents, _ = in_vocabulary(test, trained)
        affordable = np.flatnonzero(np.cumsum([cost([length], K) for length in documents.lengths]) <= limit)
        if len(affordable) == 0:
            continue
        documents = documents.subset(affordable)
        exact = exact_marginal(trained, documents).log_likelihood
        named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": f"{KIND}-{prior}", "topics": K}
        named |= {"smoothing": constant, "seed": seed}
        for most in samples:
            evaluation = reference(trained, documents, most, generator(KIND, **named, samples=most))
            differences, errors = evaluation.log_likelihood - exact, evaluation.standard_error
            uncertain = errors > 0.0
            z = np.sqrt(np.mean((differences[uncertain] / errors[uncertain]) ** 2)) if uncertain.any() else 0.0
            at: dict[str, Any] = {**named, "chain": "none", "axis": "samples", "at": most}
            total = float(differences.sum())
            measurements += [
                Measurement(quantity=DIFFERENCE, value=total, standard_error=evaluation.total_error(), **at),
                Measurement(quantity=DOCUMENTS_Z, value=float(z), **at),
                Measurement(quantity=TOKENS, value=float(evaluation.tokens.sum()), **at),
            ]
    return [], measurements


def cells(
    training: Corpus,
    topics: Sequence[int],
    seed: int,
    iterations: int,
    smoothing: float,
    constants: Sequence[float],
    prior_sums: Sequence[float],
    of_lda: dict[str, Any],
) -> Iterator[tuple[str, int, float, str, Topics]]:
    """Yield model, K, the constant added, the prior's name and the topics of every cell."""
    for K in topics:
        fits = {
            PLSA: plsa.train(training, topics=K, seed=seed, iterations=iterations, tolerance=0.0)[0],
            LDA: lda.train(training, topics=K, seed=seed, chains=1, **of_lda)[0],
        }
        for model, fit in fits.items():
            constant = smoothing if model == PLSA else 0.0
            trained = fit.smoothed(constant) if constant else fit
            yield model, K, constant, "own", trained
            if model == LDA:
                yield model, K, constant, "flat", replace(trained, alpha=np.ones(K))
            rng = generator(f"{KIND}-prior", corpus=training.name, model=model, topics=K, seed=seed)
            yield model, K, constant, "fitted", fit_prior(trained, training, rng)
            for alpha_sum in prior_sums:
                yield model, K, constant, f"sum-{alpha_sum:g}", replace(trained, alpha=np.full(K, alpha_sum / K))
            for other in constants if model == PLSA else ():
                yield model, K, other, "own", fit.smoothed(other)
