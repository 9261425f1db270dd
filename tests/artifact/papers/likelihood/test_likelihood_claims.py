"""Claims of folding-in and of libraries on scores for which each of them is known to be supported or not."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from artifact.papers.likelihood.claims import CLAIMS, FITTED_AT
from artifact.verdicts.claims import Claim
from artifact.verdicts.verdicts import CONTRADICTED, IDENTITY, NOT_RUN, SUPPORTED, UNDECIDED, Judgement
from made_measurements import gap, is_a_probability, measured, optimism_inputs
from made_peers import CORPORA, peers_inputs, truth, with_reported
from small_study import inputs, without
from splits import on_two_splits

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.is_a_probability import SAMPLED_FULL
from artifact.papers.likelihood.experiments.optimism import NML, PLUG_IN
from artifact.papers.likelihood.experiments.reference import DIFFERENCE, TOKENS
from artifact.papers.likelihood.results import best_topics
from artifact.results.measurements import Measurement
from heldout.evaluators import FULL, HALF, LAPLACE

PEERS = [claim for claim in CLAIMS if claim.name.startswith("peers-")]
# of kept studies, with tests of their own
KEPT = (
    "priors-",
    "sparse-priors-",
    "flat-prior-",
    "half-below-",
    "posterior-mean-",
    "longer-chains-",
    "gap-stands-",
    "gap-grows-at-",
    "gap-of-",
    "packages-",
    "neural-",
    "one-model-",
    "proposed-",
)
TRUTH = [claim for claim in CLAIMS if not claim.name.startswith(("peers-", "choice-", *KEPT))]


def judged(name: str, given: Inputs, corpora: Sequence[str] = CORPORA) -> Judgement:
    claim = next(claim for claim in CLAIMS if claim.name == name)
    return Judgement(name, tuple(claim.measure(given, corpora)))


def verdicts(given: Inputs) -> dict[str, str]:
    return {claim.name: judged(claim.name, given, given.settings.corpora).verdict for claim in TRUTH}


def test_claims_are_supported_where_they_are_made_to_be() -> None:
    assert verdicts(on_two_splits(optimism_inputs())) == {
        "truth-covers": NOT_RUN,
        "reference-holds": NOT_RUN,
        "reference-between-bounds": NOT_RUN,
        "full-above-truth": SUPPORTED,
        "plug-in-above-truth": SUPPORTED,
        "gap-grows-with-topics": SUPPORTED,
        "no-prior-closes-the-gap": CONTRADICTED,  # shares of 0, 0.63 and 0.76 are left
        "fitted-prior-helps": SUPPORTED,
        "epca-full-above-truth": NOT_RUN,
        "folding-in-is-no-probability": NOT_RUN,
        "refuted-by-drawn-weights": NOT_RUN,
        "sampled-refuted-by-drawn-weights": NOT_RUN,
        "estimates-may-be-probabilities": NOT_RUN,
        "laplace-may-be-a-probability": NOT_RUN,
        "laplace-repairs": SUPPORTED,
        "nml-repairs": CONTRADICTED,
    }


def test_one_split_decides_nothing_but_identities() -> None:
    found = verdicts(optimism_inputs())
    assert {found[name] for name in ("plug-in-above-truth", "laplace-repairs", "nml-repairs")} == {UNDECIDED}


def test_claims_are_contradicted_where_they_are_made_to_be() -> None:
    def other(evaluator: str, topics: int) -> float:
        turned = {FULL: -0.3 * math.log(topics), PLUG_IN: -0.05, LAPLACE: 0.02, NML: 0.002}
        return turned.get(evaluator, gap(evaluator, topics))

    verdict = verdicts(on_two_splits(optimism_inputs(gaps=other)))
    names = ("full-above-truth", "plug-in-above-truth", "gap-grows-with-topics", "laplace-repairs")
    assert {verdict[name] for name in names} == {CONTRADICTED}
    assert verdict["nml-repairs"] == SUPPORTED


def test_an_effect_is_the_mean_over_topics_and_bears_the_truths_error() -> None:
    effect = judged("plug-in-above-truth", on_two_splits(optimism_inputs()), ["cranfield"]).effects[0]
    assert effect.estimate == pytest.approx(0.02 * sum(map(math.log, (3, 20, 100))) / 3)
    assert (effect.replicates, effect.cells, effect.part) == (2, 3, "PLSA")
    assert effect.error == pytest.approx(1e-3 * 2 / 3)  # of three truths one is exact


def test_the_best_numbers_of_topics_hold_the_best_and_what_is_not_told_from_it() -> None:
    given = on_two_splits(optimism_inputs())
    best = best_topics(given, "cranfield", "plsa-hof", "truth")
    assert best is not None
    assert (best.topics, best.censored) == ((20,), False)


def calibrated(cells: dict[int, tuple[float, float, float]]) -> Inputs:
    """Return a calibration with (difference, error, tokens) of a cell per seed; fewer samples do not count."""
    rows = []
    for seed, (difference, error, tokens) in cells.items():
        place: dict[str, Any] = {"corpus": "cranfield", "model": "lda", "variant": "reference-flat", "topics": 3}
        place |= {"smoothing": 0.0, "chain": "none", "seed": seed, "axis": "samples"}
        rows.append(Measurement(quantity=DIFFERENCE, at=2000, value=difference, standard_error=error, **place))
        rows.append(Measurement(quantity=DIFFERENCE, at=100, value=99.0, standard_error=error, **place))
        rows += [Measurement(quantity=TOKENS, at=at, value=tokens, **place) for at in (100, 2000)]
    return measured(rows)


def test_the_truth_covers_by_its_errors_and_by_its_size() -> None:
    """One of four is too far for its error; then all are near enough in nats, and not once there are fewer tokens."""
    covered, near = judged("truth-covers", calibrated(dict.fromkeys(range(4), (1.0, 1.0, 1e4)))).effects
    assert (covered.estimate, near.verdict, near.estimate) == (1.0, SUPPORTED, 1e-4)
    cells = {0: (1.0, 1.0, 1e2), 1: (5.0, 1.0, 1e2), 2: (-1.0, 1.0, 1e2), 3: (0.0, 1.0, 1e2)}
    covered, near = judged("truth-covers", calibrated(cells)).effects
    assert (covered.estimate, covered.verdict, near.verdict) == (0.75, UNDECIDED, UNDECIDED)


def test_one_document_of_epca_below_the_truth_is_enough() -> None:
    given = inputs()
    assert judged("epca-full-above-truth", given, given.settings.corpora).verdict == IDENTITY
    table = given.measurements
    assert table is not None
    folded = (table["variant"] == "epca-marginal") & (table["quantity"] == FULL) & (table["at"] == table["at"].min())
    table.loc[folded, "value"] = -51.0
    assert judged("epca-full-above-truth", given, given.settings.corpora).verdict == CONTRADICTED


def test_claims_are_not_run_without_the_measurement() -> None:
    experiments = ("optimism", "reference", "epca-marginal", "is-a-probability")
    assert set(verdicts(inputs(without(*experiments))).values()) == {NOT_RUN}
    assert judged("epca-full-above-truth", replace(optimism_inputs(), measurements=None)).verdict == NOT_RUN


def test_scores_are_refuted_by_more_than_a_probability_can_have() -> None:
    laplace = "laplace-may-be-a-probability"
    assert judged(laplace, measured(is_a_probability({("truth", LAPLACE): 13.8}))).verdict == SUPPORTED
    assert judged(laplace, measured(is_a_probability({("truth", LAPLACE): 13.9}))).verdict == CONTRADICTED
    names = ("folding-in-is-no-probability", "estimates-may-be-probabilities")
    given = measured(is_a_probability())
    assert [judged(name, given).verdict for name in names] == [SUPPORTED, SUPPORTED]
    assert {effect.estimate for effect in judged(names[0], given).effects} == {500.0, 400.0, 450.0}
    changed = measured(is_a_probability({("truth", FULL): 13.8, ("truth", "chib"): 13.9}))  # 1e-6 is 13.82 nats
    assert [judged(name, changed).verdict for name in names] == ["differs", CONTRADICTED]
    changed = measured(is_a_probability({("truth", HALF): 13.9}))  # a conditional probability: nothing to refute
    assert judged(names[1], changed).verdict == SUPPORTED


@pytest.mark.parametrize(
    ("claim", "score"), [("refuted-by-drawn-weights", FULL), ("sampled-refuted-by-drawn-weights", SAMPLED_FULL)]
)
def test_beside_the_weights_that_drew_a_document_less_is_refuted(claim: str, score: str) -> None:
    for nats, verdict in ((213.9, SUPPORTED), (213.8, CONTRADICTED)):  # of which 200 are over log p(w)
        assert judged(claim, measured(is_a_probability({("truth", score): nats}))).verdict == verdict


def test_a_fitted_prior_is_held_to_the_models_own_where_both_were_measured() -> None:
    found = judged("fitted-prior-helps", on_two_splits(optimism_inputs())).effects
    assert {effect.part for effect in found} <= {f"K = {k}" for k in FITTED_AT}
    assert [effect.estimate for effect in found] == pytest.approx([0.1] * len(found))


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_about_libraries_are_supported_by_the_made_up_scores_on_two_splits(claim: Claim) -> None:
    assert judged(claim.name, peers_inputs()).verdict == UNDECIDED
    assert judged(claim.name, on_two_splits(peers_inputs())).verdict == SUPPORTED


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_are_not_supported_where_libraries_report_the_truth(claim: Claim) -> None:
    found = judged(claim.name, on_two_splits(peers_inputs(change=with_reported(truth))))
    assert found.effects
    assert found.verdict == (CONTRADICTED if claim.name == "peers-reported-grows" else "no difference")


@pytest.mark.parametrize("claim", PEERS, ids=lambda claim: str(claim.name))
def test_claims_of_a_study_without_libraries_are_not_run(claim: Claim) -> None:
    assert judged(claim.name, inputs(without("peers"))).verdict == NOT_RUN
