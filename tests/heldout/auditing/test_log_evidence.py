"""`heldout.log_evidence` against the sum over all assignments of tiny corpora."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import heldout
from heldout.errors import InputError
from heldout.evaluators.evidence import exact_evidence

DOCUMENTS = [["ape", "ape", "bear"], ["fig", "fig", "ape", "fig"], ["bear", "bear"]]
WORDS = ("ape", "bear", "fig")
COUNTS = np.array([[document.count(word) for word in WORDS] for document in DOCUMENTS])


def enumerated(K: int, alpha: float, beta: float) -> float:
    """Return log p(corpus | K), nats: of every assignment the topics' and words' probabilities, token after token."""
    tokens = [(d, w) for d, document in enumerate(DOCUMENTS) for w in document]
    log_p = []
    for assignment in itertools.product(range(K), repeat=len(tokens)):
        of_document: dict[Any, int] = {}
        of_topic: dict[Any, int] = {}
        total = 0.0
        for (d, w), k in zip(tokens, assignment, strict=True):
            counts, names = (of_document, of_topic), (((d, k), d), ((k, w), k))
            for count, (own, whole), (prior, size) in zip(counts, names, ((alpha, K), (beta, len(WORDS))), strict=True):
                total += math.log((count.get(own, 0) + prior) / (count.get(whole, 0) + size * prior))
                count[own], count[whole] = count.get(own, 0) + 1, count.get(whole, 0) + 1
        log_p.append(total)
    return float(logsumexp(log_p))


@pytest.mark.parametrize(("K", "alpha", "beta"), [(2, 0.3, 0.1), (3, 1.0, 0.5)])
def test_it_is_the_sum_over_all_assignments(K: int, alpha: float, beta: float) -> None:
    """The error is at least that of a mean of 200 chains: 4.5 of them are one in 1e5 by Student's distribution."""
    exact = enumerated(K, alpha, beta)
    evidence = heldout.log_evidence(DOCUMENTS, K, alpha=alpha, beta=beta, chains=200, temperatures=20)
    assert evidence.tokens == 9
    assert 0.0 < evidence.error < 0.5
    assert abs(evidence.log_evidence - exact) < 4.5 * evidence.error


def test_one_topic_is_exact_in_every_form_of_the_documents() -> None:
    totals = COUNTS.sum(axis=0)
    expected = gammaln(1.5) - gammaln(1.5 + 9) + (gammaln(totals + 0.5) - gammaln(0.5)).sum()
    for documents in (DOCUMENTS, COUNTS):
        evidence = heldout.log_evidence(documents, 1, alpha=1.0, beta=0.5, temperatures=4)
        assert evidence.log_evidence == pytest.approx(expected, abs=1e-10)
        assert evidence.error == pytest.approx(0.0, abs=1e-10)


def test_too_few_temperatures_show_in_the_error() -> None:
    """A hundred tokens, exact by convolution: in ten steps the estimate is some twenty nats low, and says so."""
    counts = np.array([[5, 5, 0, 0], [0, 0, 5, 5]] * 5)
    exact = exact_evidence(counts, alpha=0.1, gamma=0.1)[0]
    few = heldout.log_evidence(counts, 2, alpha=0.1, beta=0.1, temperatures=10)
    assert 5.0 < exact - few.log_evidence < 3.0 * few.error
    assert few == heldout.log_evidence(counts, 2, alpha=0.1, beta=0.1, temperatures=10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chains": 1}, "evidence: 1 samples"),
        ({"temperatures": 3}, "3 temperatures; take 4 or more"),
        ({"topics": 0}, "0 topics"),
        ({"beta": 0.0}, "gamma 0.0"),
        ({"documents": np.zeros((2, 3), int)}, "0 tokens"),
        ({"documents": ["one text"]}, "list of words"),
    ],
)
def test_bad_input_is_one_line(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "documents": DOCUMENTS,
        "topics": 2,
        "alpha": 1.0,
        "beta": 1.0,
        "temperatures": 4,
    } | changes
    with pytest.raises(InputError, match=message):
        heldout.log_evidence(**given)
