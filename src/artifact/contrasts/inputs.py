"""The inputs of every exhibit and contrast: tables of results and of corpora, the study, timings and effects."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from artifact.contrasts.effect import Effects, read_effects
from artifact.results.arrays import Arrays
from artifact.results.provenance import read_provenance
from artifact.results.tables import read_table, require_rows
from artifact.study.manifest import Paper
from artifact.study.study import Settings, read_study
from heldout.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# packages whose versions the numbers depend on
PACKAGES = ("heldout", "numpy", "scipy", "numba", "nltk", "pandas", "matplotlib")


@dataclass(frozen=True, eq=False)
class Inputs:
    """The data from which exhibits and contrasts are computed.

    Attributes:
        scores: the columns of `artifact.results.scores.Score`, and those of groups of documents where they are known.
        corpora: one row per corpus, the columns of `artifact.results.corpora`; blank published fields are NaN.
        study: the study's settings.
        measurements: the columns of `artifact.results.measurements.Measurement`; None without experiments.
        notes: the columns of `artifact.results.measurements.Note`; None without experiments.
        arrays: the arrays of experiments, by place.
        timings: one row per job, the columns of `artifact.results.timings`; None without reference timings.
        commands: what commands took, the columns of `read_commands`; None where it is not given.
        provenance: records of the runs that the reference results are of, by study; none for results of a run.
        commit: the commit's hash, empty outside version control.
        date: the commit's date.
        versions: version by package, of the packages that the numbers depend on.
        papers: the manifests of the papers whose exhibits are made.
        effects: the effects of the papers' contrasts, by their names; empty before they are estimated.
    """

    scores: "pd.DataFrame"
    corpora: "pd.DataFrame"
    study: Mapping[str, Any]
    measurements: "pd.DataFrame | None" = None
    notes: "pd.DataFrame | None" = None
    arrays: Arrays = field(default_factory=Arrays)
    timings: "pd.DataFrame | None" = None
    commands: "pd.DataFrame | None" = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    commit: str = ""
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    papers: tuple[Paper, ...] = ()
    effects: Effects = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        study: Path,
        scores: Path,
        corpora: Path,
        *,
        groups: Path | None = None,
        commit: str = "",
        date: str = "",
        papers: Sequence[Paper] = (),
        timings: Sequence[Path] = (),
        **tables: Path | None,
    ) -> Self:
        """Read the inputs from their files; `versions` are the installed packages'.

        `timings` are its jobs'; `tables` "measurements", "notes", "arrays",
        "commands", "provenance" and "effects", where there are any.

        Raises:
            InputError: when a file is missing or malformed.
        """
        from artifact.results.measurements import MEASUREMENTS, NOTES
        from artifact.results.scores import read_scores

        readers: dict[str, Callable[[Path], Any]] = {
            **{tidy.what: tidy.read for tidy in (MEASUREMENTS, NOTES)},
            "arrays": Arrays.read,
            **{"commands": read_commands, "provenance": read_provenance, "effects": read_effects},
        }
        read = {name: readers[name](path) for name, path in tables.items() if path is not None}
        if timings:
            read["timings"] = read_timings(*timings)
        return cls(
            read_scores(scores, groups),
            read_corpora(corpora),
            read_study(study),
            versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            commit=commit,
            date=date,
            papers=tuple(papers),
            **read,
        )

    @cached_property
    def settings(self) -> Settings:
        """The study's settings, typed."""
        return Settings(self.study)

    @cached_property
    def held_out(self) -> dict[str, float]:
        """The share of documents held out in every split, by corpus."""
        rows = self.corpora[["corpus", "train_documents", "test_documents"]].itertuples(index=False)
        return {str(corpus): test / (training + test) for corpus, training, test in rows if test}

    def corpus(self, name: str) -> dict[str, Any]:
        """Return a corpus's row of the corpora table; raises InputError when the table lacks it."""
        rows = [row for row in self.corpora.to_dict("records") if row["corpus"] == name]
        if len(rows) != 1:
            raise InputError(f"corpora table: {len(rows)} rows for {name}, expected one; describe the corpora again")
        return {str(column): value for column, value in rows[0].items()}

    def synthetic(self, *names: str) -> bool:
        """Return whether any of the named corpora is synthetic; without names, any that the study describes."""
        return any(str(self.corpus(name)["synthetic"]).lower() == "true" for name in names or self.settings.described)


def read_corpora(path: Path) -> "pd.DataFrame":
    """Read the corpora table; raises InputError when it cannot be read or lacks a column."""
    from artifact.results.corpora import COLUMNS

    counts = ("train_documents", "test_documents", "vocabulary", "tokens")
    types = {"corpus": str, "rule": str} | dict.fromkeys(counts, int) | {"mean_length": float}
    return _read(path, dict.fromkeys(COLUMNS, str), "corpora", dtype=types, keep_default_na=True, na_values=None)


def read_timings(*paths: Path) -> "pd.DataFrame":
    """Read timings tables as one; blank topics and seeds stay blank, blank measurements become NaN.

    Of a job that several tables have, the first one's row is kept.

    Raises:
        InputError: when one cannot be read or lacks a column.
    """
    import pandas as pd

    from artifact.results.timings import COLUMNS

    numbers = ("seconds", "cpu_seconds", "memory_mb")
    types = {column: float if column in numbers else str for column in COLUMNS}
    tables = [_read(path, types, "timings", na_values={name: [""] for name in numbers}) for path in paths]
    job = [column for column in COLUMNS if column not in numbers]
    return pd.concat(tables, ignore_index=True).drop_duplicates(job, ignore_index=True)


def read_commands(path: Path) -> "pd.DataFrame":
    """Read the costs of commands: "command", "does", "seconds", "memory_mb" and "machine".

    Raises:
        InputError: when it cannot be read.
    """
    return _read(path, {"seconds": float, "memory_mb": float}, "commands")


def _read(path: Path, types: Mapping[str, type], what: str, **options: Any) -> "pd.DataFrame":
    require_rows(path, what)
    return read_table(path, types, what, **options)
