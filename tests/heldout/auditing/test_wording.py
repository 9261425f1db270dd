import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_audit import made_audit, with_likelihood, with_reported

from heldout.auditing import formats
from heldout.auditing.audit import wording
from heldout.auditing.audit.result import interval
from heldout.auditing.blocks import ratio_error
from heldout.evaluators import ESTIMATORS
from heldout.libraries import Reported, Term

AUDIT = made_audit(60)
NOTHING = Reported("", math.nan, "", math.nan, math.nan, "these documents", "", (), "plain arrays print nothing")


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_prints_and_keeps_what_did_so_before(text: str) -> None:
    cleaned = formats.clean(text)
    assert cleaned.isprintable()
    assert len(cleaned) == len(text)
    assert [c for c, before in zip(cleaned, text, strict=True) if before.isprintable()] == [
        c for c in text if c.isprintable()
    ]
    cleaned.encode()  # no lone surrogate is left


@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(4, 40))
def test_shortened_text_fits_and_keeps_both_ends(text: str, most: int) -> None:
    short = formats.shorten(text, most)
    assert len(short) <= most
    assert short == text if len(text) <= most else text.startswith(short.split("…")[0]) and text[-1] == short[-1]


@pytest.mark.parametrize(
    ("value", "spread", "shown"),
    [
        (3145.04, 12.3, "3,145"),
        (3145.04, 0.47, "3,145.0"),
        (3145.04, 0.012, "3,145.040"),
        (85.21, 0.0, "85.2"),
        (2.04e11, 0.0, "2.0e11"),
        (math.inf, 0.0, "infinite"),
        (math.nan, math.nan, "none"),
    ],
)
def test_a_perplexity_shows_the_digits_that_its_error_tells(value: float, spread: float, shown: str) -> None:
    assert formats.perplexity(value, spread) == shown


@given(st.floats(1e-12, 1e12))
def test_an_error_keeps_one_or_two_digits(value: float) -> None:
    assert float(formats.error(value).replace(",", "")) == pytest.approx(value, rel=0.5 / 3.5)


@pytest.mark.parametrize("nothing", [0.0, math.nan, math.inf, -1.0])
def test_no_error_is_shown_where_there_is_none(nothing: float) -> None:
    assert formats.error(nothing) == ""


@pytest.mark.parametrize(
    ("value", "reference", "words"),
    [
        (100466.0, 3145.0, "32 times"),
        (2.0e11, 3145.0, "6.4e7 times"),
        (6290.0, 3145.0, "2 times"),
        (8500.0, 3145.0, "2.7 times"),
        (3200.0, 3145.0, "1.7 % above"),
        (2000.0, 3145.0, "36 % below"),
        (3144.0, 3145.0, "0.03 % below"),
    ],
)
def test_a_difference_in_words(value: float, reference: float, words: str) -> None:
    assert formats.difference(value, reference) == words


@given(st.lists(st.floats(-1e6, -1.0), min_size=1, max_size=5), st.integers(1, 10**6))
def test_terms_per_token_add_up_to_the_library_s_number(sums: list[float], tokens: int) -> None:
    per_token = sum(sums) / tokens
    audit = with_reported(
        AUDIT, nats_per_token=per_token, terms=tuple(Term(str(i), nats, grows=i == 0) for i, nats in enumerate(sums))
    )
    costs = wording.per_term(audit)
    assert sum(costs) == pytest.approx(-per_token)
    assert costs == pytest.approx([-nats / tokens for nats in sums])
    term = wording.growing(audit)
    assert term is not None
    assert term[1:] == pytest.approx((-sums[0] / tokens, -per_token))


def test_without_the_growing_term_the_number_is_the_bound_of_the_documents() -> None:
    bound = AUDIT.line("mean-field-bound").perplexity
    cause = wording.reasons(AUDIT)[0]
    assert formats.perplexity(bound) in cause
    assert AUDIT.reported.terms[1].name in cause


def test_the_verdict_has_the_library_its_number_and_the_likelihood() -> None:
    verdict = wording.headline(AUDIT)
    likelihood = AUDIT.line("likelihood")
    spread = likelihood.perplexity * likelihood.error_per_token
    times = formats.difference(AUDIT.reported.perplexity, likelihood.perplexity)
    shown = (formats.perplexity(likelihood.perplexity, spread), formats.interval(*likelihood.interval))
    for part in ("scikit-learn", f"{AUDIT.reported.perplexity:,.0f}", times, *shown, f"± {formats.error(spread)}"):
        assert part in verdict


def test_the_interval_over_documents_is_student_s_of_a_ratio() -> None:
    """Of the mean sum x / sum L; documents of one length, where it is that of a mean, by hand."""
    lengths = np.full(5, 10)
    nats = np.array([-70.0, -75.0, -80.0, -85.0, -90.0])
    error = math.sqrt(62.5 / 5) / 10  # 62.5: the variance of the five
    assert ratio_error(nats, lengths) == pytest.approx(error)
    low, high = interval(-8.0, error, 4)
    assert (math.log(low), math.log(high)) == pytest.approx((8.0 - 2.7764451 * error, 8.0 + 2.7764451 * error))
    uneven = ratio_error(np.array([-7.0, -160.0]), np.array([1, 20]))
    assert uneven == pytest.approx(math.sqrt(2.0 * 2.0 * (20.0 / 21.0) ** 2) / 21.0)
    assert ratio_error(nats[:1], lengths[:1]) == math.inf
    assert formats.interval(*interval(-8.0, math.inf, 1)) == ""


def test_a_number_within_two_standard_errors_is_right() -> None:
    likelihood = AUDIT.line("likelihood")
    wide = with_likelihood(AUDIT, standard_error=0.1 * likelihood.tokens)
    for away, right in ((0.19, True), (-0.19, True), (0.21, False), (-0.21, False)):
        nats = likelihood.nats_per_token + away
        audit = with_reported(wide, nats_per_token=nats, perplexity=math.exp(-nats), terms=())
        assert ("%" not in wording.headline(audit).partition(";")[0]) is right


@pytest.mark.parametrize("words", [90, 4000])
def test_a_likelihood_below_guessing_is_questioned(words: int) -> None:
    audit, tokens = replace(AUDIT, words=words), AUDIT.line("likelihood").tokens
    for error in (0.0, 0.05):
        for more, asks in ((-0.1, False), (0.0, False), (0.09, error == 0.0), (0.11, True), (math.inf, False)):
            nats = -(math.log(words) + more) * tokens
            line = with_likelihood(audit, log_likelihood=nats, standard_error=error * tokens)
            assert wording.headline(line).endswith("?") is asks


def test_a_number_of_the_training_documents_is_not_compared() -> None:
    audit = with_reported(
        AUDIT,
        about="the training documents",
        value=-7.31,
        unit="nats per token",
        perplexity=math.nan,
        nats_per_token=math.nan,
        terms=(),
    )
    assert "\N{MINUS SIGN}7.31" in wording.headline(audit)
    assert audit.reported.about in wording.headline(audit)
    assert audit.rows[0].evaluator == "likelihood"


def test_a_library_without_a_number_has_its_reason_first() -> None:
    audit = replace(AUDIT, reported=NOTHING, library="arrays", version="")
    assert wording.reasons(audit)[0] == formats.sentence(NOTHING.note)
    assert wording.own_number(audit) == ""


def test_an_exact_likelihood_and_an_impossible_one() -> None:
    exact = replace(with_likelihood(AUDIT, estimator="exact-marginal", standard_error=0.0), exact=True)
    assert formats.perplexity(exact["likelihood"].perplexity) in wording.headline(exact)
    assert wording.kind("likelihood", "exact-marginal") == "exact"
    impossible = with_likelihood(AUDIT, log_likelihood=-math.inf, standard_error=math.nan)
    assert {row[2] for row in wording.numbers(impossible).rows} == {"none"}


@pytest.mark.parametrize("estimator", ["linear-time", "left-to-right", "harmonic-mean", "left-to-right-unresampled"])
def test_an_approximation_is_not_called_the_likelihood(estimator: str) -> None:
    audit = with_likelihood(AUDIT, estimator=estimator, standard_error=math.nan)
    clause = wording.BEHAVIOURS[ESTIMATORS[estimator].behaviour].clause
    assert clause in " ".join(wording.reasons(audit))
    assert clause not in " ".join(wording.reasons(AUDIT))
    assert wording.kind("likelihood", estimator).startswith("biased")


def test_at_most_five_reasons_and_the_library_s_and_the_remedies_among_them() -> None:
    likelihood = AUDIT.nats["likelihood"].copy()
    likelihood[np.flatnonzero(AUDIT.lengths)[0]] = -math.inf
    audit = replace(
        with_likelihood(AUDIT, estimator="harmonic-mean"),
        nats=AUDIT.nats | {"likelihood": likelihood},
        settings=AUDIT.settings | {"standard_error": 0.01},
        stand_in="a uniform one stands in",
        flat_topics=(3, 4),
    )
    reasons = wording.reasons(audit)
    assert len(reasons) == wording.MOST == 5
    assert reasons[0] == wording.reasons(AUDIT)[0]
    assert "--smoothing" in reasons[1]
    assert wording.BEHAVIOURS["high"].clause in reasons[2]
    assert "samples" in reasons[3]
    assert audit.stand_in in reasons[4]


def test_rows_start_with_the_library_and_the_likelihood_and_ratios_are_of_perplexities() -> None:
    rows = AUDIT.rows
    assert [row.evaluator for row in rows] == [
        *("reported", "likelihood", "mean-field-bound", "full-folding-in", "half-folding-in")
    ]
    for row in rows[1:]:
        assert row.ratio == pytest.approx(AUDIT[row.evaluator].perplexity / AUDIT["likelihood"].perplexity)
        assert (row.low, row.high) == AUDIT[row.evaluator].interval


def test_settings_are_flat() -> None:
    settings = {"seed": 0, "command": "heldout audit a b", "fold_in": {"tolerance": 1e-6}}
    flat = dict(formats.flat_settings(settings))
    assert flat == {"seed": "0", "fold_in.tolerance": json.dumps(1e-6), "command": "heldout audit a b"}


def test_the_likelihood_s_note_has_the_estimator_its_samples_and_the_reason() -> None:
    for estimator, samples, shown in (
        ("left-to-right-sequential", 20, "20 samples"),
        ("reference", 3000, "3,000 sweeps"),
        ("exact-marginal", 0, "exact"),
    ):
        note = wording.note(with_likelihood(AUDIT, estimator=estimator, samples=samples))
        assert shown in note
        assert AUDIT.reason in note
    assert wording.note(replace(AUDIT, reason="")) == ""


def test_estimates_below_the_bound_are_counted() -> None:
    assert wording.below_bound(AUDIT) == 0
    bound, likelihood = AUDIT.nats["mean-field-bound"], AUDIT.nats["likelihood"].copy()
    three = np.flatnonzero(AUDIT.lengths)[:3]
    likelihood[three] = bound[three] - wording.FAR * AUDIT.errors["likelihood"][three] - np.array([0.1, 3.0, -0.1])
    low = replace(AUDIT, nats={**AUDIT.nats, "likelihood": likelihood})
    assert wording.below_bound(low) == 2
    assert f"2 of {AUDIT.documents}" in " ".join(wording.reasons(low))
    assert wording.below_bound(replace(low, exact=True)) == 0
