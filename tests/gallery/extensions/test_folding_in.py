"""Folding in beyond topic models: no document of any size is above the bound of theorem 1, by enumeration."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln

from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_folded_in
from gallery.extensions.experiments.folding_in import mixture_folded_in, profile_folded_in
from gallery.extensions.models.lda_hmm import Parameters
from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models.categorical_pca_maximum import CategoricalPCAOfPoints
from gallery.tokens.models.user_rating_profile import UserRatingProfile
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses, responses_of
from heldout.evaluators.excess import largest_excess
from heldout.models.multinomial_mixture import MultinomialMixture, Multinomials
from heldout.typing import Floats, Ints

SEEDS = range(2)
WORDS = ("a", "b", "c")


def every(longest: int, words: tuple[str, ...] = WORDS) -> Corpus:
    streams = [stream for n in range(1, longest + 1) for stream in product(words, repeat=n)]
    return Corpus.from_documents("all", [("".join(stream), list(stream)) for stream in streams]).over(words)[0]


def log_prior(z: tuple[int, ...], alpha: Floats) -> float:
    """Return log p(z) of topics under Dir(alpha), nats."""
    counts = np.bincount(z, minlength=len(alpha))
    parts = gammaln(alpha + counts) - gammaln(alpha)
    return float(gammaln(alpha.sum()) - gammaln(alpha.sum() + len(z)) + parts.sum())


def mixture(weights: Floats, phi: Floats) -> MultinomialMixture:
    model = MultinomialMixture(len(weights), posterior="exact")
    model.parameters_ = Multinomials(weights, phi)
    return model


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_component_is_above_a_mixture_by_its_weight_at_the_most(seed: int) -> None:
    random, cases = np.random.default_rng(seed), every(4)
    weights, phi = np.append(random.dirichlet(np.ones(3)), 0.0), random.dirichlet(np.full(3, 0.5), 4)
    full, bound = mixture_folded_in(mixture(weights, phi), cases)
    given = [[np.prod(row[cases.document(d)]) for row in phi] for d in range(cases.n_documents)]
    by_component = np.array(given)
    np.testing.assert_allclose(np.exp(full.log_likelihood), by_component[:, :3].max(axis=1))
    mixed = (by_component[:, :3] @ random.dirichlet(np.ones(3), 50).T).max(axis=1)
    assert np.all(mixed <= np.exp(full.log_likelihood) + 1e-12)  # a mixed component is no better
    excess = full.log_likelihood - np.log(by_component @ weights)
    assert bound == pytest.approx(-np.log(weights[:3].min()))
    assert np.all(excess < bound + 1e-12)


def test_a_component_without_rivals_has_the_mixtures_bound() -> None:
    cases = every(1)
    model = mixture(np.array([0.7, 0.2, 0.1]), np.eye(3))
    full, bound = mixture_folded_in(model, cases)
    assert (full.log_likelihood - model.log_likelihood(cases.counts())).max() == pytest.approx(bound) == np.log(10.0)


def records(responses: Ints, values: int) -> Corpus:
    names = (range(responses.shape[1]), range(values), range(len(responses)))
    variables, meanings, rows = (tuple(map(str, part)) for part in names)
    return from_responses("all", responses, variables, meanings, rows)


def profile(tables: Floats, alpha: Floats) -> UserRatingProfile:
    model = UserRatingProfile(len(alpha))
    model.tables_, model.alpha_ = tables, alpha
    return model


def profile_marginal(row: Ints, model: UserRatingProfile) -> float:
    """Return log p(y) of a record by the sum over all components of its responses, nats."""
    known = np.flatnonzero(row >= 0)
    value = 0.0
    for z in product(range(len(model.alpha_)), repeat=len(known)):
        given = np.prod([model.tables_[r, k, row[r]] for r, k in zip(known, z, strict=True)])
        value += float(given) * np.exp(log_prior(z, model.alpha_))
    return float(np.log(value))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alpha", [0.2, 0.5, 2.0])
def test_a_profile_is_above_its_likelihood_by_the_bound_of_its_responses_at_the_most(seed: int, alpha: float) -> None:
    random = np.random.default_rng(seed)
    model = profile(random.dirichlet(np.full(2, 0.3), (3, 2)), alpha * np.array([1.0, 1.5]))
    cases = records(np.array(list(product((-1, 0, 1), repeat=3)))[1:], 2)
    full, rows = profile_folded_in(model, cases, 1000).log_likelihood, responses_of(cases)
    grid = np.linspace(0.0, 1.0, 2001)
    for row, value in zip(rows, full, strict=True):
        known = np.flatnonzero(row >= 0)
        p = [grid * model.tables_[r, 0, row[r]] + (1.0 - grid) * model.tables_[r, 1, row[r]] for r in known]
        assert value == pytest.approx(np.log(np.prod(p, axis=0)).max(), abs=1e-3)
    excess = full - [profile_marginal(row, model) for row in rows]
    assert np.all(excess > -1e-9)
    assert np.all(excess < largest_excess(cases.lengths, model.alpha_) + 1e-9)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 3.0])
def test_responses_that_tell_their_component_have_the_bound(alpha: float) -> None:
    model = profile(np.tile(np.eye(2), (3, 1, 1)), np.full(2, alpha))
    cases = records(np.array(list(product((0, 1), repeat=3))), 2)
    exact = [profile_marginal(row, model) for row in responses_of(cases)]
    excess = profile_folded_in(model, cases, 10).log_likelihood - exact
    assert excess.max() == pytest.approx(largest_excess(np.array([3]), model.alpha_)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sequence_is_above_its_likelihood_by_the_bound_of_its_content_at_the_most(seed: int) -> None:
    """The likelihood by the sum over states and topics; the bound of all tokens is above that of the content's."""
    random, cases, alpha = np.random.default_rng(seed), every(3, ("a", "b")), np.array([0.3, 0.9])
    start, transitions = random.dirichlet(np.ones(2)), random.dirichlet(np.ones(2), 2)
    topics, states = random.dirichlet(np.full(2, 0.2), 2), random.dirichlet(np.ones(2), 1)
    of = Parameters(start, transitions, topics, states, alpha)
    full, whole = lda_hmm_folded_in(of, cases, 100).log_likelihood, largest_excess(cases.lengths, alpha)
    bounds = largest_excess(np.arange(4), alpha)
    assert np.all(np.diff(bounds) > 0.0)
    for d in range(cases.n_documents):
        tokens, total, weighted = cases.document(d), 0.0, 0.0
        for s in product((0, 1), repeat=len(tokens)):
            path = start[s[0]] * np.prod([transitions[a, b] for a, b in pairwise(s)])
            content = [v for v, c in zip(tokens, s, strict=True) if c == 0]
            path *= np.prod([states[0, v] for v, c in zip(tokens, s, strict=True) if c == 1])
            given = sum(
                np.exp(log_prior(z, alpha)) * np.prod([topics[k, v] for k, v in zip(z, content, strict=True)])
                for z in product((0, 1), repeat=len(content))
            )
            total += path * given
            weighted += path * given * np.exp(bounds[len(content)])
        assert full[d] - np.log(total) <= np.log(weighted / total) + 1e-9 <= whole[d] + 2e-9


@pytest.mark.parametrize("alpha", [0.05, 0.4, 0.7, 5.0])
def test_the_bound_does_not_fall_with_the_length(alpha: float) -> None:
    assert np.all(np.diff(largest_excess(np.arange(60), alpha * np.array([1.0, 2.0, 0.5]))) >= 0.0)


def test_the_excess_of_a_gaussian_vector_has_no_bound() -> None:
    """Two tokens, two words: a tenfold standard deviation adds log 10."""

    def excess(s: float) -> float:
        total, _ = quad(lambda x: expit(x) * expit(-x) * np.exp(-0.5 * (x / s) ** 2), -60.0, 60.0)
        return float(np.log(0.25) - np.log(total / (s * np.sqrt(2.0 * np.pi))))

    values = [excess(s) for s in (1e2, 1e3, 1e4)]
    np.testing.assert_allclose(np.diff(values), np.log(10.0), atol=1e-3)
    assert values[-1] == pytest.approx(np.log(1e4 * np.sqrt(2.0 * np.pi) / 4.0), abs=1e-3)


@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
def test_the_excess_of_a_component_is_below_the_bound_that_knows_its_weights(scale: float) -> None:
    model = CategoricalPCAOfPoints(1, penalty=1.0, iterations=2, random_state=0).fit(every(3).counts())
    model.weights_ = scale * np.array([[1.0], [-0.5], [0.2]])
    counts = every(4).counts()
    m, full = model.modes(counts)
    curvature = 0.5 * (np.eye(3) - 1.0 / 3.0)
    spread = float((model.weights_.T @ curvature @ model.weights_)[0, 0])
    bound = 0.5 * np.log1p(np.asarray(counts.sum(axis=1)) * spread) + 0.5 * m[:, 0] ** 2
    excess = full - categorical_pca_marginal(model, counts)
    assert np.all(excess < bound + 1e-6)
    assert excess.max() > 0.0
