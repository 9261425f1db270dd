"""Timings: one row per job, named by the benchmark file's place."""

from pathlib import Path

import pytest

from artifact.results.timings import collect_timings
from heldout.errors import InputError

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def benchmark(path: Path, seconds: str, memory: str, cpu: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEADER}{seconds}\t0:00:01\t{memory}\t1\t1\t1\t1\t1\t1\t{cpu}\n")


def test_one_row_per_job(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    benchmark(folder / "train/cranfield/plsa-hof/smoothed-after-training/50-2.tsv", "3.14159", "172.5", "2.5")
    benchmark(folder / "prepare/nips.tsv", "4.1", "134.2", "2.0")
    benchmark(folder / "collect_scores.tsv", "0.3", "NA", "NA")
    collect_timings(folder, tmp_path / "timings.csv")
    assert (tmp_path / "timings.csv").read_text().splitlines() == [
        "rule,corpus,model,variant,topics,seed,seconds,cpu_seconds,memory_mb",
        "collect_scores,,,,,,0.30,,",
        "prepare,nips,,,,,4.10,2.00,134.20",
        "train,cranfield,plsa-hof,smoothed-after-training,50,2,3.14,2.50,172.50",
    ]


def test_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/odd.tsv").write_text("a\tb\n1\t2\n")
    with pytest.raises(InputError, match=r"odd\.tsv: "):
        collect_timings(tmp_path / "benchmarks", tmp_path / "timings.csv")
    assert not (tmp_path / "timings.csv").exists()
