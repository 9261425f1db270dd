"""Misprints of the chapter's section 27.7, each with a computation on a tiny machine where there is one."""

import itertools
import math

import numpy as np
from scipy.integrate import quad
from scipy.special import expit

from heldout.models.rbm import RBM
from heldout.papers.murphy.misprint import Errors, Misprint
from heldout.typing import Floats


def _machine() -> RBM:
    """Return a machine with 2 visible and 2 hidden units."""
    machine = RBM(2)
    machine.weights_ = np.array([[0.5, -1.0], [1.5, 0.3]])
    machine.visible_bias_, machine.hidden_bias_ = np.array([0.2, -0.4]), np.array([0.1, -0.3])
    return machine


def _states() -> Floats:
    return np.array(list(itertools.product((0.0, 1.0), repeat=2)))


def _quadratic() -> Errors:
    """Integrate exp(-E) of 27.108 over |v| < 10 and over |v| < 20, one unit, h = 0: of a density they are the same."""

    def grown(sign: float) -> float:
        inner, outer = (quad(lambda v: math.exp(sign * (v - 0.2) ** 2 / 2.0), -a, a, limit=200)[0] for a in (10, 20))
        return abs(math.log(outer / inner))

    return grown(1.0), grown(-1.0)


def _mean() -> Errors:
    """Compare the mean of v given h = (1, 1) of one Gaussian unit with the text's and with 27.110's."""
    w, b = np.array([0.5, -1.2]), 0.4
    density = [quad(lambda v, p=p: v**p * math.exp(w.sum() * v - (v - b) ** 2 / 2.0), -20.0, 20.0)[0] for p in (0, 1)]
    mean = density[1] / density[0]
    return abs(float(w.sum()) - mean), abs(b + float(w.sum()) - mean)


def _free_energy() -> Errors:
    """Sum exp(-F(v)) / Z over v: of 27.114's F, a sum of energies, and of the logarithm of the sum of exp(-E)."""
    machine, v = _machine(), _states()
    energies = -np.array(
        [[x @ machine.weights_ @ h + x @ machine.visible_bias_ + h @ machine.hidden_bias_ for h in v] for x in v]
    )
    Z = np.exp(-energies).sum()
    printed, corrected = energies.sum(axis=1), -np.log(np.exp(-energies).sum(axis=1))
    return abs(float(np.exp(-printed).sum() / Z) - 1.0), abs(float(np.exp(-corrected).sum() / Z) - 1.0)


def _derivative() -> Errors:
    """Compare dF/dw_11 at v = (1, 1) with 27.122, -v_r E[h_k | v]; F without biases as 27.117 has it, and minus log."""
    W = _machine().weights_
    at = W.sum(axis=0)
    expected = -float(expit(at[0]))
    product = float(np.exp(at[0]) * (1.0 + np.exp(at[1])))  # of prod_k (1 + exp(w_1k + w_2k)), by w_11
    return abs(product - expected), abs(-float(np.exp(at[0]) / (1.0 + np.exp(at[0]))) - expected)


def _fantasies() -> Errors:
    """Take the largest entry of CD-1's expected gradient where the data are the model's own: there it is at rest."""
    machine, states = _machine(), _states()
    p_v = np.exp(-machine.free_energy(states))
    p_v /= p_v.sum()
    up = np.array([[np.prod(np.where(h, m, 1.0 - m)) for h in states] for m in machine.hidden_means(states)])
    down_means = expit(states @ machine.weights_.T + machine.visible_bias_)
    down = np.array([[np.prod(np.where(v, m, 1.0 - m)) for v in states] for m in down_means])
    again = up @ down  # of v' given v
    clamped = (p_v[:, None] * states).T @ machine.hidden_means(states)
    printed = (p_v[:, None] * states).T @ again @ machine.hidden_means(states)
    corrected = ((p_v @ again)[:, None] * states).T @ machine.hidden_means(states)
    return float(np.abs(clamped - printed).max()), float(np.abs(clamped - corrected).max())


def _unit() -> Errors:
    """Compare the perplexity of a uniform distribution over 8 words, which is 8, with its logarithm, in nats."""
    nats = math.log(8.0)
    return abs(nats - 8.0), abs(math.exp(nats) - 8.0)


UNDIRECTED = (
    Misprint(
        "27.107",
        r"$p(h_k = 1 \mid \mathbf{c}, \theta)$",
        r"$p(h_k = 1 \mid \mathbf{v}, \theta)$",
        "names what is given",
    ),
    Misprint(
        "27.108",
        r"$E = \dots - \frac{1}{2} \sum_r (v_r - b_r)^2$",
        r"$+ \frac{1}{2} \sum_r (v_r - b_r)^2$",
        r"the integral of $e^{-E}$ is finite (its logarithm, from $\lvert v \rvert < 10$ to 20)",
        _quadratic,
    ),
    Misprint(
        "below 27.109",
        r"$\mu = \sum_k h_k w_k$",
        r"$b + \sum_k h_k w_k$, as in 27.110",
        r"it is the mean of $v$ given $h$",
        _mean,
    ),
    Misprint("27.108, 27.111", r"$a_k$ in one, $c_k$ in the other", r"$c_k$ in both", "names the hidden biases"),
    Misprint(
        "27.114",
        r"$F(v) = \sum_h E(v, h)$",
        r"$-\log \sum_h e^{-E(v, h)}$",
        r"$e^{-F(v)} / Z$ sums to one over $v$",
        _free_energy,
    ),
    Misprint(
        "27.115 to 27.117",
        r"$F(v) = \prod_k (1 + e^{\sum_r v_r W_{rk}})$",
        r"$-\sum_k \log(1 + e^{\sum_r v_r W_{rk}})$",
        "its derivative is 27.122",
        _derivative,
    ),
    Misprint(
        "27.128",
        r"$v_i (h'_i)^\top$",
        r"$v'_i (h'_i)^\top$, as in algorithm 27.3",
        "the expected gradient is zero where the model is the data's",
        _fantasies,
    ),
    Misprint(
        "algorithm 27.4",
        "``Mean field updates''",
        r"exact means: given $v_i$ the $h_k$ are independent (27.101)",
        "names what is computed",
    ),
    Misprint("27.129", "$b_r^c$", "$b^c$: there is one multinomial unit", "names the visible biases"),
    Misprint(
        "27.7.3.1",
        "``Another advantage of the LDA''",
        "of the RBM: a product with $W$ and a sigmoid",
        "names the model",
    ),
    Misprint(
        "Figure 27.32",
        "``perplexity per word (in nats)''",
        "perplexity, the exponential of nats",
        "a uniform distribution over 8 words has 8",
        _unit,
    ),
)
