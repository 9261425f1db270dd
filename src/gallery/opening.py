"""The marks of the opening figure: the opening table's gaps, and those of the models in experiments of their own.

A model has a row where something else than its likelihood is usually reported of it and both were computed: LDA's
extensions by the token of a document, labels, links, tags, classes and ratings by the answer, a graph's blocks by the
pair of nodes. Not here is the dynamic topic model with its topics integrated out where too few chains carry the
annealing: nothing is concluded from it.
"""

from typing import NamedTuple

from artifact.results.reading import mean_points, select
from artifact.verdicts.inputs import Inputs
from gallery.extensions import science as results_extensions
from gallery.extensions.experiments import disclda, dynamics, lda_hmm, rtm, slda
from gallery.graphs import science as results_graphs
from gallery.graphs.spec import PARTITIONS
from gallery.member import LIKELIHOOD, USUAL
from gallery.priors import science as results_priors
from gallery.priors.experiments import correlation, covariates, tags
from gallery.priors.spec import CORRELATION, COVARIATES, TAGS
from gallery.ratings import science as results_ratings
from gallery.ratings.experiments import ratings
from gallery.tokens.science import Gap, opening_gaps
from gallery.undirected.experiments import boltzmann
from gallery.undirected.spec import BOLTZMANN
from heldout.evaluators import FULL

TOKENS, ANSWERS = "LDA's extensions, per token", "labels, links, ratings, each"


class Shown(NamedTuple):
    """A model of an experiment that has rows, one on each corpus, and its label."""

    panel: str
    experiment: str
    model: str
    label: str


_PRIORS = results_priors.LABELS
SHOWN = (
    Shown(TOKENS, CORRELATION, correlation.JOINTLY, _PRIORS[correlation.JOINTLY]),
    Shown(TOKENS, COVARIATES, covariates.REGRESSION, _PRIORS[covariates.REGRESSION]),
    Shown(TOKENS, COVARIATES, covariates.LABELLED, _PRIORS[covariates.LABELLED]),
    Shown(TOKENS, COVARIATES, covariates.PARTIALLY, "PLDA"),
    Shown(TOKENS, results_extensions.DYNAMICS, dynamics.PLUGGED[dynamics.MODEL], "DTM, plugged in"),
    Shown(TOKENS, results_extensions.SEQUENCES, lda_hmm.MODEL, "LDA-HMM"),
    Shown(ANSWERS, results_extensions.SLDA, slda.MODEL, "sLDA: labels"),
    Shown(ANSWERS, results_extensions.DISCLDA, disclda.BLOCKS, "DiscLDA, block form: classes"),
    Shown(ANSWERS, results_extensions.DISCLDA, disclda.LEARNT, "DiscLDA, EM: classes"),
    Shown(ANSWERS, TAGS, tags.INPUTS, "catPCA with inputs: tags"),
    Shown(ANSWERS, results_extensions.RTM, rtm.MODEL, "RTM: links"),
    *(
        Shown(ANSWERS, results_ratings.RATINGS, model, f"{results_ratings.LABELS[model]}: ratings")
        for model in (ratings.PMF_POINT, ratings.PMF_EM, ratings.COCLUSTERING)
    ),
    Shown(ANSWERS, BOLTZMANN, boltzmann.PERSISTENT, "RBM: words present"),
)


def all_gaps(inputs: Inputs) -> list[Gap]:
    """Return the marks, panel by panel."""
    found = [gap for shown in SHOWN for gap in _of(inputs, shown)]
    found += _of_blocks(inputs)
    return opening_gaps(inputs) + sorted(found, key=lambda gap: (TOKENS, ANSWERS).index(gap.panel))


def _of(inputs: Inputs, shown: Shown) -> list[Gap]:
    """Return a model's gaps with the fewest and the most components, on every corpus of its experiment."""
    gaps = []
    scores = select(inputs.scores, variant=shown.experiment, model=shown.model)
    corpora = list(dict.fromkeys(scores["corpus"]))
    for corpus in corpora:
        own = select(scores, corpus=corpus)
        usual, likelihood = mean_points(own, [USUAL, FULL]), mean_points(own, [LIKELIHOOD])
        both = sorted({*usual} & {*likelihood})
        for K in dict.fromkeys([*both[:1], *both[-1:]]):
            gap = usual[K].value - likelihood[K].value
            place = str(corpus) if len(corpora) > 1 else ""
            gaps.append(Gap(shown.panel, shown.label, place, both[-1] == K, gap, likelihood[K].error > 0.0))
    return gaps


def _of_blocks(inputs: Inputs) -> list[Gap]:
    """Return what the best partition's probability is below the likelihood of a graph, per pair of nodes."""
    nodes = len(select(inputs.notes, variant=PARTITIONS, quantity="node")) if inputs.notes is not None else 0
    rows = [
        (row.exact, row.joint)
        for row in results_graphs.block_rows(inputs)
        if row.K > 1 and row.exact is not None and row.joint is not None
    ]
    ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
    pairs = max(1, nodes * (nodes - 1))
    return [
        Gap(ANSWERS, "stochastic blocks: arcs", "", place == len(ends) - 1, (joint - exact) / pairs, estimated=False)
        for place, (exact, joint) in enumerate(ends)
    ]
