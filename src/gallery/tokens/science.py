"""Results and claims about models of tokens and records (Murphy, 2012, sections 27.2 and 27.3).

All scores are in nats per token. The chapter's "overfitting" is judged as a lower likelihood of held-out documents
under the same prior.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from artifact.verdicts.claims import Claim, Measure
from artifact.verdicts.effects import effects, largest_differences, less, per_token
from artifact.verdicts.verdicts import ANY, MODELS, NATS, SIMILAR, Effect

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point, mean_points, select
from gallery.member import LIKELIHOOD, USUAL, Member
from gallery.tokens.experiments import bank_and_river, evidence, online, perplexity, polysemy
from gallery.tokens.experiments.online import ANALYSED
from gallery.tokens.members import MEMBERS
from gallery.tokens.members.categorical_pca import DegenerateEM, ExactEM
from gallery.tokens.members.gap import GAP_LESS_MPCA, NMF_UNDER_GAP, GaP
from gallery.tokens.members.lda import CollapsedGibbs, Gibbs
from gallery.tokens.members.mixtures import POISSON_LESS_PARTS
from gallery.tokens.members.plsi import PLSI
from gallery.tokens.members.rows import ESTIMATED, ONE_TOKEN
from gallery.tokens.members.rows import EXACT as EXACT_ONE
from heldout import models
from heldout.evaluators import COMPLETION, EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


GALLERY, RECORDS, PERPLEXITY = "gallery", "records", "perplexity"
POLYSEMY, BANK, EVIDENCE = "polysemy", "bank-and-river", "evidence"
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


def measured(inputs: Inputs, quantity: str) -> "pd.DataFrame":
    """Return measurements of a quantity: "corpus", "model", "topics", "seed" and "value"."""
    return select(inputs.measurements, quantity=quantity)[["corpus", "model", "topics", "seed", "value"]]


def likelihoods(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the likelihoods of a model of the opening table with "value" and "error", nats per token."""
    return per_token(select(_opening(inputs.scores), model=model, evaluator=LIKELIHOOD))


def curve_points(inputs: Inputs, names: Sequence[str], scores: Curve) -> "pd.DataFrame":
    """Return the points of one curve on some corpora, nats per token, in the columns of `likelihoods`."""
    table = select(inputs.scores, variant=scores.experiment, model=scores.model)
    table = table[table["corpus"].isin(list(names)) & table["evaluator"].isin(scores.evaluators)]
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


SAME = 1e-6  # nats; two ways to the same likelihood differ by less
KEYS = ["corpus", "topics", "seed"]


def _by_split(inputs: Inputs, gains: "pd.DataFrame", part: str = "") -> list[Effect]:
    return effects(gains, margin=MODELS, held_out=inputs.held_out, part=part)


def identity(inputs: Inputs, _: Sequence[str], *, quantity: str) -> list[Effect]:
    """Compare two forms of one likelihood; the effect is their largest difference."""
    return largest_differences(measured(inputs, quantity), SAME)


def degenerate_overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure categorical PCA fitted by EM with an exact E step against degenerate EM."""
    em, degenerate = (likelihoods(inputs, member.name) for member in (ExactEM, DegenerateEM))
    return _by_split(inputs, less(em, degenerate))


def collapsed_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the lead of a collapsed chain over an uncollapsed one after as many sweeps from the same start."""
    keys = ["corpus", "seed", "at"]
    rows = select(inputs.measurements, variant=SAMPLERS, quantity=LIKELIHOOD)
    own, other = (
        select(rows, model=member.name)[[*keys, "value", "standard_error"]].rename(columns={"standard_error": "error"})
        for member in (CollapsedGibbs, Gibbs)
    )
    return _by_split(inputs, less(own, other, keys))


def nmf_overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the topics of GaP against NMF's under GaP's prior; both likelihoods are estimated in one way."""
    gap = likelihoods(inputs, GaP.name)
    nmf = measured(inputs, NMF_UNDER_GAP)[[*KEYS, "value"]].merge(gap[[*KEYS, "error"]], on=KEYS)
    return _by_split(inputs, less(gap, nmf))


def lda_above(inputs: Inputs, _: Sequence[str], *, others: Sequence[tuple[str, Curve]], ours: Curve) -> list[Effect]:
    """Measure a score of LDA against other scores at the same K and seed; a model without K has one score for all.

    A part may name the inverse temperature of tempered EM, {beta}.
    """
    names = corpora(inputs, PERPLEXITY)
    lda = curve_points(inputs, names, ours)
    beta = inputs.settings.experiment(PERPLEXITY).get("settings", {}).get("beta")
    found = []
    for part, other in others:
        points = curve_points(inputs, names, other)
        if len(points) and points["topics"].nunique() == 1 != lda["topics"].nunique():
            points = lda[KEYS].merge(points.drop(columns="topics"), on=["corpus", "seed"])
        found += _by_split(inputs, less(lda, points), part.format(beta=beta))
    return found


def _lda_above(*others: tuple[str, Curve], ours: Curve = LDA) -> Measure:
    return partial(lda_above, others=others, ours=ours)


def _plsi(end: str, score: str, statement: str, *ours: tuple[str, Curve]) -> Iterator[Claim]:
    """Yield the claims that LDA is below pLSI by one score, trained by EM and by tempered EM."""
    for training, model in PLSI_MODELS.items():
        tempered = training != "EM"
        test = "LDA's log-likelihood less pLSI's score, mean over K"
        yield Claim(
            f"plsi-worse-by-{end}" + ("-tempered" if tempered else ""),
            "section 27.3.3, Figure 27.6",
            f"{statement} ({training})",
            test
            + ("; at one inverse temperature, beta, fixed beforehand and not by held-out tokens" if tempered else ""),
            _lda_above(
                ("beta {beta}" if tempered else "", Curve(model, (PLSI_SCORES[score],))),
                ours=ours[0][1] if ours else LDA,
            ),
        )


def online_faster(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the lead of online over batch after as many documents, wherever both were scored before batch's end."""
    return _online(inputs, margin=MODELS, ends=False)


def online_similar(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the distance of the last likelihoods of online and batch."""
    return _online(inputs, margin=SIMILAR, ends=True, test="similar")


def _online(inputs: Inputs, *, ends: bool, **options: Any) -> list[Effect]:
    """Return the lead of online, by its batches, over batch at the ends of both, or at places before batch's end."""
    import pandas as pd

    rows, names = [], select(inputs.measurements, axis=ANALYSED)["corpus"]
    for seed, (batch, *others) in runs(inputs, LIKELIHOOD).items():
        *earlier, last = batch.points.items()
        for trace in others:
            pairs = [(place, trace.points[place], point) for place, point in earlier if place in trace.points]
            for place, own, other in [(last[0], list(trace.points.values())[-1], last[1])] if ends else pairs:
                gain, error = own.value - other.value, math.hypot(own.error, other.error)
                rows.append((names.iloc[0], trace.batch, seed, place, gain, error))
    table = pd.DataFrame(rows, columns=["corpus", "batch", "seed", "at", "gain", "error"])
    return [
        effect
        for batch, gains in table.groupby("batch")
        for effect in effects(
            gains.drop(columns="batch"), part=f"batches of {batch}", held_out=inputs.held_out, **options
        )
    ]


def finds_topics(inputs: Inputs, _: Sequence[str], *, quantity: str) -> list[Effect]:
    """Measure the lead of the K that documents were drawn with over the best other one."""
    true = inputs.settings.experiment(EVIDENCE).get("settings", {}).get("true_topics")
    rows = select(inputs.measurements, variant=EVIDENCE, quantity=quantity)
    rows = rows[["seed", "at", "value", "standard_error"]].rename(columns={"standard_error": "error"})
    own, others = rows[rows["at"] == true], rows[rows["at"] != true]
    if quantity == evidence.FORWARDS and len(own):  # a lower bound: half of its distance from an upper one is error
        upper = measured(inputs, evidence.BACKWARDS).set_index("seed")["value"]
        own = own.assign(error=own["error"] + (own["seed"].map(upper) - own["value"]).clip(lower=0.0).fillna(0.0) / 2.0)
    best = others.loc[others.groupby("seed")["value"].idxmax()] if len(others) else others
    return effects(less(own, best, ["seed"]).assign(corpus="none"), margin=ANY, unit=NATS)


TOKENS = (
    Claim(
        "gap-given-length-is-mpca",
        "section 27.2.4",
        "GaP given a document's length is multinomial PCA",
        "the exact likelihood of GaP with equal rates beta against a negative binomial length times that of LDA with"
        " the same b and alpha, on every test document: Poissons given their sum are multinomial",
        partial(identity, quantity=GAP_LESS_MPCA),
    ),
    Claim(
        "poisson-mixture-has-poisson-length",
        "section 27.2.1",
        "A mixture of Poissons (27.5) is one of multinomials (27.4) whose components have Poisson lengths",
        "both likelihoods on every test document: Poissons given their sum are multinomial",
        partial(identity, quantity=POISSON_LESS_PARTS),
    ),
    Claim(
        "degenerate-em-overfits",
        "section 27.2.2",
        "A point estimate of z in the E step overfits; EM does not",
        "categorical PCA with the same penalty: likelihood of held-out data by EM, its E step by quadrature, less that"
        " by degenerate EM, mean over K",
        degenerate_overfits,
    ),
    Claim(
        "collapsed-is-better",
        "section 27.3.4",
        "Gibbs sampling performs better with weights and topics integrated out",
        "chains of LDA from the same topics of the tokens: likelihood of held-out documents, collapsed less"
        " uncollapsed, mean over states after 1, 2, 4, .. sweeps",
        collapsed_better,
    ),
    Claim(
        "nmf-overfits",
        "section 27.2.4",
        "NMF suffers from overfitting, which GaP overcomes",
        "likelihood of held-out documents under GaP's prior, with its own b less with that of NMF, smoothed, mean over"
        " K",
        nmf_overfits,
    ),
    Claim(
        "lda-outperforms-simpler",
        "section 27.3.3, Figure 27.6",
        "LDA significantly outperforms unigram and mixture of multinomials",
        "likelihood of held-out documents, LDA's less the other's, mean over K",
        _lda_above(("than unigram", UNIGRAM), ("than mixture", MIXTURE)),
    ),
    *_plsi("full", "full folding-in", "LDA's perplexity is below that of pLSI folded in on the whole document"),
    *_plsi(
        "half",
        "half folding-in",
        "LDA's perplexity is below that of pLSI where both are folded in on one half and scored on the other",
        ("", LDA_HALF),
    ),
    *_plsi(
        "mixture",
        "training mixture",
        "LDA's perplexity is below that of pLSI as the mixture over its training documents",
    ),
    Claim(
        "online-is-faster",
        "section 27.3.7, Figure 27.9",
        "Online variational inference is much faster than offline inference",
        "likelihood of held-out documents after as many documents analysed, before batch ends, online less batch, mean",
        online_faster,
    ),
    Claim(
        "online-is-similar",
        "section 27.3.7, Figure 27.9",
        "Online variational inference produces results similar to offline inference",
        "last likelihoods of held-out documents, online less batch, within the margin",
        online_similar,
    ),
    *(
        Claim(
            f"{name}-finds-topics",
            "section 27.3.8",
            f"The number of topics is found by {words}",
            f"on documents drawn from LDA: {words} at the number of topics that they have, less the best of the others",
            partial(finds_topics, quantity=quantity),
        )
        for name, quantity, words in (
            ("evidence", evidence.FORWARDS, "the evidence by annealing"),
            ("bound", evidence.BOUND, "the variational bound"),
            ("held-out", evidence.HELD_OUT, "the likelihood of held-out documents"),
        )
    ),
)
