"""BigARTM (BSD-3-Clause): PLSA with its regulariser of the topics at a small weight, so that no word has probability 0.

`PerplexityScore` is of the documents' own words at the theta that `transform` fits to them, which is written, too.
There is no prior of theta: Dirichlet(1) stands in.
"""

import tempfile
from pathlib import Path

import artm
import numpy as np
import scipy.sparse as sp
from interface import Folder, drive

SMOOTHING = 0.01


def batches(counts: sp.csr_matrix, words: dict[int, str]) -> artm.BatchVectorizer:
    """Return documents as BigARTM takes them."""
    return artm.BatchVectorizer(
        data_format="bow_n_wd",
        n_wd=counts.T,  # of a dense one it walks through every zero
        vocabulary=words,
        target_folder=str(Path(tempfile.mkdtemp()) / "batches"),
        batch_size=10**6,
    )


def driver(folder: Folder) -> tuple[str, dict[str, float]]:
    """Fit and score."""
    training = folder.counts("training")
    words = {v: f"w{v:06d}" for v in range(training.shape[1])}
    documents = batches(training, words)
    model = artm.ARTM(num_topics=folder.topics, dictionary=documents.dictionary, seed=folder.seed, num_processors=1)
    model.regularizers.add(artm.SmoothSparsePhiRegularizer(name="smooth", tau=SMOOTHING))
    model.scores.add(artm.PerplexityScore(name="perplexity", dictionary=documents.dictionary))
    model.fit_offline(documents, num_collection_passes=folder.rounds)
    phi = model.get_phi().reindex([words[v] for v in range(training.shape[1])]).to_numpy(dtype=np.float64)
    folder.write("topics", phi.T)
    folder.write("alpha", np.ones(folder.topics))
    values = {}
    for name, counts in folder.tests():
        theta = model.transform(batches(counts, words))
        folder.write(f"theta-{name}", theta[sorted(theta.columns)].to_numpy(dtype=np.float64).T)
        values[name] = float(model.get_score("perplexity").value)
    return artm.version(), values


if __name__ == "__main__":
    drive(driver)
