"""Packages in their own environments, run by drivers (workflow/packages): counts in, topics and numbers out."""

import csv
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io

from artifact.study.study import driver
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Floats


@dataclass(frozen=True, eq=False)
class Driven:
    """The output of a driver.

    Attributes:
        weights: (K, V), proportional to p(w | z) by topic; the parameters of q(topics) where there is an eta.
        prior: alpha, (K,), of the Dirichlet prior of theta; of a logistic-normal one mean and covariance, (K,) and
            (K, K).
        eta: parameter of the prior of topics that are random; None where they are not.
        values: the package's number by set of test documents.
        thetas: (D, K) by set of test documents, where the number is of words at a theta that was fitted to them.
        documents: (D, 2) by set of test documents, where every document has a number, in nats, with a standard error.
        version: the package's version.
    """

    weights: Floats
    prior: tuple[Floats, ...]
    eta: float | None
    values: Mapping[str, float]
    thetas: Mapping[str, Floats]
    documents: Mapping[str, Floats]
    version: str


def drive(
    package: str, training: Corpus, tests: Mapping[str, Corpus], *, topics: int, rounds: int, seed: int
) -> Driven:
    """Fit a package's model to documents and score sets of test documents, none empty, over the same words.

    Raises:
        InputError: when the driver fails or leaves something unwritten; with the last line of its output.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for matrix, corpus in {"training": training, **{f"test-{test}": tests[test] for test in tests}}.items():
            scipy.io.mmwrite(folder / f"{matrix}.mtx", corpus.counts().astype(np.int64))
        (folder / "settings.csv").write_text(f"topics,rounds,seed\n{topics},{rounds},{seed}\n", encoding="utf-8")
        command = [driver(package).absolute(), folder]  # packages leave logs where they run
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        try:
            with (folder / "reported.csv").open(encoding="utf-8", newline="") as file:
                values = {row["test"]: float(row["value"]) for row in csv.DictReader(file)}
            eta, normal = folder / "eta.f64", (folder / "mean.f64").exists()
            prior_shapes = {"mean": (topics,), "covariance": (topics, topics)} if normal else {"alpha": (topics,)}
            return Driven(
                np.fromfile(folder / "topics.f64").reshape(topics, training.n_words),
                tuple(np.fromfile(folder / f"{part}.f64").reshape(shape) for part, shape in prior_shapes.items()),
                float(np.fromfile(eta).item()) if eta.exists() else None,
                {test: values[test] for test in tests},
                _by_document(folder, "theta", tests, topics),
                _by_document(folder, "documents", tests, 2),
                (folder / "version.txt").read_text(encoding="utf-8").strip(),
            )
        except (OSError, KeyError, ValueError) as error:
            said = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"{package}: its driver ended with {ended.returncode} ({said:.200})") from error


def _by_document(folder: Path, name: str, tests: Mapping[str, Corpus], columns: int) -> dict[str, Floats]:
    """Return arrays with `columns` by set of test documents, a row per document, as far as they were written."""
    files = {test: folder / f"{name}-{test}.f64" for test in tests}
    return {
        test: np.fromfile(file).reshape(tests[test].n_documents, columns)
        for test, file in files.items()
        if file.exists()
    }
