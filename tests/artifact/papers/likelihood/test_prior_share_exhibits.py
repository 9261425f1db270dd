"""The prior's share read back: gaps, effects, the tables, the figure, from made-up numbers."""

import math

import pytest
from made_measurements import measured
from small_study import with_effects
from tables_of import plain_rows

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import figures, tables
from artifact.papers.likelihood.prior_share import gaps, means
from artifact.results.measurements import Measurement
from artifact.results.reading import LARGEST
from artifact.typesetting import latex

TOPICS, TOKENS = (20, 100), 50
SUMS = {100: -7.0, 20_000: -6.0, 100_000: -6.5}  # nats per token of 20 topics, by a thousand times the sum
MORE = {100: -0.3, 20_000: 0.2, 100_000: -0.1}  # what a hundred topics have more
PRIORS = {("mixture", 1): -5.8, ("mixture", 4): -5.9, ("points", 25): -6.2, ("training-mixture", 900): -6.4}
FULL = -5.0


def made(corpus: str = "cranfield", shift: float = 0.001) -> Inputs:
    """Return numbers of three splits; `shift` is what each has more by symmetric priors than the one before."""
    rows = []
    for seed in (0, 1, 2):
        for k in TOPICS:
            for model, constant in (("plsa-hof", 1e-5), ("lda", 0.0)):
                own = (corpus, model, "prior-share", k, constant, "none", seed)
                for axis in ("concentration", "richness") if model == "plsa-hof" else ("concentration",):
                    rows += [Measurement(*own, "full-folding-in", axis, 0, FULL * TOKENS)]
                    rows += [Measurement(*own, "tokens", axis, 0, TOKENS)]
                for at, nats in SUMS.items():
                    value = nats + MORE[at] * (k == 100) + shift * seed
                    rows += [Measurement(*own, "sum", "concentration", at, value * TOKENS, 0.01)]
                for (name, at), nats in PRIORS.items() if model == "plsa-hof" else ():
                    rows += [Measurement(*own, name, "richness", at, nats * TOKENS, 0.01)]
    return with_effects(measured(rows))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gap-lda-by-sum", (2.0, 1.0, 1.5, 2.3, 0.8, 1.6)),
        ("share-best-sum", (1.0, 0.5)),  # of a sum of 20, the flat prior's own with 20 topics
        ("share-test-1", (0.8, 0.5)),
        ("share-test-4", (0.9, 0.9 / 1.6)),
    ],
)
def test_priors_leave_gaps_and_shares_of_the_flat_priors(name: str, values: tuple[float, ...]) -> None:
    assert [effect.estimate for effect in made(shift=0.0).effects[name]] == pytest.approx(values)


@pytest.mark.parametrize(("corpus", "held_out"), [("cranfield", 4.0 / 13.0), ("newsgroups", 0.4)])
def test_gaps_without_groups_have_the_error_of_the_share_held_out(corpus: str, held_out: float) -> None:
    """Three splits 0.001 apart, 4 documents of 13 held out as the table of corpora says, or as the contrast does."""
    effect = made(corpus).effects["gap-plsa-by-sum"][1]
    assert (effect.corpus, effect.part, effect.topics) == (corpus, "K = 20, sum of alpha 20", 20)
    assert effect.estimate == pytest.approx(0.999)
    variance = 1e-6 * (1.0 / 3.0 + held_out / (1.0 - held_out)) + (0.01 / TOKENS) ** 2
    assert effect.error == pytest.approx(math.sqrt(variance))


def test_the_tables_have_a_row_per_number_of_topics_and_the_figure_all_priors() -> None:
    for row, printed in {
        "20 & 0.999 & 0.999 (20) & 0.800 & 0.900 & 1.200 & 1.400 & 0.80": tables.prior_share(made()),
        "20 & 148 & 403 & 403 (20) & 330 & 365 & 0.999 & 0.999": tables.newsgroups(made("newsgroups")),
        "20 & 148 & 403 & 403 (20) & -- & -- & 0.999 & 0.999": tables.newsgroups(made("newsgroups")),
    }.items():
        assert row in plain_rows(printed)
    above, below = figures.prior_share(made()).axes
    assert {line.get_marker() for line in above.get_lines()} == {"o", "*", "D", "None"}
    assert len(below.get_lines()) == 4


def test_no_value_with_a_large_stated_error_is_shown() -> None:
    loose = made()
    assert latex.NOT_SHOWN not in tables.prior_share(loose)
    rows = loose.measurements
    assert rows is not None
    off = rows[(rows["quantity"] == "mixture") & (rows["at"] == 4) & (rows["topics"] == 20)].index[0]
    rows.loc[off, "standard_error"] = 1.01 * LARGEST * TOKENS  # of one split of three
    assert tables.prior_share(loose).count(latex.NOT_SHOWN) == 1
    assert list(means(gaps(loose, "richness").query("topics == 20"), "gap").index) == [1, 25, 900]
