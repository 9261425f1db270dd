"""Steps of a study, which the workflow's rules call, and commands about studies: `python -m artifact NAME`.

A step is a function, and its signature the step's command line: parameters without a star before them are positions,
the others options. Steps import packages when they run: a job's start costs more than many a job's work.
"""

import gc
import inspect
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from heldout.auditing.options import OptionalOutput, Output, arguments
from heldout.cli import Parser, add_verb, commands, run
from heldout.errors import InputError, printable

if TYPE_CHECKING:
    from artifact.contrasts.inputs import Inputs

PROG = "python -m artifact"
EPILOG = f"""\
for studies of your own:
  {PROG} study data/corpora/mine.npz > workflow/studies/mine.yaml
  {PROG} check workflow/studies/mine.yaml"""


DATA, STUDIES = Path("data"), Path("workflow/studies")


@dataclass(frozen=True, kw_only=True)
class Results:
    """Files of a study's results, and the other inputs of exhibits; see `artifact.contrasts.inputs.Inputs`."""

    study: Path
    scores: Path
    corpora: Path
    measurements: Path
    notes: Path
    arrays: Path | None = None
    groups: Path | None = None
    timings: tuple[Path, ...] = ()
    commands: Path | None = None
    provenance: Path | None = None
    effects: Path | None = None
    commit: str = ""
    date: str = ""

    def read(self) -> "Inputs":
        """Return the tables of the files, with the study's papers."""
        from artifact.contrasts.inputs import Inputs
        from artifact.papers import papers_of

        inputs = Inputs.read(**vars(self))
        # tables stay: collections need not look at them, and are rarer
        gc.freeze()
        gc.set_threshold(50_000)
        return replace(inputs, papers=papers_of(inputs.study))


def study(corpora: tuple[Path, ...], *, like: Path = STUDIES / "demo.yaml", data: Path = DATA) -> None:
    """Print a study of one's own corpora alone, with the grids of another study.

    Args:
        corpora: take these imported corpora, data/corpora/NAME.npz.
        like: take all other settings from this study.
        data: look for imported corpora below this folder.
    """
    import yaml

    from artifact.schema import check_study, load_study
    from artifact.study.study import own_study
    from heldout.corpora.corpus import Corpus

    template = load_study(like, data)
    if "models" not in template or not template["models"]:
        raise InputError(f"{like}: a study of drawn corpora alone; take another one, such as demo.yaml")
    documents: dict[str, int] = {}
    for path in corpora:
        corpus = Corpus.load(path)
        if corpus.name != path.stem or corpus.name in documents:
            place = data / "corpora" / f"{corpus.name}.npz"
            raise InputError(f"{path}: holds the corpus {corpus.name}; import it to {place}, and name it once")
        documents[corpus.name] = corpus.n_documents
    own = check_study(own_study(documents, template), data)
    # by way of JSON a part that stands in two places is written twice, and not as a reference
    print(yaml.safe_dump(json.loads(json.dumps(own)), sort_keys=False, default_flow_style=None, width=120), end="")


def check(study: Path, *, data: Path = DATA) -> None:
    """Check a study, key by key.

    Args:
        study: read this study, YAML or JSON.
        data: look for imported corpora below this folder.
    """
    from artifact.schema import load_study

    load_study(study, data)


def fetch(file: str, *, table: Path, output: Output, mirror: str = "") -> None:
    """Download a raw file of data/corpora.csv, or take it from a mirror folder (HELDOUT_MIRROR), and verify it."""
    from heldout.corpora.download import fetch

    mirror = mirror or os.environ.get("HELDOUT_MIRROR", "")
    fetch(file, table, output, Path(mirror) if mirror else None)
    print(printable(f"{file}: verified, {f'from the mirror {mirror}' if mirror else 'from its public address'}"))


def prepare(corpus: str, *, raw: Path, table: Path, output: Output) -> None:
    """Parse and preprocess a corpus from its raw files."""
    from heldout.corpora.prepare import prepare

    prepare(corpus, raw, table).save(output)


def synthesize(corpus: str, *, published: Path, scale: float, seed: int, topics: Output, output: Output) -> None:
    """Draw a corpus from a known LDA of the named corpus's shape; keep the true topics."""
    from artifact.results.corpora import published_shape
    from heldout.corpora.synthetic import draw

    drawn, true_topics = draw(corpus, published_shape(corpus, published), scale=scale, seed=seed)
    true_topics.save(topics)
    drawn.save(output)


def draw(
    corpus: str,
    *,
    model: Path,
    lengths_of: Path,
    documents: int,
    mean_length: float,
    seed: int,
    topics: Output,
    output: Output,
) -> None:
    """Draw a corpus from a model that was trained on real documents; keep its true topics."""
    from heldout.corpora.corpus import Corpus
    from heldout.corpora.realistic import draw
    from heldout.topics import Topics

    trained, lengths = Topics.load(model), Corpus.load(lengths_of).lengths
    drawn, true_topics = draw(corpus, trained, lengths, documents=documents, mean_length=mean_length, seed=seed)
    true_topics.save(topics)
    drawn.save(output)


def describe(corpora: tuple[Path, ...], *, test_documents: dict[str, int], published: Path, output: Output) -> None:
    """Write Table 1 as data: the counts of each corpus beside the published ones."""
    from artifact.results.corpora import describe, write_table
    from heldout.corpora.corpus import Corpus

    write_table(describe([Corpus.load(path) for path in corpora], test_documents, published), output)


@dataclass(frozen=True, kw_only=True)
class Training:
    """A model, its settings, and the split that it is trained and scored on; see `artifact.study.steps`."""

    model: str
    topics: int
    seed: int
    test_documents: int
    train_settings: dict[str, Any]
    fold_in_settings: dict[str, Any]
    variant: str = ""
    smoothing: tuple[float, ...] = ()


def fit(
    corpus: Path,
    training: Training,
    *,
    output: Annotated[tuple[Path, ...], "written"] = (),
    scores: OptionalOutput = None,
    training_benchmark: OptionalOutput = None,
) -> None:
    """Train a model on the training documents of a split, and score its test documents by full and half folding-in."""
    from artifact.results.scores import write_scores
    from artifact.results.timings import timed
    from artifact.study.steps import score, train
    from heldout.corpora.corpus import Corpus

    loaded, model, split = Corpus.load(corpus), training.model, {"seed": training.seed}
    split["test_documents"] = training.test_documents
    with timed(training_benchmark):
        chains = train(loaded, model, topics=training.topics, settings=training.train_settings, **split)
    if output:
        _save(f"fit: {model} gives {len(chains)} files here", chains, output)
    if scores is not None:
        settings, smoothing = training.fold_in_settings, training.smoothing
        scored = score(loaded, chains, model, training.variant, settings=settings, smoothing=smoothing, **split)
        write_scores(scores, scored)


def grow(
    corpus: Path,
    *,
    topics: int,
    seed: int,
    settings: dict[str, Any],
    output: Annotated[tuple[Path, ...], "written"],
) -> None:
    """Train LDA on growing parts of a corpus."""
    from artifact.study.settings import parse
    from heldout.corpora.corpus import Corpus
    from heldout.models import LDA
    from heldout.models.lda_growth import grow as train
    from heldout.models.settings import LDAGrowth

    growth = parse(LDAGrowth, settings, f"{LDA}: growing")
    grown = train(Corpus.load(corpus), growth, topics=topics, seed=seed)
    _save(f"grow: the settings give {len(grown)} files", grown, output)


def _save(given: str, trained: Sequence[Any], paths: Sequence[Path]) -> None:
    if len(trained) != len(paths):
        raise InputError(f"{given}, but --output names {len(paths)}")
    for topics, path in zip(trained, paths, strict=True):
        topics.save(path)


def sweep(corpus: Path, training: Training, *, setting: str, values: tuple[float, ...], output: Output) -> None:
    """Train once per value of a training setting and score each, on the test documents of a split."""
    from artifact.results.scores import write_scores
    from artifact.study.steps import sweep
    from heldout.corpora.corpus import Corpus

    write_scores(output, sweep(Corpus.load(corpus), setting=setting, values=values, **vars(training)))


def experiment(
    name: str,
    corpus: Path | None = None,
    topics: tuple[Path, ...] = (),
    *,
    model: str,
    number_of_topics: int,
    seed: int,
    test_documents: int,
    settings: dict[str, Any],
    fold_in_settings: dict[str, Any],
    scores: Output,
    output: Output,
    notes: Output,
    arrays: Output,
) -> None:
    """Run an experiment of one of the papers: exact values, bounds, an estimator's error, normalisers, convergence.

    It has no corpus where it draws its own documents, and no topics where it trains its own models.
    """
    from artifact.papers import EXPERIMENTS
    from artifact.results.arrays import write_arrays
    from artifact.results.measurements import MEASUREMENTS, NOTES
    from artifact.results.scores import write_scores
    from artifact.study.steps import run_experiment
    from heldout.corpora.corpus import Corpus
    from heldout.topics import load_topics

    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    paper = EXPERIMENTS[name]
    results = run_experiment(
        paper.experiment_module(name),
        paper.experiments[name].settings,
        None if corpus is None else Corpus.load(corpus),
        [load_topics(path) for path in topics],
        model,
        topics=number_of_topics,
        seed=seed,
        test_documents=test_documents,
        settings=settings,
        fold_in_settings=fold_in_settings,
    )
    write_scores(scores, results.scores)
    MEASUREMENTS.write(output, results.measurements)
    NOTES.write(notes, results.notes)
    write_arrays(arrays, results.arrays)


def collect(kind: str, tables: tuple[Path, ...], *, output: Output) -> None:
    """Merge files of scores, of their groups of documents, of measurements, of notes or of arrays into one."""
    from artifact.results.arrays import collect_arrays
    from artifact.results.measurements import MEASUREMENTS, NOTES
    from artifact.results.scores import collect_groups, collect_scores

    collectors: dict[str, Callable[[Sequence[Path], Path], None]]
    collectors = {"scores": collect_scores, "groups": collect_groups, "arrays": collect_arrays}
    collectors |= {tidy.what: tidy.collect for tidy in (MEASUREMENTS, NOTES)}
    if kind not in collectors:
        raise InputError(f"collect: there are no {kind}; there are {', '.join(collectors)}")
    collectors[kind](tables, output)


def timings(benchmarks: Path, *, output: Output) -> None:
    """Merge the benchmark files of a run into one table."""
    from artifact.results.timings import collect_timings

    collect_timings(benchmarks, output)


def effects(results: Results, *, output: Output) -> None:
    """Estimate the contrasts of a study's papers from its results: effects with their intervals."""
    from artifact.contrasts.effect import write_effects
    from artifact.contrasts.estimates import effects

    inputs = results.read()
    contrasts = [contrast for paper in inputs.papers for contrast in paper.part("contrasts")]
    write_effects(output, [effect for contrast in contrasts for effect in effects(contrast, inputs)])


def plan(effects: Path, *, output: Output) -> None:
    """Write the half width that more splits would give every effect, and the fewest splits that settle it."""
    from artifact.contrasts.effect import read_effects
    from artifact.contrasts.plan import write_plan

    write_plan(output, [effect for own in read_effects(effects).values() for effect in own])


def exhibits(
    kind: str,
    results: Results,
    *,
    output: Output,
    only: tuple[str, ...] = (),
    suffix: str | None = None,
    processes: int = 1,
) -> None:
    """Make a study's figures (PDF), or its tables and macros (LaTeX), all of them or the named ones."""
    from artifact.study.manifest import kind as kind_of
    from artifact.typesetting.exhibits import exhibits, make_all

    kinds = {"figures": ("figure",), "tables": ("table", "macros")}
    if kind not in kinds:
        raise InputError(f"exhibits: there are no {kind}; there are figures, tables")
    inputs = results.read()
    names = only or [name for name in exhibits(inputs.papers, inputs.study) if kind_of(name) in kinds[kind]]
    make_all(list(names), inputs, output, suffix=suffix, processes=processes)


def numbered(kind: str, number: str, *, study: str = "paper") -> None:
    """Print the files of a figure or table by its number in a study's typeset documents."""
    from artifact.typesetting.exhibits import numbered, path

    print(*(path(name, study) for name in numbered(kind, number, Path(f"paper/generated/{study}"))))


def prose(
    sources: tuple[Path, ...],
    *,
    effects: Path,
    output: Output,
    moved: Output,
    strict: bool = False,
) -> int:
    """Check that findings named by a document's sentences still hold; write its effects, and the moved sentences.

    Where it is strict and a sentence has moved, nothing is written and the status is 1.
    """
    from artifact.contrasts.effect import read_effects
    from artifact.typesetting import prose
    from heldout.files import replacing

    text, known = prose.read(sources), read_effects(effects)
    lines = [prose.line(*one) for one in prose.moved(text, known)]
    for line in lines:
        print(f"heldout: {line}", file=sys.stderr)
    if strict and lines:
        return 1
    for path, written in ((output, prose.render(text, known)), (moved, "".join(f"{line}\n" for line in lines))):
        with replacing(path) as temporary:
            temporary.write_text(written, encoding="utf-8")
    return 0


def readme(
    front: Path,
    table: Output,
    results: Results,
    *,
    studies: Path = STUDIES,
    reproduce: Path = Path("docs/reproduce.md"),
    questions: Output = Path("docs/questions.md"),
) -> None:
    """Make the generated parts of the README and of docs, and RESULTS.md, anew from the reference results."""
    from artifact.typesetting import readme
    from heldout.files import replacing

    if results.commands is None:
        raise InputError("readme: give the table of commands' minutes (--commands)")
    inputs = results.read()
    parts = {
        front: {
            "law": readme.law(inputs),
            "effect": readme.effect(inputs),
            "commands": readme.commands(results.commands),
        },
        reproduce: {"studies": readme.studies(results.commands, studies)},
    }
    texts = {path: readme.update(path, made) for path, made in parts.items()}
    texts[table] = readme.results(inputs)
    if page := readme.questions(inputs):
        texts[questions] = page
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def digest(names: tuple[str, ...], *, baseline: str | None = None) -> None:
    """List the code that makes a job's file, or that modules run, and its files that changed since a commit.

    Args:
        names: take these jobs' output files, or modules, as artifact.study.steps.
        baseline: compare with this commit (default: the last before the file).
    """
    from artifact.makers import modules_of
    from artifact.study.digest import contents, digest, git, sources, sources_at

    checkout = Path(__file__).parents[2]
    packages = ("heldout.", "artifact.", "gallery.")
    named = [(name,) if name.startswith(packages) else modules_of(Path(name)) for name in names]
    modules = dict.fromkeys(module for group in named for module in group)
    now = contents(sources(checkout), *modules)
    print(f"{digest(now)}: the digest of {', '.join(modules)}, {len(now)} files", *now, sep="\n  ")
    made = [Path(name).stat().st_mtime for name in names if Path(name).is_file()]
    if baseline is None and made:
        baseline = git(checkout, "rev-list", "--max-count=1", f"--before={int(min(made))}", "HEAD").decode().strip()
    if baseline:
        texts = sources_at(checkout, baseline)
        commit = git(checkout, "log", "-1", "--format=%h, %cs, %s", baseline).decode().strip()
        try:
            earlier = contents(texts, *modules)
        except InputError as error:
            raise InputError(f"{error} at {baseline} to compare with; name a later commit (--since)") from error
        moved = [file for file in sorted(earlier.keys() | now.keys()) if earlier.get(file) != now.get(file)]
        lines = moved or ["nothing; `snakemake -n` tells which setting or input of the job changed"]
        print(f"{digest(earlier)}: at {commit}. Since then moved:", *lines, sep="\n  ")


def compare(
    *,
    scores: Path,
    corpora: Path,
    measurements: Path,
    notes: Path,
    groups: Path | None = None,
    arrays: Path | None = None,
    reference: Path,
    output: Output,
) -> int:
    """Compare a run with the reference results, by table and variant."""
    from artifact.compare import compare

    tables = {"scores": scores, "corpora": corpora, "measurements": measurements, "notes": notes}
    tables |= {name: path for name, path in (("groups", groups), ("arrays", arrays)) if path is not None}
    return 0 if compare(tables, reference, output, sys.stdout) else 1


def verify(effects: Path, *, reference: Path, output: Output) -> int:
    """Hold the numbers on which the paper stands to the committed ones, and write the page that says so.

    Args:
        effects: the run's data/paper/effects.csv, which `make reproduce` or `make paper` makes.
        reference: the committed one.
        output: write the page to this file.
    """
    from artifact.verify import write

    return 0 if write(effects, reference, output, sys.stdout) else 1


def provenance(study: Path, *, timings: Path, output: Output, parts: tuple[str, ...] = (), data: Path = DATA) -> None:
    """Record the commit, machine, versions, minutes and code of a run whose results become the reference.

    Args:
        study: the study that ran, in the checkout that ran it.
        timings: the table of its jobs, data/STUDY/timings.csv.
        output: renew the study's record in this file.
        parts: renew these parts or experiments alone (default: all).
        data: look for imported corpora below this folder.
    """
    from artifact.recording import parts_of, record
    from artifact.results.provenance import read_provenance, write_provenance
    from artifact.schema import load_study
    from artifact.study.digest import git

    checkout, settings = Path(__file__).parents[2], load_study(study, data)
    records, name = read_provenance(output) if output.exists() else {}, settings["study"]
    commit = git(checkout, "rev-parse", "HEAD").decode().strip()
    parts = parts or tuple(parts_of(settings))
    records[name] = record(settings, records.get(name, {}), commit, checkout, timings, parts)
    write_provenance(output, records)


STEPS = (
    *(study, check, fetch, prepare, synthesize, draw, describe, fit, grow, sweep, experiment, collect, timings),
    *(effects, plan, exhibits, numbered, prose, readme, digest, compare, verify, provenance),
)


def _call(step: Callable[..., int | None], **given: Any) -> int | None:
    """Return the status of a step, after making its dataclasses of the arguments that are their fields."""
    for name, part in inspect.signature(step).parameters.items():
        if is_dataclass(part.annotation):
            made: Any = part.annotation
            given[name] = made(**{one.name: given.pop(one.name) for one in arguments(made) if one.name in given})
    return step(**given)


def parser() -> Parser:
    """Return the parser of the steps."""
    main, verbs = commands(PROG, "The steps of a study, which its rules call, and commands about studies.", EPILOG)
    for step in STEPS:
        add_verb(verbs, step.__name__, partial(_call, step), step)
    return main


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a step; return its exit code."""
    return run(parser(), sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
