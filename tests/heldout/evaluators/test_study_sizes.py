"""Estimators against the exact value on documents as long as the study's, at the study's own numbers of samples.

An estimate is held to what it can resolve: over the documents of a cell, the mean of exp(estimate - exact) is 1 within
its own standard error times Student's quantile for a false-alarm rate of 1e-5, and that tolerance itself is below the
bias, in nats per document, that the test says it would see.
"""

import functools
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import t as student
from test_estimators_conformance import corpus, vocabulary

from heldout.corpora.corpus import Corpus
from heldout.evaluators import (
    ANNEALED,
    CHIB,
    COMPLETION,
    LAPLACE,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    PARTICLES,
    SEQUENTIAL,
)
from heldout.evaluators.document_completion import halves
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_marginal, exact_posterior_mean
from heldout.evaluators.simplex_quadrature import by_quadrature
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

STUDY = yaml.safe_load((Path(__file__).parents[3] / "workflow/studies/paper.yaml").read_text(encoding="utf-8"))
MEASURES = {name: measure["settings"] for name, measure in STUDY["measures"].items() if "settings" in measure}
CHOSEN = MEASURES["model-selection"]
SAMPLES = {
    **CHOSEN["control"],
    **CHOSEN["samples"],
    **CHOSEN["some_samples"],
    ANNEALED: MEASURES["bidirectional"]["samples"],
}
ABSTRACT, ARTICLE = 85, 1300  # tokens
# number of topics, alpha: PLSA's flat prior, LDA's 50 / K, and one of few topics per document
CELLS = {"flat": (2, 1.0), "dense": (4, STUDY["models"]["lda"]["train"]["alpha_sum"] / 4), "sparse": (4, 0.05)}
DOCUMENTS = {ABSTRACT: 60, ARTICLE: 8}


@functools.cache
def cell(name: str, length: int) -> tuple[Topics, Corpus, Floats]:
    """Topics as sparse as trained ones, smoothed as the study does, documents drawn from them, and the exact values.

    Articles have two topics: their exact value at four takes minutes.
    """
    K, alpha = CELLS[name]
    K = min(K, 2) if length == ARTICLE else K
    rng = generator("study-sizes", cell=name, length=length)
    phi = rng.dirichlet(np.full(1000, 0.1), size=K)
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.full(K, alpha), vocabulary(1000)).smoothed(
        MEASURES["optimism"]["smoothing"]
    )
    weights = rng.dirichlet(topics.alpha, size=DOCUMENTS[length]) @ topics.phi
    documents = corpus("drawn", 1000, [rng.choice(1000, size=length, p=p / p.sum()).astype(np.int32) for p in weights])
    return topics, documents, exact_marginal(topics, documents).log_likelihood


def differences(name: str, of: str, length: int, samples: int) -> tuple[Floats, Floats]:
    """Return estimate - exact, (D,) nats, and the stated errors."""
    topics, documents, exact = cell(of, length)
    axes: dict[str, str | int] = {"estimator": name, "cell": of, "length": length}
    if name == COMPLETION:
        observed, _, _ = halves(topics, documents, generator("study-sizes-run", **axes))
        exact = exact - exact_marginal(topics, observed).log_likelihood
    found = estimate(name, topics, documents, samples, generator("study-sizes-run", **axes))
    return found.log_likelihood - exact, found.standard_error


# nats per document: the bias that the test would see (left-to-right's own is smaller on these documents)
RESOLVED: dict[tuple[str, str, int], float] = {
    (SEQUENTIAL, "flat", ABSTRACT): 0.08,
    (SEQUENTIAL, "dense", ABSTRACT): 0.08,
    (SEQUENTIAL, "sparse", ABSTRACT): 0.4,
    (PARTICLES, "flat", ABSTRACT): 0.08,
    (PARTICLES, "dense", ABSTRACT): 0.08,
    (MEAN_FIELD_FIRST, "flat", ABSTRACT): 0.015,
    (MEAN_FIELD_FIRST, "dense", ABSTRACT): 0.02,
    (MEAN_FIELD_FIRST, "flat", ARTICLE): 0.1,
    (CHIB, "flat", ABSTRACT): 0.004,
    (CHIB, "dense", ABSTRACT): 0.01,
    (CHIB, "sparse", ABSTRACT): 0.02,
    (CHIB, "flat", ARTICLE): 0.2,
    (CHIB, "sparse", ARTICLE): 0.3,
    (COMPLETION, "flat", ABSTRACT): 0.1,
    (COMPLETION, "sparse", ABSTRACT): 0.4,
    (ANNEALED, "flat", ABSTRACT): 0.4,
    (ANNEALED, "dense", ABSTRACT): 0.3,
}


@pytest.mark.parametrize(("name", "of", "length"), RESOLVED)
def test_an_estimate_is_unbiased_to_within_its_own_error(name: str, of: str, length: int) -> None:
    errors, _ = differences(name, of, length, SAMPLES[name])
    ratio = np.exp(errors)
    tolerance = float(student.isf(0.5e-5, len(ratio) - 1)) * ratio.std(ddof=1) / math.sqrt(len(ratio))
    assert tolerance < RESOLVED[name, of, length]
    assert abs(ratio.mean() - 1.0) < tolerance


# the mean error on these documents of what is not exact, nats per document
KNOWN = {
    (LAPLACE, "flat"): 0.0998,
    (LAPLACE, "dense"): 0.0097,
    (MEAN_FIELD_BOUND, "flat"): -0.127,
    (MEAN_FIELD_BOUND, "dense"): -0.33,
}


@pytest.mark.parametrize(("name", "of"), KNOWN)
def test_approximations_are_off_by_what_is_known(name: str, of: str) -> None:
    errors, _ = differences(name, of, ABSTRACT, 0)
    assert errors.mean() == pytest.approx(KNOWN[name, of], rel=0.05)  # they draw nothing
    assert np.abs(errors).max() < 3.0 * abs(KNOWN[name, of])


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_the_exact_value_of_an_article_by_two_routes(alpha: float) -> None:
    """A topic split in two with its prior changes nothing: the quadrature over 3 topics is the polynomial over 2."""
    rng = generator("study-sizes-exact", alpha=str(alpha))
    phi = rng.dirichlet(np.full(50, 0.05), size=2) + 1e-9
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.array([alpha, 2.0 * alpha]), vocabulary(50))
    document = rng.choice(50, size=ARTICLE, p=topics.phi[0] * 0.95 + topics.phi[1] * 0.05).astype(np.int32)
    (log_p,) = exact_marginal(topics, corpus("article", 50, [document])).log_likelihood
    (mean,) = exact_posterior_mean(topics, corpus("article", 50, [document]))
    for split, prior in (([0, 1], topics.alpha), ([0, 1, 1], np.full(3, alpha))):
        result = by_quadrature(document, np.ascontiguousarray(topics.phi[split].T), prior)
        assert result[0] == pytest.approx(log_p, rel=1e-12)
        np.testing.assert_allclose([result[1][0], result[1][1:].sum()], mean, rtol=1e-9)
