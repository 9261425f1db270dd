"""The user rating profile (equation 27.14) by variational EM: its bound, and its likelihood, exact or by annealing."""

from dataclasses import dataclass

import numpy as np

from gallery.member import BOUND, RECORDS, Member
from gallery.tokens.evaluators.annealed_counts import rating_profile_annealed
from gallery.tokens.members.data import deterministic, in_rounds
from gallery.tokens.models.user_rating_profile import UserRatingProfile as Model
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.evaluators.count_polynomial import rating_profile_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.typing import Floats


@dataclass(frozen=True)
class UserRatingProfile(Member[Corpus, Model]):
    """The profile with the Dirichlet parameter `alpha` and `gamma` pseudo-counts of every value."""

    name, label, usual, data = "user-rating-profile", "user rating profile", BOUND, (RECORDS,)
    alpha: float
    gamma: float
    iterations: int
    exact_topics: int
    chains: int
    temperatures: int

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Model:
        profile = Model.of(self, K, values=training.provenance["values"], random_state=random)
        return profile.fit(responses_of(training))

    def usual_score(self, fitted: Model, test: Corpus) -> Evaluation:
        return deterministic(fitted.bound(responses_of(test)), test)

    def likelihood(self, fitted: Model, test: Corpus) -> Evaluation | None:
        if fitted.n_components > self.exact_topics:
            return None
        return deterministic(rating_profile_marginal(responses_of(test), fitted.tables_, fitted.alpha_), test)

    def estimated(self, fitted: Model, test: Corpus, random: np.random.Generator) -> Evaluation:
        def anneal(cases: Corpus, steps: int) -> tuple[Floats, Floats]:
            model = responses_of(cases), fitted.tables_, fitted.alpha_
            return rating_profile_annealed(*model, self.chains, random, temperatures=steps)

        return in_rounds(anneal, test, self.temperatures)
