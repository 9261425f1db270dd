"""Numbers of the paper's prose as LaTeX macros, for the prose itself holds none.

Macros about the study are here, macros about a paper's results in that paper's `macros`.
"""

import math
from collections.abc import Mapping
from typing import Any

from artifact.contrasts.contrast import ESTIMATORS, MODELS, SIMILAR
from artifact.contrasts.effect import CONFIDENCE
from artifact.contrasts.inputs import Inputs
from artifact.results.provenance import sentences
from artifact.results.timings import CORES, TRAINING
from artifact.typesetting import latex, report

POSITIONS = ("One", "Two", "Three")
NOTICE = r" \textbf{Synthetic data, drawn from a known model.}"

Macros = dict[str, str]


def render(inputs: Inputs) -> str:
    r"""Return one `\newcommand` per line; for a study without an author's text, its report and the report's macros."""
    written = inputs.settings.written
    defined = "".join(latex.macro(*one) + "\n" for one in (macros(inputs) if written else _study(inputs)).items())
    return defined if written else defined + report.render(inputs)


def macros(inputs: Inputs) -> Macros:
    """Return all macros by name, of a study of three corpora."""
    result = {**_study(inputs), **_artifact(inputs)}
    for position, corpus in zip(POSITIONS, inputs.settings.corpora, strict=False):
        result[f"Corpus{position}Name"] = latex.corpus_name(corpus)
    for paper in inputs.papers:
        result |= paper.part("macros")(inputs)
    return result


def _artifact(inputs: Inputs) -> Macros:
    """Return the minutes and gigabytes of the commands, and the machine on which they were measured."""
    result = {f"{name}{unit}": latex.DASH for name in ("Paper", "Demo", "Run") for unit in ("Minutes", "Memory")}
    took: dict[str, tuple[float, float]] = {}
    if inputs.commands is not None:
        for row in inputs.commands.to_dict("records"):
            took[str(row["command"]).removeprefix("make ").capitalize()] = row["seconds"] / 60.0, row["memory_mb"]
    if inputs.timings is not None:
        jobs = inputs.timings[inputs.timings["rule"] != TRAINING]
        if len(jobs):
            took["Run"] = jobs["seconds"].sum() / CORES / 60.0, jobs["memory_mb"].max()
    for name, (minutes, megabytes) in took.items():
        result |= {f"{name}Minutes": latex.decimal(minutes, 0 if minutes > 10.0 else 1)}
        result |= {f"{name}Memory": latex.decimal(megabytes / 1000.0, 1)}
    machines = [] if inputs.commands is None else sorted(set(inputs.commands["machine"]))
    return result | {"Machine": latex.escape("; ".join(machines)) or "no machine recorded"}


def experiment_settings(inputs: Inputs, experiment: str) -> Mapping[str, Any]:
    """Return an experiment's settings, with its training's settings; none where the study gives none."""
    entry = inputs.settings.experiment(experiment)
    return {**entry.get("train", {}), **entry.get("settings", {})}


def _study(inputs: Inputs) -> Macros:
    settings = inputs.settings
    topics = settings.topics or (None,)
    name, commit = (latex.escape(text) for text in (settings.name, inputs.commit[:12]))
    return {
        "StudyName": name,
        "SyntheticNotice": NOTICE if inputs.synthetic() else "",
        "Commit": rf"\texttt{{{commit}}}" if commit else "none (not under version control)",
        "CommitDate": latex.escape(inputs.date) or "no date",
        "Versions": latex.listed([f"{latex.escape(n)}~{latex.escape(v)}" for n, v in inputs.versions.items()])
        or "not recorded",
        "Provenance": latex.escape(" ".join(sentences(inputs.provenance.get(settings.name, {})))),
        "Version": latex.escape(inputs.versions.get("heldout", "")) or "not recorded",
        "Confidence": latex.percent(CONFIDENCE, 0),
        "MarginModels": f"{MODELS.value:g}",
        "MarginEstimators": f"{ESTIMATORS.value:g}",
        "MarginSimilar": f"{SIMILAR.value:g}",
        "SizesApartMost": _sizes_apart(inputs),
        "TopicsLargest": latex.integer(topics[-1]),
        "TopicsCount": latex.integer(len(settings.topics)),
        "SmoothingCount": latex.integer(len(settings.smoothing)),
        "SeedsInWords": count(len(settings.seeds), "seed"),
        "BandsInWords": bands(len(settings.seeds)),
    }


def _sizes_apart(inputs: Inputs) -> str:
    """Return the largest relative difference of a corpus's vocabulary or mean length from the published one."""
    rows = [inputs.corpus(corpus) for corpus in inputs.settings.corpora]
    sizes = ("vocabulary", "mean_length")
    gaps = [abs(latex.relative_difference(row[name], row[f"published_{name}"])) for row in rows for name in sizes]
    return latex.percent(max((value for value in gaps if math.isfinite(value)), default=None))


def count(number: int, singular: str) -> str:
    """Return "one seed", "2 seeds"."""
    return f"one {singular}" if number == 1 else f"{latex.integer(number)} {singular}s"


def bands(seeds: int) -> str:
    """Return a figure caption's sentence on its bands over seeds."""
    if seeds <= 1:
        return "There is one seed, hence no band."
    return f"Lines are means over {latex.integer(seeds)} seeds, bands reach from the lowest to the highest seed."
