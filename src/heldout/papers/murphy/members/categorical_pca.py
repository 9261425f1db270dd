"""Categorical PCA (equations 27.7 to 27.10) on documents and on records, by variational and by degenerate EM.

The usual score is the variational bound, or log p(x | z) at the point that degenerate EM takes. The likelihood is exact
with one and two components, and annealed. Measured besides:

    training-likelihood     nats per token of the first training documents
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.categorical_pca_annealed import categorical_pca_annealed
from heldout.evaluators.categorical_pca_marginal import SPACINGS, categorical_pca_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.models.categorical_pca import GAUSSIAN, POINT, CategoricalPCA
from heldout.papers.murphy.members.data import DOCUMENTS, RECORDS, Split, deterministic, kind_of
from heldout.papers.murphy.members.member import BOUND, FOLDED, AnnealedMember

TRAINING = "training-likelihood"
TRAINING_CASES = 500  # those whose likelihood is measured; quadrature of all would take minutes


@dataclass(frozen=True)
class VariationalEM(AnnealedMember[Corpus, CategoricalPCA]):
    """Categorical PCA with `penalty` on its weights; records with more than `columns` are left out."""

    name, label, usual, data = "categorical-pca", "catPCA, EM", BOUND, (DOCUMENTS, RECORDS)
    posterior: ClassVar[str] = GAUSSIAN
    penalty: float
    iterations: int
    columns: int = 0
    samples: int = 0
    component_temperatures: int = 0

    def numbers(self, topics: Sequence[int], corpus: Corpus) -> Sequence[int]:
        if kind_of(corpus) == RECORDS and corpus.n_words > self.columns:
            return ()
        return topics if self.component_temperatures else sorted({1, *(K for K in topics if K in SPACINGS)})

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> CategoricalPCA:
        values = training.provenance.get("values")
        blocks = (values,) * (training.n_words // values) if values else None
        pca = CategoricalPCA(
            K,
            blocks=blocks,
            posterior=self.posterior,
            penalty=self.penalty,
            iterations=self.iterations,
            random_state=random,
        )
        return pca.fit(training.counts())

    def usual_score(self, fitted: CategoricalPCA, test: Corpus) -> Evaluation:
        posterior = fitted.set_params(ve_iterations=self.iterations).infer(test.counts())
        of_point = 0.5 * (posterior.mean**2).sum(axis=1) if self.posterior == POINT else 0.0
        return deterministic(posterior.bound + of_point, test)

    def likelihood(self, fitted: CategoricalPCA, test: Corpus, random: np.random.Generator) -> Evaluation | None:
        if fitted.n_components not in SPACINGS:
            return None
        return deterministic(categorical_pca_marginal(fitted, test.counts()), test)

    def annealed(self, fitted: CategoricalPCA, test: Corpus, random: np.random.Generator) -> Evaluation:
        steps = self.component_temperatures
        value, error = categorical_pca_annealed(fitted, test.counts(), self.samples, random, temperatures=steps)
        return Evaluation(value, test.lengths, error)

    def measured(
        self, fitted: CategoricalPCA, split: Split[Corpus], likelihood: Evaluation | None, random: np.random.Generator
    ) -> Mapping[str, float]:
        some = split.training.counts()[:TRAINING_CASES]
        return {TRAINING: float(categorical_pca_marginal(fitted, some).sum() / some.sum())}


@dataclass(frozen=True)
class DegenerateEM(VariationalEM):
    """Categorical PCA with a point for every latent vector."""

    name, label, usual, posterior = "categorical-pca-point", "catPCA, degenerate EM", FOLDED, POINT
