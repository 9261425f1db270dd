"""The gallery's opening table on documents: every token model's usual score, and its likelihood.

A row is a model of sections 27.2 and 27.3, trained on the training documents of a split and scored on the test
documents twice: by the score that is usually reported of it, and by its likelihood (`heldout.papers.murphy.members`).
All in nats of the documents as sequences of tokens. What a model of counts says of the length remains: the Poisson
models, GaP and NMF generate it, the others are given it. Words without training tokens are left out of the test
documents, for every model.
"""

from collections.abc import Sequence

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.measurements import Measurement
from heldout.papers.murphy.members.data import DOCUMENTS
from heldout.papers.murphy.members.rows import rows
from heldout.scores import Score


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    samples: int,
    smoothing: float,
    alpha: float,
    gamma: float,
    rho: float,
    penalty: float,
    iterations: int,
    sweeps: int,
    fold_in_iterations: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train every member with every number of components and score it twice.

    Args:
        corpus: all documents.
        seed: determines the split, the starts and the chains.
        test_documents: how many documents are held out.
        topics: K; categorical PCA takes those its quadrature can, and 1.
        exact_topics: the most components of the exact kernel.
        samples: sweeps of left-to-right sequential beyond.
        smoothing: added to the word probabilities of the mixtures, PLSI and NMF.
        alpha: the Dirichlet parameter of LDA's weights and the shape of GaP's.
        gamma: the Dirichlet parameter of the topics of LDA and GaP.
        rho: the spike of the conditional GaP.
        penalty: of categorical PCA's weights.
        iterations: of EM and variational Bayes, at most; online, passes.
        sweeps: of Gibbs sampling.
        fold_in_iterations: of folding in.

    Raises:
        InputError: as the models and evaluators do, or for a setting out of range.
    """
    if exact_topics < 1 or samples < 1 or fold_in_iterations < 1:
        raise InputError("gallery: exact_topics, samples and fold_in_iterations must be at least 1")
    settings = {
        "exact_topics": exact_topics,
        "samples": samples,
        "smoothing": smoothing,
        "alpha": alpha,
        "gamma": gamma,
    }
    settings |= {"rho": rho, "penalty": penalty, "iterations": iterations, "sweeps": sweeps}
    settings |= {"fold_in_iterations": fold_in_iterations}
    split = {"seed": seed, "test_documents": test_documents}
    return rows("gallery", DOCUMENTS, corpus, topics=topics, settings=settings, **split)
