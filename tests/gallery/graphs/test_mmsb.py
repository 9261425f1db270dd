"""Mixed membership: all assignments of tiny graphs, annealing held to them, sums to one, and drawn memberships."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp, xlogy

from gallery.graphs.evaluators.mixed_membership_evidence import annealed_roles
from gallery.graphs.models.mmsb import MMSB, Roles
from heldout.corpora.relations.relation import Relation, graph
from heldout.errors import InputError

PRIOR: dict[str, Any] = {"alpha": 0.6, "eta": (0.7, 1.3)}


def of_bits(n: int, bits: tuple[bool, ...]) -> Relation:
    values = np.zeros((n, n), dtype=bool)
    values[~np.eye(n, dtype=bool)] = bits
    return graph("arcs", "nodes", values)


def slow_log_joint(roles: Roles, draws: list[tuple[int, int, int]]) -> float:
    """Draw pair after pair, as the generative process does with pi and eta integrated out."""
    total, K = 0.0, roles.K
    members, blocks = np.zeros((roles.nodes, K)), np.zeros((K, K, 2))
    for (i, j), value, (a, b, c) in zip(roles.pairs, roles.values, draws, strict=True):
        for node, block in ((i, a), (j, b)):
            total += math.log((members[node, block] + roles.alpha) / (members[node].sum() + K * roles.alpha))
            members[node, block] += 1.0
        if c:
            total += math.log(roles.rho)
            continue
        total += math.log1p(-roles.rho)
        one, zero = roles.eta
        hits = blocks[a, b, 1] + one if value else blocks[a, b, 0] + zero
        total += math.log(hits / (blocks[a, b].sum() + one + zero))
        blocks[a, b, int(value)] += 1.0
    return total


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_the_joint_is_that_of_draw_after_draw_in_every_state(rho: float) -> None:
    bits = tuple(np.random.default_rng(0).random(12) < 0.4)
    roles, random = Roles(of_bits(4, bits), 3, rho=rho, **PRIOR), np.random.default_rng(1)
    roles.sweep(random, 0.0)
    for _ in range(10):
        roles.sweep(random)
        draws = [(int(a), int(b), int(c)) for a, b, c in roles.draws]
        assert roles.log_joint() == pytest.approx(slow_log_joint(roles, draws), abs=1e-10)
        assert not roles.draws[roles.values == 1, 2].any()


def enumerated_roles(roles: Roles) -> float:
    """Return log p(R), nats, the sum over all assignments: of three nodes and two blocks 2^12.

    With rho above 0 every 0 has twice as many.
    """
    K, alpha, (one, zero) = roles.K, roles.alpha, roles.eta
    of_pair = [K * K * (2 if roles.rho > 0.0 and not value else 1) for value in roles.values]
    A = math.prod(of_pair)
    left, every = np.arange(A), np.arange(A)
    members, ones, observed = np.zeros((A, roles.nodes, K)), np.zeros((A, K, K)), np.zeros((A, K, K))
    background = np.zeros(A)
    for (i, j), value, options in zip(roles.pairs, roles.values, of_pair, strict=True):
        code, left = left % options, left // options
        a, b, own = code % K, code // K % K, code // (K * K) == 0
        members[every, i, a] += 1.0
        members[every, j, b] += 1.0
        ones[every, a, b] += own * value
        observed[every, a, b] += own
        background += ~own
    log_joint = (betaln(ones + one, observed - ones + zero) - betaln(one, zero)).sum(axis=(1, 2))
    log_joint += (gammaln(members + alpha) - gammaln(alpha)).sum(axis=(1, 2))
    log_joint += (gammaln(K * alpha) - gammaln(members.sum(axis=2) + K * alpha)).sum(axis=1)
    log_joint += xlogy(background, roles.rho) + (len(roles.values) - background) * math.log1p(-roles.rho)
    return float(logsumexp(log_joint))


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_probabilities_of_all_graphs_sum_to_one(rho: float) -> None:
    total = 0.0
    for bits in itertools.product([False, True], repeat=2):
        total += math.exp(enumerated_roles(Roles(of_bits(2, bits), 2, rho=rho, **PRIOR)))
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_annealing_has_the_likelihood_of_all_assignments(rho: float) -> None:
    """Three nodes and two blocks, 2^12 assignments without background; 300 chains, 6 errors: once in 1e8 runs."""
    roles = Roles(of_bits(3, (True, False, True, True, rho > 0.0, True)), 2, rho=rho, **PRIOR)
    exact = enumerated_roles(roles)
    value, error = annealed_roles(roles, chains=300, temperatures=20, random=np.random.default_rng(0))
    assert 0.0 < error < 0.1
    assert abs(value - exact) < 6.0 * error


def test_gibbs_sampling_has_the_posterior_of_all_assignments() -> None:
    """The mean of n_11, draws of the first node in block 1, cubed, of 4,000 states 5 sweeps apart; 6 errors.

    Blocks may be exchanged, so the mean itself would be right for any sampler.
    """
    bits = (True, False)
    roles, random = Roles(of_bits(2, bits), 2, rho=0.3, **PRIOR), np.random.default_rng(0)
    weights, values = [], []
    for a, b, d, e, c in itertools.product(range(2), repeat=5):
        draws = [(a, b, 0), (d, e, c)]
        weights.append(math.exp(slow_log_joint(roles, draws)))
        values.append(float(a == e == 0 and c == 0))
    exact = float(np.average(values, weights=weights))
    roles.sweep(random, 0.0)
    seen = []
    for sweep in range(20_000):
        roles.sweep(random)
        if sweep % 5 == 0:
            (a, _, _), (_, e, c) = roles.draws.tolist()
            seen.append(float(a == e == 0 and c == 0))
    assert abs(np.mean(seen) - exact) < 6.0 * math.sqrt(exact * (1.0 - exact) / len(seen))


def test_a_node_between_two_groups_has_two_memberships() -> None:
    """Two cliques of seven and a node that both like and that likes both."""
    groups = np.array([0] * 7 + [1] * 7)
    values = np.ones((15, 15), dtype=bool)
    values[:14, :14] = groups[:, None] == groups
    np.fill_diagonal(values, val=False)
    model = MMSB(2, starts=3, sweeps=200, random_state=0).fit(graph("likes", "people", values))
    least = model.memberships_.min(axis=1)
    assert least[14] > 0.25
    assert least[:14].max() < 0.15
    assert model.plugged_in(graph("likes", "people", values)) < 0.0


def test_bad_settings_are_refused() -> None:
    one = of_bits(3, (True, False, True, True, False, True))
    for change in ({"K": 0}, {"alpha": 0.0}, {"rho": 1.0}, {"eta": (0.0, 1.0)}):
        given = {"K": 2, "rho": 0.0, **PRIOR, **change}
        with pytest.raises(InputError, match="mixed membership: K"):
            Roles(one, given.pop("K"), **given)
    loops = Relation("r", ("a", "a"), np.zeros((2, 2), bool), np.ones((2, 2), bool))
    with pytest.raises(InputError, match=r"relation r: .*self-loops"):
        Roles(loops, 2, rho=0.0, **PRIOR)
    with pytest.raises(InputError, match="0 starts"):
        MMSB(2, starts=0).fit(one)
