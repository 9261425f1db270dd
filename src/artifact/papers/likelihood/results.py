"""Results on the likelihood: scores beside the truth, bounds on the truth, estimators' errors against work.

The truth is log p(document | alpha, phi), exact or by the reference: the first of `artifact.results.reading.TRUTHS`
that was run. Values are in nats per token unless stated otherwise.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from artifact.contrasts.effect import CONFIDENCE
from artifact.contrasts.estimates import paired, per_token
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments import is_a_probability, optimism, packages, precision, reference
from artifact.papers.likelihood.experiments.epca_marginal import ANNEALED_MARGINAL, QUADRATURE
from artifact.results.reading import TRUTH, TRUTHS, first_of, printable, select, with_truth
from artifact.results.scores import GROUP_COLUMNS
from artifact.study import study
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, FULL, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.is_probability import Excess
from heldout.evaluators.normaliser import log_multinomial_nml
from heldout.models import MODELS, PLSA
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

# experiments, by the variants of their scores and measurements
OPTIMISM, PEERS, BIDIRECTIONAL, COMPONENTS = "optimism", "peers", "bidirectional", "epca-marginal"
PACKAGES = "packages"
# variants under other priors
FLAT, FITTED, MIXTURE = (f"{OPTIMISM}-{prior}" for prior in (optimism.FLAT, optimism.FITTED, optimism.MIXTURE))
LIBRARIES = tuple(study.PEERS)
MOST_CORPORA = 3  # largest number of corpora for which optimism is shown
CHANCE = 1e-6  # largest chance of an excess, under a probability, that refutes a score
WANTED = 1.0  # wanted error, percent of the perplexity per token
PANEL = ["topics", "tokens", "prior"]  # columns that name a panel of `precisions`


@lru_cache(maxsize=1024)  # most contrasts and curves begin here
def points(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM, *, groups: bool = True
) -> "pd.DataFrame":
    """Return one evaluator's scores per token (`per_token`) under the study's main constant.

    The model may be a library, with the variant `PEERS`; the other variants are priors in `optimism`. The evaluator may
    be `TRUTH`. Without `groups` of documents the points have no columns of them.
    """
    rows = select(inputs.scores, corpus=corpus, model=model, variant=variant)
    if not groups:
        rows = rows[rows.columns.difference(list(GROUP_COLUMNS), sort=False)]
    if model == PLSA and variant.startswith(OPTIMISM):  # elsewhere one constant alone was run
        rows = select(rows, smoothing=main_constant(inputs))
    return per_token(select(with_truth(rows) if evaluator == TRUTH else rows, evaluator=evaluator))


def curve(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM) -> "pd.DataFrame":
    """Return means over seeds by number of topics, ascending; see `points`.

    Returns:
        "value", its "error", "perplexity", and "shown", whether an exhibit shows it
        (`artifact.results.reading.printable`).
    """
    rows = points(inputs, corpus, model, evaluator, variant, groups=False)
    by_topics = rows.assign(variance=rows["error"] ** 2).groupby("topics")
    means = by_topics[["value"]].mean()
    errors = by_topics["variance"].sum() ** 0.5 / by_topics.size()
    values = [perplexity(value, 1) for value in means["value"]]
    return means.assign(error=errors, perplexity=values, shown=printable(rows, ["topics"]))


@dataclass(frozen=True)
class Best:
    """The numbers of topics that score as high as the highest, within their errors.

    Attributes:
        topics: all of them, ascending.
        highest: the one that scores highest.
        censored: whether one of them is the grid's last: more might score higher.
    """

    topics: tuple[int, ...]
    highest: int
    censored: bool


def best(points: "pd.DataFrame") -> Best | None:
    """Return the numbers of topics that score as high as the best, within their errors; None without points.

    The variance is that of the residuals of (topics, replicate) once the means of both are taken off, (K - 1)(S - 1)
    degrees of freedom, and both points' evaluator's errors; Student's t is Bonferroni's over the K - 1 differences. One
    replicate has the evaluator's error alone.

    The points are "topics", "seed", "value" and "error" of one corpus and score.
    """
    if points.empty:
        return None
    table = points.pivot_table(index="topics", columns="seed", values="value").dropna()
    errors = points.groupby("topics")["error"].mean().reindex(table.index).to_numpy(float)
    values = table.to_numpy(float)
    means = values.mean(axis=1)
    topics, replicates = values.shape
    residuals = values - means[:, None] - values.mean(axis=0) + values.mean()
    freedom = (topics - 1) * (replicates - 1)
    variance = float((residuals**2).sum()) / freedom if freedom else 0.0
    highest = int(np.argmax(means))
    tests = max(1, topics - 1)
    quantile = stats.t.ppf(1.0 - (1.0 - CONFIDENCE) / 2.0 / tests, freedom or math.inf)
    limit = quantile * np.sqrt(2.0 * variance / replicates + errors**2 + errors[highest] ** 2)
    grid = [int(k) for k in table.index]
    alike = tuple(k for k, lead, most in zip(grid, means[highest] - means, limit, strict=True) if lead <= most)
    return Best(alike, grid[highest], max(alike) == max(grid) and len(grid) > 1)


def best_topics(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM) -> Best | None:
    """Return the numbers of topics that a score does not tell from its best (`best`); None if not run."""
    return best(points(inputs, corpus, model, evaluator, variant, groups=False))


def main_constant(inputs: Inputs) -> float:
    """Return the constant added to PLSA's topics in `optimism`; NaN if the study does not run it."""
    return float(inputs.settings.experiment(OPTIMISM).get("settings", {}).get("smoothing", math.nan))


def errors(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = OPTIMISM, prior: str = ""
) -> "pd.Series[float]":
    """Return the finite means of an estimate less the truth by number of topics.

    The truth's variant is the prior, or the estimate's own where none is given: folding in knows no prior.
    """
    truth = curve(inputs, corpus, model, TRUTH, prior or variant)
    gaps = curve(inputs, corpus, model, evaluator, variant)["value"] - truth["value"]
    return gaps[np.isfinite(gaps)]


def calibration(inputs: Inputs) -> "pd.DataFrame":
    """Return the cells of the reference's calibration at the most samples that were run; empty if none were.

    Returns:
        "corpus", "model", "variant", which names the prior, "topics", "smoothing", "seed"; the reference less the exact
        value as "z", in stated errors, and as "per_token".
    """
    axes = ["corpus", "model", "variant", "topics", "smoothing", "seed", "at"]
    differences, tokens = (
        select(inputs.measurements, quantity=name) for name in (reference.DIFFERENCE, reference.TOKENS)
    )
    cells = select(differences, at=differences["at"].max())
    cells = cells.merge(tokens[[*axes, "value"]], on=axes, suffixes=("", "_tokens"))
    return cells.assign(z=cells["value"] / cells["standard_error"], per_token=cells["value"] / cells["value_tokens"])


def optimism_corpora(inputs: Inputs) -> list[str]:
    """Return the study's corpora for which PLSA has a truth; raises InputError if there is none."""
    corpora = [c for c in inputs.settings.corpora[:MOST_CORPORA] if len(points(inputs, c, PLSA, TRUTH))]
    if not corpora:
        raise InputError(f"optimism: no corpus has a truth for {PLSA} among the scores; measure the optimism")
    return corpora


def further_constants(inputs: Inputs) -> set[int]:
    """Return the numbers of topics at which the study tries further constants."""
    return {int(k) for k in inputs.settings.experiment(OPTIMISM)["settings"]["constants_topics"]}


def by_length(inputs: Inputs, corpus: str, topics: int, quantity: str) -> "pd.Series[float]":
    """Return a quantity of PLSA less the truth per group of documents, means over seeds, by mean length in tokens.

    Seeds' groups go together by their rank: the shortest documents of every split are one group.

    Raises:
        InputError: if there are no such measurements.
    """
    table = select(
        inputs.measurements, corpus=corpus, model=PLSA, variant=OPTIMISM, topics=topics, axis="length"
    ).set_index(["seed", "at"])
    gaps = (select(table, quantity=quantity)["value"] - first_of(table, TRUTHS, "quantity")["value"]).dropna()
    if gaps.empty:
        raise InputError(f"optimism: {corpus}, {PLSA}, {topics} topics has no lengths among the measurements")
    groups = gaps.sort_index().rename("gap").reset_index()
    means = groups.groupby(groups.groupby("seed").cumcount())[["at", "gap"]].mean()
    return means.set_index(means["at"].round().astype(int))["gap"]


def by_constant(inputs: Inputs, corpus: str, topics: int, evaluator: str = FULL) -> "pd.Series[float]":
    """Return the finite means over seeds of an estimate less the truth, by the constant added to PLSA's topics."""
    rows = with_truth(select(inputs.scores, corpus=corpus, model=PLSA, variant=OPTIMISM, topics=topics))
    pairs = paired(rows, {"evaluator": evaluator}, {"evaluator": TRUTH}, keys=("smoothing", "seed"))
    return pairs[np.isfinite(pairs["value"].astype(float))].groupby("smoothing")["value"].mean()


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


def component_perplexities(inputs: Inputs) -> tuple[str, "pd.DataFrame"]:
    """Return the first of the study's corpora with EPCA's likelihood, and perplexities by K, a column per evaluator.

    The tokens of all seeds are pooled. Raises InputError if none has it.
    """
    for corpus in inputs.settings.corpora:
        rows = select(inputs.scores, variant=COMPONENTS, corpus=corpus)
        if len(rows):
            sums = rows.groupby(["topics", "evaluator"])[["log_likelihood", "tokens"]].sum()
            values = [perplexity(float(nats), int(tokens)) for nats, tokens in sums.to_numpy()]
            return corpus, sums.assign(perplexity=values).pivot_table("perplexity", "topics", "evaluator")
    raise InputError("epca-marginal: no marginal likelihood of components among the scores; measure it")


def annealed_less_quadrature(inputs: Inputs) -> "pd.DataFrame":
    """Return the error of EPCA's annealed likelihood of every document at which there is quadrature.

    Returns:
        "topics", the number of components, "corpus", "seed", "at", the document; "gap", nats, and "z", in annealing's
        own standard errors; sorted.
    """
    keys = ["topics", "corpus", "seed", "at"]
    table = select(inputs.measurements, variant=COMPONENTS, axis="document")
    annealed, exact = (
        select(table, quantity=name)[[*keys, "value", "standard_error"]] for name in (ANNEALED_MARGINAL, QUADRATURE)
    )
    both = annealed.merge(exact, on=keys, suffixes=("", "_exact")).sort_values(keys, ignore_index=True)
    gaps = both["value"] - both["value_exact"]
    return both[keys].assign(gap=gaps, z=gaps / both["standard_error"])


def degrees_of_freedom(inputs: Inputs, corpus: str) -> int:
    """Return the degrees of freedom of the annealed estimates' standard errors: chains per document, less one."""
    rows = select(inputs.scores, variant=COMPONENTS, corpus=corpus, evaluator=ANNEALED_MARGINAL)
    return max(int(rows["samples"].iloc[0]) - 1, 1)


def precisions(inputs: Inputs, *, fewest: bool = False) -> "pd.DataFrame":
    """Return estimators' errors by prior, the sparsest first, at each of two sizes (K, L): a panel each.

    With `fewest` a third size comes first, with the fewest topics.

    Returns:
        `PANEL`, the prior's name such as "alpha-0.1"; "estimator", "samples", ascending, and "terms" per document; and
        in percent of the perplexity per token, exp(e / L) - 1 of e nats: "percent", the r.m.s. error, "stated", the one
        that the reference states of itself, and "known", the uncertainty of the values that are taken for the truth, 0
        where they are exact; no error below it can be measured.

    Raises:
        InputError: if precision was not measured.
    """
    import pandas as pd

    table = select(inputs.measurements, corpus=precision.NONE)
    table = table[table["variant"].str.contains(precision.VARIANT, regex=False)]
    if table.empty:
        raise InputError("figure-precision: no precision was measured; measure it")
    table = select(table, seed=table["seed"].min())
    measured = select(table, quantity=precision.DOCUMENTS)
    topics, lengths = (sorted({int(n) for n in measured[column]}) for column in ("topics", "at"))
    sizes = [(topics[0], _second(lengths))] if fewest else []
    sizes += [(_second(topics), _second(lengths)), (_second(topics[::-1]), _second(lengths[::-1]))]
    priors = {variant.partition(precision.VARIANT)[0] for variant in measured["variant"]}
    by_sum = sorted(priors, key=lambda prior: _parameter(prior, topics[-1]))
    return pd.concat([_panel(table, prior, *size) for size in dict.fromkeys(sizes) for prior in by_sum])


def _parameter(prior: str, topics: int) -> float:
    """Return the Dirichlet parameter of K topics under a prior's name: 0.1 for "alpha-0.1", 1 / K for "alpha-sum-1"."""
    name, _, value = prior.rpartition("-")
    return float(value) / topics if name == "alpha-sum" else float(value)


def _second(values: list[int]) -> int:
    return values[min(1, len(values) - 1)]


def _panel(table: "pd.DataFrame", prior: str, topics: int, tokens: int) -> "pd.DataFrame":
    table = select(table, variant=precision.variant(prior, tokens), topics=topics)
    reference_rows = table["quantity"].str.startswith((precision.REFERENCE_ERROR, precision.REFERENCE_BIAS))
    known = math.hypot(*table.loc[reference_rows, "value"])
    exact = (table["quantity"] == precision.REFERENCE_ERROR + EXACT).any()
    stated = select(table, quantity=precision.STATED + REFERENCE).set_index("at")["value"]
    rows = table.assign(estimator=table["quantity"].str.removeprefix(precision.ERROR), samples=table["at"].astype(int))
    rows = rows[table["quantity"].str.startswith(precision.ERROR) & rows["estimator"].isin(list(ESTIMATORS))]
    runs = zip(rows["estimator"], rows["samples"], strict=True)
    rows = rows.assign(
        tokens=tokens,
        prior=prior,
        exact=bool(exact),
        known=_percent(known, tokens),
        terms=[precision.terms_of(name, topics, tokens, count) for name, count in runs],
        percent=[_percent(max(float(nats), known), tokens) for nats in rows["value"]],
        stated=[_percent(stated.get(count, math.nan), tokens) for count in rows["samples"]],
    )
    columns = [*PANEL, "estimator", "samples", "terms", "percent", "stated", "known", "exact"]
    return rows[columns].sort_values(["estimator", "samples"])


def _percent(nats: float, tokens: int) -> float:
    return 100.0 * math.expm1(min(nats / tokens, 50.0))


def cheapest(panel: "pd.DataFrame") -> "pd.DataFrame":
    """Return the row of a panel of `precisions` with the least work that reaches `WANTED`; none if none does."""
    return panel[panel["percent"] <= WANTED].sort_values(["terms", "estimator", "samples"]).head(1)


def excesses(inputs: Inputs) -> "pd.DataFrame":
    """Return the excess of scores over the truth on documents drawn from models, of the first seed.

    Returns:
        "model", "truth" or a library; "score"; "corpus", whose true model it is, or that the library was trained on,
        "none" for a model that was drawn; "topics", K; "documents", the number drawn; "over", the excess over
        log p(w), nats; "given", over log p(w | theta) of the theta that drew w, which no evaluator has touched; and
        "refuted", whether a probability had a chance of at most `CHANCE` of it. The score of the largest excess comes
        first, the corpora in the study's order. Empty if no score was held to a model.
    """
    order = [*inputs.study["realistic"]["corpora"], is_a_probability.NONE]
    rows = select(inputs.measurements, axis="documents")
    rows = rows[rows["quantity"] != is_a_probability.GAP].rename(columns={"quantity": "score", "at": "documents"})
    keys = ["model", "score", "corpus", "topics", "documents", "seed"]
    excess, excess_given = (
        select(rows, variant=variant)[[*keys, "value"]]
        for variant in (is_a_probability.KIND, is_a_probability.GIVEN_THETA)
    )
    both = excess.merge(excess_given, on=keys, suffixes=("", "_given"))
    both = select(both, seed=both["seed"].min()).rename(columns={"value": "over", "value_given": "given"})
    both = both.assign(
        refuted=[Excess(nats).refutes(CHANCE) for nats in both["over"]],
        largest=-both.groupby(["model", "score"])["over"].transform("max"),
        place=both["corpus"].map({corpus: place for place, corpus in enumerate(order)}),
    )
    return both.sort_values(["largest", "model", "score", "place", "topics"], ignore_index=True)


def truth_gaps(inputs: Inputs) -> "pd.Series[float]":
    """Return by (corpus, K) log p(w) of the drawn documents less a lower bound of it, nats; 0 where exact."""
    rows = select(inputs.measurements, model=is_a_probability.TRUE_MODEL, quantity=is_a_probability.GAP)
    return select(rows, seed=rows["seed"].min()).set_index(["corpus", "topics"])["value"]


def sums_over_documents(inputs: Inputs) -> "pd.DataFrame":
    """Return the sum of folding-in over all documents of L tokens, of the first seed; a probability sums to 1.

    Returns:
        By (corpus, topics): "tokens", L; "log_sum", log Z, nats; "most", the upper bound log C(min(K, V), L)
        (`heldout.evaluators.normaliser`) for any K topics.
    """
    rows = select(inputs.measurements, axis="tokens", variant=is_a_probability.KIND, quantity=is_a_probability.LOG_SUM)
    rows = select(rows, seed=rows["seed"].min()).rename(columns={"at": "tokens", "value": "log_sum"})
    most = [log_multinomial_nml(int(k), int(n)) for k, n in zip(rows["topics"], rows["tokens"], strict=True)]
    return rows.assign(most=most).set_index(["corpus", "topics"])[["tokens", "log_sum", "most"]]


def library_numbers(inputs: Inputs) -> "pd.DataFrame":
    """Return libraries' own numbers and their models' likelihoods, means over seeds.

    Returns:
        "corpus", "topics", "model", the library, in the study's order; `packages.REPORTED`, `TRUTH` with its "error",
        `MEAN_FIELD_BOUND` and `packages.GROWING`, the part of the report that grows with the number of topics, nats per
        token; and `packages.VALUE`, the number as the library gives it. NaN where one is missing.
    """
    import pandas as pd

    order = {name: place for place, name in enumerate((*inputs.settings.described, *LIBRARIES))}
    cell, numbers = ["corpus", "topics", "model"], select(inputs.measurements, variant=PEERS, axis="topics")
    scores = per_token(with_truth(select(inputs.scores, variant=PEERS)))
    truths = select(scores, evaluator=TRUTH)
    variances = truths["error"] ** 2 / truths.groupby(cell)["error"].transform("size")  # variances of a mean over seeds
    errors = truths.assign(value=variances, evaluator="error")
    tables = (scores, errors, numbers.rename(columns={"quantity": "evaluator"}))
    rows = pd.concat([table[[*cell, "evaluator", "value"]] for table in tables]).astype({"value": float})
    rows = rows[rows["corpus"].isin(list(order)) & rows["model"].isin(LIBRARIES)]
    shown = [packages.REPORTED, TRUTH, "error", MEAN_FIELD_BOUND, packages.VALUE, packages.GROWING]
    table = rows.pivot_table("value", cell, "evaluator").reindex(columns=shown)
    table = table.dropna(subset=[packages.REPORTED, TRUTH], how="all").reset_index()
    table = table.assign(error=table["error"] ** 0.5)
    return table.sort_values(cell, key=lambda column: column.map(lambda name: order.get(name, name)))


def package_numbers(inputs: Inputs) -> "pd.DataFrame":
    """Return packages' numbers for sets of test documents, and their models' likelihoods, nats per token.

    Returns:
        "corpus", "model", the package, "topics", "seed", "documents", the number scored, "words" (`packages.KNOWN` or
        `packages.ALL`), "quantity" (`packages.REPORTED` and so on), "value" and "error", the packages in the order of
        `packages.KINDS`.
    """
    rows = select(inputs.measurements, variant=PACKAGES, axis="documents")
    names = rows["quantity"].str.extract("^([^-]*)-(.*)$")
    rows = rows.assign(words=names[0], quantity=names[1], documents=rows["at"], error=rows["standard_error"])
    columns = ["corpus", "model", "topics", "seed", "documents", "words", "quantity", "value", "error"]
    order = list(packages.KINDS)
    return rows[columns].sort_values("model", key=lambda models: models.map(order.index), kind="stable")


def as_given(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of `package_numbers` with the words unseen in training where the package keeps them."""
    unseen = table["model"].map(lambda model: packages.KINDS[model].unseen)
    return table[(table["words"] == packages.ALL) == unseen]
