"""Every exhibit of a small study: made, the same bytes twice, marked where synthetic."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from small_study import MAIN, SECOND, corpora_table, inputs, score_rows, small_study

from artifact.contrasts.effect import write_effects
from artifact.contrasts.inputs import Inputs
from artifact.papers import EXHIBITS as OF_PAPERS
from artifact.papers import PAPERS
from artifact.results.scores import COLUMNS
from artifact.results.timings import COLUMNS as TIMINGS
from artifact.study.manifest import kind
from artifact.study.study import Run
from artifact.typesetting import exhibits, style
from artifact.typesetting.exhibits import make
from heldout.errors import InputError

EXHIBITS = exhibits.exhibits(PAPERS, small_study())
ALL = list(EXHIBITS)
KEPT = (
    "law",
    "validation",
    "prior-share",
    "same-halves",
    "long-chains",
    "newsgroups",
    "packages",
)  # of kept studies' results, with tests of their own
# one exhibit per function; figures of other corpora are drawn by the same
ONE_EACH = [name for name in ALL if EXHIBITS[name].corpus in (None, 1)]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]


def test_the_small_study_has_every_exhibit() -> None:
    kept = {name for name in OF_PAPERS if name.partition("-")[2].startswith(KEPT)}
    assert set(ALL) == {*OF_PAPERS, *exhibits.SHARED} - kept


@pytest.mark.parametrize("name", [name for name in ONE_EACH if kind(name) == "figure"])
def test_figures_are_made_whole_bear_no_date_and_say_in_every_panel_that_data_are_synthetic(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the same inputs give the same bytes is seen on whole documents (tests/dag) and in the next test."""
    # outlines of the letters used: to cut fonts, as figures do, takes twice the time of all else (the next test does)
    monkeypatch.setitem(style._SETTINGS, "pdf.fonttype", 3)
    drawn: list[Figure] = []
    save = style.save

    def save_and_keep(one: Figure, path: Path) -> None:
        drawn.append(one)
        save(one, path)

    monkeypatch.setattr(style, "save", save_and_keep)
    path = tmp_path / "made"
    make(name, inputs(synthetic=True), path)
    assert len(path.read_bytes()) > 200
    assert path.read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    (one,) = drawn
    panels = [axis for axis in one.axes if axis.get_label() != "<colorbar>"]
    assert [[text.get_text() for text in axis.texts].count(style.SYNTHETIC_MARK) for axis in panels] == [1] * len(
        panels
    )


def test_another_process_with_another_configuration_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nfont.size: 20\n")
    make("figure-4", inputs(), tmp_path / "here.pdf")
    # pinned as every job is: kernels for another target would be compiled first
    code = "from heldout.processor import pin; pin(); import sys; from pathlib import Path;"
    code += "from small_study import inputs;"
    code += "from artifact.typesetting.exhibits import make; make('figure-4', inputs(), Path(sys.argv[1]))"
    environment = {
        "MATPLOTLIBRC": str(tmp_path),
        "MPLCONFIGDIR": "/nonexistent/heldout",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2] / "made"), *sys.path]),
    }
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "there.pdf")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "there.pdf").read_bytes() == (tmp_path / "here.pdf").read_bytes()


def figure(name: str, of: Inputs) -> Figure:
    exhibit = EXHIBITS[name]
    arguments = () if exhibit.corpus is None else (of.settings.corpora[exhibit.corpus],)
    with style.applied():
        drawn = exhibit.make(of, *arguments)
    assert isinstance(drawn, Figure)
    return drawn


@pytest.mark.parametrize("name", [name for name in ALL if kind(name) == "table"])
def test_tables_say_that_data_are_synthetic(name: str, tmp_path: Path) -> None:
    make(name, inputs(synthetic=True), tmp_path / name)
    assert "SYNTHETIC DATA" in (tmp_path / name).read_text()


@pytest.mark.parametrize("name", ["table-1", "table-best-topics", "table-optimism"])
def test_exhibits_of_real_data_have_no_mark(name: str, tmp_path: Path) -> None:
    make(name, inputs(), tmp_path / name)
    assert "SYNTHETIC DATA" not in (tmp_path / name).read_text()
    assert style.SYNTHETIC_MARK not in texts(figure("figure-4", inputs()))


def test_a_study_of_one_corpus_has_no_figures_of_others(tmp_path: Path) -> None:
    study = small_study(corpora={"own_corpus": {"test_documents": 4}}, table_1_also=[])
    study["beyond_vocabulary"] = {"corpus": "own_corpus", "topics": [50], "seeds": [0]}
    study["alternatives"] = {"corpus": "own_corpus", "corpora": [], "topics": [5], "seeds": [0], "variants": {}}
    study["smoothing_in_m_step"] = {"seeds": []}
    for asked in study["measures"].values():
        if set(asked["corpora"]) <= {"cranfield", "medline", "nips"}:  # others draw their own documents
            asked["corpora"] = ["own_corpus"]
    made = exhibits.exhibits(PAPERS, study)
    others = {f"figure-{n}{second}" for n in (2, 3, 5, 6, 8, 9) for second in ("", "b")}
    assert set(made) == set(EXHIBITS) - others - {"figure-4b"}
    given = inputs(study)
    for name in made:
        if kind(name) != "figure":
            make(name, given, tmp_path / name)
        elif not EXHIBITS[name].shows:  # which is of no corpus of the study's own
            figure(name, given)
    with pytest.raises(InputError, match="figure-5: the study small does not have it"):
        make("figure-5", inputs(study), tmp_path / "figure-5")
    assert not (tmp_path / "figure-5").exists()


def test_an_unknown_exhibit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exhibit figure-44: the study small does not have it"):
        make("figure-44", inputs(), tmp_path / "figure-44.pdf")
    assert list(tmp_path.iterdir()) == []


def test_paths_and_what_exhibits_stand_on() -> None:
    study = small_study()

    def stands_on(name: str) -> tuple[Run, ...]:
        return exhibits.stands_on(EXHIBITS[name], study)

    assert exhibits.path("figure-4b", "small") == "figures/small/figure-4b.pdf"
    assert exhibits.path("macros", "small") == "paper/generated/small/macros.tex"
    assert exhibits.corpora_of(EXHIBITS["figure-8"], study) == ("medline",)
    assert set(stands_on("figure-4")) == {Run("cranfield", "plsa-hof", MAIN, k, s) for k in (2, 5, 10) for s in (0, 1)}
    assert set(stands_on("figure-5b")) == {Run("medline", "plsa-hof", SECOND, k, 0) for k in (2, 5, 10)}
    assert {run.topics for run in stands_on("figure-beyond")} == {2, 5, 10, 50}
    assert {run.model for run in stands_on("figure-9")} == {"plsa-hof", "epca", "lda"}
    assert stands_on("table-1") == ()
    everything = set(stands_on("macros"))
    assert all(set(stands_on(name)) <= everything for name in ALL)
    # the study's scores are those that the exhibits stand on, and no others
    rows = [row for row in score_rows(study) if row[1] != "word-topics"]  # which a measurement reports
    scores = {Run(row[0], row[1], row[2], row[3], row[8]) for row in rows}
    assert scores - everything == set()
    unscored = {"tempered", *study["measures"]}  # what is reported under another name, or measured
    assert {run for run in everything - scores if run.model != "lda" and run.variant not in unscored} == set()


def timings(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(TIMINGS))


def test_a_number_leads_to_the_exhibits_that_a_typeset_document_shows_under_it(tmp_path: Path) -> None:
    labels = (("figure-4", "9"), ("figure-6", "9"), ("table-1", "9"), ("figure-5", "S9"))
    written = "".join(rf"\newlabel{{exhibit:{name}}}{{{{{number}}}{{14}}{{}}}}" + "\n" for name, number in labels)
    (tmp_path / "paper.aux").write_text(written)
    assert exhibits.numbered("figure", "9", tmp_path) == ["figure-4", "figure-6"]
    assert exhibits.numbered("table", "9", tmp_path) == ["table-1"]
    assert exhibits.numbered("figure", "S9", tmp_path) == ["figure-5"]
    with pytest.raises(InputError, match=r"no table 1 "):
        exhibits.numbered("table", "1", tmp_path)


def test_inputs_are_read_from_their_files(tmp_path: Path) -> None:
    given = inputs(synthetic=True)
    assert given.measurements is not None
    assert given.notes is not None
    (tmp_path / "study.json").write_text(json.dumps(given.study))
    given.scores.to_csv(tmp_path / "scores.csv", index=False, na_rep="nan")
    given.corpora.to_csv(tmp_path / "corpora.csv", index=False)
    timings(("fetch", "x", "", "", "", "", 1.0, "", "")).to_csv(tmp_path / "timings.csv", index=False)
    measured = tmp_path / "measurements.csv.gz"
    given.measurements.to_csv(measured, index=False)
    given.notes.to_csv(noted := tmp_path / "notes.csv", index=False)
    write_effects(effects := tmp_path / "effects.csv", [effect for own in given.effects.values() for effect in own])
    files = [tmp_path / name for name in ("study.json", "scores.csv", "corpora.csv")]
    tables = {"measurements": measured, "notes": noted, "effects": effects}
    timed = [tmp_path / "timings.csv", tmp_path / "more.csv"]
    timings(*(("fetch", name, "", "", "", "", 2.0, "", "") for name in "xy")).to_csv(timed[1], index=False)
    read = Inputs.read(*files, commit="abc", date="2001-02-03", papers=PAPERS, timings=timed, **tables)
    assert read.settings.smoothing == (1e-10, 1e-4, 1e-1)
    assert read.settings.setting("plsa-hof", "fold_in", "tolerance") == 1e-4
    assert read.synthetic()
    assert read.timings is not None
    assert read.timings["seconds"].tolist() == [1.0, 2.0]  # the first where both have a job
    assert read.timings["memory_mb"].isna().all()
    make("macros", read, tmp_path / "read.tex")
    there = replace(given, commit="abc", versions=read.versions, timings=read.timings)
    make("macros", there, tmp_path / "made.tex")
    assert (tmp_path / "read.tex").read_text() == (tmp_path / "made.tex").read_text()


@pytest.mark.parametrize("file", ["study.json", "corpora.csv", "timings.csv"])
def test_an_unreadable_input_is_named(tmp_path: Path, file: str) -> None:
    study = small_study()
    (tmp_path / "study.json").write_text(json.dumps(study))
    pd.DataFrame(score_rows(study), columns=list(COLUMNS)).to_csv(tmp_path / "scores.csv", index=False)
    corpora_table(study, synthetic=True).to_csv(tmp_path / "corpora.csv", index=False)
    (tmp_path / "timings.csv").write_text(",".join(timings().columns) + "\n")
    (tmp_path / file).write_text("nonsense\n")
    files = [tmp_path / name for name in ("study.json", "scores.csv", "corpora.csv")]
    with pytest.raises(InputError, match=file):
        Inputs.read(*files, timings=[tmp_path / "timings.csv"])
