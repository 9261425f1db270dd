"""Labels, links and times of documents, and the corpora that have them."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tiny_archives import Mirror

from heldout.corpora.archives import read_members
from heldout.corpora.brown import read_pairs, read_tokens
from heldout.corpora.corpus import Corpus
from heldout.corpora.download import fetch
from heldout.corpora.names import raw_files
from heldout.corpora.prepare import prepare
from heldout.corpora.rda import read_cora, read_object, read_poliblog
from heldout.corpora.responses import labels_of, links_of, times_of
from heldout.corpora.reviews import read_texts
from heldout.corpora.split import train_test_split
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError

DATA = Path(__file__).parents[3] / "data"


def r_file(folder: Path, name: str, value: object) -> bytes:
    rdata = pytest.importorskip("rdata")
    rdata.write_rda(str(folder / "one.rda"), {name: value})
    return (folder / "one.rda").read_bytes()


def data_set(folder: Path, **parts: object) -> dict[str, bytes]:
    return {f"tiny.{part}.rda": r_file(folder, part, value) for part, value in parts.items()}


DOCUMENTS = [np.array([[2, 0], [1, 2]], dtype=np.int32), np.array([[1], [1]], dtype=np.int32)]
WORDS = np.array(["tax", "vote", "war"])


def test_posts_have_the_label_of_their_rating(tmp_path: Path) -> None:
    members = data_set(tmp_path, documents=DOCUMENTS, ratings=np.array([100.0, -100.0]), vocab=WORDS)
    corpus = read_poliblog("poliblog", members)
    assert corpus.documents == ("conservative/1", "liberal/2")
    assert corpus.document(0).tolist() == [0, 0, 2]
    assert labels_of(corpus).tolist() == [0, 1]
    assert corpus.provenance["ordered"] is False
    ratings = {**members, "tiny.ratings.rda": r_file(tmp_path, "ratings", np.array([100.0, 3.0]))}
    with pytest.raises(InputError, match="-100 and 100"):
        read_poliblog("poliblog", ratings)
    fewer = {**members, "tiny.ratings.rda": r_file(tmp_path, "ratings", np.array([100.0]))}
    with pytest.raises(InputError, match=r"2 documents, .*1 names"):
        read_poliblog("poliblog", fewer)


def test_citations_are_links_that_subsets_keep(tmp_path: Path) -> None:
    cites = [np.array([1], dtype=np.int32), np.array([0], dtype=np.int32)]
    members = data_set(tmp_path, documents=DOCUMENTS, cites=cites, vocab=WORDS)
    corpus = read_cora("cora", members)
    assert links_of(corpus).tolist() == [[0, 1]]  # each cites the other
    assert links_of(corpus.subset([1])).shape == (0, 2)
    beyond = {**members, "tiny.cites.rda": r_file(tmp_path, "cites", [cites[0], np.array([2], dtype=np.int32)])}
    with pytest.raises(InputError, match="document 2 cites 2"):
        read_cora("cora", beyond)


def test_damaged_files_of_R_are_refused(tmp_path: Path) -> None:  # noqa: N802
    whole = r_file(tmp_path, "vocab", WORDS)
    assert list(read_object("vocab.rda", whole)) == list(WORDS)
    with pytest.raises(InputError, match=r"vocab\.rda: "):
        read_object("vocab.rda", whole[:-20])


def test_brown_has_an_asterisk_for_rare_words_and_refuses_words_without_a_tag(tmp_path: Path) -> None:
    texts = {f"brown/ca0{n}": b"\tThe/at and/or/cc\n./." for n in range(4)} | {"brown/ca05": b"the/at odd/jj ./."}
    corpus = read_tokens("brown", texts)
    assert corpus.documents[-1] == "ca05"
    assert [corpus.vocabulary[word] for word in corpus.document(4)] == ["the", "*", "."]
    assert [corpus.vocabulary[word] for word in corpus.document(0)] == ["the", "*", "."]  # "and/or" is in four
    with pytest.raises(InputError, match=r"brown/ca05: .*'odd'"):
        read_tokens("brown", texts | {"brown/ca05": b"odd"})
    with zipfile.ZipFile(tmp_path / "brown.zip", "w") as archive:
        for member, content in {**texts, "brown/CONTENTS": b"not read"}.items():
            archive.writestr(member, content)
    pattern = "brown/c[a-r][0-9][0-9]"
    assert read_members(tmp_path / "brown.zip", pattern) == texts
    with pytest.raises(InputError, match="member none"):
        read_members(tmp_path / "brown.zip", "none")


def test_brown_s_pairs_are_adjectives_before_their_nouns() -> None:
    texts = {
        "brown/ca01": b"\tThe/at large/jj Old/jj House/nn fell/vbd red/jj\n\n\thouse/nn Best/jjt-hl man's/nn$-hl ./.\n",
        "brown/ca02": b"older/jjr houses/nns chief/jjs man/nn ,/, old/jj ,/, house/nn OLD/JJ-TL House/NN-TL house/nn",
        "brown/ca03": b"old/jj house/nn-nc coup/fw-jj house/nn old/jj Smith/np burnt/vbn house/nn old/jj man's/nn+bez",
    }
    corpus = read_pairs("pairs", texts, least=1)
    read = {name: [corpus.vocabulary[word] for word in corpus.document(d)] for d, name in enumerate(corpus.documents)}
    assert list(read.items()) == [
        ("house", ["old", "old", "old"]),  # the red one is of the next sentence, the last one of the second has none
        ("houses", ["older"]),
        ("man", ["chief"]),
        ("man's", ["best", "old"]),
    ]
    often = read_pairs("pairs", texts, least=2)
    assert (often.documents, often.vocabulary, often.lengths.tolist()) == (("house", "man's"), ("old",), [3, 1])
    assert read_pairs("pairs", texts, least=3).documents == ("house",)
    with pytest.raises(InputError, match=r"brown/ca03: .*'odd'"):
        read_pairs("pairs", texts | {"brown/ca03": b"odd"})


def test_reviews_are_named_by_their_label() -> None:
    texts = read_texts({"txt_sentoken/pos/cv1.txt": b"fine", "txt_sentoken/neg/cv0.txt": b"dull"})
    assert texts == [("neg/cv0", "dull"), ("pos/cv1", "fine")]


def test_labels_and_times_need_names_that_have_them() -> None:
    source = {"synthetic": False}
    three = Corpus.from_documents("three", [(f"v{n}/1", ["a"]) for n in (2, 0, 1)], source)
    assert times_of(three).tolist() == [2, 0, 1]
    with pytest.raises(InputError, match=r"corpus three: .*label"):
        labels_of(three)
    plain = Corpus.from_documents("plain", [("1", ["a"]), ("2", ["b"])], source)
    with pytest.raises(InputError, match="a time"):
        times_of(plain)
    with pytest.raises(InputError, match="no links"):
        links_of(plain)


def test_a_drawn_corpus_has_some_of_each() -> None:
    corpus, _ = draw("drawn", Shape(20, 4, 25, 20.0), law=Law(topics=5))
    labels, times, links = labels_of(corpus), times_of(corpus), links_of(corpus)
    assert 0 < labels.sum() < len(labels) == corpus.n_documents
    assert np.unique(times).tolist() == [0, 1, 2, 3]
    assert (links[:, 0] < links[:, 1]).all()
    assert 12 <= len(links) <= 24  # of 24 nearest neighbours some are mutual


@pytest.mark.parametrize(
    ("name", "documents", "words", "tokens"),
    [
        ("reviews", 2000, 5000, 443724),
        ("poliblog", 773, 1290, 105225),
        ("brown", 500, 11318, 1161192),
        ("brown-pairs", 2581, 1645, 31683),
        pytest.param("nips-running", 1740, 5001, 6253196, marks=pytest.mark.long),
        ("cora", 2410, 2961, 136394),
    ],
)
def test_the_real_ones_have_the_published_sizes(
    name: str, documents: int, words: int, tokens: int, tmp_path: Path
) -> None:
    folder = os.environ.get("HELDOUT_MIRROR")
    if not folder:
        pytest.skip("the real corpora are needed: set HELDOUT_MIRROR to a folder that holds their archives")
    for file in raw_files(name):
        fetch(file, DATA / "corpora.csv", tmp_path / file, Path(folder))
    corpus = prepare(name, tmp_path, DATA / "corpora.csv")
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (documents, words, tokens)
    if name in ("reviews", "poliblog"):
        assert labels_of(corpus).sum() == {"reviews": 1000, "poliblog": 464}[name]
        assert len(labels_of(train_test_split(corpus, 100, 0)[1])) == 100
    if name == "brown-pairs":
        counts = corpus.counts()
        assert counts.nnz == 21900  # different pairs
        values = np.linalg.eigvalsh((counts.T @ counts).toarray())  # squares of singular values
        assert np.sum(values > 1e-12 * values[-1]) == 1643  # nearest to 1674: with 5 there are 1357 words, with 3 2081
    if name == "cora":
        assert (len(corpus.provenance["links"]), len(links_of(corpus))) == (4356, 4231)


def test_a_data_set_of_several_files_is_read_whole(tmp_path: Path) -> None:
    mirror, parts = Mirror(tmp_path), data_set(tmp_path, documents=DOCUMENTS, cites=[np.array([1], np.int32)] * 2)
    parts |= data_set(tmp_path, vocab=WORDS)
    for part in ("documents", "cites", "vocab"):
        file = f"cora.{part}.rda"
        mirror.add(file, {file: parts[f"tiny.{part}.rda"]})
    corpus = prepare("cora", mirror.folder, mirror.table)
    assert [one["file"] for one in corpus.provenance["sources"]] == list(raw_files("cora"))
    assert links_of(corpus).tolist() == [[0, 1]]
