import gc
import itertools
import json
import math
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from heldout.auditing import runner
from heldout.auditing.audit import audit
from heldout.auditing.blocks import BLOCK, Block, local
from heldout.auditing.matching import FEWEST_TOKENS, unlike
from heldout.auditing.plan import Plan
from heldout.auditing.precision_table import Run, Table
from heldout.auditing.result import Audit
from heldout.auditing.summary import total_error
from heldout.corpora.corpus import Corpus
from heldout.corpora.stream import Batch, DocumentStream, open_documents
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.libraries import Fitted
from heldout.seeds import generator
from heldout.topics import Topics

Float = np.ndarray[Any, np.dtype[np.float64]]
K, V = 3, 8


@pytest.fixture(scope="module")
def fitted() -> Any:
    """A scikit-learn model of three topics."""
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(K, doc_topic_prior=0.4, random_state=0, max_iter=5).fit(drawn(40, seed=1))


def drawn(documents: int, seed: int = 0, length: int = 5) -> sp.csr_array:
    """Return counts of short documents over V words; every seventh is empty."""
    rng = generator("test-audit", documents=documents, seed=seed)
    counts = rng.multinomial(length, rng.dirichlet(np.full(V, 0.5), size=documents))
    counts[::7] = 0
    return sp.csr_array(counts)


def topics_of(K: int = K, V: int = V, alpha: float = 0.4) -> Topics:
    phi = generator("test-audit-phi", topics=K).dirichlet(np.full(V, 0.5), size=K)
    return Topics(phi, np.full(K, alpha), tuple(f"w{w}" for w in range(V)))


def plain(audit: Audit) -> str:
    return json.dumps(audit.to_json(), sort_keys=True, allow_nan=False)


# slow twins, from the definitions


def likelihood(phi: Float, alpha: Float, tokens: list[int]) -> float:
    """log p(w | alpha, phi), a sum over all assignments of topics."""
    total = 0.0
    for z in itertools.product(range(len(alpha)), repeat=len(tokens)):
        counts = np.bincount(z, minlength=len(alpha))
        prior = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(z)) + (gammaln(alpha + counts) - gammaln(alpha)).sum()
        total += math.exp(prior) * math.prod(phi[k, w] for k, w in zip(z, tokens, strict=True))
    return math.log(total)


def folded_in(phi: Float, tokens: list[int]) -> Float:
    """The weights that make the tokens most likely."""
    theta = np.full(len(phi), 1.0 / len(phi))
    for _ in range(500):
        shares = theta[:, None] * phi[:, tokens]
        theta = (shares / shares.sum(axis=0)).sum(axis=1) / max(len(tokens), 1) if tokens else theta
    return theta


def test_against_the_definitions_on_a_fitted_model(fitted: Any) -> None:
    X = drawn(12)
    phi = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    alpha = np.full(K, 0.4)
    found = audit(fitted, X)
    assert found.truth_exact
    assert found.line("truth").estimator == "exact-marginal"
    assert (found.library, found.model, found.topics, found.words) == (
        "scikit-learn",
        "LatentDirichletAllocation",
        K,
        V,
    )
    for d in range(12):
        tokens = np.repeat(np.arange(V), X.toarray()[d]).tolist()
        assert found.lengths[d] == len(tokens)
        if not tokens:
            assert all(found.nats[name][d] == 0.0 for name in found.nats)
            continue
        assert found.nats["truth"][d] == pytest.approx(likelihood(phi, alpha, tokens), abs=1e-9)
        assert found.nats["mean-field-bound"][d] <= found.nats["truth"][d] + 1e-9
        full = np.log(folded_in(phi, tokens) @ phi[:, tokens]).sum()
        assert full - 1e-4 * len(tokens) <= found.nats["full-folding-in"][d] <= full + 1e-9
        halves = set(itertools.combinations(sorted(tokens), len(tokens) // 2))
        possible = []
        for half in halves:
            scored = list(tokens)
            for word in half:
                scored.remove(word)
            possible.append(np.log(folded_in(phi, list(half)) @ phi[:, scored]).sum())
        assert np.min(np.abs(np.array(possible) - found.nats["half-folding-in"][d])) < 0.05
    some = found.lengths > 0
    assert (found.documents, found.empty) == (int(some.sum()), int((~some).sum()))
    for line in found.lines:
        assert line.log_likelihood == pytest.approx(found.nats[line.evaluator][some].sum())
        expected = found.lengths - found.lengths // 2 if line.evaluator == "half-folding-in" else found.lengths
        assert line.tokens == expected.sum()


def test_the_librarys_own_number_is_of_the_same_documents(fitted: Any) -> None:
    X = drawn(20)
    found = audit(fitted, X)
    assert found.reported.value == pytest.approx(fitted.perplexity(X), rel=1e-9)
    assert found.reported.about == "these documents"
    assert math.isnan(audit(fitted, X, reported=False).reported.value)


def test_an_estimate_agrees_with_the_exact_value_within_its_error() -> None:
    model, X = topics_of(), drawn(60, length=20)
    exact = audit(model, X).line("truth")
    found = audit(model, X, estimator="left-to-right-sequential", samples=300)
    line = found.line("truth")
    assert not found.truth_exact
    assert (line.samples, line.estimator) == (300, "left-to-right-sequential")
    assert 0.0 < line.standard_error < 1.0
    # batch means may be short by a third; 4.42 standard deviations have the probability 1e-5
    assert abs(line.log_likelihood - exact.log_likelihood) < 4.42 * 1.5 * line.standard_error


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        ("linear-time", "linear time (biased either way)"),
        ("left-to-right", "left-to-right (biased low)"),
        ("harmonic-mean", "harmonic mean (biased high)"),
        ("chib", "likelihood, Chib-style"),
    ],
)
def test_labels_say_what_is_biased(estimator: str, label: str) -> None:
    assert audit(topics_of(), drawn(3), estimator=estimator).line("truth").label == label


def test_cores_and_batches_do_not_matter() -> None:
    model, X = topics_of(), drawn(3 * BLOCK + 5, length=9)
    whole = plain(audit(model, X, estimator="left-to-right-sequential", samples=3))
    assert plain(audit(model, X, estimator="left-to-right-sequential", samples=3, cores=2)) == whole
    for batch in (1, 7, 1000):
        stream = open_documents(X, batch=batch)
        assert plain(audit(model, stream, estimator="left-to-right-sequential", samples=3)) == whole
    assert plain(audit(model, X, estimator="left-to-right-sequential", samples=3, seed=1)) != whole


class Stop:
    """A progress callback that interrupts after so many documents."""

    def __init__(self, documents: int) -> None:
        self.documents, self.seen, self.share = documents, 0, 0.0

    def __call__(self, documents: int, share: float) -> None:
        self.seen, self.share = documents, share
        if documents >= self.documents:
            raise KeyboardInterrupt


@pytest.mark.parametrize("cores", [1, 2])
def test_an_interrupted_audit_goes_on_to_the_same_bytes(
    tmp_path: Path, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, X = topics_of(), drawn(5 * BLOCK, length=9)
    named: dict[str, Any] = {"estimator": "left-to-right-sequential", "samples": 3}
    whole = audit(model, X, **named)
    stop = Stop(2 * BLOCK)
    with pytest.raises(KeyboardInterrupt):
        audit(model, X, **named, cores=cores, store=tmp_path / "store", progress=stop)
    part = audit(model, X, **named, store=tmp_path / "store", so_far=True)
    assert not part.complete
    assert len(part.lengths) == 2 * BLOCK
    assert part.line("truth").tokens == part.lengths.sum() < whole.line("truth").tokens
    assert "not complete" in part.reported.note

    done = []
    evaluate = runner.evaluate

    def counted(phi: Any, alpha: Any, block: Block, work: Any) -> Any:
        done.append(block.first)
        return evaluate(phi, alpha, block, work)

    monkeypatch.setattr(runner, "evaluate", counted)
    plans: list[Plan] = []
    again = audit(model, X, **named, store=tmp_path / "store", announce=plans.append)
    assert len(done) == 3
    assert plans[0].kept == 2 * BLOCK
    assert plain(again) == plain(whole)
    done.clear()
    assert plain(audit(model, X, **named, store=tmp_path / "store")) == plain(whole)
    assert not done


def test_progress_ends_at_one() -> None:
    seen: list[tuple[int, float]] = []
    audit(topics_of(), drawn(2 * BLOCK + 1), progress=lambda documents, share: seen.append((documents, share)))
    assert [documents for documents, _ in seen] == [BLOCK, 2 * BLOCK, 2 * BLOCK + 1]
    assert all(a < b for (_, a), (_, b) in itertools.pairwise(seen))
    assert seen[-1][1] == pytest.approx(1.0)


def test_the_plan_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[Any] = []
    evaluate = runner.evaluate

    def noted(*given: Any) -> Any:
        order.append("work")
        return evaluate(*given)

    monkeypatch.setattr(runner, "evaluate", noted)
    X = drawn(30)
    found = audit(topics_of(), X, estimator="chib", samples=5, announce=order.append)
    plan = order[0]
    assert isinstance(plan, Plan)
    assert set(order[1:]) == {"work"}
    assert (plan.documents, plan.empty, plan.tokens) == (found.documents, found.empty, found.tokens)
    assert (plan.work.estimator, plan.work.samples, plan.cores, plan.kept) == ("chib", 5, 1, 0)
    assert set(plan.seconds) == {line.evaluator for line in found.lines}
    assert all(math.isfinite(seconds) and seconds >= 0.0 for seconds in plan.seconds.values())


def test_a_store_of_another_audit_is_refused(tmp_path: Path) -> None:
    model, X, store = topics_of(), drawn(5), tmp_path / "store"
    audit(model, X, store=store)
    others: list[tuple[Any, Any, dict[str, Any], str]] = [
        (topics_of(alpha=0.5), X, {}, "of other model"),
        (model, drawn(6), {}, "of other documents"),
        (model, X, {"seed": 1}, "of other settings"),
        (model, X, {"estimator": "linear-time"}, "of other settings"),
    ]
    for other, documents, changes, message in others:
        with pytest.raises(InputError, match=f"store: holds another audit, {message}"):
            audit(other, documents, store=store, **changes)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="foreign: not a folder of an audit; name a new or an empty one"):
        audit(model, X, store=foreign)
    assert [path.name for path in foreign.iterdir()] == ["thesis.tex"]


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    model, X, store = topics_of(), drawn(5), tmp_path / "store"
    audit(model, X, store=store)
    (part,) = store.glob("part-*.npz")
    part.write_bytes(part.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"part-000000\.npz: not a part of an audit file .*; delete it"):
        audit(model, X, store=store)
    np.savez(part, documents=np.array([99]), values=np.zeros((1, 6)))
    with pytest.raises(InputError, match=r"part-000000\.npz: not a part of an audit"):
        audit(model, X, store=store)
    (store / "audit.json").write_text("{")
    with pytest.raises(InputError, match=r"audit\.json: cannot be read"):
        audit(model, X, store=store)


def test_no_more_than_a_few_batches_are_alive() -> None:
    alive: set[int] = set()
    most = 0

    class Counted(DocumentStream):
        def __iter__(self) -> Iterator[Batch]:
            nonlocal most
            for batch in super().__iter__():
                gc.collect(0)
                alive.add(id(batch))
                weakref.finalize(batch, alive.discard, id(batch))
                most = max(most, len(alive))
                yield batch

    opened = open_documents(drawn(2000), batch=20)
    stream = Counted(**{name: getattr(opened, name) for name in DocumentStream.__dataclass_fields__})
    found = audit(topics_of(), stream, estimator="linear-time")
    assert found.documents + found.empty == 2000
    assert most <= 3


def test_words_are_matched_by_name_and_others_are_counted() -> None:
    model = topics_of()
    known = [["w1", "w2", "w1"], ["w7"]]
    found = audit(model, [*[[*words, "other"] for words in known], ["other"], []])
    assert (found.documents, found.empty, found.tokens, found.left_out) == (2, 2, 4, 3)
    for d, words in enumerate(known):
        tokens = [model.vocabulary.index(word) for word in words]
        assert found.nats["truth"][d] == pytest.approx(likelihood(model.phi, model.alpha, tokens), abs=1e-9)
    assert [document.left_out for document in found.most_different] == [1, 1]
    assert {document.words for document in found.most_different} == {("w1", "w2"), ("w7",)}


@pytest.mark.parametrize("library", ["tomotopy", "MALLET"])
def test_a_librarys_own_numbers_of_words_are_not_the_documents(library: str, tmp_path: Path) -> None:
    topics = topics_of()
    model, X = Fitted(topics, library), drawn(5)
    with pytest.raises(InputError, match=f"{library} gives words numbers of its own; name the documents' words"):
        audit(model, X)
    path, vocabulary = tmp_path / "counts.npz", tmp_path / "words.txt"
    sp.save_npz(path, sp.csr_matrix(X[:, ::-1]))
    vocabulary.write_text("\n".join(topics.vocabulary[::-1]) + "\n")
    named = audit(model, open_documents(path, documents_vocabulary=vocabulary))
    placed = audit(replace(model, library="arrays"), X)
    np.testing.assert_allclose(named.nats["truth"], placed.nats["truth"], rtol=1e-12)


def test_models_without_words(tmp_path: Path) -> None:
    model = topics_of()
    arrays = (model.phi, model.alpha)
    named = Corpus.from_documents("own", [("a", [f"v{w}" for w in range(V)]), ("b", ["v0", "v3"])])
    by_place = audit(arrays, named)
    assert (
        by_place.nats["truth"].tolist()
        == audit(replace(model, vocabulary=named.vocabulary), named).nats["truth"].tolist()
    )
    assert by_place.most_different[0].words[0].startswith("v")
    words = [f"v{w}" for w in range(V)]
    assert audit(arrays, [["v0", "v3"]], vocabulary=words).documents == 1
    with pytest.raises(InputError, match="texts, but the model names no words"):
        audit(arrays, [["v0"]])
    with pytest.raises(InputError, match="7"):
        audit(arrays, [["v0"]], vocabulary=words[:-1])
    np.savez(tmp_path / "model.npz", phi=model.phi, alpha=model.alpha)
    saved = audit(tmp_path / "model.npz", named)
    assert saved.model == "model.npz"
    assert saved.nats["truth"].tolist() == by_place.nats["truth"].tolist()
    unnamed = Fitted(replace(model, vocabulary=tuple(map(str, range(V)))), "arrays", words_known=False)
    assert audit(unnamed, [["v0", "v3"]], vocabulary=words).documents == 1
    with pytest.raises(InputError, match="7 words, but the model has 8"):
        audit(unnamed, named, vocabulary=words[:-1])
    with pytest.raises(InputError, match="the model names its words"):
        audit(replace(unnamed, words_known=True), named, vocabulary=words)


@pytest.mark.parametrize("topics", [1, 2, 30])
@pytest.mark.parametrize("estimator", ["auto", "left-to-right-sequential"])
def test_few_topics_short_documents_and_one_document(topics: int, estimator: str) -> None:
    model = topics_of(topics)
    X = sp.csr_array(np.eye(V, dtype=np.int64)[:1] * 2)
    found = audit(model, X, estimator=estimator)
    expected = likelihood(model.phi, model.alpha, [0, 0])
    truth = found.line("truth")
    # of two tokens the second is averaged over 20 draws of the first topic
    assert truth.log_likelihood == pytest.approx(expected, abs=1e-9 if found.truth_exact else 0.5)
    assert found.line("half-folding-in").tokens == 1


def test_the_most_different_documents() -> None:
    found = audit(topics_of(), drawn(60, length=12))
    gap = np.abs(found.nats["full-folding-in"] - found.nats["truth"])
    some = np.flatnonzero(found.lengths)
    expected = sorted(some.tolist(), key=lambda d: (-gap[d] / found.lengths[d], d))[:10]
    assert [document.name for document in found.most_different] == [f"row {d}" for d in expected]
    for document, d in zip(found.most_different, expected, strict=True):
        for name in ("truth", "full-folding-in", "mean-field-bound"):
            assert document.nats_per_token[name] == pytest.approx(found.nats[name][d] / found.lengths[d])
        half = found.lengths[d] - found.lengths[d] // 2
        assert document.nats_per_token["half-folding-in"] == pytest.approx(found.nats["half-folding-in"][d] / half)


def test_words_of_probability_0_are_said_and_spoil_no_json() -> None:
    phi = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    found = audit((phi, [1.0, 1.0]), sp.csr_array(np.array([[1, 1, 0], [1, 0, 1]])))
    assert found.line("truth").perplexity == math.inf
    assert found.settings["impossible"] == 1
    assert len(found.most_different) == 1
    kept = found.to_json()
    assert kept["per_document"]["nats"]["truth"][1] is None
    assert kept["lines"][0]["perplexity"] is None
    json.dumps(kept, allow_nan=False)


def test_json_holds_what_it_documents() -> None:
    kept = audit(topics_of(), drawn(4)).to_json()
    documented = Audit.to_json.__doc__ or ""
    for name in kept:
        assert f'"{name}"' in documented
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(0, V - 1), max_size=6), min_size=1, max_size=4))
def test_a_blocks_own_words_are_enough(documents: list[list[int]]) -> None:
    model = topics_of()
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    tokens = np.array([w for words in documents for w in words], dtype=np.int32)
    block = Block(0, tokens, offsets)
    here, corpus = local(model.phi_by_word, model.alpha, block)
    whole = Corpus("own", model.vocabulary, tokens, offsets, tuple(map(str, range(len(documents)))))
    expected = exact_marginal(model, whole).log_likelihood
    np.testing.assert_allclose(exact_marginal(here, corpus).log_likelihood, expected, rtol=0, atol=1e-12)


def table(error: float) -> Table:
    """Return what might have been measured: an error that falls as the root of the samples."""
    runs = tuple(Run(s, error / math.sqrt(s), 1e-6, 1.0) for s in (1, 100, 10_000))
    corners = [(k, n) for k in (2, 100) for n in (2, 100)]
    times = ((1, 0.001), (100, 0.1), (10_000, 10.0))
    name = "left-to-right-sequential"
    return Table(
        {"alpha-0.4": {corner: {name: runs} for corner in corners}},
        {"alpha-0.4": {corner: {name: times} for corner in corners}},
    )


def test_where_exact_costs_too_much_the_calibration_chooses() -> None:
    X = drawn(10)
    found = audit(topics_of(), X, limit=10.0, standard_error=0.5, table=table(5.0))
    line = found.line("truth")
    assert line.estimator == "left-to-right-sequential"
    assert 400 <= line.samples <= 440  # half of what is wanted is asked for
    assert "0.5" in found.reason
    finer = audit(topics_of(), X, limit=10.0, standard_error=0.25, table=table(5.0)).line("truth")
    assert 1600 <= finer.samples <= 1760
    assert audit(topics_of(), X, table=table(5.0)).truth_exact


def test_the_error_of_the_sum_covers_the_bias_that_the_documents_share() -> None:
    rng = generator("test-audit-error")
    D, S, spread = 400, 10, 1.0
    sums, stated = [], []
    for _ in range(50):  # log-normal weights of mean 1, so that every log-likelihood is 0
        weights = rng.lognormal(-(spread**2) / 2.0, spread, (D, S))
        means = weights.mean(axis=1)
        sums.append(np.log(means).sum())
        stated.append(total_error(weights.std(axis=1, ddof=1) / math.sqrt(S) / means))
    # sum of 400 biases of about -0.08: 32 nats, 6 times the root of the sum of the squared errors
    assert abs(np.mean(sums)) < 2.0 * np.mean(stated)
    assert total_error(np.zeros(3)) == 0.0
    assert total_error(np.array([0.1])) == pytest.approx(0.1, rel=0.01)


def test_what_holds_on_real_documents_is_chosen_and_never_with_few_samples() -> None:
    times: tuple[tuple[int, float], ...] = ((1, 1.0), (100, 10.0))
    held: dict[str, tuple[Run, ...]] = {"left-to-right-sequential": (Run(1, 0.1, 0.01, 1.0), Run(100, 0.05, 0.01, 1.0))}
    better: dict[str, tuple[Run, ...]] = {"chib": (Run(1, 0.01, 0.001, 1.0), Run(100, 0.005, 0.001, 1.0))}
    corners = [(k, n) for k in (2, 4) for n in (2, 20)]

    def of(runs: dict[str, tuple[Run, ...]]) -> Table:
        timed = dict.fromkeys(runs, times)
        return Table({"alpha-0.4": dict.fromkeys(corners, runs)}, {"alpha-0.4": dict.fromkeys(corners, timed)})

    found = audit(topics_of(), drawn(10), limit=10.0, standard_error=0.5, table=of(better | held))
    assert (found.line("truth").estimator, found.line("truth").samples) == ("left-to-right-sequential", 10)
    wanted = 0.02  # 0.01 is asked for: 25 times the samples that come to 0.05
    line = audit(topics_of(), drawn(10), limit=10.0, standard_error=wanted, table=of(held)).line("truth")
    assert 0 <= line.samples - 100 * 25 <= 1
    with pytest.raises(InputError, match="none of annealed-importance, left-to-right, left-to-right-sequential was"):
        audit(topics_of(), drawn(10), limit=10.0, standard_error=0.5, table=of(better))


def test_documents_that_change_while_they_are_read() -> None:
    X = drawn(5)
    stream = open_documents(X)

    def shrink(_: Plan) -> None:
        X.data[:] = 1

    with pytest.raises(InputError, match="matrix: changed while it was read; run the audit again"):
        audit(topics_of(), stream, announce=shrink)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "gibbs"}, "there is no estimator gibbs; there are auto, exact-marginal"),
        ({"estimator": "document-completion"}, "estimates another quantity than the documents' likelihood"),
        ({"estimator": "chib", "samples": 0}, "0 samples; draw 1 or more"),
        ({"samples": 5}, "5 samples of an estimator that is not named"),
        ({"standard_error": 0.0}, r"a standard error of 0\.0 nats; it must be above 0"),
        ({"standard_error": 1.0, "estimator": "chib"}, "leave chib out, or the error"),
        ({"cores": 0}, "0 cores; take 1 or more"),
        ({"so_far": True}, "store: nothing is kept of this audit yet; run it first, with a store"),
        ({"so_far": True, "store": Path("nowhere")}, "nowhere: nothing is kept"),
        ({"limit": math.nan}, "a limit of nan updates"),
        ({"estimator": "linear-time", "samples": 5}, "linear-time: draws no samples; leave their number out"),
        ({"estimator": "exact-marginal", "limit": 10.0}, r"at 3 topics takes more than 1\.0e\+01 updates"),
        (
            {"documents": [["of", "the"], ["of"]]},
            "none of the 3 tokens is a word of the model; take the",
        ),
        ({"documents": []}, "documents: no document in it"),
        ({"documents": sp.csr_array((4, 9), dtype=int)}, "matrix: 9 words that are not named, but the model has 8"),
        (
            {"documents": sp.csr_array((4, 8), dtype=int)},
            "matrix: 4 documents, all empty; give documents that have words",
        ),
        ({"model": (np.full((1, 2), 0.4), 1.0)}, "sums to 0.8"),
        ({"model": (np.full((1, 2), 0.5), 0.0)}, "alpha of topic 0 is 0"),
        ({"model": "nothing.npz"}, "nothing.npz: no such file"),
        ({"documents": "nothing.mm"}, "nothing.mm: cannot be read"),
    ],
)
def test_bad_input_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        audit(given.pop("model", topics_of()), given.pop("documents", drawn(5)), **given)
    assert "\n" not in str(caught.value)


def test_documents_of_another_corpus_and_words_in_another_order_are_refused_unless_they_are_meant() -> None:
    """The model's own documents, hundreds of times over, are never refused; those of another are."""
    rng = generator("test-audit-other")
    rank = np.arange(1.0, 2001.0)
    phi = np.stack([rng.permutation(1.0 / rank) for _ in range(3)])
    phi /= phi.sum(axis=1, keepdims=True)
    topics = Topics(phi, np.full(3, 0.5), tuple(f"w{w}" for w in range(2000)))
    theta = rng.dirichlet(topics.alpha, size=300)
    own = [rng.multinomial(40, theta[d] @ phi) for d in range(300)]
    for d in range(100):
        assert unlike(topics, np.sum(own[d : d + 30], axis=0)) == ""
    mixed = rng.permutation(2000)
    counts = np.sum(own, axis=0)
    assert "times rarer under it" in unlike(topics, counts[mixed])
    half = np.where(phi.max(axis=0) < np.quantile(phi.max(axis=0), 0.95), counts, 0)
    assert "of its probability" in unlike(topics, half)
    assert unlike(topics, np.array([FEWEST_TOKENS - 1, *np.zeros(1999, int)])) == ""  # too few to tell
    other = sp.csr_array(np.array(own)[:, mixed])
    with pytest.raises(InputError, match=r"not documents like the model's own: .*--other-corpus"):
        audit((topics.phi, topics.alpha), other, estimator="linear-time")
    found = audit((topics.phi, topics.alpha), other[:40], estimator="linear-time", other_corpus=True)
    assert found.documents == 40
