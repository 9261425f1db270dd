"""Our models as scikit-learn's estimators: cloned, searched, in pipelines, and scored by their likelihood."""

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import heldout
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.components_marginal import quadrature
from heldout.models.epca import EPCA
from heldout.models.lda import LDA
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.plsa import PLSA
from heldout.models.plsa_tem import PLSATEM
from heldout.models.plsa_vem import PLSAVEM
from heldout.seeds import generator

MODELS: list[Any] = [
    PLSA(2, iterations=20, smoothing=0.01, random_state=0),
    PLSATEM(2, beta=0.8, iterations=20, random_state=0),
    PLSAVEM(2, iterations=20, random_state=0),
    LDA(2, alpha=0.5, sweeps=20, random_state=0),
    NMF(2, iterations=20, random_state=0),
    MultinomialMixture(2, iterations=20, random_state=0),
]
SCORING: dict[type, Any] = {MultinomialMixture: lambda model, X: model.log_likelihood(X).mean()}  # no topics
NAMES = [type(model).__name__ for model in MODELS]


@pytest.fixture(scope="module")
def counts() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Documents of two topics that share no word; every document has all words of its own topic."""
    rng = generator("test-scikit-learn")
    blocks = [rng.multinomial(12, np.full(4, 0.25), size=20) + 1 for _ in range(2)]
    empty = np.zeros_like(blocks[0])
    X: np.ndarray[Any, np.dtype[np.int64]] = np.vstack([np.hstack([blocks[0], empty]), np.hstack([empty, blocks[1]])])
    return X[rng.permutation(len(X))]


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_search_takes_it_and_finds_the_topics(model: Any, counts: Any) -> None:
    tags = get_tags(model)
    assert tags.input_tags.sparse
    assert not tags.target_tags.required
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.get_params().keys() == inspect.signature(type(model)).parameters.keys()
    with pytest.raises(ValueError, match="topics"):
        copy.set_params(topics=3)
    scoring = SCORING.get(type(model), heldout.log_likelihood)
    search = GridSearchCV(model, {"n_components": [1, 2]}, scoring=scoring, cv=2, error_score="raise").fit(counts)
    assert search.best_params_ == {"n_components": 2}
    assert search.best_score_ < 0.0


def test_the_score_is_the_likelihood_and_other_settings_go_through_partial(counts: Any) -> None:
    model = PLSA(2, iterations=20, smoothing=0.01, random_state=0)
    exact = partial(heldout.log_likelihood, estimator="exact-marginal")
    scores = cross_val_score(model, counts, scoring=exact, cv=2)
    half = clone(model).fit(counts[20:])
    assert scores[0] == pytest.approx(exact(half, counts[:20]), abs=1e-12)
    assert heldout.log_likelihood(half, counts[:20]) == pytest.approx(scores[0], abs=0.02)  # the seed is fixed


def test_in_a_pipeline_behind_a_vectorizer_and_in_an_audit() -> None:
    texts = ["ape bear cat ape", "fig kiwi lime fig"] * 6
    pipeline = make_pipeline(CountVectorizer(), LDA(2, alpha=0.5, sweeps=20, random_state=0)).fit(texts)
    result = heldout.audit(pipeline, texts)
    assert (result.model, result.words, result.tokens) == ("Pipeline", 6, 48)
    score = heldout.log_likelihood(pipeline, texts, estimator="exact-marginal")
    assert result.line("likelihood").nats_per_token == pytest.approx(score, abs=1e-12)


def test_epca_scores_by_its_gaussian_prior(counts: Any) -> None:
    model = EPCA(1, iterations=20, random_state=0).fit(counts)
    words = tuple(map(str, range(counts.shape[1])))
    documents = [(str(d), np.repeat(words, row).tolist()) for d, row in enumerate(counts)]
    exact = quadrature(model.components(words), Corpus.from_documents("made", documents), penalty=1.0)
    expected = exact.log_likelihood.sum() / counts.sum()
    # a hundred chains from the Laplace approximation: under 0.1 nats a document; 4.42 errors have the chance 1e-5
    assert abs(heldout.log_likelihood(model, counts) - expected) < 4.42 * 0.1 * np.sqrt(len(counts)) / counts.sum()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PLSA(2), "PLSA: not fitted; call fit"),
        (NMF(2), "NMF: not fitted; call fit"),
        (EPCA(2), "EPCA: not fitted; call fit"),
        (EPCA(2, penalty=0.0), "EPCA: without a penalty"),
        (MultinomialMixture(2), "MultinomialMixture: documents have no Dirichlet prior under it"),
    ],
)
def test_what_has_no_likelihood_says_why(model: Any, message: str, counts: Any) -> None:
    with pytest.raises(InputError, match=message):
        heldout.log_likelihood(model, counts)


@pytest.mark.parametrize(
    "model", [LDA(2, sweeps=2, random_state=0), PLSA(2, random_state=0), NMF(2), MultinomialMixture(2, random_state=0)]
)
def test_what_is_fitted_stays_as_it_was(model: Any) -> None:
    """A matrix with an entry twice and an explicit zero: scipy sums and drops them in place."""
    data, words, rows = np.array([1.0, 2.0, 3.0, 0.0, 1.0]), np.array([1, 0, 1, 0, 2]), np.array([0, 3, 5])
    X = sp.csr_array((data.copy(), words.copy(), rows.copy()), shape=(2, 3))
    model.fit(X)
    for now, before in ((X.data, data), (X.indices, words), (X.indptr, rows)):
        np.testing.assert_array_equal(now, before)
