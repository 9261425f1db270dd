"""The numbers that libraries print, against slow twins of their formulas and against exact values."""

import copy
import gzip
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.libraries import Fitted, Reported
from heldout.libraries.mallet import State
from heldout.libraries.parts import dirichlet_divergence, log_assignments
from heldout.libraries.read import fitted, read_model
from heldout.libraries.reported import reported
from heldout.topics import Topics
from heldout.typing import Floats

V, K = 12, 3
# what MALLET 2.0.7 wrote and printed after 40 sweeps over five made-up documents; word:topic
MALLET_PRINTED = -1.45024
MALLET_ALPHA, MALLET_BETA = "1.2271687880600013 1.0080728916570976", "0.03632964419521411"
MALLET_TOKENS = """w3:1 w0:0 w3:1 w0:0 w0:0 w3:1
w0:0 w3:1 w5:1 w3:1 w0:0 w0:0 w5:1 w3:1
w0:0 w0:0 w0:0 w0:0 w3:1 w0:0 w2:1
w5:1 w0:0 w0:0
w0:0 w0:0 w5:1 w0:0"""
WORDS = tuple(f"w{v:02d}" for v in range(V))


@cache
def drawn(seed: int, documents: int = 60, length: int = 15) -> Corpus:
    rng = np.random.default_rng(seed)
    phi = np.random.default_rng(1).dirichlet(np.full(V, 0.3), K)
    streams = []
    for d in range(documents):
        theta = rng.dirichlet(np.full(K, 0.4))
        streams.append(rng.choice(V, size=length + d % 7, p=theta @ phi).astype(np.int32))
    empty = Corpus("made-up", WORDS, np.zeros(0, np.int32), np.zeros(1, np.int64), ())
    return empty.with_streams(streams, tuple(str(d) for d in range(documents)))


def parts(corpus: Corpus, size: int) -> list[Corpus]:
    return [corpus.subset(range(i, min(i + size, corpus.n_documents))) for i in range(0, corpus.n_documents, size)]


@cache
def scikit_learn(topics: int = K) -> Fitted:
    lda = pytest.importorskip("sklearn.decomposition").LatentDirichletAllocation
    return fitted(lda(n_components=topics, random_state=0).fit(drawn(0).counts()), WORDS)


def bags(corpus: Corpus) -> list[list[tuple[int, int]]]:
    return [
        [(int(v), int(n)) for v, n in zip(*np.unique(corpus.document(d), return_counts=True), strict=True)]
        for d in range(corpus.n_documents)
    ]


@cache
def gensim(topics: int = K, dtype: type = np.float64) -> Fitted:
    models = pytest.importorskip("gensim.models")
    made = models.LdaModel(
        bags(drawn(0)), num_topics=topics, id2word=dict(enumerate(WORDS)), random_state=0, passes=5, dtype=dtype
    )
    return fitted(made)


@cache
def tomotopy(topics: int = K) -> Fitted:
    model = pytest.importorskip("tomotopy").LDAModel(k=topics, seed=1)
    for d in range(60):
        model.add_doc([WORDS[v] for v in drawn(0).document(d)])
    model.train(100, workers=1)
    return fitted(model)


def expected_logs(parameters: Floats) -> Floats:
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)


def documents_part(corpus: Corpus, alpha: Floats, log_beta: Floats, gammas: Floats) -> float:
    """Return the bound's first sum, term by term."""
    total = 0.0
    for d, gamma in enumerate(gammas):
        log_theta = expected_logs(gamma)
        total += sum(float(logsumexp(log_theta + log_beta[:, v])) for v in corpus.document(d))
        total -= dirichlet_divergence(gamma[np.newaxis], alpha[np.newaxis])
    return total


def ascended(corpus: Corpus, alpha: Floats, log_beta: Floats, *, sweeps: int, least: float) -> Floats:
    """Return gamma (D, K) by scikit-learn's E step: from ones, until it moves less than `least` on average."""
    gammas = np.ones((corpus.n_documents, len(alpha)))
    for d in range(corpus.n_documents):
        gamma = gammas[d]
        for _ in range(sweeps):
            log_r = expected_logs(gamma)[:, np.newaxis] + log_beta[:, corpus.document(d)]
            new = alpha + np.exp(log_r - logsumexp(log_r, axis=0)).sum(axis=1)
            moved, gamma = np.abs(new - gamma).mean(), new
            if moved < least:
                break
        gammas[d] = gamma
    return gammas


def sum_of_terms(number: Reported, tokens: int) -> float:
    return sum(term.nats for term in number.terms) / tokens


def test_scikit_learns_perplexity_is_the_two_parts_over_the_test_tokens() -> None:
    model, test = scikit_learn(), drawn(2, 20)
    native = model.native
    number = reported(model, parts(test, 6))
    assert number.value == native.perplexity(test.counts())
    components = native.components_
    log_beta, alpha = expected_logs(components), np.full(K, native.doc_topic_prior_)
    gammas = ascended(test, alpha, log_beta, sweeps=native.max_doc_update_iter, least=native.mean_change_tol)
    of_documents = documents_part(test, alpha, log_beta, gammas)
    of_topics = -dirichlet_divergence(components, np.array(native.topic_word_prior_))
    assert math.exp(-(of_documents + of_topics) / test.n_tokens) == pytest.approx(number.value, rel=1e-6)
    assert [term.nats for term in number.terms] == pytest.approx([of_documents, of_topics], rel=1e-6)
    assert [term.grows for term in number.terms] == [False, True]
    assert sum_of_terms(number, test.n_tokens) == pytest.approx(number.nats_per_token, rel=1e-12)
    assert number.perplexity == pytest.approx(number.value, rel=1e-12)


def test_gensims_bound_is_the_two_parts_over_the_test_tokens() -> None:
    model, test = gensim(), drawn(2, 20)
    native = model.native
    before = native.random_state.get_state()[1].copy()
    number = reported(model, parts(test, 6))
    np.testing.assert_array_equal(before, native.random_state.get_state()[1])
    twin = copy.copy(native)
    twin.random_state = np.random.RandomState(0)
    assert number.value == float(twin.log_perplexity(bags(test)))
    twin.random_state = np.random.RandomState(0)
    gammas = np.concatenate([twin.inference([bag])[0] for bag in bags(test)])
    lambdas = native.state.get_lambda()
    of_documents = documents_part(test, native.alpha, expected_logs(lambdas), gammas)
    of_topics = -dirichlet_divergence(lambdas, native.eta)
    assert [term.nats for term in number.terms] == pytest.approx([of_documents, of_topics], rel=1e-9)
    assert sum_of_terms(number, test.n_tokens) == pytest.approx(number.value, rel=1e-12)
    assert number.perplexity == pytest.approx(2.0**-number.value, rel=1e-12)  # what its log prints
    assert number.log_perplexity == pytest.approx(math.log(number.perplexity), rel=1e-12)
    assert f"prints {number.perplexity:,.1f}, where the bound's perplexity is {math.exp(-number.value):,.1f};" in (
        number.computes
    )


def test_gensims_total_docs_shrinks_the_topics_part_alone() -> None:
    model, test = gensim(), drawn(2, 20)
    number = reported(model, [test])
    twin = copy.copy(model.native)
    twin.random_state = np.random.RandomState(0)
    more = float(twin.log_perplexity(bags(test), total_docs=10 * test.n_documents))
    of_documents, of_topics = (term.nats / test.n_tokens for term in number.terms)
    assert more == pytest.approx(of_documents + of_topics / 10.0, rel=1e-12)


def test_gensims_single_precision_is_reported_as_it_is() -> None:
    model, test = gensim(dtype=np.float32), drawn(2, 20)
    number = reported(model, [test])
    twin = copy.copy(model.native)
    twin.random_state = np.random.RandomState(0)
    assert number.value == float(twin.log_perplexity(bags(test)))
    topics_part = -dirichlet_divergence(model.native.state.get_lambda(), model.native.eta)
    assert number.terms[1].nats == pytest.approx(topics_part, rel=1e-4)


@pytest.mark.parametrize("of", [scikit_learn, gensim])
def test_the_topics_part_grows_with_topics_and_with_fewer_test_documents(of: Any) -> None:
    test = drawn(2, 20)
    few, many = (reported(of(k), [test]).terms[1].nats for k in (3, 12))
    assert many < 2.0 * few < 0.0
    half = test.subset(range(10))
    assert reported(of(3), [half]).terms[1].nats == few
    assert reported(of(3), [half]).perplexity > 1.05 * reported(of(3), [test]).perplexity


class Counted:
    """tomotopy's training counts, and log p(w, z | them) of a document, by gamma functions."""

    def __init__(self, model: Fitted) -> None:
        self.alpha, self.eta = model.dirichlet.alpha, float(model.native.eta)
        self.n_k = np.asarray(model.native.get_count_by_topics(), dtype=np.float64)
        self.V = len(model.topics.vocabulary)
        self.n_kw = np.rint(model.topics.phi * (self.n_k + self.V * self.eta)[:, np.newaxis] - self.eta)

    def log_joint(self, words: Any, assigned: Any) -> tuple[float, float]:
        """Return log p(z | alpha) and log p(w | z, training), nats."""
        added = np.zeros_like(self.n_kw)
        np.add.at(added, (np.asarray(assigned), np.asarray(words)), 1.0)
        total = np.sum(gammaln(self.n_kw + added + self.eta) - gammaln(self.n_kw + self.eta))
        normaliser = self.n_k + self.V * self.eta
        total -= np.sum(gammaln(normaliser + added.sum(axis=1)) - gammaln(normaliser))
        return log_assignments(added.sum(axis=1)[np.newaxis], self.alpha), float(total)


def test_tomotopys_infer_is_a_joint_probability_with_one_assignment() -> None:
    model, test = tomotopy(), drawn(2, 20)
    native, counted = model.native, Counted(model)
    made = [native.make_doc([WORDS[v] for v in test.document(d)]) for d in range(test.n_documents)]
    _, values = native.infer(made, workers=1)
    of_topics = 0.0
    for document, value in zip(made, values, strict=True):
        prior, of_words = counted.log_joint(document.words, document.topics)
        assert value == pytest.approx(prior + of_words, abs=2e-3)  # its logarithms are in single precision
        of_topics += prior
    number = reported(model, parts(test, 7))
    assert number.value == pytest.approx(sum(values) / test.n_tokens, rel=1e-12)
    assert number.terms[0].nats == pytest.approx(of_topics, rel=1e-12)
    assert sum_of_terms(number, test.n_tokens) == pytest.approx(number.value, rel=1e-12)
    assert f"{native.perplexity:,.1f}" in number.computes


def test_tomotopys_infer_lies_below_the_likelihood_by_the_assignments_entropy() -> None:
    """Means along its chains, which start from the same numbers whatever the document: false alarms 1e-5."""
    model, test = tomotopy(), drawn(5, 3, 5)
    native, counted = model.native, Counted(model)
    sweeps = range(30, 2430, 4)  # the states of one chain, far enough apart
    values = []
    for iterations in sweeps:
        made = [native.make_doc([WORDS[v] for v in test.document(d)[:5]]) for d in range(3)]
        values.append(native.infer(made, iterations=iterations, workers=1)[1])
    for d, document in enumerate(made):
        joint = np.array([sum(counted.log_joint(document.words, z)) for z in product(range(K), repeat=5)])
        likelihood = float(logsumexp(joint))
        posterior = np.exp(joint - likelihood)
        entropy = -float(posterior @ (joint - likelihood))
        error = math.sqrt(float(posterior @ (joint - posterior @ joint) ** 2) / len(sweeps))
        assert entropy > 8.0 * error  # far from the likelihood itself
        assert abs(likelihood - entropy - np.mean([value[d] for value in values])) < 4.7 * error + 2e-3


def test_mallets_number_is_what_it_printed(tmp_path: Path) -> None:
    """A state, and `LL/token` as MALLET 2.0.7 printed it, to the five decimals that it prints."""
    path = tmp_path / "state.gz"
    lines = ["#doc source pos typeindex type topic", f"#alpha : {MALLET_ALPHA} ", f"#beta : {MALLET_BETA}"]
    types = {"w3": 0, "w0": 1, "w5": 2, "w2": 3}
    for d, document in enumerate(MALLET_TOKENS.splitlines()):
        for place, token in enumerate(document.split()):
            word, topic = token.split(":")
            lines.append(f"{d} NA {place} {types[word]} {word} {topic}")
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    number = reported(read_model(path), [])
    assert number.value == pytest.approx(MALLET_PRINTED, abs=5e-6)
    assert math.isnan(number.perplexity)
    assert number.about == "the training documents"


def test_mallets_number_is_a_product_of_polya_urns() -> None:
    rng = np.random.default_rng(0)
    streams = [[(int(rng.integers(5)), int(rng.integers(2))) for _ in range(length)] for length in (4, 1, 7, 7)]
    alpha, beta = np.array([0.4, 1.3]), 0.07
    topic_word, lengths, sharing = np.zeros((2, 5), np.int64), dict[int, int](), dict[tuple[int, int], int]()
    log_z = log_w = 0.0
    for stream in streams:
        own = np.zeros(2)
        for word, k in stream:
            log_z += math.log((alpha[k] + own[k]) / (alpha.sum() + own.sum()))
            log_w += math.log((beta + topic_word[k, word]) / (5 * beta + topic_word[k].sum()))
            own[k] += 1
            topic_word[k, word] += 1
        lengths[len(stream)] = lengths.get(len(stream), 0) + 1
        for k, n in enumerate(own.astype(int).tolist()):
            if n:
                sharing[k, n] = sharing.get((k, n), 0) + 1
    state = State(
        topic_word,
        np.array(sorted(lengths.items())),
        np.array([(k, n, documents) for (k, n), documents in sorted(sharing.items())]),
        alpha,
        beta,
    )
    topics = Topics(np.full((2, 5), 0.2), alpha, tuple("abcde"))
    number = reported(Fitted(topics, "MALLET", state), [])
    assert [term.nats for term in number.terms] == pytest.approx([log_z, log_w], rel=1e-12)
    assert number.value == pytest.approx((log_z + log_w) / 19, rel=1e-12)


def test_lda_cs_number_is_the_mean_field_bound() -> None:
    topics = Topics(np.random.default_rng(3).dirichlet(np.full(V, 0.3), K), np.full(K, 0.1), WORDS)
    test = drawn(2, 20)
    number = reported(Fitted(topics, "LDA-C"), parts(test, 7))
    bound = mean_field_bound(topics, test).log_likelihood.sum()
    assert number.value == pytest.approx(bound, rel=1e-12)
    assert number.perplexity == pytest.approx(math.exp(-bound / test.n_tokens), rel=1e-12)
    assert number.terms == ()


def test_nmf_reports_its_training_error_only() -> None:
    nmf = pytest.importorskip("sklearn.decomposition").NMF
    counts = drawn(0).counts()
    native = nmf(n_components=2, random_state=0, init="random", max_iter=2000).fit(counts)
    number = reported(fitted(native, WORDS), [drawn(2)])
    assert number.value == pytest.approx(
        np.linalg.norm(counts.toarray() - native.transform(counts) @ native.components_)
    )
    assert math.isnan(number.perplexity)
    assert number.about == "the training documents"


class Stream:
    """Batches that are made anew each time they are gone through, and cannot be counted or indexed."""

    def __init__(self, corpus: Corpus, size: int) -> None:
        self.corpus, self.size = corpus, size

    def __iter__(self) -> Iterator[Corpus]:
        yield from parts(self.corpus, self.size)


@pytest.mark.parametrize("of", [scikit_learn, gensim, tomotopy])
def test_batches_empty_documents_and_unknown_words_make_no_difference(of: Any) -> None:
    model, test = of(), drawn(2, 20)
    whole = reported(model, [test])
    assert math.isfinite(whole.value)
    assert reported(model, Stream(test, 1)).value == pytest.approx(whole.value, rel=1e-12)
    order = tuple(f"u{i}" for i in range(3)) + WORDS[::-1]
    places = np.array([order.index(word) for word in WORDS], dtype=np.int32)
    streams = [np.append(places[test.document(d)], 1).astype(np.int32) for d in range(20)]
    empty = Corpus("made-up", order, np.zeros(0, np.int32), np.zeros(1, np.int64), ())
    with_others = empty.with_streams([*streams, np.zeros(0, np.int32)], tuple(str(d) for d in range(21)))
    again = reported(model, [with_others])
    assert again.value == pytest.approx(whole.value, rel=1e-9)
    assert [t.nats for t in again.terms] == pytest.approx([t.nats for t in whole.terms], rel=1e-9)


@pytest.mark.parametrize("of", [scikit_learn, gensim, tomotopy])
def test_no_tokens_is_no_number(of: Any) -> None:
    test = drawn(2, 2).with_streams([np.zeros(0, np.int32)], ("0",))
    for documents in ([test], []):
        number = reported(of(), documents)
        assert math.isnan(number.value)
        assert "no token" in number.note


def test_a_bound_beyond_floating_point_is_infinite_without_a_warning() -> None:
    model = scikit_learn(12)
    one = drawn(2, 20).with_streams([np.zeros(1, np.int32)], ("0",))
    huge = copy.copy(model.native)
    huge.components_ = model.native.components_ * 1e4
    number = reported(Fitted(model.topics, "scikit-learn", huge), [one])
    assert number.value == number.perplexity == math.inf
    assert sum_of_terms(number, 1) == pytest.approx(number.nats_per_token, rel=1e-12)
    assert math.isfinite(number.nats_per_token)


def test_the_model_is_left_as_it_was() -> None:
    pd = pytest.importorskip("pandas")
    lda = pytest.importorskip("sklearn.decomposition").LatentDirichletAllocation
    native = lda(n_components=2, random_state=0, max_iter=2)
    native.fit(pd.DataFrame(drawn(0).counts().toarray(), columns=list(WORDS))).set_params(n_jobs=2)
    before = dict(vars(native))
    assert math.isfinite(reported(fitted(native), [drawn(2, 5)]).value)
    assert vars(native).keys() == before.keys()
    assert all(vars(native)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    ("library", "said"), [("arrays", "no library"), ("gensim", "topics alone"), ("other", "other")]
)
def test_where_there_is_nothing_a_note_says_why(library: str, said: str) -> None:
    topics = Topics(np.full((1, V), 1.0 / V), np.ones(1), WORDS)
    native = object() if library == "other" else None
    number = reported(Fitted(topics, library, native), [drawn(2, 2)])
    assert math.isnan(number.value)
    assert said in number.note


positive = st.floats(1e-3, 1e3)


@settings(max_examples=60)
@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=6))
def test_divergence_is_positive_and_zero_at_the_prior(pairs: list[tuple[float, float]]) -> None:
    posterior, prior = (np.array([column]) for column in zip(*pairs, strict=True))
    assert dirichlet_divergence(posterior, prior) >= -1e-8 * float(posterior.sum() + prior.sum())
    assert dirichlet_divergence(posterior, posterior) == 0.0
    a, b, p, q = posterior[0, 0], posterior[0, 1], prior[0, 0], prior[0, 1]
    if len(pairs) == 2:  # a Beta distribution's, in its textbook form
        log_beta = gammaln(p) + gammaln(q) - gammaln(p + q) - gammaln(a) - gammaln(b) + gammaln(a + b)
        own = log_beta + (a - p) * digamma(a) + (b - q) * digamma(b) + (p - a + q - b) * digamma(a + b)
        assert dirichlet_divergence(posterior, prior) == pytest.approx(own, rel=1e-9, abs=1e-7)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2), max_size=12), st.lists(positive, min_size=3, max_size=3))
def test_assignments_are_drawn_from_polyas_urn(stream: list[int], alpha: list[float]) -> None:
    own, log_p = np.zeros(3), 0.0
    for k in stream:
        log_p += math.log((alpha[k] + own[k]) / (sum(alpha) + own.sum()))
        own[k] += 1
    assert log_assignments(own[np.newaxis], np.array(alpha)) == pytest.approx(log_p, rel=1e-9, abs=1e-9)


def test_a_total_that_is_not_the_sum_of_its_parts_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release of scikit-learn, gensim or tomotopy might leave the topics' part out, or count it twice."""
    sklearn, models = pytest.importorskip("sklearn.decomposition"), pytest.importorskip("gensim.models")
    native, test = scikit_learn().native, drawn(2, 40)
    topics_part = -dirichlet_divergence(native.components_, np.array(native.topic_word_prior_))
    perplexity, own = sklearn.LatentDirichletAllocation.perplexity, models.LdaModel.log_perplexity

    def without_topics(self: Any, X: Any) -> float:
        return float(perplexity(self, X) * math.exp(topics_part / X.sum()))

    monkeypatch.setattr(sklearn.LatentDirichletAllocation, "perplexity", without_topics)
    of_tomotopy = tomotopy()
    other_prior = replace(of_tomotopy, topics=replace(of_tomotopy.dirichlet, alpha=of_tomotopy.dirichlet.alpha * 5.0))
    monkeypatch.setattr(models.LdaModel, "log_perplexity", lambda self, chunk: 1.01 * own(self, chunk))
    for model in (scikit_learn(), gensim(), other_prior):
        number = reported(model, [test])
        assert math.isfinite(number.value)
        assert number.function in number.note
        assert number.terms == ()


@pytest.mark.parametrize("missing", ["exp_dirichlet_component_", "topic_word_prior_"])
def test_a_model_without_a_part_has_no_number_and_a_note(missing: str) -> None:
    model = scikit_learn()
    delattr(model.native, missing)
    number = reported(model, [drawn(1)])
    assert math.isnan(number.value)
    assert "scikit-learn could not compute it" in number.note
