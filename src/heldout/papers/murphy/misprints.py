"""Misprints of the chapter, with a computation that the printed form fails where there is one.

`errors()` returns by how much an identity fails, of the printed and of the corrected form; the second is 0. A symbol
that stands for nothing, or for something else, leaves nothing to compute. What the chapter may define as it likes is no
misprint: the base of 27.23 and the weights of 27.29 (conventions, not misprints), and the constant
1 / (L_i + K alpha) of 27.37, which is a proportionality.
"""

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import digamma, expit, softmax
from scipy.stats import beta as beta_density
from scipy.stats import gamma as gamma_density

from heldout.evaluators.count_polynomial import DirichletMoments
from heldout.papers.murphy.experiments.perplexity import with_prior
from heldout.papers.murphy.misprint import Errors, Misprint
from heldout.papers.murphy.misprints_ratings import RATINGS
from heldout.papers.murphy.misprints_undirected import UNDIRECTED

_TWO_DOCUMENTS = ((0, 0), (1, 2, 1))  # words of tokens


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
    """Count what c~ takes more than q~ does, of the same documents: of all words, and of those that they have."""
    tokens, V, K = _TWO_DOCUMENTS, 4, 2
    of_tokens = sum(map(len, tokens)) * K
    printed, corrected = len(tokens) * V * K, sum(len(set(words)) for words in tokens) * K
    return float(max(printed - of_tokens, 0)), float(max(corrected - of_tokens, 0))


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
    """Compare the words' probabilities under 27.60 with those of their topic, which 27.20 and 27.54 call b."""
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
