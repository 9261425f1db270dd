"""Figures 7, 8 and 9: LDA beside the best curve of PLSA, full and half folding-in."""

from matplotlib.figure import Figure

from dlvm.exhibits import style
from dlvm.exhibits.curves import best, study_curves
from dlvm.exhibits.inputs import EVALUATORS, LDA, PLSA, Inputs
from dlvm.exhibits.smoothing_curves import line


def draw(inputs: Inputs, corpus: str) -> Figure:
    """Draw each model's best curve per panel: the constant with the lowest perplexity on the test documents."""
    settings = inputs.settings
    titles = [style.EVALUATOR_NAMES[evaluator] for evaluator in EVALUATORS]
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus))
    for axis, evaluator in zip(axes, EVALUATORS, strict=True):
        for model in (PLSA, LDA):
            curve = best(study_curves(inputs, corpus, model, evaluator))
            if curve is None:
                continue
            name = style.MODEL_NAMES[model]
            label = f"{name}, constant {style.power(curve.smoothing)}" if curve.smoothing else name
            line(axis, curve, style.COLOURS[model], marker=style.MARKERS[model], label=label)
        axis.legend(loc="best")
    style.finish(axes, settings.topics)
    return figure
