"""Welling, Chemudugunta and Sutter (2008), "Deterministic latent variable models and their pitfalls"."""

from heldout.manifest import Exhibit, Experiment, Paper
from heldout.models import EPCA, LDA, PLSA, TEM, VEM
from heldout.papers.welling.settings import Bounds, DiscreteLatents, NormaliserLimits, Normalisers, PointPosteriors
from heldout.settings import Nothing
from heldout.study import BEYOND, SECOND

_FIGURES = "heldout.papers.welling.figures"
_TABLES = "heldout.papers.welling.tables"
_V, _S, _C = (f"{_FIGURES}.figures_{of}" for of in ("1_to_3_versions", "4_to_6_smoothing", "7_to_9_comparison"))
_VERSIONS = ("three versions of PLSA", _V, "versions", (PLSA, VEM, TEM))
_SMOOTHING = ("PLSA under every constant, added after training", _S, "first_reading", (PLSA,))
_SECOND = ("PLSA under every constant, added at every M step", _S, "second_reading", (SECOND,))
_BEYOND = ("PLSA beyond the size of the vocabulary", _S, "beyond", (BEYOND,))
_COMPARISON = ("LDA beside the best curves of PLSA and EPCA", _C, "comparison", (PLSA, EPCA, LDA))
_SIMILAR = ("plsa-vem-similar", "plsa-tem-similar")
_OVERFITS = ("full-always-improves", "half-above-full", "half-overfits")
_BETTER = tuple(
    f"{claim}{prior}"
    for prior in ("", "-sparse-prior", "-fitted-prior")
    for claim in ("lda-better", "lda-better-by-half")
)

WELLING = Paper(
    module=__name__,
    source="Welling et al. (2008)",
    experiments={
        "point-posteriors": Experiment(PointPosteriors),
        "discrete-latents": Experiment(DiscreteLatents),
        "bounds": Experiment(Bounds, models=(PLSA, VEM, LDA), topics="list"),
        "normalisers": Experiment(Normalisers, models=(PLSA, VEM, LDA), topics="list"),
        "normaliser-limits": Experiment(NormaliserLimits),
        "convergence": Experiment(Nothing, models=(LDA,), topics="list"),
    },
    scorecard=(
        "continuous-optimistic",
        "discrete-pessimistic",
        "full-always-improves",
        "half-overfits",
        "long-documents-alleviate",
        "lda-better",
        "lda-better-sparse-prior",
        "lda-better-fitted-prior",
        "lda-better-than-plsa-by-half-fitted-prior",
        "lda-better-than-epca-by-half-fitted-prior",
        "epca-similar",
        "tempering-no-advantage",
    ),
    exhibits={
        "figure-smoothing": Exhibit(
            "figure",
            "PLSA under every constant, all corpora",
            _S,
            "small_multiple",
            (PLSA,),
            original="Figures 4-6",
            claims=_OVERFITS,
        ),
        "table-1": Exhibit("table", "the corpora", _TABLES, "table_1", original="Table 1"),
        **{f"figure-{1 + i}": Exhibit("figure", *_VERSIONS, i, f"Figure {1 + i}", claims=_SIMILAR) for i in range(3)},
        **{f"figure-{4 + i}": Exhibit("figure", *_SMOOTHING, i, f"Figure {4 + i}", claims=_OVERFITS) for i in range(3)},
        **{f"figure-{4 + i}b": Exhibit("figure", *_SECOND, i, f"Figure {4 + i}") for i in range(3)},
        **{
            f"figure-{7 + i}": Exhibit("figure", *_COMPARISON, i, f"Figure {7 + i}", claims=(*_BETTER, "epca-similar"))
            for i in range(3)
        },
        "figure-beyond": Exhibit("figure", *_BEYOND, claims=("full-improves-beyond-vocabulary",)),
        "figure-point-posteriors": Exhibit(
            "figure",
            "point posteriors: bounds and collapses",
            f"{_FIGURES}.point_posteriors",
            "draw",
            ("point-posteriors",),
            claims=("discrete-bound", "ica-collapses"),
        ),
        "figure-bounds": Exhibit(
            "figure",
            "optimism and pessimism of single documents",
            f"{_FIGURES}.bounds",
            "draw",
            ("bounds", "discrete-latents"),
            claims=("continuous-optimistic", "discrete-pessimistic", "mean-field-pessimistic"),
        ),
        "figure-normaliser": Exhibit(
            "figure",
            "the normaliser that folding in ignores",
            f"{_FIGURES}.normaliser",
            "ignored",
            ("normalisers",),
            claims=("normaliser",),
        ),
        "figure-normalised": Exhibit(
            "figure",
            "what the normalised model says of many topics",
            f"{_FIGURES}.normaliser",
            "normalised",
            (PLSA, "normaliser-limits"),
            claims=("ranking-reversed",),
        ),
        "figure-convergence": Exhibit(
            "figure", "convergence of the Gibbs sampler", f"{_FIGURES}.convergence", "draw", ("convergence",)
        ),
        "table-models": Exhibit("table", "the family of models", _TABLES, "models"),
        "table-side-by-side": Exhibit(
            "table",
            "the original's figures beside ours",
            _TABLES,
            "side_by_side",
            (PLSA, VEM, TEM, EPCA, LDA),
        ),
    },
)
