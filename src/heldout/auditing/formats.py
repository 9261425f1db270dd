"""Numbers and names as texts, the same for an audit and a ranking, on a terminal, on a page and as JSON.

Names of documents and words come from files and may contain anything: `clean` removes characters that a terminal or a
browser acts on.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heldout.errors import printable

MINUS = "\N{MINUS SIGN}"
SAME = 1e-3  # nats per token: numbers closer than this count as equal
ERRORS = 2.0  # standard errors: so does a number this close to the likelihood
ROUNDING = 1e-9  # nats per token
ONE_DECIMAL = 0.4  # error that warrants one decimal

clean = printable


def shorten(text: str, most: int) -> str:
    """Return text shortened to at most `most` characters by omitting the middle."""
    if len(text) <= most:
        return text
    head = most // 2
    return text[:head] + "…" + text[len(text) - (most - 1 - head) :]


def perplexity(value: float, spread: float = 0.0) -> str:
    """Return a perplexity, with a power of ten from ten million on, and with as many decimals as its error warrants.

    Examples:
        >>> perplexity(1234.5678), perplexity(1234.5678, 0.12), perplexity(2.5e7)
        ('1,235', '1,234.57', '2.5e7')
    """
    if not math.isfinite(value):
        return "infinite" if value > 0.0 else "none"
    if value >= 1e7:
        return _power(value)
    shown = error(spread)
    if shown and "e" not in shown:
        return f"{value:,.{len(shown.partition('.')[2])}f}"
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:,.1f}"


def perplexities(values: Sequence[float], spreads: Sequence[float] = ()) -> list[str]:
    """Return a column of perplexities, all with the decimals that the largest of their errors warrants.

    Examples:
        >>> perplexities([1928.2, 985.31]), perplexities([1928.2, 2004.81], [0.0, 0.34])
        (['1,928.2', '985.3'], ['1,928.20', '2,004.81'])
    """
    spread = max((spread for spread in spreads if math.isfinite(spread)), default=0.0)
    if not spread and any(value < 1000.0 for value in values):
        spread = ONE_DECIMAL
    return [perplexity(value, spread) for value in values]


def interval(low: float, high: float) -> str:
    """Return an interval of a perplexity with the digits that its width warrants; empty where it has none.

    Examples:
        >>> interval(4216.7, 4351.9), interval(2.1234, 2.5678), interval(math.nan, math.nan)
        ('4,217 to 4,352', '2.12 to 2.57', '')
    """
    if not (math.isfinite(high) and high - low > SAME / 10.0 * low):
        return ""
    width = (high - low) / 10.0
    return f"{perplexity(low, width)} to {perplexity(high, width)}"


def nats(value: float, digits: int = 3) -> str:
    """Return nats per token with a true minus sign."""
    if math.isnan(value):
        return "none"
    return f"{MINUS}∞" if value == -math.inf else f"{value:z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 3) -> str:
    """Return a difference in nats with its sign."""
    return ("+" if value > 0.0 else "") + nats(value, digits)


def ratio(value: float) -> str:
    """Return a factor with about three digits."""
    if not math.isfinite(value):
        return "infinite" if value > 0.0 else "none"
    if value < 10.0:
        return f"{value:.3f}"
    if value < 1e5:
        return f"{value:,.1f}" if value < 1000.0 else f"{value:,.0f}"
    return _power(value)


def difference(value: float, reference: float) -> str:
    """Return in words how a perplexity compares with another.

    Examples:
        >>> difference(3220.0, 100.0), difference(62.0, 100.0), difference(100.0, 100.001)
        ('32 times', '38 % below', 'equal to')
    """
    factor = value / reference
    if factor >= 2.0:
        number = f"{factor:.1f}".removesuffix(".0") if factor < 9.95 else f"{factor:,.0f}"
        return f"{number if factor < 1e5 else ratio(factor)} times"
    percent = abs(factor - 1.0) * 100.0
    if percent < 0.005:
        return "equal to"
    return f"{percent:.{0 if percent >= 9.95 else 1 if percent >= 0.95 else 2}f} % {'above' if factor > 1 else 'below'}"


def error(value: float) -> str:
    """Return a standard error with two digits, or one where the first is above 3; empty where there is none.

    Examples:
        >>> error(0.1234), error(0.567), error(0.0)
        ('0.12', '0.6', '')
    """
    if not math.isfinite(value) or value <= 0.0:
        return ""
    mantissa, exponent = f"{value:.1e}".split("e")
    digits = (1 if float(mantissa) < 3.5 else 0) - int(exponent)
    return f"{value:,.{max(digits, 0)}f}" if -6 <= digits <= 6 else _power(value)


def chance(log_chance: float) -> str:
    """Return a chance from its logarithm, nats.

    Examples:
        >>> chance(0.0), chance(-1.0), chance(-1234.5)
        ('1', '0.37', '1e-536')
    """
    if log_chance > math.log(0.005):
        return f"{math.exp(log_chance):.2g}"
    if log_chance == -math.inf:
        return "0"
    return f"1e{math.ceil(log_chance / math.log(10.0) - ROUNDING)}"


def duration(seconds: float) -> str:
    """Return a time with two digits in a suitable unit.

    Examples:
        >>> duration(90.0), duration(0.0123)
        ('1.5 min', '12 ms')
    """
    units = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit = next((unit for unit, size in units.items() if seconds >= size), "µs")
    value = seconds / units[unit]
    return f"{value:.2g} {unit}" if value < 99.5 else f"{value:,.0f} {unit}"


def _power(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def amount(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """Return text as one sentence: a capital, and a full stop."""
    text = clean(text).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def flat_settings(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings as (dotted name, value as JSON), sorted by name."""
    for name in sorted(settings):
        value = settings[name]
        if isinstance(value, dict):
            yield from flat_settings(value, f"{prefix}{name}.")
        elif isinstance(value, float) and abs(value) >= 1e6:
            yield clean(prefix + name), _power(value)
        else:
            yield clean(prefix + name), clean(value if isinstance(value, str) else json.dumps(value))


def json_compatible(value: Any, arrays: bool = False) -> Any:
    """Return arrays (unless they stay) and tuples as lists, and None for numbers that are not finite, throughout."""
    if isinstance(value, np.ndarray):
        return value if arrays else json_compatible(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: json_compatible(part, arrays) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_compatible(part, arrays) for part in value]
    return value
