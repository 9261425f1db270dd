"""The pictures of an audit on the landing page, and tables of estimators and exact cases. Sphinx calls `make`.

`python docs/pictures.py README.md` writes the beginning of what that audit prints into the README.
"""

import io
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from docstrings import docstrings
from rich.console import Console
from rich.text import Text
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

import heldout
from heldout.corpora.corpus import Corpus
from heldout.evaluators import ESTIMATORS, EXACT
from heldout.evaluators.estimate import estimate
from heldout.topics import Topics

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LINES = 30  # of what the terminal shows
STYLE = """\
.content { width: 60em; }
.pictures > * { margin: 0 0 1rem; }
.pictures img { border: 1px solid var(--color-background-border); border-radius: .3rem; width: 100%; }
@media (min-width: 64em) { .pictures { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start; } }
.exhibit { overflow-x: auto; font-size: .8rem; }
.exhibit th, .exhibit td { padding: .1rem .5rem; text-align: left; vertical-align: top; }
.exhibit td { font-variant-numeric: tabular-nums; }
.sphx-glr-download-link-note { display: none; }
"""


def pipeline(topics: int) -> Pipeline:
    """Return the model of the tutorials, not yet fitted."""
    return Pipeline(
        [
            ("words", CountVectorizer(stop_words="english", min_df=5, max_df=0.2, token_pattern="[a-z]{3,}")),
            ("lda", LatentDirichletAllocation(topics, random_state=0)),
        ]
    )


def audited() -> Any:
    """Return the audit of a model of half of the docstrings, on the other half."""
    texts = docstrings()
    return heldout.audit(pipeline(20).fit(texts[::2]), texts[1::2])


def begun(audit: Any) -> str:
    """Return what an audit prints, as far as its first table, without colours."""
    console = Console(width=100, file=io.StringIO())
    console.print(audit)
    lines = [line.rstrip() for line in str(console.file.getvalue()).splitlines()]  # type: ignore[attr-defined]
    rows = lines[: next(i for i, line in enumerate(lines) if line.startswith("uniform")) + 1]
    return "\n".join(rows)


def in_readme(readme: str, printed: str) -> str:
    """Return the README with what an audit prints between its marks."""
    return re.sub(
        r"(<!-- audit:[^>]*-->\n).*?(<!-- /audit -->)",
        lambda marks: f"{marks[1]}```\n{printed}\n```\n{marks[2]}",
        readme,
        flags=re.DOTALL,
    )


def make(folder: Path) -> None:
    """Write the pictures of an audit to a folder: terminal.svg, audit.html, and page.png or else numbers.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    audit = audited()
    coloured = Console(width=80, file=io.StringIO(), force_terminal=True)
    coloured.print(audit)
    first = str(coloured.file.getvalue()).splitlines()[:LINES]  # type: ignore[attr-defined]
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(Text.from_ansi("\n".join(first)))
    console.save_svg(str(folder / "terminal.svg"), title="heldout audit lda.skops test.npz")
    (folder / "audit.html").write_text(audit.to_html(), encoding="utf-8")
    (folder / "site.css").write_text(STYLE)
    photograph(folder / "audit.html", folder / "page.png", audit)
    estimators(folder / "estimators.md")
    exact_cases(folder / "exact-cases.md")


def photograph(page: Path, picture: Path, audit: Any) -> None:
    """Take a page's first screen in Chromium; without it, draw the figure that the page begins with."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        audit.plot().figure.savefig(picture, bbox_inches="tight")
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1080,1020"]
    command = [browser, *options, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=3600)


def estimators(path: Path) -> None:
    """Write a table of the estimators beside exact values, on documents drawn from a small model."""
    rng = np.random.default_rng(0)
    words = tuple(f"w{v}" for v in range(30))
    topics = Topics(rng.dirichlet(np.full(30, 0.2), size=4), np.full(4, 0.5), words)
    mixtures = rng.dirichlet(topics.alpha, size=100) @ topics.phi
    texts = [(str(d), list(rng.choice(words, 20, p=p / p.sum()))) for d, p in enumerate(mixtures)]
    documents = Corpus.from_documents("drawn", texts)
    exact = estimate(EXACT, topics, documents, 0, rng).log_likelihood
    lines = ["| estimator | name | as samples grow | samples | nats per token | error in stated errors |"]
    lines += ["|---|---|---|---:|---:|---:|"]
    for name, known in ESTIMATORS.items():
        if name == EXACT or known.behaviour == "other":
            continue
        samples = 0 if known.deterministic else 500
        found = estimate(name, topics, documents, samples, rng)
        gaps = found.log_likelihood - exact
        z = "" if known.deterministic else f"{np.sqrt(np.mean((gaps / found.standard_error) ** 2)):.2f}"
        value = f"{gaps.sum() / documents.n_tokens:.5f}".replace("-", "\N{MINUS SIGN}")
        lines.append(f"| {known.label} | `{name}` | {known.behaviour} | {samples or ''} | {value} | {z} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def exact_cases(path: Path) -> None:
    """Write a table of the exact cases: family after family, with its definition and its models' documents."""
    lines: list[str] = []
    for family, cases in itertools.groupby(heldout.exact_cases(), key=lambda case: case.family):
        listed = list(cases)
        first = listed[0]
        lines += [f"## {family}", "", f"`{first.definition}`", "", f"{first.source}.", ""]
        lines += [f"| model/document | document | log p ({first.probability_of}), nats | by |", "|---|---|---:|---|"]
        for case in listed:
            document = "; ".join(f"{name} {shortened(values)}" for name, values in case.document.items())
            value = f"{case.log_likelihood:.{case.digits}g}".replace("-", "\N{MINUS SIGN}")
            lines.append(f"| `{case.name}` | {document} | {value} | {case.method} |")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


def shortened(values: Any) -> str:
    """Return an array as a table shows it: rows by semicolons, a gap as a dash."""
    if values.size > 20:
        return f"({len(values)} of them)"
    rows = [["\N{EN DASH}" if value != value else f"{value:g}" for value in row] for row in np.atleast_2d(values)]
    return ", ".join(" ".join(row) for row in rows) or "none"


if __name__ == "__main__":
    front = Path(sys.argv[1])
    front.write_text(in_readme(front.read_text(encoding="utf-8"), begun(audited())), encoding="utf-8")
