"""The files of the reference results, and the record of their runs, read, written and said.

`artifact.recording` fills the record.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout.errors import InputError
from heldout.files import replacing

FILE = "PROVENANCE.json"  # file in data/reference
COMPRESSED = ("measurements", "notes", "groups")  # tables that are gzipped there


def reference_tables(folder: Path) -> dict[str, Path]:
    """Return the files of a study's folder in data/reference by table, whether they exist or not."""
    plain = {name: folder / f"{name}.csv" for name in ("scores", "corpora", "effects", "timings")}
    return plain | {name: folder / f"{name}.csv.gz" for name in COMPRESSED} | {"arrays": folder / "arrays.npz"}


def read_provenance(path: Path) -> dict[str, Any]:
    """Return the records of data/reference/PROVENANCE.json by study; raises InputError when it cannot be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a record of a run ({error}); take the committed one") from error


def write_provenance(path: Path, records: Mapping[str, Any]) -> None:
    """Write the records of `read_provenance`."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


def sentences(recorded: Mapping[str, Any]) -> list[str]:
    """Return sentences on the run that a study's reference results are of; none without a record."""
    if not recorded:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in recorded["versions"].items())
    older = [name for name, part in recorded["parts"].items() if not part]
    ended = {name: part for name, part in recorded["parts"].items() if part}
    begun = {name: part for name, part in ended.items() if part["left"]}
    made = [f"{', '.join(part['code'])} (of {name})" if name in begun else name for name, part in ended.items()]
    machines = sorted({machine for part in ended.values() for machine in part["machines"]})
    commits = sorted({commit[:12] for part in ended.values() for commit in part["commits"]})
    run = (
        f"{recorded['command']} at commit {' and '.join(commits)}, which ended on"
        f" {max(part['date'] for part in ended.values())}, on {' and '.join(machines)} with {versions}."
    )
    others = [*older, *(f"the rest of {name}" for name in begun)]
    if not others:
        return [f"All committed results are of one run, {run}"]
    return [
        f"Committed results of {', '.join(made)}: one run, {run}",
        f"Those of {', '.join(others)}: earlier commits.",
    ]
