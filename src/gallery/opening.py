"""The marks of the opening figure: by how much usual scores of all models are off their likelihoods.

Every experiment says in `FAMILIES` of which models something else than the likelihood is usually reported, and how the
figure names those that it shows. A model has a row on every corpus where both scores were computed, with the fewest and
the most components: documents, and LDA's extensions, by the token; records by the response; labels, links, tags,
classes and ratings by the answer; a graph's blocks by the pair of nodes. The dynamic topic model has its topics plugged
in.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import mean_points, select
from gallery.documents import MURPHY, WITH_GAPS
from gallery.graphs.science import block_rows
from gallery.graphs.spec import PARTITIONS
from gallery.member import ANSWERS, LIKELIHOOD, PANELS, PARTITION, RESPONSES, TOKENS_OF_DOCUMENTS, USUAL, Family
from heldout.evaluators import FULL

NEITHER = "neither"  # kind of a score that may lie on either side
FOLDED_WORDS = ("disclda",)  # experiments whose folding in is of words, and their score of the class
SHOWN = 5e-4  # nats that three decimals tell from 0


class Gap(NamedTuple):
    """Gap of a usual score of a model to the likelihood, a mark of the opening figure.

    Attributes:
        panel: the scored data and their unit.
        kind: the kind of the usual score, as in `gallery.member.Usual`.
        model: its label.
        corpus: its data; empty where all of the panel are of the same.
        most: whether it has the most components of its row, not the fewest.
        gap: the score less the likelihood, nats per unit of the panel.
        estimated: whether the likelihood is an estimate, not exact.
        alone: whether only one of several splits has this number of components.
        collapsed: whether neither the gap nor the likelihood depends on the number of components: weights are zero.
    """

    panel: str
    kind: str
    model: str
    corpus: str
    most: bool
    gap: float
    estimated: bool
    alone: bool = False
    collapsed: bool = False


def families() -> Mapping[str, tuple[Family, ...]]:
    """Return the families of models of every experiment of the gallery, by its name."""
    modules = {name: import_module(MURPHY.experiment_module(name)) for name in MURPHY.experiments}
    return {name: getattr(module, "FAMILIES", ()) for name, module in modules.items()}


def all_gaps(inputs: Inputs) -> list[Gap]:
    """Return the marks, panel by panel."""
    every = families()
    marks = [
        mark
        for experiment in WITH_GAPS
        for family in every[experiment]
        for model, label in family.shown.items()
        for mark in _gaps(inputs, experiment, family, model, label)
    ]
    return sorted([*marks, *_gaps_of_blocks(inputs)], key=_order)


def _order(mark: Gap) -> tuple[int, str]:
    """Return a mark's place: panels in their order, members of the opening table by corpus."""
    return PANELS.index(mark.panel), mark.corpus if mark.panel in (TOKENS_OF_DOCUMENTS, RESPONSES) else ""


def _gaps(inputs: Inputs, experiment: str, family: Family, model: str, label: str) -> list[Gap]:
    """Return a model's gaps with the fewest and the most components, on every corpus of its experiment."""
    gaps = []
    kind = NEITHER if experiment in FOLDED_WORDS or family.usual is None else family.usual.kind
    corpora = list(dict.fromkeys(select(inputs.scores, variant=experiment)["corpus"]))
    scores = select(inputs.scores, variant=experiment, model=model)
    for corpus in dict.fromkeys(scores["corpus"]):
        rows = select(scores, corpus=corpus)
        usual, likelihood = mean_points(rows, [USUAL, FULL]), mean_points(rows, [LIKELIHOOD])
        both = sorted({*usual} & {*likelihood})
        ends = list(dict.fromkeys([*both[:1], *both[-1:]]))
        splits = rows.groupby("topics")["seed"].nunique()
        moves = [usual[K].value - likelihood[K].value for K in ends]
        moves += [likelihood[K].value - likelihood[ends[0]].value for K in ends]
        collapsed = len(ends) > 1 and max(map(abs, moves)) < SHOWN
        for K in ends:
            gap = usual[K].value - likelihood[K].value
            alone = bool(splits[K] == 1 < rows["seed"].nunique())
            place = str(corpus) if len(corpora) > 1 else ""
            estimated = likelihood[K].error > 0.0
            gaps.append(Gap(family.panel, kind, label, place, both[-1] == K, gap, estimated, alone, collapsed))
    return gaps


def _gaps_of_blocks(inputs: Inputs) -> list[Gap]:
    """Return by how much the best partition's probability is below the likelihood of a graph, per pair of nodes."""
    nodes = len(select(inputs.notes, variant=PARTITIONS, quantity="node")) if inputs.notes is not None else 0
    rows = [
        (row.exact, row.joint)
        for row in block_rows(inputs)
        if row.K > 1 and row.exact is not None and row.joint is not None
    ]
    ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
    pairs = max(1, nodes * (nodes - 1))
    return [
        Gap(
            ANSWERS,
            PARTITION.kind,
            "stochastic blocks: arcs",
            "",
            place == len(ends) - 1,
            (joint - exact) / pairs,
            estimated=False,
        )
        for place, (exact, joint) in enumerate(ends)
    ]
