"""Recommendations: laws between the points, safety, refusals, and that the recommended samples reach the error."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_precision import law, made, written

from heldout.auditing.error_model import MORE
from heldout.auditing.options import RecommendCommand
from heldout.auditing.precision_table import Table
from heldout.auditing.recommend import Recommendation, nats, recommend, robust
from heldout.auditing.recommend_command import run_recommend
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import ANNEALED, CHIB, ESTIMATORS, EXACT, LINEAR, PARTICLES, REFERENCE, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.logistic_normal import (
    LogisticNormalTopics,
    logistic_normal_exact,
    logistic_normal_reference,
    simulate,
)
from heldout.evaluators.prior_names import parameter
from heldout.measurements import Measurement
from heldout.papers.likelihood.experiments.precision import BIAS, ERROR, STATED, cells, experiment, runs
from heldout.seeds import generator


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return made(tmp_path_factory.mktemp("table"))


def option(best: Recommendation, name: str) -> Any:
    return next(o for o in (best, *best.alternatives) if o.estimator == name)


@pytest.mark.parametrize(("topics", "length"), [(10, 20), (100, 200), (30, 70), (50, 21)])
def test_power_laws_are_met_between_the_points(table: Table, topics: int, length: int) -> None:
    wanted = law(SEQUENTIAL, topics, length, 40)[0]
    best = option(recommend(topics, length, wanted, alpha=0.1 if topics != 10 else None, table=table), SEQUENTIAL)
    factor = 2.0 if topics == 10 else 1.0  # both priors are the same one at 10 topics, and the larger error counts
    assert best.reached
    assert best.samples == math.ceil(40 * factor**2 - 1e-6)
    assert best.standard_error == pytest.approx(wanted, rel=0.02)
    assert best.seconds == pytest.approx(law(SEQUENTIAL, topics, length, best.samples)[2] / 1000.0, rel=1e-6)
    assert best.stated_ratio == pytest.approx(1.5)
    assert best.extrapolated == (best.samples > 100)


def test_the_cheapest_that_reaches_comes_first_and_a_biased_one_says_why(table: Table) -> None:
    best = recommend(100, 200, 2.0, alpha=0.1, documents=7, cores=2, table=table)
    assert best.estimator == SEQUENTIAL
    assert [o.reached for o in best.alternatives] == sorted((o.reached for o in best.alternatives), reverse=True)
    reached = [o.seconds for o in (best, *best.alternatives) if o.reached]
    assert reached == sorted(reached)
    assert best.seconds == pytest.approx(7 * law(SEQUENTIAL, 100, 200, best.samples)[2] / 1000.0 / 2, rel=1e-6)
    linear = option(best, LINEAR)
    assert not linear.reached
    assert linear.reason == f"a bias of {linear.bias:+.2g} nats, more than is wanted"
    large = recommend(100, 200, 100.0, alpha=0.1, table=table)  # what does not hold on real documents is not the first
    assert [o.estimator for o in (large, *large.alternatives)] == [SEQUENTIAL, LINEAR, CHIB]
    assert large.seconds > option(large, LINEAR).seconds
    assert [robust(name) for name in (EXACT, SEQUENTIAL, PARTICLES, CHIB, LINEAR)] == [True, True, False, False, False]
    assert LINEAR not in {o.estimator for o in recommend(100, 200, 100.0, consistent=True, table=table).alternatives}


def test_an_error_is_followed_a_hundredfold_and_no_faster_than_it_fell(table: Table) -> None:
    last = law(CHIB, 100, 200, 100)[0]
    within = option(recommend(100, 200, last * MORE**-0.25 * 1.001, alpha=0.1, table=table), CHIB)
    assert within.reached
    assert within.extrapolated
    assert 99 * MORE <= within.samples <= 100 * MORE
    beyond = option(recommend(100, 200, last * MORE**-0.25 * 0.999, alpha=0.1, table=table), CHIB)
    assert not beyond.reached
    assert beyond.samples == 100 * MORE
    assert f"with {beyond.samples:,} samples, the most that the measurements tell of" in beyond.reason


def test_errors_beyond_the_grid_grow_and_say_so(table: Table) -> None:
    at, beyond = (option(recommend(100, n, 3.0, alpha=0.1, table=table), SEQUENTIAL) for n in (200, 400))
    per_sample = (law(SEQUENTIAL, 100, 200, 1)[0] / 3.0) ** 2
    assert not at.extrapolated
    assert beyond.extrapolated
    assert (at.samples, beyond.samples) == (math.ceil(per_sample), math.ceil(per_sample * 2 ** (2 * 0.6)))
    more_topics = option(recommend(200, 200, 3.0, alpha=0.1, table=table), SEQUENTIAL)
    assert more_topics.samples == math.ceil(per_sample * 2 ** (2 * 0.5))  # by the power 1/2 at least


def test_what_is_not_known_is_not_promised(tmp_path: Path, table: Table) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "error").mkdir()
    unsure, noisy = made(tmp_path / "known", known=0.7), made(tmp_path / "error", error=0.5)
    wanted = law(SEQUENTIAL, 100, 200, 100)[0] * 1.001
    assert option(recommend(100, 200, wanted, alpha=0.1, table=table), SEQUENTIAL).reached
    assert option(recommend(100, 200, 0.69, alpha=0.1, table=table), SEQUENTIAL).reached
    assert not option(recommend(100, 200, 0.69, alpha=0.1, table=unsure), SEQUENTIAL).reached
    clear = option(recommend(100, 200, 2.0, alpha=0.1, table=noisy), SEQUENTIAL)
    assert clear.samples > option(recommend(100, 200, 2.0, alpha=0.1, table=table), SEQUENTIAL).samples


def test_a_bias_does_not_average_out(tmp_path: Path) -> None:
    table = made(tmp_path, known=0.3)  # so no bias is known to be below 0.3
    one = option(recommend(100, 200, 3.0, alpha=0.1, documents=10_000, table=table), SEQUENTIAL)
    mean = option(recommend(100, 200, 0.5, alpha=0.1, documents=10_000, per="corpus", table=table), SEQUENTIAL)
    assert mean.reached
    assert mean.samples < one.samples
    assert abs(mean.bias) >= 0.3
    assert not option(
        recommend(100, 200, 0.29, alpha=0.1, documents=10_000, per="corpus", table=table), SEQUENTIAL
    ).reached


def test_without_a_prior_the_largest_error_counts(table: Table) -> None:
    easy, hard, unknown, between = (
        option(recommend(100, 200, 4.0, alpha=alpha, table=table), SEQUENTIAL).samples
        for alpha in (0.1, 0.01, None, 0.07)
    )
    assert easy < hard == unknown == between
    assert recommend(100, 200, 4.0, alpha=3.0, table=table).extrapolated
    assert not recommend(100, 200, 4.0, alpha=0.07, table=table).extrapolated
    assert [parameter(prior, 50) for prior in ("alpha-0.1", "alpha-sum-1")] == [0.1, 0.02]


@given(
    topics=st.integers(1, 400),
    length=st.integers(1, 800),
    errors=st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
    per=st.sampled_from(["document", "corpus"]),
    alpha=st.one_of(st.none(), st.floats(1e-3, 10.0)),
)
@settings(max_examples=60, derandomize=True)
def test_a_smaller_error_takes_no_fewer_samples_and_no_less_time(
    table: Table, topics: int, length: int, errors: tuple[float, float], per: Any, alpha: float | None
) -> None:
    small, large = (
        recommend(topics, length, wanted, per=per, documents=5, alpha=alpha, table=table) for wanted in sorted(errors)
    )
    assert not small.reached or large.reached
    if small.reached:
        assert small.standard_error <= min(errors)
    if small.reached and robust(small.estimator):
        assert robust(large.estimator)
        assert small.seconds >= large.seconds * (1 - 1e-12)
    for name in (SEQUENTIAL, CHIB):
        for_small, for_large = option(small, name), option(large, name)
        if for_small.reached:
            assert for_large.reached
            assert for_small.samples >= for_large.samples


@given(lengths=st.lists(st.integers(0, 400), min_size=1, max_size=60).filter(any))
@settings(max_examples=25, derandomize=True)
def test_documents_of_many_lengths_lie_between_the_shortest_and_the_longest(table: Table, lengths: list[int]) -> None:
    scored = [n for n in lengths if n]
    best = recommend(60, lengths, 2.0, alpha=0.1, consistent=True, table=table)
    short, long = (recommend(60, n, 2.0, alpha=0.1, consistent=True, table=table) for n in (min(scored), max(scored)))
    for name in (SEQUENTIAL, CHIB):
        if option(long, name).reached:
            assert option(short, name).samples <= option(best, name).samples <= option(long, name).samples
            assert option(best, name).seconds <= len(scored) * option(long, name).seconds * (1 + 1e-9)


def test_exact_values_are_recommended_where_they_cost_less(table: Table) -> None:
    assert recommend(2, 100, 1e-6, table=table).estimator == EXACT
    for name in (EXACT, SEQUENTIAL):
        assert ESTIMATORS[name].behaviour == "consistent"


def test_an_error_of_every_document_is_reached_at_every_length(table: Table) -> None:
    """One long document among a hundred: a root mean square over documents would hide it."""
    mixed, long = (recommend(100, n, 1.5, alpha=0.1, table=table) for n in ([0, *[20] * 99, 200], [200]))
    for name in (SEQUENTIAL, CHIB, LINEAR):
        of_mixed, of_long = option(mixed, name), option(long, name)
        assert (of_mixed.reached, of_mixed.samples) == (of_long.reached, of_long.samples)
        assert of_mixed.standard_error == pytest.approx(of_long.standard_error)


def test_one_that_states_its_error_has_two_samples_or_more(table: Table) -> None:
    assert nats(1.0, 200.0) == pytest.approx(200.0 * math.log(1.01))
    assert recommend(100, 20, 100.0, alpha=0.1, consistent=True, table=table).samples == 2


def test_what_reaches_it_on_drawn_documents_alone_is_not_named_first(tmp_path: Path) -> None:
    rows, times = [], []
    for name, error in ((ANNEALED, 1.0), (CHIB, 0.1)):
        named: dict[str, Any] = {
            **{"corpus": "none", "model": "none", "variant": "alpha-0.1-tokens-20", "topics": 100, "smoothing": 0.0},
            **{"chain": "none", "seed": 0, "axis": "samples", "at": 10},
        }
        rows += [Measurement(quantity=q + name, value=v, **named) for q, v in ((ERROR, error), (BIAS, 0.0))]
        times.append(("alpha-0.1", 100, 20, name, 10, 1.0))
    best = recommend(100, 20, 0.5, table=written(tmp_path, rows, times))
    assert [(o.estimator, o.reached) for o in best.options] == [(ANNEALED, False), (CHIB, True)]


def test_one_that_understates_its_error_comes_last_where_the_error_counts(tmp_path: Path) -> None:
    rows, times = [], []
    for name, stated, ms in ((ANNEALED, 0.3, 1.0), (SEQUENTIAL, 0.8, 9.0)):
        named: dict[str, Any] = {
            **{"corpus": "none", "model": "none", "variant": "alpha-0.1-tokens-20", "topics": 10, "smoothing": 0.0},
            **{"chain": "none", "seed": 0, "axis": "samples", "at": 10},
        }
        for quantity, value in ((ERROR, 1.0), (BIAS, 0.0), (STATED, stated)):
            rows.append(Measurement(quantity=quantity + name, value=value, **named))
        times.append(("alpha-0.1", 10, 20, name, 10, ms))
    table = written(tmp_path, rows, times)
    assert recommend(10, 20, 1.5, table=table).estimator == ANNEALED
    assert recommend(10, 20, 1.5, consistent=True, table=table).estimator == SEQUENTIAL


def test_refusals(table: Table) -> None:
    with pytest.raises(InputError, match="401 topics are far beyond the 100 that were measured"):
        recommend(401, 20, 1.0, table=table)
    with pytest.raises(InputError, match="801 tokens in a document are far beyond the 200"):
        recommend(10, [801, *[5] * 100], 1.0, table=table)
    for wrong in ({"topics": 0}, {"length": 0}, {"documents": 0}, {"cores": 0}, {"length": [0]}):
        with pytest.raises(InputError, match="must be 1 or more"):
            recommend(**({"topics": 10, "length": 20, "standard_error": 1.0} | wrong), table=table)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="must be positive"):
            recommend(10, 20, bad, table=table)
        with pytest.raises(InputError, match="must be positive"):
            recommend(10, 20, 1.0, alpha=bad, table=table)


def test_the_verb_prints_a_table_and_json(table: Table, tmp_path: Path) -> None:
    made(tmp_path)
    files: dict[str, Any] = {"calibration": tmp_path / "measurements.csv.gz", "timings": tmp_path / "timings.csv"}

    def run(topics: int, **given: Any) -> str:
        out = io.StringIO()
        run_recommend(RecommendCommand(topics=topics, **given, **files), out)
        return out.getvalue()

    text = run(100, length=150, perplexity_error=1.0, documents=1000, alpha=0.1)
    lines = text.splitlines()
    said = "1,000 documents of 150 tokens at 100 topics; wanted is an error of at most 1.49 nats of each document (1 %"
    assert " ".join(text.split()).startswith(said)
    assert max(map(len, lines)) <= 80
    assert any("left-to-right sequential" in line for line in lines)
    assert any("not enough, or too biased:" in line for line in lines)
    text = run(100, length=150, standard_error=50.0, alpha=0.1)
    assert "on documents like the drawn:" in text
    assert "not enough" not in text
    text = run(100, length=150, perplexity_error=1.0, alpha=0.1, json=True)
    read = json.loads(text)
    best = recommend(100, 150, nats(1.0, 150), alpha=0.1, table=table)
    assert (read["estimator"], read["samples"], read["wanted"]) == (best.estimator, best.samples, best.wanted)
    assert len(read["alternatives"]) == len(best.alternatives)
    words = ("a", "b")
    streams = np.array([0, 1] * 75, np.int32)
    Corpus("two", words, streams, np.array([0, 100, 150]), ("d", "e")).save(tmp_path / "corpus.npz")
    text = run(100, corpus=tmp_path / "corpus.npz", standard_error=2.0)
    assert text.startswith("2 documents of 75 tokens")
    with pytest.raises(InputError, match="--length or a corpus"):
        run(10)
    with pytest.raises(InputError, match="--standard-error or --perplexity-error"):
        run(10, length=5, standard_error=1.0, perplexity_error=1.0)
    with pytest.raises(InputError, match="--perplexity-error a positive number"):
        run(10, length=5, perplexity_error=math.nan)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Measure a small grid for real; times are the terms that a run takes."""
    grid: dict[str, Any] = {"lengths": (8, 32), "documents": (60, 60), "alphas": (0.1,), "alpha_sums": (1.0,)}
    samples, work = (1, 10, 60), 2e7
    rows = [
        row
        for K in (3, 12)
        for row in experiment(
            topics=K, seed=0, words=300, samples=samples, work=work, most_reference_samples=400, **grid
        )[1]
    ]
    times = [
        (prior, K, L, name, count, max(1, count))
        for prior in ("alpha-0.1", "alpha-sum-1")
        for K in (3, 12)
        for L in grid["lengths"]
        for name, count in runs(K, L, 60, samples, work)
    ]
    return written(tmp_path_factory.mktemp("measured"), rows, times)


@pytest.mark.parametrize("wanted", [0.5, 0.2])
def test_the_recommended_samples_reach_the_error_on_fresh_documents(measured: Table, wanted: float) -> None:
    K, L, number = 5, 18, 600
    best = recommend(K, L, wanted, alpha=0.1, table=measured)
    chosen = [o for o in (best, *best.alternatives) if o.reached and o.samples]
    assert len(chosen) >= 3
    (cell,) = cells(
        seed=7, topics=K, lengths=(L,), documents=(number,), alphas=(0.1,), alpha_sums=(), words=300, gamma=0.1
    )
    exact = exact_marginal(cell.topics, cell.documents).log_likelihood
    for one in chosen:
        rng = generator("test-recommend", estimator=one.estimator, wanted=wanted)
        value = estimate(one.estimator, cell.topics, cell.documents, one.samples, rng).log_likelihood
        squares = (value - exact) ** 2
        of_mean = squares.std(ddof=1) / math.sqrt(number)
        # one of these fails by chance, if the error were 1.25 times the wanted one, once in 1e5: 4.42 standard errors
        assert squares.mean() - 4.42 * of_mean < (1.25 * wanted) ** 2, one


def test_under_a_logistic_normal_prior() -> None:
    """Quadrature at few topics, annealing beyond, and never less work for a smaller error."""
    assert recommend(2, 100, 0.05, prior="logistic-normal").estimator == EXACT
    few = recommend(3, 100, 0.05, prior="logistic-normal")
    assert [o.estimator for o in few.options] == [EXACT, REFERENCE]
    found = [recommend(20, 100, wanted, prior="logistic-normal") for wanted in (2.0, 1.0, 0.5)]
    assert [one.estimator for one in found] == [REFERENCE] * 3
    assert [one.samples for one in found] == sorted(one.samples for one in found)
    assert all(one.standard_error <= one.wanted for one in found if one.reached)
    assert found[0].reached
    for bad, said in ((({"alpha": 0.1}), "alpha is of a Dirichlet prior"), ({"topics": 1000}, "far beyond the 100")):
        with pytest.raises(InputError, match=said):
            recommend(**{"topics": 20, "length": 100, "standard_error": 1.0, "prior": "logistic-normal", **bad})  # type: ignore[arg-type]
    out = io.StringIO()
    run_recommend(RecommendCommand(topics=20, length=100, prior="logistic-normal"), out)
    said = " ".join(out.getvalue().split())
    assert "at 20 topics under a logistic-normal prior" in said
    assert "annealing " in said
    assert max(map(len, out.getvalue().splitlines())) <= 80
    with pytest.raises(InputError, match="are of Dirichlet priors; leave them out"):
        RecommendCommand(topics=20, length=100, prior="logistic-normal", timings=Path("t.csv"))


def test_what_is_recommended_under_a_logistic_normal_prior_reaches_the_error() -> None:
    """On documents of other topics and another spread than the measured ones; the mean square within 4.42 errors."""
    rng = generator("recommend-logistic-normal")
    V, D, length = 500, 60, 80
    phi = rng.dirichlet(np.full(V, 0.1), size=3)
    words = tuple(map(str, range(V)))
    topics = LogisticNormalTopics(phi / phi.sum(axis=1, keepdims=True), np.zeros(2), 4.0 * np.eye(2), words)
    documents, _ = simulate(topics, np.full(D, length), rng)
    promised = option(recommend(3, length, 1.0, prior="logistic-normal"), REFERENCE)
    found = logistic_normal_reference(topics, documents, promised.samples, rng)
    squares = (found.log_likelihood - logistic_normal_exact(topics, documents).log_likelihood) ** 2
    assert squares.mean() - 4.42 * squares.std(ddof=1) / math.sqrt(D) < promised.standard_error**2
