"""See whether what an audit needs works at the oldest versions that pyproject.toml allows: `make floors`.

usage: floors.py [FOLDER]   (default: a temporary folder, which is removed)

In a fresh environment the package is installed with the extras `html` and `peers`, everything that these name at its
lower bound, and the tests of the tool, the models and the evaluators run there. Only the standard library is used here.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("html", "peers")
TOOLS = ("hypothesis", "pandas==2.3.0", "pytest", "pytest-xdist")  # of the tests
TESTS = ("auditing", "evaluators", "libraries", "models")
OF_THE_STUDY = "tests/heldout/evaluators/test_study_sizes.py"


def floors() -> list[str]:
    """Return every requirement of the package and of `EXTRAS`, pinned to its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    pinned = []
    for requirement in named:
        pinned.append(re.sub(r"^([\w-]+)>=", r"\1==", requirement))
    return pinned


def main(folder: Path) -> int:
    """Make the environment, run the tests, and return pytest's exit status."""
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder / "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    pinned = floors()
    print("floors:", ", ".join(pinned), flush=True)
    subprocess.run([*pip, *pinned, *TOOLS, str(ROOT)], check=True)
    paths = [str(ROOT / "tests" / name) for name in TESTS]
    # old versions warn of what newer ones have settled
    tests = [python, "-m", "pytest", "-q", "-n", "2", "-W", "ignore", f"--ignore={OF_THE_STUDY}", *paths]
    return subprocess.run(tests, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made) / "floors"))
