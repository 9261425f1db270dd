"""Settings: every field of every class takes what it may be, and refuses the rest in one line that names it."""

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from artifact.papers import ALL
from heldout.errors import InputError
from heldout.models import MODELS
from heldout.models.settings import FOLDING_IN, TRAINING, LDAGrowth
from heldout.settings import LISTS, NAMED, Rule, parse, rules

EXPERIMENTS = {name: one.settings for paper in ALL for name, one in paper.experiments.items() if one is not None}
CLASSES = [*EXPERIMENTS.values(), *TRAINING.values(), *dict.fromkeys(FOLDING_IN.values()), LDAGrowth]


def value(annotation: Any, rule: Rule) -> Any:
    """Return a value that a field may have."""
    number = LISTS.get(annotation, int if annotation == NAMED else annotation)
    low = rule.least if rule.least is not None else 0.0 if rule.above is None else rule.above
    ends = [end for end in (rule.most, rule.below) if end is not None]
    one = number((low + min(ends)) / 2.0) if ends else number(low + 1)
    if annotation in LISTS:
        return [one] * rule.fewest if not rule.distinct else [one]
    return {rule.names[0] if rule.names else "name": one} if annotation == NAMED else one


def wrong(annotation: Any, rule: Rule) -> Iterator[Any]:
    """Yield values that a field may not have."""
    right = value(annotation, rule)
    outside = [*([] if rule.least is None else [rule.least - 1]), *([] if rule.above is None else [rule.above])]
    outside += [*([] if rule.most is None else [rule.most + 1]), *([] if rule.below is None else [rule.below])]
    for one in (*outside, None, True, "1", math.nan, 10**30):
        yield [one] if annotation in LISTS else {"name": one} if annotation == NAMED else one
    yield [right]
    if annotation in LISTS and rule.fewest == rule.greatest:
        yield right[:2]
    if annotation in LISTS and rule.distinct:
        yield right * 2
    if rule.names:
        yield {"another": 1}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_settings_are_what_their_fields_say_or_refused_by_name(kind: type) -> None:
    given = {name: value(annotation, rule) for name, annotation, rule, _ in rules(kind)}
    for name, annotation, rule, needed in rules(kind):
        for other in wrong(annotation, rule):
            with pytest.raises(InputError, match=f"^step: {name} is .*; it must be ") as caught:
                parse(kind, {**given, name: other}, "step")
            assert "\n" not in str(caught.value)
        if needed:
            with pytest.raises(InputError, match=f"^step: settings must give .*{name}"):
                parse(kind, {n: v for n, v in given.items() if n != name}, "step")
        assert rule.meaning
    parsed = parse(kind, given, "step")
    for name, annotation, _, _ in rules(kind):
        if annotation in LISTS:
            assert getattr(parsed, name) == tuple(given[name])
        else:
            assert getattr(parsed, name) == given[name]
    with pytest.raises(InputError, match="there is no setting sedes; there are"):
        parse(kind, {**given, "sedes": 1}, "step")


@pytest.mark.parametrize("model", MODELS)
def test_a_models_module_names_the_classes_of_its_settings(model: str) -> None:
    module = import_module(MODELS[model])
    assert (module.Training, module.FoldingIn) == (TRAINING[model], FOLDING_IN[model])
