"""The part of the interpretations about the likelihood: what Buntine (2009) and our own measurements leave open."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from heldout.corpora.prepare import SYNTHETIC, recipe
from heldout.corpora.realistic import SOURCES
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.harmonic_mean import harmonic_mean
from heldout.evaluators.importance_sampling import LARGEST_CORRECTION
from heldout.evaluators.iterated_pseudo_counts import iterated_pseudo_counts
from heldout.evaluators.mean_field_importance import mean_field_importance
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA
from heldout.papers.buntine.exhibits.calibration_table import LABELS, PUBLISHED, cells
from heldout.papers.buntine.experiments.convergence_to_exact import ESTIMATE, METHODS
from heldout.papers.buntine.experiments.model_selection import REFERENCE, TRUTH, with_more
from heldout.papers.likelihood.exhibits.optimism import EXACT, FITTED, FLAT, KIND, SEQUENTIAL, curve
from heldout.papers.likelihood.exhibits.repair import DENSITY, LAPLACE, NML, ONE_STEP, errors
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED, QUADRATURE
from heldout.papers.likelihood.experiments.optimism import UNDEFINED
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, asked, median_and_range

CALIBRATION, TO_EXACT, COMPONENTS, SELECTION = (
    "calibration",
    "convergence-to-exact",
    "epca-marginal",
    "model-selection",
)
HM, MFI, MFI_2, LR, LRS = METHODS
# Buntine (2009), section 4.2
SOURCE_TRAINING, SOURCE_HELD_OUT = (1000, 2500, 5000, 10000, 20000, 30000, 40000), 10000
SOURCE_SAMPLES = {LRS: 100, LR: 100, MFI: 200}
SHORT = {LRS: "LRS", LR: "LR", MFI: "MFI"}

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


def _default(function: Callable[..., Any], name: str) -> str:
    return latex.setting(inspect.signature(function).parameters[name].default)


def _mean_errors(*names: str) -> Callable[[Inputs], list[str]]:
    """Return a function of the inputs that gives, by estimator, the mean error at each gamma, bits per token."""

    def lines(inputs: Inputs) -> list[str]:
        try:
            found = cells(inputs)
        except InputError:  # the table then says "not measured"
            return []
        result = []
        for name in names:
            means = {gamma: cell for (gamma, other), cell in found.items() if other == name}
            label = LABELS.get(name, latex.escape(ESTIMATORS[name].label))
            result.append(
                rf"{label}, mean error at \ensuremath{{\gamma = {', '.join(f'{gamma:g}' for gamma in means)}}}:"
                f" {', '.join(_nats(cell.bias) for cell in means.values())} bits per token"
                f" (s.e. at most {max(cell.bias_error for cell in means.values()):.4f})"
            )
        return result

    return lines


def _unit_lines(inputs: Inputs) -> list[str]:
    """Return the harmonic mean's error, the largest of the table, as published and in two units."""
    try:
        found = cells(inputs)
    except InputError:
        return []
    gamma = min(gamma for gamma, _ in found)
    ours, tokens = found[gamma, HM].mean, asked(inputs, CALIBRATION).get("tokens")
    published = float(PUBLISHED[gamma][METHODS.index(HM)][0])
    line = rf"{LABELS[HM]} at \ensuremath{{\gamma = {gamma:g}}}: published {_nats(published)};"
    line += f" ours {_nats(ours)} bits per token"
    return [line + (f", {latex.signed(ours * tokens * math.log(2.0), 2)} nats per document" if tokens else "")]


def _last_errors(inputs: Inputs) -> list[str]:
    """Return the root of the mean squared error of left-to-right sequential at its most samples, by pair."""
    table = inputs.measurements
    if table is None:
        return []
    lines = []
    for topics in sorted(table.loc[table["quantity"] == ESTIMATE + LRS, "topics"].unique()):
        rows = table[table["topics"] == topics]
        exact = rows[(rows["quantity"] == EXACT) & (rows["axis"] == "tokens")].iloc[0]
        rows = rows[rows["quantity"] == ESTIMATE + LRS]
        last = rows[rows["at"] == rows["at"].max()]
        error = math.sqrt(float(((last["value"] - exact["value"]) ** 2).mean())) / (exact["at"] * math.log(2.0))
        lines.append(
            rf"\(K = {topics}\), \(L = {int(exact['at'])}\): LRS is {error:.4f} bits per token (r.m.s.) off after"
            f" {latex.integer(last['at'].iloc[0])} samples"
        )
    return lines


def _source(inputs: Inputs) -> str:
    """Return what the true models are fitted to, with its rule."""
    name = str(inputs.study.get("realistic", {}).get("source", ""))
    if name.endswith(SYNTHETIC):
        return f"{latex.corpus_name(name)}: drawn from a known model"
    return f"{latex.corpus_name(name)}, the bodies of its stories: {latex.escape(recipe(name).rule.words())}"


def _true_models(inputs: Inputs) -> str:
    train = inputs.study.get("realistic", {}).get("train", {})
    sweeps, chains, alpha, beta, every = (
        latex.setting(train.get(name)) for name in ("sweeps", "chains", "alpha_sum", "beta", "optimise_every")
    )
    return (
        rf"Gibbs, chains: {chains}, sweeps: {sweeps}; \(\alpha\) (not symmetric) and \(\beta\) fitted every {every}"
        rf" sweeps, from a sum of {alpha} and from {beta}"
    )


def _lengths(inputs: Inputs) -> str:
    realistic = inputs.study.get("realistic", {})
    return (
        f"{latex.setting(realistic.get('documents'))} documents; lengths of the collection's own stories, scaled to a"
        f" mean of {latex.setting(realistic.get('mean_length'))}, two tokens at least"
    )


def _sizes(inputs: Inputs) -> str:
    sizes = asked(inputs, SELECTION).get("training_documents", ())
    held_out = inputs.study.get("realistic", {}).get("test_documents")
    samples = asked(inputs, SELECTION).get("samples", {})
    drawn = {name: samples.get(name) for name in SOURCE_SAMPLES}
    full = tuple(sizes) == SOURCE_TRAINING and held_out == SOURCE_HELD_OUT and drawn == SOURCE_SAMPLES
    return (
        f"{_value(sizes)} training documents, the last {latex.setting(held_out)} held out, samples: {_samples(drawn)};"
        f" {'as in the source' if full else 'what the study has time for'}"
    )


def _samples(drawn: Mapping[str, Any]) -> str:
    return latex.listed([f"{latex.setting(number)} ({SHORT[name]})" for name, number in drawn.items()])


def _more_samples(inputs: Inputs) -> list[str]:
    """Return left-to-right sequential with the samples of the check less with the study's, under the true models."""
    table, more = inputs.measurements, asked(inputs, SELECTION).get("check_samples")
    if table is None or more is None:
        return []
    parts = []
    table = table[(table["model"] == TRUTH) & (table["axis"] == "document")]
    for corpus in SOURCES:
        here = table[table["corpus"] == corpus].set_index(["seed", "at"])
        found, own = (here.loc[here["quantity"] == q, "value"] for q in (with_more(more), REFERENCE))
        gaps = (found - own).dropna()
        if len(gaps):
            parts.append(f"{latex.signed(float(gaps.mean()), 2)} ({corpus}, mean of {len(gaps)})")
    name = f"LRS with {latex.integer(more)} samples, nats per document above ours"
    return [f"{name}: {', '.join(parts)}"] if parts else []


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
        "Buntine: unit and sign of Table 1",
        _text("bits per token; code length by the estimate less the exact one, so what is too high is negative"),
        "nats; whole documents; the other sign",
        effect=_unit_lines,
        measure=CALIBRATION,
    ),
    Interpretation(
        r"Buntine, 4.1: the prior \(\alpha\)",
        _fill(r"every \(\alpha_k\) is {}", CALIBRATION, "alpha"),
        "their sum is",
        measure=CALIBRATION,
    ),
    Interpretation(
        "LRS, 3.6: whose record a sample is",
        _text(
            "the next token's, which the sample has not seen; the state is kept from token to token, without burn-in"
        ),
        "the token's that was just resampled (tends to more than the likelihood); a fresh state at each token; sweeps"
        " left out as burn-in",
        effect=_mean_errors(LRS),
        measure=CALIBRATION,
    ),
    Interpretation(
        "LR, 3.5: sweeps and records",
        _text("one sweep over the earlier tokens for each particle and token; recorded after it"),
        "more sweeps; recorded after the token's own draw (the same number); no sweep, as MALLET does unless told"
        " otherwise",
        effect=_mean_errors(LR, "left-to-right-unresampled"),
        measure=CALIBRATION,
    ),
    Interpretation(
        "MFI, 3.3: start and order of the rewrites",
        _text(
            rf"from \(q_l(k) \propto \alpha_k\phi_{{k w_l}}\); {_default(mean_field_importance, 'cycles')} cycles,"
            " token after token, each from the newest of all others"
        ),
        f"in parallel, as iterated pseudo-counts ({_default(iterated_pseudo_counts, 'iterations')} iterations);"
        " other starts; until nothing changes",
        effect=_mean_errors(MFI, "iterated-pseudo-counts"),
        measure=CALIBRATION,
    ),
    Interpretation(
        "MFI, 3.3: the second order's rule, not written out",
        _text(
            r"\(q_l(k) \propto \phi_{k w_l}\, m\, e^{-v / 2m^2}\), mean \(m\) and variance \(v\) of \(\alpha_k\) plus"
            rf" the other tokens' count; \(v / 2m^2\) at most {LARGEST_CORRECTION:g}"
        ),
        "the first order's; the expectation itself",
        effect=_mean_errors(MFI_2),
        measure=CALIBRATION,
    ),
    Interpretation(
        "HM, 3.2: the Gibbs chain",
        _text(f"{_default(harmonic_mean, 'burn_in')} sweeps, then a sample after every one"),
        "a longer burn-in; samples further apart",
        measure=CALIBRATION,
    ),
    Interpretation(
        r"Buntine, Figures 1 and 2: \(K\) and \(L\), which caption and title state differently",
        _fill(r"both: \(K\) of {}, with \(L\) of {}", TO_EXACT, "numbers_of_topics", "tokens"),
        "one of the two",
        effect=_last_errors,
        measure=TO_EXACT,
    ),
    Interpretation(
        "Buntine, 4.2: the news collection, which is unpublished",
        _source,
        "another collection; other thresholds",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: how the true models are fitted", _true_models, r"\(\alpha\), \(\beta\) fixed", measure=SELECTION
    ),
    Interpretation(
        "Buntine, 4.2: lengths of drawn documents, of which the mean is printed",
        _lengths,
        "Poisson; all of the mean length",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: the smaller vocabulary of s10s",
        _text(
            f"the {latex.integer(SOURCES['s10s'].vocabulary)} most probable words under the model of"
            f" {SOURCES['s10s'].topics} topics; each topic divided by its sum"
        ),
        "the words of most stories; a model trained on these words",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: ``vanilla LDA''",
        _fill(
            r"Gibbs, {} sweeps; \(\alpha\) and \(\beta\) fitted every {} sweeps, from a sum of {} and from {}; of {}"
            " chains the one of the highest log joint",
            *(SELECTION, "sweeps", "optimise_every", "alpha_sum", "beta", "chains"),
        ),
        r"\(\alpha\), \(\beta\) fixed; one chain; variational inference",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: numbers of documents and samples",
        _sizes,
        f"the source's: {_value(SOURCE_TRAINING)} training documents, {latex.integer(SOURCE_HELD_OUT)} held out;"
        f" samples: {_samples(SOURCE_SAMPLES)}",
        effect=_more_samples,
        measure=SELECTION,
    ),
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
