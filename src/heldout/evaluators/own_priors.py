r"""The likelihood of documents under topics when every document has a Dirichlet prior of its own.

    p(w_i) = ∫ prod_l sum_k theta_k phi[k, w_il] Dir(theta | alpha_i) dtheta,

alpha_ik = 0 for a topic that document i does not have: theta_k is then 0, and the integral is over the others. So are
Dirichlet multinomial regression (27.72), labelled LDA and partially labelled LDA. Documents with one prior are an
evaluation under `Topics` of the topics that they have: exact where these are few, by `exact_marginal`, and else the
project's reference, whose annealing goes from each document's posterior mean to its own prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import annealed_prior
from heldout.evaluators import reference as annealed
from heldout.evaluators.evaluation import Annealing, Evaluation, check_samples
from heldout.evaluators.exact_marginal import document_cost, exact_marginal
from heldout.topics import Topics
from heldout.typing import Floats, Ints

EXACT_COST = 2e6  # updates of the count polynomial that a document may take: milliseconds


@dataclass(frozen=True, eq=False)
class OwnPriors:
    """Topics, and the Dirichlet parameters of some documents' weights on them.

    Attributes:
        phi: (K, V) p(w | z); every row sums to 1.
        alphas: (D, K), 0 where a document does not have a topic; a row for every document that is scored.
        vocabulary: the V words.

    Raises:
        InputError: as `Topics` does, for parameters that are negative or undefined, or a row without a topic.
    """

    phi: Floats
    alphas: Floats
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.alphas.ndim != 2 or self.alphas.shape[1] != len(self.phi):
            raise InputError(f"own priors: parameters of shape {self.alphas.shape}; give {len(self.phi)} to a document")
        bad = ~(np.isfinite(self.alphas) & (self.alphas >= 0.0)).all(axis=1) | ~(self.alphas > 0.0).any(axis=1)
        if bad.any():
            raise InputError(
                f"own priors: document {int(bad.argmax())} has a Dirichlet parameter that is negative or undefined, or"
                " no topic; 0 is for topics that it does not have"
            )
        Topics(self.phi, np.ones(len(self.phi)), self.vocabulary)

    @property
    def n_topics(self) -> int:
        """K, the number of topics of all documents."""
        return len(self.phi)

    def of(self, rows: Ints) -> "OwnPriors":
        """Return the model of the documents at these places."""
        return replace(self, alphas=self.alphas[rows])

    def groups(self) -> Iterator[tuple[Ints, Topics]]:
        """Yield the places of documents that share a prior, and the topics that they have with it."""
        distinct, group = np.unique(self.alphas, axis=0, return_inverse=True)
        for g, alpha in enumerate(distinct):
            has = np.flatnonzero(alpha)
            yield np.flatnonzero(group == g), Topics(np.ascontiguousarray(self.phi[has]), alpha[has], self.vocabulary)


class Method(NamedTuple):
    """The likelihood of every document and how it was found.

    Attributes:
        evaluation: log-likelihoods, nats.
        exact: (D,), whether a document's is exact.
    """

    evaluation: Evaluation
    exact: np.ndarray


def own_priors_exact(model: OwnPriors, documents: Corpus) -> Evaluation:
    """Return log p(w_i | alpha_i, phi) of every document, nats, exactly.

    Raises:
        InputError: for another number of documents than of priors, or as `exact_marginal` does.

    Examples:
        >>> model = OwnPriors(np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([[1.0, 1.0], [0.0, 1.0]]), ("ape", "bear"))
        >>> apes = Corpus.from_documents("two", [("a", ["ape"]), ("b", ["ape", "bear"])])
        >>> np.exp(own_priors_exact(model, apes).log_likelihood).round(3)
        array([0.45, 0.09])
    """
    documents, left_out = _matched(model, documents)
    value = np.zeros(documents.n_documents)
    for places, topics in model.groups():
        value[places] = exact_marginal(topics, documents.subset(places)).log_likelihood
    return Evaluation.deterministic(value, documents.lengths, left_out)


def own_priors_reference(model: OwnPriors, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(w_i | alpha_i, phi) of every document by the reference, with its errors.

    What it takes, returns and raises besides, see `heldout.evaluators.reference`.
    """
    documents, left_out = _matched(model, documents)
    check_samples("reference", samples, annealed.least_samples(annealed.CHAINS))
    parts = [
        (places, annealed_prior.annealing(topics, documents.subset(places), rng)) for places, topics in model.groups()
    ]

    def log_weights(steps: Ints, chains: int) -> Floats:
        weights = np.zeros((documents.n_documents, chains))
        for places, runs in parts:
            weights[places] = runs.log_weights(steps[places], chains)
        return weights

    runs = Annealing(log_weights, documents.lengths, left_out)
    pilot = runs.log_weights(np.full(documents.n_documents, annealed.PILOT), annealed.CHAINS)
    free = samples - annealed.PILOT * annealed.CHAINS
    steps = annealed.allocation(pilot, runs.lengths, free, annealed.VARIANCE)
    return annealed._evaluation(runs, pilot, runs.log_weights(steps, annealed.CHAINS), steps)


def own_priors(
    model: OwnPriors, documents: Corpus, samples: int, rng: np.random.Generator, *, limit: float = EXACT_COST
) -> Method:
    """Return log p(w_i | alpha_i, phi) of every document: exact or the reference's.

    Exact where it costs at most `limit` updates. What it takes and raises besides, see `own_priors_reference`.
    """
    documents, left_out = _matched(model, documents)
    exact = np.zeros(documents.n_documents, dtype=np.bool_)
    for places, topics in model.groups():
        exact[places] = [document_cost(topics, documents.document(int(d))) <= limit for d in places]
    value, error, bias = (np.zeros(documents.n_documents) for _ in range(3))
    if exact.any():
        places = np.flatnonzero(exact)
        value[places] = own_priors_exact(model.of(places), documents.subset(places)).log_likelihood
    if not exact.all():
        places = np.flatnonzero(~exact)
        found = own_priors_reference(model.of(places), documents.subset(places), samples, rng)
        value[places], error[places] = found.log_likelihood, found.standard_error
        assert found.bias is not None  # the reference states it
        bias[places] = found.bias
    return Method(Evaluation(value, documents.lengths, error, left_out, bias), exact)


def _matched(model: OwnPriors, documents: Corpus) -> tuple[Corpus, int]:
    """Return the documents over the model's vocabulary, and how many tokens it lacks."""
    if documents.n_documents != len(model.alphas):
        raise InputError(
            f"own priors: {len(model.alphas)} priors for {documents.n_documents} documents; give one to each"
        )
    return documents.over(model.vocabulary)
