"""Convergence of the Gibbs sampler's chains: traces of the log joint probability, and split R-hat."""

from typing import TYPE_CHECKING

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from artifact.typesetting import latex, style
from heldout.errors import InputError
from heldout.models import LDA

if TYPE_CHECKING:
    import pandas as pd

HEIGHT = 3.9  # inches; two rows
AGREEMENT = 1.1  # R-hat below which chains are taken to agree: Gelman et al., Bayesian Data Analysis, section 11.5
EARLY = 0.1  # share of the sweeps whose rise may leave the panel, so that later sweeps can be seen
SHADES = (0.12, 0.72)  # places in the colour map of few and of many topics


def traces_and_r_hats(inputs: Inputs) -> Figure:
    """Draw, per corpus, the traces at the fewest and the most topics (first seed measured), and R-hat against topics.

    A trace is the log joint probability less the chains' mean over the last half of the sweeps, which is shaded:
    R-hat is taken from it. A point of R-hat is one seed; the line joins the means.

    Raises:
        InputError: when no chain of LDA was measured.
    """
    traces, r_hats = (select(inputs.measurements, quantity=q, model=LDA) for q in ("log-joint", "r-hat"))
    corpora = [corpus for corpus in inputs.settings.corpora if (r_hats["corpus"] == corpus).any()]
    if not corpora:
        raise InputError("figure-convergence: no chain was measured; measure convergence first")
    figure, rows = style.grid(
        2,
        len(corpora),
        HEIGHT,
        titles=[latex.corpus_title(corpus) for corpus in corpora],
        synthetic=[inputs.synthetic(corpus) for corpus in corpora],
    )
    for (upper, lower), corpus in zip(rows.T, corpora, strict=True):
        shown = select(traces, corpus=corpus)
        _draw_traces(upper, select(shown, seed=shown["seed"].min()))
        _draw_r_hats(lower, select(r_hats, corpus=corpus))
    rows[0][0].set_ylabel("log joint probability less\nits late mean, 1000 nats")
    rows[1][0].set_ylabel("split $\\hat{R}$ of the last half")
    highest = max(axis.get_ylim()[1] for axis in rows[1])
    for axis in rows[1]:
        axis.set_ylim(0.98, highest)
    return figure


def _draw_traces(axis: Axes, traces: "pd.DataFrame") -> None:
    last = int(traces["at"].max())
    low = high = 0.0
    for topics, shade in zip(sorted({traces["topics"].min(), traces["topics"].max()}), SHADES, strict=False):
        shown = traces[traces["topics"] == topics]
        late = float(shown[shown["at"] >= last / 2]["value"].mean())
        for number, (_, chain) in enumerate(shown.groupby("chain")):
            chain = chain.sort_values("at")
            values = (chain["value"] - late) / 1000.0
            label = f"{topics} topics" if number == 0 else None
            axis.plot(chain["at"], values, color=colormaps["viridis"](shade), linewidth=0.8, label=label)
            seen = values[chain["at"] >= EARLY * last]
            low, high = min(low, float(seen.min())), max(high, float(seen.max()))
    margin = 0.06 * (high - low)
    axis.set_ylim(low - margin, high + margin)
    axis.set_xlim(0, last)
    axis.axvspan(last / 2, last, color=style.GROUND, zorder=0, linewidth=0)
    axis.set_xlabel("sweep")
    axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axis.legend(loc="lower right")


def _draw_r_hats(axis: Axes, r_hats: "pd.DataFrame") -> None:
    means = r_hats.groupby("topics")["value"].mean()
    axis.axhline(AGREEMENT, color=style.INK, linestyle=style.DASHED, linewidth=0.9)
    axis.plot(means.index, means, color=style.COLOURS[LDA])
    props: style.Props = {"color": style.COLOURS[LDA], "alpha": 0.6, "markeredgewidth": 0}
    axis.plot(r_hats["topics"], r_hats["value"], style.MARKERS[LDA], **props)
    axis.set_xscale("log")
    style.ticks(axis.xaxis, style.sparse_ticks(int(k) for k in means.index))
    axis.margins(x=0.06)
    axis.set_xlabel("number of topics")
