"""Which estimator computes the truth."""

import math

import pytest
from made_models import drawn, topics_of

from heldout.auditing.audit import audit
from heldout.auditing.precision_table import Run, Table
from heldout.errors import InputError


def table(error: float) -> Table:
    """Return what might have been measured: an error that falls as the root of the samples."""
    runs = tuple(Run(s, error / math.sqrt(s), 1e-6, 1.0) for s in (1, 100, 10_000))
    corners = [(k, n) for k in (2, 100) for n in (2, 100)]
    times = ((1, 0.001), (100, 0.1), (10_000, 10.0))
    name = "left-to-right-sequential"
    return Table(
        {"alpha-0.4": {corner: {name: runs} for corner in corners}},
        {"alpha-0.4": {corner: {name: times} for corner in corners}},
    )


def test_where_exact_costs_too_much_the_calibration_chooses() -> None:
    X = drawn(10)
    result = audit(topics_of(), X, limit=10.0, standard_error=0.5, table=table(5.0))
    line = result.line("truth")
    assert line.estimator == "left-to-right-sequential"
    assert 400 <= line.samples <= 440  # half of what is wanted is asked for
    assert "0.5" in result.reason
    finer = audit(topics_of(), X, limit=10.0, standard_error=0.25, table=table(5.0)).line("truth")
    assert 1600 <= finer.samples <= 1760
    assert audit(topics_of(), X, table=table(5.0)).truth_exact


def test_what_holds_on_real_documents_is_chosen_and_never_with_few_samples() -> None:
    times: tuple[tuple[int, float], ...] = ((1, 1.0), (100, 10.0))
    held: dict[str, tuple[Run, ...]] = {"left-to-right-sequential": (Run(1, 0.1, 0.01, 1.0), Run(100, 0.05, 0.01, 1.0))}
    better: dict[str, tuple[Run, ...]] = {"chib": (Run(1, 0.01, 0.001, 1.0), Run(100, 0.005, 0.001, 1.0))}
    corners = [(k, n) for k in (2, 4) for n in (2, 20)]

    def of(runs: dict[str, tuple[Run, ...]]) -> Table:
        timed = dict.fromkeys(runs, times)
        return Table({"alpha-0.4": dict.fromkeys(corners, runs)}, {"alpha-0.4": dict.fromkeys(corners, timed)})

    result = audit(topics_of(), drawn(10), limit=10.0, standard_error=0.5, table=of(better | held))
    assert (result.line("truth").estimator, result.line("truth").samples) == ("left-to-right-sequential", 10)
    wanted = 0.02  # 0.01 is asked for: 25 times the samples that come to 0.05
    line = audit(topics_of(), drawn(10), limit=10.0, standard_error=wanted, table=of(held)).line("truth")
    assert 0 <= line.samples - 100 * 25 <= 1
    with pytest.raises(InputError, match="none of annealed-importance, left-to-right-sequential was"):
        audit(topics_of(), drawn(10), limit=10.0, standard_error=0.5, table=of(better))


def test_far_beyond_the_measurements_the_estimates_own_error_stands() -> None:
    result = audit(topics_of(401), drawn(4), limit=10.0, standard_error=2.0, table=table(5.0))
    line = result.line("truth")
    assert line.estimator == "left-to-right-sequential"
    assert 0.0 < line.error_per_token < 1.0
    assert "No error was measured at 401 topics" in result.reason
    near = audit(topics_of(400), drawn(4), limit=10.0, standard_error=2.0, table=table(5.0))
    assert near.line("truth").samples == line.samples
    assert "No error was measured" not in near.reason
