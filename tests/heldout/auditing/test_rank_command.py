"""`heldout rank`: table, page, JSON, interruption and going on."""

import io
import json
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heldout.auditing import runner
from heldout.auditing.blocks import evaluate
from heldout.auditing.options import RankCommand
from heldout.auditing.session import INTERRUPTED
from heldout.auditing.session import run as run_rank
from heldout.cli import main
from heldout.errors import InputError
from heldout.seeds import generator

V = 8


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Path], Path]:
    """Two models and forty documents; the user's cache is in the same folder."""
    rng = generator("test-rank-command")
    words = np.array([f"w{w}" for w in range(V)])
    models = [tmp_path / f"lda-{K}.npz" for K in (2, 3)]
    for K, path in zip((2, 3), models, strict=True):
        np.savez(path, phi=rng.dirichlet(np.ones(V), size=K), alpha=np.full(K, 0.4), vocabulary=words)
    sp.save_npz(tmp_path / "docs.npz", sp.csr_matrix(rng.multinomial(9, np.full(V, 1 / V), size=40)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return models, tmp_path / "docs.npz"


def run(files: tuple[list[Path], Path], **given: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    given = {"coherence": False, **given}
    status = run_rank(RankCommand(models=files[0], documents=files[1], **given), out, err)
    return status, out.getvalue(), err.getvalue()


def test_plan_table_page_and_json(files: tuple[list[Path], Path]) -> None:
    folder = files[1].parent
    arguments = ["rank", *map(str, files[0]), str(files[1]), "--html", str(folder / "r.html")]
    assert main([*arguments, "--json", str(folder / "r.json")]) == 0
    values = json.loads((folder / "r.json").read_text())
    assert {model["name"] for model in values["models"]} == {"lda-2.npz", "lda-3.npz"}
    assert values["settings"]["command"].startswith("heldout rank ")
    assert values["models"][0]["coherence"] is not None
    assert [model["dirichlet"] for model in values["models"]] == [True, True]
    assert "data:image/svg+xml" in (folder / "r.html").read_text()
    status, out, err = run(files)
    assert status == 0
    assert "2 models of 2, 3 topics; 40 documents of 360 tokens" in err
    assert values["best"] in out
    assert "80 documents are kept from an earlier run" in err


def test_an_interrupted_ranking_goes_on(files: tuple[list[Path], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def interrupted(topics: Any, *given: Any) -> Any:
        if len(calls) == 4:  # one block into the second model
            raise KeyboardInterrupt
        calls.append(topics.n_topics)
        return evaluate(topics, *given)

    whole = json.loads(run(files, json="-")[1])
    shutil.rmtree(files[1].parent / "cache")
    monkeypatch.setattr(runner, "evaluate", interrupted)
    status, _, err = run(files)
    assert status == INTERRUPTED + signal.SIGINT
    assert "56 documents are done and kept in" in err
    calls.clear()
    status, out, err = run(files, json="-")
    assert "56 documents are kept from an earlier run" in err
    assert calls == [3, 3]  # the rest of the second model
    assert json.loads(out) == whole


def test_a_model_given_twice_and_a_folder_that_is_not_there(files: tuple[list[Path], Path]) -> None:
    with pytest.raises(InputError, match="given twice; give every model once"):
        run((files[0][:1] * 3, files[1]))
    with pytest.raises(InputError, match="nothing can be written there"):
        run(files, html=files[1].parent / "none" / "r.html")
