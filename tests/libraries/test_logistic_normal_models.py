"""Models with a logistic-normal prior: tomotopy's, arrays, and files as R writes them."""

from pathlib import Path

import numpy as np
import pytest

import heldout
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import LogisticNormalTopics, logistic_normal_exact
from heldout.libraries.logistic_normal import from_any

WORDS = ("ape", "bear", "cat")
PHI, MEAN, COVARIANCE = [[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]], [0.3], [[1.5]]
DOCUMENTS = [["ape", "bear", "ape", "ape"], ["cat", "cat"], ["bear", "other"], []]


def test_the_score_is_the_exact_mean_per_token() -> None:
    corpus = Corpus.from_documents("made-up", [(str(d), words) for d, words in enumerate(DOCUMENTS)])
    exact = logistic_normal_exact(LogisticNormalTopics.of(PHI, MEAN, COVARIANCE, WORDS), corpus)
    score = heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS)
    assert score == pytest.approx(exact.log_likelihood.sum() / 7, abs=1e-9)
    smoothed = heldout.log_likelihood((PHI, MEAN, COVARIANCE), [["cat"]], vocabulary=WORDS, smoothing=0.1)
    assert smoothed != pytest.approx(heldout.log_likelihood((PHI, MEAN, COVARIANCE), [["cat"]], vocabulary=WORDS))


def test_tomotopys_model_is_scored_under_its_own_prior() -> None:
    """One word against a mean over 200,000 draws of theta; false alarms 1e-5."""
    tomotopy = pytest.importorskip("tomotopy")
    model = tomotopy.CTModel(k=3, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        model.add_doc([WORDS[v] for v in rng.integers(0, 3, 10)])
    model.train(20, workers=1)
    topics = from_any(model)
    assert topics is not None
    assert topics.vocabulary == tuple(model.used_vocabs)
    x = rng.multivariate_normal(model.prior_mean, model.prior_cov, 200_000)
    theta = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    p = theta @ topics.phi[:, topics.vocabulary.index("cat")]
    score = heldout.log_likelihood(model, [["cat"]])
    assert abs(np.exp(score) - p.mean()) < 4.7 * p.std() / np.sqrt(len(p)) + 1e-6
    with pytest.raises(InputError, match=r"a tomotopy CTModel; .*heldout.log_likelihood scores a CTModel"):
        heldout.audit(model, DOCUMENTS)
    with pytest.raises(InputError, match="train it first"):
        from_any(tomotopy.CTModel(k=2))


def written_by_r(folder: Path, mean: str = "0.3\n") -> Path:
    """Write what R's write.csv and write.table write of PHI, MEAN and COVARIANCE."""
    path = folder / "phi.csv"
    path.write_text('"ape","bear","cat"\n0.5,0.4,0.1\n0.1,0.2,0.7\n')
    (folder / "phi.mean.csv").write_text(mean)
    (folder / "phi.covariance.csv").write_text("1.5\n")
    return path


def test_files_as_r_writes_them(tmp_path: Path) -> None:
    arrays = heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS)
    assert heldout.log_likelihood(written_by_r(tmp_path), DOCUMENTS) == arrays


def test_a_mean_for_every_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a mean for every document"):
        from_any(written_by_r(tmp_path, "0.3,0.4\n0.1,0.2\n"))
