"""Effects and the table that keeps them: `effects.csv`.

An effect is the estimate of a contrast on one corpus with Student's interval of 95 %. No verdict is made of several
effects; of one, the table says where its interval lies:

    above     the whole interval lies above null + margin
    below     the whole interval lies below null - margin
    within    the whole interval lies within the margin of the null
    open      otherwise; and always of one replicate
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import get_type_hints

from artifact.results.tables import read_table
from heldout.files import write_rows

CONFIDENCE = 0.95
IS_ABOVE, IS_BELOW, IS_WITHIN, IS_OPEN = "above", "below", "within", "open"
FINDINGS = (IS_ABOVE, IS_BELOW, IS_WITHIN, IS_OPEN)
NOT_RUN = "not run"
NATS = "nats per token"
TINY = 1e-6  # size under which numbers are printed as powers of ten


@dataclass(frozen=True)
class Effect:
    """The size of a contrast on one corpus (or drawn data), with its interval.

    Attributes:
        contrast: its name.
        corpus: the corpus's; "none" of drawn data.
        part: the values of the contrast's `by`, such as "K = 100"; empty without.
        topics: K, where the contrast is by K; 0 elsewhere.
        estimate: the mean over replicates.
        error: its standard error: replicates, documents and the evaluator.
        freedom: degrees of freedom.
        unit: of the estimate.
        null: the value that it is held against.
        margin: the distance from the null that counts.
        wanted: the half width that was planned.
        replicates: their number.
        spread, shared, noise: standard deviation over replicates, and the parts of the error that more replicates do
            not make smaller: documents that splits share, and the evaluator; all in the estimate's unit.
        factor: whether the numbers are logarithms of factors, which they are shown as.

    Examples:
        >>> from dataclasses import replace
        >>> effect = Effect("gap", "cranfield", "K = 100", 100, 0.2, 0.01, 2.0, NATS, margin=0.01, replicates=3)
        >>> effect.finding, round(effect.low, 3), replace(effect, estimate=0.0, error=0.001).finding
        ('above', 0.157, 'within')
        >>> replace(effect, replicates=1).finding
        'open'
    """

    contrast: str
    corpus: str
    part: str
    topics: int
    estimate: float
    error: float
    freedom: float
    unit: str
    null: float = 0.0
    margin: float = 0.0
    wanted: float = 0.0
    replicates: int = 0
    spread: float = 0.0
    shared: float = 0.0
    noise: float = 0.0
    factor: bool = False

    @cached_property
    def half_width(self) -> float:
        """Half the width of the interval; infinite where no error is known."""
        return half_width(self.error, self.freedom)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.estimate - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.estimate + self.half_width

    @property
    def finding(self) -> str:
        """The place of the interval: above, below, within or open."""
        if self.replicates < 2 or not math.isfinite(self.estimate):
            return IS_OPEN
        low, high = self.low - self.null, self.high - self.null
        if low > self.margin:
            return IS_ABOVE
        if high < -self.margin:
            return IS_BELOW
        return IS_WITHIN if self.margin and -self.margin <= low and high <= self.margin else IS_OPEN

    @property
    def settled(self) -> bool:
        """Whether the interval says where the effect lies, or is as narrow as was planned."""
        return self.finding != IS_OPEN or self.half_width <= (self.wanted or self.margin)


def half_width(error: float, freedom: float) -> float:
    """Return half the width of Student's interval; infinite where no error is known."""
    if not math.isfinite(error):
        return math.inf
    from scipy import stats  # a second to import, for which steps that only list exhibits need not wait

    return float(stats.t.ppf(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom)) * error if error else 0.0


_STORED = {one.name: get_type_hints(Effect)[one.name] for one in fields(Effect)}
_TYPES: dict[str, type] = {**_STORED, "low": float, "high": float, "finding": str}
COLUMNS = tuple(_TYPES)
Effects = Mapping[str, tuple[Effect, ...]]  # effects by contrast


def write_effects(path: Path, effects: Iterable[Effect]) -> None:
    """Write effects as CSV: the fields of `Effect`, the ends of the interval, and where it lies."""
    write_rows(path, COLUMNS, ([getattr(effect, name) for name in COLUMNS] for effect in effects))


def read_effects(path: Path) -> dict[str, tuple[Effect, ...]]:
    """Read the effects that `write_effects` wrote, by contrast; a contrast without effects is not among them.

    Raises:
        InputError: when the table cannot be read or lacks a column.
    """
    found: dict[str, tuple[Effect, ...]] = {}
    for row in read_table(path, _TYPES, "effects").to_dict("records"):
        effect = Effect(**{name: row[name] for name in _STORED})
        found[effect.contrast] = (*found.get(effect.contrast, ()), effect)
    return found


def chosen(effects: Effects, contrast: str, where: str = "") -> tuple[Effect, ...]:
    """Return the effects of a contrast on a corpus, of a part, of "corpus: part", or all of them."""
    known = effects.get(contrast, ())
    return tuple(one for one in known if where in ("", one.corpus, one.part, f"{one.corpus}: {one.part}"))


def shown(effect: Effect) -> tuple[str, str, str]:
    """Return an estimate and its interval's ends as text, to two digits of the interval's half width or their own.

    Examples:
        >>> shown(Effect("gap", "cranfield", "", 0, 0.74162, 0.003, 2.0, "", replicates=3))
        ('0.742', '0.729', '0.755')
        >>> shown(Effect("gap", "cranfield", "", 0, 24.31, 0.9, 2.0, "", replicates=3))
        ('24.3', '20.4', '28.2')
        >>> shown(Effect("gap", "cranfield", "", 0, 3.14e-13, 0.0, 2.0, "", replicates=3))
        ('3.1e-13', '3.1e-13', '3.1e-13')
    """
    ends = [math.exp(value) if effect.factor else value for value in (effect.estimate, effect.low, effect.high)]
    half = (ends[2] - ends[1]) / 2.0
    scale = half if math.isfinite(half) and half > 0.0 else abs(ends[0]) or 1.0
    digits = min(9, max(0, 1 - math.floor(math.log10(scale)))) if math.isfinite(scale) else 0
    tiny = max(map(abs, ends)) < TINY
    text = [f"{value:.1e}" if tiny and value else f"{value:,.{0 if tiny else digits}f}" for value in ends]
    return text[0], text[1], text[2]
