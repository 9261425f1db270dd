import codecs
import gzip
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from model_files import WORDS, gensim_lda, phi_and_alpha, scikit_learn_lda, tomotopy_lda, write_all

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.libraries import Library
from heldout.libraries.read import FORMS, LIBRARIES, fitted, guess, library_of, read_model
from heldout.libraries.reported import reported
from heldout.topics import Topics


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_all(tmp_path_factory.mktemp("models"))


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    files = write_all(tmp_path)
    mallet = files["mallet"]
    mallet.write_bytes(gzip.decompress(mallet.read_bytes()))
    texts = [*tmp_path.glob("*.csv"), mallet, tmp_path / "final.beta", tmp_path / "final.other"]
    before = {form: read_model(files[form]) for form in ("csv", "mallet", "lda-c")}
    for file in texts:
        file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    for form, model in before.items():
        again = read_model(files[form])
        assert again.library == model.library
        assert again.topics.vocabulary == model.topics.vocabulary
        assert again.topics.phi.tobytes() == model.topics.phi.tobytes()
        assert again.dirichlet.alpha.tobytes() == model.dirichlet.alpha.tobytes()
    (tmp_path / "words").write_text("\n".join(WORDS), encoding="utf-8-sig")
    assert read_model(files["skops"], vocabulary=tmp_path / "words").topics.vocabulary == WORDS


@pytest.mark.parametrize(("module", "name"), [("gensim.models.hdpmodel", "HdpModel"), ("lda.lda", "LDA")])
def test_a_model_that_is_not_read_itself_has_its_recipe(module: str, name: str) -> None:
    with pytest.raises(InputError, match=r"of a .*model\.(hdp_to_lda|topic_word_)"):
        fitted(type(name, (), {"__module__": module})())


def test_every_form_has_a_reader_and_a_file(files: dict[str, Path]) -> None:
    assert set(files) == set(FORMS)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_a_library_reads_recognises_and_reports_of_its_own(files: dict[str, Path], library: Library) -> None:
    """What a library in the list has to do; documents without a word of the model have no number, but a note."""
    documents = [Corpus.from_documents("made-up", [("a", ["word1", "word2", "word1"]), ("b", ["word3"])])]
    for form in library.forms:
        model = read_model(files[form.name], trust_pickle=True)
        assert library_of(model) is library
        number = reported(model, documents)
        assert math.isfinite(number.value) != bool(number.note)
        if library.models and model.native is not None:
            assert [other for other in LIBRARIES if other.recognises(model.native)] == [library]
            assert fitted(model.native, model.topics.vocabulary).topics.phi.tobytes() == model.topics.phi.tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_the_form_is_guessed_and_what_is_read_is_whole(files: dict[str, Path], form: str) -> None:
    assert guess(files[form]) == form
    read = read_model(files[form], trust_pickle=True)
    topics = read.topics
    assert topics.provenance["format"] == form
    assert topics.provenance["library"] == read.library
    assert {"version", "phi"} <= set(topics.provenance)
    assert topics.phi.dtype == read.dirichlet.alpha.dtype == np.float64
    assert topics.phi.flags.c_contiguous
    assert len(set(topics.vocabulary)) == topics.phi.shape[1]
    assert json.loads(json.dumps(topics.provenance)) == topics.provenance


@pytest.mark.parametrize("form", ["skops", "npz", "mallet", "tomotopy"])
def test_the_first_bytes_tell_where_the_name_does_not(files: dict[str, Path], tmp_path: Path, form: str) -> None:
    (tmp_path / "model").write_bytes(files[form].read_bytes())
    assert guess(tmp_path / "model") == form
    assert read_model(tmp_path / "model").topics.provenance["format"] == form


@pytest.mark.parametrize("wrong", FORMS)
def test_another_form_than_the_files_is_refused(files: dict[str, Path], wrong: str) -> None:
    for form, path in files.items():
        # a joblib file and the first of gensim's files are both pickles
        if form == wrong or {form, wrong} == {"pickle", "gensim"}:
            continue
        with pytest.raises(InputError) as caught:
            read_model(path, form=wrong, trust_pickle=True)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600


def test_what_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("0.5 0.5\n")
    with pytest.raises(InputError, match=r"--model-format, .*: skops, gensim, tomotopy"):
        read_model(tmp_path / "model")
    with pytest.raises(InputError, match="word2vec: no such form of a model; one of skops"):
        read_model(tmp_path / "model", form="word2vec")
    with pytest.raises(InputError, match="nothing: no such file"):
        read_model(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"a folder without final.beta; give the model's file"):
        read_model(tmp_path)
    (tmp_path / "model").write_bytes(b"")
    with pytest.raises(InputError, match="model: empty; save the model again"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_is_no_model(tmp_path: Path, form: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read|not a|beside it|truncated"):
        read_model(tmp_path, form=form, trust_pickle=True)


@pytest.mark.parametrize(
    ("form", "modules", "message"),
    [
        ("skops", ["skops"], "install scikit-learn and skops: pip install 'heldout"),
        ("pickle", ["sklearn.decomposition._lda"], "install scikit-learn and skops: pip install 'heldout"),
        ("gensim", ["gensim"], "install gensim: pip install 'heldout"),
        ("tomotopy", ["tomotopy"], "install tomotopy: pip install 'heldout"),
    ],
)
def test_a_library_that_is_not_installed_is_named(
    files: dict[str, Path], form: str, modules: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=message):
        read_model(files[form], trust_pickle=True)


def test_objects() -> None:
    phi, alpha = phi_and_alpha()
    assert fitted(scikit_learn_lda()).library == "scikit-learn"
    assert fitted(gensim_lda()).library == "gensim"
    assert fitted(tomotopy_lda()).library == "tomotopy"
    assert fitted((phi, alpha), WORDS).topics.vocabulary == WORDS
    assert not fitted((phi, 0.5)).words_known
    topics = Topics(phi, alpha, WORDS, {"model": "lda"})
    own = fitted(topics)
    assert own.topics.phi is phi
    assert own.words_known
    assert own.topics.provenance["model"] == "lda"
    assert {"library", "version", "format"} <= set(own.topics.provenance)
    assert "library" not in topics.provenance
    with pytest.raises(InputError, match="Topics: the model says that word 0 is 'word0'"):
        fitted(topics, WORDS[::-1])


@pytest.mark.parametrize("thing", [None, 3, "model.skops", (1, 2, 3, 4, 5), [[0.5, 0.5]], object()])
def test_anything_else_is_refused(thing: object) -> None:
    with pytest.raises(InputError, match=r"model: a .*; give a fitted scikit-learn LatentDirichletAllocation or NMF"):
        fitted(thing)


def test_the_same_file_gives_the_same_topics(files: dict[str, Path]) -> None:
    for path in files.values():
        first, second = (read_model(path, trust_pickle=True).topics for _ in range(2))
        assert first.phi.tobytes() == second.phi.tobytes()
        assert first.provenance == second.provenance
