"""Murphy's claims (2012, sections 27.2 and 27.3) about models of tokens, tested with likelihoods.

All scores are in nats per token. A sampled score counts only beyond `SEEN` of its standard errors. What the chapter
calls "overfitting" is tested as a lower likelihood of held-out documents under the same prior.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

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
    chosen_topics,
    corpora,
    courses,
    curve,
    likelihoods,
    measured,
    sampled,
    seeds,
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


def degenerate_overfits(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare categorical PCA fitted by variational and by degenerate EM, held out and in training."""
    em, degenerate = likelihoods(inputs, VariationalEM.name), likelihoods(inputs, DegenerateEM.name)
    both = sorted(em.keys() & degenerate.keys())
    gains = {at: em[at].value - degenerate[at].value for at in both}
    errors = [math.hypot(em[at].error, degenerate[at].error) for at in both]
    own = measured(inputs, TRAINING)
    places = (((c, VariationalEM.name, K, seed), (c, DegenerateEM.name, K, seed)) for c, K, seed in both)
    in_training = [own[one] - own[other] for one, other in places if one in own and other in own]
    low, high = min(gains.values(), default=0.0), max(gains.values(), default=0.0)
    effect = (
        f"likelihood of EM less that of degenerate EM, nats per token: held out median {median(gains.values()):+.4f},"
        f" {low:+.4f} to {high:+.4f}; in training median {median(in_training):+.4f}"
    )
    agree = (above(gain, error) for gain, error in zip(gains.values(), errors, strict=True))
    return counted(agree, effect, (seed for *_, seed in both), errors=errors)


def collapsed_better(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare what collapsed and uncollapsed chains have after as many sweeps from the same start."""
    ours, others = (sampled(inputs, model, LIKELIHOOD) for model in (CollapsedGibbs.name, Gibbs.name))
    joints, other_joints = (sampled(inputs, model, samplers.JOINT) for model in (CollapsedGibbs.name, Gibbs.name))
    agree, errors, of_seeds, gains = [], [], [], []
    higher = compared = 0
    for chain in sorted(ours.keys() & others.keys()):
        for sweep in sorted(ours[chain].keys() & others[chain].keys()):
            point, other = ours[chain][sweep], others[chain][sweep]
            gains.append(point.value - other.value)
            errors.append(math.hypot(point.error, other.error))
            agree.append(above(gains[-1], errors[-1]))
            of_seeds.append(chain[1])
            higher += joints[chain][sweep].value > other_joints[chain][sweep].value
            compared += 1
    effect = (
        f"collapsed less uncollapsed, nats per token: median {median(gains):+.3f}, {min(gains, default=0.0):+.3f} to"
        f" {max(gains, default=0.0):+.3f}; log p(y, q) of the training documents higher in {higher} of {compared}"
    )
    return counted(agree, effect, of_seeds, errors=errors)


def nmf_overfits(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare the topics of NMF with those of GaP under GaP's prior."""
    gap, nmf = likelihoods(inputs, GaP.name), measured(inputs, NMF_UNDER_GAP)
    pairs = [
        (gap[corpus, K, seed], value, seed) for (corpus, _, K, seed), value in nmf.items() if (corpus, K, seed) in gap
    ]
    gains = [point.value - value for point, value, _ in pairs]
    errors = [math.sqrt(2.0) * point.error for point, *_ in pairs]  # NMF's is estimated in the same way
    low, high = min(gains, default=0.0), max(gains, default=0.0)
    effect = f"GaP less NMF, nats per token: median {median(gains):+.4f}, {low:+.4f} to {high:+.4f}"
    agree = (above(gain, error) for gain, error in zip(gains, errors, strict=True))
    return counted(agree, effect, (seed for *_, seed in pairs), errors=errors)


def lda_above(
    inputs: Inputs, _: Sequence[str], *, others: Sequence[Curve], ours: Curve, integrated: Curve | None
) -> Finding:
    """Compare a score of LDA with other scores at the same K and seed; a model without K has one for all.

    The effect also tells the perplexity of `integrated`, another score of LDA, over that of `ours`.
    """
    beside = []
    agree, errors, of_seeds, ratios = [], [], [], []
    for corpus in corpora(inputs, PERPLEXITY):
        for seed in seeds(inputs, PERPLEXITY):
            lda = curve(inputs, corpus, ours, seed)
            if integrated is not None:
                better = curve(inputs, corpus, integrated, seed)
                beside += [math.exp(lda[K].value - better[K].value) for K in lda if K in better]
            for other in others:
                points = curve(inputs, corpus, other, seed)
                for K, point in lda.items():
                    against: Point | None = points.get(K, points.get(1))
                    if against is not None:
                        gain = point.value - against.value
                        errors.append(math.hypot(point.error, against.error))
                        agree.append(above(gain, errors[-1]))
                        of_seeds.append(seed)
                        ratios.append((math.exp(gain), K))
    low, high = min(ratios, default=(0.0, 0)), max(ratios, default=(0.0, 0))
    middle = median(ratio for ratio, _ in ratios)
    ends = f"{low[0]:.2f} (K={low[1]}) to {high[0]:.2f} (K={high[1]})"
    effect = f"the other's perplexity over LDA's: median {middle:.2f}, {ends}"
    if beside:
        effect += f"; LDA's with the weights integrated out over that: median {median(beside):.2f}"
    return counted(agree, effect, of_seeds, errors=errors)


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
    agree, errors, gains = [], [], []
    found = courses(inputs, LIKELIHOOD)
    for course in found[1:]:
        online_at = {at: place for place, at in enumerate(course.analysed)}
        for place, at in enumerate(found[0].analysed[:-1]):
            if at in online_at:
                gains.append(course.values[online_at[at]] - found[0].values[place])
                errors.append(math.hypot(course.errors[online_at[at]], found[0].errors[place]))
                agree.append(above(gains[-1], errors[-1]))
    effect = f"online less batch, nats per token: {min(gains):+.3f} to {max(gains):+.3f}" if gains else ""
    return counted(agree, effect, [0] * len(agree), errors=errors)


def online_similar(inputs: Inputs, _: Sequence[str]) -> Finding:
    """Compare the last likelihoods of online and batch."""
    agree, errors, losses = [], [], []
    found = courses(inputs, LIKELIHOOD)
    for course in found[1:]:
        losses.append(found[0].values[-1] - course.values[-1])
        errors.append(math.hypot(found[0].errors[-1], course.errors[-1]))
        agree.append(within(losses[-1], errors[-1], math.log(SIMILAR)))
    effect = "batch less online at the end, nats per token: " + ", ".join(f"{loss:+.3f}" for loss in losses)
    return counted(agree, effect, [0] * len(agree), errors=errors)


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
