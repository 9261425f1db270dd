"""The gallery's scores and measurements read back: the rows of its opening table, and the curves of Figure 27.6."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout import models
from heldout.effects import per_token
from heldout.evaluators import COMPLETION, EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import bank_and_river, evidence, online, perplexity, polysemy
from heldout.papers.murphy.members import MEMBERS
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL, Member
from heldout.papers.murphy.members.plsi import PLSI
from heldout.papers.murphy.members.rows import ESTIMATED, ONE_TOKEN
from heldout.papers.murphy.members.rows import EXACT as EXACT_ONE
from heldout.points import Point, mean_points, select

if TYPE_CHECKING:
    import pandas as pd

GALLERY, RECORDS, PERPLEXITY = "gallery", "records", "perplexity"
POLYSEMY, BANK, EVIDENCE = "polysemy", "bank-and-river", "evidence"
SAMPLERS, HALVES = "samplers", "completion"
OPENING = (GALLERY, RECORDS)  # experiments of the opening table

BY_NAME = {member.name: member for member in MEMBERS}


APART = 5e-4  # of a sum from 1: what its three decimals show


class Row(NamedTuple):
    """A row of the opening table, a mean over seeds; numbers are nats per token, None where there is no likelihood.

    Attributes:
        corpus, topics: as in `heldout.scores.Score`.
        member: the model.
        value: its usual score.
        likelihood, error: the likelihood and its Monte Carlo standard error; 0 where it is exact.
        gap: value less likelihood.
        one_token: the sum of the usual score's exponential over one token (`heldout.papers.murphy.members.rows`).
    """

    corpus: str
    member: type[Member[Any, Any]]
    topics: int
    value: float
    likelihood: float | None
    error: float | None
    gap: float | None
    one_token: float

    @property
    def refuted(self) -> bool:
        """Whether the sum shows that the usual score is no probability."""
        return abs(self.one_token - 1.0) >= APART


def opening_rows(inputs: Inputs) -> list[Row]:
    """Return the rows of the opening table, in the order of corpus, member and K."""
    rows, sums = [], measured(inputs, ONE_TOKEN).groupby(["corpus", "model", "topics"])["value"].mean().to_dict()
    for (corpus, model), cells in _opening(inputs.scores).groupby(["corpus", "model"]):
        values, likelihoods = mean_points(cells, [USUAL]), mean_points(cells, [LIKELIHOOD])
        for K, value in values.items():
            point = likelihoods.get(K)
            row = Row(
                str(corpus),
                BY_NAME[str(model)],
                K,
                value.value,
                None,
                None,
                None,
                sums.get((corpus, model, K), math.nan),
            )
            if point is not None:
                row = row._replace(likelihood=point.value, error=point.error, gap=value.value - point.value)
            rows.append(row)
    return sorted(rows, key=lambda row: (row.corpus, MEMBERS.index(row.member), row.topics))


class Gap(NamedTuple):
    """What a usual score of a model is off by, a mark of the opening figure.

    Attributes:
        panel: what is scored and per what.
        model: its label.
        corpus: its data; empty where all of the panel are of the same.
        most: whether it has the most components of its row, not the fewest.
        gap: the score less the likelihood, nats per unit of the panel.
        estimated: whether the likelihood is an estimate, not exact.
    """

    panel: str
    model: str
    corpus: str
    most: bool
    gap: float
    estimated: bool


def opening_gaps(inputs: Inputs) -> list[Gap]:
    """Return the gaps of the opening table's scores that are not the likelihood itself, in its order."""
    gaps = []
    for experiment, panel in ((GALLERY, "documents, per token"), (RECORDS, "records, per response")):
        names = corpora(inputs, experiment)
        rows = [row for row in opening_rows(inputs) if row.gap is not None and row.corpus in names]
        rows = [row for row in rows if row.member.usual.kind != "exact"]
        for (corpus, member), of_member in groupby(rows, lambda row: (row.corpus, row.member)):
            cells = list(of_member)
            for row in cells[:: len(cells) - 1] if len(cells) > 1 else cells:
                place = corpus if len(names) > 1 else ""
                gaps.append(Gap(panel, member.label, place, row is cells[-1], row.gap or 0.0, bool(row.error)))
    return gaps


def _opening(scores: "pd.DataFrame") -> "pd.DataFrame":
    return scores[scores["variant"].isin(OPENING)]


class Curve(NamedTuple):
    """A curve of Figure 27.6.

    Attributes:
        model: its name.
        evaluators: names, the preferred first.
        experiment: whose scores they are.
    """

    model: str
    evaluators: tuple[str, ...]
    experiment: str = PERPLEXITY


UNIGRAM = Curve(perplexity.UNIGRAM, (LIKELIHOOD,))
MIXTURE = Curve(perplexity.MIXTURE, (LIKELIHOOD,))
LDA = Curve(models.LDA, (EXACT, REFERENCE))
LDA_BOUND = Curve(models.LDA, (MEAN_FIELD_BOUND,))
LDA_HALF = Curve(models.LDA, (HALF,), HALVES)
LDA_COMPLETION = Curve(models.LDA, (COMPLETION,), HALVES)
PLSI_SCORES: Mapping[str, str] = {"full folding-in": FULL, "half folding-in": HALF, "training mixture": LIKELIHOOD}
PLSI_MODELS: Mapping[str, str] = {"EM": PLSI.name, "tempered EM": perplexity.TEMPERED}


class Published(NamedTuple):
    """A printed curve: K and perplexity."""

    topics: Sequence[int]
    perplexities: Sequence[float]


# Murphy's own drawing of Figure 9 of Blei et al. (2003): pmtk3, demos/bleiLDAperplexityPlot.m at commit
# 68788ecb7e04adab287ff69a6122da7f9ffc6334
_TOPICS = (1, 3, 8, 20, 50, 100, 200)
PUBLISHED: Mapping[str, Published] = {
    "unigram": Published(_TOPICS, (5800,) * 7),
    "mixture": Published(_TOPICS, (5150, 4900, 3950, 3850, 3650, 3675, 3700)),
    "pLSI, folded in": Published(_TOPICS, (6750, 6500, 6250, 5600, 4600, 4250, 3450)),
    "LDA": Published(_TOPICS, (5200, 4850, 3800, 3450, 3250, 3100, 3050)),
}


def curve(inputs: Inputs, corpus: str, of: Curve, seed: int | None = None) -> dict[int, Point]:
    """Return the points of Figure 27.6 of one model and score by K, means over seeds or those of one seed."""
    table = select(inputs.scores, corpus=corpus, variant=of.experiment, model=of.model)
    return mean_points(table if seed is None else select(table, seed=seed), of.evaluators)


def seeds(inputs: Inputs, experiment: str) -> list[int]:
    """Return the seeds of an experiment's scores."""
    return sorted({int(seed) for seed in select(inputs.scores, variant=experiment)["seed"]})


def corpora(inputs: Inputs, experiment: str) -> list[str]:
    """Return the corpora of an experiment, in the study's order."""
    return list(inputs.settings.experiment(experiment).get("corpora", ()))


def per_document(inputs: Inputs, corpus: str, of: Curve) -> dict[int, float]:
    """Return perplexities by equation 27.29, which weights documents alike, by K, geometric means over seeds."""
    table = select(inputs.measurements, corpus=corpus, variant=of.experiment, model=of.model)
    by_topics: dict[int, float] = {}
    for evaluator in reversed(of.evaluators):
        rows = select(table, quantity=f"{perplexity.PER_DOCUMENT}-{evaluator}")
        for K, values in rows.groupby("topics")["value"]:
            by_topics[int(str(K))] = math.exp(-fmean(values))
    return dict(sorted(by_topics.items()))


def measured(inputs: Inputs, quantity: str) -> "pd.DataFrame":
    """Return measurements of a quantity: "corpus", "model", "topics", "seed" and "value"."""
    return select(inputs.measurements, quantity=quantity)[["corpus", "model", "topics", "seed", "value"]]


def likelihoods(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the likelihoods of a model of the opening table with "value" and "error", nats per token."""
    return per_token(select(_opening(inputs.scores), model=model, evaluator=LIKELIHOOD))


def curve_points(inputs: Inputs, names: Sequence[str], of: Curve) -> "pd.DataFrame":
    """Return the points of one curve on some corpora, nats per token, as `likelihoods`."""
    table = select(inputs.scores, variant=of.experiment, model=of.model)
    table = table[table["corpus"].isin(list(names)) & table["evaluator"].isin(of.evaluators)]
    rank = table["evaluator"].map(list(of.evaluators).index) if len(table) else table["topics"]
    first = table.assign(rank=rank).sort_values("rank").drop_duplicates(["corpus", "topics", "seed"])
    return per_token(first).sort_values(["corpus", "topics", "seed"])


class Annealed(NamedTuple):
    """A likelihood by annealing with its error where there is an exact one, nats per token."""

    value: float
    error: float
    exact: float


def annealed_and_exact(inputs: Inputs) -> list[Annealed]:
    """Return the estimated likelihoods of the opening table's models that have an exact value."""
    import pandas as pd

    keys = ["corpus", "model", "topics", "seed"]
    of_exact, of_estimates = (
        pd.concat([select(inputs.measurements, variant=variant, quantity=quantity) for variant in OPENING])
        for quantity in (EXACT_ONE, ESTIMATED)
    )
    exact, rows = of_exact.set_index(keys)["value"].to_dict(), of_estimates.to_dict("records")
    return [
        Annealed(r["value"], r["standard_error"], exact[r["corpus"], r["model"], r["topics"], r["seed"]]) for r in rows
    ]


def along(rows: "pd.DataFrame") -> dict[int, Point]:
    """Return measurements by their places on one axis, ascending, nats per token."""
    ordered = rows.sort_values("at").to_dict("records")
    return {int(r["at"]): Point(int(r["topics"]), r["value"], r["standard_error"], 0) for r in ordered}


def sampled(inputs: Inputs, model: str, quantity: str) -> dict[tuple[str, int], dict[int, Point]]:
    """Return a quantity of the experiment "samplers" by (corpus, seed) and sweep."""
    rows = select(inputs.measurements, variant=SAMPLERS, model=model, quantity=quantity)
    return {(str(corpus), int(str(seed))): along(of) for (corpus, seed), of in rows.groupby(["corpus", "seed"])}


class Trace(NamedTuple):
    """A score of one fit by the documents that it has analysed, every visit counted.

    Attributes:
        batch: documents of a batch; 0 for batch variational Bayes.
        points: by documents, ascending.
    """

    batch: int
    points: dict[int, Point]


def traces(inputs: Inputs, quantity: str, seed: int | None = None) -> list[Trace]:
    """Return the traces of Figure 27.9 of one seed, batch first; of the first without one."""
    table = select(inputs.measurements, quantity=quantity, axis=online.ANALYSED)
    of_seed = table[table["seed"] == (table["seed"].min() if seed is None else seed)].groupby("variant")
    ends = {str(variant).rpartition("-")[2]: along(rows) for variant, rows in of_seed}
    found = (Trace(int(end) if end.isdigit() else 0, points) for end, points in ends.items())
    return sorted(found, key=lambda trace: trace.batch)


def runs(inputs: Inputs, quantity: str) -> dict[int, list[Trace]]:
    """Return the traces of Figure 27.9 by seed."""
    seeds = select(inputs.measurements, quantity=quantity, axis=online.ANALYSED)["seed"]
    return {seed: traces(inputs, quantity, seed) for seed in sorted({int(each) for each in seeds})}


def by_topics(inputs: Inputs, quantity: str, seed: int) -> dict[int, Point]:
    """Return a quantity of the experiment "evidence" by K."""
    return along(select(inputs.measurements, variant=EVIDENCE, quantity=quantity, seed=seed))


APPROACHES: Mapping[str, str] = {
    evidence.FORWARDS: "evidence",
    evidence.BOUND: "variational bound",
    evidence.HELD_OUT: "held-out documents",
}


def chosen_topics(inputs: Inputs, quantity: str) -> dict[int, int]:
    """Return the K at which a quantity is highest, by seed."""
    best, rows = {}, select(inputs.measurements, variant=EVIDENCE, quantity=quantity)
    for seed in sorted({int(seed) for seed in rows["seed"]}):
        points = by_topics(inputs, quantity, seed)
        best[seed] = max(points, key=lambda K: points[K].value)
    return best


def bank(inputs: Inputs, quantity: str) -> list[float]:
    """Return a quantity of the experiment "bank-and-river" in the order of its axis, of the first seed."""
    rows = select(inputs.measurements, variant=BANK, quantity=quantity)
    return [float(value) for value in rows[rows["seed"] == rows["seed"].min()].sort_values("at")["value"]]


BANK_WORDS = bank_and_river.WORDS


class Sense(NamedTuple):
    """A meaning of the chosen word.

    Attributes:
        topic: the topic's number.
        words: its most probable words, with their probabilities.
        tokens: the document's words, each with its topic.
    """

    topic: int
    words: list[tuple[str, float]]
    tokens: list[tuple[str, int]]


def senses(inputs: Inputs) -> tuple[str, list[Sense]]:
    """Return the word of Figures 27.4 and 27.5 with its meanings; none where the experiment was not run."""
    if inputs.notes is None:
        return "", []
    values, texts = (select(table, variant=POLYSEMY).sort_values("at") for table in (inputs.measurements, inputs.notes))

    def words(quantity: str) -> list[tuple[str, float]]:
        both = (select(texts, quantity=quantity)["text"], select(values, quantity=quantity)["value"])
        return list(zip(*both, strict=True))

    numbers = along(select(values, quantity=polysemy.NUMBER))
    meanings = [
        Sense(
            int(number.value),
            words(f"{polysemy.TOPIC}-{n}"),
            [(word, int(topic)) for word, topic in words(f"{polysemy.DOCUMENT}-{n}")],
        )
        for n, number in numbers.items()
    ]
    return "".join(select(texts, quantity=polysemy.APART)["text"]), meanings
