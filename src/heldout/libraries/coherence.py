"""Coherence of topics in documents, by tomotopy: a number beside the likelihood that asks something else.

The normalised pointwise mutual information of two words (Bouma 2009; Roeder, Both and Hinneburg 2015), with p a share
of the documents,

    NPMI(v, w) = log[p(v, w) / (p(v) p(w))] / -log p(v, w),

is 1 for words that occur only together, 0 for independent ones and -1 for words that never meet. A topic's coherence is
the mean over the pairs of its `WORDS` most probable words.
"""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.topics import AnyTopics

WORDS = 10  # most probable words of a topic


def npmi(models: Sequence[AnyTopics], documents: Iterable[Corpus]) -> list[float]:
    """Return the mean NPMI of each model's topics.

    The models' words are the documents' where they meet; a model of other words is none of these documents.

    Raises:
        InputError: when tomotopy is not installed.
    """
    try:
        with warnings.catch_warnings():  # its compiled types warn of how they were built when they are first imported
            warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
            import tomotopy
            from tomotopy.coherence import Coherence, ConfirmMeasure, ProbEstimation, Segmentation
    except ImportError as error:
        raise InputError(f"coherence takes tomotopy: pip install 'heldout[peers]' ({error!s:.200})") from error
    corpus = tomotopy.utils.Corpus()
    for batch in documents:
        for d in np.flatnonzero(batch.lengths):
            corpus.add_doc([batch.vocabulary[word] for word in np.unique(batch.document(int(d)))])
    tops = []
    for topics in models:
        order = np.argsort(-topics.phi, axis=1, kind="stable")[:, :WORDS]
        tops.append([[topics.vocabulary[word] for word in row] for row in order])
    measure = (ProbEstimation.DOCUMENT, Segmentation.ONE_ONE, ConfirmMeasure.NPMI)
    targets = sorted({word for model in tops for topic in model for word in topic})
    coherence = Coherence(corpus, measure, targets=targets)
    return [float(np.mean([coherence.get_score(words=topic) for topic in model])) for model in tops]
