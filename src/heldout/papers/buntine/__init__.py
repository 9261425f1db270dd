"""Buntine (2009), "Estimating likelihoods for topic models"."""

from heldout.manifest import Exhibit, Paper

_X = "heldout.papers.buntine.exhibits"
_SELECTION = ("model-selection",)

BUNTINE = Paper(
    name="buntine",
    source="Buntine (2009)",
    experiments=("calibration", "convergence-to-exact", "model-selection"),
    exhibits={
        "table-calibration": Exhibit(
            "table",
            "estimators held to exact values, beside the published errors",
            f"{_X}.calibration_table",
            "render",
            ("calibration",),
            claims=("lrs-unbiased", "others-biased", "harmonic-mean-biased"),
        ),
        "table-calibration-others": Exhibit(
            "table",
            "every estimator held to exact values",
            f"{_X}.calibration_table",
            "render_others",
            ("calibration",),
        ),
        "table-estimator-timings": Exhibit(
            "table", "what an estimate costs", f"{_X}.calibration_table", "render_timings"
        ),
        "figure-convergence-to-exact": Exhibit(
            "figure", "estimates and their samples", f"{_X}.convergence_to_exact", "draw", ("convergence-to-exact",)
        ),
        "figure-realistic-10": Exhibit(
            "figure",
            "estimators on models of ten true topics",
            f"{_X}.realistic_curves",
            "figure_3",
            _SELECTION,
            drawn=("s10", "s10s"),
            claims=("lr-biased", "mfi-tracks-lrs"),
        ),
        "figure-realistic-40": Exhibit(
            "figure",
            "estimators on models of forty true topics",
            f"{_X}.realistic_curves",
            "figure_4",
            _SELECTION,
            drawn=("s40",),
        ),
        "figure-realistic-selection": Exhibit(
            "figure",
            "the true number of topics by every estimator",
            f"{_X}.realistic_curves",
            "figure_5",
            _SELECTION,
            drawn=("s10s",),
            claims=("true-topics-found", "lrs-sharpest"),
        ),
        "figure-model-selection": Exhibit(
            "figure",
            "which evaluator finds the true number of topics",
            f"{_X}.model_selection",
            "draw",
            _SELECTION,
            drawn=("s10", "s10s", "s40"),
        ),
    },
)
