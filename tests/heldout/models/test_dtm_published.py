"""The dynamic topic model beside what Blei and Gerrish's program printed for its example (blei-lab/dtm, GPL-2).

The example is not ours to keep: its folder `example`, of the commit 810d9ab, is read as "dtm-example" in the folder
that HELDOUT_MIRROR names. All variational observations of theirs have the variance 1/2, in our terms the precision 2.
Their bound is not among their outputs (em_log.dat is empty), so no fit is held to it; lhoods.dat, which seems to be the
documents' part at the topics before their last step, guards ours against a regression.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heldout.models.dtm import DTM, Walk
from heldout.models.estimator import checked_counts
from heldout.models.token_shares import Documents, rows_of
from heldout.typing import Floats, Ints

FOLDER = Path(os.environ.get("HELDOUT_MIRROR", "")) / "dtm-example"
TOPICS, WORDS, TIMES = 20, 4824, 10
STEP = 0.005  # their chain variance; the first time's is 1,000 of them and one more
PRECISION = 2.0

needs_example = pytest.mark.skipif(
    not (FOLDER / "model_run").is_dir(), reason="HELDOUT_MIRROR names no folder that holds dtm-example"
)


def documents() -> tuple[sp.csr_array, Ints]:
    """Return (D, V) counts and the documents' times."""
    lines = [line.split()[1:] for line in (FOLDER / "test-mult.dat").read_text(encoding="ascii").splitlines()]
    counts = np.zeros((len(lines), WORDS))
    for row, entries in zip(counts, lines, strict=True):
        for entry in entries:
            word, number = entry.split(":")
            row[int(word)] = float(number)
    sizes = [int(size) for size in (FOLDER / "test-seq.dat").read_text(encoding="ascii").split()[1:]]
    return checked_counts(counts, "example"), np.repeat(np.arange(TIMES), sizes)


def printed(name: str) -> Floats:
    """Return their (T, K, V) numbers of every time, topic and word."""
    files = [FOLDER / f"model_run/lda-seq/topic-{k:03d}-{name}.dat" for k in range(TOPICS)]
    return np.stack([np.loadtxt(file).reshape(WORDS, TIMES) for file in files]).transpose(2, 0, 1)


@pytest.mark.long
@needs_example
def test_the_smoother_has_their_expected_logarithms_and_our_bound_is_above_theirs() -> None:
    """Ours at their parameters; from their start ours has more, for its observations have variances of their own."""
    of_all = np.ones((TOPICS, WORDS))
    walk, h = Walk.of(0.0 * of_all, 1001.0 * STEP * of_all, STEP), rows_of(PRECISION * printed("var-obs"))[None]
    theirs = walk.observed(h, np.full_like(h, PRECISION))
    expected_log = (theirs.mean - theirs.log_sums[:, :, None])[0, :, :, :TOPICS].swapaxes(1, 2)
    np.testing.assert_allclose(expected_log, printed("var-e-log-prob"), atol=1e-11)
    counts, times = documents()
    gamma = np.loadtxt(FOLDER / "model_run/lda-seq/gam.dat").reshape(-1, TOPICS)
    of_documents = Documents(counts, times, 0.01, gamma)
    value = of_documents.step(theirs.topic_rows(of_documents.tokens.row_starts))
    published = np.loadtxt(FOLDER / "model_run/lda-seq/lhoods.dat").sum()
    assert published < value.sum() < published * (1.0 - 5e-3)  # observed: 0.46 %
    bound = float(value.sum() - theirs.divergence[:, :TOPICS].sum())
    start = np.loadtxt(FOLDER / "model_run/initial-lda-ss.dat").reshape(WORDS, TOPICS).T + 0.01
    asked: dict[str, Any] = {"alpha": 0.01, "start_variance": 1001.0 * STEP, "sigma2": STEP}
    model = DTM(TOPICS, **asked, fixed=True, iterations=10).fit(counts, times=times, components=start)
    assert model.bound_[-1] > bound
