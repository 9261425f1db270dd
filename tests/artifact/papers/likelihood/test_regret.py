"""Regret of a score's choice of the number of topics, on made-up groups of documents."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from artifact.papers.likelihood.claims import CHOICES, choosing, library_choosing, package_choosing
from artifact.verdicts.effects import WITHOUT
from artifact.verdicts.verdicts import UNDECIDED, Judgement
from small_study import inputs

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.regret import NUMBER, regrets, resolutions
from artifact.papers.likelihood.results import FITTED, OPTIMISM, PACKAGES, PEERS, main_constant
from artifact.papers.likelihood.tables import regrets as table
from artifact.results.scores import GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from heldout.evaluators import EXACT, FULL, HALF
from heldout.models import PLSA

TOPICS, TOKENS = (2, 3, 4), 10
BY_TOPICS = {
    (EXACT, OPTIMISM): (-7.0, -6.0, -6.5),  # nats per token: best with 3
    (EXACT, FITTED): (-7.0, -6.2, -6.0),  # best with 4
    (FULL, OPTIMISM): (-6.0, -5.0, -4.0),  # wants 4
    (HALF, OPTIMISM): (-7.0, -6.0, -7.0),  # wants 3
}


def given(tilt: float = 0.0) -> Inputs:
    """Return scores on two splits; `tilt` moves the likelihood of 4 topics up in even groups and down in odd ones."""
    base = inputs()
    rows = []
    for (evaluator, variant), values in BY_TOPICS.items():
        for K, value in zip(TOPICS, values, strict=True):
            for seed in (0, 1):
                of_group = np.full(GROUPS, value)
                if evaluator == EXACT and TOPICS[-1] == K:
                    of_group += tilt * np.where(np.arange(GROUPS) % 2 == 0, 1.0, -1.0)
                nats = of_group * TOKENS
                row = {"corpus": "cranfield", "model": PLSA, "variant": variant, "topics": K, "chain": "none"}
                row |= {"smoothing": main_constant(base), "evaluator": evaluator, "samples": 0, "seed": seed}
                row |= {"tokens": TOKENS * GROUPS, "log_likelihood": nats.sum(), "standard_error": 0.0}
                row |= dict.fromkeys(TOKENS_COLUMNS, TOKENS) | dict(zip(NATS_COLUMNS, nats, strict=True))
                rows.append(row)
    return replace(base, scores=pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("chooser", "judge", "chosen", "lost"),
    [
        (NUMBER, "model's prior", 4, 0.5),
        ("full folding-in", "model's prior", 4, 0.5),
        ("half folding-in", "model's prior", 3, 0.0),
        ("half folding-in", "fitted prior", 3, 0.2),
        ("likelihood, model's prior", "fitted prior", 3, 0.2),
    ],
)
def test_regret_is_what_the_judging_likelihood_loses(chooser: str, judge: str, chosen: int, lost: float) -> None:
    rows = regrets(given(), ["cranfield"], PLSA, chooser, judge)
    assert len(rows) == 4  # two splits, two halves
    assert (rows["chosen"] == chosen).all()
    assert rows[["gain", *WITHOUT]].to_numpy() == pytest.approx(lost)


def test_one_half_chooses_and_the_other_judges() -> None:
    rows = regrets(given(tilt=1.0), ["cranfield"], PLSA, NUMBER, "model's prior").set_index(["seed", "half"])
    assert rows.loc[(0, 0), "judged"] == 4  # the even groups like 4 topics best, as the number itself does
    assert rows.loc[(0, 0), "gain"] == 0.0
    assert rows.loc[(0, 1), "judged"] == 3  # the odd ones 3, of which the even ones have less than of 4: -6.0 to -5.5
    assert rows.loc[(0, 1), "gain"] == pytest.approx(-0.5)


def test_the_claim_is_of_every_model_and_judge_that_was_run() -> None:
    effects = {effect.part: effect for effect in choosing(given(), ["cranfield"], chooser="full folding-in")}
    assert set(effects) == {"PLSA, model's prior", "PLSA, fitted prior"}
    assert effects["PLSA, model's prior"].estimate == pytest.approx(0.5)
    assert effects["PLSA, model's prior"].verdict == UNDECIDED  # two splits, and a second best that is far


def test_a_choice_that_never_varies_is_no_surer_than_the_grid_allows() -> None:
    """The second best lies 0.5 off under the model's prior and 0.2 under the fitted one, whatever is chosen."""
    for judge, step in (("model's prior", 0.5), ("fitted prior", 0.2)):
        rows = regrets(given(), ["cranfield"], PLSA, "full folding-in", judge)
        assert rows["step"].to_numpy() == pytest.approx(step)
        assert resolutions(rows) == pytest.approx({"cranfield": step / 2.0 / 2.0**0.5})
        spread = np.std([step / 2.0, 0.0], ddof=1)  # two splits, in one of which one half of two chooses otherwise
        assert resolutions(rows)["cranfield"] == pytest.approx(spread)
    effects = {effect.part: effect for effect in choosing(given(), ["cranfield"], chooser="full folding-in")}
    never = effects["PLSA, fitted prior"]
    assert (never.estimate, never.verdict) == (0.0, UNDECIDED)
    assert never.error == pytest.approx(0.2 / 4.0)


def of_library(variant: str, corpus: str) -> Inputs:
    """Return scores of gensim's model, whose number is of all documents and wants 2."""
    base = given()
    scores = base.scores.assign(smoothing=0.0, corpus=corpus)
    exact, half = (scores["evaluator"] == name for name in (EXACT, HALF))
    truth = scores[exact & (scores["variant"] == OPTIMISM)].assign(model="gensim", variant=variant)
    reported = scores[half].assign(model="gensim", variant=variant, evaluator=REPORTED)
    reported["log_likelihood"] = -reported["topics"] * reported["tokens"]
    reported[list(NATS_COLUMNS)] = np.nan
    return replace(base, scores=pd.concat([truth, reported]))


def test_a_library_chooses_by_its_number_of_all_documents() -> None:
    found = library_choosing(of_library(PEERS, "cranfield"), ["cranfield"])
    assert [effect.part for effect in found] == ["gensim, library's number", "gensim, number of topics"]
    assert [effect.estimate for effect in found] == pytest.approx([1.0, 0.5])


def test_a_package_chooses_on_the_corpora_of_its_own_study() -> None:
    (effect,) = package_choosing(of_library(PACKAGES, "ap"), ["cranfield"])
    assert (effect.corpus, effect.part) == ("ap", "gensim")
    assert effect.estimate == pytest.approx(1.0)


def test_a_corpus_of_todays_size_has_scores_of_its_own() -> None:
    made = given()
    named = made.scores["variant"].str.replace(OPTIMISM, "choice")
    of_today = replace(made, scores=made.scores.assign(corpus="newsgroups", variant=named, smoothing=0.5))
    for judge, lost in (("model's prior", 0.5), ("fitted prior", 0.0)):
        rows = regrets(of_today, ["newsgroups"], PLSA, "full folding-in", judge)
        assert rows["gain"].to_numpy() == pytest.approx(lost)
    assert {effect.corpus for effect in choosing(of_today, ["cranfield"], chooser=NUMBER)} == {"newsgroups"}


def test_scores_without_groups_have_no_regret() -> None:
    without = given()
    without = replace(without, scores=without.scores.drop(columns=[*TOKENS_COLUMNS, *NATS_COLUMNS]))
    assert regrets(without, ["cranfield"], PLSA, "full folding-in", "model's prior").empty


def test_the_table_has_a_row_for_every_score_that_chooses() -> None:
    of_claims = {
        f"choice-by-{name}": Judgement(f"choice-by-{name}", tuple(choosing(given(), ["cranfield"], chooser=chooser)))
        for name, (chooser, _) in CHOICES.items()
    }
    text = table(replace(given(), judgements=of_claims))
    assert text.count("full folding-in") == 2  # judged under either prior
    assert r"full folding-in & \ensuremath{0.5} [" in text  # under the model's prior, where 3 topics are best
