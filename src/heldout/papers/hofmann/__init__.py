"""Hofmann (1999), "Probabilistic latent semantic analysis"."""

from heldout.manifest import Exhibit, Paper

_X = "heldout.papers.hofmann.exhibits.hofmann"

HOFMANN = Paper(
    name="hofmann",
    source="Hofmann (1999)",
    experiments=("latent-semantic-analysis", "tempering"),
    optional=("latent-semantic-analysis", "tempering"),
    exhibits={
        "figure-hofmann": Exhibit(
            "figure",
            "PLSA beside latent semantic analysis, as Hofmann scored them and as documents are",
            _X,
            "figure_5a",
            ("tempering", "latent-semantic-analysis"),
            claims=("hofmann-no-overfitting", "hofmann-no-overfitting-truth", "hofmann-below-counts"),
        ),
        "figure-hofmann-path": Exhibit(
            "figure",
            "inverse annealing, iteration by iteration",
            _X,
            "figure_path",
            ("tempering",),
            claims=("hofmann-heated-no-worse", "hofmann-faster"),
        ),
        "table-hofmann": Exhibit(
            "table",
            "PLSA beside latent semantic analysis",
            _X,
            "render",
            ("tempering", "latent-semantic-analysis"),
        ),
    },
)
