"""Figures, tables and numbers of the models of graphs and relations."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex, over_seeds, style
from artifact.typesetting.macros import Macros
from gallery.graphs import science as results
from gallery.graphs.experiments import concepts as concepts_run
from gallery.graphs.experiments import links as links_run
from gallery.graphs.experiments import memberships, node_features, partitions
from gallery.graphs.experiments.block_graphs import IRM_NAME, NINE, STRUCTURES
from gallery.graphs.spec import CONCEPTS, LINKS, MEMBERSHIPS, NODE_FEATURES, PARTITIONS
from heldout.typing import Floats, Ints

SHOWN_PREDICATES, SHOWN_INTERACTIONS = 6, 7  # panels of clusters
_CORNER = 0.9  # least membership of a node that is shown at a corner
LINK = 0.8  # mean beyond which a block is a link of Figure 27.25
_GROUPS = style.CORPUS_COLOURS


def _adjacency(axis: Axes, arcs: Floats, order: Ints, clusters: Ints) -> None:
    """Draw arcs as black squares in an order of the nodes, with lines between clusters."""
    axis.imshow(arcs[np.ix_(order, order)], cmap="Greys", vmin=0.0, vmax=1.0, interpolation="nearest")
    for edge in np.flatnonzero(np.diff(clusters[order])):
        axis.axhline(edge + 0.5, color=style.REPORTED_COLOUR, linewidth=0.6)
        axis.axvline(edge + 0.5, color=style.REPORTED_COLOUR, linewidth=0.6)
    _hide_ticks(axis)


def _hide_ticks(axis: Axes) -> None:
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])


def figure_27_19(inputs: Inputs) -> Figure:
    """Draw the nine nodes' graph, and its adjacency matrix in the nodes' order and in the order of the clusters."""
    nine = results.structure(inputs, NINE)
    titles = ("the graph", "nodes as they come", "by the clusters found")
    figure, (axes,) = style.grid(1, 3, 1.9, titles=titles)
    n = len(nine.groups)
    angles = 2.0 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.sin(angles), np.cos(angles)
    for i, j in np.argwhere(nine.arcs > 0.0):
        props = {"arrowstyle": "-|>", "color": style.PALE, "linewidth": 0.4, "shrinkA": 5.0, "shrinkB": 5.0}
        axes[0].annotate("", (x[j], y[j]), (x[i], y[i]), arrowprops=props | {"mutation_scale": 5.0})
    for i in range(n):
        axes[0].plot(x[i], y[i], "o", color=_GROUPS[nine.clusters[i] % len(_GROUPS)], markersize=11.0)
        axes[0].text(x[i], y[i], str(i + 1), ha="center", va="center", fontsize=7.0, color=style.WHITE)
    axes[0].set_xlim(-1.3, 1.3)
    axes[0].set_ylim(-1.3, 1.3)
    axes[0].set_aspect("equal")
    axes[0].set_axis_off()
    for axis, order in zip(axes[1:], (np.arange(n), np.argsort(nine.clusters, kind="stable")), strict=True):
        _adjacency(axis, nine.arcs, order, nine.clusters if axis is axes[2] else np.zeros(n, dtype=np.int64))
        axis.set_xticks(range(n), [str(node + 1) for node in order])
        axis.set_yticks(range(n), [str(node + 1) for node in order])
    return figure


def figure_27_20(inputs: Inputs) -> Figure:
    """Draw graphs with four structures, their nodes in a random order above and by the clusters found below."""
    titles = [name.replace("-", " ") for name in STRUCTURES]
    figure, axes = style.grid(2, len(STRUCTURES), 3.0, titles=titles)
    for column, name in zip(axes.T, STRUCTURES, strict=True):
        graph = results.structure(inputs, name)
        n = len(graph.groups)
        _adjacency(column[0], graph.arcs, np.arange(n), np.zeros(n, dtype=np.int64))
        _adjacency(column[1], graph.arcs, np.argsort(graph.clusters, kind="stable"), graph.clusters)
    return figure


def figure_27_22(inputs: Inputs) -> Figure:
    """Draw the monks' likes by the most probable partition, and every monk in the simplex of three memberships."""
    figure, (axes,) = style.grid(1, 2, 3.1, titles=("who likes whom", "expected memberships"))
    likes, clusters, names = results.monks(inputs)
    order = np.argsort(clusters, kind="stable")
    _adjacency(axes[0], likes, order, clusters)
    axes[0].set_yticks(range(len(order)), [f"{names[node]} {node + 1}" for node in order], fontsize=7.0)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    axes[1].plot(*corners[[0, 1, 2, 0]].T, color=style.INK, linewidth=0.8)
    by_seed = results.memberships_by_seed(inputs, results.rhos(inputs)[0]) if results.rhos(inputs) else {}
    for shares in list(by_seed.values())[:1]:
        # only the first three blocks are drawn
        three = np.pad(shares, ((0, 0), (0, max(0, 3 - shares.shape[1]))))[:, :3]
        waverers_last = sorted(enumerate(three @ corners), key=lambda place: place[0] in results.WAVERERS)
        for node, (x, y) in waverers_last:
            colour = _GROUPS[clusters[node] % len(_GROUPS)] if len(clusters) > node else style.DARK
            waverer = (
                {"markerfacecolor": style.WHITE, "markersize": 6.0} if node in results.WAVERERS else {"markersize": 4.5}
            )
            axes[1].plot(x, y, "o", color=colour, **waverer)
            if three[node].max() < _CORNER:
                away, side = ((4, 3), "left") if node % 2 else ((-5, -3), "right")
                place = (float(x), float(y))
                style.label(axes[1], str(node + 1), place, away, fontsize=7.0, ha=side, path_effects=style.outline())
        for block, (corner, away) in enumerate(zip(corners, ((-4, -14), (4, -14), (0, 8)), strict=True)):
            nodes = ", ".join(str(node + 1) for node in np.flatnonzero(three[:, block] >= _CORNER))
            style.label(axes[1], nodes, tuple(corner), away, fontsize=7.0, ha=("left", "right", "center")[block])
    axes[1].set_aspect("equal")
    axes[1].set_xlim(-0.1, 1.1)
    axes[1].set_ylim(-0.18, 1.02)
    axes[1].set_axis_off()
    return figure


def figure_27_25(inputs: Inputs) -> Figure:
    """Draw the means of UMLS's blocks: a panel for a cluster of predicates, a square for two clusters of concepts."""
    state = results.best_state(inputs, "umls")
    figure, axes = style.grid(2, SHOWN_PREDICATES // 2, 3.4)
    for axis in axes.ravel():
        _hide_ticks(axis)
    if state is None:
        return figure
    means = results.block_means(inputs, "umls", "holds", state)
    strongest = np.argsort(-(means > LINK).sum(axis=(0, 1)), kind="stable")[:SHOWN_PREDICATES]
    for axis, cluster in zip(axes.ravel(), strongest, strict=False):
        axis.imshow(means[:, :, cluster], cmap="Greys", vmin=0.0, vmax=1.0, interpolation="nearest")
        members = np.flatnonzero(state.clusters["predicates"] == cluster)
        words = [state.names["predicates"][member].replace("_", " ") for member in members if state.names["predicates"]]
        axis.set_title(", ".join(words[:2]) + (", .." if len(words) > 2 else ""), fontsize=7.0)
        axis.set_xlabel("cluster of concepts", fontsize=7.0)
        axis.set_ylabel("cluster of concepts", fontsize=7.0)
    return figure


def figure_27_26(inputs: Inputs) -> Figure:
    """Draw the nations: features by clusters above, and the largest clusters of interactions below."""
    state = results.best_state(inputs, "nations")
    figure = Figure(figsize=(style.WIDTH, 3.2))
    panels = figure.add_gridspec(2, SHOWN_INTERACTIONS, height_ratios=[1.8, 1.0])
    top = figure.add_subplot(panels[0, :])
    bottom = [figure.add_subplot(panels[1, column]) for column in range(SHOWN_INTERACTIONS)]
    for axis in (top, *bottom):
        _hide_ticks(axis)
    if state is None:
        return figure
    countries, features = state.clusters["countries"], state.clusters["features"]
    n, order = len(countries), np.argsort(countries, kind="stable")
    columns = np.argsort(features, kind="stable")
    has = results.cells(inputs, "nations", "has")
    greys = colormaps["Greys"].with_extremes(bad=style.PALE)  # pale where a feature is not known
    top.imshow(has[np.ix_(order, columns)], cmap=greys, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    for edge in np.flatnonzero(np.diff(countries[order])):
        top.axhline(edge + 0.5, color=style.REPORTED_COLOUR, linewidth=0.7)
    for edge in np.flatnonzero(np.diff(features[columns])):
        top.axvline(edge + 0.5, color=style.REPORTED_COLOUR, linewidth=0.7)
    if state.names["countries"]:
        top.set_yticks(range(n), [state.names["countries"][node] for node in order], fontsize=7.0)
    top.set_title("features")
    kinds = state.clusters["interactions"]
    interacts = results.cells(inputs, "nations", "interacts")
    sizes = np.bincount(kinds)
    for axis, cluster in zip(bottom, np.argsort(-sizes, kind="stable"), strict=False):
        with np.errstate(invalid="ignore"):
            own = np.nan_to_num(interacts[:, :, kinds == cluster]).mean(axis=2)
        _adjacency(axis, own, order, countries)
        members = np.flatnonzero(kinds == cluster)
        if state.names["interactions"]:
            axis.set_title(state.names["interactions"][members[0]][:16], fontsize=7.0, fontweight="normal")
    return figure


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
        f"{prediction}-{links_run.LOG_LOSS}"
        for prediction in (links_run.DENSITY, links_run.PLUGGED, links_run.ONE, links_run.AVERAGE)
    ]
    names += [f"{prediction}-{links_run.AUC}" for prediction in (links_run.ONE, links_run.AVERAGE)]
    tables = {
        name: pd.concat([results.link_means(inputs, name, experiment) for experiment in (LINKS, NODE_FEATURES)])
        for name in names
    }
    rows: list[latex.TableRow] = []
    previous = ""
    for row in tables[names[0]].to_dict("records"):
        if previous and row["corpus"] != previous:
            rows.append(latex.ADDLINESPACE)
        previous = row["corpus"]
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
    """Return numbers of clusters: the chapter's, with its share of the posterior, and the best start's over seeds."""
    rows: list[latex.TableRow] = []
    for corpus, published in results.PUBLISHED.items():
        eta = results.chosen_eta(inputs, corpus)
        for kind, number in published.items() if eta is not None else ():
            numbers = results.numbers_of_clusters(inputs, corpus, kind, eta or 1.0)
            ours = over_seeds.span(numbers["value"].tolist())
            shares = results.shares_of_numbers(inputs, corpus, kind, eta or 1.0)
            ends = f"{min(shares)} to {max(shares)}" if shares else latex.DASH
            share = latex.percent(shares.get(number, 0.0), 0)
            rows.append([latex.corpus_name(corpus), kind, latex.integer(number), ours, ends, share])
    head = r"data & clusters of & published & best of the starts & samples & share at the published\\"
    return latex.tabular(inputs, "@{}llrrrr@{}", head, rows)


SEEN = 3.0  # largest distance of annealing from an exact value, in stated errors
ROUNDING = 1e-9  # nats; the same of values without an error


def _signed(value: float | None, digits: int = 1) -> str:
    return NOT_RUN if value is None else latex.signed(value, digits)


def graph_macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    rows = results.block_rows(inputs)
    known = [row for row in rows if row.exact is not None]
    last = known[-1] if known else None
    agree = results.rows(inputs, PARTITIONS, partitions.AGREE)
    agree = agree[agree["topics"] == agree["topics"].max()]
    _, _, names = results.monks(inputs)
    result = {
        "MonksTopics": latex.integer(last.K) if last else NOT_RUN,
        "MonksLikelihood": _signed(last.exact if last else None, 2),
        "MonksJointGap": _signed(last.joint - last.exact if last and last.joint and last.exact else None),
        "MonksProfileGap": _signed(last.profile - last.exact if last and last.profile and last.exact else None),
        "MonksBoundGap": _signed(last.bound - last.exact if last and last.bound and last.exact else None),
        "MonksAgree": f"{latex.integer(agree['value'].iloc[0])} of {len(names)}" if len(agree) else NOT_RUN,
    }
    annealed_rows = [row for row in known if row.annealed is not None and row.error is not None]
    agreements = [
        abs((row.annealed or 0.0) - (row.exact or 0.0)) <= SEEN * (row.error or 0.0) + ROUNDING for row in annealed_rows
    ]
    result["BlocksWithin"] = f"{sum(agreements)} of {len(agreements)}" if agreements else NOT_RUN
    structures = [results.structure(inputs, name) for name in STRUCTURES]
    recovered = [number == len(graph.groups) for graph in structures for number in graph.agree]
    result["StructuresFound"] = f"{sum(recovered)} of {len(recovered)}" if recovered else NOT_RUN
    levels = results.rhos(inputs)
    for name, rho in (("", levels[:1]), ("Robust", levels[1:2])):
        annealed, plugged = (
            results.rows(inputs, MEMBERSHIPS, quantity, smoothing=rho[0] if rho else None).set_index("seed")["value"]
            for quantity in (memberships.ANNEALED_EVIDENCE, memberships.PLUGGED)
        )
        result[f"Mixed{name}Likelihood"] = over_seeds.signed(annealed.tolist(), 1)
        result[f"Mixed{name}Gap"] = over_seeds.signed((plugged - annealed).dropna().tolist(), 1)
    result["MixedRho"] = latex.decimal(levels[-1], 1) if levels else NOT_RUN
    for corpus, kinds in results.PUBLISHED.items():
        eta = results.chosen_eta(inputs, corpus)
        result[f"{corpus.capitalize()}Eta"] = NOT_RUN if eta is None else latex.decimal(eta, 1)
        for kind, published in kinds.items():
            numbers = results.numbers_of_clusters(inputs, corpus, kind, eta or 1.0)["value"].tolist()
            other = f"where the chapter has {latex.integer(published)}"
            agreement = "as published, with every seed" if set(numbers) == {published} else other
            result[f"Clusters{kind.capitalize()}"] = f"{over_seeds.span(numbers)}, {agreement}"
    pairs = {"Gap": (node_features.PROFILE, node_features.EVIDENCE)}
    pairs["Laplace"] = (node_features.LAPLACE, node_features.EVIDENCE)
    for name, pair in pairs.items():
        gaps = results.feature_gaps(inputs, node_features.MODEL["concatenation"], *pair)
        result[f"NodeFeatures{name}"] = over_seeds.signed(gaps, 1)
    errors = results.rows(inputs, NODE_FEATURES, node_features.EVIDENCE)["standard_error"]
    sizes = results.rows(inputs, NODE_FEATURES, node_features.EFFECTIVE)["value"]
    result["NodeFeaturesError"] = latex.decimal(errors.max(), 2) if len(sizes) else NOT_RUN
    result["NodeFeaturesEffective"] = latex.integer(sizes.min()) if len(sizes) else NOT_RUN
    for kind, relation in (("Interactions", "interacts"), ("Features", "has")):
        shape = results.cells(inputs, "nations", relation).shape
        result[f"Nations{kind}"] = latex.integer(shape[-1]) if shape[0] else NOT_RUN
        result[f"NationsChapter{kind}"] = latex.integer(results.COUNTED[kind.lower()])
    eta = results.chosen_eta(inputs, "nations")
    for name, quantity in (("Exact", concepts_run.FEATURES_EXACT), ("Annealed", concepts_run.FEATURES_ANNEALED)):
        table = results.rows(inputs, CONCEPTS, quantity)
        own = table[table["smoothing"] == eta]["value"].to_numpy(float)
        result[f"Features{name}"] = _signed(own.mean() if len(own) else None)
        if quantity == concepts_run.FEATURES_ANNEALED and len(own) > 1:
            result[f"Features{name}"] += rf" \ensuremath{{\pm}} {latex.decimal(own.std(ddof=1) / len(own) ** 0.5, 1)}"
    return result
