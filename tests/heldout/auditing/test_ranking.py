"""Rankings: paired differences against slow twins, ties, and what the libraries would have chosen."""

import io
import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from made_models import V, drawn, topics_of
from rich.console import Console

import heldout
from heldout.auditing.blocks import Work
from heldout.auditing.formats import difference
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import LEVEL, RankedModel, in_order
from heldout.auditing.rank.wording import headline, reasons
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE
from heldout.libraries import THESE, TRAINING, Reported
from heldout.seeds import generator

D = 40
LENGTHS = generator("test-ranking-lengths").integers(5, 50, size=D)
BASE = -3.0 * LENGTHS + generator("test-ranking-base").normal(0.0, 10.0, size=D)


def model(name: str, ahead: float, noise: float = 0.3, topics: int = 5, **given: Any) -> RankedModel:
    """A model `ahead` nats per token above the base, give or take."""
    nats = BASE + ahead * LENGTHS + generator("test-ranking", model=name).normal(0.0, noise, size=D)
    default: dict[str, Any] = {"errors": np.zeros(D), "biases": np.zeros(D), "reported": Reported("")}
    return RankedModel(name, "arrays", topics, nats, **{**default, **given})


def ranking(*models: RankedModel, estimator: str = EXACT, lengths: Any = LENGTHS) -> Ranking:
    return Ranking(in_order(list(models)), "made", lengths, 0, Work(estimator, 0, 0, "because"))


def says(number: float, about: str = THESE) -> Reported:
    return Reported("perplexity", math.exp(number), "", math.exp(number), -number, about)


def test_the_error_of_a_difference_is_that_of_pairs_and_not_of_documents() -> None:
    a, b = model("a", 0.05), model("b", 0.0)
    gap = ranking(a, b).difference(b, a)
    N = sum(LENGTHS)
    delta = sum(y - x for x, y in zip(a.nats, b.nats, strict=True)) / N
    squares = sum((y - x - delta * n) ** 2 for x, y, n in zip(a.nats, b.nats, LENGTHS, strict=True))
    assert gap.nats_per_token == pytest.approx(delta, rel=1e-12)
    assert gap.error == pytest.approx(math.sqrt(D / (D - 1) * squares) / N, rel=1e-12)
    assert gap.estimates == 0.0
    assert gap.error < 0.1 * a.nats.std() * math.sqrt(D) / N  # documents differ more than models do


def test_errors_and_biases_of_estimates_count() -> None:
    a = model("a", 0.05, errors=np.full(D, 0.3), biases=np.full(D, 0.2))
    b = model("b", 0.0, errors=np.full(D, 0.4), biases=np.full(D, -0.1))
    made = ranking(a, b, estimator=REFERENCE)
    gap, plain = made.difference(b, a), made.difference(model("b", 0.0), model("a", 0.05))
    N = LENGTHS.sum()
    assert gap.estimates == pytest.approx(math.hypot(math.hypot(0.3, 0.4, 0.2, 0.1) * math.sqrt(D), 0.3 * D) / N)
    assert gap.error == pytest.approx(math.hypot(plain.error, 0.3 * D / N))
    assert made.error(a) == pytest.approx(math.hypot(math.hypot(0.3, 0.2) * math.sqrt(D), 0.2 * D) / N)


def test_models_are_told_apart_at_a_level_over_all_pairs() -> None:
    models = [model("best", 0.05, topics=20), model("near", 0.049, topics=10), model("far", -0.2)]
    made = ranking(*reversed(models))
    assert [m.name for m in made.models] == ["best", "near", "far"]
    assert [m.name for m in made.ties] == ["best", "near"]
    for pairs, gap in ((3, made.behind[1]), (1, ranking(*models[:2]).behind[1])):
        assert gap.width / gap.error == pytest.approx(scipy.stats.t.ppf(1.0 - LEVEL / 2.0 / pairs, D - 1), rel=1e-9)


def test_equal_models_are_told_apart_as_seldom_as_is_stated() -> None:
    rounds, apart = 500, 0
    for at in range(rounds):
        rng = generator("test-ranking-level", round=at)
        nats = BASE + rng.normal(0.0, 1.0, size=(3, D))
        models = [
            RankedModel(str(m), "arrays", 3, row, np.zeros(D), np.zeros(D), Reported("")) for m, row in enumerate(nats)
        ]
        made = ranking(*models)
        apart += any(made.difference(a, b).apart for a, b in itertools.combinations(models, 2))
    # three pairs of three models are not independent, so Bonferroni is below its level; 4.42 s.d. have the chance 1e-5
    assert 0.0 < apart / rounds < LEVEL + 4.42 * math.sqrt(LEVEL * (1.0 - LEVEL) / rounds)


def test_a_model_against_itself_and_a_single_document_are_ties() -> None:
    a = model("a", 0.0)
    assert ranking(a, a).behind[1] == (0.0, 0.0, 0.0, False, 0.0)
    one = RankedModel("one", "arrays", 2, np.array([-5.0]), np.zeros(1), np.zeros(1), Reported(""))
    two = RankedModel("two", "arrays", 2, np.array([-9.0]), np.zeros(1), np.zeros(1), Reported(""))
    made = ranking(one, two, lengths=np.array([3]))
    assert made.behind[1].error == math.inf
    assert made.ties == (one, two)


def test_a_model_that_makes_documents_impossible_comes_last_and_the_others_are_compared() -> None:
    b = model("b", 0.1)
    b.nats[3] = -math.inf
    made = ranking(b, model("a", 0.0))
    assert [m.name for m in made.models] == ["a", "b"]
    assert made.behind[1].apart
    left = np.arange(D) != 3
    assert made.nats_per_token(b) == pytest.approx(b.nats[left].sum() / LENGTHS[left].sum())
    text = printed(made)
    assert "1 of 40 documents" in text
    assert "--smoothing 1e-6" in text


def printed(made: Ranking, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as capture:
        console.print(made)
    return " ".join(capture.get().split())


def test_what_the_library_would_have_chosen() -> None:
    a, b = model("a", 0.3, 1e-3, reported=says(5.0)), model("b", 0.0, 1e-3, reported=says(4.0))
    made = ranking(a, b)
    assert made.library_choice is b
    assert f"b (5 topics), {-made.behind[1].nats_per_token:.3f}" in printed(made)
    likelihood = {m.name: math.exp(-made.nats_per_token(m)) for m in made.models}
    first, second = (difference(math.exp(number), likelihood[name]) for name, number in (("a", 5.0), ("b", 4.0)))
    assert first in printed(made)
    assert second not in printed(made)  # of models with the same number of topics one is named
    right = ranking(a, model("b", 0.0, 1e-3, topics=9, reported=says(math.log(likelihood["b"]))))
    assert "9 topics" in reasons(right)[-1]
    assert second not in printed(right)
    assert ranking(model("a", 0.3, reported=says(3.0)), b).library_choice.name == "a"  # type: ignore[union-attr]
    assert ranking(a, model("b", 0.0, reported=says(4.0, TRAINING))).library_choice is None
    assert ranking(a, model("b", 0.0)).library_choice is None


def test_a_report_has_the_ties_the_smallest_of_them_and_the_remedy() -> None:
    tie = ranking(model("a", 0.007, topics=50), model("b", 0.0, topics=10), model("c", -0.5))
    assert "b (10 topics)" in headline(tie)
    assert "documents" in reasons(tie)[0]
    more = ranking(*(model(name, 0.0, topics=K) for K, name in ((50, "a"), (5, "b"), (10, "c"))))
    assert "b (5 topics)" in headline(more)
    errors: dict[str, Any] = {"errors": np.full(D, 0.3)}
    noisy = ranking(model("a", 0.0, **errors), model("b", 0.0, **errors), estimator=REFERENCE)
    assert "--samples" in reasons(noisy)[0]
    assert reasons(ranking(model("a", 0.5), model("b", 0.0))) == []
    assert "a 50" in printed(tie, 40)  # the narrowest table has the models


def test_at_most_five_reasons_and_the_remedies_among_them() -> None:
    bad = [model(f"m{at}", 0.0, topics=at + 2, reported=says(4.0), coherence=0.1) for at in range(5)]
    for one in bad[1:]:
        one.nats[3] = -math.inf
    made = ranking(*(replace(one, flat_topics=(1,), stand_in="a uniform one stands in") for one in bad))
    assert len(reasons(made)) == 5
    assert "4 models" in reasons(made)[0]
    assert "--smoothing" in reasons(made)[0]


def test_the_json_is_whole() -> None:
    made = ranking(model("a", 0.1, coherence=0.2, reported=says(4.0)), model("b", 0.0, reported=says(3.0)))
    values = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert (values["best"], values["library_choice"], values["ties"]) == ("a", "b", ["a"])
    assert values["models"][1]["behind"]["nats_per_token"] == pytest.approx(made.behind[1].nats_per_token)
    assert len(values["models"][0]["nats"]) == D


def test_a_ranking_prints_as_the_terminal_does_with_whole_names() -> None:
    models = [model(f"lda-{K}.skops", -0.01 * K, topics=K, coherence=0.1, reported=says(9.0)) for K in (5, 10, 160)]
    text = str(ranking(*models))
    assert " ".join(text.split()) == printed(ranking(*models), 80)
    assert "\nlda-160.skops  " in text


def test_models_are_ranked_alike_by_exact_values_and_by_estimates_on_any_number_of_cores() -> None:
    true, X = topics_of(), drawn(60, length=20)
    flat = true.smoothed(1.0)
    exact = heldout.rank({"flat": flat, "true": true}, X, coherence=False)
    assert exact.work.estimator == EXACT
    for m in exact.models:
        audited = heldout.audit({"flat": flat, "true": true}[m.name], X)
        assert m.nats == pytest.approx(audited.nats["likelihood"], abs=1e-9)
    plans: list[Any] = []
    estimated = heldout.rank([flat, true], X, limit=0.0, announce=plans.append, coherence=False)
    assert estimated.work.estimator == REFERENCE
    assert {m.name for m in estimated.models} == {"Topics, 3 topics (1)", "Topics, 3 topics (2)"}
    here, there = exact.behind[1], estimated.behind[1]
    # the documents are the same: only the estimates differ; 4.42 errors have the chance 1e-5
    assert abs(here.nats_per_token - there.nats_per_token) < 4.42 * max(there.estimates, 1e-4)
    assert "2 models of 3, 3 topics; 51 documents of 1,020 tokens" in str(plans[0])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([topics_of()], "1 model to rank; give two or more"),
        ([topics_of(), topics_of(V=V + 1)], "have other words|words that are not named"),
        ("model.npz", "models to rank: a str; give a list"),
        (3, "models to rank: a int"),
    ],
)
def test_models_that_do_not_compare_are_refused(models: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        heldout.rank(models, [["w0", "w1"], ["w2"]])
