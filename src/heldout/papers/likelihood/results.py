"""Results on the likelihood: scores beside the truth, bounds on the truth, estimators' errors against work.

The truth is log p(document | alpha, phi), exact or by the reference: the first of `heldout.points.TRUTHS` that was run.
Values are in nats per token unless stated otherwise.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heldout import study
from heldout.effects import Best, best, per_token
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, FULL, REFERENCE
from heldout.evaluators.is_probability import Excess
from heldout.evaluators.normaliser import log_multinomial_nml
from heldout.inputs import Inputs
from heldout.models import MODELS, PLSA
from heldout.papers.likelihood.experiments import is_a_probability, optimism, peers, precision, reference
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED, QUADRATURE
from heldout.points import TRUTH, TRUTHS, Point, first_of, mean_points, select, with_truth
from heldout.scores import perplexity
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

# experiments, by the variants of their scores and measurements
OPTIMISM, PEERS, BIDIRECTIONAL, COMPONENTS = "optimism", "peers", "bidirectional", "epca-marginal"
# variants under other priors
FLAT, FITTED, MIXTURE = (f"{OPTIMISM}-{prior}" for prior in (optimism.FLAT, optimism.FITTED, optimism.MIXTURE))
LIBRARIES = tuple(study.PEERS)
MOST_CORPORA = 3  # largest number of corpora for which optimism is shown
CHANCE = 1e-6  # largest chance of an excess, under a probability, that refutes a score
WANTED = 1.0  # wanted error, percent of the perplexity per token


def curve(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM) -> dict[int, Point]:
    """Return one evaluator's points, means over seeds, by number of topics, ascending; empty if it was not run.

    Args:
        inputs: the scores of the experiments `optimism` and `peers`.
        corpus: its name.
        model: its name, or a library's.
        evaluator: its name; `TRUTH` for the first of `TRUTHS` at each number of topics.
        variant: the prior in `optimism`: `OPTIMISM` (the model's own), `FLAT`, `FITTED` or `MIXTURE`; `PEERS` for
            a library.
    """
    constant = main_constant(inputs) if model == PLSA else 0.0
    table = select(inputs.scores, corpus=corpus, model=model, variant=variant, smoothing=constant)
    return mean_points(table, TRUTHS if evaluator == TRUTH else (evaluator,))


def best_topics(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM) -> Best | None:
    """Return the numbers of topics that a score cannot tell from its best (`heldout.effects.best`); None if not run."""
    constant = main_constant(inputs) if model == PLSA else 0.0
    rows = select(inputs.scores, corpus=corpus, model=model, variant=variant, smoothing=constant)
    return best(select(per_token(with_truth(rows)), evaluator=evaluator))


def main_constant(inputs: Inputs) -> float:
    """Return the constant added to PLSA's topics in `optimism`; NaN if the study does not run it."""
    return float(inputs.settings.experiment(OPTIMISM).get("settings", {}).get("smoothing", math.nan))


def errors(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM
) -> dict[int, tuple[float, float]]:
    """Return (estimate less truth, the truth's standard error) by number of topics, for finite estimates."""
    truth = curve(inputs, corpus, model, TRUTH, variant)
    return {
        k: (point.value - truth[k].value, truth[k].error)
        for k, point in curve(inputs, corpus, model, evaluator, variant).items()
        if k in truth and math.isfinite(point.value)
    }


@dataclass(frozen=True)
class CalibrationCell:
    """The reference beside the exact value in one cell of its calibration.

    Attributes:
        corpus, model, variant, topics, smoothing, seed: as in `heldout.scores.Score`; the variant names the prior.
        difference, error: reference less exact value and its stated error, nats over all test documents.
        tokens: of these.
    """

    corpus: str
    model: str
    variant: str
    topics: int
    smoothing: float
    seed: int
    difference: float
    error: float
    tokens: float

    @property
    def z(self) -> float:
        """The difference in stated errors."""
        return self.difference / self.error

    @property
    def per_token(self) -> float:
        """The difference in nats per token."""
        return self.difference / self.tokens

    @property
    def name(self) -> str:
        """The cell in a few words."""
        prior = self.variant.removeprefix(f"{reference.KIND}-").replace("-", " ")
        return f"{self.corpus} {self.model} K={self.topics}, prior {prior}"


def calibration(inputs: Inputs) -> list[CalibrationCell]:
    """Return the cells of the reference's calibration at the most samples that were run; empty if none were."""
    axes = ["corpus", "model", "variant", "topics", "smoothing", "seed", "at"]
    differences = select(inputs.measurements, quantity=reference.DIFFERENCE)
    most = differences["at"].max()
    tokens = select(inputs.measurements, quantity=reference.TOKENS, at=most).set_index(axes)["value"]
    rows = select(differences, at=most).to_dict("records")
    named: list[dict[str, Any]] = [{axis: row[axis] for axis in axes} for row in rows]
    return [
        CalibrationCell(
            **{axis: at[axis] for axis in axes if axis != "at"},
            difference=row["value"],
            error=row["standard_error"],
            tokens=tokens[tuple(at.values())],
        )
        for row, at in zip(rows, named, strict=True)
    ]


def optimism_corpora(inputs: Inputs, model: str = PLSA) -> list[str]:
    """Return the study's corpora for which there is a truth.

    Raises:
        InputError: if there is none.
    """
    corpora = [c for c in inputs.settings.corpora[:MOST_CORPORA] if curve(inputs, c, model, TRUTH)]
    if not corpora:
        raise InputError(f"optimism: no corpus has a truth for {model} among the scores; measure the optimism")
    return corpora


def further_constants(inputs: Inputs) -> set[int]:
    """Return the numbers of topics at which the study tries further constants."""
    return {int(k) for k in inputs.settings.experiment(OPTIMISM)["settings"]["constants_topics"]}


def by_length(inputs: Inputs, corpus: str, model: str, topics: int, quantity: str) -> list[tuple[int, float]]:
    """Return (mean length in tokens, quantity less truth) per group of documents, means over seeds, nats per token.

    Seeds' groups go together by their rank: the shortest documents of every split are one group.

    Raises:
        InputError: if there are no such measurements.
    """
    table = select(
        inputs.measurements, corpus=corpus, model=model, variant=OPTIMISM, topics=topics, axis="length"
    ).set_index(["seed", "at"])
    gaps = (select(table, quantity=quantity)["value"] - first_of(table, TRUTHS, "quantity")["value"]).dropna()
    if gaps.empty:
        raise InputError(f"optimism: {corpus}, {model}, {topics} topics has no lengths among the measurements")
    groups = gaps.sort_index().rename("gap").reset_index()
    means = groups.groupby(groups.groupby("seed").cumcount())[["at", "gap"]].mean()
    return [(round(at), gap) for at, gap in zip(means["at"], means["gap"], strict=True)]


def by_constant(inputs: Inputs, corpus: str, topics: int, evaluator: str = FULL) -> list[tuple[float, float]]:
    """Return (constant added to PLSA's topics, estimate less truth), means over seeds, ascending; finite ones only."""
    table = select(inputs.scores, corpus=corpus, model=PLSA, variant=OPTIMISM, topics=topics).set_index("seed")
    table = table.assign(value=table["log_likelihood"] / table["tokens"])
    points = []
    for constant, rows in table.groupby("smoothing"):
        gaps = (select(rows, evaluator=evaluator)["value"] - first_of(rows, TRUTHS)["value"]).dropna()
        gaps = gaps[gaps.abs() < math.inf]
        if len(gaps):
            points.append((float(str(constant)), float(gaps.mean())))
    return sorted(points)


def available(wanted: Sequence[int], measured: Iterable[int]) -> list[int]:
    """Return the wanted numbers of topics that were measured; if none was, the fewest and the most measured."""
    topics = sorted(measured)
    return [k for k in wanted if k in topics] or sorted({*topics[:1], *topics[-1:]})


def bounds(inputs: Inputs) -> tuple[str, dict[tuple[str, int], "pd.DataFrame"]]:
    """Return the first of the study's corpora with bounds, and the first seed's measurements by (model, topics).

    Raises:
        InputError: if none has bounds.
    """
    for corpus in inputs.settings.corpora:
        rows = select(inputs.measurements, variant=BIDIRECTIONAL, corpus=corpus)
        if len(rows):
            cells = {
                (str(model), int(str(topics))): cell
                for (model, topics), cell in select(rows, seed=rows["seed"].min()).groupby(["model", "topics"])
            }
            return corpus, dict(sorted(cells.items(), key=lambda item: (list(MODELS).index(item[0][0]), item[0][1])))
    raise InputError("bidirectional: there are no bounds on simulated documents among the measurements; measure them")


def component_perplexities(inputs: Inputs) -> tuple[str, dict[str, dict[int, float]]]:
    """Return the first of the study's corpora with EPCA's likelihood, and perplexities by evaluator, then by K.

    The tokens of all seeds are pooled.

    Raises:
        InputError: if none has it.
    """
    for corpus in inputs.settings.corpora:
        rows = select(inputs.scores, variant=COMPONENTS, corpus=corpus)
        if len(rows):
            perplexities: dict[str, dict[int, float]] = {}
            for (evaluator, topics), sums in rows.groupby(["evaluator", "topics"])[["log_likelihood", "tokens"]]:
                value = perplexity(float(sums["log_likelihood"].sum()), int(sums["tokens"].sum()))
                perplexities.setdefault(str(evaluator), {})[int(str(topics))] = value
            return corpus, perplexities
    raise InputError("epca-marginal: no marginal likelihood of components among the scores; measure it")


def standardised(inputs: Inputs, corpus: str) -> dict[int, Floats]:
    """Return (annealed less quadrature) / standard error of every document and seed, by number of components.

    Raises:
        InputError: if there are no measurements.
    """
    if inputs.measurements is None:
        raise InputError("epca-marginal: there are no measurements")
    table = select(inputs.measurements, variant=COMPONENTS, corpus=corpus)
    scaled = {}
    for topics in sorted({int(k) for k in select(table, quantity=QUADRATURE)["topics"]}):
        rows = select(table, topics=topics).set_index(["seed", "at"]).sort_index()
        annealed, exact = (select(rows, quantity=quantity) for quantity in (ANNEALED, QUADRATURE))
        scaled[topics] = ((annealed["value"] - exact["value"]) / annealed["standard_error"]).to_numpy(dtype=float)
    return scaled


def degrees_of_freedom(inputs: Inputs, corpus: str) -> int:
    """Return the degrees of freedom of the annealed estimates' standard errors: chains per document, less one."""
    rows = select(inputs.scores, variant=COMPONENTS, corpus=corpus, evaluator=ANNEALED)
    return max(int(rows["samples"].iloc[0]) - 1, 1)


@dataclass(frozen=True)
class Panel:
    """Estimators' errors at one prior, K and L, in percent of the perplexity per token.

    Attributes:
        prior: its name, such as "alpha-0.1".
        topics, tokens: K and L.
        points: by estimator, (samples, terms per document, percent), samples ascending; a r.m.s. error of e nats is
            exp(e / L) - 1.
        known: the uncertainty of the values taken for the truth, percent; smaller errors cannot be measured.
        exact: whether those values are exact.
        stated: by samples, the error that `heldout.evaluators.reference` states of itself, percent.
    """

    prior: str
    topics: int
    tokens: int
    points: Mapping[str, list[tuple[int, float, float]]]
    known: float
    exact: bool
    stated: Mapping[int, float]

    @property
    def cheapest(self) -> tuple[str, int, float, float] | None:
        """The (estimator, samples, terms, percent) with the least work that reaches `WANTED`; None if none does."""
        enough = [
            (terms, name, samples, percent)
            for name, points in self.points.items()
            for samples, terms, percent in points
            if percent <= WANTED
        ]
        if not enough:
            return None
        terms, name, samples, percent = min(enough)
        return name, samples, terms, percent


def precision_panels(inputs: Inputs, *, fewest: bool = False) -> list[Panel]:
    """Return a panel per prior, the sparsest first, at each of two sizes (K, L).

    Args:
        inputs: the measurements of the experiment `precision`.
        fewest: whether a third size comes first, with the fewest topics.

    Raises:
        InputError: if precision was not measured.
    """
    table = select(inputs.measurements, corpus=precision.NONE)
    table = table[table["variant"].str.contains(precision.VARIANT, regex=False)]
    if table.empty:
        raise InputError("figure-precision: no precision was measured; measure it")
    table = select(table, seed=table["seed"].min())
    measured = select(table, quantity=precision.DOCUMENTS)
    topics = sorted({int(k) for k in measured["topics"]})
    lengths = sorted({int(n) for n in measured["at"]})
    sizes = [(topics[0], _second(lengths))] if fewest else []
    sizes += [(_second(topics), _second(lengths)), (_second(topics[::-1]), _second(lengths[::-1]))]
    priors = {variant.partition(precision.VARIANT)[0] for variant in measured["variant"]}
    by_sum = sorted(priors, key=lambda prior: _parameter(prior, topics[-1]))
    return [_panel(table, prior, *size) for size in dict.fromkeys(sizes) for prior in by_sum]


def _parameter(prior: str, topics: int) -> float:
    """Return the Dirichlet parameter of K topics under a prior's name: 0.1 for "alpha-0.1", 1 / K for "alpha-sum-1"."""
    name, _, value = prior.rpartition("-")
    return float(value) / topics if name == "alpha-sum" else float(value)


def _second(values: list[int]) -> int:
    return values[min(1, len(values) - 1)]


def _panel(table: "pd.DataFrame", prior: str, topics: int, tokens: int) -> Panel:
    table = select(table, variant=precision.variant(prior, tokens), topics=topics)
    reference_rows = table["quantity"].str.startswith((precision.REFERENCE_ERROR, precision.REFERENCE_BIAS))
    known = math.hypot(*table.loc[reference_rows, "value"])
    points: dict[str, list[tuple[int, float, float]]] = {}
    stated: dict[int, float] = {}
    for quantity, at, value in zip(table["quantity"], table["at"], table["value"], strict=True):
        name = quantity.removeprefix(precision.ERROR)
        if quantity.startswith(precision.ERROR) and name in ESTIMATORS:
            terms = precision.terms_of(name, topics, tokens, int(at))
            points.setdefault(name, []).append((int(at), terms, _percent(max(float(value), known), tokens)))
        elif quantity == precision.STATED + REFERENCE:
            stated[int(at)] = _percent(float(value), tokens)
    return Panel(
        prior,
        topics,
        tokens,
        {n: sorted(p) for n, p in points.items()},
        known=_percent(known, tokens),
        exact=bool((table["quantity"] == precision.REFERENCE_ERROR + EXACT).any()),
        stated=stated,
    )


def _percent(nats: float, tokens: int) -> float:
    return 100.0 * math.expm1(min(nats / tokens, 50.0))


@dataclass(frozen=True)
class ModelExcess:
    """A score's excess over the truth on documents that were drawn from one model.

    Attributes:
        corpus: whose true model it is, or that the library was trained on; "none" for a model that was drawn.
        topics: K.
        documents: how many were drawn from the model.
        over: the excess over log p(w), nats.
        over_given: the excess over log p(w | theta) of the theta that drew w, which no evaluator has touched.
    """

    corpus: str
    topics: int
    documents: int
    over: float
    over_given: float

    @property
    def refuted(self) -> bool:
        """Whether a probability had a chance of at most `CHANCE` of it."""
        return Excess(self.over).refutes(CHANCE)


def excesses(inputs: Inputs) -> dict[tuple[str, str], list[ModelExcess]]:
    """Return every score of the first seed by (model, score), model "truth" or a library; empty if none was held."""
    rows = select(inputs.measurements, axis="documents")
    rows = rows[rows["variant"].isin([is_a_probability.KIND, is_a_probability.GIVEN_THETA])]
    rows = rows[rows["quantity"] != is_a_probability.GAP]
    by_score: dict[tuple[str, str], list[ModelExcess]] = {}
    columns = ["model", "quantity", "corpus", "topics", "at"]
    order = [*inputs.study["realistic"]["corpora"], is_a_probability.NONE]
    for (model, score, corpus, topics, documents), pair in select(rows, seed=rows["seed"].min()).groupby(columns):
        by_variant = pair.set_index("variant")["value"]
        over, over_given = (
            float(by_variant[variant]) for variant in (is_a_probability.KIND, is_a_probability.GIVEN_THETA)
        )
        excess = ModelExcess(str(corpus), int(str(topics)), int(str(documents)), over, over_given)
        by_score.setdefault((str(model), str(score)), []).append(excess)
    for scores in by_score.values():
        scores.sort(key=lambda at: (order.index(at.corpus), at.topics))
    return by_score


def truth_gaps(inputs: Inputs) -> dict[tuple[str, int], float]:
    """Return by (corpus, K) how far a lower bound lies below log p(w) of the drawn documents, nats; 0 where exact."""
    rows = select(inputs.measurements, model=is_a_probability.TRUTH, quantity=is_a_probability.GAP)
    rows = select(rows, seed=rows["seed"].min())
    return dict(zip(zip(rows["corpus"], rows["topics"], strict=True), rows["value"], strict=True))


def sums_over_documents(inputs: Inputs) -> "pd.DataFrame":
    """Return what folding-in gives to all documents of L tokens together, of the first seed; a probability gives 1.

    Returns:
        By (corpus, topics): "tokens", L; "log_sum", log Z, nats; "most", the upper bound log C(min(K, V), L)
        (`heldout.evaluators.normaliser`) for any K topics.
    """
    rows = select(inputs.measurements, axis="tokens", variant=is_a_probability.KIND, quantity=is_a_probability.LOG_SUM)
    rows = select(rows, seed=rows["seed"].min()).rename(columns={"at": "tokens", "value": "log_sum"})
    most = [log_multinomial_nml(int(k), int(n)) for k, n in zip(rows["topics"], rows["tokens"], strict=True)]
    return rows.assign(most=most).set_index(["corpus", "topics"])[["tokens", "log_sum", "most"]]


def peers_corpora(inputs: Inputs) -> list[str]:
    """Return the corpora with scores of libraries, in the study's order."""
    scored = set(_peers(inputs)["corpus"])
    return [corpus for corpus in inputs.settings.described if corpus in scored]


def libraries(inputs: Inputs) -> list[str]:
    """Return the libraries that were run."""
    scored = set(_peers(inputs)["model"])
    return [library for library in LIBRARIES if library in scored]


def _peers(inputs: Inputs) -> "pd.DataFrame":
    table = select(inputs.scores, variant=PEERS)
    return table[table["model"].isin(LIBRARIES)]


def measured(inputs: Inputs, corpus: str, library: str, quantity: str) -> dict[int, float]:
    """Return a library's measurement by number of topics, means over seeds."""
    which = {"corpus": corpus, "model": library, "quantity": quantity}
    table = select(inputs.measurements, variant=PEERS, axis="topics", **which)
    return {int(str(topics)): float(rows["value"].mean()) for topics, rows in table.groupby("topics")}


def versions(inputs: Inputs) -> dict[str, str]:
    """Return the version of every library that was run, from its notes; "" if they differ."""
    named: dict[str, str] = {}
    for library in libraries(inputs) if inputs.notes is not None else ():
        texts = set(select(inputs.notes, variant=PEERS, model=library, quantity=peers.VERSION)["text"])
        named[library] = texts.pop() if len(texts) == 1 else ""
    return named


def factors_between_libraries(inputs: Inputs, corpus: str, evaluator: str) -> dict[int, float]:
    """Return the libraries' largest over smallest perplexity by number of topics, where two or more libraries ran."""
    curves = [curve(inputs, corpus, library, evaluator, PEERS) for library in libraries(inputs)]
    shared = set.intersection(*(set(points) for points in curves)) if len(curves) > 1 else set()
    factors = {}
    for topics in sorted(shared):
        values = [points[topics].value for points in curves]
        factors[topics] = math.exp(min(700.0, max(values) - min(values)))
    return factors
