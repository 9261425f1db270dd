r"""The reference's annealing from both sides: bounds on log p(w) of simulated documents under a mixture of priors.

The annealing of `annealed_prior` under each Dirichlet of p(theta) = sum_m pi_m Dir(theta | alpha_m), which may be one
alone, gives together one weight

    W = sum_m pi_m w_m,      E[W] = sum_m pi_m p(w | alpha_m, phi) = p(w),

as the reference of a mixture takes it. A document that is drawn with its component m and its assignments z comes with
an exact draw (m, z) from their posterior. Component m is then annealed backward from z, the others forward as before.
The paths have the density W / p(w) times that of the paths forward, pi_m p(w | alpha_m) / p(w) of which is the
posterior of m, so that

    E[1 / W] = 1 / p(w),      E log W  <=  log p(w)  <=  E -log mean_s 1 / W_s,

the upper bound over (m, z) and paths (Grosse, Ghahramani and Adams, 2015, whose bidirectional Monte Carlo has one
component). The bounds hold on average over simulated documents: those of a single document may cross.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.annealed_prior import annealed_upper, annealing
from heldout.evaluators.bidirectional import check_assignments, simulate_given
from heldout.evaluators.evaluation import Evaluation, check_samples, log_mean
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics
from heldout.typing import Floats, Ints


class Simulated(NamedTuple):
    """D documents of N tokens, with the topics drawn for their tokens, (N,), and the prior's components, (D,)."""

    documents: Corpus
    assignments: Ints
    components: Ints


def simulate_mixture(topics: Topics, prior: DirichletMixture, lengths: Ints, rng: np.random.Generator) -> Simulated:
    """Draw documents of given lengths, (D,): m ~ pi, theta ~ Dir(alpha_m), z ~ theta, w ~ phi_z."""
    components = rng.choice(len(prior.weights), size=len(lengths), p=prior.weights)
    theta = np.array([rng.dirichlet(prior.alphas[m]) for m in components])
    documents, assignments = simulate_given(topics, theta, lengths, rng)
    return Simulated(documents, assignments, components)


def annealed_bounds(
    topics: Topics,
    prior: DirichletMixture,
    simulated: Simulated,
    rng: np.random.Generator,
    *,
    chains: int = 4,
    steps: int = 500,
) -> tuple[Evaluation, Evaluation]:
    """Return a stochastic lower and a stochastic upper bound on log p(w) of simulated documents, nats.

    Args:
        topics: phi; their own alpha is not used.
        prior: the mixture that the documents were drawn from.
        simulated: the documents, from `simulate_mixture`.
        rng: seeds the streams of documents.
        chains: S, runs in each direction.
        steps: T of every run.

    Returns:
        Evaluations of the documents. The upper one's standard error is NaN: its chains all start from the same draw,
        so their spread is no measure of the error; the spread over documents is.

    Raises:
        InputError: for fewer than one chain or step, or where draws do not fit the documents or the prior.
    """
    check_samples("annealed bounds", min(chains, steps))
    documents, assignments, components = simulated
    check_assignments(topics, documents, assignments)
    used = np.flatnonzero(prior.weights)
    if components.shape != documents.lengths.shape or not np.isin(components, used).all():
        raise InputError("annealed bounds: components do not fit the documents; give what `simulate_mixture` drew")
    every = np.full(len(documents.lengths), steps)
    forward, backward = [], []
    for m in used:
        component, log_share = replace(topics, alpha=prior.alphas[m]), np.log(prior.weights[m])
        runs = annealing(component, documents, rng)
        forward.append(log_share + runs.log_weights(every, chains))
        if (components == m).any():
            reverse = [
                annealed_upper(component, documents, 1, rng, assignments=assignments, steps=steps).log_likelihood
                for _ in range(chains)
            ]
            own = np.array(reverse).T
        else:
            own = np.zeros((len(every), chains))
        others = runs.log_weights(every, chains) if len(used) > 1 else own
        backward.append(log_share + np.where((components == m)[:, None], own, others))
    lower, error = log_mean(_pooled(forward))
    inverse, _ = log_mean(-_pooled(backward))
    lengths = documents.lengths
    unstated = np.where(lengths > 0, np.nan, 0.0)
    return Evaluation(lower, lengths, np.where(lengths > 0, error, 0.0)), Evaluation(0.0 - inverse, lengths, unstated)


def _pooled(log_weights: list[Floats]) -> Floats:
    pooled: Floats = logsumexp(np.array(log_weights), axis=0)
    return pooled
