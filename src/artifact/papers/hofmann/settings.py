"""The settings of the experiments on Hofmann (1999)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Len, Lt, Unit, doc

from artifact.study.settings import Several
from heldout.models.settings import Count, Positive, Tolerance

Share = Annotated[float, Gt(0), Lt(1)]
Shares = Annotated[
    tuple[Share, ...], Len(3, 3), doc("shares of training, validation and test tokens in every document")
]


@dataclass(frozen=True, kw_only=True)
class LatentSemanticAnalysis:
    """Settings of `latent-semantic-analysis`; of the last three one each is chosen on validation tokens."""

    shares: Shares
    ranks: Annotated[Several[Count], doc("ranks k; the rank of the training counts is added, larger ones are left out")]
    exponents: Annotated[Several[Positive], doc("exponents of cosines")]
    constants: Annotated[Several[Positive], doc("constants added to every word's count in the unigram")]
    masses: Annotated[
        Several[Positive], Unit("tokens"), doc("masses of the unigram that are added to a document's counts")
    ]


@dataclass(frozen=True, kw_only=True)
class Tempering:
    """Settings of `tempering`."""

    shares: Shares
    early_patience: Annotated[Count, doc("iterations without improvement after which early stopping ends")]
    eta: Annotated[Share, doc("factor by which beta falls, or rises on the coarse schedule")]
    tolerance: Annotated[
        Tolerance, doc("gain that counts on the coarse schedule; share by which a worse perplexity ends annealing")
    ]
    patience: Annotated[Count, doc("values of beta without improvement after which a schedule stops")]
    iterations: Annotated[Count, doc("largest number of iterations of a fit")]
    annealing_topics: Annotated[int, Ge(0), doc("largest K that is annealed too")]
    annealing_start: Annotated[float, Gt(0), Le(1), doc("first beta of annealing")]
    annealing_eta: Annotated[Share, doc("factor by which annealing's beta rises, or falls on the fine schedule")]
    convergence: Annotated[Tolerance, doc("gain that counts on the fine schedule")]
    annealing_noise: Annotated[float, Ge(0), Le(0.1), doc("noise on every p(w | z) at a new beta")]
    path_topics: Annotated[Several[Count], doc("numbers K of topics at which every iteration is reported")]
    folded_in_topics: Annotated[
        Several[Count], doc("numbers K of topics at which weights are folded in on all tokens too")
    ]
    fold_in_iterations: Annotated[Count, doc("largest number of iterations of folding in")]
    fold_in_tolerance: Annotated[Tolerance, doc("distance from the maximum at which folding in stops")]
    samples: Annotated[
        int, Ge(240), Unit("sweeps"), doc("largest number of samples of the reference over a document, on average")
    ]
    predictive_samples: Annotated[int, Ge(2), doc("number of states of the chain behind the posterior predictive")]
    prior_sums: Annotated[
        Several[Positive], doc("candidates for K times the prior's parameter; validation tokens choose")
    ]
    prior_samples: Annotated[int, Ge(2), doc("number of states of the chain, or sweeps, behind this choice")]
    limit: Annotated[Positive, Unit("updates"), doc("largest cost of exact values")]
