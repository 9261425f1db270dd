"""Section 27.5.2: mixed memberships of the nodes of a graph, and the model's likelihood by annealing.

For each rho, by which rows are recorded as their constant ("smoothing"), measured of "mmsb" at K:

    membership       an array (n, K), E[pi_ik] of every node; blocks in the order of the nodes that have most of them
    annealed         log p(R), nats, with its standard error, on the axis "topics"
    plugged          log p(R | E[pi], E[eta]), nats: parameters plugged in
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.graphs.evaluators.mixed_membership_evidence import annealed_roles
from gallery.graphs.models.mmsb import MMSB, Roles
from gallery.graphs.spec import Memberships
from gallery.member import Family
from heldout.corpora.relations.relation import relations_of

MODEL = "mmsb"
MEMBERSHIP, ANNEALED_EVIDENCE, PLUGGED = "membership", "annealed", "plugged"
FAMILIES = (Family("mixed memberships", (MODEL,), None),)


def experiment(job: Job, settings: Memberships) -> Results:
    """Sample and anneal at every rho; raises InputError for a corpus that is no graph without self-loops."""
    (relation, *_), K = relations_of(job.corpus).relations, settings.topics
    recorder = job.recorder(model=MODEL, topics=K)
    for rho in settings.rhos:
        random = job.generator("memberships", topics=K, rho=rho)
        model = MMSB.of(settings, K, rho=rho, random_state=random).fit(relation)
        row = recorder.at(smoothing=rho, chain="all")
        order = np.argsort(model.memberships_.argmax(axis=0), kind="stable")
        row.array(MEMBERSHIP, model.memberships_[:, order])
        row.measure(PLUGGED, model.plugged_in(relation))
        roles = Roles(relation, K, alpha=settings.alpha, eta=(settings.eta, settings.eta), rho=rho)
        value, error = annealed_roles(
            roles,
            chains=settings.chains,
            temperatures=settings.temperatures,
            random=job.generator("memberships-annealed", topics=K, rho=rho),
        )
        row.measure(ANNEALED_EVIDENCE, value, error=error)
    return recorder.results
