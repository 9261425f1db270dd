"""The estimators under a prior for each document, from the estimators under one Dirichlet prior.

Documents with one prior are evaluated under `Topics` of the topics that they have; what is found is put together.
"""

import math
from collections.abc import Iterable

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import annealed_prior
from heldout.evaluators.bidirectional import simulate_given
from heldout.evaluators.evaluation import Annealing, Evaluation
from heldout.evaluators.exact_marginal import LARGEST_LAYER, cost, exact_marginal
from heldout.topics import OwnPriors, Topics
from heldout.typing import Floats, Ints

EXACT_COST = 2e6  # largest number of the polynomial's updates for a document, which take milliseconds


def costs(lengths: Iterable[int], alphas: Floats) -> Floats:
    """Return the updates for the exact value of each document, (D,), by the count polynomial of its own topics.

    Args:
        lengths: (D,) tokens.
        alphas: (D, K) the documents' parameters; 0 for a topic that one does not have.
    """
    K = np.count_nonzero(alphas, axis=1).tolist()
    return np.array(
        [
            math.inf if math.comb(int(L) + k - 1, k - 1) > LARGEST_LAYER else float(cost([int(L)], k))
            for L, k in zip(lengths, K, strict=True)
        ]
    )


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
    documents, left_out = matched(model, documents)

    def exact(topics: Topics, places: Ints) -> Floats:
        return exact_marginal(topics, documents.subset(places), limit=2**62).log_likelihood

    value = model.by_prior(documents.n_documents, exact)
    return Evaluation.deterministic(value, documents.lengths, left_out)


def annealing(model: OwnPriors, documents: Corpus, rng: np.random.Generator) -> Annealing:
    """Return the annealing of every document to its own prior, for the reference."""
    documents, left_out = matched(model, documents)
    parts = [
        (places, annealed_prior.annealing(topics, documents.subset(places), rng)) for places, topics in model.groups()
    ]

    def log_weights(steps: Ints, chains: int) -> Floats:
        weights = np.zeros((documents.n_documents, chains))
        for places, runs in parts:
            weights[places] = runs.log_weights(steps[places], chains)
        return weights

    return Annealing(log_weights, documents.lengths, left_out)


def simulate(model: OwnPriors, lengths: Ints, rng: np.random.Generator) -> tuple[Corpus, Ints]:
    """Draw a document of the (D,) lengths from each prior; return them and the tokens' topics, (N,)."""
    theta = np.zeros(model.alphas.shape)
    for d, alpha in enumerate(model.alphas):
        theta[d, alpha > 0.0] = rng.dirichlet(alpha[alpha > 0.0])
    return simulate_given(model, theta, lengths, rng)


def upper(model: OwnPriors, documents: Corpus, z: Ints, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p, without bias as 1 / p, of documents that `simulate` drew with z (`annealed_prior`)."""
    values, errors = np.zeros(documents.n_documents), np.zeros(documents.n_documents)
    for places, topics in model.groups():
        has = np.flatnonzero(model.alphas[places[0]])
        own = np.concatenate([z[documents.offsets[d] : documents.offsets[d + 1]] for d in places])
        bound = annealed_prior.annealed_upper(
            topics, documents.subset(places), samples, rng, assignments=np.searchsorted(has, own).astype(np.int64)
        )
        values[places], errors[places] = bound.log_likelihood, bound.standard_error
    return Evaluation(values, documents.lengths, errors, 0)


def matched(model: OwnPriors, documents: Corpus) -> tuple[Corpus, int]:
    """Return the documents over the model's vocabulary, and the number of tokens outside it."""
    if documents.n_documents != len(model.alphas):
        raise InputError(
            f"own priors: {len(model.alphas)} priors for {documents.n_documents} documents; give one to each"
        )
    return documents.over(model.vocabulary)
