"""Blocks of relations: counts, likelihood and draws against slow twins; Gibbs sampling against the posterior."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.special import betaln, digamma, gammaln, softmax, xlogy

from gallery.graphs.evaluators.partitions import partitions_of_graph
from gallery.graphs.models.blocks import Blocks, ClusterPrior, relabelled
from gallery.graphs.models.irm import IRM
from gallery.graphs.models.sbm import START, sample, sbm_blocks, variational_em
from heldout.corpora.relations.relation import Relation, Relations, graph
from heldout.errors import InputError

ETA = (0.7, 1.3)


def two_relations(seed: int = 0, people: int = 3) -> Relations:
    """Return a ternary relation, with loops and gaps, and a binary one that shares a type."""
    random = np.random.default_rng(seed)
    mask, shown = random.random((people, people, 2)) < 0.8, random.random((people, 2)) < 0.8
    shared = ("people", "people", "terms")
    return Relations(
        "two",
        {"people": tuple(map(str, range(people))), "terms": ("s", "t"), "films": ("x", "y")},
        (
            Relation("knows", shared, (random.random(mask.shape) < 0.5) & mask, mask),
            Relation("likes", ("people", "films"), (random.random(shown.shape) < 0.5) & shown, shown),
        ),
    )


def random_graph(n: int, seed: int, name: str = "graph") -> Relations:
    values = np.random.default_rng(seed).random((n, n)) < 0.4
    np.fill_diagonal(values, val=False)
    return Relations(name, {"nodes": tuple(map(str, range(n)))}, (graph("arcs", "nodes", values),))


def slow_log_likelihood(relations: Relations, clusters: dict[str, list[int]]) -> float:
    total = 0.0
    for one in relations.relations:
        blocks: dict[tuple[int, ...], list[bool]] = {}
        for cell in itertools.product(*map(range, one.values.shape)):
            if one.mask[cell]:
                key = tuple(clusters[axis][i] for axis, i in zip(one.types, cell, strict=True))
                blocks.setdefault(key, []).append(bool(one.values[cell]))
        for cells in blocks.values():
            total += betaln(sum(cells) + ETA[0], len(cells) - sum(cells) + ETA[1]) - betaln(*ETA)
    return total


def slow_log_prior(prior: ClusterPrior, q: list[int]) -> float:
    """Draw one entity after the other, as the urn does."""
    total, sizes = 0.0, Counter[int]()
    for i, a in enumerate(q):
        if prior.K:
            total += math.log((sizes[a] + prior.concentration) / (i + prior.K * prior.concentration))
        else:
            total += math.log((sizes[a] or prior.concentration) / (i + prior.concentration))
        sizes[a] += 1
    return total


@pytest.mark.parametrize("K", [0, 3])
def test_likelihood_prior_and_counts_are_those_of_slow_twins_after_every_sweep(K: int) -> None:
    relations = two_relations(people=5)
    priors = {name: ClusterPrior(0.8, K) for name in ("people", "terms", "films")}
    blocks, random = Blocks(relations, priors, ETA), np.random.default_rng(1)
    blocks.start(random)
    for _ in range(20):
        blocks.sweep(random)
        q = {name: blocks.clusters(name).tolist() for name in priors}
        expected = slow_log_likelihood(relations, q)
        assert blocks.log_likelihood() == pytest.approx(expected, abs=1e-9)
        joint = expected + sum(slow_log_prior(priors[name], q[name]) for name in priors)
        assert blocks.log_joint() == pytest.approx(joint, abs=1e-9)
        counted = blocks.ones.copy(), blocks.observed.copy(), blocks.sizes.copy()
        blocks.restart_from(blocks.q.copy())
        for kept, again in zip(counted, (blocks.ones, blocks.observed, blocks.sizes), strict=True):
            assert np.array_equal(kept, again)


def test_what_is_no_cluster_of_its_own_stays_and_relations_may_have_one_axis_more() -> None:
    relations = two_relations()
    blocks = Blocks(relations, {"people": ClusterPrior(1.0, 2)}, ETA)
    random = np.random.default_rng(0)
    blocks.start(random)
    blocks.sweep(random)
    assert blocks.clusters("terms").tolist() == blocks.clusters("films").tolist() == [0, 1]
    q = {"people": blocks.clusters("people").tolist(), "terms": [0, 1], "films": [0, 1]}
    assert blocks.log_likelihood() == pytest.approx(slow_log_likelihood(relations, q), abs=1e-9)


@pytest.mark.parametrize("K", [0, 2])
def test_gibbs_sampling_has_the_posterior_of_all_assignments(K: int) -> None:
    """Four people and two terms in 20,000 sweeps, a state in five counted: every share of a partition within 6 errors.

    The counted states are all but independent; of some 30 partitions one lies beyond 6 errors with chance 1e-7.
    """
    relations = two_relations(2, people=4)
    priors = {"people": ClusterPrior(0.8, K), "terms": ClusterPrior(1.2, K), "films": ClusterPrior(0.9, K)}
    posterior: Counter[tuple[int, ...]] = Counter()
    most = K or 4
    for people in itertools.product(range(most), repeat=4):
        for terms in itertools.product(range(K or 2), repeat=2):
            for films in itertools.product(range(K or 2), repeat=2):
                q = {"people": list(people), "terms": list(terms), "films": list(films)}
                if not K and any(relabelled(np.array(one)).tolist() != one for one in q.values()):
                    continue  # the CRP is over partitions
                joint = slow_log_likelihood(relations, q) + sum(slow_log_prior(priors[n], q[n]) for n in q)
                posterior[tuple(relabelled(np.array(people)).tolist())] += math.exp(joint)  # type: ignore[assignment]
    total = sum(posterior.values())
    blocks, random, seen, sweeps = (
        Blocks(relations, priors, ETA),
        np.random.default_rng(3),
        Counter[tuple[int, ...]](),
        0,
    )
    blocks.start(random)
    for sweep in range(20_000):
        blocks.sweep(random)
        if sweep % 5 == 4:
            seen[tuple(blocks.clusters("people").tolist())] += 1
            sweeps += 1
    for partition, weight in posterior.items():
        share = weight / total
        assert abs(seen[partition] / sweeps - share) < 6.0 * math.sqrt(share * (1.0 - share) / sweeps) + 2.0 / sweeps


def test_draws_from_the_priors_have_their_probabilities() -> None:
    """Three entities, 4,000 draws, 6 errors of a binomial share: fewer than one failure in 1e7 runs."""
    random, draws = np.random.default_rng(0), 4_000
    for prior in (ClusterPrior(0.7), ClusterPrior(0.7, 3)):
        seen = Counter(tuple(relabelled(prior.draw(3, 3, random)).tolist()) for _ in range(draws))
        for partition, count in seen.items():
            m = len(set(partition))
            share = math.exp(slow_log_prior(prior, list(partition))) * (math.perm(3, m) if prior.K else 1)
            assert abs(count / draws - share) < 6.0 * math.sqrt(share * (1.0 - share) / draws)


def test_predictive_probabilities_are_ratios_of_likelihoods() -> None:
    relations = random_graph(5, 1)
    (one,) = relations.relations
    mask = one.mask.copy()
    mask[0, 3] = False
    hidden = Relation("arcs", one.types, one.values & mask, mask, loops=False)
    hidden_relations = Relations("g", relations.entities, (hidden,))
    q = {"nodes": np.array([0, 1, 0, 1, 1])}
    without = sbm_blocks(hidden_relations, 2, eta=ETA).start(q)
    values = hidden.values.copy()
    values[0, 3] = True
    full = Relations("g", relations.entities, (Relation("arcs", one.types, values, one.mask, loops=False),))
    ratio = math.exp(sbm_blocks(full, 2, eta=ETA).start(q).log_likelihood() - without.log_likelihood())
    assert without.predictive(0)[0, 3] == pytest.approx(ratio, abs=1e-12)


def test_variational_em_is_a_bound_that_never_falls() -> None:
    for seed in range(5):
        relations = random_graph(7, seed)
        exact = partitions_of_graph(relations.relations[0], ClusterPrior(0.9, 2), ETA).log_evidence
        fitted = variational_em(relations, 2, alpha=0.9, eta=ETA, random=np.random.default_rng(seed))
        assert np.diff(fitted.bounds).min(initial=0.0) > -1e-9
        assert fitted.bounds[-1] < exact + 1e-9
        assert fitted.phi.sum(axis=1) == pytest.approx(1.0)
        assert ((fitted.probabilities > 0.0) & (fitted.probabilities < 1.0)).all()


def test_variational_em_of_several_terms_with_loops_and_one_cluster_is_exact() -> None:
    relations = two_relations(people=4).only("knows")
    fitted = variational_em(relations, 1, eta=ETA, random=np.random.default_rng(0))
    exact = sbm_blocks(relations, 1, eta=ETA).start(np.random.default_rng(0))
    assert fitted.bounds[-1] == pytest.approx(exact.log_joint(), abs=1e-9)
    assert fitted.probabilities == pytest.approx(exact.predictive(0), abs=1e-12)


def test_chains_keep_the_states_that_are_asked_for() -> None:
    blocks = sbm_blocks(random_graph(6, 0), 2)
    chain = sample(blocks, sweeps=20, kept=4, random=np.random.default_rng(0))
    assert (len(chain.log_joints), len(chain.states)) == (20, 4)
    assert blocks.restart_from(chain.best).log_joint() == pytest.approx(chain.log_joints.max(), abs=1e-9)


def test_best_of_starts_is_the_one_with_the_highest_joint_and_finds_drawn_blocks() -> None:
    q = np.repeat([0, 1, 2], 6)
    eta = np.where(np.roll(np.eye(3, dtype=bool), 1, axis=1), 0.95, 0.05)
    values = np.random.default_rng(0).random((18, 18)) < eta[q][:, q]
    np.fill_diagonal(values, val=False)
    relations = Relations("ring", {"nodes": tuple(map(str, range(18)))}, (graph("arcs", "nodes", values),))
    model = IRM(starts=3, sweeps=60, random_state=0).fit(relations)
    assert model.log_joint_ == model.log_joints_.max()
    assert model.clusters_["nodes"].tolist() == q.tolist()
    assert {3} <= set(model.cluster_numbers_["nodes"].tolist())


def test_bad_settings_are_refused() -> None:
    relations = random_graph(4, 0)
    for concentration, K in ((0.0, 2), (math.nan, 2), (1.0, -1)):
        with pytest.raises(InputError, match="clusters: concentration"):
            ClusterPrior(concentration, K)
    with pytest.raises(InputError, match="K is 0"):
        sbm_blocks(relations, 0)
    with pytest.raises(InputError, match=r"eta \(0\.0, 1\.0\)"):
        sbm_blocks(relations, 2, eta=(0.0, 1.0))
    with pytest.raises(InputError, match="2 sweeps"):
        sample(sbm_blocks(relations, 2), sweeps=2, kept=2, random=np.random.default_rng(0))
    with pytest.raises(InputError, match="variational EM: K 0"):
        variational_em(relations, 0, random=np.random.default_rng(0))
    with pytest.raises(InputError, match="people"):
        variational_em(two_relations(), 2, random=np.random.default_rng(0))
    thrice = Relation("r", ("a", "b", "b"), np.zeros((1, 2, 2), bool), np.ones((1, 2, 2), bool))
    with pytest.raises(InputError, match="first two axes"):
        Blocks(Relations("r", {"a": ("x",), "b": ("y", "z")}, (thrice,)), {})
    with pytest.raises(InputError, match="0 starts"):
        IRM(starts=0).fit(relations)


def test_variational_em_is_its_updates_written_out() -> None:
    """Two terms, with gaps and cells of a node with itself."""
    random = np.random.default_rng(5)
    n, P, K, alpha, (b1, b0) = 7, 2, 3, 0.8, ETA
    mask = random.random((n, n, P)) < 0.8
    values = (random.random((n, n, P)) < 0.4) & mask
    one = Relation("acts", ("nodes", "nodes", "acts"), values, mask)
    entities = {"nodes": tuple("abcdefg"), "acts": ("p", "q")}
    found = variational_em(
        Relations("drawn", entities, (one,)), K, alpha=alpha, eta=ETA, iterations=3, random=np.random.default_rng(2)
    )
    phi = (1.0 - START) / K + START * np.eye(K)[np.random.default_rng(2).integers(K, size=n)]
    bounds = []
    for _ in range(3):
        ones, zeros = np.zeros((K, K, P)), np.zeros((K, K, P))
        for i, j, p in np.argwhere(mask):
            weights = np.diag(phi[i]) if i == j else np.outer(phi[i], phi[j])
            (ones if values[i, j, p] else zeros)[..., p] += weights
        sizes = phi.sum(axis=0)
        bound = (betaln(ones + b1, zeros + b0) - betaln(b1, b0)).sum() - xlogy(phi, phi).sum()
        bound += gammaln(K * alpha) - gammaln(n + K * alpha) + (gammaln(sizes + alpha) - gammaln(alpha)).sum()
        bounds.append(bound)
        total = digamma(ones + zeros + b1 + b0)
        tables = {True: digamma(ones + b1) - total, False: digamma(zeros + b0) - total}
        for i in range(n):
            score = digamma(sizes + alpha)
            for j, p in np.argwhere(mask[i]):
                table = tables[bool(values[i, j, p])][..., p]
                score = score + (np.diag(table) if i == j else table @ phi[j])
            for j, p in np.argwhere(mask[:, i]):
                if i != j:
                    score = score + tables[bool(values[j, i, p])][..., p].T @ phi[j]
            phi[i] = softmax(score)
    assert found.bounds == pytest.approx(bounds, abs=1e-10)
    assert found.phi == pytest.approx(phi, abs=1e-10)
