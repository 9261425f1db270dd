"""Figures 7, 8 and 9: LDA beside the best curves of PLSA and EPCA, full and half folding-in."""

from matplotlib.figure import Figure

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA
from heldout.papers.welling.figures.figures_4_to_6_smoothing import line
from heldout.papers.welling.results import best_curve
from heldout.typesetting import style

HEIGHT = 3.25  # inches: legends stand below the panels, clear of curves that cross them anywhere else


def comparison(inputs: Inputs, corpus: str) -> Figure:
    """Draw each model's best curve per panel: the constant with the lowest perplexity on the test documents."""
    figure, axes = style.panels(list(style.EVALUATOR_NAMES.values()), synthetic=inputs.synthetic(corpus))
    figure.set_size_inches(style.WIDTH, HEIGHT)
    for axis, evaluator in zip(axes, FOLDING_IN, strict=True):
        for model in (PLSA, EPCA, LDA):
            chosen = best_curve(inputs, corpus, model, evaluator)
            if chosen is not None:
                variant, curve = chosen
                label = style.MODEL_NAMES[model]
                label += f", {variant}" if inputs.settings.further_variants(model) else ""
                label += f", constant {style.power(curve.smoothing)}" if curve.smoothing else ""
                line(axis, curve, style.COLOURS[model], marker=style.MARKERS[model], label=label)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), fontsize=7.5)
    style.finish(axes, inputs.settings.topics)
    return figure
