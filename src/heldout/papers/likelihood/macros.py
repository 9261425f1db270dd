"""The numbers of what is new here: the optimism of folding-in and its repairs, and what libraries report."""

from heldout.inputs import Inputs
from heldout.papers.likelihood.claims import WITHIN
from heldout.papers.likelihood.exhibits import peers
from heldout.typesetting import latex
from heldout.typesetting.interpretations import asked
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    settings = asked(inputs, "optimism")
    return {
        "RepairWithin": f"{WITHIN:g}",
        "OptimismConstant": latex.power(settings["smoothing"]) if "smoothing" in settings else NOT_RUN,
        "OptimismLimit": latex.power(settings["limit"]) if "limit" in settings else NOT_RUN,
        **peers.macros(inputs),
    }
