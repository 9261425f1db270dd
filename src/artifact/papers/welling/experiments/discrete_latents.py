"""Section 4.1, discrete latent variables: folding in with a point posterior is a lower bound, so it is pessimistic.

A mixture of multinomials (one latent variable per document) and a hidden Markov model (one per token) are trained with
point posteriors, and every test document is scored twice under the same parameters: by its exact log-likelihood and by
max_h log p(x, h), equation 4.30: folding-in with a discrete h.
"""

import numpy as np

from artifact.papers.welling.settings import DiscreteLatents
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.evaluators import EXACT
from heldout.evaluators.evaluation import Evaluation
from heldout.models.hmm import HMM
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.typing import Floats

BOUND = "point-bound"
MIXTURE = "mixture-of-multinomials"
HIDDEN_MARKOV = "hmm"
VARIANT = "point-posterior"

Evaluations = dict[str, Floats]


def experiment(job: Job, settings: DiscreteLatents) -> Results:
    """Train both models on the training part and score the test part exactly and by the point bound.

    Returns:
        Scores (evaluators "exact-marginal" and "point-bound"; nats over all tokens, each a joint log-likelihood of
        whole documents), and the same values document by document as measurements (quantity: the evaluator; axis
        "document"; `at` is the index in the test part). Documents without tokens are left out.

    Raises:
        InputError: when a model cannot start.
    """
    training, test = job.split()
    recorder = job.recorder(variant=VARIANT, smoothing=settings.smoothing, documents=test.documents)
    for model in (MIXTURE, HIDDEN_MARKOV):
        for k in settings.topics:
            random = job.generator("discrete-latents", model=model, topics=k)
            evaluate = _mixture if model == MIXTURE else _hidden_markov
            values = evaluate(training, test, k, settings.iterations, settings.smoothing, random)
            row = recorder.at(model=model, topics=k)
            for evaluator, nats in values.items():
                evaluation = Evaluation.deterministic(nats, test.lengths)
                row.score(evaluator, evaluation)
                if k <= settings.document_topics:
                    row.by_document(evaluator, evaluation)
    return recorder.results


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
