"""Models with a logistic-normal prior: tomotopy's, arrays, and files as R writes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout
from heldout.auditing.matching import model_digest
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.libraries import read
from heldout.libraries.read import read_model
from heldout.libraries.reported import reported
from heldout.topics import LogisticNormalTopics

WORDS = ("ape", "bear", "cat")
PHI, MEAN, COVARIANCE = [[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]], [0.3], [[1.5]]
DOCUMENTS = [["ape", "bear", "ape", "ape"], ["cat", "cat"], ["bear", "other"], []]


def test_the_score_is_the_exact_mean_per_token() -> None:
    corpus = Corpus.from_documents("made-up", [(str(d), words) for d, words in enumerate(DOCUMENTS)])
    exact = logistic_normal_exact(LogisticNormalTopics.of(PHI, MEAN, COVARIANCE, WORDS), corpus)
    score = heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS, estimator="exact-marginal")
    assert score == pytest.approx(exact.log_likelihood.sum() / 7, abs=1e-9)
    assert heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS) == pytest.approx(score, abs=0.1)
    with pytest.raises(InputError, match="chib: under a Dirichlet prior only"):
        heldout.log_likelihood((PHI, MEAN, COVARIANCE), DOCUMENTS, vocabulary=WORDS, estimator="chib")
    smoothed = heldout.log_likelihood((PHI, MEAN, COVARIANCE), [["cat"]], vocabulary=WORDS, smoothing=0.1)
    assert smoothed != pytest.approx(heldout.log_likelihood((PHI, MEAN, COVARIANCE), [["cat"]], vocabulary=WORDS))


def test_tomotopys_model_is_scored_under_its_own_prior(tmp_path: Path) -> None:
    """One word against a mean over 200,000 draws of theta; false alarms 1e-5."""
    tomotopy = pytest.importorskip("tomotopy")
    model = tomotopy.CTModel(k=3, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        model.add_doc([WORDS[v] for v in rng.integers(0, 3, 10)])
    model.train(20, workers=1)
    fitted = read.fitted(model)
    topics = fitted.topics
    assert topics.vocabulary == tuple(model.used_vocabs)
    x = rng.multivariate_normal(model.prior_mean, model.prior_cov, 200_000)
    theta = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    p = theta @ topics.phi[:, topics.vocabulary.index("cat")]
    score = heldout.log_likelihood(model, [["cat"]], estimator="exact-marginal")
    assert abs(np.exp(score) - p.mean()) < 4.7 * p.std() / np.sqrt(len(p)) + 1e-6
    model.save(str(tmp_path / "ctm.bin"))
    saved = read_model(tmp_path / "ctm.bin")
    assert (saved.library, saved.topics.provenance["version"]) == ("tomotopy", tomotopy.__version__)
    for here, there in ((saved.topics.phi, topics.phi), (model_digest(saved), model_digest(fitted))):
        np.testing.assert_array_equal(here, there)
    with pytest.raises(InputError, match="train it first"):
        read.fitted(tomotopy.CTModel(k=2))


def test_tomotopys_own_number_is_the_sum_of_its_parts_and_another_sum_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tomotopy = pytest.importorskip("tomotopy")
    model = tomotopy.CTModel(k=4, seed=1, smoothing_alpha=0.3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        model.add_doc([WORDS[v] for v in rng.integers(0, 3, 10)])
    model.train(20, workers=1)
    fitted = read.fitted(model)
    documents = [Corpus.from_documents("made-up", [("a", ["ape", "bear", "ape"]), ("b", ["cat"] * 5)])]
    number = reported(fitted, documents)
    assert number.function == "CTModel.infer"
    assert sum(term.nats for term in number.terms) == pytest.approx(8 * number.nats_per_token, rel=1e-3)
    assert "no probability of the words" in number.computes
    monkeypatch.setattr("heldout.libraries.tomotopy._topics_part", lambda *_: 0.0)
    whole = reported(fitted, documents)
    assert (bool(whole.note), whole.terms, np.isfinite(whole.nats_per_token)) == (True, (), True)


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


def test_an_npz_file_holds_the_prior_and_of_one_kind(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, phi=PHI, mu=MEAN, sigma=COVARIANCE, vocabulary=np.array(WORDS))
    saved, made = read_model(path), read.fitted((PHI, MEAN, COVARIANCE), WORDS)
    assert model_digest(saved) == model_digest(made)
    assert (saved.library, saved.topics.provenance["format"], saved.words_known) == ("arrays", "npz", True)
    np.savez(path, phi=PHI, mu=MEAN, sigma=COVARIANCE, alpha=0.1)
    with pytest.raises(InputError, match="alpha and mu in it, which are of two priors"):
        read_model(path)
    np.savez(path, phi=PHI, mu=MEAN)
    with pytest.raises(InputError, match="no sigma in it"):
        read_model(path)


def test_documents_with_means_of_their_own_score_as_each_does_by_itself(tmp_path: Path) -> None:
    means = [0.3, -2.0, 1.5, 0.0]
    exact: dict[str, Any] = {"vocabulary": WORDS, "estimator": "exact-marginal"}
    alone = [
        heldout.log_likelihood((PHI, [mean], COVARIANCE), [document], **exact) * sum(map(WORDS.__contains__, document))
        for mean, document in zip(means[:3], DOCUMENTS, strict=False)
    ]
    together = heldout.log_likelihood((PHI, np.array(means)[:, None], COVARIANCE), DOCUMENTS, **exact)
    assert together == pytest.approx(sum(alone) / 7, abs=1e-12)
    lines = ",".join(map(str, means)) + "\n"  # K - 1 lines of D numbers, as mu of an stm with covariates
    audit = heldout.audit(written_by_r(tmp_path, lines), DOCUMENTS)
    np.testing.assert_allclose(audit.nats["likelihood"][:3], alone, atol=1e-9)
    np.testing.assert_array_equal(audit.mean, np.array(means)[:, None])
    assert audit.probability is not None
    with pytest.raises(InputError, match=r"4 documents, but priors .* of 3"):
        heldout.audit(written_by_r(tmp_path, "0.3,0.4,1\n"), DOCUMENTS)
    with pytest.raises(InputError, match=r"a mean of \(3, 2\)"):
        heldout.audit(written_by_r(tmp_path, "0.3,0.4,1\n0.3,0.4,1\n"), DOCUMENTS)


def test_means_of_documents_hold_for_blocks_estimates_and_k_numbers() -> None:
    """The reference over 20 documents, more than a block; six errors of the sum."""
    rng = np.random.default_rng(0)
    phi, means, Sigma = rng.dirichlet(np.ones(9), 3), rng.normal(size=(20, 2)), np.diag([1.0, 0.5])
    words, counts = tuple("abcdefghi"), rng.poisson(1.0, (20, 9)) + 1
    exact, estimate = (
        heldout.audit((phi, means, Sigma), counts, vocabulary=words, estimator=name, probability=False)["likelihood"]
        for name in ("exact-marginal", "reference")
    )
    assert abs(exact.log_likelihood - estimate.log_likelihood) < 6.0 * estimate.standard_error
    of_three = heldout.audit(
        (phi, np.column_stack([means, np.zeros(20)]), np.diag([1.0, 0.5, 1e-9])),
        counts,
        vocabulary=words,
        estimator="exact-marginal",
    )
    assert of_three["likelihood"].log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-4)
    topics = LogisticNormalTopics.of(phi, means, Sigma, words)
    one_by_one = [LogisticNormalTopics.of(phi, mean, Sigma, words).mean_weights for mean in means]
    np.testing.assert_allclose(topics.mean_weights, np.mean(one_by_one, axis=0), atol=0.01)
