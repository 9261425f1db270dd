"""The command: `heldout <verb>`, for users and for the workflow's rules.

Bad input is one line on standard error and exit code 2, and nothing is written. Verbs import what they need
when they run: a job's start costs more than many a job's work.
"""

import argparse
import errno
import gc
import json
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import heldout
from heldout.auditing.options import add_audit, add_rank
from heldout.errors import InputError, printable
from heldout.files import refuse_inputs
from heldout.limits import require_file
from heldout.processor import pin

if TYPE_CHECKING:
    from artifact.verdicts.inputs import Inputs

# what is imported of the extras in pyproject.toml, beside the libraries of `peers`
STUDY = ("jsonschema", "nltk", "pandas", "pooch", "rdata", "requests", "seaborn", "yaml")
EXTRAS = {"matplotlib": "html", **dict.fromkeys(STUDY, "paper")}
# what to do where the system refuses to write or read
WAYS_OUT = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EROFS: "write to another place",
    errno.EACCES: "change its permissions, or name another place",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what was typed wrong, without the characters that a terminal acts on."""
        super().error(printable(message))

    @property
    def version(self) -> str:
        """What `--version` prints; asked for late, as it is read from the installed package's metadata."""
        return f"heldout {heldout.__version__}"


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON ({error})") from error
    if not isinstance(settings, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return settings


def _held_out(text: str) -> tuple[str, int]:
    corpus, equals, number = text.rpartition("=")
    if not equals or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not CORPUS=NUMBER")
    return corpus, int(number)


def fetch(args: argparse.Namespace) -> None:
    """Download a raw file of data/corpora.csv, or take it from a mirror folder, and verify it."""
    from heldout.corpora.download import fetch

    mirror = args.mirror or os.environ.get("HELDOUT_MIRROR")
    fetch(args.file, args.table, args.output, Path(mirror) if mirror else None)
    print(printable(f"{args.file}: verified, {f'from the mirror {mirror}' if mirror else 'from its public address'}"))


def prepare(args: argparse.Namespace) -> None:
    """Parse and preprocess a corpus from its raw files."""
    from heldout.corpora.prepare import prepare

    prepare(args.corpus, args.raw, args.table).save(args.output)


def synthesize(args: argparse.Namespace) -> None:
    """Draw a corpus from a known LDA of the named corpus's shape; keep the true topics."""
    from artifact.results.corpora import published_shape
    from heldout.corpora.synthetic import draw

    shape = published_shape(args.corpus, args.published)
    corpus, topics = draw(args.corpus, shape, scale=args.scale, seed=args.seed)
    topics.save(args.topics)
    corpus.save(args.output)


def draw(args: argparse.Namespace) -> None:
    """Draw a corpus from a model that was trained on real documents; keep its true topics."""
    from heldout.corpora.corpus import Corpus
    from heldout.corpora.realistic import draw
    from heldout.topics import Topics

    corpus, topics = draw(
        args.corpus,
        Topics.load(args.model),
        Corpus.load(args.lengths_of).lengths,
        documents=args.documents,
        mean_length=args.mean_length,
        seed=args.seed,
    )
    topics.save(args.topics)
    corpus.save(args.output)


def import_corpus(args: argparse.Namespace) -> None:
    """Read one's own corpus: uci (docword.txt vocab.txt), ldac (data.dat vocab.txt), text (a folder of .txt)."""
    from heldout.corpora import ldac, text_folder, uci
    from heldout.corpora.counts import read_counts

    if not re.fullmatch(r"[a-z][a-z0-9-]*", args.name) or args.name.endswith(("-like", "-unstemmed")):
        raise InputError(
            f"import: the name {args.name!r}; use lower-case letters, digits and hyphens, without -like or -unstemmed"
        )
    needed, names = (1, "a folder") if args.format == "text" else (2, "the counts, then the vocabulary")
    if len(args.sources) != needed:
        raise InputError(f"import {args.format}: give {names}")
    if args.format == "text":
        stemmer = "lancaster" if args.stem else "none"
        corpus = text_folder.read(args.sources[0], args.name, args.stop_list, stemmer, args.minimum_count)
    elif args.minimum_count != 1 or args.stop_list is not None or args.stem:
        raise InputError(f"import {args.format}: counts have their words already; leave out what is for text only")
    else:
        stream = {"uci": uci, "ldac": ldac}[args.format].stream
        corpus = read_counts(stream, args.sources[0], args.sources[1], args.name, args.format)
    corpus.save(args.output)
    left_out = corpus.provenance["records_left_out"]
    named = f"{', '.join(left_out[:3])}{', ...' if len(left_out) > 3 else ''}"
    without = f"; {len(left_out)} without a word left out: {named}" if left_out else ""
    size = f"{corpus.n_documents} documents, {corpus.n_words} words, {corpus.n_tokens} tokens"
    print(printable(f"{args.name}: {size} ({corpus.provenance['rule']['words']}){without}"))


def describe(args: argparse.Namespace) -> None:
    """Write Table 1 as data: what each corpus holds beside what the paper printed."""
    from artifact.results.corpora import describe, write_table
    from heldout.corpora.corpus import Corpus

    corpora = [Corpus.load(path) for path in args.corpora]
    write_table(describe(corpora, dict(args.test_documents), args.published), args.output)


def fit(args: argparse.Namespace) -> None:
    """Train a model on the training documents of a split, and score its test documents by full and half folding-in."""
    from artifact.results.scores import write_scores
    from artifact.results.timings import timed
    from artifact.study.steps import score, train
    from heldout.corpora.corpus import Corpus

    corpus = Corpus.load(args.corpus)
    split = {"seed": args.seed, "test_documents": args.test_documents}
    with timed(args.training_benchmark):
        chains = train(corpus, args.model, topics=args.topics, settings=args.train_settings, **split)
    if args.output:
        _save(f"fit: {args.model} gives {len(chains)} files here", chains, args.output)
    if args.scores is not None:
        settings = {"settings": args.fold_in_settings, "smoothing": args.smoothing}
        write_scores(args.scores, score(corpus, chains, args.model, args.variant, **settings, **split))


def grow(args: argparse.Namespace) -> None:
    """Train LDA on growing parts of a corpus."""
    from heldout.corpora.corpus import Corpus
    from heldout.models import LDA
    from heldout.models.lda_growth import grow as train
    from heldout.models.settings import LDAGrowth
    from heldout.settings import parse

    settings = parse(LDAGrowth, args.settings, f"{LDA}: growing")
    grown = train(Corpus.load(args.corpus), settings, topics=args.topics, seed=args.seed)
    _save(f"grow: the settings give {len(grown)} files", grown, args.output)


def _save(given: str, trained: Sequence[Any], paths: Sequence[Path]) -> None:
    if len(trained) != len(paths):
        raise InputError(f"{given}, but --output names {len(paths)}")
    for topics, path in zip(trained, paths, strict=True):
        topics.save(path)


def sweep(args: argparse.Namespace) -> None:
    """Train once per value of a training setting and score each, on the test documents of a split."""
    from artifact.results.scores import write_scores
    from artifact.study.steps import sweep
    from heldout.corpora.corpus import Corpus

    scores = sweep(
        Corpus.load(args.corpus),
        args.model,
        args.variant,
        setting=args.setting,
        values=args.values,
        topics=args.topics,
        seed=args.seed,
        test_documents=args.test_documents,
        train_settings=args.train_settings,
        fold_in_settings=args.fold_in_settings,
        smoothing=args.smoothing,
    )
    write_scores(args.output, scores)


def experiment(args: argparse.Namespace) -> None:
    """Run an experiment of one of the papers: exact values, bounds, an estimator's error, normalisers, convergence."""
    from artifact.papers import EXPERIMENTS
    from artifact.results.measurements import MEASUREMENTS, NOTES
    from artifact.results.scores import write_scores
    from artifact.study.steps import run_experiment
    from heldout.corpora.corpus import Corpus
    from heldout.topics import load_topics

    if args.name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {args.name}; there are {', '.join(EXPERIMENTS)}")
    paper = EXPERIMENTS[args.name]
    scores, measurements, notes = run_experiment(
        paper.experiment_module(args.name),
        paper.experiments[args.name].settings,
        None if args.corpus is None else Corpus.load(args.corpus),
        [load_topics(path) for path in args.topics],
        args.model,
        topics=args.number_of_topics,
        seed=args.seed,
        test_documents=args.test_documents,
        settings=args.settings,
        fold_in_settings=args.fold_in_settings,
    )
    write_scores(args.scores, scores)
    MEASUREMENTS.write(args.output, measurements)
    if args.notes is not None:
        NOTES.write(args.notes, notes)


def collect(args: argparse.Namespace) -> None:
    """Merge files of scores, of their groups of documents, of measurements or of notes into one table."""
    from artifact.results.measurements import MEASUREMENTS, NOTES
    from artifact.results.scores import collect_groups, collect_scores

    of_scores = {"scores": collect_scores, "groups": collect_groups}
    (of_scores | {tidy.what: tidy.collect for tidy in (MEASUREMENTS, NOTES)})[args.kind](args.tables, args.output)


def timings(args: argparse.Namespace) -> None:
    """Merge the benchmark files of a run into one table."""
    from artifact.results.timings import collect_timings

    collect_timings(args.benchmarks, args.output)


def _inputs(args: argparse.Namespace) -> "Inputs":
    from dataclasses import replace

    from artifact.papers import papers_of
    from artifact.verdicts.inputs import Inputs

    names = ("effects", "commit", "date", "timings", "benchmarks", "commands", "groups", "measurements", "notes")
    given: dict[str, Any] = {name: getattr(args, name) for name in names if hasattr(args, name)}
    inputs = Inputs.read(args.study, args.scores, args.corpora, **given)
    # tables stay: collections need not look at them, and are rarer
    gc.freeze()
    gc.set_threshold(50_000)
    return replace(inputs, papers=papers_of(inputs.study))


def effects(args: argparse.Namespace) -> None:
    """Judge the claims of a study's papers by its results: their effects, and verdicts."""
    from artifact.verdicts.claims import judge
    from artifact.verdicts.verdicts import write_effects

    inputs = _inputs(args)
    claims = [claim for paper in inputs.papers for claim in paper.part("claims")]
    write_effects(args.output, judge(claims, inputs, args.processes))


def exhibits(args: argparse.Namespace) -> None:
    """Make a study's figures (PDF), or its tables and macros (LaTeX), all of them or those that are named."""
    from artifact.study.manifest import kind
    from artifact.typesetting.exhibits import exhibits, make_all

    inputs = _inputs(args)
    kinds = {"figures": ("figure",), "tables": ("table", "macros")}[args.kind]
    names = [name for name in exhibits(inputs.papers, inputs.study) if kind(name) in kinds]
    folders = {"output": args.output, "benchmarks": args.job_benchmarks}
    make_all(args.only or names, inputs, **folders, suffix=args.suffix, processes=args.processes)


def prose(args: argparse.Namespace) -> int:
    """Check that findings named by a document's sentences still hold; write its effects, and which have moved."""
    from artifact.typesetting.prose import line, moved, read, render
    from artifact.verdicts.verdicts import read_effects
    from heldout.files import replacing

    text, judgements = read(args.sources), read_effects(args.effects)
    others = [line(*one) for one in moved(text, judgements)]
    for one in others:
        print(f"heldout: {one}", file=sys.stderr)
    if args.strict and others:
        return 1
    for path, written in ((args.output, render(text, judgements)), (args.moved, "".join(f"{one}\n" for one in others))):
        with replacing(path) as temporary:
            temporary.write_text(written, encoding="utf-8")
    return 0


def readme(args: argparse.Namespace) -> None:
    """Make the generated parts of the README, and RESULTS.md, anew from the reference results."""
    from artifact.typesetting.readme import questions, results, update
    from artifact.verdicts.history import read_history
    from heldout.files import replacing

    inputs = _inputs(args)
    front = update(args.readme.read_text(encoding="utf-8"), inputs, args.commands, args.studies)
    texts = {args.readme: front, args.results: results(inputs, read_history(args.history))}
    if page := questions(inputs):
        texts[args.questions] = page
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def check(args: argparse.Namespace) -> None:
    """Check a study against its schema."""
    from artifact.study.study import load_study

    load_study(args.study, args.schema, args.data)


def study(args: argparse.Namespace) -> None:
    """Print a study of one's own corpora alone (heldout import makes them), with the grids of another study."""
    import yaml

    from artifact.study.study import check_study, load_study, own_study
    from heldout.corpora.corpus import Corpus

    template = load_study(args.like, args.schema, args.data)
    if "models" not in template or not template["models"]:
        raise InputError(f"{args.like}: a study of drawn corpora alone; take another one, such as demo.yaml")
    documents: dict[str, int] = {}
    for path in args.corpora:
        corpus = Corpus.load(path)
        if corpus.name != path.stem or corpus.name in documents:
            place = args.data / "corpora" / f"{corpus.name}.npz"
            raise InputError(f"{path}: holds the corpus {corpus.name}; import it to {place}, and name it once")
        documents[corpus.name] = corpus.n_documents
    own = check_study(own_study(documents, template), args.schema, args.data)
    # by way of JSON what stands in two places is written twice, and not as a reference
    print(yaml.safe_dump(json.loads(json.dumps(own)), sort_keys=False, default_flow_style=None, width=120), end="")


def audit(args: argparse.Namespace) -> int:
    """Audit a saved topic model of any library on documents: what the library reports, and the likelihood."""
    from heldout.auditing.options import AuditCommand

    print(STARTING, file=sys.stderr, flush=True)
    from heldout.auditing.session import run

    return run(AuditCommand.of(args), sys.stdout, sys.stderr)


def rank(args: argparse.Namespace) -> int:
    """Rank saved topic models by the likelihood of the same documents, and say which cannot be told apart."""
    from heldout.auditing.options import RankCommand

    print(STARTING, file=sys.stderr, flush=True)
    from heldout.auditing.session import run

    return run(RankCommand.of(args), sys.stdout, sys.stderr)


def digest(args: argparse.Namespace) -> None:
    """List the code that makes a job's file, or that modules run, and what of it has moved since a commit."""
    import heldout
    from artifact.makers import modules_of
    from artifact.study.digest import checked_out, contents, digest, git, module_file, moved

    source = Path(heldout.__file__).parents[1]
    named = [(name,) if name.startswith("heldout.") else modules_of(Path(name)) for name in args.names]
    modules = dict.fromkeys(module for group in named for module in group)
    now = contents(source, *modules)
    print(f"{digest(now)}: the digest of {', '.join(modules)}, {len(now)} files", *now, sep="\n  ")
    since = args.since
    made = [Path(name).stat().st_mtime for name in args.names if Path(name).is_file()]
    if since is None and made:
        since = git(source, "rev-list", "--max-count=1", f"--before={int(min(made))}", "HEAD").decode().strip()
    if since:
        with checked_out(source, since) as other:
            before = contents(other, *(module for module in modules if module_file(other, module)))
        commit = git(source, "log", "-1", "--format=%h, %cs, %s", since).decode().strip()
        lines = moved(before, now) or ["nothing; `snakemake -n` tells which setting or input of the job changed"]
        print(f"{digest(before)}: at {commit}. Since then moved:", *lines, sep="\n  ")


def compare(args: argparse.Namespace) -> int:
    """Compare a run with the reference results, exhibit by exhibit."""
    from artifact.compare import compare

    tables = {name: getattr(args, name) for name in ("scores", "groups", "corpora", "measurements", "notes")}
    return 0 if compare(args.study, tables, args.reference, args.output, sys.stdout) else 1


STARTING = "starting; the first run after an installation compiles for some seconds"
EXAMPLES = {  # a call of each verb that users type
    "audit": "heldout audit lda.skops test.npz --vocabulary words.txt --html audit.html",
    "rank": "heldout rank lda-*.skops test.npz --vocabulary words.txt",
    "import": "heldout import text folder/ --name mine --output data/corpora/mine.npz",
    "study": "heldout study data/corpora/mine.npz > workflow/studies/mine.yaml",
    "check": "heldout check workflow/studies/mine.yaml",
}
_FILE: dict[str, Any] = {"type": Path}
_WHOLE: dict[str, Any] = {"type": int, "required": True}
_NEEDED: dict[str, Any] = {"type": Path, "required": True}
# arguments of more than one verb
_SHARED: dict[str, dict[str, Any]] = {
    "corpus": _FILE,
    "--output": _NEEDED,
    "--table": _NEEDED | {"help": "read data/corpora.csv"},
    "--published": _NEEDED | {"help": "read the published Table 1"},
    "--model": {"required": True},
    "--topics": _WHOLE,
    "--seed": _WHOLE,
    "--test-documents": _WHOLE,
    "--settings": {"type": _settings, "default": {}, "help": "give the settings as JSON"},
    "--train-settings": {"type": _settings, "default": {}, "help": "give the model's training settings as JSON"},
    "--fold-in-settings": {"type": _settings, "default": {}, "help": "give the model's fold-in settings as JSON"},
    "--smoothing": {"type": float, "nargs": "+", "default": [], "help": "add these constants after training"},
    "--schema": {"type": Path, "default": Path("workflow/studies/schema.yaml")},
    "--data": {"type": Path, "default": Path("data")},
    # a study's results
    "--study": _NEEDED | {"help": "read the study, JSON or YAML"},
    "--scores": _NEEDED,
    "--groups": _FILE | {"help": "read scores by groups of documents, plain or gzipped"},
    "--corpora": _NEEDED,
    "--measurements": _NEEDED | {"help": "read measurements, plain or gzipped"},
    "--notes": _NEEDED,
    # what else exhibits are functions of
    "--timings": _FILE | {"nargs": "+", "default": (), "help": "read reference timings, the study's and frozen ones'"},
    "--benchmarks": _FILE | {"help": "read the estimators' reference timings"},
    "--commands": _FILE | {"help": "read what commands took from this CSV"},
    "--effects": _FILE | {"help": "read the claims' effects, of `heldout effects`"},
    "--commit": {"default": "", "help": "name the commit that the paper is built from"},
    "--date": {"default": "", "help": "name that commit's date"},
}
_TABLES = "--study --scores --groups --corpora --measurements --notes"
_KNOWN = "--effects --timings --benchmarks --commands --commit --date"
_TRAINED = "--model --topics --seed --test-documents --train-settings --fold-in-settings --smoothing"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `heldout`."""
    main = _Parser(
        prog="heldout",
        usage="heldout [-h] [--version] VERB ...",
        description="The likelihood of held-out documents under topic models of any library. `heldout VERB --help` says"
        " more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version")
    verbs = main.add_subparsers(dest="verb", required=True, metavar="VERB", help=argparse.SUPPRESS)

    def verb(run: Any, *outputs: str, shared: str = "", name: str = "") -> argparse.ArgumentParser:
        """Add a verb with some of the shared arguments."""
        text = run.__doc__
        sub = verbs.add_parser(name or run.__name__, description=text, allow_abbrev=False)
        sub.set_defaults(run=run, outputs=outputs)
        for argument in shared.split():
            sub.add_argument(argument, **_SHARED[argument])
        return sub

    sub = verb(fetch, "output", shared="--table --output")
    sub.add_argument("file")
    sub.add_argument("--mirror", help="take the file from this folder (default: HELDOUT_MIRROR)")

    sub = verb(prepare, "output", shared="--table --output")
    sub.add_argument("corpus")
    sub.add_argument("--raw", **_NEEDED, help="read the raw files in this folder")

    sub = verb(synthesize, "topics", "output", shared="--published --seed --output")
    sub.add_argument("corpus")
    sub.add_argument("--scale", type=float, required=True)
    sub.add_argument("--topics", **_NEEDED, help="write the true topics here")

    sub = verb(draw, "topics", "output", shared="--seed --output")
    sub.add_argument("corpus")
    sub.add_argument("--from", **_NEEDED, dest="model", help="draw from these trained topics")
    sub.add_argument("--lengths-of", **_NEEDED, help="draw lengths of documents from this corpus")
    sub.add_argument("--documents", **_WHOLE)
    sub.add_argument("--mean-length", type=float, required=True, help="scale lengths to this mean, in tokens")
    sub.add_argument("--topics", **_NEEDED, help="write the true topics here")

    sub = verb(import_corpus, "output", shared="--output", name="import")
    sub.add_argument("format", choices=["uci", "ldac", "text"])
    sub.add_argument("sources", type=Path, nargs="+")
    sub.add_argument("--name", required=True)
    sub.add_argument("--stop-list", type=Path, help="leave out the words of this file (text only)")
    sub.add_argument("--stem", action="store_true", help="stem words as those of Cranfield and Medline are (text only)")
    sub.add_argument("--minimum-count", type=int, default=1, help="leave out words with fewer tokens (text only)")

    sub = verb(describe, "output", shared="--published --output")
    sub.add_argument("corpora", type=Path, nargs="+")
    sub.add_argument("--test-documents", type=_held_out, nargs="+", required=True, metavar="CORPUS=NUMBER")

    sub = verb(fit, "output", "scores", "training_benchmark", shared=f"corpus {_TRAINED}")
    sub.add_argument("--variant", default="", help="name the variant in the scores")
    sub.add_argument(
        "--output", type=Path, nargs="+", default=[], help="write topics here, a file per chain (default: nowhere)"
    )
    sub.add_argument("--scores", type=Path, help="score the test documents and write the scores here (default: do not)")
    sub.add_argument("--training-benchmark", type=Path, help="write the training's own time and memory here")

    sub = verb(grow, "output", shared="corpus --topics --seed --settings")
    sub.add_argument("--output", **_NEEDED, nargs="+", help="write topics here, a file per part")

    sub = verb(sweep, "output", shared=f"corpus {_TRAINED} --output")
    sub.add_argument("--variant", required=True)
    sub.add_argument("--setting", required=True, help="vary this training setting")
    sub.add_argument("--values", type=float, nargs="+", required=True)

    sub = verb(experiment, "output", "scores", "notes", shared="--seed --test-documents --settings --fold-in-settings")
    sub.add_argument("name", help="an experiment, such as bounds")
    sub.add_argument(
        "corpus", type=Path, nargs="?", help="the corpus; none for an experiment that draws its own documents"
    )
    sub.add_argument(
        "topics", type=Path, nargs="*", help="files of topics; none for an experiment that trains its own models"
    )
    sub.add_argument("--model", required=True, help='name the model of the topics, or "none"')
    sub.add_argument("--number-of-topics", type=int, default=0, help="train models of this many topics")
    sub.add_argument("--scores", **_NEEDED, help="write scores here")
    sub.add_argument("--output", **_NEEDED, help="write measurements here")
    sub.add_argument("--notes", type=Path, help="write notes here (default: nowhere)")

    sub = verb(collect, "output", shared="--output")
    sub.add_argument("kind", choices=["scores", "groups", "measurements", "notes"])
    sub.add_argument("tables", type=Path, nargs="+")

    sub = verb(timings, "output", shared="--output")
    sub.add_argument("benchmarks", type=Path)

    sub = verb(effects, "output", shared=f"{_TABLES} --timings --benchmarks --output")
    sub.add_argument("--processes", type=int, default=1, help="judge them in this many processes (default: 1)")

    sub = verb(exhibits, "output", "job_benchmarks", shared=f"{_TABLES} {_KNOWN}")
    sub.add_argument("kind", choices=["figures", "tables"])
    sub.add_argument("--only", nargs="+", default=[], metavar="NAME", help="make these alone")
    sub.add_argument("--suffix", help="give files this suffix, such as png (default: pdf or tex)")
    sub.add_argument("--processes", type=int, default=1, help="make them in this many processes (default: 1)")
    sub.add_argument("--job-benchmarks", type=Path, help="write each exhibit's time and memory into this folder")
    sub.add_argument("--output", **_NEEDED, help="write them into this folder")

    sub = verb(prose, "output", "moved", shared="--effects --output")
    sub.add_argument("sources", type=Path, nargs="+", help="the document's TeX")
    sub.add_argument("--moved", **_NEEDED, help="write a line for every moved sentence here")
    sub.add_argument("--strict", action="store_true", help="fail where a sentence has moved, and write nothing")

    sub = verb(readme, "results", shared=f"{_TABLES} {_KNOWN}")
    sub.add_argument("readme", type=Path, help="the README with generated parts")
    sub.add_argument("results", type=Path, help="RESULTS.md")
    sub.add_argument("--history", **_NEEDED, help="data/claims.csv")
    sub.add_argument("--studies", type=Path, default=Path("workflow/studies"), help="read studies in this folder")
    sub.add_argument(
        "--questions", type=Path, default=Path("docs/questions.md"), help="write the page on packages' numbers here"
    )

    sub = verb(check, shared="--schema --data")
    sub.add_argument("study", type=Path)

    sub = verb(study, shared="--schema --data")
    sub.add_argument("corpora", type=Path, nargs="+", help="imported corpora, data/corpora/NAME.npz")
    sub.add_argument(
        "--like", type=Path, default=Path("workflow/studies/demo.yaml"), help="take all other settings from this study"
    )

    add_audit(verb(audit, "html", "json", "csv", "store"))
    add_rank(verb(rank, "html", "json", "store"))

    sub = verb(digest)
    sub.add_argument(
        "names", nargs="+", metavar="NAME", help="a job's output file, or a module such as artifact.study.steps"
    )
    sub.add_argument("--since", metavar="COMMIT", help="compare with a commit (default: the last before the file)")

    sub = verb(compare, "output", shared=_TABLES)
    sub.add_argument("--reference", **_NEEDED, help="compare with the results in this folder")
    sub.add_argument("--output", **_NEEDED, help="write the comparison here")
    yours = (f"  {name:8}{verbs.choices[name].description}\n          {example}" for name, example in EXAMPLES.items())
    others = textwrap.fill(", ".join(sorted(set(verbs.choices) - set(EXAMPLES))), 78, initial_indent="  ")
    main.epilog = "\n".join(
        ["for your models and documents:", *yours, "", "of the study, which its rules call:", others]
    )
    return main


def _check_paths(args: argparse.Namespace) -> None:
    """Refuse inputs that are no files, and outputs that would overwrite inputs or one another."""
    named: dict[bool, list[Path]] = {True: [], False: []}
    for name, value in vars(args).items():
        paths = value if isinstance(value, list) else [value]
        if name == "json" and isinstance(value, str) and value != "-":
            paths = [Path(value)]
        named[name in args.outputs] += [path for path in paths if isinstance(path, Path)]
    for path in named[False]:
        require_file(path)
    refuse_inputs(named[True], named[False])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `heldout`; return 0, the status of what has another one, or 2 after one line about bad input."""
    pin()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser().print_help(sys.stderr)
        return 2
    args = parser().parse_args(arguments)
    args.typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _check_paths(args)
        return args.run(args) or 0
    except InputError as error:
        said = str(error)
    except MemoryError as error:
        text = f"not enough memory ({error})" if str(error) else "not enough memory"
        said = f"{args.verb}: {text}; take fewer samples, topics or documents"
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        said = f"{error.name} is not installed: pip install 'heldout[{EXTRAS[error.name]}]'"
    except BrokenPipeError:  # whoever read the output has stopped, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # 128 + SIGPIPE, as shells have it
    except OSError as error:
        way_out = WAYS_OUT.get(error.errno or 0, "check the path")
        said = f"{error.filename or args.verb}: {error.strerror or error}; {way_out}"
    print(f"heldout: {printable(said)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
