"""Deterministic latent variable models, their likelihoods, and how far folding-in is from them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.auditing.audit import audit

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    if name == "audit":  # late: numba's start would slow every job of the workflow down
        from heldout.auditing.audit import audit

        return audit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
