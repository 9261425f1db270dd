"""Hofmann (1999), "Probabilistic latent semantic analysis"."""

from heldout.manifest import Exhibit, Experiment, Paper
from heldout.papers.hofmann.settings import LatentSemanticAnalysis, Tempering

_FIGURES, _TABLES = "heldout.papers.hofmann.figures", "heldout.papers.hofmann.tables"
_BOTH = ("tempering", "latent-semantic-analysis")

HOFMANN = Paper(
    module=__name__,
    source="Hofmann (1999)",
    experiments={
        "latent-semantic-analysis": Experiment(LatentSemanticAnalysis),
        "tempering": Experiment(Tempering, topics="either"),
    },
    optional=("latent-semantic-analysis", "tempering"),
    scorecard=(
        "hofmann-far-below-unigram",
        "hofmann-far-below-lsa",
        "hofmann-no-overfitting",
        "hofmann-no-overfitting-truth-flat",
    ),
    exhibits={
        "figure-hofmann": Exhibit(
            "figure",
            "PLSA beside latent semantic analysis, as Hofmann scored them and as documents are",
            _FIGURES,
            "figure_5a",
            _BOTH,
            claims=(
                "hofmann-no-overfitting",
                "hofmann-no-overfitting-truth-flat",
                "hofmann-no-overfitting-truth-chosen",
                "hofmann-tem-below-early-folded-in",
                "hofmann-below-counts",
            ),
        ),
        "figure-hofmann-path": Exhibit(
            "figure",
            "inverse annealing, iteration by iteration",
            _FIGURES,
            "path",
            ("tempering",),
            claims=(
                "hofmann-heated-no-worse-coarse",
                "hofmann-heated-no-worse-fine",
                "hofmann-faster-coarse",
                "hofmann-faster-fine",
            ),
        ),
        "table-hofmann": Exhibit("table", "PLSA beside latent semantic analysis", _TABLES, "evaluations", _BOTH),
    },
)
