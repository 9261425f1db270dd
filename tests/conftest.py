"""Tests run on the machine instructions that jobs run on: the same bytes, and kernels compiled once."""

import warnings

from heldout.processor import pin

pin()

with warnings.catch_warnings():  # tomotopy's compiled types warn of how they were built when they are first imported
    warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
    import tomotopy  # noqa: F401
