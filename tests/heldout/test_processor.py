"""A job gives the same bytes whatever the processor makes OpenBLAS, NumPy and numba choose."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from limits import HOUR

from artifact.results.corpora import published_shape
from heldout.corpora.synthetic import draw
from heldout.processor import KERNELS, pin

ROOT = Path(__file__).parents[2]
OTHER = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
PRODUCT = "import numpy as np; A = np.random.default_rng(0).random((200, 150)); print(np.exp(A @ A.T).tobytes().hex())"

x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="pins what x86-64 processors choose")


def run(*arguments: str, **kernels: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in KERNELS} | kernels
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=HOUR
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@x86
def test_a_job_gives_the_same_bytes_under_two_core_types(tmp_path: Path) -> None:
    shape = published_shape("cranfield-like", ROOT / "data/published/welling-2008-table-1.csv")
    draw("cranfield-like", shape, scale=0.05, seed=0)[0].save(tmp_path / "corpus.npz")
    job = ["-m", "artifact.__main__", "fit", str(tmp_path / "corpus.npz"), "--model", "epca", "--variant", "v"]
    job += ["--topics", "5", "--seed", "0", "--test-documents", "20"]
    job += ["--train-settings", '{"penalty": 1.0, "iterations": 20, "tolerance": 1e-4}']
    job += ["--fold-in-settings", '{"iterations": 20, "tolerance": 1e-4, "ridge": 0.01}', "--smoothing", "1e-5"]
    scores = []
    for number, kernels in enumerate(({}, OTHER)):
        output = (f"{tmp_path}/{number}.npz", f"{tmp_path}/{number}.csv")
        run(*job, "--output", output[0], "--scores", output[1], **kernels)
        scores.append(Path(output[1]).read_bytes())
    assert scores[0] == scores[1]


@x86
def test_without_the_pin_the_two_core_types_differ() -> None:
    assert run("-c", PRODUCT) != run("-c", PRODUCT, **OTHER)


def test_another_machine_keeps_its_own_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    for name in KERNELS:
        monkeypatch.delenv(name, raising=False)
    pin()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert not KERNELS.keys() & os.environ.keys()
