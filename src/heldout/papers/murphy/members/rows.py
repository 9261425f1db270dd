"""The rows of the gallery's opening table: every member that models the data, at every K, scored twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.measurements import Measurement
from heldout.papers.murphy.members import MEMBERS
from heldout.papers.murphy.members.data import SPLITS, kind_of
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL, Member
from heldout.scores import Score, score_of
from heldout.seeds import generator


def named(member: Member[Any, Any], variant: str, corpus: str, K: int, seed: int) -> dict[str, Any]:
    """Return what the scores and measurements of a member have in common."""
    smoothing, chain = getattr(member, "smoothing", 0.0), "0" if member.sampled else "none"
    axes: dict[str, Any] = {"corpus": corpus, "model": member.name, "topics": K, "seed": seed}
    return {**axes, "variant": variant, "smoothing": smoothing, "chain": chain}


def rows(
    variant: str,
    kind: str,
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    settings: Mapping[str, Any],
) -> tuple[list[Score], list[Measurement]]:
    """Train the members of a kind of data and score them twice.

    Args:
        variant: the experiment's name.
        kind: of the data.
        corpus: all of them.
        seed: determines the split, the starts and the chains.
        test_documents: how many cases are held out.
        topics: K.
        settings: the members', by name.

    Returns:
        Scores of the evaluators "usual-score" and "likelihood"; what the members measure besides, on the axis "topics".

    Raises:
        InputError: for a corpus of another kind, or as the members' models and evaluators do.
    """
    if kind_of(corpus) != kind:
        raise InputError(f"{variant}: corpus {corpus.name} has {kind_of(corpus)}, not {kind}")
    split = SPLITS[kind](corpus, test_documents, seed)
    scores, measurements = [], []
    for member in (member.of(settings) for member in MEMBERS if kind in member.data):
        for K in member.numbers(topics, corpus):
            axes: dict[str, Any] = {"corpus": corpus.name, "topics": K, "seed": seed}
            fitted = member.train(split.training, K, generator("gallery", model=member.name, **axes))
            randoms = (generator("gallery-left-to-right", **axes) for _ in range(2))
            likelihood = member.likelihood(fitted, split.test, next(randoms))
            row = named(member, variant, corpus.name, K, seed)
            for evaluator, evaluation in (
                (USUAL, member.usual_score(fitted, split.test)),
                (LIKELIHOOD, likelihood),
            ):
                if evaluation is not None:
                    samples = settings.get("samples", 0) if evaluation.standard_error.any() else 0
                    drawn = {"samples": samples, "tokens_left_out": split.left_out}
                    scores.append(score_of(evaluation, evaluator=evaluator, **drawn, **row))
            measurements += [
                Measurement(quantity=quantity, axis="topics", at=K, value=value, **row)
                for quantity, value in member.measured(fitted, split, likelihood, next(randoms)).items()
            ]
    return scores, measurements
