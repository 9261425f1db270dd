import math

import numpy as np
import pytest
from made_models import topics_of

from heldout.auditing.formats import duration
from heldout.evaluators.exact_marginal import cost, document_cost
from heldout.evaluators.simplex_quadrature import is_safe
from heldout.topics import Topics


def test_the_cheaper_way_counts_and_what_needs_too_much_memory_is_refused() -> None:
    topics = topics_of(4, 60)
    distinct, repeated = np.arange(60, dtype=np.int32), np.zeros(60, np.int32)
    assert document_cost(topics, distinct[:5]) == cost([5], 4)
    assert document_cost(topics, repeated) <= document_cost(topics, distinct) < cost([60], 4)
    assert document_cost(topics_of(400, 60), np.arange(200, dtype=np.int32) % 60) == math.inf


def test_what_quadrature_leaves_to_the_polynomial_costs_what_that_does() -> None:
    """As `exact_marginal` decides it: words of four topics in equal parts, of which each has one."""
    alpha, document = 0.1, np.arange(600, dtype=np.int32) % 4
    topics = Topics(np.eye(4), np.full(4, alpha), ("a", "b", "c", "d"))
    for length in (200, 600):
        tokens = document[:length]
        left = not is_safe(tokens, topics.phi_by_word, topics.alpha)
        assert left == (length == 600)
        assert (document_cost(topics, tokens) == cost([length], 4)) == left
    tiny = Topics(np.eye(4), np.array([1.0, 1.0, 1.0, 1e-6]), topics.vocabulary)
    assert document_cost(tiny, document[:200]) == cost([200], 4)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(7200.0, "2 h"), (90.0, "1.5 min"), (0.0123, "12 ms"), (5e-6, "5 µs"), (5.8e-4, "580 µs"), (7.2e5, "200 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
