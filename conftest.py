"""Tests run on the machine instructions that jobs run on: the same bytes, and kernels compiled once. None is timed."""

import doctest
import warnings
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from heldout.processor import pin

pin()
settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _names_of_examples(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Give every evaluator's example the topics and documents that `heldout.evaluators` defines for all."""
    if isinstance(request.node, pytest.DoctestItem) and "evaluators" in request.path.parts:
        from heldout import evaluators

        for example in doctest.DocTestParser().get_examples(evaluators.__doc__ or ""):
            exec(example.source, doctest_namespace)


class _ByShared(LoadFileScheduling):  # type: ignore[misc]
    """Give files to workers, those of the gallery to one and those of the papers to one: they share made-up studies."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::")[0]
        shared = ("tests/gallery/", "tests/artifact/")
        return next((folder for folder in shared if path.startswith(folder)), path)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByShared:
    """Keep tests that share what is made once in one process."""
    return _ByShared(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the workflow, the longest file: by its side another worker runs all the short ones."""
    items.sort(key=lambda item: item.path.parent.name != "dag")


with warnings.catch_warnings():  # tomotopy's compiled types warn of how they were built when they are first imported
    warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
    import tomotopy  # noqa: F401
