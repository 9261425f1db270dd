"""Write the two files that pin the environment: requirements.lock and environment.yml.

usage: environment.py lock [--upgrade]   resolve pyproject.toml anew and write both files (`make lock`)
       environment.py conda              print environment.yml

Pins that are still allowed stay as they are unless --upgrade is given. One lock serves every Python from the lowest
that pyproject.toml allows and every platform, with one version of each package, so that an environment differs from
another in nothing but the builds. Only the standard library is used here: the environment need not exist.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = ROOT / "pyproject.toml"
LOCK = ROOT / "requirements.lock"
CONDA = ROOT / "environment.yml"

UV = "uv==0.13.9"
EXTRA = "dev"

CONDA_TEXT = """\
# Written by `make lock`. For conda users: all the pins of requirements.lock.
#   conda env create --file environment.yml
#   conda activate {name}
#   pip install --no-deps --no-build-isolation --editable .
# TeX comes from the system; this names what is missing: sh workflow/scripts/system.sh python
name: {name}
channels:
  - conda-forge
dependencies:
  - python={python}
  - pip
  - pip:
{pins}
"""


def lowest_python() -> str:
    """Return the lowest Python that pyproject.toml allows, such as "3.11"."""
    requires = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["requires-python"]
    match = re.fullmatch(r">=\s*(\d+\.\d+)", requires)
    if match is None:
        raise SystemExit(f'pyproject.toml: requires-python is "{requires}", expected a lower bound such as ">=3.11"')
    return match[1]


def pins(lock: str) -> list[str]:
    """Return the requirements of a lock's text, such as "numpy==2.4.6", without their hashes."""
    return [entry.split(" --hash=")[0].strip() for entry in lock.replace("\\\n", " ").splitlines()]


def conda_environment(lock: str) -> str:
    """Return the text of environment.yml for the text of requirements.lock.

    The packages come from the index that the lock is of, and conda gives the Python: builds of other channels would be
    other binaries, whose results may differ in their last digits.
    """
    name = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["name"]
    listed = "\n".join(f"      - {pin}" for pin in pins(lock))
    return CONDA_TEXT.format(name=name, python=lowest_python(), pins=listed)


def replace(path: Path, text: str) -> None:
    """Put `text` at `path`, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def resolve(upgrade: bool) -> str:
    """Return the text of requirements.lock, resolved from pyproject.toml by a pinned uv in a throw-away environment."""
    with tempfile.TemporaryDirectory() as directory:
        venv.create(Path(directory, "venv"), with_pip=True)
        python = Path(directory, "venv", "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV], check=True)
        output = Path(directory, "requirements.lock")
        if LOCK.exists():
            # the pins that uv keeps
            output.write_bytes(LOCK.read_bytes())
        # fmt: off
        command: list[str | Path] = [
            python, "-m", "uv", "--no-config", "--quiet", "pip", "compile", PYPROJECT, "--output-file", output,
            "--extra", EXTRA, "--python-version", lowest_python(), "--universal", "--fork-strategy", "fewest",
            "--generate-hashes", "--no-annotate", "--no-header",
        ]
        # fmt: on
        # what a maintainer's shell asks of uv is not the project's
        environment = {key: value for key, value in os.environ.items() if not key.startswith("UV_")}
        subprocess.run([*command, *(["--upgrade"] if upgrade else [])], check=True, env=environment)
        return output.read_text(encoding="utf-8")


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("lock", help="write both files").add_argument("--upgrade", action="store_true")
    verbs.add_parser("conda", help="print environment.yml")
    arguments = parser.parse_args()
    if arguments.verb == "conda":
        sys.stdout.write(conda_environment(LOCK.read_text(encoding="utf-8")))
        return 0
    try:
        lock = resolve(arguments.upgrade)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"heldout: nothing was written: {error.cmd[2]} stopped, its own words stand above\n")
        return 2
    replace(LOCK, lock)
    replace(CONDA, conda_environment(lock))
    return 0


if __name__ == "__main__":
    sys.exit(main())
