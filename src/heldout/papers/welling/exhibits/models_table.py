"""The family of section 3 as a table: latent variables, conditionals, and what point posteriors drop."""

from heldout.inputs import Inputs
from heldout.models.gaussian_mixture import GaussianMixture, KMeans
from heldout.models.hmm import HMM
from heldout.models.ica import ICA
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.pca import PCA
from heldout.models.vem import Family
from heldout.typesetting import latex

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

_HEAD = r"""\begin{tabular}{@{}lllllll@{}}
\toprule
& & & & \multicolumn{2}{c}{point posterior} & \\
\cmidrule(lr){5-6}
model & latent & $h$ & $p(x \mid h)$ & entropy & bound & source\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"
_COLUMNS = 7


def render(inputs: Inputs) -> str:
    """Return the table's tabular environment; a rule divides discrete from continuous latent variables."""
    body = ""
    for before, family in zip((None, *FAMILIES), FAMILIES, strict=False):
        if before is not None and before.latent != family.latent:
            body += "\\midrule\n"
        body += row(family) + "\\\\\n"
    return _HEAD + latex.synthetic_mark(inputs, columns=_COLUMNS) + body + _FOOT


def row(family: Family) -> str:
    """Return a model's cells; the entropy in nats."""
    if family.posterior == "samples":
        dropped = [r"\multicolumn{2}{c}{none: $h$ is sampled}"]
    else:
        dropped = ["$0$" if family.entropy == 0.0 else r"$-\infty$", "yes" if family.bounds else "no"]
    cells = [family.name, family.latent, f"${family.latent_symbol}$", f"${family.conditional}$", *dropped]
    return " & ".join([*cells, family.equations])
