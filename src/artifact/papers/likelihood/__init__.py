"""The new results: the likelihood that the sources called intractable, and the distance of folding-in from it."""

from artifact.papers.likelihood.settings import (
    Bidirectional,
    Choice,
    EPCAMarginal,
    IsAProbability,
    Law,
    LongChains,
    Optimism,
    Packages,
    Precision,
    PriorShare,
    Reference,
    SameHalves,
    Validation,
)
from artifact.study.manifest import Exhibit, Experiment, Paper
from artifact.study.study import DRIVEN, PEERS
from heldout.models import EPCA, LDA, PLSA, VEM

OPTIMISM, PROBABILITY = ("optimism",), ("is-a-probability",)

LIKELIHOOD = Paper(
    module=__name__,
    source="this paper",
    experiments={
        "optimism": Experiment(Optimism, models=(PLSA, VEM, LDA), topics="list"),
        "reference": Experiment(Reference, standalone=True),
        "prior-share": Experiment(PriorShare, topics="either", standalone=True),
        "same-halves": Experiment(SameHalves, topics="either", standalone=True),
        "law": Experiment(Law, corpora="split or none", topics="either", standalone=True),
        "choice": Experiment(Choice, topics="either", standalone=True),
        "long-chains": Experiment(LongChains, topics="either", standalone=True),
        "validation": Experiment(Validation, topics="either", standalone=True),
        "bidirectional": Experiment(Bidirectional, models=(PLSA, VEM, LDA), topics="list"),
        "epca-marginal": Experiment(EPCAMarginal, models=(EPCA,), topics="list"),
        "precision": Experiment(Precision, corpora="none", topics="list", standalone=True),
        "is-a-probability": Experiment(IsAProbability, corpora="drawn or none", topics="either"),
        "peers": Experiment(Packages, models=tuple(PEERS), topics="list"),
        "packages": Experiment(Packages, models=(*PEERS, *DRIVEN), topics="either", standalone=True),
    },
    optional=(
        "reference",
        "precision",
        "is-a-probability",
        "peers",
        "packages",
        "validation",
        "prior-share",
        "same-halves",
        "choice",
        "long-chains",
        "law",
    ),
    front_page=True,
    exhibits={
        "figure-message": Exhibit(
            "what folding-in reports, how far that is from the likelihood, and what it cannot be",
            "figures.message",
            (*OPTIMISM, "law"),
        ),
        "table-recommendation": Exhibit(
            "the likelihood: exact or by the reference, with its cost and its error",
            "tables.recommendation",
            ("precision",),
        ),
        "table-verification": Exhibit("the numbers that `make verify` compares", "headline.table", OPTIMISM),
        "table-validation": Exhibit("the reference held to independent estimates", "tables.validated", ("validation",)),
        "figure-bidirectional": Exhibit(
            "the likelihood between two bounds", "figures.bidirectional", ("bidirectional",)
        ),
        "figure-optimism": Exhibit(
            "folding-in beside the likelihood",
            "figures.optimism",
            OPTIMISM,
        ),
        "figure-gap": Exhibit(
            "folding-in's distance from the likelihood, by K and by prior", "question_figures.gap", OPTIMISM
        ),
        "figure-law": Exhibit("folding-in's excess against the law", "law.figure", ("law",)),
        "table-law": Exhibit("the registered statements on the excess, and their outcomes", "law.table", ("law",)),
        "figure-share": Exhibit("the prior's share of the gap, by K", "question_figures.prior", OPTIMISM),
        "figure-share-others": Exhibit(
            "the prior's share of the gap under one or four Dirichlets of training or other test documents, by K",
            "question_figures.other_priors",
            OPTIMISM,
        ),
        "figure-choice": Exhibit("the cost of choosers of K", "question_figures.choice", OPTIMISM),
        "figure-models": Exhibit("LDA beside PLSA by the likelihood", "question_figures.models", OPTIMISM),
        "figure-optimism-by": Exhibit("optimism by length and by constant", "figures.optimism_by", OPTIMISM),
        "table-best-topics": Exhibit(
            "the numbers of topics that a score cannot tell from its best", "tables.best_topics", OPTIMISM
        ),
        "table-regret": Exhibit(
            "what choosing the number of topics by another score costs",
            "tables.regrets",
            OPTIMISM,
        ),
        "figure-prior-share": Exhibit(
            "the gap under priors that other test documents fitted, and the sum of a prior's parameters as a dial",
            "figures.prior_share",
            ("prior-share",),
        ),
        "table-same-halves": Exhibit(
            "half folding-in beside the average that it stands for",
            "same_halves.table",
            ("same-halves",),
        ),
        "table-long-chains": Exhibit(
            "LDA by chains that are ten times as long",
            "tables.longer_chains",
            ("long-chains",),
        ),
        "table-prior-share": Exhibit("the prior's share of the gap", "tables.prior_share", ("prior-share",)),
        "table-newsgroups": Exhibit(
            "the gap on a corpus of today's size",
            "tables.newsgroups",
            ("prior-share",),
            shows=("newsgroups",),
        ),
        "table-optimism": Exhibit("folding-in beside the likelihood", "tables.optimism", OPTIMISM),
        "figure-repair": Exhibit(
            "folding-in repaired",
            "figures.repair",
            OPTIMISM,
        ),
        "table-repair": Exhibit("folding-in repaired", "tables.repair", OPTIMISM),
        "figure-epca-marginal": Exhibit(
            "EPCA's likelihood and its folding-in",
            "figures.epca_marginal",
            ("epca-marginal",),
        ),
        "figure-precision": Exhibit("which estimator reaches an error first", "figures.precision", ("precision",)),
        "figure-is-a-probability": Exhibit(
            "is it a probability?",
            "figures.is_a_probability",
            PROBABILITY,
        ),
        "table-is-a-probability": Exhibit("is it a probability?", "tables.is_a_probability", PROBABILITY),
        "figure-peers": Exhibit(
            "what libraries report",
            "figures.peers",
            ("peers",),
        ),
        "table-peers": Exhibit("what libraries report", "tables.peers", ("peers",)),
        "figure-packages": Exhibit(
            "one model, many perplexities",
            "packages.one_model",
            ("packages",),
        ),
        "table-packages": Exhibit("what packages' numbers choose", "packages.choice", ("packages",)),
        "table-packages-parts": Exhibit("what packages' numbers are made of", "packages.parts", ("packages",)),
        "table-packages-mend": Exhibit("scikit-learn's perplexity, mended", "packages.mend", ("packages",)),
    },
)
