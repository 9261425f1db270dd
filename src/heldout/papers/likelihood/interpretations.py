"""What the likelihood leaves open: its prior, its estimate where it is not exact, and the repairs of folding-in."""

import math
from collections.abc import Callable, Sequence

from heldout.evaluators import EXACT, LAPLACE, REFERENCE
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA
from heldout.papers.likelihood.experiments.optimism import DENSITY, NML, ONE_STEP, UNDEFINED
from heldout.papers.likelihood.results import (
    COMPONENTS,
    FITTED,
    FLAT,
    MIXTURE,
    OPTIMISM,
    annealed_less_quadrature,
    curve,
    errors,
)
from heldout.points import TRUTH, select
from heldout.typesetting import latex
from heldout.typesetting.interpretations import (
    Interpretation,
    Lines,
    experiment_settings,
    from_settings,
    median_and_range,
)


def _nats(value: float) -> str:
    return latex.signed(value, 4)


def _thousandths(value: float) -> str:
    return latex.signed(value, 3)


def _by_model(inputs: Inputs, values: Callable[[str, str], Sequence[float]]) -> dict[str, list[float]]:
    """Return the values of (corpus, model) over all corpora by the model's name in print, where there are any."""
    by_model = {m: [value for c in inputs.settings.corpora for value in values(c, m)] for m in (PLSA, LDA)}
    return {latex.escape(model.upper()): listed for model, listed in by_model.items() if listed}


def _reference_lines(inputs: Inputs) -> list[str]:
    """Return the reference's largest stated error, and the reference less the exact value, nats per token."""
    lines = []
    for corpus in inputs.settings.corpora:
        errors: list[float] = []
        gaps: list[float] = []
        for model in (PLSA, LDA):
            exact, sampled = (curve(inputs, corpus, model, name) for name in (EXACT, REFERENCE))
            errors += list(sampled["error"])
            gaps += list((sampled["value"] - exact["value"]).dropna())
        if errors:
            less = f"; reference less exact: {median_and_range(gaps, _nats)}" if gaps else ""
            lines.append(
                f"{latex.corpus_name(corpus)}, nats per token, stated error at most {_nats(max(errors))}{less}"
            )
    return lines


def _prior_lines(inputs: Inputs) -> list[str]:
    """Return the change in the truth's perplexity under other priors."""
    lines = []
    for variant, prior in ((FITTED, "fitted"), (MIXTURE, "fitted mixture"), (FLAT, "Dirichlet(1)")):

        def changes(corpus: str, model: str, variant: str = variant) -> list[float]:
            main, other = (curve(inputs, corpus, model, TRUTH, name)["perplexity"] for name in (OPTIMISM, variant))
            return list((other / main - 1.0).dropna())

        lines += [
            f"{model}, {prior}: {median_and_range(values, latex.signed_percent)}"
            for model, values in _by_model(inputs, changes).items()
        ]
    return lines


def _less_truth(*evaluators: tuple[str, str]) -> Lines:
    """Return a function of the inputs that gives, by model and estimate, how far it is off the truth."""

    def lines(inputs: Inputs) -> list[str]:
        result = []
        for evaluator, label in evaluators:

            def off(corpus: str, model: str, evaluator: str = evaluator) -> list[float]:
                return list(errors(inputs, corpus, model, evaluator))

            result += [
                f"{model}, {label}: {median_and_range(values, _thousandths)} nats per token off the likelihood"
                for model, values in _by_model(inputs, off).items()
            ]
        return result

    return lines


def _undefined_lines(inputs: Inputs) -> list[str]:
    """Return the share of documents of which Laplace's method at the folded-in point says nothing."""
    table = select(inputs.measurements, quantity=UNDEFINED, variant=OPTIMISM)
    shares = _by_model(inputs, lambda corpus, model: list(select(table, corpus=corpus, model=model)["value"]))
    lines = [f"{m}: undefined there for {median_and_range(s, latex.percent)} of documents" for m, s in shares.items()]
    return [*lines, *_less_truth((ONE_STEP, "one step"))(inputs)] if inputs.measurements is not None else []


def _annealing_lines(inputs: Inputs) -> list[str]:
    """Return annealing less quadrature, nats per document."""
    lines = []
    for topics, gaps in annealed_less_quadrature(inputs).groupby("topics")["gap"]:
        error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        difference = rf"{_nats(float(gaps.mean()))} \ensuremath{{\pm}} {error:.4f}"
        lines.append(rf"\(K = {topics}\): annealed less quadrature {difference} nats per document")
    return lines


def _epca_prior(inputs: Inputs) -> str:
    penalty = latex.setting(inputs.settings.setting(EPCA, "train", "penalty"))
    samples, temperatures = (
        latex.setting(experiment_settings(inputs, COMPONENTS).get(name)) for name in ("samples", "temperatures")
    )
    return (
        rf"\(h\) normal with precision {penalty}, that of training; annealed importance sampling from Laplace's"
        f" approximation, {samples} chains of {temperatures} temperatures a document"
    )


INTERPRETATIONS = (
    Interpretation(
        "the prior of the likelihood",
        "PLSA: Dirichlet(1), which its folding-in implies (Welling et al., 3.4); LDA: its own; beside them one"
        r" fitted to the training documents, every \(\alpha_k\) for itself",
        "fitted to test documents; of another form",
        effect=_prior_lines,
        measure=OPTIMISM,
    ),
    Interpretation(
        "the likelihood where no exact value can be had",
        from_settings(
            OPTIMISM,
            "annealed from the posterior's mean, up to {samples} sweeps over a document on average, more where the"
            " weights spread; exact up to {limit} updates",
        ),
        "LRS, which falls short of its stated error with few sweeps",
        effect=_reference_lines,
        measure=OPTIMISM,
    ),
    Interpretation(
        "Laplace's method: what becomes of its own error on the prior",
        "divided by the same approximation of the prior's integral",
        "left in (``undivided''), as MacKay does",
        effect=_less_truth((LAPLACE, "divided"), (DENSITY, "undivided")),
        measure=OPTIMISM,
    ),
    Interpretation(
        r"Laplace's method where folding in ends at \(\theta_k = 0\)",
        "taken at the mode under the prior in the softmax basis, never 0; beside it after one step of EM",
        "taken at the folded-in point, where it is undefined",
        effect=_undefined_lines,
        measure=OPTIMISM,
    ),
    Interpretation(
        "the NML penalty of many topics",
        r"its limit for topics that share no word, \(\log C(\min(K, V), L)\)",
        "the normaliser of the topics themselves, which cannot be summed at this size",
        effect=_less_truth((NML, "penalised")),
        measure=OPTIMISM,
    ),
    Interpretation(
        "EPCA's likelihood",
        _epca_prior,
        "annealing from the prior; another precision; no prior, no likelihood",
        effect=_annealing_lines,
        measure=COMPONENTS,
    ),
)
