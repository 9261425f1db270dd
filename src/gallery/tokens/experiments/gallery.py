"""The gallery's opening table on documents: every token model's usual score, and its likelihood.

A row is a model of sections 27.2 and 27.3, trained on the training documents of a split and scored on the test
documents twice: by the score that is usually reported for it, and by its likelihood (`gallery.tokens.members`).
All in nats of the documents as sequences of tokens. A model of counts keeps its probability of the length: the Poisson
models, GaP and NMF generate it, the others are given it. Words without training tokens are left out of the test
documents, for every model.
"""

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import DOCUMENTS
from gallery.tokens.members import rows
from gallery.tokens.spec import Gallery

FAMILIES = rows.FAMILIES[DOCUMENTS]


def experiment(job: Job, settings: Gallery) -> Results:
    """Train every member that models documents, and score it twice; see `gallery.tokens.members.rows`."""
    return rows.rows(job, settings, DOCUMENTS)
