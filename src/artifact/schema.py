"""The schema of studies and the page on them, made of the classes of settings.

`python -m artifact.schema` writes both, in a checkout: workflow/studies/schema.yaml, which is workflow/frame.yaml with
the classes in its `$defs`, and the tables of config/README.md, all that follows its line `WRITTEN`.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from artifact.papers import ALL
from artifact.study.manifest import Experiment
from artifact.study.study import NO_CORPUS, from_yaml
from heldout.corpora.names import SOURCES
from heldout.files import replacing
from heldout.models.settings import FOLDING_IN, TRAINING, LDAGrowth
from heldout.settings import LISTS, NAMED, Rule, kind, number_of, rules

FRAME, SCHEMA, PAGE = (
    Path(name) for name in ("workflow/frame.yaml", "workflow/studies/schema.yaml", "config/README.md")
)
HEAD = f"# Written by `python -m artifact.schema` from {FRAME} and the classes of settings; do not edit.\n"
WRITTEN = "<!-- What follows is written by `python -m artifact.schema`; do not edit. -->\n"
OF_CORPORA = {
    "split": "corpora of the study",
    "drawn": "drawn corpora",
    "none": f"`{NO_CORPUS}`: documents are drawn",
    "drawn or none": f"drawn corpora, or `{NO_CORPUS}`",
}
OF_TOPICS = {"list": "`topics`, a list", "by corpus": "`topics` by corpus", "either": "`topics`, a list or by corpus"}


def given(settings: type) -> Iterator[tuple[str, Any, Rule, bool]]:
    """Yield the `rules` of a class of settings, without what a sweep gives."""
    return (one for one in rules(settings) if not one[2].swept)


def of_field(annotation: Any, rule: Rule) -> dict[str, Any]:
    """Return the schema of a field of a class of settings."""
    number = LISTS.get(annotation, int if annotation == NAMED else annotation)
    ends = {"minimum": rule.least, "exclusiveMinimum": rule.above, "maximum": rule.most, "exclusiveMaximum": rule.below}
    one: dict[str, Any] = {"type": "integer" if number is int else "number"}
    one |= {name: int(end) if end == int(end) else end for name, end in ends.items() if end is not None}
    many = {"least": rule.fewest or None, "most": rule.greatest}
    if annotation in LISTS:
        named = {"minItems": many["least"], "maxItems": many["most"], "uniqueItems": rule.distinct or None}
        one = {"type": "array", **{name: value for name, value in named.items() if value is not None}, "items": one}
    elif annotation == NAMED:
        named = {"minProperties": many["least"], "maxProperties": many["most"]}
        of_names = {"propertyNames": {"enum": list(rule.names)}} if rule.names else {}
        given = {name: value for name, value in named.items() if value is not None}
        one = {"type": "object", **given, **of_names, "additionalProperties": one}
    return {**one, "description": f"{rule.meaning}{f' ({rule.unit})' if rule.unit else ''}"}


def of_class(settings: type) -> dict[str, Any]:
    """Return the schema of a class of settings."""
    own = [
        (name, of_field(annotation, rule), needed)
        for name, annotation, rule, needed in rules(settings)
        if not rule.swept
    ]
    return _object([name for name, _, needed in own if needed], {name: field for name, field, _ in own})


def of_experiment(experiment: Experiment) -> dict[str, Any]:
    """Return the schema of what a study says of an experiment."""

    def listed(names: Any) -> dict[str, Any]:
        return {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": list(names)}}

    corpora = {
        "split": {"$ref": "#/$defs/measured_corpora"},
        "drawn": listed(SOURCES),
        "none": {"const": [NO_CORPUS]},
        "drawn or none": listed((*SOURCES, NO_CORPUS)),
    }
    topics = {
        "list": {"$ref": "#/$defs/topics"},
        "by corpus": {"type": "object", "additionalProperties": {"$ref": "#/$defs/topics"}},
        "either": {"$ref": "#/$defs/topics_or_map"},
    }
    asked: dict[str, Any] = {"corpora": corpora[experiment.corpora]}
    if experiment.models:
        asked["models"] = listed(experiment.models)
    if experiment.topics:
        asked["topics"] = topics[experiment.topics]
    asked["seeds"] = {"$ref": "#/$defs/seeds"}
    if experiment.training:
        asked["train"] = {"$ref": f"#/$defs/{experiment.training.__name__}"}
    if fields(experiment.settings):
        asked["settings"] = of_class(experiment.settings)
    needed = list(asked)
    if experiment.training:
        asked["more_seeds"] = {"$ref": "#/$defs/more_seeds"}
    return _object(needed, asked)


def _object(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def schema(frame: Path) -> str:
    """Return the schema of studies, as YAML."""
    import yaml

    whole = from_yaml(frame.read_text(encoding="utf-8"))
    classes = {*TRAINING.values(), *FOLDING_IN.values(), LDAGrowth}
    whole["$defs"] |= {one.__name__: of_class(one) for one in sorted(classes, key=lambda one: one.__name__)}
    measures = {name: of_experiment(experiment) for paper in ALL for name, experiment in paper.experiments.items()}
    whole["$defs"]["measures"] = _object([], measures)
    return HEAD + yaml.safe_dump(whole, sort_keys=False, default_flow_style=None, width=120)


def page(text: str) -> str:
    """Return the page on studies with its tables anew."""
    return "\n".join([text.partition(WRITTEN)[0] + WRITTEN, *_tables()])


def _tables() -> Iterator[str]:
    yield "## Settings of `models`\n"
    for part, classes in (("train", TRAINING), ("fold_in", FOLDING_IN)):
        for one in dict.fromkeys(classes.values()):
            yield f"### `{part}` of {', '.join(f'`{model}`' for model in classes if classes[model] is one)}\n"
            yield from _table(one)
    for paper in ALL:
        yield f"## Experiments: {paper.source}\n"
        for name, experiment in paper.experiments.items():
            said = [OF_CORPORA[experiment.corpora]]
            said += [f"`models` {', '.join(f'`{model}`' for model in experiment.models)}"] if experiment.models else []
            said += [OF_TOPICS[experiment.topics]] if experiment.topics else []
            said += ["`seeds`", *(["optional"] if name in paper.optional else [])]
            _, _, remark = (experiment.settings.__doc__ or "").partition("; ")
            remark = f" {remark[:1].upper()}{remark[1:]}" if remark else ""
            yield f"### `{name}`\n\nOn {'; '.join(said)}.{remark}\n"
            if experiment.training:
                yield "`more_seeds` are `seeds` of some `training_documents` alone. `train`:\n"
                yield from _table(experiment.training)
                yield "`settings`:\n"
            yield from _table(experiment.settings)


def _table(settings: type) -> Iterator[str]:
    """Yield the table of a class of settings; nothing where it has none."""
    rows = list(given(settings))
    if rows:
        yield "| Setting | Type | Range | Unit | Meaning |\n| --- | --- | --- | --- | --- |"
    for name, annotation, rule, needed in rows:
        kinds = f"{kind(annotation)}{'' if needed else ', optional'}"
        limits = "; ".join(filter(None, (rule.range, number_of(annotation, rule))))
        yield f"| `{name}` | {kinds} | {limits} | {rule.unit} | {rule.meaning.replace('|', chr(92) + '|')} |"
    if rows:
        yield ""


def main() -> None:
    """Write the schema and the page of the checkout that is the working directory."""
    for path, text in ((SCHEMA, schema(FRAME)), (PAGE, page(PAGE.read_text(encoding="utf-8")))):
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
