"""Record what a command of the README takes: `python benchmarks/commands.py "make paper" "what it does"`.

Runs the command and puts its wall-clock seconds, the highest memory of any of its processes and the machine's name into
data/reference/commands.csv, in the place of the row that was there. The machine should have nothing else to do.
"""

import argparse
import csv
import resource
import subprocess
import sys
import time
from pathlib import Path

from artifact.recording import machine

TABLE = Path(__file__).parents[1] / "data/reference/commands.csv"
COLUMNS = ("command", "does", "seconds", "memory_mb", "machine")


def main() -> int:
    """Run the command line; return the command's exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("does", help="in a few words")
    arguments = parser.parse_args()
    start = time.monotonic()
    status = subprocess.run(arguments.command, shell=True, check=False).returncode
    seconds, memory = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024.0
    if status:
        return status
    rows = []
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["command"] != arguments.command]
    cells = (arguments.command, arguments.does, f"{seconds:.1f}", f"{memory:.0f}", machine())
    rows.append(dict(zip(COLUMNS, cells, strict=True)))
    partial = TABLE.with_name(f".partial-{TABLE.name}")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: float(row["seconds"])))
    partial.replace(TABLE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
