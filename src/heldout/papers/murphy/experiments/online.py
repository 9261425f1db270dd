"""Figure 27.9: online against batch variational Bayes for LDA, on Reuters, which stands in for Wikipedia.

After the first batch or round, and then whenever the number of documents analysed has doubled, every visit counted, and
at the end, the posterior means of the topics score held-out documents. Measured of "lda-vb" and of "lda-online-vb",
whose batch size is the variant's end, on the axis "documents analysed", nats per token:

    bound       the variational bound
    likelihood  left-to-right sequential
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.measurements import Measurement
from heldout.models.lda_online_vb import OnlineLDAVB
from heldout.models.lda_vb import LDAVB
from heldout.papers.murphy.members.lda import BatchVB, OnlineVB
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.scores import Score
from heldout.seeds import generator
from heldout.topics import Topics

BOUND, ANALYSED = "bound", "documents analysed"

Float = NDArray[np.float64]


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: int,
    documents: int,
    alpha: float,
    gamma: float,
    batches: Sequence[int],
    passes: int,
    iterations: int,
    document_iterations: int,
    samples: int,
) -> tuple[list[Score], list[Measurement]]:
    """Fit both and score them as they go.

    Args:
        corpus: all documents.
        seed: determines the split, the start (of all the same) and the orders.
        test_documents: how many documents are scored.
        topics: K.
        documents: how many of the others train, the first of a random order.
        alpha: the Dirichlet parameter of the weights.
        gamma: the Dirichlet parameter of the topics.
        batches: batch sizes.
        passes: of online.
        iterations: rounds of batch.
        document_iterations: updates of a document in an E step.
        samples: sweeps of left-to-right sequential.

    Raises:
        InputError: as the models do, or where the corpus has too few documents.
    """
    rest, test = train_test_split(corpus, test_documents, seed)
    if documents > rest.n_documents:
        raise InputError(f"online: {documents} documents of {rest.n_documents}; take fewer")
    order = generator("online-documents", corpus=corpus.name, seed=seed).permutation(rest.n_documents)
    training = rest.subset(np.sort(order[:documents]))
    words = tuple(corpus.vocabulary[w] for w in np.unique(training.tokens))
    training, test = training.over(words)[0], test.over(words)[0]
    counts = training.counts()
    random = generator("online-start", corpus=corpus.name, topics=topics, seed=seed)
    settings: dict[str, Any] = {"alpha": alpha, "gamma": gamma, "document_iterations": document_iterations}
    start = LDAVB(topics, alpha=alpha, gamma=gamma).start(len(words), random)
    measurements: list[Measurement] = []

    class Recorder:
        """Score a model whenever the documents analysed have doubled."""

        def __init__(self, model: str, variant: str) -> None:
            self.named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": variant, "topics": topics}
            self.named |= {"smoothing": 0.0, "chain": "none", "seed": seed}
            self.due, self.last = 0, (0, start)

        def __call__(self, analysed: int, b: Float) -> None:
            self.last = analysed, b
            if analysed >= self.due:
                self.due = 2 * analysed
                self.score()

        def score(self) -> None:
            analysed, b = self.last
            means = b / b.sum(axis=1, keepdims=True)
            fitted = Topics(means, np.full(topics, alpha), words)
            chain = generator("online-score", corpus=corpus.name, analysed=analysed, seed=seed)
            for quantity, evaluation in (
                (BOUND, mean_field_bound(fitted, test)),
                (LIKELIHOOD, left_to_right_sequential(fitted, test, samples, chain)),
            ):
                value, error = evaluation.log_likelihood.sum() / test.n_tokens, evaluation.total_error() / test.n_tokens
                named = {**self.named, "quantity": quantity}
                row = Measurement(**named, axis=ANALYSED, at=analysed, value=float(value), standard_error=float(error))
                measurements.append(row)

        def finish(self) -> None:
            if 2 * self.last[0] != self.due:
                self.score()

    recorder = Recorder(BatchVB.name, "online")
    LDAVB(topics, iterations=iterations, tolerance=0.0, **settings).fit(counts, pseudo_counts=start, record=recorder)
    recorder.finish()
    for batch in batches:
        recorder = Recorder(OnlineVB.name, f"online-{batch}")
        orders = generator("online-order", corpus=corpus.name, batch=batch, seed=seed)
        model = OnlineLDAVB(topics, batch=batch, passes=passes, random_state=orders, **settings)
        model.fit(counts, pseudo_counts=start, record=recorder)
        recorder.finish()
    return [], measurements
