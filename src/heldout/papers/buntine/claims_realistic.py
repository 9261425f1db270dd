"""The claims of Buntine (2009), section 4.2, on models of documents that were drawn from known topics.

They are tested on the drawn corpora that the study has, whatever its own corpora are. Log-likelihoods are per token of
the same held-out documents, in nats, and their errors are Monte Carlo errors of the evaluators, which are taken to be
independent from model to model and from evaluator to evaluator.

The bias of left-to-right particles is what they fall short of a reference by. The source takes the sequential sampler
for it; but the logarithm of a noisy unbiased estimate is low by about half its variance, and with few samples that is
more than what is sought. So the reference is the higher of the sequential sampler and the Chib-style estimator, model
by model, both of which err low in the logarithm. Of two that are level the higher is too high by 0.4 of the error of
their difference, which leans to the claim; a bias must exceed a multiple of its error (`SEEN`). What this choice has
seen: that on these corpora the sequential sampler with few samples lies below itself with many, below the Chib-style
estimator and below the particles.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from heldout.corpora.realistic import SOURCES, TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.inputs import Inputs
from heldout.papers.buntine.claims import CUTOFF
from heldout.papers.buntine.exhibits.realistic_curves import LABELS, LR, LRS, MFI, Scored, Selection, selections
from heldout.papers.buntine.experiments.model_selection import MODEL, REFERENCE, TRUTH, with_more
from heldout.verdicts import GENERALLY, Claim, Finding, counted, median

if TYPE_CHECKING:
    import pandas as pd

CHIB = "chib"
SEEN = 2.0  # standard errors of a difference above which it is taken for one
TRACKS = 0.01  # relative difference of two perplexities that lie on one another in a plot
PUBLISHED_TRAINING = max(TRAINING_DOCUMENTS)
ENOUGH = 0.5  # share of the source's training documents from which on a rise would have to be seen

Pair = tuple[int, int, int, Scored, Scored]  # documents, topics, seed; two evaluators' scores of one model


class Bias(NamedTuple):
    """What the particles fall short of the reference by, of one model; nats per token."""

    size: int
    topics: int
    seed: int
    value: float
    error: float


def _pairs(selection: Selection, first: str, second: str) -> Iterator[Pair]:
    for size in selection.sizes:
        others = selection.models.get((second, size), {})
        for (topics, seed), scored in sorted(selection.models.get((first, size), {}).items()):
            if (topics, seed) in others:
                yield size, topics, seed, scored, others[topics, seed]


def _biases(selection: Selection) -> Iterator[Bias]:
    chib = {(size, k, s): scored for size, k, s, scored, _ in _pairs(selection, CHIB, LR)}
    for size, topics, seed, sequential, particles in _pairs(selection, LRS, LR):
        other = chib.get((size, topics, seed), sequential)
        reference = max(sequential, other, key=lambda scored: scored.log_likelihood)
        error = math.hypot(reference.standard_error, particles.standard_error)
        yield Bias(size, topics, seed, reference.log_likelihood - particles.log_likelihood, error)


def _samples(inputs: Inputs, evaluator: str) -> str:
    """Return with how many samples an evaluator scored the drawn corpora."""
    table = inputs.scores
    table = table[table["corpus"].isin(list(SOURCES)) & table["model"].isin([MODEL, TRUTH])]
    numbers = {int(number) for number in table[table["evaluator"] == evaluator]["samples"]}
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def particles_biased(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the models to which the particles give less than the reference does, by more than chance."""
    agree, parts, seeds, lower = [], [], [], []
    for corpus, selection in selections(inputs).items():
        found = list(_biases(selection))
        agree += [bias.value > SEEN * bias.error for bias in found]
        seeds += [bias.seed for bias in found]
        if found:
            value, error = median(bias.value for bias in found), median(bias.error for bias in found)
            parts.append(f"{corpus} {value:+.2g} (one model's standard error {error:.1g})")
        pairs = _pairs(selection, CHIB, LRS)
        lower += [chib.log_likelihood - sequential.log_likelihood for *_, chib, sequential in pairs]
    effect = f"median reference less LR, nats per token: {', '.join(parts)}"
    if lower:
        effect += (
            f"; LRS with {_samples(inputs, LRS)} samples lies below Chib-style with {_samples(inputs, CHIB)} on"
            f" {sum(gap > 0.0 for gap in lower)} of {len(lower)} models, by {median(lower):+.2g} in the median of all"
        )
    return counted(agree, effect, seeds)


def bias_grows(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the steps to more training documents at which the particles fall short by more than before."""
    agree, parts, seeds, errors = [], [], [], []
    for corpus, selection in selections(inputs).items():
        found = {bias[:3]: bias for bias in _biases(selection)}
        for fewer, more in pairwise(selection.sizes):
            for (size, topics, seed), before in found.items():
                after = found.get((more, topics, seed))
                if size == fewer and after is not None:
                    errors.append(math.hypot(before.error, after.error))
                    agree.append(after.value - before.value > SEEN * errors[-1])
                    seeds.append(seed)
        means = [fmean(bias.value for bias in found.values() if bias.size == size) for size in selection.sizes if found]
        parts.append(f"{corpus} {', '.join(f'{mean:+.2g}' for mean in means)}")
    effect = f"mean reference less LR by training size, nats per token: {'; '.join(parts)}"
    return counted(agree, f"{effect}; one step's standard error {median(errors):.1g}", seeds)


def particles_rise(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the models whose perplexity rises to the most training documents by particles, and not by the others.

    Corpora with far fewer training documents than the source's say nothing; where all are, the effect says so.
    """
    agree, seeds, changes, few = [], [], [], []
    for selection in selections(inputs).values():
        if len(selection.sizes) < 2 or selection.sizes[-1] < ENOUGH * PUBLISHED_TRAINING:
            few.append(selection.sizes[-1])
            continue
        before, after = selection.sizes[-2:]
        for at in sorted(selection.models.get((LR, after), {})):
            cells = [
                (selection.models.get((e, before), {}), selection.models.get((e, after), {})) for e in (LR, LRS, MFI)
            ]
            if all(at in early and at in late for early, late in cells):
                own, *others = (_rises(early[at], late[at]) for early, late in cells)
                agree.append(own and not any(others))
                seeds.append(at[1])
                early, late = cells[0]
                changes.append(late[at].perplexity / early[at].perplexity - 1.0)
    if few and not agree:
        return Finding(0, 0, f"at most {max(few):,} of the source's {PUBLISHED_TRAINING:,} training documents", 0)
    effect = f"LR's perplexity changes by {100.0 * median(changes):+.1f} % in the median"
    return counted(agree, effect, seeds)


def _rises(before: Scored, after: Scored) -> bool:
    """Say whether perplexity rises, the log-likelihood falls, by more than chance."""
    fall = before.log_likelihood - after.log_likelihood
    return fall > SEEN * math.hypot(before.standard_error, after.standard_error)


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
    agree, parts, seeds, sizes = [], [], [], []
    for corpus, selection in selections(inputs).items():
        sizes.append(selection.sizes[-1])
        for evaluator in (LRS, MFI):
            for seed in selection.seeds:
                topics = selection.selected(evaluator, selection.sizes[-1], seed)
                if topics is not None:
                    agree.append(topics == selection.true_topics)
                    parts.append(f"{corpus} {LABELS[evaluator]} {topics} of {selection.true_topics}")
                    seeds.append(seed)
    table = inputs.scores
    held_out = table[table["corpus"].isin(list(SOURCES)) & (table["model"] == MODEL)]["documents"].max()
    effect = (
        f"selected of true number of topics: {', '.join(parts)}; up to {max(sizes, default=0):,} of the source's"
        f" {PUBLISHED_TRAINING:,} training documents, {held_out:,} of {TEST_DOCUMENTS:,} held out"
    )
    return counted(agree, effect, seeds)


def _lead(selection: Selection, evaluator: str, size: int, seed: int) -> tuple[float, float] | None:
    """Return by how much the true K exceeds the mean of its two neighbours, and the error; None without them."""
    cells = selection.models.get((evaluator, size), {})
    values = {topics: scored for (topics, s), scored in cells.items() if s == seed}
    grid = sorted(values)
    if selection.true_topics not in grid[1:-1]:
        return None
    at = grid.index(selection.true_topics)
    below, own, above = (values[topics] for topics in grid[at - 1 : at + 2])
    lead = own.log_likelihood - fmean((below.log_likelihood, above.log_likelihood))
    return lead, math.hypot(own.standard_error, 0.5 * below.standard_error, 0.5 * above.standard_error)


def sequential_sharpest(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare how far the true number of topics stands out, by the sequential sampler and by the particles."""
    agree, leads, gaps, errors, seeds = [], [], [], [], []
    for selection in selections(inputs).values():
        for size in selection.sizes:
            for seed in selection.seeds:
                sequential, particles = (_lead(selection, evaluator, size, seed) for evaluator in (LRS, LR))
                if sequential is not None and particles is not None:
                    leads.append((sequential[0], particles[0]))
                    gaps.append(sequential[0] - particles[0])
                    errors.append(math.hypot(sequential[1], particles[1]))
                    agree.append(gaps[-1] > SEEN * errors[-1])
                    seeds.append(seed)
    one, two = (median(row[i] for row in leads) for i in (0, 1))
    effect = (
        f"median lead of the true K over its neighbours, nats per token: LRS {one:+.4f}, LR {two:+.4f}; of LRS's over"
        f" LR's {median(gaps):+.4f}, standard error {median(errors):.4f}; LRS's is the larger in"
        f" {sum(gap > 0.0 for gap in gaps)} of {len(gaps)}"
    )
    return counted(agree, effect, seeds, **GENERALLY)


def few_samples_suffice(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare the sequential sampler with few and with many samples, over the checked documents of every corpus.

    The errors are the samplers' own, since it is the same documents that both score; documents of all seeds count.
    """
    table = inputs.measurements
    if table is None:
        return counted([], "", [])
    prefix, suffix = with_more(0).split("0")
    table = table[(table["model"] == TRUTH) & (table["axis"] == "document")]
    checks = table[table["quantity"].str.startswith(prefix) & table["quantity"].str.endswith(suffix)]
    both = checks.merge(table[table["quantity"] == REFERENCE], on=["corpus", "seed", "at"], suffixes=("", "_few"))
    found = []
    for corpus in SOURCES:
        rows = both[both["corpus"] == corpus]
        if len(rows):
            found.append((corpus, *_mean(rows), _length(inputs, corpus)))
    texts = [
        f"{corpus} {gap:+.2f} +- {error:.2f} ({gap / length:+.4f} +- {error / length:.4f})"
        for corpus, gap, error, length in found
    ]
    many = " or ".join(
        f"{int(quantity.removeprefix(prefix).removesuffix(suffix)):,}" for quantity in sorted(set(both["quantity"]))
    )
    gap, error = _mean(both)
    effect = (
        f"LRS with {many} samples less LRS with {_samples(inputs, LRS)}, nats per document (per token), over"
        f" {len(both)} documents in all: {', '.join(texts)}; all together {gap:+.2f} +- {error:.2f}"
    )
    agree = (abs(gap) <= CUTOFF * error for _, gap, error, _ in found)
    return counted(agree, effect, (int(seed) for seed in both["seed"]))


def _mean(rows: "pd.DataFrame") -> tuple[float, float]:
    """Return the mean of many samples' value less few samples', nats per document, and its Monte Carlo error."""
    variances = rows["standard_error"] ** 2 + rows["standard_error_few"] ** 2
    return float((rows["value"] - rows["value_few"]).mean()), math.sqrt(variances.sum()) / max(1, len(rows))


def _length(inputs: Inputs, corpus: str) -> float:
    """Return the mean length of a drawn corpus's held-out documents, tokens."""
    table = inputs.scores
    rows = table[(table["corpus"] == corpus) & (table["model"] == TRUTH) & (table["evaluator"] == LRS)]
    return float(rows["tokens"].sum() / rows["documents"].sum())


_MODEL = "every drawn corpus, number of topics, training size and seed"
_REFERENCE = "the reference is the higher of LRS and Chib-style"

REALISTIC = (
    Claim(
        "lr-biased",
        "Buntine, section 4.2; Figures 3-4",
        "On realistic models left-to-right particles are biased.",
        f"{_MODEL}: LR below the reference by more than {SEEN:g} standard errors of the difference; {_REFERENCE}",
        particles_biased,
    ),
    Claim(
        "lr-bias-grows",
        "Buntine, section 4.2; Figures 3-4",
        "The bias of left-to-right particles grows with the size of the training set.",
        "every step from one training size to the next, for every drawn corpus, number of topics and seed: what LR lies"
        f" below the reference grows by more than {SEEN:g} standard errors of the growth; {_REFERENCE}",
        bias_grows,
    ),
    Claim(
        "lr-perplexity-rises",
        "Buntine, section 4.2; Figure 4",
        "Beyond some training size more documents worsen the perplexity that LR reports, and not that of MFI or LRS.",
        "every drawn corpus, number of topics and seed: from the second largest training size to the largest it rises"
        f" by LR and by neither of the others, by more than {SEEN:g} standard errors of the change; only where the"
        f" largest is at least {ENOUGH:.0%} of the source's {PUBLISHED_TRAINING:,} documents",
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
        "With enough training documents LRS and MFI score the true number of topics highest.",
        "every drawn corpus, both samplers, every seed: the largest training size has its highest likelihood there",
        truth_found,
    ),
    Claim(
        "lrs-sharpest",
        "Buntine, sections 4.2, 5; Figure 5",
        "LRS sets the true number of topics further apart from its neighbours than LR does.",
        "every drawn corpus, training size and seed: the true number's lead over the mean of the next smaller and the"
        f" next larger one is larger by LRS, by more than {SEEN:g} standard errors of the difference; holds from two"
        " thirds, fails up to one third",
        sequential_sharpest,
    ),
    Claim(
        "lrs-100-samples",
        "Buntine, section 4.2",
        "Few samples serve the sequential sampler as well as many.",
        "every drawn corpus, under the true model: the mean difference over the checked documents is at most"
        f" {CUTOFF:g} of its standard errors, the source's cutoff",
        few_samples_suffice,
    ),
)
