import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_archives import PATTERNS, Mirror, pack

from artifact.results.corpora import read_published
from heldout.corpora.corpus import Corpus
from heldout.corpora.download import PARTS, fetch
from heldout.corpora.names import ARCHIVES, STOP_LIST, raw_files
from heldout.corpora.prepare import RECIPES, prepare
from heldout.corpora.records import responses_of
from heldout.errors import InputError

DATA = Path(__file__).parents[3] / "data"
PUBLISHED = DATA / "published" / "welling-2008-table-1.csv"


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path)


def streams(corpus: Corpus) -> list[list[str]]:
    return [[corpus.vocabulary[word] for word in corpus.document(d)] for d in range(corpus.n_documents)]


def test_cranfield_on_a_tiny_archive(mirror: Mirror) -> None:
    corpus = prepare("cranfield", mirror.folder, mirror.table)
    assert corpus.documents == ("1", "3")
    assert streams(corpus) == [["flow", "wing", "flow", "bound", "lay"], ["wing", "heat", "lay", "flow"]]
    assert corpus.provenance["records_left_out"] == ["2"]
    assert corpus.provenance["synthetic"] is False
    assert corpus.provenance["ordered"] is True
    assert corpus.provenance["sources"] == [
        {"file": file, "content_sha256": mirror.rows[file].content_sha256} for file in ("cran.tar.gz", "english.stop")
    ]
    assert corpus.provenance["rule"]["settings"]["stemmer"] == "lancaster"


def test_unstemmed_medline_with_crlf_keeps_words_seen_twice(mirror: Mirror) -> None:
    corpus = prepare("medline-unstemmed", mirror.folder, mirror.table)
    assert streams(corpus) == [["cells"], ["cells"], ["cells"]]
    assert corpus.name == "medline-unstemmed"


def test_nips_takes_words_of_six_papers_and_the_first_two_hundred(mirror: Mirror) -> None:
    papers = {
        f"nipstxt/nips{paper // 100:02d}/{paper % 100:04d}.txt": b"The neu-\nral EM of "
        + (b"late " if paper >= 200 else b"rare " if paper < 5 else b"kept " if paper < 11 else b"x1 ")
        for paper in range(210)
    }
    mirror.add("nips12raw_str602.tgz", papers | {"nipstxt/RAW_DATA_notes": b"neu"})
    corpus = prepare("nips", mirror.folder, mirror.table)
    assert corpus.n_documents == 200
    assert corpus.documents[:2] == ("nips00/0000", "nips00/0001")
    assert streams(corpus)[0] == ["neu", "ral", "em"]  # a word of five papers is dropped, hyphens are not joined
    assert streams(corpus)[5] == ["neu", "ral", "em", "kept"]
    assert corpus.vocabulary == ("em", "kept", "neu", "ral")  # "late" is in papers that are not taken only


def test_reuters_leaves_out_stories_without_a_word_and_says_whose_place_it_takes(mirror: Mirror) -> None:
    bodies = {1: "Oil rose, oil fell 3 pct.\n Reuter\n&#3;", 2: "10 - 11 of the\n Reuter\n&#3;", 3: "Oil &lt;XON> up"}
    stories = "".join(f'<REUTERS NEWID="{n}"><BODY>{text}</BODY></REUTERS>\n' for n, text in bodies.items())
    late = '<REUTERS NEWID="4"><TITLE>No body</TITLE></REUTERS><REUTERS NEWID="5"><BODY>\n&#3;</BODY></REUTERS>'
    mirror.add("reuters21578.tar.gz", {"reut2-000.sgm": stories.encode(), "reut2-001.sgm": late.encode()})
    corpus = prepare("reuters", mirror.folder, mirror.table)
    assert corpus.documents == ("1", "3")
    assert streams(corpus) == [["oil", "rose", "oil", "fell", "pct"], ["oil", "xon"]]  # "up" is too short
    assert corpus.provenance["records_left_out"] == ["5", "2"]
    assert "Buntine" in corpus.provenance["stands_in_for"]
    assert "stands_in_for" not in prepare("cranfield", mirror.folder, mirror.table).provenance


def test_edited_missing_and_truncated_raw_files_are_refused(mirror: Mirror) -> None:
    path = mirror.folder / "cran.tar.gz"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"cran\.tar\.gz: .*tar archive"):
        prepare("cranfield", mirror.folder, mirror.table)
    pack(path, {"cran.all.1400": b".I 1\n.W\nto be or not to be\n"})
    with pytest.raises(InputError, match=r"cran\.tar\.gz: .*digest"):
        prepare("cranfield", mirror.folder, mirror.table)
    path.unlink()
    with pytest.raises(InputError, match=r"cran\.tar\.gz"):
        prepare("cranfield", mirror.folder, mirror.table)


def test_a_document_of_stop_words_and_a_single_document_are_refused(mirror: Mirror) -> None:
    mirror.add("med.tar.gz", {"MED.ALL": b".I 1\n.W\ncells\n.I 2\n.W\nof the and\n"})
    with pytest.raises(InputError, match="corpus medline: document 2: "):
        prepare("medline", mirror.folder, mirror.table)
    mirror.add("med.tar.gz", {"MED.ALL": b".I 1\n.W\ncells\n.I 2\n.W\n"})
    with pytest.raises(InputError, match="corpus medline: 1 "):
        prepare("medline", mirror.folder, mirror.table)


def test_raw_files_and_unknown_names() -> None:
    assert RECIPES.keys() == ARCHIVES.keys()
    texts = {name for name, files in ARCHIVES.items() if files[1:] == (STOP_LIST,)}
    assert {name for name, recipe in RECIPES.items() if recipe.rule} == texts
    assert raw_files("nips") == ("nips12raw_str602.tgz", "english.stop")
    assert raw_files("cranfield-unstemmed") == raw_files("cranfield") == ("cran.tar.gz", "english.stop")
    assert raw_files("medline-like") == ()
    assert raw_files("votes") == ("house-votes-84.data",)
    for name in ("cranfeld", "cranfeld-like", ""):
        with pytest.raises(InputError, match=f"corpus {name}: .*{', '.join(RECIPES)}"):
            raw_files(name)


def test_knowing_the_corpora_costs_no_heavy_import() -> None:
    code = "import sys, heldout.corpora.prepare; print(*{'nltk', 'pooch', 'pandas', 'requests'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = os.environ.get("HELDOUT_MIRROR")
    if not folder:
        pytest.skip("the real corpora are needed: set HELDOUT_MIRROR to a folder that holds their archives")
    raw = tmp_path_factory.mktemp("raw")
    # a mirror need not hold what may not be redistributed, nor the parts of an archive beside it
    elsewhere = {"u.data", *(Path(member).name for members in PARTS.values() for member in members)}
    for file in PATTERNS:
        if file not in elsewhere:
            fetch(file, DATA / "corpora.csv", raw / file, Path(folder))
    return raw


@pytest.mark.long
def test_real_nips_matches_the_paper_exactly(real: Path) -> None:
    corpus = prepare("nips", real, DATA / "corpora.csv")
    shape = read_published(PUBLISHED)["nips"]
    assert corpus.n_documents == shape.documents == 200
    assert corpus.n_words == shape.vocabulary == 10780
    assert corpus.n_tokens / 200 == pytest.approx(1381.14, abs=1e-12)
    assert round(corpus.n_tokens / 200, 1) == shape.mean_length
    assert corpus.documents[0] == "nips00/0001"
    assert sum(document.startswith("nips02/") for document in corpus.documents) == 15


@pytest.mark.parametrize(
    ("name", "words", "tokens", "left_out"), [("cranfield", 3664, 117605, ["471", "995"]), ("medline", 7249, 82432, [])]
)
def test_real_abstracts_match_table_1(real: Path, name: str, words: int, tokens: int, left_out: list[str]) -> None:
    corpus = prepare(name, real, DATA / "corpora.csv")
    shape = read_published(PUBLISHED)[name]
    assert corpus.n_documents == shape.documents
    assert corpus.n_words == pytest.approx(shape.vocabulary, rel=0.04)
    assert corpus.n_tokens / corpus.n_documents == pytest.approx(shape.mean_length, rel=0.01)
    assert (corpus.n_words, corpus.n_tokens) == (words, tokens)
    assert corpus.provenance["records_left_out"] == left_out
    assert len(np.unique(corpus.tokens)) == corpus.n_words


@pytest.mark.parametrize(("name", "words", "tokens"), [("cranfield", 4451, 118525), ("medline", 6969, 81755)])
def test_real_abstracts_unstemmed(real: Path, name: str, words: int, tokens: int) -> None:
    corpus = prepare(f"{name}-unstemmed", real, DATA / "corpora.csv")
    assert corpus.n_documents == read_published(PUBLISHED)[name].documents
    assert (corpus.n_words, corpus.n_tokens) == (words, tokens)


@pytest.mark.long
def test_real_reuters_has_as_many_words_as_the_news_of_the_paper(real: Path) -> None:
    corpus = prepare("reuters", real, DATA / "corpora.csv")
    assert corpus.n_words == 28251
    assert corpus.n_documents + len(corpus.provenance["records_left_out"]) == 19043
    assert (corpus.n_tokens, corpus.provenance["records_left_out"]) == (1302626, ["13364"])
    assert "reuter" in corpus.vocabulary  # the agency in the text, which is not the signature
    tokens = np.bincount(corpus.tokens)
    assert tokens[corpus.vocabulary.index("reuter")] < 1000


def test_a_corpus_of_counts_on_a_tiny_archive(mirror: Mirror) -> None:
    mirror.add("ap.tgz", {"ap/vocab.txt": b"oil\nwing\n", "ap/ap.dat": b"1 1:2\n2 0:1 1:1\n", "ap/ap.txt": b"not read"})
    corpus = prepare("ap", mirror.folder, mirror.table)
    assert streams(corpus) == [["wing", "wing"], ["oil", "wing"]]
    assert "Blei" in corpus.provenance["stands_in_for"]
    assert [one["file"] for one in corpus.provenance["sources"]] == ["ap.tgz"]


def test_real_counts_and_records_are_the_published_ones(real: Path) -> None:
    ap, votes, words = (prepare(name, real, DATA / "corpora.csv") for name in ("ap", "votes", "news-words"))
    assert (ap.n_documents, ap.n_words, ap.n_tokens) == (2246, 10473, 435838)
    given = responses_of(votes)
    assert given.shape == (435, 16)
    assert sum(name.endswith("democrat") for name in votes.documents) == 267
    assert int((given < 0).any(axis=1).sum()) == 203
    present = responses_of(words)
    assert (present.shape, int(present.sum())) == ((16242, 100), 65451)


def test_real_ratings_are_the_published_ones(tmp_path: Path) -> None:
    folder = Path(os.environ.get("HELDOUT_MIRROR", ""))
    if not (folder / "u.data").is_file():
        pytest.skip("MovieLens may not be redistributed: set HELDOUT_MIRROR to a folder that holds u.data")
    for file in ("u.data", "u.item"):
        fetch(file, DATA / "corpora.csv", tmp_path / file, folder)
    ratings = responses_of(prepare("movielens", tmp_path, DATA / "corpora.csv"))
    assert ratings.shape == (943, 1682)
    assert np.bincount(ratings[ratings >= 0]).tolist() == [6110, 11370, 27145, 34174, 21201]
