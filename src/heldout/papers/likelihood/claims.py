"""Claims that compare folding-in, repairs of it, and libraries' own numbers with the truth.

They are from sections 4.1 and 4.4 of Welling et al. (2008), and our own. The truth is log p(document | alpha, phi) of
the same test documents under the model's own prior, exact or by the reference, in nats per token.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from typing import NamedTuple, Unpack

from heldout.claims import MAX_IS_NO_LESS, Claim
from heldout.evaluators import COMPLETION, ESTIMATORS, FULL, HALF, LAPLACE
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED
from heldout.papers.likelihood.experiments.is_a_probability import KIND, SAMPLED_FULL, SAMPLED_HALF
from heldout.papers.likelihood.experiments.is_a_probability import TRUTH as TRUE_MODEL
from heldout.papers.likelihood.experiments.optimism import NML, PLUG_IN
from heldout.papers.likelihood.experiments.peers import REPORTED
from heldout.papers.likelihood.results import (
    CHANCE,
    COMPONENTS,
    FITTED,
    FLAT,
    LIBRARIES,
    MIXTURE,
    OPTIMISM,
    PEERS,
    TRUTH,
    calibration,
    curve,
    errors,
    excesses,
    factors_between_libraries,
)
from heldout.points import Point, select
from heldout.verdicts import (
    ALWAYS,
    GENERALLY,
    SEEN,
    WITHIN,
    Comparison,
    Finding,
    Limits,
    above,
    counted,
    median,
    within,
)

REMAINS = 0.5  # share of the optimism
WORST = 3  # the number of models whose error a repair's effect states
VARIATIONAL = ("scikit-learn", "gensim")
FARTHEST, COVERED = 4.0, 0.001  # of the reference from the exact value: stated errors, nats per token


class Beside(NamedTuple):
    """An evaluator's points and the truth's, at the numbers of topics that both have."""

    corpus: str
    model: str
    estimate: dict[int, Point]
    truth: dict[int, Point]
    prior: str = ""  # of the truth, where it is not the model's own

    @property
    def name(self) -> str:
        """The corpus, the model and the prior in a few words."""
        return " ".join(filter(None, (self.corpus, self.model, self.prior)))

    def gap(self, topics: int) -> float:
        """Estimate less truth, nats per token."""
        return self.estimate[topics].value - self.truth[topics].value

    def gain(self, fewer: int, more: int) -> float:
        """The truth at more topics less the truth at fewer, nats per token; 0 if within its error."""
        gain = self.truth[more].value - self.truth[fewer].value
        return gain if abs(gain) > SEEN * math.hypot(self.truth[fewer].error, self.truth[more].error) else 0.0

    @property
    def preferred(self) -> tuple[int, int]:
        """The numbers of topics that the evaluator and the truth score highest."""
        own, true = (max(points, key=lambda k: points[k].value) for points in (self.estimate, self.truth))
        return own, true

    @property
    def preference_error(self) -> float:
        """The standard error of the truth's difference between the two."""
        return math.hypot(*(self.truth[k].error for k in self.preferred))

    def prefers(self, *, more: bool) -> Comparison:
        """Return whether the evaluator prefers more (or fewer) topics than the truth; None within the truth's error."""
        own, true = self.preferred
        gain = self.gain(own, true)
        return None if own != true and not gain else own > true if more else own < true


def _beside(
    inputs: Inputs,
    corpora: Sequence[str],
    evaluator: str,
    models: Sequence[str] = (PLSA, LDA),
    variant: str = OPTIMISM,
    priors: Sequence[str] = (),
) -> Iterator[Beside]:
    """Yield the points under the variant's own prior, or under each of others: folding in knows none."""
    for corpus, model, prior in product(corpora, models, priors or (variant,)):
        estimate = curve(inputs, corpus, model, evaluator, variant)
        truth = curve(inputs, corpus, model, TRUTH, prior)
        shared = sorted(estimate.keys() & truth.keys())
        if shared:
            name = prior.removeprefix(f"{OPTIMISM}-").replace("-", " ") if priors else ""
            own, true = ({k: points[k] for k in shared} for points in (estimate, truth))
            yield Beside(corpus, model, own, true, name)


def _counted(
    inputs: Inputs,
    agree: Iterable[Comparison],
    effect: str,
    variant: str = OPTIMISM,
    *,
    errors: Iterable[float] = (),
    **limits: Unpack[Limits],
) -> Finding:
    """Return the finding of an experiment's comparisons."""
    seeds = inputs.settings.experiment(variant).get("seeds", ())
    return counted(agree, effect, seeds, errors=errors, **limits)


def truth_covers(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare the reference's error with the one that it states, in cells with an exact value."""
    cells = [cell for cell in calibration(inputs) if cell.corpus in corpora]
    effect = ""
    if cells:
        spread = math.sqrt(sum(cell.z**2 for cell in cells) / len(cells))
        widest, farthest = max(cells, key=lambda cell: abs(cell.z)), max(cells, key=lambda cell: abs(cell.per_token))
        effect = (
            f"r.m.s. {spread:.2f} of the stated errors, most {widest.z:+.1f} ({widest.name}); largest difference"
            f" {farthest.per_token:+.5f} nats per token ({farthest.name})"
        )
    agree = (abs(cell.z) <= FARTHEST and abs(cell.per_token) <= COVERED for cell in cells)
    return counted(agree, effect, (cell.seed for cell in cells))


def above_truth(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> Finding:
    """Count the models that an evaluator scores above the truth by more than the truth's error."""
    gaps = [
        (beside.gap(k), k, point.error)
        for beside in _beside(inputs, corpora, evaluator)
        for k, point in beside.truth.items()
    ]
    low, high = (end(gaps, default=(0.0, 0, 0.0)) for end in (min, max))
    effect = f"from {low[0]:+.3f} (K={low[1]}) to {high[0]:+.3f} (K={high[1]}) nats per token"
    agree, errors = (above(gap, error) for gap, _, error in gaps), (error for *_, error in gaps)
    return _counted(inputs, agree, effect, errors=errors, **ALWAYS)


def optimism_grows_with_topics(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the steps to more topics at which the optimism of full folding-in grows."""
    agree, parts, errors = [], [], []
    for beside in _beside(inputs, corpora, FULL):
        gaps = {k: beside.gap(k) for k in beside.truth}
        for fewer, more in pairwise(gaps):
            errors.append(math.hypot(beside.truth[fewer].error, beside.truth[more].error))
            agree.append(above(gaps[more] - gaps[fewer], errors[-1]))
        ends = " to ".join(f"{gaps[k]:.3f} (K={k})" for k in (min(gaps), max(gaps)))
        parts.append(f"{beside.corpus} {beside.model} {ends}")
    return _counted(inputs, agree, f"nats per token: {', '.join(parts)}", errors=errors)


def no_prior_closes_the_gap(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare full folding-in's optimism under the prior that scores the documents highest with that under the own."""
    agree, shares, errors = [], [], []
    for beside in _beside(inputs, corpora, FULL):
        others = [curve(inputs, beside.corpus, beside.model, TRUTH, prior) for prior in (FLAT, FITTED, MIXTURE)]
        for k, own in beside.truth.items():
            best = max((points[k] for points in (*others, beside.truth) if k in points), key=lambda point: point.value)
            left = beside.estimate[k].value - best.value
            errors.append(math.hypot(best.error, REMAINS * own.error))
            agree.append(above(left - REMAINS * beside.gap(k), errors[-1]))
            shares.append((left / beside.gap(k), f"{beside.corpus} {beside.model} K={k}"))
    least, cell = min(shares, default=(math.nan, ""))
    effect = f"share left: median {median(share for share, _ in shares):.2f}, least {least:.2f} ({cell})"
    return _counted(inputs, agree, effect, errors=errors, **GENERALLY)


def _preference(inputs: Inputs, compared: Iterable[Beside], variant: str, *, more: bool) -> Finding:
    """Count the comparisons in which the evaluator prefers more (or fewer) topics than the truth."""
    agree, parts, errors = [], [], []
    for beside in compared:
        own, true = beside.preferred
        errors.append(beside.preference_error)
        agree.append(beside.prefers(more=more))
        parts.append(f"{beside.name} {own} against {true}")
    return _counted(inputs, agree, ", ".join(parts), variant, errors=errors)


def prefers_more(
    inputs: Inputs, corpora: Sequence[str], *, evaluator: str, model: str, priors: Sequence[str]
) -> Finding:
    """Count the corpora (and priors) for which an evaluator prefers more topics than the truth."""
    return _preference(inputs, _beside(inputs, corpora, evaluator, (model,), priors=priors), OPTIMISM, more=True)


def ranks_as_truth(
    inputs: Inputs, corpora: Sequence[str], *, evaluator: str, model: str, priors: Sequence[str]
) -> Finding:
    """Count the pairs of numbers of topics, told apart by the truth, that an evaluator orders as the truth does."""
    agree, parts = [], []
    for beside in _beside(inputs, corpora, evaluator, (model,), priors=priors):
        same = [
            (beside.estimate[more].value > beside.estimate[fewer].value) == (beside.gain(fewer, more) > 0.0)
            for fewer, more in combinations(beside.truth, 2)
            if beside.gain(fewer, more)
        ]
        agree += same
        parts.append(f"{beside.name} {sum(same)} of {len(same)}")
    return _counted(inputs, agree, ", ".join(parts))


def components_optimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the documents that EPCA's full folding-in scores above the annealed estimate."""
    table = select(inputs.measurements, variant=COMPONENTS, axis="document")
    table = table[table["corpus"].isin(list(corpora))]
    at = ["corpus", "topics", "seed", "at"]
    full, truth = (select(table, quantity=name).set_index(at)["value"].sort_index() for name in (FULL, ANNEALED))
    gaps = full - truth
    parts = [f"K={k} {gap:+.1f}" for k, gap in gaps.groupby("topics").median().items()]
    seeds = [int(seed) for seed in table["seed"].unique()]
    effect = f"median nats per document: {', '.join(parts)}"
    return counted((gap > 0.0 for gap in gaps), effect, seeds, identity=MAX_IS_NO_LESS)


def repairs(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> Finding:
    """Count the models whose truth a repair meets."""
    off = {
        (corpus, model, k): (error, truth[k].error)
        for corpus in corpora
        for model in (PLSA, LDA)
        for truth in [curve(inputs, corpus, model, TRUTH)]
        for k, (error, _) in errors(inputs, corpus, model, evaluator).items()
    }
    worst = sorted(off, key=lambda at: -abs(off[at][0]))[:WORST]
    cells = ", ".join(f"{off[at][0]:+.4f} ({at[0]} {at[1]} K={at[2]})" for at in worst)
    effect = f"median {median(abs(error) for error, _ in off.values()):.4f} nats per token, worst {cells}"
    agree = (within(error, truth, WITHIN) for error, truth in off.values())
    return _counted(inputs, agree, effect, errors=(truth for _, truth in off.values()))


def reported_grows(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the steps to more topics at which a variational library's perplexity rises although the true one falls."""
    agree: list[bool] = []
    widest: dict[str, tuple[float, str]] = {}
    for beside in _beside(inputs, corpora, REPORTED, VARIATIONAL, PEERS):
        corpus, library, reported, truth, _ = beside
        steps = [(fewer, more) for fewer, more in pairwise(truth) if beside.gain(fewer, more) > 0.0]
        agree += [reported[more].value < reported[fewer].value for fewer, more in steps]
        first, last = min(reported), max(reported)
        own, true = ([_number(of[k].perplexity) for k in (first, last)] for of in (reported, truth))
        text = f"{library} {own[0]} (K={first}) to {own[1]} (K={last}) on {corpus}, true {true[0]} to {true[1]}"
        rise = reported[first].value - reported[last].value
        widest[library] = max(widest.get(library, (-math.inf, "")), (rise, text))
    effect = f"perplexity, where it rises most: {'; '.join(text for _, text in widest.values())}"
    return _counted(inputs, agree, effect, PEERS)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value < 1e9 else f"{value:.1e}"


def prefer_fewer(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the pairs of corpus and library whose own number is best at fewer topics than the truth."""
    return _preference(inputs, _beside(inputs, corpora, REPORTED, LIBRARIES, PEERS), PEERS, more=False)


def disagree(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the pairs of corpus and number of topics at which reported perplexities spread more than true ones."""
    agree: list[bool] = []
    factors: dict[str, list[tuple[float, str, int]]] = {"reported": [], "true": []}
    for corpus in corpora:
        reported, truth = (factors_between_libraries(inputs, corpus, name) for name in (REPORTED, TRUTH))
        for k in reported.keys() & truth.keys():
            agree.append(reported[k] > truth[k])
            factors["reported"].append((reported[k], corpus, k))
            factors["true"].append((truth[k], corpus, k))
    parts = []
    for name, of_name in factors.items():
        most, corpus, k = max(of_name, default=(math.nan, "", 0))
        middle = median(factor for factor, *_ in of_name)
        text = f"largest over smallest perplexity median {middle:,.2f}, most {_factor(most)} ({corpus} K={k})"
        parts.append(f"{name}: {text}")
    return _counted(inputs, agree, "; ".join(parts), PEERS)


def _factor(value: float) -> str:
    return f"{value:,.2f}" if value < 1e4 else f"{value:.1e}"


def pessimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the models that their library scores below the truth by more than the truth's error."""
    agree, ratios = [], []
    for beside in _beside(inputs, corpora, REPORTED, LIBRARIES, PEERS):
        for k, point in beside.truth.items():
            agree.append(above(-beside.gap(k), point.error))
            ratios.append((math.exp(min(700.0, -beside.gap(k))), beside.corpus, beside.model, k))
    ends = [f"{_factor(r[0])} ({r[1]} {r[2]} K={r[3]})" for r in (min(ratios), max(ratios))] if ratios else []
    return _counted(inputs, agree, f"reported over true perplexity from {' to '.join(ends)}", PEERS, **ALWAYS)


def is_none(inputs: Inputs, _: Sequence[str], *, scores: Sequence[str]) -> Finding:
    """Count the models on whose documents a score exceeds the truth by more than a probability can."""
    by_score = {score: of_models for (model, score), of_models in excesses(inputs).items() if model == TRUE_MODEL}
    parts = []
    for score in scores:
        of_models = by_score.get(score, ())
        over = ", ".join(f"{one.over:+,.0f}" for one in of_models)
        given = ", ".join(f"{one.over_given:+,.0f}" for one in of_models)
        parts.append(f"{score} {over}, without an evaluator of the truth {given}")
    named = ", ".join(f"{one.corpus} K={one.topics}" for one in by_score.get(FULL, ()))
    agree = [one.refuted for score in scores for one in by_score.get(score, ())]
    return _counted(inputs, agree, f"nats over {named}: {'; '.join(parts)}", KIND, **ALWAYS)


def may_be_one(inputs: Inputs, _: Sequence[str], *, scores: Sequence[str] | None) -> Finding:
    """Count the models on whose documents a score, or any library's number (None), is not refuted."""
    chosen = [
        (f"{score if model == TRUE_MODEL else model}, {one.corpus} K={one.topics}", one)
        for (model, score), of_models in excesses(inputs).items()
        for one in of_models
        if (model != TRUE_MODEL if scores is None else model == TRUE_MODEL and score in scores)
    ]
    name, most = max(chosen, key=lambda item: item[1].over, default=("", None))
    effect = f"largest excess {most.over:+,.1f} nats ({name})" if most else ""
    return _counted(inputs, (not one.refuted for _, one in chosen), effect, KIND, **ALWAYS)


_BEYOND = "beyond the original"
_CELL = "every corpus, model and number of topics"
_ABOVE = f"{_CELL}: above the likelihood by more than {SEEN:g} of its standard errors; all must"
_NEAR = f"{_CELL}, the model's prior: at most {WITHIN:g} nats per token from the likelihood"

_DRAWN = "every score and model, the excess over log p of documents drawn from the model"
# of halves, bounds and estimates that are not known to be too high
POSSIBLE = (
    *(HALF, SAMPLED_HALF, COMPLETION, NML),
    *(name for name, known in ESTIMATORS.items() if known.behaviour in ("consistent", "low")),
)

# What a score does to the choice of a number of topics depends on the prior that the likelihood is taken under
_CHOICES = tuple(
    Claim(
        f"{name}-{verb}{end}",
        source if (evaluator, end) == (FULL, "") else _BEYOND,
        f"{subject} folding-in of {model_name} {statement} {under}.",
        f"every corpus{' and prior' if priors else ''}{test}",
        partial(check, evaluator=evaluator, model=model, priors=priors),
    )
    for verb, source, statement, test, check in (
        (
            "prefers-more-topics",
            "section 4.4",
            "prefers more topics than the likelihood does,",
            ": the number of topics that it scores highest is larger",
            prefers_more,
        ),
        (
            "ranks-as-truth",
            _BEYOND,
            "ranks numbers of topics as the likelihood does,",
            f" and two numbers of topics that the likelihood tells apart by more than {SEEN:g} standard errors: the"
            " same order",
            ranks_as_truth,
        ),
    )
    for name, subject, evaluator in (("full", "Full", FULL), ("half", "Half", HALF))
    for end, model_name, model, priors, under in (
        ("", "PLSA", PLSA, (), "under the flat prior"),
        ("-fitted-priors", "PLSA", PLSA, (FITTED, MIXTURE), "under a fitted Dirichlet prior and a fitted mixture"),
        ("-lda", "LDA", LDA, (), "under the prior of training"),
    )
)

CLAIMS = (
    Claim(
        "truth-covers",
        _BEYOND,
        "Where no exact value can be had the reference takes its place: its stated error covers its error.",
        "every corpus, seed, model, prior, constant and number of topics of the calibration: the sum over test"
        f" documents is at most {FARTHEST:g} stated errors and {COVERED:g} nats per token from the exact value",
        truth_covers,
    ),
    Claim(
        "full-above-truth",
        "section 4.1",
        "Full folding-in is optimistic: it lies above the likelihood of the very same documents.",
        f"{_ABOVE}; PLSA's, a maximum, cannot fail, LDA's, a Gibbs sample, can",
        partial(above_truth, evaluator=FULL),
    ),
    Claim(
        "plug-in-above-truth",
        _BEYOND,
        "So is the posterior mean in the place of the folded-in point.",
        _ABOVE,
        partial(above_truth, evaluator=PLUG_IN),
    ),
    Claim(
        "gap-grows-with-topics",
        "sections 4.1, 4.4",
        "The optimism of full folding-in grows with the number of topics.",
        "every corpus and model, from one number of topics to the next: full folding-in less the likelihood grows",
        optimism_grows_with_topics,
    ),
    Claim(
        "no-prior-closes-the-gap",
        _BEYOND,
        "The prior is not to blame: under the best of several, more than half of full folding-in's optimism remains.",
        f"{_CELL}: full folding-in less the log-likelihood under the prior of the highest likelihood on the test"
        " documents, among the model's own, Dirichlet(1), a fitted Dirichlet and a fitted mixture of them, is more"
        f" than {REMAINS:g} of that under the model's own; holds from two thirds, fails up to one third",
        no_prior_closes_the_gap,
    ),
    *_CHOICES,
    Claim(
        "epca-full-above-truth",
        _BEYOND,
        "Full folding-in of EPCA lies above its marginal likelihood under the Gaussian prior of its penalty.",
        "every test document and number of components: above the annealed estimate",
        components_optimistic,
    ),
    Claim(
        "folding-in-is-no-probability",
        _BEYOND,
        "Full folding-in is no probability, and neither is the posterior mean in its place: of documents drawn from the"
        " model they say more than any probability can.",
        f"{_DRAWN}: a probability had a chance of {CHANCE:g} at most; all must",
        partial(is_none, scores=(FULL, SAMPLED_FULL, PLUG_IN)),
    ),
    Claim(
        "estimates-may-be-probabilities",
        _BEYOND,
        "Nothing speaks against half folding-in, bounds and consistent estimators as probabilities.",
        f"{_DRAWN}: a probability had a chance of more than {CHANCE:g}; all must",
        partial(may_be_one, scores=POSSIBLE),
    ),
    Claim(
        "laplace-may-be-a-probability",
        _BEYOND,
        "Nothing speaks against Laplace's method in the softmax basis as a probability.",
        f"{_DRAWN}: a probability had a chance of more than {CHANCE:g}; all must",
        partial(may_be_one, scores=(LAPLACE,)),
    ),
    Claim(
        "reports-may-be-probabilities",
        _BEYOND,
        "Nothing speaks against what libraries report as probabilities of documents drawn from their own models.",
        f"{_DRAWN}: a probability had a chance of more than {CHANCE:g}; all must",
        partial(may_be_one, scores=None),
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
        "peers-reported-grows",
        "issues of scikit-learn and gensim",
        "The perplexity that scikit-learn and gensim report of held-out documents grows with the number of topics where"
        " the likelihood says that it falls.",
        "every step to more topics at which the perplexity by the likelihood falls by more than three standard errors:"
        " the reported one rises",
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
        "every corpus and number of topics: largest over smallest perplexity of the libraries, reported against"
        " that by the likelihood",
        disagree,
    ),
    Claim(
        "peers-pessimistic",
        _BEYOND,
        "What a library returns for held-out documents is above the perplexity by its model's likelihood.",
        "every corpus, library and number of topics: the reported value is below the log-likelihood by more than three"
        " standard errors",
        pessimistic,
    ),
)
