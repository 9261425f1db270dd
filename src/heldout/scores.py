"""The tidy table of scores: one row per evaluation of a model on a test set.

A row's key is (corpus, model, variant, topics, smoothing, chain, evaluator, samples, seed). The table holds no timings,
so that two runs can be compared byte by byte.
"""

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.tables import merge_rows, read_table, write_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, order=True)
class Score:
    """One evaluation of one model on one corpus's test documents.

    Attributes:
        corpus, model, variant: names. The variant says which reading or alternative was run.
        topics: K.
        smoothing: the constant that was added to p(w | z); 0 where none was.
        chain: the Markov chain's number, "all" where predictive distributions were averaged over chains,
            "none" for a model without chains.
        evaluator: the evaluator's name.
        samples: posterior samples or particles used per document; 0 for a deterministic evaluator.
        seed: determines split, start and sampling.
        documents, tokens: the numbers scored.
        documents_left_out, tokens_left_out: how many were not (empty documents, words outside the vocabulary).
        log_likelihood: sum over the scored tokens, nats.
        perplexity: exp(-log_likelihood / tokens), per token.
        standard_error: the evaluator's own Monte Carlo error of log_likelihood, nats, its bias included where it
            states one; 0 for a deterministic evaluator, NaN where the evaluator states none.
    """

    corpus: str
    model: str
    variant: str
    topics: int
    smoothing: float
    chain: str
    evaluator: str
    samples: int
    seed: int
    documents: int
    tokens: int
    documents_left_out: int
    tokens_left_out: int
    log_likelihood: float
    perplexity: float
    standard_error: float


TYPES: dict[str, Any] = {field.name: field.type for field in fields(Score)}
COLUMNS = tuple(TYPES)
GROUPS = 20  # groups of documents, the same in every split


def perplexity(log_likelihood: float, tokens: int) -> float:
    """Return exp(-log_likelihood / tokens), equation 5.37; inf where a token has probability 0.

    Examples:
        >>> round(perplexity(-20.0, 10), 2)
        7.39
    """
    if tokens == 0:
        raise InputError("perplexity: there are no tokens to score")
    exponent = -log_likelihood / tokens
    return math.exp(exponent) if exponent < 700.0 else math.inf


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write scores as CSV, sorted."""
    write_rows(path, COLUMNS, map(astuple, sorted(scores)))


def collect_scores(paths: Iterable[Path], destination: Path) -> None:
    """Merge score files into one, sorted.

    Raises:
        InputError: when a file has other columns, or two files report the same evaluation.
    """
    key = COLUMNS[: COLUMNS.index("documents")]
    merge_rows(paths, destination, TYPES, key, numbers=("topics", "smoothing"), what="scores")


def read_scores(path: Path) -> "pd.DataFrame":
    """Read a scores table into a data frame with the columns of `Score`.

    Raises:
        InputError: when it has other columns, is cut, or holds no number where one belongs.
    """
    table = read_table(path, TYPES, "scores")
    if tuple(table.columns) != COLUMNS:
        raise InputError(f"{path}: not a scores table; its columns are not {', '.join(COLUMNS)}")
    return table
