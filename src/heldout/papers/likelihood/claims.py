"""Claims that compare folding-in, repairs of it, and libraries' own numbers with the truth.

They are from sections 4.1 and 4.4 of Welling et al. (2008), and our own. The truth is log p(document | alpha, phi) of
the same test documents under the model's own prior, exact or by left-to-right sequential, in nats per token. With the
fewest sweeps in the study, as on long documents, left-to-right sequential is below the likelihood by hundredths of a
nat per token. That is small beside folding-in's optimism, but as large as a repair's tolerance, so repairs are not
judged on these documents.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import NamedTuple, Unpack

from heldout.claims import MAX_IS_NO_LESS, Claim
from heldout.evaluators import EXACT, FULL, HALF, LAPLACE, SEQUENTIAL
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED
from heldout.papers.likelihood.experiments.optimism import NML, PLUG_IN
from heldout.papers.likelihood.experiments.peers import REPORTED
from heldout.papers.likelihood.results import (
    COMPONENTS,
    FITTED,
    FLAT,
    LIBRARIES,
    OPTIMISM,
    PEERS,
    TRUTH,
    apart,
    curve,
    errors,
)
from heldout.points import Point, select
from heldout.verdicts import (
    ALWAYS,
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

WORST = 3  # the number of models whose error a repair's effect states
VARIATIONAL = ("scikit-learn", "gensim")


class Beside(NamedTuple):
    """An evaluator's points and the truth's, at the numbers of topics that both have."""

    corpus: str
    model: str
    estimate: dict[int, Point]
    truth: dict[int, Point]

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
) -> Iterator[Beside]:
    for corpus in corpora:
        for model in models:
            curves = [curve(inputs, corpus, model, name, variant) for name in (evaluator, TRUTH)]
            shared = sorted(curves[0].keys() & curves[1].keys())
            if shared:
                yield Beside(corpus, model, *({k: points[k] for k in shared} for points in curves))


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


def sequential_meets_exact(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare left-to-right sequential with the exact value, model by model and prior by prior."""
    table = inputs.scores
    table = table[table["variant"].isin([OPTIMISM, FLAT, FITTED]) & table["corpus"].isin(list(corpora))]
    axes = ["corpus", "model", "variant", "topics", "smoothing", "seed"]
    exact, sequential = (
        {tuple(row[axis] for axis in axes): row for row in select(table, evaluator=name).to_dict("records")}
        for name in (EXACT, SEQUENTIAL)
    )
    gaps = {
        at: (sequential[at]["log_likelihood"] - exact[at]["log_likelihood"]) / exact[at]["tokens"]
        for at in sorted(exact.keys() & sequential.keys())
    }
    effect = ""
    if gaps:
        worst = max(gaps, key=lambda at: abs(gaps[at]))
        corpus, model, variant, topics, *_ = worst
        prior = variant.removeprefix(OPTIMISM).strip("-").replace("-", " ") or "own prior"
        error = sequential[worst]["standard_error"] / exact[worst]["tokens"]
        effect = f"median {median(gaps.values()):+.4f} nats per token, largest {gaps[worst]:+.4f} ({corpus} {model}"
        effect += f" K={topics}, {prior}, stated error {error:.4f})"
    return _counted(inputs, (abs(gap) <= WITHIN for gap in gaps.values()), effect)


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


def _preference(inputs: Inputs, compared: Iterable[Beside], variant: str, *, more: bool) -> Finding:
    """Count the comparisons in which the evaluator prefers more (or fewer) topics than the truth."""
    agree, parts, errors = [], [], []
    for beside in compared:
        own, true = beside.preferred
        errors.append(beside.preference_error)
        agree.append(beside.prefers(more=more))
        parts.append(f"{beside.corpus} {beside.model} {own} against {true}")
    return _counted(inputs, agree, ", ".join(parts), variant, errors=errors)


def folding_in_prefers_more(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the pairs of corpus and model for which full folding-in prefers more topics than the truth."""
    return _preference(inputs, _beside(inputs, corpora, FULL), OPTIMISM, more=True)


def ranks_as_truth(inputs: Inputs, corpora: Sequence[str], *, evaluator: str) -> Finding:
    """Count the pairs of numbers of topics, told apart by the truth, that an evaluator orders as the truth does."""
    agree, parts = [], []
    for beside in _beside(inputs, corpora, evaluator):
        same = [
            (beside.estimate[more].value > beside.estimate[fewer].value) == (beside.gain(fewer, more) > 0.0)
            for fewer, more in combinations(beside.truth, 2)
            if beside.gain(fewer, more)
        ]
        agree += same
        parts.append(f"{beside.corpus} {beside.model} {sum(same)} of {len(same)}")
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
    """Count the models whose truth a repair meets, among truths that are exact or have more than the fewest sweeps."""
    least = inputs.settings.experiment(OPTIMISM).get("settings", {}).get("least_samples", 0)
    off = {
        (corpus, model, k): (error, truth[k].error)
        for corpus in corpora
        for model in (PLSA, LDA)
        for truth in [curve(inputs, corpus, model, TRUTH)]
        for k, (error, _) in errors(inputs, corpus, model, evaluator).items()
        if truth[k].samples == 0 or truth[k].samples > least
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
        corpus, library, reported, truth = beside
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
        reported, truth = (apart(inputs, corpus, name) for name in (REPORTED, TRUTH))
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


_BEYOND = "beyond the original"
_CELL = "every corpus, model and number of topics"
_ABOVE = f"{_CELL}: above the truth by more than {SEEN:g} of its standard errors; all must"
_ORDER = (
    f"every corpus, model and two numbers of topics that the truth tells apart by more than {SEEN:g} standard errors:"
    " the same order"
)
_NEAR = (
    f"{_CELL}, the model's prior, where the truth is exact or has more than the fewest sweeps: at most {WITHIN:g} nats"
    " per token from the truth"
)

CLAIMS = (
    Claim(
        "sequential-meets-exact",
        _BEYOND,
        "On real documents the sequential left-to-right sampler meets the exact value.",
        "every corpus, model, prior, constant and number of topics for which both are known: at most"
        f" {WITHIN:g} nats per token apart",
        sequential_meets_exact,
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
        "every corpus and model, from one number of topics to the next: full less truth grows",
        optimism_grows_with_topics,
    ),
    Claim(
        "full-prefers-more-topics",
        "section 4.4",
        "Full folding-in prefers more topics than the truth does.",
        "every corpus and model: the number of topics that it scores highest is larger",
        folding_in_prefers_more,
    ),
    Claim(
        "half-ranks-as-truth",
        _BEYOND,
        "Half folding-in ranks numbers of topics as the truth does.",
        _ORDER,
        partial(ranks_as_truth, evaluator=HALF),
    ),
    Claim(
        "full-ranks-as-truth",
        _BEYOND,
        "Full folding-in ranks numbers of topics as the truth does.",
        _ORDER,
        partial(ranks_as_truth, evaluator=FULL),
    ),
    Claim(
        "epca-full-above-truth",
        _BEYOND,
        "Full folding-in of EPCA lies above its marginal likelihood under the Gaussian prior of its penalty.",
        "every test document and number of components: above the annealed estimate",
        components_optimistic,
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
