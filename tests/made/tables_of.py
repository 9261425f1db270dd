"""Scores, measurements and notes as the tables that exhibits read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple

import numpy as np
import pandas as pd

from artifact.results.measurements import COLUMNS as MEASURED
from artifact.results.measurements import NOTES, Measurement, Note
from artifact.results.scores import COLUMNS, GROUPS, NATS_COLUMNS, TOKENS_COLUMNS, Score
from heldout.evaluators import REFERENCE

TOKENS = 10  # of a group of documents


def scores_table(scores: Iterable[Score]) -> pd.DataFrame:
    """Return scores as a table."""
    return pd.DataFrame([astuple(score)[:-1] for score in scores], columns=list(COLUMNS))


def scored(
    model: str,
    values: Mapping[tuple[str, str], Sequence[object]],
    topics: Sequence[int],
    *,
    corpus: str = "cranfield",
    seeds: Sequence[int] = (0, 1),
    error: float = 0.0,
) -> pd.DataFrame:
    """Return scores with groups of documents, alike in every split: nats per token by evaluator and variant.

    They are those of each number of topics, each of all groups or an array, by group; `error` is the reference's.
    """
    rows = []
    for (evaluator, variant), by_topics in values.items():
        for k, value in zip(topics, by_topics, strict=True):
            nats = np.broadcast_to(np.asarray(value, dtype=float), GROUPS) * TOKENS
            row = {
                "corpus": corpus,
                "model": model,
                "variant": variant,
                "topics": k,
                "smoothing": 1e-5,
                "chain": "none",
            }
            row |= {"evaluator": evaluator, "samples": 0, "tokens": TOKENS * GROUPS, "log_likelihood": nats.sum()}
            row["standard_error"] = error * TOKENS * GROUPS if evaluator == REFERENCE else 0.0
            row |= dict.fromkeys(TOKENS_COLUMNS, TOKENS) | dict(zip(NATS_COLUMNS, nats, strict=True))
            rows += [row | {"seed": seed} for seed in seeds]
    return pd.DataFrame(rows)


def measurements_table(rows: Iterable[Measurement]) -> pd.DataFrame:
    """Return measurements as a table."""
    return pd.DataFrame([astuple(row) for row in rows], columns=list(MEASURED))


def notes_table(rows: Iterable[Note]) -> pd.DataFrame:
    """Return notes as a table."""
    return pd.DataFrame([astuple(row) for row in rows], columns=list(NOTES.columns))


def plain_rows(text: str) -> list[str]:
    """Return the rows of a table in LaTeX as text, each also without its first column, which is often the corpus."""
    text = re.sub(r"\\(ensuremath|texttt|textsuperscript|boldmath |,)|[{}$]", "", text)
    text = text.replace(r"\textbf", "bold ")
    for macro, plain in ((r"\\", ""), (r"\pm", "±"), (r"\infty", "∞"), (r"\dag", "†"), (r"\_", "_")):
        text = text.replace(macro, plain)
    return [row for line in text.splitlines() for row in (line, line.partition(" & ")[2])]
