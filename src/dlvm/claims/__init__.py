"""The papers' claims, each as a test over scores and measurements: one file per paper, findings and verdicts come out.

To add a claim, add its function and its entry to the file of its paper.
"""

from dlvm.claims.buntine import BUNTINE
from dlvm.claims.finding import ALWAYS, FAILS, GENERALLY, HOLDS, Claim, Finding, counted, median, percent
from dlvm.claims.hofmann import HOFMANN
from dlvm.claims.peers import PEERS
from dlvm.claims.realistic import REALISTIC
from dlvm.claims.truth import TRUTH
from dlvm.claims.welling import WELLING
from dlvm.exhibits.inputs import Inputs

__all__ = [
    "ALWAYS",
    "CLAIMS",
    "FAILS",
    "GENERALLY",
    "HOLDS",
    "Claim",
    "Finding",
    "claim",
    "counted",
    "findings",
    "median",
    "percent",
]

CLAIMS = (*WELLING, *BUNTINE, *REALISTIC, *TRUTH, *HOFMANN, *PEERS)


def findings(inputs: Inputs) -> list[tuple[Claim, Finding]]:
    """Return every claim with what its test found over the study's corpora."""
    return [(claim, claim.check(inputs, inputs.settings.corpora)) for claim in CLAIMS]


def claim(name: str) -> Claim:
    """Return a claim by name."""
    return next(found for found in CLAIMS if found.name == name)
