"""Section 4.1, discrete latent variables: folding in with a point posterior is a lower bound, so it is pessimistic.

A mixture of multinomials (one latent variable per document) and a hidden Markov model (one per token) are trained with
point posteriors, and every test document is scored twice under the same parameters: by its exact log-likelihood and by
max_h log p(x, h), equation 4.30: folding-in with a discrete h.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators import EXACT
from heldout.evaluators.evaluation import Evaluation
from heldout.measurements import Measurement, by_document
from heldout.models.hmm import HMM
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.vem import Float
from heldout.scores import Score, score_of
from heldout.seeds import generator

BOUND = "point-bound"
MIXTURE = "mixture-of-multinomials"
HIDDEN_MARKOV = "hmm"
VARIANT = "point-posterior"

Evaluations = dict[str, Float]


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    smoothing: float,
    iterations: int,
    document_topics: int = 4,
) -> tuple[list[Score], list[Measurement]]:
    """Train both models on the training part and score the test part exactly and by the point bound.

    Args:
        corpus: all documents.
        seed: determines the split and the starts.
        test_documents: how many documents are held out.
        topics: the numbers K of components or states.
        smoothing: added to every p(w | z) once, after training, and renormalised.
        iterations: the largest number of training iterations; training stops earlier where nothing changes any more.
        document_topics: the largest K at which every document's values are reported.

    Returns:
        Scores (evaluators "exact-marginal" and "point-bound"; nats over all tokens, each a joint log-likelihood of
        whole documents), and the same values document by document as measurements (quantity: the evaluator; axis
        "document"; `at` is the index in the test part). Documents without tokens are left out.

    Raises:
        InputError: when K is below 1, the constant is negative, or a model cannot start.
    """
    if not smoothing >= 0.0:
        raise InputError(f"smoothing {smoothing}: the constant must be 0 or more")
    training, test = train_test_split(corpus, test_documents, seed)
    scores: list[Score] = []
    measurements: list[Measurement] = []
    for model in (MIXTURE, HIDDEN_MARKOV):
        for k in topics:
            random = generator("discrete-latents", corpus=corpus.name, model=model, topics=k, seed=seed)
            evaluate = _mixture if model == MIXTURE else _hidden_markov
            values = evaluate(training, test, k, iterations, smoothing, random)
            for evaluator, nats in values.items():
                evaluation = Evaluation.deterministic(nats, test.lengths)
                named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": VARIANT, "topics": k}
                named |= {"smoothing": smoothing, "chain": "none", "seed": seed}
                scores.append(score_of(evaluation, evaluator=evaluator, **named))
                if k <= document_topics:
                    measurements += by_document(evaluation, quantity=evaluator, **named)
    return scores, measurements


def _mixture(
    training: Corpus, test: Corpus, topics: int, iterations: int, smoothing: float, random: np.random.Generator
) -> Evaluations:
    model = MultinomialMixture(topics, iterations=iterations, random_state=random).fit(training.counts())
    parameters, counts = model.parameters_.smoothed(smoothing), test.counts()
    return {EXACT: model.log_likelihood(counts, parameters), BOUND: model.point_bound(counts, parameters)}


def _hidden_markov(
    training: Corpus, test: Corpus, topics: int, iterations: int, smoothing: float, random: np.random.Generator
) -> Evaluations:
    model = HMM(topics, iterations=iterations, random_state=random).fit(training)
    parameters = model.parameters_.smoothed(smoothing)
    return {EXACT: model.log_likelihood(test, parameters), BOUND: model.point_bound(test, parameters)}
