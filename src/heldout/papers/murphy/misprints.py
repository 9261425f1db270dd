"""Misprints of the chapter's sections 27.2 to 27.4, each with a computation that the printed form fails.

`errors()` returns by how much an identity fails, of the printed and of the corrected form; the second is 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import digamma
from scipy.stats import beta as beta_density

from heldout.evaluators.count_polynomial import DirichletMoments
from heldout.evaluators.evidence import log_likelihood
from heldout.papers.murphy.experiments.perplexity import with_prior

Errors = tuple[float, float]


@dataclass(frozen=True)
class Misprint:
    """A misprint.

    Attributes:
        place: section, equation or line.
        printed, corrected: what it says and what it should say, in LaTeX.
        identity: what the corrected form satisfies, in words.
        errors: returns how far the printed and the corrected form are from it.
    """

    place: str
    printed: str
    corrected: str
    identity: str
    errors: Callable[[], Errors]


def _factorisation() -> Errors:
    """Sum 27.2.3's reconstruction of a document of 5 tokens over 3 words."""
    b, pi = np.array([[0.5, 0.1], [0.3, 0.2], [0.2, 0.7]]), np.array([0.6, 0.4])
    return float(abs((b @ pi).sum() - 5.0)), float(abs((5.0 * b @ pi).sum() - 5.0))


def _base() -> Errors:
    """Take the perplexity of the uniform distribution over 8 words from its entropy in nats."""
    entropy = math.log(8.0)
    return abs(2.0**entropy - 8.0), abs(math.exp(entropy) - 8.0)


def _weighting() -> Errors:
    """Average log q over a document of 9 tokens and one of 1, against the log probability of all 10 per token."""
    means, lengths = np.log([0.5, 0.01]), np.array([9.0, 1.0])
    total = (means * lengths).sum() / lengths.sum()
    return float(abs(means.mean() - total)), float(abs(np.average(means, weights=lengths) - total))


def _evidence_of_topics() -> Errors:
    """Compare 27.36 for one topic over two words with its integral; of two Dirichlet parameters alpha is the other."""
    alpha, gamma, counts = 0.5, 2.0, (3, 1)
    integral = quad(lambda b: b ** counts[0] * (1.0 - b) ** counts[1] * beta_density(gamma, gamma).pdf(b), 0.0, 1.0)[0]
    printed, corrected = (log_likelihood(np.array(counts)[:, None], value) for value in (alpha, gamma))
    return abs(printed - math.log(integral)), abs(corrected - math.log(integral))


def _storage() -> Errors:
    """Count the numbers of q~ for two documents, of 2 and 3 tokens, over 4 words and 2 topics."""
    lengths, V, K = np.array([2, 3]), 4, 2
    stored = sum(np.empty((L, K)).size for L in lengths)
    return abs(float(lengths.sum()) * V * K - stored), abs(float(lengths.sum()) * K - stored)


def _conditional() -> Errors:
    """Sum the prior's part of 27.37 over topics: the other tokens of a document are one fewer than L."""
    alpha, others = 0.5, np.array([3.0, 1.0])  # L = 5
    return (
        float(abs(((others + alpha) / (5.0 + 2.0 * alpha)).sum() - 1.0)),
        float(abs(((others + alpha) / (5.0 - 1.0 + 2.0 * alpha)).sum() - 1.0)),
    )


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


MISPRINTS = (
    Misprint(
        "27.2.3",
        r"$n_{iv} = \sum_k b_{vk} \pi_{iv}$",
        r"$\mathbb{E}\, n_{iv} = L_i \sum_k b_{vk} \pi_{ik}$",
        "the counts of a document sum to its length",
        _factorisation,
    ),
    Misprint("27.23", r"$2^H$", r"$e^H$, as in 27.29", "the perplexity of $V$ equal words is $V$", _base),
    Misprint(
        "27.28, 27.29",
        r"$\frac{1}{N} \sum_i \frac{1}{L_i} \sum_l$",
        r"$\frac{1}{\sum_i L_i} \sum_i \sum_l$, as in 27.27",
        r"$N$ tokens have the log probability $-N H$",
        _weighting,
    ),
    Misprint(
        "27.36",
        r"$\Gamma(\beta)$",
        r"$\Gamma(\gamma)$: there is no $\beta$",
        "it is the logarithm of the integral 27.35",
        _evidence_of_topics,
    ),
    Misprint(
        "27.37",
        r"$L_i + K \alpha$",
        r"$L_i - 1 + K \alpha$ (a constant)",
        "the prior's part sums to one over topics",
        _conditional,
    ),
    Misprint(
        "27.3.6.2",
        r"$O((\sum_i L_i) V K)$ for $\tilde q_{ilk}$",
        r"$O((\sum_i L_i) K)$",
        "a number for each token and topic",
        _storage,
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
)
