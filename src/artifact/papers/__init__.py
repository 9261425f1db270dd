"""One folder per source, and one for the new results; to add a paper, add its folder and its name here.

A document shows the exhibits of its papers: a study's is paper/main.tex, or the document that its key `document` names.
A package beside this one adds documents by a file `documents.py` with the mapping `DOCUMENTS`.

In each folder `experiments/` run and give scores and measurements, `results` reads the tables back, `contrasts` goes
from results to effects, `figures`, `tables` and `macros` from both to print. No folder imports another.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from artifact.papers.buntine import BUNTINE
from artifact.papers.hofmann import HOFMANN
from artifact.papers.likelihood import LIKELIHOOD
from artifact.papers.welling import WELLING
from artifact.study.manifest import Exhibit, Paper
from artifact.study.study import MAIN

PAPERS: tuple[Paper, ...] = (WELLING, BUNTINE, LIKELIHOOD, HOFMANN)
DOCUMENTS: dict[str, tuple[Paper, ...]] = {MAIN: PAPERS}
for _file in sorted(Path(__file__).parents[2].glob("*/documents.py")):
    DOCUMENTS |= import_module(f"{_file.parent.name}.documents").DOCUMENTS
ALL: tuple[Paper, ...] = tuple(paper for papers in DOCUMENTS.values() for paper in papers)

EXPERIMENTS: dict[str, Paper] = {name: paper for paper in ALL for name in paper.experiments}
EXHIBITS: dict[str, Exhibit] = {name: exhibit for paper in PAPERS for name, exhibit in paper.exhibits.items()}


def papers_of(study: Mapping[str, Any]) -> tuple[Paper, ...]:
    """Return the papers of a study's document."""
    return DOCUMENTS[study.get("document", MAIN)]
