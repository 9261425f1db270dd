"""The claims of Welling et al. (2008), each judged by effects on scores and measurements."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.experiments.discrete_latents import BOUND, HIDDEN_MARKOV, MIXTURE
from artifact.papers.welling.experiments.normaliser_limits import NORMALISED
from artifact.papers.welling.experiments.normalisers import QUANTITY as LOG_NORMALISER
from artifact.papers.welling.experiments.point_posteriors import LATENT_NORM, LOG_LIKELIHOOD, OBJECTIVE, UNIT_COLUMNS
from artifact.papers.welling.results import (
    BY_DOCUMENT,
    CHAINS,
    FITTED,
    SPARSE,
    bands,
    best_points,
    beyond_ends,
    points,
    word_topics,
)
from artifact.results.reading import select
from artifact.verdicts.claims import MAX_IS_NO_LESS, Claim
from artifact.verdicts.effects import effects, less, sizes, steps, values_of
from artifact.verdicts.verdicts import ANY, MODELS, SIMILAR, Effect
from heldout.evaluators import EXACT, FOLDING_IN, FULL, HALF, MEAN_FIELD_BOUND
from heldout.evaluators.normaliser import toy_example
from heldout.models import EPCA, LDA, PLSA, TEM, VEM

if TYPE_CHECKING:
    import pandas as pd

SMALL_CONSTANT = 1e-6  # "small" is at most this: the lower half of the original's constants
SHRUNK = 0.1  # share of its initial size to which a collapsing H shrinks
TOLERANCE = 1e-9  # nats (of sums over documents: relative), where sides are equal in exact arithmetic
TRAINING = "training"  # the timings' name for the training part of a job
SIDES = {FULL: "full", HALF: "half"}
SCORED = ["corpus", "smoothing", "topics", "seed"]
_AT = ["corpus", "topics", "seed"]


def _by_split(inputs: Inputs, pairs: "pd.DataFrame", **how: Any) -> list[Effect]:
    return effects(pairs, held_out=inputs.held_out, **how)


def vem_similar(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure how far PLSA-VEM and PLSA-HOF lie apart under equal constants."""
    found = []
    for evaluator, side in SIDES.items():
        vem, hof = (points(inputs, corpora, model, evaluator) for model in (VEM, PLSA))
        found += _by_split(inputs, sizes(less(vem, hof, SCORED)), margin=SIMILAR, test="similar", part=side)
    return found


def epca_similar(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure how far the best curves of EPCA and PLSA-HOF lie apart."""
    found = []
    for evaluator, side in SIDES.items():
        epca, plsa = (best_points(inputs, corpora, model, evaluator) for model in (EPCA, PLSA))
        found += _by_split(inputs, sizes(less(epca, plsa)), margin=SIMILAR, test="similar", part=side)
    return found


def tempering_no_advantage(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure what the best beta gains over beta = 1, both at their best constant, chosen on the test documents."""
    variants = inputs.settings.swept_variants(TEM)
    found = []
    for evaluator, side in SIDES.items():
        table = points(inputs, corpora, TEM, evaluator, variants)
        best, plain = (
            rows.groupby(_AT)[values_of(table)].max().reset_index().assign(error=0.0)
            for rows in (table, table[table["variant"].isin(variants[-1:])])
        )
        found += _by_split(inputs, less(best, plain), margin=SIMILAR, test="similar", part=side)
    return found


def full_improves(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure full folding-in's gain from one number of topics to the next, over all constants: least and mean."""
    curve = points(inputs, corpora, PLSA, FULL).rename(columns={"value": "gain"})
    gains = steps(curve[[*SCORED, *values_of(curve, "gain"), "error"]])
    return [
        effect
        for summary in ("least", "mean")
        for effect in _by_split(inputs, gains, margin=MODELS, summary=summary, part=f"{summary} step")
    ]


def beyond_improves(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure full folding-in's gain from the largest K of the grid that is at most V to the largest, beyond V."""
    corpus, ends = inputs.settings.beyond.corpus, beyond_ends(inputs)
    if corpus not in corpora or ends is None:
        return []
    curve = points(inputs, [corpus], PLSA, FULL, topics=ends, seeds=inputs.settings.beyond.seeds)
    curve = curve.rename(columns={"value": "gain"})
    gains = steps(curve[[*SCORED, *values_of(curve, "gain"), "error"]])
    return _by_split(inputs, gains, margin=MODELS, part=f"{ends[0]:,} to {ends[1]:,} topics")


def half_overfits(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much half folding-in's curves under small constants end below their best, on short documents."""
    short = _short(inputs, corpora)[0] or corpora
    table = points(inputs, short, PLSA, HALF)
    table = table[table["smoothing"] <= SMALL_CONSTANT].sort_values("topics")
    curves = table.groupby(["corpus", "smoothing", "seed"])[values_of(table)]
    losses = (curves.max() - curves.last()).reset_index().rename(columns={"value": "gain"})
    return _by_split(inputs, losses.assign(error=0.0), margin=MODELS)


def _short(inputs: Inputs, corpora: Sequence[str]) -> tuple[list[str], str]:
    """Return the corpora but the one with the longest documents, and that one; nothing and "" for a single corpus."""
    ordered = sorted(corpora, key=lambda corpus: float(inputs.corpus(corpus)["mean_length"]))
    return (ordered[:-1], ordered[-1]) if len(ordered) > 1 else ([], "")


def _above_the_longest(
    inputs: Inputs, corpora: Sequence[str], values: "pd.DataFrame", keys: Sequence[str]
) -> list[Effect]:
    """Measure by how much the other corpora's values exceed those of the corpus with the longest documents.

    Both corpora's groups of documents enter: they are drawn apart, so that the squares of their influences add up.
    """
    short, long = _short(inputs, corpora)
    longest, found = select(values, corpus=long), list[Effect]()
    for corpus in short:
        gains = less(select(values, corpus=corpus), longest.assign(corpus=corpus), keys)
        if len(gains):
            found += _by_split(inputs, gains, margin=MODELS)
    return found


def half_sensitive(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much more half folding-in depends on the constant on short than on long documents.

    Constants above 1 / V are left out: they add more mass than the topics have, so perplexity tends to V for any
    topics.
    """
    largest = 1.0 / max(float(inputs.corpus(corpus)["vocabulary"]) for corpus in corpora)
    table = points(inputs, corpora, PLSA, HALF)
    curves = table[table["smoothing"] <= largest].groupby(_AT)[values_of(table)]
    ranges = (curves.max() - curves.min()).reset_index().assign(error=0.0)
    return _above_the_longest(inputs, corpora, ranges, _AT)


def _half_below_full(inputs: Inputs, corpora: Sequence[str]) -> "pd.DataFrame":
    """Return full less half folding-in's score under equal constants: log of half over full perplexity."""
    full, half = (points(inputs, corpora, PLSA, evaluator) for evaluator in (FULL, HALF))
    return less(full, half, SCORED)


def half_above_full(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much half folding-in's perplexity lies above full folding-in's."""
    return _by_split(inputs, _half_below_full(inputs, corpora), margin=MODELS)


def gap_shrinks_with_length(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much half and full folding-in lie further apart on short than on long documents."""
    gaps = _half_below_full(inputs, corpora).rename(columns={"gain": "value"})
    return _above_the_longest(inputs, corpora, gaps, SCORED)


def _lda_gains(inputs: Inputs, corpora: Sequence[str], evaluator: str, other: str, variant: str = "") -> "pd.DataFrame":
    return less(best_points(inputs, corpora, LDA, evaluator, variant), best_points(inputs, corpora, other, evaluator))


def lda_better(
    inputs: Inputs,
    corpora: Sequence[str],
    *,
    variant: str = "",
    others: Sequence[str] = (PLSA, EPCA),
    evaluators: Sequence[str] = FOLDING_IN,
) -> list[Effect]:
    """Measure by how much LDA, under one prior, lies above the best curves of others, in the median over topics."""
    found = []
    for model, evaluator in product(others, evaluators):
        gains = _lda_gains(inputs, corpora, evaluator, model, variant)
        part = f"{SIDES[evaluator]}, than {'PLSA' if model == PLSA else 'EPCA'}"
        found += _by_split(inputs, gains, margin=MODELS, summary="median", part=part)
    return found


def lda_better_by_half(inputs: Inputs, corpora: Sequence[str], *, variant: str = "") -> list[Effect]:
    """Measure by how much LDA's advantage is larger by half than by full folding-in, in the median over topics."""
    found = []
    for model in (PLSA, EPCA):
        full, half = (
            _lda_gains(inputs, corpora, e, model, variant).rename(columns={"gain": "value"}) for e in (FULL, HALF)
        )
        part = f"than {'PLSA' if model == PLSA else 'EPCA'}"
        found += _by_split(inputs, less(half, full), margin=MODELS, summary="median", part=part)
    return found


def epca_harder(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure how many times as long EPCA trains as PLSA-HOF in the reference run, in the median over topics."""
    if inputs.timings is None or EPCA not in inputs.settings.models:
        return []
    trained = select(inputs.timings, rule=TRAINING)
    trained = trained[trained["corpus"].isin(list(corpora))].astype({"seed": float})
    epca, plsa = (select(trained, model=model, variant=inputs.settings.variant(model)) for model in (EPCA, PLSA))
    both = epca.merge(plsa, on=_AT, suffixes=("", "_plsa"))
    ratios = both[_AT].assign(gain=(both["seconds"] / both["seconds_plsa"]).map(math.log), error=0.0)
    return effects(ratios, margin=ANY, summary="median", unit="times as long", factor=True)


def against_exact(
    inputs: Inputs, corpora: Sequence[str], *, quantity: str, models: Sequence[str], sign: float
) -> list[Effect]:
    """Hold estimates (sign 1) or what they fall short by (-1) to documents' exact log-likelihoods, one by one."""
    gaps = _excesses(inputs, corpora, quantity, models)
    gaps = gaps.assign(gain=sign * gaps["gain"] + TOLERANCE)
    found = []
    for model in models:
        own = select(gaps, model=model).drop(columns="model")
        found += effects(own, margin=ANY, test="identity", part=model, unit="nats per document")
    return found


def _excesses(inputs: Inputs, corpora: Sequence[str], quantity: str, models: Sequence[str]) -> "pd.DataFrame":
    """Return an estimate less the exact log-likelihood, nats, of every document: "gain", with its keys."""
    keys = ["corpus", "model", "topics", "seed", "at"]
    rows = select(inputs.measurements, axis="document")
    rows = rows[rows["variant"].isin(BY_DOCUMENT) & rows["corpus"].isin(list(corpora)) & rows["chain"].isin(CHAINS)]
    rows = rows[rows["model"].isin(list(models))].assign(error=0.0)
    exact = select(rows, quantity=EXACT)
    return less(select(rows, quantity=quantity), exact[exact["value"].abs() < math.inf], keys)


def optimism_grows(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much folding-in's optimism grows with a topic more, in the mean over documents."""
    gaps = _excesses(inputs, corpora, FULL, (PLSA,)).drop(columns="model")
    return _by_split(inputs, steps(gaps), margin=ANY, unit="nats per document")


def normaliser_positive(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Hold log Z of learned models, at every length, to 0, beyond three of its standard errors."""
    rows = select(inputs.measurements, quantity=LOG_NORMALISER, axis="length")
    rows = rows[rows["corpus"].isin(list(corpora))]
    table = rows[["corpus", "model", "topics", "seed", "at"]].assign(gain=rows["value"], error=rows["standard_error"])
    return effects(table, margin=ANY, test="identity", unit="nats")


def ranking_reversed(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure a model with one topic per word against learned PLSA: ahead when folded in, behind once normalised."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {"ahead folded in": [], "behind normalised": []}
    for corpus in corpora:
        words, learned = word_topics(inputs, corpus), bands(inputs, corpus)
        if words.empty or learned.empty:
            continue
        fewest, most = (
            select(learned, topics=k).set_index("seed") for k in (learned["topics"].min(), inputs.settings.topics[-1])
        )
        ratios = (most["folded"] / words[FULL], words[NORMALISED] / fewest["limit"])
        both = pd.concat(ratios, axis=1, keys=list(parts)).dropna().reset_index()
        for part, found in parts.items():
            found.append(both[["seed"]].assign(corpus=corpus, gain=both[part].map(math.log), error=0.0))
    return [
        effect
        for part, found in parts.items()
        if found
        for effect in _by_split(inputs, pd.concat(found), margin=MODELS, part=part)
    ]


def objective_bounds(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Hold the objective to the exact log-likelihood at every training iteration, for discrete latents."""
    keys = ["corpus", "model", "variant", "topics", "seed", "at"]
    rows = select(inputs.measurements, axis="iteration")
    rows = rows[rows["corpus"].isin(list(corpora))]
    exact, objective = (select(rows, quantity=name)[[*keys, "value"]] for name in (LOG_LIKELIHOOD, OBJECTIVE))
    both = exact.merge(objective, on=keys, suffixes=("", "_objective"))
    slack = TOLERANCE * both["value"].abs()
    table = both[keys].assign(gain=both["value"] - both["value_objective"] + slack, error=0.0)
    return effects(table, margin=ANY, test="identity", unit="nats")


def ica_collapses(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure how many times smaller ICA's H ends than it starts, without and with unit columns."""
    rows = select(inputs.measurements, quantity=LATENT_NORM, axis="iteration", model="ica")
    rows = rows[rows["corpus"].isin(list(corpora)) & (rows["value"] > 0.0)].sort_values("at")
    ends = rows.groupby(["corpus", "variant", "seed"])["value"]
    shrinks = (ends.first() / ends.last()).map(math.log).rename("gain").reset_index().assign(error=0.0)
    limit, found = -math.log(SHRUNK), []
    for variant in sorted(shrinks["variant"].unique()):
        own, part = shrinks[shrinks["variant"] == variant].drop(columns="variant"), str(variant).replace("-", " ")
        sign, unit = (-1.0, "times larger") if variant == UNIT_COLUMNS else (1.0, "times smaller")
        own["gain"] *= sign
        found += effects(own, margin=ANY, threshold=sign * limit, factor=True, part=part, unit=unit)
    return found


def _toy(inputs: Inputs, corpora: Sequence[str], part: str, quantity: str, expected: str) -> list[Effect]:
    """Return a number of the toy example at every corpus's own vocabulary size, as an identity."""
    found = []
    for corpus in corpora:
        size = int(inputs.corpus(corpus)["vocabulary"])
        value = float(getattr(toy_example(size), quantity))
        wrong = abs(value - {"log 1/V": -math.log(size), "0": 0.0}[expected]) >= TOLERANCE
        found.append(
            Effect(corpus, part, value, 0.0, math.inf, "nats", cells=1, reversed_cells=int(wrong), test="identity")
        )
    return found


def toy_values(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Compute the toy example's true and folded-in log-likelihood."""
    return [
        *_toy(inputs, corpora, "true", "exact_marginal", "log 1/V"),
        *_toy(inputs, corpora, "folded in", "folding_in", "0"),
    ]


def toy_normaliser(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Hold log Z of the toy example to the printed log 1/V."""
    return _toy(inputs, corpora, "log Z", "log_normaliser", "log 1/V")


_CURVES = "log ratio of perplexities on the best curves"
_DOCUMENT = "every test document, number of topics and seed"
_LONG = "the corpus of the longest documents, which differs from the others in its domain, too"

# The original does not say which Dirichlet parameters its LDA has: the claims about it are judged under each reading
_PRIORS = {"": "the study's main prior", SPARSE: "its sparse prior", FITTED: "a prior fitted to the training documents"}
_UNDER_EACH_PRIOR = tuple(
    Claim(
        "-".join(filter(None, (name, variant))),
        "section 5; Figures 7-9",
        f"{statement}{variant and ' (' + variant.replace('-', ' ') + ')'}.",
        f"LDA under {prior}, by score and other model: {test}",
        partial(measure, variant=variant),
    )
    for variant, prior in _PRIORS.items()
    for name, statement, test, measure in (
        (
            "lda-better",
            "LDA is generally better than PLSA and EPCA",
            f"{_CURVES}, other over LDA, median over topics",
            lda_better,
        ),
        (
            "lda-better-by-half",
            "LDA's advantage is larger by half folding-in",
            f"{_CURVES}, other over LDA, by half less by full, median over topics",
            lda_better_by_half,
        ),
    )
)

# Full folding-in flatters a maximum more than a sample: half folding-in alone, against either
_BY_HALF_ALONE = tuple(
    Claim(
        f"lda-better-than-{name.lower()}-by-half-{FITTED}",
        "section 5; Figures 7-9",
        f"By half folding-in LDA is generally better than {name} (fitted prior).",
        f"LDA under {_PRIORS[FITTED]}: {_CURVES}, {name} over LDA, median over topics",
        partial(lda_better, variant=FITTED, others=(model,), evaluators=(HALF,)),
    )
    for name, model in (("PLSA", PLSA), ("EPCA", EPCA))
)

CLAIMS = (
    Claim(
        "plsa-vem-similar",
        "sections 3.4, 5; Figures 1-3",
        "PLSA-HOF and PLSA-VEM give similar results.",
        "equal constants: size of the log ratio of perplexities, mean over constants and topics, within the margin",
        vem_similar,
    ),
    Claim(
        "tempering-no-advantage",
        "section 5; Figures 1-3",
        "Tempering brings no advantage: PLSA-TEM gives results similar to PLSA-HOF's.",
        "log ratio of perplexities, tau = 1 over the best tau, both at the best constant, all chosen on the test set;"
        " mean over topics within the margin",
        tempering_no_advantage,
    ),
    Claim(
        "full-always-improves",
        "section 5; Figures 4-6",
        "Full folding-in improves with every number of topics, under every constant.",
        "gain from one number of topics to the next, all constants: the least step, and the mean one",
        full_improves,
    ),
    Claim(
        "full-improves-beyond-vocabulary",
        "sections 4.4, 5",
        "Full folding-in still improves with more topics than words.",
        "gain from the grid's largest number of topics that is within the vocabulary to one beyond it, which the effect"
        " names, mean over constants",
        beyond_improves,
    ),
    Claim(
        "half-overfits",
        "section 5; Figures 4-6",
        "Half folding-in overfits under small constants on the short documents.",
        f"every short corpus, constants up to {SMALL_CONSTANT:.6f}: log of the last over the lowest perplexity, mean",
        half_overfits,
    ),
    Claim(
        "half-above-full",
        "section 5; Figures 4-5",
        "Half folding-in gives the higher perplexities.",
        "log of half over full folding-in's perplexity, mean over constants and topics",
        half_above_full,
    ),
    Claim(
        "half-sensitive",
        "section 5; Figures 4-6",
        "Half folding-in depends on the constant more on the short documents than on the long ones.",
        "log of the highest over the lowest perplexity of the constants up to 1/V, which add no more mass than the"
        f" topics hold, mean over topics; every short corpus, less that of {_LONG}",
        half_sensitive,
    ),
    Claim(
        "long-documents-alleviate",
        "section 5; Figure 6",
        "Longer documents narrow the gap between half and full folding-in.",
        "log of half over full folding-in's perplexity, mean over constants and topics; every short corpus, less that"
        f" of {_LONG}",
        gap_shrinks_with_length,
    ),
    *_UNDER_EACH_PRIOR,
    *_BY_HALF_ALONE,
    Claim(
        "epca-similar",
        "section 5; Figures 7-9",
        "EPCA gives results similar to PLSA's.",
        f"size of the {_CURVES}, mean over topics, within the margin",
        epca_similar,
    ),
    Claim(
        "epca-harder",
        "section 5",
        "EPCA is harder to train than PLSA.",
        "seconds of training in the reference run, EPCA over PLSA, median over topics, above 1; of our implementations,"
        " each under its own end",
        epca_harder,
    ),
    Claim(
        "discrete-bound",
        "sections 3.1, 4.1",
        "With discrete latents the point posterior's objective bounds the likelihood.",
        "every iteration of every model with discrete latents: objective not above the exact log-likelihood, for a"
        " largest term is no more than the sum",
        objective_bounds,
    ),
    Claim(
        "discrete-pessimistic",
        "section 4.1; equation 4.30",
        "Folding in discrete latents is pessimistic.",
        f"{_DOCUMENT}: not above the exact log-likelihood, for a largest term is no more than the sum",
        partial(against_exact, quantity=BOUND, models=(MIXTURE, HIDDEN_MARKOV), sign=-1.0),
    ),
    Claim(
        "mean-field-pessimistic",
        "section 4.1; equation 4.29",
        "The mean-field bound is pessimistic.",
        f"{_DOCUMENT}: not above the exact log-likelihood, by Jensen's inequality",
        partial(against_exact, quantity=MEAN_FIELD_BOUND, models=(PLSA, LDA), sign=-1.0),
    ),
    Claim(
        "continuous-optimistic",
        "section 4.1; equation 4.31",
        "Folding in continuous latents can be optimistic.",
        f"{_DOCUMENT}: full folding-in of PLSA (equation 5.37, which leaves out the prior's density; with it the"
        f" excess is log Gamma(K) larger) not below the exact log-likelihood, for {MAX_IS_NO_LESS}",
        partial(against_exact, quantity=FULL, models=(PLSA,), sign=1.0),
    ),
    Claim(
        "optimism-grows",
        "sections 4.1, 4.4",
        "The optimism grows with the dimension of the latent vector.",
        "every test document: its growth from one number of topics, of few, to the next, mean",
        optimism_grows,
    ),
    Claim(
        "normaliser",
        "section 4.2; equation 4.34",
        "The ignored normaliser of the energy-based view makes folding-in optimistic.",
        f"every learned model and document length: log Z not below zero, for {MAX_IS_NO_LESS}",
        normaliser_positive,
    ),
    Claim(
        "ranking-reversed",
        "section 4.4",
        "A model that has learned nothing can look best folded in, and no longer does once normalised.",
        "log ratios of perplexities: PLSA's with the most topics over that of a topic per word, both folded in; and,"
        " normalised, that of a topic per word over the upper limit of PLSA's with the fewest topics",
        ranking_reversed,
    ),
    Claim(
        "toy-values",
        "section 4.3; equation 4.36",
        "In the toy example the true log-likelihood is log 1/V and the folded-in one log 1.",
        f"every corpus's vocabulary size, prior's density left out: both within {TOLERANCE:g} nats, by arithmetic",
        toy_values,
    ),
    Claim(
        "toy-normaliser",
        "section 4.3",
        "In the toy example log Z is log 1/V.",
        f"every corpus's vocabulary size, prior's density left out: within {TOLERANCE:g} nats, by arithmetic",
        toy_normaliser,
    ),
    Claim(
        "ica-collapses",
        "section 3.2",
        "Without unit columns the latent vectors of ICA collapse to zero, with them they do not.",
        f"norm of H at the start over that at the end: above {1.0 / SHRUNK:g} without the constraint, below with",
        ica_collapses,
    ),
)
