import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from limits import HOUR

from heldout.auditing import runner, session
from heldout.auditing.blocks import evaluate
from heldout.auditing.options import AuditCommand
from heldout.auditing.session import INTERRUPTED
from heldout.auditing.session import run as run_audit
from heldout.cli import main
from heldout.errors import InputError
from heldout.seeds import generator

V = 8


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A model of three topics and forty documents; the user's cache is in the same folder."""
    rng = generator("test-audit-command")
    words = np.array([f"w{w}" for w in range(V)])
    np.savez(tmp_path / "model.npz", phi=rng.dirichlet(np.ones(V), size=3), alpha=np.full(3, 0.4), vocabulary=words)
    sp.save_npz(tmp_path / "docs.npz", sp.csr_matrix(rng.multinomial(9, np.full(V, 1 / V), size=40)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "model.npz", tmp_path / "docs.npz"


def run(files: tuple[Path, Path], **given: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = run_audit(AuditCommand(models=files[:1], documents=files[1], **given), out, err)
    return status, out.getvalue(), err.getvalue()


def kept(files: tuple[Path, Path]) -> list[Path]:
    return list((files[0].parent / "cache" / "heldout").rglob("*"))


def test_plan_table_page_and_json(files: tuple[Path, Path]) -> None:
    folder = files[0].parent
    status, out, err = run(
        files, html=folder / "a.html", json=str(folder / "a.json"), typed=["audit", "model.npz", "docs.npz"]
    )
    assert status == 0
    assert "3 topics; 40 documents of 360 tokens; 0 tokens (0.0 %) outside the vocabulary; 0 empty documents" in err
    assert "likelihood: exact-marginal. The exact likelihood takes" in err
    values = json.loads((folder / "a.json").read_text())
    assert values["model"] == "model.npz"
    assert values["complete"] is True
    page = (folder / "a.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "heldout audit model.npz docs.npz" in page
    assert "full folding-in" in out
    assert "model.npz" in out


def test_json_alone_stands_on_the_output(files: tuple[Path, Path]) -> None:
    status, out, _ = run(files, json="-", estimator="linear-time")
    assert status == 0
    values = json.loads(out)
    assert {line["evaluator"] for line in values["lines"]} == {
        "likelihood",
        "mean-field-bound",
        "full-folding-in",
        "half-folding-in",
        "unigram",
        "uniform",
    }
    assert values["json_version"] == 2
    assert values["lines"][0]["estimator"] == "linear-time"


def stopped(monkeypatch: pytest.MonkeyPatch, blocks: int) -> Callable[[], None]:
    """Interrupt after so many blocks; return the function that takes that back."""
    seen = list[int]()

    def counted(*given: Any) -> Any:
        if len(seen) == blocks:
            raise KeyboardInterrupt
        seen.append(1)
        return evaluate(*given)

    monkeypatch.setattr(runner, "evaluate", counted)
    return lambda: monkeypatch.setattr(runner, "evaluate", evaluate)


def test_an_interruption_keeps_finished_blocks(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = json.loads(run(files, json="-")[1])
    shutil.rmtree(files[0].parent / "cache")
    go_on = stopped(monkeypatch, 2)
    status, out, err = run(files)
    assert (status, out) == (INTERRUPTED + signal.SIGINT, "")
    assert "32 documents are done and kept in" in err
    go_on()
    status, out, err = run(files, json="-")
    assert status == 0
    assert "32 documents are kept from an earlier run" in err
    assert json.loads(out) == whole


def test_a_finished_audit_is_kept_and_another_output_computes_nothing_again(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = json.loads(run(files, json="-")[1])
    stopped(monkeypatch, 0)
    table = files[0].parent / "documents.csv"
    status, out, _ = run(files, json="-", csv=table)
    assert status == 0
    assert json.loads(out) == whole
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [float(row["likelihood"]) for row in rows] == whole["per_document"]["nats"]["likelihood"]
    assert [row["document"] for row in rows] == whole["per_document"]["names"]
    assert len(kept(files)) == 1
    monkeypatch.setattr(session, "KEPT", dict.fromkeys(session.KEPT, 0))
    assert run(files)[0] == 0
    assert not kept(files)


def test_a_named_store_stays(files: tuple[Path, Path]) -> None:
    store = files[0].parent / "store"
    run(files, store=store)
    assert len(list(store.iterdir())) == 1
    assert not kept(files)


SLOW = """
import signal
import sys
from pathlib import Path
from heldout.auditing.options import AuditCommand
from heldout.auditing.session import run
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
files = {"models": [Path(sys.argv[1])], "documents": Path(sys.argv[2])}
typed = AuditCommand(**files, estimator="annealed-importance", samples=20_000, n_jobs=2)
sys.exit(run(typed, sys.stdout, sys.stderr))
"""


@pytest.mark.parametrize(  # while processes start, and while they work
    ("number", "pause"), [(signal.SIGINT, 0.1), (signal.SIGINT, 1.5), (signal.SIGTERM, 0.4)]
)
def test_ctrl_c_on_a_terminal_or_the_end_of_a_session_ends_all_processes(
    files: tuple[Path, Path], tmp_path: Path, number: signal.Signals, pause: float
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, files)],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert child.stderr is not None
    try:
        while b"likelihood" not in child.stderr.readline():
            assert child.poll() is None
        time.sleep(pause)
        # as a terminal does, to the group that this test started; a scheduler ends the program alone
        (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)
        err = child.stderr.read().decode()
        assert child.wait(timeout=HOUR) == INTERRUPTED + number
    finally:
        child.kill()
        child.wait()
        child.stderr.close()
    assert "heldout: interrupted; " in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("heldout-*"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"html": Path("nowhere/a.html")}, r"nowhere/a\.html: nothing can be written there"),
        ({"html": Path()}, "nothing can be written there"),
        ({"json": "nowhere/a.json"}, r"nowhere/a\.json: nothing can be written there"),
        ({"format": "svmlight"}, "there is no form svmlight of documents"),
        ({"model_format": "bigartm"}, "bigartm"),
        ({"estimator": "gibbs"}, "there is no estimator gibbs"),
        ({"stem": True}, "only texts are stemmed"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    files: tuple[Path, Path], given: dict[str, Any], message: str
) -> None:
    before = sorted(files[0].parent.rglob("*"))
    with pytest.raises(InputError, match=message):
        run(files, **given)
    assert sorted(files[0].parent.rglob("*")) == before


def test_a_page_without_matplotlib_is_refused_before_the_audit(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = files[0].parent / "page.html"
    assert main(["audit", *map(str, files), "--html", str(page)]) == 2
    assert (
        capsys.readouterr().err.splitlines(keepends=True)[-1]
        == "heldout: matplotlib is not installed: pip install 'heldout[html]'\n"
    )
    assert not page.exists()
    assert run(files)[0] == 0


def test_a_cache_that_cannot_be_written_is_refused_with_the_way_out(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files[0].parent / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(files[0].parent / "file"))
    with pytest.raises(InputError, match=r"file/heldout: .*store"):
        run(files)
    assert run(files, store=files[0].parent / "kept")[0] == 0


def test_the_page_is_written_though_nobody_reads_the_table(files: tuple[Path, Path]) -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    page, values = files[0].parent / "page.html", files[0].parent / "values.json"
    typed = AuditCommand(models=files[:1], documents=files[1], html=page, json=str(values))
    with pytest.raises((BrokenPipeError, SystemExit)):
        run_audit(typed, Closed(), io.StringIO())
    assert page.exists()
    assert values.exists()


def test_a_pickle_is_not_read_unasked(files: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x05N.")
    with pytest.raises(InputError, match="--trust-pickle"):
        run((path, files[1]))
