"""A study: its keys, and the check that every run makes of them before its first job.

`Study` and its parts are pydantic's, and strict: 5.0 is no integer, and an unknown key is an error. The settings of
models and experiments in them are the dataclasses that functions take (`artifact.study.settings`). `python -m
artifact.schema` prints the JSON schema of studies; with `--page`, in a checkout, it writes the tables of
config/README.md, all that follows its line `WRITTEN`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import annotated_types as limits
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model
from pydantic.json_schema import GenerateJsonSchema

from artifact.papers import ALL, DOCUMENTS, PAPERS
from artifact.study.manifest import Experiment
from artifact.study.settings import AnyOf, Several, all_different, parse
from artifact.study.study import DRAWN, MAIN, NO_CORPUS, NOTHING, PACKAGES, RESERVED, SELECTION, read_study
from heldout.corpora.names import ARCHIVES, SOURCES, SYNTHETIC
from heldout.errors import InputError
from heldout.files import replacing
from heldout.models import PLSA, TEM
from heldout.models.settings import (
    FOLDING_IN,
    TRAINING,
    Count,
    EMTraining,
    EPCAFoldingIn,
    EPCATraining,
    LDAFoldingIn,
    LDATraining,
    PLSAFoldingIn,
    VEMTraining,
)

CORPUS_FORMS = {
    "split": "corpora of the study",
    "drawn": "drawn corpora",
    "none": f"`{NO_CORPUS}`: documents are drawn",
    "drawn or none": f"drawn corpora, or `{NO_CORPUS}`",
    "split or none": f"corpora of the study, or `{NO_CORPUS}`",
}
TOPIC_FORMS = {"list": "`topics`, a list", "by corpus": "`topics` by corpus", "either": "`topics`, a list or by corpus"}
ABSENT: Any = None  # default of a key that a study may lack
ENDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}  # words of a range, by annotation

PAGE = Path("config/README.md")
WRITTEN = "<!-- What follows is written by `python -m artifact.schema --page`; do not edit. -->\n"

OTHER_DOCUMENT = {"study", "mirror", "results", "document", "corpora", "measures"}  # keys beside another document
STANDALONE = {
    "study",
    "mirror",
    "parts",
    "corpora",
    "realistic",
    "measures",
}  # keys of a study of standalone experiments
WHOLE = {"seeds", "corpora", "table_1_also", "synthetic", "topics", "beyond_vocabulary", "smoothing"} | {
    *("smoothing_in_m_step", "models", "measures", "alternatives", "realistic")
}  # keys that a study of the paper needs


def real(corpus: str) -> str:
    """Return a corpus's name; refuse the name in place of one where documents are drawn."""
    if corpus == NO_CORPUS:
        raise ValueError("the name of a corpus")
    return corpus


LONGEST = 60  # most letters of a name: file systems take 255, of all parts of a file's
Corpus = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]*$", max_length=LONGEST), AfterValidator(real)]
StudyName = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]*$", max_length=LONGEST)]
Variant = Annotated[str, StringConstraints(pattern="^[a-z0-9][a-z0-9.-]*$", max_length=LONGEST)]
Seed = Annotated[int, limits.Ge(0)]
Constant = Annotated[float, limits.Gt(0), limits.Le(1)]


class Part(BaseModel):
    """A part of a study: a mapping of known keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Split(Part):
    """A corpus of the study."""

    test_documents: Annotated[Seed, Field(description="number of held-out documents; 0 of relations")]


class Synthetic(Part):
    """The drawing of -like corpora."""

    scale: Annotated[Constant, Field(description="share of the named corpus's documents and vocabulary")]
    seed: Seed


class BeyondVocabulary(Part):
    """PLSA with more topics than words."""

    corpus: Corpus
    topics: Several[Count]
    seeds: Several[Seed]


class SecondReading(Part):
    """Constants that every M step adds."""

    seeds: AnyOf[Seed]


class Changes(Part):
    """A variant, as changes of a model's settings."""

    seeds: Annotated[Several[Seed], Field(description="seeds of the variant, if not all")] = ()
    train: dict[str, Any] = {}
    fold_in: dict[str, Any] = {}


class AlternativeChanges(Changes):
    """A variant on a corpus of its own."""

    corpus: Corpus = ""


class Model(Part):
    """A model that the study trains."""

    topics: Several[Count] = ()
    seeds: Several[Seed] = ()


class Sweep(Part):
    """Values of a training setting, each trained and scored."""

    setting: Literal["beta"]
    values: Annotated[Several[Constant], Field(description="inverse temperatures")]


class PLSAByEM(Part):
    """The model plsa-hof."""

    variant: Literal["smoothed-after-training"]
    smoothed: Literal[True]
    train: EMTraining
    fold_in: PLSAFoldingIn


class PLSAByVEM(Model):
    """The model plsa-vem."""

    variant: Literal["smoothed-after-training"]
    smoothed: Literal[True]
    train: VEMTraining
    fold_in: PLSAFoldingIn


class PLSAByTEM(Model):
    """The model plsa-tem."""

    variant: Literal["tempered"]
    sweep: Sweep
    smoothing: Annotated[Several[Constant], Field(description="constants added to p(w | z) after training")]
    seeds: Several[Seed]
    train: EMTraining
    fold_in: PLSAFoldingIn


class PenalisedEPCA(Model):
    """The model epca."""

    variant: Literal["penalised"]
    smoothed: Literal[True]
    also: Annotated[dict[Variant, Changes], Field(description="further variants over the same grid")] = {}
    train: EPCATraining
    fold_in: EPCAFoldingIn


class LDAByGibbs(Part):
    """The model lda."""

    variant: Literal["collapsed-gibbs"]
    also: Annotated[dict[Variant, Changes], Field(description="further variants over the same grid")] = {}
    train: LDATraining
    fold_in: LDAFoldingIn


class Hyphenated(Part):
    """A part of the study by names with hyphens."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))


class Models(Hyphenated):
    """The models that the study trains."""

    plsa_hof: PLSAByEM
    plsa_vem: PLSAByVEM
    plsa_tem: PLSAByTEM
    epca: PenalisedEPCA
    lda: LDAByGibbs


class Realistic(Part):
    """Corpora drawn from models that were trained on real documents."""

    source: Annotated[Corpus, Field(description="corpus that the models are trained on")]
    train: LDATraining
    documents: Annotated[int, limits.Ge(2), Field(description="number of documents drawn")]
    mean_length: Annotated[float, limits.Ge(2), Field(description="mean length of a document (tokens)")]
    test_documents: Annotated[Count, Field(description="number of held-out documents")]
    seed: Seed
    corpora: AnyOf[Literal["s10", "s10s", "s40"]]


class Alternatives(Part):
    """Other readings of the sources, each a change of a model's settings."""

    corpus: Corpus
    corpora: Annotated[AnyOf[Corpus], Field(description="other preprocessings, run as they are")]
    topics: Several[Count]
    seeds: Several[Seed]
    variants: dict[Literal["plsa-hof", "plsa-vem", "epca", "lda"], dict[Variant, AlternativeChanges]]


class StudyPart(Part):
    """A part of a study's run."""

    about: str = Field(min_length=1, max_length=200, description="subject, in a few words")
    experiments: Several[str] = Field(description="experiments of the part")


class MoreSeeds(Part):
    """Further seeds at some numbers of training documents."""

    training_documents: Several[Count]
    seeds: Several[Seed]


def _one_of(*names: str) -> Any:
    """Return the type of texts that may have one of the names."""
    return Literal[names]


def measured(name: str, experiment: Experiment) -> type[Part]:
    """Return the class of a study's entry on an experiment."""
    several: Any = Several
    corpora = {
        "split": several[Corpus],
        "drawn": several[_one_of(*SOURCES)],
        "none": tuple[Literal["none"]],
        "drawn or none": several[_one_of(*SOURCES, NO_CORPUS)],
        "split or none": several[Corpus | _one_of(NO_CORPUS)],
    }
    topics: dict[str, Any] = {
        "list": Several[Count],
        "by corpus": dict[str, Several[Count]],
        "either": Several[Count] | dict[str, Several[Count]],
    }
    parts: dict[str, Any] = {"corpora": corpora[experiment.corpora], "seeds": Several[Seed]}
    if experiment.models:
        parts["models"] = several[_one_of(*experiment.models)]
    if experiment.topics:
        parts["topics"] = topics[experiment.topics]
    if experiment.training:
        parts |= {"train": experiment.training, "more_seeds": (MoreSeeds, None)}
    if fields(experiment.settings):
        parts["settings"] = experiment.settings
    if experiment.standalone:  # with other settings on other corpora, or of other models
        parts["also"] = (tuple[create_model(f"other {name}", __base__=Part, **parts), ...], ())  # type: ignore[misc]
    return create_model(name, __base__=Part, **parts)


class Study(Part):
    """A study: corpora, grids, samples and seeds."""

    study: Annotated[StudyName, Field(description="name of the study and of its folders")]
    mirror: str = Field(
        ABSENT,
        pattern=r"^[^\x00]+$",
        description="folder that holds the raw files under their own names, in place of downloads",
    )
    results: Literal["reference"] = Field(ABSENT, description="results that the paper is made of, in place of a run")
    document: _one_of(*(name for name in DOCUMENTS if name != MAIN)) = Field(  # type: ignore[valid-type]
        None, description="document that shows the study, in place of the paper"
    )
    parts: dict[StudyName, StudyPart] = Field({}, description="parts of the run by name, which may be made alone")
    seeds: Several[Seed] = Field((), description="seeds, each of a split, a start and samples")
    corpora: dict[Corpus, Split] = Field({}, min_length=1, description="corpora by name")
    experiment_corpora: dict[Corpus, Split] = Field({}, description="corpora that single experiments alone read")
    table_1_also: tuple[Corpus, ...] = Field((), description="other preprocessings of the corpora, for Table 1 only")
    synthetic: Synthetic = ABSENT
    topics: Several[Count] = Field((), description="numbers K of topics")
    beyond_vocabulary: BeyondVocabulary = ABSENT
    smoothing: Several[Constant] = Field((), description="constants added to p(w | z)")
    smoothing_in_m_step: SecondReading = ABSENT
    models: Models = ABSENT
    realistic: Realistic = ABSENT
    measures: Hyphenated
    alternatives: Alternatives = ABSENT


@cache
def study_of(*experiments: str) -> type[Study]:
    """Return the class of studies whose `measures` may have some experiments: a class for all of them takes long."""
    parts: dict[str, Any] = {
        name.replace("-", "_"): (measured(name, experiment), None)
        for paper in ALL
        for name, experiment in paper.experiments.items()
        if name in experiments
    }
    measures = create_model("Measures", __base__=Hyphenated, __doc__="The experiments of a study.", **parts)
    return create_model("Study", __base__=Study, __doc__=Study.__doc__, measures=measures)


def load_study(path: Path, data: Path) -> dict[str, Any]:
    """Read a study's file and check it, with the errors of `check_study`."""
    return check_study(read_study(path), data)


def check_study(study: dict[str, Any], data: Path) -> dict[str, Any]:
    """Check a study by its keys and for consistency, and return it.

    A study of standalone experiments is returned with all keys; imported corpora are looked for in the folder `data`.

    Raises:
        InputError: names the key (such as models/lda/train/sweeps), its value and the rule that it breaks.
    """
    measures = study.get("measures")
    parse(study_of(*(measures if isinstance(measures, dict) else ())), study, "study")
    for problem in _problems(study):
        raise InputError(f"study: at {problem}")
    study = {**NOTHING, **study}
    for problem in _inconsistencies(study, data):
        raise InputError(f"study: at {problem}")
    return study


def _problems(study: dict[str, Any]) -> Iterator[str]:
    """Yield keys and experiments that do not go together, each with the problem.

    A study has another document than the paper; or it has standalone experiments alone; or it is whole.
    """
    if "document" in study:
        unknown, needed = study.keys() - OTHER_DOCUMENT, {"corpora"}
    elif study.keys() <= STANDALONE:
        unknown, needed = set(), set()
        standalone = [name for paper in ALL for name, experiment in paper.experiments.items() if experiment.standalone]
        for name in study["measures"]:
            if name not in standalone:
                yield f"measures/{name}: must be one of {', '.join(standalone)}; or give the keys of a whole study"
    else:
        unknown, needed = set(), WHOLE
    for key in sorted(unknown):
        yield f"{key}: is unknown beside a document; there are {', '.join(sorted(OTHER_DOCUMENT))}"
    for key in sorted(needed - study.keys()):
        yield f"{key}: is missing"
    for paper in PAPERS if needed is WHOLE else ():
        for name, experiment in paper.experiments.items():
            if not experiment.standalone and name not in paper.optional and name not in study["measures"]:
                yield f"measures/{name}: is missing"


def _inconsistencies(study: dict[str, Any], data: Path) -> Iterator[str]:
    """Yield the key of settings that do not go with the others or with the data, and the problem with it."""
    if study["study"] in RESERVED:
        yield f"study: the name {study['study']} is a folder of data that is no study's; choose another"
    corpora, models, measures, realistic = (study[key] for key in ("corpora", "models", "measures", "realistic"))
    alternatives, names = study["alternatives"], ", ".join(corpora)
    others = {"table_1_also": study["table_1_also"], "alternatives/corpora": alternatives.get("corpora", ())}
    named_by_experiments = study["experiment_corpora"]
    for corpus in (*corpora, *named_by_experiments, *(corpus for named in others.values() for corpus in named)):
        if corpus.removesuffix(SYNTHETIC) not in ARCHIVES and not (data / "corpora" / f"{corpus}.npz").exists():
            yield (
                f"corpora/{corpus}: neither a corpus of data/corpora.csv nor an imported one;"
                f" import it with `heldout import ... --output data/corpora/{corpus}.npz`"
            )
    for key, named in others.items():
        for corpus in named:
            if corpus.removesuffix("-unstemmed") not in corpora:
                yield (
                    f"{key}: {corpus} is no other preprocessing of one of the corpora {names}, whose number of test"
                    " documents it would share"
                )
    for key in ("beyond_vocabulary", "alternatives"):
        if study[key] and study[key]["corpus"] not in corpora:
            yield f"{key}/corpus: {study[key]['corpus']} is not among the corpora {names}"
    source = realistic["source"]
    if source.removesuffix(SYNTHETIC) not in ARCHIVES and source not in corpora:
        yield f"realistic/source: {source} is neither a corpus of data/corpora.csv nor one of the study's"
    if SELECTION in measures:
        most = max(measures[SELECTION]["settings"]["training_documents"])
        if most + realistic["test_documents"] > realistic["documents"]:
            yield (
                f"measures/model-selection/settings/training_documents: {most} training and"
                f" {realistic['test_documents']} held-out documents do not fit into the {realistic['documents']} of"
                " realistic/documents"
            )
    if realistic["train"]["chains"] != 1:
        yield "realistic/train/chains: the corpora are drawn from one chain's topics; give 1"
    for name, part in study["parts"].items():
        for kind in part["experiments"]:
            if kind not in measures:
                yield f"parts/{name}/experiments: {kind} is not among the experiments {', '.join(measures)}"
    for kind, asked in ((kind, entry) for kind, one in measures.items() for entry in (one, *one.get("also", ()))):
        known_corpora = (*(realistic["corpora"] if kind in DRAWN else (*corpora, *named_by_experiments)), NO_CORPUS)
        for key, known in (("corpora", known_corpora), ("models", PACKAGES.get(kind, models))):
            for name in asked.get(key, ()):
                if name not in known:
                    yield f"measures/{kind}/{key}: {name} is not among {', '.join(known)}"
        by_corpus = {key: asked.get("settings", {}).get(key) for key in ("longer", "more")} | {
            "topics": asked.get("topics")
        }
        for key, numbers in by_corpus.items():
            for name in sorted(numbers.keys() - {*asked["corpora"]}) if isinstance(numbers, dict) else ():
                yield f"measures/{kind}/{key}: {name} is not among its corpora, {', '.join(asked['corpora'])}"
    for model, settings in models.items():
        taken = {settings["variant"], "smoothed-in-m-step", *measures}
        for name, asked in settings.get("also", {}).items():
            if name in taken or name.startswith("alternative-"):
                yield f"models/{model}/also: the name {name} is taken; choose another"
            for seed in sorted(set(asked.get("seeds", ())) - set(settings.get("seeds", study["seeds"]))):
                yield f"models/{model}/also/{name}/seeds: {seed} is none of the model's"
        values = settings.get("sweep", {}).get("values", [1.0])
        if 1.0 not in values or any(value != round(value, 2) for value in values):
            yield f"models/{model}/sweep/values: give 1.0 and values of two decimals at most"
    changed = [(f"alternatives/variants/{m}", m, named) for m, named in alternatives.get("variants", {}).items()]
    changed += [(f"models/{m}/also", m, settings.get("also", {})) for m, settings in models.items()]
    for place, model, variants in changed:
        if model not in models:
            yield f"{place}: {model} is not among the models {', '.join(models)}"
        for name, changes in variants.items():
            if "corpus" in changes and changes["corpus"] not in corpora:
                yield f"{place}/{name}/corpus: {changes['corpus']} is not among the corpora"
            for part, classes in (("train", TRAINING), ("fold_in", FOLDING_IN)):
                if "chains" in changes.get(part, ()):
                    yield f"{place}/{name}/{part}/chains: every variant has the main variant's chains"
                if part in changes:
                    whole = {**models[model][part], **changes[part]}
                    parse(classes[model], whole, "study", f"{place}/{name}/{part}")


class _Described(GenerateJsonSchema):
    """The schema of studies with the meaning and unit of every setting."""

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        """Return the schema of a class of settings."""
        printed = super().dataclass_schema(schema)
        for name, _, _, unit, meaning, _ in rows(schema["cls"]):
            printed["properties"][name]["description"] = f"{meaning} ({unit})" if unit else meaning
        return printed


def rows(settings: type) -> Iterator[tuple[str, str, str, str, str, bool]]:
    """Yield the name, type, range, unit and meaning of a class's settings in words, and whether each must be given."""
    for field in fields(settings):
        kind, *marks = get_args(field.type)
        form, arguments = get_origin(kind), get_args(kind)
        number, *value_marks = get_args(value := arguments[-1 if form is Mapping else 0] if form else kind) or (value,)
        marks = [*value_marks, *(part for mark in marks for part in (mark if isinstance(mark, limits.Len) else [mark]))]
        ends = [f"{words} {end:g}" for name, words in ENDS.items() for end in _marks(marks, name)]
        fewest, most = max(_marks(marks, "min_length"), default=0), min(_marks(marks, "max_length"), default=None)
        sizes = [f"{fewest}" if fewest == most else f"{fewest} or more"] if form else []
        sizes += ["all different"] if all_different in _marks(marks, "func") else []
        sizes += [f"of {', '.join(names)}"] if form is Mapping and (names := get_args(arguments[0])) else []
        words = {int: "integer", float: "number"}[number] + {None: "", tuple: "s", Mapping: "s by name"}[form]
        (meaning,), unit = _marks(marks, "documentation"), "".join(_marks(marks, "unit"))
        yield (
            field.name,
            words,
            "; ".join(filter(None, map(", ".join, (ends, sizes)))),
            unit,
            meaning,
            field.default is MISSING,
        )


def _marks(marks: list[Any], name: str) -> list[Any]:
    """Return the values of an attribute, of the annotations that have it."""
    return [getattr(mark, name) for mark in marks if hasattr(mark, name)]


def schema() -> str:
    """Return the JSON schema of studies."""
    experiments = [name for paper in ALL for name in paper.experiments]
    return json.dumps(study_of(*experiments).model_json_schema(schema_generator=_Described), indent=1)


def page(text: str) -> str:
    """Return the page on studies with its tables made anew."""
    return "\n".join([text.partition(WRITTEN)[0] + WRITTEN, *_tables()])


def _tables() -> Iterator[str]:
    yield "## Settings of `models`\n"
    for part, classes in (("train", TRAINING | {PLSA: EMTraining, TEM: EMTraining}), ("fold_in", FOLDING_IN)):
        for one in dict.fromkeys(classes.values()):
            yield f"### `{part}` of {', '.join(f'`{model}`' for model in classes if classes[model] is one)}\n"
            yield from _table(one)
    for paper in ALL:
        yield f"## Experiments: {paper.source}\n"
        for name, experiment in paper.experiments.items():
            said = [CORPUS_FORMS[experiment.corpora]]
            said += [f"`models` {', '.join(f'`{model}`' for model in experiment.models)}"] if experiment.models else []
            said += [TOPIC_FORMS[experiment.topics]] if experiment.topics else []
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
    if fields(settings):
        yield "| Setting | Type | Range | Unit | Meaning |\n| --- | --- | --- | --- | --- |"
        for name, kind, ends, unit, meaning, needed in rows(settings):
            kinds, escaped = f"{kind}{'' if needed else ', optional'}", meaning.replace("|", "\\|")
            yield f"| `{name}` | {kinds} | {ends} | {unit} | {escaped} |"
        yield ""


def main() -> None:
    """Print the schema of studies, or write the page of the checkout that is the working directory."""
    parser = argparse.ArgumentParser(prog="python -m artifact.schema", description="Print the JSON schema of studies.")
    parser.add_argument("--page", action="store_true", help=f"write the tables of {PAGE} instead (default: do not)")
    if parser.parse_args().page:
        with replacing(PAGE) as temporary:
            temporary.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(schema())


if __name__ == "__main__":
    main()
