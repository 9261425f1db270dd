"""For maintainers: write the digest of a kept study's code, today's or a commit's: study_code.py STUDY [COMMIT]."""

import json
import sys
from pathlib import Path

from artifact.makers import CODE, experiments_code
from artifact.study.digest import contents, digest, sources, sources_at

if __name__ == "__main__":
    name, *commits = sys.argv[1:]
    folder = Path("data/reference", name)
    texts = sources_at(Path(), *commits) if commits else sources(Path())
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    codes = experiments_code(study, lambda *modules: digest(contents(texts, *modules)))
    (folder / CODE).write_text(json.dumps(codes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
