"""Welling, Chemudugunta and Sutter (2008), "Deterministic latent variable models and their pitfalls"."""

from heldout.manifest import Exhibit, Paper
from heldout.models import EPCA, LDA, PLSA, TEM, VEM
from heldout.study import BEYOND, SECOND

_X = "heldout.papers.welling.exhibits"
_SMOOTHING = ("PLSA under every constant, added after training", f"{_X}.smoothing_curves", "first_reading", (PLSA,))
_SECOND = ("PLSA under every constant, added at every M step", f"{_X}.smoothing_curves", "second_reading", (SECOND,))
_VERSIONS = ("three versions of PLSA", f"{_X}.plsa_versions", "versions", (PLSA, VEM, TEM))
_COMPARISON = (
    "LDA beside the best curves of PLSA and EPCA",
    f"{_X}.comparison_curves",
    "comparison",
    (PLSA, EPCA, LDA),
)
_BEYOND = ("PLSA beyond the size of the vocabulary", f"{_X}.beyond_vocabulary", "draw", (BEYOND,))

WELLING = Paper(
    name="welling",
    source="Welling et al. (2008)",
    experiments=(
        "point-posteriors",
        "discrete-latents",
        "bounds",
        "normalisers",
        "normaliser-limits",
        "convergence",
    ),
    exhibits={
        "table-1": Exhibit("table", "the corpora", f"{_X}.corpora_table", "render", original="Table 1"),
        **{f"figure-{1 + i}": Exhibit("figure", *_VERSIONS, i, f"Figure {1 + i}") for i in range(3)},
        **{f"figure-{4 + i}": Exhibit("figure", *_SMOOTHING, i, f"Figure {4 + i}") for i in range(3)},
        **{f"figure-{4 + i}b": Exhibit("figure", *_SECOND, i, f"Figure {4 + i}") for i in range(3)},
        **{f"figure-{7 + i}": Exhibit("figure", *_COMPARISON, i, f"Figure {7 + i}") for i in range(3)},
        "figure-beyond": Exhibit("figure", *_BEYOND),
        "figure-point-posteriors": Exhibit(
            "figure",
            "point posteriors: bounds and collapses",
            f"{_X}.point_posteriors",
            "draw",
            ("point-posteriors",),
            claims=("discrete-bound", "ica-collapses"),
        ),
        "figure-bounds": Exhibit(
            "figure",
            "optimism and pessimism of single documents",
            f"{_X}.bounds",
            "draw",
            ("bounds", "discrete-latents"),
            claims=("continuous-optimistic", "discrete-pessimistic", "mean-field-pessimistic"),
        ),
        "figure-normaliser": Exhibit(
            "figure",
            "the normaliser that folding in ignores",
            f"{_X}.normaliser_curves",
            "draw",
            ("normalisers",),
            claims=("normaliser",),
        ),
        "figure-normalised": Exhibit(
            "figure",
            "what the normalised model says of many topics",
            f"{_X}.normalised_curves",
            "draw",
            (PLSA, "normaliser-limits"),
            claims=("ranking-reversed",),
        ),
        "figure-convergence": Exhibit(
            "figure", "convergence of the Gibbs sampler", f"{_X}.convergence", "draw", ("convergence",)
        ),
        "table-models": Exhibit("table", "the family of models", f"{_X}.models_table", "render"),
        "table-side-by-side": Exhibit(
            "table",
            "the original's figures beside ours",
            f"{_X}.side_by_side",
            "render",
            (PLSA, VEM, TEM, EPCA, LDA),
        ),
    },
)
