"""Blocks, cores, batches and interruptions: none of them matters to the result."""

import gc
import itertools
import math
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_models import V, drawn, plain, topics_of

from heldout.auditing import runner
from heldout.auditing.audit.audit import audit
from heldout.auditing.blocks import BLOCK, EVERY, Block, evaluate, local
from heldout.auditing.plan import Plan
from heldout.corpora.corpus import Corpus
from heldout.corpora.stream import Batch, DocumentStream, open_documents
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, V - 1), max_size=6), min_size=1, max_size=4))
def test_a_blocks_own_words_are_enough(documents: list[list[int]]) -> None:
    model = topics_of()
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    tokens = np.array([w for words in documents for w in words], dtype=np.int32)
    block = Block(0, tokens, offsets)
    here, corpus = local(model.phi_by_word, model, block)
    assert isinstance(here, Topics)
    whole = Corpus("own", model.vocabulary, tokens, offsets, tuple(map(str, range(len(documents)))))
    expected = exact_marginal(model, whole).log_likelihood
    np.testing.assert_allclose(exact_marginal(here, corpus).log_likelihood, expected, rtol=0, atol=1e-12)


def test_cores_and_batches_do_not_matter() -> None:
    model, X = topics_of(), drawn(3 * BLOCK + 5, length=9)
    whole = plain(audit(model, X, estimator="left-to-right-sequential", samples=3))
    assert plain(audit(model, X, estimator="left-to-right-sequential", samples=3, n_jobs=2)) == whole
    for batch in (1, 7, 1000):
        stream = open_documents(X, batch=batch)
        assert plain(audit(model, stream, estimator="left-to-right-sequential", samples=3)) == whole
    assert plain(audit(model, X, estimator="left-to-right-sequential", samples=3, random_state=1)) != whole


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
        audit(model, X, **named, n_jobs=cores, store=tmp_path / "store", progress=stop)
    part = audit(model, X, **named, store=tmp_path / "store", so_far=True)
    assert not part.complete
    assert len(part.lengths) == 2 * BLOCK
    assert part.line("likelihood").tokens == part.lengths.sum() < whole.line("likelihood").tokens
    assert "not complete" in part.reported.note

    done = []

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

    def noted(*given: Any) -> Any:
        order.append("work")
        return evaluate(*given)

    monkeypatch.setattr(runner, "evaluate", noted)
    X = drawn(30)
    result = audit(topics_of(), X, estimator="chib", samples=5, announce=order.append)
    plan = order[0]
    assert isinstance(plan, Plan)
    assert set(order[1:]) == {"work"}
    assert (plan.documents, plan.empty, plan.tokens) == (result.documents, result.empty, result.tokens)
    assert (plan.work.estimator, plan.work.samples, plan.cores, plan.kept) == ("chib", 5, 1, 0)
    assert set(plan.seconds) == {"probability"} | set(EVERY)
    assert all(math.isfinite(seconds) and seconds >= 0.0 for seconds in plan.seconds.values())


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
    result = audit(topics_of(), stream, estimator="linear-time")
    assert result.documents + result.empty == 2000
    assert most <= 3


def test_documents_that_change_while_they_are_read() -> None:
    X = drawn(5)
    stream = open_documents(X)

    def shrink(_: Plan) -> None:
        X.data[:] = 1

    with pytest.raises(InputError, match="matrix: changed while it was read; run the audit again"):
        audit(topics_of(), stream, announce=shrink)


@pytest.mark.long
def test_a_million_documents_at_20_topics_take_less_than_a_gigabyte(tmp_path: Path) -> None:
    """A hundredth of both: 10,000 documents, in 10 MB beyond what is there before (a sum without random numbers)."""
    random, path = np.random.default_rng(0), tmp_path / "documents.ldac"
    lines = [f"10 {' '.join(f'{w}:1' for w in np.sort(random.permutation(1000)[:10]))}\n" for _ in range(10_000)]
    path.write_text("".join(lines), encoding="ascii")
    model, words = (random.dirichlet(np.ones(1000), 20), 1.0), tuple(map(str, range(1000)))
    tracemalloc.start()
    try:
        audit(model, path, vocabulary=words, estimator="linear-time", probability=False, other_corpus=True)
        _, highest = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert highest < 10e6
