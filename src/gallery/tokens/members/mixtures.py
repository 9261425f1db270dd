"""Mixtures of multinomials (27.4), of Poissons (27.5) and of categoricals (27.3), by exact EM; exact likelihoods.

The usual score is the bound of the best component, max_k log p(x, k). Also measured, of Poissons:

    poisson-less-parts      max_d |log p(n) - log(mixture of Poi(L) Mu(n | L))|, nats
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp

from gallery.member import BEST, RECORDS, Member, Split
from gallery.tokens.members.data import deterministic, kind_of, orders
from gallery.tokens.models.categorical_mixture import CategoricalMixture
from gallery.tokens.models.poisson_mixture import PoissonMixture
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.evaluators.evaluation import Evaluation
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.typing import Floats

POISSON_LESS_PARTS = "poisson-less-parts"


@dataclass(frozen=True)
class _Mixture(Member[Corpus, Any]):
    """A mixture after at most `iterations` of EM, whose probabilities get the constant `smoothing` afterwards."""

    usual = BEST
    model: ClassVar[Any]
    iterations: int
    smoothing: float

    def observed(self, corpus: Corpus) -> Any:
        """Return a corpus as the model takes it."""
        return corpus.counts()

    def of_sequences(self, values: Floats, test: Corpus) -> Evaluation:
        """Return log p of sequences of tokens from the model's values, (D,) nats."""
        return deterministic(values, test)

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Any:
        settings = {"values": training.provenance["values"]} if kind_of(training) == RECORDS else {}
        settings |= {"posterior": "exact", "iterations": self.iterations, "random_state": random}
        mixture = self.model(K, **settings).fit(self.observed(training))
        mixture.parameters_ = mixture.parameters_.smoothed(self.smoothing)
        return mixture

    def usual_score(self, fitted: Any, test: Corpus) -> Evaluation:
        return self.of_sequences(fitted.point_bound(self.observed(test)), test)

    def likelihood(self, fitted: Any, test: Corpus) -> Evaluation:
        return self.of_sequences(fitted.log_likelihood(self.observed(test)), test)


@dataclass(frozen=True)
class MixtureOfMultinomials(_Mixture):
    """Mixture of documents, given their lengths."""

    name, label, model = "multinomial-mixture", "mixture of multinomials", MultinomialMixture


@dataclass(frozen=True)
class MixtureOfPoissons(_Mixture):
    """Mixture of documents' counts, their lengths among them."""

    name, label, model = "poisson-mixture", "mixture of Poissons", PoissonMixture

    def of_sequences(self, values: Floats, test: Corpus) -> Evaluation:
        """Return log p(n) less the logarithm of the number of orders."""
        return deterministic(values - orders(test), test)

    def given_length(self, fitted: PoissonMixture, test: Corpus) -> Floats:
        totals, lengths = fitted.parameters_.rates.sum(axis=1), test.lengths[:, None]
        with np.errstate(divide="ignore"):
            joint = np.log(fitted.parameters_.weights) + lengths * np.log(totals) - totals - gammaln(lengths + 1.0)
        result: Floats = self.usual_score(fitted, test).log_likelihood - logsumexp(joint, axis=1)
        return result

    def measured(
        self, fitted: PoissonMixture, split: Split[Corpus], likelihood: Evaluation | None, random: np.random.Generator
    ) -> Mapping[str, float]:
        counts, rates = split.test.counts(), fitted.parameters_
        difference = np.abs(fitted.log_likelihood(counts) - by_parts(counts, rates.weights, rates.rates)).max()
        return {POISSON_LESS_PARTS: float(difference)}


@dataclass(frozen=True)
class MixtureOfCategoricals(_Mixture):
    """Mixture of records, their gaps integrated out."""

    name, label, data, model = "categorical-mixture", "mixture of categoricals", (RECORDS,), CategoricalMixture

    def observed(self, corpus: Corpus) -> Any:
        """Return responses, (N, R)."""
        return responses_of(corpus)


def by_parts(counts: sp.csr_array, weights: Floats, rates: Floats) -> Floats:
    """Return log sum_k pi_k Poi(L | Lambda_k) Mu(n | L, lambda_k / Lambda_k), (D,) nats: 27.5 as 27.4 with a length."""
    totals, dense = rates.sum(axis=1), counts.toarray()
    lengths = dense.sum(axis=1)[:, None]
    length_terms = lengths * np.log(totals) - totals - gammaln(lengths + 1.0)
    orders = gammaln(lengths + 1.0) - gammaln(dense + 1.0).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        joint = np.log(weights) + length_terms + orders + counts @ np.log(rates / totals[:, None]).T
    return np.asarray(logsumexp(joint, axis=1))
