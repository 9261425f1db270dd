"""The library's log-likelihoods of the exact cases, as somebody with a package would fill the page of tests in."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.relations.ratings import Ratings
from heldout.evaluators.components_marginal import quadrature
from heldout.evaluators.count_polynomial import gap_marginal, rating_profile_marginal
from heldout.evaluators.document_priors import own_priors_exact
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.log_partition import log_likelihood, log_partition, log_partitions
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.evaluators.mixture_of_points import mixture_of_points
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.evaluators.product_of_experts import ProductOfExperts
from heldout.evaluators.rating_marginal import rating_marginal
from heldout.evaluators.slda_marginal import slda_marginal
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.models.gaussian_mixture import GaussianMixture, Gaussians
from heldout.models.hmm import HMM, Chain
from heldout.models.multinomial_mixture import MultinomialMixture, Multinomials
from heldout.models.pmf import Factors
from heldout.models.rbm import RBM
from heldout.topics import Components, LogisticNormalTopics, OwnPriors, Topics
from heldout.typing import Floats

ROOT = Path(__file__).parents[2]
Implementation = Callable[[Any, Any], Any]


def run_page(folder: Path, case: str, implementations: dict[str, Implementation]) -> None:
    """Run the page of tests on one case, with its one function filled in; a family without one is skipped."""
    for path in (ROOT / "docs" / "static" / "test_exact_cases.py", *(ROOT / "src/heldout/cases").glob("exact_cases.*")):
        shutil.copy(path, folder)
    spec = importlib.util.spec_from_file_location("page", folder / "test_exact_cases.py")
    assert spec is not None
    assert spec.loader is not None
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)

    def filled_in(family: str, parameters: Any, document: Any) -> float:
        if family not in implementations:
            raise NotImplementedError
        return float(np.squeeze(implementations[family](parameters, document)))

    page.log_likelihood = filled_in  # type: ignore[attr-defined]
    (row,) = (row for row in page.cases() if row["case"] == case)
    page.test_log_likelihood(row)


def words(V: int) -> tuple[str, ...]:
    return tuple(f"w{v}" for v in range(V))


def corpus(V: int, *documents: Any) -> Corpus:
    lengths = [len(document) for document in documents]
    tokens = np.concatenate([np.zeros(0), *documents]).astype(np.int32)
    return Corpus("cases", words(V), tokens, np.cumsum([0, *lengths]), tuple(map(str, range(len(lengths)))), {})


def counts(V: int, document: Any) -> Floats:
    return np.bincount(document, minlength=V)[None].astype(float)


def topics(p: Any) -> Topics:
    return Topics(p["phi"].astype(float), p["alpha"], words(p["phi"].shape[1]))


def tokens(p: Any, d: Any) -> Corpus:
    return corpus(p["phi"].shape[1], d["words"])


def own_prior(p: Any, d: Any, alpha: Floats) -> Any:
    return own_priors_exact(OwnPriors(p["phi"], alpha[None], words(p["phi"].shape[1])), tokens(p, d)).log_likelihood


def logistic_normal(p: Any, d: Any) -> Any:
    model = LogisticNormalTopics(p["phi"], p["mu"], p["Sigma"], words(p["phi"].shape[1]))
    return logistic_normal_exact(model, tokens(p, d)).log_likelihood


def product_of_experts(p: Any, d: Any) -> Any:
    model = ProductOfExperts(p["W"], p["b"], p["mu"], p["Sigma"], words(len(p["b"])))
    return logistic_normal_exact(model, corpus(len(p["b"]), d["words"])).log_likelihood


def priors(p: Any, d: Any) -> Any:
    documents, mixture = tokens(p, d), DirichletMixture(p["pi"], p["alpha"])
    model = Topics(p["phi"], p["alpha"][0], words(p["phi"].shape[1]))
    return mixture_of_priors(model, mixture, lambda one: exact_marginal(one, documents)).log_likelihood


def answers(values: Any) -> Any:
    """Return responses with -1 where there is none."""
    return np.where(np.isnan(values), -1, values).astype(np.int64)[None]


def ratings(d: Any, scale: tuple[int, int] = (1, 5)) -> Ratings:
    items = np.flatnonzero(~np.isnan(d["ratings"]))
    value = d["ratings"][items].astype(np.int64)
    return Ratings(("a",), words(len(d["ratings"])), np.zeros(len(items), np.int64), items, value, scale)


def pmf(p: Any, d: Any) -> Any:
    factors = Factors(float(p["mean"]), p["offsets"], p["loadings"], p["variances"], float(p["noise"]))
    return rating_marginal(ratings(d), factors).log_likelihood


def slda(p: Any, d: Any) -> Any:
    return slda_marginal(topics(p), p["w"], tokens(p, d), d["label"][None], np.random.default_rng(0))


def machine(p: Any, **kinds: Any) -> RBM:
    model = RBM(len(p["c"]), **kinds)
    model.weights_ = p["W"].reshape(-1, len(p["c"]))
    model.visible_bias_, model.hidden_bias_ = p["b"].reshape(-1), p["c"]
    return model


def by_machine(x: Any, model: RBM) -> Any:
    return log_likelihood(model, x[None].astype(float), log_partition(model)).log_likelihood


def of_responses(p: Any, d: Any) -> Any:
    R, M = p["b"].shape
    return by_machine(np.eye(M)[d["responses"]].reshape(-1), machine(p, visible="categorical", blocks=(M,) * R))


def replicated_softmax(p: Any, d: Any) -> Any:
    model = machine(p, visible="multinomial")
    log_z = log_partitions(model, np.array([len(d["words"])]))
    return log_likelihood(model, counts(len(p["b"]), d["words"]), log_z).log_likelihood


def multinomial_mixture(p: Any, d: Any) -> Any:
    V = p["phi"].shape[1]
    two = np.vstack([counts(V, d["words"]), np.ones((1, V))])  # an empty document alone is refused as a corpus
    return MultinomialMixture(len(p["pi"])).log_likelihood(two, Multinomials(p["pi"], p["phi"]))[0]


def epca(p: Any, d: Any) -> Any:
    V, K = p["W"].shape
    components = Components(p["W"], np.zeros(K), words(V))
    return quadrature(components, corpus(V, d["words"]), penalty=float(p["precision"])).log_likelihood


HELDOUT: dict[str, Implementation] = {
    "multinomial-mixture": multinomial_mixture,
    "mixture-of-points": lambda p, d: (
        mixture_of_points(
            topics({**p, "alpha": np.ones(len(p["phi"]))}), p["theta"], p["pi"], tokens(p, d)
        ).log_likelihood
    ),
    "lda": lambda p, d: exact_marginal(topics(p), tokens(p, d)).log_likelihood,
    "lda-mixture-of-priors": priors,
    "labelled-lda": lambda p, d: own_prior(p, d, p["alpha"] * d["labels"]),
    "dmr": lambda p, d: own_prior(p, d, np.exp(p["W"] @ d["x"])),
    "logistic-normal": logistic_normal,
    "product-of-experts": product_of_experts,
    "user-rating-profile": lambda p, d: rating_profile_marginal(
        answers(d["responses"]), p["b"].transpose(1, 0, 2), p["alpha"]
    ),
    "gap": lambda p, d: gap_marginal(d["counts"][None], p["b"], p["alpha"], p["beta"], 0.0 * p["alpha"]),
    "conditional-gap": lambda p, d: gap_marginal(d["counts"][None], p["b"], p["alpha"], p["beta"], p["rho"]),
    "epca": epca,
    "gaussian-mixture": lambda p, d: GaussianMixture(len(p["pi"])).log_likelihood(
        d["x"][None], Gaussians(p["pi"], p["mu"], p["Sigma"])
    ),
    "hmm": lambda p, d: HMM(len(p["pi"])).log_likelihood(
        corpus(p["B"].shape[1], d["words"]), Chain(p["pi"], p["A"], p["B"])
    ),
    "slda": lambda p, d: slda(p, d).words + slda(p, d).label,
    "slda-label": lambda p, d: slda(p, d).label,
    "pmf": pmf,
    "rbm-binary": lambda p, d: by_machine(d["v"], machine(p)),
    "rbm-categorical": of_responses,
    "rbm-gaussian": lambda p, d: by_machine(d["x"], machine(p, visible="gaussian")),
    "rbm-binary-gaussian": lambda p, d: by_machine(d["v"], machine(p, hidden="gaussian")),
    "rbm-gaussian-gaussian": lambda p, d: by_machine(d["x"], machine(p, visible="gaussian", hidden="gaussian")),
    "replicated-softmax": replicated_softmax,
}
