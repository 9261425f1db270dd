r"""The reference: log p(w | alpha, phi) where the exact value costs too much, with an error that covers the truth.

S independent runs of annealing from the posterior's mean to the prior (`annealed_prior`), or under a logistic-normal
prior from the Laplace approximation to the posterior (`logistic_normal`), give a document log weights x_s with
E[exp(x)] = p(w). The logarithm of the mean of S weights is low by about half its variance: little for one
document, but it adds up over documents, while errors add up as squares only. So cumulants are estimated instead,

    log p(w) = log E[exp(x)] = c_1 + c_2 / 2 + c_3 / 6 + ...,

by k-statistics (Fisher, 1930), which are unbiased at any S. With m_j = mean (x - k_1)^j,

    k_1 = mean x,      k_2 = S m_2 / (S - 1),      k_3 = S^2 m_3 / ((S - 1)(S - 2)).

What is left out begins with c_4 / 24. x is a sum over the path, so in T steps c_2 falls as 1 / T and c_j as T^(1 - j):
where c_2 is small the others are negligible. Where c_2 is above `LARGE` k_3 / 6 is too noisy and left out, too.

The error of a sum over documents has two parts. The variance of k_1 + k_2 / 2 + k_3 / 6, for normal weights

    c_2 / S + c_2^2 / (2 (S - 1)) + S c_2^3 / (6 (S - 1)(S - 2)),

adds up document by document. k_3 / 6 where it is left out, and what too short a path misses (parts of the posterior
that few chains reach, with large weights), is a bias and adds up before it is squared (`Evaluation.bias`). The latter
shows in the number of steps: if it falls as 1 / T, and a pilot run of T_0 steps is lower by delta, it is delta T_0 /
(T - T_0). That is rather too much: where it matters it falls faster. It is stated, not corrected.

Where it does not show. Under a Dirichlet parameter of about 0.001 few chains meet a topic that a short document needs,
in the pilot and in the run: documents of six tokens come out low by hundredths of a nat per token, several times the
stated error. From 0.01, or with 30 tokens, the stated error holds.

Where the work goes. The pilot shows how much the weights spread. A document then gets as many steps as bring its c_2 to
`variance`, from new random numbers: the choice does not depend on the estimate. Where that takes more than `samples`
sweeps per document on average, weighted by length, all documents get a larger c_2.

A mixture of priors, p(theta) = sum_m pi_m Dir(theta | alpha_m). Each component is annealed for itself, and run s of all
of them together is one log weight of p(w) = sum_m pi_m p(w | alpha_m, phi),

    x_s = log sum_m pi_m w_ms,      E[exp(x_s)] = sum_m pi_m E[w_ms] = p(w),

of which there are S independent ones: cumulants, error and bias are those of x. With the responsibilities r_m = pi_m
p(w | alpha_m, phi) / p(w) and v_m the variance of log w_ms, var(x) = sum_m r_m^2 v_m to first order: a component adds
its share of its error. (Cumulants of the components, which are combined later, do not: where alpha_m does not fit the
document, c_2 is hundreds of nats^2, and k_1 + k_2 / 2 exceeds log p(w) by tens of nats.) The pilot's weights give
every chain's r_m; the steps beyond the pilot's number are divided by their mean. A bias that falls as 1 / T_m in each
component falls as 1 / T in all, 1 / T = sum_m r_m / T_m.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Annealing, Evaluation, check_samples
from heldout.evaluators.priors import AnyModel, prior_of
from heldout.topics import Topics
from heldout.typing import Floats, Ints

if TYPE_CHECKING:  # LDA's kernels take seconds to compile
    from heldout.models.dirichlet_prior import DirichletMixture

CHAINS = 8
VARIANCE = 0.1  # nats^2, of a log weight: the third cumulant is small, and the estimate's variance is an eighth of it
PILOT = 10  # steps of the pilot run; the run itself takes twice as many or more
LARGE = 1.0  # nats^2; c_2 above which the third cumulant is left out
SMALLEST_C2 = 1e-12  # nats^2; smallest c_2 that is aimed at


class LogExpectation(NamedTuple):
    """Estimates of log E[exp(x)] by k-statistics, their standard errors, and the third where left out, nats, (D,)."""

    value: Floats
    standard_error: Floats
    left_out: Floats


def log_expectation(x: Floats) -> LogExpectation:
    """Return estimates of log E[exp(x)] from independent draws, x (D, S), nearly normal, S 3 or more.

    A few draws that miss a tail also miss its share of their variance. So the standard errors take c_2 half from the
    document's own draws, half as the mean over documents, since `reference` makes it equal for all.

    Examples:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).normal(1.0, 0.5, size=(100_000, 8))  # log E[exp(x)] = 1 + 0.5^2 / 2
        >>> log_expectation(x).value.mean().round(2), np.log(np.exp(x).mean(axis=1)).mean().round(2)
        (np.float64(1.13), np.float64(1.11))
    """
    S = x.shape[1]
    mean = x.mean(axis=1)
    deviation = x - mean[:, None]
    m2, m3 = (deviation**2).mean(axis=1), (deviation**3).mean(axis=1)
    k2, k3 = S * m2 / (S - 1), S**2 * m3 / ((S - 1) * (S - 2))
    c2 = (k2 + k2.mean()) / 2.0 if len(k2) else k2
    variance, third = c2 / S + c2**2 / (2 * (S - 1)), S * c2**3 / (6 * (S - 1) * (S - 2))
    large = c2 > LARGE
    value = mean + k2 / 2.0 + np.where(large, 0.0, k3 / 6.0)
    return LogExpectation(value, np.sqrt(variance + np.where(large, 0.0, third)), np.where(large, k3 / 6.0, 0.0))


def variance_for(standard_error: float, chains: int = CHAINS) -> float:
    """Return the variance of a log weight, nats^2, that leads to the given standard error of a document.

    At most `LARGE`, above which the third cumulant would be left out, and at least `SMALLEST_C2`.

    Examples:
        >>> round(variance_for(0.1), 3), variance_for(100.0)
        (0.077, 1.0)
    """
    S, wanted = chains, min(standard_error, 1.0) ** 2
    roots = np.roots([S / (6 * (S - 1) * (S - 2)), 1 / (2 * (S - 1)), 1 / S, -wanted])
    return float(np.clip(roots[np.isreal(roots)].real.max(), SMALLEST_C2, LARGE))  # one root is positive


def reference(
    topics: AnyModel,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    chains: int = CHAINS,
    variance: float = VARIANCE,
) -> Evaluation:
    """Return log p(w) of every document under any prior, with an error of their sum that covers its bias.

    Arguments and result are as in `heldout.evaluators`, under any model that has a prior. `samples` are the most sweeps
    over a document, of all its annealing chains together, as a mean weighted by length; more than bring the variance of
    a log weight (nats^2) to `variance` are not spent. `Evaluation.total_error` combines the errors with the estimates
    of their bias; neither covers a part of the posterior that no chain finds.

    Raises:
        InputError: for fewer than 3 chains, or fewer samples than the pilot and twice its steps take.

    Examples:
        >>> reference(topics, documents, 1000, np.random.default_rng(0), variance=1e-3).log_likelihood.round(1)
        array([-3.7, -0.8])
    """
    runs, pilot, steps = _planned(topics, documents, samples, rng, chains, variance)
    return _evaluation(runs, pilot, runs.log_weights(steps, chains), steps)


def mixture_reference(
    topics: Topics,
    prior: "DirichletMixture",
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    chains: int = CHAINS,
    variance: float = VARIANCE,
) -> Evaluation:
    """Return log p(w) of every document under a mixture of Dirichlet priors instead of the topics' own prior.

    Arguments, result and errors are as in `reference`; `samples` are of all M components with a weight together, and M
    times as many are the fewest.
    """
    used = np.flatnonzero(prior.weights)
    check_samples("reference, chains", chains, 3)
    check_samples("reference", samples, len(used) * least_samples(chains))
    runs = [prior_of(topics).annealing(replace(topics, alpha=prior.alphas[m]), documents, rng) for m in used]
    lengths, log_prior = runs[0].lengths, np.log(prior.weights[used])[:, None, None]
    pilots = log_prior + np.array([run.log_weights(np.full(len(lengths), PILOT), chains) for run in runs])
    pilot = _pooled(pilots)
    mean = allocation(pilot, lengths, samples // len(used) - PILOT * chains, variance)
    further = len(used) * (mean - PILOT) * _shares(pilots, pilot)
    steps = PILOT + further.astype(np.int64)
    weights = log_prior + np.array([run.log_weights(T, chains) for run, T in zip(runs, steps, strict=True)])
    x = _pooled(weights)
    return _evaluation(runs[0], pilot, x, 1.0 / (_shares(weights, x) / steps).sum(axis=0))


def _pooled(log_weights: Floats) -> Floats:
    """Return the log weights, (D, S), of a mixture from the (M, D, S) ones of its components, pi_m included."""
    pooled: Floats = logsumexp(log_weights, axis=0)
    return pooled


def _shares(log_weights: Floats, pooled: Floats) -> Floats:
    """Return the components' responsibilities, (M, D), as means over chains; equal where a document is impossible."""
    finite = np.where(np.isfinite(pooled), pooled, 0.0)
    shares: Floats = np.exp(np.where(np.isfinite(pooled), log_weights - finite, -np.log(len(log_weights)))).mean(axis=2)
    return shares


def _evaluation(runs: Annealing, pilot: Floats, x: Floats, steps: Floats | Ints) -> Evaluation:
    """Return the evaluation from log weights x, (D, S), of runs of (D,) steps, and from the pilot's, (D, S)."""
    value, error, bias = x[:, 0].copy(), np.zeros(len(x)), np.zeros(len(x))
    possible = np.isfinite(value) & (runs.lengths > 0)  # the others have one value
    value[runs.lengths == 0] = 0.0
    value[possible], error[possible], third = log_expectation(x[possible])
    delta = value[possible] - log_expectation(pilot[possible]).value
    bias[possible] = third + delta * PILOT / np.maximum(steps[possible] - PILOT, 1.0)
    return Evaluation(value, runs.lengths, error, runs.left_out, bias)


def sweeps(
    topics: AnyModel,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    chains: int = CHAINS,
    variance: float = VARIANCE,
) -> Ints:
    """Return the number of `reference`'s sweeps over each document with these arguments, (D,), pilot included."""
    return chains * (PILOT + _planned(topics, documents, samples, rng, chains, variance)[2])


def _planned(
    topics: AnyModel, documents: Corpus, samples: int, rng: np.random.Generator, chains: int, variance: float
) -> tuple[Annealing, Floats, Ints]:
    """Return the annealing, the pilot's log weights (D, S) and the steps to take (D,)."""
    check_samples("reference, chains", chains, 3)  # for the third cumulant
    check_samples("reference", samples, least_samples(chains))
    runs = prior_of(topics).annealing(topics, documents, rng)
    pilot = runs.log_weights(np.full(len(runs.lengths), PILOT), chains)
    return runs, pilot, allocation(pilot, runs.lengths, samples - PILOT * chains, variance)


def least_samples(chains: int) -> int:
    """Return the number of sweeps in the pilot and a run of twice its steps."""
    return 3 * PILOT * chains


def allocation(pilot: Floats, lengths: Ints, samples: int, variance: float) -> Ints:
    """Return the number of steps, (D,), that brings every document's variance of log weights to `variance` or more.

    The variance is taken to fall as 1 / T from the variance of the pilot's (D, S) log weights after `PILOT` steps, half
    of it the document's own, half the mean of all. `samples` are as in `reference`, enough for twice the pilot's steps.
    """
    steps = np.full(len(pilot), 2 * PILOT, dtype=np.int64)
    possible = np.isfinite(pilot[:, 0]) & (lengths > 0)
    if not possible.any():
        return steps
    own = pilot[possible].var(axis=1, ddof=1)
    further = np.maximum(PILOT * (own + own.mean()) / 2.0 / variance - 2 * PILOT, 0.0)
    tokens = lengths[possible].astype(np.float64)
    free = (samples / pilot.shape[1] - 2 * PILOT) * tokens.sum()
    steps[possible] += (further * min(1.0, free / max(float(further @ tokens), 1.0))).astype(np.int64)
    return steps
