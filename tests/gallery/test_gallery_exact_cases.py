"""The exact cases by the gallery's likelihoods; two families have annealed ones alone, which are held to 4.4 errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_by_heldout import HELDOUT, Implementation, answers, corpus, counts, ratings, run_page, words
from scipy.special import logsumexp

import heldout
from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_marginal
from gallery.extensions.evaluators.rtm_link import rtm_link
from gallery.extensions.models.disclda import DiscLDA
from gallery.extensions.models.lda_hmm import Parameters
from gallery.graphs.evaluators.mixed_membership_evidence import annealed_roles
from gallery.graphs.evaluators.partitions import partitions_by_features, partitions_of_graph
from gallery.graphs.models.blocks import ClusterPrior
from gallery.graphs.models.mmsb import Roles
from gallery.priors.evaluators.categorical_pca_inputs import categorical_pca_inputs_marginal
from gallery.priors.models.mr_lda import MRLDA
from gallery.ratings.evaluators.coclustering_marginal import coclustering_marginal
from gallery.ratings.evaluators.rbm_ratings_marginal import rbm_ratings_marginal
from gallery.ratings.models.coclustering import Blocks
from gallery.ratings.models.rbm_ratings import Machine
from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models.categorical_mixture import CategoricalMixture, Tables
from gallery.tokens.models.categorical_pca import CategoricalPCA
from gallery.tokens.models.poisson_mixture import PoissonMixture, Poissons
from heldout.corpora.relations.relation import Relation
from heldout.evaluators.dtm_annealed import dtm_annealed
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models.dtm import DynamicState
from heldout.topics import Topics
from heldout.typing import Floats

CASES = heldout.exact_cases()
SE = 4.4


def categorical_pca(p: Any) -> CategoricalPCA:
    R, M, K = p["W"].shape
    model = CategoricalPCA(K, blocks=(M,) * R)
    model.sizes_ = (M,) * R
    model.weights_, model.bias_ = p["W"].reshape(R * M, K), p["b"].reshape(R * M)
    return model


def indicators(p: Any, responses: Any) -> Floats:
    given = ~np.isnan(responses)
    coded = np.eye(p["b"].shape[1])[np.where(given, responses, 0).astype(int)] * given[:, None]
    return np.asarray(coded.reshape(1, -1), dtype=float)


def with_inputs(p: Any, d: Any) -> Any:
    model = categorical_pca(p)
    model.input_weights_ = p["V"]
    return categorical_pca_inputs_marginal(model, indicators(p, d["responses"]), d["x"][None])


def mr_lda(p: Any, d: Any) -> Any:
    model = MRLDA(len(p["W"]))
    model.weights_, model.components_ = p["W"], p["phi"]
    return model.log_likelihood(counts(p["phi"].shape[1], d["words"]), d["x"][None])


def lda_hmm(p: Any, d: Any) -> Any:
    parameters = Parameters(p["start"], p["A"], p["phi"], p["B"], p["alpha"])
    return lda_hmm_marginal(parameters, corpus(p["phi"].shape[1], d["words"])).log_likelihood


def disclda(p: Any, d: Any) -> Any:
    model, V = DiscLDA(), p["phi"].shape[1]
    model.matrices_, model.components_ = p["A"], p["phi"]
    phi = model.topics(int(d["class"]), words(V)).phi  # with its own prior, one number
    return exact_marginal(Topics(phi, p["alpha"], words(V)), corpus(V, d["words"])).log_likelihood


def link(p: Any, d: Any) -> Any:
    V = p["phi"].shape[1]
    documents, topics = corpus(V, d["words_1"], d["words_2"]), Topics(p["phi"], p["alpha"], words(V))
    pairs, random = np.array([[0, 1]]), np.random.default_rng(0)
    return rtm_link(topics, p["w"], float(p["w0"]), documents, pairs, d["link"][None], random).exact


def relation(cells: Any, types: tuple[str, str] = ("nodes", "nodes")) -> Relation:
    return Relation("cells", types, cells == 1, ~np.isnan(cells.astype(float)))


def eta(p: Any) -> tuple[float, float]:
    return float(p["b1"]), float(p["b0"])


def blocks(p: Any, d: Any, prior: ClusterPrior) -> Any:
    return partitions_of_graph(relation(d["links"]), prior, eta(p)).log_evidence


def features(p: Any, d: Any) -> Any:
    return logsumexp(partitions_by_features(relation(d["features"], ("rows", "columns")), float(p["gamma"]), eta(p)))


def mmsb(p: Any, d: Any) -> tuple[float, float]:
    one = Relation("links", ("nodes", "nodes"), d["links"] == 1, ~np.isnan(d["links"]), loops=False)
    roles = Roles(one, int(p["K"]), alpha=float(p["alpha"]), eta=eta(p), rho=float(p["rho"]))
    return annealed_roles(roles, chains=300, temperatures=20, random=np.random.default_rng(0))


def dtm(p: Any, d: Any) -> tuple[float, float]:
    V = p["mean"].shape[1]
    state = DynamicState(p["mean"], p["variance"], float(p["alpha"]), words(V))
    value, _ = dtm_annealed(state, corpus(V, d["words"]), 300, np.random.default_rng(0), temperatures=20)
    return float(value.log_likelihood[0]), float(value.standard_error[0])


GALLERY: dict[str, Implementation] = {
    "categorical-mixture": lambda p, d: CategoricalMixture(len(p["pi"]), values=p["b"].shape[2]).log_likelihood(
        answers(d["responses"]), Tables(p["pi"], p["b"])
    ),
    "poisson-mixture": lambda p, d: PoissonMixture(len(p["pi"])).log_likelihood(
        np.vstack([d["counts"], d["counts"] + 1]), Poissons(p["pi"], p["rates"])
    )[0],
    "mr-lda": mr_lda,
    "categorical-pca": lambda p, d: categorical_pca_marginal(categorical_pca(p), indicators(p, d["responses"])),
    "categorical-pca-inputs": with_inputs,
    "lda-hmm": lda_hmm,
    "disclda": disclda,
    "rtm-link": link,
    "sbm": lambda p, d: blocks(p, d, ClusterPrior(float(p["alpha"]), int(p["K"]))),
    "irm": lambda p, d: blocks(p, d, ClusterPrior(float(p["gamma"]))),
    "irm-features": features,
    "co-clustering": lambda p, d: (
        coclustering_marginal(ratings(d), Blocks(p["pi"], p["clusters"], p["means"], float(p["noise"]))).log_likelihood
    ),
    "rbm-ratings": lambda p, d: (
        rbm_ratings_marginal(ratings(d, (1, p["b"].shape[1])), Machine(p["c"], p["b"], p["W"])).log_likelihood
    ),
}
ANNEALED = {"mmsb": mmsb, "dtm": dtm}


@pytest.mark.parametrize("name", [case.name for case in CASES if case.family in GALLERY])
def test_the_gallery_has_the_value_by_the_page_that_anybody_fills_in(name: str, tmp_path: Path) -> None:
    run_page(tmp_path, name, GALLERY)


@pytest.mark.parametrize("case", [case for case in CASES if case.family in ANNEALED], ids=lambda case: case.name)
def test_annealing_has_the_value_within_its_error(case: heldout.ExactCase) -> None:
    value, error = ANNEALED[case.family](case.parameters, case.document)
    assert 0.0 < error < 0.1
    assert abs(value - case.log_likelihood) < SE * error


def test_every_family_but_directed_factor_analysis_is_held_to_a_kernel() -> None:
    assert {case.family for case in CASES} == HELDOUT.keys() | GALLERY.keys() | ANNEALED.keys() | {"factor-analysis"}
