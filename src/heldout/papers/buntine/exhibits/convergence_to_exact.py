"""Figures 1 and 2 of Buntine (2009): estimates of one document's code length as samples grow, and their error."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.buntine.exhibits.calibration_table import LABELS
from heldout.papers.buntine.exhibits.realistic_curves import mark
from heldout.papers.buntine.experiments.calibration import EXACT
from heldout.papers.buntine.experiments.convergence_to_exact import ESTIMATE, METHODS
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

DASHES = dict(zip(METHODS, ("-", (0, (4, 1.5)), "-", (0, (4, 1.5)), "-"), strict=True))
HEIGHT = 2.6  # inches, of a row
FIRST_RUN = "0"


def draw(inputs: Inputs) -> Figure:
    """Draw, per pair of a model and a document, one run of each method, the same close up, and the error of all runs.

    The first two panels are the source's figures: code length against the number of samples, run after run extended.
    The third is the root of the mean squared error over all runs, on logarithmic axes.

    Raises:
        InputError: when convergence to the exact value was not measured.
    """
    table = inputs.measurements
    if table is not None:
        table = table[table["quantity"].isin([EXACT, *(ESTIMATE + name for name in METHODS)])]
        table = table[table["axis"].isin(["tokens", "samples"])]
    if table is None or not table["quantity"].str.startswith(ESTIMATE).any():
        raise InputError("figure-convergence-to-exact: nothing was measured; measure convergence-to-exact first")
    table = table[table["seed"] == table["seed"].min()]
    topics = sorted(int(k) for k in table["topics"].unique())
    figure = Figure(figsize=(style.WIDTH, HEIGHT * len(topics)))
    grid = figure.subplots(len(topics), 3, squeeze=False)
    for row, k in zip(grid, topics, strict=True):
        _draw_pair(list(row), table[table["topics"] == k], k)
        mark(row, inputs)
    for axis in grid[-1]:
        axis.set_xlabel("samples")
    for axis, title in zip(grid[0], ("one run of each", "close up", "all runs"), strict=True):
        axis.set_title(title, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=len(handles), handlelength=1.8, columnspacing=1.2)
    return figure


def _draw_pair(axes: list[Axes], table: "pd.DataFrame", topics: int) -> None:
    (exact_row,) = table[table["quantity"] == EXACT].to_dict("records")
    tokens = int(exact_row["at"])
    bits = -1.0 / (tokens * math.log(2.0))
    exact = float(exact_row["value"]) * bits
    whole, close, error = axes
    near = []  # distances from the exact value that the close-up has to hold
    for axis in (whole, close):
        axis.axhline(exact, color="black", linewidth=1.0, zorder=4, label="exact")
    for name in METHODS:
        runs = table[table["quantity"] == ESTIMATE + name]
        if runs.empty:
            continue
        runs = runs.pivot_table(index="at", columns="chain", values="value") * bits
        look: dict[str, Any] = {"color": style.EVALUATOR_COLOURS[name], "linestyle": DASHES[name]}
        for axis in (whole, close):
            axis.plot(runs.index, runs[FIRST_RUN], label=LABELS[name], **look)
        error.plot(runs.index, np.sqrt(((runs - exact) ** 2).mean(axis=1)), **look)
        if name != METHODS[0]:  # the harmonic mean is far off: the close-up is of the others
            near.append(float(np.abs(runs[FIRST_RUN] - exact).iloc[1:].max()))
    if near:
        close.set_ylim(exact - 1.15 * max(near), exact + 1.15 * max(near))
    sizes = sorted(table[table["axis"] == "samples"]["at"].unique())
    for axis in (whole, close):
        axis.set_xlim(0, sizes[-1])
        axis.xaxis.set_major_locator(MaxNLocator(2))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        style.plain_ticks(axis.yaxis)
    error.set_xscale("log")
    error.set_yscale("log")
    decades = [10.0**e for e in range(math.ceil(math.log10(sizes[0])), math.floor(math.log10(sizes[-1])) + 1)]
    error.xaxis.set_major_locator(FixedLocator(decades))
    error.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    error.xaxis.set_minor_locator(NullLocator())
    error.yaxis.set_minor_formatter(NullFormatter())
    error.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    whole.set_ylabel(f"$K = {topics}$, $L = {tokens}$\nbits per token")
    error.set_ylabel("r.m.s. error, bits per token")
