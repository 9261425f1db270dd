"""Pages of the site with every exhibit of a study: pictures, tables and effects. Sphinx calls `make`."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from artifact.__main__ import Results
from artifact.contrasts.inputs import Inputs
from artifact.results.provenance import reference_tables
from artifact.schema import load_study
from artifact.study.manifest import Exhibit, kind
from artifact.typesetting import contrasts_table, latex
from artifact.typesetting.exhibits import SHARED, exhibits, make_all

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "data/reference"
HEAD = """\
# Exhibits of the {study}

Every figure and table under its name, with those that no PDF shows, made from `data/reference/{study}` with this site.
A number of a PDF leads to a file: `make exhibit FIGURE=5{option}`.
"""
TAGS = {"textbf": "b", "emph": "i", "texttt": "code", "textsuperscript": "sup", "^": "sup", "_": "sub"}
# entities of HTML whose names are not LaTeX's
ENTITIES = {"cdot": "middot", "infty": "infin", "dots": "hellip", "dag": "dagger", "to": "rarr", "sqrt": "radic"}
ENTITIES |= {"textless": "lt", "textgreater": "gt", "textbackslash": "bsol", "notshown": "ndash"}
ENTITIES |= {"lvert": "vert", "rvert": "vert"}
SILENT = {"boldmath", "scriptsize", "footnotesize", "ensuremath", "mbox", "mathrm", "mathcal", "mathbb", "mathbf"}
SILENT |= {"citet", "SyntheticNotice", "left", "right", "hat", "frac", *",()/!"}


def make(folder: Path) -> None:
    """Write the page of each study, STUDY.md, and its figures, STUDY/NAME.png, to a folder."""
    for study, option in {"paper": "", "gallery": " STUDY=gallery"}.items():
        inputs = read(study, folder / study)
        known = exhibits(inputs.papers, inputs.study)
        make_all([name for name in known if kind(name) == "figure"], inputs, folder / study, suffix="png", processes=2)
        parts = [HEAD.format(study=study, option=option), *sections(inputs, known)]
        parts.append("\n## table-contrasts\n\nThe contrasts and their effects, source by source.\n")
        for paper in inputs.papers:
            if contrasts := paper.part("contrasts"):
                parts.append(f"\n### {paper.source}\n\n{contrasts_table.markdown(contrasts, inputs)}")
        (folder / f"{study}.md").write_text("".join(parts), encoding="utf-8")


def read(study: str, folder: Path) -> Inputs:
    """Return the reference results of a study, whose settings are written to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "study.json"
    settings.write_text(json.dumps(load_study(ROOT / f"workflow/studies/{study}.yaml", ROOT / "data")))
    tables: dict[str, Any] = reference_tables(REFERENCE / study)
    return Results(study=settings, **tables | {"timings": (tables["timings"],)}).read()


def sections(inputs: Inputs, known: dict[str, Exhibit]) -> Iterator[str]:
    """Yield the page's sections, paper by paper, an exhibit under its name."""
    for source, names in {**{paper.source: paper.exhibits for paper in inputs.papers}, "All sources": SHARED}.items():
        shown = [name for name in names if name in known and name not in ("macros", "table-contrasts")]
        yield f"\n## {source}\n" * bool(shown)
        for name in shown:
            exhibit = known[name]
            arguments = () if exhibit.corpus is None else (inputs.settings.corpora[exhibit.corpus],)
            place = "".join(f", {latex.corpus_title(corpus)}" for corpus in arguments)
            source = f", counterpart of the source's {exhibit.original}" if exhibit.original else ""
            yield f"\n### {name}\n\n{exhibit.title[0].upper()}{exhibit.title[1:]}{place}{source}.\n\n"
            if kind(name) == "figure":
                yield f"![{name}]({inputs.settings.name}/{name}.png)\n"
            else:
                yield f'<div class="exhibit">\n{table(exhibit.make(inputs, *arguments))}</div>\n'


def table(source: str) -> str:
    """Return a table of LaTeX, which `latex.tabular` or `latex.longtable` wrote, as HTML."""
    head, _, body = re.sub(r"^.*?\\toprule", "", source, flags=re.DOTALL).partition(r"\midrule")
    body = body.rpartition(r"\endfoot")[2]
    rows = [f"<tr>{_row(line, 'th')}</tr>" for line in _split(head, r"\\")]
    rows += [f"<tr>{_row(line, 'td')}</tr>" for line in _split(body.partition(r"\end{")[0], r"\\")]
    return "<table>\n" + "\n".join(row for row in rows if row != "<tr></tr>") + "\n</table>\n"


def _row(line: str, tag: str) -> str:
    """Return the cells of a row in HTML; nothing for a row of rules."""
    line = re.sub(r"\\(addlinespace|[a-z]*rule)(\[[^]]*\])?(\([a-z]*\))?(\{\d+-\d+\})?", "", line).strip()
    cells = []
    for cell in _split(line, "&") if line else ():
        span = re.match(r"\s*\\multicolumn\{(\d+)\}\{(?:[^{}]|\{[^{}]*\})*\}", cell)
        columns = f' colspan="{span[1]}"' if span and span[1] != "1" else ""
        cells.append(f"<{tag}{columns}>{text(cell[span.end() :] if span else cell)}</{tag}>")
    return "".join(cells)


def _split(source: str, mark: str) -> list[str]:
    """Return the parts between marks that stand in no braces."""
    parts, depth = [""], 0
    for token in re.findall(r"\\\\|\\.|[^\\]", source, flags=re.DOTALL):
        depth += (token == "{") - (token == "}")
        if token == mark and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def text(source: str) -> str:
    r"""Return the words and formulas of a cell as HTML; a command that is not known stands as its name.

    Examples:
        >>> text(r"\textbf{\ensuremath{10^{29}}} -- \alpha")
        '<b>10<sup>29</sup></b> &ndash; &alpha;'
    """
    tokens = iter(re.findall(r"\\[A-Za-z]+\s*|\\.|--|[^\\]", source.strip(), flags=re.DOTALL))
    return re.sub(r"\s+", " ", "".join(_converted(tokens)))


def _converted(tokens: Iterator[str]) -> Iterator[str]:
    """Yield the HTML of tokens, to the end of their group."""
    for token in tokens:
        name = token.strip().removeprefix("\\") or " "
        if token == "}":
            return
        if token == "{":
            yield "".join(_converted(tokens))
        elif name in TAGS and token != r"\_":
            yield f"<{TAGS[name]}>{_argument(tokens)}</{TAGS[name]}>"
        elif name == "newline":
            yield "<br>"
        elif name in SILENT and token != name:
            yield _argument(tokens).replace("-", "&minus;") if name == "ensuremath" else ""
        elif token.startswith("\\") and name.isalpha():
            entity = f"&{ENTITIES.get(name, name)};"
            known = html.unescape(entity) != entity
            yield (entity if known else name) + " " * (token[-1].isspace() or not known)
        else:
            yield {"--": "&ndash;", "~": "&nbsp;", "$": ""}.get(token, html.escape(name))


def _argument(tokens: Iterator[str]) -> str:
    """Return the next group, or the next token, as HTML."""
    first = next(tokens, "")
    return "".join(_converted(tokens if first == "{" else iter([first])))
