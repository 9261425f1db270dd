"""What is new here: the likelihood that the sources called intractable, and how far folding-in is from it."""

from heldout.manifest import Exhibit, Experiment, Paper
from heldout.models import EPCA, LDA, PLSA, VEM
from heldout.papers.likelihood.settings import (
    Bidirectional,
    EPCAMarginal,
    IsAProbability,
    Optimism,
    Peers,
    Precision,
    Reference,
)
from heldout.study import PEERS

_FIGURES, _TABLES = "heldout.papers.likelihood.figures", "heldout.papers.likelihood.tables"
_OPTIMISM, _PROBABILITY = ("optimism",), ("is-a-probability",)

LIKELIHOOD = Paper(
    module=__name__,
    source="this paper",
    experiments={
        "optimism": Experiment(Optimism, models=(PLSA, VEM, LDA), topics="list"),
        "reference": Experiment(Reference),
        "bidirectional": Experiment(Bidirectional, models=(PLSA, VEM, LDA), topics="list"),
        "epca-marginal": Experiment(EPCAMarginal, models=(EPCA,), topics="list"),
        "precision": Experiment(Precision, corpora="none", topics="list"),
        "is-a-probability": Experiment(IsAProbability, corpora="drawn or none", topics="either"),
        "peers": Experiment(Peers, models=tuple(PEERS), topics="list"),
    },
    optional=("is-a-probability", "peers"),
    front_page="front_page",
    exhibits={
        "figure-message": Exhibit(
            "figure",
            "what folding-in reports, how far that is from the likelihood, and what it cannot be",
            _FIGURES,
            "message",
            (*_OPTIMISM, *_PROBABILITY),
            claims=("full-above-truth", "folding-in-is-no-probability"),
        ),
        "table-recommendation": Exhibit(
            "table",
            "the likelihood: exact or by the reference, with its cost and its error",
            _TABLES,
            "recommendation",
            ("precision",),
        ),
        "figure-bidirectional": Exhibit(
            "figure", "the likelihood between two bounds", _FIGURES, "bidirectional", ("bidirectional",)
        ),
        "figure-optimism": Exhibit(
            "figure",
            "folding-in beside the likelihood",
            _FIGURES,
            "optimism",
            _OPTIMISM,
            claims=(
                *("full-above-truth", "gap-grows-with-topics", "no-prior-closes-the-gap"),
                *("full-ranks-as-truth", "full-ranks-as-truth-fitted-priors", "half-ranks-as-truth"),
            ),
        ),
        "figure-optimism-by": Exhibit(
            "figure", "optimism by length and by constant", _FIGURES, "optimism_by", _OPTIMISM
        ),
        "table-optimism": Exhibit("table", "folding-in beside the likelihood", _TABLES, "optimism", _OPTIMISM),
        "figure-repair": Exhibit(
            "figure",
            "folding-in repaired",
            _FIGURES,
            "repair",
            _OPTIMISM,
            claims=("laplace-repairs", "nml-repairs"),
        ),
        "table-repair": Exhibit("table", "folding-in repaired", _TABLES, "repair", _OPTIMISM),
        "figure-epca-marginal": Exhibit(
            "figure",
            "EPCA's likelihood and its folding-in",
            _FIGURES,
            "epca_marginal",
            ("epca-marginal",),
            claims=("epca-full-above-truth",),
        ),
        "figure-precision": Exhibit(
            "figure", "which estimator reaches an error first", _FIGURES, "precision", ("precision",)
        ),
        "figure-is-a-probability": Exhibit(
            "figure",
            "is it a probability?",
            _FIGURES,
            "is_a_probability",
            _PROBABILITY,
            claims=(
                *("folding-in-is-no-probability", "laplace-may-be-a-probability"),
                *("estimates-may-be-probabilities", "reports-may-be-probabilities"),
            ),
        ),
        "table-is-a-probability": Exhibit("table", "is it a probability?", _TABLES, "is_a_probability", _PROBABILITY),
        "figure-peers": Exhibit(
            "figure",
            "what libraries report",
            _FIGURES,
            "peers",
            ("peers",),
            claims=("peers-reported-grows", "peers-disagree", "peers-pessimistic"),
        ),
        "table-peers": Exhibit("table", "what libraries report", _TABLES, "peers", ("peers",)),
    },
)
