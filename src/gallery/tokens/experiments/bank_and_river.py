"""Figure 27.8: collapsed Gibbs sampling on documents drawn from two topics over five words, beside the exact posterior.

    p(money | 1) = p(loan | 1) = p(bank | 1) = 1/3,        p(river | 2) = p(stream | 2) = p(bank | 2) = 1/3.

Recorded as arrays, of the model "lda" at K = 2:

    document, word, true, start, end    (N,), of every token: its document, its word, and its topic in the model, in the
                                        random start and after the last sweep of the first chain
    exact-means, sampled-means,         (2, 5), the means of both topics' words: exact, a mean over chains after the
    true-means                          last sweep, and in the model; topic 1 has more of "money"

and measured:

    log-evidence                        log p(y) at one and two topics, exact, on the axis "topics"
    annealed-evidence                   the same by annealing
"""

from functools import partial

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.tokens.spec import BankAndRiver
from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import log_mean
from heldout.evaluators.evidence import annealed_evidence, exact_evidence, log_likelihood
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.typing import Ints

WORDS = ("money", "loan", "bank", "river", "stream")
TOPICS = np.array([[1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0]]) / 3.0
EVIDENCE, ANNEALED_EVIDENCE = "log-evidence", "annealed-evidence"
MEANS = "means"


def drawn(documents: int, tokens: int, alpha: float, seed: int) -> tuple[Corpus, Ints]:
    """Return documents of LDA with these topics, their lengths Poisson of mean `tokens`, and the tokens' topics."""
    random = generator("bank-and-river", documents=documents, tokens=tokens, alpha=alpha, seed=seed)
    names, topics = [], []
    for d in range(documents):
        pi = random.dirichlet(np.full(2, alpha))
        q = random.choice(2, size=max(1, int(random.poisson(tokens))), p=pi)
        names.append((str(d + 1), [WORDS[random.choice(5, p=TOPICS[k])] for k in q]))
        topics.append(q)
    return Corpus.from_documents("bank-and-river", names).over(WORDS)[0], np.concatenate(topics)


def experiment(job: Job, settings: BankAndRiver) -> Results:
    """Draw documents, sample the topics of their tokens, and compare with the exact posterior.

    The documents are drawn with the chains' priors. The first chain is shown.
    """
    alpha, gamma, chains, seed = settings.alpha, settings.gamma, settings.chains, job.seed
    corpus, true = drawn(settings.documents, settings.tokens, alpha, seed)
    rows = np.repeat(np.arange(settings.documents), corpus.lengths)
    words = corpus.tokens.astype(np.int64)
    counts = corpus.counts().toarray().astype(np.int64)
    log_evidence, topic_means = exact_evidence(counts, alpha, gamma)
    recorder = job.recorder(model=models.LDA, topics=2)

    random = generator("bank-and-river-chains", seed=seed)
    starts = random.integers(2, size=(chains, len(words)))
    total = np.zeros((2, len(WORDS)))
    shown: dict[str, Ints] = {}
    for start in starts:
        model = LDA(2, alpha=alpha, beta=gamma, sweeps=settings.sweeps, random_state=random)
        model.fit(corpus, assignments=start.astype(np.int32))
        swapped = np.argmax([(model.assignments_[words == 0] == k).sum() for k in range(2)]) == 1
        total += model.components_[::-1] if swapped else model.components_
        if not shown:
            end = 1 - model.assignments_ if swapped else model.assignments_
            shown = {"document": rows, "word": words, "true": true, "start": start, "end": end.astype(np.int64)}
    for quantity, values in shown.items():
        recorder.at(chain="0").array(quantity, values)
    for quantity, means, chain in (
        ("exact", topic_means, "none"),
        ("sampled", total / chains, "all"),
        ("true", TOPICS, "none"),
    ):
        recorder.at(chain=chain).array(f"{quantity}-{MEANS}", means)
    one_topic = log_likelihood(counts.sum(axis=0)[:, None], gamma)
    for K, value in ((1, one_topic), (2, log_evidence)):
        anneal = partial(annealed_evidence, words, rows, len(WORDS), topics=K, alpha=alpha, gamma=gamma)
        randoms = (generator("bank-and-river-evidence", topics=K, chain=chain, seed=seed) for chain in range(chains))
        weights = [anneal(random=random, temperatures=settings.temperatures) for random in randoms]
        (estimate,), (error,) = log_mean(np.array([weights]))
        row = recorder.at(topics=K)
        row.measure(EVIDENCE, value)
        row.at(chain="all").measure(ANNEALED_EVIDENCE, estimate, error=error)
    return recorder.results
