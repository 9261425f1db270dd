"""The study's settings read once, and every helper of the rules."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from snakemake.utils import update_config

from heldout.corpora.names import ARCHIVES, SOURCES, SYNTHETIC, raw_files
from artifact.study.digest import Digests
from heldout.errors import InputError, printable
from artifact.makers import contrast_modules, exhibit_modules, modules_of
from artifact.study.manifest import kind
from heldout.models import LDA
from heldout.models import MODELS as MODULES
from artifact.papers import papers_of
from artifact.progress import ProgressLines, outcome
from artifact.results.provenance import reference_tables
from artifact.schema import check_study
from artifact.study.study import (
    DRIVEN,
    DRIVERS,
    MAIN,
    NO_CORPUS,
    SECOND_READING,
    SELECTION,
    Run,
    Settings,
    read_study,
    without_missing,
    without_unavailable,
)
from artifact.typesetting.exhibits import exhibits, path

if not os.access(".", os.W_OK):
    print(f"heldout: {Path.cwd()}: nothing can be written there; give --directory a folder of yours", file=sys.stderr)
    sys.exit(2)
ROOT = Path(workflow.basedir)
DIGESTS = Digests(ROOT, Path(".snakemake/digests.json"))
# where `make packages` puts the drivers of the packages that run in environments of their own
os.environ.setdefault(DRIVERS, str(ROOT / ".packages/bin"))


CHECKOUT = Path(".snakemake/checkout")  # link to the checkout, where the results are elsewhere
if Path.cwd() != ROOT and not (CHECKOUT.is_symlink() and CHECKOUT.readlink() == ROOT):
    CHECKOUT.parent.mkdir(exist_ok=True)
    link = CHECKOUT.with_name(f"checkout-{os.getpid()}")
    link.symlink_to(ROOT)
    link.replace(CHECKOUT)


def source(name):
    """Return a file of the checkout, which `--directory` may put elsewhere than the results.

    It is read through a link, whose name a shell, TeX and Snakemake's wildcards take as it is.
    """
    return name if Path.cwd() == ROOT else str(CHECKOUT / name)


try:
    asked = {}  # by files as strict as `read_study`, and above them by --config
    for given in (*map(read_study, map(Path, workflow.configfiles)), workflow.config_settings.config):
        update_config(asked, given)
    study = check_study(asked, Path("data"))
    mirror = study.get("mirror", os.environ.get("HELDOUT_MIRROR", ""))
    # what the reference results have needs no archive
    absent = ""
    if study.get("results") != "reference":
        study, absent = without_unavailable(study, Path("data/raw"), mirror)
    study, notice = without_missing(study)
except InputError as error:
    print(f"heldout: {printable(error)}", file=sys.stderr)
    sys.exit(2)

for text in filter(None, (absent, notice)):
    print(f"heldout: {text}", file=sys.stderr)

if "mirror" in study:  # for the jobs; not a parameter, for where a file comes from is no reason to make it again
    os.environ.update(HELDOUT_MIRROR=study["mirror"])

settings = Settings(study)
SCORED = set(settings.fits())
PAPERS = papers_of(study)
EXHIBITS = exhibits(PAPERS, study)
REALISTIC = study["realistic"]
OF_ALL_CHAINS = "convergence"  # the experiment

# whatever a study makes lies in folders of its name
DATA = f"data/{settings.name}"
FIGURES = f"figures/{settings.name}"
GENERATED = f"paper/generated/{settings.name}"
PDF = f"paper/{settings.name}.pdf"
LOGS = f"logs/{settings.name}"
BENCHMARKS = f"{DATA}/benchmarks"
STUDY = f"{DATA}/study.json"
EFFECTS = f"{DATA}/effects.csv"
STEP = "python -m artifact"  # command of the rules' steps
CORPORA_TABLE = source("data/corpora.csv")
PUBLISHED = source("data/published/welling-2008-table-1.csv")
REFERENCE = Path(source(f"data/reference/{settings.name}"))
# what is typeset, by PDF, and all TeX of it; of a study that nobody wrote about a report
DOCUMENTS = {PDF: f"{settings.document if settings.written else 'report'}.tex"}
SECTIONS = []
if settings.written:
    SUPPLEMENT = "supplement" if settings.document == MAIN else f"{settings.document}-supplement"
    DOCUMENTS[f"paper/{SUPPLEMENT}.pdf"] = f"{SUPPLEMENT}.tex"
    ERRATUM = f"{settings.document}-erratum"
    if (ROOT / f"paper/{ERRATUM}.tex").exists():
        DOCUMENTS[f"paper/{ERRATUM}.pdf"] = f"{ERRATUM}.tex"
if settings.written and settings.document == MAIN:
    SECTIONS = sorted(f"sections/{file.name}" for file in (ROOT / "paper/sections").glob("*.tex"))
    SECTIONS = [section for section in SECTIONS if not section.startswith("sections/gallery_")]
elif settings.written:
    SECTIONS = sorted(f"sections/{file.name}" for file in (ROOT / "paper/sections").glob(f"{settings.document}_*.tex"))
TEXT = [source(f"paper/{name}") for name in (*DOCUMENTS.values(), *SECTIONS)]
FROM_REFERENCE = study.get("results") == "reference"
# what exhibits and effects are functions of: this run's tables, or, with --config results=reference, those committed
TABLES = (
    {
        name: file
        for name, file in reference_tables(REFERENCE).items()
        if name in ("scores", "corpora", "measurements", "notes") or (name in ("groups", "arrays") and file.exists())
    }
    if FROM_REFERENCE
    else {name: f"{DATA}/{name}.csv" for name in ("scores", "groups", "corpora", "measurements", "notes")}
    | {"arrays": f"{DATA}/arrays.npz"}
)
GIVEN = " ".join(f"--{name} {{input.{name}}}" for name in ("study", *TABLES))
# a study of standalone experiments has tables alone
RESULTS = (
    PDF
    if settings.documented
    else [
        STUDY,
        *(f"{DATA}/{name}.csv" for name in ("scores", "groups", "measurements", "notes")),
        f"{DATA}/arrays.npz",
    ]
)
TIMINGS = {"timings": [str(REFERENCE / "timings.csv")]} if (REFERENCE / "timings.csv").exists() else {}
COMMANDS = source("data/reference/commands.csv")
TOOK = {"commands": COMMANDS} if Path(COMMANDS).exists() else {}
RECORD = source("data/reference/PROVENANCE.json")
if FROM_REFERENCE and Path(RECORD).exists():
    TOOK["provenance"] = RECORD


RUNNING = []  # the lock, open
STARTED = []  # when, in seconds since the epoch


def alone():
    """Stop where another run makes the same study in this folder; the lock lasts as long as this process does."""
    file = Path(f".snakemake/{settings.name}.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(
            f"heldout: another run of the study {settings.name} is at work in {Path.cwd()}; wait for its end, or stop it",
            file=sys.stderr,
        )
        sys.exit(2)
    except OSError:  # a file system without locks
        pass
    RUNNING.append(file)


def made(since):
    """Print the files that this run has made, and how many effects it found."""
    files = [
        PDF,
        FIGURES,
        *(f"{DATA}/{name}.csv" for name in ("scores", "groups", "measurements", "notes")),
        f"{DATA}/arrays.npz",
        f"{DATA}/compare.csv",
    ]
    for line in outcome(map(Path, [*files, "README.md", "RESULTS.md"]), Path(EFFECTS), since):
        print(f"heldout: {line}", file=sys.stderr)


onstart:
    alone()
    STARTED.append(time.time())
    # Snakemake's own lines tell of every job; the display of `--logger rich` shows on a terminal alone
    if workflow.logger_manager.plugin_handlers and not sys.stderr.isatty():
        workflow.logger_manager.logger.addHandler(ProgressLines())


onsuccess:
    made(STARTED[0])


wildcard_constraints:
    corpus=r"[a-z][a-z0-9-]*",
    model=r"[a-z0-9-]+",
    variant=r"[a-z0-9.-]+",
    topics=r"\d+",
    seed=r"\d+",
    name=r"[a-z0-9-]+",


def code_of(*modules):
    """Return a digest of what modules run, to stand among the parameters: an edit makes Snakemake run them again.

    The files as inputs would do the same, at the price of many file look-ups for every waiting job.
    """
    return DIGESTS.of(*modules)


def code_from(modules, *given):
    """Return a function of the wildcards: the digest of the modules that another function gives, read for a job alone."""
    return lambda wildcards: code_of(*modules(*given))


def code(file):
    """Return a function of the wildcards: the digest of what makes a file of the study's folder, as the step `digest` has it.

    A function of the output itself would be a parameter that Snakemake does not remember.
    """

    def of_wildcards(wildcards):
        return code_of(*modules_of(Path(DATA, file.format(**dict(wildcards.items())))))

    return of_wildcards


def drivers_code(wildcards):
    """Return what the driver of a package of its own environment is, and how that is made; nothing for other models."""
    if wildcards.model not in DRIVEN:
        return ""
    return [
        hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((ROOT / "workflow/packages").iterdir())
        if file.is_file()
    ]


def corpus_code(wildcards):
    """Return what a corpus is made by and from, nothing for an imported one: a parameter of what uses the corpus too.

    When a changed corpus could not be made, Snakemake would otherwise take what was made of the old one as finished.
    """
    return corpus_code_of(wildcards.corpus)


def corpus_code_of(corpus):
    """Return `corpus_code` of a corpus by name."""
    if corpus in REALISTIC["corpora"]:
        return [code_of("heldout.corpora.realistic", MODULES[LDA]), REALISTIC, corpus_code_of(REALISTIC["source"])]
    if corpus.removesuffix(SYNTHETIC) not in ARCHIVES:
        return ""
    made = code_of(*modules_of(Path(corpus_of(corpus))))
    return [made, study["synthetic"]] if corpus.endswith(SYNTHETIC) else made


def corpus_file(wildcards):
    """Return a corpus's file."""
    return corpus_of(wildcards.corpus)


def corpus_of(corpus):
    """Return the file of a corpus by name: an imported one is everybody's, what a study makes is its own."""
    own = corpus in REALISTIC["corpora"] or corpus.removesuffix(SYNTHETIC) in ARCHIVES
    return f"{DATA}/corpora/{corpus}.npz" if own else f"data/corpora/{corpus}.npz"


def all_corpora():
    """Return every corpus that the study describes."""
    return [corpus_of(corpus) for corpus in settings.described]


def raw_inputs(wildcards):
    """Return the raw files that a corpus is read from."""
    return [f"data/raw/{file}" for file in raw_files(wildcards.corpus)]


def true_topics(wildcards):
    """Return the model that a realistic corpus is drawn from."""
    topics = SOURCES[wildcards.corpus].topics
    return f"{DATA}/models/{REALISTIC['source']}/{LDA}/truth/{topics}-{REALISTIC['seed']}.npz"


def test_documents(wildcards):
    """Return how many documents of a corpus are held out."""
    return settings.test_documents(wildcards.corpus)


def as_json(value):
    """Return settings as JSON."""
    return json.dumps(value, sort_keys=True)


def train_settings(wildcards):
    """Return a model's training settings as JSON."""
    return as_json(settings.settings_of(wildcards.model, wildcards.get("variant", ""), "train"))


def train_one_settings(wildcards):
    """Return a model's training settings, of one chain where it has several, as JSON."""
    one = {"chains": 1} if settings.chains(wildcards.model) else {}
    return as_json(settings.settings_of(wildcards.model, wildcards.variant, "train") | one)


def fold_in_settings(wildcards):
    """Return a model's fold-in settings as JSON; none for an experiment that reads no model."""
    if wildcards.model not in settings.models:
        return as_json({})
    return as_json(settings.settings_of(wildcards.model, wildcards.get("variant", ""), "fold_in"))


def constants_to_add(wildcards):
    """Return the constants that are added after training."""
    return [] if wildcards.variant == SECOND_READING else list(settings.constants_added(wildcards.model))


def swept_setting(wildcards):
    """Return the setting that a sweep varies."""
    return "smoothing" if wildcards.variant == SECOND_READING else study["models"][wildcards.model]["sweep"]["setting"]


def swept_values(wildcards):
    """Return the values of the setting that a sweep varies."""
    second = wildcards.variant == SECOND_READING
    return [float(value) for value in (study["smoothing"] if second else settings.swept_values(wildcards.model))]


def files(folder, runs, ending="csv"):
    """Return the files of runs below a folder of the study."""
    return [f"{DATA}/{folder}/{r.corpus}/{r.model}/{r.variant}/{r.topics}-{r.seed}.{ending}" for r in runs]


def all_scores():
    """Return every score file that the study asks for."""
    return files("scores", sorted({*settings.fits(), *settings.experiments()}))


def grown_models(corpus, topics="{topics}", seed="{seed}"):
    """Return the models of growing parts of a drawn corpus, by the name that experiments know them by."""
    sizes = study["measures"].get(SELECTION, {}).get("settings", {}).get("training_documents", ())
    folder = f"{DATA}/models/{corpus}/{LDA}"
    return {f"trained-on-{size}": f"{folder}/trained-on-{size}/{topics}-{seed}.npz" for size in sizes}


def grow_settings():
    """Return the settings of training on growing parts as JSON."""
    asked = study["measures"].get(SELECTION, {"train": {}, "settings": {}})
    sizes = asked["settings"].get("training_documents", [])
    return as_json({**asked["train"], "training_documents": sizes})


def topics_to_read(wildcards):
    """Return the topics that an experiment reads: of a model's main variant, true ones, or both of a drawn corpus.

    Of several chains all experiments but one measure the first. What is not scored is trained for experiments alone.
    """
    if wildcards.corpus in REALISTIC["corpora"]:
        grown = grown_models(wildcards.corpus, wildcards.topics, wildcards.seed)
        own = [grown[wildcards.model]] if wildcards.model in grown else []
        return [*own, f"{DATA}/models/{wildcards.corpus}/true-topics.npz"]
    if wildcards.model not in settings.models:
        return []
    variant, chains = settings.variant(wildcards.model), settings.chains(wildcards.model)
    run = Run(wildcards.corpus, wildcards.model, variant, int(wildcards.topics), int(wildcards.seed))
    if wildcards.name != OF_ALL_CHAINS:
        chains = min(chains, 1)
    names = [f"-chain-{chain}" for chain in range(chains)] or [""]
    if chains < 2 and run not in SCORED:
        names = ["-unscored"]
    folder = f"{DATA}/models/{wildcards.corpus}/{wildcards.model}/{variant}"
    return [f"{folder}/{wildcards.topics}-{wildcards.seed}{name}.npz" for name in names]


def fitted_once():
    """Return the models that are neither sampled by chains nor trained at several values of a setting."""
    return [model for model in settings.models if not settings.chains(model) and not settings.swept_values(model)]


def further_variants():
    """Return the further variants of all models."""
    return sorted({variant for model in settings.models for variant in settings.further_variants(model)})


def corpus_to_read(wildcards):
    """Return the corpus that an experiment reads; none where it draws its own documents."""
    return [] if wildcards.corpus == NO_CORPUS else corpus_of(wildcards.corpus)


def experiment_settings(wildcards):
    """Return an experiment's settings as JSON."""
    return as_json(settings.experiment_settings(wildcards.name, wildcards.corpus, wildcards.model))


def trained_settings(wildcards):
    """Return the training settings of the model that an experiment reads."""
    return train_settings(wildcards) if wildcards.model in settings.models else ""


def exhibit_files(*kinds):
    """Return the files of every exhibit of some kinds that the study gives rise to."""
    return [path(name, settings.name) for name in EXHIBITS if kind(name) in kinds]


def options(values):
    """Return the words of a command line that give options by name, but for empty ones."""
    given = {name: value if isinstance(value, list) else [str(value)] for name, value in values.items() if value}
    return [word for name, words in given.items() for word in (f"--{name}", *words)]


def checked_out():
    """Return the checkout's commit, marked where tracked files differ from it; empty outside a checkout."""
    changes = git("status", "--porcelain", "--untracked-files=no")
    return commit("%H") + ("-dirty" if changes else "")


def commit(form):
    """Return the checkout's commit in one of git's formats; empty outside a checkout."""
    return git("log", "-1", f"--format={form}")


def git(*arguments):
    """Return what git prints of the checkout; nothing where there is no git or no checkout."""
    if shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
