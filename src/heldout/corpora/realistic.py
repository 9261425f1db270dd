r"""Corpora drawn from LDA models of real news: the ground truth of Buntine (2009, section 4.2).

Every document d has theta_d ~ Dirichlet(alpha), and each of its tokens z ~ theta_d, w ~ phi_z. Phi and alpha are those
of an LDA that was trained on real stories, alpha fitted to them, so that the topics, their sizes and the documents'
mixtures are as uneven as real ones. (A prior of 50 / K, as often fixed, would give every document all topics in nearly
equal parts.) Three corpora are drawn,

    s10   from the model of 10 topics over all of its words,
    s10s  from the same model cut to its 5,000 most probable words,
    s40   from the model of 40 topics over all of its words.

Cut. A token of a document with theta ~ Dirichlet(alpha) is word w with probability p(w) = sum_k alpha_k phi[k, w] /
sum_k alpha_k. The words with the largest p(w) are kept, and every topic's probabilities of them are divided by their
sum. A model with fewer words keeps all of them.

Lengths. The original gives the mean alone. A document's length is that of a story of the real corpus, drawn with
replacement, times the ratio of the two means, rounded, and at least 2 tokens.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.names import SOURCES
from heldout.corpora.synthetic import MINIMUM_LENGTH, draw_tokens, drawn
from heldout.errors import InputError
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Ints

DOCUMENTS = 50_182  # Buntine (2009), section 4.2, as for all of these
MEAN_LENGTH = 151.0
TRAINING_DOCUMENTS = (1_000, 2_500, 5_000, 10_000, 20_000, 30_000, 40_000)


def cut(topics: Topics, vocabulary: int) -> Topics:
    """Return the topics over the `vocabulary` words most probable under the model, in their order; rows sum to 1.

    Raises:
        InputError: when there are fewer words, or a topic gives none of the kept ones.
    """
    if not 0 < vocabulary <= len(topics.vocabulary):
        raise InputError(f"topics: {vocabulary} words cannot be kept of {len(topics.vocabulary)}")
    probability = topics.alpha @ topics.phi
    kept = np.sort(np.argsort(-probability, kind="stable")[:vocabulary])
    phi = topics.phi[:, kept]
    sums = phi.sum(axis=1, keepdims=True)
    if sums.min() <= 0.0:
        raise InputError(f"topics: topic {int(sums.argmin())} gives none of the {vocabulary} most probable words")
    words = tuple(topics.vocabulary[word] for word in kept)
    return Topics(phi / sums, topics.alpha, words, {**topics.provenance, "words_kept": vocabulary})


def draw(
    name: str,
    topics: Topics,
    lengths: Ints,
    *,
    documents: int = DOCUMENTS,
    mean_length: float = MEAN_LENGTH,
    seed: int = 0,
) -> tuple[Corpus, Topics]:
    """Draw a corpus and return it with the topics that it was drawn from.

    Words that are never drawn stay in the vocabulary; the provenance counts them (`words_never_drawn`).

    The corpus and the seed name the draw. Lengths are drawn from the (D',) ones given, empty ones passed over, and
    scaled to the mean. The model is cut where the corpus asks for it; its alpha draws theta.


    Raises:
        InputError: for an unknown name, a model of another number of topics, or without lengths or documents.
    """
    if name not in SOURCES:
        raise InputError(f"corpus {name}: unknown; drawn from models of news are {', '.join(SOURCES)}")
    source = SOURCES[name]
    if topics.n_topics != source.topics:
        raise InputError(f"corpus {name}: it is drawn from {source.topics} topics, not {topics.n_topics}")
    lengths = lengths[lengths > 0]
    if documents < 1 or not len(lengths) or not mean_length >= MINIMUM_LENGTH:
        raise InputError(
            f"corpus {name}: {documents} documents, {len(lengths)} lengths to draw from, {mean_length} tokens per"
            f" document; these must be at least 1, 1 and {MINIMUM_LENGTH}"
        )
    if source.vocabulary:
        topics = cut(topics, min(source.vocabulary, len(topics.vocabulary)))
    random = generator("realistic-corpus", corpus=name, seed=seed)

    scaled = random.choice(lengths, size=documents) * (mean_length / lengths.mean())
    scaled = np.maximum(np.rint(scaled).astype(np.int64), MINIMUM_LENGTH)
    theta = random.dirichlet(topics.alpha, size=documents)
    tokens = draw_tokens(topics.phi, theta, scaled, random)
    settings = {
        "topics": topics.n_topics,
        "vocabulary": len(topics.vocabulary),
        "documents": documents,
        "mean_length": float(mean_length),
        "alpha": topics.alpha.tolist(),
        "seed": seed,
        "trained_with_seed": topics.provenance.get("seed"),
    }
    words = f"drawn from an LDA of {topics.n_topics} topics trained on {topics.provenance.get('corpus')}"
    return drawn(name, topics, tokens, scaled, words, settings)
