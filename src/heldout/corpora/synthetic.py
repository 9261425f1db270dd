"""Synthetic corpora: documents drawn from a known LDA, in the shape of a published corpus.

The generative story is LDA's (Blei, Ng and Jordan, 2003): theta_d ~ Dirichlet(alpha), z ~ theta_d, w ~ phi_z. The
topics are drawn from a Dirichlet whose mean is a Zipf-Mandelbrot law (Mandelbrot, 1953), p(rank) proportional to
(rank + shift)^-exponent, so that the corpus as a whole has the rank-frequency curve of a text. Document
lengths are negative binomial, that is Poisson with a gamma-distributed rate, as spread as those of abstracts.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus, offsets_of, provenance
from heldout.errors import InputError
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

MINIMUM_LENGTH = 2  # tokens, so that both halves of a document hold a token
UNSCALED_LENGTH = 100.0  # mean length below which the root of a scale does not shrink long documents
FEWEST_TOPICS = 5  # least number of topics that a scale leaves
NEGLIGIBLE = 1e-30  # largest probability that is set to 0: no draw reaches it, and denormals slow every kernel down


@dataclass(frozen=True)
class Shape:
    """The size of a corpus.

    Attributes:
        train_documents, test_documents: how many documents there are to train on and to hold out.
        vocabulary: V, the number of words.
        mean_length: tokens per document.
    """

    train_documents: int
    test_documents: int
    vocabulary: int
    mean_length: float

    @property
    def documents(self) -> int:
        """Number of documents, D, training and test together."""
        return self.train_documents + self.test_documents

    def scaled(self, scale: float) -> "Shape":
        """Return the shape with documents and vocabulary shrunk by `scale`, in (0, 1].

        Long documents shrink with the scale's square root, down to a mean of 100 tokens, so that they stay the
        long ones; shorter ones keep their length. Raises InputError when the scale is out of range.
        """
        if not 0.0 < scale <= 1.0:
            raise InputError(f"scale {scale}: must be above 0 and at most 1")
        return Shape(
            train_documents=max(1, round(self.train_documents * scale)),
            test_documents=max(1, round(self.test_documents * scale)),
            vocabulary=max(2, round(self.vocabulary * scale)),
            mean_length=max(min(self.mean_length, UNSCALED_LENGTH), self.mean_length * math.sqrt(scale)),
        )


@dataclass(frozen=True)
class Law:
    """The parameters of the LDA that a synthetic corpus is drawn from.

    Attributes:
        topics: K at scale 1; scaled down as the documents are, to not less than `FEWEST_TOPICS`.
        alpha: the symmetric Dirichlet parameter of theta.
        exponent, shift: of the Zipf-Mandelbrot law of the words.
        concentration: the sum of a topic's Dirichlet parameters, per word of the vocabulary.
        length_shape: the gamma shape r of the lengths, whose variance is m + m^2 / r at mean m.
    """

    topics: int = 50
    alpha: float = 0.1
    exponent: float = 1.0
    shift: float = 8.0
    concentration: float = 0.2
    length_shape: float = 4.0


def draw(name: str, shape: Shape, scale: float = 1.0, seed: int = 0, law: Law | None = None) -> tuple[Corpus, Topics]:
    """Draw a corpus and return it with the topics that it was drawn from.

    Words that are never drawn stay in the vocabulary, so that V is the shape's and the topics are exactly the ones
    that the documents are drawn from; the provenance counts these words (`words_never_drawn`).

    The name, the scale, which shrinks the shape (`Shape.scaled`), and the seed name the draw. Made-up words w1, w2, ...
    come in the order of their expected frequency. Raises InputError when the scale is out of range.

    Examples:
        >>> shape = Shape(train_documents=8, test_documents=2, vocabulary=30, mean_length=20.0)
        >>> corpus, truth = draw("demo-like", shape, law=Law(topics=5))
        >>> corpus.n_documents, corpus.n_words, truth.phi.shape
        (10, 30, (5, 30))
    """
    law = law or Law()
    size = shape.scaled(scale)
    n_topics = max(min(FEWEST_TOPICS, law.topics), round(law.topics * scale))
    random = generator("synthetic-corpus", corpus=name, scale=float(scale), seed=seed)

    zipf = (np.arange(1, size.vocabulary + 1) + law.shift) ** -law.exponent
    zipf /= zipf.sum()
    phi = random.standard_gamma(law.concentration * size.vocabulary * zipf, size=(n_topics, size.vocabulary))
    phi /= phi.sum(axis=1, keepdims=True)
    phi[phi < NEGLIGIBLE] = 0.0
    phi /= phi.sum(axis=1, keepdims=True)
    alpha = np.full(n_topics, law.alpha)

    rates = random.gamma(law.length_shape, size.mean_length / law.length_shape, size=size.documents)
    lengths = np.maximum(random.poisson(rates), MINIMUM_LENGTH)
    theta = random.dirichlet(alpha, size=size.documents)
    tokens = draw_tokens(phi, theta, lengths, random)

    digits = len(str(size.vocabulary))
    vocabulary = tuple(f"w{word:0{digits}d}" for word in range(1, size.vocabulary + 1))
    settings = {**asdict(law), "topics": n_topics, "scale": float(scale), "seed": seed, **asdict(size)}
    topics = Topics(phi, alpha, vocabulary)
    return drawn(name, topics, tokens, lengths, f"drawn from an LDA of {n_topics} topics", settings)


def drawn(
    name: str, topics: Topics, tokens: NDArray[np.int32], lengths: Ints, words: str, settings: Mapping[str, Any]
) -> tuple[Corpus, Topics]:
    """Return a corpus of D documents drawn from topics, one after the other; and the topics, with its provenance.

    `words` is the rule that it was drawn by, for tables, `settings` the same, JSON-compatible.
    """
    never = len(topics.vocabulary) - len(np.unique(tokens))
    source = provenance(words, settings, synthetic=True, words_never_drawn=never)
    digits = len(str(len(lengths)))
    corpus = Corpus(
        name=name,
        vocabulary=topics.vocabulary,
        tokens=tokens,
        offsets=offsets_of(lengths),
        documents=tuple(f"d{document:0{digits}d}" for document in range(1, len(lengths) + 1)),
        provenance=source,
    )
    return corpus, replace(topics, provenance={"model": "truth", **source})


def draw_tokens(phi: Floats, theta: Floats, lengths: Ints, random: np.random.Generator) -> NDArray[np.int32]:
    """Return the tokens of documents, one document after the other: z ~ theta_d, w ~ phi_z.

    Rows of phi, (K, V), and theta, (D, K), sum to 1. Of the random numbers one per token draws the topics of all
    documents, then one per token the words.
    """
    topics = np.concatenate([_choose(row, random.random(length)) for row, length in zip(theta, lengths, strict=True)])
    uniforms = random.random(len(topics))
    tokens = np.empty(len(topics), dtype=np.int32)
    for k in range(len(phi)):
        here = topics == k
        tokens[here] = _choose(phi[k], uniforms[here])
    return tokens


def _choose(probabilities: Floats, uniforms: Floats) -> NDArray[np.intp]:
    """Return one index per uniform number by inversion; an index of probability 0 is never returned."""
    cumulative = np.cumsum(probabilities)
    chosen: NDArray[np.intp] = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return chosen
