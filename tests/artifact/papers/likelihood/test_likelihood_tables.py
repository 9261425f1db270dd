"""The tables from made-up scores: their rows, marks and signs."""

import math
from dataclasses import replace

import pytest
from made_measurements import gap, is_a_probability, measured, optimism_inputs, precision
from made_peers import CORPORA, ERROR, LIBRARIES, TOPICS, growing, peers_inputs, reported, truth, with_reported
from small_study import inputs, without

from artifact.papers.likelihood import tables
from artifact.papers.likelihood.experiments.precision import ERROR as RMS_ERROR
from artifact.papers.likelihood.experiments.precision import REFERENCE_ERROR, STATED, terms_of
from artifact.papers.likelihood.results import FITTED
from artifact.results.measurements import Measurement
from artifact.results.reading import LARGEST, select
from artifact.typesetting import latex, style
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, REFERENCE
from heldout.evaluators.exact_marginal import cost
from heldout.models import PLSA


def rows_of(text: str) -> list[str]:
    return [row for row in text.splitlines() if row.startswith(("Cranfield", "Medline"))]


def test_optimism_has_a_row_per_corpus_model_and_number_of_topics() -> None:
    text = tables.optimism(optimism_inputs())
    assert len(rows_of(text)) == 2 * 2 * 2  # of 3, 100 and 400 topics
    assert text.count("*") == 3 * 4  # all three truths at 3 topics are exact
    assert rows_of(text)[0].endswith(rf"& +{gap(FULL, 3):.3f}\\")
    below = tables.optimism(optimism_inputs(gaps=lambda name, topics: -0.01 * topics if name == FULL else 0.0))
    assert r"& \ensuremath{-}0.030\\" in below


def test_repairs_have_a_row_per_prior_too() -> None:
    rows = rows_of(tables.repair(optimism_inputs()))
    assert len(rows) == 2 * 2 * 2 * 2  # two priors
    assert rows[0].count("&") == 8
    assert "+0.0020" in rows[0]
    assert "-0.0500" in rows[0]


def test_no_likelihood_with_a_large_stated_error_is_shown() -> None:
    whole = optimism_inputs()
    scores = whole.scores.copy()
    rows = select(scores, corpus=scores["corpus"].iloc[0], evaluator=REFERENCE, topics=100)
    loose = select(rows, model=PLSA, variant=FITTED, seed=rows["seed"].iloc[0]).index
    scores.loc[loose, "standard_error"] = 1.01 * LARGEST * scores.loc[loose, "tokens"]
    inputs = replace(whole, scores=scores)
    assert len(loose) == 1
    for table in (tables.optimism, tables.repair):
        assert table(inputs).count(latex.NOT_SHOWN) > table(whole).count(latex.NOT_SHOWN)


def test_without_optimism_it_says_what_to_do() -> None:
    unmeasured = optimism_inputs()
    unmeasured = replace(unmeasured, scores=unmeasured.scores.iloc[:0])
    for function in (tables.optimism, tables.repair):
        with pytest.raises(InputError, match="measure the optimism"):
            function(unmeasured)


def test_the_likelihood_is_exact_where_that_was_affordable_and_by_the_reference_elsewhere() -> None:
    rows = []
    for row in precision():
        L = int(row.variant.rpartition("-")[2])
        if row.quantity.startswith(REFERENCE_ERROR):
            rows.append(replace(row, quantity=REFERENCE_ERROR + EXACT) if row.topics == 4 else row)
            for sweeps, share in ((240, 0.02), (2400, 0.001 * row.topics**0.5)):
                rows.append(replace(row, quantity=RMS_ERROR + REFERENCE, at=sweeps, value=share * L))
                rows.append(replace(row, quantity=STATED + REFERENCE, at=sweeps, value=share / 2 * L))
        elif not row.quantity.startswith(RMS_ERROR + "reference"):
            rows.append(row)
    text = tables.recommendation(measured(rows))
    printed = [line.rstrip("\\").split(" & ") for line in text.splitlines() if line.startswith(r"\(\alpha_k")]
    assert [cells[1:3] for cells in printed] == [["4", "50"]] * 2 + [["20", "50"]] * 2 + [["100", "150"]] * 2
    assert printed[0][3:] == ["exact", latex.DASH, f"{cost([50], 4) / 1e6:.1f}", "0", latex.DASH]
    for cells, K, L in ((printed[2], 20, 50), (printed[4], 100, 150)):
        percent, stated = (100.0 * math.expm1(share * K**0.5) for share in (0.001, 0.0005))
        work = f"{terms_of(REFERENCE, K, L, 2400) / 1e6:.1f}"
        assert cells[3:] == ["annealing to the prior", "2{,}400", work, f"{percent:.2f}", f"{stated:.2f}"]


def test_a_size_without_the_reference_says_so() -> None:
    rows = [row for row in precision() if row.topics >= 100]
    assert "not measured" in tables.recommendation(measured(rows))


@pytest.mark.parametrize("synthetic", [True, False])
def test_synthetic_data_say_so(synthetic: bool) -> None:
    given = optimism_inputs(synthetic=synthetic)
    texts = (tables.optimism(given), tables.repair(given), tables.peers(peers_inputs(synthetic=synthetic)))
    assert [style.SYNTHETIC_MARK in text for text in texts] == [synthetic] * 3


def test_scores_have_a_row_with_their_excess_by_model_and_their_chances() -> None:
    rows = tables.is_a_probability(measured(is_a_probability())).splitlines()
    text = {row.partition(" & ")[0]: row.rstrip("\\").split(" & ")[1:] for row in rows if " & " in row}
    bold = r"\textbf{\boldmath \ensuremath{+500}}"
    assert text["full folding-in, maximum"] == [bold, bold, r"\ensuremath{10^{-217}}", r"\ensuremath{10^{-130}}"]
    assert text["Laplace, softmax basis"][:3] == [r"\ensuremath{+13}"] * 2 + [r"\ensuremath{10^{-5}}"]
    assert text["mean-field bound"] == [r"\ensuremath{-\infty}"] * 2 + ["1"] * 2
    assert text["full folding-in, sum over all documents of 84 tokens"][:2] == [
        r"\ensuremath{10^{8}}",
        r"\ensuremath{10^{3}}",
    ]


def test_libraries_have_a_row_per_corpus_and_number_of_topics() -> None:
    rows = [row.rstrip("\\").split(" & ") for row in rows_of(tables.peers(peers_inputs()))]
    assert len(rows) == len(CORPORA) * len(TOPICS) * len(LIBRARIES)
    assert [(row[1], row[2]) for row in rows[:9]] == [(str(k), name) for k in TOPICS for name in LIBRARIES]
    first = rows[0]
    assert first[3:5] == [r"\texttt{perplexity}", latex.perplexity(math.exp(-reported("scikit-learn", 5)))]
    assert first[6] == latex.perplexity(math.exp(-truth("scikit-learn", 5)))  # exact, so without an error
    assert first[7] == f"{math.exp(0.3 + 0.1):.2f}"
    gensim = rows[4]
    value = reported("gensim", 20)
    assert gensim[4] == rf"\ensuremath{{-{-value:.2f}}} ({2.0**-value:.0f})"
    perplexity = math.exp(-truth("gensim", 20))
    assert gensim[6] == rf"{perplexity:.0f}\,$\pm$\,{perplexity * ERROR:.1f}"
    assert gensim[8] == rf"\ensuremath{{-{-growing('gensim', 20):.2f}}}"


def test_an_infinite_report_and_its_ratio_are_infinite() -> None:
    given = peers_inputs(change=with_reported(lambda m, k: -800.0 if k == 160 else reported(m, k)))
    assert tables.peers(given).count(r"\infty") == 2 * 2 * len(LIBRARIES)


def test_other_numbers_of_topics_give_the_fewest_and_the_most() -> None:
    given = peers_inputs(change=lambda scores: scores.assign(topics=scores["topics"] + 1))
    rows = [row.split(" & ") for row in rows_of(tables.peers(given))]
    assert [row[1] for row in rows] == [str(k) for k in (6, 161) for _ in LIBRARIES] * len(CORPORA)


def test_a_study_without_libraries_has_an_empty_table() -> None:
    assert "Cranfield" not in tables.peers(inputs(without("peers")))


def test_a_model_says_how_well_its_likelihood_is_known() -> None:
    rows = [row for row in is_a_probability() if row.quantity != "truth-gap"]
    gaps = [
        Measurement(corpus, "truth", "is-a-probability", K, 0.0, "none", 0, "truth-gap", "documents", 70, gap)
        for corpus, K, gap in (("none", 4, 0.0), ("s10", 10, 1.54))
    ]
    (known,) = (row for row in tables.is_a_probability(measured(rows + gaps)).splitlines() if "known to within" in row)
    assert known.split(" & ")[1:3] == ["1.5", "exact"]
    assert "known to within" not in tables.is_a_probability(measured(rows))
