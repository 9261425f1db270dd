import math

import numpy as np
import pytest

from heldout.auditing.cost import duration, exact_seconds, exact_updates
from heldout.evaluators.exact_marginal import cost


def test_the_cheaper_way_counts_and_what_needs_too_much_memory_is_refused() -> None:
    assert exact_seconds(2, [100, 30]) == pytest.approx(cost([100, 30], 2) / 1e9)
    assert exact_seconds(400, [200]) == math.inf
    distinct, repeated = np.arange(60, dtype=np.int32), np.zeros(60, np.int32)
    assert exact_updates(distinct[:5], 4) == cost([5], 4)
    assert exact_updates(repeated, 4) <= exact_updates(distinct, 4) < cost([60], 4)
    assert exact_updates(distinct, 4) / 1e9 == pytest.approx(exact_seconds(4, [60]))
    assert exact_updates(np.arange(200, dtype=np.int32), 400) == math.inf


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(7200.0, "2 h"), (90.0, "1.5 min"), (0.0123, "12 ms"), (5e-6, "5 µs"), (5.8e-4, "580 µs"), (7.2e5, "200 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
