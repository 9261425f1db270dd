"""The reference's validation: which documents and cells, and that every row is the evaluators' own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments import validation
from artifact.papers.likelihood.settings import Validation
from artifact.results.measurements import Measurement
from heldout.corpora.corpus import Corpus
from heldout.evaluators.annealed_bounds import simulate_mixture
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics

SETTINGS: dict[str, Any] = {
    **{"seed": 0, "test_documents": 12, "topics": 3, "iterations": 5, "smoothing": 1e-3, "alpha_sum": 4.0, "beta": 0.1},
    **{
        "sweeps": 5,
        "components": 2,
        "prior_tokens": 60,
        "prior_rounds": 4,
        "documents": 4,
        "longest": 9,
        "tokens": 1000,
    },
    **{
        "samples": 240,
        "annealing_chains": 4,
        "longer": 4,
        "particles": 10,
        "runs": 10,
        "limit": 1e9,
        "bound_chains": 2,
        "bound_steps": 50,
    },
}


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))) for n in rng.integers(4, 15, 40)]
    return Corpus.from_documents("small", [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def run(**changes: Any) -> list[Measurement]:
    scores, rows = run_job(validation.experiment, Validation, corpus(), **{**SETTINGS, **changes})
    assert scores == []
    return rows


def test_every_cell_is_held_to_all_others_within_errors() -> None:
    rows = run()
    cells = {(m.model, m.variant.removeprefix("validation-")) for m in rows}
    assert cells == {(model, prior) for model in ("plsa-hof", "lda") for prior in validation.PRIORS}
    totals = [m for m in rows if m.axis == "documents" and m.quantity.endswith("-difference")]
    assert len(totals) == 6 * 4
    for m in totals:
        if m.quantity.startswith(validation.OTHERS):  # Student's with 9 degrees of freedom or more
            assert abs(m.value) < 8.0 * m.standard_error, m
    of_documents = [m for m in rows if m.axis == "document" and m.quantity == "filter-difference"]
    assert len(of_documents) == 6 * 4
    tokens = {m.value for m in rows if m.quantity == "filter-tokens"}
    assert len(tokens) == 1
    assert tokens.pop() <= 4 * 9
    one = {m.quantity: m for m in rows if (m.model, m.variant, m.axis) == ("lda", "validation-flat", "documents")}
    own = [m for m in of_documents if (m.model, m.variant) == ("lda", "validation-flat")]
    assert one["filter-difference"].value == pytest.approx(sum(m.value for m in own), abs=1e-9)
    both = np.hypot(one["filter-own-error"].value, one["filter-reference-error"].value)
    assert one["filter-difference"].standard_error == pytest.approx(both)


def test_a_filter_that_costs_too_much_is_left_out() -> None:
    rows = run(limit=1.0)
    assert not [m for m in rows if m.quantity.startswith("filter")]
    assert [m for m in rows if m.quantity.startswith("longer")]


def test_documents_are_at_quantiles_and_fewer_where_they_are_long() -> None:
    lengths = np.array([0, 8, 2, 4, 6, 10, 12, 14, 16])
    assert lengths[validation.by_quantiles(lengths, 4, 1000)].tolist() == [4, 8, 12, 16]
    assert lengths[validation.by_quantiles(lengths, 4, 30)].tolist() == [4, 10, 14]
    assert lengths[validation.by_quantiles(lengths, 4, 1)].tolist() == [6, 14]


def test_reference_and_filter_agree_with_exact_values_under_a_mixture() -> None:
    """The errors are stated ones; 6 of them of sums over documents have a chance below 1e-5 under Student's t."""
    rng = np.random.default_rng(3)
    phi = rng.dirichlet(np.full(6, 0.3), size=3)
    topics = Topics(phi=phi, alpha=np.ones(3), vocabulary=tuple(f"w{w}" for w in range(6)), provenance={})
    prior = DirichletMixture(np.array([0.3, 0.7]), np.array([[0.1, 0.2, 0.3], [3.0, 1.0, 0.5]]))
    drawn = simulate_mixture(topics, prior, np.array([5, 9, 14, 20]), rng)
    exact = mixture_of_priors(topics, prior, lambda under: exact_marginal(under, drawn.documents)).log_likelihood
    settings = Validation(**{k: v for k, v in SETTINGS.items() if k not in ("seed", "test_documents", "topics")})
    settings = replace(settings, runs=200)
    found = validation.referenced(topics, prior, drawn.documents, settings, rng)
    assert abs((found.log_likelihood - exact).sum()) < 6.0 * found.total_error()
    filtered = validation.filtered_by(topics, prior, drawn.documents, settings, rng)
    assert abs((filtered.log_likelihood - exact).sum()) < 6.0 * filtered.total_error()
