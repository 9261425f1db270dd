r"""PLSA-TEM: PLSA by tempered EM at a fixed inverse temperature beta (Hofmann 1999; Welling et al. 2008, section 5).

Free energy. For posteriors q(z | d, w), each summing to 1 over z, Hofmann's free energy is

    F_beta(q, W, H) = sum_{d,w} n(d, w) sum_z q(z | d, w) [log q(z | d, w) - beta log(W[w, z] H[d, z])].

E step: the minimum over q is q(z | d, w) ∝ (W[w, z] H[d, z])^beta (equation 9; the whole product is tempered; the
factor p(d)^beta of the symmetric parameters cancels). At this q

    F_beta(W, H) = -sum_{d,w} n(d, w) log sum_k (W[w, k] H[d, k])^beta.

M step: F_beta depends on W and H only through -beta sum n q log(W H), so for every beta the minimum is that of EM,
W[w, k] ∝ sum_d n q and H[d, k] = sum_w n q / n(d). Neither step raises F_beta. At beta = 1 this is PLSA-HOF.

Kernel. With W~ = W^beta, H~ = H^beta and R~[d, w] = n(d, w) / (W~ H~')[d, w], n q = R~ W~ H~, hence

    H[d, k] <- H~[d, k] sum_w R~[d, w] W~[w, k] / n(d),      W[w, k] <- W~[w, k] sum_d R~[d, w] H~[d, k] / gamma_k:

the passes of `heldout.models.plsa` on the powers. W may stay unnormalised as there, with H divided by its column sums:
(W / sum)^beta H^beta = W^beta (H / sum)^beta.

Fold-in. The same steps with W fixed minimise F_beta over one document's h, that is, they maximise J(h) = sum_w n(w) log
sum_k (W[w, k] h[k])^beta. For beta <= 1, h^beta is concave, and so is J. At beta < 1 the maximum of J is not that of
the likelihood: the slope of h^beta at 0 is infinite, so no topic that gives one of the document's words gets weight 0,
and weights are flatter. A fixed point h = h^beta g is the maximum where all h > 0. With h' the update of h,
dJ/dh[k] = beta n h'[k] / h[k], so the maximum lies at most beta n (max_k h'[k] / h[k] - 1) above J(h); the iteration
stops on this bound. A weight below 1e-30 becomes 0 and is left out of the bound.

Scoring. The topics and weights of tempered EM enter the untempered mixture p(w | d) = sum_k W[w, k] h[k].
"""

from dataclasses import asdict, field

import numpy as np
import scipy.sparse as sp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import TEM
from heldout.models.estimator import estimator
from heldout.models.plsa import PLSA, Cells, fold_in_counts, rescaled, trained
from heldout.models.settings import PLSAFoldingIn as FoldingIn
from heldout.models.settings import TEMTraining as Training
from heldout.topics import Topics
from heldout.typing import Floats


@estimator
class PLSATEM(PLSA):
    """PLSA-TEM on a matrix of counts; attributes and `fit` as in `PLSA`.

    Args:
        beta: the inverse temperature, in (0, 1].
        iterations: the largest number of tempered EM iterations.
        tolerance: stop when an iteration lowers the free energy by less than this many nats per token.

    Attributes (after `fit`): as of PLSA, but
        log_likelihood_: (iterations + 1,) -F_beta in nats, before each iteration and after the last.

    Examples:
        >>> counts = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]]  # documents by words
        >>> PLSATEM(2, beta=0.8, iterations=50, random_state=0).fit(counts).components_.round(2)
        array([[0.5, 0.5, 0. , 0. ],
               [0. , 0. , 0.5, 0.5]])
    """

    beta: float = 0.9
    smoothing: float = field(default=0.0, init=False)

    def _check(self) -> None:
        super()._check()
        if not 0.0 < self.beta <= 1.0:
            raise InputError(f"PLSA-TEM: beta is {self.beta}; it must be above 0 and at most 1")

    def _iterate(self, cells: Cells, W: Floats, H: Floats, totals: Floats) -> float:
        np.power(W, self.beta, out=W)
        scaled = rescaled(H, totals)
        np.power(scaled, self.beta, out=scaled)
        objective = cells.documents_pass(W, scaled, H)
        cells.words_pass(W, scaled, totals)
        return objective

    def _objective(self, cells: Cells, W: Floats, H: Floats, totals: Floats) -> float:
        return cells.documents_pass(np.power(W, self.beta), np.power(rescaled(H, totals), self.beta), H.copy())

    def _fold_in(self, topics: Topics, counts: sp.csr_array) -> Floats:
        return fold_in_counts(topics, counts, beta=self.beta, iterations=self.iterations, tolerance=self.tolerance)


def fold_in(topics: Topics, documents: Corpus, settings: FoldingIn, *, seed: int) -> Floats:  # noqa: ARG001
    """Return theta, (D, K), of documents at the beta that the topics were trained with; see `fold_in_counts`.

    Raises:
        InputError: when the topics' provenance has no beta, because PLSA-TEM did not train them.
    """
    if topics.provenance.get("model") != TEM or "beta" not in topics.provenance:
        raise InputError(f"{TEM}: the topics name no beta to fold in with; train them with {TEM}")
    counts, beta = documents.counts(), float(topics.provenance["beta"])
    return fold_in_counts(topics, counts, beta=beta, iterations=settings.iterations, tolerance=settings.tolerance)


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Topics]:
    """Train PLSA-TEM on a corpus; the start is PLSA-HOF's for (corpus, topics, seed), so beta = 1 repeats PLSA-HOF.

    Raises:
        InputError: as `PLSA.fit` does, or when beta is out of range.
    """
    model = PLSATEM(topics, **asdict(settings))
    return trained(model, TEM, corpus, seed, objective="objective", beta=settings.beta)
