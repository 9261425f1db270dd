"""Buntine (2009), "Estimating likelihoods for topic models"."""

from heldout.manifest import Exhibit, Experiment, Paper
from heldout.papers.buntine.settings import Calibration, ConvergenceToExact, ModelSelection

_FIGURES, _TABLES = "heldout.papers.buntine.figures", "heldout.papers.buntine.tables"
_SELECTION = ("model-selection",)

BUNTINE = Paper(
    module=__name__,
    source="Buntine (2009)",
    experiments={
        "calibration": Experiment(Calibration, corpora="none"),
        "convergence-to-exact": Experiment(ConvergenceToExact, corpora="none"),
        "model-selection": Experiment(ModelSelection, corpora="drawn", topics="by corpus"),
    },
    optional=_SELECTION,
    scorecard=(
        "lrs-most-precise",
        "lrs-unbiased",
        "harmonic-mean-biased",
        "lr-biased",
        "true-topics-found",
    ),
    exhibits={
        "table-calibration": Exhibit(
            "table",
            "estimators held to exact values, beside the published errors",
            _TABLES,
            "errors_beside_published",
            ("calibration",),
            claims=("lrs-unbiased", "others-biased", "harmonic-mean-biased"),
        ),
        "table-calibration-others": Exhibit(
            "table",
            "every estimator held to exact values",
            _TABLES,
            "errors_of_all",
            ("calibration",),
        ),
        "table-estimator-timings": Exhibit("table", "what an estimate costs", _TABLES, "timings"),
        "figure-convergence-to-exact": Exhibit(
            "figure", "estimates and their samples", _FIGURES, "convergence_to_exact", ("convergence-to-exact",)
        ),
        "figure-realistic-10": Exhibit(
            "figure",
            "estimators on models of ten true topics",
            _FIGURES,
            "realistic_10",
            _SELECTION,
            drawn=("s10", "s10s"),
            claims=("lr-biased", "mfi-tracks-lrs"),
        ),
        "figure-realistic-40": Exhibit(
            "figure",
            "estimators on models of forty true topics",
            _FIGURES,
            "realistic_40",
            _SELECTION,
            drawn=("s40",),
            claims=("forty-topics-found",),
        ),
        "figure-realistic-selection": Exhibit(
            "figure",
            "the true number of topics by every estimator",
            _FIGURES,
            "realistic_selection",
            _SELECTION,
            drawn=("s10s",),
            claims=("true-topics-found", "lrs-sharpest"),
        ),
        "table-readings": Exhibit(
            "table",
            "readings of section 3.5, by training size",
            _TABLES,
            "readings",
            _SELECTION,
            drawn=("s10", "s10s", "s40"),
            claims=("lr-perplexity-rises",),
        ),
        "figure-model-selection": Exhibit(
            "figure",
            "which evaluator finds the true number of topics",
            _FIGURES,
            "model_selection",
            _SELECTION,
            drawn=("s10", "s10s", "s40"),
        ),
    },
)
