"""Tempered EM on a schedule: plain EM at beta = 1, falling free energies, and the schedules against dense twins."""

from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_fits import fit_from, fold_with

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import TokenSplit, token_split
from heldout.errors import InputError
from heldout.models import plsa, plsa_tem
from heldout.models.inverse_annealing import Fit, Step, _Trace, annealing, inverse_annealing
from heldout.models.plsa import PLSA, starting_values
from heldout.models.plsa_tem import PLSATEM
from heldout.seeds import generator
from heldout.typing import Floats

SCHEDULE: dict[str, Any] = {"eta": 0.8, "tolerance": 1e-3, "patience": 2, "iterations": 300}
ANNEALING: dict[str, Any] = {**SCHEDULE, "eta": 0.95, "start": 0.8, "convergence": 1e-5, "noise": 0.01}
EARLY_PATIENCE = 3


def corpus(seed: int = 0, D: int = 25, V: int = 30, truth: int = 4) -> Corpus:
    random = np.random.default_rng(seed)
    phi = random.dirichlet(np.full(V, 0.1), truth)
    documents = []
    for d in range(D):
        p = random.dirichlet(np.full(truth, 0.3)) @ phi
        documents.append((f"d{d}", [f"w{w}" for w in random.choice(V, 40, p=p / p.sum())]))
    return Corpus.from_documents("drawn", documents)


def split(seed: int = 0) -> TokenSplit:
    return token_split(corpus(seed), (0.6, 0.2, 0.2), 0)


def fits(tokens: TokenSplit, K: int = 5, **changes: Any) -> tuple[Fit, Fit]:
    given = {**SCHEDULE, "early_patience": EARLY_PATIENCE, **changes}
    return inverse_annealing(tokens.training, tokens.validation, topics=K, seed=1, **given)


def validation_perplexity(tokens: TokenSplit, phi: Floats, theta: Floats) -> float:
    counts = tokens.validation.counts().toarray()
    some = counts > 0.0
    return float(np.exp(-np.sum(counts[some] * np.log((theta @ phi)[some])) / counts.sum()))


class Twin:
    """Dense tempered EM from the same start, and its best parameters."""

    def __init__(self, tokens: TokenSplit, K: int) -> None:
        self.tokens, self.counts = tokens, tokens.training.counts().toarray()
        random = generator("plsa-start", corpus="drawn", topics=K, seed=1)
        phi, theta = random.random((K, self.counts.shape[1])), random.random((len(self.counts), K))
        self.phi, self.theta = phi / phi.sum(axis=1, keepdims=True), theta / theta.sum(axis=1, keepdims=True)
        self.best, self.lowest, self.path = (self.phi, self.theta), np.inf, [(0.0, 0.0)]
        self.path.clear()
        self.objective = 0.0

    def step(self, beta: float) -> float:
        joint = (self.theta[:, None, :] * self.phi.T[None, :, :]) ** beta
        some = self.counts > 0.0
        self.objective = float(np.sum(self.counts[some] * np.log(joint.sum(axis=2)[some])))
        q = self.counts[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
        self.phi, self.theta = q.sum(axis=0).T, q.sum(axis=1)
        self.phi = self.phi / self.phi.sum(axis=1, keepdims=True)
        self.theta = self.theta / self.theta.sum(axis=1, keepdims=True)
        reached = validation_perplexity(self.tokens, self.phi, self.theta)
        self.path.append((beta, reached))
        if reached < self.lowest:
            self.best, self.lowest = (self.phi, self.theta), reached
        return reached


def assert_same(fit: Fit, twin: Twin) -> None:
    np.testing.assert_allclose([(s.beta, s.perplexity) for s in fit.path], twin.path, rtol=1e-7)
    np.testing.assert_allclose(fit.topics.phi, twin.best[0], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(fit.document_topics, twin.best[1], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("K", [3, 9])
def test_inverse_annealing_is_the_four_steps(K: int) -> None:
    tokens = split()
    early, tempered = fits(tokens, K)
    twin = Twin(tokens, K)
    worse = 0
    while worse < EARLY_PATIENCE:
        before = twin.lowest
        worse = 0 if twin.step(1.0) < before else worse + 1
    assert_same(early, twin)
    beta, without = 1.0, 0
    while without < 2:
        beta *= 0.8
        before = twin.lowest
        twin.phi, twin.theta = twin.best
        while twin.step(beta) < (1.0 - 1e-3) * min([before] + [p for b, p in twin.path[:-1] if b == beta]):
            pass
        without = 0 if twin.lowest < before else without + 1
    assert_same(tempered, twin)
    assert tempered.beta < 1.0
    assert tempered.perplexity < early.perplexity


def test_early_stopping_ends_because_it_is_worse_not_because_it_is_slow() -> None:
    tokens = token_split(corpus(), (0.8, 0.1, 0.1), 0)
    early, _ = fits(tokens, K=2, tolerance=0.05)
    perplexities = np.array([s.perplexity for s in early.path])
    best = early.iterations_to_best
    assert len(perplexities) == best + EARLY_PATIENCE
    assert np.all(perplexities[best:] >= perplexities[best - 1])
    gains = 1.0 - perplexities[1:best] / np.minimum.accumulate(perplexities)[: best - 1]
    assert np.min(np.abs(gains)) < 1e-3  # which a tolerance, of any use, would have stopped at
    again, tempered = fits(tokens, K=2, tolerance=0.0)
    assert again.path == early.path == tempered.path[: len(early.path)]


def test_early_stopping_is_plain_em_bit_for_bit() -> None:
    tokens = split()
    early, tempered = fits(tokens)
    start = generator("plsa-start", corpus="drawn", topics=5, seed=1)
    hof = PLSA(5, iterations=early.iterations_to_best, random_state=start).fit(tokens.training.counts())
    assert early.topics.phi.tobytes() == hof.components_.tobytes()
    assert early.document_topics.tobytes() == hof.document_topics_.tobytes()
    assert [s.objective for s in early.path][: hof.n_iter_] == hof.log_likelihood_[:-1].tolist()
    assert early.path == tempered.path[: len(early.path)]
    # and one tempered iteration from there is PLSATEM's
    first = tempered.path[len(early.path)]
    at = starting_values(early.topics.phi, early.document_topics)
    tem = fit_from(PLSATEM(5, beta=0.8, iterations=1), tokens.training.counts(), at)
    assert first.objective == pytest.approx(tem.log_likelihood_[0], rel=1e-12)
    assert first.perplexity == pytest.approx(
        validation_perplexity(tokens, tem.components_, tem.document_topics_), rel=1e-10
    )


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(1, 9),
    eta=st.floats(0.5, 0.95),
    tolerance=st.floats(1e-3, 0.05),
    patience=st.integers(1, 4),
)
def test_within_a_beta_the_free_energy_never_rises_and_the_best_is_kept(
    seed: int, K: int, eta: float, tolerance: float, patience: int
) -> None:
    tokens = token_split(corpus(seed, D=8, V=15), (0.6, 0.2, 0.2), 0)
    changes: dict[str, Any] = {"eta": eta, "tolerance": tolerance, "patience": patience}
    fitted = [*fits(tokens, K, **changes)]
    fitted.append(annealing(tokens.training, tokens.validation, topics=K, seed=1, **{**ANNEALING, **changes}))
    for fit in fitted:
        for _, steps in groupby(fit.path, lambda s: s.beta):
            objectives = np.array([s.objective for s in steps])
            assert np.all(np.diff(objectives) >= -1e-11 * (np.abs(objectives[:-1]) + tokens.training.n_tokens))
        lowest = min(s.perplexity for s in fit.path)
        best = fit.path[fit.iterations_to_best - 1]
        assert (best.perplexity, best.beta) == (lowest, fit.beta) == (fit.perplexity, fit.beta)
        here = validation_perplexity(tokens, fit.topics.phi, fit.document_topics)
        assert here == pytest.approx(fit.perplexity, rel=1e-9)
        np.testing.assert_allclose(fit.document_topics.sum(axis=1), 1.0, rtol=1e-12)
    assume(len(fitted[1].path) < SCHEDULE["iterations"])  # it has come to its own end
    betas = [beta for beta, _ in groupby(s.beta for s in fitted[1].path)]
    assert betas[0] == 1.0
    np.testing.assert_allclose(np.diff(np.log(betas)), np.log(eta), rtol=1e-9)
    # every beta but the last `patience` ones and the first has helped, or was followed by one that did in time
    lowest_after = [min(s.perplexity for s in fitted[1].path if s.beta >= beta) for beta in betas]
    helped = np.array(lowest_after[1:]) < np.array(lowest_after[:-1])
    assert not helped[-patience:].any()
    assert all(helped[i : i + patience].any() for i in range(len(helped) - patience))


def test_noise_keeps_topics_from_staying_one() -> None:
    """From a beta at which topics become equal, annealing without noise leaves later: its validation is still flat."""
    tokens = split()
    lost = {**ANNEALING, "start": 0.3, "convergence": 1e-9, "patience": 50, "iterations": 5000}
    quiet, noisy = (
        annealing(tokens.training, tokens.validation, topics=4, seed=1, **{**lost, "noise": noise})
        for noise in (0.0, 0.05)
    )

    def leaves(fit: Fit) -> float:
        plateau = fit.path[next(i for i, s in enumerate(fit.path) if s.beta > 0.3) - 1].perplexity
        return next((s.beta for s in fit.path if abs(s.perplexity / plateau - 1.0) > 0.02), 1.0)

    assert leaves(noisy) <= leaves(quiet)
    assert [s.beta for s in noisy.path] != [s.beta for s in quiet.path]
    trace = _Trace(tokens.training, tokens.validation, 4, 1, 10)
    before = trace.W.copy()
    trace.perturb(0.05, np.random.default_rng(0))
    shares = trace.W[:, :4][before[:, :4] > 0.0] / before[:, :4][before[:, :4] > 0.0] - 1.0
    assert shares.std() == pytest.approx(0.05, rel=4.5 / np.sqrt(2 * shares.size))  # false alarm about 1e-5
    np.testing.assert_allclose(trace.totals[:4], trace.W[:, :4].sum(axis=0))


def test_annealing_continues_each_beta_to_convergence() -> None:
    tokens = split()
    fit = annealing(tokens.training, tokens.validation, topics=4, seed=1, **{**ANNEALING, "patience": 50, "noise": 0.0})
    twin = Twin(tokens, 4)
    betas = [beta for beta, _ in groupby(s.beta for s in fit.path)]
    np.testing.assert_allclose(betas[:-1], 0.8 / 0.95 ** np.arange(len(betas) - 1), rtol=1e-12)
    assert betas[-1] == 1.0
    tokens_in_all = tokens.training.n_tokens
    for beta, steps in groupby(fit.path, lambda s: s.beta):
        stage: list[Step] = list(steps)
        objectives = []
        for _ in stage:
            twin.step(beta)
            objectives.append(twin.objective)
        np.testing.assert_allclose([s.objective for s in stage], objectives, rtol=1e-9)
        rises = np.diff(objectives) / tokens_in_all
        assert np.all(rises[:-1] >= 1e-5)
        assert rises[-1] < 1e-5
    assert_same(fit, twin)


def test_annealing_stops_when_higher_betas_are_worse() -> None:
    tokens = split()
    whole = annealing(tokens.training, tokens.validation, topics=12, seed=1, **{**ANNEALING, "patience": 50})
    fit = annealing(tokens.training, tokens.validation, topics=12, seed=1, **{**ANNEALING, "patience": 1})
    assert fit.path == whole.path[: len(fit.path)]
    ends = [list(steps)[-1].perplexity for _, steps in groupby(fit.path, lambda s: s.beta)]
    assert ends[-1] > (1.0 + 1e-3) * min(ends[:-1])
    assert all(end <= (1.0 + 1e-3) * min(ends[:i]) for i, end in enumerate(ends[:-1]) if i)
    assert len(fit.path) < len(whole.path)


def test_topics_fold_in_at_their_beta_and_iterations_are_limited() -> None:
    tokens = split()
    _, tempered = fits(tokens)
    theta = fold_with(plsa_tem, tempered.topics, tokens.test, seed=0, iterations=30, tolerance=0.0)
    expected = plsa.fold_in_counts(
        tempered.topics, tokens.test.counts(), beta=tempered.beta, iterations=30, tolerance=0.0
    )
    np.testing.assert_array_equal(theta, expected)
    early, cut = fits(tokens, iterations=3)
    assert len(cut.path) == len(early.path) == 3
    assert (
        len(annealing(tokens.training, tokens.validation, topics=2, seed=1, **{**ANNEALING, "iterations": 4}).path) == 4
    )


def test_a_topic_that_explains_nothing_any_more_gives_every_word_alike() -> None:
    tokens = split()
    trace = _Trace(tokens.training, tokens.validation, 4, 1, 5)
    trace.H[:, 1] = 0.0
    trace.H /= trace.H.sum(axis=1, keepdims=True)
    perplexities = [step.perplexity for step in trace.steps(0.9)]
    assert np.all(np.isfinite(perplexities))
    fit = trace.fit()
    np.testing.assert_allclose(fit.topics.phi[1], 1.0 / tokens.training.n_words, rtol=1e-12)
    np.testing.assert_array_equal(fit.document_topics[:, 1], 0.0)
    np.testing.assert_allclose(fit.topics.phi.sum(axis=1), 1.0, rtol=1e-12)


def test_bad_settings_are_refused() -> None:
    tokens = split()
    for changes in ({"eta": 1.0}, {"eta": 0.0}, {"tolerance": -0.1}, {"patience": 0}, {"early_patience": 0}):
        with pytest.raises(InputError, match="give eta in"):
            fits(tokens, **changes)
    for changes in ({"start": 0.0}, {"start": 1.1}, {"convergence": 0.0}, {"noise": -0.1}, {"noise": 0.5}):
        with pytest.raises(InputError, match="annealing: start"):
            annealing(tokens.training, tokens.validation, topics=2, seed=1, **{**ANNEALING, **changes})
    with pytest.raises(InputError, match="0 topics"):
        fits(tokens, 0)
    nothing = tokens.validation.with_streams([np.zeros(0, np.int32)] * 25, tokens.validation.documents)
    with pytest.raises(InputError, match="validation"):
        fits(tokens._replace(validation=nothing))
    with pytest.raises(InputError, match="validation"):
        fits(tokens._replace(validation=corpus(5)))
