"""Murphy's claims (2012, sections 27.5 and 27.6.1) about graphs and relations.

A membership counts from a twentieth on, which a simplex shows, and a prediction from a thousandth of a nat per cell:
both were stated before their data. A number of clusters is similar within one of them: stated after trial runs that
had shown such numbers on both data. The start and the Beta prior of those are chosen by p(R, q) alone.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from heldout.claims import MAX_IS_NO_LESS, Claim
from heldout.effects import effects, less
from heldout.inputs import Inputs
from heldout.models.sbm_features import NO_FEATURES
from heldout.papers.murphy.experiments import links, node_features
from heldout.papers.murphy.manifest_graphs import NODE_FEATURES
from heldout.papers.murphy.results_graphs import (
    MONK_15,
    PUBLISHED,
    WAVERERS,
    block_rows,
    chosen_eta,
    link_loss,
    memberships_by_seed,
    numbers_of_clusters,
    rhos,
    second_shares,
)
from heldout.verdicts import Effect, Margin

_SINCE = "2026-11-25, before any of these data were modelled in this way"
_TRIED = "2026-11-25, after trial runs had shown numbers of clusters of both data"
CLUSTERS = Margin(1.0, "clusters", "one cluster: what another start changes", _TRIED)
SHARES = Margin(0.05, "of a membership", "a twentieth: what a simplex shows", _SINCE)
CELLS = Margin(0.001, "nats per cell", "a hundredth of what an arc of such graphs is worth", _SINCE)


def profile_optimistic(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what parameters and clusters plugged in have over the exact likelihood, at most over K."""
    gaps = [row.profile - row.exact for row in block_rows(inputs) if row.profile is not None and row.exact is not None]
    if not gaps:
        return []
    reversed_cells = sum(gap < 0.0 for gap in gaps)
    of_cells = (0.0, 0.0, 1, len(gaps), reversed_cells)  # threshold, margin, replicates, cells
    return [Effect("monks", "", max(gaps), 0.0, float("inf"), "nats", *of_cells, test="identity")]


def similar_clusters(inputs: Inputs, _: Sequence[str], *, corpus: str) -> list[Effect]:
    """Measure by how many clusters the best of several starts differs from the published number, by type."""
    eta, found = chosen_eta(inputs, corpus), list[Effect]()
    for kind, published in PUBLISHED[corpus].items() if eta is not None else ():
        numbers = numbers_of_clusters(inputs, corpus, kind, eta or 1.0)
        gains = numbers[["corpus", "seed", "value"]].assign(gain=numbers["value"] - published, error=0.0)
        found += effects(gains.drop(columns="value"), margin=CLUSTERS, test="similar", part=kind, resolution=0.5)
    return found


def average_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the average over samples has over one partition, mean over models and K."""
    average, one = (link_loss(inputs, name) for name in (links.AVERAGE, links.ONE))
    return effects(less(average, one, ["corpus", "model", "topics", "seed"]), margin=CELLS)


def features_help(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what features have over blocks alone, by how they are combined, mean over K; splits share most pairs."""
    share = float(inputs.settings.experiment(NODE_FEATURES).get("settings", {}).get("hidden", 0.0))
    losses, found = link_loss(inputs, links.AVERAGE, NODE_FEATURES), list[Effect]()
    of = {name: losses[losses["model"] == model].drop(columns="model") for name, model in node_features.MODEL.items()}
    without = of.pop(NO_FEATURES)
    for combination, own in of.items():
        gains = less(own, without, ["corpus", "topics", "seed"])
        found += effects(gains, margin=CELLS, held_out=share, part=combination)
    return found


def wavers(inputs: Inputs, _: Sequence[str], *, nodes: dict[str, tuple[int, ...]]) -> list[Effect]:
    """Measure how much more the second membership of some monks is than that of all others, without background."""
    import pandas as pd

    found = list[Effect]()
    by_seed = memberships_by_seed(inputs, rhos(inputs)[0]) if rhos(inputs) else {}
    for part, chosen in nodes.items():
        gains = []
        for seed, shares in by_seed.items():
            second, own = second_shares(shares), np.isin(np.arange(len(shares)), chosen)
            if own.any():
                gains.append(("monks", seed, float(second[own].mean() - second[~own].mean()), 0.0))
        table = pd.DataFrame(gains, columns=["corpus", "seed", "gain", "error"])
        found += effects(table, margin=SHARES, part=part)
    return found


GRAPHS = (
    Claim(
        "profile-is-optimistic",
        "section 27.5.1",
        "A block model's likelihood with clusters and probabilities plugged in is no likelihood of the graph",
        f"the largest over K of that less the exact likelihood: {MAX_IS_NO_LESS}",
        profile_optimistic,
    ),
    Claim(
        "average-is-better",
        "section 27.6.1",
        "Hidden pairs are predicted better by the average over partitions than by the most probable one",
        "log probability of hidden cells, average less one partition, mean over models and K",
        average_better,
    ),
    Claim(
        "features-help",
        "section 27.5.1",
        "Features of the nodes help to predict hidden pairs beside blocks",
        "log probability of hidden cells under blocks with features less that without, mean over K; concatenated and"
        " multiplied",
        features_help,
    ),
    Claim(
        "monk-15-wavers",
        "section 27.5.2, Figure 27.22",
        "Monk 15 belongs to two clusters",
        "second largest expected membership of monk 15 less the mean of all others', of the fifteenth row and of the"
        " monk whom UCINET's fifteenth label names",
        partial(wavers, nodes={part: (node,) for part, node in MONK_15.items()}),
    ),
    Claim(
        "waverers-waver",
        "section 27.5.2, Figure 27.22",
        "The waverers belong to two clusters",
        "mean second largest expected membership of Sampson's three waverers less that of the others",
        partial(wavers, nodes={"": WAVERERS}),
    ),
    Claim(
        "umls-clusters",
        "section 27.6.1.1",
        "The infinite relational model finds 14 clusters of concepts and 21 of predicates",
        "number of clusters of the best start by p(R, q), under the Beta prior for which that is highest, less the"
        " published one, within the margin",
        partial(similar_clusters, corpus="umls"),
    ),
    Claim(
        "nations-clusters",
        "section 27.6.1.2, Figure 27.26",
        "The infinite relational model finds 5 clusters of countries, 5 of features and 18 of interactions",
        "number of clusters of the best start by p(R, q), under the Beta prior for which that is highest, less the"
        " published one, within the margin",
        partial(similar_clusters, corpus="nations"),
    ),
)
