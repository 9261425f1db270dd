"""Claims that compare folding-in, repairs of it, and libraries' own numbers with the truth.

They are from sections 4.1 and 4.4 of Welling et al. (2008), and our own. The truth is log p(document | alpha, phi) of
the same test documents under the model's own prior, exact or by the reference, in nats per token.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from artifact.papers.likelihood import long_chains, prior_share, regret, validation
from artifact.papers.likelihood.experiments import same_halves
from artifact.papers.likelihood.experiments.epca_marginal import ANNEALED_MARGINAL
from artifact.papers.likelihood.experiments.is_a_probability import SAMPLED_FULL, TRUE_MODEL
from artifact.papers.likelihood.experiments.optimism import NML, PLUG_IN
from artifact.papers.likelihood.experiments.packages import ALL, KINDS, LIKELIHOOD, MENDED, REPORTED
from artifact.papers.likelihood.experiments.packages import VARIATIONAL as OF_BOUNDS
from artifact.papers.likelihood.experiments.prior_share import CONCENTRATION, PER_SUM
from artifact.papers.likelihood.experiments.validation import BOUNDS, OTHERS
from artifact.papers.likelihood.results import (
    CHANCE,
    COMPONENTS,
    FITTED,
    FLAT,
    LIBRARIES,
    MIXTURE,
    OPTIMISM,
    PACKAGES,
    PEERS,
    as_given,
    calibration,
    excesses,
    main_constant,
    package_numbers,
)
from artifact.results.reading import LARGEST, TRUTH, select, with_truth
from artifact.verdicts.claims import Claim
from artifact.verdicts.effects import ON, effects, less, paired, per_token, sizes, steps, values_of
from artifact.verdicts.inputs import Inputs
from artifact.verdicts.verdicts import ANY, MODELS, SIMILAR, Effect, Margin, Test
from artifact.verdicts.verdicts import ESTIMATORS as OF_ESTIMATORS
from heldout.evaluators import COMPLETION, ESTIMATORS, FULL, HALF, LAPLACE
from heldout.models import LDA, PLSA

if TYPE_CHECKING:
    import pandas as pd

REMAINS = 0.5  # share of the optimism
FITTED_AT = (100, 800)  # numbers of topics of the table of the optimism that are not few
VARIATIONAL = ("scikit-learn", "gensim")
PACKAGES_HELD_OUT = 1.0 / 3.0  # share of documents, at most, in the study `packages`, which has corpora of its own
TODAYS_HELD_OUT = 0.4  # of 20 newsgroups, by date
COVERED, STATED = 0.95, 2.0  # share of cells that normal errors leave within so many stated errors
SPREAD, SPREADS = 0.9, Margin(0.3, "r.m.s. z", "stated before the data", "2026-11-25, before any was run")
DRAWN_ANEW = ("seed", "model", "prior", "topics")  # cells whose estimates share no random number
PRINTED = {PLSA: "PLSA", LDA: "LDA"}
CHOICES = {  # scores that choose, and how the claims say it, by the ends of the claims' names
    "number": (regret.NUMBER, "is the largest of the grid"),
    "full": ("full folding-in", "full folding-in prefers"),
    "half": ("half folding-in", "half folding-in prefers"),
    "bound": ("mean-field bound", "the mean-field bound prefers"),
    "models-prior": (regret.MODELS_PRIOR, "the likelihood under the model's prior prefers"),
}


def beside_truth(
    inputs: Inputs, corpora: Sequence[str], model: str, evaluator: str, variant: str = OPTIMISM, prior: str = ""
) -> "pd.DataFrame":
    """Return an evaluator's scores less the truth, as `artifact.verdicts.effects.paired` does.

    The model may be a library. The truth's variant is the prior, or the scores' own where none is given: folding in
    knows no prior.
    """
    constant = main_constant(inputs) if model == PLSA else 0.0
    at = {"corpus": tuple(corpora), "model": model, "smoothing": constant}
    scores = with_truth(inputs.scores[inputs.scores["variant"].isin({variant, prior or variant})])
    estimate, truth = {"evaluator": evaluator, "variant": variant}, {"evaluator": TRUTH, "variant": prior or variant}
    return paired(scores, {**at, **estimate}, {**at, **truth})


def truth_covers(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Hold the reference's error in every cell with an exact value to its stated error, and to the margin."""
    cells = calibration(inputs)
    cells = cells[cells["corpus"].isin(list(corpora))]
    named = cells[["corpus", "seed", "model", "topics", "variant"]].assign(error=0.0)
    covered = effects(
        named.assign(gain=(cells["z"].abs() <= STATED).astype(float)),
        margin=ANY,
        threshold=COVERED,
        part="covered",
        resolution=1.0 / max(1, len(cells)),
        unit="share of cells",
    )
    far = named.assign(gain=cells["per_token"])
    return [*covered, *effects(far, margin=OF_ESTIMATORS, test="similar", part="less exact")]


def reference_holds(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Hold the reference to other estimates: the difference, and how it spreads over documents in stated errors."""
    found = []
    cells, documents = validation.cells(inputs, corpora), validation.documents(inputs, corpora)
    for other in OTHERS:
        named, own = validation.NAMES[other], select(documents, other=other)
        pairs = select(cells, other=other, validated=True)[["corpus", "seed", "model", "prior", "topics", "gain"]]
        pairs = pairs.assign(error=0.0)
        found += effects(pairs, margin=OF_ESTIMATORS, test="similar", replicate=DRAWN_ANEW, part=named)
        for corpus, z in own.groupby("corpus", sort=False)["z"]:
            n, spread = len(z), math.sqrt(float((z**2).mean()))
            of_mean = float((z**2).std(ddof=1)) / math.sqrt(n) / (2.0 * spread) if n > 1 else math.inf  # delta method
            named_z = (str(corpus), f"{named}, r.m.s. z", spread, of_mean, float(n - 1), SPREADS.unit)
            found.append(Effect(*named_z, SPREAD, SPREADS.value, n, 1, test="similar"))
    return found


def between_bounds(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much the reference of drawn documents lies above the lower and below the upper bound."""
    found = []
    cells = validation.cells(inputs, corpora)
    for bound, sign in zip(BOUNDS, (1.0, -1.0), strict=True):
        pairs = select(cells, other=bound, validated=True)[["corpus", "seed", "model", "prior", "topics", "gain"]]
        pairs = pairs.assign(gain=sign * pairs["gain"], error=0.0)
        part = f"{'above' if sign > 0.0 else 'below'} the {validation.NAMES[bound]}"
        found += effects(pairs, margin=OF_ESTIMATORS, test="similar", replicate=DRAWN_ANEW, part=part)
    return found


def above_truth(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> list[Effect]:
    """Measure by how much an evaluator lies above the truth; a maximum of PLSA's cannot lie below."""
    found = []
    for model in (PLSA, LDA):
        cannot = (evaluator, model) == (FULL, PLSA)
        pairs = beside_truth(inputs, corpora, model, evaluator)
        found += _by_split(
            inputs, pairs, margin=ANY if cannot else MODELS, test="identity" if cannot else "above", part=PRINTED[model]
        )
    return found


def fitted_prior_helps(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure what PLSA's likelihood gains under a prior that is fitted to the training documents."""
    scores = with_truth(inputs.scores)
    at = {"corpus": tuple(corpora), "model": PLSA, "smoothing": main_constant(inputs), "evaluator": TRUTH}
    pairs = paired(scores, {**at, "variant": FITTED}, {**at, "variant": OPTIMISM})
    return [
        effect
        for k in FITTED_AT
        for effect in _by_split(inputs, select(pairs, topics=k), margin=MODELS, part=f"K = {k}")
    ]


def optimism_grows_with_topics(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much the optimism of full folding-in grows from one number of topics to the next."""
    return [
        effect
        for model in (PLSA, LDA)
        for effect in _by_split(
            inputs, steps(beside_truth(inputs, corpora, model, FULL)), margin=MODELS, part=PRINTED[model]
        )
    ]


def no_prior_closes_the_gap(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure the share of full folding-in's optimism that is left under the best of the priors that were tried."""
    found = []
    keys = ["corpus", "topics", "seed"]
    for model in (PLSA, LDA):
        own = beside_truth(inputs, corpora, model, FULL).set_index(keys)
        names = values_of(own, "gain")
        left, error = own[names], own["error"]
        for prior in (FLAT, FITTED, MIXTURE):
            other = beside_truth(inputs, corpora, model, FULL, prior=prior).set_index(keys)
            other = other.reindex(own.index, columns=own.columns)
            error = error.where(~(other["gain"] < left["gain"]), other["error"])
            left = left.where(~(other[names] < left), other[names])
        share = left / own[names]
        share["error"] = (error**2 + (share["gain"] * own["error"]) ** 2) ** 0.5 / own["gain"]
        found += _by_split(
            inputs, share.reset_index(), margin=ANY, threshold=REMAINS, part=PRINTED[model], unit="share left"
        )
    return found


def components_optimistic(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much EPCA's full folding-in lies above the annealed estimate, document by document."""
    table = select(inputs.measurements, variant=COMPONENTS, axis="document")
    table = table[table["corpus"].isin(list(corpora))].assign(error=0.0)
    full, truth = (select(table, quantity=name) for name in (FULL, ANNEALED_MARGINAL))
    gaps = less(full, truth, [*ON, "at"])
    return effects(gaps, margin=ANY, test="identity", unit="nats per document")


def repairs(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> list[Effect]:
    """Measure how far a repair of folding-in lies from the truth, whichever way."""
    found = []
    for model in (PLSA, LDA):
        pairs = beside_truth(inputs, corpora, model, evaluator)
        pairs = pairs[np.isfinite(pairs["gain"].astype(float))]
        found += _by_split(inputs, sizes(pairs), margin=MODELS, test="similar", part=PRINTED[model])
    return found


def _by_split(inputs: Inputs, pairs: "pd.DataFrame", **how: Any) -> list[Effect]:
    return effects(pairs, held_out=inputs.held_out, **how)


def choosing(inputs: Inputs, corpora: Sequence[str], *, chooser: str) -> list[Effect]:
    """Measure what the likelihood loses where another score chooses the number of topics (`regret`)."""
    found = []
    held_out = {**inputs.held_out, **dict.fromkeys(prior_share.TODAY, TODAYS_HELD_OUT)}
    for model in (PLSA, LDA):
        for judge in regret.JUDGES:
            if regret.CHOOSERS[chooser] != (TRUTH, regret.JUDGES[judge]):
                part = f"{PRINTED[model]}, {judge}"
                rows = regret.regrets(inputs, [*corpora, *prior_share.TODAY], model, chooser, judge)
                found += _of_regrets(rows, part, held_out)
    return found


def _of_regrets(rows: "pd.DataFrame", part: str, held_out: float | Mapping[str, float]) -> list[Effect]:
    """Return the effects of regrets, which are no surer than a choice on a grid allows."""
    least = regret.resolutions(rows)
    rows = rows.drop(columns=["chosen", "judged", "step"])
    return effects(rows, held_out=held_out, margin=MODELS, part=part, resolution=least)


def package_choosing(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what a package's own likelihood loses where its number chooses the number of topics (`regret`)."""
    found, corpora = [], sorted(set(select(inputs.scores, variant=PACKAGES)["corpus"]))
    for package in (name for name, kind in KINDS.items() if not kind.neural):
        rows = regret.regrets(inputs, corpora, package, regret.PACKAGES_NUMBER, regret.PACKAGES_PRIOR)
        found += _of_regrets(rows, package, PACKAGES_HELD_OUT)
    return found


def library_choosing(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure what a library's own likelihood loses where its number, or the number of topics, chooses (`regret`)."""
    found = []
    for library in LIBRARIES:
        for chooser in (regret.LIBRARYS, regret.NUMBER):
            rows = regret.regrets(inputs, corpora, library, chooser, regret.LIBRARYS_PRIOR)
            found += _of_regrets(rows, f"{library}, {chooser}", inputs.held_out)
    return found


def reported_grows(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure a variational library's loss from one number of topics to the next where the truth gains."""
    found = []
    scores = with_truth(select(inputs.scores, variant=PEERS))
    for library in VARIATIONAL:
        at = {"corpus": tuple(corpora), "model": library}
        gains, losses = (steps(_as_pairs(scores, {**at, "evaluator": evaluator})) for evaluator in (TRUTH, REPORTED))
        falls = losses[(gains["gain"] > 0.0).to_numpy()]
        found += _by_split(inputs, falls.assign(gain=-falls["gain"]), margin=MODELS, part=library)
    return found


def _as_pairs(scores: "pd.DataFrame", selector: Mapping[str, object]) -> "pd.DataFrame":
    """Return scores per token in the form of pairs."""
    rows = per_token(select(scores, **selector)).rename(columns={"value": "gain"})
    return rows[["corpus", "topics", "seed", "gain", "error"]].sort_values(["corpus", "topics", "seed"])


def disagree(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much further libraries' own numbers lie apart than the truths of their models."""
    scores = per_token(with_truth(select(inputs.scores, variant=PEERS)))
    scores = scores[scores["model"].isin(LIBRARIES) & scores["corpus"].isin(list(corpora))]
    spread = scores.groupby(["evaluator", "corpus", "topics", "seed"])["value"].agg(
        lambda values: values.max() - values.min()
    )
    if not {REPORTED, TRUTH} <= set(scores["evaluator"]):
        return []
    gain = (spread[REPORTED] - spread[TRUTH]).rename("gain").reset_index().assign(error=0.0)
    return _by_split(inputs, gain, margin=MODELS)


def pessimistic(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much a library's own number lies below the truth of its model."""
    found = []
    for library in LIBRARIES:
        pairs = beside_truth(inputs, corpora, library, REPORTED, PEERS)
        found += _by_split(inputs, pairs.assign(gain=-pairs["gain"]), margin=MODELS, part=library)
    return found


def package_errs(inputs: Inputs, _: Sequence[str], *, upwards: bool) -> list[Effect]:
    """Measure how far packages' numbers lie above the likelihood, of those that fold in, or below it, of the others."""
    found, corpora = [], sorted(set(package_numbers(inputs)["corpus"]))
    for package, kind in KINDS.items():
        if not kind.neural and (kind.near == FULL) == upwards:
            pairs = beside_truth(inputs, corpora, package, REPORTED, PACKAGES)
            gain = pairs["gain"] if upwards else -pairs["gain"]
            found += effects(pairs.assign(gain=gain), held_out=PACKAGES_HELD_OUT, margin=MODELS, part=package)
    return found


def neural_bound_below(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how far the bound by a neural topic model's encoder lies below the likelihood of the same network."""
    found, corpora = [], sorted(set(package_numbers(inputs)["corpus"]))
    for package in (name for name, kind in KINDS.items() if kind.neural):
        pairs = beside_truth(inputs, corpora, package, REPORTED, PACKAGES)
        for k, of_k in pairs.groupby("topics"):
            part = f"{package}, K = {k}"
            found += effects(of_k.assign(gain=-of_k["gain"]), held_out=PACKAGES_HELD_OUT, margin=MODELS, part=part)
    return found


def many_perplexities(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what a variational package's number loses per token on the fewest documents against all of them.

    What the likelihood loses is taken off, for the documents are others.
    """
    table = as_given(package_numbers(inputs))
    found = []
    for package, own in table.groupby("model", sort=False):
        if KINDS[str(package)].rest == OF_BOUNDS.rest:
            gaps = _beside_likelihood(own, REPORTED)
            ends = gaps.groupby(["corpus", "topics", "seed"], as_index=False)["gain"].agg(["first", "last"])
            pairs = ends.assign(gain=ends["last"] - ends["first"], error=0.0).drop(columns=["first", "last"])
            found += effects(pairs, held_out=PACKAGES_HELD_OUT, margin=MODELS, part=str(package))
    return found


def mend_suffices(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how far scikit-learn's number, mended as proposed, lies from the likelihood of all words."""
    table = select(package_numbers(inputs), words=ALL, model=VARIATIONAL[0])  # scikit-learn
    gaps = _beside_likelihood(table, MENDED)
    gaps = gaps[gaps["documents"] == gaps.groupby(["corpus", "seed"])["documents"].transform("max")]
    return effects(gaps.drop(columns="documents"), held_out=PACKAGES_HELD_OUT, margin=SIMILAR, test="similar")


def _beside_likelihood(table: "pd.DataFrame", quantity: str) -> "pd.DataFrame":
    """Return a quantity of `package_numbers` less the likelihood of the same documents, by how many, ascending."""
    keys = ["corpus", "topics", "seed", "documents"]
    one, truth = (select(table, quantity=name)[[*keys, "value", "error"]] for name in (quantity, LIKELIHOOD))
    return less(one.fillna({"error": 0.0}), truth.fillna({"error": 0.0}), keys)


def priors_leave_half(inputs: Inputs, corpora: Sequence[str], *, today: bool = False) -> list[Effect]:
    """Measure the share of the gap that the best of the priors leaves, which is chosen after the fact."""
    rows = prior_share.shares(inputs, prior_share.TODAY if today else corpora)
    least = rows.loc[rows.groupby(prior_share.RUN)["share"].idxmin()]
    found, held_out = [], TODAYS_HELD_OUT if today else inputs.held_out
    for k, of_k in least.groupby("topics"):
        pairs = of_k[["corpus", "seed", "error"]].assign(gain=of_k["share"])
        found += effects(pairs, margin=ANY, threshold=REMAINS, part=f"K = {k}", unit="share left", held_out=held_out)
    return found


def gap_of_today(inputs: Inputs, _: Sequence[str], *, grows: bool) -> list[Effect]:
    """Measure full folding-in less the likelihood under the flat prior on a corpus of today's size.

    At the most topics; where it `grows`, what is more there than at the fewest.
    """
    flat, found = prior_share.flat(inputs, prior_share.TODAY), []
    ends = [flat["topics"] == end for end in (flat["topics"].max(), flat["topics"].min())]
    keys = ["corpus", "model", "seed"]
    most, fewest = (flat.loc[end, [*keys, "gap", "error"]].rename(columns={"gap": "value"}) for end in ends)
    gains = less(most, fewest, keys) if grows else most.rename(columns={"value": "gain"})
    for model in (PLSA, LDA):
        own = select(gains, model=model)
        if len(own):
            found += effects(own, held_out=TODAYS_HELD_OUT, margin=MODELS, part=PRINTED[model])
    return found


def sums_prefer_more(inputs: Inputs, corpora: Sequence[str], *, best: bool) -> list[Effect]:
    """Measure by how much more the most topics gain over the fewest under one sum of the parameters than under another.

    The least sum against the largest; with `best` the one that suits each number of topics best, after the fact,
    against the flat prior.
    """
    dial, found = prior_share.gaps(inputs, CONCENTRATION, corpora), []
    for model in (PLSA, LDA):
        own = select(dial, model=model)
        flat = own["at"] == PER_SUM * own["topics"]
        ends = own["at"].min(), own["at"].max()
        if best:
            highest = own.groupby(prior_share.RUN)["value"].transform("max")
            one, other = own[own["value"] == highest], own[flat]
        else:
            one, other = (own[own["at"] == end] for end in ends)
        gains = less(_most_less_fewest(one), _most_less_fewest(other), ["corpus", "seed"])
        if len(gains):
            found += _by_split(inputs, gains, margin=MODELS, part=PRINTED[model])
    return found


def _most_less_fewest(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the value of the most topics of a corpus less that of the fewest, in the form of sides of pairs."""
    several = rows[rows.groupby("corpus")["topics"].transform("nunique") > 1]
    by_corpus = several.groupby("corpus")["topics"]
    most, fewest = (several[several["topics"] == by_corpus.transform(end)] for end in ("max", "min"))
    keys = ["corpus", "seed"]
    return less(most[[*keys, "value", "error"]], fewest[[*keys, "value", "error"]], keys).rename(
        columns={"gain": "value"}
    )


def beside_completion(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> list[Effect]:
    """Measure what the average over theta given the first half has over a point, on the second halves."""
    found = []
    scores = inputs.scores[inputs.scores["variant"].str.startswith(same_halves.KIND)]
    for model in (PLSA, LDA):
        for prior in (same_halves.FLAT, same_halves.FITTED):
            at = {"corpus": tuple(corpora), "model": model}
            of_prior = f"{same_halves.KIND}-{prior}"
            point = {"evaluator": evaluator, "variant": same_halves.KIND if evaluator == HALF else of_prior}
            pairs = paired(scores, {**at, "evaluator": COMPLETION, "variant": of_prior}, {**at, **point})
            part = f"{PRINTED[model]}, {prior.replace('-', ' ')}"
            test: Test = "above" if evaluator == HALF else "similar"
            found += _by_split(inputs, pairs, margin=MODELS, test=test, part=part)
    return found


def unchanged(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what LDA's scores gain by longer chains."""
    found = []
    for evaluator, part in long_chains.SCORES.items():
        gains = long_chains.changes(inputs, evaluator)
        found += _by_split(inputs, gains, margin=MODELS, test="similar", part=part)
    return found


def half_chooses(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure what the average loses where half folding-in chooses the number of topics, as `regret` does."""
    found = []
    for model in (PLSA, LDA):
        rows = regret.regrets(inputs, corpora, model, regret.HALF_OF_COMPLETION, regret.COMPLETION_JUDGES)
        found += _of_regrets(rows, PRINTED[model], inputs.held_out)
    return found


def is_none(inputs: Inputs, _: Sequence[str], *, scores: Sequence[str], over: str = "over") -> list[Effect]:
    """Hold a score's excess on documents drawn from the model to what a probability can have.

    The excess is "over" the truth, or over p(w | theta) of the weights that drew the document, "given".
    """
    return [effect for score in scores for effect in _excesses(inputs, score, 1.0, over)]


def may_be_one(inputs: Inputs, _: Sequence[str], *, scores: Sequence[str]) -> list[Effect]:
    """Hold every score's largest excess over the models to what a probability can have."""
    found = (_excesses(inputs, score, -1.0) for score in scores)
    return [min(of_models, key=lambda effect: effect.estimate) for of_models in found if of_models]


def _excesses(inputs: Inputs, score: str, sign: float, over: str = "over") -> list[Effect]:
    """Return excesses as effects: Markov's inequality is the test, and the drawn documents are the one replicate."""
    limit = -math.log(CHANCE)
    return [
        Effect(
            *(row["corpus"], f"{score}, K = {row['topics']}", sign * row[over], 0.0, math.inf),
            *("nats", sign * limit, 0.0, row["documents"], 1),
        )
        for row in select(excesses(inputs), model=TRUE_MODEL, score=score).to_dict("records")
    ]


_BEYOND = "beyond the original"
_BY_MODEL = "by corpus and model, mean over numbers of topics"
_NEAR = f"{_BY_MODEL}, the model's prior: distance from the likelihood, within the margin"
_COARSE = "; the spread over splits is at least that of one half in one split choosing the likelihood's second best"
_DRAWN = f"documents drawn from a model, nats over their log p; a probability has {-math.log(CHANCE):.1f} or more with"
# estimates that are not known to be too high; bounds cannot be refuted. Nor can half folding-in, sampled or not, which
# is a conditional probability, and document completion, which estimates one without bias: identities
POSSIBLE = tuple(name for name, known in ESTIMATORS.items() if known.behaviour == "consistent")

CLAIMS = (
    Claim(
        "truth-covers",
        _BEYOND,
        "Where no exact value can be had the reference takes its place: its stated error covers its error, up to"
        " four topics.",
        f"every cell of the calibration: the share within {STATED:g} stated errors is above {COVERED:.0%}; the mean"
        " difference from the exact value is within the margin",
        truth_covers,
    ),
    Claim(
        "reference-holds",
        _BEYOND,
        "Where no exact value can be had, with up to hundreds of topics and under every prior, the reference agrees"
        " with a particle filter and with itself at many times the work, within its stated errors.",
        f"every cell in which both errors are at most {LARGEST:g} nats per token: the mean difference is"
        f" within the margin; the r.m.s. of documents' differences in stated errors is {SPREAD - SPREADS.value:g}"
        f" to {SPREAD + SPREADS.value:g}",
        reference_holds,
    ),
    Claim(
        "reference-between-bounds",
        _BEYOND,
        "On documents drawn from trained models the reference lies between bounds from both sides of its own annealing,"
        " and they leave little room.",
        "mean over cells of the reference less the lower bound, and of the upper bound less the reference: within the"
        " margin",
        between_bounds,
    ),
    Claim(
        "full-above-truth",
        "section 4.1",
        "Full folding-in is optimistic: it lies above the likelihood of the very same documents.",
        f"{_BY_MODEL}: full folding-in less the likelihood; PLSA's, a maximum, cannot fail, LDA's, a Gibbs sample, can",
        partial(above_truth, evaluator=FULL),
    ),
    Claim(
        "plug-in-above-truth",
        _BEYOND,
        "So is the posterior mean in the place of the folded-in point.",
        f"{_BY_MODEL}: that score less the likelihood",
        partial(above_truth, evaluator=PLUG_IN),
    ),
    Claim(
        "gap-grows-with-topics",
        "sections 4.1, 4.4",
        "The optimism of full folding-in grows with the number of topics.",
        "by corpus and model: mean step of full folding-in less the likelihood from one number of topics to the next",
        optimism_grows_with_topics,
    ),
    Claim(
        "no-prior-closes-the-gap",
        _BEYOND,
        "Under the best of four priors, fitted ones among them, more than half of full folding-in's optimism remains.",
        f"{_BY_MODEL}: what remains under the prior of the highest likelihood on the test documents, among the model's"
        " own, Dirichlet(1), a fitted Dirichlet and a fitted mixture of them, over what there is under the model's own,"
        f" is above {REMAINS:g}",
        no_prior_closes_the_gap,
    ),
    Claim(
        "fitted-prior-helps",
        _BEYOND,
        "A prior that is fitted to the training documents gives test documents more than the flat one.",
        f"by corpus, PLSA at {' and '.join(map(str, FITTED_AT))} topics: the likelihood under the fitted prior less"
        " that under the flat one (stated with the data in view)",
        fitted_prior_helps,
    ),
    Claim(
        "epca-full-above-truth",
        _BEYOND,
        "Full folding-in of EPCA lies above its marginal likelihood under the Gaussian prior of its penalty.",
        "every test document and number of components: above the annealed estimate; a maximum is no less than an"
        " average",
        components_optimistic,
    ),
    Claim(
        "folding-in-is-no-probability",
        _BEYOND,
        "Full folding-in is no probability, and neither is the posterior mean in its place: of documents drawn from the"
        " model they say more than any probability can.",
        f"{_DRAWN} a chance of {CHANCE:g} at most (the excess is the logarithm of an e-value)",
        partial(is_none, scores=(FULL, SAMPLED_FULL, PLUG_IN)),
    ),
    *(
        Claim(
            name,
            _BEYOND,
            f"{says} says more of documents drawn from the model than any probability can beside the weights that drew"
            " them.",
            "documents drawn from a model, nats over log p(w | theta) of the weights that drew them; a probability has"
            f" {-math.log(CHANCE):.1f} or more with a chance of {CHANCE:g} at most",
            partial(is_none, scores=(score,), over="given"),
        )
        for name, says, score in (
            ("refuted-by-drawn-weights", "Full folding-in at the maximum", FULL),
            ("sampled-refuted-by-drawn-weights", "Full folding-in at a Gibbs sample", SAMPLED_FULL),
        )
    ),
    Claim(
        "estimates-may-be-probabilities",
        _BEYOND,
        "Nothing speaks against consistent estimators as probabilities.",
        f"{_DRAWN} a chance of {CHANCE:g} at most; minus the largest excess over the models is above minus that; half"
        " folding-in and document completion, conditional probabilities by construction, are left out as identities",
        partial(may_be_one, scores=POSSIBLE),
    ),
    Claim(
        "laplace-may-be-a-probability",
        _BEYOND,
        "Nothing speaks against Laplace's method in the softmax basis as a probability.",
        f"{_DRAWN} a chance of {CHANCE:g} at most; minus the largest excess over the models is above minus that",
        partial(may_be_one, scores=(LAPLACE,)),
    ),
    Claim(
        "laplace-repairs",
        _BEYOND,
        "Laplace's method in the softmax basis repairs folding-in.",
        _NEAR,
        partial(repairs, evaluator=LAPLACE),
    ),
    Claim("nml-repairs", _BEYOND, "The NML penalty repairs folding-in.", _NEAR, partial(repairs, evaluator=NML)),
    Claim(
        "priors-leave-half",
        _BEYOND,
        "Under the best of the priors that other test documents fit, more than half of full folding-in's optimism under"
        " the flat prior remains.",
        "by corpus and number of topics of PLSA: what remains under the prior that leaves least, after the fact, of"
        " mixtures of Dirichlets and points fitted to the other half of the test documents and of the training"
        f" documents' points, over what there is under Dirichlet(1), is above {REMAINS:g}",
        priors_leave_half,
    ),
    Claim(
        "half-below-completion",
        _BEYOND,
        "Half folding-in gives the second half less than its probability given the first.",
        "by corpus, model and prior, mean over numbers of topics: log p(second | first), weights integrated out, less"
        " half folding-in at the maximum",
        partial(beside_completion, evaluator=HALF),
    ),
    Claim(
        "longer-chains-change-little",
        _BEYOND,
        "Chains ten times as long do not change LDA's scores.",
        "by corpus and score, mean over numbers of topics: the score after the longer chains less that after the"
        " shorter ones, within the margin",
        unchanged,
    ),
    *(
        Claim(
            f"gap-{name}-at-todays-size",
            _BEYOND,
            f"On a corpus of today's size, 20 newsgroups with all words, full folding-in {says}.",
            f"by model: full folding-in less the likelihood under the flat prior, {what}, is over the margin",
            partial(gap_of_today, grows=name == "grows"),
        )
        for name, says, what in (
            ("stands", "is above the likelihood", "at 400 topics"),
            ("grows", "is ever further above the likelihood", "at 400 topics less that at 20"),
        )
    ),
    Claim(
        "gap-of-priors-at-todays-size",
        _BEYOND,
        "On a corpus of today's size, too, the best of the priors that other test documents fit leaves more than half"
        " of the gap.",
        f"by number of topics: PLSA's gap under the best prior, chosen after the fact, over that under the flat one, is"
        f" above {REMAINS:g}; stated after its numbers were seen",
        partial(priors_leave_half, today=True),
    ),
    Claim(
        "posterior-mean-completes",
        _BEYOND,
        "The posterior mean of the weights, given the first half, serves as well as the average over them.",
        "by corpus, model and prior, mean over numbers of topics: log p(second | first) less the score at the mean,"
        " within the margin",
        partial(beside_completion, evaluator=PLUG_IN),
    ),
    Claim(
        "choice-by-half-of-completion",
        _BEYOND,
        "The number of topics that half folding-in prefers costs probability of the second half.",
        "by corpus and model: on one half of the test documents half folding-in and log p(second | first) under the"
        f" fitted prior choose a number of topics each; on the other the loss; mean over the two halves{_COARSE}",
        half_chooses,
    ),
    Claim(
        "sparse-priors-prefer-more-topics",
        _BEYOND,
        "The sparser the prior, the more topics the likelihood prefers.",
        "by corpus and model: the likelihood of the most topics less that of the fewest, at the least sum of the"
        " prior's parameters less the same at the largest",
        partial(sums_prefer_more, best=False),
    ),
    Claim(
        "flat-prior-prefers-fewer-topics",
        _BEYOND,
        "Under the flat prior the likelihood prefers fewer topics than where the sum of its parameters suits their"
        " number.",
        "by corpus and model: the likelihood of the most topics less that of the fewest, each under the sum that suits"
        " it best, less the same under the flat prior (stated with the data in view)",
        partial(sums_prefer_more, best=True),
    ),
    *(
        Claim(
            f"choice-by-{name}",
            _BEYOND,
            f"The number of topics that {words} costs likelihood.",
            "by corpus, model and the prior under which the likelihood judges: on one half of the test documents the"
            " score and the likelihood choose a number of topics each; on the other the likelihood of its own choice"
            f" less that of the score's; mean over the two halves{_COARSE}",
            partial(choosing, chooser=chooser),
        )
        for name, (chooser, words) in CHOICES.items()
    ),
    Claim(
        "peers-reported-grows",
        "issues of scikit-learn and gensim",
        "The perplexity that scikit-learn and gensim report of held-out documents grows with the number of topics where"
        " the likelihood says that it falls.",
        "by corpus and library: mean loss of the reported value over the steps to more topics at which the likelihood"
        " gains",
        reported_grows,
    ),
    Claim(
        "choice-by-library",
        _BEYOND,
        "The number of topics that a library's own number for held-out documents chooses costs likelihood.",
        "by corpus and library: the number of all test documents chooses; the likelihood chooses on one half and both"
        " are judged on the other, mean over the two halves; beside it what the largest number of topics costs"
        f"{_COARSE}",
        library_choosing,
    ),
    Claim(
        "choice-by-package",
        _BEYOND,
        "The number of topics that a package's own number for held-out documents chooses costs likelihood.",
        "by corpus and package: the number of all test documents chooses; the likelihood chooses on one half and both"
        f" are judged on the other, mean over the two halves{_COARSE}",
        package_choosing,
    ),
    Claim(
        "peers-disagree",
        _BEYOND,
        "On the same documents libraries' own numbers lie further apart than the likelihoods of their models.",
        "by corpus, mean over numbers of topics: largest less smallest reported value, less the same of the likelihood",
        disagree,
    ),
    Claim(
        "peers-pessimistic",
        _BEYOND,
        "What a library returns for held-out documents is below its model's likelihood.",
        "by corpus and library, mean over numbers of topics: the likelihood less the reported value",
        pessimistic,
    ),
    Claim(
        "packages-fold-in",
        _BEYOND,
        "Packages that score documents at weights that were fitted to them report more than the likelihood.",
        "by corpus and package, mean over numbers of topics: the reported value less the likelihood of the same model",
        partial(package_errs, upwards=True),
    ),
    Claim(
        "packages-too-low",
        _BEYOND,
        "Packages that report a bound, or a joint probability with one sample of topics, report less than the"
        " likelihood.",
        "by corpus and package, mean over numbers of topics: the likelihood less the reported value of the same model",
        partial(package_errs, upwards=False),
    ),
    Claim(
        "neural-bound-below",
        _BEYOND,
        "The bound that a neural topic model is trained by lies below the likelihood of the same network.",
        "by corpus and number of topics: the likelihood less the evidence lower bound by the encoder",
        neural_bound_below,
    ),
    Claim(
        "one-model-many-perplexities",
        "issue 20032 of scikit-learn",
        "Of one model, packages whose bound has random topics report the larger a perplexity, the fewer documents are"
        " scored.",
        "by corpus and package, mean over numbers of topics: the reported value less the likelihood of all test"
        " documents, less the same of the fewest",
        many_perplexities,
    ),
    Claim(
        "proposed-mend-suffices",
        "pull request 33363 of scikit-learn",
        "With the one line changed that is proposed, scikit-learn's perplexity is about that of its model's"
        " likelihood.",
        "by corpus, mean over numbers of topics: the mended value less the likelihood, words unseen in training"
        " included, is within the margin",
        mend_suffices,
    ),
)
