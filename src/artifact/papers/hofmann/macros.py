"""The numbers of Hofmann's experiment that the text uses."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.experiments.latent_semantic_analysis import LSA
from artifact.papers.hofmann.results import (
    AXIS,
    COUNTS,
    EARLY,
    FOLDED_IN,
    HEATED,
    PREDICTIVE,
    PUBLISHED_RANK,
    READINGS,
    SPECIFIC,
    SPEED_UP,
    TEMPERING,
    UNIGRAMS,
    Model,
    curve,
    run_corpora,
    whole_seeds,
)
from artifact.results.reading import TRUTH, select
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.macros import POSITIONS, Macros, experiment_settings
from heldout.evaluators import HALF

if TYPE_CHECKING:
    import pandas as pd

CURVES: dict[str, tuple[Model, str]] = {
    "Early": (EARLY, SPECIFIC),
    "Tem": (HEATED, SPECIFIC),
    "FoldedIn": (HEATED, FOLDED_IN),
    "Half": (HEATED, HALF),
    "Truth": (HEATED, TRUTH),
    "Predictive": (HEATED, PREDICTIVE),
}
BASELINES: dict[str, Sequence[Model]] = {"Unigram": UNIGRAMS, "Counts": (COUNTS,), "AnyLsa": READINGS}


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    corpora, settings = run_corpora(inputs), experiment_settings(inputs, TEMPERING)
    result = {
        "InTemperingEarlyPatience": latex.setting(settings.get("early_patience")),
        "HofmannSectionName": "section~3.6",
        "HofmannFigureName": "Figure~5a",
        "HofmannAxisFactor": f"{AXIS[-1] / AXIS[0]:.2g}",
        "HofmannPublishedRank": latex.integer(PUBLISHED_RANK),
        "HofmannSpeedUpLow": f"{SPEED_UP[0]:g}",
        "HofmannSpeedUpHigh": f"{SPEED_UP[1]:g}",
    }
    shares = tuple(settings.get("shares", ())) or (None, None, None)
    for part, share in zip(("Train", "Validation", "Test"), shares, strict=True):
        result[f"Hofmann{part}Share"] = NOT_RUN if share is None else latex.percent(share, 0)
    positions = dict(zip(inputs.settings.corpora, POSITIONS, strict=False))
    for corpus, position in positions.items():
        numbers = _corpus_macros(inputs, corpus if corpus in corpora else "")
        result |= {f"Corpus{position}Hofmann{name}": value for name, value in numbers.items()}
    return result


def _corpus_macros(inputs: Inputs, corpus: str) -> Macros:
    """Return one corpus's numbers; "not run" where there is none, as for no corpus."""
    import pandas as pd

    result = {
        f"{name}Lowest": _lowest(pd.concat([curve(inputs, corpus, model) for model in models]))
        for name, models in BASELINES.items()
    }
    for name, (model, evaluator) in CURVES.items():
        means = curve(inputs, corpus, model, evaluator)
        means = means[means["shown"]]
        result[f"{name}LowestAt"] = latex.DASH
        if len(means):
            best = means["value"].idxmax()
            result[f"{name}LowestAt"] = f"{_lowest(means)} ({latex.choice(best, means.index, latex.integer(best))})"
    table = select(inputs.scores, corpus=corpus, model=LSA)
    rows = table[table["seed"].isin(whole_seeds(inputs, corpus))]
    for name, column in (("Tokens", "tokens"), ("LeftOut", "tokens_left_out"), ("Rank", "topics")):
        by_seed = {int(number) for number in rows.groupby("seed")[column].max()}
        ends = sorted({min(by_seed), max(by_seed)}) if by_seed else []
        result[name] = "--".join(latex.integer(end) for end in ends) or NOT_RUN
    return result


def _lowest(means: "pd.DataFrame") -> str:
    """Return the lowest perplexity of a curve, with its standard error over seeds."""
    if means.empty:
        return NOT_RUN
    best = means.sort_values("value", kind="stable").iloc[-1]
    perplexity = math.exp(-best["value"])
    return over_seeds.with_error(perplexity, perplexity * best["error"], 0 if perplexity >= over_seeds.LARGE else 1)
