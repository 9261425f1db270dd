"""The tables and the numbers of the text from made-up scores; and every exhibit where nothing was run."""

import math
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from made_measurements import is_a_probability, measured, optimism_inputs, precision, validation
from made_peers import peers_inputs, with_reported
from small_study import inputs, with_effects, without
from splits import on_two_splits
from tables_of import measurements_table, plain_rows

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import figures, same_halves, tables
from artifact.papers.likelihood.experiments.precision import DOCUMENTS, REFERENCE_ERROR, STATED, terms_of
from artifact.papers.likelihood.experiments.precision import ERROR as RMS_ERROR
from artifact.papers.likelihood.macros import macros
from artifact.papers.likelihood.results import FITTED
from artifact.results.reading import LARGEST, select
from artifact.typesetting import latex
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, LAPLACE, REFERENCE
from heldout.evaluators.exact_marginal import cost
from heldout.models import PLSA

EXACT_COST, WORK = f"{cost([50], 4) / 1e6:.1f}", f"{terms_of(REFERENCE, 100, 150, 2400) / 1e6:.1f}"


def below() -> Inputs:
    """Return two splits in which full folding-in is 0.01 K below the likelihood, half above; its error is 0.001."""
    gaps = {FULL: -0.01, HALF: 0.01}
    return with_effects(on_two_splits(optimism_inputs(gaps=lambda name, topics: gaps.get(name, 0.0) * topics)))


def exact() -> Inputs:
    rows = is_a_probability()
    return measured(replace(m, value=0.0) if (m.quantity, m.topics) == ("truth-gap", 4) else m for m in rows)


def infinite() -> Inputs:
    return peers_inputs(change=with_reported(lambda *_: -800.0))


def precise() -> Inputs:
    """Return the reference's errors: exact values of 4 topics, and a share of 0.001 sqrt(K) with 2,400 sweeps."""
    rows = [
        replace(m, quantity=REFERENCE_ERROR + EXACT) if m.topics == 4 and m.quantity.startswith(REFERENCE_ERROR) else m
        for m in precision()
    ]
    for m in [m for m in rows if m.quantity == DOCUMENTS]:
        for sweeps, share in ((240, 0.02), (2400, 0.001 * m.topics**0.5)):
            for name, value in ((RMS_ERROR, share), (STATED, share / 2)):
                rows.append(replace(m, quantity=name + REFERENCE, axis="samples", at=sweeps, value=value * m.at))
    return measured(rows)


PEERS, PROBABILITY = (tables.peers, peers_inputs), (tables.is_a_probability, exact)
PRECISION, REPAIR = (tables.recommendation, precise), (tables.repair, optimism_inputs)
ROWS: dict[str, tuple[Callable[[Inputs], str], Callable[[], Inputs]]] = {
    # exact with 3 topics, where the likelihood has -6 - 0.2 log(20 / 3) nats and full folding-in 0.1 log 3 more
    "PLSA-HOF & 3 & 528 & 584 & 577 & 609 & 590* & 533* & 528* & +0.110": (tables.optimism, optimism_inputs),
    "LDA & 100 & 1,513 & 205 & 557 & 557 & 557 & 504 & 499 & -1.000~±~0.002": (tables.optimism, below),
    "LDA & 100* & 20 & 100* & 20 & 20 & 20": (tables.best_topics, below),
    "LDA & 3 & +0.1099 & +0.0020 & -0.0100 & -0.0120 & -0.0500": REPAIR,  # the fewest, where the study has no K of ours
    f"4 & 50 & exact & -- & {EXACT_COST} & 0 & --": PRECISION,
    f"100 & 150 & annealing to the prior & 2,400 & {WORK} & 1.01 & 0.50": PRECISION,
    "100 & 150 & not measured & -- & -- & -- & --": (tables.recommendation, lambda: measured(precision())),
    "full folding-in, maximum & bold +500 & bold +500 & 10^-217 & 10^-130": PROBABILITY,
    "Laplace, softmax basis & +13 & +13 & 10^-5 & 1": PROBABILITY,
    "mean-field bound & -∞ & -∞ & 1 & 1": PROBABILITY,
    "12.5 & exact &  & ": PROBABILITY,  # within which log p(w) is known
    "10^8 & 10^3 &  & ": PROBABILITY,  # sums over all documents
    # exact with 5 topics, -7 + 0.05 log 5 nats; 0.3 and 0.02 K more are charged
    "5 & scikit-learn & perplexity & 1,509 & 1,509 & 1,012 & 1.49 & -0.10": PEERS,
    "20 & gensim & log_perplexity & -7.45 (175) & 1,720 & 854±1.7 & 2.01 & -0.40": PEERS,
    "160 & tomotopy & infer & -6.88 & ∞ & 697±1.4 & ∞ & -0.03": (tables.peers, infinite),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_table_has_the_row(row: str) -> None:
    table, given = ROWS[row]
    assert row in plain_rows(table(given()))


def test_no_likelihood_with_a_large_stated_error_is_shown() -> None:
    whole = optimism_inputs()
    scores = whole.scores.copy()
    (loose,) = select(scores, corpus="cranfield", model=PLSA, variant=FITTED, evaluator=REFERENCE, topics=100).index
    scores.loc[loose, "standard_error"] = 1.01 * LARGEST * scores.loc[loose, "tokens"]
    loose_table, table = (tables.optimism(given) for given in (replace(whole, scores=scores), whole))
    assert loose_table.count(latex.NOT_SHOWN) - table.count(latex.NOT_SHOWN) == 1


NOT_RUN: dict[str, tuple[Callable[[Inputs], object], ...]] = {
    "measure the optimism": (tables.optimism, tables.repair, tables.best_topics, tables.regrets, figures.repair),
    "no precision was measured": (tables.recommendation, figures.precision),
    "no score was held": (tables.is_a_probability, figures.is_a_probability),
    "measure its validation": (tables.validated,),
    "the prior's share was not measured": (tables.prior_share, figures.prior_share),
    "20 newsgroups were not measured": (tables.newsgroups,),
    "no chains were run": (tables.longer_chains,),
    "no halves were scored": (same_halves.table,),
    "no bounds on simulated documents": (figures.bidirectional,),
    "no marginal likelihood of components": (figures.epca_marginal,),
}


@pytest.mark.parametrize("message", NOT_RUN)
def test_an_exhibit_of_what_was_not_run_says_so(message: str) -> None:
    bare = replace(measured([]), scores=inputs().scores.iloc[:0], effects={})
    for exhibit in NOT_RUN[message]:
        for given in (bare, replace(bare, measurements=None)):
            with pytest.raises(InputError, match=message):
                exhibit(given)


def test_the_front_page_has_factors_with_intervals_and_a_dagger_where_no_other_estimate_validates_them() -> None:
    given = on_two_splits(optimism_inputs())
    page = tables.front_page(with_effects(given))
    factors = "x 1.5849 [1.5818, 1.5880]† | x 1.4341 [1.4313, 1.4369]† | at least 24% | x 1.3493 [1.3466, 1.3519]† (20)"
    assert f"| cranfield | 100 | 351 | 557 | {factors} |" in page
    known = measurements_table(validation())  # of PLSA under the flat prior, but not under a fitted one
    page = tables.front_page(with_effects(replace(given, measurements=known)))
    assert [cell.count("†") for cell in page.splitlines()[2].split("|")[5:9]] == [0, 1, 0, 0]


def test_the_message_is_that_of_the_first_corpus_at_the_most_topics() -> None:
    """Full folding-in is 0.1 log K above the likelihood, which a fitted prior has 0.1 higher; the error is 0.001."""
    given = optimism_inputs()
    names = ("Corpus", "Topics", "TruthPrefers", "Factor", "FactorBest", "FactorFitted")
    assert [macros(given)[f"Message{name}"] for name in names] == ["Cranfield", "100", "20", "1.6", "1.3", "1.4"]
    numbers = macros(with_effects(on_two_splits(given)))
    ends = [f"{100**0.1 * math.exp(1.96 * error):.4f}" for error in (0.0, -0.001, 0.001)]
    assert numbers["MessageFactor"] == "{} [{}, {}]".format(*ends)
    assert numbers["MessageFactorPlain"] == ends[0]


def test_the_test_of_a_probability_gives_its_extremes() -> None:
    assert macros(measured(is_a_probability({("truth", LAPLACE): 31.6})))["ProbabilityLaplaceMost"] == "32"


def test_the_numbers_of_the_text_have_the_same_names_for_every_study() -> None:
    names = macros(peers_inputs()).keys()
    bare = replace(peers_inputs(), measurements=None, notes=None)
    for given in (inputs(without("peers", "optimism")), peers_inputs(("gensim",)), bare):
        numbers = macros(given)
        assert numbers.keys() == names
        for name, value in numbers.items():
            assert re.fullmatch(r"\\newcommand\{\\[A-Za-z]+\}(\[1\])?\{.*\}", latex.macro(name, value))
