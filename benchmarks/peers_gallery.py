"""Models of ratings and graphs beside other packages, single thread, in one run; writes peers_gallery.md.

Run where scikit-surprise, sparsebm and smurff are installed, as README.md says: `python benchmarks/peers_gallery.py`.
One process, one measurement of each package in turn, several rounds over. Ratings are drawn in the shape of
MovieLens's, for those may not be passed on; the graph is drawn with blocks.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from speed import commit, cpu, seconds

from gallery.graphs.models.sbm import variational_em
from gallery.ratings.models.pmf_sgd import Decays, Point, passes
from heldout.corpora.relations.ratings import Ratings
from heldout.corpora.relations.relation import Relations, graph
from heldout.files import replacing
from heldout.seeds import generator
from heldout.typing import Floats, Ints

OUTPUT = Path(__file__).with_suffix(".md")
USERS, ITEMS, RATINGS, TASTES = 943, 1682, 100_000, 5  # MovieLens's 100,000, drawn with so many factors
FACTORS, PASSES, RATE, DECAY, START = 50, 20, 0.005, 0.02, 0.1
NODES, BLOCKS, WITHIN, BETWEEN = 1000, 8, 0.06, 0.003
SHORT, LONG, STARTS, MOST = 5, 45, 10, 200  # iterations of two fits, whose difference counts; starts, and their length
BURN_IN, SAMPLES = 50, 100


class InOrder(np.random.RandomState):
    """scikit-surprise's generator, which takes ratings as they come."""

    def permutation(self, x: Any) -> Any:
        """Return the numbers below x in their order."""
        return np.arange(x)


def ratings() -> tuple[Ratings, Ratings]:
    """Draw ratings, and divide them: a tenth is held out."""
    random = generator("benchmark-ratings")
    popular = random.dirichlet(np.full(ITEMS, 0.5))
    noise = -np.log(random.standard_exponential((USERS, ITEMS)))
    places = np.argsort((np.log(popular) + noise).ravel())[-RATINGS:]
    user, item = (np.asarray(axis, dtype=np.int64) for axis in divmod(np.sort(places), ITEMS))
    u, v = random.normal(0.0, 0.5, (USERS, TASTES)), random.normal(0.0, 0.5, (ITEMS, TASTES))
    f, g = random.normal(0.0, 0.4, USERS), random.normal(0.0, 0.5, ITEMS)
    exact = 3.5 + f[user] + g[item] + (u[user] * v[item]).sum(axis=1) + random.normal(0.0, 0.8, RATINGS)
    names = (tuple(map(str, range(USERS))), tuple(map(str, range(ITEMS))))
    whole = Ratings(*names, user, item, np.clip(np.rint(exact), 1, 5).astype(np.int64))
    order = random.permutation(RATINGS)
    return whole.take(np.sort(order[RATINGS // 10 :])), whole.take(order[: RATINGS // 10])


def rmse(predicted: Floats, held_out: Ratings) -> float:
    """Return the root mean squared error, stars."""
    return float(np.sqrt(((predicted - held_out.value) ** 2).mean()))


def of_descent(train: Ratings, test: Ratings, rounds: int) -> list[str]:
    """Compare stochastic gradient descent with scikit-surprise's: the same start, order and steps."""
    import pandas as pd
    from surprise import SVD, Dataset, Reader

    frame = pd.DataFrame({"user": train.user, "item": train.item, "value": train.value})
    theirs = Dataset.load_from_df(frame, Reader()).build_full_trainset()
    triples = np.array([(u, i) for u, i, _ in theirs.all_ratings()], dtype=np.int64)
    values = np.array([r for _, _, r in theirs.all_ratings()], dtype=np.int64)
    inner = tuple(str(theirs.to_raw_iid(i)) for i in range(theirs.n_items))
    same = Ratings(train.users[: theirs.n_users], inner, triples[:, 0], triples[:, 1], values)
    place = {name: i for i, name in enumerate(inner)}
    user_of = {theirs.to_raw_uid(u): u for u in range(theirs.n_users)}
    known = np.array([u in user_of and str(i) in place for u, i in zip(test.user, test.item, strict=True)])
    held_out = test.take(np.flatnonzero(known))
    user = np.array([user_of[u] for u in held_out.user])
    item = np.array([place[str(i)] for i in held_out.item])
    own: list[Point] = []

    def ours() -> None:
        points = passes(same, FACTORS, Decays(DECAY, DECAY), InOrder(0), rate=RATE, start=START)  # type: ignore[arg-type]
        own[:] = [list(islice(points, PASSES))[-1]]

    model = SVD(n_factors=FACTORS, n_epochs=PASSES, lr_all=RATE, reg_all=DECAY, init_std_dev=START, random_state=0)
    ours()
    model.fit(theirs)
    times = [(seconds(ours), seconds(lambda: model.fit(theirs))) for _ in range(rounds)]
    factors, users = own[0].factors, own[0].users
    predicted = factors.mean + factors.offsets[item] + (users[user] * factors.loadings[item]).sum(axis=1)
    other = model.trainset.global_mean + model.bu[user] + model.bi[item] + (model.pu[user] * model.qi[item]).sum(axis=1)
    errors = [rmse(one, held_out) for one in (predicted, other)]
    apart = float(np.abs(predicted - other).max())
    return [
        "## Matrix factorisation by stochastic gradient descent",
        "",
        f"{len(same):,} ratings to train on, drawn in MovieLens's shape, {USERS} users and {ITEMS} items; {FACTORS}"
        f" factors and biases, {PASSES} passes, rate {RATE}, decay {DECAY}. Both start from the same factors and take"
        " the ratings in the same order. Error in stars on the tenth that is held out.",
        "",
        "| package | ms per pass: median | min to max | heldout is faster by | error |",
        "|---|---:|---:|---:|---:|",
        *_rows({"heldout": errors[0], "scikit-surprise": errors[1]}, times, PASSES, "{:.10f}"),
        "",
        f"Predictions are at most {apart:.0e} stars apart.",
        "",
        *of_smurff(same, user, item, held_out),
    ]


def _rows(values: dict[str, float], times: list[tuple[float, float]], per: float, form: str) -> list[str]:
    """Return a row for each of two packages, of seconds for `per` units."""
    lines = []
    for column, (package, value) in enumerate(values.items()):
        own = [row[column] * 1000.0 / per for row in times]
        faster = ""
        if column:
            ratios = [other / ours for ours, other in times]
            faster = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        spread = f"{min(own):.2f} to {max(own):.2f}"
        lines.append(f"| {package} | {statistics.median(own):.2f} | {spread} | {faster} | {form.format(value)} |")
    return lines


def of_smurff(train: Ratings, user: Ints, item: Ints, held_out: Ratings) -> list[str]:
    """Give the error of Gibbs sampling of the same factorisation, which averages over samples."""
    import smurff

    mean, shape = float(train.value.mean()), (len(train.users), len(train.items))
    known = sp.coo_matrix((train.value - mean, (train.user, train.item)), shape)
    asked = sp.coo_matrix((held_out.value - mean, (user, item)), shape)
    with tempfile.TemporaryDirectory() as folder:
        session = smurff.TrainSession(
            priors=["normal", "normal"], num_latent=FACTORS, num_threads=1, burnin=BURN_IN, nsamples=SAMPLES,
            seed=0, verbose=0, save_name=str(Path(folder) / "smurff.hdf5"), save_freq=0,
        )  # fmt: skip
        session.addTrainAndTest(known, asked, smurff.AdaptiveNoise())
        taken = seconds(session.run)
        error = session.getRmseAvg()
    return [
        f"smurff draws such factors by Gibbs sampling, with priors that it learns and without biases: another"
        f" algorithm and another objective, whose error is {error:.4f} stars after {BURN_IN} and {SAMPLES} sweeps,"
        f" {taken:.0f} s.",
    ]


def blocks() -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Draw an undirected graph with blocks."""
    random = generator("benchmark-blocks")
    groups = random.integers(BLOCKS, size=NODES)
    chance = np.where(groups[:, None] == groups, WITHIN, BETWEEN)
    upper = np.triu(random.random((NODES, NODES)) < chance, 1)
    return upper | upper.T


def bound(cells: sp.csr_matrix, phi: Floats) -> float:
    """Return the bound on the likelihood of arcs at the best pi and eta for nodes' probabilities phi, nats."""
    sizes = phi.sum(axis=0)
    ones, pairs = phi.T @ (cells @ phi), np.outer(sizes, sizes) - phi.T @ phi
    eta = ones / pairs
    return float(
        -xlogy(phi, phi).sum() + xlogy(sizes, sizes / len(phi)).sum()
        + (xlogy(ones, eta) + xlogy(pairs - ones, 1.0 - eta)).sum()
    )  # fmt: skip


def of_blocks(rounds: int) -> list[str]:
    """Compare variational EM of the stochastic block model with sparsebm's."""
    from sparsebm import SBM

    values = blocks()
    cells, names = sp.csr_matrix(values.astype(float)), {"nodes": tuple(map(str, range(NODES)))}
    relations = Relations("drawn", names, (graph("arcs", "nodes", values),))

    def ours(iterations: int, seed: int = 0) -> Floats:
        return variational_em(relations, BLOCKS, iterations=iterations, random=np.random.default_rng(seed)).phi

    def theirs(iterations: int, seed: int = 0) -> Any:
        np.random.seed(seed)  # noqa: NPY002 - the only one that it reads
        model = SBM(BLOCKS, max_iter=iterations, n_init=1, n_init_total_run=1, verbosity=0, use_gpu=False)
        return model.fit(cells, symmetric=True)

    ours(2)
    theirs(2)
    long = min(LONG, len(variational_em(relations, BLOCKS, iterations=LONG, random=np.random.default_rng(0)).bounds))
    times = []
    for _ in range(rounds):
        own = (seconds(lambda: ours(long)) - seconds(lambda: ours(1))) / (long - 1)
        other = (seconds(lambda: theirs(LONG)) - seconds(lambda: theirs(SHORT))) / (LONG - SHORT)
        times.append((own, other))
    found: dict[str, tuple[list[float], float]] = {}
    apart = 0.0
    fits: dict[str, Callable[[int], Floats]] = {
        "heldout": lambda seed: ours(MOST, seed),
        "sparsebm": lambda seed: theirs(MOST, seed),
    }
    for package, fit in fits.items():
        results: list[Any] = []
        taken = seconds(lambda fit=fit, results=results: results.extend(fit(seed) for seed in range(STARTS)))  # type: ignore[misc]
        if package == "sparsebm":
            done = [model for model in results if model.trained_successfully]
            reported = [2.0 * float(model.loglikelihood_) for model in done]
            results = [model.predict_proba for model in done]
            apart = max(abs(bound(cells, phi) / one - 1.0) for phi, one in zip(results, reported, strict=True))
        found[package] = ([bound(cells, phi) for phi in results], taken)
    lines = [
        "## The stochastic block model by variational EM",
        "",
        f"A drawn undirected graph of {NODES} nodes in {BLOCKS} blocks with {cells.nnz // 2:,} edges, each of them two"
        f" arcs, for sparsebm counts a directed graph's incoming arcs twice; {STARTS} random starts of at most {MOST}"
        " iterations. Ours goes from node to node, with priors of pi and eta; sparsebm's updates all nodes at once, at"
        " the maximum of pi and eta. So the bound is given for both at that maximum, by one function of the nodes'"
        f" probabilities; twice what sparsebm reports agrees with it to {apart:.0e} of it.",
        "",
        "| package | ms per iteration: median | min to max | heldout is faster by | best bound, nats |",
        "|---|---:|---:|---:|---:|",
        *_rows({name: max(bounds) for name, (bounds, _) in found.items()}, times, 1.0, "{:.2f}"),
        "",
    ]
    for package, (bounds, taken) in found.items():
        reached = sum(value > max(max(all_) for all_, _ in found.values()) - 1.0 for value in bounds)
        lines.append(
            f"* {package}: {reached} of {STARTS} starts within a nat of the best bound, {taken:.2f} s for all starts."
        )
    phi = max((ours(MOST, seed) for seed in range(STARTS)), key=lambda one: bound(cells, one))
    phi = np.maximum(phi, 1e-9) / np.maximum(phi, 1e-9).sum(axis=1, keepdims=True)  # it takes logarithms
    sizes, model = phi.sum(axis=0), SBM(BLOCKS, max_iter=MOST, verbosity=0, use_gpu=False)
    eta = (phi.T @ (cells @ phi)) / (np.outer(sizes, sizes) - phi.T @ phi)
    found_by_it = model._fit_single(cells, cells, cells.nonzero(), NODES, init_params=(eta, phi.mean(axis=0), phi))
    reached = bound(cells, found_by_it[-1])
    return [*lines, f"* sparsebm started where our best start ended: {reached:.2f} nats."]


def main() -> int:
    """Measure, and write peers_gallery.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each package (default: 7)")
    rounds = parser.parse_args().rounds
    packages = ", ".join(f"{name} {version(name)}" for name in ("scikit-surprise", "smurff", "sparsebm", "numpy"))
    lines = [
        "# Ratings and graphs beside other packages",
        "",
        "Written by `python benchmarks/peers_gallery.py` (do not edit). BernoulliRBM is in rbm.md.",
        "",
        f"* Measured at commit {commit()}. CPU: {cpu()}; single thread; {packages}.",
        f"* {rounds} rounds, the packages in turn within a round; CPU times of the process, compiled and warmed up.",
        "* graph-tool is not on the package index and was left out: its block model has other, microcanonical priors,"
        " so that no number of it would have to be ours.",
        "",
        *of_descent(*ratings(), rounds),
        "",
        *of_blocks(rounds),
        "",
    ]
    with replacing(OUTPUT) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
