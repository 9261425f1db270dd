"""Tests run on the machine instructions that jobs run on: the same bytes, and kernels compiled once. None is timed."""

import warnings

import pytest
from hypothesis import settings

from heldout.processor import pin

pin()
settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the workflow, the longest file: by its side another worker runs all the short ones."""
    items.sort(key=lambda item: item.path.parent.name != "dag")


with warnings.catch_warnings():  # tomotopy's compiled types warn of how they were built when they are first imported
    warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
    import tomotopy  # noqa: F401
