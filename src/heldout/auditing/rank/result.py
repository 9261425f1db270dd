"""The result of ranking models by the likelihood of the same held-out documents, in pairs.

The difference of two models is sum_d (x_d - y_d) / sum_d L_d, x_d and y_d their log-likelihoods of document d of L_d
tokens. The documents are a sample, and their log-likelihoods differ far more from document to document than two
models do on one document: so the error of the difference is that of the paired differences x_d - y_d (`ratio_error`),
which holds the error of the estimates too; what is known of their bias is added in quadrature. Two models are told
apart when their difference is above its error times Student's quantile at D - 1 degrees of freedom, at a level of
`LEVEL` over all pairs of the models (Bonferroni): which model is the best is chosen by the same documents.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from heldout.auditing.audit.result import JSON_VERSION, interval
from heldout.auditing.blocks import Work, ratio_error, sum_error
from heldout.auditing.formats import json_compatible
from heldout.evaluators import EXACT
from heldout.evaluators.priors import DIRICHLET, OWN_DIRICHLET, Prior
from heldout.libraries import THESE, Reported
from heldout.topics import perplexity
from heldout.typing import Floats, Ints

LEVEL = 0.05  # chance that any two models of the same likelihood are told apart


class Difference(NamedTuple):
    """Difference of the log-likelihoods of the documents under two models.

    Attributes:
        nats_per_token: the difference of the mean log-likelihoods, over the documents possible under both.
        error: its standard error, of documents and of estimates, nats per token; inf for fewer than two documents.
        estimates: the part of it that more samples would shrink, nats per token.
        apart: whether the two models are told apart.
        width: half of the interval's width at `LEVEL` over all pairs, nats per token; inf where the error is.
    """

    nats_per_token: float
    error: float
    estimates: float
    apart: bool
    width: float = math.inf


@dataclass(frozen=True, eq=False, repr=False)
class RankedModel:
    """A model and its documents' log-likelihoods.

    Attributes:
        name: its file, or its class.
        library, topics: its library, and K.
        nats: (D,) log-likelihoods; -inf for a document that is impossible under it.
        errors, biases: (D,) of the estimates, nats.
        reported: the library's own number.
        coherence: the mean coherence of its topics (settings["coherence"]); NaN where it was not computed.
        prior: the kind of prior of a document's weights.
        flat_topics: the nearly uniform topics, counted from 0.
        stand_in: why the prior is one that was chosen here, of a model without one; empty where it is the model's own.
    """

    name: str
    library: str
    topics: int
    nats: Floats
    errors: Floats
    biases: Floats
    reported: Reported
    coherence: float = math.nan
    prior: Prior = DIRICHLET
    flat_topics: tuple[int, ...] = ()
    stand_in: str = ""

    def __repr__(self) -> str:
        """Return one line."""
        return f"<{self.name}, {self.topics} topics>"

    @property
    def dirichlet(self) -> bool:
        """Whether the prior is Dirichlet, of all documents or of each its own; if not it is logistic normal."""
        return self.prior in (DIRICHLET, OWN_DIRICHLET)

    @property
    def impossible(self) -> int:
        """The number of documents that the model gives probability 0."""
        return int(np.isneginf(self.nats).sum())


Ranked = TypeVar("Ranked", bound=RankedModel)


@dataclass(frozen=True, eq=False, repr=False)
class RankingResult:
    """Models in the order of the likelihood of the same documents, the best first.

    Models under which documents are impossible come last, those with the fewest first.
    `heldout.auditing.rank.report.Ranking` prints it.

    Attributes:
        models: the models.
        corpus: the documents' name.
        lengths: (D,) tokens of every document in the models' vocabulary.
        left_out: tokens outside it.
        work: the estimator, and its settings.
        note: what could not be computed, and why, or what coherence was measured in; empty otherwise.
        settings: JSON-compatible.
    """

    models: tuple[RankedModel, ...]
    corpus: str
    lengths: Ints
    left_out: int
    work: Work
    note: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> RankedModel:
        """The model under which the documents are likeliest."""
        return self.models[0]

    @property
    def exact(self) -> bool:
        """Whether the log-likelihoods are exact."""
        return self.work.estimator == EXACT

    @property
    def documents(self) -> int:
        """The number of documents with a token in the vocabulary."""
        return int((self.lengths > 0).sum())

    @property
    def tokens(self) -> int:
        """The number of tokens in the vocabulary."""
        return int(self.lengths.sum())

    def nats_per_token(self, model: RankedModel) -> float:
        """Return a model's mean log-likelihood of the documents possible under it, nats per token."""
        possible = np.isfinite(model.nats)
        return _per_token(float(model.nats[possible].sum()), int(self.lengths[possible].sum()))

    def error(self, model: RankedModel) -> float:
        """Return the standard error of that mean's estimate, nats per token: of these documents, not of others."""
        possible = np.isfinite(model.nats)
        errors = np.hypot(model.errors[possible], model.biases[possible])
        return _per_token(sum_error(errors, model.biases[possible]), int(self.lengths[possible].sum()))

    def interval(self, model: RankedModel) -> tuple[float, float]:
        """Return the ends of a model's perplexity's 95 % interval over documents, the model fixed; NaN without one."""
        possible = np.isfinite(model.nats) & (self.lengths > 0)
        if possible.sum() < 2:
            return math.nan, math.nan
        return interval(self.nats_per_token(model), *self.sampling_error(model.nats[possible], possible, model))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a row per model, the best first: perplexities, nats per token, and errors as in `to_json`."""
        for model, gap in zip(self.models, self.behind, strict=True):
            low, high = self.interval(model)
            value = self.nats_per_token(model)
            yield {
                "model": model.name,
                "topics": model.topics,
                "perplexity": perplexity(value, 1),
                **{"low": low, "high": high, "standard_error": perplexity(value, 1) * self.error(model)},
                **{"nats_per_token": value, "behind": gap.nats_per_token, "behind_error": gap.error},
                **{"tie": not gap.apart, "impossible": model.impossible, "stand_in": model.stand_in},
                **{"reported": model.reported.perplexity, "coherence": model.coherence},
            }

    def difference(self, one: RankedModel, other: RankedModel) -> Difference:
        """Return the difference of the documents' log-likelihoods under two models; see the module."""
        possible = np.isfinite(one.nats) & np.isfinite(other.nats) & (self.lengths > 0)
        lengths = self.lengths[possible].astype(np.float64)
        D, N = len(lengths), float(lengths.sum())
        gaps = one.nats[possible] - other.nats[possible]
        delta = _per_token(float(gaps.sum()), N)
        bias = _per_token(float((one.biases[possible] - other.biases[possible]).sum()), N)
        parts = (part for model in (one, other) for part in (model.errors, model.biases))
        squares = [float((part[possible] ** 2).sum()) for part in parts]
        estimates = math.hypot(_per_token(math.sqrt(sum(squares)), N), bias)
        if D < 2:
            return Difference(delta, math.inf, estimates, one.impossible != other.impossible)
        sampling, freedom = self.sampling_error(gaps, possible, one, other)
        error = math.hypot(sampling, bias)
        pairs = max(len(self.models) * (len(self.models) - 1) // 2, 1)
        width = error * float(stdtrit(freedom, 1.0 - LEVEL / (2.0 * pairs)))
        rounding = 1e-12 * abs(self.nats_per_token(one))
        apart = one.impossible != other.impossible or abs(delta) > width + rounding
        return Difference(delta, error, estimates, apart, width)

    def sampling_error(
        self,
        values: Floats,
        possible: NDArray[np.bool_],
        *models: RankedModel,  # noqa: ARG002  # of a choice, whose fits differ by their seeds
    ) -> tuple[float, float]:
        """Return the standard error of sum_d x_d / sum_d L_d over documents, and its degrees of freedom.

        Args:
            values: x_d of the possible documents, nats.
            possible: (D,) their places, two or more.
            models: the models that x_d is of.
        """
        return ratio_error(values, self.lengths[possible]), len(values) - 1.0

    @cached_property
    def behind(self) -> tuple[Difference, ...]:
        """Every model less the best one."""
        return tuple(self.difference(model, self.best) for model in self.models)

    @property
    def ties(self) -> tuple[RankedModel, ...]:
        """The best model, and the others that are tied with it on these documents."""
        return tuple(model for model, gap in zip(self.models, self.behind, strict=True) if not gap.apart)

    @property
    def scarce(self) -> str:
        """The remedy for ties: more of this, in words."""
        ratios = [gap.estimates / gap.error for gap in self.behind[1:] if not gap.apart and gap.error > 0.0]
        sampled = not self.exact and max(ratios, default=0.0) > 0.5
        return "samples (samples, --samples)" if sampled else "documents"

    @property
    def library_choice(self) -> RankedModel | None:
        """The model that the libraries' own numbers of these documents would have chosen.

        None where a model has no such number, or where they are of several functions.
        """
        numbers = [model.reported for model in self.models]
        if any(n.about != THESE or not math.isfinite(n.nats_per_token) for n in numbers):
            return None
        if len({number.function for number in numbers}) > 1:
            return None
        return max(self.models, key=lambda model: model.reported.nats_per_token)

    @property
    def coherence_choice(self) -> RankedModel | None:
        """The model of the most coherent topics; None where coherence was not computed."""
        measured = [model for model in self.models if math.isfinite(model.coherence)]
        return max(measured, key=lambda model: model.coherence) if measured else None

    def to_json(self, arrays: bool = False) -> dict[str, Any]:
        """Return the ranking as JSON-compatible values, or with arrays as they are; non-finite numbers are null.

        Keys: "json_version", 2; "corpus", "documents", "tokens", "left_out", "best", "ties" (names), "library_choice",
        "coherence_choice" (a name or null), "note", "settings", "lengths" and "models", best first, a list of objects
        with the attributes of `RankedModel` ("dirichlet" in place of its prior) and "impossible", "nats_per_token",
        "error", "interval", and "behind", the `Difference` from the best. Log-likelihoods and errors are in nats.
        """

        def name(model: RankedModel | None) -> str | None:
            return None if model is None else model.name

        models = [
            {field: value for field, value in vars(model).items() if field != "prior"}
            | {
                "dirichlet": model.dirichlet,
                "reported": vars(model.reported) | {"terms": [vars(term) for term in model.reported.terms]},
                "impossible": model.impossible,
                "nats_per_token": self.nats_per_token(model),
                "error": self.error(model),
                "interval": self.interval(model),
                "behind": gap._asdict(),
            }
            for model, gap in zip(self.models, self.behind, strict=True)
        ]
        plain: dict[str, Any] = json_compatible(
            {
                "json_version": JSON_VERSION,
                "corpus": self.corpus,
                "documents": self.documents,
                "tokens": self.tokens,
                "left_out": self.left_out,
                "best": self.best.name,
                "ties": [model.name for model in self.ties],
                "library_choice": name(self.library_choice),
                "coherence_choice": name(self.coherence_choice),
                "note": self.note,
                "settings": self.settings,
                "lengths": self.lengths,
                "models": models,
            },
            arrays,
        )
        return plain


def in_order(models: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return models by how many documents they make impossible, then by the others' likelihood, the best first."""

    def place(model: Ranked) -> tuple[int, float]:
        return model.impossible, -float(model.nats[np.isfinite(model.nats)].sum())

    return tuple(sorted(models, key=place))


def _per_token(total: float, tokens: float) -> float:
    return total / tokens if tokens else math.nan
