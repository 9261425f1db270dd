r"""The likelihood of documents under topics when every document has a Dirichlet prior of its own.

    p(w_i) = ∫ prod_l sum_k theta_k phi[k, w_il] Dir(theta | alpha_i) dtheta,

alpha_ik = 0 for a topic that document i does not have: theta_k is then 0, and the integral is over the others. So are
Dirichlet multinomial regression (27.72), labelled LDA and partially labelled LDA. Documents with one prior are an
evaluation under `Topics` of the topics that they have: exact where these are few, by `exact_marginal`, and else the
project's reference, whose annealing goes from each document's posterior mean to its own prior.
"""

from typing import NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.document_priors import matched, own_priors_exact
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import document_cost
from heldout.evaluators.reference import reference
from heldout.topics import OwnPriors

EXACT_COST = 2e6  # updates of the count polynomial that a document may take: milliseconds


class Method(NamedTuple):
    """The likelihood of every document and how it was found.

    Attributes:
        evaluation: log-likelihoods, nats.
        exact: (D,), whether a document's is exact.
    """

    evaluation: Evaluation
    exact: np.ndarray


def own_priors_reference(model: OwnPriors, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
    """Return log p(w_i | alpha_i, phi) of every document by the reference, with its errors.

    What it takes, returns and raises besides, see `heldout.evaluators.reference`.
    """
    return reference(model, matched(model, documents)[0], samples, rng)


def own_priors(
    model: OwnPriors, documents: Corpus, samples: int, rng: np.random.Generator, *, limit: float = EXACT_COST
) -> Method:
    """Return log p(w_i | alpha_i, phi) of every document: exact or the reference's.

    Exact where it costs at most `limit` updates. What it takes and raises besides, see `own_priors_reference`.
    """
    documents, left_out = matched(model, documents)
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
