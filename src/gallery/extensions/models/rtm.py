r"""The relational topic model by Monte Carlo EM (Murphy 2012, equation 27.80; Chang and Blei 2010).

LDA's topics q_il of two documents' tokens draw whether they are linked, too,

    p(R_ij = 1 | q-bar_i, q-bar_j) = sigm(w^T (q-bar_i o q-bar_j) + w_0)                           (27.80)

with q-bar as in `gallery.extensions.models.slda`, o the product element by element, and R_ij = R_ji. The E step is that
of supervised LDA with every pair for a label (`gallery.extensions.models.response_kernel`), and averages the products;
the M step is a logistic regression on these. Without `feedback` it is LDA, and a logistic regression on what it finds.
With `reads` "weights" a link reads the documents' pi in the place of q-bar, which are then drawn, too.
"""

from typing import ClassVar, Literal, Self

import numpy as np

from gallery.extensions.models.logistic_regression import logistic_regression
from gallery.extensions.models.response_kernel import Responses, State, check, sweep, sweep_of_weights, topics_of
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, estimator
from heldout.topics import Topics
from heldout.typing import Ints


@estimator
class RTM(TopicEstimator):
    """The relational topic model, of undirected links.

    Args:
        n_components: K.
        alpha: the Dirichlet parameter of the weights, one number.
        gamma: the Dirichlet parameter of the topics.
        penalty: precision of the Gaussian prior of w; w_0 has none.
        rounds: E and M steps.
        sweeps: of each E step; products are averaged over the last half of them.
        feedback: whether links draw topics.
        reads: the input of a link: "topics", q-bar, or "weights", pi.
        random_state: the chain's generator, or its seed.

    Attributes (after `fit`):
        components_: (K, V) the topics, from the mean of the counts over the last half of the last E step.
        alpha_: (K,).
        weights_, bias_: (K,) w, and w_0.
        document_topics_: (D, K) means of the input of a link.

    Examples:
        >>> texts = [("a", ["good", "fine"]), ("b", ["bad", "dull"]), ("c", ["good", "good"])]
        >>> pairs, links = np.array([[0, 2], [0, 1], [1, 2]]), np.array([1, 0, 0])
        >>> model = RTM(2, rounds=3, sweeps=10, random_state=0)
        >>> model.fit(Corpus.from_documents("tiny", texts), pairs, links).weights_.shape
        (2,)
    """

    name: ClassVar[str] = "relational topic model"

    alpha: float = 0.1
    gamma: float = 0.1
    penalty: float = 0.01
    rounds: int = 20
    sweeps: int = 10
    feedback: bool = True
    reads: Literal["topics", "weights"] = "topics"

    def fit(self, X: Corpus, pairs: Ints, y: Ints) -> Self:
        """Run Monte Carlo EM on documents X, the (M, 2) pairs that are observed, and whether each is linked, (M,).

        Raises:
            InputError: for other labels than 0 and 1, pairs of documents that are not there or of one with itself, a
                corpus without tokens, or a setting out of range.
        """
        check(self.name, self.alpha, self.gamma, self.rounds, self.sweeps)
        check_pairs(pairs, y, X.n_documents)
        if self.reads not in ("topics", "weights"):
            raise InputError(f'{self.name}: links that read {self.reads!r}; they read "topics" or "weights"')
        if X.n_tokens == 0:
            raise InputError(f"{self.name}: no document has a token; give documents with words")
        D, K, random = X.n_documents, self.n_components, np.random.default_rng(self.random_state)
        self.alpha_, self.weights_, self.bias_ = np.full(K, self.alpha), np.zeros(K), 0.0
        observed = len(pairs) if self.feedback else 0
        responses = Responses.of(pairs[:observed], y[:observed], D)
        state = State.of(X, random.integers(K, size=X.n_tokens), K)
        draw = sweep if self.reads == "topics" else sweep_of_weights
        for _ in range(self.rounds):
            shares, products, in_word, averaged = (
                np.zeros((D, K)),
                np.zeros((len(pairs), K)),
                np.zeros((X.n_words, K)),
                0,
            )
            for number in range(self.sweeps):
                draw(X, state, responses, self.weights_, self.bias_, self.alpha_, self.gamma, random)
                if 2 * number >= self.sweeps - 1:
                    shares, in_word, averaged = shares + state.shares[:D], in_word + state.in_word, averaged + 1
                    products = products + state.shares[pairs[:, 0]] * state.shares[pairs[:, 1]]
            self.document_topics_ = shares / averaged
            self.weights_, self.bias_ = logistic_regression(products / averaged, y, self.penalty, intercept=True)
        self.components_ = topics_of(in_word / averaged, self.gamma)
        return self

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return the topics, as the evaluators take them."""
        return Topics(self.components_, self.alpha_, vocabulary)


def check_pairs(pairs: Ints, y: Ints, documents: int) -> None:
    """Raise InputError for pairs that are not (M, 2) places of two documents, or links that are not (M,) 0 and 1."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or y.shape != pairs.shape[:1] or not np.isin(y, (0, 1)).all():
        raise InputError(
            f"relational topic model: pairs {pairs.shape} and links {y.shape}; give (M, 2) and (M,) of 0 and 1"
        )
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= documents or (pairs[:, 0] == pairs[:, 1]).any()):
        raise InputError(
            f"relational topic model: a pair of one document, or of a document beyond the {documents}; pairs are two"
            " different places, counted from 0"
        )
