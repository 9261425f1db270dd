"""Misprints of the chapter, with a computation that the printed form fails where there is one.

`errors()` returns by how much an identity fails, of the printed and of the corrected form; the second is 0. A symbol
that stands for nothing, or for something else, leaves nothing to compute. What the chapter may define as it likes is no
misprint: the base of 27.23 and the weights of 27.29 (conventions, not misprints), and the constant
1 / (L_i + K alpha) of 27.37, which is a proportionality.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import digamma, expit, softmax
from scipy.stats import beta as beta_density
from scipy.stats import gamma as gamma_density
from scipy.stats import norm

from gallery.tokens.experiments.perplexity import with_prior
from heldout.evaluators.count_polynomial import DirichletMoments
from heldout.models.rbm import RBM
from heldout.typing import Floats

Errors = tuple[float, float]


@dataclass(frozen=True)
class Misprint:
    """A misprint.

    Attributes:
        place: section, equation or line.
        printed, corrected: what it says and what it should say, in LaTeX.
        identity: what the corrected form satisfies, in words.
        errors: returns how far the printed and the corrected form are from it; None for a symbol.
    """

    place: str
    printed: str
    corrected: str
    identity: str
    errors: Callable[[], Errors] | None = None


def _objective() -> Errors:
    """Compare differences of 27.92 and of -log p(R, U, V) between two points, for two ratings by one user."""
    ratings, noise, variance = np.array([4.0, 2.0]), 0.8, 2.0
    decay = noise / variance
    printed, exact = [], []
    for u, v in ((1.0, np.array([1.0, 0.5])), (0.7, np.array([2.0, 1.5]))):
        printed.append(((ratings - u * v) ** 2).sum() + decay * (u**2 + (v**2).sum()))
        log_density = norm.logpdf(ratings, u * v, math.sqrt(noise)).sum()
        exact.append(-log_density - norm.logpdf([u, *v], 0.0, math.sqrt(variance)).sum())
    rise, exact_rise = printed[1] - printed[0], exact[1] - exact[0]
    return float(abs(rise - exact_rise)), float(abs(rise / (2.0 * noise) - exact_rise))


def _entries() -> Errors:
    """Compare the printed number of entries with the product of the sizes, in thousand millions."""
    product = 17_770 * 480_189
    return abs(8.6 - product / 1e9), abs(8.53295853 - product / 1e9)


RATINGS = (
    Misprint(
        "27.6.2",
        r"$\sim 8.6 \times 10^9$ entries of $17{,}770 \times 480{,}189$",
        r"$8.53 \times 10^9$",
        r"the product of the sizes, in $10^9$",
        _entries,
    ),
    Misprint(
        "27.6.2",
        "Cinematch's RMSE of 0.9514 ``on the training set''",
        "on the quiz portion of the test set, as in the caption of Figure 27.29",
        "names the data",
    ),
    Misprint(
        "27.92",
        r"$J = \sum_{ij} \mathbb{I}(O_{ij} = 1)(\cdot)^2 + \dots$",
        r"$2 \sigma^2 J$; the minimum is the same",
        r"it is $-\log p(R, U, V)$ but for a constant",
        _objective,
    ),
    Misprint(
        "27.6.2",
        r"ratings from $\{0, 1, 2, 3, 4, 5\}$",
        r"$\{1, 2, 3, 4, 5\}$",
        "names the stars of Netflix and MovieLens",
    ),
)


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
    inputs = W.sum(axis=0)
    expected = -float(expit(inputs[0]))
    product = float(np.exp(inputs[0]) * (1.0 + np.exp(inputs[1])))  # of prod_k (1 + exp(w_1k + w_2k)), by w_11
    return abs(product - expected), abs(-float(np.exp(inputs[0]) / (1.0 + np.exp(inputs[0]))) - expected)


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
        "27.123",
        r"$\mathbb{E}[v_r h_k \mid v, \theta]$ in the sum over $i$",
        r"$\mathbb{E}[v_r h_k \mid v_i, \theta]$",
        "names the data case",
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
    Misprint(
        "algorithm 27.4",
        r"$W \in \mathbb{R}^{D \times L}$",
        r"$W \in \mathbb{R}^{R \times K}$, as in 27.95 and algorithm 27.3",
        "names the numbers of visible and hidden units",
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


_TWO_DOCUMENTS = ((0, 0), (1, 2, 1))  # words of tokens


def _floor() -> Errors:
    """Compare the entropy of 8 equally probable words, in bits, and 2 to its power, with their perplexity."""
    bits, perplexity = math.log2(8.0), 8.0
    return abs(bits - perplexity), abs(2.0**bits - perplexity)


def _factorisation() -> Errors:
    """Sum 27.2.3's reconstruction of a document of 5 tokens over 3 words."""
    b, pi = np.array([[0.5, 0.1], [0.3, 0.2], [0.2, 0.7]]), np.array([0.6, 0.4])
    return float(abs((b @ pi).sum() - 5.0)), float(abs((5.0 * b @ pi).sum() - 5.0))


def _stationary() -> Errors:
    """Take d/dz of log z^4 e^-z Ga(z | alpha, beta), a document of 4 tokens and one component, at the z of NMF."""
    tokens = z = 4.0
    printed, corrected = (tokens / z - 1.0 + (alpha - 1.0) / z - beta for alpha, beta in ((0.0, 0.0), (1.0, 0.0)))
    return abs(printed), abs(corrected)


def _spike() -> Errors:
    """Integrate 27.17 with rho = 0.3: an indicator of one point adds nothing, a point mass adds rho."""
    rho = 0.3
    slab = (1.0 - rho) * quad(gamma_density(2.0, scale=0.5).pdf, 0.0, np.inf)[0]
    return abs(slab - 1.0), abs(rho + slab - 1.0)


def _storage() -> Errors:
    """Count the numbers of q~ for two documents, of 2 and 3 tokens, over 4 words and 2 topics."""
    tokens, V, K = _TWO_DOCUMENTS, 4, 2
    stored = sum(np.empty((len(words), K)).size for words in tokens)
    printed, corrected = (sum(map(len, tokens)) * factor for factor in (V * K, K))
    return float(abs(printed - stored)), float(abs(corrected - stored))


def _saving() -> Errors:
    """Count the excess of c~ over q~ for the same documents: over all words, and over the words that they have."""
    tokens, V, K = _TWO_DOCUMENTS, 4, 2
    stored = sum(map(len, tokens)) * K
    printed, corrected = len(tokens) * V * K, sum(len(set(words)) for words in tokens) * K
    return float(max(printed - stored, 0)), float(max(corrected - stored, 0))


def _pseudo_counts() -> Errors:
    """Sum 27.49's pseudo-counts less gamma over words and topics: every token counts once."""
    n = np.array([3.0, 2.0])
    c = with_prior(np.array([[0.2, 0.8], [0.6, 0.4]]), np.ones(2), 0.0)  # rows: words, split over two topics
    return float(abs(c.sum() - n.sum())), float(abs((n[:, None] * c).sum() - n.sum()))


def _expected_log() -> Errors:
    """Compare the second psi of algorithm 27.1 with E log b of a topic over two words, by quadrature."""
    parameters = np.array([[2.0, 3.0], [4.0, 1.5]])  # rows: words, columns: topics
    density = beta_density(*parameters[:, 0])
    exact = quad(lambda x: math.log(x) * density.pdf(x), 0.0, 1.0)[0]
    first = digamma(parameters[0, 0])
    over_topics, over_words = (first - digamma(parameters.sum(axis=axis)[0]) for axis in (1, 0))
    return float(abs(over_topics - exact)), float(abs(over_words - exact))


def _covariance() -> Errors:
    """Compare a Dirichlet's covariance with its moments."""
    alpha = np.array([0.5, 1.5, 2.0])
    log_moment = DirichletMoments(alpha).log_moment
    both, one, other = np.exp(log_moment(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])))
    exact, printed, total = both - one * other, -alpha[0] * alpha[1], alpha.sum()
    return float(abs(printed - exact)), float(abs(printed / (total**2 * (total + 1.0)) - exact))


def _logits() -> Errors:
    """Compare the words' probabilities under 27.60 with their topic's, which 27.20 and 27.54 call b."""
    b = np.array([0.7, 0.2, 0.1])
    return float(np.abs(softmax(b) - b).max()), float(np.abs(softmax(np.log(b)) - b).max())


def _link() -> Errors:
    """Say how far 27.76's parameter lies outside [0, 1] for the features (1, 2) and the weights (1, 0.5)."""
    eta = float(np.array([1.0, 0.5]) @ np.array([1.0, 2.0]))
    printed, corrected = (max(p - 1.0, -p, 0.0) for p in (eta, float(expit(eta))))
    return printed, corrected


MISPRINTS = (
    Misprint(
        "27.2.3",
        r"$n_{iv} = \sum_k b_{vk} \pi_{iv}$",
        r"$\mathbb{E}\, n_{iv} = L_i \sum_k b_{vk} \pi_{ik}$",
        "the counts of a document sum to its length",
        _factorisation,
    ),
    Misprint(
        "27.2.4",
        r"NMF is GaP with $\alpha_k = \beta_k = 0$",
        r"$\alpha_k = 1$, $\beta_k = 0$; at 0 the mode is that of $\log z$",
        "the posterior of $z$ is stationary at the weights of NMF",
        _stationary,
    ),
    Misprint(
        "27.17",
        r"$\rho_k \mathbb{I}(z_{ik} = 0)$",
        r"$\rho_k \delta_0(z_{ik})$",
        "the prior integrates to one",
        _spike,
    ),
    Misprint("caption of 27.2", "Gaussian-Poisson", "Gamma-Poisson, as in the text", "names the priors of 27.15"),
    Misprint("27.3.1", "``admixture mixture''", "admixture model", "names the model"),
    Misprint(
        "27.3.3.1",
        "the perplexity is never below the entropy",
        r"never below $2^H$: the cross entropy is never below $H$",
        "the least perplexity of a source of 8 equally probable words",
        _floor,
    ),
    Misprint("27.29", r"perplexity$(p_{\mathrm{emp}}, p)$", "$q$ for $p$, as in 27.27", "names the model"),
    Misprint(
        "27.30 to 27.32",
        "$x_{il}$ and $z_{il}$",
        "$y_{il}$ and $q_{il}$, as in 27.18 to 27.21",
        "names tokens and their topics",
    ),
    Misprint(
        "27.36",
        r"$\Gamma(\beta)$",
        r"$\Gamma(\gamma)$: there is no $\beta$",
        "names the parameter of 27.35",
    ),
    Misprint(
        "27.3.6.2",
        r"$O((\sum_i L_i) V K)$ for $\tilde q_{ilk}$",
        r"$O((\sum_i L_i) K)$",
        "a number for each token and topic",
        _storage,
    ),
    Misprint(
        "27.3.6.2",
        r"$O(N V K)$ for $\tilde c_{ivk}$, a saving",
        r"$O(K \sum_i \lvert\{v : n_{iv} > 0\}\rvert)$",
        "no more numbers than for tokens, also where $L_i < V$",
        _saving,
    ),
    Misprint(
        "27.49",
        r"$\gamma_v + \sum_i \tilde c_{ivk}$",
        r"$\gamma_v + \sum_i n_{iv} \tilde c_{ivk}$",
        "every token is counted once",
        _pseudo_counts,
    ),
    Misprint(
        "algorithm 27.1, line 19",
        r"$\psi_k(\tilde b_{v\cdot})$, normalised over topics",
        r"$\Psi(\tilde b_{vk}) - \Psi(\sum_{v'} \tilde b_{v'k})$",
        r"it is $\mathbb{E} \log b_{vk}$",
        _expected_log,
    ),
    Misprint(
        "27.4.1",
        r"$\Sigma_{ij} = -\alpha_i \alpha_j$",
        r"$-\alpha_i \alpha_j / (\alpha_0^2 (\alpha_0 + 1))$",
        "it is the covariance of the Dirichlet",
        _covariance,
    ),
    Misprint(
        "27.57", r"$\sigma^2 \mathbf{1}_V$", r"$\sigma^2 I_V$", r"is a matrix; $\mathbf{1}_V$ is the vector of 27.20"
    ),
    Misprint(
        "27.57, 27.60",
        r"$b_{t,k}$ Gaussian, $\mathcal{S}(b_k^t)$",
        r"logits $\beta_{t,k}$, $b_{t,k} = \mathcal{S}(\beta_{t,k})$",
        "the words of a topic have its probabilities $b$",
        _logits,
    ),
    Misprint(
        "27.66",
        r"$\bar q_{ik} = \frac{1}{L_i} \sum_l q_{ilk}$",
        r"$\mathbb{I}(q_{il} = k)$ for $q_{ilk}$",
        "names the topics of 27.19, which are numbers",
    ),
    Misprint(
        "27.67",
        r"$\mathrm{Cat}(A_c \pi)$",
        r"$\mathrm{Cat}(A_c \pi_i)$",
        "names the weights of the document, which are given",
    ),
    Misprint(
        "27.76",
        r"$\mathrm{Ber}(r \mid w_{ab}^\top f)$",
        r"$\mathrm{Ber}(r \mid \mathrm{sigm}(w_{ab}^\top f))$, as in 27.80",
        "the parameter is a probability",
        _link,
    ),
    Misprint(
        "27.5.2",
        r"$p(z_i = k \mid \mathcal{D})$",
        r"$p(q_i = k \mid \mathcal{D})$",
        "names a node's cluster, as 27.75 does",
    ),
    Misprint(
        "27.5.2",
        r"$\mathrm{Dir}(\alpha)$ and $\beta(\alpha, \beta)$",
        r"$\mathrm{Dir}(\alpha)$ and $\mathrm{Beta}(a, b)$",
        r"names the prior of $\eta$, whose first parameter is not that of $\pi$",
    ),
    *UNDIRECTED,
    *RATINGS,
)
