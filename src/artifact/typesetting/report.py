"""The report of a study without an author's text: its exhibits with captions from the manifest, and no argument."""

from artifact.contrasts.inputs import Inputs
from artifact.study.manifest import kind
from artifact.typesetting import latex
from artifact.typesetting.exhibits import exhibits

LONG = ("table-misprints",)  # table of several pages, which no box holds; it has a document of its own


def render(inputs: Inputs) -> str:
    r"""Return the command `\Exhibits`: every figure and table of the study, paper by paper."""
    known = exhibits(inputs.papers, inputs.study)
    lines = []
    for paper in inputs.papers:
        names = [name for name in paper.exhibits if name in known and name not in LONG]
        lines += [rf"\section{{{latex.escape(paper.source)}}}"] * bool(names)
        lines += [_shown(name, inputs) for name in names]
    lines += [rf"\Table{{{name}.tex}}{{{known[name].title}}}" for name in ("table-scorecard",) if name in known]
    return latex.macro("Exhibits", "\n".join(lines)) + "\n"


def _shown(name: str, inputs: Inputs) -> str:
    exhibit = exhibits(inputs.papers, inputs.study)[name]
    corpus = "" if exhibit.corpus is None else f", {latex.corpus_name(inputs.settings.corpora[exhibit.corpus])}"
    original = f" Counterpart of the source's {exhibit.original}." if exhibit.original else ""
    title = latex.escape(exhibit.title[0].upper() + exhibit.title[1:])
    command, file = (r"\Figure", name) if kind(name) == "figure" else (r"\Table", f"{name}.tex")
    return rf"{command}{{{file}}}{{{title}{corpus}.{original}\SyntheticNotice}}"
