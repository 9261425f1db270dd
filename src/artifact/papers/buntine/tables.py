"""Table 1 of Buntine (2009), the published figures beside ours; every estimator's errors; readings of section 3.5."""

import math

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine import results
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.experiments.model_selection import READING
from artifact.papers.buntine.readings import LOGS, NEXT, PRODUCTS, RESAMPLED, SEEN, SORTED, UNRESAMPLED
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.prose import HOLDS
from artifact.typesetting.scorecard import Statement
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, likelihood_estimators

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
_COLUMNS = r"@{}l@{\quad}rrrr@{\quad}rrrr@{}"
_HEAD = (
    "".join(rf" & \multicolumn{{2}}{{c}}{{{number}}}" for number in ("mean", "s.d.") * 2)
    + r"""\\
\cmidrule(lr){2-3}\cmidrule(lr){4-5}\cmidrule(lr){6-7}\cmidrule(l){8-9}
method"""
    + " & source & here" * 4
    + r"\\"
)

# statements of the source, and the finding of our contrasts if they are right
STATEMENTS = (
    Statement("No bias of LRS is significant.", "lrs-bias", HOLDS, differs="more data show it", parts="drawn sets"),
    Statement("First-order mean field errs like LR.", "mfi-lr", "within", ("",), "too wide an interval", "drawn sets"),
    Statement("In the limit LRS gives the likelihood,", "limit", "within", ("LRS, K = 5",)),
    Statement("and LR does not.", "limit", "below", ("LR, K = 5",)),
    Statement("On realistic models LR is biased,", "low", ">0", ("LR",)),
    Statement("and LRS is not.", "low", "within", ("LRS", "LRS, many samples"), "takes more samples", "sizes"),
    Statement("LR's perplexity rises with training size.", "lr-rise", "above", differs="unclear procedure"),
    Statement("The true K scores best on s10s.", "true-topics", "above", ("",), "more cost nothing", "estimators"),
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
    """Return the means and standard deviations of Table 1, published and ours, two gammas abreast; bits per token.

    Raises:
        InputError: when calibration was not measured.
    """
    errors = _measured(inputs)
    rows: list[latex.TableRow] = []
    for pair in (results.GAMMAS[:2], results.GAMMAS[2:]):
        rows.append(
            r"\midrule" + "".join(rf" & \multicolumn{{4}}{{c}}{{$\gamma = {gamma:g}$}}" for gamma in pair) + r"\\"
        )
        for place, name in enumerate(METHODS):
            cells = [cell for gamma in pair for cell in _published_and_ours(errors, gamma, place, name)]
            rows.append([results.LABELS[name], *cells])
    return latex.tabular(inputs, _COLUMNS, _HEAD, rows, midrule=False)


def _published_and_ours(errors: results.Calibration, gamma: float, place: int, name: str) -> list[str]:
    """Return the published mean and standard deviation, each with ours after it, or a dash."""
    mean, deviation, _ = map(_signed, results.PUBLISHED[gamma][place])
    summary = errors.get((gamma, name))
    ours = [latex.DASH] * 2 if summary is None else [_number(summary.mean), _number(summary.deviation)]
    return [mean, ours[0], deviation, ours[1]]


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


def _signed(text: str) -> str:
    return text.replace("-", r"$-$")


def _number(value: float) -> str:
    """Return bits per token to five decimals where they are below 0.01, else to four."""
    return _signed(f"{value:.5f}" if abs(value) < 0.01 else f"{value:.4f}")
