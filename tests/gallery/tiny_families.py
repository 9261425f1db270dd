"""A tiny case of every family of the gallery, by all that its models can generate of one size."""

import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_folded_in, lda_hmm_marginal, lda_hmm_sampled
from gallery.extensions.evaluators.rtm_link import rtm_link
from gallery.extensions.models.disclda import DiscLDA
from gallery.extensions.models.lda_hmm import Parameters
from gallery.graphs.evaluators.block_evidence import annealed_evidence
from gallery.graphs.evaluators.mixed_membership_evidence import annealed_roles
from gallery.graphs.evaluators.partitions import partitions_of_graph
from gallery.graphs.models.blocks import ClusterPrior
from gallery.graphs.models.mmsb import Roles
from gallery.graphs.models.sbm import sbm_blocks, variational_em
from gallery.graphs.models.sbm_features import FeatureBlocks, pair_features
from gallery.priors.evaluators.categorical_pca_inputs import (
    categorical_pca_inputs_annealed,
    categorical_pca_inputs_marginal,
)
from gallery.priors.experiments.covariates import folded_in
from gallery.priors.models.ctm import CTM
from gallery.priors.models.mr_lda import MRLDA
from gallery.ratings.evaluators.coclustering_marginal import best_cluster, coclustering_binned, coclustering_marginal
from gallery.ratings.evaluators.rbm_ratings_marginal import rbm_pseudo_likelihood, rbm_ratings_marginal
from gallery.ratings.models.coclustering import Blocks
from gallery.ratings.models.rbm_ratings import Machine
from gallery.tokens.members.data import folded_in_given_length
from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.corpora.corpus import Corpus
from heldout.corpora.relations.ratings import Ratings
from heldout.corpora.relations.relation import Relation, Relations
from heldout.evaluators.document_priors import own_priors_exact
from heldout.evaluators.dtm_annealed import dtm_annealed, variational
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.log_partition import log_likelihood, log_partition, log_partitions
from heldout.evaluators.log_partition_annealed import log_partition_annealed, log_partitions_annealed
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.evaluators.rating_marginal import binned_marginal, full_folding_in, rating_marginal
from heldout.evaluators.reference import reference
from heldout.evaluators.slda_marginal import slda_marginal
from heldout.models.dtm import DynamicState
from heldout.models.harmonium_units import BINARY, MULTINOMIAL
from heldout.models.pmf import Factors
from heldout.models.rbm import RBM, pseudo_likelihood
from heldout.topics import OwnPriors, Topics
from heldout.typing import Floats

WORDS = ("a", "b")
B, ALPHA, WEIGHTS = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.4, 1.5]), np.array([3.0, -2.0])
TRAINING = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 4.0], [5.0, 0.0], [2.0, 2.0]])
INPUTS = np.column_stack([np.ones(5), [0.3, -1.0, 0.5, 2.0, 0.0]])
CHAINS = 400


class Case(NamedTuple):
    """All that a model can generate of one size.

    Attributes:
        likelihood: of each, nats, exact; None where there are estimates alone.
        usual: the usual score of each.
        estimate: the likelihood of each, estimated.
        total: the sum of the probabilities.
        scored: what the usual score is held to, where that is not the likelihood.
        within: how far the sum may be from the total, where the likelihood has an approximation.
    """

    likelihood: Floats | None
    usual: Floats | None = None
    estimate: Evaluation | None = None
    total: float = 1.0
    scored: Floats | None = None
    within: float = 1e-6


def every(length: int = 4) -> Corpus:
    documents = [("".join(words), list(words)) for words in itertools.product(WORDS, repeat=length)]
    return Corpus.from_documents("all", documents)


def correlated() -> Case:
    model, cases = CTM(2, iterations=5, random_state=0).fit(TRAINING), every()
    topics, bound = model.topics(WORDS), model.infer(cases.counts()).bound
    found = reference(topics, cases, 500, np.random.default_rng(0))
    return Case(logistic_normal_exact(topics, cases).log_likelihood, bound, found)


def covariates() -> Case:
    cases = every()
    model = OwnPriors(B, np.tile(ALPHA, (cases.n_documents, 1)), WORDS)
    found = reference(model, cases, 1000, np.random.default_rng(0))
    return Case(own_priors_exact(model, cases).log_likelihood, folded_in(model, cases, 300).log_likelihood, found)


def tags() -> Case:
    model = MRLDA(2, iterations=3, sweeps=5, random_state=0).fit(TRAINING, INPUTS)
    counts = every().counts()
    return Case(model.log_likelihood(counts, np.tile(INPUTS[0], (counts.shape[0], 1))))


def components() -> Case:
    model = CategoricalPCA(1, penalty=0.05, input_penalty=0.5, iterations=30, random_state=1)
    model.fit(TRAINING, inputs=INPUTS)
    cases = every()
    counts, inputs = cases.counts(), np.tile(INPUTS[0], (cases.n_documents, 1))
    estimate = categorical_pca_inputs_annealed(model, counts, inputs, 50, np.random.default_rng(3), temperatures=10)
    exact = categorical_pca_inputs_marginal(model, counts, inputs)
    return Case(exact, model.infer(counts, inputs=inputs).bound, Evaluation(estimate[0], cases.lengths, estimate[1]))


def moving() -> Case:
    """Return estimates alone; the exact values by quadrature are in the evaluator's tests."""
    state = DynamicState(np.array([[0.5, -0.5], [-1.0, 0.0]]), np.full((2, 2), 0.3), 0.6, WORDS)
    found, _ = dtm_annealed(state, every(2), 4 * CHAINS, np.random.default_rng(1), temperatures=10)
    bound = variational(state, every(2)).log_likelihood
    return Case(None, bound, found)


def sequences() -> Case:
    random, cases = np.random.default_rng(0), every()
    start, transitions = random.dirichlet(np.ones(2)), random.dirichlet(np.ones(2), 2)
    of = Parameters(start, transitions, B, random.dirichlet(np.ones(2), 1), ALPHA)
    found = lda_hmm_sampled(of, cases, 600, np.random.default_rng(1))
    usual = lda_hmm_folded_in(of, cases, 200).log_likelihood
    return Case(lda_hmm_marginal(of, cases).log_likelihood, usual, found)


def labels() -> Case:
    cases, topics, parts = every(), Topics(B, ALPHA, WORDS), []
    for label in (0, 1):
        given = np.full(cases.n_documents, label)
        parts.append(slda_marginal(topics, WEIGHTS, cases, given, np.random.default_rng(0)))
    likelihood = np.concatenate([part.label for part in parts])
    return Case(likelihood, np.concatenate([part.state for part in parts]), total=cases.n_documents)


def links() -> Case:
    cases, topics, pairs = every(), Topics(B, ALPHA, WORDS), np.array([[0, 1], [2, 7], [5, 9]])
    parts = [
        rtm_link(topics, WEIGHTS, -0.4, cases, pairs, np.full(3, link), np.random.default_rng(0)) for link in (0, 1)
    ]
    likelihood = np.concatenate([part.exact for part in parts])
    return Case(likelihood, np.concatenate([part.state for part in parts]), total=3.0)


def classes() -> Case:
    model = DiscLDA(1, common=1, softening=0.3, iterations=5, random_state=0).fit(TRAINING, np.array([0, 1, 0, 1, 0]))
    topics, cases = model.topics(0, WORDS), every()
    found = reference(topics, cases, 1000, np.random.default_rng(0))
    return Case(exact_marginal(topics, cases).log_likelihood, folded_in_given_length(cases, topics.phi, 300), found)


def graphs(n: int = 3) -> list[Relations]:
    """Return all graphs of n nodes without loops."""
    mask = ~np.eye(n, dtype=bool)
    found = []
    for bits in itertools.product([False, True], repeat=n * (n - 1)):
        values = np.zeros((n, n), dtype=bool)
        values[mask] = bits
        one = Relation("arcs", ("nodes", "nodes"), values, mask)
        found.append(Relations("r", {"nodes": tuple(map(str, range(n)))}, (one,)))
    return found


def _estimated(values: list[tuple[float, float]]) -> Evaluation:
    value, error = np.array(values).T
    return Evaluation(value, np.ones(len(value), dtype=np.int64), error)


def blocks() -> Case:
    prior, random = ClusterPrior(0.8, 2), np.random.default_rng(0)
    found = [partitions_of_graph(one.relations[0], prior, (0.7, 1.3)) for one in graphs()]
    estimates, bounds = [], []
    for one in graphs():
        own = sbm_blocks(one, 2, alpha=0.8, eta=(0.7, 1.3))
        estimates.append(annealed_evidence(own, chains=50, temperatures=10, random=random))
        em = variational_em(one, 2, alpha=0.8, eta=(0.7, 1.3), iterations=10, random=random)
        bounds.append(float(em.bounds[-1]))
    exact = np.array([one.log_evidence for one in found])
    assert (np.array([one.log_profile for one in found]) > exact).all()
    assert (np.array(bounds) <= exact + 1e-9).all()
    return Case(exact, np.array([one.log_joint for one in found]), _estimated(estimates))


def features() -> Case:
    """Return the evidence of all graphs, their weights' integrals by importance sampling."""
    x = pair_features(np.array([[0.5], [-1.0], [1.5]]), "product")
    models, random = [FeatureBlocks(one.relations[0], x, 1.0) for one in graphs()], np.random.default_rng(0)
    hidden = np.zeros((3, 3), dtype=bool)
    found = [model.predict(ClusterPrior(1.0, 2), hidden, 1000, random) for model in models]
    evidences, profiles = (np.array([getattr(one, name) for one in found]) for name in ("log_evidence", "log_profile"))
    return Case(evidences, profiles, within=0.02)


def memberships() -> Case:
    """Return estimates alone; all assignments are summed in the model's tests."""
    random = np.random.default_rng(0)
    roles = [Roles(one.relations[0], 2, alpha=0.6, eta=(0.7, 1.3), rho=0.3) for one in graphs(2)]
    found = [annealed_roles(one, chains=400, temperatures=10, random=random) for one in roles]
    return Case(None, None, _estimated(found))


def rated(scale: int = 3, items: int = 2) -> Ratings:
    """Return users with every two ratings."""
    values = list(itertools.product(range(1, scale + 1), repeat=items))
    who, what = np.repeat(np.arange(len(values)), items), np.tile(np.arange(items), len(values))
    names = tuple(map(str, range(len(values))))
    return Ratings(names, ("x", "y"), who, what, np.concatenate(values).astype(np.int64), (1, scale))


def factors() -> Case:
    own = Factors(2.1, np.array([0.3, -0.6]), np.array([[0.8, 1.0], [-0.5, 1.0]]), np.array([1.0, 0.3]), 0.6)
    found = binned_marginal(rated(), own, 2000, np.random.default_rng(0))
    density, usual = rating_marginal(rated(), own), full_folding_in(rated(), own)
    return Case(None, usual.log_likelihood, found, scored=density.log_likelihood)


def co_clusters() -> Case:
    own = Blocks(np.array([0.3, 0.7]), np.array([0, 1]), np.array([[3.0, 2.0], [1.5, 2.5]]), 0.8)
    binned, density = (one(rated(), own).log_likelihood for one in (coclustering_binned, coclustering_marginal))
    return Case(binned, best_cluster(rated(), own).log_likelihood, scored=density)


def machines_of_ratings() -> Case:
    random = np.random.default_rng(2)
    own = Machine(random.normal(size=2), random.normal(size=(2, 3)), random.normal(size=(2, 3, 2)))
    usual = rbm_pseudo_likelihood(rated(), own).log_likelihood
    return Case(rbm_ratings_marginal(rated(), own).log_likelihood, usual)


def _machine(R: int, visible: str = BINARY) -> RBM:
    random, model = np.random.default_rng(0), RBM(2, visible=visible)
    model.weights_ = random.standard_normal((R, 2))
    model.visible_bias_, model.hidden_bias_ = random.standard_normal(R), random.standard_normal(2)
    return model


def machines() -> Case:
    model, states = _machine(4), np.array(list(itertools.product((0.0, 1.0), repeat=4)))
    annealed = log_partition_annealed(model, CHAINS, 200, np.random.default_rng(1))
    exact, estimate = (log_likelihood(model, states, *given) for given in ((log_partition(model),), annealed))
    return Case(exact.log_likelihood, pseudo_likelihood(model, states), estimate)


def softmax() -> Case:
    model, cases = _machine(2, visible=MULTINOMIAL), every()
    annealed = log_partitions_annealed(model, cases.lengths, CHAINS, 100, np.random.default_rng(1))
    given = ((log_partitions(model, cases.lengths),), annealed)
    exact, estimate = (log_likelihood(model, cases.counts(), *one) for one in given)
    return Case(exact.log_likelihood, None, estimate)


CASES: Mapping[str, Callable[[], Case]] = {
    "correlated topics": correlated,
    "topics under covariates": covariates,
    "tags given inputs": tags,
    "categorical PCA with inputs": components,
    "moving topics": moving,
    "topics and states": sequences,
    "labels given words": labels,
    "links given words": links,
    "classes of documents": classes,
    "blocks": blocks,
    "blocks with features": features,
    "mixed memberships": memberships,
    "factors of ratings": factors,
    "co-clusters": co_clusters,
    "machines of ratings": machines_of_ratings,
    "Boltzmann machines": machines,
    "replicated softmax": softmax,
}
