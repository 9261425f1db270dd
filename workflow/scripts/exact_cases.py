"""Compute the log-likelihoods of the exact cases, in decimal arithmetic of 30 digits: exact_cases.py [FOLDER].

The models and documents of exact_cases.json in src/heldout/cases, or in a FOLDER, are read as decimal numbers; values
are written to exact_cases.csv beside it. Each is the slow and obvious sum: over clusters, paths, hidden states, or the
topics of all tokens, gathered by their counts C, of which a Dirichlet has the moment E prod_k theta_k^C_k =
prod_k alpha_k (alpha_k + 1) .. (alpha_k + C_k - 1) / (A (A + 1) .. (A + L - 1)). Integrals over Gaussians are by the
trapezoid rule from -10 to 10 standard deviations, with the spacing h = 1/16 in one dimension and 1/5 in two. The error
is some exp(-10^2 / 2) = 2e-22 of the ends, and exp(-2 pi y / h) of the spacing, with y the distance of the nearest
singularity from the real axis. Of softmaxes it is at least pi over the largest difference of two logits' slopes: above
1 in one dimension, 1.4 in two, so that exp(-2 pi y / h) is below 1e-19.
"""

import csv
import decimal
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "src" / "heldout" / "cases"
COLUMNS = ("case", "family", "model", "document", "log_likelihood", "digits", "probability_of", "method", "source")
DIGITS = 12
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
HALF = Decimal("0.5")
Vector = Sequence[Decimal]
Counts = tuple[int, ...]

decimal.getcontext().prec = 30


def total(values: Iterable[Decimal]) -> Decimal:
    """Return the sum."""
    return sum(values, Decimal(0))


def times(values: Iterable[Decimal]) -> Decimal:
    """Return the product."""
    return prod(values, start=Decimal(1))


def rising(a: Decimal, n: int) -> Decimal:
    """Return a (a + 1) .. (a + n - 1)."""
    return times(a + i for i in range(n))


def dot(a: Iterable[Decimal], b: Iterable[Decimal]) -> Decimal:
    """Return the inner product."""
    return total((x * y for x, y in zip(a, b, strict=True)))


def softmax(logits: Vector) -> list[Decimal]:
    """Return probabilities."""
    e = [x.exp() for x in logits]
    return [x / sum(e) for x in e]


def sigm(a: Decimal) -> Decimal:
    """Return 1 / (1 + exp(-a))."""
    return 1 / (1 + (-a).exp())


def columns(matrix: Sequence[Sequence[Any]], words: Iterable[int]) -> list[list[Any]]:
    """Return for every word the weights of all topics."""
    return [[row[v] for row in matrix] for v in words]


def by_counts(tokens: Iterable[Vector], K: int) -> dict[Counts, Decimal]:
    """Return the sums over assignments of tokens to topics of the products of their weights, by the topics' counts."""
    sums = {(0,) * K: Decimal(1)}
    for weights in tokens:
        longer: dict[Counts, Decimal] = {}
        for counts, value in sums.items():
            for k, x in enumerate(weights):
                more = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
                longer[more] = longer.get(more, Decimal(0)) + value * x
        sums = longer
    return sums


def moment(alpha: Vector, counts: Counts) -> Decimal:
    """Return E prod_k theta_k^C_k under a Dirichlet."""
    return times(map(rising, alpha, counts)) / rising(total(alpha), sum(counts))


def joint(alpha: Vector, tokens: Iterable[Vector]) -> dict[Counts, Decimal]:
    """Return p(words, counts of topics), by counts."""
    return {counts: value * moment(alpha, counts) for counts, value in by_counts(tokens, len(alpha)).items()}


def lda(alpha: Vector, tokens: Iterable[Vector]) -> Decimal:
    """Return p(words) of tokens' weights under all topics."""
    return total(joint(alpha, tokens).values())


def gap(p: Any, document: Any) -> Decimal:
    """Return p(counts) under GaP or conditional GaP: the moments of gammas, times exp(-sum_k s_k z_k)."""
    K, counts = len(p["alpha"]), document["counts"]
    rho = p.get("rho", [Decimal(0)] * K)

    def part(k: int, c: int) -> Decimal:
        alpha, beta, s = p["alpha"][k], p["beta"][k], total(row[k] for row in p["b"])
        gamma: Decimal = (beta / (beta + s)) ** alpha * rising(alpha, c) / (beta + s) ** c
        spike: Decimal = rho[k]
        return (1 - spike) * gamma + (spike if c == 0 else Decimal(0))

    tokens = [row for row, n in zip(p["b"], counts, strict=True) for _ in range(n)]
    value = total(value * times(map(part, range(K), c)) for c, value in by_counts(tokens, K).items())
    return value / times(rising(Decimal(1), n) for n in counts)


def normal(x: Vector, mean: Vector, covariance: Sequence[Vector]) -> Decimal:
    """Return the density of a Gaussian, by elimination."""
    rows = [[*row, a - b] for row, a, b in zip(covariance, x, mean, strict=True)]
    determinant, square = Decimal(1), Decimal(0)
    for i, row in enumerate(rows):
        determinant *= row[i]
        square += row[-1] ** 2 / row[i]  # the part of x that the coordinates before do not give
        for later in rows[i + 1 :]:
            ratio = later[i] / row[i]
            later[:] = [a - ratio * b for a, b in zip(later, row, strict=True)]
    return (-square / 2).exp() / ((2 * PI) ** len(x) * determinant).sqrt()


def low_rank(W: Sequence[Vector], variances: Vector, noise: Vector) -> list[list[Decimal]]:
    """Return W diag(variances) W' + diag(noise)."""
    return [
        [dot(map(Decimal.__mul__, u, variances), v) + (noise[i] if i == j else Decimal(0)) for j, v in enumerate(W)]
        for i, u in enumerate(W)
    ]


def integral(f: Callable[[list[Decimal]], Decimal], dimensions: int) -> Decimal:
    """Return E f(z) of standard normal z."""
    n = 16 if dimensions == 1 else 5  # nodes to a standard deviation
    nodes = [Decimal(i) / n for i in range(-10 * n, 10 * n + 1)]
    weight = {z: (-z * z / 2).exp() / (n * (2 * PI).sqrt()) for z in nodes}
    return total(times(weight[z] for z in point) * f(list(point)) for point in product(nodes, repeat=dimensions))


def logistic_normal(p: Any, words: Sequence[int], probabilities_given: Callable[[list[Decimal]], Vector]) -> Decimal:
    """Return p(words), by the probabilities of all words given a document's weights."""
    (s, *_), n = p["Sigma"][0], len(p["mu"])
    root = [[s.sqrt()]]
    if n == 2:
        lower = p["Sigma"][1][0] / root[0][0]
        root.append([lower, (p["Sigma"][1][1] - lower**2).sqrt()])

    def likelihood(z: list[Decimal]) -> Decimal:
        x = [m + dot(row, z[: len(row)]) for m, row in zip(p["mu"], root, strict=True)]
        probabilities = probabilities_given(softmax([*x, Decimal(0)]))
        return times(probabilities[v] for v in words)

    return integral(likelihood, n)


def components(p: Any, responses: Sequence[int | None], mean: Vector) -> Decimal:
    """Return p(responses) under categorical PCA, z ~ N(mean, I)."""
    rated = [(W, b, y) for W, b, y in zip(p["W"], p["b"], responses, strict=True) if y is not None]

    def likelihood(z: list[Decimal]) -> Decimal:
        z = [a + m for a, m in zip(z, mean, strict=True)]
        return times((softmax([dot(w, z) + c for w, c in zip(W, b, strict=True)])[y] for W, b, y in rated))

    return integral(likelihood, len(mean))


def epca(p: Any, words: Sequence[int]) -> Decimal:
    """Return p(words) under exponential-family PCA."""
    scale = 1 / Decimal(p["precision"]).sqrt()

    def likelihood(z: list[Decimal]) -> Decimal:
        probabilities = softmax([scale * dot(w, z) for w in p["W"]])
        return times(probabilities[v] for v in words)

    return integral(likelihood, len(p["W"][0]))


def paths(start: Vector, A: Sequence[Vector], length: int) -> Iterator[tuple[tuple[int, ...], Decimal]]:
    """Yield all paths and their probabilities."""
    for path in product(range(len(start)), repeat=length):
        steps = [start[path[0]], *(A[i][j] for i, j in pairwise(path))] if path else []
        yield path, times(steps)


def lda_hmm(p: Any, words: Sequence[int]) -> Decimal:
    """Return p(words) over all paths, with the topics of tokens in state 0."""
    value = Decimal(0)
    for path, probability in paths(p["start"], p["A"], len(words)):
        emitted = [p["B"][s - 1][v] for s, v in zip(path, words, strict=True) if s]
        topical = columns(p["phi"], (v for s, v in zip(path, words, strict=True) if not s))
        value += probability * times(emitted) * lda(p["alpha"], topical)
    return value


def slda(p: Any, document: Any) -> tuple[Decimal, Decimal]:
    """Return p(words) and p(words, label)."""
    parts, L = joint(p["alpha"], columns(p["phi"], document["words"])), len(document["words"])
    sign = 2 * document["label"] - 1
    both = total((value * sigm(sign * dot(p["w"], map(Decimal, c)) / max(L, 1)) for c, value in parts.items()))
    return total(parts.values()), both


def rtm_link(p: Any, document: Any) -> Decimal:
    """Return p(link given the words of both documents)."""
    first, second = (joint(p["alpha"], columns(p["phi"], document[name])) for name in ("words_1", "words_2"))
    size, sign = len(document["words_1"]) * len(document["words_2"]), 2 * document["link"] - 1
    value = Decimal(0)
    for (a, p_a), (b, p_b) in product(first.items(), second.items()):
        shares = [Decimal(i * j) / size for i, j in zip(a, b, strict=True)]
        value += p_a * p_b * sigm(sign * (dot(p["w"], shares) + p["w0"]))
    return value / (sum(first.values()) * sum(second.values()))


def dtm(p: Any, words: Sequence[int]) -> Decimal:
    """Return p(words) of two words' topics, which depend on the differences of their logits alone."""
    K = len(p["mean"])
    means = [a - b for a, b in p["mean"]]
    deviations = [(a + b).sqrt() for a, b in p["variance"]]

    def likelihood(z: list[Decimal]) -> Decimal:
        first = [sigm(m + s * x) for m, s, x in zip(means, deviations, z, strict=True)]
        return lda([p["alpha"]] * K, columns([[x, 1 - x] for x in first], words))

    return integral(likelihood, K)


def beta_binomial(cells: Iterable[tuple[Any, int]], p: Any) -> Decimal:
    """Return the probability of cells, (block, 0 or 1), eta of every block integrated out."""
    ones: dict[Any, list[int]] = {}
    for block, value in cells:
        ones.setdefault(block, [0, 0])[value] += 1
    b1, b0 = p["b1"], p["b0"]
    return times((rising(b1, m) * rising(b0, n) / rising(b1 + b0, m + n) for n, m in ones.values()))


def observed(links: Sequence[Sequence[int | None]]) -> list[tuple[int, int, int]]:
    """Return row, column and value of observed cells."""
    return [(i, j, r) for i, row in enumerate(links) for j, r in enumerate(row) if r is not None]


def partitions(n: int) -> Iterator[Counts]:
    """Yield all partitions, clusters numbered as they first occur."""
    for q in product(range(n), repeat=n):
        if all(c <= max(q[:i], default=-1) + 1 for i, c in enumerate(q)):
            yield q


def sizes(q: Sequence[int], K: int) -> Counts:
    """Return the sizes of K clusters."""
    return tuple(list(q).count(k) for k in range(K))


def sbm(p: Any, links: Sequence[Sequence[int | None]]) -> Decimal:
    """Return p(links) over all assignments."""
    alpha = [p["alpha"]] * p["K"]
    return total(
        moment(alpha, sizes(q, p["K"])) * beta_binomial((((q[i], q[j]), r) for i, j, r in observed(links)), p)
        for q in product(range(p["K"]), repeat=len(links))
    )


def irm(p: Any, cells: Sequence[Sequence[int | None]], features: bool) -> Decimal:
    """Return p(cells) over all partitions of the rows; a feature is a cluster of its own."""
    value = Decimal(0)
    for q in partitions(len(cells)):
        n = sizes(q, max(q) + 1)
        prior = p["gamma"] ** len(n) * times(rising(Decimal(1), m - 1) for m in n) / rising(p["gamma"], len(q))
        blocks = (((q[i], j if features else q[j]), r) for i, j, r in observed(cells))
        value += prior * beta_binomial(blocks, p)
    return value


def mmsb(p: Any, links: Sequence[Sequence[int | None]]) -> Decimal:
    """Return p(links) over the roles of both ends of all links, and whether a 0 is of the background."""
    cells, alpha, value = observed(links), [p["alpha"]] * p["K"], Decimal(0)
    choices = [
        [(a, b, c) for a in range(p["K"]) for b in range(p["K"]) for c in ((0,) if r or not p["rho"] else (0, 1))]
        for _, _, r in cells
    ]
    for roles in product(*choices):
        drawn: list[list[int]] = [[] for _ in links]
        for (i, j, _), (a, b, _) in zip(cells, roles, strict=True):
            drawn[i].append(a)
            drawn[j].append(b)
        seen = (((a, b), r) for (_, _, r), (a, b, c) in zip(cells, roles, strict=True) if not c)
        memberships = times(moment(alpha, sizes(one, p["K"])) for one in drawn)
        flags = times(p["rho"] if c else 1 - p["rho"] for *_, c in roles)
        value += flags * memberships * beta_binomial(seen, p)
    return value


def states(K: int) -> list[list[Decimal]]:
    """Return all vectors of K zeros and ones."""
    return [list(map(Decimal, h)) for h in product((0, 1), repeat=K)]


def machine(p: Any, taken: Sequence[tuple[int, int]], every: Iterable[Sequence[tuple[int, int]]]) -> Decimal:
    """Return the probability of units' values (unit, value) among every vector of them, hidden units summed out."""

    def weight(units: Sequence[tuple[int, int]]) -> Decimal:
        return total(
            (dot(p["c"], h) + sum(p["b"][r][y] + dot(p["W"][r][y], h) for r, y in units)).exp()
            for h in states(len(p["c"]))
        )

    return weight(taken) / sum(map(weight, every))


def categorical_machine(p: Any, values: Sequence[int | None]) -> Decimal:
    """Return the probability of the values of the units that have one."""
    units = [r for r, y in enumerate(values) if y is not None]
    every = ([*zip(units, y, strict=True)] for y in product(range(len(p["b"][0])), repeat=len(units)))
    return machine(p, [(r, y) for r, y in enumerate(values) if y is not None], every)


def binary_machine(p: Any, v: Sequence[int], hidden: Callable[[list[Decimal]], Decimal]) -> Decimal:
    """Return p(v), with the sum or integral of exp(eta' h) over hidden units given."""

    def weight(v: Vector) -> Decimal:
        eta = [c + dot((row[k] for row in p["W"]), v) for k, c in enumerate(p["c"])]
        return dot(p["b"], v).exp() * hidden(eta)

    return weight([Decimal(x) for x in v]) / sum(map(weight, states(len(v))))


def gaussian_machine(p: Any, x: Vector) -> Decimal:
    """Return p(x), a mixture of Gaussians N(b + W h, I) with weights prop. to exp(c' h + |b + W h|^2 / 2)."""
    means = [[b + dot(w, h) for b, w in zip(p["b"], p["W"], strict=True)] for h in states(len(p["c"]))]
    weights = [(dot(p["c"], h) + dot(m, m) / 2).exp() for h, m in zip(states(len(p["c"])), means, strict=True)]
    unit = low_rank([[] for _ in x], [], [Decimal(1)] * len(x))
    return dot(weights, (normal(x, m, unit) for m in means)) / total(weights)


def undirected_factors(p: Any, x: Vector) -> Decimal:
    """Return p(x), h integrated out, of a Gaussian with the precision I - W W' and precision times mean b + W c."""
    D = len(x)
    precision = [[(i == j) - dot(p["W"][i], p["W"][j]) for j in range(D)] for i in range(D)]
    rows = [[*row, *(Decimal(i == j) for j in range(D))] for i, row in enumerate(precision)]
    for i in range(D):  # the inverse, by Gauss-Jordan elimination
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for j in range(D):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    covariance = [row[D:] for row in rows]
    shift = [b + dot(w, p["c"]) for b, w in zip(p["b"], p["W"], strict=True)]
    return normal(x, [dot(row, shift) for row in covariance], covariance)


def softmax_machine(p: Any, words: Sequence[int]) -> Decimal:
    """Return p(words given their number)."""
    L, value, every = len(words), Decimal(0), Decimal(0)
    for h in states(len(p["c"])):
        e = [(b + dot(w, h)).exp() for b, w in zip(p["b"], p["W"], strict=True)]
        value += (L * dot(p["c"], h)).exp() * times(e[v] for v in words)
        every += (L * dot(p["c"], h)).exp() * sum(e) ** L
    return value / every


def mixture(pi: Vector, parts: Iterable[Iterable[Decimal]]) -> Decimal:
    """Return sum_k pi_k times the product of the k-th part."""
    return dot(pi, (times(part) for part in parts))


def poisson(n: int, rate: Decimal) -> Decimal:
    """Return the probability of a count."""
    return rate**n * (-rate).exp() / rising(Decimal(1), n)


def rated(ratings: Sequence[int | None]) -> list[tuple[int, Decimal]]:
    """Return the items that have a rating, and these."""
    return [(j, Decimal(r)) for j, r in enumerate(ratings) if r is not None]


def pmf(p: Any, ratings: Sequence[int | None]) -> Decimal:
    """Return the density of a new user's ratings."""
    items = rated(ratings)
    mean = [p["mean"] + p["offsets"][j] for j, _ in items]
    covariance = low_rank([p["loadings"][j] for j, _ in items], p["variances"], [p["noise"]] * len(items))
    return normal([r for _, r in items], mean, covariance)


def present(values: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return the places of values that are not missing, and these."""
    return [(r, y) for r, y in enumerate(values) if y is not None]


ONE = [[Decimal(1)]]
PROBABILITIES: dict[str, Callable[[Any, Any], Decimal]] = {
    "multinomial-mixture": lambda p, d: mixture(p["pi"], ((row[v] for v in d["words"]) for row in p["phi"])),
    "categorical-mixture": lambda p, d: mixture(
        p["pi"], ((b[r][y] for r, y in present(d["responses"])) for b in p["b"])
    ),
    "poisson-mixture": lambda p, d: mixture(p["pi"], (map(poisson, d["counts"], rates) for rates in p["rates"])),
    "mixture-of-points": lambda p, d: mixture(
        p["pi"], ((dot(theta, x) for x in columns(p["phi"], d["words"])) for theta in p["theta"])
    ),
    "lda": lambda p, d: lda(p["alpha"], columns(p["phi"], d["words"])),
    "lda-mixture-of-priors": lambda p, d: dot(
        p["pi"], (lda(alpha, columns(p["phi"], d["words"])) for alpha in p["alpha"])
    ),
    "labelled-lda": lambda p, d: lda(
        [a for a, x in zip(p["alpha"], d["labels"], strict=True) if x],
        columns([b for b, x in zip(p["phi"], d["labels"], strict=True) if x], d["words"]),
    ),
    "dmr": lambda p, d: lda([dot(w, d["x"]).exp() for w in p["W"]], columns(p["phi"], d["words"])),
    "mr-lda": lambda p, d: mixture(
        [Decimal(1)],
        [[dot(softmax([dot(w, d["x"]) for w in p["W"]]), x) for x in columns(p["phi"], d["words"])]],
    ),
    "logistic-normal": lambda p, d: logistic_normal(
        p, d["words"], lambda theta: [dot(theta, column) for column in zip(*p["phi"], strict=True)]
    ),
    "product-of-experts": lambda p, d: logistic_normal(
        p, d["words"], lambda theta: softmax([dot(w, theta) + b for w, b in zip(p["W"], p["b"], strict=True)])
    ),
    "user-rating-profile": lambda p, d: lda(
        p["alpha"], [[b[r][y] for b in p["b"]] for r, y in present(d["responses"])]
    ),
    "gap": gap,
    "conditional-gap": gap,
    "categorical-pca": lambda p, d: components(p, d["responses"], [Decimal(0)] * len(p["W"][0][0])),
    "categorical-pca-inputs": lambda p, d: components(p, d["responses"], [dot(v, d["x"]) for v in p["V"]]),
    "epca": lambda p, d: epca(p, d["words"]),
    "factor-analysis": lambda p, d: normal(
        d["x"], p["mean"], low_rank(p["W"], [Decimal(1)] * len(p["W"][0]), p["noise"])
    ),
    "gaussian-mixture": lambda p, d: mixture(
        p["pi"], ([normal(d["x"], mu, Sigma)] for mu, Sigma in zip(p["mu"], p["Sigma"], strict=True))
    ),
    "hmm": lambda p, d: total(
        (
            probability * times((p["B"][s][v] for s, v in zip(path, d["words"], strict=True)))
            for path, probability in paths(p["pi"], p["A"], len(d["words"]))
        )
    ),
    "lda-hmm": lambda p, d: lda_hmm(p, d["words"]),
    "slda": lambda p, d: slda(p, d)[1],
    "slda-label": lambda p, d: slda(p, d)[1] / slda(p, d)[0],
    "disclda": lambda p, d: lda(
        p["alpha"],
        [[dot(a, x) for a in zip(*p["A"][d["class"]], strict=True)] for x in columns(p["phi"], d["words"])],
    ),
    "rtm-link": rtm_link,
    "dtm": lambda p, d: dtm(p, d["words"]),
    "sbm": lambda p, d: sbm(p, d["links"]),
    "irm": lambda p, d: irm(p, d["links"], features=False),
    "irm-features": lambda p, d: irm(p, d["features"], features=True),
    "mmsb": lambda p, d: mmsb(p, d["links"]),
    "pmf": lambda p, d: pmf(p, d["ratings"]),
    "co-clustering": lambda p, d: mixture(
        p["pi"],
        ((normal([r], [m[p["clusters"][j]]], [[p["noise"]]]) for j, r in rated(d["ratings"])) for m in p["means"]),
    ),
    "rbm-ratings": lambda p, d: categorical_machine(p, [None if r is None else r - 1 for r in d["ratings"]]),
    "rbm-binary": lambda p, d: binary_machine(p, d["v"], lambda eta: times(1 + a.exp() for a in eta)),
    "rbm-categorical": lambda p, d: categorical_machine(p, d["responses"]),
    "rbm-gaussian": lambda p, d: gaussian_machine(p, d["x"]),
    "rbm-binary-gaussian": lambda p, d: binary_machine(p, d["v"], lambda eta: (dot(eta, eta) / 2).exp()),
    "rbm-gaussian-gaussian": lambda p, d: undirected_factors(p, d["x"]),
    "replicated-softmax": lambda p, d: softmax_machine(p, d["words"]),
}


def rows(data: Any) -> Iterator[dict[str, str]]:
    """Yield the rows of the table."""
    for name, model in data["models"].items():
        family = data["families"][model["family"]]
        for which, document in model["documents"].items():
            p = PROBABILITIES[model["family"]](model["parameters"], document)
            value = f"{p.ln():.{DIGITS}g}" if p else "-inf"
            said = {key: family[key] for key in ("probability_of", "method", "source")}
            yield {
                **{"case": f"{name}/{which}", "family": model["family"], "model": name, "document": which},
                **{"log_likelihood": value, "digits": str(DIGITS), **said},
            }


def main(folder: Path) -> None:
    """Write the table of a folder."""
    data = json.loads((folder / "exact_cases.json").read_text(encoding="utf-8"), parse_float=Decimal)
    table = list(rows(data))
    with (folder / "exact_cases.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
