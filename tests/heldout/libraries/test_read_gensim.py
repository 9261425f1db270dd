from pathlib import Path

import numpy as np
import pytest
from gensim.corpora import Dictionary
from gensim.models import AuthorTopicModel, LdaModel
from model_files import DOCUMENTS, TOPICS, WORDS, gensim_lda

from heldout.errors import InputError
from heldout.libraries.read import fitted, read_model


def saved(path: Path, *, words: bool = True) -> Path:
    gensim_lda(words=words).save(str(path))
    return path


def test_lda_is_the_mean_of_its_posterior_in_float64(tmp_path: Path) -> None:
    model = gensim_lda()
    read = read_model(saved(tmp_path / "lda"), trust_pickle=True)
    np.testing.assert_allclose(read.topics.phi, model.get_topics(), rtol=1e-6)
    assert np.abs(read.topics.phi.sum(axis=1) - 1.0).max() < 1e-15
    # optimised, so not all the same
    np.testing.assert_allclose(read.dirichlet.alpha, model.alpha.astype(np.float64), rtol=0)
    assert len(set(read.dirichlet.alpha)) == TOPICS
    assert read.topics.vocabulary == tuple(model.id2word[place] for place in range(9))
    assert read.words_known
    assert (read.library, read.topics.provenance["dtype"]) == ("gensim", "float32")
    bags = [model.id2word.doc2bow(document) for document in DOCUMENTS]
    assert read.native.bound(bags, subsample_ratio=1.0) == pytest.approx(model.bound(bags), rel=0.05)


def test_a_model_without_words(tmp_path: Path) -> None:
    read = read_model(saved(tmp_path / "lda", words=False), trust_pickle=True)
    assert not read.words_known
    (tmp_path / "words").write_text("\n".join(WORDS))
    named = read_model(tmp_path / "lda", trust_pickle=True, vocabulary=tmp_path / "words")
    assert named.topics.vocabulary == WORDS
    assert fitted(gensim_lda(words=False), WORDS).words_known


def test_numbers_without_a_word_keep_their_places() -> None:
    model = LdaModel([[(0, 1)], [(7, 2)]], num_topics=2, random_state=0)
    model.id2word = {number: word for number, word in enumerate(WORDS[:8]) if number != 1}
    read = fitted(model)
    assert read.topics.vocabulary[1] == "(type 1)"
    assert read.topics.provenance["unnamed_words"] == 1
    assert read.topics.phi.shape == (2, 8)


@pytest.mark.parametrize("suffix", [".state", ".id2word", ".expElogbeta.npy"])
def test_a_missing_side_file_is_named(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / "lda")
    (tmp_path / f"lda{suffix}").unlink()
    with pytest.raises(
        InputError, match=rf"lda: lda\{suffix} is not beside it; copy all the files that save\(\) wrote"
    ):
        read_model(path, form="gensim", trust_pickle=True)


def test_without_trust_nothing_is_unpickled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a pickle, .* --trust-pickle .* numpy.savez \(skops is for scikit-learn\)"):
        read_model(saved(tmp_path / "lda"))


@pytest.mark.parametrize("suffix", ["", ".state", ".id2word", ".expElogbeta.npy"])
def test_every_truncated_file_is_refused_in_one_line(
    tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = saved(tmp_path / "lda")
    part = tmp_path / f"lda{suffix}"
    whole = part.read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 25)):
        part.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated|cannot be read|names no words"):
            read_model(path, form="gensim", trust_pickle=True)
    assert not caplog.records


def test_a_pickle_that_asks_for_more_memory_than_its_size_explains_is_refused(tmp_path: Path) -> None:
    """The fuzz's case 2 6060: a place in the unpickler's memo of 2^31 and more, 16 GB of pointers."""
    resource = pytest.importorskip("resource")
    path = saved(tmp_path / "lda")
    (tmp_path / "lda.id2word").write_bytes(b"\x80\x04}r" + (2**31).to_bytes(4, "little") + b".")
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(InputError, match=r"truncated, damaged or not gensim's \(MemoryError"):
        read_model(path, trust_pickle=True)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_other_models_are_refused(tmp_path: Path) -> None:
    Dictionary([list(WORDS)]).save(str(tmp_path / "lda"))
    for suffix in (".state", ".id2word"):
        (tmp_path / f"lda{suffix}").write_bytes((tmp_path / "lda").read_bytes())
    with pytest.raises(InputError, match=r"holds a .*, a .* and no LdaModel's words|not gensim's"):
        read_model(tmp_path / "lda", trust_pickle=True)
    model = AuthorTopicModel([[(0, 1)]], num_topics=2, author2doc={"a": [0]}, id2word={0: "a"}, random_state=0)
    with pytest.raises(InputError, match="mixes topics by author, not by document"):
        fitted(model)
