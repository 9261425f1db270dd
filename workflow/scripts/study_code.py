"""For maintainers: write the digest of a kept study's code, today's or a commit's: study_code.py STUDY [COMMIT]."""

import json
import sys
from pathlib import Path

from artifact.makers import CODE, experiments_code
from artifact.study.digest import checked_out, contents, digest

SOURCE = Path("src")


def write(study: str, source: Path) -> None:
    """Write data/reference/STUDY/code.json from the package below a folder."""
    folder = Path("data/reference", study)
    settings = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    codes = experiments_code(settings, lambda *modules: digest(contents(source, *modules)))
    (folder / CODE).write_text(json.dumps(codes, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    name, *commits = sys.argv[1:]
    if commits:
        with checked_out(SOURCE, commits[0]) as package:
            write(name, package)
    else:
        write(name, SOURCE)
