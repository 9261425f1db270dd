"""The exhibits on packages, from made-up numbers whose parts are known."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_peers import peers_inputs
from small_study import with_effects
from tables_of import measurements_table, plain_rows, scored

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import packages, questions
from artifact.papers.likelihood.experiments.packages import KINDS, REPORTED
from artifact.papers.likelihood.macros import macros
from artifact.results.measurements import Measurement
from artifact.typesetting import latex, style
from heldout.evaluators import REFERENCE

TOPICS, SIZES = (5, 20, 100), (25, 100, 300)
UNSEEN, BOUND = -0.5, -0.1  # parts, nats per token


def likelihood(topics: int) -> float:
    """Return nats per token, best at 20 topics."""
    return -6.0 - 0.02 * abs(math.log(topics / 20.0))


def cost(topics: int, size: int) -> float:
    return -0.03 * topics * 300 / size


def made() -> Inputs:
    """Return the numbers of every package on one corpus: K and few documents are charged, and unseen words."""
    rows: list[Measurement] = []
    numbers = {REPORTED: [likelihood(k) + BOUND + cost(k, 300) for k in TOPICS], REFERENCE: [*map(likelihood, TOPICS)]}
    for package, kind in KINDS.items():
        for k, seed in ((k, seed) for k in TOPICS for seed in (0, 1)):
            for words, extra in (("known", 0.0), ("all", UNSEEN))[: 1 + kind.unseen]:
                for size in SIZES:
                    truth, nats = likelihood(k) + extra / 4, likelihood(k) + BOUND + cost(k, size) + extra
                    values = {"reported": nats, "likelihood": truth, "likelihood-spread": 0.01, "mended": nats / 2}
                    if size == SIZES[-1]:
                        values |= {"part-bound": BOUND} if kind.cause else {}
                        values |= {f"part-{kind.rest}": 0.0 if kind.cause else BOUND}
                        values |= {"part-topics": cost(k, size), "mean-field": truth + BOUND}
                        values |= {"part-unseen": extra} if extra else {}
                    place = ("cranfield", package, "packages", k, 0.0, "none", seed)
                    rows += [Measurement(*place, f"{words}-{name}", "documents", size, v) for name, v in values.items()]
    scores = [scored(name, {(e, "packages"): v for e, v in numbers.items()}, TOPICS, error=0.001) for name in KINDS]
    given = replace(peers_inputs(), scores=pd.concat(scores, ignore_index=True), notes=None)
    return with_effects(replace(given, measurements=measurements_table(rows)))


def test_a_packages_number_is_drawn_beside_the_likelihood_and_the_topics_that_it_chooses() -> None:
    left, right = packages.one_model(made()).axes
    assert {label.get_text() for label in left.get_yticklabels()} == {*map(packages.printed_name, KINDS)}
    for axis, place in ((left, BOUND + cost(100, 300)), (right, TOPICS[0])):
        marks = {str(line.get_label()): line for line in axis.get_lines() if line.get_label() in KINDS}
        assert {name: float(np.asarray(mark.get_xdata())[0]) for name, mark in marks.items()} == pytest.approx(
            dict.fromkeys(KINDS, place), rel=1e-9
        )
        assert {mark.get_color() for mark in marks.values()} == {style.CHARGING}
    tails = [np.asarray(line.get_xdata()) for line in left.get_lines() if line.get_linewidth() == 0.8]
    assert [*tails[0]] == pytest.approx([BOUND + cost(100, 300), BOUND + cost(100, 25)])
    assert [*np.asarray(right.get_lines()[0].get_xdata())] == [20]  # the likelihood's best


def test_a_packages_number_and_its_choice_are_held_to_its_models_likelihood() -> None:
    """It chooses 5 topics: the likelihood has 0.02 log 4 less there than at 20, which it chooses itself."""
    known = made().effects
    numbers, costs = ({e.part: e.estimate for e in known[name]} for name in ("package-number", "choice-package"))
    assert numbers == pytest.approx({f"{name}, K = {k}": BOUND + cost(k, 300) for name in KINDS for k in TOPICS})
    assert costs == pytest.approx({name: 0.02 * math.log(4.0) for name, kind in KINDS.items() if not kind.neural})


def test_the_tables_have_choices_parts_that_add_up_and_mends() -> None:
    given = made()
    for row, table in {
        "gensim & 5 & 20 & 0.0277 [0.0250, 0.0305] & 1.28 & 2.01 & 22.2": packages.choice,
        "etm & 5 & 20 & -- & 1.28 & 2.01 & 22.2": packages.choice,
        "gensim & 100 & -6.03 & -0.10 & -- & 0.00 & -- & -- & -3.00 & -0.50 & -9.63": packages.parts,
        "tomotopy & 100 & -6.03 & -- & -- & -- & -0.10 & -- & -3.00 & -- & -9.13": packages.parts,  # of words seen
        # e to 7.2, to a half of it, to 6.6 and 6.1; with topics fixed e to 6.225, of which the likelihood is 6.125
        "20 & 1,339 & 36.6 & 735 & 446 & 505 & 457": packages.mend,
    }.items():
        assert row in plain_rows(table(given))
    names = ("Shown", "Fewest", "Most", "Grid", "ChooseFewest", "ChooseMost")
    printed = [macros(given)[f"Packages{name}"] for name in names]
    assert printed == [
        "100",
        "5",
        "100",
        "3",
        latex.listed([packages.printed_name(package) for package in KINDS]),
        NOT_RUN,
    ]


def test_a_package_with_one_number_of_topics_on_a_corpus_chooses_nothing_there() -> None:
    given = made()
    table = given.measurements
    assert table is not None
    other = table[(table["model"] == "etm") & (table["topics"] == 20)].assign(corpus="newsgroups")
    more = replace(given, measurements=pd.concat([table, other], ignore_index=True))
    assert packages.choices(more) == packages.choices(given)
    assert packages.choice(more) == packages.choice(given)
    assert [axis.get_ylim() for axis in packages.one_model(more).axes] == [
        axis.get_ylim() for axis in packages.one_model(given).axes
    ]
    assert len(packages.parts(more).splitlines()) == len(packages.parts(given).splitlines()) + 1


def test_questions_are_answered_with_the_studys_numbers() -> None:
    page = questions.page(made())
    text = " ".join(page.split())
    assert not re.findall(r"nan|\{|\}", text)
    assert f"{math.exp(-(likelihood(100) + BOUND + cost(100, 25) + UNSEEN)):.1e} on 25 documents" in text
    assert f"cost is {-cost(100, 300):.2f}, and words unseen in training are {-UNSEEN:.2f}." in text
    assert "It chooses 5 topics, the likelihood 20." in text
    assert page.count("\n## ") == 6
    assert page.count("](") == len(re.findall(r"\]\(https://\S+\)", page))  # no link is broken at a line's end
    for unmeasured in (peers_inputs(), replace(peers_inputs(), measurements=None)):
        assert questions.page(unmeasured) == ""
