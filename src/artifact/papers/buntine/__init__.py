"""Buntine (2009), "Estimating likelihoods for topic models"."""

from artifact.papers.buntine.settings import Calibration, ConvergenceToExact, MeanRatio, ModelSelection
from artifact.study.manifest import Exhibit, Experiment, Paper
from heldout.models.settings import LDAGrowthSchedule

SELECTION = ("model-selection",)

BUNTINE = Paper(
    module=__name__,
    source="Buntine (2009)",
    experiments={
        "calibration": Experiment(Calibration, corpora="none"),
        "convergence-to-exact": Experiment(ConvergenceToExact, corpora="none"),
        "mean-ratio": Experiment(MeanRatio, corpora="drawn or none", topics="by corpus", standalone=True),
        "model-selection": Experiment(
            ModelSelection, corpora="drawn", topics="by corpus", training=LDAGrowthSchedule, standalone=True
        ),
    },
    optional=(*SELECTION, "mean-ratio"),
    exhibits={
        "table-calibration": Exhibit(
            "estimators held to exact values, beside the published errors",
            "tables.errors_beside_published",
            ("calibration",),
        ),
        "table-calibration-others": Exhibit(
            "every estimator held to exact values", "tables.errors_of_all", ("calibration",)
        ),
        "figure-samples": Exhibit(
            "errors of LR and LRS by their samples", "figures.samples", ("convergence-to-exact", "mean-ratio")
        ),
        "figure-realistic": Exhibit(
            "estimators on models of ten and of forty true topics",
            "figures.realistic",
            SELECTION,
            shows=("s10", "s10s", "s40"),
        ),
        "table-readings": Exhibit(
            "readings of section 3.5, by training size",
            "tables.readings",
            SELECTION,
            shows=("s10", "s10s", "s40"),
        ),
        "figure-model-selection": Exhibit(
            "which evaluator finds the true number of topics",
            "figures.model_selection",
            SELECTION,
            shows=("s10", "s10s", "s40"),
        ),
    },
)
