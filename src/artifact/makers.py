"""Modules that make a file of a study, whose code the digest of its job covers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from artifact.papers import EXPERIMENTS, papers_of
from artifact.study.manifest import kind
from artifact.typesetting.exhibits import exhibits
from heldout.corpora.names import SOURCES, SYNTHETIC
from heldout.errors import InputError
from heldout.models import MODELS


def modules_of(file: Path) -> tuple[str, ...]:
    """Return the modules that make a file of a study.

    The file is a job's output in any folder; an exhibit's needs the study's settings, data/STUDY/study.json.

    Raises:
        InputError: when no job with a digest makes such a file, or the settings cannot be read.

    Examples:
        >>> modules_of(Path("data/paper/scores/cranfield/lda/bounds/3-1.csv"))
        ('artifact.study.steps', 'artifact.papers.welling.experiments.bounds', 'heldout.models.lda')
    """
    for start in range(len(file.parts)):
        match file.parts[start:]:
            case ("data", _, "corpora", name) | ("data", _, "models", name, "true-topics.npz"):
                corpus = name.removesuffix(".npz")
                if corpus.endswith(SYNTHETIC):
                    return ("heldout.corpora.synthetic", "artifact.results.corpora")
                return ("heldout.corpora.realistic" if corpus in SOURCES else "heldout.corpora.prepare",)
            case ("data", _, "models", corpus, model, variant, _) if model in MODELS:
                grown = corpus in SOURCES and variant != "truth"
                return ("heldout.models.lda_growth",) if grown else ("artifact.study.steps", MODELS[model])
            case ("data", _, "scores" | "measurements" | "notes" | "arrays", _, model, name, _) if (
                name in EXPERIMENTS or model in MODELS
            ):
                experiment = [EXPERIMENTS[name].experiment_module(name)] if name in EXPERIMENTS else []
                return ("artifact.study.steps", *experiment, *([MODELS[model]] if model in MODELS else []))
            case ("data", _, "effects.csv"):
                return contrast_modules(_settings(Path(*file.parts[: start + 2])))
            case ("data", _, "scores.csv" | "groups.csv"):
                return ("artifact.results.scores",)
            case ("data", _, "measurements.csv" | "notes.csv"):
                return ("artifact.results.measurements",)
            case ("data", _, "arrays.npz"):
                return ("artifact.results.arrays",)
            case ("data", _, "corpora.csv" | "timings.csv" as table):
                return (f"artifact.results.{table.removesuffix('.csv')}",)
            case ("figures", study, _) | ("paper", "generated", study, _):
                shown = _settings(Path(*file.parts[:start], "data", study))
                return exhibit_modules(shown, *(("figure",) if file.parts[start] == "figures" else ("table", "macros")))
    raise InputError(f"digest: {file}: neither a module, such as heldout.models.lda, nor a file that a study makes")


def contrast_modules(study: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules that estimate the contrasts of a study's papers."""
    return ("artifact.contrasts.estimates", *(f"{paper.module}.contrasts" for paper in papers_of(study)))


def exhibit_modules(study: Mapping[str, Any], *kinds: str) -> tuple[str, ...]:
    """Return the modules that make a study's exhibits of the given kinds."""
    papers = papers_of(study)
    modules = {exhibit.module for name, exhibit in exhibits(papers, study).items() if kind(name) in kinds}
    if "macros" in kinds:
        modules |= {f"{paper.module}.macros" for paper in papers}
    return ("artifact.typesetting.exhibits", *sorted(modules))


def _settings(folder: Path) -> dict[str, Any]:
    file = folder / "study.json"
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"digest: {file}: no settings of the study ({error}); run it first") from error
