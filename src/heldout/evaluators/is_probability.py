r"""Test of a score on documents that were drawn from the model: is it a probability?

Let D documents be drawn from p, and let q give every document a probability, so that sum_w q(w) <= 1. Then

    E_p prod_d q(w_d) / p(w_d) = prod_d sum_w q(w) <= 1,
    P(sum_d [log q(w_d) - log p(w_d)] >= t) <= exp(-t)        (Markov's inequality):

no probability exceeds the truth by many nats on the truth's own documents, whatever q is and however many there are.
The product is an e-value for the hypothesis that q is a probability (Vovk and Wang, 2021, "E-values: calibration,
combination and applications"): under it the mean is at most 1, and one over the e-value bounds a p-value.
The same holds

  * of a random q whose mean is a probability, such as an unbiased estimate of p, drawn independently of the truth's;
  * of a part of each document given the rest, q and p both conditional on the rest;
  * without any evaluator, with log p(w_d | theta_d) of the very theta_d that drew w_d in the place of log p(w_d):
    E q(w) / p(w | theta) = int p(theta) sum_w q(w) dtheta <= 1. As log p(w | theta) is mostly above log p(w), this
    test misses what the other one may see; what it sees, nobody can lay on the truth's evaluator.

The converse does not hold: what is never above the truth may still be no probability, such as a lower bound.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heldout.errors import InputError

ERRORS = 3.0  # standard errors of the truth that the score is granted


@dataclass(frozen=True)
class Excess:
    """Excess of a score over the truth on documents drawn from the model: the log of the e-value, nats.

    The standard error is the summed truth's, nats; 0 for an exact one.
    """

    nats: float
    standard_error: float = 0.0

    @property
    def log_chance(self) -> float:
        """Log of the largest chance of this excess, less three standard errors, for a probability, nats."""
        return min(0.0, ERRORS * self.standard_error - self.nats)

    def refutes(self, chance: float) -> bool:
        """Return whether a probability would have had at most this chance of the excess."""
        return self.log_chance <= math.log(chance)


def excess(log_scores: ArrayLike, log_truths: ArrayLike, standard_errors: ArrayLike = 0.0) -> Excess:
    """Return the excess of a score over the truth, and with it the chance that a probability has of that excess.

    The logarithm of an unbiased estimate is low by about half its variance, which adds up over documents where errors
    average out: the error of the sum is the root of (sum of variances) + (half the sum of variances)^2.

    All are of (D,) documents, or their sums, in nats: the score's logarithms of the sequences of tokens, the truth's,
    log p(w | alpha, phi), or log p(w | theta) of the theta that drew the document, and the errors of an estimated
    truth.

    Raises:
        InputError: for different numbers of documents, a score that is no number, or a truth that is not finite: a
            document of probability 0 was not drawn from the model.

    Examples:
        >>> truth = np.log([0.5, 0.25, 0.25])  # of three documents drawn from p
        >>> found = excess(truth + 10.0, truth)  # q is p times e^10
        >>> found.nats, found.log_chance, found.refutes(1e-6)
        (30.0, -30.0, True)
        >>> excess(np.log([0.25, 0.25, 0.5]), truth).refutes(1e-6)
        False
    """
    scores, truths, errors = (
        np.asarray(values, dtype=np.float64) for values in (log_scores, log_truths, standard_errors)
    )
    if len({values.shape for values in (scores, truths, errors)} - {()}) > 1:
        raise InputError(
            f"excess: scores, truths and errors of {scores.size}, {truths.size} and {errors.size} documents; give each"
            " document's, in the same order"
        )
    if np.isnan(scores).any() or not (np.isfinite(truths).all() and np.isfinite(errors).all()):
        raise InputError(
            "excess: a score is no number, or a truth or its error is not finite; draw the documents from the model"
        )
    variance = float(np.sum(errors**2))
    return Excess(float(scores.sum() - truths.sum()), math.hypot(math.sqrt(variance), variance / 2.0))
