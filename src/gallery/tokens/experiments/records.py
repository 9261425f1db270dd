"""The gallery's opening table on records of categorical variables (equations 27.3, 27.7 and 27.14).

As `gallery.tokens.experiments.gallery` on documents, in nats of a record's responses, with gaps integrated out.
A model is left out where its likelihood would cost more than the limits: columns of categorical PCA's quadrature,
components of the user rating profile's exact kernel.
"""

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import RECORDS
from gallery.tokens.members import rows
from gallery.tokens.spec import Records

FAMILIES = rows.FAMILIES[RECORDS]


def experiment(job: Job, settings: Records) -> Results:
    """Train every member that models records, and score it twice; see `gallery.tokens.members.rows`."""
    return rows.rows(job, settings, RECORDS)
