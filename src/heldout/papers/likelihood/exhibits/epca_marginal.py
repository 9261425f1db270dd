"""EPCA's folding-in beside its marginal likelihood, and how well annealing meets quadrature."""

import math

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED, QUADRATURE
from heldout.scores import perplexity
from heldout.typesetting import style

KIND = "epca-marginal"
TRUTH = style.COLOURS["truth"]
# evaluator, label, line
CURVES = (
    (HALF, "half folding-in", style.EVALUATOR_COLOURS[HALF], "s-"),
    (ANNEALED, "marginal likelihood, annealed", TRUTH, "o-"),
    (FULL, "full folding-in", style.EVALUATOR_COLOURS[FULL], "v-"),
)
LINES = (("#0072B2", "-"), ("#CC79A7", "--"))  # of one component and of two
SHOWN = 5.0  # standard errors; what lies further out is counted at the edge


def perplexities(inputs: Inputs) -> tuple[str, dict[str, dict[int, float]]]:
    """Return the first of the study's corpora that was measured, and its perplexities by evaluator and components.

    Several seeds give the perplexity of all their tokens together.

    Raises:
        InputError: when none was.
    """
    rows = inputs.scores[inputs.scores["variant"] == KIND]
    for corpus in inputs.settings.corpora:
        here = rows[rows["corpus"] == corpus]
        if len(here):
            found: dict[str, dict[int, float]] = {}
            for evaluator, topics in sorted(set(zip(here["evaluator"], here["topics"], strict=True))):
                cell = here[(here["evaluator"] == evaluator) & (here["topics"] == topics)]
                value = perplexity(float(cell["log_likelihood"].sum()), int(cell["tokens"].sum()))
                found.setdefault(str(evaluator), {})[int(topics)] = value
            return corpus, found
    raise InputError("epca-marginal: no marginal likelihood of components among the scores; measure it")


def standardised(inputs: Inputs, corpus: str) -> dict[int, NDArray[np.float64]]:
    """Return (annealed - quadrature) / standard error of every document and seed, by number of components."""
    if inputs.measurements is None:
        raise InputError("epca-marginal: there are no measurements")
    table = inputs.measurements
    table = table[(table["variant"] == KIND) & (table["corpus"] == corpus)]
    found = {}
    for K in sorted({int(K) for K in table.loc[table["quantity"] == QUADRATURE, "topics"]}):
        rows = table[table["topics"] == K].set_index(["seed", "at"]).sort_index()
        annealed, exact = (rows[rows["quantity"] == quantity] for quantity in (ANNEALED, QUADRATURE))
        found[K] = ((annealed["value"] - exact["value"]) / annealed["standard_error"]).to_numpy(dtype=float)
    return found


def draw(inputs: Inputs) -> Figure:
    """Draw perplexity against components, and annealing minus quadrature in annealing's own standard errors."""
    corpus, found = perplexities(inputs)
    titles = ["folding-in and the truth", "annealing against quadrature"]
    z = standardised(inputs, corpus)
    figure, axes = style.panels(titles if z else titles[:1], synthetic=inputs.synthetic(corpus))
    left = axes[0]
    for evaluator, label, colour, line in CURVES:
        curve = found[evaluator]
        left.plot(list(curve), list(curve.values()), line, color=colour, label=label)
    exact = found.get(QUADRATURE, {})
    if exact:
        left.plot(
            *(list(exact), list(exact.values()), "o"),
            color=TRUTH,
            markerfacecolor="none",
            markersize=8.0,
            label="the same by quadrature",
        )
    left.set_xlabel("number of components")
    style.finish([left], list(found[FULL]))
    left.legend(loc="lower left", fontsize=7.0)
    if z:
        axes[1].remove()  # it shares the perplexity axis
        right = figure.add_subplot(1, 2, 2)
        right.set_title(titles[1], fontweight="bold")
        if inputs.synthetic(corpus):
            style.mark_synthetic(right)
        edges = np.linspace(-SHOWN, SHOWN, 31)
        for (K, values), (colour, line) in zip(z.items(), LINES, strict=False):
            heights, _ = np.histogram(np.clip(values, -SHOWN, SHOWN), edges)
            label = f"{K} component{'s' * (K > 1)}, {len(values)} documents"
            right.stairs(
                heights / len(values) / (edges[1] - edges[0]), edges, color=colour, linestyle=line, label=label
            )
        grid = np.linspace(-SHOWN, SHOWN, 201)
        freedom = _freedom(inputs, corpus)
        right.plot(grid, _student(grid, freedom), color=TRUTH, linewidth=0.9, label="if the errors are right")
        right.set_xlabel("(annealed \N{MINUS SIGN} quadrature) / standard error")
        right.set_ylabel("density of documents")
        right.set_ylim(0.0, 1.4 * right.get_ylim()[1])
        right.legend(loc="upper left", fontsize=7.0)
    return figure


def _freedom(inputs: Inputs, corpus: str) -> int:
    """Return the degrees of freedom of the standard errors: the chains per document, less one."""
    rows = inputs.scores
    rows = rows[(rows["variant"] == KIND) & (rows["corpus"] == corpus) & (rows["evaluator"] == ANNEALED)]
    return max(int(rows["samples"].iloc[0]) - 1, 1)


def _student(x: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
    """Return Student's density."""
    constant = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    density: NDArray[np.float64] = np.exp(constant - 0.5 * (freedom + 1) * np.log1p(x * x / freedom))
    return density
