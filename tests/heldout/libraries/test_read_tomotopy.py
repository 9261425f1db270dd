import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomotopy
from model_files import DOCUMENTS, TOPICS, WORDS, tomotopy_lda

import heldout
from heldout.errors import InputError
from heldout.libraries import tomotopy as reader
from heldout.libraries.read import fitted, read_model


def saved(path: Path, model: Any = None, *, full: bool = True) -> Path:
    (model or tomotopy_lda()).save(str(path), full)
    return path


@pytest.mark.parametrize("full", [True, False])
def test_phi_alpha_and_the_words_that_were_used(tmp_path: Path, full: bool) -> None:
    model = tomotopy_lda()
    read = read_model(saved(tmp_path / "lda.bin", full=full))
    # the counts of the last state, from the documents themselves
    counts = np.zeros((TOPICS, len(model.used_vocabs)))
    for document in model.docs:
        for word, topic in zip(document.words, document.topics, strict=True):
            if word < len(model.used_vocabs) and topic < TOPICS:
                counts[topic, word] += 1
    expected = (counts + model.eta) / (counts + model.eta).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(read.topics.phi, expected, rtol=2e-6)
    np.testing.assert_allclose(read.dirichlet.alpha, np.asarray(model.alpha, dtype=np.float64), rtol=0)
    assert len(set(read.dirichlet.alpha)) == TOPICS
    # min_cf = 2 removes "once", rm_top = 1 the most frequent word
    most = max(WORDS, key=lambda word: sum(document.count(word) for document in DOCUMENTS))
    assert set(read.topics.vocabulary) == set(WORDS) - {most}
    assert read.topics.provenance["unused_words"] == 2
    assert read.topics.vocabulary == tuple(model.used_vocabs)
    assert read.library == "tomotopy"
    inferred = read.native.infer(read.native.make_doc(["word1", "word2"]), workers=1)
    assert np.isfinite(inferred[1])


def test_an_object_and_its_vocabulary() -> None:
    model = tomotopy_lda()
    assert fitted(model).native is model
    assert fitted(model, list(model.used_vocabs)).words_known
    with pytest.raises(InputError, match="leave the vocabulary out, the model names its own words"):
        fitted(model, list(model.used_vocabs)[::-1])


def test_words_of_a_supervised_model_have_the_likelihood_of_its_topics(tmp_path: Path) -> None:
    model = tomotopy.SLDAModel(k=TOPICS, vars=["l"], seed=1)
    for d, document in enumerate(DOCUMENTS):
        model.add_doc(document, y=[float(d % 3)])
    model.train(30, workers=1)
    phi = np.array([model.get_topic_word_dist(k) for k in range(TOPICS)], dtype=np.float64)
    arrays = heldout.audit((phi, model.alpha), DOCUMENTS, vocabulary=list(model.used_vocabs), probability=False)
    model.save(str(tmp_path / "slda.bin"))
    for given in (model, tmp_path / "slda.bin"):
        audit = heldout.audit(given, DOCUMENTS, probability=False)
        assert audit.exact
        assert audit["likelihood"].log_likelihood == pytest.approx(arrays["likelihood"].log_likelihood, rel=1e-9)
        assert sum(term.nats for term in audit.reported.terms) == pytest.approx(
            audit.tokens * audit.reported.nats_per_token, rel=1e-3
        )


def test_before_training_there_is_nothing_to_read(tmp_path: Path) -> None:
    model = tomotopy.LDAModel(k=3)
    model.add_doc(["a", "b"])
    with pytest.raises(InputError, match="the LDAModel has no words; train it first"):
        fitted(model)
    with pytest.raises(InputError, match="the LDAModel has no words; train it first"):
        read_model(saved(tmp_path / "lda.bin", tomotopy.LDAModel(k=3)))


@pytest.mark.parametrize(
    ("kind", "options", "more"),
    [
        ("HDPModel", {}, {}),
        ("PAModel", {"k1": 2, "k2": 3}, {}),
        ("HPAModel", {"k1": 2, "k2": 3}, {}),
        ("MGLDAModel", {"k_g": 2, "k_l": 2}, {"delimiter": "."}),
        ("GDMRModel", {"k": 2, "degrees": [2]}, {"numeric_metadata": [1.0]}),
        ("HLDAModel", {"depth": 2}, {}),
        ("DTModel", {"k": 2, "t": 1}, {"timepoint": 0}),
        ("PTModel", {"k": 2, "p": 4}, {}),
    ],
)
def test_other_models_are_refused_by_their_class(
    kind: str, options: dict[str, Any], more: dict[str, Any], tmp_path: Path
) -> None:
    model = getattr(tomotopy, kind)(seed=1, **options)
    for document in DOCUMENTS:
        model.add_doc(document, **more)
    model.train(2, workers=1)
    with pytest.raises(InputError, match=f"a tomotopy {kind}, which is not scored"):
        fitted(model)
    if kind in ("HDPModel", "GDMRModel"):  # which another process reads from a file
        with pytest.raises(InputError, match=f"a tomotopy {kind}, which is not scored"):
            read_model(saved(tmp_path / "other.bin", model))


class Harmful:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.mark,)


def test_the_pickle_inside_is_left_alone(tmp_path: Path) -> None:
    model = tomotopy.LDAModel(k=2, seed=1)
    for document in DOCUMENTS:
        model.add_doc(document)
    model.train(1, workers=1)
    mark = tmp_path / "ran"
    path = tmp_path / "lda.bin"
    model._save(str(path), pickle.dumps(Harmful(mark)), True)
    assert read_model(path).topics.n_topics == 2
    assert not mark.exists()
    # tomotopy's own loader runs it
    tomotopy.LDAModel.load(str(path))
    assert mark.exists()


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path / "lda.bin").read_bytes()
    for length in (14, 60, len(whole) - 1):
        (tmp_path / "lda.bin").write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated|damaged|neither its name"):
            read_model(tmp_path / "lda.bin")


def test_a_loader_that_spins_is_stopped(tmp_path: Path) -> None:
    """tomotopy 0.14 does not come back from a file cut within the constructor's arguments."""
    whole = saved(tmp_path / "lda.bin").read_bytes()
    (tmp_path / "lda.bin").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(InputError, match=r"damaged, or another model: tomotopy cannot load it \(it"):
        read_model(tmp_path / "lda.bin")


def test_what_would_end_the_process_ends_another(tmp_path: Path) -> None:
    """An announced length of the vocabulary that is not there: tomotopy's loader does not come back from it."""
    whole = bytearray(saved(tmp_path / "lda.bin").read_bytes())
    place = whole.index(b"Dict") + 5
    whole[place : place + 4] = (2**31 - 1).to_bytes(4, "little")
    (tmp_path / "lda.bin").write_bytes(whole)
    with pytest.raises(InputError, match=r"damaged.*tomotopy"):
        read_model(tmp_path / "lda.bin")


def test_a_loader_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(reader, "CHECK", endless)
    monkeypatch.setattr(reader, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"damaged: tomotopy was still reading after 0.5 s; save it again"):
        read_model(saved(tmp_path / "lda.bin"))


def test_the_check_takes_bounded_memory(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    greedy = tmp_path / "greedy.py"
    greedy.write_text(
        f"import sys\nsys.path.insert(0, {str(reader.CHECK.parent)!r})\nfrom tomotopy_check import limit\n"
        "limit(1000)\nbytearray(3 << 30)\n"
    )
    ended = subprocess.run([sys.executable, "-P", str(greedy)], capture_output=True, check=False)
    assert b"MemoryError" in ended.stderr
