"""Claims: no verdict is typed, each follows the numbers."""

import re

import pandas as pd
import pytest
from heldout.claims import CLAIMS, Claim, Finding, claim, findings
from small_study import FULL, HALF, inputs, made_up, small_study

from heldout.papers.welling.exhibits import side_by_side
from heldout.papers.welling.exhibits.side_by_side import same
from heldout.typesetting import claims_table

MEASURED = {
    "discrete-bound",
    "discrete-pessimistic",
    "mean-field-pessimistic",
    "continuous-optimistic",
    "normaliser",
    "ica-collapses",
}


def verdicts(**changes: object) -> dict[str, str]:
    return {found.name: finding.verdict for found, finding in findings(inputs(**changes))}  # type: ignore[arg-type]


def against(topics: int, smoothing: float, evaluator: str, seed: int) -> float:  # noqa: ARG001
    """Perplexities that contradict the claims about folding in: full rises, half falls and lies lower."""
    return made_up(topics, 1e-4, FULL, seed) / 3.0 if evaluator == HALF else 100.0 * topics + seed


@pytest.mark.parametrize(
    ("agreeing", "comparisons", "holds", "verdict"),
    [
        (20, 20, 0.95, "holds"),
        (19, 20, 0.95, "holds"),
        (18, 20, 0.95, "mixed"),
        (11, 20, 0.95, "mixed"),
        (10, 20, 0.95, "fails"),
        (0, 20, 0.95, "fails"),
        (19, 20, 1.0, "mixed"),
        (20, 20, 1.0, "holds"),
        (0, 0, 0.95, "not run"),
    ],
)
def test_the_verdict_follows_the_share(agreeing: int, comparisons: int, holds: float, verdict: str) -> None:
    assert Finding(agreeing, comparisons, "", 1, holds=holds).verdict == verdict


def test_claims_hold_on_scores_that_bear_them_out_and_fail_on_those_that_do_not() -> None:
    found = verdicts()
    for name in ("full-always-improves", "full-improves-beyond-vocabulary", "plsa-vem-similar", *MEASURED):
        assert found[name] == "holds", name
    assert found["lda-better"] == "holds"  # half of PLSA's perplexity, less of EPCA's
    assert found["epca-similar"] == "fails"  # 1.3 times
    turned = verdicts(p=against)
    for name in ("full-always-improves", "full-improves-beyond-vocabulary", "half-above-full", "half-overfits"):
        assert turned[name] == "fails", name


def test_measured_claims_turn_when_the_estimates_cross_the_exact_value() -> None:
    found = {one.name: finding for one, finding in findings(inputs(shift=20.0))}
    for name in MEASURED - {"ica-collapses"}:
        assert found[name].verdict == "fails", name
        assert found[name].agreeing == 0
    assert found["ica-collapses"].agreeing == 1  # the constrained run


def test_one_document_above_the_bound_is_no_bound() -> None:
    study = inputs()
    table = study.measurements
    assert table is not None
    first = table.index[(table["quantity"] == "point-bound")][0]
    table.loc[first, "value"] = 0.0
    assert claim("discrete-pessimistic").check(study, study.settings.corpora).verdict == "mixed"


def test_tempering_is_judged_against_the_same_training_at_beta_1() -> None:
    study = inputs()
    assert claim("tempering-no-advantage").check(study, study.settings.corpora).verdict == "holds"
    better = study.scores["variant"] == "beta-0.50"
    study.scores.loc[better, "perplexity"] /= 2.0
    found = claim("tempering-no-advantage").check(study, study.settings.corpora)
    assert found.verdict == "fails"
    assert "median beta 0.50" in found.effect


def test_training_times_come_from_the_reference_run() -> None:
    columns = ["rule", "corpus", "model", "variant", "topics", "seed", "seconds", "cpu_seconds", "memory_mb"]
    rows = [
        ("train", "nips", model, variant, "2", "0", seconds, 1.0, 1.0)
        for model, variant, seconds in (("plsa-hof", "smoothed-after-training", 2.0), ("epca", "penalised", 9.0))
    ]
    assert verdicts()["epca-harder"] == "not run"
    found = claim("epca-harder").check(inputs(timings=pd.DataFrame(rows, columns=columns)), ["nips"])
    assert (found.verdict, found.comparisons) == ("holds", 1)
    assert "4.5 times" in found.effect


def test_one_corpus_alone_has_no_longest_documents_to_compare_with() -> None:
    study = inputs()
    assert claim("half-sensitive").check(study, ["cranfield"]).verdict == "not run"
    assert claim("half-sensitive").check(study, study.settings.corpora).comparisons > 0


@pytest.mark.parametrize("one", CLAIMS, ids=lambda one: one.name)
def test_every_claim_says_where_it_stands_and_how_it_is_tested(one: Claim) -> None:
    where = r"(Buntine, )?(sections?|lemma) \d|Hofmann, (section|Figure) \d|issues of |beyond the original$"
    assert re.match(where, one.source)
    assert one.statement.endswith(".")
    assert one.test.startswith(("every ", "the drawn pairs "))
    assert claim(one.name) is one


def test_tables_show_every_claim_and_every_figure() -> None:
    study = inputs()
    text, markdown = claims_table.render(study), claims_table.markdown(study)
    assert text.count(r"\textbf{") == len(CLAIMS)
    assert markdown.count("\n") == len(CLAIMS) + 2
    page = side_by_side.render(study)
    assert [f"{{figure-{n}}}" in page for n in range(1, 10)] == [True] * 9
    alone = side_by_side.render(inputs(small_study(corpora={"cranfield": {"test_documents": 4}})))
    assert [n for n in range(1, 10) if f"{{figure-{n}}}" in alone] == [1, 4, 7]


def test_same_only_where_every_claim_of_the_message_holds() -> None:
    yes, no, none = Finding(2, 2, "", 1), Finding(0, 2, "", 1), Finding(0, 0, "", 0)
    assert [same(found) for found in ([yes, yes], [yes, no], [no, no], [yes, none])] == [
        "yes",
        "in part",
        "no",
        "not run",
    ]
