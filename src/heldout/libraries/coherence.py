"""Coherence of topics in documents, by tomotopy, their diversity and exclusivity: qualities of the words.

The normalised pointwise mutual information of two words (Bouma 2009; Roeder, Both and Hinneburg 2015), with p a share
of the documents,

    NPMI(v, w) = log[p(v, w) / (p(v) p(w))] / -log p(v, w),

is 1 for words that occur only together, 0 for independent ones and -1 for words that never meet. A topic's coherence is
the mean over the pairs of its `WORDS` most probable words.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import AnyTopics
from heldout.typing import Floats, Ints

WORDS = 10  # most probable words of a topic


class Coherence(NamedTuple):
    """The mean coherence of every model's topics, the number of their top words that were found, and their number."""

    values: list[float]
    found: int
    words: int


def top_words(phi: Floats) -> Ints:
    """Return the `WORDS` most probable words of every topic, (K, `WORDS`), of phi (K, V), in falling order."""
    return np.argsort(-phi, axis=1, kind="stable")[:, :WORDS]


def diversity(phi: Floats) -> float:
    """Return the share of different words among the topics' top words (Dieng et al. 2020), of phi (K, V).

    Examples:
        >>> diversity(np.kron(np.eye(3), np.full(10, 0.1))), diversity(np.full((4, 10), 0.1))
        (1.0, 0.25)
    """
    words = top_words(phi)
    return len(np.unique(words)) / words.size


def exclusivity(phi: Floats) -> Floats:
    """Return every topic's mean over its top words of phi[k, w] / sum_j phi[j, w], (K,) (Roberts et al. 2014).

    Examples:
        >>> exclusivity(np.full((4, 10), 0.1)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    shares = phi / np.maximum(phi.sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(np.take_along_axis(shares, top_words(phi), axis=1).mean(axis=1))


def check_ordered(documents: Iterable[Corpus], measure: str) -> None:
    """Refuse "c_v", which is of windows of texts, for documents whose words have no order; raises InputError."""
    for batch in documents:
        if measure == "c_v" and not batch.provenance["ordered"]:
            raise InputError(
                f"{batch.name}: C_v is of the words' order, and counts have none; give lists of words or a folder of"
                " texts (coherence_documents), or take npmi (coherence_measure)"
            )


def coherence(models: Sequence[AnyTopics], documents: Iterable[Corpus], measure: str = "npmi") -> Coherence:
    """Return the mean coherence of each model's topics, and the number of their top words in the documents.

    Args:
        models: topics; their words are the documents' where they meet.
        documents: batches of documents.
        measure: "npmi", over documents, or "c_v", over windows of 110 tokens of texts in their order.

    Raises:
        InputError: when tomotopy is not installed, or for "c_v" of documents without an order.
    """
    batches = list(documents)
    check_ordered(batches, measure)
    try:
        with warnings.catch_warnings():  # its compiled types warn of how they were built when they are first imported
            warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
            import tomotopy
            from tomotopy.coherence import Coherence as OfTomotopy
            from tomotopy.coherence import ConfirmMeasure, ProbEstimation, Segmentation
    except ImportError as error:
        raise InputError(f"coherence takes tomotopy: pip install 'heldout[peers]' ({error!s:.200})") from error
    corpus, met = tomotopy.utils.Corpus(), set[str]()
    for batch in batches:
        for d in np.flatnonzero(batch.lengths):
            tokens = batch.document(int(d))
            words = [batch.vocabulary[word] for word in (tokens if measure == "c_v" else np.unique(tokens))]
            met.update(words)
            corpus.add_doc(words)
    tops = [[[topics.vocabulary[word] for word in row] for row in top_words(topics.phi)] for topics in models]
    by_document = (ProbEstimation.DOCUMENT, Segmentation.ONE_ONE, ConfirmMeasure.NPMI)
    targets = sorted({word for model in tops for topic in model for word in topic})
    measured = OfTomotopy(corpus, "c_v" if measure == "c_v" else by_document, targets=targets)
    values = [float(np.mean([measured.get_score(words=topic) for topic in model])) for model in tops]
    return Coherence(values, len(met & set(targets)), len(targets))
