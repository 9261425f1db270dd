r"""EPCA: exponential-family PCA on word indicators (Collins et al. 2001; Welling et al. 2008, section 3.5).

Model. A token x is an indicator over the vocabulary, and its natural parameters are linear in h (3.25):

    p(w | h) = exp(W h)_w / sum_w' exp(W h)_w',        F(W h) = log sum_w exp(W h)_w     (3.28),

W is (V, K), h any real vector. With n_dw the counts, n_d = sum_w n_dw and point posteriors, the objective (3.26) is

    O(W, H) = sum_dw n_dw (W h_d)_w - sum_d n_d F(W h_d) - (penalty / 2) (||W||^2 + ||H||^2)

in nats; the last term is the log density of Gaussian priors without its constant, and absent in the paper. With
p_d = F'(W h_d), the softmax, and X = (n_dw) the gradients (3.27) are

    dO/dW = X' H - P' H - penalty W,      dO/dH = X W - P W - penalty H,      P = (n_d p_dw).

X stays sparse. P, the only dense product, is formed for one block of documents at a time.

Variational EM. O is concave in H at fixed W (VE step, a separate problem per document) and in W at fixed H (VM
step), not in both. A change of gauge, W T and H T^-T, does not change W H'. Of all gauges the balanced one, W'W = H'H,
has the least penalty: there (||W||^2 + ||H||^2) / 2 is the nuclear norm of W H'. `fit` ends in that gauge, its axes
ordered by singular value.

Optimiser. L-BFGS over W and H together, preconditioned by the Fisher information of a model in which every document has
the corpus's word frequencies: word w and document d have the K x K curvatures

    e_w A + penalty I,   A = sum_d n_d h_d h_d' / N,
    n_d C + penalty I,   C = the covariance of W's rows over words, weighted by the words' corpus frequencies,

where e_w is the larger of the observed and the expected tokens of w, plus `DAMPING`. These curvatures transform like
the Hessian under a change of gauge, so neither frequent words nor correlated axes slow the ascent.
A step is taken only if it raises O by Armijo's rule: the objective never
falls, and all numbers stay finite.

While iterations gain more than `COARSE`, W, H and all products are float32, with sums over documents in float64: half
the time of float64 for the same ascent (K = 100, Cranfield). A smaller tolerance is reached by float64 from there.

Without a penalty the maximum lies at infinity wherever the best probability is 0. A word without training tokens is
such a case: its logits fall without limit where all h_d lie in a half space, and as far as H allows elsewhere. Then
only the number of iterations limits them; the word's probability ends small but positive.

Folding-in maximises, for a document with counts x of n tokens, f(h) = x' W h - n F(W h) - (penalty / 2) ||h||^2. By
strong concavity  max f - f(h) <= ||f'(h)||^2 / (2 penalty),  which is also the duality gap at p = F'(W h) to

    min_p  n sum_w p_w log p_w + ||W' (x - n p)||^2 / (2 penalty),

a maximum-entropy problem with a penalty on the moments' error. Without a penalty the supremum may lie at infinity and
the gradient bounds no gap; then a ridge replaces the penalty, at a cost to the document of at most (ridge / 2) ||h||^2
nats relative to any h.
"""

import math
from collections import deque
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, checked_counts, estimator, provenance
from heldout.models.settings import EPCAFoldingIn as FoldingIn
from heldout.models.settings import EPCATraining as Training
from heldout.seeds import generator
from heldout.topics import Components, block_of_documents
from heldout.typing import Floats

# The optimiser's constants were chosen by the training objective on Cranfield and NIPS and by the folding-in's CPU time
# on Cranfield, both at seed 0; none has seen a score of a test document.
MEMORY = 5  # pairs of steps and gradient changes that L-BFGS keeps
DAMPING = 5.0  # tokens added to every word's count in the preconditioner, because rare words' curvature changes most
FLOOR = 0.1  # share of the mean eigenvalue that is added to the preconditioner's K x K matrices
ARMIJO = 1e-4  # the part of the predicted rise that a step must achieve
NEGLIGIBLE = 1e-12  # nats per token: a predicted rise below it is rounding
LONGEST = 100.0  # longest step, as a multiple of the parameters' norm
HALVINGS = 30  # halvings of a step before the ascent stops: by then only rounding is left
FOLD_IN_MEMORY = 10  # `MEMORY` for a document that is folded in
NEWTON = 60  # evaluations after which a document's problem counts as ill-conditioned and Newton steps follow
NOTICED = 1e-6  # least probability of a word that enters the Newton step individually
COARSE = 1e-5  # nats per token and iteration: float32 suffices for larger gains
WINDOW = 10  # iterations over which the rise is averaged for the tolerance
START_LOGITS = 0.5  # standard deviation of the random start's logits W h
RIDGE = 0.01  # least penalty of a document that is folded in: without one its maximum may be at infinity


class Objective:
    """The objective of equation 3.26 with its gradients, for one matrix of counts.

    Args:
        counts: (D, V).
        penalty: the precision of both Gaussian priors; 0 is the paper's objective.
        precision: of W and H, and of all products; the objective's sums over documents are float64.

    Attributes:
        lengths: (D,) tokens of each document.
        frequencies: (V,) tokens of each word.
    """

    def __init__(self, counts: sp.csr_array, penalty: float, precision: Any = np.float64) -> None:
        self.precision = precision
        self.counts = counts.astype(precision)
        self.by_word = self.counts.T.tocsr()
        self.penalty = penalty
        self.lengths: Floats = np.asarray(counts.sum(axis=1)).ravel()
        self.frequencies: Floats = np.asarray(counts.sum(axis=0)).ravel()

    def __call__(self, W: Floats, H: Floats) -> tuple[float, Floats, Floats]:
        """Return O(W, H) in nats, its gradient stacked as (V + D, K), and the (V,) expected tokens of each word."""
        n_words, width = W.shape
        observed = self.counts @ W
        value = float(np.sum(observed * H, dtype=float)) - 0.5 * self.penalty * (_squares(W) + _squares(H))
        gradient = np.concatenate([self.by_word @ H - self.penalty * W, observed - self.penalty * H])
        expected = np.zeros(n_words)
        for rows in block_of_documents(len(H), n_words):
            P = H[rows] @ W.T
            highest = P.max(axis=1)
            P -= highest[:, None]
            np.exp(P, out=P)
            total = P.sum(axis=1)
            value -= float(self.lengths[rows] @ (highest + np.log(total, dtype=float)))
            share = (self.lengths[rows] / total).astype(W.dtype)[:, None]
            gradient[n_words:][rows] -= share * (P @ W)
            word_sums = P.T @ np.hstack([share * H[rows], share])
            gradient[:n_words] -= word_sums[:, :width]
            expected += word_sums[:, width]
        return value, gradient, expected


def softmax(H: Floats, W: Floats) -> tuple[Floats, Floats]:
    """Return p(w | h), (D, V), and F(W h), (D,), of every row h of H."""
    P = H @ W.T
    highest = P.max(axis=1)
    P -= highest[:, None]
    np.exp(P, out=P)
    total = P.sum(axis=1)
    P /= total[:, None]
    return P, highest + np.log(total)


def _squares(matrix: Floats) -> float:
    return float(np.vdot(matrix, matrix))


class _Preconditioner:
    """An approximate inverse of the objective's negative Hessian at (W, H); see the module's docstring."""

    def __init__(self, objective: Objective, x: Floats, expected: Floats) -> None:
        self.n_words = objective.counts.shape[1]
        W, H = x[: self.n_words], x[self.n_words :]
        lengths, frequencies = objective.lengths, objective.frequencies
        share = (frequencies / frequencies.sum()).astype(x.dtype)
        mean = share @ W
        second_moment = (H * (lengths / lengths.sum()).astype(x.dtype)[:, None]).T @ H
        covariance = (W * share[:, None]).T @ W - np.outer(mean, mean)
        tokens = np.maximum(frequencies, expected) + DAMPING
        self.words = _inverse(second_moment, tokens, objective.penalty)
        self.documents = _inverse(covariance, lengths, objective.penalty)

    def __call__(self, gradient: Floats) -> Floats:
        product = np.empty_like(gradient)
        for rows, (axes, scale) in (
            (slice(None, self.n_words), self.words),
            (slice(self.n_words, None), self.documents),
        ):
            product[rows] = ((gradient[rows] @ axes) * scale) @ axes.T
        return product


def _inverse(matrix: Floats, weights: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return the eigenvectors of a covariance and the (rows, K) inverse eigenvalues of weight * matrix + penalty."""
    values, axes = np.linalg.eigh(matrix.astype(float))
    values = np.maximum(values, 0.0) + FLOOR * max(float(values.mean()), 1e-12)
    scale = 1.0 / (np.maximum(weights, 1.0)[:, None] * values + penalty)
    return axes.astype(matrix.dtype), scale.astype(matrix.dtype)


def ascend(
    objective: Objective, W: Floats, H: Floats, *, iterations: int, tolerance: float
) -> tuple[Floats, Floats, list[float]]:
    """Raise the objective by preconditioned L-BFGS over W and H together.

    Args:
        objective: the objective.
        W: (V, K), the start.
        H: (D, K), the start.
        iterations: the largest number of iterations.
        tolerance: stop when the last WINDOW iterations raised the objective by less than this many nats per
            token each, on average.

    Returns:
        W, H, and the objective, nats, before each iteration and after the last; it never falls.
    """
    n_words = len(W)
    tokens = float(objective.lengths.sum())
    x: Floats = np.concatenate([W, H]).astype(objective.precision)
    value, gradient, expected = objective(x[:n_words], x[n_words:])
    history = [value]
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(iterations):
        direction = _direction(gradient, pairs, _Preconditioner(objective, x, expected))
        slope = float(np.vdot(gradient, direction))
        if not slope > NEGLIGIBLE * tokens:
            break
        # far from the data the softmax is flat and curvature does not limit a step
        length = min(1.0, LONGEST * math.sqrt((1.0 + _squares(x)) / _squares(direction)))
        for _ in range(HALVINGS):
            new = x + length * direction
            new_value, new_gradient, new_expected = objective(new[:n_words], new[n_words:])
            if new_value >= value + ARMIJO * length * slope:  # False for NaN
                break
            shortfall = 2.0 * (value + length * slope - new_value)
            vertex = length * slope / shortfall if 0.0 < shortfall < math.inf else 0.0  # the parabola's vertex
            length *= min(max(vertex, 0.1), 0.5)
        else:
            break
        step, change = new - x, gradient - new_gradient
        curvature = float(np.vdot(step, change))
        if curvature > 1e-10 * math.sqrt(_squares(step) * _squares(change)):
            pairs.append((step, change, 1.0 / curvature))
        x, value, gradient, expected = new, new_value, new_gradient, new_expected
        history.append(value)
        if len(history) > WINDOW and history[-1] - history[-1 - WINDOW] < tolerance * WINDOW * tokens:
            break
    return x[:n_words], x[n_words:], history


def _direction(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]], precondition: _Preconditioner) -> Floats:
    """Return L-BFGS's direction of ascent: the scaled preconditioner updated by the pairs.

    The scale fits the preconditioner to the last pair; before the first pair it is 1/2, because W and H move together.
    """
    scale = 0.5
    if pairs:
        _, change, inverse = pairs[-1]
        scale = 1.0 / (inverse * float(np.vdot(change, precondition(change))))
    direction = gradient.ravel().copy()
    add: Any = scipy.linalg.get_blas_funcs("axpy", (direction,))
    weights = []
    for step, change, inverse in reversed(pairs):
        weight = inverse * float(step.ravel() @ direction)
        weights.append(weight)
        add(change.ravel(), direction, a=-weight)
    direction = (scale * precondition(direction.reshape(gradient.shape))).ravel()
    for (step, change, inverse), weight in zip(pairs, reversed(weights), strict=True):
        add(step.ravel(), direction, a=weight - inverse * float(change.ravel() @ direction))
    return direction.reshape(gradient.shape)


def balanced(W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """Return W, (V, K), and H, (D, K), in the gauge W'W = H'H = diag(singular values of W H', largest first).

    W H' does not change. Of all gauges this one has the least ||W||^2 + ||H||^2. The sign of an axis is such that its
    largest entry of W is positive.
    """
    Q_words, R_words = np.linalg.qr(W)
    Q_documents, R_documents = np.linalg.qr(H)
    left, values, right = np.linalg.svd(R_words @ R_documents.T, full_matrices=False)
    width = W.shape[1]
    new_W, new_H = np.zeros_like(W), np.zeros_like(H)
    rank = len(values)  # below K where there are fewer words or documents: the other axes are 0
    new_W[:, :rank] = (Q_words @ left) * np.sqrt(values)
    new_H[:, :rank] = (Q_documents @ right.T) * np.sqrt(values)
    signs = np.where(new_W[np.abs(new_W).argmax(axis=0), np.arange(width)] < 0.0, -1.0, 1.0)
    return new_W * signs, new_H * signs


def fold_in_counts(
    components: Components, counts: sp.csr_array, *, penalty: float, iterations: int, tolerance: float
) -> tuple[Floats, Floats]:
    """Fold documents in: maximise x' W h - n F(W h) - (penalty / 2) ||h||^2 for each (3.26 with W fixed).

    L-BFGS runs for all documents side by side, in the axes of the covariance of W's rows at the components' centre;
    each document has its own pairs and step length. A document that is not done after `NEWTON` evaluations has an
    ill-conditioned problem (its words nearly determine h) and goes on with Newton steps. A document is done when the
    bound on the remaining gain, ||f'(h)||^2 / (2 penalty), is at most `tolerance` nats per token, or after
    `iterations`.

    Args:
        components: the weights, and the centre that every document starts from.
        counts: (D, V) counts.
        penalty: positive; `fold_in` handles components trained without one.
        iterations: the largest number of evaluations of a document's objective after the first.
        tolerance: nats per token, positive.

    Returns:
        h, (D, K), and the (D,) bounds on the remaining gain, nats per document. An empty document has h = 0.

    Raises:
        InputError: for a setting out of range.
    """
    if not (0.0 < penalty < math.inf and 0.0 < tolerance < math.inf and iterations >= 1):
        raise InputError(
            f"EPCA: folding in with penalty {penalty}, tolerance {tolerance} and {iterations} iterations; penalty and"
            " tolerance must be positive and finite, iterations 1 or more"
        )
    W = components.weights
    shares = softmax(components.centre[None, :], W)[0][0]
    mean = shares @ W
    values, axes = np.linalg.eigh((W * shares[:, None]).T @ W - np.outer(mean, mean))
    curvature = np.maximum(values, 0.0) + FLOOR * values.mean()
    W = W @ axes
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    result, gaps = np.zeros((counts.shape[0], W.shape[1])), np.zeros(counts.shape[0])

    open_documents = np.flatnonzero(lengths > 0.0)
    x = np.tile(components.centre @ axes, (len(open_documents), 1))
    n, observed = lengths[open_documents], counts[open_documents] @ W
    value, gradient = _fold_in_objective(x, W, n, observed, penalty)
    steps, changes = (np.zeros((FOLD_IN_MEMORY, *x.shape)) for _ in range(2))
    inverses = np.zeros((FOLD_IN_MEMORY, len(x)))  # 0 where there is no pair yet
    direction = gradient / (n[:, None] * curvature + penalty)
    length = np.ones(len(x))
    for iteration in range(iterations + 1):
        gap = _dots(gradient, gradient) / (2.0 * penalty)
        going = (gap > tolerance * n) & (length > 2.0**-HALVINGS) & (iteration < iterations)
        result[open_documents[~going]], gaps[open_documents[~going]] = x[~going] @ axes.T, gap[~going]
        if not going.any():
            break
        if not going.all():
            open_documents, n, length = open_documents[going], n[going], length[going]
            x, value, gradient, direction = x[going], value[going], gradient[going], direction[going]
            observed = observed[going]
            steps, changes, inverses = steps[:, going], changes[:, going], inverses[:, going]
        slope = _dots(gradient, direction)
        new = x + length[:, None] * direction
        new_value, new_gradient = _fold_in_objective(new, W, n, observed, penalty)
        taken = new_value >= value + ARMIJO * length * slope  # False for NaN
        length = np.where(taken, 1.0, 0.5 * length)
        if not taken.any():
            continue
        step, change = new[taken] - x[taken], gradient[taken] - new_gradient[taken]
        product = _dots(step, change)  # positive: the objective is strongly concave
        steps[:-1, taken], changes[:-1, taken], inverses[:-1, taken] = (
            steps[1:, taken],
            changes[1:, taken],
            inverses[1:, taken],
        )
        steps[-1, taken], changes[-1, taken] = step, change
        inverses[-1, taken] = np.where(product > 0.0, 1.0 / np.where(product > 0.0, product, 1.0), 0.0)
        x[taken], value[taken], gradient[taken] = new[taken], new_value[taken], new_gradient[taken]
        if iteration + 1 < NEWTON:
            direction[taken] = _fold_in_direction(
                gradient[taken],
                steps[:, taken],
                changes[:, taken],
                inverses[:, taken],
                1.0 / (n[taken, None] * curvature + penalty),
            )
        else:
            direction[taken] = _newton_direction(x[taken], W, n[taken], gradient[taken], curvature, penalty)
    return result, gaps


def _fold_in_objective(x: Floats, W: Floats, n: Floats, observed: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return every document's objective, (D,), and its gradient, (D, K)."""
    value = _dots(x, observed) - 0.5 * penalty * _dots(x, x)
    gradient = observed - penalty * x
    for rows in block_of_documents(len(x), len(W)):
        P, log_normaliser = softmax(x[rows], W)
        value[rows] -= n[rows] * log_normaliser
        gradient[rows] -= n[rows, None] * (P @ W)
    return value, gradient


def _fold_in_direction(gradient: Floats, steps: Floats, changes: Floats, inverses: Floats, inverse: Floats) -> Floats:
    """Return every document's L-BFGS direction of ascent from its own pairs; `inverse` (D, K) is diagonal."""
    direction = gradient.copy()
    weights = np.empty_like(inverses)
    for i in reversed(range(len(steps))):
        weights[i] = inverses[i] * _dots(steps[i], direction)
        direction -= weights[i, :, None] * changes[i]
    scale = inverses[-1] * _dots(changes[-1], changes[-1] * inverse)
    direction *= inverse / np.where(scale > 0.0, scale, 1.0)[:, None]
    for i in range(len(steps)):
        direction += (weights[i] - inverses[i] * _dots(changes[i], direction))[:, None] * steps[i]
    return direction


def _newton_direction(x: Floats, W: Floats, n: Floats, gradient: Floats, curvature: Floats, penalty: float) -> Floats:
    """Return every document's Newton direction.

    The Hessian's sum over words, n cov_p(W), runs over the words of probability NOTICED or more; the others together
    contribute the corpus's covariance, weighted by their total probability.
    """
    direction = np.empty_like(x)
    for rows in block_of_documents(len(x), len(W)):
        P, _ = softmax(x[rows], W)
        for p, d in zip(P, range(rows.start, rows.stop), strict=True):
            noticed = np.flatnonzero(p >= NOTICED)
            weights = n[d] * p[noticed]
            deviations = W[noticed] - p @ W
            hessian = (deviations * weights[:, None]).T @ deviations
            hessian[np.diag_indices_from(hessian)] += max(n[d] - weights.sum(), 0.0) * curvature + penalty
            direction[d] = scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), gradient[d])
    return direction


def _dots(left: Floats, right: Floats) -> Floats:
    products: Floats = np.einsum("dk,dk->d", left, right)
    return products


@estimator
class EPCA(TopicEstimator):
    """EPCA on a matrix of counts.

    Args:
        penalty: the precision of the Gaussian priors on W and H; 1 is unit variance, 0 the paper's objective.
        iterations: the largest number of L-BFGS iterations.
        tolerance: stop when the last WINDOW iterations raised the objective by less than this many nats per
            token each, on average.

    Attributes (after `fit`):
        weights_: (V, K) W, in the balanced gauge.
        document_weights_: (D, K) H. An empty document has h = 0.
        objective_: (iterations + 1,) nats, before each iteration and after the last; it never falls. (The last value
            precedes the change to the balanced gauge, which cannot lower it.)
        n_iter_: iterations run.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> model = EPCA(1, random_state=0).fit(counts)
        >>> np.sign(model.document_weights_).ravel()  # the first two documents against the others
        array([-1., -1.,  1.,  1.])
        >>> components = model.components(("heat", "flow", "wing", "lift"))  # as the evaluators take them
    """

    penalty: float = 1.0
    iterations: int = 100
    tolerance: float = 1e-4

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # noqa: ARG002
        """Fit to X, the (D, V) counts n(d, w), from a random start.

        The rank of W H' is at most min(D, V), and axes beyond that rank cannot lower the penalty of a given W H'.
        So only min(K, D, V) axes are optimised; the others are 0.

        Args:
            X: (D, V) counts, sparse or dense, none negative.
            y: ignored, for scikit-learn's pipelines.

        Raises:
            InputError: on a negative or undefined count, a corpus without tokens, or a bad setting.
        """
        counts = checked_counts(X, "EPCA")
        _check_settings(self)
        W, H = self.start(counts.shape)
        objective = Objective(counts, self.penalty, np.float32)
        H = np.where(objective.lengths[:, None] > 0.0, H, 0.0)
        coarse = max(self.tolerance, COARSE)
        W, H, history = ascend(objective, W, H, iterations=self.iterations, tolerance=coarse)
        if self.tolerance < coarse:
            objective, left = Objective(counts, self.penalty), self.iterations + 1 - len(history)
            W, H, fine = ascend(objective, W, H, iterations=left, tolerance=self.tolerance)
            history = history[:-1] + fine
        W, H = W.astype(float), H.astype(float)
        W, H = balanced(W, H)
        filling = ((0, 0), (0, self.n_components - W.shape[1]))
        self.weights_, self.document_weights_ = np.pad(W, filling), np.pad(H, filling)
        self.centre_ = objective.lengths @ self.document_weights_ / objective.lengths.sum()
        self.objective_ = np.array(history)
        self.n_iter_ = len(history) - 1
        return self

    def start(self, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Return random W, (V, min(K, D, V)), and H, (D, min(K, D, V)), for counts of a shape, (D, V)."""
        n_documents, n_words = shape
        width = min(self.n_components, n_documents, n_words)
        random = np.random.default_rng(self.random_state)
        deviation = math.sqrt(START_LOGITS) / width**0.25
        W = deviation * random.standard_normal((n_words, width))
        return W, deviation * random.standard_normal((n_documents, width))

    def transform(self, X: sp.sparray | NDArray[Any]) -> Floats:
        """Return h, (D, K), of the documents X (D, V), folded in to 1e-4 nats per token with at least `RIDGE`."""
        components = self.components(tuple(str(v) for v in range(len(self.weights_))))
        penalty = max(self.penalty, RIDGE)
        counts = checked_counts(X, "EPCA", empty=True)
        return fold_in_counts(components, counts, penalty=penalty, iterations=1000, tolerance=1e-4)[0]

    def components(self, vocabulary: tuple[str, ...], provenance: dict[str, Any] | None = None) -> Components:
        """Return the weights and the documents' mean h as components, which the evaluators take."""
        return Components(self.weights_, self.centre_, vocabulary, dict(provenance or {}))


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Components]:
    """Train EPCA on a corpus, from the random start that corpus, K and seed determine.

    Raises:
        InputError: as `EPCA.fit` does.
    """
    start = generator("epca-start", corpus=corpus.name, topics=topics, seed=seed)
    model = EPCA(topics, random_state=start, **asdict(settings)).fit(corpus.counts())
    details = provenance(
        models.EPCA,
        corpus,
        seed,
        penalty=settings.penalty,
        iterations=model.n_iter_,
        smoothing=0.0,
        objective=model.objective_.tolist(),
    )
    return [model.components(corpus.vocabulary, details)]


def fold_in(components: Components, documents: Corpus, settings: FoldingIn, *, seed: int) -> Floats:  # noqa: ARG001
    """Return h, (D, K), of the documents of a corpus over the components' vocabulary; see `fold_in_counts`.

    The penalty is the larger of the training's and `ridge`, because without a penalty a document's maximum may lie at
    infinity. The ridge refers to the balanced gauge, in which training ends.
    """
    penalty = max(float(components.provenance["penalty"]), settings.ridge)
    counts, iterations, tolerance = documents.counts(), settings.iterations, settings.tolerance
    return fold_in_counts(components, counts, penalty=penalty, iterations=iterations, tolerance=tolerance)[0]


def _check_settings(model: EPCA) -> None:
    if model.n_components < 1 or model.iterations < 1:
        raise InputError(
            f"EPCA: {model.n_components} components and {model.iterations} iterations; both must be 1 or more"
        )
    if not (0.0 <= model.tolerance < math.inf and 0.0 <= model.penalty < math.inf):
        raise InputError("EPCA: tolerance and penalty must be 0 or more and finite")
