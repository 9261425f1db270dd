"""Results and contrasts of models whose documents have priors of their own (Murphy, 2012, section 27.4).

All scores are in nats per token, or per tag. Contrasts without a source are questions that the chapter leaves.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from artifact.contrasts.contrast import ANY, SIMILAR, Side
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery import table_rows
from gallery.comparison import at_most, contrast, measured, opposed, scored, together
from gallery.priors.experiments import correlation, covariates, tags, topic_graph
from gallery.priors.spec import CORRELATION, COVARIATES, GRAPH, TAGS
from gallery.table_rows import Row
from heldout import models

if TYPE_CHECKING:
    pass


LABELS = {
    models.LDA: "LDA, fitted prior",
    correlation.PRIOR: "CTM, topics of LDA",
    correlation.JOINTLY: "CTM",
    correlation.TOMOTOPY: "CTM of tomotopy",
    covariates.CONSTANT: "LDA, fitted prior",
    covariates.REGRESSION: "DMR",
    covariates.LABELLED: "labelled LDA",
    covariates.PARTIALLY: "partially labelled LDA",
    tags.SINGLY: "every tag alone",
    tags.EXPERTS: "MR-LDA, EM",
    tags.TWO_STEPS: "MR-LDA, two steps",
    tags.NETWORK: "softmax network",
    tags.INPUTS: "catPCA with inputs, variational EM",
    tags.QUADRATURE: "catPCA with inputs, exact EM",
}


def rows(inputs: Inputs, experiment: str) -> list[Row]:
    """Return an experiment's rows in the order of corpus, `LABELS` and K."""
    return table_rows.rows(inputs, experiment, LABELS)


class Graph(NamedTuple):
    """Figure 27.10: the words and the prevalence of topics by number, and partial correlations of pairs of topics."""

    words: dict[int, list[str]]
    prevalence: dict[int, float]
    edges: dict[tuple[int, int], float]


def graph(inputs: Inputs) -> Graph:
    """Return the graph of topics of the first seed; empty where the experiment was not run."""
    if inputs.notes is None:
        return Graph({}, {}, {})
    texts = select(inputs.notes, variant=GRAPH)
    texts = texts[texts["seed"] == texts["seed"].min()]
    words = {int(topic): str(text).split() for topic, text in zip(texts["at"], texts["text"], strict=True)}
    prevalence, edges = (
        inputs.arrays.first(variant=GRAPH, name=name) for name in (topic_graph.PREVALENCE, topic_graph.EDGE)
    )
    pairs = {(int(j), int(k)): float(edges[j, k]) for j, k in np.argwhere(edges)}
    return Graph(words, dict(enumerate(prevalence.tolist())), pairs)


TAG = "nats per tag"
_INFORMING = {
    **{"DMR": covariates.REGRESSION, "categorical PCA, variational EM": tags.INPUTS},
    "categorical PCA, exact EM": tags.QUADRATURE,
}


def _side(experiment: str, model: str) -> Side:
    """Return the likelihood of a model by K."""
    return scored(f"the likelihood of {LABELS[model]}", experiment, model)


PRIORS = (
    contrast(
        "ctm-lda",
        "section 27.4.1",
        "LDA is weak because it cannot capture correlation between topics.",
        _side(CORRELATION, correlation.JOINTLY),
        _side(CORRELATION, models.LDA),
    ),
    contrast(
        "ctm-tomotopy",
        "",
        "Variational EM of the correlated topic model is no worse than tomotopy's Gibbs sampler.",
        _side(CORRELATION, correlation.JOINTLY),
        _side(CORRELATION, correlation.TOMOTOPY),
    ),
    contrast(
        "dmr-lda",
        "",
        "A prior that depends on the labels predicts the words better.",
        _side(COVARIATES, covariates.REGRESSION),
        _side(COVARIATES, covariates.CONSTANT),
    ),
    contrast(
        "labelled-lda",
        "",
        "A topic to each label predicts the words better than as many free topics.",
        _side(COVARIATES, covariates.LABELLED),
        _side(COVARIATES, covariates.CONSTANT),
        by=(),
        over=("topics",),
    ),
    contrast(
        "partial-labelled",
        "",
        "Subtopics of the labels and common topics predict the words better than a topic to each label.",
        at_most(_side(COVARIATES, covariates.PARTIALLY)),
        at_most(_side(COVARIATES, covariates.LABELLED)),
        by=(),
    ),
    contrast(
        "tag-information",
        "sections 27.4.4.2 and 27.4.4.3",
        "Under DMR and categorical PCA with inputs information flows between tags.",
        together(
            "the exact information of one tag on another given the inputs",
            "model",
            {name: measured("", TAGS, tags.INFORMATION, model) for name, model in _INFORMING.items()},
        ),
        by=("model",),
        margin=ANY,
        unit="nats",
    ),
    contrast(
        "mr-lda-alone",
        "section 27.4.4.2",
        "Multinomial regression LDA has a negligible improvement over predicting each tag independently.",
        at_most(_side(TAGS, tags.EXPERTS)),
        at_most(_side(TAGS, tags.SINGLY)),
        by=(),
        margin=SIMILAR,
        unit=TAG,
    ),
    contrast(
        "mr-lda-two-steps",
        "section 27.4.4.2",
        "LDA fitted first without the inputs does not result in a discriminative set of latent variables.",
        _side(TAGS, tags.EXPERTS),
        _side(TAGS, tags.TWO_STEPS),
        unit=TAG,
    ),
    contrast(
        "inputs-network",
        "section 27.4.4.3",
        "Categorical PCA with inputs works better than a neural net when labels are correlated.",
        *opposed(
            "training",
            _side(TAGS, tags.NETWORK),
            "the likelihood of categorical PCA with inputs",
            {"variational EM": _side(TAGS, tags.INPUTS), "exact EM": _side(TAGS, tags.QUADRATURE)},
        )[::-1],
        by=("training", "topics"),
        unit=TAG,
    ),
)
