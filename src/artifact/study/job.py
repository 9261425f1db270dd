"""The job of an experiment: the inputs of one run, without its settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from artifact.results.recorder import Recorder
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.folding_in import FoldIn
from heldout.seeds import generator

NO_CORPUS = Corpus("none", (), np.zeros(0, np.int32), np.zeros(1, np.int64), (), {})


def no_folding_in(*_: Any) -> Any:
    """Refuse to fold in.

    Raises:
        InputError: always.
    """
    raise InputError("these topics are of no model that folds in; name one with --model")


@dataclass(frozen=True)
class Job:
    """One run of an experiment: `experiment(job, settings) -> Results`.

    Attributes:
        corpus: all documents; empty and named "none" where the experiment draws its own.
        model: the model of `chains`, or the one to train; "none" if there is none.
        variant: the experiment's name, which its rows get.
        topics: K of the models to train; 0 if the experiment chooses K itself.
        seed: determines the split and every draw.
        test_documents: number of held-out documents.
        chains: trained topics or components, one per chain; the true topics of a drawn corpus come last.
        fold_in: the model's folding in, of this seed.
    """

    corpus: Corpus = NO_CORPUS
    model: str = "none"
    variant: str = ""
    topics: int = 0
    seed: int = 0
    test_documents: int = 0
    chains: Sequence[Any] = ()
    fold_in: FoldIn = no_folding_in

    def split(self) -> tuple[Corpus, Corpus]:
        """Return the training and the test documents."""
        return train_test_split(self.corpus, self.test_documents, self.seed)

    def generator(self, purpose: str, **axes: str | int | float) -> np.random.Generator:
        """Return the generator of a purpose, the job's corpus and seed, and further axes (`heldout.seeds`)."""
        return generator(purpose, corpus=self.corpus.name, seed=self.seed, **axes)

    def sample(self, corpus: Corpus, number: int, purpose: str) -> Corpus:
        """Return at most `number` documents, drawn at random for a purpose, in the corpus's order."""
        order = self.generator(purpose).permutation(corpus.n_documents)
        return corpus.subset(np.sort(order[:number]))

    def recorder(self, **names: Any) -> Recorder:
        """Return a recorder under the job's corpus, model, variant, number of topics and seed, or other names."""
        defaults = {"corpus": self.corpus.name, "model": self.model, "variant": self.variant, "topics": self.topics}
        return Recorder(**{**defaults, "seed": self.seed, **names})
