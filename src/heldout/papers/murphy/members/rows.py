"""The rows of the gallery's opening table: every member that models the data, at every K, scored twice."""

from typing import Any

from heldout.errors import InputError
from heldout.job import Job
from heldout.papers.murphy.members import MEMBERS
from heldout.papers.murphy.members.data import SPLITS, kind_of
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.settings import Gallery, Records
from heldout.recorder import Results
from heldout.seeds import generator


def rows(job: Job, settings: Gallery | Records, kind: str) -> Results:
    """Train the members of a kind of data and score them twice.

    Returns:
        Scores of the evaluators "usual-score" and "likelihood"; what the members measure besides, on the axis "topics".

    Raises:
        InputError: for a corpus of another kind, or as the members' models and evaluators do.
    """
    corpus, asked = job.corpus, vars(settings)
    if kind_of(corpus) != kind:
        raise InputError(f"{job.variant}: corpus {corpus.name} has {kind_of(corpus)}, not {kind}")
    split = SPLITS[kind](job)
    recorder = job.recorder(documents=split.test.documents)
    for member in (member.of(asked) for member in MEMBERS if kind in member.data):
        for K in member.numbers(settings.topics, corpus):
            axes: dict[str, Any] = {"corpus": corpus.name, "topics": K, "seed": job.seed}
            fitted = member.train(split.training, K, generator("gallery", model=member.name, **axes))
            randoms = (generator("gallery-left-to-right", **axes) for _ in range(2))
            likelihood = member.likelihood(fitted, split.test, next(randoms))
            row = recorder.at(topics=K, **member.recorded)
            for evaluator, evaluation in (
                (USUAL, member.usual_score(fitted, split.test)),
                (LIKELIHOOD, likelihood),
            ):
                if evaluation is not None:
                    samples = asked.get("samples", 0) if evaluation.standard_error.any() else 0
                    row.score(evaluator, evaluation, samples=samples, tokens_left_out=split.left_out)
            for quantity, value in member.measured(fitted, split, likelihood, next(randoms)).items():
                row.measure(quantity, value, axis="topics", at=K)
    return recorder.results
