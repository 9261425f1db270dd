"""The user rating profile against the exact likelihood, and its objective."""

import numpy as np
import pytest

from gallery.tokens.models.user_rating_profile import UserRatingProfile
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import rating_profile_marginal


def test_the_objective_rises_and_the_bound_lies_below_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(3, 0.3), (6, 2))
    pi = rng.dirichlet([0.5, 0.5], 40)
    responses = np.array([[rng.choice(3, p=p @ table) for table in tables] for p in pi])
    responses[rng.random(responses.shape) < 0.2] = -1
    model = UserRatingProfile(2, values=3, tolerance=0.0, iterations=40, document_tolerance=1e-10, random_state=0)
    objective = model.fit(responses).objective_
    assert len(objective) > 5
    assert np.all(np.diff(objective[:-1]) >= -1e-7)
    np.testing.assert_allclose(model.tables_.sum(axis=2), 1.0, rtol=1e-12)
    exact, bound = rating_profile_marginal(responses, model.tables_, model.alpha_), model.bound(responses)
    assert np.all(bound <= exact + 1e-9)
    assert exact.sum() - bound.sum() < 0.5 * (responses >= 0).sum()
    assert exact.sum() > rating_profile_marginal(responses, tables, model.alpha_).sum()  # it is fitted to these


def test_one_component_has_the_smoothed_shares_and_no_gap() -> None:
    responses = np.array([[0, 1], [0, -1], [1, 1]])
    model = UserRatingProfile(1, values=2, gamma=0.5, iterations=3, random_state=0).fit(responses)
    np.testing.assert_allclose(model.tables_[:, 0], [[2.5 / 4, 1.5 / 4], [0.5 / 3, 2.5 / 3]], rtol=1e-12)
    expected = rating_profile_marginal(responses, model.tables_, model.alpha_)
    np.testing.assert_allclose(model.bound(responses), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(expected[1]), 2.5 / 4)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"user rating profile: .*from 0 to 4"):
        UserRatingProfile(2, values=5).fit(np.array([[5]]))
    with pytest.raises(InputError, match="at least 1, positive and finite"):
        UserRatingProfile(2, alpha=0.0).fit(np.array([[1]]))
