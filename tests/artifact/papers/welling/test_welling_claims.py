"""The claims of Welling et al., on made-up numbers that bear them out and on those that do not."""

from collections.abc import Sequence

import pandas as pd
import pytest
from artifact.verdicts.verdicts import CONTRADICTED, IDENTITY, NOT_RUN, SUPPORTED, UNDECIDED, Judgement
from small_study import inputs, made_up
from splits import on_two_splits, with_groups

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.claims import CLAIMS
from heldout.evaluators import FULL, HALF

ON_DOCUMENTS = (
    *("plsa-vem-similar", "epca-similar", "full-always-improves"),
    *("half-overfits", "half-above-full", "half-sensitive", "long-documents-alleviate"),
    *("lda-better", "lda-better-by-half"),
)
IDENTITIES = ("discrete-bound", "discrete-pessimistic", "mean-field-pessimistic", "continuous-optimistic", "normaliser")


def judged(name: str, of: Inputs, corpora: Sequence[str] = ()) -> Judgement:
    (claim,) = [claim for claim in CLAIMS if claim.name == name]
    return Judgement(name, tuple(claim.measure(of, corpora or of.settings.corpora)))


def against(topics: int, smoothing: float, evaluator: str, seed: int) -> float:  # noqa: ARG001
    """Perplexities that contradict the claims about folding in: full rises, half falls and lies lower."""
    return made_up(topics, 1e-4, FULL, seed) / 3.0 if evaluator == HALF else 100.0 * topics + seed


@pytest.fixture(scope="module")
def borne_out() -> Inputs:
    return inputs()


@pytest.fixture(scope="module")
def turned() -> Inputs:
    return inputs(p=against)


def test_claims_are_supported_by_scores_that_bear_them_out(borne_out: Inputs) -> None:
    for name in ("full-always-improves", "plsa-vem-similar", "half-above-full"):
        assert judged(name, borne_out).verdict == SUPPORTED, name
    assert judged("ica-collapses", on_two_splits(borne_out)).verdict == SUPPORTED
    for prior in ("", "-sparse-prior"):  # half of PLSA's perplexity, less of EPCA's
        assert {effect.estimate > 0.0 for effect in judged(f"lda-better{prior}", borne_out).effects} == {True}
    for name in ("plsa", "epca"):  # twice PLSA's, more than EPCA's
        found = judged(f"lda-better-than-{name}-by-half-fitted-prior", borne_out)
        assert all(effect.estimate < 0.0 for effect in found.effects), name
    assert judged("epca-similar", borne_out).verdict == CONTRADICTED  # 1.3 times


def test_claims_are_contradicted_by_scores_that_do_not(turned: Inputs) -> None:
    for name in ("full-always-improves", "half-above-full"):
        assert judged(name, turned).verdict == CONTRADICTED, name
    assert all(effect.estimate <= 0.0 for effect in judged("half-overfits", turned).effects)


@pytest.mark.parametrize("name", ON_DOCUMENTS)
def test_the_interval_holds_documents(borne_out: Inputs, name: str) -> None:
    """Two splits with the same scores have no spread of their own."""
    whole = judged(name, on_two_splits(borne_out)).effects
    held = judged(name, with_groups(on_two_splits(borne_out))).effects
    several = [(one, other) for one, other in zip(whole, held, strict=True) if one.replicates > 1]
    assert several
    for one, other in several:
        assert other.estimate == pytest.approx(one.estimate)
        assert other.error > one.error + 1e-9


def test_more_topics_than_words_are_one_fit_and_decide_nothing(borne_out: Inputs) -> None:
    (effect,) = judged("full-improves-beyond-vocabulary", borne_out).effects
    assert (effect.verdict, effect.replicates, effect.cells) == (UNDECIDED, 1, 3)
    assert effect.estimate > 0.0


def test_identities_stand_and_break_when_the_estimates_cross_the_exact_value(borne_out: Inputs) -> None:
    crossed = inputs(shift=20.0)
    for name in IDENTITIES:
        assert judged(name, borne_out).verdict == IDENTITY, name
        assert judged(name, crossed).verdict == CONTRADICTED, name
    assert judged("toy-values", borne_out).verdict == IDENTITY
    assert judged("toy-normaliser", borne_out).verdict == CONTRADICTED  # the source's sign


def test_one_document_above_the_bound_is_no_bound() -> None:
    study = inputs()
    table = study.measurements
    assert table is not None
    first = (table["quantity"] == "point-bound") & (table["at"] == table["at"].min())
    table.loc[first, "value"] = 0.0
    assert judged("discrete-pessimistic", study).verdict == CONTRADICTED


def test_tempering_is_judged_against_the_same_training_at_beta_1() -> None:
    study = on_two_splits(inputs())
    study = Inputs(**{**vars(study), "study": {**study.study, "seeds": [0, 1, 10, 11]}})
    study.study["models"]["plsa-tem"]["seeds"] = [0, 10]
    assert judged("tempering-no-advantage", study).verdict == SUPPORTED
    better = study.scores["variant"] == "beta-0.50"
    study.scores.loc[better, "log_likelihood"] += 0.7 * study.scores["tokens"]
    assert judged("tempering-no-advantage", study).verdict == CONTRADICTED


def test_training_times_come_from_the_reference_run(borne_out: Inputs) -> None:
    columns = ["rule", "corpus", "model", "variant", "topics", "seed", "seconds", "cpu_seconds", "memory_mb"]
    rows = [
        (rule, "nips", model, variant, "2", seed, seconds if rule == "training" else 1.0, 1.0, 1.0)
        for seed in ("0", "1")
        for model, variant, seconds in (("plsa-hof", "smoothed-after-training", 2.0), ("epca", "penalised", 9.0))
        for rule in ("training", "fit")  # of which only the training counts
    ]
    assert judged("epca-harder", borne_out).verdict == NOT_RUN
    (effect,) = judged("epca-harder", inputs(timings=pd.DataFrame(rows, columns=columns)), ["nips"]).effects
    assert (effect.verdict, effect.factor) == (SUPPORTED, True)
    assert effect.estimate == pytest.approx(1.5040774)  # log 4.5


def test_one_corpus_alone_has_no_longest_documents_to_compare_with(borne_out: Inputs) -> None:
    assert judged("half-sensitive", borne_out, ["cranfield"]).verdict == NOT_RUN
    assert len(judged("half-sensitive", borne_out).effects) == 2  # all but the longest
