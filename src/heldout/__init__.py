"""Deterministic latent variable models, their likelihoods, and how far folding-in is from them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.auditing.audit.audit import audit
    from heldout.auditing.choice.choose import choose, one_standard_error
    from heldout.auditing.evidence import log_evidence
    from heldout.auditing.rank.rank import rank
    from heldout.auditing.ratings import rating_log_likelihood
    from heldout.auditing.scorer import log_likelihood
    from heldout.cases import ExactCase, exact_cases

    __version__: str

_HOMES = {
    **{"audit": "auditing.audit.audit", "log_likelihood": "auditing.scorer", "rank": "auditing.rank.rank"},
    **{"choose": "auditing.choice.choose", "one_standard_error": "auditing.choice.choose"},
    **{"log_evidence": "auditing.evidence", "rating_log_likelihood": "auditing.ratings"},
    **{"ExactCase": "cases", "exact_cases": "cases"},
}

__all__ = [
    "ExactCase",
    "__version__",
    "audit",
    "choose",
    "exact_cases",
    "log_evidence",
    "log_likelihood",
    "one_standard_error",
    "rank",
    "rating_log_likelihood",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:  # late: numba's start would slow every job of the workflow down
        return getattr(import_module(f"heldout.{_HOMES[name]}"), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("heldout")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
