"""Figures 1, 2 and 3: the three versions of PLSA, full and half folding-in."""

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures.figures_4_to_6_smoothing import line
from artifact.papers.welling.results import best, points
from artifact.typesetting import style
from heldout.evaluators import FOLDING_IN
from heldout.models import PLSA, TEM, VEM

if TYPE_CHECKING:
    import pandas as pd


def versions(inputs: Inputs, corpus: str) -> Figure:
    """Draw each version's curve per panel, over the seeds that all have; bands show all seeds of the others.

    A seed redraws the split too: curves over different seeds would differ by the documents that they are scored on.

    Of PLSA-HOF and PLSA-VEM it is the best curve (one constant for all numbers of topics). Of PLSA-TEM every point is
    the lowest over beta and the constant at that number of topics, chosen on the test documents as Welling et al.
    (2008, section 5) do: an upper bound on its performance, and a freer choice than the others have.
    """
    figure, axes = style.panels(list(style.EVALUATOR_NAMES.values()), synthetic=inputs.synthetic(corpus))
    topics: set[int] = set()
    for axis, evaluator in zip(axes, FOLDING_IN, strict=True):
        for model, (curve, choice) in _curves(inputs, corpus, evaluator).items():
            ends = curve.groupby("topics")["perplexity"].agg(["min", "max"])
            if len(set(curve["seed"])) > 1:
                axis.fill_between(ends.index, ends["min"], ends["max"], color=style.COLOURS[model], alpha=0.2, lw=0)
            line(
                axis,
                curve[curve["seed"].isin(inputs.settings.seeds_of(TEM))],
                style.COLOURS[model],
                marker=style.MARKERS[model],
                label=f"{style.MODEL_NAMES[model]}, {choice}",
                linestyle=style.DASHED if model == VEM else "-",  # it lies on PLSA-HOF's, which shows between them
                errorbar=None,  # the band has all seeds
            )
            topics.update(curve["topics"])
        axis.legend(loc="best")
    style.finish(axes, sorted(topics) or inputs.settings.topics)
    return figure


def _curves(inputs: Inputs, corpus: str, evaluator: str) -> "dict[str, tuple[pd.DataFrame, str]]":
    """Return every version's curve by model, and the choice behind it."""
    named = {model: best(points(inputs, [corpus], model, evaluator)) for model in (PLSA, VEM)}
    chosen = {
        model: (curve, f"constant {style.power_label(curve['smoothing'].iloc[0])}")
        for model, curve in named.items()
        if len(curve)
    }
    variants = inputs.settings.swept_variants(TEM)
    tempered = points(inputs, [corpus] if variants else [], TEM, evaluator, variants)
    if len(tempered):
        lowest = tempered.groupby(["topics", "seed"])["perplexity"].min().reset_index()
        chosen[TEM] = (lowest, "best $\\tau$ and constant at\neach $K$, chosen on the test set")
    return chosen
