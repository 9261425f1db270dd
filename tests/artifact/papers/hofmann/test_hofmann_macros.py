"""The numbers of the text from made-up rows of Hofmann's experiment."""

from made_hofmann import hofmann_inputs
from small_study import inputs, without

from artifact.papers.hofmann.macros import macros
from artifact.typesetting import latex


def test_macros_are_the_same_for_every_study() -> None:
    numbers = macros(hofmann_inputs(("medline", "cranfield")))
    bare = macros(inputs(without("tempering", "latent-semantic-analysis")))
    assert numbers.keys() == bare.keys()
    assert (numbers["HofmannTrainShare"], bare["HofmannTrainShare"]) == (r"70\,\%", "not run")
    for name, value in numbers.items():
        assert latex.macro(name, value).startswith(r"\newcommand")
