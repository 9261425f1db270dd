"""What is new here: the likelihood that the sources called intractable, and how far folding-in is from it."""

from heldout.manifest import Exhibit, Paper

_X = "heldout.papers.likelihood.exhibits"
_OPTIMISM = ("optimism",)

LIKELIHOOD = Paper(
    name="likelihood",
    source="this paper",
    experiments=("optimism", "bidirectional", "epca-marginal", "precision", "peers"),
    optional=("peers",),
    exhibits={
        "figure-bidirectional": Exhibit(
            "figure", "the likelihood between two bounds", f"{_X}.bidirectional", "draw", ("bidirectional",)
        ),
        "figure-optimism": Exhibit(
            "figure",
            "folding-in beside the likelihood",
            f"{_X}.optimism",
            "draw",
            _OPTIMISM,
            claims=("full-above-truth", "gap-grows-with-topics", "half-ranks-as-truth"),
        ),
        "figure-optimism-by": Exhibit(
            "figure",
            "optimism by length and by constant",
            f"{_X}.optimism",
            "draw_by_length_and_constant",
            _OPTIMISM,
        ),
        "table-optimism": Exhibit("table", "folding-in beside the likelihood", f"{_X}.optimism", "render", _OPTIMISM),
        "figure-repair": Exhibit(
            "figure",
            "folding-in repaired",
            f"{_X}.repair",
            "draw",
            _OPTIMISM,
            claims=("laplace-repairs", "nml-repairs"),
        ),
        "table-repair": Exhibit("table", "folding-in repaired", f"{_X}.repair", "render", _OPTIMISM),
        "figure-epca-marginal": Exhibit(
            "figure",
            "EPCA's likelihood and its folding-in",
            f"{_X}.epca_marginal",
            "draw",
            ("epca-marginal",),
            claims=("epca-full-above-truth",),
        ),
        "figure-precision": Exhibit(
            "figure", "which estimator reaches an error first", f"{_X}.precision", "draw", ("precision",)
        ),
        "figure-peers": Exhibit(
            "figure",
            "what libraries report",
            f"{_X}.peers",
            "draw",
            ("peers",),
            claims=("peers-reported-grows", "peers-disagree", "peers-pessimistic"),
        ),
        "table-peers": Exhibit("table", "what libraries report", f"{_X}.peers", "render", ("peers",)),
    },
)
