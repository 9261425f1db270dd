"""The gallery's opening table on records of categorical variables (equations 27.3, 27.7 and 27.14).

As `heldout.papers.murphy.experiments.gallery` on documents, in nats of a record's responses, with gaps integrated out.
A model is left out where its likelihood would cost more than the limits: columns of categorical PCA's quadrature,
components of the user rating profile's exact kernel.
"""

from collections.abc import Sequence

from heldout.corpora.corpus import Corpus
from heldout.measurements import Measurement
from heldout.papers.murphy.members.data import RECORDS
from heldout.papers.murphy.members.rows import rows
from heldout.scores import Score


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    columns: int,
    smoothing: float,
    alpha: float,
    gamma: float,
    penalty: float,
    iterations: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train every member with every number of components and score it twice.

    Args:
        corpus: records (`heldout.corpora.records`).
        seed: determines the split and the starts.
        test_documents: how many records are held out.
        topics: K; categorical PCA takes those its quadrature can, and 1.
        exact_topics: the most components of the user rating profile.
        columns: the most pairs of variable and value of categorical PCA.
        smoothing: added to the probabilities of the mixture.
        alpha: the Dirichlet parameter of the user rating profile.
        gamma: its pseudo-counts of every value.
        penalty: of categorical PCA's weights.
        iterations: of EM, at most.

    Raises:
        InputError: as the models and evaluators do, or for documents.
    """
    settings = {"exact_topics": exact_topics, "columns": columns, "smoothing": smoothing, "alpha": alpha}
    settings |= {"gamma": gamma, "penalty": penalty, "iterations": iterations}
    split = {"seed": seed, "test_documents": test_documents}
    return rows("records", RECORDS, corpus, topics=topics, settings=settings, **split)
