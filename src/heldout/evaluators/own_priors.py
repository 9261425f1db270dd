r"""The likelihood of documents under topics when every document has a Dirichlet prior of its own.

    p(w_i) = ∫ prod_l sum_k theta_k phi[k, w_il] Dir(theta | alpha_i) dtheta,

alpha_ik = 0 for a topic that document i does not have: theta_k is then 0, and the integral is over the others. So are
Dirichlet multinomial regression (27.72), labelled LDA and partially labelled LDA. Documents with one prior are an
evaluation under `Topics` of the topics that they have: exact where these are few, by `exact_marginal`, and else the
project's reference, whose annealing goes from each document's posterior mean to its own prior.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators.document_priors import EXACT_COST, matched, own_priors_exact
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import document_cost
from heldout.evaluators.reference import CHAINS, VARIANCE, reference
from heldout.topics import OwnPriors, Topics
from heldout.typing import Ints


class Method(NamedTuple):
    """The likelihood of every document, and whether it is exact.

    Attributes:
        evaluation: log-likelihoods, nats.
        exact: (D,), whether a document's is exact.
    """

    evaluation: Evaluation
    exact: np.ndarray


def own_priors(model: OwnPriors, documents: Corpus, samples: int, rng: np.random.Generator) -> Method:
    """Return log p(w_i | alpha_i, phi) of every document: exact where it costs at most `EXACT_COST`, else estimated.

    Other arguments and errors are as in `exact_or_reference`.
    """
    documents, left_out = matched(model, documents)

    def cheap(topics: Topics, places: Ints) -> NDArray[Any]:
        return np.array([document_cost(topics, documents.document(int(d))) <= EXACT_COST for d in places])

    exact = model.by_prior(documents.n_documents, cheap).astype(np.bool_)
    return Method(replace(exact_or_reference(model, documents, exact, samples, rng), tokens_left_out=left_out), exact)


def exact_or_reference(
    model: OwnPriors,
    documents: Corpus,
    exact: NDArray[np.bool_],
    samples: int,
    rng: np.random.Generator,
    *,
    chains: int = CHAINS,
    variance: float = VARIANCE,
) -> Evaluation:
    """Return log p(w_i | alpha_i, phi) of documents over the model's words, exactly where `exact`, (D,), is true.

    Other arguments, result and errors are as in `heldout.evaluators.reference`.
    """
    value, error, bias = (np.zeros(documents.n_documents) for _ in range(3))
    for places in filter(len, (np.flatnonzero(exact), np.flatnonzero(~exact))):
        here, some = model.of_documents(places), documents.subset(places)
        if exact[places[0]]:
            value[places] = own_priors_exact(here, some).log_likelihood
            continue
        estimates = reference(here, some, samples, rng, chains=chains, variance=variance)
        value[places], error[places] = estimates.log_likelihood, estimates.standard_error
        assert estimates.bias is not None  # the reference states it
        bias[places] = estimates.bias
    return Evaluation(value, documents.lengths, error, 0, bias)
