"""Figures 1, 2 and 3: the three versions of PLSA, full and half folding-in."""

from matplotlib.figure import Figure

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.models import PLSA, TEM, VEM
from heldout.papers.welling.exhibits.smoothing_curves import line
from heldout.papers.welling.results import Curve, best, study_curves, swept_lowest
from heldout.typesetting import style

DASHES = (0, (4, 2))


def versions(inputs: Inputs, corpus: str) -> Figure:
    """Draw each version's curve per panel, over the seeds that all have; bands show all seeds of the others.

    A seed redraws the split too: curves over different seeds would differ by the documents that they are scored on.

    Of PLSA-HOF and PLSA-VEM it is the best curve (one constant for all numbers of topics). Of PLSA-TEM every point is
    the lowest over beta and the constant at that number of topics, chosen on the test documents as Welling et al.
    (2008, section 5) do: an upper bound on its performance, and a freer choice than the others have.
    """
    settings = inputs.settings
    titles = [style.EVALUATOR_NAMES[evaluator] for evaluator in FOLDING_IN]
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus))
    topics: set[int] = set()
    for axis, evaluator in zip(axes, FOLDING_IN, strict=True):
        found: list[tuple[str, Curve, str]] = []
        for model in (PLSA, VEM):
            curve = best(study_curves(inputs, corpus, model, evaluator))
            if curve is not None:
                found.append((model, curve, f"constant {style.power(curve.smoothing)}"))
        tempered = swept_lowest(inputs, corpus, TEM, evaluator, settings.swept_variants(TEM))
        if tempered:
            points = {at: value for at, (value, _) in tempered.items()}
            chosen = "best $\\beta$ and constant at\neach $K$, chosen on the test set"
            found.append((TEM, Curve(0.0, points), chosen))
        for model, curve, how in found:
            label = f"{style.MODEL_NAMES[model]}, {how}"
            dashes = DASHES if model == VEM else "-"  # it lies on PLSA-HOF's, which shows between them
            shared = {at: value for at, value in curve.points.items() if at[1] in settings.seeds_of(TEM)}
            if len(curve.seeds) > 1:
                axis.fill_between(curve.topics, curve.low, curve.high, color=style.COLOURS[model], alpha=0.2, lw=0)
            line(
                axis,
                Curve(curve.smoothing, shared),
                style.COLOURS[model],
                marker=style.MARKERS[model],
                label=label,
                linestyle=dashes,
            )
            topics.update(curve.topics)
        axis.legend(loc="best", fontsize=7.5)
    style.finish(axes, sorted(topics) or settings.topics)
    return figure
