"""The tidy table of scores: one row per evaluation of a model on a test set.

A row's key is (corpus, model, variant, topics, smoothing, chain, evaluator, samples, seed). The table holds no timings,
so that two runs can be compared byte by byte.

The intervals of effects (`artifact.contrasts.estimates`) need to know what documents add to a score. They enter by
`GROUPS` fixed groups: a document's group is a hash of its name, the same in every split, model and run. A job's file
has the groups' columns beside the score's; collected, they are a table of their own with the same key, and people read
the scores.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from artifact.results.tables import merge_rows, read_table, write_counted
from heldout.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from heldout.typing import Floats, Ints

GROUPS = 20  # number of groups of documents, the same in every split
DECIMALS = 2  # digits of a group's log-likelihood, nats: an error of 1e-5 nats per token in a group of 500 tokens


def group_of(document: str) -> int:
    """Return the group of a document by its name, 0 .. GROUPS - 1.

    Examples:
        >>> group_of("1"), group_of("2"), group_of("Zürich")
        (13, 6, 13)
    """
    return int.from_bytes(sha256(document.encode()).digest()[:8], "big") % GROUPS


class Groups(NamedTuple):
    """The parts of a score by groups of documents; the sums are the score's own.

    Attributes:
        tokens: (GROUPS,) the numbers scored.
        log_likelihood: (GROUPS,) nats; 0 of a group without tokens.
    """

    tokens: tuple[int, ...]
    log_likelihood: tuple[float, ...]

    @classmethod
    def of(cls, documents: Sequence[str], tokens: "Ints", log_likelihood: "Floats") -> Self:
        """Return the sums over each group's documents, by the D names; a document without tokens adds nothing."""
        in_group: list[list[int]] = [[] for _ in range(GROUPS)]
        for d, name in enumerate(documents):
            if tokens[d] > 0:
                in_group[group_of(name)].append(d)
        return cls(
            tuple(int(tokens[members].sum()) for members in in_group),
            tuple(float(log_likelihood[members].sum()) for members in in_group),
        )


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
        documents_left_out, tokens_left_out: the numbers not scored (empty documents, words outside the vocabulary).
        log_likelihood: sum over the scored tokens, nats.
        perplexity: exp(-log_likelihood / tokens), per token.
        standard_error: the evaluator's own Monte Carlo error of log_likelihood, nats, its bias included where it
            states one; 0 for a deterministic evaluator, NaN where the evaluator states none.
        groups: the part of each group of documents; None where it is not known.
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
    groups: Groups | None = field(default=None, compare=False)


TYPES: dict[str, Any] = {field.name: field.type for field in fields(Score)[:-1]}
COLUMNS = tuple(TYPES)
KEY = COLUMNS[: COLUMNS.index("documents")]
NUMBERS = ("topics", "smoothing")  # columns of the key that tables are sorted by as numbers
TOKENS_COLUMNS = tuple(f"tokens_{group}" for group in range(GROUPS))
NATS_COLUMNS = tuple(f"log_likelihood_{group}" for group in range(GROUPS))
GROUP_COLUMNS = TOKENS_COLUMNS + NATS_COLUMNS
GROUP_TYPES: dict[str, type] = {
    **{name: TYPES[name] for name in KEY},
    **dict.fromkeys(TOKENS_COLUMNS, int),
    **dict.fromkeys(NATS_COLUMNS, float),
}


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write scores as CSV, sorted; with the groups' columns where a score has groups, empty where another has none."""
    rows = sorted(scores)
    grouped = any(score.groups for score in rows)
    write_counted(path, COLUMNS + GROUP_COLUMNS * grouped, [_cells(score, grouped) for score in rows])


def _cells(score: Score, grouped: bool) -> tuple[Any, ...]:
    cells = astuple(score)[:-1]
    if not grouped:
        return cells
    if score.groups is None:
        return cells + ("",) * len(GROUP_COLUMNS)
    return (*cells, *score.groups.tokens, *(round(nats, DECIMALS) + 0.0 for nats in score.groups.log_likelihood))


def collect_scores(paths: Iterable[Path], destination: Path) -> None:
    """Merge score files into one, sorted, without their groups' columns.

    Raises:
        InputError: when a file has other columns, or two files report the same evaluation.
    """
    merge_rows(paths, destination, TYPES, KEY, numbers=NUMBERS, what="scores", forms=[COLUMNS + GROUP_COLUMNS])


def collect_groups(paths: Iterable[Path], destination: Path) -> None:
    """Merge the groups of score files, and tables of groups, into one table of groups, sorted as scores are.

    Scores without groups are left out.
    """
    forms = [COLUMNS + GROUP_COLUMNS, COLUMNS]
    merge_rows(paths, destination, GROUP_TYPES, KEY, numbers=NUMBERS, what="groups", forms=forms)


def read_scores(path: Path, groups: Path | None = None) -> "pd.DataFrame":
    """Read a scores table into a data frame with the columns of `Score`, and `GROUP_COLUMNS` where there are groups.

    A score that the table of groups (plain or gzipped) lacks has NaN there.

    Raises:
        InputError: when a table has other columns, is cut, or holds no number where one belongs, or when the groups are
            those of other scores.
    """
    no_number = dict.fromkeys(COLUMNS, "nan") | dict.fromkeys(GROUP_COLUMNS, "")
    types = TYPES | dict.fromkeys(GROUP_COLUMNS, float)
    table = read_table(path, TYPES, "scores", dtype=types, na_values=no_number)
    if tuple(table.columns) not in (COLUMNS, COLUMNS + GROUP_COLUMNS):
        raise InputError(f"{path}: not a scores table; its columns are not {', '.join(COLUMNS)}")
    if groups is None:
        return table
    grouped = read_table(groups, GROUP_TYPES, "groups", dtype=GROUP_TYPES | dict.fromkeys(TOKENS_COLUMNS, float))
    if tuple(grouped.columns) != tuple(GROUP_TYPES) or grouped.duplicated(list(KEY)).any():
        raise InputError(f"{groups}: not a table of groups; collect the groups again")
    table = table[list(COLUMNS)].merge(grouped, on=list(KEY), how="left")
    known = table[table[list(TOKENS_COLUMNS)].notna().all(axis=1)]
    finite = known["log_likelihood"].abs() < math.inf
    differing = (known[list(NATS_COLUMNS)].sum(axis=1) - known["log_likelihood"]).abs() > GROUPS * 10.0**-DECIMALS
    others = known[list(TOKENS_COLUMNS)].sum(axis=1) != known["tokens"]
    if len(known) < len(grouped) or (others | finite & differing).any():
        raise InputError(f"{groups}: these groups are not of the scores in {path}; collect both again")
    return table
