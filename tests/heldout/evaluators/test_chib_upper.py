"""Upper bounds: unbiased in 1 / p over documents drawn with their topics, and close to exact values."""

from typing import Any

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.evaluators.annealed_prior import annealed_upper
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.chib import chib_upper
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics


@pytest.mark.parametrize(
    ("bound", "few_of", "many_of"),
    [
        (chib_upper, (2, {"runs": 1}), (50, {})),
        (annealed_upper, (1, {"steps": 3}), (5, {"steps": 20})),
        (annealed_upper, (1, {"steps": 1}), (5, {"steps": 20})),
    ],
)
def test_the_inverse_is_unbiased_and_more_samples_bring_the_bound_down_to_the_truth(
    bound: Any, few_of: tuple[int, Any], many_of: tuple[int, Any]
) -> None:
    rng = np.random.default_rng(0)
    topics = Topics(rng.dirichlet(np.full(8, 0.5), 3), np.array([0.2, 0.5, 1.0]), tuple("abcdefgh"))
    documents, z = simulate(topics, np.full(2000, 6), rng)
    exact = exact_marginal(topics, documents).log_likelihood
    few = bound(topics, documents, few_of[0], rng, assignments=z, **few_of[1]).log_likelihood
    ratios = np.exp(exact - few)
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    assert abs(ratios.mean() - 1.0) < 4.4 * error  # a false alarm of 1e-5
    assert error < 0.05
    many = bound(topics, documents, many_of[0], rng, assignments=z, **many_of[1]).log_likelihood
    assert 0.0 < np.mean(many - exact) < 0.02 < np.mean(few - exact)


@pytest.mark.parametrize("upper", [chib_upper, annealed_upper])
def test_assignments_must_fit_and_an_empty_document_has_no_surprise(upper: Any) -> None:
    topics = Topics(np.array([[1.0, 0.0], [0.5, 0.5]]), np.ones(2), ("a", "b"))
    documents, _ = simulate(topics, np.array([0, 3]), np.random.default_rng(0))
    bound = upper(topics, documents, 5, np.random.default_rng(1), assignments=np.ones(3, np.int64))
    assert bound.log_likelihood[0] == bound.standard_error[0] == 0.0
    assert np.isnan(bound.standard_error[1])
    with pytest.raises(InputError, match="2 assignments"):
        upper(topics, documents, 5, np.random.default_rng(1), assignments=np.ones(2, np.int64))
    with pytest.raises(InputError, match="0 samples"):
        upper(topics, documents, 0, np.random.default_rng(1), assignments=np.ones(3, np.int64))
