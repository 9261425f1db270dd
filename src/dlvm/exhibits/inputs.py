"""What every exhibit is a function of: scores, the corpora table, the study and, where known, its timings."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from dlvm.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

PLSA = "plsa-hof"
VEM = "plsa-vem"
TEM = "plsa-tem"
EPCA = "epca"
LDA = "lda"
SECOND_READING = "smoothed-in-m-step"
FULL = "full-folding-in"
HALF = "half-folding-in"
EVALUATORS = (FULL, HALF)

# what the numbers stand on
PACKAGES = ("dlvm", "numpy", "scipy", "numba", "nltk", "pandas", "matplotlib")


class Run(NamedTuple):
    """One training and scoring job."""

    corpus: str
    model: str
    variant: str
    topics: int
    seed: int


@dataclass(frozen=True)
class Alternative:
    """A variant `alternative-NAME` of a model: its settings by (part, setting)."""

    model: str
    variant: str
    changes: Mapping[tuple[str, str], Any]


@dataclass(frozen=True)
class Settings:
    """A study's settings; the one place that knows how a study is laid out."""

    study: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self.study["study"])

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpora with figures, in the study's order."""
        return tuple(self.study["corpora"])

    @property
    def described(self) -> tuple[str, ...]:
        """The corpora of Table 1: those with figures, then those that stand in the table only."""
        return (*self.corpora, *(c for c in self.study.get("table_1_also", ()) if c not in self.corpora))

    @property
    def topics(self) -> tuple[int, ...]:
        """The numbers of topics, ascending."""
        return tuple(sorted(int(k) for k in self.study["topics"]))

    @property
    def smoothing(self) -> tuple[float, ...]:
        """The constants, ascending."""
        return tuple(sorted(float(c) for c in self.study["smoothing"]))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the main reading."""
        return tuple(int(s) for s in self.study["seeds"])

    @property
    def second_reading_seeds(self) -> tuple[int, ...]:
        """The seeds of the second reading (the constant added at every M step)."""
        second = self.study.get("smoothing_in_m_step", {})
        return tuple(int(s) for s in second.get("seeds", self.seeds))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the study trains."""
        return tuple(self.study["models"])

    def variant(self, model: str) -> str:
        """Return the name of a model's main variant."""
        default = {PLSA: "smoothed-after-training", LDA: "collapsed-gibbs"}.get(model, "")
        return str(self.study["models"].get(model, {}).get("variant", default))

    def setting(self, model: str, part: str, name: str) -> Any:
        """Return a model's setting of one part ("train" or "fold_in"); None where the study has none."""
        return self.study["models"].get(model, {}).get(part, {}).get(name)

    def all_settings(self) -> Iterator[tuple[str, str, str, Any]]:
        """Yield (model, part, name, value) of every setting of every model."""
        for model, parts in self.study["models"].items():
            for part in ("train", "fold_in"):
                for name, value in parts[part].items():
                    yield model, part, name, value

    @property
    def beyond_corpus(self) -> str:
        """The corpus that is also run beyond its vocabulary; empty where the study has none."""
        return str(self.study.get("beyond_vocabulary", {}).get("corpus", ""))

    @property
    def beyond_topics(self) -> tuple[int, ...]:
        """The numbers of topics of the run beyond the vocabulary, without the study's own grid, ascending."""
        beyond = self.study.get("beyond_vocabulary", {})
        return tuple(sorted(int(k) for k in beyond.get("topics", ())))

    @property
    def beyond_seeds(self) -> tuple[int, ...]:
        """The seeds of the run beyond the vocabulary."""
        beyond = self.study.get("beyond_vocabulary", {})
        return tuple(int(s) for s in beyond.get("seeds", self.seeds))

    @property
    def alternatives_corpus(self) -> str:
        """The corpus on which alternative settings are tried; empty where none is."""
        return str(self.study.get("alternatives", {}).get("corpus", ""))

    @property
    def alternative_topics(self) -> tuple[int, ...]:
        """The numbers of topics at which alternatives are tried."""
        return tuple(int(k) for k in self.study.get("alternatives", {}).get("topics", ()))

    @property
    def alternative_seeds(self) -> tuple[int, ...]:
        """The seeds with which alternatives are tried."""
        return tuple(int(s) for s in self.study.get("alternatives", {}).get("seeds", ()))

    @property
    def alternative_corpora(self) -> tuple[str, ...]:
        """Other preprocessings of the study's corpora that are scored for comparison."""
        return tuple(self.study.get("alternatives", {}).get("corpora", ()))

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The alternative settings, model by model."""
        variants = self.study.get("alternatives", {}).get("variants", {})
        return tuple(
            Alternative(
                model,
                f"alternative-{name}",
                {(part, setting): value for part, change in parts.items() for setting, value in change.items()},
            )
            for model, named in variants.items()
            for name, parts in named.items()
        )

    def topics_of(self, model: str) -> tuple[int, ...]:
        """The numbers of topics of one model, ascending: its own, or the study's."""
        return tuple(sorted(int(k) for k in self.study["models"].get(model, {}).get("topics", self.topics)))

    def seeds_of(self, model: str) -> tuple[int, ...]:
        """The seeds of one model: its own, or the study's."""
        return tuple(int(s) for s in self.study["models"].get(model, {}).get("seeds", self.seeds))

    def further_variants(self, model: str) -> tuple[str, ...]:
        """The variants of a model over the same grid, beside the main one."""
        return tuple(self.study["models"].get(model, {}).get("also", {}))

    def swept_variants(self, model: str) -> tuple[str, ...]:
        """The variants under which the values of a model's sweep are scored; none where it has no sweep."""
        varied = self.study["models"].get(model, {}).get("sweep")
        return tuple(f"{varied['setting']}-{value:.2f}" for value in sorted(varied["values"])) if varied else ()

    def main_runs(self, corpus: str, model: str) -> tuple[Run, ...]:
        """Return the runs of a model's variants over its grid."""
        variants = (self.variant(model), *self.further_variants(model), *self.swept_variants(model))
        grid = [(k, s) for k in self.topics_of(model) for s in self.seeds_of(model)]
        return tuple(Run(corpus, model, variant, k, s) for variant in variants for k, s in grid)

    def second_reading_runs(self, corpus: str) -> tuple[Run, ...]:
        """Return the runs of the second reading over the study's grid."""
        return tuple(Run(corpus, PLSA, SECOND_READING, k, s) for k in self.topics for s in self.second_reading_seeds)

    def measured_runs(self, kind: str) -> tuple[Run, ...]:
        """Return the runs of one kind of measurement; its own models' scores have its name as their variant."""
        asked = self.study.get("measures", {}).get(kind)
        if asked is None:
            return ()
        topics = asked.get("topics", [0])
        return tuple(
            Run(corpus, model, kind, int(k), int(seed))
            for corpus in asked["corpora"]
            for model in asked.get("models", ["none"])
            for k in (topics[corpus] if isinstance(topics, Mapping) else topics)
            for seed in asked["seeds"]
        )

    def beyond_runs(self) -> tuple[Run, ...]:
        """Return the runs of the figure that goes beyond the vocabulary."""
        topics = sorted({*self.topics, *self.beyond_topics})
        variant = self.variant(PLSA)
        return tuple(Run(self.beyond_corpus, PLSA, variant, k, s) for k in topics for s in self.beyond_seeds)

    def alternative_runs(self) -> tuple[Run, ...]:
        """Return the runs that try alternatives."""
        grid = [(k, s) for k in self.alternative_topics for s in self.alternative_seeds]
        runs = [Run(self.alternatives_corpus, a.model, a.variant, k, s) for a in self.alternatives for k, s in grid]
        corpora = self.alternative_corpora
        runs += [Run(c, m, self.variant(m), k, s) for c in corpora for m in (PLSA, LDA) for k, s in grid]
        return tuple(runs)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What every exhibit is a function of.

    Attributes:
        scores: the columns of `dlvm.scores.Score`.
        corpora: one row per corpus, the columns of `dlvm.corpora.table`; blank published fields are NaN.
        study: the study's settings.
        measurements: the columns of `dlvm.measurements.Measurement`; None where there are none.
        timings: one row per job, the columns of `dlvm.timings`; None where no reference timings are kept.
        benchmarks: milliseconds per document of every estimator; None where no reference is kept.
        commit: the commit's hash, empty outside version control.
        date: its date.
        versions: package name to version, of what the numbers stand on.
    """

    scores: "pd.DataFrame"
    corpora: "pd.DataFrame"
    study: Mapping[str, Any]
    measurements: "pd.DataFrame | None" = None
    timings: "pd.DataFrame | None" = None
    benchmarks: "pd.DataFrame | None" = None
    commit: str = ""
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        study: Path,
        scores: Path,
        corpora: Path,
        timings: Path | None = None,
        *,
        measurements: Path | None = None,
        benchmarks: Path | None = None,
        commit: str = "",
        date: str = "",
    ) -> Self:
        """Read the inputs from their files; `study` is JSON or YAML. Versions are those that run now.

        Raises:
            InputError: when a file is not what it should be.
        """
        from dlvm.measurements import read_measurements
        from dlvm.scores import read_scores

        return cls(
            scores=read_scores(scores),
            corpora=read_corpora(corpora),
            study=_read_study(study),
            measurements=None if measurements is None else read_measurements(measurements),
            timings=None if timings is None else read_timings(timings),
            benchmarks=None if benchmarks is None else _read(benchmarks, "benchmarks"),
            commit=commit,
            date=date,
            versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        )

    @cached_property
    def settings(self) -> Settings:
        """The study, read by name."""
        return Settings(self.study)

    def corpus(self, name: str) -> dict[str, Any]:
        """Return a corpus's row of the corpora table.

        Raises:
            InputError: when the table lacks it.
        """
        rows = [row for row in self.corpora.to_dict("records") if row["corpus"] == name]
        if len(rows) != 1:
            raise InputError(f"corpora table: {len(rows)} rows for {name}, expected one; describe the corpora again")
        return {str(column): value for column, value in rows[0].items()}

    def synthetic(self, *names: str) -> bool:
        """Say whether any of these corpora (of all that the study describes, if none is named) is synthetic."""
        return any(_true(self.corpus(name)["synthetic"]) for name in names or self.settings.described)


def _true(value: Any) -> bool:
    return str(value).strip().lower() in ("true", "1", "yes")


def read_corpora(path: Path) -> "pd.DataFrame":
    """Read the corpora table.

    Raises:
        InputError: when it cannot be read or lacks a column.
    """
    from dlvm.corpora.table import COLUMNS

    table = _read(path, "corpora", dtype={"corpus": str, "rule": str})
    return _complete(table, COLUMNS, path, "corpora")


def read_timings(path: Path) -> "pd.DataFrame":
    """Read a timings table; blank topics and seeds stay blank, blank measurements become NaN.

    Raises:
        InputError: when it cannot be read or lacks a column.
    """
    from dlvm.timings import COLUMNS

    numbers = ("seconds", "cpu_seconds", "memory_mb")
    types = {column: float if column in numbers else str for column in COLUMNS}
    table = _read(path, "timings", dtype=types, keep_default_na=False, na_values={n: [""] for n in numbers})
    return _complete(table, COLUMNS, path, "timings")


def _read_study(path: Path) -> dict[str, Any]:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        # (YAML takes the 1e-06 of JSON for a string)
        study = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not a readable study ({error})") from error
    if not isinstance(study, dict):
        raise InputError(f"{path}: a study is a mapping of settings; see workflow/studies/paper.yaml")
    return study


def _read(path: Path, what: str, **options: Any) -> "pd.DataFrame":
    import pandas as pd

    try:
        table: pd.DataFrame = pd.read_csv(path, **options)
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise InputError(f"{path}: cannot be read as a {what} table ({error}); make it again") from error
    return table


def _complete(table: "pd.DataFrame", columns: Sequence[str], path: Path, what: str) -> "pd.DataFrame":
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(f"{path}: not a {what} table; it lacks {', '.join(missing)}")
    return table
