"""Figure 27.10: the graph of topics of the correlated topic model, from its pruned precision, on all documents.

Measured of "ctm":

    prevalence  mean weight of a topic over documents, on the axis "topic", and its most probable words noted there
    edge        partial correlation of topics j < k, where it is not pruned, on the axis "pair" at j K + k
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.priors.experiments.correlation import JOINTLY
from gallery.priors.experiments.covariates import keep_frequent_words
from gallery.priors.models.ctm import CTM
from gallery.priors.spec import TopicGraph
from heldout.models.lda import LDA
from heldout.seeds import generator

PREVALENCE, EDGE, TOPIC, PAIR = "prevalence", "edge", "topic", "pair"


def experiment(job: Job, settings: TopicGraph) -> Results:
    """Fit the model and prune its precision; raises InputError as the models do."""
    K, recorder = settings.topics, job.recorder(model=JOINTLY, topics=settings.topics, chain="0")
    corpus, _, _ = keep_frequent_words(job.corpus, job.corpus, settings.words)
    random = generator("topic-graph", corpus=corpus.name, topics=K, seed=job.seed)
    lda = LDA.of(settings, K, beta=settings.gamma, random_state=random).fit(corpus)
    model = CTM.of(settings, K)
    model.fit(corpus.counts(), components=lda.components_)
    mean = model.posterior_.mean
    weights = np.exp(mean - mean.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    for k, prevalence in enumerate(weights.mean(axis=0)):
        recorder.measure(PREVALENCE, prevalence, axis=TOPIC, at=k)
        most = np.argsort(-model.components_[k], kind="stable")[: settings.shown]
        recorder.note(TOPIC, " ".join(corpus.vocabulary[v] for v in most), axis=TOPIC, at=k)
    partial = model.partial_correlations()
    for j in range(K):
        for k in range(j + 1, K):
            if abs(partial[j, k]) >= settings.edge:
                recorder.measure(EDGE, partial[j, k], axis=PAIR, at=j * K + k)
    return recorder.results
