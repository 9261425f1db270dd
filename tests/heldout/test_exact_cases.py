"""The exact cases: by other sums and integrals than the script's, by the library, and as the script writes them.

Sums here are over every topic of every token, every state and every role, in float64; integrals by Gauss's rules.
"""

import importlib.util
import itertools
import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_by_heldout import HELDOUT, ROOT, run_page
from scipy.special import betaln, expit, gammaln, logsumexp, roots_jacobi, softmax
from scipy.stats import multivariate_normal, nbinom, norm, poisson

import heldout
from heldout.typing import Floats

CASES = {case.name: case for case in heldout.exact_cases()}
LONGEST = 8  # tokens whose topics are enumerated
NODES = (300, 100)  # of Gauss-Hermite rules, in one and two dimensions
LOOSE = 1e-10  # relative error of sums and rules in float64


def dirichlet(alpha: Floats, counts: Floats) -> Any:
    """Return log E prod_k theta_k^C_k."""
    A, n = alpha.sum(), np.sum(counts, axis=-1)
    return gammaln(A) - gammaln(A + n) + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)


def assignments(alpha: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return counts, (N, K), and log p(words, topics) of every assignment of tokens with (L, K) weights."""
    L, K = weights.shape
    q = np.array(list(itertools.product(range(K), repeat=L)), dtype=int).reshape(K**L, L)
    counts = (q[:, :, None] == np.arange(K)).sum(axis=1)
    with np.errstate(divide="ignore"):
        return counts, dirichlet(alpha, counts) + np.log(weights[np.arange(L), q]).sum(axis=1)


def lda(alpha: Floats, weights: Floats) -> Any:
    """Return log p(words); of two topics and more tokens by Gauss-Jacobi, exact for polynomials."""
    if len(weights) <= LONGEST:
        return logsumexp(assignments(alpha, weights)[1])
    x, w = roots_jacobi(len(weights), alpha[1] - 1.0, alpha[0] - 1.0)
    theta = np.stack([1.0 + x, 1.0 - x]) / 2.0
    return logsumexp(np.log(weights @ theta).sum(axis=0), b=w / w.sum())


def gauss(f: Callable[[Floats], Any], mean: Any, covariance: Any) -> Any:
    """Return log E exp f(z), z ~ N(mean, covariance), of f of (n, J) points."""
    mean = np.atleast_1d(mean)
    x, w = np.polynomial.hermite_e.hermegauss(NODES[len(mean) - 1])
    grid, weights = np.meshgrid(*[x] * len(mean)), np.meshgrid(*[w / w.sum()] * len(mean))
    points = mean[:, None] + np.linalg.cholesky(np.atleast_2d(covariance)) @ np.reshape(grid, (len(mean), -1))
    return logsumexp(f(points), b=np.prod(np.reshape(weights, (len(mean), -1)), axis=0))


def simplex(x: Floats) -> Floats:
    return np.asarray(softmax(np.vstack([x, np.zeros(x.shape[1])]), axis=0))


def log_words(p: Floats, words: Any) -> Floats:
    """Return the log-probability of words, by word probabilities (V, J)."""
    return np.asarray(np.log(p[words]).sum(axis=0))


def categorical_pca(p: Any, d: Any, mean: Floats) -> Any:
    def f(z: Floats) -> Floats:
        at = [softmax(W @ z + b[:, None], axis=0) for W, b in zip(p["W"], p["b"], strict=True)]
        return np.asarray(sum(np.log(at[r][int(y)]) for r, y in enumerate(d["responses"]) if y == y))

    return gauss(f, mean, np.eye(len(mean)))


def gap(p: Any, d: Any) -> Any:
    """Sum over the parts of every count: each component's total is negative binomial, its words multinomial."""
    b, total = p["b"], -math.inf
    s, rho = b.sum(axis=0), p.get("rho", np.zeros(b.shape[1]))
    for first in itertools.product(*(range(n + 1) for n in d["counts"])):
        parts = np.array([first, d["counts"] - first])
        terms = 0.0
        for k, n in enumerate(parts):
            length = nbinom.logpmf(n.sum(), p["alpha"][k], p["beta"][k] / (p["beta"][k] + s[k]))
            spike = math.log(rho[k]) if rho[k] and not n.any() else -math.inf
            share = gammaln(n.sum() + 1.0) - gammaln(n + 1.0).sum() + (n * np.log(b[:, k] / s[k])).sum()
            terms += np.logaddexp(spike, np.log1p(-rho[k]) + length + share)
        total = np.logaddexp(total, terms)
    return total


def forward(start: Floats, A: Floats, emitted: Floats) -> float:
    """Return p(words) by the forward recursion, emission probabilities (L, K) given."""
    a = start
    for step, e in enumerate(emitted):
        a = (a @ A if step else a) * e
    return float(a.sum())


def lda_hmm(p: Any, d: Any) -> Any:
    """Integrate the forward recursion over the weights of two topics, by Gauss-Jacobi."""
    x, w = roots_jacobi(20, p["alpha"][1] - 1.0, p["alpha"][0] - 1.0)
    content = [((1 + t) * p["phi"][0] + (1 - t) * p["phi"][1]) / 2 for t in x]
    given = [forward(p["start"], p["A"], np.vstack([row, p["B"]])[:, d["words"]].T) for row in content]
    return np.log(np.average(given, weights=w))


def posterior(p: Any, words: Any) -> tuple[Floats, Floats]:
    """Return topics' shares of every assignment, and its probability given the words."""
    counts, log_joint = assignments(p["alpha"], p["phi"].T[words])
    return counts / max(len(words), 1), np.exp(log_joint - logsumexp(log_joint))


def slda_label(p: Any, d: Any) -> Any:
    shares, probabilities = posterior(p, d["words"])
    return np.log(probabilities @ expit((2 * d["label"] - 1) * (shares @ p["w"])))


def rtm_link(p: Any, d: Any) -> Any:
    (a, p_a), (b, p_b) = posterior(p, d["words_1"]), posterior(p, d["words_2"])
    return np.log(p_a @ expit((2 * d["link"] - 1) * ((a * p["w"]) @ b.T + p["w0"])) @ p_b)


def dtm(p: Any, d: Any) -> Any:
    """Integrate over the weights, and over the logits of both words rather than their difference."""
    x, w = np.polynomial.hermite_e.hermegauss(40)
    pairs, weights = np.array(list(itertools.product(x, x))), np.outer(w, w).ravel() / w.sum() ** 2
    b = [softmax(m + np.sqrt(v) * pairs, axis=1)[:, d["words"]] for m, v in zip(p["mean"], p["variance"], strict=True)]
    if len(b) == 1:
        return np.log(weights @ b[0].prod(axis=1))
    t, of_t = roots_jacobi(10, p["alpha"] - 1.0, p["alpha"] - 1.0)
    mixed = [weights @ np.prod((1 + u) / 2 * b[0][:, None] + (1 - u) / 2 * b[1], axis=2) @ weights for u in t]
    return np.log(np.average(mixed, weights=of_t))


def beta_bernoulli(p: Any, blocks: Iterable[Any], values: Iterable[Any]) -> float:
    """Return the log-probability of cells one after the other: a Polya urn in each block."""
    urns: dict[Any, list[float]] = {}
    total = 0.0
    for block, value in zip(blocks, values, strict=True):
        urn = urns.setdefault(block, [float(p["b0"]), float(p["b1"])])
        total += math.log(urn[int(value)] / sum(urn))
        urn[int(value)] += 1.0
    return total


def relation(p: Any, cells: Floats, features: bool = False) -> Any:
    """Sum over assignments of the rows, one drawn after the other: K clusters, or a table of the restaurant's."""
    i, j = np.nonzero(~np.isnan(cells))
    n, K, terms = len(cells), int(p.get("K", 0)), []
    for q in itertools.product(range(K or n), repeat=n):
        prior = 0.0
        for m in range(n):
            size, used = q[:m].count(q[m]), len(set(q[:m]))
            if K:
                prior += math.log((size + p["alpha"]) / (m + K * p["alpha"]))
            elif q[m] > used:
                prior = -math.inf
                break
            else:
                prior += math.log((size or p["gamma"]) / (m + p["gamma"]))
        blocks = [(q[a], b if features else q[b]) for a, b in zip(i, j, strict=True)]
        terms.append(prior + beta_bernoulli(p, blocks, cells[i, j]))
    return logsumexp(terms)


def mmsb(p: Any, d: Any) -> Any:
    """Sum over the roles of all links; a block's likelihood by the background's share in its zeros."""
    i, j = np.nonzero(~np.isnan(d["links"]))
    K, values, terms = int(p["K"]), d["links"][i, j].astype(int), []

    @cache
    def block(m: int, n: int) -> float:
        """Return the log-likelihood of m ones and n zeros, each zero perhaps of the background."""
        logs = [
            math.log(math.comb(n, seen) * (1.0 - p["rho"]) ** (m + seen) * p["rho"] ** (n - seen) or 1e-300)
            + betaln(p["b1"] + m, p["b0"] + seen)
            - betaln(p["b1"], p["b0"])
            for seen in range(n + 1)
        ]
        return float(logsumexp(logs))

    @cache
    def node(*counts: int) -> float:
        return float(dirichlet(np.full(K, p["alpha"]), np.array(counts)))

    for roles in itertools.product(range(K * K), repeat=len(i)):
        pairs = [divmod(role, K) for role in roles]
        ends = [
            *zip(i.tolist(), (a for a, _ in pairs), strict=True),
            *zip(j.tolist(), (b for _, b in pairs), strict=True),
        ]
        log_p = sum(node(*(ends.count((n, k)) for k in range(K))) for n in range(len(d["links"])))
        cells = [*zip(roles, values.tolist(), strict=True)]
        terms.append(log_p + sum(block(cells.count((role, 1)), cells.count((role, 0))) for role in range(K * K)))
    return logsumexp(terms)


def rated(d: Any) -> Any:
    return np.flatnonzero(~np.isnan(d["ratings"]))


def pmf(p: Any, d: Any) -> Any:
    j = rated(d)
    covariance = p["loadings"][j] * p["variances"] @ p["loadings"][j].T + p["noise"] * np.eye(len(j))
    return multivariate_normal.logpdf(d["ratings"][j], p["mean"] + p["offsets"][j], covariance)


def machine(p: Any, v: Floats, every: Floats, h: Floats) -> Any:
    """Return log p(v) among (N, R) vectors, hidden units (2^K, K) enumerated."""
    log_sums = logsumexp(every @ p["b"] + ((every @ p["W"] + p["c"]) @ h.T).T, axis=0)
    return log_sums[np.flatnonzero((every == v).all(axis=1))[0]] - logsumexp(log_sums)


def binary(R: int) -> Floats:
    return np.array(list(itertools.product((0.0, 1.0), repeat=R)))


def categorical_machine(p: Any, values: Any) -> Any:
    (R, M), K = p["b"].shape, len(p["c"])
    every = np.array(list(itertools.product(range(M), repeat=R)))
    flat = {"W": p["W"].reshape(-1, K), "b": p["b"].ravel(), "c": p["c"]}
    return machine(flat, np.eye(M)[values].ravel(), np.eye(M)[every].reshape(len(every), -1), binary(K))


def ratings_machine(p: Any, d: Any) -> Any:
    j = rated(d)
    return categorical_machine({"W": p["W"][j], "b": p["b"][j], "c": p["c"]}, d["ratings"][j].astype(int) - 1)


def gaussian_machine(p: Any, d: Any) -> Any:
    h = binary(len(p["c"]))
    means = p["b"] + h @ p["W"].T
    weights = h @ p["c"] + (means**2).sum(axis=1) / 2.0
    return logsumexp(weights + norm.logpdf(d["x"], means).sum(axis=1)) - logsumexp(weights)


def gaussian_hidden(p: Any, d: Any) -> Any:
    """Integrate over the hidden units around the centre of each vector, by Gauss-Hermite."""
    every = binary(len(p["b"]))
    logs = [v @ p["b"] + gauss(lambda h, v=v: (v @ p["W"] + p["c"]) @ h, np.zeros(2), np.eye(2)) for v in every]  # type: ignore[misc]
    return logs[np.flatnonzero((every == d["v"]).all(axis=1))[0]] - logsumexp(logs)


def undirected_factors(p: Any, d: Any) -> Any:
    """Take the part of x from the joint Gaussian of x and h, whose precision is [[I, -W], [-W', I]]."""
    D, K = p["W"].shape
    covariance = np.linalg.inv(np.block([[np.eye(D), -p["W"]], [-p["W"].T, np.eye(K)]]))
    mean = covariance @ np.concatenate([p["b"], p["c"]])
    return multivariate_normal.logpdf(d["x"], mean[:D], covariance[:D, :D])


def softmax_machine(p: Any, d: Any) -> Any:
    V = len(p["b"])
    every = np.array(list(itertools.product(range(V), repeat=len(d["words"]))))
    totals = np.array([np.append(p["b"][w].sum(), len(w) * p["c"] + p["W"][w].sum(axis=0)) for w in every])
    log_sums = totals[:, 0] + logsumexp(totals[:, 1:] @ binary(len(p["c"])).T, axis=1)
    return log_sums[np.flatnonzero((every == d["words"]).all(axis=1))[0]] - logsumexp(log_sums)


def factor_analysis(p: Any, d: Any) -> Any:
    return multivariate_normal.logpdf(d["x"], p["mean"], p["W"] @ p["W"].T + np.diag(p["noise"]))


def by_component(pi: Floats, logs: Iterable[Any]) -> Any:
    return logsumexp(list(logs), b=pi)


TWINS: dict[str, Callable[[Any, Any], Any]] = {
    "multinomial-mixture": lambda p, d: np.log(p["pi"] @ p["phi"][:, d["words"]].prod(axis=1)),
    "categorical-mixture": lambda p, d: np.log(
        p["pi"] @ np.prod([p["b"][:, r, int(y)] for r, y in enumerate(d["responses"]) if y == y], axis=0)
    ),
    "poisson-mixture": lambda p, d: by_component(p["pi"], poisson.logpmf(d["counts"], p["rates"]).sum(axis=1)),
    "mixture-of-points": lambda p, d: np.log(p["pi"] @ (p["theta"] @ p["phi"])[:, d["words"]].prod(axis=1)),
    "lda": lambda p, d: lda(p["alpha"], p["phi"].T[d["words"]]),
    "lda-mixture-of-priors": lambda p, d: by_component(p["pi"], (lda(a, p["phi"].T[d["words"]]) for a in p["alpha"])),
    "labelled-lda": lambda p, d: lda(p["alpha"][d["labels"] == 1], p["phi"][d["labels"] == 1].T[d["words"]]),
    "dmr": lambda p, d: lda(np.exp(p["W"] @ d["x"]), p["phi"].T[d["words"]]),
    "mr-lda": lambda p, d: log_words(p["phi"].T @ softmax(p["W"] @ d["x"]), d["words"]),
    "logistic-normal": lambda p, d: gauss(
        lambda x: log_words(p["phi"].T @ simplex(x), d["words"]), p["mu"], p["Sigma"]
    ),
    "product-of-experts": lambda p, d: gauss(
        lambda x: log_words(softmax(p["W"] @ simplex(x) + p["b"][:, None], axis=0), d["words"]), p["mu"], p["Sigma"]
    ),
    "user-rating-profile": lambda p, d: lda(
        p["alpha"], np.array([p["b"][:, r, int(y)] for r, y in enumerate(d["responses"]) if y == y])
    ),
    "gap": gap,
    "conditional-gap": gap,
    "categorical-pca": lambda p, d: categorical_pca(p, d, np.zeros(p["W"].shape[2])),
    "categorical-pca-inputs": lambda p, d: categorical_pca(p, d, p["V"] @ d["x"]),
    "epca": lambda p, d: gauss(
        lambda h: log_words(softmax(p["W"] @ h, axis=0), d["words"]),
        np.zeros(p["W"].shape[1]),
        np.eye(p["W"].shape[1]) / p["precision"],
    ),
    "factor-analysis": factor_analysis,
    "gaussian-mixture": lambda p, d: by_component(
        p["pi"], (multivariate_normal.logpdf(d["x"], *of) for of in zip(p["mu"], p["Sigma"], strict=True))
    ),
    "hmm": lambda p, d: math.log(forward(p["pi"], p["A"], p["B"][:, d["words"]].T)),
    "lda-hmm": lda_hmm,
    "slda": lambda p, d: lda(p["alpha"], p["phi"].T[d["words"]]) + slda_label(p, d),
    "slda-label": slda_label,
    "disclda": lambda p, d: lda(p["alpha"], (p["A"][d["class"]].T @ p["phi"]).T[d["words"]]),
    "rtm-link": rtm_link,
    "dtm": dtm,
    "sbm": lambda p, d: relation(p, d["links"]),
    "irm": lambda p, d: relation(p, d["links"]),
    "irm-features": lambda p, d: relation(p, d["features"].astype(float), features=True),
    "mmsb": mmsb,
    "pmf": pmf,
    "co-clustering": lambda p, d: by_component(
        p["pi"],
        norm.logpdf(d["ratings"][rated(d)], p["means"][:, p["clusters"][rated(d)]], math.sqrt(p["noise"])).sum(axis=1),
    ),
    "rbm-ratings": ratings_machine,
    "rbm-binary": lambda p, d: machine(p, d["v"], binary(len(p["b"])), binary(len(p["c"]))),
    "rbm-categorical": lambda p, d: categorical_machine(p, d["responses"]),
    "rbm-gaussian": gaussian_machine,
    "rbm-binary-gaussian": gaussian_hidden,
    "rbm-gaussian-gaussian": undirected_factors,
    "replicated-softmax": softmax_machine,
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_that_of_other_sums(name: str) -> None:
    case = CASES[name]
    value = TWINS[case.family](case.parameters, case.document)
    assert value == pytest.approx(case.log_likelihood, rel=LOOSE, abs=LOOSE)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.family in HELDOUT])
def test_the_library_has_the_value_by_the_page_that_anybody_fills_in(name: str, tmp_path: Path) -> None:
    run_page(tmp_path, name, HELDOUT)


def test_a_family_that_a_package_lacks_is_skipped_and_a_wrong_value_fails(tmp_path: Path) -> None:
    name = "chain/plain"
    with pytest.raises(pytest.skip.Exception):
        run_page(tmp_path, name, {})
    with pytest.raises(AssertionError):
        run_page(tmp_path, name, {"hmm": lambda p, d: HELDOUT["hmm"](p, d) + 1e-7})


def test_every_family_has_a_case_and_names_its_parameters_and_its_document() -> None:
    assert {case.family for case in CASES.values()} == TWINS.keys()
    for case in CASES.values():
        assert case.digits == 12
        assert "nan" not in str(case.parameters)


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "src/heldout/cases").glob("exact_cases.*")) < 60_000


@pytest.mark.long
def test_the_script_writes_the_table(tmp_path: Path) -> None:
    folder = ROOT / "src" / "heldout" / "cases"
    spec = importlib.util.spec_from_file_location("script", ROOT / "workflow" / "scripts" / "exact_cases.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "exact_cases.json").write_bytes((folder / "exact_cases.json").read_bytes())
    script.main(tmp_path)
    assert (tmp_path / "exact_cases.csv").read_bytes() == (folder / "exact_cases.csv").read_bytes()
