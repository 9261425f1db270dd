"""bitermplus (MIT), the biterm topic model; its defaults but for K, the iterations and the seed.

It pairs words that stand near each other. Counts have no order, so every document's tokens are shuffled first.
`perplexity` is of the documents' own words at the p(z | d) that `transform` gives them, which is written, too. There is
no prior of p(z | d): Dirichlet(1) stands in.
"""

import importlib.metadata

import bitermplus
import numpy as np
import scipy.sparse as sp
from interface import Folder, drive


def tokens(counts: sp.csr_matrix, seed: int) -> list[np.ndarray]:
    """Return documents as the package takes them: arrays of words' numbers."""
    rng = np.random.default_rng(seed)
    rows = [slice(*counts.indptr[d : d + 2]) for d in range(counts.shape[0])]
    repeated = (np.repeat(counts.indices[row], counts.data[row].astype(int)) for row in rows)
    return [rng.permutation(document).astype(np.int32) for document in repeated]


def driver(folder: Folder) -> tuple[str, dict[str, float]]:
    """Fit and score."""
    training = folder.counts("training").astype(np.int64)
    words = np.array([f"w{v}" for v in range(training.shape[1])])
    model = bitermplus.BTM(training, words, T=folder.topics, seed=folder.seed)
    biterms = bitermplus.get_biterms(tokens(training, folder.seed))
    model.fit(biterms, iterations=folder.rounds, verbose=False)
    phi = np.asarray(model.matrix_topics_words_)
    folder.write("topics", phi)
    folder.write("alpha", np.ones(folder.topics))
    values = {}
    for name, counts in folder.tests():
        theta = np.asarray(model.transform(tokens(counts, folder.seed), verbose=False))
        folder.write(f"theta-{name}", theta)
        values[name] = float(bitermplus.perplexity(phi, theta, counts.astype(np.int64), folder.topics))
    return importlib.metadata.version("bitermplus"), values


if __name__ == "__main__":
    drive(driver)
