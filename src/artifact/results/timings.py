"""Times and memory of every job, from Snakemake's benchmark files. Never part of the scores."""

import csv
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heldout.errors import InputError
from heldout.files import replacing, write_rows

CORES = 2  # processor cores that share a study's jobs
TRAINING = "training"  # rule of the training within a job, which is timed as a whole, too
COLUMNS = ("rule", "corpus", "model", "variant", "topics", "seed", "seconds", "cpu_seconds", "memory_mb")


def collect_timings(benchmarks: Path, destination: Path) -> None:
    """Merge benchmark files into one table, sorted by name.

    A file's path names the job: RULE.tsv, RULE/NAME.tsv or RULE/CORPUS/MODEL/VARIANT/TOPICS-SEED.tsv.

    Raises:
        InputError: when a file is not a benchmark file.
    """
    if not benchmarks.is_dir():
        raise InputError(f"{benchmarks}: no such folder of benchmark files; run the study first")
    rows = []
    for path in sorted(benchmarks.rglob("*.tsv")):
        parts = path.relative_to(benchmarks).with_suffix("").as_posix().split("/")
        rule, *names = parts
        corpus = model = variant = topics = seed = ""
        if len(names) == 4:
            corpus, model, variant, run = names
            topics, _, seed = run.partition("-")
        elif names:
            corpus = names[0]
        try:
            with path.open(newline="", encoding="utf-8") as file:
                for record in csv.DictReader(file, delimiter="\t"):
                    # a job that ends before Snakemake's first look has no memory figure ("NA")
                    cells = [_number(record[key]) for key in ("s", "cpu_time", "max_rss")]
                    rows.append((rule, corpus, model, variant, topics, seed, *cells))
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            raise InputError(f"{path}: not a benchmark file ({error}); delete it and run again") from error
    write_rows(destination, COLUMNS, rows)


def _number(text: str) -> str:
    return "" if text in ("NA", "-") else f"{float(text):.2f}"


@contextmanager
def timed(path: Path | None) -> Iterator[None]:
    """Write the time and memory of the block as a benchmark file of Snakemake's form: a part of a job."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    if path is None:
        return
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0  # MB, of the process so far
    cells = (time.perf_counter() - wall, time.process_time() - cpu, memory)
    with replacing(path) as temporary:
        temporary.write_text("s\tcpu_time\tmax_rss\n" + "\t".join(f"{cell:.4f}" for cell in cells) + "\n")
