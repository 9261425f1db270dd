"""Categorical PCA (equations 27.7 to 27.10) on documents and on records: variational EM, exact EM, degenerate EM.

The usual score is the variational bound, the likelihood by which exact EM fits, or log p(x | z) at the point that
degenerate EM takes. The likelihood is exact with one and two components, and annealed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gallery.member import BOUND, DOCUMENTS, FOLDED, ITSELF, RECORDS, Member
from gallery.tokens.evaluators.categorical_pca_annealed import categorical_pca_annealed
from gallery.tokens.evaluators.categorical_pca_marginal import SPACINGS, categorical_pca_marginal
from gallery.tokens.members.data import deterministic, in_rounds, kind_of
from gallery.tokens.models.categorical_pca import CategoricalPCA
from gallery.tokens.models.categorical_pca_maximum import CategoricalPCAByQuadrature, CategoricalPCAOfPoints
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.typing import Floats


@dataclass(frozen=True)
class _CategoricalPCA(Member[Corpus, Any]):
    """Categorical PCA with `penalty` on its weights; records with more than `columns` are left out."""

    data = (DOCUMENTS, RECORDS)
    model: ClassVar[type[CategoricalPCA]]
    component_topics: tuple[int, ...]
    penalty: float
    iterations: int
    chains: int
    component_temperatures: int
    columns: int = 0

    def numbers(self, topics: Sequence[int], corpus: Corpus) -> Sequence[int]:
        return () if kind_of(corpus) == RECORDS and corpus.n_words > self.columns else self.component_topics

    def train(self, training: Corpus, K: int, random: np.random.Generator) -> Any:
        values = training.provenance.get("values")
        blocks = (values,) * (training.n_words // values) if values else None
        model = self.model(K, blocks=blocks, penalty=self.penalty, iterations=self.iterations, random_state=random)
        return model.fit(training.counts())

    def likelihood(self, fitted: CategoricalPCA, test: Corpus) -> Evaluation | None:
        if fitted.n_components not in SPACINGS:
            return None
        return deterministic(categorical_pca_marginal(fitted, test.counts()), test)

    def estimated(self, fitted: CategoricalPCA, test: Corpus, random: np.random.Generator) -> Evaluation:
        def anneal(cases: Corpus, steps: int) -> tuple[Floats, Floats]:
            return categorical_pca_annealed(fitted, cases.counts(), self.chains, random, temperatures=steps)

        return in_rounds(anneal, test, self.component_temperatures)


@dataclass(frozen=True)
class VariationalEM(_CategoricalPCA):
    """Categorical PCA by variational EM, with Boehning's bound."""

    name, label, usual, model = "categorical-pca", "catPCA, variational EM", BOUND, CategoricalPCA

    def usual_score(self, fitted: CategoricalPCA, test: Corpus) -> Evaluation:
        return deterministic(fitted.set_params(ve_iterations=self.iterations).infer(test.counts()).bound, test)


@dataclass(frozen=True)
class ExactEM(_CategoricalPCA):
    """Categorical PCA of one or two components, by quadrature."""

    name, label, usual = "categorical-pca-quadrature", "catPCA, exact EM", ITSELF
    model = CategoricalPCAByQuadrature

    def numbers(self, topics: Sequence[int], corpus: Corpus) -> Sequence[int]:
        return [K for K in super().numbers(topics, corpus) if K in SPACINGS]

    def usual_score(self, fitted: CategoricalPCA, test: Corpus) -> Evaluation:
        return deterministic(categorical_pca_marginal(fitted, test.counts()), test)


@dataclass(frozen=True)
class DegenerateEM(_CategoricalPCA):
    """Categorical PCA with a point for every latent vector."""

    name, label, usual, model = "categorical-pca-point", "catPCA, degenerate EM", FOLDED, CategoricalPCAOfPoints

    def usual_score(self, fitted: CategoricalPCAOfPoints, test: Corpus) -> Evaluation:
        return deterministic(fitted.modes(test.counts())[1], test)
