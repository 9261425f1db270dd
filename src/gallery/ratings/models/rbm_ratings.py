r"""Restricted Boltzmann machines of ratings (Murphy 2012, section 27.7.3.2; Salakhutdinov et al. 2007).

A user's visible units are the items that the user has rated, categorical with S values, x_js = [r_j = s]; units of
other items are dropped. With K binary hidden units

    p(r, h) = exp(sum_k c_k h_k + sum_js x_js (b_js + sum_k W_jsk h_k)) / Z_i,

where Z_i sums over the values of the rated items alone: a machine for every set of items, all with the same parameters.
Dropping a unit is not integrating it out: p(r_A), summed over the ratings of B, is another number with A and B than
with A alone.

The gradient of the log-likelihood is the difference of E[x h] given the data and under the model. For the latter,
contrastive divergence takes k Gibbs steps from the data, the persistent form from where the user's own chain stood.
"""

from typing import Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats, Ints

NAME = "RBM of ratings"


class Machine(NamedTuple):
    """Parameters: c, (K,); b, (M, S); W, (M, S, K)."""

    hidden: Floats
    visible: Floats
    weights: Floats

    def inputs(self, ratings: Ratings) -> Floats:
        """Return c_k + sum_j W_j r_j k of every user, (N, K)."""
        return np.asarray(self.hidden + indicators(ratings) @ self.weights.reshape(-1, len(self.hidden)))


def indicators(ratings: Ratings, levels: Ints | None = None) -> sp.csr_array:
    """Return x, (N, M S), of ratings or of other `levels` 0 .. S - 1, (n,), of the same items."""
    S = ratings.scale[1] - ratings.scale[0] + 1
    own = ratings.value - ratings.scale[0] if levels is None else levels
    data, shape = np.ones(len(own)), (len(ratings.users), len(ratings.items) * S)
    return sp.csr_array(sp.coo_array((data, (ratings.user, ratings.item * S + own)), shape=shape))


@estimator
class RatingsRBM(Estimator):
    """A restricted Boltzmann machine of `Ratings`.

    Args:
        chains: "cd" for contrastive divergence, "pcd" for the persistent form.
        steps: of Gibbs sampling for a gradient, k.
        epochs: passes over the users.
        batch: users of a gradient.
        rate: of gradient ascent, at first; it falls to a tenth, linearly.
        decay: of W.

    Attributes (after `fit`):
        machine_: a `Machine`.

    Examples:
        >>> users, items = np.repeat(np.arange(8), 2), np.tile([0, 1], 8)
        >>> ratings = Ratings(tuple("abcdefgh"), ("x", "y"), users, items, np.tile([5, 1, 1, 5], 4))
        >>> RatingsRBM(1, random_state=0).fit(ratings).machine_.weights.shape
        (2, 5, 1)
    """

    chains: Literal["cd", "pcd"] = "cd"
    steps: int = 1
    epochs: int = 50
    batch: int = 50
    rate: float = 0.1
    decay: float = 1e-3

    def fit(self, X: Ratings, y: None = None) -> Self:  # noqa: ARG002
        """Run the epochs on ratings X; raises InputError for settings out of range, or no ratings."""
        if len(X) == 0 or min(self.n_components, self.steps, self.epochs, self.batch) < 1 or not self.rate > 0.0:
            raise InputError(f"{NAME}: take ratings, one unit, step, epoch and user or more, and a rate above 0")
        random = np.random.default_rng(self.random_state)
        N, M, S = len(X.users), len(X.items), X.scale[1] - X.scale[0] + 1
        levels = X.value - X.scale[0]
        shares = np.bincount(levels, minlength=S) / len(X)
        seen = np.bincount(X.item * S + levels, minlength=M * S).reshape(M, S) + S * shares
        visible = np.log(np.maximum(seen, 1e-9) / seen.sum(axis=1, keepdims=True))
        machine = Machine(np.zeros(self.n_components), visible, random.normal(0.0, 0.01, (M, S, self.n_components)))
        fantasy, order = levels.copy(), np.argsort(X.user, kind="stable")
        ends = np.cumsum(X.numbers)
        for epoch in range(self.epochs):
            rate = self.rate * (1.0 - 0.9 * epoch / self.epochs) / self.batch
            users = random.permutation(N)
            for first in range(0, N, self.batch):
                chosen = users[first : first + self.batch]
                own = np.concatenate([order[ends[i] - X.numbers[i] : ends[i]] for i in chosen])
                place = np.repeat(np.arange(len(chosen)), X.numbers[chosen])
                start = levels[own] if self.chains == "cd" else fantasy[own]
                part = _Part(place, X.item[own], len(chosen), M, S)
                positive = expit(machine.hidden + part.coded(levels[own]) @ _flat(machine))
                state = start
                for _ in range(self.steps):
                    chances = expit(machine.hidden + part.coded(state) @ _flat(machine))
                    h = (random.random(chances.shape) < chances).astype(float)
                    state = part.sampled(machine, h, random)
                negative = expit(machine.hidden + part.coded(state) @ _flat(machine))
                fantasy[own] = state
                machine = part.moved(machine, levels[own], state, positive, negative, rate, self.decay)
        self.machine_ = machine
        return self


class _Part(NamedTuple):
    """The ratings of a batch: each one's place in the batch and its item; users in the batch, items, values."""

    place: Ints
    item: Ints
    users: int
    M: int
    S: int

    def coded(self, levels: Ints) -> sp.csr_array:
        data = np.ones(len(levels))
        where = (self.place, self.item * self.S + levels)
        return sp.csr_array(sp.coo_array((data, where), shape=(self.users, self.M * self.S)))

    def sampled(self, machine: Machine, h: Floats, random: np.random.Generator) -> Ints:
        """Return a value of every unit given the hidden ones."""
        logits = machine.visible[self.item] + np.einsum("nsk,nk->ns", machine.weights[self.item], h[self.place])
        gumbel = -np.log(-np.log(random.random(logits.shape)))
        return np.asarray(np.argmax(logits + gumbel, axis=1))

    def moved(
        self, machine: Machine, data: Ints, model: Ints, positive: Floats, negative: Floats, rate: float, decay: float
    ) -> Machine:
        """Return the machine after a step along the gradient."""
        x, y = self.coded(data), self.coded(model)
        slope = (x.T @ positive - y.T @ negative).reshape(machine.weights.shape)
        visible_gradient = np.asarray(x.sum(axis=0) - y.sum(axis=0)).reshape(machine.visible.shape)
        return Machine(
            machine.hidden + rate * (positive - negative).sum(axis=0),
            machine.visible + rate * visible_gradient,
            machine.weights + rate * (slope - self.users * decay * machine.weights),
        )


def _flat(machine: Machine) -> Floats:
    return machine.weights.reshape(-1, len(machine.hidden))
