"""Where Buntine (2009) leaves something open."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from heldout.corpora.names import SOURCES, SYNTHETIC
from heldout.corpora.prepare import RECIPES
from heldout.corpora.realistic import TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.evaluators import (
    HARMONIC,
    MEAN_FIELD_FIRST,
    MEAN_FIELD_SECOND,
    PARTICLES,
    PSEUDO_COUNTS,
    SEQUENTIAL,
    UNRESAMPLED,
)
from heldout.evaluators.harmonic_mean import harmonic_mean
from heldout.evaluators.importance_sampling import LARGEST_CORRECTION
from heldout.evaluators.iterated_pseudo_counts import iterated_pseudo_counts
from heldout.evaluators.mean_field_importance import mean_field_importance
from heldout.inputs import Inputs
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.experiments.model_selection import with_many
from heldout.papers.buntine.results import LABELS, PUBLISHED, SHORT, biases, calibration, convergence, many_samples
from heldout.papers.buntine.tables import label
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, Lines, experiment_settings, from_settings, setting

CALIBRATION, CONVERGENCE, SELECTION = "calibration", "convergence-to-exact", "model-selection"
SOURCE_SAMPLES = {SEQUENTIAL: 100, PARTICLES: 100, MEAN_FIELD_FIRST: 200}  # numbers of samples of section 4.2


def _bits(value: float) -> str:
    return latex.signed(value, 4)


def _default(function: Callable[..., Any], name: str) -> str:
    return latex.setting(inspect.signature(function).parameters[name].default)


def _mean_errors(*names: str) -> Lines:
    """Return a function of the inputs that gives, by estimator, the mean error at each gamma, bits per token."""

    def lines(inputs: Inputs) -> list[str]:
        errors = calibration(inputs)
        result = []
        for name in names if errors else ():
            means = {gamma: summary for (gamma, other), summary in errors.items() if other == name}
            result.append(
                rf"{label(name)}, mean error at \ensuremath{{\gamma = {', '.join(f'{gamma:g}' for gamma in means)}}}:"
                f" {', '.join(_bits(summary.bias) for summary in means.values())} bits per token"
                f" (s.e. at most {max(summary.bias_error for summary in means.values()):.4f})"
            )
        return result

    return lines


def _unit_lines(inputs: Inputs) -> list[str]:
    """Return the harmonic mean's error, the largest of the table, as published and in two units."""
    errors = calibration(inputs)
    if not errors:
        return []
    gamma = min(gamma for gamma, _ in errors)
    ours, tokens = errors[gamma, HARMONIC].mean, experiment_settings(inputs, CALIBRATION).get("tokens")
    published = float(PUBLISHED[gamma][METHODS.index(HARMONIC)][0])
    line = rf"{LABELS[HARMONIC]} at \ensuremath{{\gamma = {gamma:g}}}: published {_bits(published)};"
    line += f" ours {_bits(ours)} bits per token"
    return [line + (f", {latex.signed(ours * tokens * math.log(2.0), 2)} nats per document" if tokens else "")]


def _last_errors(inputs: Inputs) -> list[str]:
    """Return the r.m.s. error of the sequential sampler at its most samples, by pair."""
    lines = []
    for pair in convergence(inputs):
        errors = pair.rms(SEQUENTIAL)
        lines.append(
            rf"\(K = {pair.topics}\), \(n = {pair.tokens}\): LRS is {errors.iloc[-1]:.4f} bits per token (r.m.s.) off"
            f" after {latex.integer(errors.index[-1])} samples"
        )
    return lines


def _source(inputs: Inputs) -> str:
    """Return what the true models are fitted to, with its rule."""
    name = str(inputs.study.get("realistic", {}).get("source", ""))
    if name.endswith(SYNTHETIC):
        return f"{latex.corpus_name(name)}: drawn from a known model"
    how = RECIPES[name]
    words = how.rule.words() if how.rule else "counts as they come"
    return f"{latex.corpus_name(name)}, the bodies of its stories: {latex.escape(words)}"


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
    settings = experiment_settings(inputs, SELECTION)
    sizes = settings.get("training_documents", ())
    samples = {**settings.get("samples", {}), **settings.get("some_samples", {})}
    held_out = inputs.study.get("realistic", {}).get("test_documents")
    ours = {name: samples.get(name) for name in SOURCE_SAMPLES}
    full = (tuple(sizes), held_out, ours) == (TRAINING_DOCUMENTS, TEST_DOCUMENTS, SOURCE_SAMPLES)
    return (
        f"{setting(sizes)} training documents, the last {latex.setting(held_out)} held out, samples: {_samples(ours)};"
        f" {'as in the source' if full else 'what the study has time for'}"
    )


def _samples(numbers: Mapping[str, Any]) -> str:
    return latex.listed([f"{latex.setting(number)} ({SHORT[name]})" for name, number in numbers.items()])


def _more_samples(inputs: Inputs) -> list[str]:
    """Return the sequential sampler with many and with few samples, and the particles, less the reference."""
    samples = many_samples(inputs)
    few = experiment_settings(inputs, SELECTION).get("some_samples", {}).get(SEQUENTIAL)
    named = {f"LRS, {latex.integer(samples)} samples": biases(inputs, with_many(samples))}
    named |= {
        f"LRS, {latex.setting(few)}": biases(inputs, SEQUENTIAL),
        "LR": biases(inputs, PARTICLES),
    }
    lines = [f"{name}: {latex.signed(float(found['value'].mean()), 5)}" for name, found in named.items() if len(found)]
    return [f"mean less the reference, nats per token: {'; '.join(lines)}"] if lines else []


INTERPRETATIONS = (
    Interpretation(
        "Buntine: unit and sign of Table 1",
        "bits per token; code length by the estimate less the exact one, so what is too high is negative",
        "nats; whole documents; the other sign",
        effect=_unit_lines,
        measure=CALIBRATION,
    ),
    Interpretation(
        r"Buntine, 4.1: the prior \(\alpha\)",
        from_settings(CALIBRATION, r"every \(\alpha_k\) is {alpha}"),
        "their sum is",
        measure=CALIBRATION,
    ),
    Interpretation(
        "LRS, 3.6: whose record a sample is",
        "the next token's, which the sample has not seen; the state is kept from token to token, without burn-in",
        "the token's that was just resampled (tends to more than the likelihood); a fresh state at each token; sweeps"
        " left out as burn-in",
        effect=_mean_errors(SEQUENTIAL),
        measure=CALIBRATION,
    ),
    Interpretation(
        "LR, 3.5: sweeps and records",
        "one sweep over the earlier tokens for each particle and token; recorded after it",
        "more sweeps; recorded after the token's own draw (the same number); no sweep, as MALLET does unless told"
        " otherwise; particles' products averaged (unbiased), not their records token by token",
        effect=_mean_errors(PARTICLES, UNRESAMPLED),
        measure=CALIBRATION,
    ),
    Interpretation(
        "MFI, 3.3: start and order of the rewrites",
        rf"from \(q_l(k) \propto \alpha_k\phi_{{k w_l}}\); {_default(mean_field_importance, 'cycles')} cycles,"
        " token after token, each from the newest of all others",
        f"in parallel, as iterated pseudo-counts ({_default(iterated_pseudo_counts, 'iterations')} iterations);"
        " other starts; until nothing changes",
        effect=_mean_errors(MEAN_FIELD_FIRST, PSEUDO_COUNTS),
        measure=CALIBRATION,
    ),
    Interpretation(
        "MFI, 3.3: the second order's rule, not written out",
        r"\(q_l(k) \propto \phi_{k w_l}\, m\, e^{-v / 2m^2}\), mean \(m\) and variance \(v\) of \(\alpha_k\) plus"
        rf" the other tokens' count; \(v / 2m^2\) at most {LARGEST_CORRECTION:g}",
        "the first order's; the expectation itself",
        effect=_mean_errors(MEAN_FIELD_SECOND),
        measure=CALIBRATION,
    ),
    Interpretation(
        "HM, 3.2: the Gibbs chain",
        f"{_default(harmonic_mean, 'burn_in')} sweeps, then a sample after every one",
        "a longer burn-in; samples further apart",
        measure=CALIBRATION,
    ),
    Interpretation(
        r"Buntine, Figures 1 and 2: \(K\) and \(n\), which caption and title state differently",
        from_settings(CONVERGENCE, r"both: \(K\) of {numbers_of_topics}, with \(n\) of {tokens}"),
        "one of the two",
        effect=_last_errors,
        measure=CONVERGENCE,
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
        f"the {latex.integer(SOURCES['s10s'].vocabulary)} most probable words under the model of"
        f" {SOURCES['s10s'].topics} topics; each topic divided by its sum",
        "the words of most stories; a model trained on these words",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: ``vanilla LDA''",
        from_settings(
            SELECTION,
            r"Gibbs, \(\alpha\) and \(\beta\) fitted every {optimise_every} sweeps, from a sum of {alpha_sum} and from"
            r" {beta}; {chains} chains of {first_sweeps} sweeps on the fewest documents; on each larger number the half"
            r" of the highest log joint goes on, {sweeps} sweeps",
        ),
        r"\(\alpha\), \(\beta\) fixed; one chain, anew for every number of documents; variational inference",
        measure=SELECTION,
    ),
    Interpretation(
        "Buntine, 4.2: numbers of documents and samples",
        _sizes,
        f"the source's: {setting(TRAINING_DOCUMENTS)} training documents, {latex.integer(TEST_DOCUMENTS)} held out;"
        f" samples: {_samples(SOURCE_SAMPLES)}",
        effect=_more_samples,
        measure=SELECTION,
    ),
)
