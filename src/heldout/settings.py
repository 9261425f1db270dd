"""Settings: classes whose fields say type, range, unit and meaning, once.

The settings of an experiment, or of a model's training or folding in, are a frozen dataclass, which is what the
function takes:

    @dataclass(frozen=True, kw_only=True)
    class Normalisers:
        lengths: tuple[int, ...] = setting("of the documents", "tokens", least=1)
        smoothing: float = setting("added to p(w | z)", above=0, most=1)

A field is an int, a float, a tuple of either, or a mapping of names to ints. `parse` makes an object of a study's
values; the schema of studies and the page on them are made from the same fields (`artifact.schema`).
"""

import dataclasses
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from heldout.errors import InputError

LARGEST_INTEGER = 2**53  # a double still holds it
LISTS = {tuple[int, ...]: int, tuple[float, ...]: float}  # lists' fields, by the type of their values
NAMED = Mapping[str, int]  # the field of values by name
WORDS = {int: "integer", float: "number"}


@dataclass(frozen=True)
class Rule:
    """What a field's values must be.

    Attributes:
        meaning, unit: in a few words; no unit for a number without one.
        least, above, most, below: the range of every value, its ends included or not.
        fewest, greatest: how many values a list or mapping has.
        distinct: whether no value of a list stands there twice.
        names: the names that a mapping may have; empty for any.
        swept: whether another part of a study gives it.
    """

    meaning: str
    unit: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    fewest: int = 1
    greatest: int | None = None
    distinct: bool = True
    names: tuple[str, ...] = ()
    swept: bool = False

    @property
    def range(self) -> str:
        """The range in words, such as "above 0, at most 1"; empty where every value will do."""
        return ", ".join(f"{words} {end:g}" for words, _, end in self._ends())

    def allows(self, value: float) -> bool:
        """Return whether a number lies in the range."""
        return all(holds(value, end) for _, holds, end in self._ends())

    def _ends(self) -> Iterator[tuple[str, Callable[[float, float], bool], float]]:
        ends = (("at least", operator.ge, self.least), ("above", operator.gt, self.above))
        for words, holds, end in (*ends, ("at most", operator.le, self.most), ("below", operator.lt, self.below)):
            if end is not None:
                yield words, holds, end


@dataclass(frozen=True)
class Nothing:
    """The settings of what has none."""


def setting(meaning: str, unit: str = "", *, default: Any = MISSING, **rule: Any) -> Any:
    """Return a field of a class of settings.

    Meaning and unit are prose: `artifact.study.digest` leaves them out of what a job runs.

    The other attributes of its `Rule` follow by name; without a default every study gives it.
    """
    return dataclasses.field(default=default, metadata={"rule": Rule(meaning, unit, **rule)})


def rules(settings: type) -> Iterator[tuple[str, Any, Rule, bool]]:
    """Yield name, type and rule of every field of a class of settings, and whether it must be given."""
    for field in dataclasses.fields(settings):
        yield field.name, field.type, field.metadata["rule"], field.default is MISSING


def kind(annotation: Any) -> str:
    """Return a field's type in words, such as "integers"."""
    if annotation == NAMED:
        return "integers by name"
    return f"{WORDS[LISTS[annotation]]}s" if annotation in LISTS else WORDS[annotation]


def parse(settings: type, values: Mapping[str, Any], what: str) -> Any:
    """Return an object of a class of settings.

    The values are as JSON or YAML has them, whole numbers will do for floats; `what` names the step, such as "plsa:
    training". Raises InputError for a setting that is unknown, missing, or not what it must be.
    """
    known = {name: (annotation, rule) for name, annotation, rule, _ in rules(settings)}
    for name in values:
        if name not in known:
            raise InputError(f"{what}: there is no setting {name}; there are {', '.join(known) or 'none'}")
    missing = [name for name, _, _, needed in rules(settings) if needed and name not in values]
    if missing:
        raise InputError(f"{what}: settings must give {', '.join(missing)}")
    return settings(**{name: _parsed(value, *known[name], f"{what}: {name}") for name, value in values.items()})


def _parsed(value: Any, annotation: Any, rule: Rule, what: str) -> Any:
    """Return a value as a field has it."""
    number = LISTS.get(annotation, int if annotation == NAMED else annotation)
    values = _values(value, annotation)
    if (
        values is not None
        and all(_is(number, one) and rule.allows(one) for one in values)
        and (annotation is number or rule.fewest <= len(values) <= (rule.greatest or len(values)))
        and not (annotation in LISTS and rule.distinct and len(set(values)) < len(values))
        and not (annotation == NAMED and rule.names and not set(value) <= set(rule.names))
    ):
        return number(value) if annotation is number else tuple(map(number, values)) if annotation in LISTS else value
    words = {"integer": "an integer", "number": "a number"}.get(kind(annotation), kind(annotation))
    number_in_words = f"({number_of(annotation, rule)})" if annotation is not number else ""
    raise InputError(f"{what} is {value!r}; it must be {' '.join(filter(None, (words, rule.range, number_in_words)))}")


def _values(value: Any, annotation: Any) -> list[Any] | None:
    """Return the numbers in a value; None where it is not of a field's form."""
    if annotation == NAMED:
        return list(value.values()) if isinstance(value, dict) else None
    if annotation in LISTS:
        return list(value) if isinstance(value, list | tuple) else None
    return [value]


def _is(number: type, value: Any) -> bool:
    """Return whether a value is a number of a type that a table can hold."""
    kinds = (int,) if number is int else (int, float)
    return type(value) in kinds and math.isfinite(value) and abs(value) <= LARGEST_INTEGER


def number_of(annotation: Any, rule: Rule) -> str:
    """Return how many values a list or mapping must have, and what their names may be, in words; empty for others."""
    if annotation not in LISTS and annotation != NAMED:
        return ""
    words = [f"{rule.fewest}" if rule.fewest == rule.greatest else f"{rule.fewest} or more"]
    words += ["all different"] if annotation in LISTS and rule.distinct else []
    return ", ".join(words + [f"of {', '.join(rule.names)}"] * bool(rule.names))
