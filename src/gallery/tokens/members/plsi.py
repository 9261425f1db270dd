"""PLSI by EM, folded in; its likelihood is the mixture over training documents, the only one that it has."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gallery.member import FOLDED, Member
from gallery.tokens.members.data import deterministic, folded_in_given_length
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.training_mixture import training_mixture
from heldout.models.plsa import PLSA
from heldout.topics import Topics
from heldout.typing import Floats


class Fitted(NamedTuple):
    """The topics, smoothed, and the weights of the training documents, (N, K)."""

    topics: Topics
    weights: Floats


@dataclass(frozen=True)
class PLSI(Member[Corpus, Fitted]):
    """PLSI after at most `iterations` of EM, `smoothing` added to the words' probabilities."""

    name, label, usual = "plsi", "pLSI", FOLDED
    iterations: int
    smoothing: float
    fold_in_iterations: int

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Fitted:
        plsa = PLSA(K, iterations=self.iterations, random_state=random).fit(training.counts())
        return Fitted(plsa.topics(training.vocabulary).smoothed(self.smoothing), plsa.document_topics_)

    def usual_score(self, fitted: Fitted, test: Corpus) -> Evaluation:
        return deterministic(folded_in_given_length(test, fitted.topics.phi, self.fold_in_iterations), test)

    def likelihood(self, fitted: Fitted, test: Corpus) -> Evaluation:
        return training_mixture(fitted.topics, fitted.weights, test)
