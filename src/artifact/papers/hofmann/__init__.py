"""Hofmann (1999), "Probabilistic latent semantic analysis"."""

from artifact.papers.hofmann.settings import LatentSemanticAnalysis, Tempering
from artifact.study.manifest import Exhibit, Experiment, Paper

EXPERIMENTS = ("latent-semantic-analysis", "tempering")

HOFMANN = Paper(
    module=__name__,
    source="Hofmann (1999)",
    experiments={
        "latent-semantic-analysis": Experiment(LatentSemanticAnalysis, standalone=True),
        "tempering": Experiment(Tempering, topics="either", standalone=True),
    },
    optional=EXPERIMENTS,
    exhibits={
        "figure-hofmann": Exhibit(
            "PLSA beside latent semantic analysis, as Hofmann scored them", "figures.figure_5", EXPERIMENTS
        ),
        "table-hofmann": Exhibit("PLSA beside latent semantic analysis", "tables.evaluations", EXPERIMENTS),
    },
)
