"""embedded-topic-model (MIT), the embedded topic model; its defaults but for K, the epochs and the seed.

Words' embeddings are learnt with the topics, for there are none to take. The package prints no number of whole
documents: here it is its training loss, minus the evidence lower bound, per token of the test documents, with `SAMPLES`
draws of theta from its encoder in the place of one. theta = softmax(x), x ~ N(0, I). The decoder adds `ADDED` to every
word's probability, which then sum to 1 + V `ADDED`: topics are written with it, and the bound is of their
probabilities.
"""

import importlib.metadata
import math

import numpy as np
import scipy.sparse as sp
import torch
from embedded_topic_model.models.etm import ETM
from interface import Folder, drive

SAMPLES = 100
ADDED = 1e-6  # in Model.decode


def documents(counts: sp.csr_matrix) -> dict[str, list[np.ndarray]]:
    """Return documents as the package takes them: arrays of words' numbers, and of their counts."""
    rows = [slice(*counts.indptr[d : d + 2]) for d in range(counts.shape[0])]
    return {
        name: [values[row] for row in rows] for name, values in (("tokens", counts.indices), ("counts", counts.data))
    }


@torch.no_grad()
def bounds(etm: ETM, counts: sp.csr_matrix) -> np.ndarray:
    """Return the bound of every document and its standard error over the draws, (D, 2), nats."""
    model, beta = etm.model, etm.model.get_beta()
    values = np.empty((counts.shape[0], 2))
    for d in range(counts.shape[0]):
        bag = torch.from_numpy(counts[d].toarray().astype(np.float64))
        words = torch.from_numpy(counts[d].indices.astype(np.int64))
        mean, log_variance, divergence = model.encode(bag / bag.sum())
        x = model.reparameterize(mean.expand(SAMPLES, -1), log_variance.expand(SAMPLES, -1))
        of_draws = model.decode(torch.softmax(x, dim=-1), beta[:, words]) @ bag[0, words]
        excess = float(bag.sum()) * math.log1p(counts.shape[1] * ADDED)
        values[d] = float(of_draws.mean() - divergence) - excess, float(of_draws.std()) / math.sqrt(SAMPLES)
    return values


def driver(folder: Folder) -> tuple[str, dict[str, float]]:
    """Fit and score."""
    torch.set_num_threads(1)
    training = folder.counts("training").astype(np.int64)
    words = [f"w{v:06d}" for v in range(training.shape[1])]
    # the last of `epochs` is not run
    etm = ETM(words, num_topics=folder.topics, epochs=folder.rounds + 1, seed=folder.seed, train_embeddings=True)
    etm.fit(documents(training))
    etm.model.double().train()  # in training it draws from the encoder; there is no dropout by default
    with torch.no_grad():
        folder.write("topics", etm.model.get_beta().numpy() + ADDED)
    folder.write("mean", np.zeros(folder.topics))
    folder.write("covariance", np.eye(folder.topics))
    values = {}
    for name, counts in folder.tests():
        own = bounds(etm, counts)
        folder.write(f"documents-{name}", own)
        values[name] = -float(own[:, 0].sum() / counts.sum())
    return importlib.metadata.version("embedded-topic-model"), values


if __name__ == "__main__":
    drive(driver)
