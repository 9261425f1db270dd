"""Scores, measurements and notes as the tables that exhibits read."""

from collections.abc import Iterable
from dataclasses import astuple

import pandas as pd

from artifact.results.measurements import COLUMNS as MEASURED
from artifact.results.measurements import NOTES, Measurement, Note
from artifact.results.scores import COLUMNS, Score


def scores_table(scores: Iterable[Score]) -> pd.DataFrame:
    """Return scores as a table."""
    return pd.DataFrame([astuple(score)[:-1] for score in scores], columns=list(COLUMNS))


def measurements_table(rows: Iterable[Measurement]) -> pd.DataFrame:
    """Return measurements as a table."""
    return pd.DataFrame([astuple(row) for row in rows], columns=list(MEASURED))


def notes_table(rows: Iterable[Note]) -> pd.DataFrame:
    """Return notes as a table."""
    return pd.DataFrame([astuple(row) for row in rows], columns=list(NOTES.columns))
