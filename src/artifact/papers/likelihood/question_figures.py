"""A figure for each question: its effects as curves over the number of topics, or as a forest."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from artifact.contrasts.effect import chosen
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import regret, validation
from artifact.papers.likelihood.contrasts import CHOOSERS, NAMES
from artifact.papers.likelihood.experiments.validation import FITTED, FLAT, MIXTURE, OWN_PRIOR
from artifact.papers.likelihood.prior_share import TODAY
from artifact.typesetting import forest, latex, style
from artifact.typesetting.style import Props
from heldout.models import LDA, PLSA

# contrasts on the prior's share: label, colour, mark, line, and the prior whose likelihoods other estimates validate
SHARES: tuple[tuple[str, str, str, str, Any, str], ...] = (
    ("share-fitted", "Dirichlet, training documents", style.PRIOR_COLOURS[1], "s", style.DASHED, FITTED),
    ("share-mixture", "four, training documents", style.PRIOR_COLOURS[2], "D", style.DOTTED, MIXTURE),
    ("share-test-1", "Dirichlet, other test documents", style.TUNED_COLOURS[0], "v", "-", ""),
    ("share-test-4", "four, other test documents", style.TUNED_COLOURS[1], "^", "-", ""),
    ("share-best-sum", "symmetric, best sum", style.TUNED_COLOURS[2], "o", "-", ""),
)
CHOICES = (*((f"choice-{end}", name.partition(",")[0]) for end, name in CHOOSERS.items()),)
CHOICE_PANELS = tuple((model, judge) for model in NAMES.values() for judge in regret.JUDGES)
JUDGE_TITLES = {"model's prior": "by the model's prior", "fitted prior": "by a fitted prior"}
COST_LIMITS = (-0.12, 0.42)  # nats per token


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
    for corpus, own in props.items():
        dial = chosen(inputs.effects, "gap-plsa-by-sum", corpus)
        most = max((effect.topics for effect in dial), default=0)
        rows = sorted((_sum(effect.part), effect) for effect in dial if effect.topics == most)
        axes[2].errorbar(
            [place for place, _ in rows],
            [effect.estimate for _, effect in rows],
            [effect.half_width for _, effect in rows],
            **{"linewidth": 1.2, "elinewidth": 0.8, "markersize": 3.0, **own},
        )
        forest.hollow_marks(
            axes[2], [(place, effect.estimate) for place, effect in rows], **own
        )  # by sums there is no other
    axes[2].set_xscale("log")
    axes[2].set_xlabel(r"sum of $\alpha$, largest K")
    axes[2].set_ylim(bottom=0.0)
    axes[0].set_ylabel("too high by, nats per token")
    style.legend(figure, [], extra=[*forest.handles(corpora), forest.hollow_handle()])
    return figure


def _sum(part: str) -> float:
    """Return the sum of alpha of a part, 20 of "K = 400, sum of alpha 20"."""
    return float(part.rpartition(" ")[2])


def prior(inputs: Inputs) -> Figure:
    """Draw the share of PLSA's gap under the flat prior that other priors leave, against K, a panel per corpus."""
    corpora = _known(inputs, *(name for name, *_ in SHARES))
    if not corpora:
        return _not_run(inputs)
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    figure, (axes,) = style.grid(1, len(corpora), 2.3, titles=titles, synthetic=inputs.synthetic(), sharey=True)
    unvalidated = validation.unvalidated(inputs)
    for axis, corpus in zip(axes, corpora, strict=True):
        topics: set[int] = set()
        for name, _, colour, marker, line, own_prior in SHARES:
            rows = sorted(chosen(inputs.effects, name, corpus), key=lambda effect: effect.topics)
            topics |= {effect.topics for effect in rows}
            axis.errorbar(
                [effect.topics for effect in rows],
                [effect.estimate for effect in rows],
                [effect.half_width for effect in rows],
                **{"color": colour, "marker": marker, "linestyle": line, "elinewidth": 0.7, "markersize": 3.5},
            )
            white = [effect for effect in rows if unvalidated(corpus, PLSA, own_prior, effect.topics)]
            forest.hollow_marks(
                axis, [(effect.topics, effect.estimate) for effect in white], color=colour, marker=marker
            )
        axis.axhline(1.0, **forest.ZERO)
        axis.set_xscale("log")
        shown = style.sparse_ticks(topics)
        style.ticks(axis.xaxis, shown, [f"{k:,}" for k in shown])
        axis.set_xlabel("number of topics")
        axis.set_ylim(0.0, 1.25)
    axes[0].set_ylabel("share of the gap that is left")
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle=line, label=label, markersize=3.5)
        for _, label, colour, marker, line, _ in SHARES
    ]
    style.legend(figure, [], extra=[*handles, forest.hollow_handle()], ncols=3)
    return figure


def choice(inputs: Inputs) -> Figure:
    """Draw the cost of choosing K by a score, a panel for each model and the prior under which it is judged."""
    corpora = _known(inputs, *(name for name, _ in CHOICES))
    if not corpora:
        return _not_run(inputs)
    props = forest.props_of(corpora)
    titles = [f"{model}, judged {JUDGE_TITLES[judge]}" for model, judge in CHOICE_PANELS]
    figure, grid = style.grid(2, 2, 3.5, synthetic=inputs.synthetic(), sharey=True)
    for axis, title, (model, judge) in zip(grid.flat, titles, CHOICE_PANELS, strict=True):
        axis.set_title(title)
        forest.forest(axis, inputs.effects, CHOICES, props, f"{model}, {judge}")
        axis.set_xlim(*COST_LIMITS)
    for axis in grid[-1]:
        axis.set_xlabel("cost of its choice of K, nats per token")
    style.legend(figure, [], extra=forest.handles(corpora))
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
