"""What libraries' own numbers say of their models, put to the likelihood of the same documents."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from heldout.inputs import Inputs
from heldout.papers.likelihood.exhibits.peers import KIND, REPORTED, TRUTH, apart, curve, libraries
from heldout.points import Point
from heldout.verdicts import ALWAYS, Claim, Finding, counted, median

SEEN = 3.0  # standard errors of the truth above which a difference is taken for one
VARIATIONAL = ("scikit-learn", "gensim")


def _beside(
    inputs: Inputs, corpora: Sequence[str], of: Sequence[str] | None = None
) -> Iterator[tuple[str, str, dict[int, Point], dict[int, Point]]]:
    """Yield (corpus, library, reported, truth) where both are known at some numbers of topics, at these."""
    for corpus in corpora:
        for library in libraries(inputs):
            if of is None or library in of:
                reported, truth = (curve(inputs, corpus, library, name) for name in (REPORTED, TRUTH))
                both = sorted(reported.keys() & truth.keys())
                if both:
                    yield corpus, library, {k: reported[k] for k in both}, {k: truth[k] for k in both}


def _seeds(inputs: Inputs) -> list[int]:
    return list(inputs.study.get("measures", {}).get(KIND, {}).get("seeds", ()))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value < 1e9 else f"{value:.1e}"


def reported_grows(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the steps to more topics at which a variational library's number rises though the truth falls."""
    agree: list[bool] = []
    widest: dict[str, tuple[float, str]] = {}
    for corpus, library, reported, truth in _beside(inputs, corpora, VARIATIONAL):
        for fewer, more in pairwise(reported):
            error = math.hypot(truth[fewer].error, truth[more].error)
            if truth[more].value - truth[fewer].value > SEEN * error:
                agree.append(reported[more].value < reported[fewer].value)
        first, last = min(reported), max(reported)
        own, true = ([_number(of[k].perplexity) for k in (first, last)] for of in (reported, truth))
        text = f"{library} {own[0]} (K={first}) to {own[1]} (K={last}) on {corpus}, true {true[0]} to {true[1]}"
        rise = reported[first].value - reported[last].value
        widest[library] = max(widest.get(library, (-math.inf, "")), (rise, text))
    return counted(
        agree, f"perplexity, where it rises most: {'; '.join(t for _, t in widest.values())}", _seeds(inputs)
    )


def prefer_fewer(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the corpora and libraries whose own number is best at fewer topics than the truth."""
    agree, parts = [], []
    for corpus, library, reported, truth in _beside(inputs, corpora):
        own, true = (max(points, key=lambda k: points[k].value) for points in (reported, truth))
        agree.append(own < true)
        parts.append(f"{corpus} {library} {own} against {true}")
    return counted(agree, ", ".join(parts), _seeds(inputs))


def disagree(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the corpora and numbers of topics at which the reported numbers lie further apart than the true ones."""
    agree: list[bool] = []
    of_reported: list[tuple[float, str, int]] = []
    of_truth: list[tuple[float, str, int]] = []
    for corpus in corpora:
        reported, truth = (apart(inputs, corpus, name) for name in (REPORTED, TRUTH))
        for k in reported.keys() & truth.keys():
            agree.append(reported[k] > truth[k])
            of_reported.append((reported[k], corpus, k))
            of_truth.append((truth[k], corpus, k))
    effect = "; ".join(
        f"{name}: largest over smallest perplexity median {median(factor for factor, *_ in found):,.2f}, most"
        f" {_factor(max(found)[0])} ({max(found)[1]} K={max(found)[2]})"
        for name, found in (("reported", of_reported), ("true", of_truth))
        if found
    )
    return counted(agree, effect, _seeds(inputs))


def _factor(value: float) -> str:
    return f"{value:,.2f}" if value < 1e4 else f"{value:.1e}"


def pessimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the models to which their library gives less than the truth, by more than the truth's error."""
    agree, ratios = [], []
    for corpus, library, reported, truth in _beside(inputs, corpora):
        for k in reported:
            agree.append(reported[k].value < truth[k].value - SEEN * truth[k].error)
            ratios.append((math.exp(min(700.0, truth[k].value - reported[k].value)), corpus, library, k))
    ends = [f"{_factor(r[0])} ({r[1]} {r[2]} K={r[3]})" for r in (min(ratios), max(ratios))] if ratios else []
    return counted(agree, f"reported over true perplexity from {' to '.join(ends)}", _seeds(inputs), **ALWAYS)


_BEYOND = "beyond the original"

PEERS = (
    Claim(
        "peers-reported-grows",
        "issues of scikit-learn and gensim",
        "The perplexity that scikit-learn and gensim report of held-out documents grows with the number of topics where"
        " the likelihood says that it falls.",
        "every step to more topics at which the true perplexity falls by more than three standard errors: the reported"
        " one rises",
        reported_grows,
    ),
    Claim(
        "peers-prefer-fewer",
        _BEYOND,
        "A library's own number prefers fewer topics than the likelihood of the same models does.",
        "every corpus and library: the number of topics with the best reported value is below that with the best"
        " likelihood",
        prefer_fewer,
    ),
    Claim(
        "peers-disagree",
        _BEYOND,
        "On the same documents libraries' own numbers lie further apart than the likelihoods of their models.",
        "every corpus and number of topics: largest over smallest perplexity of the libraries, reported against true",
        disagree,
    ),
    Claim(
        "peers-pessimistic",
        _BEYOND,
        "What a library reports of held-out documents is above their true perplexity.",
        "every corpus, library and number of topics: the reported value is below the truth by more than three standard"
        " errors",
        pessimistic,
    ),
)
