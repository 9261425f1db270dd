"""EPCA's folding-in against the marginal log p(w | W), h integrated out under the Gaussian prior of the penalty.

The evaluators, of one trained EPCA on the same test documents:

* `marginal-annealed`: `heldout.evaluators.components_marginal.annealed_marginal`;
* `marginal-quadrature`: `quadrature`, for one or two components;
* `full-folding-in`, `half-folding-in`: as in the study's scores, without a constant, half on the scored halves alone.

Full folding-in under the prior's own penalty is optimistic on every document: g(h) = l(h) + log N(h | 0, I / penalty)
falls from its mode m at least as fast as the prior from its own, so that

    log p(w | W) = log ∫ exp(g(h)) dh  <=  l(m) - (penalty / 2) ||m||^2  <=  l(m).
"""

import numpy as np

from artifact.papers.likelihood.settings import EPCAMarginal
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.evaluators.components_marginal import LARGEST_DIMENSION, annealed_marginal, quadrature
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.topics import Components

ANNEALED_MARGINAL, QUADRATURE = "marginal-annealed", "marginal-quadrature"


def experiment(job: Job, settings: EPCAMarginal) -> Results:
    """Score trained components on test documents of a split by the marginal likelihood and by folding-in.

    The components' provenance names the penalty that they were trained with.

    Returns:
        One Score per evaluator; full and half folding-in and quadrature have no samples and no Monte Carlo error. And
        Measurements of the marginals and of full folding-in of every document with tokens, in nats, on the axis
        "document": its index in the test part.

    Raises:
        InputError: when the model has no components or was trained without a penalty.
    """
    components, samples = job.chains[0], settings.samples
    if not isinstance(components, Components) or "penalty" not in components.provenance:
        raise InputError(f"epca-marginal: {job.model} has no Gaussian prior of weights; measure epca")
    penalty = float(components.provenance["penalty"])
    K = components.n_topics
    _, test = job.split()
    order = job.generator("epca-marginal-documents").permutation(test.n_documents)
    chosen = np.sort(order[: settings.documents])
    measured = test.subset(chosen)
    observed, scored = half_split(measured, job.seed)
    rng = job.generator("epca-marginal", model=job.model, topics=K)
    annealed = annealed_marginal(
        components, measured, samples, rng, penalty=penalty, temperatures=settings.temperatures
    )
    evaluations: dict[str, tuple[Evaluation, int]] = {
        ANNEALED_MARGINAL: (annealed, samples),
        FULL: (full_folding_in([components], measured, job.fold_in), 0),
        HALF: (predictive([components], observed, scored, job.fold_in), 0),
    }
    if K <= LARGEST_DIMENSION:
        evaluations[QUADRATURE] = (quadrature(components, measured, penalty=penalty), 0)

    recorder = job.recorder(topics=K, documents=measured.documents)
    for evaluator, (evaluation, drawn) in evaluations.items():
        recorder.score(evaluator, evaluation, samples=drawn)
        if evaluator != HALF:
            recorder.by_document(evaluator, evaluation, positions=chosen)
    return recorder.results
