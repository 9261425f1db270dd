"""Table 1, and the family of models, whose rows say what their classes say."""

from pathlib import Path

from small_study import inputs

from artifact.papers.welling.tables import FAMILIES, model_row, models
from artifact.typesetting.exhibits import make
from heldout.models.hmm import HMM
from heldout.models.pca import PCA


def test_every_row_has_its_cells() -> None:
    table = models(inputs())
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
    assert model_row(HMM.family)[4:6] == ["$0$", "yes"]
    assert model_row(PCA.family)[4:6] == [r"$-\infty$", "no"]
    (lda,) = (family for family in FAMILIES if family.posterior == "samples")
    assert lda.name == "LDA"
    cells = " & ".join(model_row(lda))
    assert "sampled" in cells
    assert "infty" not in cells


def test_the_whole_family_is_there() -> None:
    names = {family.name for family in FAMILIES}
    assert {"PCA", "ICA", "NMF", "PLSA-HOF", "PLSA-VEM", "PLSA-TEM", "EPCA", "LDA", "K-means"} <= names


def test_table_1_shows_differences_of_both_signs(tmp_path: Path) -> None:
    make("table-1", inputs(), tmp_path / "table.tex")
    (line,) = [line for line in (tmp_path / "table.tex").read_text().splitlines() if line.startswith("Medline")]
    assert line.count("9 + 4") == 2
    assert r"40 & 50 & \ensuremath{-20.0}\,\%" in line
    assert r"10.0 & 8.0 & \ensuremath{+25.0}\,\%" in line


def test_table_1_has_dashes_for_a_corpus_without_published_sizes(tmp_path: Path) -> None:
    own = inputs()
    for column in ("train_documents", "test_documents", "vocabulary", "mean_length"):
        own.corpora[f"published_{column}"] = float("nan")
    make("table-1", own, tmp_path / "table.tex")
    assert r"Medline & 9 + 4 & -- & 40 & -- & -- & 10.0 & -- & --\\" in (tmp_path / "table.tex").read_text()
