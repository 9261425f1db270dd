"""Documents and models in every form that users hold: the same numbers from all, or a refusal with the way out."""

import re
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import gensim
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import tomotopy
from made_models import V, drawn, topics_of
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

import heldout
from heldout.errors import InputError

COUNTS = drawn(12).toarray()
WORDS = [f"w{w}" for w in range(V)]
SHUFFLED = [3, 1, 0, 2, 7, 6, 5, 4]


def nats(model: Any, documents: Any, **given: Any) -> float:
    return heldout.audit(model, documents, **given).line("likelihood").log_likelihood


@cache
def expected() -> float:
    return nats(topics_of(), sp.csr_array(COUNTS))


def matrix(counts: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(counts)


def sparse(kind: Any) -> Any:
    return sp.csr_array(COUNTS).astype(float).asformat(kind)


FORMS: dict[str, Callable[[], Any]] = {
    "array": lambda: COUNTS,
    "array of whole floats": lambda: COUNTS.astype(np.float32),
    "matrix": lambda: matrix(COUNTS),
    **{kind: partial(sparse, kind) for kind in ("coo", "csc", "dok", "lil", "bsr", "dia")},
    "scipy's old matrix": lambda: sp.coo_matrix(COUNTS),
    "table": lambda: pd.DataFrame(COUNTS, columns=WORDS),
    "table in another order": lambda: pd.DataFrame(COUNTS, columns=WORDS)[[WORDS[w] for w in SHUFFLED]],
    "table without names": lambda: pd.DataFrame(COUNTS),
    "sparse table": lambda: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(COUNTS), columns=WORDS),  # type: ignore[attr-defined]
    "gensim's bags": lambda: gensim.matutils.Sparse2Corpus(sp.csc_matrix(COUNTS.T)),
    "bags in a list": lambda: [[(w, int(n)) for w, n in enumerate(row) if n] for row in COUNTS],
    "lists of words": lambda: [np.repeat(WORDS, row).tolist() for row in COUNTS],
    "column of lists": lambda: pd.Series([np.repeat(WORDS, row).tolist() for row in COUNTS]),
    "arrays of words": lambda: [np.repeat(WORDS, row) for row in COUNTS],
    "Counters": lambda: [Counter(dict(zip(WORDS, row.tolist(), strict=True))) for row in COUNTS],
    "column of Counters": lambda: pd.Series([{w: n for w, n in zip(WORDS, row, strict=True) if n} for row in COUNTS]),
    "nullable table": lambda: pd.DataFrame(COUNTS, columns=WORDS).astype("Int64"),
    "half nullable table": lambda: pd.DataFrame(COUNTS, columns=WORDS).astype({"w1": "UInt8", "w2": "Float64"}),
    "a mask without a place": lambda: np.ma.masked_equal(COUNTS, -1),
    "tomotopy's corpus": lambda: tomotopys([np.repeat(WORDS, row).tolist() for row in COUNTS]),
    "arrow's integers": lambda: arrows(),
    "polars": lambda: pytest.importorskip("polars").DataFrame(COUNTS, schema=WORDS),
    "tensor": lambda: pytest.importorskip("torch").tensor(COUNTS, dtype=float, requires_grad=True),
}


def arrows() -> Any:
    pytest.importorskip("pyarrow")
    return pd.DataFrame(COUNTS, columns=WORDS).astype("int64[pyarrow]")


def tomotopys(documents: list[list[str]]) -> Any:
    corpus = tomotopy.utils.Corpus()
    for document in documents:
        corpus.add_doc(document)
    return corpus


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_documents_gives_the_same_number(form: str) -> None:
    assert nats(topics_of(), FORMS[form]()) == pytest.approx(expected(), abs=1e-9)


@pytest.mark.parametrize(
    "vocabulary",
    [
        {word: place for place, word in reversed(list(enumerate(WORDS)))},
        {np.int64(place): word for place, word in reversed(list(enumerate(WORDS)))},
        gensim.corpora.Dictionary([WORDS]),
        np.array(WORDS, dtype=object),
        CountVectorizer(vocabulary=WORDS),
    ],
    ids=["vocabulary_", "columns to words", "gensim", "array", "vectorizer"],
)
def test_a_vocabulary_in_any_form_is_taken_in_the_models_order(vocabulary: Any) -> None:
    topics = topics_of()
    documents = [np.repeat(WORDS, row).tolist() for row in COUNTS]
    result = heldout.audit((topics.phi, topics.alpha), documents, vocabulary=vocabulary)
    assert result.line("likelihood").log_likelihood == pytest.approx(expected(), abs=1e-9)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [" ".join(np.repeat(WORDS, row)) for row in COUNTS if row.any()]


def test_a_pipeline_reads_texts_with_its_own_vectorizer(texts: list[str]) -> None:
    vectorizer = CountVectorizer(stop_words=["w0"])
    model = LatentDirichletAllocation(2, random_state=0, max_iter=2)
    pipeline = make_pipeline(vectorizer, model).fit(texts)
    counts = vectorizer.transform(texts)
    same = nats(model, counts, vocabulary=vectorizer.vocabulary_)
    for documents in (texts, pd.Series(texts), np.array(texts), np.array(texts, dtype=object), counts):
        assert nats(pipeline, documents) == pytest.approx(same, abs=1e-9)
    tokens = [text.split() for text in texts]
    result = heldout.audit(pipeline, tokens)
    assert result.line("likelihood").log_likelihood == pytest.approx(same, abs=1e-9)
    assert result.left_out == COUNTS[:, 0].sum()  # the stop word
    with pytest.raises(InputError, match="the pipeline's vectorizer names the model's words"):
        heldout.audit(pipeline, texts, vocabulary=WORDS)


def test_the_steps_of_a_pipeline_without_a_vectorizer_are_applied_to_matrices() -> None:
    constant = np.hstack([COUNTS, np.ones((len(COUNTS), 1), int)])
    model = LatentDirichletAllocation(2, random_state=0, max_iter=2)
    pipeline = make_pipeline(VarianceThreshold(), model).fit(constant)
    assert nats(pipeline, constant) == pytest.approx(nats(model, COUNTS), abs=1e-9)


def tfidf() -> Any:
    texts = ["ape bear", "bear cat"]
    return make_pipeline(TfidfVectorizer(), LatentDirichletAllocation(2, random_state=0, max_iter=1)).fit(texts)


@pytest.mark.parametrize(
    ("model", "documents", "message"),
    [
        (topics_of(), "the ape and the bear", "documents that are one text, 'the ape and the bear'"),
        (topics_of(), "ape\nbear" * 100_000, "documents that are one text"),
        (topics_of(), "a" * 5_000, "documents that are one text"),
        (topics_of(), ["the ape", "the bear"], "these documents are texts, and the model has no vectorizer; give"),
        (topics_of(), np.array(["ape", "bear"]), "these documents are texts"),
        (topics_of(), {"ape": 1}, "documents of the kind dict cannot be read"),
        (topics_of(), (row for row in COUNTS), "documents of the kind generator cannot be read"),
        (topics_of(), b"ape", "documents of the kind bytes cannot be read"),
        (topics_of(), COUNTS[None], r"the array of documents is \(1, 12, 8\)"),
        (topics_of(), COUNTS * 0.5, "a count of 0.5; counts must be whole numbers"),
        (topics_of(), COUNTS.astype(str), "give counts, documents by words"),
        (topics_of(), np.where(COUNTS > 1, np.nan, 0.0), "a count of nan"),
        (topics_of(), pd.DataFrame(COUNTS[:, :2], columns=["w0", "w0"]), "two columns are named 'w0'"),
        (topics_of(), [[(0, 1), (1, 0.5)]], "row 0: a count of 0.5"),
        (topics_of(), [[(0, 1)], ["ape"]], "document 1: not pairs of a word's number and its count"),
        (topics_of(), [[(0, 1), (9, 2)]], "vocabulary"),
        (topics_of(), np.ma.masked_equal(COUNTS, COUNTS.max()), "of the counts are masked"),
        (topics_of(), pd.DataFrame(COUNTS).assign(doc_id="a"), "column 'doc_id' holds no counts but str"),
        (topics_of(), pd.DataFrame(COUNTS, dtype="Int64").replace(0, pd.NA), "column 0 lacks . of its counts"),
        (topics_of(), pd.DataFrame(COUNTS, columns=WORDS).replace(0, np.nan), "column 'w0' lacks . of its counts"),
        (topics_of(), [Counter("ab"), ["a"]], "document 1: no mapping"),
        (topics_of(), [["a"], Counter("ab")], "document 1: a Counter"),
        (topics_of(), [{"w1": 0.5}], "a count of 0.5"),
        (topics_of(), [[(0, 1), (-1, 2)]], "document 0: a word whose number is no whole number from 0 on"),
        (tfidf(), ["ape bear bear"], "give counts, not weights such as tf-idf"),
        (make_pipeline(CountVectorizer(), LatentDirichletAllocation(2)), ["ape"], "is not fitted; call fit"),
    ],
)
def test_what_is_refused_is_refused_in_one_line(model: Any, documents: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        heldout.audit(model, documents)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ("w0 w1", "a vocabulary that is a str; give the words in the model's order"),
        (set(WORDS), "a vocabulary that is a set"),
        ({word: place + 1 for place, word in enumerate(WORDS)}, "the vocabulary's columns are not 0 to 7, each once"),
        (dict.fromkeys(WORDS, 0), "the vocabulary's columns are not 0 to 7, each once"),
        (3, "a vocabulary that is a int"),
    ],
)
def test_a_vocabulary_without_an_order_is_refused(vocabulary: Any, message: str) -> None:
    topics = topics_of()
    with pytest.raises(InputError, match=message):
        heldout.audit((topics.phi, topics.alpha), COUNTS, vocabulary=vocabulary)


def test_a_binary_vectorizer_as_the_vocabulary_counts_a_word_once(texts: list[str]) -> None:
    model = LatentDirichletAllocation(2, random_state=0, max_iter=2)
    pipeline = make_pipeline(CountVectorizer(binary=True), model).fit(texts)
    lists, vectorizer = [text.split() for text in texts], pipeline[0]
    assert nats(model, lists, vocabulary=vectorizer) == pytest.approx(nats(pipeline, texts), abs=1e-9)
    once = vectorizer.transform(texts)
    assert nats(model, once, vocabulary=vectorizer) == pytest.approx(nats(pipeline, texts), abs=1e-9)


def test_names_on_a_table_of_topics_are_the_words() -> None:
    topics = topics_of()
    table = pd.DataFrame(topics.phi, columns=WORDS)[[WORDS[w] for w in SHUFFLED]]
    for documents in (pd.DataFrame(COUNTS, columns=WORDS), FORMS["lists of words"]()):
        assert nats((table, topics.alpha), documents) == pytest.approx(expected(), abs=1e-9)
    assert nats((pd.DataFrame(topics.phi), topics.alpha), COUNTS) == pytest.approx(expected(), abs=1e-9)
    with pytest.raises(InputError, match="leave the vocabulary out"):
        heldout.audit((table, topics.alpha), COUNTS, vocabulary=WORDS)
    with pytest.raises(InputError, match="phi has a mask"):
        heldout.audit((np.ma.masked_less(topics.phi, topics.phi.max()), topics.alpha), COUNTS)


def test_tokens_left_out_above_a_tenth_are_the_first_that_is_said() -> None:
    lists = FORMS["lists of words"]()
    few, many = ([[*document, *more] for document in lists] for more in (["new"], ["new"] * 9 + ["newer"]))
    for documents, said in ((few, False), (many, True)):
        result = heldout.audit(topics_of(), documents, probability=False)
        assert result.words_left_out[0] == "new"
        assert result.to_json()["words_left_out"] == list(result.words_left_out)
        assert ("new, newer" in " ".join(str(result).split()[:25])) == said


def test_words_that_a_folder_cannot_have_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("COVID in new_york and in the U.S.")
    words = ["in", "COVID", "new_york", "u.s."]
    result = heldout.audit((np.full((2, 4), 0.25), 1.0), tmp_path, vocabulary=words, probability=False)
    assert (result.uncut, result.tokens) == (("COVID", "new_york", "u.s."), 2)
    assert "COVID, new_york, u.s." in " ".join(str(result).split()[:50])
    lists = heldout.audit((np.full((2, 4), 0.25), 1.0), [words], vocabulary=words, probability=False)
    assert (lists.uncut, lists.tokens) == ((), 4)


ROOT = Path(__file__).parents[3]
REFUSALS = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "documents.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_what_the_page_on_documents_quotes_is_said() -> None:
    sources = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "heldout").rglob("*.py"))
    said = re.sub(r'"\s*\n\s*f?"', "", sources)
    assert len(REFUSALS) > 20
    assert [quoted for quoted in REFUSALS if quoted not in said] == []
