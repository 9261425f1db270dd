"""Section 4.1 on real documents: optimistic and pessimistic evaluators, against the exact marginal.

The evaluators, of one model's topics on one split's test documents:

* `exact-marginal`: log p(w | alpha, phi), theta integrated out;
* `mean-field-bound`: B_1 of equation 4.29, a lower bound on it;
* `full-folding-in`, `half-folding-in`: as in the study's scores, half on the scored halves' tokens only;
* `full-folding-in-joint`: B_2 of equation 4.30, log p(w | h) + log Dir(h | 1) = log p(w | h) + log Gamma(K) at the
  folded-in h. Only for a flat prior and folding-in by EM, which then is the maximum over h that the equation asks for.
"""

import math
from dataclasses import replace

import numpy as np

from artifact.papers.welling.settings import Bounds
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, FOLDING_IN, FULL, HALF, MEAN_FIELD_BOUND
from heldout.evaluators.evaluation import Evaluation, first_chain
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound

JOINT = "full-folding-in-joint"
TOKENS = "tokens"


def experiment(job: Job, settings: Bounds) -> Results:
    """Score one model's topics on the test documents of a split with every evaluator above.

    Of a sampled model the first chain alone is measured, and nothing is added to its p(w | z), which have a prior.

    Returns:
        One Score per evaluator (exact and bound: no samples, no Monte Carlo error given the topics), and per test
        document with tokens a Measurement of every evaluator's value in nats (`half-folding-in` aside) and of the
        number of `tokens` scored, on the axis "document": its index in the test part.
    """
    _, test = job.split()
    observed, scored = half_split(test, job.seed)
    topics, smoothing, chain, sampled = first_chain(job.chains, settings.smoothing)
    recorder = job.recorder(topics=topics.n_topics, smoothing=smoothing, chain=chain, documents=test.documents)

    evaluations: dict[str, Evaluation] = {
        EXACT: exact_marginal(topics, test),
        MEAN_FIELD_BOUND: mean_field_bound(topics, test),
        FULL: full_folding_in([topics], test, job.fold_in),
        HALF: predictive([topics], observed, scored, job.fold_in),
    }
    if np.all(topics.alpha == 1.0) and not sampled:
        full = evaluations[FULL]
        joint = full.log_likelihood + np.where(full.tokens > 0, math.lgamma(topics.n_topics), 0.0)
        evaluations[JOINT] = replace(full, log_likelihood=joint)

    tokens = Evaluation.deterministic(evaluations[EXACT].tokens.astype(np.float64), evaluations[EXACT].tokens)
    recorder.by_document(TOKENS, tokens)
    for evaluator, evaluation in evaluations.items():
        folded = sampled and evaluator in FOLDING_IN  # by sampling: its error is not stated
        error = math.nan if folded else None
        recorder.score(evaluator, evaluation, samples=int(folded), standard_error=error)
        if evaluator != HALF:
            recorder.by_document(evaluator, evaluation, error=error)
    return recorder.results
