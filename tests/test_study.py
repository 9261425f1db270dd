"""What a study may say, and the one line that refuses the rest."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from heldout.exhibits import exhibit_names

from heldout import study as studies
from heldout.cli import main
from heldout.errors import InputError
from heldout.study import check_study, load_study, without_missing

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "workflow/studies/schema.yaml"
STUDIES = sorted(path for path in SCHEMA.parent.glob("*.yaml") if path != SCHEMA)


@pytest.fixture
def study() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((SCHEMA.parent / "paper.yaml").read_text())
    return copy.deepcopy(loaded)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_shipped_studies_are_valid_and_named_after_their_files(path: Path) -> None:
    assert load_study(path, SCHEMA, ROOT / "data")["study"] == path.stem


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("sedes",), [0], "'sedes' was unexpected"),
        (("topics",), [5, -3], "at topics/1: -3 is less than the minimum of 1"),
        (("topics",), [5, 5], "non-unique"),
        (("seeds",), [], "at seeds"),
        (("models", "plsa"), {}, "at models: .*'plsa' was unexpected"),
        (("models", "lda", "train", "sweep"), 3, "at models/lda/train: .*'sweep' was unexpected"),
        (("models", "lda", "train", "beta"), 0, "at models/lda/train/beta"),
        (("smoothing",), [-1e-3], "at smoothing/0"),
        (("smoothing",), ["1e-3"], "at smoothing/0: '1e-3' is not of type 'number'"),
        (("corpora", "cranfeild"), {"test_documents": 9}, "at corpora/cranfeild: neither"),
        (("corpora", "medline"), {"test_documents": 0}, "at corpora/medline/test_documents"),
        (("beyond_vocabulary", "corpus"), "medline-like", "at beyond_vocabulary/corpus"),
        (("alternatives", "variants", "lda", "x"), {"train": {"betta": 1}}, "there is no setting betta"),
        (
            ("alternatives", "variants", "lda", "x"),
            {"train": {"beta": -1}},
            "at alternatives/variants/lda/x/train/beta",
        ),
        (("alternatives", "variants", "lda", "x"), {"train": {"chains": 2}}, "x/train/chains"),
        (("alternatives", "corpora"), ["nips", "cranfield-like"], "at alternatives/corpora: cranfield-like"),
        (("topics",), [5.0], "at topics/0: 5.0 is not of type 'integer'"),
        (("seeds",), [True], "at seeds/0"),
    ],
)
def test_bad_settings_are_refused_by_key(
    study: dict[str, Any], tmp_path: Path, path: tuple[str, ...], value: Any, message: str
) -> None:
    inner = study
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(InputError, match=message) as caught:
        check_study(study, SCHEMA, tmp_path)
    assert "\n" not in str(caught.value)


def test_an_imported_corpus_is_known(study: dict[str, Any], tmp_path: Path) -> None:
    study["corpora"]["mine"] = {"test_documents": 9}
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora/mine.npz").touch()
    check_study(study, SCHEMA, tmp_path)


@pytest.mark.parametrize("text", ["- a\n- list\n", "study: [unclosed\n", None])
def test_an_unreadable_study_is_one_line_and_exit_code_2(
    tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.yaml"
    if text is not None:
        path.write_text(text)
    assert main(["check", str(path), "--schema", str(SCHEMA), "--data", str(tmp_path)]) == 2
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
    assert "figure-peers" in exhibit_names(study)
    assert not {"figure-peers", "table-peers"} & set(exhibit_names(none))
