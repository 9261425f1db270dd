"""More topics than words: what full and half folding-in make of a model that cannot be identified."""

from matplotlib.figure import Figure

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.papers.welling.exhibits import smoothing_curves
from heldout.papers.welling.results import curves


def draw(inputs: Inputs) -> Figure:
    """Draw PLSA's curves up to numbers of topics beyond the vocabulary, which is marked."""
    settings = inputs.settings
    corpus = settings.beyond_corpus
    topics = sorted({*settings.topics, *settings.beyond_topics})
    found = [
        curves(
            inputs.scores,
            corpus=corpus,
            model=PLSA,
            variant=settings.variant(PLSA),
            evaluator=evaluator,
            topics=topics,
            seeds=settings.beyond_seeds,
        )
        for evaluator in FOLDING_IN
    ]
    vocabulary = int(inputs.corpus(corpus)["vocabulary"])
    return smoothing_curves.draw(found, topics, synthetic=inputs.synthetic(corpus), vocabulary=vocabulary)
