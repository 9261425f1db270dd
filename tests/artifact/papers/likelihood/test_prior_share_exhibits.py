"""The prior's share read back: gaps, claims, the table, the figure, from made-up numbers."""

import re

import pytest
from artifact.papers.likelihood.claims import gap_of_today, priors_leave_half, sums_prefer_more
from artifact.verdicts.verdicts import CONTRADICTED, SUPPORTED, UNDECIDED
from made_measurements import measured

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import figures, tables
from artifact.papers.likelihood.prior_share import flat, gaps, means, not_shown, shares
from artifact.results.measurements import Measurement
from artifact.results.reading import LARGEST
from artifact.typesetting import latex
from heldout.errors import InputError

CORPORA, TOPICS, TOKENS = ["cranfield"], (20, 100), 50
SUMS = {100: -7.0, 20_000: -6.0, 100_000: -6.5}  # nats per token of 20 topics, by a thousand times the sum
MORE = {100: -0.3, 20_000: 0.2, 100_000: -0.1}  # what a hundred topics have more
PRIORS = {("mixture", 1): -5.8, ("mixture", 4): -5.9, ("points", 25): -6.2, ("training-mixture", 900): -6.4}
FULL = -5.0


def made(best: float = -5.8, corpus: str = "cranfield") -> Inputs:
    rows = []
    for seed in (0, 1, 2):
        for k in TOPICS:
            more = {at: MORE[at] if k == TOPICS[1] else 0.0 for at in SUMS}
            for model, constant in (("plsa-hof", 1e-5), ("lda", 0.0)):
                own = (corpus, model, "prior-share", k, constant, "none", seed)
                for axis in ("concentration", "richness") if model == "plsa-hof" else ("concentration",):
                    rows += [Measurement(*own, "full-folding-in", axis, 0, FULL * TOKENS)]
                    rows += [Measurement(*own, "tokens", axis, 0, TOKENS)]
                rows += [
                    Measurement(*own, "sum", "concentration", at, (nats + more[at] + 0.001 * seed) * TOKENS, 0.01)
                    for at, nats in SUMS.items()
                ]
                if model == "plsa-hof":
                    rows += [
                        Measurement(*own, name, "richness", at, (best if at == 1 else nats) * TOKENS, 0.01)
                        for (name, at), nats in PRIORS.items()
                    ]
    return measured(rows)


def test_gaps_are_per_token_and_the_flat_prior_has_the_sum_of_its_topics() -> None:
    found = gaps(made(), "richness")
    assert dict(zip(found["at"], found["gap"], strict=True)) == pytest.approx({1: 0.8, 4: 0.9, 25: 1.2, 900: 1.4})
    own = flat(made())
    assert set(zip(own["topics"], own["at"], strict=True)) == {(20, 20_000), (100, 100_000)}
    left = shares(made())
    assert left[(left["topics"] == 20) & (left["at"] == 1) & (left["seed"] == 0)]["share"].item() == pytest.approx(0.8)


def test_the_least_share_is_held_to_one_half() -> None:
    found = priors_leave_half(made(), CORPORA)
    assert [effect.part for effect in found] == ["K = 20", "K = 100"]
    assert found[0].estimate == pytest.approx(0.8, abs=0.001)
    assert [effect.verdict for effect in found] == [SUPPORTED, UNDECIDED]  # 0.8 of 1.6 is one half
    assert {effect.verdict for effect in priors_leave_half(made(best=-5.2), CORPORA)} == {CONTRADICTED}


def test_sums_are_compared_at_their_ends_and_where_they_suit() -> None:
    ends, best = (sums_prefer_more(made(), CORPORA, best=flag) for flag in (False, True))
    assert [effect.part for effect in ends] == [effect.part for effect in best] == ["PLSA", "LDA"]
    assert [effect.estimate for effect in ends] == pytest.approx([MORE[100] - MORE[100_000]] * 2)
    # under the flat prior a hundred topics have -6.5 - 0.1, twenty -6.0
    assert [effect.estimate for effect in best] == pytest.approx([MORE[20_000] + 0.6] * 2)
    assert {effect.verdict for effect in ends} == {CONTRADICTED}
    assert {effect.verdict for effect in best} == {SUPPORTED}


def test_the_table_has_a_row_per_number_of_topics_and_the_figure_all_priors() -> None:
    rows = [line.rstrip("\\").split(" & ") for line in tables.prior_share(made()).splitlines() if line[:4] == "Cran"]
    assert rows[0] == ["Cranfield", "20", "0.999", "0.999 (20)", "0.800", "0.900", "1.200", "1.400", "0.80"]
    assert rows[1][3] == "0.799 (20)"
    figure = figures.prior_share(made())
    above, below = figure.axes
    assert {line.get_marker() for line in above.get_lines()} == {"o", "*", "D", "None"}
    assert len(below.get_lines()) == 4
    assert all(re.search("prior|PLSA|LDA|mixture|points", text.get_text()) for text in figure.legends[0].get_texts())


def test_a_corpus_of_todays_size_has_its_gap_and_a_table() -> None:
    """Twenty topics have -6.0 under the flat prior, a hundred -6.6, and folding in -5.0 of both."""
    given = made(corpus="newsgroups")
    stands, grows = (gap_of_today(given, (), grows=flag) for flag in (False, True))
    assert [effect.part for effect in stands] == ["PLSA", "LDA"]
    assert [effect.estimate for effect in stands] == pytest.approx([1.599] * 2)
    assert [effect.estimate for effect in grows] == pytest.approx([0.6] * 2)
    assert {effect.verdict for effect in [*stands, *grows]} == {SUPPORTED}
    assert gap_of_today(made(), (), grows=False) == []
    rows = [line.rstrip("\\").split(" & ") for line in tables.newsgroups(given).splitlines() if " & 20 & " in line]
    assert rows == [
        ["PLSA-HOF", "20", "148", "403", "403 (20)", "330", "365", "0.999", "0.999"],
        ["LDA", "20", "148", "403", "403 (20)", "--", "--", "0.999", "0.999"],
    ]
    with pytest.raises(InputError, match="20 newsgroups were not measured; measure them"):
        tables.newsgroups(made())


def test_without_a_run_the_exhibits_say_so() -> None:
    for exhibit in (figures.prior_share, tables.prior_share):
        with pytest.raises(InputError, match="the prior's share was not measured; measure it"):
            exhibit(measured([]))


def test_no_value_with_a_large_stated_error_is_shown() -> None:
    assert tables.prior_share(made()).count(latex.NOT_SHOWN) == 0
    assert not_shown(made()) == 0
    loose = made()
    rows = loose.measurements
    assert rows is not None
    off = rows[(rows["quantity"] == "mixture") & (rows["at"] == 4) & (rows["topics"] == 20)].index[0]
    rows.loc[off, "standard_error"] = 1.01 * LARGEST * TOKENS  # of one split of three
    assert tables.prior_share(loose).count(latex.NOT_SHOWN) == 1
    assert not_shown(loose) == 1
    assert list(means(gaps(loose, "richness").query("topics == 20"), "gap").index) == [1, 25, 900]
