"""Categorical PCA (equations 27.7 to 27.10) on documents and on records: variational EM, exact EM, degenerate EM.

Variational EM has three bounds: Boehning's; Bouchard's, run on small data, which is looser where logits are equal and
costs many exponentials; and Jaakkola and Jordan's, where every variable has two values. The usual score is the bound,
the likelihood by which exact EM fits, or log p(x | z) at the point that degenerate EM takes. The likelihood is exact
with one and two components, and annealed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gallery.member import BOUND, DOCUMENTS, FOLDED, ITSELF, RECORDS, Member
from gallery.tokens.evaluators.categorical_pca_annealed import categorical_pca_annealed
from gallery.tokens.evaluators.categorical_pca_marginal import SPACINGS, categorical_pca_marginal
from gallery.tokens.members.data import deterministic, in_rounds, kind_of
from gallery.tokens.models.categorical_pca import BOEHNING, BOUCHARD, JAAKKOLA_JORDAN, CategoricalPCA
from gallery.tokens.models.categorical_pca_maximum import CategoricalPCAByQuadrature, CategoricalPCAOfPoints
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.typing import Floats


@dataclass(frozen=True)
class _CategoricalPCA(Member[Corpus, Any]):
    """Categorical PCA with `penalty` on its weights; records with more than `columns` are left out."""

    data: ClassVar[tuple[str, ...]] = (DOCUMENTS, RECORDS)
    model: ClassVar[type[CategoricalPCA]] = CategoricalPCA
    bound: ClassVar[str] = BOEHNING
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
        settings: dict[str, Any] = {"blocks": blocks, "bound": self.bound, "random_state": random}
        model = self.model(K, penalty=self.penalty, iterations=self.iterations, **settings)
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

    name, label, usual = "categorical-pca", "catPCA, Böhning's bound", BOUND

    def usual_score(self, fitted: CategoricalPCA, test: Corpus) -> Evaluation:
        return deterministic(fitted.set_params(ve_iterations=self.iterations).infer(test.counts()).bound, test)


@dataclass(frozen=True)
class BouchardEM(VariationalEM):
    """Categorical PCA by variational EM with Bouchard's bound, on at most `most_cells` records by columns."""

    name, label, data, bound = "categorical-pca-bouchard", "catPCA, Bouchard's bound", (RECORDS,), BOUCHARD
    most_cells: int = 10**6

    def numbers(self, topics: Sequence[int], corpus: Corpus) -> Sequence[int]:
        return super().numbers(topics, corpus) if corpus.n_documents * corpus.n_words <= self.most_cells else ()


@dataclass(frozen=True)
class JaakkolaJordanEM(VariationalEM):
    """Categorical PCA of two values by variational EM, with Jaakkola and Jordan's bound."""

    name, label, data = "categorical-pca-jaakkola-jordan", "catPCA, Jaakkola's bound", (RECORDS,)
    bound = JAAKKOLA_JORDAN

    def numbers(self, topics: Sequence[int], corpus: Corpus) -> Sequence[int]:
        return super().numbers(topics, corpus) if corpus.provenance["values"] == 2 else ()


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
