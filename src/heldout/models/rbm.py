r"""Restricted Boltzmann machines of every kind of table 27.2, by stochastic gradients (Murphy 2012, section 27.7).

    p(v, h) = exp(-E(v, h)) / Z,    -E = v' W h + b' v + s(v) c' h + log q(v) + log r(h)            (27.97 to 27.99)

with visible units v, (R,), hidden units h, (K,), and the base measures q and r of `heldout.models.harmonium_units`:
binary visible units (27.98), categorical (27.105), Gaussian (27.108, with a_k = c_k and the sign that makes it
normalisable; Z here has the constant exp(|b|^2 / 2) besides) and multinomial ones, whose size s(v) is the length L: the
replicated softmax (27.129). All other sizes are 1. Hidden units are binary, or Gaussian: undirected factor analysis and
undirected categorical PCA (27.7.1.4).

Each layer is independent given the other, with the natural parameters

    of h:  s(v) c + W' v   (27.101, 27.107, 27.111),       of v:  b + W h   (27.102, 27.106, 27.110).

With h summed out, and B the hidden layer's log normaliser, p(v) = exp(-F(v)) / Z with the free energy

    -F(v) = b' v + log q(v) + B(s(v) c + W' v).

(27.117 lacks the logarithm.) The gradient of the mean log-likelihood is (27.112, 27.123)

    dl/dW = (1/N) sum_i v_i E[h | v_i]' - E[v h'],   dl/db = mean v_i - E[v],   dl/dc = mean s E[h | v_i] - E[s h],

whose second, negative phase takes one of

    cd          v' after `steps` sweeps of Gibbs sampling from the batch's own cases (27.124 to 27.127, algorithm 27.3),
                and E[h | v'], v' (E[h | v'])' (27.128 has v_i for v'_i)
    pcd         the same from where `chains` chains were left (algorithm 27.4), with E[h | v_s] in place of h_s
    mean-field  E[v] E[h]' of the product distribution that `steps` rounds of mean field from the last one lead to
                (27.7.2.3); s of multinomial units is their mean

Steps have the rate alpha_t = learning_rate (1 - t / T), or a constant one, and `penalty` W is taken off the gradient.
With the mean size S of the data, W and b have the rate alpha_t / S and c alpha_t / S^2: a hidden unit's parameter of a
replicated softmax then moves as far as that of another machine, which without it saturates with the length.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Self

import numpy as np

from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.models.harmonium_units import BINARY, GAUSSIAN, Units, units
from heldout.typing import Floats

CD, PCD, MEAN_FIELD = NEGATIVE_PHASES = ("cd", "pcd", "mean-field")
START = 0.01  # standard deviation of the random start of W
HIDDEN = (BINARY, GAUSSIAN)

Record = Callable[[int, "RBM"], None]


@estimator
class RBM(Estimator):
    """A restricted Boltzmann machine.

    Args:
        n_components: K, hidden units.
        visible: the kind of visible units, "binary", "categorical", "gaussian" or "multinomial".
        hidden: the kind of hidden units, "binary" or "gaussian".
        blocks: of categorical units, the numbers of values of the variables.
        negative: the negative phase, "cd", "pcd" or "mean-field".
        steps: sweeps of Gibbs sampling, or rounds of mean field, in each negative phase.
        chains: of "pcd".
        batch: cases of a minibatch.
        epochs: passes over the data.
        learning_rate: of the first step.
        decay: whether the rate falls to 0, linearly.
        penalty: precision of a Gaussian prior of W, per case (weight decay).
        warm_start: whether another `fit` begins where the last one ended, with the first rate again.
        random_state: generator of all that is random, or its seed.

    Attributes (after `fit`):
        weights_: (R, K), W; visible_bias_: (R,), b; hidden_bias_: (K,), c.

    Examples:
        >>> data = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
        >>> model = RBM(1, batch=10, epochs=200, learning_rate=0.2, random_state=0).fit(data)
        >>> bool(model.free_energy(data[:1])[0] < model.free_energy([[1, 0, 0, 1]])[0])
        True
    """

    visible: str = BINARY
    hidden: str = BINARY
    blocks: tuple[int, ...] = ()
    negative: str = PCD
    steps: int = 1
    chains: int = 100
    batch: int = 100
    epochs: int = 20
    learning_rate: float = 0.05
    decay: bool = True
    penalty: float = 0.0
    warm_start: bool = False
    weights_: Floats = field(init=False)
    visible_bias_: Floats = field(init=False)
    hidden_bias_: Floats = field(init=False)

    def fit(self, X: Any, y: None = None, record: Record | None = None) -> Self:  # noqa: ARG002
        """Follow the gradient on (N, R) data X; `record` is called with the number of updates, 0 at first, and self.

        Raises:
            InputError: for values that the units cannot take, or a setting out of range.
        """
        self._check_settings()
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported once, at the end
            self._fit(X, record)
        if not np.isfinite(self.weights_).all():
            raise InputError("RBM: the weights grew without limit; take a smaller learning rate or a larger penalty")
        return self

    def _fit(self, X: Any, record: Record | None) -> None:
        v, h = self.visible_units, self.hidden_units
        data, random = v.check(X), np.random.default_rng(self.random_state)
        R, K, N = data.shape[1], self.n_components, len(data)
        sizes, batch = v.size(data), min(self.batch, N)
        if self.warm_start and hasattr(self, "weights_"):  # in new arrays: a copy of the model keeps its own
            self.weights_, self.visible_bias_ = self.weights_.copy(), self.visible_bias_.copy()
            self.hidden_bias_ = self.hidden_bias_.copy()
        else:
            self.weights_, self.hidden_bias_ = START * random.standard_normal((R, K)), np.zeros(K)
            self.visible_bias_ = v.bias(data)
        chains_of = sizes[random.integers(N, size=self.chains)]
        chains = v.draw(np.broadcast_to(self.visible_bias_, (self.chains, R)), chains_of, random)
        field_of_h, mean_size = np.full((1, K), 0.5 if h.kind == BINARY else 0.0), np.array([sizes.mean()])
        updates, total = 0, self.epochs * -(-N // batch)
        if record is not None:
            record(0, self)
        for _ in range(self.epochs):
            order = random.permutation(N)
            for start in range(0, N, batch):
                cases = data[order[start : start + batch]]
                if self.negative == MEAN_FIELD:
                    for _ in range(self.steps):
                        fantasies = mean_size[:, None] * v.mean(self._visible_eta(field_of_h))
                        field_of_h = h.mean(self._hidden_eta(fantasies, mean_size))
                    free = (fantasies, field_of_h, mean_size)
                else:
                    own = self.negative == CD
                    state, size = (cases, v.size(cases)) if own else (chains, chains_of)
                    for _ in range(self.steps):
                        state = v.draw(
                            self._visible_eta(h.draw(self._hidden_eta(state, size), size, random)), size, random
                        )
                    chains = chains if own else state
                    free = (state, h.mean(self._hidden_eta(state, size)), size)
                size = v.size(cases)
                clamped = (cases, h.mean(self._hidden_eta(cases, size)), size)
                alpha = self.learning_rate * (1.0 - updates / total if self.decay else 1.0)
                self._step(clamped, free, alpha, float(mean_size[0]))
                updates += 1
                if record is not None:
                    record(updates, self)

    def _step(self, clamped: tuple[Floats, ...], free: tuple[Floats, ...], alpha: float, mean: float = 1.0) -> None:
        """Step along the gradient of visible values, hidden means and sizes in both phases; `mean` is the mean size."""
        (v, h, s), (v_free, h_free, s_free), rate = clamped, free, alpha / mean
        gradient = v.T @ h  # from here in place: of many words the arrays are large
        gradient /= len(v)
        free_gradient = v_free.T @ h_free
        free_gradient /= len(v_free)
        gradient -= free_gradient
        if self.penalty:
            gradient -= self.penalty * self.weights_
        gradient *= rate
        self.weights_ += gradient
        self.visible_bias_ += rate * (v.mean(axis=0) - v_free.mean(axis=0))
        self.hidden_bias_ += rate / mean * (s @ h / len(v) - s_free @ h_free / len(v_free))

    @property
    def visible_units(self) -> Units:
        """The visible layer."""
        return units(self.visible, self.blocks)

    @property
    def hidden_units(self) -> Units:
        """The hidden layer."""
        return units(self.hidden)

    def _visible_eta(self, h: Floats) -> Floats:
        return h @ self.weights_.T + self.visible_bias_

    def _hidden_eta(self, v: Floats, size: Floats) -> Floats:
        return v @ self.weights_ + size[:, None] * self.hidden_bias_

    def hidden_means(self, X: Any) -> Floats:
        """Return E[h | v], (N, K), of (N, R) data."""
        v = self.visible_units.check(X)
        return self.hidden_units.mean(self._hidden_eta(v, self.visible_units.size(v)))

    def free_energy(self, X: Any) -> Floats:
        """Return F(v), (N,) nats, of (N, R) data: p(v) = exp(-F(v)) / Z."""
        layer = self.visible_units
        v = layer.check(X)
        hidden = self.hidden_units.log_normaliser(self._hidden_eta(v, layer.size(v)))
        return np.asarray(-(v @ self.visible_bias_ + layer.log_base(v) + hidden))

    def reconstruction_error(self, X: Any) -> Floats:
        """Return the squared reconstruction error |v - E[v | h = E[h | v]]|^2, (N,), of (N, R) data."""
        v = self.visible_units.check(X)
        rebuilt = self.visible_units.mean(self._visible_eta(self.hidden_means(v)))
        return np.asarray(((v - self.visible_units.size(v)[:, None] * rebuilt) ** 2).sum(axis=1))

    def _check_settings(self) -> None:
        self.visible_units  # noqa: B018 - raises for an unknown kind
        if self.hidden not in HIDDEN or self.negative not in NEGATIVE_PHASES:
            raise InputError(
                f"RBM: hidden units {self.hidden}, negative phase {self.negative}; take {' or '.join(HIDDEN)},"
                f" {', '.join(NEGATIVE_PHASES)}"
            )
        counts = (self.n_components, self.steps, self.chains, self.batch, self.epochs)
        if min(counts) < 1 or not 0.0 < self.learning_rate < np.inf or not 0.0 <= self.penalty < np.inf:
            raise InputError(
                f"RBM: {', '.join(map(str, counts))} hidden units, steps, chains, cases of a batch and epochs, rate"
                f" {self.learning_rate}, penalty {self.penalty}; these must be at least 1, positive and 0"
            )


def pseudo_likelihood(model: RBM, X: Any) -> Floats:
    """Return sum_r log p(v_r | all others), (N,) nats, of (N, R) data under binary visible units.

    log p(v_r | rest) = -log(1 + exp(F(v) - F(v with v_r flipped))).
    """
    v, W = model.visible_units.check(X), model.weights_
    here, eta = -model.free_energy(v), model._hidden_eta(v, np.ones(len(v)))
    hidden, without_bias, sums = model.hidden_units, here - v @ model.visible_bias_, np.zeros(len(v))
    for r in range(v.shape[1]):
        flip = 1.0 - 2.0 * v[:, r]
        there = flip * model.visible_bias_[r] + hidden.log_normaliser(eta + flip[:, None] * W[r])
        sums -= np.logaddexp(0.0, there - without_bias)
    return sums
