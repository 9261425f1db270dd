"""Welling et al.'s tables: Table 1, the family of models of section 3, and other settings."""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.macros import prior_in_words
from artifact.papers.welling.results import lda_variants
from artifact.results.reading import REPORTED_CHAINS
from artifact.study.study import Run
from artifact.typesetting import latex, table
from artifact.typesetting.scorecard import Statement
from heldout.evaluators import FOLDING_IN
from heldout.models import LDA, PLSA
from heldout.models.gaussian_mixture import GaussianMixture, KMeans
from heldout.models.hmm import HMM
from heldout.models.ica import ICA
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.pca import PCA
from heldout.models.vem import Family

if TYPE_CHECKING:
    import pandas as pd

# statements of the source, and the finding of our contrasts if they are right
STATEMENTS = (
    Statement("Full folding-in improves with each K.", "full-more-topics", "above"),
    Statement("Half folding-in overfits on short texts,", "half-overfits", "above", ("cranfield", "medline")),
    Statement("and not on long ones.", "half-overfits", "within", ("nips",)),
    Statement("Half folding-in has higher perplexities.", "full-half", "above"),
    Statement("EM and variational EM are alike.", "vem-half", "within", differs="not with many"),
    Statement("Tempering brings no advantage.", "tempering", "within", differs="it does on abstracts"),
    Statement("LDA is generally better than PLSA,", "lda-plsa-half-best", "above", parts="priors"),
    Statement("and than EPCA.", "lda-epca-half-best", "above", parts="priors"),
    Statement("EPCA is similar to PLSA.", "epca-plsa-half-best", "within", differs="worse on NIPS"),
    Statement("Folded in, a topic per word looks best,", "word-topics", "above"),
    Statement("and normalised it does not.", "word-topics-normalised", "below", differs="too wide an interval"),
    Statement("Without unit columns ICA collapses.", "ica", "above", ("free columns",)),
)


def corpora(inputs: Inputs) -> str:
    """Return the corpora's sizes, the sizes that the original printed, and the differences."""
    rows: list[latex.TableRow] = [*table.corpora(inputs).latex()]
    if len(rows) > len(inputs.settings.corpora):  # more than the study's own
        rows.insert(len(inputs.settings.corpora), latex.ADDLINESPACE)
    return latex.tabular(
        inputs,
        "@{}lrrrrrrrr@{}",
        r"""
& \multicolumn{2}{c}{training + test} & \multicolumn{3}{c}{vocabulary} & \multicolumn{3}{c}{mean length}\\
\cmidrule(lr){2-3}\cmidrule(lr){4-6}\cmidrule(l){7-9}
corpus & here & source & here & source & diff. & here & source & diff.\\
""",
        rows,
    )


_SIMPLEX = r"h \in \Delta_{K-1}"
_TOPICS = r"\prod_w [Wh]_w^{n_w}"

FAMILIES: tuple[Family, ...] = (
    *(model.family for model in (GaussianMixture, KMeans, HMM, MultinomialMixture, PCA, ICA, NMF)),
    Family("PLSA-VEM", "continuous", _SIMPLEX, _TOPICS, "3.20--3.24"),
    Family("PLSA-HOF", "continuous", _SIMPLEX, _TOPICS, "section 3.4"),
    Family("PLSA-TEM", "continuous", _SIMPLEX, _TOPICS, "section 5"),
    Family("EPCA", "continuous", r"h \in \mathbb{R}^K", r"\prod_w \mathrm{softmax}(Wh)_w^{n_w}", "3.25--3.28"),
    Family("LDA", "continuous", rf"{_SIMPLEX},\ \mathrm{{Dirichlet}}", _TOPICS, "5.38, 5.39", posterior="samples"),
)


def models(inputs: Inputs) -> str:
    """Return the family of models: latent variables, conditionals, and the entropy that point posteriors drop.

    A rule divides discrete from continuous latent variables.
    """
    return latex.tabular(
        inputs,
        "@{}lllllll@{}",
        r"""
& & & & \multicolumn{2}{c}{point posterior} & \\
\cmidrule(lr){5-6}
model & latent & $h$ & $p(x \mid h)$ & entropy & bound & source\\
""",
        _models(),
    )


def _models() -> Iterator[latex.TableRow]:
    for previous, family in zip((None, *FAMILIES), FAMILIES, strict=False):
        if previous is not None and previous.latent != family.latent:
            yield r"\midrule"
        yield model_row(family)


def model_row(family: Family) -> list[str]:
    """Return a model's cells; the entropy in nats."""
    if family.posterior == "samples":
        dropped = [r"\multicolumn{2}{c}{none: $h$ is sampled}"]
    else:
        dropped = ["$0$" if family.bounds else r"$-\infty$", "yes" if family.bounds else "no"]
    cells = [family.name, family.latent, f"${family.latent_symbol}$", f"${family.conditional}$", *dropped]
    return [*cells, family.equations]


def alternatives(inputs: Inputs) -> str:
    """Return the effect of other settings: median and range of their perplexity over the chosen ones', less one."""
    study = inputs.settings

    def runs(corpus: str, model: str, variant: str, topics: Sequence[int], seeds: Sequence[int]) -> list[Run]:
        return [Run(corpus, model, variant, k, seed) for k in topics for seed in seeds]

    _, topics, seeds = study.alternative_grid
    compared: dict[tuple[str, str], list[tuple[list[Run], list[Run]]]] = {}  # runs of ours and others, by corpus
    for other in study.alternatives:
        what = ", ".join(
            f"{'' if part == 'train' else 'folding in: '}{latex.wording(name.replace('_', ' '))} {latex.setting(value)}"
            for (part, name), value in other.changes.items()
        )
        place, main = (other.corpus, other.model), study.variant(other.model)
        ours, changed = (runs(*place, variant, topics, other.seeds) for variant in (main, other.variant))
        compared.setdefault((other.model, what), []).append((ours, changed))
    for corpus in study.alternative_corpora:
        for model in (PLSA, LDA):
            ours, changed = (
                runs(c, model, study.variant(model), topics, seeds) for c in (corpus.partition("-")[0], corpus)
            )
            compared.setdefault((model, "words not stemmed"), []).append((ours, changed))
    compared[PLSA, "constant added at every M step"] = [
        (list(study.main_runs(corpus, PLSA)), list(study.second_reading_runs(corpus))) for corpus in study.corpora
    ]
    for variant in lda_variants(inputs)[1:]:
        grid = (study.topics_of(LDA), study.seeds_of(LDA))
        compared[LDA, prior_in_words(inputs, variant)] = [
            (runs(corpus, LDA, study.variant(LDA), *grid), runs(corpus, LDA, variant, *grid))
            for corpus in study.corpora
        ]
    rows = [[latex.escape(model.upper()), what, *_changes(inputs, pairs)] for (model, what), pairs in compared.items()]
    head = r"model & other setting & full folding-in & half folding-in\\"
    return latex.tabular(inputs, r"@{}lP{0.28\linewidth}rr@{}", head, rows)


def _changes(inputs: Inputs, pairs: Sequence[tuple[Sequence[Run], Sequence[Run]]]) -> list[str]:
    """Return other / ours - 1 by either way to fold in, at the same topics, seed and constant; a dash for none."""
    keys = ["topics", "seed", "smoothing", "evaluator"]
    merged = [_perplexities(inputs, ours).merge(_perplexities(inputs, other), on=keys) for ours, other in pairs]
    cells = []
    for evaluator in FOLDING_IN:
        rows = [both[both["evaluator"] == evaluator] for both in merged]
        ratios = [ratio for one in rows for ratio in (one["perplexity_y"] / one["perplexity_x"] - 1.0).tolist()]
        values = [ratio for ratio in ratios if math.isfinite(ratio)]
        words = [latex.signed_percent(summary(values)) for summary in (statistics.median, min, max)] if values else []
        cells.append(f"{words[0]} ({words[1]} to {words[2]})" if words else latex.DASH)
    return cells


def _perplexities(inputs: Inputs, runs: Sequence[Run]) -> "pd.DataFrame":
    """Return the reported scores of some runs of one variant."""
    table = inputs.scores[inputs.scores["chain"].isin(REPORTED_CHAINS)]
    for column in ("corpus", "model", "variant"):
        table = table[table[column].isin({getattr(run, column) for run in runs})]
    cells = {(run.topics, run.seed) for run in runs}
    return table[np.array([cell in cells for cell in zip(table["topics"], table["seed"], strict=True)], dtype=bool)]
