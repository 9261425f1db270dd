"""Claims of folding-in and of libraries on scores for which each of them is known to hold or to fail."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_measurements import gap, is_a_probability, measured, optimism_inputs
from made_peers import CORPORA, peers_inputs, reported, truth, with_reported
from small_study import inputs, without

from heldout.claims import Claim
from heldout.evaluators import FULL, HALF, LAPLACE
from heldout.inputs import Inputs
from heldout.measurements import Measurement
from heldout.papers.likelihood.claims import CLAIMS
from heldout.papers.likelihood.experiments.optimism import NML, PLUG_IN
from heldout.papers.likelihood.experiments.reference import DIFFERENCE, TOKENS
from heldout.verdicts import Finding

CHOICES = [(which, end) for which in ("full", "half") for end in ("", "-fitted-priors", "-lda")]
PEERS = [claim for claim in CLAIMS if claim.name.startswith("peers-")]
TRUTH = [claim for claim in CLAIMS if claim not in PEERS]


def check(name: str, given: Inputs, corpora: Sequence[str] = CORPORA) -> Finding:
    return next(claim for claim in CLAIMS if claim.name == name).check(given, corpora)


def verdicts(given: Inputs) -> dict[str, str]:
    return {claim.name: claim.check(given, given.settings.corpora).verdict for claim in TRUTH}


def test_claims_hold_where_they_are_made_to_hold() -> None:
    assert verdicts(optimism_inputs()) == {
        "truth-covers": "not run",
        "full-above-truth": "holds",
        "plug-in-above-truth": "holds",
        "gap-grows-with-topics": "holds",
        "no-prior-closes-the-gap": "holds",  # at 3 topics 0.11 nats of 0.11 go, beyond less than half
        **{
            f"{which}-prefers-more-topics{end}": "fails" for which, end in CHOICES
        },  # 0.1 log K is below 0.2 log(K / 20)
        **{f"{which}-ranks-as-truth{end}": "holds" for which, end in CHOICES},
        "epca-full-above-truth": "not run",
        "folding-in-is-no-probability": "not run",
        "estimates-may-be-probabilities": "not run",
        "laplace-may-be-a-probability": "not run",
        "reports-may-be-probabilities": "not run",
        "laplace-repairs": "holds",
        "nml-repairs": "fails",
    }


def test_claims_fail_where_they_are_made_to_fail() -> None:
    def other(evaluator: str, topics: int) -> float:
        turned = {
            FULL: -0.3 * math.log(topics) if topics < 100 else 2.0,
            HALF: {3: 0.0, 20: -2.0, 100: 1.0}[topics],
            PLUG_IN: -0.01,
            LAPLACE: 0.02,
            NML: 0.002,
        }
        return turned.get(evaluator, gap(evaluator, topics))

    verdict = verdicts(optimism_inputs(gaps=other))
    for name in ("full-above-truth", "plug-in-above-truth", "laplace-repairs", "half-ranks-as-truth"):
        assert verdict[name] == "fails"
    assert verdict["gap-grows-with-topics"] == "fails"  # one step of two
    more = ("full-prefers-more-topics", "half-prefers-more-topics")
    for name in (*more, "nml-repairs"):
        assert verdict[name] == "holds"


def test_a_choice_of_topics_is_judged_under_the_prior_that_the_claim_names() -> None:
    """The truth is best at 20 topics, as half folding-in says; made to rise under fitted priors alone."""
    given = optimism_inputs()
    fitted = given.scores["variant"].isin(["optimism-fitted-prior", "optimism-mixture-prior"])
    rising = (given.scores["topics"] - 700.0) * given.scores["tokens"] / 100.0
    turned = replace(
        given, scores=given.scores.assign(log_likelihood=given.scores["log_likelihood"].mask(fitted, rising))
    )
    for name in ("full-ranks-as-truth", "full-prefers-more-topics"):
        assert check(name, given) == check(name, turned)
    before, after = (check("half-ranks-as-truth-fitted-priors", of) for of in (given, turned))
    assert (before.agreeing, after.agreeing) == (before.comparisons, 8)  # of 3 pairs, 2 priors and 2 corpora
    assert after.effect.startswith("cranfield plsa-hof fitted prior 2 of 3, cranfield plsa-hof mixture prior 2 of 3")


def test_the_truth_covers_by_its_errors_and_by_its_size() -> None:
    """Of four cells one is too far for its error, one for its tokens; fewer samples do not count."""
    cells = {0: (3.0, 1.0, 1e4), 1: (5.0, 1.0, 1e4), 2: (-3.0, 1.0, 1e3), 3: (0.0, 1.0, 1e4)}
    rows = []
    for seed, (difference, error, tokens) in cells.items():
        place: dict[str, Any] = {"corpus": "cranfield", "model": "lda", "variant": "reference-flat", "topics": 3}
        place |= {"smoothing": 0.0, "chain": "none", "seed": seed, "axis": "samples"}
        rows.append(Measurement(quantity=DIFFERENCE, at=2000, value=difference, standard_error=error, **place))
        rows.append(Measurement(quantity=DIFFERENCE, at=100, value=99.0, standard_error=error, **place))
        rows += [Measurement(quantity=TOKENS, at=at, value=tokens, **place) for at in (100, 2000)]
    finding = check("truth-covers", measured(rows))
    assert (finding.agreeing, finding.comparisons, finding.seeds) == (2, 4, 4)
    assert finding.effect.startswith(f"r.m.s. {math.sqrt((9 + 25 + 9) / 4):.2f} of the stated errors, most +5.0")
    assert "-0.00300 nats per token (cranfield lda K=3, prior flat)" in finding.effect


def test_the_worst_models_are_named() -> None:
    def other(evaluator: str, topics: int) -> float:
        return {3: 0.001, 20: -0.03, 100: 0.02}[topics] if evaluator == LAPLACE else gap(evaluator, topics)

    effect = check("laplace-repairs", optimism_inputs(gaps=other), ["cranfield"]).effect
    assert effect == (
        "median 0.0200 nats per token, worst -0.0300 (cranfield plsa-hof K=20), -0.0300 (cranfield lda K=20),"
        " +0.0200 (cranfield plsa-hof K=100)"
    )


def test_one_document_of_epca_below_the_truth_is_enough() -> None:
    given = inputs()
    assert check("epca-full-above-truth", given, given.settings.corpora).verdict == "identity"
    table = given.measurements
    assert table is not None
    folded = table.index[(table["variant"] == "epca-marginal") & (table["quantity"] == FULL)]
    table.loc[folded[0], "value"] = -51.0
    finding = check("epca-full-above-truth", given, given.settings.corpora)
    assert (finding.verdict, finding.comparisons - finding.agreeing, finding.seeds) == ("fails", 1, 2)


def test_claims_are_not_run_without_the_measurement() -> None:
    experiments = ("optimism", "reference", "epca-marginal", "is-a-probability")
    assert set(verdicts(inputs(without(*experiments))).values()) == {"not run"}
    assert check("epca-full-above-truth", replace(optimism_inputs(), measurements=None)).verdict == "not run"


def test_scores_are_refuted_by_more_than_a_probability_can_have() -> None:
    names = ("folding-in-is-no-probability", "estimates-may-be-probabilities", "reports-may-be-probabilities")
    laplace = "laplace-may-be-a-probability"
    assert check(laplace, measured(is_a_probability({("truth", LAPLACE): 13.8}))).verdict == "holds"
    assert check(laplace, measured(is_a_probability({("truth", LAPLACE): 13.9}))).verdict == "fails"
    given = measured(is_a_probability())
    findings = [check(name, given) for name in names]
    assert [(finding.verdict, finding.agreeing) for finding in findings] == [("holds", 6), ("holds", 6), ("holds", 2)]
    assert findings[0].effect == (
        "nats over s10 K=10, none K=4: full-folding-in +500, +500, without an evaluator of the truth +300, +300;"
        " full-folding-in-sampled +400, +400, without an evaluator of the truth +200, +200;"
        " plug-in-posterior-mean +450, +450, without an evaluator of the truth +250, +250"
    )
    assert findings[1].effect == "largest excess +1.5 nats (chib, s10 K=10)"
    changes = {("truth", FULL): 13.8, ("truth", "chib"): 13.9, ("tomotopy", "reported"): 30.0}
    changed = [check(name, measured(is_a_probability(changes))) for name in names]  # a chance of 1e-6 is 13.82 nats
    assert [(one.verdict, one.agreeing) for one in changed] == [("mixed", 4), ("mixed", 4), ("fails", 0)]


def test_every_claim_about_libraries_holds_of_the_made_up_scores() -> None:
    expected = {
        "peers-reported-grows": 2 * 2 * 2,
        "peers-prefer-fewer": 2 * 3,
        "peers-disagree": 2 * 3,
        "peers-pessimistic": 2 * 3 * 3,
    }
    assert [claim.name for claim in PEERS] == list(expected)
    for name, comparisons in expected.items():
        finding = check(name, peers_inputs())
        assert (finding.comparisons, finding.seeds) == (comparisons, 1)
        if name == "peers-prefer-fewer":  # tomotopy's own number is best at the most topics, as the truth is
            assert finding.agreeing == 4
        else:
            assert finding.verdict == "holds"


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_fail_where_libraries_report_the_truth(claim: Claim) -> None:
    finding = claim.check(peers_inputs(change=with_reported(truth)), CORPORA)
    assert finding.comparisons > 0
    assert finding.agreeing == 0
    assert finding.verdict == ("undecided" if claim.name == "peers-pessimistic" else "fails")  # at the truth itself


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_of_a_study_without_libraries_are_not_run(claim: Claim) -> None:
    finding = claim.check(inputs(without("peers")), CORPORA)
    assert (finding.verdict, finding.effect) == ("not run", "")


def test_steps_that_the_truth_does_not_tell_apart_are_not_counted() -> None:
    def change(scores: pd.DataFrame) -> pd.DataFrame:
        return scores.assign(
            standard_error=np.where(scores["samples"] > 0, scores["tokens"] * 1.0, scores["standard_error"])
        )

    assert check("peers-reported-grows", peers_inputs(change=change)).comparisons == 0


def test_effects_name_the_extremes() -> None:
    effect = check("peers-pessimistic", peers_inputs()).effect
    assert "K=160" in effect
    assert "33.12 (" in effect
    grows = check("peers-reported-grows", peers_inputs()).effect
    ends = [math.exp(-of("gensim", k)) for of in (reported, truth) for k in (5, 160)]
    shown = f"gensim {ends[0]:,.0f} (K=5) to {ends[1]:,.0f} (K=160) on medline, true {ends[2]:,.0f} to {ends[3]:,.0f}"
    assert grows.endswith(shown)
    assert grows.count("K=160") == 2  # one for each of the two
