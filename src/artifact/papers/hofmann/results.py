r"""Results for Hofmann's perplexity experiment (1999, section 3.6 and Figure 5), and other scores of the same tokens.

His score is that of a document-specific unigram: each document's tokens are divided, p(w | d) is fitted to one part n,
and another part n' scores it, exp(-sum_{d,w} n'(d, w) log p(w | d) / sum n'). Topics and p(z | d) have seen the
document, so a further dimension is judged by documents that it was fitted to. Four other scores of the tokens n' are
computed. Full folding-in, as Welling et al. (2008) read him, fits p(z | d) to n and n' together. Half folding-in treats
n' as a new document: theta is fitted to one half of it, the other half is scored. The truth is the likelihood of all of
n' under a Dirichlet prior. The posterior predictive p(n' | n, phi, alpha) is the true counterpart of his score: theta
given n is integrated out instead of fixed at a point.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from artifact.contrasts.estimates import LEFT_OUT, per_token
from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.experiments import latent_semantic_analysis, tempering
from artifact.papers.hofmann.experiments.latent_semantic_analysis import (
    BY_DOCUMENT,
    CLIPPED,
    COSINE,
    EVALUATOR,
    GEOMETRIC,
    LIKELIEST,
    LSA,
    SHIFTED,
    SMOOTHED,
    UNIGRAM,
)
from artifact.results.reading import TRUTH, printable, select, with_truth
from heldout.errors import InputError
from heldout.evaluators import HALF
from heldout.models import PLSA, TEM

if TYPE_CHECKING:
    import pandas as pd

Model = tuple[str, str]  # model, variant

TEMPERING = "tempering"
EARLY, HEATED, COOLED = (PLSA, tempering.EARLY), (TEM, tempering.INVERSE), (TEM, tempering.ANNEALING)
FINE_HEATED, COARSE_COOLED = (TEM, tempering.FINE_INVERSE), (TEM, tempering.COARSE_ANNEALING)
READINGS = tuple(
    (LSA, variant) for variant in (CLIPPED, SHIFTED, COSINE, GEOMETRIC)
)  # readings of LSA, the main one first
UNIGRAMS = ((UNIGRAM, SMOOTHED), (UNIGRAM, LIKELIEST))  # unigrams of all documents together
COUNTS = (UNIGRAM, BY_DOCUMENT)
VALIDATED = f"-{tempering.VALIDATED}"  # end of variants' names under the prior that validation tokens choose
SPECIFIC, PREDICTIVE = EVALUATOR, tempering.PREDICTIVE
FOLDED_IN = latent_semantic_analysis.FOLDED_IN

# Hofmann (1999), Figure 5: labelled perplexities of (a), and the ranks of its caption
AXIS = (1000, 1500, 2000, 2500, 3000)
PUBLISHED_RANK, PUBLISHED_PAIRS_RANK = 1033, 1674
SPEED_UP = (10.0, 50.0)  # factors of section 3.6

NAMES = {
    EARLY: "PLSA, early stopping",
    HEATED: "PLSA, TEM",
    FINE_HEATED: "PLSA, TEM, fine",
    COOLED: "PLSA, annealed",
    COARSE_COOLED: "PLSA, annealed, coarse",
    READINGS[0]: "LSA, clipped",
    READINGS[1]: "LSA, shifted",
    READINGS[2]: "LSA, cosines",
    READINGS[3]: "LSA, cosines, geometric",
    UNIGRAMS[0]: "unigram, smoothed",
    UNIGRAMS[1]: "unigram",
    COUNTS: "own counts + unigram",
}
# evaluator, end of the variant, name
EVALUATIONS = (
    (SPECIFIC, "", "Hofmann's"),
    (FOLDED_IN, "", "fully folded in"),
    (PREDICTIVE, "", "predictive, flat prior"),
    (PREDICTIVE, VALIDATED, "predictive, chosen prior"),
    (HALF, "", "half folding-in"),
    (TRUTH, "", "likelihood, flat prior"),
    (TRUTH, VALIDATED, "likelihood, chosen prior"),
)


def selector(model: Model, evaluator: str = SPECIFIC) -> dict[str, object]:
    """Return the values of columns that choose a model's scores by one evaluator."""
    return {"model": model[0], "variant": model[1], "evaluator": evaluator}


@lru_cache(maxsize=1)  # the inputs at hand
def scores(inputs: Inputs) -> "pd.DataFrame":
    """Return the scores of Hofmann's experiment, the truth among them.

    LSA's largest number of dimensions is the rank of the counts that a seed trains on: all seeds' stand at the largest
    of them.
    """
    variants = tuple({variant for _, variant in NAMES})  # names, and beginnings of longer ones
    rows = with_truth(inputs.scores[inputs.scores["variant"].str.startswith(variants)])
    lsa, topics = rows[rows["model"] == LSA], rows["topics"].copy()
    full = lsa["topics"] == lsa.groupby(["corpus", "seed"])["topics"].transform("max")
    topics.update(lsa.groupby("corpus")["topics"].transform("max")[full])
    return rows.assign(topics=topics)


def points(
    inputs: Inputs, corpora: Sequence[str], models: Sequence[Model], evaluator: str = SPECIFIC, *, whole: bool = False
) -> "pd.DataFrame":
    """Return models' scores as "corpus", "topics", "seed", "value", "error" and groups, nats per token, sorted.

    With `whole` the seeds are left out that stop at fewer dimensions than others of their corpus.
    """
    import pandas as pd

    rows = scores(inputs)
    place = {"corpus": tuple(corpora)}
    parts = [per_token(select(rows, **place, **selector(model, evaluator))) for model in models]
    table = pd.concat(parts)
    table = table[[name for name in ("corpus", "topics", "seed", "value", "error", *LEFT_OUT) if name in table]]
    if whole:
        ends = table.groupby(["corpus", "seed"])["topics"].transform("max")
        table = table[ends == table.groupby("corpus")["topics"].transform("max")]
    return table.sort_values(["corpus", "topics", "seed"], ignore_index=True)


def whole_seeds(inputs: Inputs, corpus: str) -> set[int]:
    """Return the seeds that have tempered EM's largest number of dimensions; other seeds stop at fewer."""
    return set(points(inputs, [corpus], [HEATED], whole=True)["seed"])


def curve(inputs: Inputs, corpus: str, model: Model, evaluator: str = SPECIFIC) -> "pd.DataFrame":
    """Return an evaluator's means over seeds by number of dimensions, ascending.

    Returns:
        "value", nats per token, over the seeds with the whole grid, so that it is comparable between numbers of
        dimensions; its standard "error" over these; its "perplexity"; "least" and "most", the perplexities of any
        seed; and "shown", whether an exhibit shows it (`artifact.results.reading.printable`).
    """
    rows = points(inputs, [corpus], [model], evaluator)
    rows = rows.assign(perplexity=np.exp(-rows["value"].astype(float)))
    ends = rows.groupby("topics")["perplexity"].agg(least="min", most="max")
    by_topics = rows[rows["seed"].isin(whole_seeds(inputs, corpus))].groupby("topics")["value"]
    means = by_topics.agg(["mean", "sem"]).rename(columns={"mean": "value", "sem": "error"})
    shown = printable(rows, ["topics"]) | (evaluator != TRUTH)
    return means.assign(perplexity=np.exp(-means["value"].astype(float))).join(ends).join(shown.rename("shown"))


@lru_cache(maxsize=8)
def rank(inputs: Inputs, corpus: str) -> int:
    """Return the rank of the training counts, LSA's largest; 0 if LSA was not run."""
    return max(curve(inputs, corpus, READINGS[0]).index, default=0)


def run_corpora(inputs: Inputs) -> list[str]:
    """Return the corpora on which tempered EM was run, in the experiment's order."""
    corpora = inputs.settings.experiment(TEMPERING).get("corpora", ())
    return [corpus for corpus in corpora if len(points(inputs, [corpus], [HEATED]))]


def measured_corpora(inputs: Inputs) -> list[str]:
    """Return the corpora on which tempered EM was run, in the experiment's order.

    Raises:
        InputError: if there is none.
    """
    corpora = run_corpora(inputs)
    if not corpora:
        raise InputError(f"Hofmann's experiment: there are no scores of tempered EM; measure {TEMPERING}")
    return corpora
