"""EPCA's folding-in against the marginal log p(w | W), h integrated out under the Gaussian prior of the penalty.

The evaluators, of one trained EPCA on the same test documents:

* `marginal-annealed`: `heldout.evaluators.components_marginal.annealed_marginal`;
* `marginal-quadrature`: `quadrature`, for one or two components;
* `full-folding-in`, `half-folding-in`: as in the study's scores, without a constant, half on the scored halves alone.

Full folding-in under the prior's own penalty is optimistic on every document: g(h) = l(h) + log N(h | 0, I / penalty)
falls from its mode m at least as fast as the prior from its own, so that

    log p(w | W) = log ∫ exp(g(h)) dh  <=  l(m) - (penalty / 2) ||m||^2  <=  l(m).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.evaluators.components_marginal import LARGEST_DIMENSION, annealed_marginal, quadrature
from heldout.evaluators.evaluation import Evaluation, FoldIn
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.measurements import Measurement, by_document
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Components

ANNEALED, QUADRATURE = "marginal-annealed", "marginal-quadrature"


def experiment(
    corpus: Corpus,
    *,
    chains: Sequence[Components],
    model: str,
    variant: str,
    seed: int,
    test_documents: int,
    fold_in: FoldIn,
    documents: int = 50,
    samples: int = 10,
    temperatures: int = 30,
) -> tuple[list[Score], list[Measurement]]:
    """Score trained components on test documents of a split by the marginal likelihood and by folding-in.

    Args:
        corpus: all documents.
        chains: the components; their provenance names the penalty they were trained with.
        model: the model's name.
        variant: the name that the rows get.
        seed: determines the split, the choice of documents and the draws.
        test_documents: how many documents are held out.
        fold_in: the model's folding in.
        documents: how many of the test documents are measured, drawn at random; all where they are fewer.
        samples: annealing chains per document.
        temperatures: steps between Laplace approximation and posterior.

    Returns:
        One Score per evaluator; full and half folding-in and quadrature have no samples and no Monte Carlo error. And
        Measurements of the marginals and of full folding-in of every document with tokens, in nats, on the axis
        "document": its index in the test part.

    Raises:
        InputError: when the model has no components or was trained without a penalty, or for less than one document.
    """
    components = chains[0]
    if not isinstance(components, Components) or "penalty" not in components.provenance:
        raise InputError(f"epca-marginal: {model} has no Gaussian prior of weights; measure epca")
    if documents < 1:
        raise InputError(f"epca-marginal: {documents} documents; measure 1 or more")
    penalty = float(components.provenance["penalty"])
    K = components.n_topics
    _, test = train_test_split(corpus, test_documents, seed)
    axes: dict[str, Any] = {"corpus": corpus.name, "seed": seed}
    order = generator("epca-marginal-documents", **axes).permutation(test.n_documents)
    chosen = np.sort(order[:documents])
    measured = test.subset(chosen)
    observed, scored = half_split(measured, seed)
    rng = generator("epca-marginal", **axes, model=model, topics=K)
    evaluations: dict[str, tuple[Evaluation, int]] = {
        ANNEALED: (
            annealed_marginal(components, measured, samples, rng, penalty=penalty, temperatures=temperatures),
            samples,
        ),
        FULL: (full_folding_in([components], measured, fold_in), 0),
        HALF: (half_folding_in([components], observed, scored, fold_in), 0),
    }
    if K <= LARGEST_DIMENSION:
        evaluations[QUADRATURE] = (quadrature(components, measured, penalty=penalty), 0)

    scores: list[Score] = []
    measurements: list[Measurement] = []
    named = axes | {"model": model, "variant": variant, "topics": K, "smoothing": 0.0, "chain": "none"}
    for evaluator, (evaluation, drawn) in evaluations.items():
        scores.append(score_of(evaluation, evaluator=evaluator, samples=drawn, **named))
        if evaluator != HALF:
            measurements += by_document(evaluation, at=chosen, quantity=evaluator, **named)
    return scores, measurements
