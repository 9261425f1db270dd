import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from made_models import K, V, drawn, folded_in, likelihood, topics_of

from heldout.auditing.audit.audit import audit
from heldout.errors import InputError


@pytest.fixture(scope="module")
def fitted() -> Any:
    """A scikit-learn model of three topics."""
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(K, doc_topic_prior=0.4, random_state=0, max_iter=5).fit(drawn(40, seed=1))


def test_against_the_definitions_on_a_fitted_model(fitted: Any) -> None:
    X = drawn(12)
    phi = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    alpha = np.full(K, 0.4)
    result = audit(fitted, X)
    assert result.exact
    assert result.line("likelihood").estimator == "exact-marginal"
    assert (result.library, result.model, result.topics, result.words) == (
        "scikit-learn",
        "LatentDirichletAllocation",
        K,
        V,
    )
    for d in range(12):
        tokens = np.repeat(np.arange(V), X.toarray()[d]).tolist()
        assert result.lengths[d] == len(tokens)
        if not tokens:
            assert all(result.nats[name][d] == 0.0 for name in result.nats)
            continue
        assert result.nats["likelihood"][d] == pytest.approx(likelihood(phi, alpha, tokens), abs=1e-9)
        assert result.nats["mean-field-bound"][d] <= result.nats["likelihood"][d] + 1e-9
        full = np.log(folded_in(phi, tokens) @ phi[:, tokens]).sum()
        assert full - 1e-4 * len(tokens) <= result.nats["full-folding-in"][d] <= full + 1e-9
        halves = set(itertools.combinations(sorted(tokens), len(tokens) // 2))
        possible = []
        for half in halves:
            scored = list(tokens)
            for word in half:
                scored.remove(word)
            possible.append(np.log(folded_in(phi, list(half)) @ phi[:, scored]).sum())
        assert np.min(np.abs(np.array(possible) - result.nats["half-folding-in"][d])) < 0.05
    has_tokens = result.lengths > 0
    assert (result.documents, result.empty) == (int(has_tokens.sum()), int((~has_tokens).sum()))
    for line in result.lines:
        assert line.log_likelihood == pytest.approx(result.nats[line.evaluator][has_tokens].sum())
        expected = result.lengths - result.lengths // 2 if line.evaluator == "half-folding-in" else result.lengths
        assert line.tokens == expected.sum()


def test_the_librarys_own_number_is_of_the_same_documents(fitted: Any) -> None:
    X = drawn(20)
    result = audit(fitted, X)
    assert result.reported.value == pytest.approx(fitted.perplexity(X), rel=1e-9)
    assert result.reported.about == "these documents"
    assert math.isnan(audit(fitted, X, reported=False).reported.value)


def test_an_estimate_agrees_with_the_exact_value_within_its_error() -> None:
    model, X = topics_of(), drawn(60, length=20)
    exact = audit(model, X).line("likelihood")
    result = audit(model, X, estimator="left-to-right-sequential", samples=300)
    line = result.line("likelihood")
    assert not result.exact
    assert (line.samples, line.estimator) == (300, "left-to-right-sequential")
    assert 0.0 < line.standard_error < 1.0
    # batch means may be short by a third; 4.42 standard deviations have the probability 1e-5
    assert abs(line.log_likelihood - exact.log_likelihood) < 4.42 * 1.5 * line.standard_error


@pytest.mark.parametrize("topics", [1, 2, 30])
@pytest.mark.parametrize("estimator", ["auto", "left-to-right-sequential"])
def test_few_topics_short_documents_and_one_document(topics: int, estimator: str) -> None:
    model = topics_of(topics)
    X = sp.csr_array(np.eye(V, dtype=np.int64)[:1] * 2)
    result = audit(model, X, estimator=estimator)
    expected = likelihood(model.phi, model.alpha, [0, 0])
    line = result.line("likelihood")
    # of two tokens the second is averaged over 20 draws of the first topic
    assert line.log_likelihood == pytest.approx(expected, abs=1e-9 if result.exact else 0.5)
    assert result.line("half-folding-in").tokens == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "gibbs"}, "there is no estimator gibbs; there are auto, exact-marginal"),
        ({"estimator": "document-completion"}, "estimates another quantity than the documents' likelihood"),
        ({"estimator": "chib", "samples": 0}, "0 samples; draw 1 or more"),
        ({"samples": 5}, "5 samples; draw 240"),
        ({"standard_error": 0.0}, r"a standard error of 0\.0 nats; it must be above 0"),
        ({"standard_error": 1e-300}, r"a standard error of 1e-300 nats; .* 1e-06 or more"),
        ({"estimator": "chib", "samples": 10**12}, "1000000000000 samples; draw 1 or more, 10000000 at most"),
        ({"smoothing": math.nan}, "a smoothing constant of nan"),
        ({"standard_error": 1.0, "estimator": "chib"}, "leave chib out, or the error"),
        ({"n_jobs": 0}, "0 processes .*; take 1 or more"),
        ({"limit": math.nan}, "a limit of nan updates"),
        ({"estimator": "linear-time", "samples": 5}, "linear-time: draws no samples; leave their number out"),
        ({"estimator": "exact-marginal", "limit": 10.0}, r"at 3 topics takes more than 1\.0e\+01 updates"),
        (
            {"documents": [["of", "the"], ["of"]]},
            "none of the 3 tokens is a word of the model; take the",
        ),
        ({"documents": []}, "documents: no document in it"),
        ({"documents": sp.csr_array((4, 9), dtype=int)}, "matrix: 9 words"),
        (
            {"documents": sp.csr_array((4, 8), dtype=int)},
            "matrix: 4 documents, all empty; give documents that have words",
        ),
        ({"model": (np.full((1, 2), 0.4), 1.0)}, "sums to 0.8"),
        ({"model": (np.full((1, 2), 0.5), 0.0)}, "alpha of topic 0 is 0"),
        ({"model": "nothing.npz"}, "nothing.npz: no such file"),
        ({"documents": "nothing.mm"}, "nothing.mm: no such file"),
    ],
)
def test_bad_input_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        audit(given.pop("model", topics_of()), given.pop("documents", drawn(5)), **given)
    assert "\n" not in str(caught.value)


def test_impossible_documents_are_counted_and_smoothing_scores_all() -> None:
    phi = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    documents = [["a", "b", "b"], ["c", "d"], ["b", "c"]]
    words = ["a", "b", "c", "d"]
    result = audit((phi, 1.0), documents, vocabulary=words)
    others = audit((phi, 1.0), [documents[0], documents[2]], vocabulary=words).line("likelihood")
    said = " ".join(str(result).split())
    assert "1 of 3 documents has probability 0: a word in it is in no topic." in said
    assert f"the others have perplexity {others.perplexity:.1f}, by full folding-in" in said
    assert "--smoothing 1e-6" in said
    smoothed = audit((phi, 1.0), documents, vocabulary=words, smoothing=0.01)
    own = audit((((phi + 0.01) / 1.04), 1.0), documents, vocabulary=words)
    assert smoothed.line("likelihood").log_likelihood == pytest.approx(own.line("likelihood").log_likelihood, rel=1e-12)
    assert "0.01 added to every p(w | z)" in " ".join(str(smoothed).split())
