"""Figures, tables and numbers of the models whose documents have priors of their own."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds, style
from artifact.typesetting.macros import Macros
from artifact.typesetting.over_seeds import scored
from gallery.gaps import gaps, largest_distance
from gallery.priors import science as results
from gallery.priors.experiments import correlation as correlation_run
from gallery.priors.experiments import covariates as covariates_run
from gallery.priors.experiments import tags as tags_run
from gallery.priors.science import LABELS, rows
from gallery.priors.spec import CORRELATION, COVARIATES, TAGS
from gallery.table_rows import Row
from heldout.evaluators import EXACT
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


HEIGHT = 4.6
STEPS = 400  # number of steps of the layout
WORDS = 3  # number of words of a topic that are shown
SHOWN = 22  # number of edges that are drawn, the strongest
LABEL = np.array([0.16, 0.13])  # width and height of a label, as shares of the panel's


def layout(topics: int, edges: dict[tuple[int, int], float]) -> Floats:
    """Return places, (topics, 2), by forces: all repel, edges attract (Fruchterman and Reingold 1991).

    They lie in the unit square, and labels of the size `LABEL` do not overlap if there is room.
    """
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(topics)  # a sunflower to start with
    places = np.sqrt((np.arange(topics) + 0.5) / topics)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    ends, distance = np.array(sorted(edges), dtype=int).reshape(-1, 2), 1.6 / np.sqrt(topics)
    for step in range(STEPS):
        offsets = places[:, None] - places[None]
        squared = (offsets**2).sum(axis=-1) + 1e-9
        force = (offsets * (distance**2 / squared)[:, :, None]).sum(axis=1) - 0.3 * places
        vectors = places[ends[:, 0]] - places[ends[:, 1]]
        pull = vectors * np.linalg.norm(vectors, axis=1, keepdims=True) / distance
        np.subtract.at(force, ends[:, 0], pull)
        np.add.at(force, ends[:, 1], pull)
        size = np.linalg.norm(force, axis=1, keepdims=True) + 1e-12
        places = places + force / size * np.minimum(size, 0.1 * (1.0 - step / STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - low) / np.maximum(high - low, 1e-9)
    for _ in range(STEPS):  # labels that overlap separate, the shorter way
        offsets = places[:, None] - places[None]
        overlap = np.maximum(LABEL - np.abs(offsets), 0.0) * ~np.eye(topics, dtype=bool)[:, :, None]
        overlap *= (overlap > 0.0).all(axis=-1, keepdims=True)
        shorter = overlap / LABEL == (overlap / LABEL).min(axis=-1, keepdims=True)
        signs = np.where(
            offsets == 0.0,
            np.sign(np.subtract.outer(np.arange(topics), np.arange(topics)))[:, :, None],
            np.sign(offsets),
        )
        places = np.clip(places + 0.25 * (overlap * shorter * signs).sum(axis=1), 0.0, 1.0)
    result: Floats = places
    return result


def figure_27_10(inputs: Inputs) -> Figure:
    """Draw topics with an edge as their first words, larger the more prevalent, and edges of positive correlation."""
    graph = results.graph(inputs)
    positive = {pair: value for pair, value in graph.edges.items() if value > 0.0}
    positive = dict(sorted(positive.items(), key=lambda item: -item[1])[:SHOWN])
    figure, ((axis,),) = style.grid(1, 1, HEIGHT)
    axis.set_axis_off()
    axis.set(xlim=(-0.08, 1.08), ylim=(-0.05, 1.05))
    if not positive:
        return figure
    joined = sorted({k for pair in positive for k in pair})
    number = {k: i for i, k in enumerate(joined)}
    places = layout(len(joined), {(number[j], number[k]): value for (j, k), value in positive.items()})
    strongest = max(positive.values())
    for (j, k), value in positive.items():
        (x0, y0), (x1, y1) = places[number[j]], places[number[k]]
        axis.plot([x0, x1], [y0, y1], color=style.GUIDE, linewidth=0.4 + 2.2 * value / strongest, zorder=1)
    largest = max(graph.prevalence.values())
    for k in joined:
        x, y = places[number[k]]
        words = "\n".join(graph.words[k][:WORDS])
        size = 4.5 + 3.5 * np.sqrt(graph.prevalence[k] / largest)
        box = {"boxstyle": "round,pad=0.15", "facecolor": style.WHITE, "edgecolor": "none", "alpha": 0.85}
        axis.text(x, y, words, fontsize=size, ha="center", va="center", color=style.INK, bbox=box, zorder=2)
    return figure


def _scores(row: Row) -> list[str]:
    gap = latex.DASH if row.gap is None else latex.signed(row.gap, 3)
    return [latex.integer(row.topics), scored(row.usual), scored(row.likelihood), gap]


def _body(shown: Sequence[Row], cells: Callable[[Row], list[str]]) -> Iterator[latex.TableRow]:
    """Yield the rows, with a model's name in its first row alone, and space between corpora."""
    previous, corpus = "", ""
    for row in shown:
        if corpus and row.corpus != corpus:
            yield latex.ADDLINESPACE
            previous = ""
        name, corpus = LABELS[row.model], row.corpus
        yield [name if name != previous else "", *cells(row)]
        previous = name


def correlation(inputs: Inputs) -> str:
    """Return the table of LDA and the correlated topic model by K."""
    head = r"model & $K$ & bound & likelihood & gap\\"
    return latex.tabular(inputs, "@{}lrrlr@{}", head, _body(rows(inputs, CORRELATION), _scores))


def covariates(inputs: Inputs) -> str:
    """Return the table of DMR, labelled and partially labelled LDA on each corpus."""

    def cells(row: Row) -> list[str]:
        topics = latex.decimal(row.measured[covariates_run.TOPICS_OF_ONE], 1)
        exact = latex.percent(row.measured[covariates_run.EXACT_SHARE], 0)
        return [latex.corpus_name(row.corpus), *_scores(row), topics, exact]

    head = r"model & data & $K$ & folded in & likelihood & gap & topics each & exact\\"
    return latex.tabular(inputs, "@{}llrrlrrr@{}", head, _body(rows(inputs, COVARIATES), cells))


def tags(inputs: Inputs) -> str:
    """Return the table of models of tags given words."""

    def cells(row: Row) -> list[str]:
        information = row.measured.get(tags_run.INFORMATION)
        shown = latex.DASH if information is None else latex.decimal(abs(information), 4)
        return [*_scores(row)[:3], shown]

    head = r"model & $K$ & bound & likelihood & one tag of another\\"
    return latex.tabular(inputs, "@{}lrrlr@{}", head, _body(rows(inputs, TAGS), cells))


_GAPS = {
    "Dmr": (COVARIATES, covariates_run.REGRESSION),
    "LabelledLda": (COVARIATES, covariates_run.LABELLED),
    "PartiallyLabelledLda": (COVARIATES, covariates_run.PARTIALLY),
}


def prior_macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found = {}
    for name, (experiment, model) in _GAPS.items():
        model_rows = [row for row in results.rows(inputs, experiment) if row.model == model and row.gap is not None]
        last = [row for row in model_rows if row.corpus == model_rows[-1].corpus]
        largest = max(last, key=lambda row: row.topics, default=None)
        scores = inputs.scores if largest is None else _scores_of(inputs, experiment, largest)
        found[f"PriorsGap{name}"] = NOT_RUN if largest is None else over_seeds.signed(gaps(scores), 3)
    distance = largest_distance(inputs, CORRELATION, EXACT, correlation_run.ESTIMATED)
    found["CorrelationApart"] = NOT_RUN if distance is None else latex.decimal(distance, 4)
    return found


def _scores_of(inputs: Inputs, experiment: str, row: Row) -> "pd.DataFrame":
    return select(inputs.scores, variant=experiment, corpus=row.corpus, model=row.model, topics=row.topics)
