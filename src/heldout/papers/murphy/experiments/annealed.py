"""Rows of the opening table with more components than the exact kernels take, their likelihoods by annealing.

Of the members that can be annealed; trained and scored as in `gallery` and `records`, likelihoods corrected for the
bias of their logarithms. With `exact_topics` components, where the exact kernels serve, both are measured on the axis
"topics", nats per token:

    annealed    with its standard error
    exact
"""

from typing import Any

from heldout.evaluators.evaluation import corrected
from heldout.job import Job
from heldout.papers.murphy.members import MEMBERS
from heldout.papers.murphy.members.data import SPLITS, kind_of, per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL, AnnealedMember
from heldout.papers.murphy.settings import Annealed
from heldout.recorder import Results
from heldout.seeds import generator

ANNEALED, EXACT = "annealed", "exact"


def experiment(job: Job, settings: Annealed) -> Results:
    """Train the members that can be annealed, and score them; raises InputError as their models and evaluators do."""
    kind = kind_of(job.corpus)
    split = SPLITS[kind](job)
    recorder = job.recorder(documents=split.test.documents)
    members = [member for member in MEMBERS if kind in member.data and issubclass(member, AnnealedMember)]
    for member in (member.of(vars(settings)) for member in members):
        for K in member.numbers((settings.exact_topics, *settings.topics), job.corpus):
            axes: dict[str, Any] = {"corpus": job.corpus.name, "model": member.name, "topics": K, "seed": job.seed}
            fitted = member.train(split.training, K, generator("gallery", **axes))
            annealed = corrected(member.annealed(fitted, split.test, generator("annealed", **axes)))
            row = recorder.at(topics=K, **member.recorded)
            if settings.exact_topics >= K:
                exact = member.likelihood(fitted, split.test, generator("annealed", **axes))
                assert exact is not None
                for quantity, evaluation in ((ANNEALED, annealed), (EXACT, exact)):
                    row.measure(quantity, **per_token(evaluation), axis="topics", at=K)
                continue
            row.score(USUAL, member.usual_score(fitted, split.test), tokens_left_out=split.left_out)
            row.score(LIKELIHOOD, annealed, samples=settings.samples, tokens_left_out=split.left_out)
    return recorder.results
