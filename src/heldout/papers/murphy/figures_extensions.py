"""The figures of LDA's extensions."""

import numpy as np
from matplotlib.figure import Figure

from heldout.inputs import Inputs
from heldout.papers.murphy import results_extensions as results
from heldout.papers.murphy.experiments import lda_hmm_words
from heldout.typesetting import style

TIMES = 4  # at which Figure 27.12 shows a topic's words
SIZE, ADVANCE = 6.5, 0.603  # points, and the width of a letter in these, of the monospaced font
LIGHTEST = 0.55  # grey of a word that never is the topics'


def figure_27_14(inputs: Inputs) -> Figure:
    """Draw words in two roles, first as content and then as function word: the blacker, the more often in topics."""
    return _roles(inputs, results.corpora_of_words(inputs, results.FIGURE_27_14)[0])


def figure_27_14_of_others(inputs: Inputs) -> Figure:
    """Draw the same of other corpora."""
    return _roles(inputs, results.corpora_of_words(inputs, results.FIGURE_27_14)[1])


def _roles(inputs: Inputs, corpora: list[str]) -> Figure:
    roles, lines = (lda_hmm_words.CONTENT, lda_hmm_words.FUNCTION), list[results.Context]()
    for corpus in corpora:
        both = [results.contexts(inputs, corpus, role) for role in roles]
        lines += [context for pair in zip(*both, strict=True) for context in pair]
    figure, ((axis,),) = style.grid(1, 1, 0.3 + 0.2 * max(len(lines), 1))
    axis.axis("off")
    letters = 72.0 * style.WIDTH / (SIZE * ADVANCE) - 2.0
    axis.set_xlim(0.0, letters)
    axis.set_ylim(-len(lines) - 0.5, 0.5)
    for number, (words, content, place) in enumerate(lines):
        # the word itself stands in the middle, and what has no room is left out
        at = letters / 2.0 - len(" ".join(words[:place])) - len(words[place]) / 2.0
        for i, (word, share) in enumerate(zip(words, content, strict=True)):
            if at >= 0.0 and at + len(word) <= letters:
                box = {"boxstyle": "square,pad=0.15", "fill": False, "linewidth": 0.5} if i == place else None
                props = {"fontfamily": "monospace", "fontsize": SIZE, "color": str(LIGHTEST * (1.0 - share))}
                axis.text(at, -number, word, bbox=box, parse_math=False, **props)
            at += len(word) + 1.0
    return figure


def figure_27_12(inputs: Inputs) -> Figure:
    """Draw a topic's words at times that are evenly apart, and the probability of three words at every time."""
    words, probabilities = results.motion(inputs)
    figure, ((left, right),) = style.grid(1, 2, 2.3, gridspec_kw={"width_ratios": [1.9, 1.0]})
    left.axis("off")
    columns = sorted({round(at) for at in np.linspace(0.0, len(words) - 1.0, TIMES)}) if words else []
    for column, time in enumerate(columns):
        at = (column + 0.02) / len(columns)
        left.text(at, 1.0, f"time {time}", transform=left.transAxes, va="top", fontsize=7.5, weight="bold")
        left.text(at, 0.9, "\n".join(words[time]), transform=left.transAxes, va="top", fontsize=7.0, parse_math=False)
    for (word, values), line in zip(probabilities.items(), ("-", "--", ":"), strict=False):
        right.plot(range(len(values)), values, line, color=style.INK, label=word)
    right.set(xlabel="time", ylabel="probability in the topic", ylim=(0.0, None))
    style.ticks(right.xaxis, columns)
    if probabilities:
        right.legend(frameon=False, fontsize=7.0)
    return figure
