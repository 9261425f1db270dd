"""PLSA beside latent semantic analysis, in numbers."""

from typing import TYPE_CHECKING

from artifact.contrasts.contrast import MODELS
from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann import results
from artifact.typesetting import latex
from artifact.typesetting.scorecard import Statement

if TYPE_CHECKING:
    import pandas as pd

TOPICS = (8, 128)  # numbers of dimensions shown before the largest; of LSA's further readings only the second

# statements of the source, and the finding of our contrasts if they are right
STATEMENTS = (
    Statement("Tempered PLSA beats a unigram model,", "tem-unigram", "above"),
    Statement("than LSA at its best,", "tem-lsa-best", "above", differs="not on the pairs"),
    Statement("than LSA with as many dimensions,", "tem-lsa", "above", differs="pairs: few only; Medline: many only"),
    Statement("and than PLSA with early stopping.", "tem-early", "above"),
    Statement("More dimensions never hurt it.", "tem-overfits", f"<{2.0 * MODELS.value:g}"),
    Statement(
        "Inverse is as good as careful annealing,",
        "heating",
        f">-{MODELS.value:g}",
        differs="not on its coarser schedule",
    ),
    Statement("and 10 to 50 times faster.", "heating-iterations", "above", differs="intervals too wide"),
)


def evaluations(inputs: Inputs) -> str:
    """Return perplexities of every model by every evaluation, at some numbers of dimensions and the largest."""
    head = r"""
 & & & \multicolumn{2}{c}{Hofmann's} & \multicolumn{2}{c}{predictive} & half & \multicolumn{2}{c}{marginal likelihood}\\
\cmidrule(lr){4-5}\cmidrule(lr){6-7}\cmidrule(l){9-10}
corpus & model & $K$ & held out & folded in & flat & chosen & folding-in & flat & chosen\\"""
    rows: list[latex.TableRow] = []
    for corpus in results.measured_corpora(inputs):
        rows.append(latex.ADDLINESPACE)
        for model in (*results.UNIGRAMS, results.COUNTS, *results.READINGS, results.EARLY, results.HEATED):
            columns = [
                results.curve(inputs, corpus, (model[0], model[1] + end), name) for name, end, _ in results.EVALUATIONS
            ]
            topics = columns[0].index
            shown = {*TOPICS[1 if model in results.READINGS[1:] else 0 :], *topics[-1:]}
            for k in sorted(shown.intersection(topics)):
                names = [latex.corpus_name(corpus), latex.escape(results.NAMES[model]), latex.integer(k or None)]
                rows.append([*names, *(_cell(column, k) for column in columns)])
    return latex.tabular(inputs, "@{}llrrrrrrrr@{}", head, rows[1:])


def _cell(means: "pd.DataFrame", topics: int) -> str:
    hidden = topics in means.index and not means.loc[topics, "shown"]
    return latex.NOT_SHOWN if hidden else latex.perplexity(means["perplexity"].get(topics))
