"""The numbers of the text from made-up rows of Hofmann's experiment."""

import math

from made_hofmann import RANK, TOKENS, as_claimed, hofmann_inputs
from small_study import inputs, without

from artifact.papers.hofmann.macros import macros
from artifact.papers.hofmann.results import HEATED, SPECIFIC
from artifact.typesetting import latex

CORPORA = ("medline", "cranfield")


def test_macros_are_the_numbers_of_the_figure_and_the_same_for_every_study() -> None:
    numbers = macros(hofmann_inputs(CORPORA))
    bare = macros(inputs(without("tempering", "latent-semantic-analysis")))
    assert numbers.keys() == bare.keys()
    assert bare["CorpusTwoHofmannTemLowestAt"] == numbers["CorpusThreeHofmannTemLowestAt"] == "--"
    assert numbers["HofmannTrainShare"] == r"70\,\%"
    best = math.exp(-as_claimed(HEATED, SPECIFIC, 64))
    assert numbers["CorpusTwoHofmannTemLowestAt"] == f"{latex.perplexity(best)} (64*)"
    assert numbers["CorpusTwoHofmannUnigramLowest"] == latex.perplexity(3000.0)
    assert numbers["CorpusTwoHofmannCountsLowest"] == latex.perplexity(1500.0)
    assert numbers["CorpusTwoHofmannAnyLsaLowest"] == latex.perplexity(2200.0 / RANK**0.05)
    assert numbers["CorpusTwoHofmannFoldedInLowestAt"].startswith(latex.perplexity(best / math.e))
    assert (numbers["CorpusTwoHofmannRank"], numbers["CorpusTwoHofmannLeftOut"]) == (str(RANK), "3")
    assert numbers["CorpusTwoHofmannTokens"] == latex.integer(TOKENS)
    for name, value in numbers.items():
        assert latex.macro(name, value).startswith(r"\newcommand")
