r"""The result of a choice: numbers of topics in pairs, with an error of documents, seeds and folds.

Document d of L_d tokens has the log-likelihood x_dr under the model of K topics that was fitted to the other folds with
seed r of R, and g_d is the mean over its seeds of x_dr, or of the difference of two K. The number that is compared is
sum_d g_d / sum_d L_d. By the law of total variance, with N = sum_d L_d, its variance is

    V = [D / (D - 1) sum_d (g_d - delta L_d)^2  -  sum_d v_d  +  sum_f s_f^2] / N^2.

The first sum is that of a ranking (`heldout.auditing.blocks.ratio_error`), of independent documents. It has the seeds'
part v_d, the sample variance of x_dr over seeds divided by R, as if seeds moved one document at a time. But a fit moves
all documents of a fold together: so v_d is taken out, and the seeds' part of the folds' sums put in, s_f^2, the sample
variance of sum_{d in f} x_dr over seeds, divided by R. Of a difference both are added up over its two K, whose seeds
are drawn independently. A fold that has one seed, where others failed, takes the mean of the other folds.

Folds differ by their training documents, too, and with R = 1 by seeds that were never repeated. The variance between
folds, B, is `ratio_error`^2 of the folds' sums, and holds documents, seeds and folds; V is raised to B where that is
more. As its few degrees of freedom say little, they are counted by Satterthwaite's rule: D - 1 for documents, R - 1 for
each s_f^2, F - 1 for B - V. Of Gaussian draws the 95 % interval then covers 95 to 98 % where documents and repeated
seeds are all that varies, and 89 to 95 % where folds vary, too, or seeds that were not repeated. That training sets
share documents, no estimate from folds of one corpus can tell (Bengio and Grandvalet 2004): all this is of models of
this corpus.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from heldout.auditing.blocks import ratio_error
from heldout.auditing.rank.result import RankedModel, RankingResult
from heldout.typing import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Candidate(RankedModel):
    """A number of topics, with means over its fits.

    Attributes:
        by_seed: (R, D) log-likelihoods, NaN for a fit that failed; (0, D) where there is one seed.
        exclusivity: the mean exclusivity of its topics (`heldout.libraries.coherence.exclusivity`).
        folding_in: full folding-in, nats per token.
        most_excess: the most that folding in may exceed the likelihood by, under the prior and with any topics, nats
            per token (`heldout.evaluators.excess`); NaN where that takes too long, or under another prior.
        seed_spread: the standard deviation over seeds of a fit's nats per token; NaN for one seed.
        again: the share of topics that another seed has, too (`share_again`); NaN for one seed.
    """

    by_seed: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    exclusivity: float = math.nan
    folding_in: float = math.nan
    most_excess: float = math.nan
    seed_spread: float = math.nan
    again: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceResult(RankingResult):
    """Numbers of topics in the order of the likelihood of held-out documents, the best first.

    Attributes:
        fold_of: (D,) the fold of every document.
        failures: the fits that failed, each with its cause, one line.
    """

    models: tuple[Candidate, ...]
    fold_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    failures: tuple[str, ...] = ()

    @property
    def best(self) -> Candidate:
        """The number of topics under which the documents are likeliest."""
        return self.models[0]

    @property
    def n_topics(self) -> int:
        """The number of topics under which held-out documents are likeliest."""
        return self.best.topics

    @property
    def not_told_apart(self) -> tuple[int, ...]:
        """The numbers of topics that are tied with the best on these documents, it included, ascending."""
        return tuple(sorted(model.topics for model in self.ties))

    @property
    def one_standard_error(self) -> int:
        """The fewest topics that are behind the best by at most one standard error of the paired difference."""
        close = (m.topics for m, gap in zip(self.models, self.behind, strict=True) if -gap.nats_per_token <= gap.error)
        return min((self.best.topics, *close))

    @property
    def restarts(self) -> int:
        """The number of seeds."""
        return int(self.settings["restarts"])

    def sampling_error(self, values: Floats, possible: NDArray[np.bool_], *models: RankedModel) -> tuple[float, float]:
        """Return the standard error of sum_d x_d / sum_d L_d, and its degrees of freedom; see the module."""
        if len(models) == 2 and models[0] is models[1]:
            return 0.0, len(values) - 1.0
        documents, seeds, excess, squares = self._variances(values, possible, models)
        total = documents + seeds + excess
        weights = documents**2 / (len(values) - 1) + squares
        return math.sqrt(total), total**2 / weights if weights else len(values) - 1.0

    @property
    def scarce(self) -> str:
        """The remedy for ties: more of this, in words."""
        for model in self.ties[1:]:
            possible = np.isfinite(model.nats) & np.isfinite(self.best.nats) & (self.lengths > 0)
            gaps = model.nats[possible] - self.best.nats[possible]
            documents, seeds, excess, _ = self._variances(gaps, possible, (model, self.best))
            if seeds + excess > documents:
                return "seeds or folds (restarts, --restarts; folds, --folds)"
        return super().scarce

    def _variances(
        self, values: Floats, possible: NDArray[np.bool_], models: Sequence[RankedModel]
    ) -> tuple[float, float, float, float]:
        """Return the variances of documents, seeds and folds, and the squares of the last two by degrees of freedom."""
        lengths, folds, N = self.lengths[possible], self.fold_of[possible], float(self.lengths[possible].sum())
        documents, squares = ratio_error(values, lengths) ** 2, 0.0
        seeds, single = 0.0, 0.0
        for model in models:
            joint, each, square = _seed_parts(model, possible, folds)
            seeds, single, squares = seeds + joint / N**2, single + each / N**2, squares + square / N**4
        documents = max(documents - single, 0.0)
        groups = [folds == fold for fold in np.unique(folds)]
        excess = 0.0
        if len(groups) > 1:
            sums = [np.array([part[group].sum() for group in groups]) for part in (values, lengths)]
            excess = max(ratio_error(*sums) ** 2 - documents - seeds, 0.0)
        return documents, seeds, excess, squares + excess**2 / max(len(groups) - 1, 1)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a row per number of topics, the fewest first: a ranking's columns, and `Candidate`'s attributes."""
        rows = sorted(zip(self.models, super().records(), strict=True), key=lambda pair: pair[0].topics)
        for model, row in rows:
            yield (
                {"topics": row.pop("topics")}
                | row
                | {
                    "reported_nats": model.reported.nats_per_token,
                    **{name: getattr(model, name) for name in Candidate.__annotations__ if name != "by_seed"},
                }
            )

    def to_json(self, arrays: bool = False) -> dict[str, Any]:
        """Return the choice as JSON-compatible values: a ranking's, "fold_of", "failures" and "not_told_apart"."""
        more = {"fold_of": self.fold_of if arrays else self.fold_of.tolist(), "failures": list(self.failures)}
        return super().to_json(arrays) | more | {"not_told_apart": list(self.not_told_apart)}


def _seed_parts(model: RankedModel, possible: NDArray[np.bool_], folds: Ints) -> tuple[float, float, float]:
    """Return sum_f s_f^2, sum_d v_d, and sum_f s_f^4 / (R_f - 1), of one K."""
    if not isinstance(model, Candidate) or not len(model.by_seed):
        return 0.0, 0.0, 0.0
    parts = []
    for fold in np.unique(folds):
        values = model.by_seed[:, possible][:, folds == fold]
        values = values[np.isfinite(values).all(axis=1)]
        if (R := len(values)) > 1:
            joint = float(values.sum(axis=1).var(ddof=1)) / R
            parts.append((joint, float(values.var(axis=0, ddof=1).sum()) / R, joint**2 / (R - 1)))
    if not parts:
        return 0.0, 0.0, 0.0
    joint, single, square = (math.fsum(part) * len(np.unique(folds)) / len(parts) for part in zip(*parts, strict=True))
    return joint, single, square


def share_again(phis: Sequence[NDArray[Any]]) -> float:
    """Return the share of topics that come again in other fits, on average over pairs of fits; NaN without a pair.

    The topics of two fits are matched one to one, so that their affinities sum_w sqrt(p q), 1 less the square of
    Hellinger's distance, add up to the most. A topic comes again where both of a pair are nearer to one another than
    either is to any other topic of its own fit: that bound depends neither on K nor on the words that all topics have.

    Args:
        phis: (K, V) p(w | z) of each fit, over the same words.

    Examples:
        >>> one, other = np.eye(3), np.array([[0.1, 0.8, 0.1], [1, 0, 0], [0.5, 0.3, 0.2]])
        >>> round(share_again([one, other]), 3)  # the third of either has no match
        0.667
    """
    shares = []
    for one, other in itertools.combinations([np.sqrt(phi, dtype=np.float64) for phi in phis], 2):
        if one.shape == other.shape:
            affinity = one @ other.T
            rows, columns = linear_sum_assignment(affinity, maximize=True)
            nearest = np.maximum(_nearest(one)[rows], _nearest(other)[columns])
            shares.append(float((affinity[rows, columns] > nearest).mean()))
    return float(np.mean(shares)) if shares else math.nan


def _nearest(roots: Floats) -> Floats:
    """Return each topic's affinity with the nearest other topic of its own fit, (K,); 0 for one alone."""
    affinity = roots @ roots.T
    np.fill_diagonal(affinity, 0.0)
    return np.asarray(affinity.max(axis=1))
