"""GaP and the conditional GaP (equations 27.15 to 27.17) by Gibbs sampling, and NMF, which has no prior.

All are folded in: the Poisson likelihood at the weights that maximise it. Likelihoods are exact for few components.
Beyond, they are annealed: GaP's as LDA's by the reference, for its rates are equal, so that given the length it is LDA.
NMF has none. Also measured:

    gap-less-mpca           max_d |log p_GaP(n) - log NB(L) - log p_LDA(n | L)| with b and alpha shared, nats
    nmf-under-gap           the likelihood of NMF's b under GaP's prior, nats per token
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from gallery.member import FOLDED, Member, Split
from gallery.tokens.evaluators.annealed_counts import gap_annealed
from gallery.tokens.members.data import deterministic, folded_in, folded_in_given_length, in_rounds, orders
from gallery.tokens.models import gap
from heldout.corpora.corpus import Corpus
from heldout.evaluators.count_polynomial import GammaPoissonMoments, gap_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.reference import reference
from heldout.models import nmf
from heldout.topics import Topics
from heldout.typing import Floats, Ints

GAP_LESS_MPCA, NMF_UNDER_GAP = "gap-less-mpca", "nmf-under-gap"


class Fitted(NamedTuple):
    """The model whose prior counts, and the components b, (K, V)."""

    prior: gap.GaP
    b: Floats


@dataclass(frozen=True)
class _Factors(Member[Corpus, Fitted]):
    """Components that are folded in."""

    usual = FOLDED
    alpha: float
    gamma: float
    exact_topics: int
    fold_in_iterations: int

    def usual_score(self, fitted: Fitted, test: Corpus) -> Evaluation:
        return deterministic(folded_in(test, fitted.b, self.fold_in_iterations), test)

    def gap(self, training: Corpus, K: int, random: np.random.Generator, sweeps: int, rho: float = 0.0) -> Fitted:
        """Return GaP after `sweeps` of Gibbs sampling, with its mean components."""
        model = gap.GaP.of(self, K, rho=rho, sweeps=sweeps, random_state=random)
        model.fit(training.counts())
        return Fitted(model, model.components_)

    def given_length(self, fitted: Fitted, test: Corpus) -> Floats:
        return folded_in_given_length(test, fitted.b, self.fold_in_iterations)

    def under_prior(self, fitted: Fitted, test: Corpus) -> Evaluation | None:
        """Return the exact likelihood under the prior; None for more components than the kernel is asked for."""
        if len(fitted.b) > self.exact_topics:
            return None
        b, prior = np.ascontiguousarray(fitted.b.T), (fitted.prior.alpha_, fitted.prior.beta_, fitted.prior.rho_)
        return deterministic(gap_marginal(test.counts().toarray(), b, *prior) - orders(test), test)


@dataclass(frozen=True)
class _WithoutSpike(_Factors):
    """Components under the prior of GaP."""

    samples: int

    def annealed(self, fitted: Fitted, test: Corpus, random: np.random.Generator) -> Evaluation:
        """Return the likelihood under GaP's prior by the reference's annealing of LDA."""
        sequence = reference(_topics(fitted, test), test, self.samples, random)
        return replace(sequence, log_likelihood=_length_log_likelihood(fitted, test) + sequence.log_likelihood)


@dataclass(frozen=True)
class GaP(_WithoutSpike):
    """GaP after `sweeps` of Gibbs sampling."""

    name, label, sampled = "gap", "GaP", True
    sweeps: int

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Fitted:
        return self.gap(training, K, random, self.sweeps)

    def likelihood(self, fitted: Fitted, test: Corpus) -> Evaluation | None:
        return self.under_prior(fitted, test)

    def estimated(self, fitted: Fitted, test: Corpus, random: np.random.Generator) -> Evaluation:
        return self.annealed(fitted, test, random)

    def measured(
        self, fitted: Fitted, split: Split[Corpus], likelihood: Evaluation | None, random: np.random.Generator
    ) -> Mapping[str, float]:
        if likelihood is None or len(fitted.b) > self.exact_topics:
            return {}
        under_lda = exact_marginal(_topics(fitted, split.test), split.test).log_likelihood
        differences = np.abs(likelihood.log_likelihood - _length_log_likelihood(fitted, split.test) - under_lda)
        return {GAP_LESS_MPCA: float(differences.max())}


@dataclass(frozen=True)
class ConditionalGaP(_Factors):
    """GaP whose weights are 0 with probability `rho`."""

    name, label, sampled = "conditional-gap", "conditional GaP", True
    rho: float
    sweeps: int
    chains: int
    temperatures: int

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Fitted:
        return self.gap(training, K, random, self.sweeps, self.rho)

    def likelihood(self, fitted: Fitted, test: Corpus) -> Evaluation | None:
        return self.under_prior(fitted, test)

    def estimated(self, fitted: Fitted, test: Corpus, random: np.random.Generator) -> Evaluation:
        b, model = np.ascontiguousarray(fitted.b.T), fitted.prior
        prior = GammaPoissonMoments(model.alpha_, model.beta_, b.sum(axis=0), model.rho_)

        def anneal(cases: Corpus, steps: int) -> tuple[Floats, Floats]:
            value, error = gap_annealed(cases.counts().toarray(), b, prior, self.chains, random, temperatures=steps)
            return value - orders(cases), error

        return in_rounds(anneal, test, self.temperatures)


@dataclass(frozen=True)
class NMF(_WithoutSpike):
    """NMF after at most `iterations`, its components smoothed by `smoothing`."""

    name, label = "nmf", "NMF"
    iterations: int
    smoothing: float

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Fitted:
        W = nmf.NMF(K, iterations=self.iterations, random_state=random).fit(training.counts()).parameters_.T
        b = (W + self.smoothing) / (1.0 + self.smoothing * W.shape[1])
        return self.gap(training, K, random, sweeps=1)._replace(b=b)

    def measured(
        self, fitted: Fitted, split: Split[Corpus], likelihood: Evaluation | None, random: np.random.Generator
    ) -> Mapping[str, float]:
        under_gap = self.under_prior(fitted, split.test) or self.annealed(fitted, split.test, random)
        return {NMF_UNDER_GAP: under_gap.log_likelihood.sum() / under_gap.tokens.sum()}


def _topics(fitted: Fitted, test: Corpus) -> Topics:
    return Topics(fitted.b, fitted.prior.alpha_, test.vocabulary)


def _length_log_likelihood(fitted: Fitted, test: Corpus) -> Floats:
    return negative_binomial(test.lengths, float(fitted.prior.alpha_.sum()), float(fitted.prior.beta_[0]))


def negative_binomial(lengths: Ints, shape: float, rate: float) -> Floats:
    """Return log NB(L), (D,) nats, of the sum of GaP's weights, Ga(shape, rate), through the Poisson."""
    L = lengths.astype(float)
    log_likelihood: Floats = (
        gammaln(shape + L) - gammaln(shape) - gammaln(L + 1.0) + shape * math.log(rate) - (shape + L) * math.log1p(rate)
    )
    return log_likelihood
