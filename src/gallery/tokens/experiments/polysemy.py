"""Figures 27.4 and 27.5: a word with several meanings, three topics that have it and three documents that use it.

In the last sample of collapsed Gibbs sampling a word's topics are the three with most of its tokens. It has as many
meanings if it is characteristic of each topic z and they are unlike: the word is the one, among the `frequent` most
frequent, with the largest product of min_z p(word | z) / p(word) and the smallest Jensen-Shannon divergence of two of
the topics. A topic's document is the one with its largest share, of the documents in which the word has it.

Recorded of the model "lda" at K, as arrays and, the last one, as a measurement:

    topic-N             p(word | topic) for the `shown` most probable words of the Nth topic
    document-N          the topic of a token, for the first tokens of `tokens` different words of the Nth document, the
                        word itself among them
    number              the numbers of the topics
    apart               the largest product, on the axis "topics"

and, under the same names, the words of topics (on the axis "rank" from 1) and documents ("token", from 0) and the word
itself noted.

TASA, the chapter's corpus, is not public. In a corpus of counts tokens come in the order of the vocabulary.
"""

import numpy as np
from scipy.special import xlogy

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.tokens.spec import Polysemy
from heldout import models
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.typing import Floats, Ints

MEANINGS = 3
DISTINCTNESS, NUMBER, TOPIC, DOCUMENT = "apart", "number", "topic", "document"


def experiment(job: Job, settings: Polysemy) -> Results:
    """Sample topics of all documents, and choose the word, its topics and the documents."""
    corpus, K, recorder = job.corpus, settings.topics, job.recorder(model=models.LDA, topics=settings.topics, chain="0")
    random = generator("polysemy", corpus=corpus.name, topics=K, seed=job.seed)
    model = LDA.of(settings, K, beta=settings.gamma, random_state=random).fit(corpus)
    q, counts = model.assignments_, np.zeros((corpus.n_words, K))
    np.add.at(counts, (corpus.tokens, q), 1.0)
    candidates = np.argsort(-counts.sum(axis=1), kind="stable")[: settings.frequent]
    distinctness = _distinctness(model.components_, counts, candidates)
    word = int(candidates[distinctness.argmax()])
    rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)

    words = corpus.vocabulary
    recorder.named(DISTINCTNESS, distinctness.max(), words[word])
    senses = _senses(counts[word])
    recorder.array(NUMBER, senses)
    for n, k in enumerate(senses, start=1):
        probable = np.argsort(-model.components_[k], kind="stable")[: settings.shown]
        recorder.array(f"{TOPIC}-{n}", model.components_[k, probable])
        for rank, v in enumerate(probable, start=1):
            recorder.note(f"{TOPIC}-{n}", words[v], axis="rank", position=rank)
        documents = np.unique(rows[(corpus.tokens == word) & (q == k)])
        document = int(documents[model.document_topics_[documents, k].argmax()])
        stream = corpus.document(document)
        topics = q[corpus.offsets[document] : corpus.offsets[document + 1]]
        word_place = int(np.flatnonzero((stream == word) & (topics == k))[0])
        first_places = np.sort(np.unique(stream, return_index=True)[1])
        shown_places = np.unique([*first_places[stream[first_places] != word][: settings.tokens - 1], word_place])
        recorder.array(f"{DOCUMENT}-{n}", topics[shown_places])
        for i, place in enumerate(shown_places):
            recorder.note(f"{DOCUMENT}-{n}", words[stream[place]], axis="token", position=i)
    return recorder.results


def _senses(counts: Floats) -> Ints:
    """Return the topics with most of a word's tokens, at most `MEANINGS`; counts are (K,)."""
    return np.argsort(-counts, kind="stable")[: min(MEANINGS, int((counts > 0.0).sum()))]


def _distinctness(phi: Floats, counts: Floats, words: Ints) -> Floats:
    """Return every word's product, as the module's first lines define it; phi (K, V), counts (V, K)."""
    K = len(phi)
    frequencies = counts.sum(axis=1) / counts.sum()
    negative_entropy = xlogy(phi, phi).sum(axis=1)
    divergences = np.full((K, K), np.inf)
    for j in range(K):
        for k in range(j):
            mean = (phi[j] + phi[k]) / 2.0
            divergence = (negative_entropy[j] + negative_entropy[k]) / 2.0 - xlogy(mean, mean).sum()
            divergences[j, k] = divergences[k, j] = divergence
    products = np.zeros(len(words))
    for place, w in enumerate(words):
        senses = _senses(counts[w])
        if len(senses) == MEANINGS:
            products[place] = phi[senses, w].min() / frequencies[w] * divergences[np.ix_(senses, senses)].min()
    return products
