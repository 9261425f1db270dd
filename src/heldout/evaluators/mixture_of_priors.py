r"""The likelihood under a mixture of Dirichlet priors, from estimates under each of them.

With the prior p(theta) = sum_m pi_m Dir(theta | alpha_m) (`heldout.models.dirichlet_prior`),

    p(w) = sum_m pi_m p(w | alpha_m, phi),

and to first order the variance of log p(w) is sum_m r_m^2 s_m^2, where s_m is the standard error of log p(w | alpha_m,
phi) and r_m = pi_m p(w | alpha_m, phi) / p(w); its bias is sum_m r_m b_m.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from heldout.evaluators.evaluation import Evaluation
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics


def mixture_of_priors(topics: Topics, prior: DirichletMixture, evaluate: Callable[[Topics], Evaluation]) -> Evaluation:
    """Return every document's log p(w) under the mixture, in nats, with its standard error.

    `evaluate` returns the evaluation of the same documents under topics with one component's alpha; components of
    weight 0 are left out.
    """
    used = np.flatnonzero(prior.weights)
    evaluations = [evaluate(replace(topics, alpha=prior.alphas[m])) for m in used]
    logs = np.array([evaluation.log_likelihood for evaluation in evaluations]) + np.log(prior.weights[used])[:, None]
    total = logsumexp(logs, axis=0)
    with np.errstate(invalid="ignore"):
        shares = np.where(np.isneginf(total), 0.0, np.exp(logs - total))
    errors = np.array([evaluation.standard_error for evaluation in evaluations])
    biases = [evaluation.bias for evaluation in evaluations if evaluation.bias is not None]
    return replace(
        evaluations[0],
        log_likelihood=total,
        standard_error=np.sqrt(((shares * errors) ** 2).sum(axis=0)),
        bias=(shares * np.array(biases)).sum(axis=0) if len(biases) == len(evaluations) else None,
    )
