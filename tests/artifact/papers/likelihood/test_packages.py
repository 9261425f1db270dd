"""Packages fitted and scored: their own numbers, what those are made of, and the same documents by our evaluators."""

import math
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifact.papers.likelihood.experiments import packages
from artifact.papers.likelihood.experiments.packages import KINDS, documents, experiment, with_own_words
from artifact.papers.likelihood.settings import Packages
from artifact.results.measurements import MEASUREMENTS, Measurement
from artifact.results.scores import Score, write_scores
from artifact.study import study
from artifact.study.job import Job
from artifact.study.study import DRIVERS, PEERS, installed
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.folding_in import full_folding_in, maximum
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.libraries.parts import bound_of_documents, dirichlet_divergence
from heldout.libraries.read import fitted
from heldout.seeds import generator
from heldout.topics import LogisticNormalTopics

ROUNDS = dict.fromkeys(KINDS, 20) | {"scikit-learn": 3, "gensim": 2}
SETTINGS: dict[str, Any] = {
    "rounds": ROUNDS,
    "own_rounds": {"gensim": 1},
    "own_rounds_topics": 3,
    "training_documents": 40,
    "scored": (5,),
    "samples": 300,
}
V, D, TEST = 30, 60, 15
STUB = """#!{python}
import sys
from pathlib import Path
import numpy as np
import scipy.io
folder = Path(sys.argv[1])
counts = scipy.io.mmread(folder / "training.mtx").tocsr()
K = int((folder / "settings.csv").read_text().split()[1].split(",")[0])
phi = np.random.default_rng(0).dirichlet(np.ones(counts.shape[1]), K)
phi.tofile(folder / "topics.f64")
np.full(K, 0.5).tofile(folder / "alpha.f64")
lines = ["test,value"]
for path in sorted(folder.glob("test-*.mtx")):
    test, name = scipy.io.mmread(path).tocsr(), path.stem[5:]
    theta = np.random.default_rng(1).dirichlet(np.ones(K), test.shape[0])
    theta.tofile(folder / f"theta-{{name}}.f64")
    nats = (test.toarray() * np.log(theta @ phi)).sum()
    lines.append(f"{{name}},{{np.exp(-nats / test.sum()) * {wrong}:.17g}}")
(folder / "reported.csv").write_text("\\n".join(lines))
(folder / "version.txt").write_text("1.2")
"""

# a network: topics, a logistic-normal prior, and every document's bound
NEURAL = """#!{python}
import sys
from pathlib import Path
import numpy as np
import scipy.io
folder = Path(sys.argv[1])
V = scipy.io.mmread(folder / "training.mtx").shape[1]
np.random.default_rng(0).dirichlet(np.ones(V), 2).tofile(folder / "topics.f64")
np.zeros(2).tofile(folder / "mean.f64")
np.eye(2).tofile(folder / "covariance.f64")
lines = ["test,value"]
for path in sorted(folder.glob("test-*.mtx")):
    test, name = scipy.io.mmread(path).tocsr(), path.stem[5:]
    bounds = np.column_stack([-9.0 * test.sum(axis=1), np.full(test.shape[0], 0.5)])
    bounds.tofile(folder / f"documents-{{name}}.f64")
    lines.append(f"{{name}},{{9.0 + {wrong}:.17g}}")
(folder / "reported.csv").write_text("\\n".join(lines))
(folder / "version.txt").write_text("1.2")
"""


@cache
def corpus() -> Corpus:
    """Return documents of 3 topics; a word occurs in the test documents of the split alone."""
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


def job(package: str, topics: int = 2) -> Job:
    return Job(corpus(), package, "packages", topics, test_documents=TEST)


@cache
def run(package: str, limit: float = 1e7, topics: int = 2) -> tuple[dict[str, Score], list[Measurement]]:
    if package not in installed():
        pytest.skip(f"{package} is not installed; make packages")
    scores, rows, notes, _ = experiment(job(package, topics), Packages(limit=limit, **SETTINGS))
    if package in PEERS:
        assert [note.text for note in notes] == [version(package)]
    assert len({score.evaluator for score in scores}) == len(scores)
    return {score.evaluator: score for score in scores}, rows


def value(rows: list[Measurement], quantity: str, at: int = TEST) -> float:
    (found,) = [row.value for row in rows if row.quantity == quantity and row.at == at]
    return found


def tokens_of(words: str) -> Corpus:
    training, test = documents(job(""), 40)
    return test if words == "all" else test.over(with_own_words(training).vocabulary)[0]


@pytest.mark.parametrize("package", KINDS)
def test_scores_are_of_the_same_tokens_and_in_the_order_that_is_known(package: str) -> None:
    neural = KINDS[package].neural
    scores, rows = run(package, 1e9 if neural else 1e7)
    known, everything = tokens_of("known").n_tokens, tokens_of("all").n_tokens
    assert known < everything
    bounds = set() if neural else {"mean-field-bound"}
    assert set(scores) == {"reported", "full-folding-in", "half-folding-in", "exact-marginal"} | bounds
    for name, score in scores.items():
        assert (score.model, score.variant, score.chain, score.topics) == (package, "packages", "none", 2)
        assert score.documents == TEST
        if name != "half-folding-in":
            assert (score.tokens, score.tokens_left_out) == (known, everything - known)
    bound, exact, full = (
        scores[n].log_likelihood
        for n in ("reported" if neural else "mean-field-bound", "exact-marginal", "full-folding-in")
    )
    assert bound < exact < full
    assert value(rows, "known-likelihood") == pytest.approx(exact / known, rel=1e-12)
    assert value(rows, "known-likelihood-spread") > 0.0
    assert math.isnan(scores["reported"].standard_error) != neural
    reported = scores["reported"].log_likelihood
    assert reported < bound if KINDS[package].near == "mean-field-bound" else reported <= full


@pytest.mark.parametrize("words", ["known", "all"])
@pytest.mark.parametrize("package", KINDS)
def test_the_parts_add_up_to_the_reported_number(package: str, words: str) -> None:
    scores, rows = run(package, 1e9 if KINDS[package].neural else 1e7)
    if words == "all" and not KINDS[package].unseen:
        assert not [row for row in rows if row.quantity.startswith("all-")]
        return
    parts = [row.value for row in rows if row.quantity.startswith(f"{words}-part-")]
    of_known = scores["exact-marginal"].log_likelihood / tokens_of(words).n_tokens
    assert value(rows, f"{words}-reported") == pytest.approx(of_known + math.fsum(parts), rel=1e-12)
    assert value(rows, f"{words}-tokens") == tokens_of(words).n_tokens


def test_scikit_learns_parts_are_what_they_are_called() -> None:
    lda = pytest.importorskip("sklearn.decomposition").LatentDirichletAllocation
    _, rows = run("scikit-learn")
    training, test = documents(job(""), 40)
    start = int(generator("peers-fit", corpus="made-up", model="scikit-learn", topics=2, seed=0).integers(2**31))
    model = lda(n_components=2, random_state=start, max_iter=3).fit(training.counts())
    eta, alpha = np.array(model.topic_word_prior_), np.full(2, model.doc_topic_prior_)
    topics_part = -dirichlet_divergence(model.components_, eta)
    assert topics_part < 0.0
    peer = fitted(model, training.vocabulary).dirichlet
    own = with_own_words(training).vocabulary
    documents_parts = {}
    for words in ("known", "all"):
        scored = test.over(own)[0].over(training.vocabulary)[0] if words == "known" else test
        X, N = scored.counts(), scored.n_tokens
        number = model.perplexity(X)
        assert value(rows, f"{words}-reported") == pytest.approx(-math.log(number), rel=1e-9)
        documents_parts[words] = bound_of_documents(X, alpha, model._unnormalized_transform(X), model.components_)
        assert value(rows, f"{words}-part-topics") * N == pytest.approx(topics_part, rel=1e-9)
        without = mean_field_bound(peer, test.over(own)[0]).log_likelihood.sum()
        random = value(rows, f"{words}-part-random-topics") * N
        assert random == pytest.approx(documents_parts["known"] - without, rel=1e-6)
        as_mended = documents_parts[words] / N + topics_part / model.components_.sum()
        assert value(rows, f"{words}-mended") == pytest.approx(as_mended, rel=1e-9)
        order = generator("packages-scored", corpus="made-up", seed=0).permutation(TEST)
        first = scored.subset(np.sort(order[:5]))
        assert value(rows, f"{words}-reported", 5) == pytest.approx(-math.log(model.perplexity(first.counts())))
    unseen = value(rows, "all-part-unseen") * test.n_tokens
    assert unseen == pytest.approx(documents_parts["all"] - documents_parts["known"], rel=1e-6)
    assert not [row for row in rows if row.quantity == "known-part-unseen"]


def test_gensims_number_is_what_its_user_sees() -> None:
    models = pytest.importorskip("gensim.models")
    _, rows = run("gensim")
    training, test = documents(job(""), 40)

    def bags(some: Corpus) -> list[list[tuple[int, int]]]:
        counted = [np.unique(some.document(d), return_counts=True) for d in range(some.n_documents)]
        return [[(int(v), int(n)) for v, n in zip(*row, strict=True)] for row in counted]

    start = int(generator("peers-fit", corpus="made-up", model="gensim", topics=2, seed=0).integers(2**31))
    words = dict(enumerate(training.vocabulary))
    model = models.LdaModel(bags(training), num_topics=2, id2word=words, random_state=start, passes=2)
    model.random_state = np.random.RandomState(0)
    assert value(rows, "all-reported") == pytest.approx(float(model.log_perplexity(bags(test))), rel=1e-6)


def test_a_model_of_the_packages_own_rounds_stands_beside_at_one_number_of_topics() -> None:
    pytest.importorskip("gensim")
    scores, rows, _, _ = experiment(job("gensim", 3), Packages(limit=1e7, **SETTINGS))
    variants = {score.variant for score in scores}
    assert variants == {row.variant for row in rows} == {"packages", "packages-default-rounds"}
    reported = [row.value for row in rows if row.quantity == "all-reported" and row.at == TEST]
    assert len(reported) == 2
    assert reported[0] != reported[1]


def test_a_line_that_another_release_has_is_not_mended() -> None:
    other = type("Other", (), {"_perplexity_precomp_distr": with_own_words})()
    with pytest.raises(InputError, match="no longer has the line 'perword_bound = bound / word_cnt'"):
        packages.mended(other, corpus())


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where topicmodels' driver is looked for."""
    monkeypatch.setenv(DRIVERS, str(tmp_path))
    return tmp_path / "topicmodels-gibbs"


def stub(path: Path, wrong: float = 1.0, text: str = STUB) -> None:
    import sys

    path.write_text(text.format(python=sys.executable, wrong=wrong))
    path.chmod(0o755)


def test_a_driver_is_given_counts_and_its_numbers_parts_are_what_they_are_called(driver: Path) -> None:
    stub(driver)
    scores, rows, notes, _ = experiment(job("topicmodels-gibbs"), Packages(limit=1e7, **SETTINGS))
    assert [note.text for note in notes] == ["1.2"]
    (exact,) = [score.log_likelihood for score in scores if score.evaluator == "exact-marginal"]
    training, test = documents(job(""), 40)
    phi = np.random.default_rng(0).dirichlet(np.ones(test.n_words), 2)
    topics = fitted((phi, 0.5), test.vocabulary).dirichlet
    known = test.over(with_own_words(training).vocabulary)[0]
    log_p = np.log(np.random.default_rng(1).dirichlet(np.ones(2), TEST) @ phi)
    own = np.isin(test.vocabulary, known.vocabulary)
    full, N = full_folding_in([topics], known, maximum).log_likelihood.sum(), test.n_tokens
    counts = test.counts().toarray()
    expected = {
        "folding-in": full - exact,
        "sample": (counts * log_p)[:, own].sum() - full,
        "unseen": (counts * log_p)[:, ~own].sum(),
    }
    assert {name: value(rows, f"all-part-{name}") * N for name in expected} == pytest.approx(expected, rel=1e-9)
    assert value(rows, "all-reported") == pytest.approx((counts * log_p).sum() / N, rel=1e-9)


def test_a_networks_bound_is_of_documents_and_its_likelihood_of_its_own_prior(driver: Path) -> None:
    stub(driver.parent / "etm", 0.0, NEURAL)
    scores, rows, _, _ = experiment(job("etm"), Packages(limit=1e9, **SETTINGS))
    found = {score.evaluator: score for score in scores}
    known = tokens_of("known")
    phi = np.random.default_rng(0).dirichlet(np.ones(known.n_words), 2)
    topics = LogisticNormalTopics.of(phi, np.zeros(2), np.eye(2), known.vocabulary)
    exact = logistic_normal_exact(topics, known).log_likelihood.sum()
    assert found["exact-marginal"].log_likelihood == pytest.approx(exact, rel=1e-12)
    reported = found["reported"]
    assert reported.log_likelihood == pytest.approx(-9.0 * known.n_tokens, rel=1e-12)
    assert reported.standard_error == pytest.approx(0.5 * math.sqrt(TEST), rel=1e-12)
    assert reported.groups is not None
    assert value(rows, "known-part-bound") == pytest.approx(-9.0 - exact / known.n_tokens, rel=1e-12)
    stub(driver.parent / "etm", 0.1, NEURAL)
    with pytest.raises(InputError, match=r"etm cannot be taken apart"):
        experiment(job("etm"), Packages(limit=1e9, **SETTINGS))


def test_a_number_that_is_not_of_its_theta_or_no_number_is_refused(driver: Path) -> None:
    stub(driver, wrong=1.1)
    with pytest.raises(InputError, match=r"topicmodels-gibbs cannot be taken apart"):
        experiment(job("topicmodels-gibbs"), Packages(limit=1e7, **SETTINGS))
    driver.write_text("#!/bin/sh\necho first >&2; echo no R here >&2; exit 3\n")
    with pytest.raises(InputError, match=r"topicmodels-gibbs: its driver ended with 3 \(no R here\)") as error:
        experiment(job("topicmodels-gibbs"), Packages(limit=1e7, **SETTINGS))
    assert str(error.value).count("\n") == 0


def test_the_likelihood_is_sampled_where_exact_values_cost_too_much() -> None:
    exact, sampled = run("scikit-learn")[0], run("scikit-learn", limit=0.0)[0]
    assert "exact-marginal" not in sampled
    found = sampled["reference"]
    assert found.samples == 300
    # a false alarm of 1e-5
    assert abs(found.log_likelihood - exact["exact-marginal"].log_likelihood) < 4.4 * found.standard_error
    unchanged = {name: score for name, score in exact.items() if name not in ("exact-marginal", "reported")}
    assert {name: sampled[name] for name in unchanged} == unchanged


@pytest.mark.parametrize("package", KINDS)
def test_the_same_run_gives_the_same_bytes(package: str, tmp_path: Path) -> None:
    first = run(package)
    run.cache_clear()
    second = run(package)
    for name, (scores, rows) in (("one", first), ("two", second)):
        write_scores(tmp_path / f"{name}-scores.csv", scores.values())
        MEASUREMENTS.write(tmp_path / f"{name}-rows.csv", rows)
    for kind in ("scores", "rows"):
        assert (tmp_path / f"one-{kind}.csv").read_bytes() == (tmp_path / f"two-{kind}.csv").read_bytes()


def test_a_package_that_is_not_there_is_refused_in_one_line(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Packages(limit=1e7, **SETTINGS)
    with pytest.raises(InputError, match="there is no package mallet; there are scikit-learn, gensim, spark"):
        experiment(job("mallet"), settings)
    with pytest.raises(InputError, match="topicmodels-gibbs is not installed; make packages"):
        experiment(job("topicmodels-gibbs"), settings)
    stub(driver)
    monkeypatch.setattr(study, "find_spec", lambda name: None if name == "gensim" else object())
    assert installed() == ["scikit-learn", "tomotopy", "topicmodels-gibbs"]
    with pytest.raises(InputError, match=r"gensim is not installed; pip install 'heldout\[peers\]'"):
        experiment(job("gensim"), settings)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=5))
def test_own_words_are_those_that_occur_and_documents_keep_theirs(streams: list[list[int]]) -> None:
    words = tuple("jihgfedcba")
    empty = Corpus("made-up", words, np.zeros(0, np.int32), np.zeros(1, np.int64), ())
    documents = empty.with_streams([np.array(s, np.int32) for s in streams], tuple(map(str, range(len(streams)))))
    kept = with_own_words(documents)
    assert kept.vocabulary == tuple(w for i, w in enumerate(words) if any(i in stream for stream in streams))
    for d, stream in enumerate(streams):
        assert [kept.vocabulary[v] for v in kept.document(d)] == [words[v] for v in stream]
