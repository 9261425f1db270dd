"""Figure 27.10: the graph of topics of the correlated topic model, from its pruned precision, on all documents.

Recorded of "ctm", as arrays:

    prevalence  (K,), the topics' mean weights over documents; their most probable words are noted, on the axis "topic"
    edge        (K, K), partial correlations of topics j < k, 0 where they are pruned, and on and below the diagonal
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

PREVALENCE, EDGE, TOPIC = "prevalence", "edge", "topic"


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
    recorder.array(PREVALENCE, weights.mean(axis=0))
    for k in range(K):
        most = np.argsort(-model.components_[k], kind="stable")[: settings.shown]
        recorder.note(TOPIC, " ".join(corpus.vocabulary[v] for v in most), axis=TOPIC, position=k)
    partial = model.partial_correlations()
    recorder.array(EDGE, np.triu(np.where(np.abs(partial) >= settings.edge, partial, 0.0), k=1))
    return recorder.results
