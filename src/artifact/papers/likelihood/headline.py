"""The numbers on which the paper stands: a run's are held to the committed ones (`artifact.verify`)."""

import math

from artifact.contrasts.effect import Effect
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import prior_share
from artifact.typesetting import latex

LARGE, CORPORA = "K = 800", ("cranfield", "medline", "nips")
(TODAY,) = prior_share.TODAY
# contrast, corpus and part of each
NUMBERS = (
    *(("gap-plsa", corpus, LARGE) for corpus in CORPORA),
    ("gap-plsa", TODAY, "K = 400"),
    *(("gap-plsa-fitted", corpus, LARGE) for corpus in CORPORA),
    *(("gap-lda", corpus, LARGE) for corpus in CORPORA),
    *(("share-fitted", corpus, "K = 400") for corpus in CORPORA),
    *(("choice-full-beside-flat", corpus, "PLSA, fitted prior") for corpus in (*CORPORA, TODAY)),
    *(("lda-plsa-best", corpus, "") for corpus in CORPORA),
    *(("half-overfits", corpus, "") for corpus in CORPORA),
    *(("reference-exact", corpus, "") for corpus in CORPORA),
    ("plsa-overfits-flat", "cranfield", ""),
    ("lr-lrs", "drawn", "10,000 samples"),
    ("limit", "none", "LRS, K = 4"),
    ("drawn-laplace-softmax", "s10", "K = 10"),
)


def table(inputs: Inputs) -> str:
    """Return the numbers by contrast and corpus, in the unit of each; drawn documents have the last column."""
    columns = (*CORPORA, TODAY, "drawn")
    rows: dict[str, dict[str, Effect]] = {}
    for name, corpus, part in NUMBERS:
        for effect in inputs.effects.get(name, ()):
            if (effect.corpus, effect.part) == (corpus, part):
                rows.setdefault(name, {})[corpus if corpus in columns else "drawn"] = effect
    head = " & ".join(["contrast", *map(latex.corpus_title, columns[:-1]), "drawn"])
    cells = [
        [
            rf"\texttt{{{name}}}",
            *(_decimal(row[column]) if column in row else "" for column in columns),
        ]
        for name, row in rows.items()
    ]
    return latex.tabular(inputs, "@{}lrrrrr@{}", rf"{head}\\", cells)


def _decimal(effect: Effect) -> str:
    value = math.exp(effect.estimate) if effect.factor else effect.estimate
    return latex.typeset(f"{value:.4f}".replace("-0.0000", "0.0000"))
