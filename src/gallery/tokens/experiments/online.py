"""Figure 27.9: online against batch variational Bayes for LDA, on Reuters, which stands in for Wikipedia.

After the first batch or round, and then whenever the number of documents analysed has doubled, every visit counted, and
at the end, the posterior means of the topics score held-out documents. Measured of "lda-vb" and of "lda-online-vb",
whose batch size is the variant's end, on the axis "documents analysed", nats per token:

    bound       the variational bound
    likelihood  the reference
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import LIKELIHOOD
from gallery.tokens.members.lda import BatchVB, OnlineVB
from gallery.tokens.models.lda_online_vb import OnlineLDAVB
from gallery.tokens.models.lda_vb import LDAVB
from gallery.tokens.spec import Online
from heldout.errors import InputError
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.reference import reference
from heldout.topics import Topics
from heldout.typing import Floats

BOUND, ANALYSED = "bound", "documents analysed"


def experiment(job: Job, settings: Online) -> Results:
    """Fit online and batch variational Bayes from one start, and score both at every doubling of documents analysed.

    Raises:
        InputError: as the models do, or where the corpus has too few documents.
    """
    rest, test = job.split()
    K, documents, alpha, gamma = settings.topics, settings.documents, settings.alpha, settings.gamma
    if documents > rest.n_documents:
        raise InputError(f"online: {documents} documents of {rest.n_documents}; take fewer")
    training = job.sample(rest, documents, "online-documents")
    words = tuple(rest.vocabulary[w] for w in np.unique(training.tokens))
    training, test = training.over(words)[0], test.over(words)[0]
    counts = training.counts()
    updates = settings.document_iterations
    batch_vb = LDAVB(
        K, alpha=alpha, gamma=gamma, document_iterations=updates, iterations=settings.iterations, tolerance=0.0
    )
    start = batch_vb.start(len(words), job.generator("online-start", topics=K))
    recorder = job.recorder(topics=K)

    class Trace:
        """Scores a model whenever the documents analysed have doubled."""

        def __init__(self, model: str, variant: str) -> None:
            self.recorder = recorder.at(model=model, variant=variant)
            self.due, self.last = 0, (0, start)

        def __call__(self, analysed: int, b: Floats) -> None:
            self.last = analysed, b
            if analysed >= self.due:
                self.due = 2 * analysed
                self.score()

        def score(self) -> None:
            analysed, b = self.last
            fitted = Topics(b / b.sum(axis=1, keepdims=True), np.full(K, alpha), words)
            random = job.generator("online-score", analysed=analysed)
            annealed = reference(fitted, test, settings.samples, random)
            for quantity, evaluation in ((BOUND, mean_field_bound(fitted, test)), (LIKELIHOOD, annealed)):
                self.recorder.per_token(quantity, evaluation, axis=ANALYSED, position=analysed)

        def finish(self) -> None:
            if 2 * self.last[0] != self.due:
                self.score()

    trace = Trace(BatchVB.name, "online")
    batch_vb.fit(counts, pseudo_counts=start, record=trace)
    trace.finish()
    for batch in settings.batches:
        trace = Trace(OnlineVB.name, f"online-{batch}")
        orders = job.generator("online-order", batch=batch)
        model = OnlineLDAVB(
            K,
            alpha=alpha,
            gamma=gamma,
            document_iterations=updates,
            batch=batch,
            passes=settings.passes,
            random_state=orders,
        )
        model.fit(counts, pseudo_counts=start, record=trace)
        trace.finish()
    return recorder.results
