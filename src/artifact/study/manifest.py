"""Manifests: the experiments, exhibits and contrasts of a paper's folder, without importing them.

A paper is a folder of `artifact.papers` whose `__init__` holds one `Paper`. The workflow reads the manifests whenever
it looks at its rules, so nothing here imports NumPy.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ALL = ("everything",)  # parts of an exhibit that depends on every run of the study


def kind(exhibit: str) -> str:
    """Return the kind of an exhibit, the start of its name: "figure" (PDF), "table" or "macros" (LaTeX)."""
    return exhibit.partition("-")[0]


@dataclass(frozen=True)
class Exhibit:
    """A figure, table or set of macros; its name starts with its `kind`.

    Attributes:
        title: its subject, in a few words.
        function: the function that makes it, from `Inputs` and, if it is about one corpus, the corpus's name; by its
            dotted name in `package`, such as "figures.bounds.documents".
        parts: the parts of a study's runs that it depends on: models, experiments, or the names in `study`.
        corpus: the position in the study of the one corpus that it is about; None for all corpora.
        original: its counterpart in the source, such as "Figure 4"; empty if there is none.
        shows: corpora of experiments, of which it needs at least one; empty if it is of the study's own.
        package: the dotted name of the package that has the function; set by the paper that has the exhibit.
    """

    title: str
    function: str
    parts: tuple[str, ...] = ()
    corpus: int | None = None
    original: str = ""
    shows: tuple[str, ...] = ()
    package: str = ""

    @property
    def module(self) -> str:
        """The dotted name of the function's module."""
        return f"{self.package}.{self.function.rpartition('.')[0]}"

    def make(self, *inputs: Any) -> Any:
        """Import the function and return its result for its inputs."""
        return self.load()(*inputs)

    def load(self) -> Any:
        """Import the function and return it."""
        return getattr(importlib.import_module(self.module), self.function.rpartition(".")[2])


@dataclass(frozen=True)
class Experiment:
    """The manifest of an experiment: its study settings and corpora.

    Attributes:
        settings: the class of its settings (`artifact.study.settings`).
        corpora: kind of its corpora: with a "split", "drawn" from trained models, "none", if it draws its own
            documents, or the latter beside either.
        models: the models whose topics it reads, or the libraries that it runs; empty if it trains its own.
        topics: form in which a study gives K: a "list", "by corpus", or "either"; empty if it does not.
        training: the class of the training settings of models that grow for it; None without such models.
        standalone: whether it trains its own models, and a study may consist of it.
        package: the dotted name of the package with its folder `experiments`; the paper's where it is empty.
    """

    settings: type
    corpora: Literal["split", "drawn", "none", "drawn or none", "split or none"] = "split"
    models: tuple[str, ...] = ()
    topics: Literal["", "list", "by corpus", "either"] = ""
    training: type | None = None
    standalone: bool = False
    package: str = ""


@dataclass(frozen=True)
class Paper:
    """The manifest of one source.

    Attributes:
        module: the dotted name of its package.
        source: authors and year, as printed in tables.
        experiments: by name; NAME is the function `experiment` of `experiments/NAME.py`, with underscores for hyphens.
        optional: the experiments that a study may omit, with the exhibits that depend on nothing else.
        exhibits: by name.
        front_page: whether its `tables` have a function `front_page`, of the README's few numbers, its `law` a function
            `sentence`, of the README's example, and its `questions` a function `page`, of docs/questions.md.
    """

    module: str
    source: str
    experiments: Mapping[str, Experiment] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    front_page: bool = False

    def __post_init__(self) -> None:
        bound = {name: replace(one, package=one.package or self.module) for name, one in self.exhibits.items()}
        object.__setattr__(self, "exhibits", bound)

    @property
    def name(self) -> str:
        """Name of the paper's folder."""
        return self.module.rpartition(".")[2]

    def experiment_module(self, name: str) -> str:
        """Return the dotted name of an experiment's module."""
        package = self.experiments[name].package or self.module
        return f"{package}.experiments.{name.replace('-', '_')}"

    def part(self, name: Literal["contrasts", "macros"]) -> Any:
        """Import a module of the paper and return its CONTRASTS, or its function `macros`."""
        module = importlib.import_module(f"{self.module}.{name}")
        return getattr(module, "CONTRASTS" if name == "contrasts" else name)
