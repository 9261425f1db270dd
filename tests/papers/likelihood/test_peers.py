"""Other libraries fitted and scored: their own numbers, and the same documents under this project's evaluators."""

import math
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import study
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.job import Job
from heldout.measurements import Measurement, write_measurements
from heldout.notes import Note
from heldout.papers.likelihood.experiments.peers import experiment, with_own_words
from heldout.papers.likelihood.settings import Peers
from heldout.scores import Score, write_scores
from heldout.seeds import generator
from heldout.study import PEERS, installed

SETTINGS: dict[str, Any] = {"max_iter": 3, "passes": 2, "sweeps": 20, "samples": 300}
V, D, TEST = 30, 60, 15


@cache
def corpus() -> Corpus:
    """Return documents of 3 topics; some words occur in the test documents of the split alone."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(V, 0.2), 3)
    streams = [
        rng.choice(V, size=10 + d % 5, p=rng.dirichlet(np.full(3, 0.5)) @ phi).astype(np.int32) for d in range(D)
    ]
    words = tuple(f"w{v:02d}" for v in range(V + 1))
    empty = Corpus("made-up", words, np.zeros(0, np.int32), np.zeros(1, np.int64), ())
    made = empty.with_streams(streams, tuple(str(d) for d in range(D)))
    held_out = set(train_test_split(made, TEST, 0)[1].documents)
    streams = [np.append(s, V).astype(np.int32) if str(d) in held_out else s for d, s in enumerate(streams)]
    return empty.with_streams(streams, made.documents)


@cache
def run(library: str, limit: float = 1e7, topics: int = 2) -> tuple[dict[str, Score], list[Measurement]]:
    pytest.importorskip(PEERS[library])
    job = Job(corpus(), library, "peers", topics, test_documents=TEST)
    scores, rows, notes = experiment(job, Peers(limit=limit, **SETTINGS))
    assert notes == [Note("made-up", library, "peers", topics, 0, "version", "topics", topics, version(library))]
    assert len({score.evaluator for score in scores}) == len(scores)
    return {score.evaluator: score for score in scores}, rows


def values(rows: list[Measurement], quantity: str) -> list[float]:
    return [row.value for row in rows if row.quantity == quantity]


def per_token(scores: dict[str, Score], evaluator: str) -> float:
    return scores[evaluator].log_likelihood / scores[evaluator].tokens


@pytest.mark.parametrize("library", PEERS)
def test_scores_are_of_the_same_tokens_and_in_the_order_that_is_known(library: str) -> None:
    scores, _ = run(library)
    _, test = train_test_split(corpus(), TEST, 0)
    training_words = set(train_test_split(corpus(), TEST, 0)[0].tokens.tolist())
    known = sum(int(v) in training_words for v in test.tokens)
    assert known < test.n_tokens
    assert set(scores) == {"reported", "mean-field-bound", "full-folding-in", "half-folding-in", "exact-marginal"}
    for name, score in scores.items():
        assert (score.model, score.variant, score.chain, score.topics) == (library, "peers", "none", 2)
        assert score.documents == TEST
        if name != "half-folding-in":
            assert (score.tokens, score.tokens_left_out) == (known, test.n_tokens - known)
    exact = scores["exact-marginal"].log_likelihood
    assert scores["reported"].log_likelihood < scores["mean-field-bound"].log_likelihood < exact
    assert exact < scores["full-folding-in"].log_likelihood
    assert math.isnan(scores["reported"].standard_error)


def test_scikit_learns_number_is_what_its_user_sees() -> None:
    lda = pytest.importorskip("sklearn.decomposition").LatentDirichletAllocation
    scores, rows = run("scikit-learn")
    training, test = train_test_split(corpus(), TEST, 0)
    own = np.unique(training.tokens)
    start = int(generator("peers-fit", corpus="made-up", model="scikit-learn", topics=2, seed=0).integers(2**31))
    model = lda(n_components=2, random_state=start, max_iter=3).fit(training.counts().toarray()[:, own])
    expected = model.perplexity(test.counts().toarray()[:, own])
    assert values(rows, "reported-value") == pytest.approx([expected], rel=1e-9)
    assert scores["reported"].perplexity == pytest.approx(expected, rel=1e-9)


def test_gensims_number_is_what_its_user_sees() -> None:
    models = pytest.importorskip("gensim.models")
    scores, rows = run("gensim")
    training, test = train_test_split(corpus(), TEST, 0)
    own = {int(v): i for i, v in enumerate(np.unique(training.tokens))}

    def bags(documents: Corpus) -> list[list[tuple[int, int]]]:
        counted = [np.unique(documents.document(d), return_counts=True) for d in range(documents.n_documents)]
        return [[(own[int(v)], int(n)) for v, n in zip(*row, strict=True) if int(v) in own] for row in counted]

    start = int(generator("peers-fit", corpus="made-up", model="gensim", topics=2, seed=0).integers(2**31))
    words = {i: corpus().vocabulary[v] for v, i in own.items()}
    model = models.LdaModel(bags(training), num_topics=2, id2word=words, random_state=start, passes=2)
    model.random_state = np.random.RandomState(0)
    expected = float(model.log_perplexity(bags(test)))
    assert values(rows, "reported-value") == pytest.approx([expected], rel=1e-6)
    assert scores["reported"].log_likelihood / scores["reported"].tokens == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("library", ["scikit-learn", "gensim"])
def test_the_growing_term_explains_the_reported_number(library: str) -> None:
    (few, few_rows), (many, many_rows) = run(library), run(library, limit=0.0, topics=8)
    (small,), (large,) = values(few_rows, "reported-growing"), values(many_rows, "reported-growing")
    assert large < 2.0 * small < 0.0
    for scores, growing in ((few, small), (many, large)):  # without it, a bound by Jensen's inequality
        assert per_token(scores, "reported") - growing < per_token(scores, "mean-field-bound")


def test_tomotopys_training_perplexity_is_beside_it() -> None:
    _, rows = run("tomotopy")
    (training,) = values(rows, "training-perplexity")
    assert 1.0 < training < 10.0 * V
    assert values(run("scikit-learn")[1], "training-perplexity") == []


def test_the_truth_is_sampled_where_exact_values_cost_too_much() -> None:
    exact, sampled = run("scikit-learn")[0], run("scikit-learn", limit=0.0)[0]
    assert "exact-marginal" not in sampled
    found = sampled["reference"]
    assert found.samples == 300
    # a false alarm of 1e-5
    assert abs(found.log_likelihood - exact["exact-marginal"].log_likelihood) < 4.4 * found.standard_error
    unchanged = {name: score for name, score in exact.items() if name not in ("exact-marginal", "reported")}
    assert {name: sampled[name] for name in unchanged} == unchanged


@pytest.mark.parametrize("library", PEERS)
def test_the_same_run_gives_the_same_bytes(library: str, tmp_path: Path) -> None:
    first = run(library)
    run.cache_clear()
    second = run(library)
    for name, (scores, rows) in (("one", first), ("two", second)):
        write_scores(tmp_path / f"{name}-scores.csv", scores.values())
        write_measurements(tmp_path / f"{name}-rows.csv", rows)
    for kind in ("scores", "rows"):
        assert (tmp_path / f"one-{kind}.csv").read_bytes() == (tmp_path / f"two-{kind}.csv").read_bytes()


def test_a_library_that_is_not_there_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Peers(limit=1e7, **SETTINGS)
    with pytest.raises(InputError, match="there is no library mallet; there are scikit-learn, gensim, tomotopy"):
        experiment(Job(corpus(), "mallet", topics=2, test_documents=TEST), settings)
    monkeypatch.setattr(study, "find_spec", lambda name: None if name == "gensim" else object())
    assert installed() == ["scikit-learn", "tomotopy"]
    with pytest.raises(InputError, match=r"gensim is not installed; pip install 'heldout\[peers\]'"):
        experiment(Job(corpus(), "gensim", topics=2, test_documents=TEST), settings)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=5))
def test_own_words_are_those_that_occur_and_documents_keep_theirs(streams: list[list[int]]) -> None:
    words = tuple("jihgfedcba")
    empty = Corpus("made-up", words, np.zeros(0, np.int32), np.zeros(1, np.int64), ())
    documents = empty.with_streams([np.array(s, np.int32) for s in streams], tuple(map(str, range(len(streams)))))
    kept = with_own_words(documents)
    assert kept.vocabulary == tuple(w for i, w in enumerate(words) if any(i in stream for stream in streams))
    for d, stream in enumerate(streams):
        assert [kept.vocabulary[v] for v in kept.document(d)] == [words[v] for v in stream]
