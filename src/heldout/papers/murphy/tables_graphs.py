"""Tables of graphs and relations."""

from heldout.inputs import Inputs
from heldout.papers.murphy import results_graphs as results
from heldout.papers.murphy.experiments import links as of_links
from heldout.papers.murphy.experiments.block_graphs import IRM_NAME
from heldout.papers.murphy.manifest_graphs import LINKS, NODE_FEATURES
from heldout.typesetting import latex

LABELS = {
    "sbm": "stochastic blocks",
    IRM_NAME: "infinite relational",
    "blocks-none": "logit-normal blocks",
    "blocks-concatenation": "with features, joined",
    "blocks-product": "with features, multiplied",
}


def _nats(value: float | None) -> str:
    return latex.DASH if value is None else latex.signed(value, 2)


def blocks(inputs: Inputs) -> str:
    """Return the likelihood of the monks' graph beside its usual scores, by K, nats."""
    rows: list[latex.TableRow] = []
    for row in results.block_rows(inputs):
        annealed = latex.DASH
        if row.annealed is not None and row.error is not None:
            annealed = rf"{latex.signed(row.annealed, 2)} \ensuremath{{\pm}} {row.error:.2f}"
        scores = (row.bound, row.joint, row.profile)
        rows.append([latex.integer(row.K), _nats(row.exact), annealed, *map(_nats, scores)])
    head = r"$K$ & likelihood & annealed & variational bound & best partition & plugged in\\"
    return latex.tabular(inputs, "@{}rrrrrr@{}", head, rows)


def links(inputs: Inputs) -> str:
    """Return log losses and areas under the curve of hidden pairs, means over seeds."""
    import pandas as pd

    names = [
        f"{one}-{of_links.LOG_LOSS}" for one in (of_links.DENSITY, of_links.PLUGGED, of_links.ONE, of_links.AVERAGE)
    ]
    names += [f"{one}-{of_links.AUC}" for one in (of_links.ONE, of_links.AVERAGE)]
    tables = {
        name: pd.concat([results.link_means(inputs, name, experiment) for experiment in (LINKS, NODE_FEATURES)])
        for name in names
    }
    rows: list[latex.TableRow] = []
    before = ""
    for row in tables[names[0]].to_dict("records"):
        if before and row["corpus"] != before:
            rows.append(latex.ADDLINESPACE)
        before = row["corpus"]
        cells = []
        for table in tables.values():
            own = table[(table["corpus"] == row["corpus"]) & (table["model"] == row["model"])]
            value = own[own["topics"] == row["topics"]]["value"]
            cells.append(latex.decimal(float(value.iloc[0]), 4))
        K = latex.integer(row["topics"]) if row["topics"] else latex.DASH
        rows.append([latex.corpus_name(row["corpus"]), LABELS[row["model"]], K, *cells])
    head = r"data & model & $K$ & density & plugged in & one partition & average & one, area & average, area\\"
    return latex.tabular(inputs, "@{}llrrrrrrr@{}", head, rows)


def concepts(inputs: Inputs) -> str:
    """Return the numbers of clusters: the chapter's, of the best start by seed, and the posterior's share at it."""
    rows: list[latex.TableRow] = []
    for corpus, published in results.PUBLISHED.items():
        eta = results.chosen_eta(inputs, corpus)
        for kind, number in published.items() if eta is not None else ():
            found = results.numbers_of_clusters(inputs, corpus, kind, eta or 1.0)
            ours = ", ".join(latex.integer(value) for value in found["value"])
            shares = results.shares_of_numbers(inputs, corpus, kind, eta or 1.0)
            ends = f"{min(shares)} to {max(shares)}" if shares else latex.DASH
            share = latex.percent(shares.get(number, 0.0), 0)
            rows.append([latex.corpus_name(corpus), kind, latex.integer(number), ours, ends, share])
    head = r"data & clusters of & published & best of the starts, by seed & samples & share at the published\\"
    return latex.tabular(inputs, "@{}llrrrr@{}", head, rows)
