"""Exhibits by name: the exhibits of a study's papers, and the exhibits that depend on every paper."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from artifact.contrasts.inputs import Inputs
from artifact.study.manifest import ALL, Exhibit, Paper, kind
from artifact.study.study import ALTERNATIVES, BEYOND_VOCABULARY, SECOND, Run, Settings
from heldout.errors import InputError
from heldout.files import replacing

SHARED = {
    name: Exhibit(title, function, parts, package="artifact.typesetting")
    for name, title, function, parts in (
        ("table-contrasts", "the contrasts and their effects", "contrasts_table.render", ALL),
        ("table-scorecard", "statements of the sources and their effects", "scorecard.render", ALL),
        ("macros", "every number in the text", "macros.render", ALL),
    )
}


def exhibits(papers: Sequence[Paper], study: Mapping[str, Any]) -> dict[str, Exhibit]:
    """Return the exhibits that a study has, by name: no figures of corpora or experiments that it lacks."""
    settings = Settings(study)
    known = {name: exhibit for paper in papers for name, exhibit in paper.exhibits.items()} | SHARED
    optional = {name for paper in papers for name in paper.optional}

    def has(exhibit: Exhibit) -> bool:
        runs = [run for part in exhibit.parts for run in settings.experiment_runs(part)]
        return (
            (exhibit is not SHARED["table-scorecard"] or len(papers) > 1)  # sources beside one another
            and (exhibit.corpus is None or exhibit.corpus < len(settings.corpora))
            and (exhibit.parts != (BEYOND_VOCABULARY,) or bool(settings.beyond.corpus))
            and (exhibit.parts != (SECOND,) or bool(settings.second_reading_seeds))
            and (not exhibit.parts or not optional.issuperset(exhibit.parts) or bool(runs))
            and (not exhibit.shows or any(run.corpus in exhibit.shows for run in runs))
        )

    return {name: exhibit for name, exhibit in known.items() if has(exhibit)}


def path(name: str, study: str) -> str:
    """Return the path of an exhibit: figures/STUDY/NAME.pdf or paper/generated/STUDY/NAME.tex."""
    return f"figures/{study}/{name}.pdf" if kind(name) == "figure" else f"paper/generated/{study}/{name}.tex"


def numbered(kind: str, number: str, folder: Path) -> list[str]:
    """Return the exhibits under a number ("5", "S3") of the documents that were typeset in a folder.

    Raises:
        InputError: for a number that no figure or no table of them has.
    """
    labels = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.aux")))
    label = rf"\\newlabel\{{exhibit:({re.escape(kind)}-[^}}]*)\}}\{{\{{{re.escape(number)}\}}"
    if not (names := re.findall(label, labels)):
        raise InputError(f"{folder}: no {kind} {number} was typeset there; run `make paper`, or give FIGURE or TABLE")
    return list(dict.fromkeys(names))


def corpora_of(exhibit: Exhibit, study: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the corpora that an exhibit depends on."""
    settings = Settings(study)
    if exhibit.corpus is not None:
        return (settings.corpora[exhibit.corpus],)
    return (settings.beyond.corpus,) if exhibit.parts == (BEYOND_VOCABULARY,) else settings.described


def stands_on(exhibit: Exhibit, study: Mapping[str, Any]) -> tuple[Run, ...]:
    """Return the training, scoring and experiment runs that an exhibit depends on, sorted."""
    settings = Settings(study)
    corpora = [corpus for corpus in corpora_of(exhibit, study) if corpus in settings.corpora]
    parts = settings.parts if exhibit.parts == ALL else exhibit.parts
    runs: set[Run] = set()
    for part in parts:
        if part == BEYOND_VOCABULARY:
            runs.update(settings.beyond_runs())
        elif part == ALTERNATIVES:
            runs.update(settings.alternative_runs())
        elif part == SECOND:
            runs.update(run for corpus in corpora for run in settings.second_reading_runs(corpus))
        elif part in settings.models:
            runs.update(run for corpus in corpora for run in settings.main_runs(corpus, part))
        else:
            runs.update(settings.experiment_runs(part))
    return tuple(sorted(runs))


def make_all(
    names: Sequence[str],
    inputs: Inputs,
    output: Path,
    *,
    suffix: str | None = None,
    processes: int = 1,
) -> None:
    """Make exhibits into a folder, side by side; the same bytes by any number of processes.

    Args:
        names: the exhibits.
        inputs: the study's results and settings.
        output: the folder.
        suffix: of the files, such as "png"; by kind where not given.
        processes: number of processes, forked from this one to share its tables.

    Raises:
        InputError: for an exhibit that the study does not have.
    """
    shared = (inputs, output, suffix)
    if processes == 1:
        for name in names:
            _make_named(name, *shared)
        return
    known = exhibits(inputs.papers, inputs.study)
    for name in names:
        if name in known:
            known[name].load()  # once, and not in every process
    with ProcessPoolExecutor(processes, get_context("fork"), _FORKED.extend, (shared,)) as pool:
        list(pool.map(_make_here, names))


def _make_named(name: str, inputs: Inputs, output: Path, suffix: str | None) -> None:
    ending = suffix or ("pdf" if kind(name) == "figure" else "tex")
    make(name, inputs, output / f"{name}.{ending}")


_FORKED: list[Any] = []  # inputs and folders in a process of `make_all`: forked with it, and not sent


def _make_here(name: str) -> None:
    _make_named(name, *_FORKED)


def make(name: str, inputs: Inputs, destination: Path) -> None:
    """Make one exhibit and write it, whole or not at all.

    Args:
        name: the exhibit's name.
        inputs: the study's results and settings.
        destination: the file to write, a PDF or LaTeX.

    Raises:
        InputError: for an exhibit that the study does not have.
    """
    settings, known = inputs.settings, exhibits(inputs.papers, inputs.study)
    if name not in known:
        raise InputError(f"exhibit {name}: the study {settings.name} does not have it; it has {', '.join(known)}")
    exhibit = known[name]
    arguments = () if exhibit.corpus is None else (settings.corpora[exhibit.corpus],)
    if kind(name) != "figure":
        text = exhibit.make(inputs, *arguments)
        with replacing(destination) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return
    from artifact.typesetting import style

    with style.applied():
        figure = exhibit.make(inputs, *arguments)
        with replacing(destination) as temporary:
            style.save(figure, temporary)
