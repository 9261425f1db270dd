"""The gap between bounds from both sides on simulated documents, and where left-to-right sequential lies in it.

Documents of the test documents' lengths are drawn from a model's topics with their assignments. Their log-likelihood
log p(w | alpha, phi) is bounded from both sides by `heldout.evaluators.bidirectional`, with ever more temperatures,
estimated by left-to-right sequential, and computed exactly where that costs little.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators import SEQUENTIAL
from heldout.evaluators.bidirectional import bidirectional, simulate
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import first_chain
from heldout.evaluators.exact_marginal import exact_within
from heldout.measurements import Measurement, mean_of
from heldout.scores import Score
from heldout.seeds import generator
from heldout.topics import Topics

REFERENCE = SEQUENTIAL
AFFORDABLE = 10**10  # updates; about ten seconds
LOWER, UPPER, GAP, EXACT = "lower-difference", "upper-difference", "gap", "exact-difference"


def experiment(
    corpus: Corpus,
    *,
    chains: Sequence[Topics],
    model: str,
    variant: str,
    seed: int,
    test_documents: int,
    smoothing: float = 0.0,
    documents: int = 50,
    temperatures: Sequence[int] = (10, 30, 100, 300, 1000, 3000),
    samples: int = 4,
    reference_samples: int = 100,
) -> tuple[list[Score], list[Measurement]]:
    """Bound the log-likelihood of documents that are drawn from a model's topics.

    Args:
        corpus: all documents; simulated ones have the lengths of the split's first test documents that hold tokens.
        chains: the topics of the model; of a sampled model the first chain alone is measured.
        model: its name.
        variant: the name that the rows get.
        seed: names split and draws.
        test_documents: how many documents are held out.
        smoothing: the constant to add to p(w | z) of a model that was not sampled (a sampled one has its own prior).
        documents: how many documents are simulated; fewer where the test documents are fewer.
        temperatures: numbers of steps between prior and posterior.
        samples: annealing chains per document and direction.
        reference_samples: samples of left-to-right sequential.

    Returns:
        No scores, and Measurements in nats per document, means over documents with the standard error of the mean from
        their spread. On the axis "temperatures": `lower-difference` and `upper-difference`, bound minus left-to-right
        sequential, and `gap`, upper minus lower bound. On the axis "samples" at `reference_samples`:
        `left-to-right-sequential` itself and, where exact values cost at most `AFFORDABLE` updates, `exact-difference`,
        exact minus left-to-right sequential.

    Raises:
        InputError: when there are fewer than 2 documents, or as the estimators do.
    """
    topics, smoothing, chain, _ = first_chain(chains, smoothing)
    _, test = train_test_split(corpus, test_documents, seed)
    lengths = test.lengths[test.lengths > 0][:documents]
    if len(lengths) < 2:
        raise InputError(f"bidirectional: {len(lengths)} documents of corpus {corpus.name}; simulate 2 or more")
    axes: dict[str, Any] = {"corpus": corpus.name, "model": model, "topics": topics.n_topics, "seed": seed}
    simulated, assignments = simulate(topics, lengths, generator("bidirectional-simulation", **axes))
    named = axes | {"variant": variant, "smoothing": smoothing, "chain": chain}

    def mean(quantity: str, axis: str, at: int, values: NDArray[np.float64]) -> Measurement:
        return mean_of(values, quantity=quantity, axis=axis, at=int(at), **named)

    rng = generator("bidirectional-reference", **axes)
    reference = estimate(REFERENCE, topics, simulated, reference_samples, rng).log_likelihood
    measurements = [mean(REFERENCE, "samples", reference_samples, reference)]
    exact = exact_within(topics, simulated, AFFORDABLE)
    if exact is not None:
        measurements.append(mean(EXACT, "samples", reference_samples, exact.log_likelihood - reference))
    for steps in temperatures:
        rng = generator("bidirectional-annealing", **axes, temperatures=int(steps))
        lower, upper = (
            evaluation.log_likelihood
            for evaluation in bidirectional(
                topics, simulated, samples, rng, assignments=assignments, temperatures=int(steps)
            )
        )
        measurements.append(mean(LOWER, "temperatures", steps, lower - reference))
        measurements.append(mean(UPPER, "temperatures", steps, upper - reference))
        measurements.append(mean(GAP, "temperatures", steps, upper - lower))
    return [], measurements
