"""Numbers, names and rows as LaTeX."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from artifact.contrasts.inputs import Inputs
from artifact.results.data_sets import DATA_SETS
from heldout.corpora.names import SYNTHETIC

DASH = "--"
NOT_SHOWN = r"\notshown{}"  # dash for a number whose stated error is too large (`artifact.results.reading.printable`)
ADDLINESPACE = r"\addlinespace"
TableRow = Sequence[str] | str  # cells of a table, or a line that stands for itself, such as "\midrule"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\0": "{}",
}


def escape(text: str) -> str:
    """Return text with every character, and every pair of them, that LaTeX would act on made literal."""
    return "".join(_SPECIAL.get(character, character) for character in re.sub(r"([-'`,?!])(?=[-'`,])", "\\1\0", text))


def wording(text: str) -> str:
    r"""Return the plain words of a statement as LaTeX: Greek letters by their names, small numbers as powers of ten.

    Examples:
        >>> wording("gamma 1, with a chance of 1e-06, above -0.01")
        '\\ensuremath{\\gamma} = 1, with a chance of \\ensuremath{10^{-6}}, above \\ensuremath{-}0.01'
    """
    text = re.sub(r"\b(alpha|beta|gamma|tau|theta|Gamma)\b", r"\\ensuremath{\\\1}", escape(text))
    text = re.sub(r"(\\(?:beta|gamma)\}) (?=\d)", r"\1 = ", text)
    text = re.sub(r"\b1e-0*(\d+)\b", r"\\ensuremath{10^{-\1}}", text)
    return re.sub(r"(?<= )-(?=\d)", r"\\ensuremath{-}", text)


def typeset(text: str) -> str:
    r"""Return plain text with its special characters, signs, thousands and percentages set as LaTeX.

    Examples:
        >>> typeset("-1,234.5 % of A & B")
        '\\ensuremath{-1{,}234.5}\\,\\% of A \\& B'
    """
    text = re.sub(r"(?<=\d),(?=\d)", "{,}", escape(text).replace(r" \%", r"\,\%"))
    return re.sub(r"(?<!\S)[+-]\d[\d.{},]*", lambda number: rf"\ensuremath{{{number[0]}}}", text)


def missing(value: Any) -> bool:
    """Return whether a cell is blank."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def integer(value: Any) -> str:
    """Return a whole number, thousands divided; a dash where it is missing."""
    return DASH if missing(value) else f"{round(float(value)):,}".replace(",", "{,}")


def decimal(value: Any, digits: int = 1) -> str:
    """Return a number with `digits` decimals; a dash if it is missing."""
    return DASH if missing(value) else f"{float(value):,.{digits}f}".replace(",", "{,}")


def perplexity(value: Any) -> str:
    """Return a perplexity to about three digits; a dash where it is missing."""
    if missing(value):
        return DASH
    if math.isinf(value):
        return r"\ensuremath{\infty}"
    return integer(value) if value >= 100.0 else decimal(value)


def choice(value: Any, grid: Iterable[Any], shown: str, *, least: bool = False) -> str:
    """Return a choice as it is shown, with a star where it is the grid's largest; with `least`, or its least.

    Examples:
        >>> choice(8, [2, 4, 8], "8"), choice(2, [2, 4, 8], "2"), choice(2, [2, 4, 8], "2", least=True)
        ('8*', '2', '2*')
    """
    ends = sorted(set(grid))
    at_end = len(ends) > 1 and (value == ends[-1] or (least and value == ends[0]))
    return f"{shown}*" if at_end else shown


def signed_percent(value: Any) -> str:
    """Return a fraction as a percentage with its sign; a dash where it is missing."""
    return DASH if missing(value) else rf"{signed(100.0 * float(value), 1)}\,\%"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, none where it rounds to 0."""
    rounded = round(value, digits)
    sign = "+" if rounded > 0.0 else "-" if rounded < 0.0 else ""
    return rf"\ensuremath{{{sign}{decimal(abs(rounded), digits)}}}"


def percent(value: Any, digits: int = 1) -> str:
    """Return a fraction as a percentage; a dash where it is missing."""
    return DASH if missing(value) else rf"{decimal(100.0 * float(value), digits)}\,\%"


def relative_difference(ours: Any, published: Any) -> float:
    """Return (ours - published) / published; NaN where either is missing."""
    if missing(ours) or missing(published):
        return math.nan
    return float(ours) / float(published) - 1.0


def power(value: Any) -> str:
    """Return a small constant as a power of ten (times a factor where it is none); a dash where it is missing."""
    if missing(value):
        return DASH
    if float(value) == 0.0:
        return "0"
    factor, exponent = f"{float(value):.6e}".split("e")
    factor = factor.rstrip("0").rstrip(".")
    times = "" if factor == "1" else rf"{factor}\cdot "
    return rf"\ensuremath{{{times}10^{{{int(exponent)}}}}}"


def setting(value: Any) -> str:
    """Return the value of a study's setting; "not set" where there is none."""
    if missing(value):
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return f"{value:g}" if value == 0.0 or 1e-3 <= abs(value) < 1e6 else power(value)
    return escape(str(value))


def stopping(iterations: Any, tolerance: Any, rule: str) -> str:
    """Say when an iteration ends: "100 iterations", or "at most 100 iterations, fewer where" the rule holds.

    Args:
        iterations: the largest number.
        tolerance: nats per token; 0 for no other end.
        rule: the condition that ends it early, with {} for the tolerance.
    """
    if missing(tolerance) or float(tolerance) == 0.0:
        return f"{setting(iterations)} iterations"
    return f"at most {setting(iterations)} iterations, fewer where {rule.format(setting(tolerance))}"


def listed(parts: list[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def corpus_title(name: str) -> str:
    """Return a corpus's name in plain text: "Cranfield", "Cranfield-like", "Cranfield, unstemmed"."""
    drawn_like = name.removesuffix(SYNTHETIC)
    return DATA_SETS[drawn_like].title + name[len(drawn_like) :] if drawn_like in DATA_SETS else name


def corpus_name(name: str) -> str:
    """Return a corpus's name as printed."""
    return escape(corpus_title(name))


def macro(name: str, value: str) -> str:
    r"""Return `\newcommand{\name}{value}`.

    Raises:
        ValueError: when the name holds anything but letters.
    """
    if not re.fullmatch(r"[A-Za-z]+", name):
        raise ValueError(f"LaTeX macro {name}: a name may hold letters only")
    argument = "[1]" if "#1" in value or name.startswith("If") else ""
    return rf"\newcommand{{\{name}}}{argument}{{{value}}}"


def camel(*names: str) -> str:
    """Return names, like "plsa-hof" and "fold_in", as one name of letters, "PlsaHofFoldIn"."""
    return "".join(word.capitalize() for name in names for word in re.split(r"[^A-Za-z]+", name))


def tabular(
    inputs: Inputs, columns: str, head: str, rows: Iterable[TableRow], *, end: str = r"\\", midrule: bool = True
) -> str:
    r"""Return a table's `tabular` environment; the first line of its body marks synthetic data.

    Args:
        inputs: the results, which may be of synthetic data.
        columns: their specification, such as "@{}lrr@{}".
        head: the lines above the body, with their ends.
        rows: the rows of the body.
        end: end of every row that is given as cells.
        midrule: whether a rule divides head and body.
    """
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        + head.strip("\n")
        + "\n"
        + ("\\midrule\n" if midrule else "")
        + _body(inputs, columns, _lines(rows, end))
        + "\\bottomrule\n\\end{tabular}\n"
    )


def longtable(inputs: Inputs, columns: str, head: str, rows: Iterable[TableRow], *, caption: str, label: str) -> str:
    r"""Return a `longtable` environment with its head on every page and space between its rows; see `tabular`."""
    head = "\\toprule\n" + head.strip("\n") + "\n\\midrule\n"
    spaced = [line for row in _lines(rows, r"\\") for line in (row, ADDLINESPACE + "\n")]
    return (
        f"\\begin{{longtable}}{{{columns}}}\n\\caption{{{caption}}}\\label{{{label}}}\\\\\n"
        f"{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n"
        + _body(inputs, columns, spaced[:-1])
        + "\\end{longtable}\n"
    )


def _lines(rows: Iterable[TableRow], end: str) -> Iterator[str]:
    for row in rows:
        yield (row if isinstance(row, str) else " & ".join(row) + end) + "\n"


def _body(inputs: Inputs, columns: str, lines: Iterable[str]) -> str:
    """Return the lines, headed by the mark of a synthetic study."""
    number = len(re.findall("[a-zA-Z]", re.sub(r"@?\{[^}]*\}", "", columns)))
    mark = rf"\multicolumn{{{number}}}{{@{{}}l}}{{\textbf{{SYNTHETIC DATA}}}}\\" + "\n"
    return (mark if inputs.synthetic() else "") + "".join(lines)
