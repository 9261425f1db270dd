"""Results and contrasts of models of tokens and records (Murphy, 2012, sections 27.2 and 27.3).

All scores are in nats per token. The chapter's "overfitting" is taken as a lower likelihood of held-out documents
under the same prior.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from artifact.contrasts.contrast import ANY, Contrast, Side
from artifact.contrasts.effect import NATS
from artifact.contrasts.estimates import per_token
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point, mean_points, select
from gallery.comparison import at_most, contrast, measured, opposed, scored, together
from gallery.member import LIKELIHOOD, USUAL, Member
from gallery.tokens.experiments import evidence, online, perplexity, polysemy, restarts
from gallery.tokens.experiments.online import ANALYSED
from gallery.tokens.members import MEMBERS
from gallery.tokens.members.categorical_pca import DegenerateEM, ExactEM, JaakkolaJordanEM, VariationalEM
from gallery.tokens.members.gap import NMF_UNDER_GAP, GaP
from gallery.tokens.members.lda import BatchVB, CollapsedGibbs, Gibbs
from gallery.tokens.members.plsi import PLSI
from gallery.tokens.members.rows import ESTIMATED, ONE_TOKEN
from gallery.tokens.members.rows import EXACT as EXACT_ONE
from gallery.undirected.spec import SOFTMAX
from heldout import models
from heldout.evaluators import COMPLETION, EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


GALLERY, RECORDS, PERPLEXITY = "gallery", "records", "perplexity"
POLYSEMY, BANK, EVIDENCE, RESTARTS = "polysemy", "bank-and-river", "evidence", "restarts"
SAMPLERS, HALVES = "samplers", "completion"
OPENING = (GALLERY, RECORDS)  # experiments of the opening table

BY_NAME = {member.name: member for member in MEMBERS}


OFF_ONE = 5e-4  # least distance of a sum from 1 that its three decimals show


class Row(NamedTuple):
    """A row of the opening table, a mean over seeds; numbers are nats per token, None where there is no likelihood.

    Attributes:
        corpus, topics: as in `artifact.results.scores.Score`.
        member: the model.
        value: its usual score.
        likelihood, error: the likelihood and its Monte Carlo standard error; 0 where it is exact.
        gap: value less likelihood.
        one_token: the sum of the usual score's exponential over one token (`gallery.tokens.members.rows`).
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
        return abs(self.one_token - 1.0) >= OFF_ONE


def opening_rows(inputs: Inputs) -> list[Row]:
    """Return the rows of the opening table, in the order of corpus, member and K."""
    rows, sums = (
        [],
        select(inputs.measurements, quantity=ONE_TOKEN)
        .groupby(["corpus", "model", "topics"])["value"]
        .mean()
        .to_dict(),
    )
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


def _opening(scores: "pd.DataFrame") -> "pd.DataFrame":
    return scores[scores["variant"].isin(OPENING)]


class Curve(NamedTuple):
    """A curve of Figure 27.6.

    Attributes:
        model: the model's name.
        evaluators: names of its evaluators, the preferred one first.
        experiment: the experiment that the scores are from.
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


def curve(inputs: Inputs, corpus: str, scores: Curve, seed: int | None = None) -> dict[int, Point]:
    """Return the points of a curve of Figure 27.6 by K, means over seeds or the points of one seed."""
    table = select(inputs.scores, corpus=corpus, variant=scores.experiment, model=scores.model)
    return mean_points(table if seed is None else select(table, seed=seed), scores.evaluators)


def seeds(inputs: Inputs, experiment: str) -> list[int]:
    """Return the seeds of an experiment's scores."""
    return sorted({int(seed) for seed in select(inputs.scores, variant=experiment)["seed"]})


def corpora(inputs: Inputs, experiment: str) -> list[str]:
    """Return the corpora of an experiment, in the study's order."""
    return list(inputs.settings.experiment(experiment).get("corpora", ()))


def per_document(inputs: Inputs, corpus: str, scores: Curve) -> dict[int, float]:
    """Return perplexities by K, geometric means over seeds, by equation 27.29, which gives documents equal weights."""
    table = select(inputs.measurements, corpus=corpus, variant=scores.experiment, model=scores.model)
    by_topics: dict[int, float] = {}
    for evaluator in reversed(scores.evaluators):
        rows = select(table, quantity=f"{perplexity.PER_DOCUMENT}-{evaluator}")
        for K, values in rows.groupby("topics")["value"]:
            by_topics[int(str(K))] = math.exp(-fmean(values))
    return dict(sorted(by_topics.items()))


def curve_points(inputs: Inputs, scores: Curve) -> "pd.DataFrame":
    """Return the points of one curve, nats per token; "value" and "error" beside the scores'."""
    table = select(inputs.scores, variant=scores.experiment, model=scores.model, evaluator=scores.evaluators)
    rank = table["evaluator"].map(list(scores.evaluators).index) if len(table) else table["topics"]
    preferred = table.assign(rank=rank).sort_values("rank").drop_duplicates(["corpus", "topics", "seed"])
    return per_token(preferred).sort_values(["corpus", "topics", "seed"])


class Annealed(NamedTuple):
    """A likelihood by annealing with its error where there is an exact one, nats per token."""

    value: float
    error: float
    exact: float


def annealed_and_exact(inputs: Inputs) -> list[Annealed]:
    """Return the estimated likelihoods of the opening table's models that have an exact value."""
    import pandas as pd

    keys = ["corpus", "model", "topics", "seed"]
    exact_rows, estimated_rows = (
        pd.concat([select(inputs.measurements, variant=variant, quantity=quantity) for variant in OPENING])
        for quantity in (EXACT_ONE, ESTIMATED)
    )
    exact, rows = exact_rows.set_index(keys)["value"].to_dict(), estimated_rows.to_dict("records")
    return [
        Annealed(r["value"], r["standard_error"], exact[r["corpus"], r["model"], r["topics"], r["seed"]]) for r in rows
    ]


def points_by_place(rows: "pd.DataFrame") -> dict[int, Point]:
    """Return measurements by their places on one axis, ascending, nats per token."""
    ordered = rows.sort_values("at").to_dict("records")
    return {int(r["at"]): Point(int(r["topics"]), r["value"], r["standard_error"], 0) for r in ordered}


def sampled(inputs: Inputs, model: str, quantity: str) -> dict[tuple[str, int], dict[int, Point]]:
    """Return a quantity of the experiment "samplers" by (corpus, seed) and sweep."""
    rows = select(inputs.measurements, variant=SAMPLERS, model=model, quantity=quantity)
    return {
        (str(corpus), int(str(seed))): points_by_place(run) for (corpus, seed), run in rows.groupby(["corpus", "seed"])
    }


class Trace(NamedTuple):
    """A score of one fit by the documents that it has analysed, every visit counted.

    Attributes:
        batch: documents of a batch; 0 for batch variational Bayes.
        points: by documents, ascending.
    """

    batch: int
    points: dict[int, Point]


def traces(inputs: Inputs, quantity: str, seed: int | None = None) -> list[Trace]:
    """Return the traces of Figure 27.9 of one seed, or of the first one, batch variational Bayes before online."""
    table = select(inputs.measurements, quantity=quantity, axis=online.ANALYSED)
    groups = table[table["seed"] == (table["seed"].min() if seed is None else seed)].groupby("variant")
    ends = {str(variant).rpartition("-")[2]: points_by_place(rows) for variant, rows in groups}
    unsorted = (Trace(int(end) if end.isdigit() else 0, points) for end, points in ends.items())
    return sorted(unsorted, key=lambda trace: trace.batch)


def runs(inputs: Inputs, quantity: str) -> dict[int, list[Trace]]:
    """Return the traces of Figure 27.9 by seed."""
    seeds = select(inputs.measurements, quantity=quantity, axis=online.ANALYSED)["seed"]
    return {seed: traces(inputs, quantity, seed) for seed in sorted({int(each) for each in seeds})}


def by_topics(inputs: Inputs, quantity: str, seed: int) -> dict[int, Point]:
    """Return a quantity of the experiment "evidence" by K."""
    return points_by_place(select(inputs.measurements, variant=EVIDENCE, quantity=quantity, seed=seed))


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


def bank(inputs: Inputs, name: str) -> Floats:
    """Return an array of the experiment "bank-and-river", of the first seed; empty where it was not run."""
    return inputs.arrays.first(variant=BANK, name=name)


def ends_of_em(inputs: Inputs) -> list[tuple[Floats, Floats]]:
    """Return training and held-out likelihoods, (starts,) nats per point, less the best start's, by seed."""
    pairs = []
    for place in inputs.arrays.select(variant=RESTARTS, name=restarts.TRAINING):
        training, held_out = inputs.arrays[place], inputs.arrays[replace(place, name=restarts.HELD_OUT)]
        best = training.argmax()
        pairs.append((training - training[best], held_out - held_out[best]))
    return pairs


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
    texts = select(inputs.notes, variant=POLYSEMY).sort_values("at")

    def words(name: str) -> list[tuple[str, float]]:
        values = inputs.arrays.first(variant=POLYSEMY, name=name).tolist()
        return list(zip(select(texts, quantity=name)["text"], values, strict=True))

    numbers = inputs.arrays.first(variant=POLYSEMY, name=polysemy.NUMBER)
    meanings = [
        Sense(
            int(number),
            words(f"{polysemy.TOPIC}-{n}"),
            [(word, int(topic)) for word, topic in words(f"{polysemy.DOCUMENT}-{n}")],
        )
        for n, number in enumerate(numbers, start=1)
    ]
    return "".join(select(texts, quantity=polysemy.DISTINCTNESS)["text"]), meanings


BATCHES = "batches of "
EIGHTHS = 8.0  # parts of the sweeps


def _curve(name: str, scores: Curve) -> Side:
    """Return a curve of Figure 27.6, nats per token, by K."""
    return Side(name, partial(curve_points, scores=scores))


def _plsi(end: str, score: str, says: str, lda: Side) -> Contrast:
    """Return the contrast of LDA with pLSI by one score, by how pLSI was trained and K."""
    sides = {training: _curve("", Curve(model, (PLSI_SCORES[score],))) for training, model in PLSI_MODELS.items()}
    return contrast(
        f"lda-plsi-{end}",
        "section 27.3.3, Figure 27.6",
        says,
        *opposed("training", lda, f"pLSI's {score}", sides),
        by=("training", "topics"),
    )


def _sweeps(name: str, model: str) -> Side:
    """Return the likelihoods of a sampler's states after an eighth of its sweeps and after all, nats per token."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = measured(name, SAMPLERS, LIKELIHOOD, model).rows(inputs)
        parts = {1.0: "after an eighth of the sweeps", EIGHTHS: "after all"}
        return table.assign(after=(EIGHTHS * table["at"] / table["at"].max()).map(parts)).dropna(subset="after")

    return Side(name, rows)


def nmf_under_gap(inputs: Inputs) -> "pd.DataFrame":
    """Return the likelihood of NMF's topics under GaP's prior by K, which is estimated as GaP's own is."""
    keys = ["corpus", "topics", "seed"]
    values: pd.DataFrame = select(inputs.measurements, quantity=NMF_UNDER_GAP)[[*keys, "value"]]
    return values.merge(_GAP.rows(inputs)[[*keys, "error"]], on=keys)


def by_batch(inputs: Inputs, *, online: bool) -> "pd.DataFrame":
    """Return likelihoods of online variational inference by its batches, or of batch, after one pass and at the end."""
    rows = select(inputs.measurements, quantity=LIKELIHOOD, axis=ANALYSED)
    rows = rows.assign(error=rows["standard_error"], batch=BATCHES + rows["variant"].str.removeprefix("online-"))
    offline, last = rows["model"] == BatchVB.name, rows["at"] == rows.groupby(["batch", "seed"])["at"].transform("max")
    rows["after"] = last.map({True: "at the end", False: "after one pass"})
    kept = last | (rows["at"] == rows["at"][offline].min())
    own: pd.DataFrame = rows[kept & offline].drop(columns="batch")
    others: pd.DataFrame = rows[kept & ~offline]
    return others if online else own.merge(others[["batch"]].drop_duplicates(), how="cross")


def by_approach(inputs: Inputs, *, true: bool) -> "pd.DataFrame":
    """Return scores of the number of topics that documents were drawn with, or of one fewer and one more.

    Annealing forwards is low by up to its distance from backwards, half of which counts as an error.
    """
    import pandas as pd

    topics = inputs.settings.experiment(EVIDENCE).get("settings", {}).get("true_topics", 0)
    table = select(inputs.measurements, variant=EVIDENCE, quantity=(*APPROACHES, evidence.BACKWARDS))
    values = select(table, topics=topics).pivot_table("value", "seed", "quantity")
    rows = table.assign(error=table["standard_error"], approach=table["quantity"].map(APPROACHES))
    rows = rows[rows["quantity"] != evidence.BACKWARDS]
    if len(values):
        low = (values[evidence.BACKWARDS] - values[evidence.FORWARDS]).clip(lower=0.0) / 2.0
        forwards = rows["quantity"] == evidence.FORWARDS
        rows = rows.assign(error=rows["error"] + rows["seed"].map(low).where(forwards, 0.0))
    steps = {"than one fewer": -1, "than one more": 1}
    tables: list[pd.DataFrame] = [
        rows[rows["topics"] == topics + (0 if true else step)].assign(rival=key) for key, step in steps.items()
    ]
    return pd.concat(tables, ignore_index=True)


_GAP = scored("GaP's likelihood", OPENING, GaP.name)
_LDA = _curve("LDA's likelihood", LDA)
_DEGENERATE = scored("that by degenerate EM with the same penalty", OPENING, DegenerateEM.name)
_TIGHTEST = scored(
    "the likelihood of categorical PCA by variational EM with the tightest bound", RECORDS, JaakkolaJordanEM.name
)
TOKENS = (
    contrast(
        "tightest-bound",
        "section 27.2.2",
        "Of two values, Jaakkola and Jordan's bound is nowhere below Boehning's.",
        _TIGHTEST,
        scored("that with Boehning's bound", RECORDS, VariationalEM.name),
    ),
    contrast(
        "variational-em",
        "section 27.2.2",
        "Degenerate EM is very prone to overfitting; variational EM takes its place.",
        _TIGHTEST,
        _DEGENERATE,
    ),
    contrast(
        "exact-em",
        "section 27.2.2",
        "A point estimate of z in the E step overfits; EM does not.",
        scored("the likelihood of categorical PCA by EM, its E step exact", OPENING, ExactEM.name),
        _DEGENERATE,
    ),
    contrast(
        "collapsed",
        "section 27.3.4",
        "Gibbs sampling performs better with weights and topics integrated out.",
        _sweeps("LDA's likelihood by collapsed Gibbs sampling", CollapsedGibbs.name),
        _sweeps("the same uncollapsed, after as many sweeps", Gibbs.name),
        by=("after",),
    ),
    contrast(
        "gap-nmf",
        "section 27.2.4",
        "NMF suffers from overfitting, which GaP overcomes.",
        _GAP,
        Side("that of NMF's topics under GaP's prior", nmf_under_gap),
    ),
    contrast(
        "lda-unigram",
        "sections 27.3.3 and 27.7.3.1, Figures 27.6 and 27.32",
        "LDA significantly outperforms the unigram.",
        together(
            "LDA's likelihood with the most topics",
            "figure",
            {"Figure 27.6": at_most(_LDA), "Figure 27.32": at_most(scored("", SOFTMAX, models.LDA))},
        ),
        together(
            "the unigram's",
            "figure",
            {"Figure 27.6": at_most(_curve("", UNIGRAM)), "Figure 27.32": at_most(scored("", SOFTMAX, UNIGRAM.model))},
        ),
        by=("figure",),
    ),
    contrast(
        "lda-mixture",
        "section 27.3.3, Figure 27.6",
        "LDA significantly outperforms the mixture of multinomials.",
        _LDA,
        _curve("the mixture's", MIXTURE),
    ),
    _plsi("full", "full folding-in", "LDA's perplexity is below that of pLSI folded in on the whole document.", _LDA),
    _plsi(
        "half",
        "half folding-in",
        "LDA's perplexity is below that of pLSI, both folded in on one half and scored on the other.",
        _curve("LDA's half folding-in", LDA_HALF),
    ),
    _plsi("mixture", "training mixture", "LDA's perplexity is below that of pLSI as a mixture over documents.", _LDA),
    contrast(
        "online",
        "section 27.3.7, Figure 27.9",
        "Online variational inference is much faster than offline inference, with similar results.",
        Side("online variational Bayes' likelihood after as many documents analysed", partial(by_batch, online=True)),
        Side("batch's", partial(by_batch, online=False)),
        by=("batch", "after"),
    ),
    contrast(
        "true-topics",
        "section 27.3.8",
        "The number of topics is found by the evidence, its bound or held-out documents.",
        Side("the score of the number of topics that documents were drawn with", partial(by_approach, true=True)),
        Side("that of one fewer, or one more", partial(by_approach, true=False)),
        by=("approach", "rival"),
        margin=ANY,
        unit=NATS,
    ),
)
