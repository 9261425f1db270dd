"""The rows of the gallery's opening table: every member that models the data, at every K, scored twice.

Also measured, on the axis "topics":

    one-token       the sum over all documents of one token of the exponential of the usual score, given the length; of
                    records of one response, the mean of such sums over variables: 1 of a probability
    estimated       where there are an exact likelihood and an estimate, the latter on at most `CHECKED` cases, with its
                    error, nats per token
    exact           the exact one on these cases
"""

from functools import partial
from typing import Any

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import DOCUMENTS, LIKELIHOOD, RECORDS, RESPONSES, TOKENS_OF_DOCUMENTS, USUAL, Family, Member
from gallery.tokens.members import MEMBERS
from gallery.tokens.members.data import SPLITS, kind_of, one_token_documents
from gallery.tokens.spec import Gallery, Records
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError

ONE_TOKEN, ESTIMATED, EXACT = "one-token", "estimated", "exact"
FAMILIES = {
    kind: tuple(
        Family(one.label, (one.name,), one.usual, panel, {one.name: one.label} if one.usual.kind != "exact" else {})
        for one in MEMBERS
        if kind in one.data
    )
    for kind, panel in ((DOCUMENTS, TOKENS_OF_DOCUMENTS), (RECORDS, RESPONSES))
}
CHECKED = 50
CASES = 500  # documents of one token, scored together: as dense arrays all of them would take gigabytes


def rows(job: Job, settings: Gallery | Records, kind: str) -> Results:
    """Train the members of a kind of data and score them twice.

    Returns:
        Scores of the evaluators "usual-score" and "likelihood"; the measurements above; the members' own
        measurements, on the axis "topics".

    Raises:
        InputError: for a corpus of another kind, or as the members' models and evaluators do.
    """
    corpus, asked = job.corpus, vars(settings)
    if kind_of(corpus) != kind:
        raise InputError(f"{job.variant}: corpus {corpus.name} has {kind_of(corpus)}, not {kind}")
    split = SPLITS[kind](job)
    recorder = job.recorder(documents=split.test.documents, tokens_left_out=split.left_out)
    few = split.test.subset(np.arange(min(CHECKED, split.test.n_documents)))
    for member in (member.of(asked) for member in MEMBERS if kind in member.data):
        sampled = getattr(member, "samples", getattr(member, "chains", 0))
        for K in member.numbers(settings.topics, corpus):
            fitted = member.train(split.training, K, job.generator("gallery", model=member.name, topics=K))
            random = partial(job.generator, "gallery-estimates", model=member.name, topics=K)
            randoms = (random(part=part) for part in range(3))
            exact, row = member.likelihood(fitted, split.test), recorder.at(topics=K, **member.recorded)
            likelihood = member.estimated(fitted, split.test, next(randoms)) if exact is None else exact
            for evaluator, evaluation in ((USUAL, member.usual_score(fitted, split.test)), (LIKELIHOOD, likelihood)):
                if evaluation is not None:
                    samples = sampled if evaluation.standard_error.any() else 0
                    row.score(evaluator, evaluation, samples=samples)
            measured = member.measured(fitted, split, likelihood, next(randoms))
            for quantity, value in (*measured.items(), (ONE_TOKEN, over_one_token(member, fitted, split.test))):
                row.measure(quantity, value)
            if exact is not None and K > 1:
                estimated, few_exact = member.estimated(fitted, few, next(randoms)), member.likelihood(fitted, few)
                for quantity, check in ((ESTIMATED, estimated), (EXACT, few_exact)):
                    if estimated is not None and check is not None:
                        row.per_token(quantity, check)
    return recorder.results


def over_one_token(member: Member[Any, Any], fitted: Any, test: Corpus) -> float:
    """Return the sum over one token of the exponential of the usual score; see the module."""
    ones = one_token_documents(test)
    parts = (ones.subset(np.arange(i, min(i + CASES, ones.n_documents))) for i in range(0, ones.n_documents, CASES))
    total = sum(float(np.exp(member.given_length(fitted, part)).sum()) for part in parts)
    return total * float(test.provenance.get("values", test.n_words)) / test.n_words
