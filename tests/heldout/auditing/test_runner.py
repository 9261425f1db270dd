"""Blocks, cores and interruptions: none of them matters to the result."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib.externals.loky.process_executor import TerminatedWorkerError
from made_models import V, drawn, plain, topics_of

from heldout.auditing import runner
from heldout.auditing.audit.audit import audit
from heldout.auditing.blocks import BLOCK, evaluate, local
from heldout.auditing.plan import Plan
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, V - 1), max_size=6), min_size=1, max_size=4))
def test_a_blocks_own_words_are_enough(documents: list[list[int]]) -> None:
    model = topics_of()
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    tokens = np.array([w for words in documents for w in words], dtype=np.int32)
    whole = Corpus("own", model.vocabulary, tokens, offsets, tuple(map(str, range(len(documents)))))
    here, corpus = local(model, whole, 0)
    assert isinstance(here, Topics)
    expected = exact_marginal(model, whole).log_likelihood
    np.testing.assert_allclose(exact_marginal(here, corpus).log_likelihood, expected, rtol=0, atol=1e-12)


NAMED: dict[str, Any] = {"estimator": "left-to-right-sequential", "samples": 3}


def test_cores_and_backends_do_not_matter() -> None:
    model, X = topics_of(), drawn(3 * BLOCK + 5, length=9)
    whole = plain(audit(model, X, **NAMED))
    assert plain(audit(model, X, **NAMED, n_jobs=2)) == whole
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert plain(audit(model, X, **NAMED)) == whole
    assert plain(audit(model, X, **NAMED, random_state=1)) != whole


class Stop:
    """A progress callback that interrupts after so many documents."""

    def __init__(self, documents: int) -> None:
        self.documents, self.seen = documents, 0

    def __call__(self, documents: int, _: float) -> None:
        self.seen = documents
        if documents >= self.documents:
            raise KeyboardInterrupt


def test_an_interrupted_audit_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, X, store = topics_of(), drawn(5 * BLOCK, length=9), tmp_path / "store"
    whole = audit(model, X, **NAMED)
    stop = Stop(2 * BLOCK)
    with pytest.raises(KeyboardInterrupt):
        audit(model, X, **NAMED, n_jobs=2, store=store, progress=stop)
    assert stop.seen == 2 * BLOCK
    done = []

    def counted(topics: Any, block: Corpus, first: int, work: Any) -> Any:
        done.append(first)
        return evaluate(topics, block, first, work)

    monkeypatch.setattr(runner, "evaluate", counted)
    plans: list[Plan] = []
    again = audit(model, X, **NAMED, store=store, announce=plans.append)
    assert (len(done), plans[0].kept) == (3, 2 * BLOCK)
    assert plain(again) == plain(whole)
    done.clear()
    assert plain(audit(model, X, **NAMED, store=store)) == plain(whole)
    assert not done


KILLED = """
import os, signal
import heldout
from made_models import drawn, topics_of
def killed(documents, share):
    if documents >= 32:
        os.kill(os.getpid(), signal.SIGKILL)
named = {"estimator": "left-to-right-sequential", "samples": 3}
heldout.audit(topics_of(), drawn(80, length=9), **named, store="store", progress=killed)
"""


def test_a_killed_audit_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join([str(Path(__file__).parent), *sys.path]))
    assert subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False).returncode == -9
    model, X, plans = topics_of(), drawn(5 * BLOCK, length=9), list[Plan]()
    (path,) = (tmp_path / "store").iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-3])  # as if it had been killed while it wrote
    again = audit(model, X, **NAMED, store=tmp_path / "store", announce=plans.append)
    assert plans[0].kept == 2 * BLOCK - 1
    assert plain(again) == plain(audit(model, X, **NAMED))


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
    assert (plan.work.estimator, plan.work.samples, plan.topics, plan.kept) == ("chib", 5, (3,), 0)


def test_a_process_that_dies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise TerminatedWorkerError("killed")

    monkeypatch.setattr(joblib.Parallel, "__call__", broken)
    with pytest.raises(InputError, match="a process of the audit ended too early"):
        audit(topics_of(), drawn(5), n_jobs=2)
