"""A figure for each question: its effects as curves over the number of topics, or as a forest."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from artifact.contrasts.effect import chosen
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import validation
from artifact.papers.likelihood.contrasts import NAMES
from artifact.papers.likelihood.experiments.validation import FITTED, FLAT, MIXTURE, OWN_PRIOR
from artifact.papers.likelihood.prior_share import TODAY
from artifact.typesetting import forest, latex, style
from artifact.typesetting.style import Props
from heldout.models import LDA, PLSA

# contrasts on the prior's share, with a panel's title and the prior whose likelihoods other estimates validate
SHARES = (
    ("share-fitted", "fitted to the training documents", FITTED),
    ("share-best-sum", "symmetric, best sum after the fact", ""),
    ("share-mixture", "four, training", MIXTURE),
    ("share-test-1", "one, other test", ""),
    ("share-test-4", "four, other test", ""),
)
PRINTED = 2  # number of them in the paper; the site has the others
SHARE_LIMITS = (0.0, 1.25)
CHOICES = (
    ("choice-full", "full folding-in"),
    ("choice-flat", "likelihood under\nthe flat prior"),
    ("choice-bound", "mean-field bound"),
)
JUDGE_TITLES = {"model's prior": "judged under the flat prior", "fitted prior": "judged under a fitted prior"}
COST_LIMITS = (-0.12, 0.56)  # nats per token


def _known(inputs: Inputs, *names: str) -> list[str]:
    """Return the corpora of contrasts, in the study's order; none where no contrast was run."""
    measured = forest.corpora_of(inputs.effects, names)
    return [corpus for corpus in (*inputs.settings.corpora, *TODAY) if corpus in measured]


def _not_run(inputs: Inputs) -> Figure:
    """Return a figure that says that the study does not run its contrasts."""
    figure, ((axis,),) = style.grid(1, 1, 1.0, synthetic=inputs.synthetic())
    axis.set_axis_off()
    style.label(axis, "not run in this study", (0.5, 0.5), xycoords="axes fraction", ha="center", va="center")
    return figure


def gap(inputs: Inputs) -> Figure:
    """Draw full folding-in less the likelihood: against K for PLSA and LDA, and against the sum of alpha."""
    corpora = _known(inputs, "gap-plsa", "gap-lda")
    if not corpora:
        return _not_run(inputs)
    props = forest.props_of(corpora)
    titles = ["PLSA, flat prior", "LDA, its own prior", "PLSA, by the prior"]
    figure, (axes,) = style.grid(1, 3, 2.2, titles=titles, synthetic=inputs.synthetic())
    unvalidated = validation.unvalidated(inputs)
    for axis, (model, prior) in zip(axes, ((PLSA, FLAT), (LDA, OWN_PRIOR)), strict=False):
        known = inputs.effects.get(f"gap-{NAMES[model].lower()}", ())
        hollow = [effect for effect in known if unvalidated(effect.corpus, model, prior, effect.topics)]
        forest.curves(axis, known, props, hollow)
    dials = {corpus: chosen(inputs.effects, "gap-plsa-by-sum", corpus) for corpus in props}
    largest = {corpus: max(effect.topics for effect in dial) for corpus, dial in dials.items() if dial}
    for corpus, most in largest.items():
        rows = sorted((_sum(effect.part), effect) for effect in dials[corpus] if effect.topics == most)
        axes[2].errorbar(
            [place for place, _ in rows],
            [effect.estimate for _, effect in rows],
            [effect.half_width for _, effect in rows],
            **{"linewidth": 1.2, "elinewidth": 0.8, "markersize": 3.0, **props[corpus]},
        )
        forest.hollow_marks(
            axes[2], [(place, effect.estimate) for place, effect in rows], **props[corpus]
        )  # by sums there is no other
    axes[2].set_xscale("log")
    numbers = set(largest.values())
    topics = f"$K = {numbers.pop()}$" if len(numbers) == 1 else "largest K"
    axes[2].set_xlabel(rf"sum of $\alpha$, {topics}")
    axes[2].set_ylim(bottom=0.0)
    axes[0].set_ylabel("too high by, nats per token")
    style.legend(figure, [], extra=[*forest.handles(corpora), forest.hollow_handle()])
    return figure


def _sum(part: str) -> float:
    """Return the sum of alpha of a part, 20 of "K = 400, sum of alpha 20"."""
    return float(part.rpartition(" ")[2])


def prior(inputs: Inputs) -> Figure:
    """Draw the share of PLSA's gap under the flat prior that other priors leave, against K, a panel per prior."""
    return _shares(inputs, SHARES[:PRINTED])


def other_priors(inputs: Inputs) -> Figure:
    """Draw the same share under the priors that are left out of `prior`."""
    return _shares(inputs, SHARES[PRINTED:])


def _shares(inputs: Inputs, shares: Sequence[tuple[str, str, str]]) -> Figure:
    corpora = _known(inputs, *(name for name, *_ in shares))
    if not corpora:
        return _not_run(inputs)
    titles = [title for _, title, _ in shares]
    figure, (axes,) = style.grid(1, len(shares), 2.2, titles=titles, synthetic=inputs.synthetic(), sharey=True)
    unvalidated, props = validation.unvalidated(inputs), forest.props_of(corpora)
    for axis, (name, _, own_prior) in zip(axes, shares, strict=True):
        known = [replace(effect, null=1.0, margin=0.0) for effect in inputs.effects.get(name, ())]
        hollow = [effect for effect in known if unvalidated(effect.corpus, PLSA, own_prior, effect.topics)]
        forest.curves(axis, known, props, hollow)
        last = {effect.corpus: effect for effect in sorted(known, key=lambda effect: effect.topics)}
        ends = [(latex.corpus_title(c), e.topics, e.estimate, props[c]["color"]) for c, e in last.items()]
        axis.set_ylim(*SHARE_LIMITS)
        style.label_ends(axis, ends)
    axes[0].set_ylabel("share of the gap that is left")
    style.label(axes[0], "all of it", (0.99, 1.0), (0.0, 2.0), xycoords=("axes fraction", "data"), ha="right")
    return figure


def choice(inputs: Inputs) -> Figure:
    """Draw the cost of choosing PLSA's K by a score, a panel for each prior under which it is judged."""
    corpora = _known(inputs, *(name for name, _ in CHOICES))
    if not corpora:
        return _not_run(inputs)
    options: Props = {"titles": [*JUDGE_TITLES.values()], "synthetic": inputs.synthetic(), "sharey": True}
    figure, (axes,) = style.grid(1, 2, 2.3, **options)
    props = forest.props_of(corpora)
    for axis, judge in zip(axes, JUDGE_TITLES, strict=True):
        forest.forest(axis, inputs.effects, CHOICES, props, f"{NAMES[PLSA]}, {judge}", named=axis is axes[0])
        axis.set_xlim(*COST_LIMITS)
        axis.set_xlabel("lost by the choice of K, nats per token")
    return figure


def models(inputs: Inputs) -> Figure:
    """Draw LDA's likelihood less PLSA's against K, and, at their best K, comparisons of both."""
    corpora = _known(inputs, "lda-plsa")
    if not corpora:
        return _not_run(inputs)
    props = forest.props_of(corpora)
    titles = ["LDA less PLSA, fitted priors", "at the best K of each"]
    options: Props = {"titles": titles, "synthetic": inputs.synthetic(), "width_ratios": (1.0, 1.0)}
    figure, (axes,) = style.grid(1, 2, 2.3, **options)
    unvalidated, known = validation.unvalidated(inputs), inputs.effects.get("lda-plsa", ())
    hollow = [e for e in known if any(unvalidated(e.corpus, model, FITTED, e.topics) for model in NAMES)]
    forest.curves(axes[0], known, props, hollow)
    axes[0].set_ylabel("likelihood, nats per token")
    rows = (
        ("lda-plsa-best", "LDA less PLSA"),
        ("plsa-overfits-flat", "PLSA at its best K\nless the largest, flat"),
        ("plsa-overfits-fitted", "the same, fitted prior"),
    )
    forest.forest(axes[1], inputs.effects, rows, props)
    axes[1].set_xlabel("nats per token")
    style.legend(figure, [], extra=[*forest.handles(corpora), forest.hollow_handle()])
    return figure
