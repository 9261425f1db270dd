"""Where every exhibit comes from: its command, and the time and memory of the jobs that it depends on."""

import math
from typing import NamedTuple

from artifact.study.manifest import Exhibit
from artifact.typesetting import latex
from artifact.typesetting.exhibits import corpora_of, exhibits, stands_on
from artifact.verdicts.inputs import Inputs

_CAPTION = r"Exhibits and what their jobs took. A dash: no reference timing is kept.\SyntheticNotice"
PART = "training"  # part of a job of the rule `fit`, which counts as a whole
CORPUS_RULES = ("prepare", "synthesize")  # makers of a corpus; downloads, which depend on the network, are left out


class Cost(NamedTuple):
    """What jobs took: how many are known, their wall-clock minutes (NaN if none) and the highest memory in MB."""

    jobs: int
    minutes: float
    memory_mb: float


def cost(name: str, exhibit: Exhibit, inputs: Inputs) -> Cost:
    """Sum the reference timings of the jobs that an exhibit depends on (shared jobs count in each exhibit)."""
    if inputs.timings is None:
        return Cost(0, math.nan, math.nan)
    runs = {tuple(str(cell) for cell in run) for run in stands_on(exhibit, inputs.study)}
    corpora = set(corpora_of(exhibit, inputs.study)) | {run[0] for run in runs}
    seconds, memory = [], []
    for row in inputs.timings.to_dict("records"):
        key = tuple(str(row[column]) for column in ("corpus", "model", "variant", "topics", "seed"))
        made = f"{row['corpus']}-like" if row["rule"] == "synthesize" else row["corpus"]
        makes_corpus = row["rule"] in CORPUS_RULES and made in corpora
        draws = row["rule"] not in CORPUS_RULES and row["corpus"] == name
        if row["rule"] != PART and (key in runs or makes_corpus or draws):
            seconds.append(float(row["seconds"]))
            memory.append(float(row["memory_mb"]))
    known = [value for value in memory if not math.isnan(value)]
    return Cost(len(seconds), math.fsum(seconds) / 60.0 if seconds else math.nan, max(known, default=math.nan))


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    body = []
    for name, exhibit in exhibits(inputs.papers, inputs.study).items():
        if name in ("macros", "table-provenance"):
            continue
        jobs, minutes, memory = cost(name, exhibit, inputs)
        cells = [
            f"{exhibit.title}{_which(exhibit, inputs)}",
            rf"\texttt{{{latex.escape(name)}}}",
            rf"\exhibitnumber{{{name}}}",
            latex.integer(jobs) if jobs else latex.DASH,
            latex.decimal(minutes),
            latex.integer(memory),
        ]
        body.append(cells)
    return latex.longtable(
        inputs,
        r"@{}P{0.37\linewidth}P{0.28\linewidth}lrrr@{}",
        r"exhibit & name & number & jobs & minutes & peak MB\\",
        body,
        caption=_CAPTION,
        label="tab:provenance",
    )


def _which(exhibit: Exhibit, inputs: Inputs) -> str:
    return "" if exhibit.corpus is None else f", {latex.corpus_name(inputs.settings.corpora[exhibit.corpus])}"
