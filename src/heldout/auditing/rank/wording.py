"""The texts of a ranking, for the terminal and the page."""

import math
from collections.abc import Iterator
from itertools import islice

from heldout.auditing.audit.wording import MOST, flat, raised
from heldout.auditing.formats import (
    ERRORS,
    SAME,
    amount,
    clean,
    difference,
    error,
    interval,
    nats,
    perplexities,
    perplexity,
    sentence,
    signed,
)
from heldout.auditing.rank.result import Difference, RankedModel, RankingResult
from heldout.auditing.tables import Column, Table

MANY = 3  # names in a sentence; of more the number is said


def headline(ranking: RankingResult) -> str:
    """Return the verdict, one sentence."""
    best, ties = ranking.best, ranking.ties
    if best.impossible:
        return (
            f"Every model gives documents probability 0; the fewest, {best.impossible:,} of {ranking.documents:,},"
            f" {label(best)}."
        )
    number = f"{shown(ranking, best)} per token"
    if best.stand_in:
        number += f" under a prior that is no part of it ({clean(best.stand_in)})"
    if len(ties) == 1:
        return f"The documents are likeliest under {label(best)}, perplexity {number}, and that is no chance."
    fewest = min(ties, key=lambda model: model.topics)
    smallest = f"; the smallest of these is {label(fewest)}" if fewest.topics < best.topics else ""
    if len(ties) == len(ranking.models):
        return (
            f"These documents do not tell the models apart; they are likeliest under {label(best)}, {number}{smallest}."
        )
    if smallest and len(ties) == 2:
        smallest = ", which is smaller"
    return (
        f"The documents are likeliest under {label(best)}, perplexity {number}, but they do not tell it from"
        f" {names(ties[1:])}{smallest}."
    )


def reasons(ranking: RankingResult) -> list[str]:
    """Return at most `MOST` sentences below the verdict: causes and remedies, the gravest first."""
    return list(islice(_reasons(ranking), MOST))


def _reasons(ranking: RankingResult) -> Iterator[str]:
    if len(ranking.ties) > 1:
        yield f"What could tell them apart is more {ranking.scarce}."
    numbers = {model.topics for model in ranking.models}
    if ranking.best.topics == max(numbers) > min(numbers):
        yield f"No model of more than {_topics(ranking.best)} is among these: more topics may be better still."
    impossible = tuple(model for model in ranking.models if model.impossible)
    if impossible:
        give = "give up to" if len(impossible) > 1 else "gives"
        who = names(impossible) if len(impossible) <= MANY else f"{len(impossible)} models"
        yield (
            f"{who} {give} {impossible[-1].impossible:,} of {ranking.documents:,} documents probability"
            " 0, for words that are in no topic: the numbers are of the others. Smoothing (smoothing=1e-6, --smoothing"
            " 1e-6) makes all possible."
        )
    if ranking.library_choice is not None:
        yield _library(ranking, ranking.library_choice)
    for model in ranking.models[1:]:
        if model.stand_in:
            yield f"{label(model)} has no prior of its own: {clean(model.stand_in)}."
    coherent = ranking.coherence_choice
    if coherent is not None:
        owner = "the same model" if coherent is ranking.best else label(coherent)
        value = f"{_measure(ranking)} {nats(coherent.coherence, 2)}"
        yield f"Coherence, which asks something else, is highest in {owner} ({value})."
    if ranking.note:
        yield sentence(ranking.note)
    for model in ranking.models:
        if model.flat_topics:
            yield f"Of {clean(model.name)} {flat(model.flat_topics, model.topics)}."


def _library(ranking: RankingResult, choice: RankedModel) -> str:
    """Return sentences on the choice by the libraries' own numbers, and on their distance from the likelihood."""
    chooses = "chooses the same model"
    if choice is not ranking.best:
        gap = ranking.difference(choice, ranking.best)
        distance = f"{nats(-gap.nats_per_token)} nats per token behind the best"
        verdict = "" if gap.apart else ", which these documents do not tell apart from it"
        chooses = f"would have chosen {label(choice)}, {distance}{verdict}"
    ends = dict.fromkeys(end(ranking.models, key=lambda model: model.topics) for end in (min, max))
    comparisons = " and ".join(f"{_beside_likelihood(ranking, model)} at {_topics(model)}" for model in ends)
    base = f" For {label(choice)} {raised(choice.reported)}." if choice.reported.base != math.e else ""
    return (
        f"{clean(choice.reported.function)}, the library's own number, {chooses}. That number is {comparisons}.{base}"
    )


def label(model: RankedModel) -> str:
    """Return a model's name with its number of topics."""
    return clean(model.name) if _topics(model) in model.name else f"{clean(model.name)} ({_topics(model)})"


def _topics(model: RankedModel) -> str:
    return amount(model.topics, "topic")


def _beside_likelihood(ranking: RankingResult, model: RankedModel) -> str:
    """Return in words how the library's own number compares with the likelihood of the documents."""
    gap = ranking.nats_per_token(model) + model.reported.log_perplexity
    if abs(gap) <= max(SAME, ERRORS * ranking.error(model)):
        return "right"
    return f"{difference(math.exp(min(gap, 700.0)), 1.0)} the likelihood's"


def names(models: tuple[RankedModel, ...]) -> str:
    """Return models' names in a sentence."""
    if len(models) > MANY:
        return f"{len(models)} others"
    *first, last = (label(model) for model in models)
    return f"{', '.join(first)} and {last}" if first else last


def shown(ranking: RankingResult, model: RankedModel) -> str:
    """Return a model's perplexity of the documents possible under it, in words."""
    return perplexity(*_perplexity(ranking, model))


def _perplexity(ranking: RankingResult, model: RankedModel) -> tuple[float, float]:
    """Return a model's perplexity of the documents possible under it, and its estimator's error."""
    value = -ranking.nats_per_token(model)
    number = math.exp(value) if value < 700.0 else math.inf
    return number, number * ranking.error(model)


def models(ranking: RankingResult) -> Table:
    """Return the models side by side, the best first."""
    values, spreads = zip(*(_perplexity(ranking, model) for model in ranking.models), strict=True)
    numbers = perplexities(values, spreads)
    heads = ("model", "topics", "perplexity", "over documents", "behind", "±", "", "library", _measure(ranking))
    return Table(
        "Perplexity per token, and nats per token behind the best",
        tuple(Column(head, number=head not in ("model", "")) for head in heads),
        [_row(ranking, *each) for each in zip(ranking.models, numbers, ranking.behind, strict=True)],
        "Over documents: the 95 % interval for other documents like these, the model fixed. Behind the best: ± is the"
        " standard error of the paired difference on the same documents. A tie is a model that these documents do not"
        " tell apart from the best, at 5 % over all pairs.",
        (0,),
        most=50,
    )


def _measure(ranking: RankingResult) -> str:
    return str(ranking.settings.get("coherence", "NPMI"))


def _row(ranking: RankingResult, model: RankedModel, number: str, gap: Difference) -> tuple[str, ...]:
    best, reported = model is ranking.best, model.reported.perplexity
    state = "best" if best else "" if gap.apart else "tie"
    state = f"{model.impossible:,} impossible" if model.impossible and not best else state
    return (
        clean(model.name),
        f"{model.topics:,}",
        number,
        interval(*ranking.interval(model)),
        "" if best else signed(gap.nats_per_token),
        "" if best else error(gap.error),
        f"{state}{', ' * bool(state)}prior chosen" if model.stand_in else state,
        "" if math.isnan(reported) else perplexity(reported),
        "" if math.isnan(model.coherence) else nats(model.coherence, 2),
    )


def facts(ranking: RankingResult) -> str:
    """Return a sentence on the documents and the estimator."""
    labels = {model.prior.label(ranking.work.estimator) for model in ranking.models}
    how = "exact" if ranking.exact else f"by {' and '.join(sorted(labels, reverse=True))}"
    samples = f" with {ranking.work.samples:,} samples a document at most" if ranking.work.samples else ""
    return (
        f"{ranking.documents:,} documents of {ranking.tokens:,} tokens of {clean(ranking.corpus)}"
        f" ({ranking.left_out:,} tokens outside the vocabulary left out); likelihoods {how}{samples}."
    )
