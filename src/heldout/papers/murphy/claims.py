"""Murphy's claims (2012, sections 27.2 and 27.3) about models of tokens, tested with likelihoods.

All scores are in nats per token. A sampled score counts only beyond `SEEN` of its standard errors. What the chapter
calls "overfitting" is tested as a lower likelihood of held-out documents under the same prior.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from heldout.claims import Check, Claim
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import evidence, samplers
from heldout.papers.murphy.members.categorical_pca import TRAINING, DegenerateEM, VariationalEM
from heldout.papers.murphy.members.gap import GAP_LESS_MPCA, NMF_UNDER_GAP, GaP
from heldout.papers.murphy.members.lda import CollapsedGibbs, Gibbs
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.members.mixtures import POISSON_LESS_PARTS
from heldout.papers.murphy.results import (
    EVIDENCE,
    LDA,
    LDA_COMPLETION,
    LDA_HALF,
    MIXTURE,
    PERPLEXITY,
    PLSI_MODELS,
    PLSI_SCORES,
    UNIGRAM,
    Curve,
    Trace,
    chosen_topics,
    corpora,
    curve,
    likelihoods,
    measured,
    sampled,
    seeds,
    traces,
)
from heldout.points import Point
from heldout.verdicts import Finding, above, counted, median, within

SIMILAR = 1.05  # factor of perplexity
SAME = 1e-6  # nats, over which two ways to the same likelihood would differ


def identity(inputs: Inputs, _: Sequence[str], *, quantity: str, reason: str) -> Finding:
    """Return the largest difference of two forms of one likelihood."""
    values = measured(inputs, quantity)
    effect = f"largest difference {max(values.values(), default=0.0):.1e} nats per document"
    return counted((value < SAME for value in values.values()), effect, (key[3] for key in values), identity=reason)


class Gain(NamedTuple):
    """The difference of two scores of one place, nats per token, with its error and seed."""

    value: float
    error: float
    seed: int


def gain(one: Point, other: Point, seed: int) -> Gain:
    """Return by how much one score exceeds another."""
    return Gain(one.value - other.value, math.hypot(one.error, other.error), seed)


def higher(gains: Sequence[Gain], effect: str) -> Finding:
    """Return the finding that gains are above 0."""
    agree = (above(gain.value, gain.error) for gain in gains)
    return counted(agree, effect, (gain.seed for gain in gains), errors=[gain.error for gain in gains])


def spread(gains: Sequence[Gain], digits: int) -> str:
    """Return median and range in words."""
    values = [gain.value for gain in gains]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return f"median {median(values):+.{digits}f}, {low:+.{digits}f} to {high:+.{digits}f}"


def degenerate_overfits(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare categorical PCA fitted by variational and by degenerate EM, held out and in training."""
    em, degenerate = likelihoods(inputs, VariationalEM.name), likelihoods(inputs, DegenerateEM.name)
    both = sorted(em.keys() & degenerate.keys())
    gains = [gain(em[at], degenerate[at], at[2]) for at in both]
    own = measured(inputs, TRAINING)
    places = (((c, VariationalEM.name, K, seed), (c, DegenerateEM.name, K, seed)) for c, K, seed in both)
    in_training = median(own[one] - own[other] for one, other in places if one in own and other in own)
    effect = f"held out {spread(gains, 4)}; in training median {in_training:+.4f}"
    return higher(gains, f"likelihood of EM less that of degenerate EM, nats per token: {effect}")


def collapsed_better(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare what collapsed and uncollapsed chains have after as many sweeps from the same start."""
    ours, others = (sampled(inputs, model, LIKELIHOOD) for model in (CollapsedGibbs.name, Gibbs.name))
    joints, other_joints = (sampled(inputs, model, samplers.JOINT) for model in (CollapsedGibbs.name, Gibbs.name))
    places = [
        (chain, sweep)
        for chain in sorted(ours.keys() & others.keys())
        for sweep in sorted(ours[chain].keys() & others[chain].keys())
    ]
    gains = [gain(ours[chain][sweep], others[chain][sweep], chain[1]) for chain, sweep in places]
    more = sum(joints[chain][sweep].value > other_joints[chain][sweep].value for chain, sweep in places)
    joint = f"log p(y, q) of the training documents higher in {more} of {len(places)}"
    return higher(gains, f"collapsed less uncollapsed, nats per token: {spread(gains, 3)}; {joint}")


def nmf_overfits(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare the topics of NMF with those of GaP under GaP's prior."""
    gap = likelihoods(inputs, GaP.name)
    gains = [
        # NMF's is estimated in the same way
        Gain(gap[corpus, K, seed].value - value, math.sqrt(2.0) * gap[corpus, K, seed].error, seed)
        for (corpus, _, K, seed), value in measured(inputs, NMF_UNDER_GAP).items()
        if (corpus, K, seed) in gap
    ]
    return higher(gains, f"GaP less NMF, nats per token: {spread(gains, 4)}")


def lda_above(
    inputs: Inputs, _: Sequence[str], *, others: Sequence[Curve], ours: Curve, integrated: Curve | None
) -> Finding:
    """Compare a score of LDA with other scores at the same K and seed; a model without K has one for all.

    The effect also tells the perplexity of `integrated`, another score of LDA, over that of `ours`.
    """
    beside, gains, ratios = [], [], []
    for corpus in corpora(inputs, PERPLEXITY):
        for seed in seeds(inputs, PERPLEXITY):
            lda = curve(inputs, corpus, ours, seed)
            if integrated is not None:
                better = curve(inputs, corpus, integrated, seed)
                beside += [math.exp(lda[K].value - better[K].value) for K in lda if K in better]
            for other in others:
                points = curve(inputs, corpus, other, seed)
                pairs = ((K, point, points.get(K, points.get(1))) for K, point in lda.items())
                found = [(K, gain(point, against, seed)) for K, point, against in pairs if against is not None]
                gains += [of for _, of in found]
                ratios += [(math.exp(of.value), K) for K, of in found]
    low, high = min(ratios, default=(0.0, 0)), max(ratios, default=(0.0, 0))
    middle = median(ratio for ratio, _ in ratios)
    ends = f"{low[0]:.2f} (K={low[1]}) to {high[0]:.2f} (K={high[1]})"
    effect = f"the other's perplexity over LDA's: median {middle:.2f}, {ends}"
    if beside:
        effect += f"; LDA's with the weights integrated out over that: median {median(beside):.2f}"
    return higher(gains, effect)


def _against(*others: Curve, ours: Curve = LDA, integrated: Curve | None = None) -> Check:
    return partial(lda_above, others=others, ours=ours, integrated=integrated)


def _plsi(end: str, score: str, statement: str, ours: Curve = LDA, integrated: Curve | None = None) -> Iterator[Claim]:
    """Yield the claims that LDA is below pLSI by one score, trained by EM and by tempered EM."""
    for training, model in PLSI_MODELS.items():
        yield Claim(
            f"plsi-worse-by-{end}" + ("" if training == "EM" else "-tempered"),
            "section 27.3.3, Figure 27.6",
            f"{statement} ({training})",
            "at every K, beyond sampling errors",
            _against(Curve(model, (PLSI_SCORES[score],)), ours=ours, integrated=integrated),
        )


def online_faster(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare online and batch after as many documents, wherever both were scored before batch's end."""
    batch, *online = traces(inputs, LIKELIHOOD) or [Trace(0, {})]
    before = list(batch.points.items())[:-1]
    gains = [gain(trace.points[at], point, 0) for trace in online for at, point in before if at in trace.points]
    values = [gain.value for gain in gains]
    effect = f"{min(values, default=0.0):+.3f} to {max(values, default=0.0):+.3f}"
    return higher(gains, f"online less batch, nats per token: {effect}")


def online_similar(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare the last likelihoods of online and batch."""
    ends = [list(trace.points.values())[-1] for trace in traces(inputs, LIKELIHOOD)]
    losses = [gain(ends[0], end, 0) for end in ends[1:]]
    agree = (within(loss.value, loss.error, math.log(SIMILAR)) for loss in losses)
    effect = "batch less online at the end, nats per token: " + ", ".join(f"{loss.value:+.3f}" for loss in losses)
    return counted(agree, effect, [0] * len(losses), errors=[loss.error for loss in losses])


def finds_topics(inputs: Inputs, _: Sequence[str], *, quantity: str) -> Finding:
    """Compare the K of the highest value with the one that the documents were drawn with."""
    chosen = chosen_topics(inputs, quantity)
    true = inputs.settings.experiment(EVIDENCE).get("settings", {}).get("true_topics")
    effect = f"chosen of {true}: {', '.join(map(str, chosen.values()))}"
    above_ = measured(inputs, evidence.BACKWARDS)
    if quantity == evidence.FORWARDS and above_:
        below = measured(inputs, evidence.FORWARDS)
        gaps = [value - below[at] for at, value in above_.items() if at in below]
        effect += f"; backwards less forwards at the true K: {max(gaps, default=math.nan):.4f} nats per token at most"
    processes = measured(inputs, evidence.HDP)
    if quantity == evidence.FORWARDS and processes:
        effect += f"; topics of the HDP: {', '.join(f'{value:g}' for value in processes.values())}"
    return counted((true == K for K in chosen.values()), effect, chosen)


CLAIMS = (
    Claim(
        "gap-given-length-is-mpca",
        "section 27.2.4",
        "GaP given a document's length is multinomial PCA",
        "the exact likelihood of GaP with equal rates beta against a negative binomial length times that of LDA with"
        " the same b and alpha, on every test document",
        lambda inputs, names: identity(
            inputs, names, quantity=GAP_LESS_MPCA, reason="Poissons given their sum are multinomial"
        ),
    ),
    Claim(
        "poisson-mixture-has-poisson-length",
        "section 27.2.1",
        "A mixture of Poissons (27.5) is one of multinomials (27.4) whose components have Poisson lengths",
        "both likelihoods on every test document",
        lambda inputs, names: identity(
            inputs, names, quantity=POISSON_LESS_PARTS, reason="Poissons given their sum are multinomial"
        ),
    ),
    Claim(
        "degenerate-em-overfits",
        "section 27.2.2",
        "A point estimate of z in the E step overfits; variational EM does not",
        "categorical PCA with the same penalty by both: EM gives held-out documents the higher exact likelihood",
        degenerate_overfits,
    ),
    Claim(
        "collapsed-is-better",
        "section 27.3.4",
        "Gibbs sampling performs better with weights and topics integrated out",
        "collapsed and uncollapsed chains of LDA from the same topics of the tokens: after 1, 2, 4, .. sweeps the"
        " collapsed one's state gives held-out documents the higher likelihood, beyond sampling error",
        collapsed_better,
    ),
    Claim(
        "nmf-overfits",
        "section 27.2.4",
        "NMF suffers from overfitting, which GaP overcomes",
        "under GaP's prior, its own b gives held-out documents a higher likelihood than that of NMF, smoothed",
        nmf_overfits,
    ),
    Claim(
        "lda-outperforms-simpler",
        "section 27.3.3, Figure 27.6",
        "LDA significantly outperforms unigram and mixture of multinomials",
        "likelihoods of held-out documents at every K, beyond LDA's sampling error",
        _against(UNIGRAM, MIXTURE),
    ),
    *_plsi("full", "full folding-in", "LDA's perplexity is below that of pLSI folded in on the whole document"),
    *_plsi(
        "half",
        "half folding-in",
        "LDA's perplexity is below that of pLSI where both are folded in on one half and scored on the other",
        ours=LDA_HALF,
        integrated=LDA_COMPLETION,
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
        "after as many documents analysed, before batch ends, online gives held-out documents the higher likelihood",
        online_faster,
    ),
    Claim(
        "online-is-similar",
        "section 27.3.7, Figure 27.9",
        "Online variational inference produces results similar to offline inference",
        f"last perplexities of held-out documents differ by less than a factor of {SIMILAR:g}, by left-to-right",
        online_similar,
    ),
    *(
        Claim(
            f"{name}-finds-topics",
            "section 27.3.8",
            f"The number of topics is found by {words}",
            f"on documents drawn from LDA, {words} is highest at the number of topics that they have",
            partial(finds_topics, quantity=quantity),
        )
        for name, quantity, words in (
            ("evidence", evidence.FORWARDS, "the evidence by annealing"),
            ("bound", evidence.BOUND, "the variational bound"),
            ("held-out", evidence.HELD_OUT, "the likelihood of held-out documents"),
        )
    ),
)
