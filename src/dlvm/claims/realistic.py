"""The claims of Buntine (2009), section 4.2, on models of documents that were drawn from known topics.

They are tested on the drawn corpora that the study has, whatever its own corpora are. Log-likelihoods are per token of
the same held-out documents, in nats. The bias of left-to-right particles is what they fall short of the sequential
sampler by. Both estimates have Monte Carlo errors of their own, and the logarithm of either is low by about half its
variance, so that a bias is seen only where it exceeds these.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from dlvm.claims.finding import GENERALLY, Claim, Finding, counted, median
from dlvm.exhibits.inputs import Inputs
from dlvm.exhibits.realistic_curves import LABELS, LR, LRS, MFI, Scored, Selection, selections
from dlvm.measures.model_selection import REFERENCE, TRUTH, with_more

SEEN = 2.0  # standard errors of a difference above which it is taken for one
TRACKS = 0.01  # relative difference of two perplexities that lie on one another in a plot
INDISTINGUISHABLE = 3.0  # standard errors of a difference, of one document

Pair = tuple[int, int, int, Scored, Scored]  # documents, topics, seed; two evaluators' scores of one model


def _pairs(selection: Selection, first: str, second: str) -> Iterator[Pair]:
    for size in selection.sizes:
        others = selection.models.get((second, size), {})
        for (topics, seed), scored in sorted(selection.models.get((first, size), {}).items()):
            if (topics, seed) in others:
                yield size, topics, seed, scored, others[topics, seed]


def _bias(sequential: Scored, particles: Scored) -> tuple[float, float]:
    """Return what the particles fall short by, nats per token, and its Monte Carlo error."""
    error = math.hypot(sequential.standard_error, particles.standard_error)
    return sequential.log_likelihood - particles.log_likelihood, error


def particles_biased(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the models to which the particles give less than the sequential sampler by more than chance does."""
    agree, parts, seeds = [], [], []
    for corpus, selection in selections(inputs).items():
        found = [(_bias(sequential, particles), seed) for *_, seed, sequential, particles in _pairs(selection, LRS, LR)]
        agree += [bias > SEEN * error for (bias, error), _ in found]
        seeds += [seed for _, seed in found]
        if found:
            value, error = median(bias for (bias, _), _ in found), median(error for (_, error), _ in found)
            parts.append(f"{corpus} {value:+.2g} (one model's standard error {error:.1g})")
    return counted(agree, f"median LRS less LR, nats per token: {', '.join(parts)}", seeds)


def bias_grows(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the steps to more training documents at which the particles fall short by more than before."""
    agree, parts, seeds = [], [], []
    for corpus, selection in selections(inputs).items():
        bias = {(size, k, s): _bias(one, two)[0] for size, k, s, one, two in _pairs(selection, LRS, LR)}
        for fewer, more in pairwise(selection.sizes):
            for (size, topics, seed), value in bias.items():
                if size == fewer and (more, topics, seed) in bias:
                    agree.append(bias[more, topics, seed] > value)
                    seeds.append(seed)
        means = [fmean(v for at, v in bias.items() if at[0] == size) for size in selection.sizes if bias]
        parts.append(f"{corpus} {', '.join(f'{mean:+.2g}' for mean in means)}")
    return counted(agree, f"mean LRS less LR by training size, nats per token: {'; '.join(parts)}", seeds)


def particles_rise(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the models whose perplexity rises to the most training documents by particles, and not by the others."""
    agree, seeds, changes = [], [], []
    for selection in selections(inputs).values():
        if len(selection.sizes) < 2:
            continue
        before, after = selection.sizes[-2:]
        for at in sorted(selection.models.get((LR, after), {})):
            cells = [
                (selection.models.get((e, before), {}), selection.models.get((e, after), {})) for e in (LR, LRS, MFI)
            ]
            if all(at in early and at in late for early, late in cells):
                own, *others = (late[at].perplexity / early[at].perplexity - 1.0 for early, late in cells)
                agree.append(own > 0.0 and all(other <= 0.0 for other in others))
                seeds.append(at[1])
                changes.append(own)
    effect = f"LR's perplexity changes by {100.0 * median(changes):+.1f} % in the median"
    return counted(agree, effect, seeds)


def importance_tracks(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare the perplexities of mean-field importance sampling and the sequential sampler, model by model."""
    found = [
        (abs(importance.perplexity / sequential.perplexity - 1.0), seed)
        for selection in selections(inputs).values()
        for *_, seed, sequential, importance in _pairs(selection, LRS, MFI)
    ]
    gaps = [gap for gap, _ in found]
    effect = f"median difference {100.0 * median(gaps):.2f} %, largest {100.0 * max(gaps, default=math.nan):.2f} %"
    return counted((gap <= TRACKS for gap in gaps), effect, (seed for _, seed in found))


def truth_found(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count where the two good samplers give most to the true number of topics, at the most training documents."""
    agree, parts, seeds = [], [], []
    for corpus, selection in selections(inputs).items():
        for evaluator in (LRS, MFI):
            for seed in selection.seeds:
                topics = selection.selected(evaluator, selection.sizes[-1], seed)
                if topics is not None:
                    agree.append(topics == selection.true_topics)
                    parts.append(f"{corpus} {LABELS[evaluator]} {topics} of {selection.true_topics}")
                    seeds.append(seed)
    return counted(agree, f"selected of true number of topics: {', '.join(parts)}", seeds)


def _distinction(selection: Selection, evaluator: str, size: int, seed: int) -> float:
    """Return by how much the true K exceeds the mean of the other K, nats per token; NaN where it was not scored."""
    cells = selection.models.get((evaluator, size), {})
    values = {topics: scored.log_likelihood for (topics, s), scored in cells.items() if s == seed}
    own = values.pop(selection.true_topics, math.nan)
    return own - fmean(values.values()) if values else math.nan


def sequential_sharpest(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare how far the true number of topics stands out, by the sequential sampler and by the particles."""
    found = [
        (*(_distinction(selection, evaluator, size, seed) for evaluator in (LRS, LR)), seed)
        for selection in selections(inputs).values()
        for size in selection.sizes
        for seed in selection.seeds
    ]
    found = [row for row in found if all(math.isfinite(value) for value in row)]
    sequential, particles = (median(row[i] for row in found) for i in (0, 1))
    effect = f"median lead of the true K over the others, nats per token: LRS {sequential:.4f}, LR {particles:.4f}"
    return counted((one > two for one, two, _ in found), effect, (int(seed) for *_, seed in found), **GENERALLY)


def hundred_samples_suffice(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare the sequential sampler with few and with many samples, document by document, under the true model."""
    table = inputs.measurements
    if table is None:
        return counted([], "", [])
    rows = table[(table["model"] == TRUTH) & (table["axis"] == "document")].to_dict("records")
    few = {(row["corpus"], row["seed"], row["at"]): row for row in rows if row["quantity"] == REFERENCE}
    prefix, suffix = with_more(0).split("0")
    found = []
    for row in rows:
        quantity = str(row["quantity"])
        other = few.get((row["corpus"], row["seed"], row["at"]))
        if quantity.startswith(prefix) and quantity.endswith(suffix) and other is not None:
            error = math.hypot(row["standard_error"], other["standard_error"])
            found.append((abs(row["value"] - other["value"]), error, int(row["seed"])))
    effect = (
        f"median difference {median(gap for gap, *_ in found):.2g} nats per document, median standard error of it"
        f" {median(error for _, error, _ in found):.2g}"
    )
    agree = (gap <= INDISTINGUISHABLE * error for gap, error, _ in found)
    return counted(agree, effect, (seed for *_, seed in found))


_MODEL = "every drawn corpus, number of topics, training size and seed"

REALISTIC = (
    Claim(
        "lr-biased",
        "Buntine, section 4.2; Figures 3-4",
        "On realistic models left-to-right particles are biased.",
        f"{_MODEL}: LR below LRS by more than {SEEN:g} standard errors of the difference",
        particles_biased,
    ),
    Claim(
        "lr-bias-grows",
        "Buntine, section 4.2; Figures 3-4",
        "The bias of left-to-right particles grows with the size of the training set.",
        "every step from one training size to the next, for every drawn corpus, number of topics and seed: LRS less LR"
        " grows",
        bias_grows,
    ),
    Claim(
        "lr-perplexity-rises",
        "Buntine, section 4.2; Figure 4",
        "Perplexity by left-to-right particles starts to rise as training sets grow, and by MFI and LRS it does not.",
        "every drawn corpus, number of topics and seed: from the second largest training size to the largest it rises"
        " by LR and by neither of the others",
        particles_rise,
    ),
    Claim(
        "mfi-tracks-lrs",
        "Buntine, section 4.2; Figure 5",
        "Mean-field importance sampling stays close to the sequential sampler.",
        f"{_MODEL}: perplexities at most {TRACKS:.0%} apart",
        importance_tracks,
    ),
    Claim(
        "true-topics-found",
        "Buntine, section 4.2; Figure 5",
        "LRS and MFI converge to the true number of topics.",
        "every drawn corpus, both samplers, every seed: the largest training size has its highest likelihood there",
        truth_found,
    ),
    Claim(
        "lrs-sharpest",
        "Buntine, sections 4.2, 5; Figure 5",
        "The sequential sampler picks the right number of topics more distinctly than left-to-right particles do.",
        "every drawn corpus, training size and seed: the true number's lead over the mean of the others is larger by"
        " LRS; holds from two thirds, fails up to one third",
        sequential_sharpest,
    ),
    Claim(
        "lrs-100-samples",
        "Buntine, section 4.2",
        "The sequential sampler with 2,000 samples cannot be told from that with 100.",
        "every checked document of every drawn corpus, under the true model: at most"
        f" {INDISTINGUISHABLE:g} standard errors of the difference apart",
        hundred_samples_suffice,
    ),
)
