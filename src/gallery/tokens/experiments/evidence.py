"""Section 27.3.8: the number of topics of drawn documents by the evidence, the bound, held-out documents, and the HDP.

Measured on the axis "topics", of the model "lda", nats per token:

    evidence            log p(y | K) by annealing on the collapsed joint
    evidence-above      the same backwards from the true topics of the tokens, at the true K: an upper bound on average
    bound               of batch variational Bayes
    held-out            the reference on documents that collapsed Gibbs sampling has not seen
    hdp-topics          the number of topics of tomotopy's hierarchical Dirichlet process, where it is installed (at 0)
"""

from functools import partial

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from artifact.study.study import installed
from gallery.tokens.models.lda_vb import LDAVB
from gallery.tokens.spec import Evidence
from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.evaluation import log_mean
from heldout.evaluators.evidence import annealed_evidence
from heldout.evaluators.reference import reference
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.typing import Floats, Ints

FORWARDS, BACKWARDS, BOUND, HELD_OUT, HDP = "evidence", "evidence-above", "bound", "held-out", "hdp-topics"
HELD_OUT_SHARE = 0.2
TOMOTOPY = "tomotopy"


def drawn(
    topics: int, documents: int, tokens: int, words: int, alpha: float, gamma: float, seed: int
) -> tuple[Corpus, Ints]:
    """Return documents of `tokens` tokens each, drawn from LDA with symmetric priors, and the tokens' topics."""
    random = generator("evidence-documents", topics=topics, documents=documents, tokens=tokens, words=words, seed=seed)
    b = random.dirichlet(np.full(words, gamma), size=topics)
    vocabulary = tuple(f"w{v:04d}" for v in range(words))
    q, y = [], []
    for _ in range(documents):
        document_topics = random.choice(topics, size=tokens, p=random.dirichlet(np.full(topics, alpha)))
        q.append(document_topics)
        y += [random.choice(words, p=b[k]) for k in document_topics]
    offsets = np.arange(documents + 1, dtype=np.int64) * tokens
    names = tuple(map(str, range(documents)))
    corpus = Corpus("drawn", vocabulary, np.array(y, dtype=np.int32), offsets, names, {"synthetic": True})
    return corpus, np.concatenate(q)


def experiment(job: Job, settings: Evidence) -> Results:
    """Draw documents and score every number of topics; raises InputError as the models and evaluators do."""
    true_topics, documents, tokens, seed = settings.true_topics, settings.documents, settings.tokens, job.seed
    words, alpha, gamma = settings.words, settings.alpha, settings.gamma
    corpus, true = drawn(true_topics, documents, tokens, words, alpha, gamma, seed)
    y, rows, N = corpus.tokens.astype(np.int64), np.repeat(np.arange(documents), tokens), documents * tokens
    training, test = train_test_split(corpus, max(1, round(HELD_OUT_SHARE * documents)), seed)
    recorder = job.recorder(model=models.LDA)

    def annealed(K: int, posterior: Ints | None = None) -> Floats:
        anneal = partial(annealed_evidence, y, rows, words, topics=K, alpha=alpha, gamma=gamma, posterior=posterior)
        way = "forwards" if posterior is None else "backwards"
        randoms = (generator("evidence", way=way, topics=K, chain=chain, seed=seed) for chain in range(settings.chains))
        return np.array([[anneal(random=random, temperatures=settings.temperatures) for random in randoms]])

    for K in settings.topics:
        row, random = recorder.at(topics=K), generator("evidence-models", topics=K, seed=seed)
        (value,), (error,) = log_mean(annealed(K))
        row.measure(FORWARDS, value / N, error=error / N)
        batch = LDAVB(K, alpha=alpha, gamma=gamma, iterations=settings.iterations, random_state=random)
        row.measure(BOUND, batch.fit(corpus.counts()).bound_[-1] / N)
        model = LDA(K, alpha=alpha, beta=gamma, sweeps=settings.sweeps, random_state=random).fit(training)
        held_out = reference(model.topics(corpus.vocabulary), test, settings.samples, random)
        row.per_token(HELD_OUT, held_out)
    (inverse,), (error,) = log_mean(-annealed(true_topics, true))
    recorder.at(topics=true_topics).measure(BACKWARDS, -inverse / N, error=error / N)
    if TOMOTOPY in installed():
        hdp = hdp_topics(corpus, alpha, gamma, settings.sweeps, seed)
        recorder.at(topics=0).measure(HDP, hdp)
    return recorder.results


def hdp_topics(corpus: Corpus, alpha: float, gamma: float, sweeps: int, seed: int) -> float:
    """Return the number of topics of tomotopy's HDP after Gibbs sampling; its own concentration is 1."""
    import tomotopy

    model = tomotopy.HDPModel(alpha=alpha, eta=gamma, gamma=1.0, seed=seed)
    for d in range(corpus.n_documents):
        model.add_doc([corpus.vocabulary[w] for w in corpus.document(d)])
    model.train(sweeps, workers=1)
    return float(model.live_k)
