import gzip
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import FIXTURES
from scipy.special import gammaln

from heldout.errors import InputError
from heldout.libraries.mallet import State, read
from heldout.libraries.read import read_model

HEADING = "#doc source pos typeindex type topic\n#alpha : 0.5 1.5 \n#beta : 0.25\n"


def written(path: Path, tokens: str, heading: str = HEADING) -> Path:
    path.write_bytes(gzip.compress((heading + tokens).encode(), mtime=0))
    return path


def test_phi_is_what_mallet_itself_writes() -> None:
    """`--topic-word-weights-file`, written by the same run, has n_kw + beta."""
    fitted = read_model(FIXTURES / "mallet-state.gz")
    weights = np.zeros(fitted.topics.phi.shape)
    for line in (FIXTURES / "mallet-weights.txt").read_text().splitlines():
        topic, word, weight = line.split("\t")
        weights[int(topic), fitted.topics.vocabulary.index(word)] = float(weight)
    np.testing.assert_allclose(fitted.topics.phi, weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)
    assert fitted.library == "MALLET"
    assert fitted.words_known
    assert (fitted.dirichlet.alpha > 0).all()


def test_documents_are_counted_up_as_a_second_pass_does() -> None:
    """The slow twin: all tokens in memory; sources have spaces in them, one document has no token."""
    text = gzip.decompress((FIXTURES / "mallet-state.gz").read_bytes()).decode()
    tokens = [(int(line.split(" ")[0]), int(line.split(" ")[-1])) for line in text.splitlines()[3:]]
    documents = {document: Counter(topic for d, topic in tokens if d == document) for document, _ in tokens}
    state = read_model(FIXTURES / "mallet-state.gz").native
    assert isinstance(state, State)
    lengths = Counter(counts.total() for counts in documents.values())
    pairs = Counter(pair for counts in documents.values() for pair in counts.items())
    assert dict(state.lengths.tolist()) == lengths
    assert {(topic, count): number for topic, count, number in state.document_topics.tolist()} == pairs
    assert (state.n_tokens, state.n_documents) == (len(tokens), len(documents))
    assert text.count("two words/document") == len(tokens)
    np.testing.assert_array_equal(state.topic_word.sum(axis=1), [sum(t == k for _, t in tokens) for k in range(4)])


def test_the_tables_give_the_number_that_mallet_printed() -> None:
    """log p(w, z) from the tables, and what MALLET adds for the one empty document.

    It keeps room for two tokens at least, gives both a random topic and counts them: alpha_j alpha_k / (A (A + 1)).
    """
    state = read_model(FIXTURES / "mallet-state.gz").native
    total, n_words = state.alpha.sum(), state.topic_word.shape[1]
    length, documents = state.lengths.T
    topic, count, having = state.document_topics.T
    nats = (documents * (gammaln(total) - gammaln(total + length))).sum()
    nats += (having * (gammaln(state.alpha[topic] + count) - gammaln(state.alpha[topic]))).sum()
    nats += (gammaln(n_words * state.beta) - gammaln(n_words * state.beta + state.topic_word.sum(axis=1))).sum()
    nats += (gammaln(state.beta + state.topic_word) - gammaln(state.beta)).sum()
    printed = float((FIXTURES / "mallet-log.txt").read_text().split()[-1])
    hidden = np.log((np.outer(state.alpha, state.alpha) + np.diag(state.alpha)) / (total * (total + 1.0)))
    assert np.abs((nats + hidden) / state.n_tokens - printed).min() < 6e-6


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), max_size=5), min_size=1, max_size=6))
def test_any_state(documents: list[list[tuple[int, int]]]) -> None:
    tokens = "".join(
        f"{d} NA {place} {word} v{word} {topic}\n"
        for d, document in enumerate(documents)
        for place, (word, topic) in enumerate(document)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder, "state.gz"), tokens)
        if not tokens:
            with pytest.raises(InputError, match="no token in it"):
                read(path)
            return
        fitted = read(path)
    flat = [token for document in documents for token in document]
    n_words = 1 + max(word for word, _ in flat)
    counts = np.array([[flat.count((word, topic)) for word in range(n_words)] for topic in range(2)])
    np.testing.assert_array_equal(fitted.native.topic_word, counts)
    expected = (counts + 0.25) / (counts.sum(axis=1, keepdims=True) + n_words * 0.25)
    np.testing.assert_allclose(fitted.topics.phi, expected, rtol=1e-14)
    seen = {word for word, _ in flat}
    assert fitted.topics.vocabulary == tuple(f"v{w}" if w in seen else f"(type {w})" for w in range(n_words))
    assert fitted.topics.provenance["unnamed_words"] == n_words - len(seen)


def test_a_plain_state_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "state").write_text(HEADING + "0 NA 0 0 a 1\n")
    assert read_model(tmp_path / "state").topics.provenance["format"] == "mallet"


def test_alpha_that_mallets_optimisation_made_negative() -> None:
    with pytest.raises(InputError, match=r"negative-alpha.gz: line 2: alpha of topic 0 is -1.001;"):
        read_model(FIXTURES / "mallet-negative-alpha.gz")


@pytest.mark.parametrize(
    ("tokens", "heading", "message"),
    [
        ("0 NA 0 0 a\n", HEADING, "line 4: expected document, source, position, type, word, topic, found"),
        ("0 NA 0 0 a x\n", HEADING, "line 4: the topic must be an integer, found 'x'"),
        ("0 NA 0 0 a 2\n", HEADING, "line 4: topic 2, but alpha has 2 numbers"),
        ("0 NA 0 -1 a 1\n", HEADING, "line 4: the type must be 0 or more, found -1"),
        ("0 NA x 0 a 1\n", HEADING, "line 4: the position must be an integer"),
        ("x NA 0 0 a 1\n", HEADING, "line 4: the document must be an integer"),
        ("0 NA 0 0 a 1\n0 NA 1 0 b 1\n", HEADING, "line 5: type 0 is 'b', but was 'a' before"),
        ("0 NA 0 0 a 1\n0 NA 1 1 a 1\n", HEADING, "vocabulary: 'a' is there a second time"),
        ("1 NA 0 0 a 1\n0 NA 1 1 b 1\n", HEADING, "line 5: document 0 after document 1; put the lines in order"),
        ("0 NA 0 99999999 a 1\n", HEADING, "type 99999999, but only 1 words; damaged"),
        ("", HEADING, "no token in it; train on documents"),
        ("", "#doc source pos typeindex type topic\n#alpha : 0.5\n", "line 1: expected '#doc"),
        ("", "#doc something\n", "neither its name nor its first bytes tell"),
        ("0 NA 0 0 a 0\n", HEADING.replace("#alpha : 0.5 1.5", "#alpha :"), "line 2: expected '#alpha : numbers'"),
        ("0 NA 0 0 a 0\n", HEADING.replace("0.5 1.5", "0.5 x"), "line 2: expected '#alpha : numbers'"),
        ("0 NA 0 0 a 0\n", HEADING.replace("0.5 1.5", "0.5 NaN"), "line 2: alpha of topic 1 is nan"),
        ("0 NA 0 0 a 0\n", HEADING.replace("0.25", "0"), "line 3: beta must be one positive number"),
        ("0 NA 0 0 a 0\n", HEADING.replace("#beta", "#gamma"), "line 3: expected '#beta : numbers'"),
    ],
)
def test_malformed(tmp_path: Path, tokens: str, heading: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_model(written(tmp_path / "state.gz", tokens, heading))


def test_every_truncated_state_is_refused(tmp_path: Path) -> None:
    whole = (FIXTURES / "mallet-state.gz").read_bytes()
    path = tmp_path / "state.gz"
    for length in range(1, len(whole), 101):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"truncated or damaged|neither its name|line 1: expected"):
            read_model(path)
    damaged = bytearray(whole)
    damaged[-6] ^= 1  # the checksum of the text
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="damaged"):
        read_model(path)


def test_a_bomb_is_refused_early(tmp_path: Path) -> None:
    path = written(tmp_path / "state.gz", ("0 " + "x" * 1_000_000 + " 0 0 a 1\n") * 20)
    assert path.stat().st_size < 40_000
    with pytest.raises(InputError, match=r"state.gz: [0-9]+ bytes expand to [0-9]+ or more"):
        read_model(path)


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4: longer than 4194304 bytes"):
        read_model(written(tmp_path / "state.gz", "0 " * 3_000_000))


def test_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "state.gz").write_bytes(gzip.compress(HEADING.encode() + b"0 NA 0 0 \xe9t\xe9 1\n"))
    with pytest.raises(InputError, match=r"line 4: not UTF-8; run MALLET with -Dfile.encoding=UTF-8"):
        read_model(tmp_path / "state.gz")
