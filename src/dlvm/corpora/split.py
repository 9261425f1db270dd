"""Which documents are held out, and which half of each is shown."""

import numpy as np

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.seeds import generator


def train_test_split(corpus: Corpus, test_documents: int, seed: int) -> tuple[Corpus, Corpus]:
    """Divide a corpus at random into training and test documents, each in the corpus's own order.

    The draw is named by (corpus, seed) alone, so every model sees the same split.

    Raises:
        InputError: when either side would be empty.
    """
    if not 0 < test_documents < corpus.n_documents:
        raise InputError(
            f"corpus {corpus.name}: {test_documents} test documents cannot be held out of {corpus.n_documents};"
            " leave at least one document on each side"
        )
    order = generator("train-test-split", corpus=corpus.name, seed=seed).permutation(corpus.n_documents)
    return corpus.subset(np.sort(order[test_documents:])), corpus.subset(np.sort(order[:test_documents]))


def half_split(test: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Divide every document's tokens at random into an observed half and a scored half.

    A document of L tokens shows floor(L / 2) of them and is scored on the others; both halves keep the
    tokens' order. The draw is named by (corpus, document, seed), so it is the same for every model and
    does not depend on which other documents are held out.
    """
    observed, scored = [], []
    for d, name in enumerate(test.documents):
        stream = test.document(d)
        order = generator("half-split", corpus=test.name, document=name, seed=seed).permutation(len(stream))
        half = len(stream) // 2
        observed.append(stream[np.sort(order[:half])])
        scored.append(stream[np.sort(order[half:])])
    return test.with_streams(observed, test.documents), test.with_streams(scored, test.documents)
