"""One folder per source, and one for what is new here; to add a paper, add its folder and its name here.

In each: `experiments/` run and give scores and measurements, `results` reads the tables back, `claims` goes from
results to verdicts, `figures`, `tables`, `interpretations` and `macros` from both to what is printed. No folder
imports another's.
"""

from heldout.manifest import Exhibit, Paper
from heldout.papers.buntine import BUNTINE
from heldout.papers.hofmann import HOFMANN
from heldout.papers.likelihood import LIKELIHOOD
from heldout.papers.welling import WELLING

PAPERS: tuple[Paper, ...] = (WELLING, BUNTINE, LIKELIHOOD, HOFMANN)

EXPERIMENTS: dict[str, Paper] = {name: paper for paper in PAPERS for name in paper.experiments}
EXHIBITS: dict[str, Exhibit] = {name: exhibit for paper in PAPERS for name, exhibit in paper.exhibits.items()}
