"""Wrong invocations of the command: each is one line that names the fault, after the line that the command starts."""

import shlex
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.decomposition import LatentDirichletAllocation

from heldout.cli import STARTING, main

WRONG = {
    "audit": "MODEL, CORPUS",
    "audit lda.skops": "CORPUS",
    "rank": "MODEL, CORPUS",
    "import": "FORM, SOURCE",
    "audti lda.skops te.npz": "audit, perhaps",
    "study lda.skops": "'study'",
    "audit lda.skops te.npz --limit abc": "'abc'",
    "audit lda.skops te.npz --limt 3": "--limit, perhaps",
    "audit lda.skops te.npz --seed": "--seed",
    "audit lda.skops te.npz --seed 1.5": "'1.5'",
    "audit lda.skops te.npz more": "more",
    "audit te.npz lda.skops": "give them last",
    "rank te.npz lda.skops lda.skops": "give them last",
    "rank lda.skops lda.skops te.npz": "given twice",
    "rank lda.skops te.npz": "1 model to rank",
    "audit lda.skops no.npz": "no.npz",
    "audit no.skops te.npz": "no.skops",
    "audit . te.npz": "folder",
    "audit lda.skops te.npz --format mm": "leave the form out",
    "audit lda.skops te.npz --format svm": "svm",
    "audit lda.skops te.npz --model-format gensim": "leave the form out",
    "audit lda.skops te.npz --model-format pickle --trust-pickle": "leave the form out",
    "audit lda.skops te.npz --model-format word2vec": "word2vec",
    "audit keys.txt te.npz": "--output-state",
    "audit weights.txt te.npz": "--output-state",
    "audit lda.skops te.npz --estimator gibbs": "gibbs",
    "audit lda.skops te.npz --samples 3 --estimator linear-time": "linear-time",
    "audit lda.skops te.npz --smoothing -1": "-1",
    "audit lda.skops te.npz --cores 0": "0 processes",
    "audit lda.skops te.npz --stem": "stem",
    "audit lda.skops te.npz --labels keys.txt": "labels",
    "audit lda.skops te.npz --csv - --json -": "standard output",
    "audit lda.skops te.npz --html nowhere/a.html": "nowhere",
    "audit lda.skops te.npz --json te.npz": "te.npz",
    "audit lda.skops te.npz --vocabulary keys.txt": "keys.txt",
    "rank lda.skops nmf.skops te.npz --coherence-measure uci": "uci",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrong")
    counts = np.random.default_rng(0).poisson(0.8, (20, 9))
    sp.save_npz(path / "te.npz", sp.csr_array(counts))
    model = LatentDirichletAllocation(2, random_state=0, max_iter=2).fit(counts)
    for name in ("lda.skops", "nmf.skops"):
        skops.io.dump(model, path / name)
    (path / "keys.txt").write_text("0\t0.5\tape bear cat\n1\t0.5\tdog\n")
    (path / "weights.txt").write_text("0\tape\t1.01\n0\tbear\t0.01\n")
    return path


@pytest.mark.parametrize("typed", WRONG)
def test_a_wrong_invocation_is_one_line(
    typed: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    before = sorted(folder.iterdir())
    try:
        status = main(shlex.split(typed))
    except SystemExit as error:
        status = error.code  # type: ignore[assignment]
    said = capsys.readouterr()
    lines = [line for line in said.err.splitlines() if line != STARTING]
    assert (status, said.out, len(lines)) == (2, "", 1)
    assert lines[0].startswith("heldout")
    assert WRONG[typed] in lines[0]
    assert len(lines[0]) < 400
    assert sorted(folder.iterdir()) == before


def test_the_documents_values_stand_on_the_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    assert main(["audit", str(folder / "lda.skops"), str(folder / "te.npz"), "--csv", "-"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert (rows[0].partition(",")[0], len(rows)) == ("document", 21)
