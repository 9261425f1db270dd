"""The estimators of the likelihood under each kind of prior of documents' weights; only this module knows the kind.

An exact value, of documents drawn from the model an unbiased estimate from above, and annealing for
`heldout.evaluators.reference`: under a Dirichlet prior, of all documents or of each its own, and a logistic-normal one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators import (
    ESTIMATORS,
    EXACT,
    MEAN_FIELD_BOUND,
    REFERENCE,
    annealed_prior,
    bidirectional,
    document_priors,
    exact_marginal,
)
from heldout.evaluators import logistic_normal as normal
from heldout.evaluators.annealed_prior import annealed_upper
from heldout.evaluators.evaluation import Annealing, Evaluation
from heldout.evaluators.product_of_experts import ProductOfExperts
from heldout.topics import AnyTopics, LogisticNormalTopics, OwnPriors, Topics
from heldout.typing import Ints

SWEEPS = 1e8  # sweeps times tokens of the reference in some ten seconds of one core
MOVES = 3e5  # sweeps, of chains from a Laplace approximation, in the same time at any number of tokens

AnyModel = AnyTopics | ProductOfExperts


@dataclass(frozen=True)
class Prior:
    """A kind of prior, by the estimators that know it; all values are in nats.

    Attributes:
        name: of the kind, before "prior".
        estimators: the names, of `heldout.evaluators.ESTIMATORS`, that take its topics.
        reference: the label of "reference" under it.
        exact: returns exact log-likelihoods of topics and documents, at any cost.
        cost: returns the most updates (`heldout.evaluators.exact_marginal.cost`) that exact values of documents of
            these lengths take at K topics; inf where there are none.
        document_cost: returns the updates that the exact value of a document of these tokens, (L,), takes.
        affordable: returns how many sweeps of the reference over a document, on average, take some ten seconds of one
            core where documents have so many tokens and are so many.
        fewest_chains: of the reference, where more cannot be afforded: over many documents a sum errs by its bias.
        annealing: returns the runs of `heldout.evaluators.reference`.
        simulate: draws documents of given lengths, (D,), and the start of `upper`: the tokens' topics, or the x of
            a document's weights.
        exact_below: updates that a document's exact value may take where others' are estimated; 0 where all are of one
            kind.
        upper: estimates of documents from `simulate`, without bias as inverse probabilities.
    """

    name: str
    estimators: frozenset[str]
    reference: str
    exact: Callable[[Any, Corpus], Evaluation]
    cost: Callable[[Iterable[int], int], float]
    document_cost: Callable[[Any, NDArray[np.int32]], float]
    affordable: Callable[[int, int], float]
    fewest_chains: int
    annealing: Callable[[Any, Corpus, np.random.Generator], Annealing]
    simulate: Callable[[Any, Ints, np.random.Generator], tuple[Corpus, NDArray[Any]]]
    upper: Callable[[Any, Corpus, NDArray[Any], int, np.random.Generator], Evaluation]
    exact_below: float = 0.0

    def label(self, estimator: str) -> str:
        """Return an estimator's label under the prior, or its name if it has none."""
        if estimator == REFERENCE:
            return self.reference
        return ESTIMATORS[estimator].label if estimator in ESTIMATORS else estimator


DIRICHLET = Prior(
    name="Dirichlet",
    estimators=frozenset(ESTIMATORS),
    reference=ESTIMATORS[REFERENCE].label,
    exact=partial(exact_marginal.exact_marginal, limit=2**62),
    cost=exact_marginal.cost,
    document_cost=exact_marginal.document_cost,
    affordable=lambda tokens, _: SWEEPS / max(1, tokens),
    fewest_chains=4,
    annealing=annealed_prior.annealing,
    simulate=bidirectional.simulate,
    upper=lambda topics, documents, z, samples, rng: annealed_upper(topics, documents, samples, rng, assignments=z),
)
LOGISTIC_NORMAL = Prior(
    name="logistic-normal",
    estimators=frozenset((EXACT, REFERENCE)),
    reference="annealing from the Laplace approximation",
    exact=normal.logistic_normal_exact,
    cost=normal.cost,
    document_cost=lambda topics, tokens: normal.cost([len(np.unique(tokens))], topics.n_topics),
    affordable=lambda _, documents: MOVES / max(1, documents),
    fewest_chains=8,
    annealing=normal.annealing,
    simulate=normal.simulate,
    upper=lambda topics, documents, x, samples, rng: normal.logistic_normal_upper(topics, documents, samples, rng, x=x),
)
OWN_DIRICHLET = Prior(
    name="per-document Dirichlet",
    estimators=frozenset((EXACT, REFERENCE, MEAN_FIELD_BOUND)),
    reference=ESTIMATORS[REFERENCE].label,
    exact=document_priors.own_priors_exact,
    cost=exact_marginal.cost,
    document_cost=lambda model, tokens: float(document_priors.costs([len(tokens)], model.alphas)[0]),
    affordable=DIRICHLET.affordable,
    fewest_chains=DIRICHLET.fewest_chains,
    annealing=document_priors.annealing,
    simulate=document_priors.simulate,
    upper=document_priors.upper,
    exact_below=document_priors.EXACT_COST,
)
PRIORS: dict[type, Prior] = {
    Topics: DIRICHLET,
    OwnPriors: OWN_DIRICHLET,
    LogisticNormalTopics: LOGISTIC_NORMAL,
    ProductOfExperts: LOGISTIC_NORMAL,
}


def prior_of(model: AnyModel) -> Prior:
    """Return the kind of prior of a model's weights."""
    return PRIORS[type(model)]


def exact_within(model: AnyModel, documents: Corpus, limit: float) -> Evaluation | None:
    """Return exact log-likelihoods if they take at most `limit` updates, else None.

    Other arguments and errors are as in `heldout.evaluators`; about 1e9 updates take a second.

    Examples:
        >>> exact_within(topics, documents, limit=10) is None
        True
    """
    prior, (known, _) = prior_of(model), documents.over(model.vocabulary)
    return prior.exact(model, documents) if prior.cost(known.lengths.tolist(), model.n_topics) <= limit else None
