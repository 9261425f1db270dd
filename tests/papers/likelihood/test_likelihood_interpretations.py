"""What the interpretations of the likelihood say of made-up scores and measurements."""

from dataclasses import replace

from small_study import inputs, small_study

from heldout.inputs import Inputs
from heldout.papers.likelihood.interpretations import INTERPRETATIONS
from heldout.typesetting.interpretations import Interpretation


def row(part: str) -> Interpretation:
    (only,) = (row for row in INTERPRETATIONS if part in row.question)
    return only


def effect(part: str, given: Inputs) -> str:
    return " ".join(row(part).effect(given))


def test_choices_are_those_of_the_study() -> None:
    study = small_study()
    settings = {"samples": 77, "limit": 3e10}
    study["measures"]["optimism"]["settings"] |= settings
    given = inputs(study)
    choice = row("no exact value").chosen(given)
    assert "up to 77 sweeps over a document" in choice
    assert choice.endswith(r"exact up to \ensuremath{3\cdot 10^{10}} updates")
    penalty = study["models"]["epca"]["train"]["penalty"]
    assert f"precision {penalty:g}, that of training" in row("EPCA's likelihood").chosen(given)


def test_effects_are_the_differences_from_the_truth() -> None:
    given = inputs()
    # 0.1 nats better under the fitted prior
    assert r"PLSA-HOF, fitted: \ensuremath{-9.5}\,\%" in effect("the prior of the likelihood", given)
    assert r"reference less exact: \ensuremath{-0.3000}" in effect("no exact value", given)
    repairs = effect("its own error on the prior", given)
    assert r"LDA, divided: \ensuremath{+0.002}" in repairs
    assert r"undivided: \ensuremath{-0.080} (\ensuremath{-0.400} to \ensuremath{-0.012})" in repairs
    assert r"PLSA-HOF, one step: \ensuremath{-0.010}" in effect("theta_k = 0", given)
    assert r"penalised: \ensuremath{-0.050}" in effect("NML", given)
    assert r"\(K = 2\): annealed less quadrature \ensuremath{+0.4000}" in effect("EPCA's likelihood", given)


def test_without_scores_and_measurements_there_are_no_effects() -> None:
    given = inputs()
    for measurements in (None, given.measurements.iloc[:0]):  # type: ignore[union-attr]
        bare = replace(given, measurements=measurements, scores=given.scores.iloc[:0])
        assert [row.effect(bare) for row in INTERPRETATIONS] == [[]] * len(INTERPRETATIONS)
