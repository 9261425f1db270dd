"""Section 27.4.1: the correlated topic model beside LDA at the same K under fitted priors.

Recorded on held-out documents as "usual-score", the variational bound, and "likelihood", exact with two and three
topics and the reference beyond, of

    lda             collapsed Gibbs sampling, its Dirichlet prior fitted by Minka's fixed point
    ctm-prior       LDA's topics with a logistic-normal prior fitted by variational EM, b fixed
    ctm             variational EM of topics and prior, from LDA's topics
    ctm-tomotopy    tomotopy's `CTModel`, where it is installed; it states no bound, and has no usual score

Measured of every model with an exact value on the axis "topics", nats per token, as of the opening table:

    estimated, exact    the reference and the exact value of some documents
"""

from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators import EXACT
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.priors import prior_of
from heldout.evaluators.reference import reference
from heldout.job import Job
from heldout.models import LDA as LDA_NAME
from heldout.models.ctm import CTM
from heldout.models.lda import LDA
from heldout.papers.murphy.experiments.covariates import of_frequent_words
from heldout.papers.murphy.members.data import deterministic, per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.settings_priors import Correlation
from heldout.recorder import Results
from heldout.seeds import entropy, generator
from heldout.study import installed
from heldout.topics import AnyTopics

JOINTLY, PRIOR, TOMOTOPY = "ctm", "ctm-prior", "ctm-tomotopy"
ESTIMATED = "estimated"
PACKAGE = "tomotopy"
EXACT_TOPICS = 3  # of the quadrature
CHECKED = 20  # documents whose estimate is held to the exact value


def experiment(job: Job, settings: Correlation) -> Results:
    """Train the models and score them; raises InputError as they and the evaluators do."""
    rest, test = job.split()
    order = generator("correlation-documents", corpus=job.corpus.name, seed=job.seed).permutation(rest.n_documents)
    training = rest.subset(np.sort(order[: settings.documents]))
    training, test, left_out = of_frequent_words(training, test, settings.words)
    counts, words = training.counts(), training.vocabulary
    recorder = job.recorder(chain="0", documents=test.documents)
    few = np.arange(min(CHECKED, test.n_documents))

    def random(model: str, K: int, part: str) -> np.random.Generator:
        return generator("correlation", corpus=job.corpus.name, model=model, topics=K, part=part, seed=job.seed)

    def add(name: str, topics: AnyTopics, bound: Evaluation | None) -> None:
        K, prior = topics.n_topics, prior_of(topics)
        row, exact = recorder.at(model=name, topics=K), K <= EXACT_TOPICS
        if bound is not None:
            row.score(USUAL, bound, tokens_left_out=left_out)
        likelihood = prior.exact(topics, test) if exact else estimate(topics, test, random(name, K, "score"))
        samples = 0 if exact else settings.samples
        row.score(LIKELIHOOD, likelihood, samples=samples, tokens_left_out=left_out)
        if exact:
            of_few = Evaluation.deterministic(likelihood.log_likelihood[few], likelihood.tokens[few])
            estimated = estimate(topics, test.subset(few), random(name, K, "check"))
            for quantity, evaluation in ((ESTIMATED, estimated), (EXACT, of_few)):
                row.measure(quantity, **per_token(evaluation), axis="topics", at=K)

    def estimate(topics: AnyTopics, documents: Corpus, rng: np.random.Generator) -> Evaluation:
        return reference(topics, documents, settings.samples, rng)

    for K in settings.topics:
        given: dict[str, Any] = {"alpha": settings.alpha, "beta": settings.gamma, "sweeps": settings.sweeps}
        lda = LDA(K, **given, optimise_every=settings.optimise_every, random_state=random(LDA_NAME, K, "fit"))
        topics = lda.fit(training).topics(words)
        add(LDA_NAME, topics, mean_field_bound(topics, test))
        for name in (PRIOR, JOINTLY):
            ctm = CTM(K, gamma=settings.gamma, iterations=settings.iterations, fixed=name == PRIOR)
            ctm.fit(counts, components=topics.phi)
            add(name, ctm.topics(words), deterministic(ctm.infer(test.counts()).bound, test))
        if PACKAGE in installed():
            add(TOMOTOPY, of_tomotopy(training, K, settings, job.seed), None)
    return recorder.results


def of_tomotopy(training: Corpus, K: int, settings: Correlation, seed: int) -> AnyTopics:
    """Return the topics and the prior that tomotopy's CTModel has after `tomotopy_sweeps`."""
    from heldout.libraries.tomotopy import from_object, train_correlated

    seed = entropy("correlation-tomotopy", corpus=training.name, topics=K, seed=seed) % 2**31
    documents = [[training.vocabulary[w] for w in training.document(d)] for d in range(training.n_documents)]
    model = train_correlated(documents, K, gamma=settings.gamma, sweeps=settings.tomotopy_sweeps, seed=seed)
    topics: AnyTopics = from_object(model, None, None, PACKAGE).topics
    return topics
