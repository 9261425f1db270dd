"""Settings: every field of every class takes the values that its annotations allow, and refuses the rest by its key."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, get_args, get_origin

import annotated_types as limits
import pytest

from artifact.papers import ALL
from artifact.study.settings import Different, parse
from heldout.errors import InputError
from heldout.models import MODELS
from heldout.models.settings import FOLDING_IN, TRAINING, LDAGrowth, LDAGrowthSchedule

EXPERIMENTS = {name: one.settings for paper in ALL for name, one in paper.experiments.items()}
CLASSES = [*EXPERIMENTS.values(), *TRAINING.values(), *dict.fromkeys(FOLDING_IN.values()), LDAGrowth, LDAGrowthSchedule]


class Rule:
    """What a field's annotations say."""

    def __init__(self, field: Any) -> None:
        self.name = field.name
        self.needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        kind, *marks = get_args(field.type)
        self.form, arguments = get_origin(kind), get_args(kind)
        of_values = arguments[-1 if self.form is Mapping else 0] if self.form else kind
        self.number, *more = get_args(of_values) or (of_values,)
        marks = [*more, *(part for mark in marks for part in (mark if isinstance(mark, limits.Len) else [mark]))]
        self.names = get_args(arguments[0]) if self.form is Mapping else ()
        self.distinct = any(isinstance(mark, Different) for mark in marks)
        ends = {
            name: [getattr(mark, name) for mark in marks if hasattr(mark, name)] for name in ("ge", "gt", "le", "lt")
        }
        self.low, self.high = ends["ge"] + ends["gt"], ends["le"] + ends["lt"]
        self.outside = [*(end - 1 for end in ends["ge"]), *(end + 1 for end in ends["le"]), *ends["gt"], *ends["lt"]]
        self.fewest = max((mark.min_length for mark in marks if isinstance(mark, limits.MinLen)), default=0)
        self.most = min((mark.max_length for mark in marks if isinstance(mark, limits.MaxLen)), default=None)
        self.meanings = [mark.documentation for mark in marks if hasattr(mark, "documentation")]

    def value(self) -> Any:
        """Return a value that the field may have."""
        low = max(self.low, default=0)
        one = self.number((low + min(self.high)) / 2.0) if self.high else self.number(low + 1)
        if self.form is tuple:
            return [one] if self.distinct else [one] * max(self.fewest, 1)
        return {self.names[0] if self.names else "name": one} if self.form else one

    def wrong(self) -> Iterator[Any]:
        """Yield values that the field may not have."""
        right = self.value()
        others = [2.0] if self.number is int else []  # names other files than 2
        for one in (*self.outside, *others, None, True, "1", math.nan, math.inf, 10**30):
            yield [one] if self.form is tuple else {"name": one} if self.form else one
        yield [right]
        yield {"a": right}
        if self.form is tuple and self.most:
            yield right[:-1]
        if self.form and self.fewest:
            yield type(right)()
        if self.distinct:
            yield right * 2
        if self.names:
            yield {"another": 1}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_settings_are_of_their_fields_types_or_refused_by_key(kind: type) -> None:
    rules = [Rule(field) for field in dataclasses.fields(kind)]
    given = {rule.name: rule.value() for rule in rules}
    for rule in rules:
        for other in rule.wrong():
            with pytest.raises(InputError, match=f"^step: at {rule.name}[:/]") as caught:
                parse(kind, {**given, rule.name: other}, "step")
            assert "\n" not in str(caught.value)
        fewer = {name: value for name, value in given.items() if name != rule.name}
        if rule.needed:
            with pytest.raises(InputError, match=f"^step: at {rule.name}: "):
                parse(kind, fewer, "step")
        else:
            parse(kind, fewer, "step")
        with pytest.raises(InputError, match=f"^step: at {rule.name}q: "):  # is a missing key, too
            parse(kind, {**fewer, f"{rule.name}q": rule.value()}, "step")
        (meaning,) = rule.meanings
        assert meaning
    parsed: Any = parse(kind, given, "step")
    for rule in rules:
        value = getattr(parsed, rule.name)
        assert value == (tuple(given[rule.name]) if rule.form is tuple else given[rule.name])
        values = value if rule.form is tuple else value.values() if rule.form else [value]
        assert {type(one) for one in values} == {rule.number}
        if rule.number is float:  # whole numbers will do
            low = math.floor(max(rule.low, default=0)) + 1
            if not rule.high or low < min(rule.high):
                whole = [low] if rule.distinct else [low] * max(rule.fewest, 1)
                parsed_value = getattr(
                    parse(kind, {**given, rule.name: whole if rule.form else low}, "step"), rule.name
                )
                assert type(parsed_value[0] if rule.form else parsed_value) is float


def test_an_error_deep_in_a_study_has_its_key() -> None:
    with pytest.raises(InputError, match=r"^study: at models/x/iterations: "):
        parse(TRAINING["plsa-hof"], {"iterations": 0, "tolerance": 1e-5}, "study", "models/x")


def test_other_values_than_those_of_json_are_refused_in_a_line() -> None:
    with pytest.raises(InputError, match=r"^step: [^\n]*$"):
        parse(TRAINING["plsa-hof"], {"iterations": {1}, "tolerance": 1e-5}, "step")


@pytest.mark.parametrize("model", MODELS)
def test_a_models_module_names_the_classes_of_its_settings(model: str) -> None:
    module = import_module(MODELS[model])
    assert (module.Training, module.FoldingIn) == (TRAINING[model], FOLDING_IN[model])
