"""Tiny settings of the experiments on LDA's extensions, for the tests of the gallery."""

from typing import Any

PRIORS: dict[str, Any] = {"alpha": 0.5, "gamma": 0.1}
ANSWERS = {"rounds": 3, "sweeps": 4, "exact_topics": 2, "chains": 4, "states": 20}
STATES = {"states": 2, "delta": 0.1, "epsilon": 0.1, "sweeps": 4, "documents": 20, "spread": 0.6, "shown": 5}
SETTINGS: dict[str, dict[str, Any]] = {
    "dynamics": {
        **PRIORS,
        "documents": 6,
        "words": 15,
        "topics": 2,
        "start_variance": 2.0,
        "sigma2": 0.05,
        "iterations": 4,
        "sweeps": 4,
        "test_documents": 3,
        "tokens": 10,
        "chains": 60,
        "temperatures": 5,
        "samples": 240,
        "shown": 4,
    },
    "slda": {**PRIORS, "topics": [2, 3], "penalty": 0.01, "samples": 240, **ANSWERS},
    "rtm": {**PRIORS, "topics": [2, 3], "penalty": 0.01, "pairs": 6, **ANSWERS},
    "disclda": {
        **PRIORS,
        "classes": 2,
        "documents": 6,
        "test_documents": 3,
        "longest": 100,
        "words": 15,
        "own": [1, 2],
        "common": 1,
        "exact_topics": 2,
        "samples": 240,
        "softening": 0.3,
        "iterations": 5,
        "conditional": 3,
        "fold_in_iterations": 30,
    },
    "lda-hmm": {
        **PRIORS,
        **STATES,
        "topics": [2, 3],
        "exact_topics": 2,
        "checked": 15,
        "checked_topics": 3,
        "samples": 120,
        "fold_in_iterations": 60,
    },
    "lda-hmm-words": {**PRIORS, **STATES, "topics": 3, "columns": 2, "words": 2, "context": 3},
    "folding-in": {
        **PRIORS,
        **{name: value for name, value in STATES.items() if name not in ("spread", "shown")},
        "topics": [2, 4],
        "exact_topics": 2,
        "smoothing": 1e-3,
        "iterations": 12,
        "chains": 8,
        "temperatures": 12,
        "fold_in_iterations": 100,
    },
}
