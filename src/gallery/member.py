"""Members of the gallery: the knowledge of the opening table, the contrasts and the tests about a model.

A member is a frozen dataclass whose fields are the settings that it takes from an experiment's, by name; one with a
default may be absent there. Data are what `gallery.tokens.members.data` makes of a corpus.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from heldout.evaluators.evaluation import Evaluation
from heldout.typing import Floats

USUAL, LIKELIHOOD = "usual-score", "likelihood"  # the evaluators of the two scores

DOCUMENTS, RECORDS = "documents", "records"  # kinds of data

Data = TypeVar("Data")
Fitted = TypeVar("Fitted")


class Split(NamedTuple, Generic[Data]):
    """Training and test data, and how many test tokens were left out."""

    training: Data
    test: Data
    left_out: int


class Usual(NamedTuple):
    """Score that is usually reported of a model.

    Attributes:
        score: its name.
        kind: "bound" for a lower bound on the likelihood; "point" for a score at the latent vector that fits the case
            best, nowhere below the likelihood; "exact" for the likelihood itself; "neither" for one that may lie on
            either side.
    """

    score: str
    kind: Literal["bound", "point", "exact", "neither"]


class Family(NamedTuple):
    """Models of an experiment that one likelihood is of: an experiment lists its families in `FAMILIES`.

    The opening figure and the common test of all likelihoods go through these lists.

    Attributes:
        name: the family's; a family whose models stand in several experiments has one name in all.
        models: as in `artifact.results.scores.Score`, with the models that they are compared with.
        usual: the score that is usually reported of them; None where it is the likelihood.
        panel: the panel of the opening figure with its models; empty for none.
        shown: the models there, by name, and their labels.
    """

    name: str
    models: tuple[str, ...]
    usual: Usual | None
    panel: str = ""
    shown: Mapping[str, str] = MappingProxyType({})


# panels of the opening figure
TOKENS_OF_DOCUMENTS, RESPONSES = "documents, per token", "records, per response"
TOKENS, ANSWERS = "LDA's extensions, per token", "labels, links, ratings, each"
PANELS = (TOKENS_OF_DOCUMENTS, RESPONSES, TOKENS, ANSWERS)
BEST, FOLDED, BOUND = Usual("best component", "bound"), Usual("full folding-in", "point"), Usual("bound", "bound")
ITSELF, PLUGGED_IN = Usual("likelihood", "exact"), Usual("plugged in", "point")
STATE, PSEUDO_LIKELIHOOD = Usual("at one state", "neither"), Usual("pseudo-likelihood", "neither")
PARTITION, CLUSTER = Usual("best partition", "bound"), Usual("best cluster", "bound")


class Member(ABC, Generic[Data, Fitted]):
    """A model of the gallery.

    Attributes:
        name: as in `artifact.results.scores.Score`.
        label: in tables and figures.
        usual: its usual score.
        data: the kinds of data that it models.
        sampled: whether training is a Markov chain.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    usual: ClassVar[Usual]
    data: ClassVar[tuple[str, ...]] = (DOCUMENTS,)
    sampled: ClassVar[bool] = False

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the member with its own among an experiment's settings."""
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]  # every member is a dataclass
        return cls(**{name: value for name, value in settings.items() if name in names})

    @property
    def recorded(self) -> dict[str, Any]:
        """The member's part of the keys that its scores and measurements are recorded under."""
        smoothing, chain = getattr(self, "smoothing", 0.0), "0" if self.sampled else "none"
        return {"model": self.name, "smoothing": smoothing, "chain": chain}

    def numbers(self, topics: Sequence[int], corpus: Data) -> Sequence[int]:
        """Return the K of its rows, a part of the K that an experiment asks for."""
        return topics

    @abstractmethod
    def train(self, training: Data, K: int, random: np.random.Generator) -> Fitted:
        """Return the model with K components, fitted."""

    @abstractmethod
    def usual_score(self, fitted: Fitted, test: Data) -> Evaluation:
        """Return the score that is usually reported, nats."""

    def likelihood(self, fitted: Fitted, test: Data) -> Evaluation | None:
        """Return the exact likelihood; None where there is none or it costs too much."""
        return None

    def estimated(self, fitted: Fitted, test: Data, random: np.random.Generator) -> Evaluation | None:
        """Return the likelihood by annealing, with its errors; None where it is exact for any number of components."""
        return None

    def given_length(self, fitted: Fitted, test: Data) -> Floats:
        """Return the usual score without the model's share for the length, (D,) nats."""
        return self.usual_score(fitted, test).log_likelihood

    def measured(
        self, fitted: Fitted, split: Split[Data], likelihood: Evaluation | None, random: np.random.Generator
    ) -> Mapping[str, float]:
        """Return further numbers that contrasts and tests need, by quantity."""
        return {}
