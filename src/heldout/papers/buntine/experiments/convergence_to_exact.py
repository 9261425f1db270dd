"""Section 4.1 of Buntine (2009), his Figures 1 and 2: estimates of one document's likelihood as samples grow.

One pair of a model and a document is drawn as in `heldout.papers.buntine.experiments.calibration`, at gamma = 0.5. The
paper's captions say L = 14 and K = 4, the figures' titles L = 16 and K = 5; both are run. Every estimator runs several
times at every sample size. A run has one stream of random numbers for all sizes: an estimator that draws its samples
one after the other extends them, as the paper's curves do, and any other starts again.
"""

from collections.abc import Sequence
from typing import Any

from heldout.errors import InputError
from heldout.evaluators import EXACT, HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.measurements import Measurement
from heldout.papers.buntine.experiments.calibration import NONE, draw_pair, side_by_side, variant
from heldout.scores import Score
from heldout.seeds import generator

# the five of the source, in its order
METHODS = (HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL)
ESTIMATE = "estimate-"  # and the estimator's name
SIZES = (100, 200, 500, 1000, 2000, 3500, 5000, 7500, 10000, 15000, 20000)


def experiment(
    *,
    seed: int,
    numbers_of_topics: Sequence[int] = (4, 5),
    tokens: Sequence[int] = (14, 16),
    words: int = 1000,
    gamma: float = 0.5,
    alpha: float = 0.1,
    samples: Sequence[int] = SIZES,
    runs: int = 20,
) -> tuple[list[Score], list[Measurement]]:
    """Return estimates of a document's log p(w | alpha, phi) by the number of samples.

    Args:
        seed: determines the draws.
        numbers_of_topics: K of each pair.
        tokens: L of each pair.
        words: J.
        gamma: the Dirichlet parameter of the topics.
        alpha: the Dirichlet parameter of theta.
        samples: the sample sizes, ascending.
        runs: how often each estimator is run.

    Returns:
        No score; and measurements of the variant "gamma-G", of corpus and model "none", in nats per document:
        "exact-marginal" on the axis "tokens" at L, and "estimate-ESTIMATOR" on the axis "samples", the run's number as
        the chain, with the estimator's own standard error.

    Raises:
        InputError: when the lists do not pair up, a number of topics stands there twice, or a number is not positive.
    """
    if len(numbers_of_topics) != len(tokens) or len(set(numbers_of_topics)) != len(tokens):
        raise InputError(
            "convergence to exact: there must be one number of tokens for each number of topics, all different"
        )
    if min(*numbers_of_topics, *tokens, *samples, words, runs) < 1 or min(gamma, alpha) <= 0.0:
        raise InputError("convergence to exact: every number must be 1 or more, and gamma and alpha positive")
    rows = []
    for topics, length in zip(numbers_of_topics, tokens, strict=True):
        axes = {"topics": topics, "tokens": length, "seed": seed}
        pair = draw_pair(
            generator("convergence-pair", gamma=float(gamma), **axes),
            topics=topics,
            words=words,
            tokens=length,
            gamma=gamma,
            alpha=alpha,
        )
        model, documents, log_factor = side_by_side([pair], alpha)
        shift = length * log_factor
        copies = documents.subset([0] * runs)
        named: dict[str, Any] = {
            "corpus": NONE,
            "model": NONE,
            "variant": variant(gamma),
            "topics": topics,
            "smoothing": 0.0,
            "seed": seed,
        }
        exact = float(exact_marginal(model, documents).log_likelihood[0] + shift)
        rows.append(Measurement(chain=NONE, quantity=EXACT, axis="tokens", at=length, value=exact, **named))
        for name in METHODS:
            for size in samples:
                evaluation = estimate(name, model, copies, size, generator("convergence", estimator=name, **axes))
                rows += [
                    Measurement(
                        chain=str(run),
                        quantity=ESTIMATE + name,
                        axis="samples",
                        at=size,
                        value=float(evaluation.log_likelihood[run] + shift),
                        standard_error=float(evaluation.standard_error[run]),
                        **named,
                    )
                    for run in range(runs)
                ]
    return [], rows
