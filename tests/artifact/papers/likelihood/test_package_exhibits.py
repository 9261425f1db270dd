"""The exhibits on packages, from made-up numbers whose parts are known."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from artifact.papers.likelihood.claims import many_perplexities, mend_suffices, neural_bound_below, package_errs
from artifact.verdicts.verdicts import CONTRADICTED, SUPPORTED, Judgement
from made_peers import peers_inputs
from tables_of import measurements_table, scores_table

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import packages, questions, results
from artifact.papers.likelihood.experiments.packages import KINDS
from artifact.papers.likelihood.macros import macros
from artifact.papers.likelihood.tables import large, regret_cell
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.typesetting import latex
from heldout.evaluators import FULL

TOPICS, SIZES, SEEDS, TOKENS = (5, 20, 100), (25, 100, 300), (0, 1), 1000
UNSEEN, BOUND = -0.5, -0.1  # parts, nats per token


def likelihood(topics: int) -> float:
    """Return nats per token, best at 20 topics."""
    return -6.0 - 0.02 * abs(math.log(topics / 20.0))


def cost(topics: int, size: int) -> float:
    return -0.03 * topics * 300 / size


def made() -> Inputs:
    """Return the numbers of every package on one corpus: K and few documents are charged, and unseen words."""
    rows: list[Measurement] = []
    scores: list[Score] = []
    for package, kind in KINDS.items():
        for k in TOPICS:
            for seed in SEEDS:
                own = ("cranfield", package, "packages", k, 0.0, "none", seed)
                for words in ("known", "all") if kind.unseen else ("known",):
                    extra = UNSEEN if words == "all" else 0.0
                    for size in SIZES:
                        truth, nats = likelihood(k) + extra / 4, likelihood(k) + BOUND + cost(k, size) + extra
                        values = {"reported": nats, "likelihood": truth, "likelihood-spread": 0.01, "mended": nats / 2}
                        if size == SIZES[-1]:
                            first = {"part-bound": BOUND} if kind.cause else {}
                            values |= {**first, f"part-{kind.rest}": 0.0 if kind.cause else BOUND}
                            values |= {"part-topics": cost(k, size), "mean-field": truth + BOUND}
                            values |= {"part-unseen": extra} if extra else {}
                        for name, value in values.items():
                            rows.append(Measurement(*own, f"{words}-{name}", "documents", size, value))
                for name, value in (("reported", likelihood(k) + BOUND + cost(k, 300)), ("reference", likelihood(k))):
                    start = (*own[:6], name, 0, seed, 300, TOKENS, 0, 3)
                    scores.append(Score(*start, value * TOKENS, math.exp(-value), 0.001 * TOKENS))
    return replace(peers_inputs(), scores=scores_table(scores), measurements=measurements_table(rows), notes=None)


def cells(text: str) -> list[list[str]]:
    return [row.rstrip("\\").split(" & ") for row in text.splitlines() if row.startswith("Cranfield")]


def test_one_model_has_as_many_perplexities_as_sets_of_documents() -> None:
    (axis,) = packages.one_model(made()).axes
    marks = [line for line in axis.get_lines() if line.get_label() in KINDS]
    assert len(marks) == len(KINDS) * len(SIZES)
    for package in KINDS:
        own = [line for line in marks if line.get_label() == package]
        gaps = [float(np.asarray(line.get_xdata())[0]) for line in own]
        assert gaps == pytest.approx([-BOUND - cost(100, size) for size in SIZES], rel=1e-9)
        assert [line.get_markersize() for line in own] == list(packages.MARKS)


def test_the_number_chooses_fewer_topics_than_the_likelihood_cannot_tell_from_its_best() -> None:
    rows = cells(packages.choice(made()))
    assert [row[1] for row in rows] == list(KINDS)
    assert {row[2] for row in rows} == {"5"}
    assert {row[3] for row in rows} == {"20"}
    ratio = math.exp(likelihood(20) - (likelihood(20) + BOUND + cost(20, 300)))
    assert rows[0][6] == large(ratio)


def test_the_text_says_which_numbers_of_topics_were_run() -> None:
    numbers = macros(made())
    assert [numbers[f"Packages{name}"] for name in ("Shown", "Fewest", "Most", "Grid")] == ["100", "5", "100", "3"]


def test_the_cost_of_its_choice_stands_beside_it() -> None:
    effect = package_errs(made(), ["cranfield"], upwards=False)[0]
    judged = {"choice-by-package": Judgement("choice-by-package", (effect,))}
    costs = [row[4] for row in cells(packages.choice(replace(made(), judgements=judged)))]
    assert costs == [regret_cell(effect), *[latex.DASH] * (len(KINDS) - 1)]


def test_a_package_errs_to_the_side_on_which_its_numbers_lie() -> None:
    low = package_errs(made(), ["cranfield"], upwards=False)
    assert {(effect.part, effect.verdict) for effect in low} == {
        (name, SUPPORTED) for name, kind in KINDS.items() if kind.near != FULL and not kind.neural
    }
    expected = -BOUND - math.fsum(cost(k, 300) for k in TOPICS) / 3
    assert [effect.estimate for effect in low] == pytest.approx([expected] * len(low), rel=1e-9)
    high = package_errs(made(), ["cranfield"], upwards=True)
    assert [effect.part for effect in high] == [name for name, kind in KINDS.items() if kind.near == FULL]
    assert {effect.verdict for effect in high} == {CONTRADICTED}


def test_a_networks_bound_lies_below_at_each_number_of_topics() -> None:
    found = neural_bound_below(made(), ["cranfield"])
    assert {effect.part: effect.verdict for effect in found} == {f"etm, K = {k}": SUPPORTED for k in TOPICS}
    assert [effect.estimate for effect in found] == pytest.approx([-BOUND - cost(k, 300) for k in TOPICS], rel=1e-9)


def test_a_cost_that_is_shared_by_few_documents_makes_many_perplexities() -> None:
    found = many_perplexities(made(), ["cranfield"])
    assert [effect.part for effect in found] == ["scikit-learn", "gensim", "spark"]
    expected = math.fsum(cost(k, 300) - cost(k, 25) for k in TOPICS) / 3
    assert [effect.estimate for effect in found] == pytest.approx([expected] * 3, rel=1e-9)
    assert {effect.verdict for effect in found} == {SUPPORTED}


def test_a_mend_that_leaves_a_distance_does_not_suffice() -> None:
    (effect,) = mend_suffices(made(), ["cranfield"])
    nats = [(likelihood(k) + BOUND + cost(k, 300) + UNSEEN) / 2 - likelihood(k) - UNSEEN / 4 for k in TOPICS]
    assert effect.estimate == pytest.approx(math.fsum(nats) / 3, rel=1e-9)
    assert effect.verdict == CONTRADICTED


def test_the_parts_in_print_add_up() -> None:
    for row in cells(packages.parts(made())):
        numbers = [float(re.sub(r"\\ensuremath\{(.*?)\}", r"\1", cell)) for cell in row[3:] if cell != latex.DASH]
        assert math.fsum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.03)
        assert row[2] == "100"


def test_what_is_mended_is_beside_what_would_suffice() -> None:
    rows = cells(packages.mend(made()))
    assert [row[1] for row in rows] == [str(k) for k in TOPICS]
    nats = likelihood(20) + BOUND + cost(20, 300) + UNSEEN
    expected = [nats, nats / 2, nats - cost(20, 300), likelihood(20) + BOUND]
    assert rows[1][2:6] == [large(math.exp(-value)) for value in expected]
    fixed, truth = likelihood(20) + UNSEEN / 4 + BOUND, likelihood(20) + UNSEEN / 4
    assert rows[1][6:] == [large(math.exp(-value)) for value in (fixed, truth)]


def test_words_unseen_in_training_count_where_a_package_keeps_them() -> None:
    table = results.as_given(results.package_numbers(made()))
    assert {(row.model, row.words) for row in table.itertuples()} == {
        (name, "all" if kind.unseen else "known") for name, kind in KINDS.items()
    }


def test_questions_are_answered_with_the_studys_numbers() -> None:
    text = questions.page(made())
    assert not re.findall(r"nan|\{|\}", text)
    nats = likelihood(100) + BOUND + cost(100, 25) + UNSEEN
    assert f"{math.exp(-nats):.1e} on 25 documents" in " ".join(text.split())
    assert f"cost is {-cost(100, 300):.2f}, and words unseen in training are {-UNSEEN:.2f}." in " ".join(text.split())
    assert "It chooses 5 topics, the likelihood 20." in text
    assert text.count("\n## ") == 6
    assert text.count("](") == len(re.findall(r"\]\(https://\S+\)", text))  # no link is broken at a line's end
    assert questions.page(peers_inputs()) == ""
    assert questions.page(replace(peers_inputs(), measurements=None)) == ""
