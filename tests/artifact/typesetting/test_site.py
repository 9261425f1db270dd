"""The site's page of exhibits: a section for each, and tables without LaTeX."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from small_study import inputs

from artifact.typesetting.exhibits import exhibits

DOCS = Path(__file__).parents[3] / "docs"


def test_every_exhibit_has_a_section_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    given = inputs()
    known = exhibits(given.papers, given.study)
    page = "".join(import_module("exhibits").sections(given, known))
    names = re.findall(r"^### (\S+)$", page, flags=re.MULTILINE)
    assert sorted([*names, "macros", "table-contrasts"]) == sorted(known)  # these effects follow
    assert not re.findall(r"\\\w+", page)


def test_rows_of_rules_fall_away_and_columns_are_spanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    source = r"""\begin{tabular}{@{}lr@{}}
\toprule
 & \multicolumn{2}{c@{}}{$K$}\\
\cmidrule(l){2-3}
corpus & 5 & 20\\
\midrule
A \& B & \ensuremath{-0.5} & --\\
\addlinespace
\bottomrule
\end{tabular}
"""
    rows = import_module("exhibits").table(source).splitlines()[1:-1]
    assert rows == [
        '<tr><th></th><th colspan="2">K</th></tr>',
        "<tr><th>corpus</th><th>5</th><th>20</th></tr>",
        "<tr><td>A &amp; B</td><td>&minus;0.5</td><td>&ndash;</td></tr>",
    ]
