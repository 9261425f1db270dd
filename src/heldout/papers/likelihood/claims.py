"""What the truth says of folding-in: claims of sections 4.1 and 4.4 of Welling et al. (2008) put to it, and our own.

The truth is log p(document | alpha, phi) of the same test documents under the model's own prior, exact or by
left-to-right sequential. Both score the same documents, in nats per token. With the fewest sweeps that the study
allows, as on long documents, left-to-right sequential lies below the likelihood by hundredths of a nat per token. That
is little beside the optimism of folding-in, but as much as a repair may be off: repairs are not judged there.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.exhibits.optimism import EXACT, FITTED, FLAT, KIND, PLUG_IN, SEQUENTIAL, curve
from heldout.papers.likelihood.exhibits.repair import LAPLACE, NML, errors
from heldout.points import Point
from heldout.verdicts import ALWAYS, Claim, Finding, counted, median

WITHIN = 0.01  # nats per token: one percent of perplexity
WORST = 3  # models whose error a repair's effect names
COMPONENTS = "epca-marginal"
SEEN = 3.0  # standard errors of the truth above which a difference is taken for one


class Beside(NamedTuple):
    """One evaluator and the truth by number of topics."""

    corpus: str
    model: str
    estimate: dict[int, Point]
    truth: dict[int, Point]

    @property
    def topics(self) -> list[int]:
        """The numbers of topics at which both are known."""
        return sorted(self.estimate.keys() & self.truth.keys())

    def gap(self, topics: int) -> float:
        """Estimate less truth, nats per token."""
        return self.estimate[topics].value - self.truth[topics].value


def _beside(inputs: Inputs, corpora: Sequence[str], evaluator: str) -> Iterator[Beside]:
    if KIND not in inputs.study.get("measures", {}):
        return
    for corpus in corpora:
        for model in (PLSA, LDA):
            estimate, truth = (
                {p.topics: p for p in curve(inputs, corpus, model, name)} for name in (evaluator, "truth")
            )
            found = Beside(corpus, model, estimate, truth)
            if found.topics:
                yield found


def _seeds(inputs: Inputs) -> list[int]:
    return list(inputs.study.get("measures", {}).get(KIND, {}).get("seeds", ()))


def _above(inputs: Inputs, corpora: Sequence[str], evaluator: str) -> Finding:
    """Count the models to which an evaluator gives more than the truth by more than the truth's error."""
    agree, gaps = [], []
    for found in _beside(inputs, corpora, evaluator):
        for k in found.topics:
            gaps.append((found.gap(k), k))
            agree.append(found.gap(k) > SEEN * found.truth[k].error)
    low, high = min(gaps, default=(0.0, 0)), max(gaps, default=(0.0, 0))
    effect = f"from {low[0]:+.3f} (K={low[1]}) to {high[0]:+.3f} (K={high[1]}) nats per token"
    return counted(agree, effect, _seeds(inputs), **ALWAYS)


def full_optimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the models that full folding-in flatters."""
    return _above(inputs, corpora, FULL)


def plug_in_optimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the models that the posterior mean flatters."""
    return _above(inputs, corpora, PLUG_IN)


def optimism_grows_with_topics(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the steps to more topics at which the optimism of full folding-in grows."""
    agree, parts = [], []
    for found in _beside(inputs, corpora, FULL):
        agree += [found.gap(more) > found.gap(fewer) for fewer, more in pairwise(found.topics)]
        first, last = found.topics[0], found.topics[-1]
        parts.append(
            f"{found.corpus} {found.model} {found.gap(first):.3f} (K={first}) to {found.gap(last):.3f} (K={last})"
        )
    return counted(agree, f"nats per token: {', '.join(parts)}", _seeds(inputs))


def _preferred(points: dict[int, Point], topics: Sequence[int]) -> int:
    return max(topics, key=lambda k: points[k].value)


def folding_in_prefers_more(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the corpora and models of which full folding-in prefers more topics than the truth does."""
    agree, parts = [], []
    for found in _beside(inputs, corpora, FULL):
        folded, true = (_preferred(points, found.topics) for points in (found.estimate, found.truth))
        agree.append(folded > true)
        parts.append(f"{found.corpus} {found.model} {folded} against {true}")
    return counted(agree, ", ".join(parts), _seeds(inputs))


def _ranks(inputs: Inputs, corpora: Sequence[str], evaluator: str) -> Finding:
    """Count the pairs of numbers of topics that an evaluator orders as the truth does, where the truth tells them."""
    agree, parts = [], []
    for found in _beside(inputs, corpora, evaluator):
        same = []
        for one, other in combinations(found.topics, 2):
            difference = found.truth[other].value - found.truth[one].value
            error = (found.truth[one].error ** 2 + found.truth[other].error ** 2) ** 0.5
            if abs(difference) > SEEN * error:
                ordered = found.estimate[other].value - found.estimate[one].value
                same.append((ordered > 0.0) == (difference > 0.0))
        agree += same
        parts.append(f"{found.corpus} {found.model} {sum(same)} of {len(same)}")
    return counted(agree, ", ".join(parts), _seeds(inputs))


def half_ranks(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Put half folding-in's order of the numbers of topics beside the truth's."""
    return _ranks(inputs, corpora, HALF)


def full_ranks(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Put full folding-in's order of the numbers of topics beside the truth's."""
    return _ranks(inputs, corpora, FULL)


def _near(inputs: Inputs, corpora: Sequence[str], evaluator: str) -> Finding:
    """Count the models whose truth a repair meets."""
    found = {
        (corpus, model, k): error
        for corpus in corpora
        for model in (PLSA, LDA)
        if KIND in inputs.study.get("measures", {})
        for truth in [{p.topics: p.samples for p in curve(inputs, corpus, model, "truth")}]
        for k, (error, _) in errors(inputs, corpus, model, evaluator).items()
        if truth[k] == 0 or truth[k] > inputs.study["measures"][KIND]["settings"]["least_samples"]
    }
    worst = sorted(found, key=lambda at: -abs(found[at]))[:WORST]
    cells = ", ".join(f"{found[at]:+.4f} ({at[0]} {at[1]} K={at[2]})" for at in worst)
    effect = f"median {median(map(abs, found.values())):.4f} nats per token, worst {cells}"
    return counted((abs(error) <= WITHIN for error in found.values()), effect, _seeds(inputs))


def laplace_near(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Put Laplace's method in the softmax basis beside the truth."""
    return _near(inputs, corpora, LAPLACE)


def nml_near(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Put the NML penalty beside the truth."""
    return _near(inputs, corpora, NML)


_SOURCE = "beyond the original"
_CELL = "every corpus, model and number of topics"


def sequential_meets_exact(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Put left-to-right sequential beside the exact value, model by model and prior by prior."""
    table = inputs.scores
    table = table[table["variant"].isin([KIND, FLAT, FITTED]) & table["corpus"].isin(list(corpora))]
    axes = ["corpus", "model", "variant", "topics", "smoothing", "seed"]
    exact, sequential = (
        {tuple(row[axis] for axis in axes): row for row in table[table["evaluator"] == name].to_dict("records")}
        for name in (EXACT, SEQUENTIAL)
    )
    gaps = {
        at: (sequential[at]["log_likelihood"] - exact[at]["log_likelihood"]) / exact[at]["tokens"]
        for at in sorted(exact.keys() & sequential.keys())
    }
    worst = max(gaps, key=lambda at: abs(gaps[at]), default=None)
    effect = ""
    if worst is not None:
        corpus, model, variant, topics, *_ = worst
        prior = variant.removeprefix(KIND).strip("-").replace("-", " ") or "own prior"
        error = sequential[worst]["standard_error"] / exact[worst]["tokens"]
        effect = f"median {median(gaps.values()):+.4f} nats per token, largest {gaps[worst]:+.4f} ({corpus} {model}"
        effect += f" K={topics}, {prior}, stated error {error:.4f})"
    return counted((abs(gap) <= WITHIN for gap in gaps.values()), effect, _seeds(inputs))


def components_optimistic(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Count the documents that full folding-in of EPCA flatters."""
    table = inputs.measurements
    if table is None:
        return counted([], "", [])
    table = table[(table["variant"] == COMPONENTS) & (table["axis"] == "document")]
    table = table[table["corpus"].isin(list(corpora))]
    at = ["corpus", "topics", "seed", "at"]
    full, truth = (
        table[table["quantity"] == name].set_index(at)["value"].sort_index() for name in (FULL, "marginal-annealed")
    )
    gaps = full - truth
    parts = [f"K={k} {gap:+.1f}" for k, gap in gaps.groupby("topics").median().items()]
    seeds = [int(seed) for seed in table["seed"].unique()]
    return counted((gap > 0.0 for gap in gaps), f"median nats per document: {', '.join(parts)}", seeds, **ALWAYS)


CLAIMS = (
    Claim(
        "sequential-meets-exact",
        _SOURCE,
        "On real documents the sequential left-to-right sampler meets the exact value.",
        "every corpus, model, prior, constant and number of topics for which both are known: at most"
        f" {WITHIN:g} nats per token apart",
        sequential_meets_exact,
    ),
    Claim(
        "full-above-truth",
        "section 4.1",
        "Full folding-in is optimistic: it lies above the likelihood of the very same documents.",
        f"{_CELL}: above the truth by more than {SEEN:g} of its standard errors; all must",
        full_optimistic,
    ),
    Claim(
        "plug-in-above-truth",
        _SOURCE,
        "So is the posterior mean in the place of the folded-in point.",
        f"{_CELL}: above the truth by more than {SEEN:g} of its standard errors; all must",
        plug_in_optimistic,
    ),
    Claim(
        "gap-grows-with-topics",
        "sections 4.1, 4.4",
        "The optimism of full folding-in grows with the number of topics.",
        "every corpus and model, from one number of topics to the next: full less truth grows",
        optimism_grows_with_topics,
    ),
    Claim(
        "full-prefers-more-topics",
        "section 4.4",
        "Full folding-in prefers more topics than the truth does.",
        "every corpus and model: the number of topics that it scores highest is larger",
        folding_in_prefers_more,
    ),
    Claim(
        "half-ranks-as-truth",
        _SOURCE,
        "Half folding-in ranks numbers of topics as the truth does.",
        f"every corpus, model and two numbers of topics that the truth tells apart by more than {SEEN:g} standard"
        " errors: the same order",
        half_ranks,
    ),
    Claim(
        "full-ranks-as-truth",
        _SOURCE,
        "Full folding-in ranks numbers of topics as the truth does.",
        f"every corpus, model and two numbers of topics that the truth tells apart by more than {SEEN:g} standard"
        " errors: the same order",
        full_ranks,
    ),
    Claim(
        "epca-full-above-truth",
        _SOURCE,
        "Full folding-in of EPCA lies above its marginal likelihood under the Gaussian prior of its penalty.",
        "every test document and number of components: above the annealed estimate",
        components_optimistic,
    ),
    Claim(
        "laplace-repairs",
        _SOURCE,
        "Laplace's method in the softmax basis repairs folding-in.",
        f"{_CELL}, the model's prior, where the truth is exact or has more than the fewest sweeps: at most"
        f" {WITHIN:g} nats per token from the truth",
        laplace_near,
    ),
    Claim(
        "nml-repairs",
        _SOURCE,
        "The NML penalty repairs folding-in.",
        f"{_CELL}, the model's prior, where the truth is exact or has more than the fewest sweeps: at most"
        f" {WITHIN:g} nats per token from the truth",
        nml_near,
    ),
)

from heldout.papers.likelihood.claims_peers import PEERS  # noqa: E402

CLAIMS = (*CLAIMS, *PEERS)
