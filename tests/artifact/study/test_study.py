"""What a study may say, and the one line that refuses the rest."""

import copy
import csv
import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from artifact.__main__ import main
from artifact.papers import EXPERIMENTS, PAPERS, papers_of
from artifact.schema import check_study, load_study
from artifact.study import study as studies
from artifact.study.study import (
    SECOND_READING,
    SELECTION,
    Run,
    Settings,
    from_yaml,
    without_missing,
    without_unavailable,
)
from artifact.typesetting.exhibits import exhibits
from heldout.corpora.corpus import Corpus
from heldout.corpora.names import SOURCES, raw_files
from heldout.errors import InputError
from heldout.models import PLSA, TEM

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "data/reference/paper"
FOLDER = ROOT / "workflow/studies"
STUDIES = sorted(FOLDER.glob("*.yaml"))
DRAWN = ("truth", "trained")  # how variants of models on drawn corpora begin
UNREAD = "none"  # the model of an experiment that trains its own


@pytest.fixture(scope="module")
def paper() -> dict[str, Any]:
    loaded: dict[str, Any] = from_yaml((FOLDER / "paper.yaml").read_text())
    return loaded


@pytest.fixture
def study(paper: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(paper)


def test_what_the_workflow_reads_at_its_start_imports_no_numerics() -> None:
    names = "artifact.study.digest, artifact.makers, artifact.progress, artifact.schema"
    code = f"import sys, {names}; print({{'numpy', 'scipy', 'pandas', 'numba'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_shipped_studies_are_valid_and_named_after_their_files(path: Path) -> None:
    assert load_study(path, ROOT / "data")["study"] == path.stem


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("sedes",), [0], "sedes"),
        (("topics",), [5, -3], "topics/1"),
        (("topics",), [5, 5], "topics"),
        (("seeds",), [], "seeds"),
        (("models", "plsa"), {}, "models/plsa"),
        (("models", "lda", "train", "sweep"), 3, "models/lda/train/sweep"),
        (("models", "lda", "train", "beta"), 0, "models/lda/train/beta"),
        (("smoothing",), [-1e-3], "smoothing/0"),
        (("smoothing",), ["1e-3"], "smoothing/0"),
        (("corpora", "cranfeild"), {"test_documents": 9}, "corpora/cranfeild"),
        (("corpora", "none"), {"test_documents": 9}, "corpora/none"),
        (("corpora", "medline"), {"test_documents": -1}, "corpora/medline/test_documents"),
        (("beyond_vocabulary", "corpus"), "medline-like", "beyond_vocabulary/corpus"),
        (("synthetic",), None, "synthetic"),
        (("measures", "bounds"), None, "measures/bounds"),
        (("measures", "is-a-probability", "topics"), [0], "measures/is-a-probability/topics/0"),
        (("measures", "is-a-probability", "topics", "s10"), [], "measures/is-a-probability/topics/s10"),
        (("alternatives", "variants", "lda", "x"), {"train": {"betta": 1}}, "alternatives/variants/lda/x/train/betta"),
        (("alternatives", "variants", "lda", "x"), {"train": {"beta": -1}}, "alternatives/variants/lda/x/train/beta"),
        (
            ("alternatives", "variants", "lda", "x"),
            {"train": {"chains": 2}},
            "alternatives/variants/lda/x/train/chains",
        ),
        (("alternatives", "variants", "lda", "x"), {"corpus": "nisp"}, "alternatives/variants/lda/x/corpus"),
        (("models", "plsa-tem", "sweep", "values"), [0.9], "models/plsa-tem/sweep/values"),
        (("models", "lda", "also", "x"), {"seeds": [9]}, "models/lda/also/x/seeds"),
        (("alternatives", "corpora"), ["nips", "cranfield-like"], "alternatives/corpora"),
        (("topics",), [5.0], "topics/0"),
        (("seeds",), [True], "seeds/0"),
        (("seeds",), [10**30], "seeds/0"),
        (("smoothing",), [float("nan")], "smoothing/0"),
        (("realistic", "mean_length"), float("inf"), "realistic/mean_length"),
        (("study",), "paper\n", "study"),
    ],
)
def test_bad_settings_are_refused_by_key(
    study: dict[str, Any], tmp_path: Path, path: tuple[str, ...], value: Any, key: str
) -> None:
    inner = study
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    with pytest.raises(InputError, match=f"^study: at {key}: ") as caught:
        check_study(study, tmp_path)
    assert "\n" not in str(caught.value)


def test_an_imported_corpus_is_known(study: dict[str, Any], tmp_path: Path) -> None:
    study["corpora"]["mine"] = {"test_documents": 9}
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora/mine.npz").touch()
    check_study(study, tmp_path)


def test_a_study_of_ones_own_corpora_names_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpora").mkdir()
    files = [tmp_path / "corpora" / f"{name}.npz" for name in ("mine", "other")]
    for file in files:
        Corpus.from_documents(file.stem, [(f"d{d}", ["wing", "flow"]) for d in range(10)]).save(file)
    places = ["--data", str(tmp_path)]
    for template in ("demo", "paper"):
        like = str(FOLDER / f"{template}.yaml")
        assert main(["study", *map(str, files), "--like", like, *places]) == 0
        printed = capsys.readouterr().out
        assert not re.search("cranfield|medline|nips|reuters|buntine", printed)
        own = Settings(check_study(from_yaml(printed), tmp_path))
        assert (own.name, own.described, own.test_documents("other")) == ("mine", ("mine", "other"), 3)
        assert own.topics == Settings(from_yaml(Path(like).read_text())).topics
    files[0].rename(tmp_path / "corpora" / "renamed.npz")
    assert main(["study", str(tmp_path / "corpora" / "renamed.npz"), "--like", like, *places]) == 2
    assert "holds the corpus mine; import it to" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["- a\n- list\n", "study: [unclosed\n", None])
def test_an_unreadable_study_is_one_line_and_exit_code_2(
    tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.yaml"
    if text is not None:
        path.write_text(text)
    assert main(["check", str(path), "--data", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"heldout: {path}")
    assert error.count("\n") == 1


def test_libraries_that_are_not_installed_are_left_out_with_a_notice(
    study: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert without_missing(study) == (study, "")
    monkeypatch.setattr(studies, "find_spec", lambda name: None if name == "gensim" else object())
    fewer, notice = without_missing(study)
    assert fewer["measures"]["peers"]["models"] == ["scikit-learn", "tomotopy"]
    assert notice.startswith("gensim not installed: ")
    monkeypatch.setattr(studies, "find_spec", lambda _: None)
    none, notice = without_missing(study)
    assert none["measures"].keys() == study["measures"].keys() - {"peers"}
    assert notice.startswith("scikit-learn, gensim, tomotopy not installed: ")
    assert "figure-peers" in exhibits(PAPERS, study)
    assert not {"figure-peers", "table-peers"} & exhibits(PAPERS, none).keys()


def test_a_variant_may_have_some_of_the_models_seeds(study: dict[str, Any]) -> None:
    study["models"]["lda"]["also"]["sparse-prior"]["seeds"] = [0]
    own = Settings(check_study(study, ROOT / "data"))
    seeds: dict[str, set[int]] = {}
    for runs in (own.fits(), own.main_runs("cranfield", "lda")):
        for run in runs:
            if run.model == "lda":
                seeds.setdefault(run.variant, set()).add(run.seed)
    assert seeds["sparse-prior"] == {0}
    assert seeds["fitted-prior"] == seeds["collapsed-gibbs"] == set(own.seeds_of("lda"))
    assert len(own.seeds_of("lda")) > 1


def test_a_study_of_drawn_corpora_alone_is_completed_and_runs_more_seeds_where_it_says() -> None:
    own = Settings(load_study(FOLDER / "buntine.yaml", ROOT / "data"))
    assert not own.corpora
    assert not own.models
    assert not own.fits()
    asked = own.study["measures"][SELECTION]
    sizes, more = asked["settings"]["training_documents"], asked["more_seeds"]
    models = sum(len(topics) for topics in asked["topics"].values())
    runs = own.experiment_runs(SELECTION)
    assert len(runs) == models * (len(sizes) + len(more["seeds"]) * len(more["training_documents"]))
    assert Run("s40", "trained-on-40000", SELECTION, 35, 2) in runs
    assert Run("s40", "trained-on-30000", SELECTION, 35, 2) not in runs


def alone(study: dict[str, Any], part: str) -> dict[str, Any]:
    """Return the experiments of a part of a study as a study of its own."""
    measures = {kind: study["measures"][kind] for kind in study["parts"][part]["experiments"]}
    corpora = study["corpora"] | study["experiment_corpora"]
    read = {name for one in measures.values() for entry in (one, *one.get("also", ())) for name in entry["corpora"]}
    keys = {"study": part, "measures": measures, "corpora": {name: corpora[name] for name in corpora if name in read}}
    return {key: value for key, value in keys.items() if value} | {"realistic": study["realistic"]}


@pytest.mark.parametrize("part", ["hofmann", "estimators", "gap", "law"])
def test_a_part_may_be_a_study_of_its_own_without_fits(part: str, study: dict[str, Any], tmp_path: Path) -> None:
    own = check_study(alone(study, part), tmp_path)
    settings, whole = Settings(own), Settings(study)
    assert not settings.fits()
    assert not settings.documented
    assert {run.variant for run in settings.experiments()} == set(own["measures"])
    assert set(settings.experiments()) <= set(whole.experiments())
    own["measures"]["bounds"] = study["measures"]["bounds"]  # reads the models of a fit
    with pytest.raises(InputError, match="at measures/bounds: "):
        check_study({key: own[key] for key in ("study", "corpora", "measures")}, tmp_path)


def test_an_experiment_has_other_settings_where_it_says_so(study: dict[str, Any], tmp_path: Path) -> None:
    settings = Settings(check_study(study, tmp_path))
    for corpus, documents in (("cranfield", 100), ("newsgroups", 500)):
        assert settings.experiment_settings("prior-share", corpus, "none")["documents"] == documents
        assert Run(corpus, "none", "prior-share", 20, 0) in settings.experiments()
    for model, size in (("gensim", 4000), ("etm", 1000)):
        assert settings.experiment_settings("packages", "cranfield", model)["training_documents"] == size
    assert Run("reuters", "etm", "packages", 20, 0) not in settings.experiments()
    study["measures"]["prior-share"]["also"][0]["corpora"] = ["nowhere"]
    with pytest.raises(InputError, match="at measures/prior-share/corpora: nowhere"):
        check_study(study, tmp_path)


def test_a_part_names_experiments_of_the_study(study: dict[str, Any], tmp_path: Path) -> None:
    study["parts"]["gap"]["experiments"].append("gaps")
    with pytest.raises(InputError, match="at parts/gap/experiments: gaps"):
        check_study(study, tmp_path)


def test_a_study_without_a_needed_key_or_with_part_of_one_is_refused(study: dict[str, Any], tmp_path: Path) -> None:
    del study["corpora"]
    with pytest.raises(InputError, match="at corpora: "):
        check_study(study, tmp_path)
    few = {key: study[key] for key in ("study", "realistic", "measures")}
    with pytest.raises(InputError, match="at measures/"):
        check_study(few, tmp_path)


@pytest.mark.parametrize("name", ["raw", "corpora", "published", "reference"])
def test_a_study_may_not_have_the_name_of_another_folder_of_data(
    study: dict[str, Any], tmp_path: Path, name: str
) -> None:
    study["study"] = name
    with pytest.raises(InputError, match=f"at study: the name {name} is a folder of data that is no study's"):
        check_study(study, tmp_path)


def rows_of(name: str) -> Iterator[tuple[str, Run]]:
    """Yield the rows of one of the reference's tables: the rule, where it has one, and the run."""
    path = REFERENCE / name
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["seed"]:
                run = Run(row["corpus"], row["model"], row["variant"], int(row["topics"]), int(row["seed"]))
                yield row.get("rule", ""), run


@pytest.fixture(scope="module")
def shipped() -> Settings:
    return Settings(load_study(FOLDER / "paper.yaml", ROOT / "data"))


def models_read(settings: Settings) -> set[Run]:
    """Return the fits whose models experiments read; some are of fewer topics than the figures'."""
    read = {run for run in settings.experiments() if run.model in settings.models}
    return {run._replace(variant=settings.variant(run.model)) for run in read}


def test_the_runs_of_the_paper_are_those_that_its_reference_took_time_for(shipped: Settings) -> None:
    timed = list(rows_of("timings.csv"))
    fitted = {run for rule, run in timed if rule.startswith(("fit", "sweep")) and rule != "fit_truth"}
    assert fitted == set(shipped.fits()) | models_read(shipped)
    assert {run for rule, run in timed if rule == "experiment"} == set(shipped.experiments())


def test_every_fit_of_the_paper_has_scores_and_every_score_a_fit_or_an_experiment(shipped: Settings) -> None:
    scored = {run for _, run in rows_of("scores.csv")}
    measured = {run for _, run in rows_of("measurements.csv.gz")}
    swept = {
        Run(corpus, TEM, variant, k, seed)
        for corpus in shipped.corpora
        for k in shipped.topics_of(TEM)
        for seed in shipped.seeds_of(TEM)
        for variant in shipped.swept_variants(TEM)
    }
    fitted = {run for run in shipped.fits() if run.variant != shipped.variant(TEM)} | swept
    assert fitted <= scored
    # a fit is measured by experiments alone, under their names
    assert not fitted & measured
    rest = (scored | measured) - fitted
    rest = {run for run in rest if run.corpus not in SOURCES or run.variant.partition("-")[0] not in DRAWN}
    names: dict[Run, list[str]] = {}
    for run in shipped.experiments():
        names.setdefault(run._replace(variant=""), []).append(run.variant)
    # priors and other choices of an experiment are named after it
    owners = {
        run: run._replace(variant=name)
        for run in rest
        for name in names.get(run._replace(variant=""), ())
        if run.variant.startswith(name)
    }
    assert set(owners.values()) >= {run for run in shipped.experiments() if run.model != UNREAD}
    rest -= owners.keys()
    # experiments that train models of their own
    rest = {run for run in rest if not run.variant.startswith(("packages", "law")) and run.corpus != "newsgroups"}
    on_their_own = {(run.corpus, run.seed) for run in shipped.experiments() if run.model == UNREAD}
    assert {(run.corpus, run.seed) for run in rest} == on_their_own


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_runs_of_a_study_are_each_named_once_and_its_exhibits_stand_on_them(path: Path) -> None:
    settings = Settings(load_study(path, ROOT / "data"))
    fits, experiments = settings.fits(), settings.experiments()
    assert fits == tuple(sorted(set(fits)))
    assert len(set(experiments)) == len(experiments)
    assert not set(fits) & set(experiments)
    assert {run.variant for run in experiments} <= EXPERIMENTS.keys()
    assert {run.model for run in fits} == set(settings.models)
    if settings.models:
        assert {run.variant for run in fits if run.model == PLSA} >= {settings.variant(PLSA), SECOND_READING}
    # whose models an experiment reads: those of the corpora that are fitted
    assert {run.corpus for run in models_read(settings)} <= set(settings.corpora)


def test_the_gallery_leaves_out_what_a_mirror_lacks(tmp_path: Path) -> None:
    study = load_study(ROOT / "workflow/studies/gallery.yaml", tmp_path)
    (tmp_path / "raw").mkdir()
    (tmp_path / "mirror").mkdir()
    files = {file for corpus in study["corpora"] for file in raw_files(corpus)}
    for file in files - {"u.data", "u.item"}:
        (tmp_path / "mirror" / file).touch()
    places = (tmp_path / "raw", str(tmp_path / "mirror"))
    kept, notice = without_unavailable(study, *places)
    assert notice == f"u.data, u.item not in {places[1]}: movielens left out of the exhibits"
    assert set(study["corpora"]) - set(kept["corpora"]) == {"movielens"}
    assert kept["measures"]["records"]["corpora"] == ["votes", "news-words"]
    assert kept["measures"]["evidence"] == study["measures"]["evidence"]
    for file in ("u.data", "u.item"):
        (tmp_path / "raw" / file).touch()
    assert without_unavailable(study, *places) == (study, "")
    assert without_unavailable(study, tmp_path / "none", "") == (study, "")  # there is the network
    (tmp_path / "mirror" / "cran.tar.gz").unlink()
    kept, notice = without_unavailable(study, *places)
    assert "gallery" not in kept["measures"]
    assert "cran.tar.gz" in notice
    paper = load_study(ROOT / "workflow/studies/paper.yaml", tmp_path)
    kept, notice = without_unavailable(paper, *places)
    assert kept["corpora"] == paper["corpora"]  # all needed
    assert "also" not in kept["measures"]["prior-share"]
    assert "choice" not in kept["measures"]
    assert "newsgroups" in notice


def test_a_study_of_another_document_has_corpora_and_experiments_alone(tmp_path: Path) -> None:
    study = from_yaml((ROOT / "workflow/studies/gallery.yaml").read_text())
    assert papers_of(study) != PAPERS == papers_of({})
    with pytest.raises(InputError, match="at models: "):
        check_study({**study, "models": from_yaml((FOLDER / "paper.yaml").read_text())["models"]}, tmp_path)
    del study["corpora"]
    with pytest.raises(InputError, match="at corpora: "):
        check_study(study, tmp_path)
