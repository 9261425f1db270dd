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
            "PLSA beside latent semantic analysis, as Hofmann scored them and as documents are",
            "figures.figure_5",
            EXPERIMENTS,
        ),
        "figure-hofmann-linear": Exhibit("Hofmann's score on his own axes", "figures.figure_5_linear", EXPERIMENTS),
        "figure-hofmann-path": Exhibit(
            "inverse annealing, iteration by iteration",
            "figures.annealing_path",
            ("tempering",),
        ),
        "table-hofmann": Exhibit("PLSA beside latent semantic analysis", "tables.evaluations", EXPERIMENTS),
    },
)
