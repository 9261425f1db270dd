"""Results and claims about models whose documents have priors of their own (Murphy, 2012, section 27.4).

All scores are in nats per token, or per tag. Some are questions that the chapter leaves: their statements say so.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from artifact.verdicts.claims import Claim
from artifact.verdicts.effects import effects
from artifact.verdicts.verdicts import ANY, SIMILAR, Effect

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery import table_rows
from gallery.comparison import SPLIT, compared
from gallery.member import USUAL
from gallery.priors.experiments import correlation, covariates, tags, topic_graph
from gallery.priors.spec import CORRELATION, COVARIATES, GRAPH, TAGS
from gallery.table_rows import Row
from heldout import models

if TYPE_CHECKING:
    import pandas as pd


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


def informations(inputs: Inputs, names: Sequence[str]) -> "pd.DataFrame":
    """Return the information of one tag on another under some models, nats, for every seed and K."""
    table = select(inputs.measurements, variant=TAGS, quantity=tags.INFORMATION)
    return table[table["model"].isin(list(names))]


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


SAME = 1e-9  # largest distance, nats, of a computed information from its value of 0 by definition


def nothing_informs(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Compare the largest information of one tag on another under multinomial regression LDA with 0."""
    table = informations(inputs, (tags.EXPERTS, tags.TWO_STEPS))
    return [
        Effect(
            str(corpus),
            "largest information",
            float(own["value"].abs().max()),
            *(0.0, float("inf"), "nats"),
            cells=len(own),
            reversed_cells=int((own["value"].abs() >= SAME).sum()),
            test="identity",
        )
        for corpus, own in table.groupby("corpus", sort=False)
    ]


def informs(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the information of one tag on another under the models that allow it."""
    found = []
    parts = {covariates.REGRESSION: "DMR", tags.INPUTS: "catPCA, variational EM", tags.QUADRATURE: "catPCA, exact EM"}
    for model, part in parts.items():
        table = informations(inputs, (model,))[["corpus", "topics", "seed", "value"]]
        gains = table.rename(columns={"value": "gain"}).assign(error=0.0)
        found += effects(gains, margin=ANY, unit="nats", part=part) if len(gains) else []
    return found


_CORRELATION = (
    ("topics and prior", correlation.JOINTLY, models.LDA),
    ("prior alone", correlation.PRIOR, models.LDA),
)

PRIORS = (
    Claim(
        "correlation-helps",
        "section 27.4.1",
        "LDA is weak because it cannot capture correlation between topics",
        "likelihood of held-out documents, the correlated topic model's less LDA's with a fitted prior, mean over K;"
        " with topics of its own, or with LDA's",
        partial(compared, experiment=CORRELATION, pairs=_CORRELATION),
    ),
    Claim(
        "correlation-helps-by-bound",
        "section 27.4.1",
        "LDA is weak because it cannot capture correlation between topics (by the variational bounds)",
        "variational bounds on held-out documents, the correlated topic model's less LDA's, mean over K",
        partial(compared, experiment=CORRELATION, pairs=_CORRELATION, evaluator=USUAL),
    ),
    Claim(
        "own-ctm-above-tomotopy",
        "section 27.4.1",
        "Asked: variational EM of the correlated topic model is no worse than tomotopy's Gibbs sampler",
        "likelihood of held-out documents, variational EM's less that of tomotopy's CTModel, mean over K",
        partial(compared, experiment=CORRELATION, pairs=(("", correlation.JOINTLY, correlation.TOMOTOPY),)),
    ),
    Claim(
        "covariates-help",
        "section 27.4.4.2",
        "Asked: a prior that depends on the labels by Dirichlet multinomial regression predicts the words better",
        "likelihood of held-out documents given their labels, DMR's less LDA's with a fitted prior, mean over K",
        partial(compared, experiment=COVARIATES, pairs=(("", covariates.REGRESSION, covariates.CONSTANT),)),
    ),
    Claim(
        "label-topics-help",
        "section 27.4.4.2",
        "Asked: a topic to each label predicts the words better than as many free topics",
        "likelihood of held-out documents given their labels, labelled LDA's less LDA's with as many topics",
        partial(compared, experiment=COVARIATES, pairs=(("", covariates.LABELLED, covariates.CONSTANT),)),
    ),
    Claim(
        "subtopics-help",
        "section 27.4.4.2",
        "Asked: subtopics of the labels and common topics predict the words better than a topic to each label",
        "likelihood of held-out documents given their labels, partially labelled LDA's less labelled LDA's",
        partial(compared, experiment=COVARIATES, pairs=(("", covariates.PARTIALLY, covariates.LABELLED),), keys=SPLIT),
    ),
    Claim(
        "one-tag-informs-no-other",
        "section 27.4.4.2, equation 27.70",
        "Under multinomial regression LDA the value of one tag has no influence on any of the others",
        "exact mutual information of two tags of a held-out document given the inputs: the weights are a function of"
        " these",
        nothing_informs,
    ),
    Claim(
        "one-tag-informs-others",
        "sections 27.4.4.2 and 27.4.4.3",
        "Under DMR and categorical PCA with inputs information flows between tags",
        "exact mutual information of two tags of a held-out document given the inputs, mean over documents and K",
        informs,
    ),
    Claim(
        "experts-are-no-better-than-tags-alone",
        "section 27.4.4.2",
        "Multinomial regression LDA has a negligible improvement over predicting each tag independently",
        "likelihood of held-out tags, multinomial regression LDA's with the most topics less that of a regression of"
        " every tag, within the margin",
        partial(
            compared,
            experiment=TAGS,
            pairs=(("", tags.EXPERTS, tags.SINGLY),),
            keys=SPLIT,
            test="similar",
            margin=SIMILAR,
        ),
    ),
    Claim(
        "two-steps-lose",
        "section 27.4.4.2",
        "LDA fitted first without the inputs does not result in a discriminative set of latent variables",
        "likelihood of held-out tags, multinomial regression LDA's by EM less that in two steps, mean over K",
        partial(compared, experiment=TAGS, pairs=(("", tags.EXPERTS, tags.TWO_STEPS),)),
    ),
    Claim(
        "dmr-above-experts",
        "section 27.4.4.2",
        "Asked: DMR, under which tags inform one another, predicts them better than multinomial regression LDA",
        "likelihood of held-out tags, DMR's less that of multinomial regression LDA by EM, mean over K",
        partial(compared, experiment=TAGS, pairs=(("", covariates.REGRESSION, tags.EXPERTS),)),
    ),
    Claim(
        "bottleneck-above-network",
        "section 27.4.4.3",
        "Categorical PCA with inputs should work better than a conventional neural net when labels are correlated",
        "likelihood of held-out tags, that of categorical PCA with inputs less that of a network with the same"
        " bottleneck, mean over K",
        partial(
            compared,
            experiment=TAGS,
            pairs=(
                ("variational EM", tags.INPUTS, tags.NETWORK),
                ("exact EM", tags.QUADRATURE, tags.NETWORK),
            ),
        ),
    ),
)
