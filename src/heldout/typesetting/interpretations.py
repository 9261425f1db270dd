"""Where the sources leave something open: what was chosen, what else could be, and what that would change.

The rows are the papers': `INTERPRETATIONS` of each one's `interpretations`.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.points import REPORTED_CHAINS
from heldout.study import Run
from heldout.typesetting import latex

NOT_MEASURED = "not measured"

Choice = Callable[[Inputs], str]
Lines = Callable[[Inputs], list[str]]
Changes = dict[str, list[float]]  # by evaluator, other / chosen - 1


@dataclass(frozen=True)
class Interpretation:
    """One thing that a source leaves open.

    Attributes:
        question: what is left open.
        choice: what was chosen, or a function of the inputs that says it.
        alternatives: what else could have been chosen.
        settings: the (model, part, setting) that decide it; the study's alternatives that change one are
            listed with their effect.
        effect: further measured effects, as lines.
        measure: the experiment that it is about; a study without it leaves the row out.
    """

    question: str
    choice: str | Choice
    alternatives: str
    settings: tuple[tuple[str, str, str], ...] = ()
    effect: Lines = field(default=lambda _: [])
    measure: str = ""

    def chosen(self, inputs: Inputs) -> str:
        """Say what was chosen."""
        return self.choice if isinstance(self.choice, str) else self.choice(inputs)


def rows(inputs: Inputs) -> tuple[Interpretation, ...]:
    """Return the rows of the papers that the study has, and one for alternatives that fit none of them."""
    known: list[Interpretation] = [row for paper in inputs.papers for row in paper.part("interpretations")]
    run = inputs.study.get("measures", {})
    shown = [row for row in known if not row.measure or row.measure in run]
    changed = {(other.model, *change) for other in inputs.settings.alternatives for change in other.changes}
    others = changed - {setting for row in known for setting in row.settings}
    if others:
        shown.append(Interpretation("other settings", "as in the study", "", tuple(sorted(others))))
    return tuple(shown)


def render(inputs: Inputs) -> str:
    """Return the table as a longtable; changes are of the alternative against the choice."""
    body = []
    for row in rows(inputs):
        lines = alternative_lines(inputs, row.settings) + row.effect(inputs)
        body.append([row.question, row.chosen(inputs), row.alternatives, r"\newline ".join(lines) or NOT_MEASURED])
    return latex.longtable(
        inputs,
        r"@{}P{0.16\linewidth}P{0.22\linewidth}P{0.19\linewidth}P{0.36\linewidth}@{}",
        r"left open & chosen here & alternatives & measured\\",
        body,
        caption="Interpretations: what the sources leave open, what was chosen, what else could be, and what that"
        " changes.\nPercentages are changes in perplexity, the median and the range.\\SyntheticNotice",
        label="tab:interpretations",
    )


def alternative_lines(inputs: Inputs, settings: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a line per alternative of the study that changes one of these settings."""
    study = inputs.settings
    lines = []
    for other in study.alternatives:
        if any((other.model, *change) in settings for change in other.changes):
            grid = [(k, s) for k in study.alternative_grid.topics for s in other.seeds]
            chosen = [Run(other.corpus, other.model, study.variant(other.model), *cell) for cell in grid]
            changed = [Run(other.corpus, other.model, other.variant, *cell) for cell in grid]
            what = settings_in_words({name: value for (_, name), value in other.changes.items()})
            place = "" if other.corpus == study.alternative_grid.corpus else f" on {latex.corpus_name(other.corpus)}"
            lines.append(f"{what}{place}: {changes_in_words(changes(inputs, chosen, changed))}")
    return lines


def settings_in_words(values: Mapping[str, Any]) -> str:
    """Return settings by name as "alpha sum 5, beta 0.01"."""
    return ", ".join(f"{latex.escape(name.replace('_', ' '))} {latex.setting(value)}" for name, value in values.items())


def changes(inputs: Inputs, chosen: Sequence[Run], other: Sequence[Run]) -> Changes:
    """Return other / chosen - 1 wherever both report the same topics, seed, constant and evaluator."""
    before, after = _perplexities(inputs, chosen), _perplexities(inputs, other)
    result: Changes = {evaluator: [] for evaluator in FOLDING_IN}
    for point in sorted(before.keys() & after.keys()):
        if point[3] in result and math.isfinite(before[point]) and math.isfinite(after[point]):
            result[point[3]].append(after[point] / before[point] - 1.0)
    return result


def _perplexities(inputs: Inputs, runs: Sequence[Run]) -> dict[tuple[int, int, float, str], float]:
    """Return the perplexities of runs of one variant by (topics, seed, constant, evaluator)."""
    table = inputs.scores[inputs.scores["chain"].isin(REPORTED_CHAINS)]
    for column in ("corpus", "model", "variant"):
        table = table[table[column].isin({getattr(run, column) for run in runs})]
    cells = {(run.topics, run.seed) for run in runs}
    columns = ("topics", "seed", "smoothing", "evaluator", "perplexity")
    return {
        (int(topics), int(seed), float(smoothing), str(evaluator)): float(perplexity)
        for topics, seed, smoothing, evaluator, perplexity in zip(*(table[c].tolist() for c in columns), strict=True)
        if (topics, seed) in cells
    }


def changes_in_words(relative: Changes) -> str:
    """Return "full +0.1 % (-0.2 to +0.3), half ...": the median and the range; "not measured" without a pair."""
    parts = [
        f"{evaluator.partition('-')[0]} {median_and_range(values, latex.signed_percent)}"
        for evaluator, values in relative.items()
        if values
    ]
    return ", ".join(parts) or NOT_MEASURED


def median_and_range(values: Sequence[float], form: Callable[[float], str]) -> str:
    """Return the median, and the range of several values, each written by `form`."""
    middle = form(statistics.median(values))
    return f"{middle} ({form(min(values))} to {form(max(values))})" if len(values) > 1 else middle


def experiment_settings(inputs: Inputs, experiment: str) -> Mapping[str, Any]:
    """Return an experiment's settings, those of its training among them; none where the study gives none."""
    entry = inputs.settings.experiment(experiment)
    return {**entry.get("train", {}), **entry.get("settings", {})}


def from_settings(experiment: str, text: str, *, ranges: bool = False) -> Choice:
    """Return a choice that puts an experiment's settings, by name in braces, into a sentence.

    Args:
        experiment: its name.
        text: the sentence.
        ranges: of a list of values give the ends, not all.
    """

    def choice(inputs: Inputs) -> str:
        settings = experiment_settings(inputs, experiment)
        names = [name for _, name, _, _ in Formatter().parse(text) if name]
        return text.format_map({name: setting(settings.get(name), ranges=ranges) for name in names})

    return choice


def setting(value: Any, *, ranges: bool = False) -> str:
    """Return the value of a setting, which may be a list; its ends only with `ranges`."""
    if not isinstance(value, list | tuple):
        return latex.setting(value)
    if ranges:
        return f"{latex.setting(min(value))} to {latex.setting(max(value))}"
    return latex.listed([latex.setting(part) for part in value])
