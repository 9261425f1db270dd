"""Figures 1, 2 and 3: the three versions of PLSA, full and half folding-in."""

from matplotlib.figure import Figure

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.models import PLSA, TEM, VEM
from heldout.papers.welling.figures.figures_4_to_6_smoothing import line
from heldout.papers.welling.results import Curve, best, study_curves, swept_lowest
from heldout.typesetting import style


def versions(inputs: Inputs, corpus: str) -> Figure:
    """Draw each version's curve per panel, over the seeds that all have; bands show all seeds of the others.

    A seed redraws the split too: curves over different seeds would differ by the documents that they are scored on.

    Of PLSA-HOF and PLSA-VEM it is the best curve (one constant for all numbers of topics). Of PLSA-TEM every point is
    the lowest over beta and the constant at that number of topics, chosen on the test documents as Welling et al.
    (2008, section 5) do: an upper bound on its performance, and a freer choice than the others have.
    """
    settings = inputs.settings
    figure, axes = style.panels(list(style.EVALUATOR_NAMES.values()), synthetic=inputs.synthetic(corpus))
    topics: set[int] = set()
    for axis, evaluator in zip(axes, FOLDING_IN, strict=True):
        for model, (curve, choice) in _curves(inputs, corpus, evaluator).items():
            if len(curve.seeds) > 1:
                axis.fill_between(curve.topics, curve.low, curve.high, color=style.COLOURS[model], alpha=0.2, lw=0)
            shared = {at: value for at, value in curve.points.items() if at[1] in settings.seeds_of(TEM)}
            line(
                axis,
                Curve(curve.smoothing, shared),
                style.COLOURS[model],
                marker=style.MARKERS[model],
                label=f"{style.MODEL_NAMES[model]}, {choice}",
                linestyle=style.DASHED if model == VEM else "-",  # it lies on PLSA-HOF's, which shows between them
                errorbar=None,  # the band is that of all seeds
            )
            topics.update(curve.topics)
        axis.legend(loc="best")
    style.finish(axes, sorted(topics) or settings.topics)
    return figure


def _curves(inputs: Inputs, corpus: str, evaluator: str) -> dict[str, tuple[Curve, str]]:
    """Return every version's curve by model, and how it was chosen."""
    chosen: dict[str, tuple[Curve, str]] = {}
    for model in (PLSA, VEM):
        curve = best(study_curves(inputs, corpus, model, evaluator))
        if curve is not None:
            chosen[model] = (curve, f"constant {style.power_label(curve.smoothing)}")
    tempered = swept_lowest(inputs, corpus, TEM, evaluator, inputs.settings.swept_variants(TEM))
    if tempered:
        curve = Curve(0.0, {at: value for at, (value, _) in tempered.items()})
        chosen[TEM] = (curve, "best $\\tau$ and constant at\neach $K$, chosen on the test set")
    return chosen
