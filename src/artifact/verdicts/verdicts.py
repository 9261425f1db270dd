"""Effects, the verdicts that follow from where their intervals lie, and the table that keeps them: `effects.csv`.

The interval is Student's, of 95 %. Of an effect above which the claim says that it lies by `margin`,

    supported       the whole interval lies above threshold + margin
    contradicted    the whole interval lies below threshold - margin
    no difference   the whole interval lies within the margin
    undecided       otherwise; and always of one replicate

and of one that the claim says is similar: supported within the margin, contradicted outside it. A claim that follows
from its definitions is an identity, unless a cell lies the other way: then there is a bug. No verdict is typed by hand;
the table is all that exhibits, README and RESULTS know of a judgement.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_type_hints

from artifact.results.tables import read_table
from heldout.files import write_rows

CONFIDENCE = 0.95
MANY = 30.0  # degrees of freedom from which a claim's intervals are corrected together

SUPPORTED, CONTRADICTED, NO_DIFFERENCE, UNDECIDED = "supported", "contradicted", "no difference", "undecided"
IDENTITY, NOT_RUN, DIFFERS = "identity", "not run", "differs"
VERDICTS = (SUPPORTED, CONTRADICTED, NO_DIFFERENCE, UNDECIDED, DIFFERS, IDENTITY, NOT_RUN)

NATS = "nats per token"
TINY = 1e-6  # below it numbers are printed as powers of ten

Test = Literal["above", "similar", "identity"]


@dataclass(frozen=True)
class Margin:
    """The least effect that counts, the same for every quantity of one kind.

    Attributes:
        value: in `unit`.
        unit: of the effects that it is held to.
        reason: why this much.
        since: the day on which it was set, and what of the data was known.
    """

    value: float
    unit: str
    reason: str
    since: str


_SINCE = "2026-11-23, with the committed reference in view"
MODELS = Margin(0.01, NATS, "one percent of perplexity between models: what a reader would act on", _SINCE)
ESTIMATORS = Margin(0.001, NATS, "a tenth of the margin between models: it cannot overturn their comparison", _SINCE)
SIMILAR = Margin(0.05, NATS, "a source's 'similar' or 'no advantage', read off figures", _SINCE)
ANY = Margin(0.0, "", "the claim's own limit", _SINCE)


@dataclass(frozen=True)
class Effect:
    """How large a claim's effect is on one corpus (or drawn data), with its interval.

    Attributes:
        corpus: its name; "none" of drawn data.
        part: which of a claim's comparisons, such as the score or the other model; empty if it makes one.
        estimate: the mean over replicates.
        error: its standard error: documents, replicates and the evaluator.
        freedom: degrees of freedom.
        unit: of the estimate.
        threshold: what the claim says that the effect is above; 0 for a difference.
        margin: by how much it must be.
        replicates, cells: how many there are, and how many cells each summarises.
        reversed_cells: cells that lie the other way by more than the margin in every replicate.
        test: "above": the effect exceeds threshold + margin. "similar": it lies within the margin. "identity": no cell
            can lie the other way.
        factor: whether the numbers are logarithms of factors, which they are shown as.

    Examples:
        >>> from dataclasses import replace
        >>> effect = Effect("cranfield", "", 0.2, 0.01, 2.0, NATS, margin=0.01, replicates=3, cells=8)
        >>> effect.verdict, round(effect.interval()[0], 3), replace(effect, estimate=0.0, error=0.001).verdict
        ('supported', 0.157, 'no difference')
        >>> replace(effect, replicates=1).verdict
        'undecided'
    """

    corpus: str
    part: str
    estimate: float
    error: float
    freedom: float
    unit: str
    threshold: float = 0.0
    margin: float = 0.0
    replicates: int = 0
    cells: int = 0
    reversed_cells: int = 0
    test: Test = "above"
    factor: bool = False

    def interval(self, tests: int = 1) -> tuple[float, float]:
        """Return the interval, one of several that are right together (Bonferroni); infinite where none is known."""
        if not math.isfinite(self.error):
            return -math.inf, math.inf
        from scipy import stats  # a second to import, which what only lists exhibits need not wait for

        quantile = stats.t.ppf(1.0 - (1.0 - CONFIDENCE) / 2.0 / tests, self.freedom) if self.error else 0.0
        return self.estimate - float(quantile) * self.error, self.estimate + float(quantile) * self.error

    @property
    def verdict(self) -> str:
        """Supported, contradicted, no difference or undecided, by the interval alone."""
        return self.verdict_of(self.interval())

    def verdict_of(self, interval: tuple[float, float]) -> str:
        """Return the verdict of an interval: where the whole of it lies."""
        if self.test == "identity":
            return CONTRADICTED if self.reversed_cells else IDENTITY
        low, high = (end - self.threshold for end in interval)
        if self.replicates < 2 or math.isnan(self.estimate):
            return UNDECIDED
        inside = -self.margin <= low and high <= self.margin
        if self.test == "similar":
            return SUPPORTED if inside else CONTRADICTED if low > self.margin or high < -self.margin else UNDECIDED
        if low > self.margin:
            return SUPPORTED
        if high < -self.margin:
            return CONTRADICTED
        return NO_DIFFERENCE if inside and self.margin else UNDECIDED


def verdicts(effects: Sequence[Effect]) -> list[str]:
    """Return the verdict on each of a claim's effects; those with many degrees of freedom are corrected together."""
    many = max(1, sum(effect.freedom >= MANY and effect.replicates > 1 for effect in effects))
    return [effect.verdict_of(effect.interval(many if effect.freedom >= MANY else 1)) for effect in effects]


def together(found: Iterable[str]) -> str:
    """Return the verdict on a claim from those on its effects: the one that all share, or how they disagree.

    Examples:
        >>> together(["supported", "supported"]), together(["supported", "undecided"])
        ('supported', 'undecided')
        >>> together(["supported", "contradicted", "undecided"]), together([])
        ('differs', 'not run')
    """
    known = set(found)
    if len(known) > 1:
        known -= {IDENTITY}  # what cannot fail adds nothing to what can
    if len(known) <= 1:
        return known.pop() if known else NOT_RUN
    return DIFFERS if len(known - {UNDECIDED}) > 1 else UNDECIDED


@dataclass(frozen=True)
class Judgement:
    """A claim's effects, and what follows.

    Attributes:
        claim: its name.
        effects: one per corpus and part; none where the study does not run it.
    """

    claim: str
    effects: tuple[Effect, ...] = ()

    @property
    def verdicts(self) -> list[str]:
        """The verdict on each effect, corrected for how many there are."""
        return verdicts(self.effects)

    def with_verdicts(self) -> list[tuple[Effect, str, bool]]:
        """Return each effect, its verdict, and whether that is another than its own interval's, since it has others."""
        pairs = zip(self.effects, self.verdicts, strict=True)
        return [(effect, verdict, verdict != effect.verdict) for effect, verdict in pairs]

    @property
    def verdict(self) -> str:
        """The verdict on the claim: that on all of its effects."""
        return together(self.verdicts)


_STORED = {field.name: get_type_hints(Effect)[field.name] for field in fields(Effect)}
_TYPES: dict[str, type] = {
    "claim": str,
    **{name: kind if kind in (float, int, bool) else str for name, kind in _STORED.items()},
    **{"low": float, "high": float, "verdict": str},
}
COLUMNS = tuple(_TYPES)


def write_effects(path: Path, judgements: Iterable[Judgement]) -> None:
    """Write effects as CSV: those of `artifact.verdicts.effects.Effect`, with their intervals and verdicts."""
    rows = [
        (judgement.claim, *(getattr(effect, name) for name in _STORED), *effect.interval(), verdict)
        for judgement in judgements
        for effect, verdict in zip(judgement.effects, judgement.verdicts, strict=True)
    ]
    write_rows(path, COLUMNS, rows)


def read_effects(path: Path) -> dict[str, Judgement]:
    """Read the judgements that `write_effects` wrote, by claim; a claim without effects is not among them.

    Raises:
        InputError: when the table cannot be read or lacks a column.
    """
    table = read_table(path, _TYPES, "effects")
    found: dict[str, list[Effect]] = {}
    for row in table.to_dict("records"):
        found.setdefault(str(row["claim"]), []).append(Effect(**{name: row[name] for name in _STORED}))
    return {claim: Judgement(claim, tuple(effects)) for claim, effects in found.items()}


def verdict_of(judgements: Mapping[str, Judgement], claim: str) -> str:
    """Return the verdict on a claim by name; "not run" where it has no effects."""
    return judgements[claim].verdict if claim in judgements else NOT_RUN


def shown(effect: Effect) -> tuple[str, str, str]:
    """Return an estimate and its interval's ends as text, to two digits of the interval's half width or their own.

    Examples:
        >>> shown(Effect("cranfield", "", 0.74162, 0.003, 2.0, "", replicates=3))
        ('0.742', '0.729', '0.755')
        >>> shown(Effect("cranfield", "", 24.31, 0.9, 2.0, "", replicates=3))
        ('24.3', '20.4', '28.2')
        >>> shown(Effect("cranfield", "", 3.14e-13, 0.0, 2.0, "", replicates=3))
        ('3.1e-13', '3.1e-13', '3.1e-13')
    """
    ends = [math.exp(value) if effect.factor else value for value in (effect.estimate, *effect.interval())]
    half = (ends[2] - ends[1]) / 2.0
    scale = half if math.isfinite(half) and half > 0.0 else abs(ends[0]) or 1.0
    digits = min(9, max(0, 1 - math.floor(math.log10(scale)))) if math.isfinite(scale) else 0
    tiny = max(map(abs, ends)) < TINY
    text = [f"{value:.1e}" if tiny and value else f"{value:,.{0 if tiny else digits}f}" for value in ends]
    return text[0], text[1], text[2]
