"""A study's settings, their check, and the runs that they ask for."""

import copy
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

from heldout.errors import InputError
from heldout.models import LDA, PLSA

HELD_OUT = 0.3  # held-out share of one's own corpora, as for Cranfield and Medline
BYTES, LEVELS, ALIASES = 100_000, 32, 100  # most bytes of a study's file, lists within one another and repeated parts
NOT_TAKEN_OVER = (
    "parts",
    "experiment_corpora",
    "mirror",
    "results",
)  # keys that a study of one's own does not take over
SECOND_READING = "smoothed-in-m-step"
# parts of a study's runs: each model (its variants over the grid), each experiment, and these
SECOND, BEYOND_VOCABULARY, ALTERNATIVES = "second reading", "beyond the vocabulary", "alternatives"

MAIN = "main"  # the document of a study that names none: paper/main.tex, which is about the study `paper`
WRITTEN = "paper"
RESERVED = ("raw", "corpora", "published", "reference")  # folders of data/ that hold no study
NO_CORPUS = "none"  # the corpus of experiments that draw their own documents
PARTS = ("train", "fold_in")  # parts of a model's settings
SELECTION = "model-selection"  # experiment with growing models, on corpora drawn from trained models
IS_PROBABILITY = "is-a-probability"  # experiment on documents of its own, also from the true models of drawn corpora
DRAWN = (SELECTION, IS_PROBABILITY, "mean-ratio")  # experiments on drawn corpora
# keys that a study of standalone experiments, or one of the gallery, may lack
NOTHING: Mapping[str, Any] = {
    "seeds": [],
    "parts": {},
    "corpora": {},
    "experiment_corpora": {},
    "table_1_also": [],
    "synthetic": {"scale": 1.0, "seed": 0},
    "topics": [],
    "beyond_vocabulary": {},
    "smoothing": [],
    "smoothing_in_m_step": {"seeds": []},
    "models": {},
    "alternatives": {},
    "realistic": {
        "source": "reuters",
        "train": {"chains": 1},
        "documents": 0,
        "mean_length": 0.0,
        "test_documents": 0,
        "seed": 0,
        "corpora": [],
    },
}
Peer = Literal["scikit-learn", "gensim", "tomotopy"]
PEERS: dict[str, str] = dict(zip(get_args(Peer), ("sklearn", "gensim", "tomotopy"), strict=True))  # modules, by name
# packages of environments of their own, run by programs of these names in the folder that `DRIVERS` names
Driven = Literal["bigartm", "bitermplus", "etm", "spark", "topicmodels-gibbs", "topicmodels-vem"]
DRIVEN: tuple[str, ...] = get_args(Driven)
DRIVERS = "HELDOUT_PACKAGES"
PACKAGES = {"peers": tuple(PEERS), "packages": (*PEERS, *DRIVEN)}  # packages that are the models of an experiment


class Run(NamedTuple):
    """One training and scoring job."""

    corpus: str
    model: str
    variant: str
    topics: int
    seed: int


class Grid(NamedTuple):
    """Runs of one corpus: ascending numbers of topics, and seeds; no corpus where the study has none."""

    corpus: str
    topics: tuple[int, ...]
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Return the grid of a part of a study."""
        return cls(asked.get("corpus", ""), tuple(sorted(asked.get("topics", ()))), tuple(asked.get("seeds", ())))


@dataclass(frozen=True)
class Alternative:
    """The variant `alternative-NAME` of a model.

    Attributes:
        model, variant: as in `Run`.
        changes: the settings that differ, by (part, setting).
        corpus, seeds: its runs' corpus and seeds.
    """

    model: str
    variant: str
    changes: Mapping[tuple[str, str], Any]
    corpus: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Settings:
    """A study's settings, typed; the only code that knows a study's layout."""

    study: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The study's name, and the name of its folders."""
        return str(self.study["study"])

    @property
    def document(self) -> str:
        """The document that shows the study's exhibits: paper/DOCUMENT.tex, where the study is `written`."""
        return str(self.study.get("document", MAIN))

    @property
    def written(self) -> bool:
        """Whether an author wrote about the study: it is its document's own, and every corpus is real."""
        from heldout.corpora.names import SYNTHETIC

        named = self.name == (WRITTEN if self.document == MAIN else self.document)
        return named and not any(corpus.endswith(SYNTHETIC) for corpus in self.corpora)

    @property
    def documented(self) -> bool:
        """Whether a document shows the study's exhibits; one of standalone experiments has tables alone."""
        return self.document != MAIN or bool(self.study["models"])

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpora with figures, in the study's order."""
        return tuple(self.study["corpora"])

    @property
    def described(self) -> tuple[str, ...]:
        """The corpora of Table 1: first the corpora with figures, then the others."""
        return tuple(dict.fromkeys((*self.corpora, *self.study["table_1_also"])))

    @property
    def topics(self) -> tuple[int, ...]:
        """The numbers of topics, ascending."""
        return tuple(sorted(self.study["topics"]))

    @property
    def smoothing(self) -> tuple[float, ...]:
        """The constants added to p(w | z) after training, ascending."""
        return tuple(sorted(float(c) for c in self.study["smoothing"]))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The study's seeds."""
        return tuple(self.study["seeds"])

    @property
    def second_reading_seeds(self) -> tuple[int, ...]:
        """The seeds of the second reading of "smoothing", in which the constant is added at every M step."""
        return tuple(self.study["smoothing_in_m_step"]["seeds"])

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the study trains."""
        return tuple(self.study["models"])

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the study's runs: models, experiments, second reading, beyond the vocabulary, alternatives."""
        return (*self.models, *self.study["measures"], SECOND, BEYOND_VOCABULARY, ALTERNATIVES)

    def _model(self, model: str) -> Mapping[str, Any]:
        """Return a model's entry; empty where the study does not train it."""
        asked: Mapping[str, Any] = self.study["models"].get(model, {})
        return asked

    def variant(self, model: str) -> str:
        """Return the name of a model's main variant."""
        default = {PLSA: "smoothed-after-training", LDA: "collapsed-gibbs"}.get(model, "")
        return str(self._model(model).get("variant", default))

    def setting(self, model: str, part: str, name: str) -> Any:
        """Return a model's setting of one part ("train" or "fold_in"); None where the study has none."""
        return self._model(model).get(part, {}).get(name)

    @property
    def beyond(self) -> Grid:
        """Runs with more topics than words, which are added to the study's grid of one corpus."""
        return Grid.of(self.study["beyond_vocabulary"])

    @property
    def alternative_grid(self) -> Grid:
        """The grid of the alternative settings."""
        return Grid.of(self.study["alternatives"])

    @property
    def alternative_corpora(self) -> tuple[str, ...]:
        """Other preprocessings of the study's corpora that are scored for comparison."""
        return tuple(self.study["alternatives"].get("corpora", ()))

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The alternative variants, model by model."""
        grid = self.alternative_grid
        return tuple(
            Alternative(
                model,
                f"alternative-{name}",
                {(part, setting): value for part in PARTS for setting, value in asked.get(part, {}).items()},
                asked.get("corpus", grid.corpus),
                tuple(asked.get("seeds", grid.seeds)),
            )
            for model, named in self.study["alternatives"].get("variants", {}).items()
            for name, asked in named.items()
        )

    def topics_of(self, model: str) -> tuple[int, ...]:
        """Return the numbers of topics of one model, ascending: its own, or the study's."""
        return tuple(sorted(self._model(model).get("topics", self.topics)))

    def seeds_of(self, model: str) -> tuple[int, ...]:
        """Return the seeds of one model: its own, or the study's."""
        return tuple(self._model(model).get("seeds", self.seeds))

    def further_variants(self, model: str, seed: int | None = None) -> tuple[str, ...]:
        """Return the further variants of a model over the same grid, of one seed or of all together."""
        also = self._model(model).get("also", {})
        return tuple(name for name, asked in also.items() if seed is None or seed in asked.get("seeds", (seed,)))

    def swept_values(self, model: str) -> tuple[float, ...]:
        """Return the values of a model's sweep, ascending; empty without a sweep."""
        return tuple(sorted(self._model(model).get("sweep", {}).get("values", ())))

    def swept_variants(self, model: str) -> tuple[str, ...]:
        """Return the variants of a model's sweep, one per value of `swept_values`."""
        return tuple(f"{self._model(model)['sweep']['setting']}-{value:.2f}" for value in self.swept_values(model))

    def main_runs(self, corpus: str, model: str, *, swept: bool = True) -> tuple[Run, ...]:
        """Return the runs of a model's variants over its grid, with or without its sweep."""
        return tuple(
            Run(corpus, model, variant, k, seed)
            for k in self.topics_of(model)
            for seed in self.seeds_of(model)
            for variant in (
                self.variant(model),
                *self.further_variants(model, seed),
                *(self.swept_variants(model) if swept else ()),
            )
        )

    def second_reading_runs(self, corpus: str) -> tuple[Run, ...]:
        """Return the runs of the second reading over the study's grid."""
        return tuple(Run(corpus, PLSA, SECOND_READING, k, s) for k in self.topics for s in self.second_reading_seeds)

    def experiment(self, name: str) -> Mapping[str, Any]:
        """Return an experiment's entry in the study (corpora, seeds, settings); empty if the study does not run it.

        Of one that has other settings on other corpora, or of other models, too, this is the first entry.
        """
        asked: Mapping[str, Any] = self.study["measures"].get(name, {})
        return asked

    def experiment_settings(self, kind: str, corpus: str, model: str) -> dict[str, Any]:
        """Return the settings of an experiment on a corpus and of a model, by the first entry that has both."""
        asked = self.experiment(kind)
        for entry in entries_of(asked) if asked else ():
            if corpus in entry["corpora"] and model in entry.get("models", (model,)):
                return dict(entry.get("settings", {}))
        return dict(asked.get("settings", {}))

    def experiment_runs(self, kind: str) -> tuple[Run, ...]:
        """Return the runs of one experiment; their variant is the experiment's name."""
        asked = self.experiment(kind)
        return tuple(run for entry in entries_of(asked) for run in self._runs(kind, entry))

    def _runs(self, kind: str, asked: Mapping[str, Any]) -> tuple[Run, ...]:
        topics = asked.get("topics", [0])
        models = asked.get("models", ["none"])
        if kind == SELECTION:
            models = [f"trained-on-{size}" for size in asked.get("settings", {}).get("training_documents", ())]
        more = asked.get("more_seeds", {"training_documents": (), "seeds": ()})
        repeated = {f"trained-on-{size}" for size in more["training_documents"]}
        return tuple(
            Run(corpus, model, kind, k, seed)
            for corpus in asked.get("corpora", ())
            for model in models
            for k in (topics[corpus] if isinstance(topics, Mapping) else topics)
            for seed in (*asked["seeds"], *(more["seeds"] if model in repeated else ()))
        )

    def beyond_runs(self) -> tuple[Run, ...]:
        """Return the runs of the figure with more topics than words, the study's grid included."""
        corpus, added, seeds = self.beyond
        topics = sorted({*self.topics, *added}) if corpus else []
        return tuple(Run(corpus, PLSA, self.variant(PLSA), k, seed) for k in topics for seed in seeds)

    def test_documents(self, corpus: str) -> int:
        """Return the number of held-out documents of a corpus."""
        if corpus in self.study["realistic"]["corpora"]:
            return int(self.study["realistic"]["test_documents"])
        if corpus == NO_CORPUS:
            return 0
        corpora = self.study["corpora"] | self.study["experiment_corpora"]
        return int(corpora.get(corpus, corpora.get(corpus.removesuffix("-unstemmed")))["test_documents"])

    def settings_of(self, model: str, variant: str, part: str) -> dict[str, Any]:
        """Return a model's settings of one part ("train" or "fold_in") under a variant; none if it is not trained."""
        asked = self._model(model)
        alternatives = self.study["alternatives"].get("variants", {}).get(model, {})
        changes = {f"alternative-{name}": parts for name, parts in alternatives.items()} | asked.get("also", {})
        return {**asked.get(part, {}), **changes.get(variant, {}).get(part, {})}

    def chains(self, model: str) -> int:
        """Return the number of a model's Markov chains; 0 for a deterministic model."""
        return int(self.setting(model, "train", "chains") or 0)

    def constants_added(self, model: str) -> tuple[float, ...]:
        """Return the constants added to a model's topics after training; empty for a model that is not smoothed."""
        asked = self.study["models"][model]
        constants = asked.get("smoothing", self.study["smoothing"] if asked.get("smoothed") else ())
        return tuple(float(constant) for constant in constants)

    def fits(self) -> tuple[Run, ...]:
        """Return every run that trains a model and scores its test documents; a sweep is one run."""
        runs = {*self.alternative_runs(), *(run for run in self.beyond_runs() if run.topics in self.beyond.topics)}
        for corpus in self.corpora:
            runs.update(self.second_reading_runs(corpus))
            for model in self.models:
                runs.update(self.main_runs(corpus, model, swept=False))
        return tuple(sorted(runs))

    def experiments(self) -> tuple[Run, ...]:
        """Return every run of an experiment; its variant is the experiment's name."""
        return tuple(run for kind in self.study["measures"] for run in self.experiment_runs(kind))

    def alternative_runs(self) -> tuple[Run, ...]:
        """Return the runs of the alternative variants, and of PLSA and LDA on the alternative corpora."""
        _, topics, seeds = self.alternative_grid
        runs = [
            Run(o.corpus, o.model, o.variant, k, seed) for o in self.alternatives for k in topics for seed in o.seeds
        ]
        main = [(corpus, model, self.variant(model)) for corpus in self.alternative_corpora for model in (PLSA, LDA)]
        return (*runs, *(Run(*pair, k, seed) for pair in main for k in topics for seed in seeds))


def entries_of(asked: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the entries of an experiment, whose settings differ: its own, and the ones below its key `also`."""
    return (asked, *asked.get("also", ()))


def _with_entries(kind: str, asked: Mapping[str, Any], key: str, keeps: Callable[[str], bool]) -> dict[str, Any]:
    """Return an experiment by its name with a part of the values of a key; an entry without one is left out."""
    kept = [{**entry, key: some} for entry in entries_of(asked) if (some := [one for one in entry[key] if keeps(one)])]
    for entry in kept:
        entry.pop("also", None)
    return {kind: kept[0] | ({"also": kept[1:]} if kept[1:] else {})} if kept else {}


def driver(package: str) -> Path:
    """Return the place of a package's driver, whether it is there or not."""
    return Path(os.environ.get(DRIVERS, os.devnull)) / package


def installed() -> list[str]:
    """Return the packages of the experiments `peers` and `packages` that are installed, without importing them."""
    here = [library for library, module in PEERS.items() if find_spec(module) is not None]
    return [*here, *(package for package in DRIVEN if driver(package).is_file())]


def without_missing(study: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the study without the packages that are not installed, and a notice (empty if all are)."""
    there, measures = installed(), dict(study["measures"])
    missing: list[str] = []
    for kind in PACKAGES:
        if asked := measures.pop(kind, None):
            missing += [package for entry in entries_of(asked) for package in entry["models"] if package not in there]
            measures |= _with_entries(kind, asked, "models", lambda package: package in there)
    if held := measures.get(IS_PROBABILITY):
        missing += [library for library in held["settings"]["libraries"] if library not in there]
        libraries = {name: n for name, n in held["settings"]["libraries"].items() if name in there}
        measures[IS_PROBABILITY] = {**held, "settings": {**held["settings"], "libraries": libraries}}
    if not missing:
        return study, ""
    remedies = [
        remedy
        for packages, remedy in ((PEERS, "pip install '.[peers]'"), (DRIVEN, "make packages"))
        if set(packages) & set(missing)
    ]
    notice = f"{', '.join(dict.fromkeys(missing))} not installed: left out; {' and '.join(remedies)} brings them in"
    return {**study, "measures": measures}, notice


def without_unavailable(study: dict[str, Any], raw: Path, mirror: str) -> tuple[dict[str, Any], str]:
    """Return a study without the corpora of experiments that a mirror lacks, and a notice (empty if none is missing).

    All corpora of the gallery are those of experiments. A study whose results are the reference is returned as it is.
    Files may be in the folder `raw` already, or in the `mirror`, which takes the place of downloads (empty for none).
    """
    from heldout.corpora.names import raw_files

    key = "corpora" if study.get("document", MAIN) != MAIN else "experiment_corpora"
    if "results" in study or not mirror or not study.get(key):
        return study, ""
    places = (raw, Path(mirror))
    absent = {
        corpus: {file for file in raw_files(corpus) if not any((place / file).is_file() for place in places)}
        for corpus in study[key]
    }
    lacking = [corpus for corpus, files in absent.items() if files]
    measures: dict[str, Any] = {}
    for kind, asked in study["measures"].items():
        measures |= _with_entries(kind, asked, "corpora", lambda corpus: corpus not in lacking)
    kept = {corpus: held_out for corpus, held_out in study[key].items() if corpus not in lacking}
    named = ", ".join(sorted(set().union(*absent.values())))
    notice = f"{named} not in {mirror}: {', '.join(lacking)} left out of the exhibits" if lacking else ""
    return {**study, key: kept, "measures": measures}, notice


def read_study(path: Path) -> dict[str, Any]:
    """Read a study's settings, JSON or YAML, unchecked.

    Raises:
        InputError: when the file cannot be read, is longer than `BYTES`, or holds no mapping.
    """
    import yaml

    try:
        if path.stat().st_size > BYTES:
            raise InputError(f"{path}: a study has at most {BYTES:,} bytes")
        study = from_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not a readable study ({error})") from error
    if not isinstance(study, dict):
        raise InputError(f"{path}: a study is a mapping of settings; see workflow/studies/paper.yaml")
    return study


def own_study(documents: Mapping[str, int], template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study of one's own corpora alone, with the grids and settings of another study.

    `documents` are their numbers by corpus; `HELD_OUT` of them are held out. The first corpus gives the study its name,
    and takes the place of the corpora of single experiments, alternatives and drawn corpora.
    """
    study: dict[str, Any] = copy.deepcopy({key: template[key] for key in template if key not in NOT_TAKEN_OVER})
    for part in template.get("parts", {}).values():  # of the paper alone
        for kind in part["experiments"]:
            del study["measures"][kind]
    names, first, theirs = list(documents), next(iter(documents)), set(template["corpora"])
    study |= {
        "study": first,
        "corpora": {name: {"test_documents": max(1, round(HELD_OUT * n))} for name, n in documents.items()},
        "table_1_also": [],
    }
    study["realistic"]["source"] = study["beyond_vocabulary"]["corpus"] = study["alternatives"]["corpus"] = first
    study["alternatives"]["corpora"] = []
    variants = study["alternatives"].get("variants", {})
    for model, named in variants.items():  # without changes on a corpus of the other study
        variants[model] = {name: changes for name, changes in named.items() if "corpus" not in changes}
    for asked in study["measures"].values():
        if theirs.isdisjoint(asked["corpora"]):  # of drawn documents
            continue
        asked["corpora"] = names if theirs <= set(asked["corpora"]) else [first]
        if isinstance(asked.get("topics"), dict):
            topics = next(iter(asked["topics"].values()))
            asked["topics"] = dict.fromkeys(asked["corpora"], topics)
        for name, value in asked.get("settings", {}).items():
            if isinstance(value, dict):  # by corpus, or by another name
                asked["settings"][name] = {key: value[key] for key in value if key not in theirs}
    return study


def from_yaml(text: str) -> Any:
    """Return the content of a YAML text whose numbers are decimal and whose keys differ.

    Raises:
        yaml.YAMLError: for another text; for one that nests more than `LEVELS` deep, or repeats more than it says.
    """
    import yaml

    open_parts: list[bool] = []  # lists and mappings within one another, each with whether one of them has an anchor
    aliases, loader = 0, _strict()
    for event in yaml.parse(text, loader):  # events do not call one another, as the making of values does
        problem = ""
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            problem = "an alias within an anchor" if any(open_parts) else ""
        elif isinstance(event, yaml.CollectionStartEvent):
            open_parts.append(event.anchor is not None)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_parts.pop()
        if problem or len(open_parts) > LEVELS or aliases > ALIASES:
            problem = problem or (
                f"more than {ALIASES} aliases" if aliases > ALIASES else f"nests more than {LEVELS} deep"
            )
            raise yaml.YAMLError(f"{problem}, line {event.start_mark.line + 1}" if event.start_mark else problem)
    return yaml.load(text, loader)


@cache
def _strict() -> Any:
    """Return a loader of YAML, by libyaml, if installed, ten times as fast; 020 and 1:30 are texts to it."""
    import yaml

    class Strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """Return a mapping; refuse a key that is no text or stands twice."""
            keys = [key.value if isinstance(key.value, str) else "" for key, _ in node.value]
            for place, key in enumerate(keys):
                if not key or key in keys[:place]:
                    problem = f"the key {key[:40]} stands twice" if key else "a key is a text"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.value[place][0].start_mark)
            return super().construct_mapping(node, deep)

    Strict.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":int", ":float"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    whole = "[-+]?(0|[1-9][0-9]*)"
    for kind, pattern in (("int", whole), ("float", rf"({whole}(\.[0-9]*)?|[-+]?\.[0-9]+)([eE][-+]?[0-9]+)?")):
        Strict.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"^({pattern})$"), list("-+.0123456789"))
    return Strict
