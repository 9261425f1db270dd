"""What Welling et al. leave open: choices that are the study's, and effects of known ratios on made-up scores."""

from small_study import interpretations


def test_effects_are_relative_to_the_choice_at_the_same_point() -> None:
    lines = interpretations()
    # the alternative scores are 0.9 times the chosen ones at every point, whatever the seed and constant
    change = r"\ensuremath{-10.0}\,\%"
    assert (
        f"iterations 60: full {change} ({change} to {change}), half {change} ({change} to {change})"
        in lines["start and end of EM"]
    )
    assert r"beta 0.01: full \ensuremath{+100.0}\,\%" in lines["the Dirichlet parameters of LDA"]
    assert r"\(\alpha = 5 / K\), NIPS: full \ensuremath{-20.0}\,\%" in lines["the Dirichlet parameters of LDA"]
    assert r"sweeps 90 on NIPS: full \ensuremath{+100.0}\,\%," in lines["convergence of the Gibbs sampler"]  # one point
    assert (
        r"Cranfield, unstemmed, PLSA-HOF: full \ensuremath{+50.0}\,\%"
        in lines["preprocessing (only sizes are printed)"]
    )
    assert r"Medline: full \ensuremath{+10.0}\,\%" in lines["when the constant is added"]
    # single chains are 3 and 5 percent worse than the averaged distribution
    assert (
        r"NIPS: full \ensuremath{+4.0}\,\%"
        in lines["what is averaged over the samplers, of which the original has ten"]
    )


def test_what_no_score_measures_says_so() -> None:
    lines = interpretations()
    assert "not measured" in lines["documents of odd length"]
    assert "not measured" in lines["end of folding in"]
    assert "Cranfield, unstemmed, LDA: not measured" in lines["preprocessing (only sizes are printed)"]
    nothing = {"corpus": "cranfield", "corpora": [], "topics": [5], "seeds": [0], "variants": {}}
    assert interpretations(alternatives=nothing)["start and end of EM"].endswith(r"& not measured\\")


def test_choices_are_those_of_the_study() -> None:
    lines = interpretations()
    assert "uniform random start; 30 iterations" in lines["start and end of EM"]
    assert (
        r"at most 20 iterations, fewer where the maximum is at most \ensuremath{10^{-4}} nats"
        in lines["end of folding in"]
    )
    assert (
        r"\(\alpha\) is 50 divided by the number of topics, \(\beta\) is 0.1"
        in lines["the Dirichlet parameters of LDA"]
    )
    assert "each of 2 seeds" in lines["which documents are held out"]
    assert r"length \textgreater{}= 3" in lines["preprocessing (only sizes are printed)"]
