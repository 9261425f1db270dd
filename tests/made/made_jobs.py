"""Experiments run on what a test gives, without a study."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from artifact.results.measurements import Measurement
from artifact.results.recorder import Results
from artifact.results.scores import Score
from artifact.study.job import Job
from artifact.study.settings import parse
from heldout.corpora.corpus import Corpus

Experiment = Callable[[Job, Any], Results]


def run(
    experiment: Experiment, kind: type, corpus: Corpus | None = None, **given: Any
) -> tuple[list[Score], list[Measurement]]:
    """Return scores and measurements; `given` are the settings, of class `kind`, and attributes of `Job`."""
    known = {field.name for field in fields(kind)}
    named = {name: value for name, value in given.items() if name not in known and hasattr(Job, name)}
    settings: Any = parse(
        kind, {name: value for name, value in given.items() if name not in named}, experiment.__module__
    )
    if corpus is not None:
        named["corpus"] = corpus
    results = experiment(Job(**named), settings)
    return results.scores, results.measurements
