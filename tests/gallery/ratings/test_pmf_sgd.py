"""Stochastic gradient descent: one pass is the updates written out, and with small steps it finds least squares."""

import itertools

import numpy as np
import pytest

from gallery.ratings.models.pmf_sgd import Decays, passes
from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.pmf import PMF


def ratings(share: float = 0.6) -> Ratings:
    random = np.random.default_rng(1)
    values = np.clip(np.round(3.0 + random.normal(size=(20, 2)) @ random.normal(size=(2, 15))), 1, 5).astype(np.int64)
    who, what = np.nonzero(random.random(values.shape) < share)
    return Ratings(tuple(map(str, range(20))), tuple(map(str, range(15))), who, what, values[who, what])


@pytest.mark.parametrize("biases", [True, False])
def test_a_pass_is_its_updates_written_out(biases: bool) -> None:
    data, decays, rate = ratings(), Decays(0.05, 0.02), 0.03
    found = next(passes(data, 2, decays, np.random.default_rng(4), rate=rate, biases=biases))
    random = np.random.default_rng(4)
    U, V = random.normal(0.0, 0.1, (20, 2)), random.normal(0.0, 0.1, (15, 2))
    f, g, mean = np.zeros(20), np.zeros(15), data.value.mean()
    for n in random.permutation(len(data)):
        i, j = data.user[n], data.item[n]
        e = data.value[n] - mean - f[i] - g[j] - U[i] @ V[j]
        U[i], V[j] = U[i] + rate * (e * V[j] - 0.05 * U[i]), V[j] + rate * (e * U[i] - 0.02 * V[j])
        if biases:
            f[i] += rate * (e - 0.05 * f[i])
            g[j] += rate * (e - 0.02 * g[j])
    assert found.users[:, :2] == pytest.approx(U, abs=1e-12)
    assert found.factors.loadings[:, :2] == pytest.approx(V, abs=1e-12)
    assert found.factors.offsets == pytest.approx(g, abs=1e-12)
    errors = data.value - found.factors.predicted(found.users, data)
    assert found.factors.noise == pytest.approx((errors**2).mean(), abs=1e-12)
    if biases:
        assert found.users[:, 2] == pytest.approx(f, abs=1e-12)


def test_printed_decays_find_what_least_squares_find() -> None:
    data = ratings()
    least = PMF(1, biases=False, noise=0.4, variance=2.0, random_state=0, iterations=2000, tolerance=1e-13).fit(data)

    def objective(users: np.ndarray, loadings: np.ndarray) -> float:
        errors = data.value - data.value.mean() - (users[data.user] * loadings[data.item]).sum(axis=1)
        return float((errors**2).sum() + 0.2 * ((users**2).sum() + (loadings**2).sum()))

    descent = passes(data, 1, Decays(0.2, 0.2, printed=True), np.random.default_rng(0), rate=0.002, biases=False)
    point = next(itertools.islice(descent, 3000, None))
    best = objective(least.users_, least.factors_.loadings)
    assert best - 1e-6 < objective(point.users, point.factors.loadings) < best * 1.01


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"rate .*decays"):
        next(passes(ratings(), 1, Decays(-0.1, 0.0), np.random.default_rng(0)))
