"""Murphy's claims (2012, sections 27.2 and 27.3) about models of tokens, judged by likelihoods.

All scores are in nats per token. What the chapter calls "overfitting" is judged as a lower likelihood of held-out
documents under the same prior.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from heldout.claims import Claim, Measure
from heldout.effects import effects, largest_differences, less
from heldout.inputs import Inputs
from heldout.papers.murphy.claims_extensions import EXTENSIONS
from heldout.papers.murphy.claims_graphs import GRAPHS
from heldout.papers.murphy.claims_priors import PRIORS
from heldout.papers.murphy.claims_ratings import RATINGS_CLAIMS
from heldout.papers.murphy.claims_undirected import UNDIRECTED
from heldout.papers.murphy.experiments import evidence
from heldout.papers.murphy.experiments.online import ANALYSED
from heldout.papers.murphy.members.categorical_pca import DegenerateEM, ExactEM
from heldout.papers.murphy.members.gap import GAP_LESS_MPCA, NMF_UNDER_GAP, GaP
from heldout.papers.murphy.members.lda import CollapsedGibbs, Gibbs
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.members.mixtures import POISSON_LESS_PARTS
from heldout.papers.murphy.results import (
    EVIDENCE,
    LDA,
    LDA_HALF,
    MIXTURE,
    PERPLEXITY,
    PLSI_MODELS,
    PLSI_SCORES,
    SAMPLERS,
    UNIGRAM,
    Curve,
    corpora,
    curve_points,
    likelihoods,
    measured,
    runs,
)
from heldout.points import select
from heldout.verdicts import ANY, MODELS, NATS, SIMILAR, Effect

if TYPE_CHECKING:
    import pandas as pd

SAME = 1e-6  # nats, over which two ways to the same likelihood would differ
KEYS = ["corpus", "topics", "seed"]


def _by_split(inputs: Inputs, gains: "pd.DataFrame", part: str = "") -> list[Effect]:
    return effects(gains, margin=MODELS, held_out=inputs.held_out, part=part)


def identity(inputs: Inputs, _: Sequence[str], *, quantity: str) -> list[Effect]:
    """Hold two forms of one likelihood to each other; the effect is their largest difference."""
    return largest_differences(measured(inputs, quantity), SAME)


def degenerate_overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure categorical PCA fitted by EM with an exact E step against degenerate EM."""
    em, degenerate = (likelihoods(inputs, member.name) for member in (ExactEM, DegenerateEM))
    return _by_split(inputs, less(em, degenerate))


def collapsed_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what a collapsed chain has over an uncollapsed one after as many sweeps from the same start."""
    keys = ["corpus", "seed", "at"]
    rows = select(inputs.measurements, variant=SAMPLERS, quantity=LIKELIHOOD)
    own, other = (
        select(rows, model=member.name)[[*keys, "value", "standard_error"]].rename(columns={"standard_error": "error"})
        for member in (CollapsedGibbs, Gibbs)
    )
    return _by_split(inputs, less(own, other, keys))


def nmf_overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the topics of GaP against those of NMF under GaP's prior; either likelihood is estimated alike."""
    gap = likelihoods(inputs, GaP.name)
    nmf = measured(inputs, NMF_UNDER_GAP)[[*KEYS, "value"]].merge(gap[[*KEYS, "error"]], on=KEYS)
    return _by_split(inputs, less(gap, nmf))


def lda_above(inputs: Inputs, _: Sequence[str], *, others: Sequence[tuple[str, Curve]], ours: Curve) -> list[Effect]:
    """Measure a score of LDA against other scores at the same K and seed; a model without K has one for all.

    A part may name the inverse temperature of tempered EM, {beta}.
    """
    names = corpora(inputs, PERPLEXITY)
    lda = curve_points(inputs, names, ours)
    beta = inputs.settings.experiment(PERPLEXITY).get("settings", {}).get("beta")
    found = []
    for part, other in others:
        points = curve_points(inputs, names, other)
        if len(points) and points["topics"].nunique() == 1 != lda["topics"].nunique():
            points = lda[KEYS].merge(points.drop(columns="topics"), on=["corpus", "seed"])
        found += _by_split(inputs, less(lda, points), part.format(beta=beta))
    return found


def _against(*others: tuple[str, Curve], ours: Curve = LDA) -> Measure:
    return partial(lda_above, others=others, ours=ours)


def _plsi(end: str, score: str, statement: str, *ours: tuple[str, Curve]) -> Iterator[Claim]:
    """Yield the claims that LDA is below pLSI by one score, trained by EM and by tempered EM."""
    for training, model in PLSI_MODELS.items():
        tempered = training != "EM"
        test = "LDA's log-likelihood less pLSI's score, mean over K"
        yield Claim(
            f"plsi-worse-by-{end}" + ("-tempered" if tempered else ""),
            "section 27.3.3, Figure 27.6",
            f"{statement} ({training})",
            test
            + ("; at one inverse temperature, beta, fixed beforehand and not by held-out tokens" if tempered else ""),
            _against(
                ("beta {beta}" if tempered else "", Curve(model, (PLSI_SCORES[score],))),
                ours=ours[0][1] if ours else LDA,
            ),
        )


def online_faster(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what online has over batch after as many documents, wherever both were scored before batch's end."""
    return _online(inputs, margin=MODELS, ends=False)


def online_similar(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how far the last likelihoods of online and batch lie apart."""
    return _online(inputs, margin=SIMILAR, ends=True, test="similar")


def _online(inputs: Inputs, *, ends: bool, **how: Any) -> list[Effect]:
    """Return what online, by its batches, has over batch at the ends of both, or at the places before batch's end."""
    import pandas as pd

    rows, of = [], select(inputs.measurements, axis=ANALYSED)["corpus"]
    for seed, (batch, *others) in runs(inputs, LIKELIHOOD).items():
        *before, last = batch.points.items()
        for trace in others:
            pairs = [(at, trace.points[at], point) for at, point in before if at in trace.points]
            for at, own, other in [(last[0], list(trace.points.values())[-1], last[1])] if ends else pairs:
                gain, error = own.value - other.value, math.hypot(own.error, other.error)
                rows.append((of.iloc[0], trace.batch, seed, at, gain, error))
    table = pd.DataFrame(rows, columns=["corpus", "batch", "seed", "at", "gain", "error"])
    return [
        effect
        for batch, of_batch in table.groupby("batch")
        for effect in effects(
            of_batch.drop(columns="batch"), part=f"batches of {batch}", held_out=inputs.held_out, **how
        )
    ]


def finds_topics(inputs: Inputs, _: Sequence[str], *, quantity: str) -> list[Effect]:
    """Measure the lead of the K that documents were drawn with over the best other one."""
    true = inputs.settings.experiment(EVIDENCE).get("settings", {}).get("true_topics")
    rows = select(inputs.measurements, variant=EVIDENCE, quantity=quantity)
    rows = rows[["seed", "at", "value", "standard_error"]].rename(columns={"standard_error": "error"})
    own, others = rows[rows["at"] == true], rows[rows["at"] != true]
    if quantity == evidence.FORWARDS and len(own):  # a lower bound: half of what an upper one lies above it
        upper = measured(inputs, evidence.BACKWARDS).set_index("seed")["value"]
        own = own.assign(error=own["error"] + (own["seed"].map(upper) - own["value"]).clip(lower=0.0).fillna(0.0) / 2.0)
    best = others.loc[others.groupby("seed")["value"].idxmax()] if len(others) else others
    return effects(less(own, best, ["seed"]).assign(corpus="none"), margin=ANY, unit=NATS)


CLAIMS = (
    Claim(
        "gap-given-length-is-mpca",
        "section 27.2.4",
        "GaP given a document's length is multinomial PCA",
        "the exact likelihood of GaP with equal rates beta against a negative binomial length times that of LDA with"
        " the same b and alpha, on every test document: Poissons given their sum are multinomial",
        partial(identity, quantity=GAP_LESS_MPCA),
    ),
    Claim(
        "poisson-mixture-has-poisson-length",
        "section 27.2.1",
        "A mixture of Poissons (27.5) is one of multinomials (27.4) whose components have Poisson lengths",
        "both likelihoods on every test document: Poissons given their sum are multinomial",
        partial(identity, quantity=POISSON_LESS_PARTS),
    ),
    Claim(
        "degenerate-em-overfits",
        "section 27.2.2",
        "A point estimate of z in the E step overfits; EM does not",
        "categorical PCA with the same penalty: likelihood of held-out data by EM, its E step by quadrature, less that"
        " by degenerate EM, mean over K",
        degenerate_overfits,
    ),
    Claim(
        "collapsed-is-better",
        "section 27.3.4",
        "Gibbs sampling performs better with weights and topics integrated out",
        "chains of LDA from the same topics of the tokens: likelihood of held-out documents, collapsed less"
        " uncollapsed, mean over states after 1, 2, 4, .. sweeps",
        collapsed_better,
    ),
    Claim(
        "nmf-overfits",
        "section 27.2.4",
        "NMF suffers from overfitting, which GaP overcomes",
        "likelihood of held-out documents under GaP's prior, with its own b less with that of NMF, smoothed, mean over"
        " K",
        nmf_overfits,
    ),
    Claim(
        "lda-outperforms-simpler",
        "section 27.3.3, Figure 27.6",
        "LDA significantly outperforms unigram and mixture of multinomials",
        "likelihood of held-out documents, LDA's less the other's, mean over K",
        _against(("than unigram", UNIGRAM), ("than mixture", MIXTURE)),
    ),
    *_plsi("full", "full folding-in", "LDA's perplexity is below that of pLSI folded in on the whole document"),
    *_plsi(
        "half",
        "half folding-in",
        "LDA's perplexity is below that of pLSI where both are folded in on one half and scored on the other",
        ("", LDA_HALF),
    ),
    *_plsi(
        "mixture",
        "training mixture",
        "LDA's perplexity is below that of pLSI as the mixture over its training documents",
    ),
    Claim(
        "online-is-faster",
        "section 27.3.7, Figure 27.9",
        "Online variational inference is much faster than offline inference",
        "likelihood of held-out documents after as many documents analysed, before batch ends, online less batch, mean",
        online_faster,
    ),
    Claim(
        "online-is-similar",
        "section 27.3.7, Figure 27.9",
        "Online variational inference produces results similar to offline inference",
        "last likelihoods of held-out documents, online less batch, within the margin",
        online_similar,
    ),
    *(
        Claim(
            f"{name}-finds-topics",
            "section 27.3.8",
            f"The number of topics is found by {words}",
            f"on documents drawn from LDA: {words} at the number of topics that they have, less the best of the others",
            partial(finds_topics, quantity=quantity),
        )
        for name, quantity, words in (
            ("evidence", evidence.FORWARDS, "the evidence by annealing"),
            ("bound", evidence.BOUND, "the variational bound"),
            ("held-out", evidence.HELD_OUT, "the likelihood of held-out documents"),
        )
    ),
    *UNDIRECTED,
    *PRIORS,
    *GRAPHS,
    *RATINGS_CLAIMS,
    *EXTENSIONS,
)
