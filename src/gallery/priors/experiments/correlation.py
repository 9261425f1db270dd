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

from collections.abc import Iterator

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from artifact.study.study import installed
from gallery.member import BOUND, LIKELIHOOD, TOKENS, USUAL, Family
from gallery.priors.experiments.covariates import keep_frequent_words
from gallery.priors.models.ctm import CTM
from gallery.priors.spec import Correlation
from gallery.tokens.members.data import deterministic
from heldout.corpora.corpus import Corpus
from heldout.evaluators import EXACT
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.priors import prior_of
from heldout.evaluators.reference import reference
from heldout.models import LDA as LDA_NAME
from heldout.models.lda import LDA
from heldout.seeds import entropy
from heldout.topics import AnyTopics

JOINTLY, PRIOR, TOMOTOPY = "ctm", "ctm-prior", "ctm-tomotopy"
ESTIMATED = "estimated"
PACKAGE = "tomotopy"
EXACT_TOPICS = 3  # largest number of topics of the quadrature
CHECKED = 20  # number of documents whose estimate is compared with the exact value
FAMILIES = (Family("correlated topics", (JOINTLY, PRIOR, TOMOTOPY), BOUND, TOKENS, {JOINTLY: "CTM"}),)


def experiment(job: Job, settings: Correlation) -> Results:
    """Train the models and score them; raises InputError as they and the evaluators do."""
    rest, test = job.split()
    training = job.sample(rest, settings.documents, "correlation-documents")
    training, test, left_out = keep_frequent_words(training, test, settings.words)
    counts, words = training.counts(), training.vocabulary
    recorder = job.recorder(chain="0", documents=test.documents, tokens_left_out=left_out)
    checked = np.arange(min(CHECKED, test.n_documents))

    def random(model: str, K: int, part: str) -> np.random.Generator:
        return job.generator("correlation", model=model, topics=K, part=part)

    def models(K: int) -> Iterator[tuple[str, AnyTopics, Evaluation | None]]:
        lda = LDA.of(settings, K, beta=settings.gamma, random_state=random(LDA_NAME, K, "fit"))
        topics = lda.fit(training).topics(words)
        yield LDA_NAME, topics, mean_field_bound(topics, test)
        for name in (PRIOR, JOINTLY):
            ctm = CTM.of(settings, K, fixed=name == PRIOR)
            ctm.fit(counts, components=topics.phi)
            yield name, ctm.topics(words), deterministic(ctm.infer(test.counts()).bound, test)
        if PACKAGE in installed():
            yield TOMOTOPY, tomotopy_topics(training, K, settings, job.seed), None

    for name, topics, bound in (model for K in settings.topics for model in models(K)):
        row, exact = recorder.at(model=name, topics=topics.n_topics), topics.n_topics <= EXACT_TOPICS
        if bound is not None:
            row.score(USUAL, bound)
        rng = random(name, row.topics, "check" if exact else "score")
        estimated = reference(topics, test.subset(checked) if exact else test, settings.samples, rng)
        likelihood = prior_of(topics).exact(topics, test) if exact else estimated
        row.score(LIKELIHOOD, likelihood, samples=0 if exact else settings.samples)
        if exact:
            exact_values = Evaluation.deterministic(likelihood.log_likelihood[checked], likelihood.tokens[checked])
            row.per_token(ESTIMATED, estimated)
            row.per_token(EXACT, exact_values)
    return recorder.results


def tomotopy_topics(training: Corpus, K: int, settings: Correlation, seed: int) -> AnyTopics:
    """Return the topics and the prior that tomotopy's CTModel has after `tomotopy_sweeps`."""
    from heldout.libraries.tomotopy import from_object, train_correlated

    seed = entropy("correlation-tomotopy", corpus=training.name, topics=K, seed=seed) % 2**31
    documents = [[training.vocabulary[w] for w in training.document(d)] for d in range(training.n_documents)]
    model = train_correlated(documents, K, gamma=settings.gamma, sweeps=settings.tomotopy_sweeps, seed=seed)
    topics: AnyTopics = from_object(model, None, None, PACKAGE).topics
    return topics
