"""LDA by collapsed and uncollapsed Gibbs sampling, variational EM, and batch and online variational Bayes.

Sampled topics are scored with a document folded in, prod_l sum_k pi_k b_k[w_l] at the best pi; points and posterior
means of variational inference by the bound. The likelihood is exact for few components and the reference beyond, which
anneals.
"""

from dataclasses import dataclass

import numpy as np

from gallery.member import BOUND, FOLDED, Member
from gallery.tokens.members.data import deterministic, folded_in_given_length
from gallery.tokens.models.lda_gibbs import LDAGibbs
from gallery.tokens.models.lda_online_vb import OnlineLDAVB
from gallery.tokens.models.lda_vb import LDAVB, document_bounds, e_step
from gallery.tokens.models.lda_vem import LDAVEM
from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.reference import reference
from heldout.models.lda import LDA
from heldout.topics import Topics

PSEUDO_COUNTS_TOLERANCE = 1e-6  # tokens, the mean change of a document's variational parameters that ends its updates


@dataclass(frozen=True)
class _LDA(Member[Corpus, Topics]):
    """LDA with Dirichlet parameters `alpha` of the weights and `gamma` of the topics."""

    usual = FOLDED
    alpha: float
    gamma: float
    exact_topics: int
    samples: int
    fold_in_iterations: int

    def usual_score(self, fitted: Topics, test: Corpus) -> Evaluation:
        return deterministic(folded_in_given_length(test, fitted.phi, self.fold_in_iterations), test)

    def likelihood(self, fitted: Topics, test: Corpus) -> Evaluation | None:
        return exact_marginal(fitted, test) if fitted.n_topics <= self.exact_topics else None

    def estimated(self, fitted: Topics, test: Corpus, random: np.random.Generator) -> Evaluation:
        return reference(fitted, test, self.samples, random)


@dataclass(frozen=True)
class _Sampled(_LDA):
    """LDA after `sweeps` of a Markov chain."""

    sampled = True
    sweeps: int


@dataclass(frozen=True)
class _Variational(_LDA):
    """LDA by variational EM or Bayes of at most `iterations`."""

    usual = BOUND
    iterations: int

    def usual_score(self, fitted: Topics, test: Corpus) -> Evaluation:
        counts, log_b = test.counts(), np.log(fitted.phi)
        pseudo, _ = e_step(
            counts, log_b, fitted.alpha, iterations=self.fold_in_iterations, tolerance=PSEUDO_COUNTS_TOLERANCE
        )
        return deterministic(document_bounds(counts, log_b, fitted.alpha, pseudo), test)


@dataclass(frozen=True)
class CollapsedGibbs(_Sampled):
    """The topics' means given the last sample of 27.37."""

    name, label = models.LDA, "LDA, collapsed Gibbs"

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Topics:
        lda = LDA.of(self, K, beta=self.gamma, random_state=random)
        return lda.fit(training).topics(training.vocabulary)


@dataclass(frozen=True)
class Gibbs(_Sampled):
    """Sampling of weights, topics and assignments, 27.30 to 27.32."""

    name, label = "lda-gibbs", "LDA, Gibbs"

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Topics:
        lda = LDAGibbs.of(self, K, random_state=random)
        return lda.fit(training.counts()).topics(training.vocabulary)


@dataclass(frozen=True)
class PointVEM(_Variational):
    """Points for the topics, 27.38 to 27.46."""

    name, label = "lda-vem", "LDA, variational EM"

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Topics:
        lda = LDAVEM.of(self, K, random_state=random)
        return lda.fit(training.counts()).topics(training.vocabulary)


@dataclass(frozen=True)
class BatchVB(_Variational):
    """Algorithm 27.1."""

    name, label = "lda-vb", "LDA, batch VB"

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Topics:
        lda = LDAVB.of(self, K, random_state=random)
        return lda.fit(training.counts()).topics(training.vocabulary)


@dataclass(frozen=True)
class OnlineVB(_Variational):
    """Algorithm 27.2, `iterations` passes over the documents."""

    name, label = "lda-online-vb", "LDA, online VB"

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Topics:
        lda = OnlineLDAVB.of(self, K, passes=self.iterations, random_state=random)
        return lda.fit(training.counts()).topics(training.vocabulary)
