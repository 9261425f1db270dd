"""Pages of the site with every exhibit of a study: pictures of figures, tables in HTML, effects. Sphinx calls `make`."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

from artifact.__main__ import Results
from artifact.contrasts.inputs import Inputs
from artifact.schema import load_study
from artifact.study.manifest import Exhibit, kind
from artifact.typesetting import contrasts_table, latex
from artifact.typesetting.exhibits import SHARED, exhibits, make_all

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "data/reference"
HEADS = {
    "paper": "# Exhibits of the paper\n\nA number of the PDF leads to the name: `make exhibit FIGURE=5`, `make exhibit TABLE=S2`.\n",
    "gallery": "# Exhibits of the gallery\n\nA number of the PDF leads to the name: `make exhibit FIGURE=5 STUDY=gallery`.\n",
}
MADE = "\nMade from `data/reference/{study}`, with this site.\n"
TAGS = {"textbf": "b", "emph": "i", "texttt": "code", "textsuperscript": "sup", "^": "sup", "_": "sub"}
SYMBOLS = {
    **{name: chr(0x3B1 + i) for i, name in enumerate("alpha beta gamma delta epsilon zeta eta theta".split())},
    **{"lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "Psi": "Ψ"},
    **{"Gamma": "Γ", "Delta": "Δ", "cdot": "·", "times": "×", "pm": "±", "le": "≤", "ge": "≥", "sim": "~", "infty": "∞"},
    **{"in": "∈", "to": "→", "Sigma": "Σ", "geq": "≥", "leq": "≤", "mid": " | ", "sum": "∑", "prod": "∏", "dots": "…", "dag": "†", "ddagger": "‡", "top": "ᵀ"},
    **{"lvert": "|", "rvert": "|", "quad": " ", "newline": "<br>", "textasciitilde": "~", "textbackslash": "\\"},
    **{"textless": "&lt;", "textgreater": "&gt;", "sqrt": "√", "tilde": "~", "hat": "", "frac": "", "notshown": "–"},
    **dict.fromkeys(("boldmath", "scriptsize", "footnotesize", "ensuremath", "mbox", "mathrm", "mathcal"), ""),
    **dict.fromkeys(("mathbb", "mathbf", "citet", "SyntheticNotice", "left", "right", ",", "(", ")", "/", "!"), ""),
    **{"%": "%", "&": "&amp;", "$": "$", "#": "#", "_": "_", " ": " ", ";": " ", "\\": "<br>", "{": "{", "}": "}"},
}
STYLE = """\
.exhibit { overflow-x: auto; font-size: .8rem; }
.exhibit th, .exhibit td { padding: .1rem .5rem; text-align: left; vertical-align: top; }
.exhibit td { font-variant-numeric: tabular-nums; }
"""


def make(folder: Path) -> None:
    """Write the page of each study, STUDY.md, its figures, STUDY/NAME.png, and the pages' style to a folder."""
    for study, head in HEADS.items():
        inputs = read(study, folder / study)
        known = exhibits(inputs.papers, inputs.study)
        make_all([name for name in known if kind(name) == "figure"], inputs, folder / study, suffix="png", processes=2)
        parts = [head, MADE.format(study=study), *_sections(inputs, known), "\n## Contrasts and their effects\n"]
        parts += [
            f"\n### {paper.source}\n\n{contrasts_table.markdown(paper.part('contrasts'), inputs)}"
            for paper in inputs.papers
            if paper.part("contrasts")
        ]
        (folder / f"{study}.md").write_text("".join(parts), encoding="utf-8")
    (folder / "exhibits.css").write_text(STYLE)


def read(study: str, folder: Path) -> Inputs:
    """Return the reference results of a study, whose settings are written to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "study.json"
    settings.write_text(json.dumps(load_study(ROOT / f"workflow/studies/{study}.yaml", ROOT / "data")))
    kept = REFERENCE / study
    tables = {name: kept / f"{name}.csv" for name in ("scores", "corpora", "notes", "effects")}
    tables |= {name: kept / f"{name}.csv.gz" for name in ("measurements", "groups")}
    more = {"arrays": kept / "arrays.npz", "benchmarks": REFERENCE / "estimator_timings.csv"}
    return Results(study=settings, **tables, **more, timings=(kept / "timings.csv",)).read()


def _sections(inputs: Inputs, known: dict[str, Exhibit]) -> Iterator[str]:
    """Yield the page's sections, paper by paper, an exhibit under its name."""
    for source, names in {**{paper.source: paper.exhibits for paper in inputs.papers}, "All sources": SHARED}.items():
        shown = [name for name in names if name in known and name not in ("macros", "table-contrasts")]
        yield f"\n## {source}\n" * bool(shown)
        for name in shown:
            exhibit = known[name]
            arguments = () if exhibit.corpus is None else (inputs.settings.corpora[exhibit.corpus],)
            of = "".join(f", {latex.corpus_title(corpus)}" for corpus in arguments)
            source = f" ({exhibit.original})" if exhibit.original else ""
            yield f"\n### {name}\n\n{exhibit.title[0].upper()}{exhibit.title[1:]}{of}{source}.\n\n"
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
        across = f' colspan="{span[1]}"' if span and span[1] != "1" else ""
        cells.append(f"<{tag}{across}>{text(cell[span.end() :] if span else cell)}</{tag}>")
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
    """Return the words and formulas of a cell as HTML; a command that is not known stands as its name.

    Examples:
        >>> text(r"\\textbf{\\ensuremath{1.7\\cdot10^{-29}}} -- \\alpha")
        '<b>1.7·10<sup>−29</sup></b> – α'
    """
    tokens = iter(re.findall(r"\\[A-Za-z]+\s*|\\.|--|[^\\]", source.strip(), flags=re.DOTALL))
    return re.sub(r"\s+", " ", "".join(_converted(tokens)))


def _converted(tokens: Iterator[str]) -> Iterator[str]:
    """Yield the HTML of tokens, to the end of their group."""
    for token in tokens:
        name = token.strip().removeprefix("\\") if token.startswith("\\") else token
        if token == "}":
            return
        if name in TAGS and token != r"\_":
            yield f"<{TAGS[name]}>{_argument(tokens)}</{TAGS[name]}>"
        elif token.startswith("\\"):
            yield SYMBOLS.get(name, f"{name} ")
            if name in ("ensuremath", "mathrm"):
                yield _argument(tokens).replace("-", "−")
        elif token != "{":
            yield {"--": "–", "~": "\N{NO-BREAK SPACE}", "$": ""}.get(token, html.escape(token))
        else:
            yield "".join(_converted(tokens))


def _argument(tokens: Iterator[str]) -> str:
    """Return the next group, or the next token, as HTML."""
    first = next(tokens, "")
    return "".join(_converted(tokens if first == "{" else iter([first])))
