"""Figures 7, 8 and 9: LDA under each prior beside the best curves of PLSA and EPCA, full and half folding-in."""

from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures.figures_4_to_6_smoothing import line
from artifact.papers.welling.results import UNPENALISED, best_points, lda_variants
from artifact.typesetting import style
from heldout.evaluators import FOLDING_IN
from heldout.models import EPCA, LDA, PLSA

PRIOR_LINES = ("-", style.DASHED, style.DOTTED)  # line styles of LDA's priors, the main one first
HEIGHT = 3.5  # inches, with room below the panels for legends, which curves would cross anywhere else


def comparison(inputs: Inputs, corpus: str) -> Figure:
    """Draw each model's best curve per panel: the constant with the lowest perplexity on the test documents.

    EPCA has no penalty, as in the original. LDA has a curve per prior; a band over seeds is the main one's.
    """
    titles = list(style.EVALUATOR_NAMES.values())
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus), height=HEIGHT)
    for axis, evaluator in zip(axes, FOLDING_IN, strict=True):
        for model, named in ((PLSA, ""), (EPCA, UNPENALISED)):
            curve = best_points(inputs, [corpus], model, evaluator, named)
            for variant, constant in curve[["variant", "smoothing"]].drop_duplicates().to_numpy():
                label = style.MODEL_NAMES[model]
                label += f", {variant}" if inputs.settings.further_variants(model) else ""
                label += f", constant {style.power_label(constant)}" if constant else ""
                line(axis, curve, style.COLOURS[model], marker=style.MARKERS[model], label=label)
        for number, variant in enumerate(lda_variants(inputs)):
            curve = best_points(inputs, [corpus], LDA, evaluator, variant)
            if len(curve):
                props: style.Props = {"marker": style.MARKERS[LDA]}
                if number:  # thinner, without a band: three of one colour would hide one another
                    props = {"marker": "", "linewidth": 0.9, "errorbar": None}
                label = f"{style.MODEL_NAMES[LDA]}, {_prior(inputs, variant)}"
                line(axis, curve, style.COLOURS[LDA], label=label, linestyle=PRIOR_LINES[number], **props)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17))
    style.finish(axes, inputs.settings.topics)
    return figure


def _prior(inputs: Inputs, variant: str) -> str:
    """Return a variant's prior in a few words."""
    train = inputs.settings.settings_of(LDA, variant, "train")
    if train.get("optimise_every"):
        return r"$\alpha$ and $\beta$ fitted"
    return rf"$\alpha = {train['alpha_sum']:g}\,/\,K$"
