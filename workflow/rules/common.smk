"""Every helper of the rules, and the study's settings read once."""

import ast
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from itertools import product
from pathlib import Path

from heldout.corpora.prepare import RECIPES, SYNTHETIC, raw_files
from heldout.corpora.realistic import SOURCES
from heldout.exhibits import EXHIBITS, exhibit_names
from heldout.exhibits import path as exhibit_path
from heldout.inputs import Settings
from heldout.errors import InputError
from heldout.models import MODELS as MODULES
from heldout.study import NO_CORPUS, check_study, without_missing

SOURCE = Path("src")

try:
    study = check_study(config, Path("workflow/studies/schema.yaml"), Path("data"))
except InputError as error:
    print(f"heldout: {error}", file=sys.stderr)
    sys.exit(2)

study, notice = without_missing(study)
if notice:
    print(f"heldout: {notice}", file=sys.stderr)

if "mirror" in study:  # for the jobs; not a parameter, for where a file comes from is no reason to make it again
    os.environ.update(HELDOUT_MIRROR=study["mirror"])

CORPORA = list(study["corpora"])
REALISTIC = study["realistic"]
DRAWN = REALISTIC["corpora"]
DESCRIBED = CORPORA + study["table_1_also"]
MODELS = study["models"]
MEASURES = study["measures"]
SMOOTHING = [repr(float(constant)) for constant in study["smoothing"]]
BENCHMARKS = f"data/benchmarks/{study['study']}"
REFERENCE = Path("data/reference") / study["study"]
ESTIMATOR_TIMINGS = Path("data/reference/estimator_timings.csv")
STUDY = f"data/studies/{study['study']}.json"


wildcard_constraints:
    corpus=r"[a-z][a-z0-9-]*",
    model=r"[a-z0-9-]+",
    variant=r"[a-z0-9.-]+",
    topics=r"\d+",
    seed=r"\d+",
    name=r"[a-z0-9-]+",


@cache
def code(*modules):
    """Return a digest of modules, of every heldout module that they import, directly or not, and of the lock.

    It stands among the parameters of the rules that run them, so that an edit makes Snakemake run them again.
    The files themselves as inputs would do the same, at the price of many file look-ups for every waiting job.
    """
    found, todo = {Path("requirements.lock"): Path("requirements.lock").read_bytes()}, list(modules)
    while todo:
        path = SOURCE.joinpath(*todo.pop().split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path in found or not path.exists():
            continue
        found[path] = path.read_bytes()
        for node in ast.walk(ast.parse(found[path])):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heldout"):
                todo += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        if path.parent.name == "evaluators" and path.name == "__init__.py":  # imports its modules by name
            todo += [f"heldout.evaluators.{module.stem}" for module in sorted(path.parent.glob("*.py"))]
    return hashlib.sha256(b"".join(found[path] for path in sorted(found))).hexdigest()[:16]


def model_code(wildcards):
    """Return the digest of what training or folding in a model runs."""
    return code("heldout.runs", MODULES[wildcards.model])


def test_documents(wildcards):
    """Return how many documents of a corpus are held out."""
    if wildcards.corpus in DRAWN:
        return REALISTIC["test_documents"]
    if wildcards.corpus == NO_CORPUS:
        return 0
    return study["corpora"].get(wildcards.corpus, study["corpora"].get(base(wildcards.corpus)))["test_documents"]


def base(corpus):
    """Return the corpus that an unstemmed one is another preprocessing of."""
    return corpus.removesuffix("-unstemmed")


def settings(wildcards, part):
    """Return a model's settings of one part (train, fold_in) as a shell word, alternatives applied."""
    chosen = dict(MODELS[wildcards.model][part])
    variant = wildcards.get("variant", "")
    if variant.startswith("alternative-"):
        name = variant.removeprefix("alternative-")
        chosen |= study["alternatives"]["variants"][wildcards.model][name].get(part, {})
    chosen |= MODELS[wildcards.model].get("also", {}).get(variant, {}).get(part, {})
    return shlex.quote(json.dumps(chosen, sort_keys=True))


def train_settings(wildcards):
    """Return the training settings as a shell word."""
    return settings(wildcards, "train")


def fold_in_settings(wildcards):
    """Return the fold-in settings as a shell word."""
    return settings(wildcards, "fold_in")


def corpus_code(wildcards):
    """Return the digest of what makes a corpus, and a synthetic one's settings; nothing for an imported one.

    Stands among the parameters of what uses the corpus too: when a changed corpus could not be made, Snakemake
    would otherwise take what was made of the old one as finished.
    """
    return corpus_code_of(wildcards.corpus)


def corpus_code_of(corpus):
    """Return `corpus_code` of a corpus by name."""
    if corpus in DRAWN:
        return [code("heldout.corpora.realistic", MODULES["lda"]), REALISTIC, corpus_code_of(REALISTIC["source"])]
    if corpus.removesuffix(SYNTHETIC) not in RECIPES:
        return ""
    if corpus.endswith(SYNTHETIC):
        return [code("heldout.corpora.synthetic", "heldout.corpora.table"), study["synthetic"]]
    return code("heldout.corpora.prepare")


def all_corpora():
    """Return every corpus that the study describes."""
    return [f"data/corpora/{corpus}.npz" for corpus in DESCRIBED]


def score_files(corpora, model, variant, grid):
    """Return the score files of one variant of a model over corpora and a grid of (topics, seed)."""
    return [
        f"data/scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv" for corpus in corpora for topics, seed in grid
    ]


def grid(model):
    """Return every (topics, seed) of a model: the study's, where it has none of its own."""
    return list(product(MODELS[model].get("topics", study["topics"]), MODELS[model].get("seeds", study["seeds"])))


def all_scores():
    """Return every score file that the study asks for."""
    second = product(study["topics"], study["smoothing_in_m_step"]["seeds"])
    beyond, alternatives = study["beyond_vocabulary"], study["alternatives"]
    tried = list(product(alternatives["topics"], alternatives["seeds"]))
    files = score_files(CORPORA, "plsa-hof", "smoothed-in-m-step", list(second))
    files += score_files(
        [beyond["corpus"]],
        "plsa-hof",
        MODELS["plsa-hof"]["variant"],
        list(product(beyond["topics"], beyond["seeds"])),
    )
    for model in MODELS:
        for variant in [MODELS[model]["variant"], *MODELS[model].get("also", {})]:
            files += score_files(CORPORA, model, variant, grid(model))
        for name in alternatives["variants"].get(model, {}):
            files += score_files([alternatives["corpus"]], model, f"alternative-{name}", tried)
    for model in ("plsa-hof", "lda"):
        files += score_files(alternatives["corpora"], model, MODELS[model]["variant"], tried)
    return sorted({*files, *measured("scores")})


def measure_grid():
    """Return (corpus, model, kind, topics, seed) of every measurement that the study asks for."""
    runs = [run for kind in MEASURES for run in Settings(study).measured_runs(kind)]
    return [(run.corpus, run.model, run.variant, run.topics, run.seed) for run in runs]


def measured(folder):
    """Return the files of every measurement below data/scores or data/measurements."""
    return [f"data/{folder}/{c}/{model}/{kind}/{k}-{seed}.csv" for c, model, kind, k, seed in measure_grid()]


def corpus_to_measure(wildcards):
    """Return the corpus that a measurement reads; none where it draws its own documents."""
    return [] if wildcards.corpus == NO_CORPUS else f"data/corpora/{wildcards.corpus}.npz"


def topics_to_measure(wildcards):
    """Return the topics of the model's main variant that a measurement reads, or a drawn corpus's true ones."""
    if wildcards.corpus in DRAWN:
        return f"data/models/{wildcards.corpus}/true-topics.npz"
    if wildcards.model not in MODELS:
        return []
    return topics_of(wildcards, MODELS[wildcards.model]["variant"])


def measure_settings(wildcards):
    """Return a measurement's settings as a shell word."""
    return shlex.quote(json.dumps(MEASURES[wildcards.kind].get("settings", {}), sort_keys=True))


def measure_code(wildcards):
    """Return the digest of what a measurement runs, and of the model that it reads."""
    modules = ["heldout.measures", f"heldout.measures.{wildcards.kind.replace('-', '_')}"]
    return code(*modules, *([MODULES[wildcards.model]] if wildcards.model in MODULES else []))


def true_topics(wildcards):
    """Return the model that a realistic corpus is drawn from."""
    source, topics = REALISTIC["source"], SOURCES[wildcards.corpus].topics
    return f"data/models/{source}/lda/truth/{topics}-{REALISTIC['seed']}.npz"


def measure_trained(wildcards):
    """Return the training settings of the model that a measurement reads."""
    return train_settings(wildcards) if wildcards.model in MODELS else ""


def raw_inputs(wildcards):
    """Return the raw files that a corpus is read from."""
    return [f"data/raw/{file}" for file in raw_files(wildcards.corpus)]


def topics_to_score(wildcards):
    """Return the topics that one score file evaluates."""
    return topics_of(wildcards, wildcards.variant)


def topics_of(wildcards, variant):
    """Return the topics of one variant: all chains, or the one model."""
    stem = f"data/models/{wildcards.corpus}/{wildcards.model}/{variant}/{wildcards.topics}-{wildcards.seed}"
    if "chains" in MODELS[wildcards.model]["train"]:
        return [f"{stem}-chain-{chain}.npz" for chain in range(MODELS[wildcards.model]["train"]["chains"])]
    return [f"{stem}.npz"]


def sweep_values(wildcards):
    """Return the setting that a sweep varies and its values, as options."""
    if wildcards.variant == "smoothed-in-m-step":
        return "--setting smoothing --values " + " ".join(SMOOTHING)
    varied = MODELS[wildcards.model]["sweep"]
    return f"--setting {varied['setting']} --values " + " ".join(repr(float(value)) for value in varied["values"])


def constants_to_add(wildcards):
    """Return the constants that are added after training, as an option."""
    own = MODELS[wildcards.model].get("smoothing", SMOOTHING if MODELS[wildcards.model].get("smoothed") else [])
    if wildcards.variant == "smoothed-in-m-step" or not own:
        return ""
    return "--smoothing " + " ".join(repr(float(constant)) for constant in own)


def measure_fold_in(wildcards):
    """Return the fold-in settings of the model that a measurement reads, as an option."""
    return f"--fold-in-settings {fold_in_settings(wildcards)}" if wildcards.model in MODELS else ""


def exhibit_code(wildcards):
    """Return the digest of what an exhibit runs."""
    return code("heldout.exhibits", EXHIBITS[wildcards.name].module)


def reference_timings(wildcards=None):
    """Return the committed timings of the study and of the estimators as options, where there are any."""
    options = {"--timings": REFERENCE / "timings.csv", "--benchmarks": ESTIMATOR_TIMINGS}
    return " ".join(f"{option} {path}" for option, path in options.items() if path.exists())


def exhibit_files(kind):
    """Return the files of every exhibit of one kind that the study gives rise to."""
    return [exhibit_path(name) for name in exhibit_names(study) if EXHIBITS[name].kind == kind]


def checked_out():
    """Return the checkout's commit, marked where tracked files differ from it; empty outside a checkout."""
    changes = git("status", "--porcelain", "--untracked-files=no")
    return commit("%H") + ("-dirty" if changes else "")


def commit(form):
    """Return the checkout's commit in one of git's formats; empty outside a checkout."""
    return git("log", "-1", f"--format={form}")


def git(*arguments):
    """Return what git prints; nothing where there is no git or no checkout."""
    if shutil.which("git") is None:
        return ""
    found = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""
