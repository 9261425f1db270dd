"""The table of the family: a row per model, which says what its class says."""

from small_study import inputs

from heldout.models.hmm import HMM
from heldout.models.pca import PCA
from heldout.papers.welling.exhibits.models_table import FAMILIES, render, row


def test_every_row_has_its_cells() -> None:
    table = render(inputs())
    body = table.split("\\midrule\n", 1)[1].split("\\bottomrule")[0]
    lines = [line for line in body.splitlines() if line != "\\midrule"]
    assert len(lines) == len(FAMILIES) == len({family.name for family in FAMILIES})
    for line, family in zip(lines, FAMILIES, strict=True):
        cells = line.removesuffix("\\\\").split(" & ")
        assert cells[:2] == [family.name, family.latent]
        assert cells[-1] == family.equations
        assert len(cells) + line.count("multicolumn{2}") == 7
    assert body.count("\\midrule") == 1
    assert table.count("$") % 2 == 0
    assert table.count("{") == table.count("}")


def test_the_cells_follow_from_the_classes() -> None:
    assert "$0$ & yes" in row(HMM.family)
    assert r"$-\infty$ & no" in row(PCA.family)
    (lda,) = (family for family in FAMILIES if family.posterior == "samples")
    assert lda.name == "LDA"
    assert "sampled" in row(lda)
    assert "infty" not in row(lda)


def test_the_whole_family_is_there() -> None:
    names = {family.name for family in FAMILIES}
    assert {"PCA", "ICA", "NMF", "PLSA-HOF", "PLSA-VEM", "PLSA-TEM", "EPCA", "LDA", "K-means"} <= names
