"""What a paper's folder offers: its experiments, exhibits, claims and interpretations, without importing them.

A paper is a folder of `heldout.papers` whose `__init__` holds one `Paper`. The workflow reads the manifests whenever it
looks at its rules, so nothing here imports NumPy.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ALL = ("everything",)  # the parts of an exhibit that stands on every run of the study


@dataclass(frozen=True)
class Exhibit:
    """One figure, table or set of macros.

    Attributes:
        kind: "figure" (PDF), or "table" and "macros" (LaTeX).
        title: what it shows, in a few words.
        module, function: what makes it: a function of `Inputs`, and of a corpus's name where there is one.
        parts: the parts of a study's runs that it stands on: models, experiments, or the names in `heldout.study`.
        corpus: the position in the study of the one corpus that it is about; None for all corpora.
        original: its counterpart in the source, as "Figure 4"; empty where there is none.
        drawn: the corpora drawn from trained models of which it shows at least one; empty where it shows others.
        claims: the claims that it shows, by name.
    """

    kind: Literal["figure", "table", "macros"]
    title: str
    module: str
    function: str
    parts: tuple[str, ...] = ()
    corpus: int | None = None
    original: str = ""
    drawn: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """The manifest of one source.

    Attributes:
        name: its folder in `heldout.papers`.
        source: who wrote it, as a table says it.
        experiments: names; NAME is the function `experiment` of `experiments/NAME.py`, hyphens being underscores.
        optional: those of them that a study may lack, with the exhibits that stand on nothing else.
        exhibits: by name.
        front_page: the function of its `tables` that gives the README's few numbers; empty for none.
    """

    name: str
    source: str
    experiments: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    front_page: str = ""

    @property
    def module(self) -> str:
        """The name of its package."""
        return f"heldout.papers.{self.name}"

    def experiment_module(self, name: str) -> str:
        """Return the name of the module of one of its experiments."""
        return f"{self.module}.experiments.{name.replace('-', '_')}"

    def part(self, name: Literal["claims", "interpretations", "macros"]) -> Any:
        """Import one of its modules and return what it gives: CLAIMS, INTERPRETATIONS, or the function macros."""
        attribute = name if name == "macros" else name.upper()
        return getattr(importlib.import_module(f"{self.module}.{name}"), attribute)
