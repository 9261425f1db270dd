"""Table 1 of Buntine (2009), the published figures beside ours; every estimator's errors; an estimate's cost."""

import math

import numpy as np

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine import results
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.experiments.model_selection import READING
from artifact.papers.buntine.readings import LOGS, NEXT, PRODUCTS, RESAMPLED, SEEN, SORTED, UNRESAMPLED
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.prose import HOLDS
from artifact.typesetting.scorecard import Statement
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, likelihood_estimators

READING_LABELS = {
    RESAMPLED: "after the resampling, before the draw (LR)",
    NEXT: "before the resampling, for the next token",
    SEEN: "after the draw, its own topic counted",
    PRODUCTS: "as LR; mean of particles' products",
    LOGS: "as LR; mean of particles' logarithms",
    UNRESAMPLED: "without resampling (MALLET's default)",
    SORTED + RESAMPLED: "LR, tokens sorted by word",
    SORTED + NEXT: "for the next token, tokens sorted by word",
    SORTED + UNRESAMPLED: "without resampling, tokens sorted by word",
}
DIFFERS, MISFIT = r"$^{\dagger}$", r"$^{\ddagger}$"
_COLUMNS = r"@{}l@{\quad}rrr@{\quad}rrr@{\quad}r@{}"
_HEAD = r"""& \multicolumn{3}{c}{Buntine (2009)} & \multicolumn{3}{c}{ours, as many pairs} & ours, %s pairs\\
\cmidrule(r){2-4}\cmidrule(r){5-7}\cmidrule{8-8}
method & mean & s.d. & $t$ & mean & s.d. & $t$ & mean $\pm$ s.e.\\"""

Marks = dict[tuple[float, str, str], float]  # p-values by gamma, method and figure ("mean" or "s.d.")

# statements of the source, and the finding of our contrasts if they are right
STATEMENTS = (
    Statement("No significant bias of LRS is seen.", "lrs-bias", HOLDS, differs="more documents show one"),
    Statement(
        "First-order mean field errs about as much as LR.",
        "mfi-lr",
        "within",
        differs="too wide an interval",
    ),
    Statement("With enough samples LRS gives the likelihood,", "limit", "within", ("LRS, K = 5",)),
    Statement("and LR does not.", "limit", "below", ("LR, K = 5",)),
    Statement("On realistic models LR is biased,", "low", ">0", ("LR",)),
    Statement("and LRS is not.", "low", "within", ("LRS", "LRS, many samples"), differs="takes more samples"),
    Statement("LR's perplexity rises with training documents.", "lr-rise", "above", differs="his procedure is unclear"),
    Statement(
        "The true number of topics scores highest on s10s.",
        "true-topics",
        "above",
        differs="more topics cost nothing",
    ),
)


def _measured(inputs: Inputs) -> results.Calibration:
    errors = results.calibration(inputs)
    if not errors:
        raise InputError(f"table-calibration: no gamma of {results.GAMMAS} was measured; measure calibration first")
    return errors


def label(estimator: str) -> str:
    """Return an estimator's name in the tables: the source's abbreviation, or ours."""
    return results.LABELS.get(estimator, latex.escape(ESTIMATORS[estimator].label))


def errors_beside_published(inputs: Inputs) -> str:
    """Return Table 1, published and ours, with its notes below; errors in bits per token.

    Raises:
        InputError: when calibration was not measured.
    """
    errors = _measured(inputs)
    marks = results.differing(errors)
    rows: list[latex.TableRow] = []
    for gamma in results.GAMMAS:
        rows.append(rf"\midrule\multicolumn{{8}}{{@{{}}l}}{{$\gamma = {gamma:g}$}}\\")
        for name, printed in zip(METHODS, results.PUBLISHED[gamma], strict=True):
            theirs = [_signed(value) for value in printed]
            theirs[2] += "" if results.fits(*printed) else MISFIT
            ours = _ours(errors, gamma, name, marks) if (gamma, name) in errors else [latex.DASH] * 4
            rows.append([results.LABELS[name], *theirs, *ours])
    (more, *_) = {summary.bias_pairs for summary in errors.values()}
    table = latex.tabular(inputs, _COLUMNS, _HEAD % latex.integer(more), rows, midrule=False)
    return table + _notes(errors, marks)


def _ours(errors: results.Calibration, gamma: float, name: str, marks: Marks) -> list[str]:
    summary = errors[gamma, name]
    return [
        _number(summary.mean) + (DIFFERS if (gamma, name, "mean") in marks else ""),
        _number(summary.deviation) + (DIFFERS if (gamma, name, "s.d.") in marks else ""),
        _signed(f"{summary.t:.1f}"),
        rf"{_number(summary.bias)} $\pm$ {_number(summary.bias_error)}",
    ]


def _notes(errors: results.Calibration, marks: Marks) -> str:
    """Return the marks' meaning, with the figures of every marked cell."""
    compared = 2 * sum(name in METHODS for _, name in errors)
    each = "; ".join(
        rf"$\gamma = {gamma:g}$, {results.LABELS[name]}: {figure}, $p = {_exponent(p)}$"
        for (gamma, name, figure), p in sorted(marks.items())
    )
    misfits = []
    for gamma, rows in results.PUBLISHED.items():
        for name, printed in zip(METHODS, rows, strict=True):
            if not results.fits(*printed):
                mean, deviation, t = map(float, printed)
                error = deviation / math.sqrt(results.PAIRS)
                implied = _signed(np.format_float_positional(_leading(t * error), trim="-"))
                misfits.append(
                    rf"{_signed(f'{mean / error:.3g}')} ($\gamma = {gamma:g}$, {results.LABELS[name]}; the printed"
                    rf" $t$ asks for a mean of {implied})"
                )
    level = rf"at a level of {results.LEVEL:g} over all of them (Bonferroni)"
    published = (
        rf"{DIFFERS} Differs from the published figure by more than sampling error allows: {len(marks)} of the"
        rf" {compared} means and standard deviations {level}: {each}."
        if marks
        else rf"None of the {compared} means and standard deviations differs from the published figure by more than"
        rf" sampling error allows, {level}."
    )
    return (
        "\n\\par\\smallskip\n\\footnotesize "
        rf"{published} {MISFIT} Not the printed mean over its standard error, which would be"
        rf" {latex.listed(misfits)}; all other rows of the source fit within rounding."
        "\n"
    )


def errors_of_all(inputs: Inputs) -> str:
    """Return every estimator's errors, bits per token: mean over the larger set of pairs, and s.d. of a pair.

    Raises:
        InputError: when calibration was not measured.
    """
    errors = _measured(inputs)
    head = (
        "".join(rf" & \multicolumn{{2}}{{c}}{{$\gamma = {gamma:g}$}}" for gamma in results.GAMMAS)
        + "\\\\\n"
        + "".join(rf"\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(results.GAMMAS)))
        + f"\nestimator{' & mean & s.d.' * len(results.GAMMAS)}\\\\"
    )

    def row(name: str) -> list[str]:
        cells = [label(name)]
        for gamma in results.GAMMAS:
            summary = errors.get((gamma, name))
            figures = (summary.bias, summary.bias_error * math.sqrt(summary.bias_pairs)) if summary else ()
            cells += [_number(figure) for figure in figures] or [latex.DASH] * 2
        return cells

    known = {name for _, name in errors}
    others = [row(name) for name in likelihood_estimators() if name in known and name not in METHODS]
    rows: list[latex.TableRow] = [*map(row, METHODS), r"\midrule", *others]
    return latex.tabular(inputs, f"@{{}}l{'rr' * len(results.GAMMAS)}@{{}}", head, rows)


def readings(inputs: Inputs) -> str:
    """Return each reading of section 3.5 less the reference by training size, nats per token.

    At the least, the middle and the largest size, with standard errors over models. The last column counts the models
    whose perplexity by the reading rises to the most documents.

    Raises:
        InputError: when no reading was measured.
    """
    names, rises = results.reading_names(inputs), results.rises_by_reading(inputs)
    if not names:
        raise InputError("table-readings: no reading was measured; measure model-selection first")
    biases = {name: results.biases(inputs, READING + name) for name in names}
    every = sorted({int(size) for bias in biases.values() for size in bias["size"] if size})
    sizes = sorted({every[0], every[len(every) // 2], every[-1]})
    rows: list[latex.TableRow] = []
    for name in names:
        up = f"{rises[name][0]} of {rises[name][1]}" if name in rises else latex.DASH
        values = [biases[name].loc[biases[name]["size"] == size, "value"].tolist() for size in sizes]
        rows.append([READING_LABELS[name], *(over_seeds.signed(column, 4) for column in values), up])
    head = f"recorded & {' & '.join(latex.integer(size) for size in sizes)} & rises\\\\"
    return latex.tabular(inputs, f"@{{}}l{'r' * len(sizes)}r@{{}}", head, rows)


def timings(inputs: Inputs) -> str:
    """Return milliseconds per document, the published ones of 2009 beside ours.

    Ours are written by benchmarks/estimators.py; dashes where there are none.
    """
    ours: dict[str, float] = {}
    benchmarks = inputs.benchmarks
    if benchmarks is not None:
        ours = dict(zip(benchmarks["estimator"], benchmarks["milliseconds"].astype(float), strict=True))
    rows = []
    for name in dict.fromkeys((*METHODS, EXACT, *(name for name in ESTIMATORS if name in ours))):
        published, here = results.PUBLISHED_MILLISECONDS.get(name, math.nan), ours.get(name, math.nan)
        rows.append([label(name), _milliseconds(published), _milliseconds(here)])
    return latex.tabular(inputs, "@{}lrr@{}", r"method & 2009, ms & ours, ms\\", rows)


def _milliseconds(value: float) -> str:
    return latex.integer(value) if latex.missing(value) or value >= 100.0 else f"{value:.2g}"


def _leading(value: float) -> float:
    """Return a number rounded to two leading digits."""
    return float(f"{value:.2g}")


def _signed(text: str) -> str:
    return text.replace("-", r"$-$")


def _number(value: float) -> str:
    """Return bits per token to five decimals where they are below 0.01, else to four."""
    return _signed(f"{value:.5f}" if abs(value) < 0.01 else f"{value:.4f}")


def _exponent(p: float) -> str:
    factor, exponent = f"{p:.0e}".split("e")
    return f"{float(p):.2g}" if p >= 1e-3 else rf"{factor}\cdot 10^{{{int(exponent)}}}"
