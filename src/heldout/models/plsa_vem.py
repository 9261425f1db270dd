r"""PLSA-VEM: PLSA as variational EM with point posteriors (Welling et al. 2008, sections 2 and 3.4).

Model. A document's weights h_d have a flat Dirichlet(1) prior; given them a token is word w with probability
sum_k W[w, k] h_d[k]. With the point posterior delta(h_d - H[d]), and without its entropy of minus infinity, the
variational objective (2.6) is

    O(W, H) = sum_{d,w} n(d, w) log sum_k W[w, k] H[d, k].

Its two steps each raise O and alternate:

    VE step   maximise over H, W fixed:    H[d, k] <- H[d, k] sum_w R[d, w] W[w, k] / n(d),
    VM step   raise over W, H fixed:       W[w, k] <- W[w, k] sum_d R[d, w] H[d, k] / gamma_k,

with R[d, w] = n(d, w) / (W H')[d, w]: the two halves of equation 3.24. Each follows from the bound 3.22 with
Q[d, w, k] = W[w, k] H[d, k] / (W H')[d, w], equation 3.23, at the current point. The VE step repeats its half
`ve_iterations` times; O is concave in H, so the repetition converges to the maximum.

Difference from PLSA-HOF. EM computes Q once and updates both W and H from it, so that the new W comes from the old H.
Here the VM step uses R and H after the VE step. Both algorithms multiply H by sum_w R W / n and W by sum_d R H / gamma,
and are at a fixed point exactly where these factors are 1 (or the parameter is 0): they take different paths to the
same fixed points.

Priors. With W[., k] ~ Dir(a) and H[d] ~ Dir(b) the objective gains (a - 1) sum log W + (b - 1) sum log H, and each half
of 3.24 adds its constant, a - 1 or b - 1, to its numerator before it is divided by the new sum. At a = b = 1, which is
PLSA, there is none; `heldout.models.lda` integrates the weights out where such priors are wanted.

Kernel. The passes of `heldout.models.plsa`; an iteration is `ve_iterations` + 1 passes over the documents (the last
only for R at the new H) and one over the words.
"""

from dataclasses import asdict, field

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import VEM
from heldout.models.estimator import estimator
from heldout.models.plsa import PLSA, Cells, fold_in, rescaled, trained
from heldout.models.settings import PLSAFoldingIn as FoldingIn
from heldout.models.settings import VEMTraining as Training
from heldout.topics import Topics
from heldout.typing import Floats

__all__ = ["PLSAVEM", "FoldingIn", "Training", "fold_in", "train"]


@estimator
class PLSAVEM(PLSA):
    """PLSA-VEM on a matrix of counts; attributes and `fit` as in `PLSA`.

    Args:
        iterations: the largest number of VE and VM steps.
        tolerance: stop when an iteration raises the objective by less than this many nats per token.
        ve_iterations: fixed-point iterations in each VE step.

    Examples:
        >>> counts = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]]  # documents by words
        >>> PLSAVEM(2, iterations=50, ve_iterations=3, random_state=0).fit(counts).document_topics_.round(2)
        array([[1., 0.],
               [1., 0.],
               [0., 1.],
               [0., 1.]])
    """

    ve_iterations: int = 1
    smoothing: float = field(default=0.0, init=False)

    def _check(self) -> None:
        super()._check()
        if self.ve_iterations < 1:
            raise InputError(f"PLSA-VEM: {self.ve_iterations} iterations of the VE step; there must be 1 or more")

    def _iterate(self, cells: Cells, W: Floats, H: Floats, totals: Floats) -> float:
        objectives = [cells.documents_pass(W, rescaled(H, totals), H) for _ in range(self.ve_iterations)]
        scaled = rescaled(H, totals)
        cells.documents_pass(W, scaled, H.copy())
        cells.words_pass(W, scaled, totals)
        return objectives[0]


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Topics]:
    """Train PLSA-VEM on a corpus, from the start that PLSA-HOF has for the same (corpus, topics, seed).

    Raises:
        InputError: as `PLSA.fit` does, or for fewer than one VE iteration.
    """
    model = PLSAVEM(topics, **asdict(settings))
    return trained(model, VEM, corpus, seed, ve_iterations=settings.ve_iterations)
