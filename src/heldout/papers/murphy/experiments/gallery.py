"""The gallery's opening table on documents: every token model's usual score, and its likelihood.

A row is a model of sections 27.2 and 27.3, trained on the training documents of a split and scored on the test
documents twice: by the score that is usually reported of it, and by its likelihood (`heldout.papers.murphy.members`).
All in nats of the documents as sequences of tokens. What a model of counts says of the length remains: the Poisson
models, GaP and NMF generate it, the others are given it. Words without training tokens are left out of the test
documents, for every model.
"""

from heldout.job import Job
from heldout.papers.murphy.members.data import DOCUMENTS
from heldout.papers.murphy.members.rows import rows
from heldout.papers.murphy.settings import Gallery
from heldout.recorder import Results


def experiment(job: Job, settings: Gallery) -> Results:
    """Train every member that models documents, and score it twice; see `heldout.papers.murphy.members.rows`."""
    return rows(job, settings, DOCUMENTS)
