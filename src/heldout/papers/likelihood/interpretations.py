"""What our own measurements of the likelihood leave open."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA
from heldout.papers.likelihood.exhibits.optimism import EXACT, FITTED, FLAT, KIND, SEQUENTIAL, curve
from heldout.papers.likelihood.exhibits.repair import DENSITY, LAPLACE, NML, ONE_STEP, errors
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED, QUADRATURE
from heldout.papers.likelihood.experiments.optimism import UNDEFINED
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, asked, median_and_range

COMPONENTS = "epca-marginal"

Choice = Callable[[Inputs], str]


def _nats(value: float) -> str:
    return latex.signed(value, 4)


def _thousandths(value: float) -> str:
    return latex.signed(value, 3)


def _fill(text: str, kind: str, *names: str) -> Choice:
    """Return a function that puts settings of a measurement into a sentence: each {} is the next one."""

    def fill(inputs: Inputs) -> str:
        found = asked(inputs, kind)
        return text.format(*(_value(found.get(name)) for name in names))

    return fill


def _value(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return latex.listed([latex.setting(one) for one in value])
    return latex.setting(value)


def _by_model(inputs: Inputs, values: Callable[[str, str], Sequence[float]]) -> Iterator[tuple[str, list[float]]]:
    """Yield (a model in print, its values over all corpora), where there are any."""
    for model in (PLSA, LDA):
        found = [value for corpus in inputs.settings.corpora for value in values(corpus, model)]
        if found:
            yield latex.escape(model.upper()), found


def _sweeps_lines(inputs: Inputs) -> list[str]:
    """Return the sweeps that were run, and left-to-right sequential less the exact value, nats per token."""
    lines = []
    for corpus in inputs.settings.corpora:
        drawn, gaps = [], []
        for model in (PLSA, LDA):
            exact = {p.topics: p.value for p in curve(inputs, corpus, model, EXACT)}
            sampled = curve(inputs, corpus, model, SEQUENTIAL)
            drawn += [p.samples for p in sampled]
            gaps += [p.value - exact[p.topics] for p in sampled if p.topics in exact]
        if drawn:
            line = f"{latex.corpus_name(corpus)}, sweeps: {latex.integer(min(drawn))}"
            line += f" to {latex.integer(max(drawn))}" if min(drawn) < max(drawn) else ""
            lines.append(line + (f"; LRS less exact, nats per token: {median_and_range(gaps, _nats)}" if gaps else ""))
    return lines


def _prior_lines(inputs: Inputs) -> list[str]:
    """Return the change in the truth's perplexity under other priors."""
    lines = []
    for variant, prior in ((FITTED, "fitted"), (FLAT, "Dirichlet(1)")):

        def change(corpus: str, model: str, variant: str = variant) -> list[float]:
            own = {p.topics: p.perplexity for p in curve(inputs, corpus, model, "truth")}
            other = curve(inputs, corpus, model, "truth", variant)
            return [p.perplexity / own[p.topics] - 1.0 for p in other if p.topics in own]

        found = _by_model(inputs, change)
        lines += [f"{model}, {prior}: {median_and_range(values, latex.signed_percent)}" for model, values in found]
    return lines


def _less_truth(*evaluators: tuple[str, str]) -> Callable[[Inputs], list[str]]:
    """Return a function of the inputs that gives, by model and estimate, how far it is off the truth."""

    def lines(inputs: Inputs) -> list[str]:
        return [
            f"{model}, {label}: {median_and_range(values, _thousandths)} nats per token off the truth"
            for evaluator, label in evaluators
            for model, values in _by_model(
                inputs,
                lambda c, m, e=evaluator: [gap for gap, _ in errors(inputs, c, m, e).values()],  # type: ignore[misc]
            )
        ]

    return lines


def _undefined_lines(inputs: Inputs) -> list[str]:
    """Return the share of documents of which Laplace's method at the folded-in point says nothing."""
    table = inputs.measurements
    if table is None:
        return []
    table = table[(table["quantity"] == UNDEFINED) & (table["variant"] == KIND)]

    def shares(corpus: str, model: str) -> list[float]:
        return [float(v) for v in table.loc[(table["corpus"] == corpus) & (table["model"] == model), "value"]]

    found = _by_model(inputs, shares)
    lines = [
        f"{model}: undefined there for {median_and_range(values, latex.percent)} of documents"
        for model, values in found
    ]
    return [*lines, *_less_truth((ONE_STEP, "one step"))(inputs)]


def _annealing_lines(inputs: Inputs) -> list[str]:
    """Return annealing less quadrature, nats per document."""
    table = inputs.measurements
    if table is None:
        return []
    lines = []
    table = table[(table["variant"] == COMPONENTS) & (table["axis"] == "document")]
    for topics in sorted(table.loc[table["quantity"] == QUADRATURE, "topics"].unique()):
        rows = table[table["topics"] == topics].set_index(["corpus", "seed", "at"])
        annealed, exact = (rows.loc[rows["quantity"] == q, "value"] for q in (ANNEALED, QUADRATURE))
        gaps = (annealed - exact).dropna()
        error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        difference = rf"{_nats(float(gaps.mean()))} \ensuremath{{\pm}} {error:.4f}"
        lines.append(rf"\(K = {topics}\): annealed less quadrature {difference} nats per document")
    return lines


def _epca_prior(inputs: Inputs) -> str:
    found = asked(inputs, COMPONENTS)
    penalty = latex.setting(inputs.settings.setting(EPCA, "train", "penalty"))
    samples, temperatures = (latex.setting(found.get(name)) for name in ("samples", "temperatures"))
    return (
        rf"\(h\) normal with precision {penalty}, that of training; annealed importance sampling from Laplace's"
        f" approximation, {samples} chains of {temperatures} temperatures a document"
    )


def _text(text: str) -> Choice:
    return lambda _: text


INTERPRETATIONS = (
    Interpretation(
        "the prior of the truth",
        _text(
            "PLSA: Dirichlet(1), which its folding-in implies (Welling et al., 3.4); LDA: its own; beside them one"
            r" fitted to the training documents, every \(\alpha_k\) for itself"
        ),
        "fitted to test documents; of another form",
        effect=_prior_lines,
        measure=KIND,
    ),
    Interpretation(
        "the truth where no exact value can be had",
        _fill(
            r"LRS, {} sweeps at each token, fewer on long documents so that no more than {} tokens are resampled, but"
            " {} at least (then somewhat low); exact up to {} updates",
            *(KIND, "samples", "work", "least_samples", "limit"),
        ),
        "as many sweeps for every corpus",
        effect=_sweeps_lines,
        measure=KIND,
    ),
    Interpretation(
        "Laplace's method: what becomes of its own error on the prior",
        _text("divided by the same approximation of the prior's integral"),
        "left in (``undivided''), as MacKay does",
        effect=_less_truth((LAPLACE, "divided"), (DENSITY, "undivided")),
        measure=KIND,
    ),
    Interpretation(
        r"Laplace's method where folding in ends at \(\theta_k = 0\)",
        _text("taken at the mode under the prior in the softmax basis, never 0; beside it after one step of EM"),
        "taken at the folded-in point, where it is undefined",
        effect=_undefined_lines,
        measure=KIND,
    ),
    Interpretation(
        "the NML penalty of many topics",
        _text(r"its limit for topics that share no word, \(\log C(\min(K, V), L)\)"),
        "the normaliser of the topics themselves, which cannot be summed at this size",
        effect=_less_truth((NML, "penalised")),
        measure=KIND,
    ),
    Interpretation(
        "EPCA's likelihood",
        _epca_prior,
        "annealing from the prior; another precision; no prior, no likelihood",
        effect=_annealing_lines,
        measure=COMPONENTS,
    ),
)
