"""Murphy's claims (2012, section 27.7) about undirected models, judged by likelihoods.

Scores are in nats per token, or per response of a record. Models are compared where both have a likelihood, exact or
annealed; its error enters the interval.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from heldout import models
from heldout.claims import Claim
from heldout.effects import effects, largest_differences, less
from heldout.inputs import Inputs
from heldout.papers.murphy.comparison import SPLIT, compared
from heldout.papers.murphy.experiments import boltzmann, replicated_softmax, undirected_units
from heldout.papers.murphy.manifest_undirected import BOLTZMANN, SOFTMAX, UNITS
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.results_undirected import average_precision, trained, valued
from heldout.points import select
from heldout.verdicts import MODELS, Effect, Margin

if TYPE_CHECKING:
    import pandas as pd

SAME = 1e-6  # nats, over which two ways to the same density would differ
RANKS = Margin(
    0.01, "average precision", "a hundredth of the documents looked through", "2026-11-25, before retrieval was run"
)


def _one(rows: "pd.DataFrame", model: str, topics: int | None = None) -> "pd.DataFrame":
    """Return the rows of a model with some K, the fewest where none is given."""
    own = select(rows, model=model)
    return own[own["topics"] == (own["topics"].min() if topics is None else topics)]


def of_machines(inputs: Inputs, _: Sequence[str], *, one: str, others: Sequence[tuple[str, str]]) -> list[Effect]:
    """Measure the likelihood of a machine, with the fewest hidden units, against others."""
    rows, found = valued(inputs, BOLTZMANN), []
    for part, other in others:
        gains = less(_one(rows, one), _one(rows, other), SPLIT)
        found += effects(gains, margin=MODELS, held_out=inputs.held_out, part=part)
    return found


def early(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure contrastive divergence against the persistent one over the first half of the updates."""
    cd, pcd = (trained(inputs, LIKELIHOOD, model) for model in (boltzmann.ONE, boltzmann.PERSISTENT))
    gains = less(cd, pcd, ["corpus", "seed", "at"])
    gains = gains[(gains["at"] > 0) & (2 * gains["at"] <= gains["at"].max())]
    return effects(gains, margin=MODELS, held_out=inputs.held_out)


def of_documents(inputs: Inputs, _: Sequence[str], *, one: str, other: str) -> list[Effect]:
    """Measure a model with the most components that have an equal in the chapter's table against another, by its K."""
    rows, found = valued(inputs, SOFTMAX), []
    ours = select(rows, model=one)
    for K in sorted(set(select(rows, model=other if one == replicated_softmax.SOFTMAX else one)["topics"])):
        if one == replicated_softmax.SOFTMAX:
            pair, part = (_one(ours, one, int(ours["topics"].max())), _one(rows, other, int(K))), f"than K = {K}"
        else:
            pair, part = (_one(ours, one, int(K)), _one(rows, other)), f"K = {K}"
        found += effects(less(*pair, SPLIT), margin=MODELS, held_out=inputs.held_out, part=part)
    return found


def retrieves(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the mean average precision of the replicated softmax against LDA's."""
    ours, other = (average_precision(inputs, model) for model in (replicated_softmax.SOFTMAX, models.LDA))
    gains = less(ours, other, SPLIT)
    return effects(gains, margin=RANKS, held_out=inputs.held_out)


def identity(inputs: Inputs, _: Sequence[str], *, model: str) -> list[Effect]:
    """Hold a machine's density to that of the directed model that it is; the effect is the largest difference."""
    rows = select(inputs.measurements, variant=UNITS, model=model, quantity=undirected_units.IDENTITY)
    return largest_differences(rows, SAME)


UNDIRECTED = (
    Claim(
        "pcd-better-than-cd",
        "section 27.7.2.5",
        "Persistent contrastive divergence often works better than contrastive divergence",
        "exact likelihood of held-out records after as many updates from one start, persistent less other",
        partial(
            of_machines,
            one=boltzmann.PERSISTENT,
            others=(("than one sweep", boltzmann.ONE), ("than more sweeps", boltzmann.MORE)),
        ),
    ),
    Claim(
        "cd-faster-early",
        "section 27.7.2.5",
        "Contrastive divergence can be faster than persistent contrastive divergence in the early stages of learning",
        "exact likelihood of held-out records after 1, 2, 4, .. updates up to half of them, one sweep less persistent,"
        " mean",
        early,
    ),
    Claim(
        "mean-field-fails",
        "section 27.7.2.3",
        "Mean field in the negative phase does not work",
        "exact likelihood of held-out records, the other model's less that of the machine trained so",
        partial(of_machines, one=boltzmann.ONE, others=(("than one sweep", boltzmann.FIELD),)),
    ),
    Claim(
        "mean-field-below-independent",
        "section 27.7.2.3",
        "Mean field in the negative phase leaves less than independent responses",
        "exact likelihood of held-out records, independent responses less the machine trained so",
        partial(of_machines, one=boltzmann.INDEPENDENT, others=(("", boltzmann.FIELD),)),
    ),
    Claim(
        "machine-better-than-mixture",
        "section 27.7",
        "A product of experts might work better than a mixture",
        "exact likelihood of held-out records, machine by persistent contrastive divergence less mixture with one"
        " component more than it has hidden units",
        partial(of_machines, one=boltzmann.PERSISTENT, others=(("", boltzmann.MIXTURE),)),
    ),
    Claim(
        "lda-better-than-unigram",
        "section 27.7.3.1, Figure 27.32",
        "LDA is significantly better than a unigram model",
        "likelihood of held-out documents, LDA's less the unigram's",
        partial(of_documents, one=models.LDA, other=replicated_softmax.UNIGRAM),
    ),
    Claim(
        "softmax-better-than-lda",
        "section 27.7.3.1, Figure 27.32",
        "A replicated softmax is significantly better than LDA",
        "likelihood of held-out documents, the annealed one of the replicated softmax less LDA's",
        partial(of_documents, one=replicated_softmax.SOFTMAX, other=models.LDA),
    ),
    Claim(
        "softmax-retrieves-better",
        "section 27.7.3.1, Figure 27.33",
        "A replicated softmax retrieves more accurately than LDA",
        "mean average precision of training documents of the query's group, replicated softmax less LDA",
        retrieves,
    ),
    Claim(
        "binary-better-than-gaussian",
        "section 27.7.1.4",
        "Gaussian hidden units are significantly inferior to binary ones",
        "exact likelihood of held-out records, binary hidden units less Gaussian ones, mean over K",
        partial(compared, experiment=UNITS, pairs=(("", undirected_units.RBM_NAME, undirected_units.PCA),)),
    ),
    Claim(
        "gaussian-units-are-factor-analysis",
        "section 27.7.1.4",
        "With Gaussian units on both sides a machine is factor analysis",
        "its log density against that of the directed model on every held-out document: both are Gaussian, with the"
        " precision I - W W'",
        partial(identity, model=undirected_units.FACTORS),
    ),
    Claim(
        "gaussian-rbm-is-mixture",
        "section 27.7.1.3",
        "A Gaussian machine with binary hidden units is a mixture of Gaussians, one for each of their states",
        "its log density against that of the mixture on every held-out document: the units are Gaussian given h",
        partial(identity, model=undirected_units.MIXTURE),
    ),
)
