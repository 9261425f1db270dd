"""The reference's validation: what is measured, and what is read off it: cells, effects, the table, the figure."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job
from made_measurements import measured
from made_measurements import validation as made
from small_study import with_effects
from tables_of import plain_rows
from test_same_halves import corpus

from artifact.contrasts.effect import IS_ABOVE, IS_OPEN
from artifact.papers.likelihood import tables
from artifact.papers.likelihood.experiments import validation
from artifact.papers.likelihood.macros import macros
from artifact.papers.likelihood.settings import Validation
from artifact.papers.likelihood.validation import cells, unvalidated
from artifact.results.measurements import Measurement
from heldout.evaluators.annealed_bounds import simulate_mixture
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.models import PLSA
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics

PLACE = {"seed": 0, "test_documents": 12, "topics": 3}
SETTINGS: dict[str, Any] = {
    **{"iterations": 5, "smoothing": 1e-3, "alpha_sum": 4.0, "beta": 0.1, "sweeps": 5, "components": 2},
    **{"prior_tokens": 60, "prior_rounds": 4, "documents": 4, "longest": 9, "tokens": 1000, "samples": 240},
    **{"annealing_chains": 4, "variance": 0.1, "more": {}, "longer": 4, "particles": 10, "runs": 10, "limit": 1e9},
    **{"bound_chains": 2, "bound_steps": 50},
}


def run(**changes: Any) -> list[Measurement]:
    scores, rows = run_job(validation.experiment, Validation, corpus(), **{**PLACE, **SETTINGS, **changes})
    assert scores == []
    return rows


def test_every_cell_is_held_to_all_others_within_errors() -> None:
    rows = run()
    cells = {(m.model, m.variant.removeprefix("validation-")) for m in rows}
    assert cells == {(m, p) for m in ("plsa-hof", "lda") for p in validation.PRIORS} - {("plsa-hof", "own")}
    totals = [m for m in rows if m.axis == "documents" and m.quantity.endswith("-difference")]
    assert len(totals) == 7 * 4
    off = [abs(m.value / m.standard_error) for m in totals if m.quantity.startswith(validation.OTHERS)]
    assert max(off) < 8.0  # Student's with 9 degrees of freedom or more
    of_filter = [m for m in rows if m.axis == "document" and m.quantity == "filter-difference"]
    assert len(of_filter) == 7 * 4
    (tokens,) = {m.value for m in rows if m.quantity == "filter-tokens"}
    assert tokens <= 4 * 9
    one = {m.quantity: m for m in rows if (m.model, m.variant, m.axis) == ("lda", "validation-own", "documents")}
    own = [m.value for m in of_filter if (m.model, m.variant) == ("lda", "validation-own")]
    assert one["filter-difference"].value == pytest.approx(sum(own), abs=1e-9)
    both = np.hypot(one["filter-own-error"].value, one["filter-reference-error"].value)
    assert one["filter-difference"].standard_error == pytest.approx(both)


def test_a_filter_that_costs_too_much_is_left_out() -> None:
    names = {m.quantity.partition("-")[0] for m in run(limit=1.0)}
    assert names == {"longer", "lower", "upper"}


def test_documents_are_at_quantiles_and_fewer_where_they_are_long() -> None:
    lengths = np.array([0, 8, 2, 4, 6, 10, 12, 14, 16])
    for tokens, chosen in ((1000, [4, 8, 12, 16]), (30, [4, 10, 14]), (1, [6, 14])):
        assert lengths[validation.by_quantiles(lengths, 4, tokens)].tolist() == chosen


def test_reference_and_filter_agree_with_exact_values_under_a_mixture() -> None:
    """The errors are stated ones; 6 of them of sums over documents have a chance below 1e-5 under Student's t."""
    rng = np.random.default_rng(3)
    phi = rng.dirichlet(np.full(6, 0.3), size=3)
    topics = Topics(phi=phi, alpha=np.ones(3), vocabulary=tuple(f"w{w}" for w in range(6)), provenance={})
    prior = DirichletMixture(np.array([0.3, 0.7]), np.array([[0.1, 0.2, 0.3], [3.0, 1.0, 0.5]]))
    drawn = simulate_mixture(topics, prior, np.array([5, 9, 14, 20]), rng)
    exact = mixture_of_priors(topics, prior, lambda under: exact_marginal(under, drawn.documents)).log_likelihood
    settings = replace(Validation(**SETTINGS), runs=200)
    for function in (validation.referenced, validation.filtered_by):
        found = function(topics, prior, drawn.documents, settings, rng)
        assert abs((found.log_likelihood - exact).sum()) < 6.0 * found.total_error()


def test_a_cell_is_per_token_and_counts_where_both_errors_are_small() -> None:
    for stated, counted in ((0.5, True), (2.1, False)):  # of 100 tokens
        found = cells(measured(made(off=0.001, stated=stated)))
        of_filter = found[found["other"] == "filter"][["gain", "stated", "own"]].to_numpy()
        assert of_filter == pytest.approx(np.tile([0.001, stated / 100.0, 0.003], (8, 1)))
        assert found["validated"].tolist() == [counted] * 8 * 4


def test_a_filter_whose_weights_vary_too_much_is_a_bound_and_validates_nothing() -> None:
    place = ("cranfield", "lda", "validation-flat", 20, 0.0, "none", 0, "filter-own-error", "document")
    rows = [*made(), Measurement(*place, 0, 0.42, 0.0), Measurement(*place, 1, 0.43, 0.0)]
    found = cells(measured(rows))
    (row,) = found[~found["validated"]][["model", "prior", "topics", "other"]].to_numpy().tolist()
    assert row == ["lda", "flat", 20, "filter"]
    assert cells(measured(rows[:-1]))["validated"].all()  # sqrt((e - 1) / 10) = 0.4145, with its bias 0.4233


@pytest.mark.parametrize(("off", "finding"), [(0.0, IS_OPEN), (0.02, IS_ABOVE)])
def test_the_reference_is_held_to_another_estimate_with_the_error_over_documents(off: float, finding: str) -> None:
    """Nats of four documents are -0.2, 0.18, 0.2 and -0.14, of 100 tokens together; of bounds the error is stated."""
    for other in ("longer", "filter"):
        found = with_effects(measured(made(off=off))).effects[f"reference-{other}"]
        assert [effect.part for effect in found[1:3]] == ["PLSA, flat, K = 800", "PLSA, mixture, K = 20"]
        assert [found[0].estimate, found[0].error] == pytest.approx([off, math.sqrt(4.0 * 0.1316 / 3.0) / 100.0])
        assert {(effect.finding, effect.freedom, effect.replicates) for effect in found} == {(finding, 3.0, 4)}
    for bound, value in (("lower", 4e-4), ("upper", -4e-4)):
        effect = with_effects(measured(made())).effects[f"reference-{bound}-bound"][0]
        assert [effect.estimate, effect.error, effect.freedom] == pytest.approx([value, 2e-4, 3.0])


def test_the_table_prints_means_of_validated_cells_bold_where_all_are() -> None:
    split = [replace(row, seed=1) for row in made(off=0.003, stated=2.1)]
    for rows, cell in (
        (made(off=5e-4), "bold +0.5 (1/1)"),
        (made(off=5e-4) + split, "+0.5 (1/2)"),
        (split, "-- (0/1)"),
    ):
        cells = " & ".join([cell] * 4)
        assert f"flat & PLSA & {cells}" in plain_rows(tables.validated(measured(rows)))


def test_the_text_counts_cells_and_those_that_are_left() -> None:
    place = ("cranfield", "lda", "validation-flat", 20, 0.0, "none", 0, "filter-own-error", "document")
    names = ("LongerCells", "LongerLeft", "FilterCells", "FilterLeft")
    for rows, counts in (([*made(), Measurement(*place, 1, 0.43, 0.0)], "8 0 8 1"), (made(stated=2.1), "8 8 8 8")):
        numbers = macros(measured(rows))
        assert " ".join(numbers[f"Validation{name}"] for name in names) == counts


def test_a_likelihood_is_validated_by_the_next_larger_number_of_topics_or_exact() -> None:
    test = unvalidated(measured(made()))  # of 20 and 800 topics, under the flat prior and a mixture
    assert [test("cranfield", PLSA, "flat", k) for k in (3, 20, 100, 800, 801)] == [False] * 4 + [True]
    assert test("cranfield", PLSA, "fitted", 20)
    assert [test("medline", PLSA, "flat", k) for k in (3, 20)] == [False, True]  # of 3 the value is exact
    assert unvalidated(measured(made(stated=2.1)))("cranfield", PLSA, "flat", 20)
