"""Settings: classes whose fields say type, range, unit and meaning, once.

The settings of an experiment, or of a model's training or folding in, are a frozen dataclass, and a function takes it:

    @dataclass(frozen=True, kw_only=True)
    class Normalisers:
        lengths: Annotated[Several[Count], Unit("tokens"), doc("lengths of the documents")]
        smoothing: Annotated[float, Gt(0), Le(1), doc("constant added to p(w | z)")]

A field is an int, a float, a tuple of either, or a mapping of names to ints. `parse` makes an object of values as JSON
or YAML has them, by pydantic, which reads the same fields for the schema of studies (`artifact.schema`). Meanings and
units are prose: `artifact.study.digest` leaves out the arguments of `doc` and `Unit`.
"""

import json
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from annotated_types import MinLen, Predicate

from heldout.errors import InputError

LARGEST = 2**53  # largest number of a study: a double holds it with all integers below


def all_different(values: tuple[Hashable, ...]) -> bool:
    """Return whether the values differ from each other."""
    return len(set(values)) == len(values)


class Different(Predicate):
    """Mark of a list in which no value stands twice."""

    def __get_pydantic_json_schema__(self, schema: Any, print_schema: Any) -> dict[str, Any]:
        """Return the JSON schema of a list with this mark."""
        return {**print_schema(schema), "uniqueItems": True}


Value = TypeVar("Value", bound=Hashable)
Name = TypeVar("Name", bound=str)
AnyOf = Annotated[tuple[Value, ...], Different(all_different)]  # values, possibly none
Several = Annotated[tuple[Value, ...], MinLen(1), Different(all_different)]
AnyNamed = Mapping[Name, Value]  # values by name, possibly none
Named = Annotated[Mapping[Name, Value], MinLen(1)]
Settings = TypeVar("Settings")

# endings of the line that refuses a value, by pydantic's type of error; others are pydantic's own
WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown",
    "unexpected_keyword_argument": "is unknown",
    "predicate_failed": "must have no value twice",
    "too_short": "must have {min_length} or more values",
    "too_long": "must have {max_length} or fewer values",
    "string_too_long": "must have {max_length} or fewer letters",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be below {lt:g}",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "string_type": "must be a text",
    "string_pattern_mismatch": "must match {pattern}",
    "tuple_type": "must be a list",
    "value_error": "must be {error}",
    **dict.fromkeys(("dict_type", "mapping_type", "dataclass_type", "model_type"), "must be a mapping"),
}
UNKNOWN, MISSING = ("extra_forbidden", "unexpected_keyword_argument"), "missing"


@dataclass(frozen=True)
class Nothing:
    """Empty settings."""


def parse(settings: type[Settings], values: Any, where: str, place: str = "") -> Settings:
    """Return an object of a class of settings, or of another class that pydantic reads.

    Args:
        settings: the class.
        values: the values as JSON or YAML gives them; whole numbers will do for floats.
        where: the step, such as "plsa: training", with which an error starts.
        place: the key of the values in a study.

    Raises:
        InputError: for a key that is unknown or missing, or a value out of its range; names the key.
    """
    from pydantic import ValidationError

    kind: Any = settings
    try:
        text = json.dumps(values)
    except TypeError as error:
        raise InputError(f"{where}: {error}; give numbers, texts, lists and mappings alone") from error
    for key, number in _numbers(values):
        if not math.isfinite(number) or abs(number) > LARGEST:
            raise InputError(f"{where}: at {_path(place, *key)}: {number!r} must be a number of at most 2^53")
    try:
        parsed: Settings = _adapter(kind).validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise InputError(f"{where}: at {_first(error.errors(include_url=False), values, place)}") from error
    return parsed


@cache
def _adapter(settings: Any) -> Any:
    """Return pydantic's reader of a class."""
    from pydantic import TypeAdapter

    return TypeAdapter(settings)


def _numbers(values: Any, key: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield the key and value of every number."""
    if isinstance(values, int | float):
        yield key, values
    elif isinstance(values, list | tuple | dict):
        for name, value in values.items() if isinstance(values, dict) else enumerate(values):
            yield from _numbers(value, (*key, str(name)))


def _first(errors: list[Any], values: Any, place: str) -> str:
    """Return the most useful of pydantic's errors: its key, its value and the rule that the value breaks.

    A misspelt key is also a missing one, so unknown keys come first, with the missing ones beside them, and the others
    before missing ones; of a value that may have two forms the error counts that is deepest in it.
    """

    def usefulness(error: Any) -> tuple[int, int]:
        return (0 if error["type"] in UNKNOWN else 2 if error["type"] == MISSING else 1), -len(error["key"])

    errors = [{**error, "key": _key(error["loc"], values, missing=error["type"] == MISSING)} for error in errors]
    error = min(errors, key=usefulness)
    *outer, name = error["key"] or [""]
    words = WORDS.get(error["type"], error["msg"].replace("Input should", "must")).format(**error.get("ctx", {}))
    if error["type"] in (*UNKNOWN, MISSING):
        missing = [one["key"][-1] for one in errors if one["type"] == MISSING and [*one["key"][:-1]] == outer]
        others = ", ".join(other for other in missing if other != name)
        return f"{_path(place, *outer, name)}: {words}{f'; missing, too: {others}' if others else ''}"
    return f"{_path(place, *outer, name)}: {json.dumps(error['input'])} {words}"


def _path(place: str, *key: str) -> str:
    """Return the path of a key."""
    return "/".join(filter(None, (place, *key))) or "the top level"


def _key(location: tuple[str | int, ...], values: Any, *, missing: bool) -> tuple[str, ...]:
    """Return an error's key as far as the values have it, without pydantic's names of a union's members."""
    outer, last = (location[:-1], location[-1:]) if missing else (location, ())
    key: list[str] = []
    part: Any
    for part in outer:
        if (isinstance(values, dict) and part in values) or (
            isinstance(values, list | tuple) and isinstance(part, int)
        ):
            key.append(str(part))
            values = values[part]
    return (*key, *map(str, last))
