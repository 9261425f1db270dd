"""Made-up scores and measurements of the truth, kind by kind; those of drawn corpora are in `drawn_corpora`."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from tables_of import measurements_table, scores_table

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.results import GAMMAS, PUBLISHED
from artifact.papers.likelihood.experiments.precision import BIAS, DOCUMENTS, REFERENCE_BIAS, REFERENCE_ERROR
from artifact.papers.likelihood.experiments.precision import ERROR as RMS_ERROR
from artifact.papers.likelihood.experiments.precision import variant as variant_of
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.evaluators import PARTICLES, SEQUENTIAL, likelihood_estimators
from heldout.topics import perplexity

# calibration
TOKENS_OF_PAIR = 14
BITS = TOKENS_OF_PAIR * math.log(2.0)
# convergence to the exact value: tokens and log-likelihood by number of topics
EXACT = {4: (14, -90.0), 5: (16, -100.0)}
SAMPLES = (100, 1000, 10000)
# optimism
TOKENS = 100
TOPICS = (3, 20, 100)
ERROR = 1e-3  # of the truth by sampling, nats per token
CONSTANT = 1e-5
# bidirectional
TEMPERATURES = (10, 100, 1000)
# marginal likelihood of EPCA
PERPLEXITIES = {"marginal-annealed": 700.0, "full-folding-in": 500.0, "half-folding-in": 600.0}

Gap = Callable[[str, int], float]
Changes = dict[tuple[float, str], tuple[float, float]]


SAMPLED = {"chib": 2.0, "left-to-right-sequential": 3.0, "harmonic-mean": 60.0}  # nats at 100 tokens with one sample


def normal_errors(rng: np.random.Generator, n: int, mean: float, deviation: float) -> list[float]:
    """Return n errors of exactly this mean and standard deviation."""
    z = rng.standard_normal(n)
    return list(mean + deviation * (z - z.mean()) / z.std(ddof=1))


def calibration(
    gammas: tuple[float, ...] = GAMMAS, changes: Changes | None = None, pairs: int = 100
) -> list[Measurement]:
    """Return errors that have the published means and standard deviations, but for the changed cells."""
    rng = np.random.default_rng(0)
    rows = []
    for gamma in gammas:
        key = ("none", "none", f"gamma-{gamma:g}", 4, 0.0, "none", 0)
        rows.append(Measurement(*key, "tokens", "pairs", 1000, float(TOKENS_OF_PAIR)))
        for name in likelihood_estimators():
            mean, deviation = 0.01, 0.02
            if name in METHODS:
                mean, deviation = map(float, PUBLISHED[gamma][METHODS.index(name)][:2])
            mean, deviation = (changes or {}).get((gamma, name), (mean, deviation))
            errors = normal_errors(rng, pairs, mean, deviation)
            rows += [Measurement(*key, f"error-{name}", "pair", i, e * BITS, 0.1) for i, e in enumerate(errors)]
            error = deviation * BITS / math.sqrt(1000)
            rows.append(Measurement(*key, f"mean-error-{name}", "pairs", 1000, mean * BITS, error))
    return rows


def errors_by_samples(rms: Callable[[str, int], float] = lambda _, samples: 5.0 / samples**0.5) -> list[Measurement]:
    """Return errors of LR and LRS with these root mean squares, nats per document, and the spread of the reference."""
    rows = []
    for corpus, K in (("s10", 10), ("none", 4)):
        reference = 0.02 * (K > 4)
        for samples, documents in ((100, 1000), (1000, 100)):
            key = (corpus, "none", "mean-ratio", K, 0.0, "none", 0)
            for name in (PARTICLES, SEQUENTIAL):
                square = rms(name, samples) ** 2 - 0.03**2 + reference**2  # without the mean's
                error = math.sqrt(square / (documents - 1.0))
                rows.append(Measurement(*key, f"logarithm-{name}", "samples", samples, -0.03, error))
            for name, value in (("documents", documents), ("reference-error", reference)):
                rows.append(Measurement(*key, name, "samples", samples, float(value)))
    return rows


def convergence_to_exact(numbers_of_topics: tuple[int, ...] = (4, 5)) -> list[Measurement]:
    """Return two runs of every method that close in on the exact value, the second off twice as far."""
    rows = []
    for topics in numbers_of_topics:
        tokens, exact = EXACT[topics]
        key = ("none", "none", "gamma-0.5", topics, 0.0)
        rows.append(Measurement(*key, "none", 0, "exact-marginal", "tokens", tokens, exact))
        for i, name in enumerate(METHODS):
            for samples in SAMPLES:
                for run in (0, 1):
                    off = (2.0 if i == 0 else 0.1 * i) / math.sqrt(samples) * (1.0 + run)
                    rows.append(Measurement(*key, str(run), 0, f"estimate-{name}", "samples", samples, exact + off))
    return rows


def truth(topics: int) -> float:
    """Return nats per token: best at 20 topics."""
    return -6.0 - 0.2 * abs(math.log(topics / 20.0))


def gap(evaluator: str, topics: int) -> float:
    """Return estimate less truth, nats per token."""
    return {
        "full-folding-in": 0.1 * math.log(topics),
        "half-folding-in": 0.01,
        "plug-in-posterior-mean": 0.02 * math.log(topics),
        "mean-field-bound": -0.03 * math.log(topics),
        "laplace-softmax": 0.002,
        "laplace-density": -0.004 * topics,
        "laplace-one-step": -0.01,
        "nml-penalised": -0.05,
    }.get(evaluator, 0.0)


def _score(place: tuple[str, str, str], topics: int, smoothing: float, evaluator: str, value: float) -> Score:
    sampled = evaluator == "reference"
    chain, error = "0" if place[1] == "lda" else "none", ERROR * TOKENS if sampled else 0.0
    total = value * TOKENS
    key = (*place, topics, smoothing, chain, evaluator, 20 if sampled else 0, 0)
    return Score(*key, 4, TOKENS, 0, 0, total, perplexity(total, TOKENS), error)


def optimism(corpora: Iterable[str], gaps: Gap = gap) -> tuple[list[Score], list[Measurement]]:
    """Return a truth that is exact at 3 topics and sampled above, with fitted priors 0.1 and 0.11 nats better."""
    evaluators: tuple[str, ...] = ("full-folding-in", "half-folding-in", "plug-in-posterior-mean", "mean-field-bound")
    evaluators += ("laplace-softmax", "laplace-density", "laplace-one-step", "nml-penalised")
    scores, rows = [], []
    for corpus in corpora:
        for model, constant in (("plsa-hof", CONSTANT), ("lda", 0.0)):
            for k in TOPICS:
                names = ("reference", *(("exact-marginal",) if k == 3 else ()), *evaluators)
                priors = {"optimism": 0.0, "optimism-fitted-prior": 0.1, "optimism-mixture-prior": 0.11}
                for variant, better in priors.items():
                    for name in names if not better else (*names[:-8], "laplace-softmax"):
                        value = truth(k) + better + gaps(name, k)
                        value -= 0.3 if name == "reference" and k == 3 else 0.0  # exact goes first
                        scores.append(_score((corpus, model, variant), k, constant, name, value))
                if model == "plsa-hof" and k in (3, 100):
                    for other in (1e-7, 1e-3):
                        for name in ("reference", "full-folding-in", "laplace-softmax", "nml-penalised"):
                            value = truth(k) + gaps(name, k) * (1.0 - math.log10(other))
                            scores.append(_score((corpus, model, "optimism"), k, other, name, value))
                place = (corpus, model, "optimism", k, constant, "0" if model == "lda" else "none", 0)
                for name in names:
                    for length in (10, 40):
                        value = truth(k) + gaps(name, k) * 10.0 / length
                        rows.append(Measurement(*place, name, "length", length, value))
                    if k == 3:
                        nats = (truth(k) + gaps(name, k)) * 10.0
                        rows += [Measurement(*place, name, "document", document, nats) for document in range(2)]
    return scores, rows


def reference(corpora: Iterable[str]) -> list[Measurement]:
    """Return differences from the exact value of half the stated error, which is 1e-4 nats per token."""
    rows = []
    for corpus in corpora:
        for model in ("plsa-hof", "lda"):
            for K in (2, 3):
                place = (corpus, model, "reference-own", K, 0.0, "none", 0)
                rows.append(Measurement(*place, "reference-less-exact", "samples", 300, -0.5, 1.0))
                rows.append(Measurement(*place, "reference-tokens", "samples", 300, 1e4))
    return rows


def bidirectional(corpus: str = "medline", seed: int = 0, factor: float = 1.0) -> list[Measurement]:
    """Return bounds that close in on the reference, ten times closer with ten times the temperatures."""
    rows = []
    for model, chain in (("plsa-hof", "none"), ("lda", "0")):
        for K in (100, 4):
            place = (corpus, model, "bidirectional", K, 0.0, chain, seed)
            rows.append(Measurement(*place, "left-to-right-sequential", "samples", 50, -500.0, 4.0))
            if K == 4:
                rows.append(Measurement(*place, "exact-difference", "samples", 50, 0.02, 0.01))
            for T in TEMPERATURES:
                off = factor * K * 10.0 / T
                rows.append(Measurement(*place, "lower-difference", "temperatures", T, -off, 0.1))
                rows.append(Measurement(*place, "upper-difference", "temperatures", T, off, 0.2))
                rows.append(Measurement(*place, "gap", "temperatures", T, 2.0 * off, 0.05))
    return rows


def epca_marginal(corpus: str = "medline", grid: tuple[int, ...] = (1, 2, 5)) -> tuple[list[Score], list[Measurement]]:
    """Return perplexities that fall as 1 / K, with quadrature where it exists; folding in lies above annealing."""
    scores, rows = [], []
    for K in grid:
        place = (corpus, "epca", "epca-marginal", K, 0.0, "none")
        perplexities = PERPLEXITIES | ({"marginal-quadrature": 701.0} if K <= 2 else {})
        for seed in (0, 1):
            for evaluator, p in perplexities.items():
                samples = 10 if evaluator == "marginal-annealed" else 0
                nats = -100.0 * math.log(p / K)
                scores.append(Score(*place, evaluator, samples, seed, 3, 100, 0, 0, nats, p / K, 0.0))
            for d in range(3):
                document = (*place, seed)
                rows.append(Measurement(*document, "marginal-annealed", "document", d, -50.0 + 0.2 * K, 0.1))
                rows.append(Measurement(*document, "full-folding-in", "document", d, -40.0))
                if K <= 2:
                    rows.append(Measurement(*document, "marginal-quadrature", "document", d, -50.0))
    return scores, rows


def precision(seed: int = 0, known: float = 0.0) -> list[Measurement]:
    """Return errors that fall with the root of the samples, of a few estimators over a grid of K and L."""
    rows = []
    for prior in ("alpha-0.1", "alpha-sum-1"):
        for K in (4, 20, 100, 400):
            for L in (10, 50, 150, 500):

                def row(
                    quantity: str, axis: str, at: int, value: float, K: int = K, name: str = variant_of(prior, L)
                ) -> Measurement:
                    return Measurement("none", "none", name, K, 0.0, "none", seed, quantity, axis, at, value)

                rows.append(row(DOCUMENTS, "tokens", L, 5.0))
                rows.append(row(REFERENCE_ERROR + "chib", "samples", 40, known))
                rows.append(row(REFERENCE_BIAS + "chib", "samples", 40, 0.0))
                rows.append(row(RMS_ERROR + "linear-time", "samples", 0, 0.2 * L))
                rows.append(row(BIAS + "linear-time", "samples", 0, 0.1 * L))
                for S in (1, 10, 100):
                    for name, one in SAMPLED.items():
                        rows.append(row(RMS_ERROR + name, "samples", S, one * L / 100 / math.sqrt(S)))
                        rows.append(row(BIAS + name, "samples", S, 0.0))
    return rows


# excess over the truth, nats: model, score
HELD = {
    ("truth", "full-folding-in"): 500.0,
    ("truth", "full-folding-in-sampled"): 400.0,
    ("truth", "plug-in-posterior-mean"): 450.0,
    ("truth", "harmonic-mean"): 900.0,
    ("truth", "laplace-softmax"): 13.0,
    ("truth", "half-folding-in"): -10.0,
    ("truth", "chib"): 1.5,
    ("truth", "mean-field-bound"): -math.inf,
    ("tomotopy", "reported"): -5000.0,
}


def is_a_probability(changes: dict[tuple[str, str], float] | None = None) -> list[Measurement]:
    """Return excesses over the truth, and 200 nats less over the mixture that drew the documents."""
    rows = []
    for corpus, K in (("none", 4), ("s10", 10)):
        for (model, score), nats in (HELD | (changes or {})).items():
            for variant, less in (("is-a-probability", 0.0), ("is-a-probability-given-theta", 200.0)):
                place = (corpus, model, variant, K, 0.0, "none", 0)
                rows.append(Measurement(*place, score, "documents", 70, nats - less))
        place = (corpus, "truth", "is-a-probability", K, 0.0, "none", 0)
        rows.append(Measurement(*place, "truth-gap", "documents", 70, 1.25 * K))
        rows.append(Measurement(*place, "log-sum-over-documents", "tokens", 84, 2.0 * K, 0.1))
        rows.append(Measurement(*place, "mean-log-ratio", "tokens", 84, 1.8 * K, 0.1))
    return rows


def optimism_inputs(*, gaps: Gap = gap, synthetic: bool = False) -> Inputs:
    """Return the small study with the scores and measurements of `optimism` alone, and their effects."""
    from small_study import inputs, small_study, with_effects  # which take their rows from here

    study = small_study()
    scores, rows = optimism(study["measures"]["optimism"]["corpora"], gaps)
    given = inputs(study, synthetic=synthetic)
    return with_effects(replace(given, scores=scores_table(scores), measurements=measurements_table(rows)))


def components_inputs(
    scores: Iterable[Score], measurements: Iterable[Measurement], *, synthetic: bool = False
) -> Inputs:
    """Return the small study with these scores beside its own, and these measurements alone."""
    from small_study import inputs, without

    given = inputs(without("epca-marginal"), synthetic=synthetic)
    both = pd.concat([given.scores, scores_table(scores)], ignore_index=True)
    return replace(given, scores=both, measurements=measurements_table(measurements))


def measured(rows: Iterable[Measurement], *, synthetic: bool = False) -> Inputs:
    """Return the small study with these measurements alone."""
    from small_study import inputs

    return replace(inputs(synthetic=synthetic), measurements=measurements_table(rows))


def validation(corpus: str = "cranfield", off: float = 0.0, stated: float = 0.5) -> list[Measurement]:
    """Return a reference that lies within errors of a longer one and a filter, at z of -1 and 1, and between bounds.

    It is `off` nats per token from both, of 100 tokens of a cell; its stated error is in nats.
    """
    rows = []
    for model in ("plsa-hof", "lda"):
        for prior in ("flat", "mixture"):
            for K in (20, 800):
                place = (corpus, model, f"validation-{prior}", K, 0.0, "none", 0)
                for other in ("longer", "filter"):
                    error = math.hypot(stated, 0.3)
                    values = {"difference": 100 * off, "reference-error": stated, "own-error": 0.3, "tokens": 100.0}
                    for end, value in values.items():
                        own = error if end == "difference" else 0.0
                        rows.append(Measurement(*place, f"{other}-{end}", "documents", 4, value, own))
                    rows += [
                        Measurement(*place, f"{other}-difference", "document", d, 0.2 * z, 0.2)
                        for d, z in enumerate((-1.0, 0.9, 1.0, -0.7))
                    ]
                for bound, sign in (("lower-bound", 1.0), ("upper-bound", -1.0)):
                    values = {"difference": sign * 0.04, "reference-error": stated, "tokens": 100.0}
                    for end, value in values.items():
                        own = 0.02 if end == "difference" else 0.0
                        rows.append(Measurement(*place, f"{bound}-{end}", "documents", 4, value, own))
    return rows
