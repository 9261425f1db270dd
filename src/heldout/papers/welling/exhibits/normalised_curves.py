"""Section 4.4: full folding-in against topics, and the band in which the normalised model lies."""

from typing import Any

from matplotlib.figure import Figure

from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.papers.welling.results import NORMALISED, bands, best, study_curves, word_topics
from heldout.typesetting import latex, style

HEIGHT = 3.4  # inches


def draw(inputs: Inputs) -> Figure:
    """Draw a panel per corpus: folding in, the limit of its normalised model, half folding-in, a topic per word."""
    corpora = inputs.settings.corpora[:3]
    figure, axes = style.panels([latex.corpus_name(corpus) for corpus in corpora], synthetic=inputs.synthetic(*corpora))
    figure.set_size_inches(style.WIDTH, HEIGHT)
    colour = style.COLOURS[PLSA]
    for axis, corpus in zip(axes, corpora, strict=True):
        found = bands(inputs, corpus)
        topics = sorted({k for k, _ in found})
        low, high = ([_mean([b[i] for (k, _), b in found.items() if k == at]) for at in topics] for i in (0, 1))
        axis.fill_between(topics, low, high, color=colour, alpha=0.15, linewidth=0, label="normalised: in this band")
        axis.plot(topics, high, color=colour, linestyle=(0, (4, 2)), label="limit of the normalised model")
        axis.plot(topics, low, color=colour, marker="o", label="full folding-in")
        half = best(study_curves(inputs, corpus, PLSA, HALF))
        if half is not None:
            axis.plot(half.topics, half.means, color="#777777", marker="s", label="half folding-in")
        vocabulary = int(inputs.corpus(corpus)["vocabulary"])
        words = word_topics(inputs, corpus)
        for evaluator, marker, label in (
            (FULL, "o", "folded in"),
            (NORMALISED, "D", "normalised"),
            ("exact-marginal", "X", "exact marginal"),
        ):
            if evaluator in words:
                value = _mean(list(words[evaluator].values()))
                fill = "white" if evaluator == FULL else "black"
                look: dict[str, Any] = {"markersize": 5.5, "markerfacecolor": fill, "markeredgecolor": "black"}
                name = f"a topic per word, {label}"
                axis.plot([vocabulary], [value], marker=marker, linestyle="none", label=name, **look)
    style.finish(axes, style.sparse_ticks({*inputs.settings.topics, *inputs.settings.beyond_topics}))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
