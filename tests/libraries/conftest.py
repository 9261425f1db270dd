"""tomotopy's compiled types warn of how they were built, once, when they are first imported."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
    import tomotopy  # noqa: F401
