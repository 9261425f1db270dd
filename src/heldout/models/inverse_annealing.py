r"""PLSA by EM with early stopping, by tempered EM as Hofmann ran it, and by annealing (Hofmann 1999, section 3.6).

p(w | d) = sum_z p(w | z) p(z | d) is fitted to the training tokens of every document. The fit is monitored by the
perplexity of the validation tokens of the same documents,

    exp(-sum_{d,w} n_val(d, w) log sum_z p(w | z) p(z | d) / sum_{d,w} n_val(d, w)),

always under the untempered mixture. One iteration at inverse temperature beta is that of `heldout.models.plsa_tem`,
which never raises the free energy of equation 8,

    F_beta = sum_{d,w} n(d, w) sum_z q(z | d, w) [log q(z | d, w) - beta log(p(w | z) p(z | d))],

whose minimum over q is equation 9, q(z | d, w) ∝ [p(w | z) p(z | d)]^beta (p(d)^beta cancels). There F_beta(W, H) =
-sum n log sum_k (W H)^beta. With S(q) the sum of the entropies, F_beta = -S(q) - beta sum n q log(W H): a smaller beta
gives the entropy more weight, so that posteriors flatten and topics and weights fit single tokens less closely.

Inverse annealing, the steps of section 3.6:

1. beta = 1: EM, from the random start of `heldout.models.plsa`, with early stopping: until `early_patience` iterations
   in a row have not lowered the validation perplexity. They have made it worse; an iteration that lowers it by however
   little never stops EM.
2. beta <- eta beta, one iteration.
3. Iterate at this beta as long as each iteration lowers the validation perplexity by more than the share `tolerance` of
   the lowest so far ("non-negligibly"); then step 2. This rule does stop because progress is slow.
4. Stop when `patience` values of beta in a row have not lowered the validation perplexity.

Every beta starts from the parameters that are best so far on the validation tokens, and the best overall are returned
(the source specifies neither). Early stopping is step 1 alone; at beta = 1 the iterations are plain EM, bit for bit.

Annealing, the continuation method that the source compares with, goes the other way. It starts at a small beta, where
the posteriors are nearly uniform, iterates until an iteration lowers F_beta by less than `convergence` nats per token,
and divides beta by eta, up to beta = 1. At small beta all topics coincide: a stationary point that becomes unstable as
beta grows but that iterations leave only slowly. So at every new beta each entry of W is multiplied by 1 + noise z,
z ~ N(0, 1), as Rose (1998) does. Every beta continues from the last parameters, not from the best. Annealing stops
early when, for `patience` values of beta in a row, the final validation perplexity exceeds the lowest final one of any
beta by more than the share `tolerance`; final values are compared so that the plateau at small beta does not stop it.
The best parameters are returned.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import TEM
from heldout.models.estimator import checked_counts, provenance
from heldout.models.plsa import Cells, random_start, rescaled, revive
from heldout.models.plsa_tem import PLSATEM
from heldout.seeds import generator
from heldout.topics import Topics, perplexity
from heldout.typing import Floats

SMALLEST_BETA = 1e-3  # least beta; at a smaller one all topics coincide


class Step(NamedTuple):
    """One iteration of (tempered) EM: beta, -F_beta before it, nats, and after it the validation tokens' perplexity.

    The perplexity is inf if a token has probability 0.
    """

    beta: float
    objective: float
    perplexity: float


@dataclass(frozen=True, eq=False)
class Fit:
    """The parameters that were best on the validation tokens, and the iterations that led there.

    The topics have the flat prior, and `beta` in the provenance, as `plsa_tem.fold_in` requires; `document_topics`, (D,
    K), are p(z | d) of the training documents. Of the best iteration there are beta, the perplexity and its number from
    the random start; `path` has every iteration, also the ones after the best.
    """

    topics: Topics
    document_topics: Floats
    beta: float
    perplexity: float
    iterations_to_best: int
    path: tuple[Step, ...]


class _Trace:
    """The current parameters, and a copy of the best so far."""

    def __init__(self, training: Corpus, validation: Corpus, topics: int, seed: int, iterations: int) -> None:
        if topics < 1 or iterations < 1:
            raise InputError(f"tempered EM: {topics} topics and {iterations} iterations; both must be 1 or more")
        if validation.n_tokens == 0 or validation.vocabulary != training.vocabulary:
            raise InputError(
                f"tempered EM: the validation tokens of {validation.name} are none, or over another vocabulary;"
                " split the tokens of one corpus"
            )
        self.training, self.K, self.iterations, self.seed = training, topics, iterations, seed
        counts = checked_counts(training.counts(), "tempered EM")
        self.cells, self.validation = Cells.of(counts), Cells.of(validation.counts())
        self.validation_tokens = validation.n_tokens
        model = PLSATEM(topics, random_state=random_start(training, topics, seed))
        self.W, self.H, self.totals = model.start(counts.shape)
        self.best = (self.W.copy(), self.H.copy(), self.totals.copy())
        self.lowest, self.at_best, self.beta_at_best = np.inf, 0, 1.0
        self.path: list[Step] = []
        self.unused = np.empty_like(self.H)

    def steps(self, beta: float) -> Iterator[Step]:
        """Yield iterations at one beta, until the largest total number is reached."""
        model = PLSATEM(self.K, beta=beta)
        while len(self.path) < self.iterations:
            objective = model._iterate(self.cells, self.W, self.H, self.totals)
            revive(self.W, self.totals[: self.K])
            fit = self.validation.documents_pass(self.W, rescaled(self.H, self.totals), self.unused)
            step = Step(beta, objective, perplexity(fit, self.validation_tokens))
            self.path.append(step)
            if step.perplexity < self.lowest:
                self.lowest, self.at_best, self.beta_at_best = step.perplexity, len(self.path), beta
                for kept, now in zip(self.best, (self.W, self.H, self.totals), strict=True):
                    kept[:] = now
            yield step

    def perturb(self, noise: float, random: np.random.Generator) -> None:
        if noise > 0.0:
            self.W[:, : self.K] *= 1.0 + noise * random.standard_normal((self.W.shape[0], self.K))
            np.maximum(self.W, 0.0, out=self.W)
            self.totals[:] = self.W.sum(axis=0)

    def back_to_the_best(self) -> None:
        for now, kept in zip((self.W, self.H, self.totals), self.best, strict=True):
            now[:] = kept

    def fit(self) -> Fit:
        """Return a copy of the best parameters so far."""
        W, H, _ = self.best
        components = np.ascontiguousarray(W[:, : self.K].T)
        components /= components.sum(axis=1, keepdims=True)
        details = provenance(
            TEM,
            self.training,
            self.seed,
            iterations=self.at_best,
            beta=self.beta_at_best,
            validation_perplexity=self.lowest,
        )
        return Fit(
            Topics(components, np.ones(self.K), self.training.vocabulary, details),
            H[:, : self.K].copy(),
            self.beta_at_best,
            float(self.lowest),
            self.at_best,
            tuple(self.path),
        )


def inverse_annealing(
    training: Corpus,
    validation: Corpus,
    *,
    topics: int,
    seed: int,
    early_patience: int,
    eta: float,
    tolerance: float,
    patience: int,
    iterations: int,
) -> tuple[Fit, Fit]:
    """Fit PLSA by EM with early stopping and, from there, by inverse annealing.

    The validation tokens are others of the same D documents as the training tokens, over the same V words, which occur
    in the latter. Corpus, K and seed determine the random start, the same as in `plsa.train`. Early stopping ends
    after `early_patience` iterations in a row without improvement, annealing after `patience` values of beta; `eta`, in
    (0, 1), is the factor of beta from step to step, `tolerance`, in [0, 1), what is negligible at a beta below 1, as a
    share of the lowest validation perplexity, `iterations` their largest number in all.

    The latter's path begins with the former's. Memory: 2 arrays of V K and 4 of D K numbers, and V K more for every
    fit. Raises InputError for a setting out of range, or without training or validation tokens.
    """
    _check(eta, tolerance, min(patience, early_patience))
    trace = _Trace(training, validation, topics, seed, iterations)
    for _ in trace.steps(1.0):
        if len(trace.path) - trace.at_best >= early_patience:
            break
    early = trace.fit()
    beta, failures = eta, 0
    while failures < patience and beta >= SMALLEST_BETA and len(trace.path) < iterations:
        old_lowest = lowest = trace.lowest
        trace.back_to_the_best()
        for step in trace.steps(beta):
            if step.perplexity >= (1.0 - tolerance) * lowest:
                break
            lowest = step.perplexity
        failures = 0 if trace.lowest < old_lowest else failures + 1
        beta *= eta
    return early, trace.fit()


def annealing(
    training: Corpus,
    validation: Corpus,
    *,
    topics: int,
    seed: int,
    start: float,
    eta: float,
    convergence: float,
    noise: float,
    tolerance: float,
    patience: int,
    iterations: int,
) -> Fit:
    """Fit PLSA by annealing: beta from `start` up to 1, to convergence at each.

    Tokens, K, seed and the largest number of iterations are as in `inverse_annealing`, and so are its errors. The first
    beta is `start`, in (0, 1], divided by `eta`, in (0, 1), at each step. A beta is done when an iteration lowers the
    free energy by less than `convergence` nats per token. `noise`, in [0, 0.1], is the standard deviation of the
    relative perturbation of every p(w | z) at a new beta. A beta counts as worse if its final validation perplexity
    exceeds the lowest final one of any beta by more than the share `tolerance`, in [0, 1); after `patience` worse ones
    in a row it ends.
    """
    _check(eta, tolerance, patience)
    if not (0.0 < start <= 1.0 and convergence > 0.0 and 0.0 <= noise <= 0.1):
        raise InputError(
            f"annealing: start {start}, convergence {convergence}, noise {noise};"
            " give one in (0, 1], one above 0, one in [0, 0.1]"
        )
    random = generator("annealing-noise", corpus=training.name, topics=topics, seed=seed)
    trace = _Trace(training, validation, topics, seed, iterations)
    beta, worse, lowest = start, 0, np.inf
    while worse < patience and len(trace.path) < iterations:
        trace.perturb(noise, random)
        previous = -np.inf
        for step in trace.steps(beta):
            if step.objective - previous < convergence * training.n_tokens:
                break
            previous = step.objective
        reached = trace.path[-1].perplexity
        worse, lowest = worse + 1 if reached > (1.0 + tolerance) * lowest else 0, min(lowest, reached)
        if beta == 1.0:
            break
        beta = min(1.0, beta / eta)
    return trace.fit()


def _check(eta: float, tolerance: float, patience: int) -> None:
    if not (0.0 < eta < 1.0 and 0.0 <= tolerance < 1.0 and patience >= 1):
        raise InputError(
            f"tempered EM: eta {eta}, tolerance {tolerance}, patience {patience};"
            " give eta in (0, 1), tolerance in [0, 1), patience 1 or more"
        )
